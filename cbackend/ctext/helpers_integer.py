"""Helpers on integers: division, shifts, powers and casts from floats that never trap and match NumPy bit for bit.

Division by 0 gives 0 and MIN // -1 is MIN, as in NumPy.  A float that an integer cannot hold (NaN too) becomes what
x86-64's conversion gives, as in NumPy there: the 32-bit MIN, cut to the narrower type, for up to 32 bits; else the
64-bit MIN.
"""

from __future__ import annotations

from .helper import Helper, instances

SIGNED = tuple(f"int{n}" for n in (8, 16, 32, 64))
UNSIGNED = tuple(f"uint{n}" for n in (8, 16, 32, 64))
_UNSIGNED_OF = {f"int{n}": f"u{n}" for n in (8, 16, 32, 64)} | {f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)}
_WIDTH = {f"{kind}{n}": str(n) for kind in ("int", "uint") for n in (8, 16, 32, 64)}

# a / b traps for MIN / -1; dividing by 1 and negating gives MIN.
_FLOOR_DIV = Helper(
    "ag_floor_div_{T}",
    """\
static inline {T} ag_floor_div_{T}({T} a, {T} b)
{
    const {T} d = b == 0 || b == -1 ? 1 : b;
    const {T} q = a / d - (a % d != 0 && (a < 0) != (d < 0));
    return b == 0 ? 0 : b == -1 ? ({T})-q : q;
}
""",
)

_MOD = Helper(
    "ag_mod_{T}",
    """\
static inline {T} ag_mod_{T}({T} a, {T} b)
{
    const {T} d = b == 0 || b == -1 ? 1 : b;
    const {T} r = a % d;
    return r != 0 && (r < 0) != (d < 0) ? r + d : r;
}
""",
)

_FMOD = Helper(
    "ag_fmod_{T}",
    """\
static inline {T} ag_fmod_{T}({T} a, {T} b)
{
    return a % (b == 0 || b == -1 ? 1 : b);
}
""",
)

_FLOOR_DIV_UNSIGNED = Helper(
    "ag_floor_div_{T}",
    """\
static inline {T} ag_floor_div_{T}({T} a, {T} b)
{
    return b == 0 ? 0 : a / (b == 0 ? 1 : b);
}
""",
)

_MOD_UNSIGNED = Helper(
    "ag_mod_{T}",
    """\
static inline {T} ag_mod_{T}({T} a, {T} b)
{
    return b == 0 ? 0 : a % (b == 0 ? 1 : b);
}
""",
)

# Euclid's algorithm on absolute values; that of MIN is MIN, as in NumPy.
_GCD = Helper(
    "ag_gcd_{T}",
    """\
static inline {T} ag_gcd_{T}({T} a, {T} b)
{
    {U} x = a < 0 ? -({U})a : ({U})a, y = b < 0 ? -({U})b : ({U})b;
    while (y != 0) {
        const {U} rest = x % y;
        x = y;
        y = rest;
    }
    return ({T})x;
}
""",
)

_GCD_UNSIGNED = Helper(
    "ag_gcd_{T}",
    """\
static inline {T} ag_gcd_{T}({T} a, {T} b)
{
    while (b != 0) {
        const {T} rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
""",
)

_LCM = Helper(
    "ag_lcm_{T}",
    """\
static inline {T} ag_lcm_{T}({T} a, {T} b)
{
    const {U} x = a < 0 ? -({U})a : ({U})a, y = b < 0 ? -({U})b : ({U})b, common = ({U})ag_gcd_{T}(a, b);
    return common == 0 ? 0 : ({T})({U})(x / common * y);
}
""",
)

_LCM_UNSIGNED = Helper(
    "ag_lcm_{T}",
    """\
static inline {T} ag_lcm_{T}({T} a, {T} b)
{
    const {T} common = ag_gcd_{T}(a, b);
    return common == 0 ? 0 : ({T})(a / common * b);
}
""",
)

# A count outside of [0, width) shifts everything out; on the right, the sign stays.
_LEFT_SHIFT = Helper(
    "ag_left_shift_{T}",
    """\
static inline {T} ag_left_shift_{T}({T} a, {T} count)
{
    return ({U})count < {width} ? ({T})(({U})a << ({U})count % {width}) : 0;
}
""",
)

_RIGHT_SHIFT = Helper(
    "ag_right_shift_{T}",
    """\
static inline {T} ag_right_shift_{T}({T} a, {T} count)
{
    return a >> (({U})count < {width} ? ({U})count : {width} - 1);
}
""",
)

_RIGHT_SHIFT_UNSIGNED = Helper(
    "ag_right_shift_{T}",
    """\
static inline {T} ag_right_shift_{T}({T} a, {T} count)
{
    return count < {width} ? a >> count % {width} : 0;
}
""",
)

# By squaring, modulo 2 to the width; a negative exponent is an error that the kernel reports.
_POW = Helper(
    "ag_pow_{T}",
    """\
static inline {T} ag_pow_{T}({T} base, {T} exponent)
{
    u64 square = (u64)base, result = 1;
    for ({U} e = ({U})exponent; e != 0; e >>= 1) {
        result = e & 1 ? result * square : result;
        square *= square;
    }
    return ({T})result;
}
""",
)

# Of an integer that becomes a float again gcc makes trunc(x), and so -0.0 of what is 0.  A sum with 0 is never -0.0.
_TO_32_BITS = Helper(
    "ag_i32_from_{T}",
    """\
static inline i32 ag_i32_from_{T}({T} x)
{
    return x >= -0x1p31{f} && x < 0x1p31{f} ? (i32)(trunc{f}(x) + 0) : -2147483647 - 1;
}
""",
)

# float64 holds numbers between -2^31 - 1 and -2^31, which are cut to -2^31.
_TO_32_BITS_WIDE = Helper(
    "ag_i32_from_{T}",
    """\
static inline i32 ag_i32_from_{T}({T} x)
{
    return x > -0x1.00000002p31 && x < 0x1p31 ? (i32)(trunc{f}(x) + 0) : -2147483647 - 1;
}
""",
)

_TO_64_BITS = Helper(
    "ag_i64_from_{T}",
    """\
static inline i64 ag_i64_from_{T}({T} x)
{
    return x >= -0x1p63{f} && x < 0x1p63{f} ? (i64)(trunc{f}(x) + 0) : -9223372036854775807 - 1;
}
""",
)

_TO_UNSIGNED_64_BITS = Helper(
    "ag_u64_from_{T}",
    """\
static inline u64 ag_u64_from_{T}({T} x)
{
    return x >= 0x1p63{f} ? (u64)ag_i64_from_{T}(x - 0x1p63{f}) ^ (u64)1 << 63 : (u64)ag_i64_from_{T}(x);
}
""",
)

_CHOSEN = Helper(
    "ag_chosen_{T}",
    """\
/* a if `set`, else b, without a branch. */
static inline {T} ag_chosen_{T}(b8 set, {T} a, {T} b)
{
    return ((a ^ b) & -({T})set) ^ b;
}
""",
)

_WORDS = {"U": _UNSIGNED_OF, "width": _WIDTH}

INTEGER = [
    *(h for pattern in (_FLOOR_DIV, _MOD, _FMOD) for h in instances(pattern, SIGNED)),
    *(h for pattern in (_FLOOR_DIV_UNSIGNED, _MOD_UNSIGNED) for h in instances(pattern, UNSIGNED)),
    *(h for pattern in (_GCD, _LCM) for h in instances(pattern, SIGNED, **_WORDS)),
    *(h for pattern in (_GCD_UNSIGNED, _LCM_UNSIGNED) for h in instances(pattern, UNSIGNED, **_WORDS)),
    *instances(_LEFT_SHIFT, SIGNED + UNSIGNED, **_WORDS),
    *instances(_RIGHT_SHIFT, SIGNED, **_WORDS),
    *instances(_RIGHT_SHIFT_UNSIGNED, UNSIGNED, **_WORDS),
    *instances(_CHOSEN, SIGNED + UNSIGNED),
    *instances(_POW, SIGNED + UNSIGNED, **_WORDS),
    *instances(_TO_32_BITS, ["float32"]),
    *instances(_TO_32_BITS_WIDE, ["float64"]),
    *instances(_TO_64_BITS, ["float32", "float64"]),
    *instances(_TO_UNSIGNED_64_BITS, ["float32", "float64"]),
]
