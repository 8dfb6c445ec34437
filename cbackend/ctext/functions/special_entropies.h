/* Logits, relative exponentials, terms of entropies and losses, with full relative accuracy.

   Written by ../translated.py from ops/special/entropies.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define ARTANH_REST \
    0x1.5555555555535p-2, 0x1.99999999a083ap-3, 0x1.2492492085a07p-3, 0x1.c71c741f7b477p-4, 0x1.745cb39d6d5b3p-4, \
    0x1.3b1de2ff3825ap-4, 0x1.10676a3e80607p-4, 0x1.efdd6c7a67f22p-5, 0x1.559ca707ff409p-5, 0x1.5c8a0fe55f2adp-4

/* x log(1 + y), and 0 where x is 0; NaN where y is. Within 3 ulp. */
INLINE f64 ag_xlog1py_f64(f64 x, f64 y)
{
    return x * ag_log1p_f64(x == 0.0 && y == y ? 0.0 : y);
}

/* log(p / (1 - p)), within 4 ulp; NaN outside [0, 1]. */
INLINE f64 ag_logit_f64(f64 p)
{
    const f64 near = ag_log1p_f64((2.0 * p - 1.0) / (1.0 - p));
    const f64 far = ag_log_f64(p / (1.0 - p));
    return p > 0.3 && p < 0.65 ? near : far;
}

/* (exp(x) - 1) / x, and 1 at 0; within 3 ulp. */
INLINE f64 ag_exprel_f64(f64 x)
{
    return fabs_F(x) < 1e-16 ? 1.0 : x > 717.0 ? __builtin_inf() : ag_expm1_f64(x) / x;
}

/* -x log(x), 0 at 0, -inf for x < 0; within 3 ulp. */
INLINE f64 ag_entr_f64(f64 x)
{
    return x != x ? x : x > 0.0 ? -x * ag_log_f64(x) : x == 0.0 ? 0.0 : -__builtin_inf();
}

/* x log(x / y), 0 where x is 0, inf where one is negative; within 8 ulp. */
INLINE f64 ag_rel_entr_f64(f64 x, f64 y)
{
    const f64 ratio = x / y;
    const f64 d = (x - y) / y;
    const f64 far = ratio < 1e-300 || ratio > 1e+300 ? ag_log_f64(x) - ag_log_f64(y) : ag_log_f64(ratio);
    const f64 logarithm = ratio > 0.5 && ratio < 2.0 ? ag_log1p_f64(d) : far;
    const f64 inner = x > 0.0 && y > 0.0 ? x * logarithm : x == 0.0 && y >= 0.0 ? 0.0 : __builtin_inf();
    return x != x || y != y ? x + y : inner;
}

/* x log(x / y) - x + y, y where x is 0, inf where one is negative; within 8 ulp. */
INLINE f64 ag_kl_div_f64(f64 x, f64 y)
{
    const f64 ratio = y / x;
    const f64 d = y - x;
    const f64 m = d / x;
    const f64 s = m / (2.0 + m);
    const f64 q = s * s;
    POLYNOMIAL(f64, rest, q, ARTANH_REST);
    const f64 near = x * (s * (m - 2.0 * q * rest));
    const f64 is_far = ratio < 1e-300 || ratio > 1e+300;
    const f64 logarithm = ag_log_f64(is_far ? y : ratio) - ag_log_f64(is_far ? x : 1.0);
    const f64 size = ratio > 0.5 && ratio < 2.0 ? near : __builtin_fma(-x, logarithm, d);
    const f64 inner = x > 0.0 && y > 0.0 ? size : x == 0.0 && y >= 0.0 ? y : __builtin_inf();
    return x != x || y != y ? __builtin_nan("") : inner;
}

/* Huber's loss: r**2 / 2 up to |r| = delta, and straight lines beyond; inf for a negative delta. */
INLINE f64 ag_huber_f64(f64 delta, f64 r)
{
    const f64 a = fabs_F(r);
    const f64 loss = a <= delta ? 0.5 * r * r : delta * (a - 0.5 * delta);
    return delta != delta || r != r ? delta + r : delta < 0.0 ? __builtin_inf() : loss;
}

/* delta**2 (sqrt(1 + (r / delta)**2) - 1), without cancellation; inf for a negative delta, within 8 ulp. */
INLINE f64 ag_pseudo_huber_f64(f64 delta, f64 r)
{
    const f64 a = fabs_F(r);
    const f64 u = a / delta;
    const f64 size = u > 100000000.0 ? delta * (a - delta) : a * (a / (1.0 + sqrt_F(1.0 + u * u)));
    return delta != delta || r != r ? delta + r : delta < 0.0 ? __builtin_inf() : delta == 0.0 || r == 0.0 ? 0.0 :
        size;
}
