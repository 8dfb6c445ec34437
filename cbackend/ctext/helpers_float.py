"""Helpers on float32 and float64: prototypes of the C library, and functions that it lacks.

The vector forms of glibc's libmvec are declared with AG_SIMD; they are accurate to 4 ulp and pass special values on to
the scalar forms.  Functions that are made of exp have their own text in helpers_exponential.py.
"""

from __future__ import annotations

from .helper import Helper, instances
from .helpers_gamma import GAMMA
from .helpers_power import POWER

FLOATS = ("float32", "float64")

VECTOR_UNARY = (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
    "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "cbrt",
)  # fmt: skip
"""Functions of one argument that have vector forms in libmvec (glibc 2.35 and later)."""
VECTOR_BINARY = ("pow", "atan2", "hypot")
"""Functions of two arguments that have vector forms in libmvec."""
_UNARY = ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "tgamma")
_BINARY = ("fmod", "copysign")


def _prototypes() -> list[Helper]:
    unary = [Helper(f"{name}{{f}}", f"AG_SIMD {{T}} {name}{{f}}({{T}});\n") for name in VECTOR_UNARY]
    binary = [Helper(f"{name}{{f}}", f"AG_SIMD {{T}} {name}{{f}}({{T}}, {{T}});\n") for name in VECTOR_BINARY]
    unary += [Helper(f"{name}{{f}}", f"{{T}} {name}{{f}}({{T}});\n") for name in _UNARY]
    binary += [Helper(f"{name}{{f}}", f"{{T}} {name}{{f}}({{T}}, {{T}});\n") for name in _BINARY]
    return [*unary, *binary, Helper("lgamma{f}_r", "{T} lgamma{f}_r({T}, int *);\n")]


_SIGN = Helper(
    "ag_sign_{T}",
    """\
static inline {T} ag_sign_{T}({T} x)
{
    return x != x ? x : ({T})((x > 0) - (x < 0));
}
""",
)

# NaN wins.  In one expression, gcc 12 vectorizes one of these but not the maximum of a maximum.
_MAXIMUM = Helper(
    "ag_maximum_{T}",
    """\
static inline {T} ag_maximum_{T}({T} a, {T} b)
{
    const {T} m = a >= b ? a : b;
    return a == a ? m : a;
}
""",
)

_MINIMUM = Helper(
    "ag_minimum_{T}",
    """\
static inline {T} ag_minimum_{T}({T} a, {T} b)
{
    const {T} m = a <= b ? a : b;
    return a == a ? m : a;
}
""",
)

# NumPy's npy_divmod (numpy/_core/src/npymath/npy_math_internal.h.src): the quotient is rounded down, the remainder has
# the sign of b.
_FLOOR_DIV = Helper(
    "ag_floor_div_{T}",
    """\
static inline {T} ag_floor_div_{T}({T} a, {T} b)
{
    if (b == 0)
        return a / b;
    const {T} mod = fmod{f}(a, b);
    const {T} div = (a - mod) / b - (mod != 0 && (b < 0) != (mod < 0));
    if (div == 0)
        return copysign{f}(0, a / b);
    const {T} whole = floor{f}(div);
    return div - whole > ({T})0.5 ? whole + 1 : whole;
}
""",
)

_MOD = Helper(
    "ag_mod_{T}",
    """\
static inline {T} ag_mod_{T}({T} a, {T} b)
{
    const {T} mod = fmod{f}(a, b);
    if (b == 0)
        return mod;
    if (mod == 0)
        return copysign{f}(0, b);
    return (b < 0) != (mod < 0) ? mod + b : mod;
}
""",
)

# The switch at -log 2 is due to M. Maechler, "Accurately computing log(1 - exp(-|a|))".
_LOG1MEXP = Helper(
    "ag_log1mexp_{T}",
    """\
static inline {T} ag_log1mexp_{T}({T} x)
{
    const {T} low = log1p{f}(-ag_exp_below_{T}(x)), high = log{f}(-expm1{f}(x)); /* both: a choice would be a branch */
    return x < ({T})-0x1.62e42fefa39efp-1 ? low : high;
}
""",
)

_PATTERNS = (
    _SIGN, _MAXIMUM, _MINIMUM, _FLOOR_DIV, _MOD, _LOG1MEXP,
)  # fmt: skip

PROTOTYPES = [h for pattern in _prototypes() for h in instances(pattern, FLOATS)]
FLOAT = [*(h for pattern in _PATTERNS for h in instances(pattern, FLOATS)), *GAMMA, *POWER]
