"""arcsin, arccos, arctan and arctan2 of float32 and float64: C without branches, which any compiler vectorizes.

Polynomials are minimax in the relative error of the function (Remez); in the square of the argument, which is at most
1/2 for the arcsine, by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)), and 1 for the arctangent.
"""

from __future__ import annotations

from .helper import Helper, instances
from .helpers_exponential import FLOATS, WORDS, horner

# (asin(x) - x) / x^3 to 2^-27 and 2^-55, (atan(x) - x) / x^3 to 2^-28 and 2^-55
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
        "-0x1.55553ep-2", "0x1.9991e4p-3", "-0x1.2420a6p-3", "0x1.c08f2p-4", "-0x1.5815ccp-4", "0x1.da63e4p-5",
        "-0x1.fe0c3ep-6", "0x1.64d89ap-7", "-0x1.d4c94ep-10",
    ),
    "float64": (
        "-0x1.555555555544cp-2", "0x1.9999999984129p-3", "-0x1.2492491fa2858p-3", "0x1.c71c709e31e82p-4",
        "-0x1.745d0232446eep-4", "0x1.3b12b2f268fe3p-4", "-0x1.11089d2e31376p-4", "0x1.e17818050b1c6p-5",
        "-0x1.ad32ba2c0d8dep-5", "0x1.7ee3ed7a8b084p-5", "-0x1.4f44fe42132fap-5", "0x1.17158613d4253p-5",
        "-0x1.a72592c555fe8p-6", "0x1.162af7570262p-6", "-0x1.2cf5463041bd2p-7", "0x1.f967add9aeb4fp-9",
        "-0x1.3126304e14a31p-10", "0x1.d3b3494e27b3dp-13", "-0x1.53defc099975ap-16",
    ),
}  # fmt: skip

_WORDS = {
    **WORDS,
    "asin": horner("p", "s", _ASIN),
    "atan": horner("p", "s", _ATAN, last=3),  # of 1 it is pi / 4, rounded
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
/* atan(x) for 0 <= x <= 1 */
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
    const b8 is_large = a > 1;
    const {T} y = ag_arc_of_ratio_{T}((is_large ? 1 : a) / (is_large ? a : 1));
    return copysign{f}(is_large ? {right} - (y - {right_rest}) : y, x);
}
""",
)

_ATAN2_OF = Helper(
    "ag_atan2_{T}",
    """\
{inline} {T} ag_atan2_{T}({T} y, {T} x)
{
    const {T} a = fabs{f}(y), b = fabs{f}(x);
    const b8 is_steep = a > b, is_left = copysign{f}(1, x) < 0;
    const {T} low = is_steep ? b : a, high = is_steep ? a : b;
    const {T} arc = ag_arc_of_ratio_{T}(low == high ? (low == 0 ? 0 : 1) : low / high); /* 0 / 0 and inf / inf, too */
    const {T} turns = is_steep ? 1 : is_left ? 2 : 0;
    return copysign{f}(turns * {right} - ((is_steep == is_left ? -arc : arc) - turns * {right_rest}), y);
}
""",
)

ARCS = [
    h
    for pattern in (_ARC_OF, _ASIN_OF, _ACOS_OF, _ARC_OF_RATIO, _ATAN_OF, _ATAN2_OF)
    for h in instances(pattern, FLOATS, **_WORDS)
]
"""The helpers, ordered so that each uses earlier ones only."""
