/* Bessel functions of orders 0 and 1: polynomials in x**2 below 5; beyond, the modulus and phase of Hankel's expansion

   Written by ../translated.py from ops/special/waves01.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define P0_LARGE \
    0x1.ff4d0e58750e7p-1, -0x1.5bfe8e4499278p-10, 0x1.24e857e031385p-15, -0x1.4a2bb234fe027p-19, \
    0x1.3f88ee6eac64cp-22, -0x1.b4ebd44f93811p-25, 0x1.7bfa1eca6d2a5p-27, -0x1.8a86464f5d1c6p-29, \
    0x1.d5584b0a66492p-31, -0x1.398ee1957fe29p-32, 0x1.cb6c72b3599a2p-34, -0x1.37439b5105dcap-35, \
    0x1.bae6ae60f45f1p-37, -0x1.dfd1f1535ef65p-37, 0x1.260e74c3327a9p-37, 0x1.e0a98cd24a66ap-39, \
    -0x1.8fa28706aa6e9p-39, -0x1.3a9a73476fffcp-39, 0x1.93b20220384a3p-40
#define Q0_LARGE \
    -0x1.950fbf4834245p-6, 0x1.139c534eb937fp-12, -0x1.a9624d567b6bdp-17, 0x1.4ef5b7d16fffcp-20, \
    -0x1.9426aa3ef0d77p-23, 0x1.4430acb81ebf2p-25, -0x1.3ed996367118ep-27, 0x1.6d6314778c675p-29, \
    -0x1.d79e9742f4359p-31, 0x1.536d1ecd701c9p-32, -0x1.09c56ef573960p-33, 0x1.61043c551c10cp-35, \
    -0x1.e285df7f2ffa8p-37, 0x1.6e32fbf607015p-36, -0x1.e16eda1735750p-37, -0x1.c8b6ab5a80fb4p-38, \
    0x1.79ee4ecfa9b29p-38, 0x1.096d646b17d26p-38, -0x1.601225a377afbp-39
#define P1_LARGE \
    0x1.00961eaac1aa9p+0, 0x1.25cb0665de446p-9, -0x1.800dd41111785p-15, 0x1.8fc8a4519a442p-19, \
    -0x1.743c6fcaaf70ep-22, 0x1.f1801f6b88776p-25, -0x1.aa2bd5b81e8a1p-27, 0x1.b5bcbd26bd33fp-29, \
    -0x1.0244b90a69016p-30, 0x1.56cc7f3670026p-32, -0x1.f383b1105110ap-34, 0x1.5239f7b2d2d45p-35, \
    -0x1.e164cb3db6660p-37, 0x1.fffd16ca063f1p-37, -0x1.3864928205414p-37, -0x1.f957a45e282f7p-39, \
    0x1.a48ae5f8bdae7p-39, 0x1.4d57036cdf58ep-39, -0x1.aaf1c6f2e4ca8p-40
#define Q1_LARGE \
    0x1.3199b791160d8p-4, -0x1.87165a0a75d0dp-12, 0x1.09041cc5ba04bp-16, -0x1.8bab849a9e2c0p-20, \
    0x1.cfcea55e63a50p-23, -0x1.6d5c5afae912bp-25, 0x1.62e25a01e1ddfp-27, -0x1.92f99a02595c2p-29, \
    0x1.023f518e6cde1p-30, -0x1.717e9239cbb37p-32, 0x1.1fda613a68b28p-33, -0x1.7ef194c55e413p-35, \
    0x1.068c8fba8fdbap-36, -0x1.85756ecc42925p-36, 0x1.fdffe3ca4f4adp-37, 0x1.e02be92bbda8cp-38, \
    -0x1.8d6d3b2d076c8p-38, -0x1.18ba083be980fp-38, 0x1.73b83ed8501a7p-39
#define J0_SMALL \
    0x1.2ed55270963fdp-7, 0x1.bf9ab41636ba0p-6, 0x1.042349210a5f6p-6, 0x1.0fd6106e4a052p-8, 0x1.48c4ddda5c923p-11, \
    0x1.055434b3fbdcdp-14, 0x1.2716ed6a95e34p-18, 0x1.f2f70005f5cd4p-23, 0x1.4828771fe1176p-27, \
    0x1.59b1838786c92p-32, 0x1.2a61f403b254cp-37, 0x1.aec8371fb00bbp-43, 0x1.0099805f7c525p-48, \
    0x1.50229ded7317fp-54
#define J1_SMALL \
    0x1.a0215f4797fbfp-8, 0x1.ae307b1afb9c8p-8, 0x1.3e2e163d2a828p-9, 0x1.ef3cc323e1b9ap-12, \
    0x1.e04cc7db7c21fp-15, 0x1.3fb3a5aed9e57p-18, 0x1.37178b1a42efbp-22, 0x1.cea7143d62826p-27, \
    0x1.0fc2725453ee0p-31, 0x1.02c4d0ed56dccp-36, 0x1.97b1f14cc87d9p-42, 0x1.0ea09f2bb94ddp-47, \
    0x1.2b9ba95af32fbp-53, 0x1.67bb6a4f8cd73p-59
#define J0_TINY \
    0.25, -0x1.0000000000000p-6, 0x1.c71c71c71c71cp-12, -0x1.c71c71c71c71cp-18, 0x1.23456789abcdfp-24, \
    -0x1.02e85c0898b71p-31, 0x1.522a43f65486ap-39
#define Y0_SMALL \
    0x1.ef5591b23addcp-2, -0x1.bb0a20bc8fa17p-2, -0x1.e1dec550e2063p-2, 0x1.8dd73e3860a7fp-2, \
    -0x1.c8c5dcec55175p-4, 0x1.20efffecdb202p-6, -0x1.d898823c280f9p-10, 0x1.1084623b5261ap-13, \
    -0x1.d4ca0d2405a8bp-18, 0x1.38e97d038e939p-22, -0x1.4e026d205675cp-27, 0x1.23cf639f57016p-32, \
    -0x1.a9b9f9a1c7a16p-38, 0x1.06b223a56d301p-43
#define Y1_SMALL \
    0x1.1e34eda905916p-3, 0x1.75172069e41bap-4, -0x1.4e11f71d95a0fp-3, 0x1.0fc1d2bad4f93p-4, \
    -0x1.b82fcf4b7e778p-7, 0x1.b5777b8432602p-10, -0x1.2893671e1f7a1p-13, 0x1.2508be49cef75p-17, \
    -0x1.b9b6abba6cbb1p-22, 0x1.06a9399305f0fp-26, -0x1.f9eb1c7cd3859p-32, 0x1.935025b52b3d8p-37, \
    -0x1.0df75ee167f5fp-42

/* `near`, or J or Y of order 0 or 1 for x from 5 to below infinity. Both sides read the sine and the cosine: a
   call for one side alone would become a branch, and no loop of vectors. */
INLINE f64 ag_near_or_wave_of_01_f64(f64 x, f64 near, i32 is_1, i32 is_y)
{
    const f64 is_far = 5.0 <= x && x < __builtin_inf();
    const f64 b = is_far ? x : 5.0;
    const f64 z = 5.0 / b;
    const f64 u = 2.0 * z * z - 1.0;
    POLYNOMIAL(f64, p0, u, P0_LARGE);
    POLYNOMIAL_AGAIN(f64, q0, u, Q0_LARGE);
    POLYNOMIAL_AGAIN(f64, p1, u, P1_LARGE);
    POLYNOMIAL_AGAIN(f64, q1, u, Q1_LARGE);
    const f64 p = is_1 ? p1 : p0;
    const f64 q = z * (is_1 ? q1 : q0);
    const f64 angle = is_far ? x : 0.0;
    const f64 c = ag_cos_f64(angle);
    const f64 s = ag_sin_f64(angle);
    const f64 cosine = is_1 ? s - c : c + s;
    const f64 sine = is_1 ? -(c + s) : s - c;
    const f64 kept = is_1 ? -near : near;
    const f64 of_sine = is_y ? (is_far ? p : 0.0) : -(is_far ? q : 0.0);
    const f64 of_cosine = is_y ? (is_far ? q : kept) : is_far ? p : kept;
    return (is_far ? sqrt_F(0x1.45f306dc9c883p-2 / b) : 1.0) * (of_sine * sine + of_cosine * cosine);
}

/* J of order 0 or 1, for x >= 0. */
INLINE f64 ag_j_of_01_f64(f64 x, i32 is_1)
{
    const f64 a = x < 5.0 ? x : 5.0;
    const f64 t = a * a;
    const f64 v = __builtin_fma(-0.08, t, 2.0);
    POLYNOMIAL(f64, rest0, v, J0_SMALL);
    POLYNOMIAL_AGAIN(f64, rest1, v, J1_SMALL);
    const f64 half = (0x1.ea75575af6f09p+1 - a + (-0x1.60155a9d1b256p-53)) * (0x1.ea75575af6f09p+1 + a) * rest1;
    POLYNOMIAL(f64, first_terms, t, J0_TINY);
    const f64 root_part = (0x1.33d152e971b40p+1 - a + (-0x1.0f539d7da258ep-53)) * (0x1.33d152e971b40p+1 + a) * rest0;
    const f64 whole = a < 0.5 ? 1.0 - t * first_terms : root_part;
    const f64 near = is_1 ? a * half : whole;
    return ag_near_or_wave_of_01_f64(x, x < 5.0 ? near : __builtin_nan(""), is_1, 0);
}

/* Y of order 0 or 1. */
INLINE f64 ag_y_of_01_f64(f64 x, i32 is_1)
{
    const f64 a = x < 5.0 ? x : 5.0;
    const f64 t = a * a;
    const f64 v = __builtin_fma(-0.08, t, 2.0);
    const f64 u = __builtin_fma(0.08, t, -1.0);
    POLYNOMIAL(f64, rest0, v, J0_SMALL);
    POLYNOMIAL_AGAIN(f64, rest1, v, J1_SMALL);
    POLYNOMIAL(f64, more0, u, Y0_SMALL);
    POLYNOMIAL_AGAIN(f64, more1, u, Y1_SMALL);
    const f64 logarithm = 0x1.45f306dc9c883p-1 * ag_log_f64(a);
    const f64 half = (0x1.ea75575af6f09p+1 - a + (-0x1.60155a9d1b256p-53)) * (0x1.ea75575af6f09p+1 + a) * rest1;
    const f64 first = a * (logarithm * half + more1) - 0x1.45f306dc9c883p-1 / a;
    POLYNOMIAL(f64, first_terms, t, J0_TINY);
    const f64 root_part = (0x1.33d152e971b40p+1 - a + (-0x1.0f539d7da258ep-53)) * (0x1.33d152e971b40p+1 + a) * rest0;
    const f64 whole = a < 0.5 ? 1.0 - t * first_terms : root_part;
    const f64 near = is_1 ? first : logarithm * whole + more0;
    return ag_near_or_wave_of_01_f64(x, x == 0.0 ? -__builtin_inf() : 0.0 < x && x < 5.0 ? near : __builtin_nan(""),
        is_1, 1);
}

/* The Bessel function of the first kind and order 0, within 8 ulp of the envelope sqrt(2 / (pi x)). */
INLINE f64 ag_j0_f64(f64 x)
{
    return ag_j_of_01_f64(fabs_F(x), 0);
}

/* The Bessel function of the first kind and order 1, within 8 ulp of the envelope. */
INLINE f64 ag_j1_f64(f64 x)
{
    return copysign_F(1.0, x) * ag_j_of_01_f64(fabs_F(x), 1);
}

/* The Bessel function of the second kind and order 0, within 8 ulp of the envelope; NaN for x < 0. Near its zero
   below 1 the absolute error is at most 4e-16. */
INLINE f64 ag_y0_f64(f64 x)
{
    return ag_y_of_01_f64(x, 0);
}

/* The Bessel function of the second kind and order 1, within 8 ulp of the envelope; NaN for x < 0. */
INLINE f64 ag_y1_f64(f64 x)
{
    return ag_y_of_01_f64(x, 1);
}
