"""arcsin, arccos, arctan and arctan2 of float32 and float64: C without branches, which any compiler vectorizes.

Polynomials are minimax in the relative error of the function (Remez); in the square of the argument, which is at most
1/3: by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)), and by atan(x) = pi/4 + atan((x - 1) / (x + 1)) from 0.55 to 1.82.
Masks choose the arctangent's range: gcc makes branches of nested choices, and four times as many choices of those.
Arctangents of neighbours are in order: so are the quotients, and the error of the term that the polynomial adds to its
argument is less than the distance of neighbours.
"""

from __future__ import annotations

from .helper import Helper, instances
from .helpers_exponential import FLOATS, WORDS, horner

# (asin(x) - x) / x^3 to 2^-27 and 2^-55, (atan(x) - x) / x^3 to 2^-30 and 2^-58
_ASIN = {
    "float32": ("0x1.5555c8p-3", "0x1.330204p-4", "0x1.747bb6p-5", "0x1.8c3e88p-6", "0x1.595c1ap-5"),
    "float64": (
        "0x1.555555555539p-3", "0x1.333333336e836p-4", "0x1.6db6db4277b7ep-5", "0x1.f1c72c3a11c8dp-6",
        "0x1.6e89f4210188fp-6", "0x1.1c6be3bb9ba45p-6", "0x1.c6fd943901d2dp-7", "0x1.8ec4401519822p-7",
        "0x1.abc3abe98815ap-8", "0x1.3ffd23694f232p-6", "-0x1.09e126d79824ap-6", "0x1.057271787ade3p-5",
    ),
}  # fmt: skip
_ATAN = {
    "float32": (
        "-0x1.55554ap-2", "0x1.99938ap-3", "-0x1.240b9cp-3", "0x1.bc2986p-4", "-0x1.389064p-4", "0x1.1655f2p-5",
    ),
    "float64": (
        "-0x1.5555555555534p-2", "0x1.99999999953c4p-3", "-0x1.24924922fdb9bp-3", "0x1.c71c713333375p-4",
        "-0x1.745d0745e438bp-4", "0x1.3b129347a9318p-4", "-0x1.11037f91a7b1cp-4", "0x1.e0facaf1390b7p-5",
        "-0x1.a9ad920c2fb33p-5", "0x1.6e3f3b0d9e1bap-5", "-0x1.1a09350598ff8p-5", "0x1.4958b8d66d87bp-6",
        "-0x1.9c2026daeed1bp-8",
    ),
}  # fmt: skip

_WORDS = {
    **WORDS,
    "asin": horner("p", "s", _ASIN),
    "atan": horner("p", "s", _ATAN),
    "huge": {"float32": "0x1p126f", "float64": "0x1p1022"},
    "half": {"float32": "0x3f000000u", "float64": "0x3fe0000000000000u"},
    "one": {"float32": "0x3f800000u", "float64": "0x3ff0000000000000u"},
    "two": {"float32": "0x40000000u", "float64": "0x4000000000000000u"},
    "sign": {"float32": "0x80000000u", "float64": "0x8000000000000000u"},
    "sign_place": {"float32": "31", "float64": "63"},
    "low": {"float32": "0.55f", "float64": "0.55"},
    "high": {"float32": "1.82f", "float64": "1.82"},
    "half_right": {"float32": "0x1.921fb6p-1f", "float64": "0x1.921fb54442d18p-1"},
    "half_right_rest": {"float32": "-0x1.777a5cp-26f", "float64": "0x1.1a62633145c07p-55"},
    "right": {"float32": "0x1.921fb6p+0f", "float64": "0x1.921fb54442d18p+0"},
    "right_rest": {"float32": "-0x1.777a5cp-25f", "float64": "0x1.1a62633145c07p-54"},
}

_ARC_OF = Helper(
    "ag_arc_of_{T}",
    """\
/* asin(x) for 0 <= x <= 1/2, whose square is s */
{inline} {T} ag_arc_of_{T}({T} x, {T} s)
{
    {asin}
    return ag_fma_{T}(x * s, p, x);
}
""",
)

_ASIN_OF = Helper(
    "ag_asin_{T}",
    """\
{inline} {T} ag_asin_{T}({T} x)
{
    const {T} a = fabs{f}(x);
    const b8 is_large = a > ({T})0.5;
    const {T} s = is_large ? ({T})0.5 * (1 - a) : a * a, y = ag_arc_of_{T}(is_large ? sqrt{f}(s) : a, s);
    return copysign{f}(is_large ? {right} - (2 * y - {right_rest}) : y, x);
}
""",
)

_ACOS_OF = Helper(
    "ag_acos_{T}",
    """\
{inline} {T} ag_acos_{T}({T} x)
{
    const {T} a = fabs{f}(x);
    const b8 is_large = a > ({T})0.5;
    const {T} s = is_large ? ({T})0.5 * (1 - a) : a * a, arc = ag_arc_of_{T}(is_large ? sqrt{f}(s) : a, s);
    const {T} y = copysign{f}(is_large ? 2 * arc : arc, x), turns = is_large ? (x < 0 ? 2 : 0) : 1;
    return turns * {right} - ((is_large ? -y : y) - turns * {right_rest});
}
""",
)

_ARC_OF_RATIO = Helper(
    "ag_arc_of_ratio_{T}",
    """\
/* atan(x) for |x| <= 0.55 */
{inline} {T} ag_arc_of_ratio_{T}({T} x)
{
    const {T} s = x * x;
    {atan}
    return ag_fma_{T}(x * s, p, x);
}
""",
)

_ATAN_OF = Helper(
    "ag_atan_{T}",
    """\
{inline} {T} ag_atan_{T}({T} x)
{
    const {T} a = fabs{f}(x);
    const {U} bits = ag_bits_{T}(a), not_small = -({U})!(a < {low}), not_large = -({U})!(a > {high});
    const {T} over = ag_from_bits_{T}(bits & not_large) - ag_from_bits_{T}({one} & not_small);
    const {T} under = ag_from_bits_{T}(bits & not_small) + ag_from_bits_{T}({one} & not_large);
    const {T} turns = ag_from_bits_{T}({one} & not_small) + ag_from_bits_{T}({one} & ~not_large);
    const {T} y = ag_fma_{T}(turns, {half_right_rest}, ag_arc_of_ratio_{T}(over / under));
    return copysign{f}(ag_fma_{T}(turns, {half_right}, y), x);
}
""",
)

_ATAN2_OF = Helper(
    "ag_atan2_{T}",
    """\
{inline} {T} ag_atan2_{T}({T} y, {T} x)
{
    const {T} scale = (fabs{f}(x) > {huge}) | (fabs{f}(y) > {huge}) ? ({T})0.25 : ({T})1; /* no sum overflows */
    const {T} a = fabs{f}(y) * scale, b = fabs{f}(x) * scale, low = a > b ? b : a, high = a > b ? a : b;
    const {U} steep = -({U})(a > b), left = -(ag_bits_{T}(x) >> {sign_place}), flips = (steep ^ left) & {sign};
    const {U} middle = -({U})((low > {low} * high) | (low == __builtin_inf{f}()));
    const {T} over = low - ag_from_bits_{T}(ag_bits_{T}(high) & middle);
    const {T} ratio = over / (high + ag_from_bits_{T}(ag_bits_{T}(low) & middle));
    const {T} arc = ag_arc_of_ratio_{T}(low == high ? 0 : ratio); /* 0 / 0 and inf - inf, too */
    const {T} quarters = ag_from_bits_{T}(({one} & steep) | ({two} & left & ~steep));
    const {T} turns = quarters + ag_from_bits_{T}(({half} & middle) ^ flips);
    const {T} rest = ag_fma_{T}(turns, {right_rest}, ag_from_bits_{T}(ag_bits_{T}(arc) ^ flips));
    return copysign{f}(ag_fma_{T}(turns, {right}, rest), y);
}
""",
)

ARCS = [
    h
    for pattern in (_ARC_OF, _ASIN_OF, _ACOS_OF, _ARC_OF_RATIO, _ATAN_OF, _ATAN2_OF)
    for h in instances(pattern, FLOATS, **_WORDS)
]
"""The helpers, ordered so that each uses earlier ones only."""
