/* Quotients of gamma functions as products of few powers, for arguments where no factor overflows.

   Written by ../translated.py from ops/special/ratios.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define RECIPROCAL_GAMMA \
    -0x1.514d3d90584b3p-5, -0x1.0da5a671c048ap-1, 0x1.669be41a93892p-3, 0x1.a18540be330b0p-5, \
    -0x1.5955cc3972186p-5, 0x1.b16203e58be83p-8, 0x1.15f7f0609bffcp-9, -0x1.232bd85ee9c41p-10, \
    0x1.3f8460554fdf3p-13, 0x1.a963868fdf9a6p-16, -0x1.d24cdaf2bb752p-17, 0x1.217126b26f8fap-19, \
    0x1.f2ae50d7e1f8ap-25, -0x1.826a08c7ae927p-24, 0x1.21261d939739fp-26

/* 1 / gamma(x) for 1 <= x <= 2 in two parts, with a relative error of about 2**-55. */
INLINE f64 ag_reciprocal_gamma_f64(f64 x, f64 *second)
{
    const f64 d = x - 1.5;
    POLYNOMIAL(f64, p, d, RECIPROCAL_GAMMA);
    const f64 rest = __builtin_fma(d, p, 0x1.1ae3a914fed80p-56);
    const f64 total = 0x1.20dd750429b6dp+0 + rest;
    *second = rest - (total - 0x1.20dd750429b6dp+0);
    return total;
}

/* (x - 1) (x - 2) ... down to the factor between 1 and 2, in two parts; 1 for x < 2. */
static inline f64 ag_falling_product_f64(f64 x, f64 *second)
{
    f64 product = 1.0;
    f64 low = 0.0;
    f64 factor = x;
    f64 larger = 0;
    while (factor >= 3.0) {
        f64 pair = 0;
        f64 pair_low = 0;
        pair = ag_two_product_f64(factor - 1.0, factor - 2.0, &pair_low);
        larger = product * pair;
        low = __builtin_fma(low, pair, __builtin_fma(product, pair, -larger) + product * pair_low);
        product = larger;
        factor = factor - 2.0;
    }
    factor = factor >= 2.0 ? factor - 1.0 : 1.0;
    larger = product * factor;
    *second = __builtin_fma(low, factor, __builtin_fma(product, factor, -larger));
    return larger;
}

/* The same for 1 <= x < 10, rounded at each factor, without a loop of unknown length. */
INLINE f64 ag_quick_product_f64(f64 x)
{
    const f64 low = (x >= 2.0 ? x - 1.0 : 1.0) * (x >= 3.0 ? x - 2.0 : 1.0);
    const f64 next_ = (x >= 4.0 ? x - 3.0 : 1.0) * (x >= 5.0 ? x - 4.0 : 1.0);
    const f64 high = (x >= 6.0 ? x - 5.0 : 1.0) * (x >= 7.0 ? x - 6.0 : 1.0);
    const f64 last = (x >= 8.0 ? x - 7.0 : 1.0) * (x >= 9.0 ? x - 8.0 : 1.0);
    return low * next_ * (high * last);
}

/* B(a, b) for 1e-290 <= a, b < 10 in two parts, with a relative error of about 2**-53. */
static inline f64 ag_beta_of_moderate_f64(f64 a, f64 b, f64 *second)
{
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_falling_product_f64(a, &p_low);
    f64 q = 0;
    f64 q_low = 0;
    q = ag_falling_product_f64(b, &q_low);
    p = ag_times_parts_f64(p, p_low, q, q_low, &p_low);
    f64 d = 0;
    f64 d_low = 0;
    d = ag_falling_product_f64(s, &d_low);
    f64 t = 0;
    f64 t_low = 0;
    t = ag_reciprocal_gamma_f64(s - floor_F(s) + 1.0, &t_low);
    p = ag_times_parts_f64(p, p_low, t, t_low, &p_low);
    t = ag_reciprocal_gamma_f64(a - floor_F(a) + 1.0, &t_low);
    d = ag_times_parts_f64(d, d_low, t, t_low, &d_low);
    t = ag_reciprocal_gamma_f64(b - floor_F(b) + 1.0, &t_low);
    d = ag_times_parts_f64(d, d_low, t, t_low, &d_low);
    if (s < 1.0) {
        p = ag_times_parts_f64(p, p_low, s, s_low, &p_low);
        s_low = 0.0;
    }
    if (a < 1.0) {
        d = ag_times_parts_f64(d, d_low, a, 0.0, &d_low);
    }
    if (b < 1.0) {
        d = ag_times_parts_f64(d, d_low, b, 0.0, &d_low);
    }
    const f64 inverse = 1.0 / d;
    const f64 result = p * inverse;
    const f64 low = (__builtin_fma(-result, d, p) + (p_low - result * d_low)) * inverse;
    const f64 slope = ((4.604855 * s + 0x1.3228869c66d37p+4) * s - 0x1.2f3798d8a979ep+5) / ((s + 0x1.085d95dd4c76dp+4)
        * s + 7.312457);
    *second = low - result * (s_low * slope);
    return result;
}

/* ((n + n_low) / (d + d_low))**e, as accurate as the power of a number. */
INLINE f64 ag_quotient_power_f64(f64 n, f64 n_low, f64 d, f64 d_low, f64 e)
{
    const f64 r = n / d;
    const f64 rest = __builtin_fma(-r, d, n) + (n_low - r * d_low);
    return pow_F(r, e) * (1.0 + e * (rest / n));
}

/* 1 / gamma(a) for 0 < a < 10. */
static inline f64 ag_short_reciprocal_f64(f64 a)
{
    f64 p = 0;
    f64 p_low = 0;
    p = ag_falling_product_f64(a, &p_low);
    f64 r = 0;
    f64 r_low = 0;
    r = ag_reciprocal_gamma_f64(a - floor_F(a) + 1.0, &r_low);
    if (a < 1.0) {
        return a * r;
    }
    return r / p * (1.0 + (r_low / r - p_low / p));
}

/* B(a, b) for a <= b, b >= 10, within about 4 ulp; 0 where a power is too small for that. */
static inline f64 ag_beta_by_powers_f64(f64 a, f64 b)
{
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    if (b > 100000000.0) {
        return 0.0;
    }
    f64 p = 0;
    f64 q = 0;
    f64 rest = 0;
    f64 result = 0;
    if (a >= 10.0) {
        p = ag_quotient_power_f64(a, 0.0, s, s_low, a - 0.5);
        q = ag_quotient_power_f64(b, 0.0, s, s_low, b);
        rest = ag_stirling_f64(a) + ag_stirling_f64(b) - ag_stirling_f64(s);
        result = 0x1.40d931ff62705p+1 * p * q / sqrt_F(b);
        result = result + result * ag_expm1_f64(rest);
        return p > 1e-280 && q > 1e-280 && result > 1e-280 ? result : 0.0;
    }
    p = pow_F(s, -a) * (1.0 - a * (s_low / s));
    q = ag_quotient_power_f64(b, 0.0, s, s_low, b - 0.5) * ag_exp_f64(a);
    rest = ag_stirling_f64(b) - ag_stirling_f64(s);
    result = (p * q + p * q * ag_expm1_f64(rest)) / ag_short_reciprocal_f64(a);
    return p > 1e-280 ? result : 0.0;
}

/* log(B(a, b)) for 10 <= a <= b, of negative terms. */
INLINE f64 ag_log_beta_of_large_f64(f64 a, f64 b)
{
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    const f64 per_a = 1.0 / a;
    const f64 per_b = 1.0 / b;
    const f64 per_s = 1.0 / s;
    const f64 p = a * per_s;
    const f64 p_log = ag_log_f64(p) + (__builtin_fma(-p, s, a) - p * s_low) * per_a;
    const f64 q = b * per_s;
    const f64 q_log = ag_log_f64(q) + (__builtin_fma(-q, s, b) - q * s_low) * per_b;
    const f64 rest = ag_stirling_of_f64(per_a) + ag_stirling_of_f64(per_b) - ag_stirling_of_f64(per_s) +
        0x1.d67f1c864beb5p-1 - 0.5 * ag_log_f64(b);
    return (a - 0.5) * p_log + (b * q_log + rest);
}

/* x**a exp(-x) / gamma(a + 1) for a > 0, x > 1e-300; 0 where a power is too small or too large for that. */
static inline f64 ag_short_gamma_factor_f64(f64 a, f64 x)
{
    if ((x > 690.0 && a < 10.0) || a > 100000000.0) {
        return 0.0;
    }
    f64 size = 0;
    if (a < 10.0) {
        size = pow_F(x, a) * ag_exp_f64(-x);
        if (size < 1e-280) {
            return 0.0;
        }
        if (a < 1.0) {
            f64 r = 0;
            f64 _r_low = 0;
            r = ag_reciprocal_gamma_f64(a + 1.0, &_r_low);
            return size * r;
        }
        return size * ag_short_reciprocal_f64(a) / a;
    }
    f64 d = 0;
    f64 d_low = 0;
    d = ag_two_sum_f64(a, -x, &d_low);
    size = ag_quotient_power_f64(x, 0.0, a, 0.0, a);
    if (d < -690.0 || d > 690.0 || size < 1e-280 || size > 1e+280) {
        return 0.0;
    }
    size = size * ag_exp_f64(d) / sqrt_F(0x1.921fb54442d18p+2 * a);
    return size + size * ag_expm1_f64(d_low - ag_stirling_f64(a));
}

/* x**a y**b / B(a, b) for x + y = 1; 0 where a power is too small or too large for that. `whole`: 0, or B(a, b). */
static inline f64 ag_short_beta_factor_f64(f64 a, f64 b, f64 x, f64 x_low, f64 y, f64 y_low, f64 whole, f64 whole_low)
{
    if (a > 100000000.0 || b > 100000000.0) {
        return 0.0;
    }
    f64 p = 0;
    f64 q = 0;
    f64 rest = 0;
    f64 size = 0;
    f64 s = 0;
    f64 s_low = 0;
    f64 n = 0;
    f64 n_low = 0;
    if (a >= 10.0 && b >= 10.0) {
        s = ag_two_sum_f64(a, b, &s_low);
        n = ag_times_parts_f64(x, x_low, s, s_low, &n_low);
        p = ag_quotient_power_f64(n, n_low, a, 0.0, a);
        n = ag_times_parts_f64(y, y_low, s, s_low, &n_low);
        q = ag_quotient_power_f64(n, n_low, b, 0.0, b);
        rest = ag_stirling_f64(s) - ag_stirling_f64(a) - ag_stirling_f64(b);
        if (!(p > 1e-280 && p < 1e+280 && q > 1e-280 && q < 1e+280)) {
            return 0.0;
        }
        size = p * q * sqrt_F(a / 0x1.921fb54442d18p+2 * (b / s));
        return size + size * ag_expm1_f64(rest);
    }
    const f64 small = a < b ? a : b;
    const f64 large = a < b ? b : a;
    if (large >= 10.0) {
        const f64 u = a < b ? x : y;
        const f64 u_low = a < b ? x_low : y_low;
        const f64 v = a < b ? y : x;
        const f64 v_low = a < b ? y_low : x_low;
        s = ag_two_sum_f64(large, small, &s_low);
        n = ag_times_parts_f64(u, u_low, s, s_low, &n_low);
        p = pow_F(n, small) * (1.0 + small * (n_low / n));
        n = ag_times_parts_f64(v, v_low, s, s_low, &n_low);
        q = ag_quotient_power_f64(n, n_low, large, 0.0, large);
        rest = ag_stirling_f64(s) - ag_stirling_f64(large);
        if (!(p > 1e-280 && q > 1e-280 && q < 1e+280)) {
            return 0.0;
        }
        size = p * q * ag_exp_f64(-small) * sqrt_F(large / s) * ag_short_reciprocal_f64(small);
        return size + size * ag_expm1_f64(rest);
    }
    size = pow_F(x, a) * pow_F(y, b) * (1.0 + (a * (x_low / x) + b * (y_low / y)));
    if (size < 1e-280 || small < 1e-100) {
        return 0.0;
    }
    if (whole == 0.0) {
        whole = ag_beta_of_moderate_f64(a, b, &whole_low);
    }
    return size / whole * (1.0 - whole_low / whole);
}

/* log(B(a, b)) for a <= b, 1e-290 <= a, both finite; 0 where its terms cancel, or a power is too small. */
static inline f64 ag_short_log_beta_f64(f64 a, f64 b)
{
    f64 total = 0;
    f64 p = 0;
    f64 p_low = 0;
    if (b < 10.0) {
        p = ag_beta_of_moderate_f64(a, b, &p_low);
        total = ag_log_f64(p) + p_low / p;
        return fabs_F(total) > 0.125 ? total : 0.0;
    }
    if (a >= 10.0) {
        return ag_log_beta_of_large_f64(a, b);
    }
    const f64 s = a + b;
    f64 r = 0;
    f64 r_low = 0;
    r = ag_reciprocal_gamma_f64(a - floor_F(a) + 1.0, &r_low);
    p = a < 1.0 ? a * r : r / ag_quick_product_f64(a);
    p_low = a < 1.0 ? __builtin_fma(a, r, -p) + a * r_low : 0.0;
    const f64 first = ag_log_f64(p) + p_low / p;
    const f64 rest = (b - 0.5) * ag_log1p_f64(a / b) - a + (ag_stirling_f64(s) - ag_stirling_f64(b));
    total = first + (a * ag_log_f64(s) + rest);
    if (fabs_F(total) < 0.6 * fabs_F(first)) {
        return fabs_F(total) > 0.25 * fabs_F(first) ? -(ag_log_f64(p * pow_F(s, a)) + (p_low / p + rest)) : 0.0;
    }
    return -total;
}
