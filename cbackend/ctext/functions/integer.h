/* Helpers on integers: division, shifts, powers and casts from floats that never trap and match NumPy bit for bit.

   Division by 0 gives 0 and MIN // -1 is MIN, as in NumPy.  A float that an integer cannot hold (NaN too) becomes what
   x86-64's conversion gives, as in NumPy there: the 32-bit MIN, cut to the narrower type, for up to 32 bits; else the
   64-bit MIN. */
#pragma once
#include "library.h"

/* a / b traps for MIN / -1; dividing by 1 and negating gives MIN. */

static inline I ag_floor_div_I(I a, I b)
{
    const I d = b == 0 || b == -1 ? 1 : b;
    const I q = a / d - (a % d != 0 && (a < 0) != (d < 0));
    return b == 0 ? 0 : b == -1 ? (I)-q : q;
}

static inline I ag_mod_I(I a, I b)
{
    const I d = b == 0 || b == -1 ? 1 : b;
    const I r = a % d;
    return r != 0 && (r < 0) != (d < 0) ? r + d : r;
}

static inline I ag_fmod_I(I a, I b)
{
    return a % (b == 0 || b == -1 ? 1 : b);
}

static inline N ag_floor_div_N(N a, N b)
{
    return b == 0 ? 0 : a / (b == 0 ? 1 : b);
}

static inline N ag_mod_N(N a, N b)
{
    return b == 0 ? 0 : a % (b == 0 ? 1 : b);
}

/* The same in loops that compilers vectorize.  An instruction that divides integers takes 10 to 90 cycles, and none divides
   vectors.  Numbers of 16 bits are divided in float32, of 32 bits in float64: half of the divisor's sign is added to a, so
   that the exact quotient lies at least 1 / 2|d| from every whole number, which is more than both roundings.  Of 64 bits the
   quotient is nearly right, a little too small so that it fits, and so is that of what is left; the last rest is at most
   d / 2 in size.  The reciprocal of a d that all elements share is computed once.  One number alone waits longer for this
   than for the instruction. */

static inline I ag_quotient_lanes_I(I a, I d)
{
    if (sizeof(I) <= 2) return (I)(i32)floorf(((f32)a + (0.5f - (d < 0))) * (1 / (f32)d));
    if (sizeof(I) == 4) return (I)(i32)floor(((f64)a + (0.5 - (d < 0))) * (1 / (f64)d));
    const f64 part = (1 - 0x1p-52) / (f64)d;
    const i64 about = (i64)((f64)a * part), left = (i64)((u64)a - (u64)about * (u64)d);
    const i64 more = (i64)((f64)left * part + 0x1.8p52 - 0x1.8p52), rest = (i64)((u64)left - (u64)more * (u64)d);
    return (I)(about + more - ((rest != 0) & ((rest < 0) != (d < 0))));
}

/* By 0 and -1 it is the quotient by 1, of which masks make what NumPy has.  They are no choices: gcc would make a loop for
   each, and no vectors. */

static inline I ag_floor_div_lanes_I(I a, I b)
{
    const I q = ag_quotient_lanes_I(a, (I)(b + (b == 0) + 2 * (b == -1)));
    const I minus = (I) - (b == -1), kept = (I) - (b != 0);
    return (I)(((q ^ minus) - minus) & kept);
}

static inline I ag_mod_lanes_I(I a, I b)
{
    const I kept = (I) - (b != 0);
    return (I)((I)((U)a - (U)ag_floor_div_lanes_I(a, b) * (U)b) & kept);
}

static inline N ag_floor_div_lanes_N(N a, N b)
{
    const N d = (N)(b + (b == 0)), kept = (N) - (b != 0);
    if (sizeof(N) <= 2) return (N)((N)(i32)floorf(((f32)a + 0.5f) * (1 / (f32)d)) & kept);
    return (N)((N)(i64)floor(((f64)a + 0.5) * (1 / (f64)d)) & kept); /* not for 64 bits */
}

static inline N ag_mod_lanes_N(N a, N b)
{
    const N kept = (N) - (b != 0);
    return (N)((N)(a - ag_floor_div_lanes_N(a, b) * b) & kept);
}

/* Euclid's algorithm on absolute values; that of MIN is MIN, as in NumPy. */

static inline I ag_gcd_I(I a, I b)
{
    U x = a < 0 ? -(U)a : (U)a, y = b < 0 ? -(U)b : (U)b;
    while (y != 0) {
        const U rest = x % y;
        x = y;
        y = rest;
    }
    return (I)x;
}

static inline I ag_lcm_I(I a, I b)
{
    const U x = a < 0 ? -(U)a : (U)a, y = b < 0 ? -(U)b : (U)b, common = (U)ag_gcd_I(a, b);
    return common == 0 ? 0 : (I)(U)(x / common * y);
}

static inline N ag_gcd_N(N a, N b)
{
    while (b != 0) {
        const N rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static inline N ag_lcm_N(N a, N b)
{
    const N common = ag_gcd_N(a, b);
    return common == 0 ? 0 : (N)(a / common * b);
}

/* A count outside of [0, width) shifts everything out; on the right, the sign stays. */

static inline Z ag_left_shift_Z(Z a, Z count)
{
    return (U)count < WIDTH ? (Z)((U)a << (U)count % WIDTH) : 0;
}

static inline I ag_right_shift_I(I a, I count)
{
    return a >> ((U)count < WIDTH ? (U)count : WIDTH - 1);
}

static inline N ag_right_shift_N(N a, N count)
{
    return count < WIDTH ? a >> count % WIDTH : 0;
}

/* a if `set`, else b, without a branch. */
static inline Z ag_chosen_Z(b8 set, Z a, Z b)
{
    return ((a ^ b) & -(Z)set) ^ b;
}

/* By squaring, modulo 2 to the width; a negative exponent is an error that the kernel reports. */

static inline Z ag_pow_Z(Z base, Z exponent)
{
    u64 square = (u64)base, result = 1;
    for (U e = (U)exponent; e != 0; e >>= 1) {
        result = e & 1 ? result * square : result;
        square *= square;
    }
    return (Z)result;
}

/* Of an integer that becomes a float again gcc makes trunc(x), and so -0.0 of what is 0.  A sum with 0 is never -0.0. */

static inline i32 ag_i32_from_f32(f32 x)
{
    return x >= -0x1p31f && x < 0x1p31f ? (i32)(trunc_F(x) + 0) : -2147483647 - 1;
}

/* float64 holds numbers between -2^31 - 1 and -2^31, which are cut to -2^31. */

static inline i32 ag_i32_from_f64(f64 x)
{
    return x > -0x1.00000002p31 && x < 0x1p31 ? (i32)(trunc_F(x) + 0) : -2147483647 - 1;
}

static inline i64 ag_i64_from_F(F x)
{
    return x >= -TWO_63 && x < TWO_63 ? (i64)(trunc_F(x) + 0) : -9223372036854775807 - 1;
}

/* The same where no float is made of the integer in that loop. */

static inline i32 ag_i32_cut_F(F x)
{
    return fabs_F(x) < (F)0x1p31 ? (i32)x : -2147483647 - 1;
}

static inline i64 ag_i64_cut_F(F x)
{
    return fabs_F(x) < TWO_63 ? (i64)x : -9223372036854775807 - 1;
}

static inline u64 ag_u64_from_F(F x)
{
    return x >= TWO_63 ? (u64)ag_i64_from_F(x - TWO_63) ^ (u64)1 << 63 : (u64)ag_i64_from_F(x);
}
