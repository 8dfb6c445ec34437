"""cbrt and hypot of float32 and float64: C without branches, which any compiler vectorizes."""

from __future__ import annotations

from .helper import Helper, instances
from .helpers_exponential import FLOATS, WORDS, horner

# ((1 - h)^(-1/3) - 1) / h for -0.09 <= h <= 0.112: to 2^-16 and 2^-31
_CUBE_ROOT = {
    "float32": ("0x1.54fc14p-2", "0x1.c7ccdap-3", "0x1.c77352p-3"),
    "float64": (
        "0x1.555557181b396p-2", "0x1.c71c71ab50218p-3", "0x1.61f11eb92d23dp-3", "0x1.26fb49beda7b5p-3",
        "0x1.04bab1836b977p-3", "0x1.c792bb6cf8c2p-4",
    ),
}  # fmt: skip

_WORDS = {
    **WORDS,
    # smaller numbers are multiplied by a cube: else the last bits of the rest would be those of a subnormal number
    "smallest": {"float32": "0x1p-100f", "float64": "0x1p-960"},
    "larger": {"float32": "0x1p48f", "float64": "0x1p108"},
    "root_of_larger": {"float32": "0x1p-16f", "float64": "0x1p-36"},
    # the bits of x^(-1/3) are about this number less a third of those of x; of float64 the upper half is taken
    "guess": {
        "float32": "(f32)(i32)ag_bits_f32(a)",
        "float64": "ag_from_bits_f64(ag_bits_f64(a) >> 32 | 0x4330000000000000u) - 0x1p52",
    },
    "guessed": {
        "float32": "ag_from_bits_f32((u32)(i32)(1419827115.0f - 0x1.555556p-2f * guess))",
        "float64": "ag_from_bits_f64(ag_bits_f64(1430180000 - 0x1.5555555555555p-2 * guess + 0x1p52) << 32)",
    },
    "cube_root": horner("p", "h", _CUBE_ROOT),
    "exponent": {"float32": "0x7f800000u", "float64": "0x7ff0000000000000u"},
    "least_exponent": {"float32": "0x00800000u", "float64": "0x0010000000000000u"},
    "mirror": {"float32": "0x7e800000u", "float64": "0x7fd0000000000000u"},
}

_CBRT = Helper(
    "ag_cbrt_{T}",
    """\
/* a y^2 where y = a^(-1/3), by Householder's method from its bits; then a step of Newton's with an exact cube */
{inline} {T} ag_cbrt_{T}({T} x)
{
    const b8 is_small = fabs{f}(x) < {smallest};
    const {T} b = is_small ? x * {larger} : x, a = fabs{f}(b), guess = {guess};
    const {T} y0 = {guessed}, h = ag_fma_{T}(-(a * y0), y0 * y0, 1);
    {cube_root}
    const {T} y = ag_fma_{T}(y0 * h, p, y0), square = y * y, root = b * square;
    const {T} twice = root * root, less = ag_fma_{T}(root, root, -twice);
    const {T} rest = ag_fma_{T}(-less, root, ag_fma_{T}(-twice, root, b));
    const {T} result = ag_fma_{T}(rest * ({T})(1.0 / 3), square, root) * (is_small ? {root_of_larger} : 1);
    return (a > 0) & (a < __builtin_inf{f}()) ? result : x;
}
""",
)

_HYPOT = Helper(
    "ag_hypot_{T}",
    """\
/* Both numbers are divided by a power of two near the larger one. */
{inline} {T} ag_hypot_{T}({T} x, {T} y)
{
    const {T} a = fabs{f}(x), b = fabs{f}(y), inf = __builtin_inf{f}();
    {U} exponent = ag_bits_{T}(a > b ? a : b) & {exponent};
    exponent = exponent == 0 ? {least_exponent} : exponent;
    const {T} scale = ag_from_bits_{T}({mirror} - exponent), s = a * scale, t = b * scale;
    const {T} size = 2 * sqrt{f}(ag_fma_{T}(s, s, t * t)) * ag_from_bits_{T}(exponent);
    return (a == inf) | (b == inf) ? inf : size;
}
""",
)

ROOTS = [h for pattern in (_CBRT, _HYPOT) for h in instances(pattern, FLOATS, **_WORDS)]
