/* Logits, relative exponentials, terms of entropies and losses, with full relative accuracy.

   Written by ../translated.py from ops/special/entropies.py. */
#pragma once
#include "float.h"
#include "gamma.h"

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
static inline f64 ag_kl_div_f64(f64 x, f64 y)
{
    if (x != x || y != y) {
        return __builtin_nan("");
    }
    if (x == 0.0 && y >= 0.0) {
        return y;
    }
    if (!(x > 0.0 && y > 0.0)) {
        return __builtin_inf();
    }
    f64 d = 0;
    f64 d_low = 0;
    d = ag_two_sum_f64(y, -x, &d_low);
    f64 m = 0;
    f64 m_low = 0;
    m = ag_divided_parts_f64(d, d_low, x, 0.0, &m_low);
    f64 high = 0;
    f64 low = 0;
    if (fabs_F(m) < 0.29) {
        high = ag_log1p_parts_f64(m, m_low, &low);
        return x * (m - high + (m_low - low));
    }
    if (m > -0.9 && m < 9.0) {
        m = ag_plus_parts_f64(m, m_low, 1.0, 0.0, &m_low);
        high = ag_log_in_parts_f64(m, m_low, &low);
        high = ag_times_parts_f64(high, low, -x, 0.0, &low);
        high = ag_plus_parts_f64(high, low, d, d_low, &low);
        return high;
    }
    return ag_rel_entr_f64(x, y) + d;
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
    const f64 u = r / delta;
    const f64 q = u * u;
    const f64 size = delta * delta * (q / (1.0 + sqrt_F(1.0 + q)));
    return delta != delta || r != r ? delta + r : delta < 0.0 ? __builtin_inf() : delta == 0.0 || r == 0.0 ? 0.0 :
        size;
}
