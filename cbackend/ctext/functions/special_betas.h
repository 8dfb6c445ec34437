/* The beta function and its logarithm; the incomplete beta function, its derivatives by the parameters, its inverse.

   Written by ../translated.py from ops/special/betas.py. */
#pragma once
#include "float.h"
#include "gamma.h"

/* log(B(a, b)) for positive operands, in two parts. gamma(b) / gamma(a + b) of a large b as one quotient (DLMF
   5.11.13's idea), which does not cancel. */
static inline f64 ag_log_beta_parts_f64(f64 a, f64 b, f64 *second)
{
    const f64 small = a < b ? a : b;
    const f64 large = a < b ? b : a;
    f64 p = 0;
    f64 p_low = 0;
    f64 q = 0;
    f64 q_low = 0;
    f64 s = 0;
    f64 s_low = 0;
    if (large < 15.0 || small > 0.4 * large) {
        p = ag_log_gamma_parts_f64(a, 0.0, &p_low);
        q = ag_log_gamma_parts_f64(b, 0.0, &q_low);
        p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
        s = ag_two_sum_f64(a, b, &s_low);
        q = ag_log_gamma_parts_f64(s, s_low, &q_low);
        return ag_plus_parts_f64(p, p_low, -q, -q_low, second);
    }
    p = ag_log_gamma_parts_f64(small, 0.0, &p_low);
    q = ag_log_in_parts_f64(large, 0.0, &q_low);
    q = ag_times_parts_f64(q, q_low, small, 0.0, &q_low);
    p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
    f64 r = 0;
    f64 r_low = 0;
    r = ag_divided_parts_f64(small, 0.0, large, 0.0, &r_low);
    q = ag_log1p_parts_f64(r, r_low, &q_low);
    s = ag_two_sum_f64(small, large, &s_low);
    q = ag_times_parts_f64(q, q_low, s - 0.5, s_low, &q_low);
    p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
    p = ag_plus_parts_f64(p, p_low, small, 0.0, &p_low);
    q = ag_stirling_parts_f64(large, 0.0, &q_low);
    p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
    q = ag_stirling_parts_f64(s, s_low, &q_low);
    return ag_plus_parts_f64(p, p_low, -q, -q_low, second);
}

/* log(|B(a, b)|), within 4 ulp for positive operands but near its zeros; infinite at its poles. */
static inline f64 ag_betaln_f64(f64 a, f64 b)
{
    if (a != a || b != b) {
        return __builtin_nan("");
    }
    if (a == 0.0 || b == 0.0) {
        return __builtin_inf();
    }
    if (a > 0.0 && b > 0.0 && a + b < __builtin_inf() && (a < b ? a : b) > 1e-290) {
        f64 p = 0;
        f64 p_low = 0;
        p = ag_log_beta_parts_f64(a, b, &p_low);
        return p + p_low;
    }
    if (a == __builtin_inf() || b == __builtin_inf()) {
        return a > 0.0 && b > 0.0 ? -__builtin_inf() : __builtin_nan("");
    }
    const f64 total = a + b;
    if (total <= 0.0 && total == floor_F(total) && (a != floor_F(a) || b != floor_F(b))) {
        return -__builtin_inf();
    }
    return ag_gammaln_f64(a) + ag_gammaln_f64(b) - ag_gammaln_f64(total);
}

/* B(a, b) = gamma(a) gamma(b) / gamma(a + b), within 4 ulp for positive operands. */
static inline f64 ag_beta_f64(f64 a, f64 b)
{
    if (a != a || b != b) {
        return __builtin_nan("");
    }
    if (a == 0.0 || b == 0.0) {
        return __builtin_inf();
    }
    if (a > 0.0 && b > 0.0) {
        if (a == __builtin_inf() || b == __builtin_inf()) {
            return 0.0;
        }
        const f64 small = a < b ? a : b;
        if (small < 1e-290) {
            return 1.0 / small;
        }
        f64 p = 0;
        f64 p_low = 0;
        p = ag_log_beta_parts_f64(a, b, &p_low);
        return ag_exp_parts_f64(p, p_low);
    }
    const f64 total = a + b;
    if (total <= 0.0 && total == floor_F(total) && (a != floor_F(a) || b != floor_F(b))) {
        return 0.0;
    }
    if (fabs_F(a) < 170.0 && fabs_F(b) < 170.0 && fabs_F(total) < 170.0) {
        return ag_gamma_f64(a) * (ag_gamma_f64(b) / ag_gamma_f64(total));
    }
    f64 sign = 1.0;
    sign = a < 0.0 && floor_F(a) - 2.0 * floor_F(0.5 * floor_F(a)) == 1.0 ? -sign : sign;
    sign = b < 0.0 && floor_F(b) - 2.0 * floor_F(0.5 * floor_F(b)) == 1.0 ? -sign : sign;
    sign = total < 0.0 && floor_F(total) - 2.0 * floor_F(0.5 * floor_F(total)) == 1.0 ? -sign : sign;
    return sign * ag_exp_f64(ag_gammaln_f64(a) + ag_gammaln_f64(b) - ag_gammaln_f64(total));
}

/* x**a (1 - x)**b / B(a, b); y is 1 - x rounded. */
static inline f64 ag_beta_factor_f64(f64 a, f64 b, f64 x, f64 y)
{
    f64 one = 0;
    f64 y_low = 0;
    one = ag_two_sum_f64(-x, 1.0, &y_low);
    y_low = x < 1e-16 ? 0.0 : y_low;
    f64 x_low = 0.0;
    if (y < x) {
        one = ag_two_sum_f64(-y, 1.0, &x_low);
        x_low = x_low + (one - x);
        y_low = 0.0;
    }
    f64 p = 0;
    f64 p_low = 0;
    f64 q = 0;
    f64 q_low = 0;
    if (a >= 15.0 && b >= 15.0) {
        p = ag_times_parts_f64(x, x_low, b, 0.0, &p_low);
        q = ag_times_parts_f64(y, y_low, a, 0.0, &q_low);
        f64 d = 0;
        f64 d_low = 0;
        d = ag_plus_parts_f64(p, p_low, -q, -q_low, &d_low);
        f64 m = 0;
        f64 m_low = 0;
        if (fabs_F(d) < 0.29 * a && fabs_F(d) < 0.29 * b) {
            m = ag_divided_parts_f64(d, d_low, a, 0.0, &m_low);
            p = ag_log1p_parts_f64(m, m_low, &p_low);
            m = ag_divided_parts_f64(-d, -d_low, b, 0.0, &m_low);
            q = ag_log1p_parts_f64(m, m_low, &q_low);
        }
        else {
            f64 s = 0;
            f64 s_low = 0;
            s = ag_two_sum_f64(a, b, &s_low);
            m = ag_log_in_parts_f64(s, s_low, &m_low);
            p = ag_log_in_parts_f64(x, x_low, &p_low);
            p = ag_plus_parts_f64(p, p_low, m, m_low, &p_low);
            q = ag_log_in_parts_f64(a, 0.0, &q_low);
            p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
            q = ag_log_in_parts_f64(y, y_low, &q_low);
            q = ag_plus_parts_f64(q, q_low, m, m_low, &q_low);
            m = ag_log_in_parts_f64(b, 0.0, &m_low);
            q = ag_plus_parts_f64(q, q_low, -m, -m_low, &q_low);
        }
        p = ag_times_parts_f64(p, p_low, a, 0.0, &p_low);
        q = ag_times_parts_f64(q, q_low, b, 0.0, &q_low);
        p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
        const f64 rest = ag_stirling_f64(a + b) - ag_stirling_f64(a) - ag_stirling_f64(b);
        return ag_exp_parts_f64(p, p_low) * ag_exp_f64(rest) * sqrt_F(a / 0x1.921fb54442d18p+2 * (b / (a + b)));
    }
    p = ag_log_in_parts_f64(x, x_low, &p_low);
    p = ag_times_parts_f64(p, p_low, a, 0.0, &p_low);
    q = ag_log_in_parts_f64(y, y_low, &q_low);
    q = ag_times_parts_f64(q, q_low, b, 0.0, &q_low);
    p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
    q = ag_log_beta_parts_f64(a, b, &q_low);
    p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
    return ag_exp_parts_f64(p, p_low);
}

/* I_x(a, b) B(a, b) x**-a (1 - x)**-b, a sum of positive terms (DLMF 8.17.8). */
static inline f64 ag_beta_series_f64(f64 a, f64 b, f64 x)
{
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 0; k < 100000; k++) {
        const f64 n = (f64)k;
        term = term * (x * (a + b + n) / (a + 1.0 + n));
        total = total + term;
        if (term < 1e-17 * total) {
            break;
        }
    }
    return total / a;
}

/* The same as `beta_series` by the continued fraction, for x below the mean a / (a + b) or little above. */
static inline f64 ag_beta_fraction_f64(f64 a, f64 b, f64 x, f64 y)
{
    const f64 mean_part = a <= b ? a - (a + b) * x : (a + b) * y - b;
    f64 f = a / (a + 1.0) * (mean_part + 1.0);
    f64 c = 1e+300;
    f64 d = 1.0 / f;
    f64 h = d;
    for (i32 k = 1; k < 10000; k++) {
        const f64 n = (f64)k;
        const f64 w = a + 2.0 * n - 1.0;
        const f64 t = (a + n - 1.0) / w * ((a + b + n - 1.0) / w) * n * (b - n) * x * x;
        f = n + n * (b - n) * x / w + (a + n) / (w + 2.0) * (mean_part + 1.0 + n * (1.0 + y));
        d = 1.0 / (f + t * d);
        c = f + t / c;
        const f64 step = c * d;
        h = h * step;
        if (fabs_F(step - 1.0) < 1.2e-16) {
            break;
        }
    }
    return h;
}

/* (I_x(a, b), 1 - I_x(a, b)) for positive a, b and 0 < x < 1, y = 1 - x: the smaller one is accurate. */
static inline f64 ag_incomplete_beta_f64(f64 a, f64 b, f64 x, f64 y, f64 *second)
{
    const f64 swapped = a + b > 2.0 ? x * (a + b) > a : x > 0.5;
    const f64 p = swapped ? b : a;
    const f64 q = swapped ? a : b;
    const f64 u = swapped ? y : x;
    const f64 v = swapped ? x : y;
    const f64 factor = ag_beta_factor_f64(p, q, u, v);
    f64 got = 0.0;
    if (q <= 1.0 || u * (p + q) < 0.5 * (p + 1.0) || (u < 0.02 * v && p < 40.0)) {
        got = factor * ag_beta_series_f64(p, q, u);
    }
    else {
        got = factor * ag_beta_fraction_f64(p, q, u, v);
    }
    got = got > 1.0 ? 1.0 : got;
    if (swapped) {
        *second = got;
        return 1.0 - got;
    }
    *second = 1.0 - got;
    return got;
}

/* The incomplete beta function, regularized; NaN outside of a, b >= 0 and 0 <= x <= 1. Within 8 ulp of the smaller
   one of it and 1 less it, for a, b <= 1e5; within 32 in the worst cases found. */
static inline f64 ag_betainc_f64(f64 a, f64 b, f64 x)
{
    if (a != a || b != b || x != x || a < 0.0 || b < 0.0 || x < 0.0 || x > 1.0) {
        return __builtin_nan("");
    }
    if ((a == 0.0 && b == 0.0) || (a == __builtin_inf() && b == __builtin_inf())) {
        return __builtin_nan("");
    }
    if ((x == 0.0 && a > 0.0) || (b == 0.0 && x < 1.0) || (a == __builtin_inf() && x < 1.0)) {
        return 0.0;
    }
    if (x == 1.0 || a == 0.0 || b == __builtin_inf()) {
        return x > 0.0 ? 1.0 : 0.0;
    }
    f64 p = 0;
    f64 _q = 0;
    p = ag_incomplete_beta_f64(a, b, x, 1.0 - x, &_q);
    return p;
}

/* 1 - betainc(a, b, x), without cancellation above the mean. */
static inline f64 ag_betaincc_f64(f64 a, f64 b, f64 x)
{
    if (a != a || b != b || x != x || a < 0.0 || b < 0.0 || x < 0.0 || x > 1.0) {
        return __builtin_nan("");
    }
    if ((a == 0.0 && b == 0.0) || (a == __builtin_inf() && b == __builtin_inf())) {
        return __builtin_nan("");
    }
    if ((x == 0.0 && a > 0.0) || (b == 0.0 && x < 1.0) || (a == __builtin_inf() && x < 1.0)) {
        return 1.0;
    }
    if (x == 1.0 || a == 0.0 || b == __builtin_inf()) {
        return x > 0.0 ? 0.0 : 1.0;
    }
    f64 q = 0;
    ag_incomplete_beta_f64(a, b, x, 1.0 - x, &q);
    return q;
}

/* The derivatives of I_x(a, b) by a and b, for x below the mean: the series, term by term. */
static inline f64 ag_beta_slopes_f64(f64 a, f64 b, f64 x, f64 y, f64 *second)
{
    f64 term = 1.0;
    f64 total = 1.0;
    f64 by_a = 0.0;
    f64 by_b = 0.0;
    f64 slope_a = 0.0;
    f64 slope_b = 0.0;
    for (i32 k = 0; k < 200000; k++) {
        const f64 n = (f64)k;
        slope_b = slope_b + 1.0 / (a + b + n);
        slope_a = slope_a + (1.0 - b) / ((a + b + n) * (a + 1.0 + n));
        term = term * (x * (a + b + n) / (a + 1.0 + n));
        total = total + term;
        by_a = by_a + term * slope_a;
        by_b = by_b + term * slope_b;
        if (term * (1.0 + slope_b) < 1e-17 * total) {
            break;
        }
    }
    const f64 factor = ag_beta_factor_f64(a, b, x, y) / a;
    const f64 joint = ag_digamma_f64(a + b);
    const f64 log_x = x < 0.5 ? ag_log_f64(x) : ag_log1p_f64(-y);
    const f64 log_y = y < 0.5 ? ag_log_f64(y) : ag_log1p_f64(-x);
    *second = factor * ((log_y - ag_digamma_f64(b) + joint) * total + by_b);
    return factor * ((log_x - ag_digamma_f64(a + 1.0) + joint) * total + by_a);
}

/* The derivative of `betainc` by a, within 1e-12 of its larger term. */
static inline f64 ag_betainc_by_a_f64(f64 a, f64 b, f64 x)
{
    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (x == 0.0 || x == 1.0) {
        return 0.0;
    }
    f64 by_a = 0;
    if (x * (a + b) > a) {
        ag_beta_slopes_f64(b, a, 1.0 - x, x, &by_a);
        return -by_a;
    }
    f64 _by_b = 0;
    by_a = ag_beta_slopes_f64(a, b, x, 1.0 - x, &_by_b);
    return by_a;
}

/* The derivative of `betainc` by b, within 1e-12 of its larger term. */
static inline f64 ag_betainc_by_b_f64(f64 a, f64 b, f64 x)
{
    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (x == 0.0 || x == 1.0) {
        return 0.0;
    }
    f64 by_b = 0;
    f64 _by_a = 0;
    if (x * (a + b) > a) {
        by_b = ag_beta_slopes_f64(b, a, 1.0 - x, x, &_by_a);
        return -by_b;
    }
    ag_beta_slopes_f64(a, b, x, 1.0 - x, &by_b);
    return by_b;
}

/* x with I_x(a, b) = p = 1 - q, for p at most about a half: at most 80 steps, kept between bounds. Newton's steps
   in the logarithms of x and of the function. The start is by formula 26.5.22 of Abramowitz and Stegun, or by
   the first term of the series. */
static inline f64 ag_beta_quantile_f64(f64 a, f64 b, f64 p, f64 q)
{
    f64 x = 0.0;
    if (a > 1.0 && b > 1.0) {
        const f64 z = -ag_ndtri_f64(p);
        const f64 r = 1.0 / (2.0 * a - 1.0);
        const f64 s = 1.0 / (2.0 * b - 1.0);
        const f64 h = 2.0 / (r + s);
        const f64 t = (z * z - 3.0) / 6.0;
        const f64 w = z * sqrt_F(h + t > 0.0 ? h + t : 0.0) / h - (s - r) * (t + 5.0 / 6.0 - 2.0 / (3.0 * h));
        x = w < 300.0 ? a / (a + b * ag_exp_f64(2.0 * w)) : 0.0;
    }
    if (!(x > 0.0 && x < 1.0)) {
        f64 e = 0;
        f64 _e_low = 0;
        e = ag_log_beta_parts_f64(a, b, &_e_low);
        x = ag_exp_f64((ag_log_f64(p) + ag_log_f64(a) + e) / a);
        x = x < 0.9 ? x : 0.5;
    }
    if (x < 1e-290) {
        return x;
    }
    f64 low = 0.0;
    f64 high = 1.0;
    for (i32 _ = 0; _ < 80; _++) {
        f64 got_p = 0;
        f64 got_q = 0;
        got_p = ag_incomplete_beta_f64(a, b, x, 1.0 - x, &got_q);
        if (got_p > p) {
            high = x;
        }
        else {
            low = x;
        }
        const f64 density = ag_beta_factor_f64(a, b, x, 1.0 - x) / (1.0 - x);
        f64 better = 0.5 * (low + high);
        if (got_p > 0.0 && density > 0.0) {
            const f64 ratio = got_p / p;
            const f64 difference = p <= q ? (got_p - p) / p : (q - got_q) / p;
            f64 step = got_p / density * (ratio < 0.5 || ratio > 2.0 ? ag_log_f64(ratio) : ag_log1p_f64(difference));
            step = step > 2.0 ? 2.0 : step < -2.0 ? -2.0 : step;
            better = fabs_F(step) < 0.001 ? x - x * step : x * ag_exp_f64(-step);
        }
        if (fabs_F(better - x) <= 4e-16 * x) {
            return better;
        }
        if (!(better > low && better < high)) {
            better = low > 0.0 && high > 4.0 * low ? sqrt_F(low * high) : 0.5 * (low + high);
        }
        const f64 moved = fabs_F(better - x);
        x = better;
        if (moved <= 2e-16 * x || high - low <= 2.3e-16 * x) {
            break;
        }
    }
    return x;
}

/* I_x(a, b) at the mean, or at 1/2 where it is nearer to it: the border between both sides of the inverse. */
INLINE f64 ag_incomplete_beta_at_mean_f64(f64 a, f64 b)
{
    f64 x = a / (a + b);
    x = a + b <= 2.0 ? 0.5 : x;
    f64 p = 0;
    f64 _q = 0;
    p = ag_incomplete_beta_f64(a, b, x, 1.0 - x, &_q);
    return p;
}

/* The inverse of `betainc` by x, in at most 80 steps; as accurate as p lets it be, and within 8 ulp of that. */
static inline f64 ag_betaincinv_f64(f64 a, f64 b, f64 p)
{
    if (a != a || b != b || p != p || a <= 0.0 || b <= 0.0 || p < 0.0 || p > 1.0 || a == __builtin_inf() || b ==
        __builtin_inf()) {
        return __builtin_nan("");
    }
    if (p == 0.0 || p == 1.0) {
        return p;
    }
    const f64 half = ag_incomplete_beta_at_mean_f64(a, b);
    if (p <= half) {
        return ag_beta_quantile_f64(a, b, p, 1.0 - p);
    }
    return 1.0 - ag_beta_quantile_f64(b, a, 1.0 - p, p);
}

/* The inverse of `betaincc` by x. */
static inline f64 ag_betainccinv_f64(f64 a, f64 b, f64 q)
{
    if (a != a || b != b || q != q || a <= 0.0 || b <= 0.0 || q < 0.0 || q > 1.0 || a == __builtin_inf() || b ==
        __builtin_inf()) {
        return __builtin_nan("");
    }
    if (q == 0.0 || q == 1.0) {
        return 1.0 - q;
    }
    const f64 half = ag_incomplete_beta_at_mean_f64(a, b);
    if (1.0 - q <= half) {
        return ag_beta_quantile_f64(a, b, 1.0 - q, q);
    }
    return 1.0 - ag_beta_quantile_f64(b, a, q, 1.0 - q);
}
