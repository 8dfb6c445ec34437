"""Vector forms of functions with a rare way: gcc on x86-64 vectorizes calls of a function that has them.

They check whether any of their lanes is far, and only then take the way of far arguments: those of sin, cos and tan
(functions/trigonometric.h) and of fmod (functions/remainder.h).  Other compilers get both ways and a choice, which they
vectorize, or a branch where the far way is a call of the C library.
"""

from __future__ import annotations

from collections.abc import Mapping

from .helper import C_TYPES, INLINE, Helper, suffix


class _Form:
    """A function: its parameters, what is compared with the bound, and that bound by dtype, from which on it is far.

    `is_call`: whether the far way calls the C library.
    """

    __slots__ = ("far", "is_call", "name", "parameters", "size")

    def __init__(
        self, name: str, parameters: tuple[str, ...], size: str, far: Mapping[str, str], is_call: bool = False
    ) -> None:
        self.name, self.parameters, self.size, self.far, self.is_call = name, parameters, size, far, is_call

    def declared(self, dtype: str) -> str:
        return ", ".join(f"{dtype} {x}" for x in self.parameters)


FAR = {"float32": "0x1p15f", "float64": "0x1p30"}
"""Argument from which on the reduction of Payne and Hanek is used."""
_DIGITS = {"float32": "0x1p23f", "float64": "0x1p52"}
"""Quotient from which on a remainder takes the C library's function."""
_ANGLES = tuple(_Form(name, ("x",), "fabs{f}({0})", FAR) for name in ("sin", "cos", "tan"))
_REMAINDER = _Form("fmod", ("a", "b"), "ag_fmod_size_{t}({0}, {1})", _DIGITS, is_call=True)


def vector_forms() -> list[Helper]:
    """Return sin, cos and tan, for float32 and float64 each."""
    return [_helper(form, dtype) for form in _ANGLES for dtype in FAR]


def remainder_forms() -> list[Helper]:
    """Return fmod, for float32 and float64."""
    return [_helper(_REMAINDER, dtype) for dtype in _DIGITS]


def _helper(form: _Form, dtype: str) -> Helper:
    """Return C of the function on one number and, for gcc on x86-64, on vectors of each instruction set."""
    name, t, far = form.name, C_TYPES[dtype], form.far[dtype]
    whole, declared, given = f"ag_{name}_{t}", form.declared(t), ", ".join(form.parameters)
    size, p = (4, "ps") if t == "f32" else (8, "pd")
    vectors = "".join(
        f"#if{guard}\n{_vector(form, dtype, letter, width // size, any_far)}#endif\n"
        for letter, width, guard, any_far in (
            ("b", 16, " 1", f"__builtin_ia32_movmsk{p}(IS_FAR)"),
            ("c", 32, " defined(__AVX__)", f"__builtin_ia32_movmsk{p}256(IS_FAR)"),
            ("d", 32, " defined(__AVX2__)", f"__builtin_ia32_movmsk{p}256(IS_FAR)"),
            ("e", 64, "def __AVX512F__", f"__builtin_ia32_cmp{p}512_mask(size.v, LEAST, 29, -1, 4)"),
        )
    )
    measured = f"const {t} size = {_size(form, dtype, form.parameters)};"
    is_far = f"size >= {far} && size < __builtin_inf{suffix(dtype)}()"
    text = f"""\
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((simd("notinbranch"), const, visibility("hidden"))) {t} {whole}({declared});
static __attribute__((used)) {t} ag_{name}_alone_{t}({declared}) __asm__("{whole}");
static {t} ag_{name}_alone_{t}({declared})
{{
    {measured}
    return {is_far} ? ag_{name}_far_{t}({given}) : ag_{name}_near_{t}({given});
}}
{vectors}"""
    rare = f"""\
#elif defined(__wasm__) /* two lanes are slower by both ways than one by its own */
static __attribute__((noinline)) {t} ag_{name}_rare_{t}({declared}) {{ return ag_{name}_far_{t}({given}); }}
{INLINE} {t} {whole}({declared})
{{
    {measured}
    return __builtin_expect({is_far}, 0) ? ag_{name}_rare_{t}({given}) : ag_{name}_near_{t}({given});
}}
"""
    chosen = f"""\
    return {is_far} ? ag_{name}_far_{t}({given}) : ag_{name}_near_{t}({given});
""" if form.is_call else f"""\
    const {t} near = ag_{name}_near_{t}({given}), far = ag_{name}_far_{t}({given});
    return {is_far} ? far : near;
"""
    return Helper(whole, f"""\
{text}{'' if form.is_call else rare}#else
{INLINE} {t} {whole}({declared})
{{
    {measured}
{chosen}}}
#endif
""")


def _size(form: _Form, dtype: str, values: tuple[str, ...]) -> str:
    return form.size.format(*values, f=suffix(dtype), t=C_TYPES[dtype])


def _vector(form: _Form, dtype: str, letter: str, lanes: int, any_far: str) -> str:
    """Return C of the function on several lanes, under the name by which gcc knows it (x86-64 vector function ABI).

    `any_far`: C of the lanes whose `size` is at least the bound, as bits; a loop would join them by a tree of shuffles.
    """
    name, t, far = form.name, C_TYPES[dtype], form.far[dtype]
    vector = f"ag_{name}_{letter}_{t}"
    function = f"_ZGV{letter}N{lanes}{'v' * len(form.parameters)}_ag_{name}_{t}"
    any_far = any_far.replace("IS_FAR", f"({vector})(size.v >= {far})").replace("LEAST", f"{far} - ({vector}){{0}}")
    declared, given = form.declared(vector), ", ".join(form.parameters)
    unions = ", ".join(f"in_{x} = {{{x}}}" for x in form.parameters)
    lane = tuple(f"in_{x}.lane[k]" for x in form.parameters)
    return f"""\
typedef {t} {vector} __attribute__((vector_size({lanes} * sizeof({t}))));
static __attribute__((noinline, cold)) {vector} ag_{name}_far_{letter}_{t}({declared})
{{
    union {{ {vector} v; {t} lane[{lanes}]; }} {unions}, y;
    for (i32 k = 0; k < {lanes}; k++) y.lane[k] = ag_{name}_alone_{t}({", ".join(lane)});
    return y.v;
}}
static __attribute__((used)) {vector} ag_{name}_near_{letter}_{t}({declared}) __asm__("{function}");
static {vector} ag_{name}_near_{letter}_{t}({declared})
{{
    union {{ {vector} v; {t} lane[{lanes}]; }} {unions}, size, near;
    #pragma omp simd simdlen({lanes})
    for (i32 k = 0; k < {lanes}; k++) {{
        near.lane[k] = ag_{name}_near_{t}({", ".join(lane)});
        size.lane[k] = {_size(form, dtype, lane)};
    }}
    const {vector} y = near.v; /* read here it never leaves its register */
    const i32 far = {any_far};
    return __builtin_expect(far != 0, 0) ? ag_{name}_far_{letter}_{t}({given}) : y;
}}
"""
