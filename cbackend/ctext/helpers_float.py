"""Helpers on float32 and float64: prototypes of the C library, and functions that it lacks.

Elementary functions have texts of their own, in the other files: a call of the C library is not vectorized, and its
vector forms, where it has them, give other bits than its scalar ones.
"""

from __future__ import annotations

from .helper import Helper, instances
from .helpers_gamma import GAMMA

FLOATS = ("float32", "float64")

_UNARY = ("fabs", "sqrt", "floor", "ceil", "trunc", "rint", "exp", "log", "tan", "tgamma")
_BINARY = ("fmod", "copysign", "pow")


def _prototypes() -> list[Helper]:
    unary = [Helper(f"{name}{{f}}", f"{{T}} {name}{{f}}({{T}});\n") for name in _UNARY]
    binary = [Helper(f"{name}{{f}}", f"{{T}} {name}{{f}}({{T}}, {{T}});\n") for name in _BINARY]
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

_CHOSEN = Helper(
    "ag_chosen_{T}",
    """\
/* a if `set`, else b, without a branch. */
static inline {T} ag_chosen_{T}(b8 set, {T} a, {T} b)
{
    const {U} other = ag_bits_{T}(b);
    return ag_from_bits_{T}(((ag_bits_{T}(a) ^ other) & -({U})set) ^ other);
}
""",
)

# Steps of a reduction that clang vectorizes.  WebAssembly has an instruction for maximum, not for maximumnum, of which
# clang takes vectors apart.  A total that becomes NaN by it stands beside a flag for NaN, or is the largest number of a
# row of a softmax, of which a NaN makes all results NaN.
_MAX_NUMBER = Helper(
    "ag_max_number_{T}",
    """\
/* The greater one of a and of a total, which is b or NaN where a is NaN. */
static inline {T} ag_max_number_{T}({T} a, {T} b)
{
#if defined(__wasm__)
    return __builtin_elementwise_maximum(a, b);
#elif __has_builtin(__builtin_elementwise_maximumnum)
    return __builtin_elementwise_maximumnum(a, b);
#else
    return a > b || b != b ? a : b;
#endif
}
""",
)

_MIN_NUMBER = Helper(
    "ag_min_number_{T}",
    """\
/* The lesser one of a and of a total, which is b or NaN where a is NaN. */
static inline {T} ag_min_number_{T}({T} a, {T} b)
{
#if defined(__wasm__)
    return __builtin_elementwise_minimum(a, b);
#elif __has_builtin(__builtin_elementwise_minimumnum)
    return __builtin_elementwise_minimumnum(a, b);
#else
    return a < b || b != b ? a : b;
#endif
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

_PATTERNS = (_SIGN, _MAXIMUM, _MINIMUM, _MAX_NUMBER, _MIN_NUMBER, _FLOOR_DIV, _MOD)

PROTOTYPES = [h for pattern in _prototypes() for h in instances(pattern, FLOATS)]
_BITS = {"U": {"float32": "u32", "float64": "u64"}}
FLOAT = [
    *instances(_CHOSEN, FLOATS, **_BITS),
    *(h for pattern in _PATTERNS for h in instances(pattern, FLOATS)),
    *GAMMA,
]
