"""Helpers that convert binary16, stored as its bits, from and to wider floats; branch-free, so that they vectorize.

After F. Giesen, "Half to float done quick" and its companion with rounding to nearest even; subnormals, infinities and
NaN are right.
"""

from __future__ import annotations

from .helper import Helper, instances

_WIDEN = Helper(
    "ag_f32_from_f16",
    """\
static inline f32 ag_f32_from_f16(f16 h)
{
    union { u32 u; f32 f; } v, small;
    const u32 exponent = h & 0x7c00u;
    v.u = ((u32)(h & 0x7fffu) << 13) + (112u << 23);
    small.u = v.u + (1u << 23);
    small.f -= 0x1p-14f;
    v.u = exponent == 0x7c00u ? v.u + (112u << 23) : exponent == 0 ? small.u : v.u;
    v.u |= (u32)(h & 0x8000u) << 16;
    return v.f;
}
""",
)

_NARROW = Helper(
    "ag_f16_from_{T}",
    """\
static inline f16 ag_f16_from_{T}({T} x)
{
    union { {U} u; {T} f; } v, small;
    v.f = x;
    const {U} sign = v.u >> {top} << {top};
    v.u ^= sign;
    small.u = v.u;
    small.f += {magic};
    const {U} subnormal = small.u - (({U}){magic_exponent} << {mantissa});
    const {U} normal = (v.u - (({U}){rebias} << {mantissa}) + (({U})1 << {half}) - 1 + ((v.u >> {drop}) & 1)) >> {drop};
    const {U} infinite = v.u > ({U}){infinity} << {mantissa} ? 0x7e00u : 0x7c00u;
    const {U} finite = v.u < ({U}){least} << {mantissa} ? subnormal : normal;
    const {U} bits = v.u >= ({U}){overflow} << {mantissa} ? infinite : finite;
    return (f16)(bits | sign >> {sign_shift});
}
""",
)


def _layout(bias: int, mantissa: int, bits: int, dtype: str) -> dict[str, dict[str, str]]:
    drop = mantissa - 10  # mantissa bits that binary16 lacks
    words = {
        "U": f"u{bits}", "top": bits - 1, "mantissa": mantissa, "drop": drop, "half": drop - 1,
        "magic": f"0x1p{drop - 14}" + "f" * (bits == 32), "magic_exponent": bias - 14 + drop,
        "rebias": bias - 15, "infinity": 2 * bias + 1, "overflow": bias + 16, "least": bias - 14,
        "sign_shift": bits - 16,
    }  # fmt: skip
    return {name: {dtype: str(word)} for name, word in words.items()}


FLOAT16 = [
    _WIDEN,
    *instances(_NARROW, ["float32"], **_layout(127, 23, 32, "float32")),
    *instances(_NARROW, ["float64"], **_layout(1023, 52, 64, "float64")),
]
