"""Vector forms of sin, cos and tan: gcc on x86-64 vectorizes calls of a function that has them.

They check whether any of their lanes is far, and only then take the way of far arguments (functions/trigonometric.h).
Other compilers get both ways and a choice, which they vectorize.
"""

from __future__ import annotations

from .helper import C_TYPES, INLINE, Helper, suffix

FAR = {"float32": "0x1p15f", "float64": "0x1p30"}
"""Argument from which on the reduction of Payne and Hanek is used."""


def vector_forms() -> list[Helper]:
    """Return the functions, for float32 and float64 each."""
    names = ("sin", "cos", "tan")
    return [Helper(f"ag_{name}_{C_TYPES[dtype]}", _forms(name, dtype)) for name in names for dtype in FAR]


def _forms(name: str, dtype: str) -> str:
    """Return C of the function on one number and, for gcc on x86-64, on vectors of each instruction set."""
    t, f, far = C_TYPES[dtype], suffix(dtype), FAR[dtype]
    whole = f"ag_{name}_{t}"
    size, p = (4, "ps") if t == "f32" else (8, "pd")
    vectors = "".join(
        f"#if{guard}\n{_vector(name, t, f, far, letter, width // size, any_far)}#endif\n"
        for letter, width, guard, any_far in (
            ("b", 16, " 1", f"__builtin_ia32_movmsk{p}(IS_FAR)"),
            ("c", 32, " defined(__AVX__)", f"__builtin_ia32_movmsk{p}256(IS_FAR)"),
            ("d", 32, " defined(__AVX2__)", f"__builtin_ia32_movmsk{p}256(IS_FAR)"),
            ("e", 64, "def __AVX512F__", f"__builtin_ia32_cmp{p}512_mask(size.v, LEAST, 29, -1, 4)"),
        )
    )
    return f"""\
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((simd("notinbranch"), const, visibility("hidden"))) {t} {whole}({t} x);
static __attribute__((used)) {t} ag_{name}_alone_{t}({t} x) __asm__("{whole}");
static {t} ag_{name}_alone_{t}({t} x)
{{
    const {t} a = fabs{f}(x);
    return a >= {far} && a < __builtin_inf{f}() ? ag_{name}_far_{t}(x) : ag_{name}_near_{t}(x);
}}
{vectors}#elif defined(__wasm__) /* two lanes are slower by both ways than one by its own */
static __attribute__((noinline)) {t} ag_{name}_rare_{t}({t} x) {{ return ag_{name}_far_{t}(x); }}
{INLINE} {t} {whole}({t} x)
{{
    const {t} a = fabs{f}(x);
    return __builtin_expect(a >= {far} && a < __builtin_inf{f}(), 0) ? ag_{name}_rare_{t}(x) : ag_{name}_near_{t}(x);
}}
#else
{INLINE} {t} {whole}({t} x)
{{
    const {t} a = fabs{f}(x), near = ag_{name}_near_{t}(x), far = ag_{name}_far_{t}(x);
    return a >= {far} && a < __builtin_inf{f}() ? far : near;
}}
#endif
"""


def _vector(name: str, t: str, f: str, far: str, letter: str, lanes: int, any_far: str) -> str:
    """Return C of the function on several lanes, under the name by which gcc knows it (x86-64 vector function ABI).

    `any_far`: C of the lanes whose `size` is at least LEAST, as bits; a loop would join them by a tree of shuffles.
    """
    function, vector = f"_ZGV{letter}N{lanes}v_ag_{name}_{t}", f"ag_{name}_{letter}_{t}"
    any_far = any_far.replace("IS_FAR", f"({vector})(size.v >= {far})").replace("LEAST", f"{far} - ({vector}){{0}}")
    return f"""\
typedef {t} {vector} __attribute__((vector_size({lanes} * sizeof({t}))));
static __attribute__((noinline, cold)) {vector} ag_{name}_far_{letter}_{t}({vector} x)
{{
    union {{ {vector} v; {t} lane[{lanes}]; }} y = {{x}};
    for (i32 k = 0; k < {lanes}; k++) y.lane[k] = {name_alone(name, t)}(y.lane[k]);
    return y.v;
}}
static __attribute__((used)) {vector} ag_{name}_near_{letter}_{t}({vector} x) __asm__("{function}");
static {vector} ag_{name}_near_{letter}_{t}({vector} x)
{{
    union {{ {vector} v; {t} lane[{lanes}]; }} in = {{x}}, size, near;
    #pragma omp simd simdlen({lanes})
    for (i32 k = 0; k < {lanes}; k++) {{
        near.lane[k] = ag_{name}_near_{t}(in.lane[k]);
        size.lane[k] = fabs{f}(in.lane[k]);
    }}
    const {vector} y = near.v; /* read here it never leaves its register */
    const i32 far = {any_far};
    return __builtin_expect(far != 0, 0) ? ag_{name}_far_{letter}_{t}(x) : y;
}}
"""


def name_alone(name: str, t: str) -> str:
    return f"ag_{name}_alone_{t}"
