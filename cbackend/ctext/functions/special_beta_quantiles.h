/* The inverse of the incomplete beta function: Halley's steps from an estimate, kept between bounds.

   Written by ../translated.py from ops/special/beta_quantiles.py. */
#pragma once
#include "float.h"
#include "gamma.h"

/* x with I_x(a, b) about p = 1 - q, for a, b > 1: formula 26.5.22 of Abramowitz and Stegun. */
INLINE f64 ag_rough_beta_quantile_f64(f64 a, f64 b, f64 p, f64 q)
{
    const f64 z = p <= q ? -ag_ndtri_f64(p) : ag_ndtri_f64(q);
    const f64 r = 1.0 / (2.0 * a - 1.0);
    const f64 s = 1.0 / (2.0 * b - 1.0);
    const f64 h = 2.0 / (r + s);
    const f64 t = (z * z - 3.0) / 6.0;
    const f64 w = z * sqrt_F(h + t > 0.0 ? h + t : 0.0) / h - (s - r) * (t + 5.0 / 6.0 - 2.0 / (3.0 * h));
    return w < 300.0 ? a / (a + b * ag_exp_f64(2.0 * w)) : 0.0;
}

/* One of Newton's steps for log(I_x(a, b)) from x by its series, with a sum in two parts for log(x). */
static inline f64 ag_small_beta_quantile_f64(f64 a, f64 b, f64 p, f64 p_low, f64 x)
{
    if (p * a < 1e-300 || x < 1e-300) {
        return x;
    }
    f64 g = 0;
    f64 g_low = 0;
    g = ag_times_parts_f64(p, p_low, a, 0.0, &g_low);
    f64 e = 0;
    f64 e_low = 0;
    if (a > 0.3 && b < 10.0) {
        e = ag_beta_of_moderate_f64(a, b, &e_low);
        g = ag_times_parts_f64(g, g_low, e, e_low, &g_low);
        e = ag_log_in_parts_f64(g, g_low, &e_low);
    }
    else {
        e = ag_log_in_parts_f64(g, g_low, &e_low);
        g = ag_log_beta_parts_f64(a, b, &g_low);
        e = ag_plus_parts_f64(e, e_low, g, g_low, &e_low);
    }
    f64 term = a;
    f64 rest = 0.0;
    for (i32 k = 1; k < 100; k++) {
        const f64 n = (f64)k;
        term = term * ((n - b) * x / n);
        rest = rest + term / (a + n);
        if (fabs_F(term) < 1e-18 * a) {
            break;
        }
    }
    e = ag_plus_parts_f64(e, e_low, -ag_log1p_f64(rest), 0.0, &e_low);
    e = ag_divided_parts_f64(e, e_low, a, 0.0, &e_low);
    g = ag_log_in_parts_f64(x, 0.0, &g_low);
    e = ag_plus_parts_f64(e, e_low, -g, -g_low, &e_low);
    return x + x * ag_expm1_f64(e * (1.0 + rest) * ag_exp_f64((1.0 - b) * ag_log1p_f64(-x)));
}

/* x with I_x(a, b) = p + p_low = 1 - q, for x up to about a half: at most 80 steps, kept between bounds. Halley's
   steps in the logarithms of x and of the smaller one of p and q, from `start`. `small_beta_quantile` squares
   the error of its start, so that q may cancel before it. `whole`: 0, or B(a, b). */
static inline f64 ag_beta_quantile_f64(f64 a, f64 b, f64 p, f64 p_low, f64 q, f64 start, f64 whole, f64 whole_low)
{
    const f64 lower = p <= q;
    const f64 small = lower ? p : q;
    f64 x = start;
    if (x < 1e-290) {
        return x;
    }
    f64 low = 0.0;
    f64 high = 1.0;
    for (i32 _ = 0; _ < 80; _++) {
        const f64 factor = ag_beta_factor_of_f64(a, b, x, 1.0 - x, whole, whole_low);
        const f64 quick = lower || (a < 0.7 && b * x < 0.7 && p > 1e-300 && q > 1e-05);
        f64 got_p = 0;
        f64 got_q = 0;
        got_p = ag_incomplete_beta_of_f64(a, b, x, 1.0 - x, factor, quick ? 1e-18 : 0.0, whole, whole_low, &got_q);
        const f64 got = lower ? got_p : got_q;
        const f64 above = lower ? got > small : got < small;
        if (above) {
            high = x;
        }
        else {
            low = x;
        }
        const f64 density = factor / (1.0 - x);
        f64 better = 0.5 * (low + high);
        f64 bend = 1.0;
        if (got > 0.0 && density > 0.0) {
            const f64 ratio = got / small;
            f64 step = got / density * (ratio < 0.5 || ratio > 2.0 ? ag_log_f64(ratio) : ag_log1p_f64((got - small) /
                small));
            step = lower ? step : -step;
            bend = 0.5 * step * (a - (b - 1.0) * x / (1.0 - x) + (lower ? -density / got : density / got));
            step = step / (1.0 - (bend > 0.5 ? 0.5 : bend < -0.5 ? -0.5 : bend));
            step = step > 2.0 ? 2.0 : step < -2.0 ? -2.0 : step;
            better = x + x * ag_expm1_f64(-step);
        }
        if (fabs_F(better - x) <= 4e-16 * x) {
            x = better;
            break;
        }
        if (!(better > low && better < high)) {
            better = low > 0.0 && high > 4.0 * low ? sqrt_F(low * high) : 0.5 * (low + high);
        }
        const f64 moved = fabs_F(better - x);
        x = better;
        if (moved <= 2e-16 * x || high - low <= 2.3e-16 * x || (moved < 1e-05 * x && moved * (bend * bend) < 3e-18 *
            x)) {
            break;
        }
        if (a < 0.7 && b * x < 0.7 && p > 1e-300 && moved < 0.001 * x) {
            break;
        }
    }
    return a < 0.7 && b * x < 0.7 ? ag_small_beta_quantile_f64(a, b, p, p_low, x) : x;
}

/* x with I_x(a, b) about p, of the first two terms of the series in x; `log_beta` is log(B(a, b)). */
INLINE f64 ag_start_of_series_f64(f64 a, f64 b, f64 p, f64 log_beta)
{
    const f64 x = ag_exp_f64((ag_log_f64(p) + (ag_log_f64(a) + log_beta)) / a);
    const f64 second = (1.0 - b) / (1.0 + a) * x;
    return second > -0.5 ? x / (1.0 + second) : x;
}

/* The start x, or 0.5 if it is above 0.9. */
INLINE f64 ag_within_f64(f64 x)
{
    return x < 0.9 ? x : 0.5;
}

/* x with I_x(a, b) = p + p_low = 1 - q - q_low: from the nearer one of 0 and 1. */
static inline f64 ag_beta_inverse_f64(f64 a, f64 b, f64 p, f64 p_low, f64 q, f64 q_low)
{
    f64 whole = 0.0;
    f64 whole_low = 0.0;
    const f64 least = a < b ? a : b;
    if (a < 10.0 && b < 10.0 && least > 1e-290) {
        whole = ag_beta_of_moderate_f64(a, b, &whole_low);
    }
    else {
        if (least <= 1.0) {
            whole = ag_beta_by_powers_f64(least, a < b ? b : a);
        }
    }
    f64 x = a > 1.0 && b > 1.0 ? ag_rough_beta_quantile_f64(a, b, p, q) : 0.0;
    if (x > 0.0 && x < 1.0 && p > 0.001 && q > 0.001) {
        if (x <= 0.5) {
            return ag_beta_quantile_f64(a, b, p, p_low, q, x, whole, whole_low);
        }
        return 1.0 - ag_beta_quantile_f64(b, a, q, q_low, p, 1.0 - x, whole, whole_low);
    }
    const f64 log_beta = whole > 0.0 ? ag_log_f64(whole) : ag_betaln_f64(a, b);
    f64 y = x < 1.0 ? 1.0 - x : 0.0;
    f64 upper = 0.0;
    if (a > 1.0 && b > 1.0) {
        f64 half = 0;
        f64 _rest = 0;
        half = ag_incomplete_beta_of_f64(a, b, 0.5, 0.5, 0.0, 0.0001, whole, whole_low, &_rest);
        upper = p > half;
        x = y > 0.0 && x > 0.0 ? x : ag_start_of_series_f64(a, b, p, log_beta);
        y = y > 0.0 && y < 1.0 ? y : ag_start_of_series_f64(b, a, q, log_beta);
    }
    else {
        if (b <= 1.0) {
            x = ag_start_of_series_f64(a, b, p, log_beta);
            upper = !(x <= 0.6);
            y = upper ? ag_start_of_series_f64(b, a, q, log_beta) : 0.0;
        }
        else {
            y = ag_start_of_series_f64(b, a, q, log_beta);
            upper = y < 0.5;
            x = upper ? 0.0 : ag_start_of_series_f64(a, b, p, log_beta);
        }
    }
    if (upper) {
        return 1.0 - ag_beta_quantile_f64(b, a, q, q_low, p, ag_within_f64(y), whole, whole_low);
    }
    return ag_beta_quantile_f64(a, b, p, p_low, q, ag_within_f64(x), whole, whole_low);
}

/* The inverse of `betainc` by x, in at most 80 steps; within 8 ulp of the one of p. */
static inline f64 ag_betaincinv_f64(f64 a, f64 b, f64 p)
{
    if (a != a || b != b || p != p || a <= 0.0 || b <= 0.0 || p < 0.0 || p > 1.0) {
        return __builtin_nan("");
    }
    if (p == 0.0 || p == 1.0) {
        return p;
    }
    if (a == __builtin_inf() || b == __builtin_inf()) {
        return b == 1.0 ? 1.0 : a == 1.0 ? 0.0 : __builtin_nan("");
    }
    f64 q = 0;
    f64 q_low = 0;
    q = ag_two_sum_f64(1.0, -p, &q_low);
    return ag_beta_inverse_f64(a, b, p, 0.0, q, q_low);
}

/* The inverse of `betaincc` by x, as exact. */
static inline f64 ag_betainccinv_f64(f64 a, f64 b, f64 q)
{
    if (a != a || b != b || q != q || a <= 0.0 || b <= 0.0 || q < 0.0 || q > 1.0) {
        return __builtin_nan("");
    }
    if (q == 0.0 || q == 1.0) {
        return 1.0 - q;
    }
    if (a == __builtin_inf() || b == __builtin_inf()) {
        return b == 1.0 ? 1.0 : a == 1.0 ? 0.0 : __builtin_nan("");
    }
    f64 p = 0;
    f64 p_low = 0;
    p = ag_two_sum_f64(1.0, -q, &p_low);
    return ag_beta_inverse_f64(a, b, p, p_low, q, 0.0);
}
