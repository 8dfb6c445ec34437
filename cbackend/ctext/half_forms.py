"""Conversions of binary16 by the processor's instructions (F16C), as vector functions that gcc calls in loops.

By itself gcc uses these instructions for single numbers only.  Other compilers and processors get functions/float16.h,
whose values are the same; a NaN keeps its upper bits by the instructions, and is the quiet one without them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .helper import INLINE, Helper

_FORMS = """\
#if defined(__F16C__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
typedef f32 {name}_4 __attribute__((vector_size(16)));
typedef f32 {name}_8 __attribute__((vector_size(32)));
typedef f32 {name}_16 __attribute__((vector_size(64)));
typedef u16 {name}_8h __attribute__((vector_size(16)));
typedef u16 {name}_16h __attribute__((vector_size(32)));
typedef u32 {name}_8w __attribute__((vector_size(32)));
typedef u32 {name}_16w __attribute__((vector_size(64)));
__attribute__((simd("notinbranch"), const, visibility("hidden"))) f32 {name}_lane(f32 x);
static __attribute__((used)) f32 {name}_alone(f32 x) __asm__("{name}_lane");
{lanes}
static f32 {name}_alone(f32 x)
{{
    return {name}_lanes_b(({name}_4){{x}})[0];
}}
{inline} {result} {name}({argument} x)
{{
    union {{ u32 u; f32 f; }} v;
    {body}
}}
#else
{inline} {result} {name}({argument} x)
{{
    return {plain}(x);
}}
#endif
"""
_LANES = """\
static __attribute__((used)) {name}_{n} {name}_lanes_{letter}({name}_{n} x) __asm__("_ZGV{letter}N{n}v_{name}_lane");
static {name}_{n} {name}_lanes_{letter}({name}_{n} x)
{{
    return {value};
}}
"""
_WIDTHS = (("b", 4), ("c", 8), ("d", 8), ("e", 16))
"""Letters of the instruction sets in the vector function ABI of x86-64, with floats in a vector."""
_ARITHMETIC = """\
#ifdef __AVX512FP16__
{inline} f16 ag_{name}_f16(f16 a, f16 b)
{{
    __extension__ union {{ f16 u; _Float16 f; }} x = {{a}}, y = {{b}};
    x.f = x.f {sign} y.f;
    return x.u;
}}
#else
{inline} f16 ag_{name}_f16(f16 a, f16 b)
{{
    return ag_f16_from_f32(ag_f32_from_f16(a) {sign} ag_f32_from_f16(b));
}}
#endif
"""
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "true_div": "/"}
Step = Callable[[str, int, str], str]
"""C of lanes from the helper's name, their count and C of what they are made of."""
_BUILTIN = {4: "{}", 8: "{}256", 16: "{}512_mask"}


def half_forms() -> list[Helper]:
    """Return conversions and arithmetic.

    Conversions are to float32, from it, and both, which rounds a float32.  Bits of a half lie in a float.
    """
    return [
        _form("ag_widened_f16", "f32", "f16", "ag_f32_from_f16", "v.u = x; return ag_widened_f16_lane(v.f);",
              (_packed, _widened)),
        _form("ag_narrowed_f32", "f16", "f32", "ag_f16_from_f32", "v.f = ag_narrowed_f32_lane(x); return (f16)v.u;",
              (_narrowed, _unpacked)),
        _form("ag_half_f32", "f32", "f32", "ag_f32_as_f16", "v.f = ag_half_f32_lane(x); return v.f;",
              (_narrowed, _widened)),
        *(Helper(f"ag_{n}_f16", _ARITHMETIC.format(name=n, sign=s, inline=INLINE)) for n, s in _SIGNS.items()),
    ]  # fmt: skip


def _form(name: str, result: str, argument: str, plain: str, body: str, steps: Sequence[Step]) -> Helper:
    lanes = ""
    for letter, n in _WIDTHS:
        value = "x"
        for step in steps:
            value = step(name, n, value)
        text = _LANES.format(name=name, n=n, letter=letter, value=value)
        lanes += f"#ifdef __AVX512F__\n{text}#endif\n" if n == 16 else text
    words = {"result": result, "argument": argument, "plain": plain, "body": body.replace("; ", ";\n    ")}
    return Helper(name, _FORMS.format(name=name, lanes=lanes.rstrip("\n"), inline=INLINE, **words))


def _packed(name: str, n: int, x: str) -> str:
    """Return C of the lower halves of the lanes; those of four lanes stand in a vector of eight."""
    if n == 4:
        return f"__builtin_shuffle(({name}_8h){x}, ({name}_8h){{0, 2, 4, 6, 0, 2, 4, 6}})"
    return f"__builtin_convertvector(({name}_{n}w){x}, {name}_{n}h)"


def _unpacked(name: str, n: int, x: str) -> str:
    if n == 4:
        return f"({name}_4)__builtin_shuffle({x}, ({name}_8h){{0}}, ({name}_8h){{0, 8, 1, 9, 2, 10, 3, 11}})"
    return f"({name}_{n})__builtin_convertvector({x}, {name}_{n}w)"


def _widened(name: str, n: int, x: str) -> str:
    most = f", ({name}_16){{0}}, -1, 4" if n == 16 else ""
    halves = f"(i16 __attribute__((vector_size({32 if n == 16 else 16}))))"
    return f"{_BUILTIN[n].format('__builtin_ia32_vcvtph2ps')}({halves}{x}{most})"


def _narrowed(name: str, n: int, x: str) -> str:
    most = ", (i16 __attribute__((vector_size(32)))){0}, -1" if n == 16 else ""
    return f"({name}_{max(n, 8)}h){_BUILTIN[n].format('__builtin_ia32_vcvtps2ph')}({x}, 0{most})"
