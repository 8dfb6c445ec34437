"""sin, cos and tan of float32 and float64: equal bits in a vector, in a remainder loop or alone.

A number near 0 is reduced by parts of pi / 2 (W. J. Cody, W. Waite), one far away by the bits of 1 / pi that matter for
it (M. H. Payne, R. N. Hanek, "Radian reduction for trigonometric functions", 1983); which of both is decided by the
number itself.  Neither way has branches, but the second takes several times as long.  gcc on x86-64 vectorizes calls of
functions that have vector forms: those check whether any of their lanes is far, and only then take the second way.
Other compilers get both ways and a choice, which they vectorize.  Polynomials are minimax in the relative error of the
function (Remez).
"""

from __future__ import annotations

from .helper import C_TYPES, Helper, instances, suffix
from .helpers_exponential import FLOATS, INLINE, WORDS, horner

# (sin(r) - r) / r^3 for |r| <= pi / 4: sin to 2^-27 and 2^-61
_SINE = {
    "float32": ("-0x1.555546p-3", "0x1.1106bap-7", "-0x1.9906a6p-13"),
    "float64": (
        "-0x1.5555555555548p-3", "0x1.111111110f73p-7", "-0x1.a01a019be9264p-13", "0x1.71de355531428p-19",
        "-0x1.ae5e4b89998b7p-26", "0x1.5d8b5776f708cp-33",
    ),
}  # fmt: skip
# (cos(r) - 1 + r^2 / 2) / r^4 for |r| <= pi / 4: cos to 2^-63
_COSINE = {
    "float64": (
        "0x1.555555555554bp-5", "-0x1.6c16c16c15015p-10", "0x1.a01a019c8f2dcp-16", "-0x1.27e4f7f199a48p-22",
        "0x1.1ee9dbd5e0714p-29", "-0x1.8fa6889cce32fp-37",
    ),
}  # fmt: skip
# (tan(r) - r) / r^3 for |r| <= pi / 4: to 2^-29
_TANGENT = {
    "float32": (
        "0x1.55556p-2", "0x1.110d96p-3", "0x1.badbf8p-5", "0x1.5ca46cp-6", "0x1.6373fp-7", "0x1.263146p-14",
        "0x1.1f8c5cp-8",
    ),
}  # fmt: skip

_WORDS = {
    **WORDS,
    "sine": horner("p", "s", _SINE),
    "cosine": horner("q", "s", _COSINE, squares=False),
    "tangent": horner("p", "s", _TANGENT),
    "top": {"float32": "31", "float64": "63"},
    # see `magic`: a whole number near this one is one more than the number that was added to it
    "magic_and_one": {"float32": "0x1.800002p23f", "float64": "0x1.8000000000001p52"},
    "per_right": {"float32": "0x1.45f306p-1f", "float64": "0x1.45f306dc9c883p-1"},
}

FAR = {"float32": "0x1p15f", "float64": "0x1p30"}
"""Argument from which on the reduction of Payne and Hanek is used."""

_MINUS_RIGHT = {
    "float32": """\
/* x - k pi / 2, where k has at most 15 bits */
{inline} f32 ag_minus_right_f32(f32 x, f32 k)
{
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__aarch64__)
    const f32 r = ag_fma_f32(k, 0x1.777a5cp-25f, ag_fma_f32(k, -0x1.921fb6p+0f, x));
    return ag_fma_f32(k, 0x1.ee59dap-50f, r);
#else
    return (f32)(x - k * 0x1.921fb544p+0 - k * 0x1.0b4611a626331p-34);
#endif
}
""",
    "float64": """\
/* x - k pi / 2, where k has at most 29 bits and a half; only the last difference and that which cancels most are
   rounded */
{inline} f64 ag_minus_right_f64(f64 x, f64 k)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
    const f64 r = ag_fma_f64(k, -0x1.1a62633145c07p-54, ag_fma_f64(k, -0x1.921fb54442d18p+0, x));
    return ag_fma_f64(k, 0x1.f1976b7ed8fbcp-110, r);
#else
    const f64 r = x - k * 0x1.921fb4p+0 - k * 0x1.4442dp-24 - k * 0x1.846988p-48 - k * 0x1.8cc516p-72;
    return r - k * 0x1.01b839a25204ap-96;
#endif
}
""",
}

# 32 zeros and the first 1,248 bits of 1 / pi
_BITS_OF_INVERSE_PI = (
    "0x0, 0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0, 0x6db14acc, 0x9e21c820, 0xff28b1d5, 0xef5de2b0, 0xdb92371d,",
    "0x2126e970, 0x03249775, 0x04e8c90e, 0x7f0ef58e, 0x5894d39f, 0x74411afa, 0x975da242, 0x74ce3813, 0x5a2fbf20,",
    "0x9cc8eb1c, 0xc1a99cfa, 0x4e422fc5, 0xdefc941d, 0x8ffc4bff, 0xef02cc07, 0xf79788c5, 0xad05368f, 0xb69b3f67,",
    "0x93e584db, 0xa7a31fb3, 0x4f2ff516, 0xba93dd63, 0xf5f2f8bd, 0x9e839cfb, 0xc5294975, 0x35fdafd8, 0x8fc6ae84,",
    "0x2b019823, 0x7e3db5d5, 0xf867de10,",
)

_FAR = """\
/* How far a far x is from the nearest multiple of pi / 2, and in *quarter that multiple modulo 4: x times 2 / pi modulo
   4, to 128 bits, is the sum of products of 32 bits of x and 32 bits of 1 / pi, from that bit on which counts as 1. */
INLINE f64 ag_far_f64(f64 x, u64 *quarter)
{
    static const u32 digits[] = {
        DIGITS
    };
    const u64 bits = ag_bits_f64(x) & ~((u64)1 << 63), exponent = bits >> 52, low32 = 0xffffffffu;
    const u64 from = exponent < 1044 ? 0 : exponent - 1044, at = from >> 5, shift = from & 31;
    const u64 m = (bits & 0xfffffffffffffu) | 0x10000000000000u, high = m >> 32, low = m & low32;
    const u64 d0 = digits[at], d1 = digits[at + 1], d2 = digits[at + 2], d3 = digits[at + 3], d4 = digits[at + 4];
    const u64 d5 = digits[at + 5], d6 = digits[at + 6];
    const u64 t0 = (d0 << 32 | d1) << shift >> 32, t1 = (d1 << 32 | d2) << shift >> 32;
    const u64 t2 = (d2 << 32 | d3) << shift >> 32, t3 = (d3 << 32 | d4) << shift >> 32;
    const u64 t4 = (d4 << 32 | d5) << shift >> 32, t5 = (d5 << 32 | d6) << shift >> 32;
    const u64 p1 = low * t1, p2 = low * t2, p3 = low * t3, q1 = high * t1, q2 = high * t2, q3 = high * t3;
    const u64 s3 = (p3 & low32) + (low * t4 >> 32) + (high * t4 & low32) + (high * t5 >> 32);
    const u64 s2 = (p2 & low32) + (p3 >> 32) + (q3 & low32) + (high * t4 >> 32) + (s3 >> 32);
    const u64 s1 = (p1 & low32) + (p2 >> 32) + (q2 & low32) + (q3 >> 32) + (s2 >> 32);
    const u64 s0 = low * t0 + (p1 >> 32) + (q1 & low32) + (q2 >> 32) + (s1 >> 32);
    const u64 whole = s0 << 32 | (s1 & low32), nearest = whole + ((u64)1 << 61);
    const u64 apart = whole - (nearest >> 62 << 62), is_below = -(apart >> 63);
    const u64 first = apart ^ is_below, rest = ((s2 & low32) << 32 | (s3 & low32)) ^ is_below;
    const f64 last = ag_u32_as_f64(rest >> 32) * 0x1p-94 + ag_u32_as_f64(rest & low32) * 0x1p-126;
    const f64 middle = ag_u32_as_f64(first & low32) * 0x1p-62 + last, most = ag_u32_as_f64(first >> 32) * 0x1p-30;
    const f64 turns = most + middle, error = middle - (turns - most);
    const f64 angle = turns * 0x1.921fb54442d18p+0;
    const f64 lost = ag_fma_f64(turns, 0x1.1a62633145c07p-54, error * 0x1.921fb54442d18p+0);
    *quarter = nearest >> 62;
    return is_below ? -(angle + lost) : angle + lost;
}
"""

_SHARED = [
    Helper(
        "ag_u32_as_f64",
        f"""\
{INLINE} f64 ag_u32_as_f64(u64 x)
{{
    return ag_from_bits_f64(x | 0x4330000000000000u) - 0x1p52;
}}
""",
    ),
    Helper(
        "ag_far_f64",
        _FAR.replace("INLINE", INLINE).replace("DIGITS", "\n        ".join(_BITS_OF_INVERSE_PI)),
    ),
]

_SINE_OF = Helper(
    "ag_sine_of_{T}",
    """\
/* sin(r + quarter pi / 2) for |r| <= pi / 4: for an odd quarter +-cos(r) = 1 - 2 sin(r / 2)^2, which is never above 1.
   Bit {top} of `sign` changes the sign; its others are 0. */
{inline} {T} ag_sine_of_{T}({T} r, {U} quarter, {U} sign)
{
    const b8 even = quarter << {top} == 0; /* takes no constant in a vector */
    const {T} v = even ? r : ({T})0.5 * r, s = v * v;
    {sine}
    const {T} sine = ag_fma_{T}(v * s, p, v), y = even ? sine : ag_fma_{T}(sine + sine, -sine, 1);
    return ag_from_bits_{T}(ag_bits_{T}(y) ^ (quarter >> 1 << {top} ^ sign));
}
""",
)

_SIN_NEAR = Helper(
    "ag_sin_near_{T}",
    """\
{inline} {T} ag_sin_near_{T}({T} x)
{
    const {T} a = fabs{f}(x), shifted = ag_fma_{T}(a, {per_right}, {magic});
    const {U} sign = ag_bits_{T}(x) ^ ag_bits_{T}(a);
    return ag_sine_of_{T}(ag_minus_right_{T}(a, shifted - {magic}), ag_bits_{T}(shifted), sign);
}
""",
)

_COS_NEAR = Helper(
    "ag_cos_near_{T}",
    """\
/* cos(x) = sin(x + pi / 2) */
{inline} {T} ag_cos_near_{T}({T} x)
{
    const {T} a = fabs{f}(x), shifted = ag_fma_{T}(a, {per_right}, {magic_and_one});
    return ag_sine_of_{T}(ag_minus_right_{T}(a, shifted - {magic_and_one}), ag_bits_{T}(shifted), 0);
}
""",
)

_TANGENT_OF = {
    "float32": """\
/* tan(r) for |r| <= pi / 4, or -1 / tan(r) if `odd` */
{inline} f32 ag_tangent_of_f32(f32 r, b8 odd)
{
    const f32 s = r * r;
    {tangent}
    const f32 y = ag_fma_f32(r * s, p, r);
    return (odd ? -1 : y) / (odd ? y : 1);
}
""",
    "float64": """\
/* tan(r) for |r| <= pi / 4, or -1 / tan(r) if `odd` */
{inline} f64 ag_tangent_of_f64(f64 r, b8 odd)
{
    const f64 s = r * r;
    {sine}
    {cosine}
    const f64 sine = ag_fma_f64(r * s, p, r), cosine = ag_fma_f64(s, ag_fma_f64(s, q, -0.5), 1);
    return (odd ? -cosine : sine) / (odd ? sine : cosine);
}
""",
}

_TAN_NEAR = Helper(
    "ag_tan_near_{T}",
    """\
{inline} {T} ag_tan_near_{T}({T} x)
{
    const {T} a = fabs{f}(x), shifted = ag_fma_{T}(a, {per_right}, {magic}), k = shifted - {magic};
    const {T} y = ag_tangent_of_{T}(ag_minus_right_{T}(a, k), (ag_bits_{T}(shifted) & 1) != 0);
    return ag_from_bits_{T}(ag_bits_{T}(y) ^ ag_bits_{T}(x) >> {top} << {top});
}
""",
)

_FAR_OF = {
    "sin": f"""\
{INLINE} f64 ag_sin_far_f64(f64 x)
{{
    u64 quarter;
    const f64 r = ag_far_f64(x, &quarter);
    return ag_sine_of_f64(r, quarter, ag_bits_f64(x) >> 63 << 63);
}}
""",
    "cos": f"""\
{INLINE} f64 ag_cos_far_f64(f64 x)
{{
    u64 quarter;
    const f64 r = ag_far_f64(x, &quarter);
    return ag_sine_of_f64(r, quarter + 1, 0);
}}
""",
    "tan": f"""\
{INLINE} f64 ag_tan_far_f64(f64 x)
{{
    u64 quarter;
    const f64 r = ag_far_f64(x, &quarter), y = ag_tangent_of_f64(r, (quarter & 1) != 0);
    return ag_from_bits_f64(ag_bits_f64(y) ^ ag_bits_f64(x) >> 63 << 63);
}}
""",
}

# A float64 beyond FAR of float32 need not be far for a float64.
_FAR_OF_F32 = """\
INLINE f32 ag_NAME_far_f32(f32 x)
{
    const f64 wide = x;
    return (f32)(fabs(wide) < FAR ? ag_NAME_near_f64(wide) : ag_NAME_far_f64(wide));
}
"""


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


def _each(name: str, texts: dict[str, str]) -> list[Helper]:
    made: list[Helper] = []
    for dtype, text in texts.items():
        made += instances(Helper(name, text), [dtype], **{w: v for w, v in _WORDS.items() if dtype in v})
    return made


def _of_both(*patterns: Helper) -> list[Helper]:
    return [h for p in patterns for h in _each(p.name, dict.fromkeys(FLOATS, p.text))]


_NAMES = ("sin", "cos", "tan")

TRIGONOMETRIC = [
    *_SHARED,
    *_each("ag_minus_right_{T}", _MINUS_RIGHT),
    *_of_both(_SINE_OF),
    *_each("ag_tangent_of_{T}", _TANGENT_OF),
    *_of_both(_SIN_NEAR, _COS_NEAR, _TAN_NEAR),
    *(Helper(f"ag_{name}_far_f64", _FAR_OF[name]) for name in _NAMES),
    *(
        Helper(
            f"ag_{name}_far_f32",
            _FAR_OF_F32.replace("INLINE", INLINE).replace("NAME", name).replace("FAR", FAR["float64"]),
        )
        for name in _NAMES
    ),
    *(Helper(f"ag_{name}_{C_TYPES[dtype]}", _forms(name, dtype)) for name in _NAMES for dtype in FLOATS),
]
"""The helpers, ordered so that each uses earlier ones only."""
