/* The incomplete beta function and its derivatives by the parameters.

   Written by ../translated.py from ops/special/betas.py. */
#pragma once
#include "float.h"
#include "gamma.h"

/* The same, where `whole` is 0 or B(a, b). */
static inline f64 ag_beta_factor_of_f64(f64 a, f64 b, f64 x, f64 y, f64 whole, f64 whole_low)
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
    const f64 quick = ag_short_beta_factor_f64(a, b, x, x_low, y, y_low, whole, whole_low);
    if (quick > 0.0) {
        return quick;
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

/* x**a (1 - x)**b / B(a, b); y is 1 - x rounded. */
INLINE f64 ag_beta_factor_f64(f64 a, f64 b, f64 x, f64 y)
{
    return ag_beta_factor_of_f64(a, b, x, y, 0.0, 0.0);
}

/* I_x(a, b) B(a, b) x**-a (1 - x)**-b, a sum of positive terms (DLMF 8.17.8); y is 1 - x. Where x is rounded, the
   rest moves each of its powers. */
static inline f64 ag_beta_series_f64(f64 a, f64 b, f64 x, f64 y)
{
    f64 term = 1.0;
    f64 total = 1.0;
    f64 low = 0.0;
    f64 powers = 0.0;
    const f64 more = x * (b - 1.0);
    f64 n = a;
    f64 k = 0.0;
    for (i32 _ = 0; _ < 100000; _++) {
        n = n + 1.0;
        k = k + 1.0;
        term = term * (x + more / n);
        f64 error = 0;
        total = ag_two_sum_f64(total, term, &error);
        low = low + error;
        powers = powers + k * term;
        if (term < 1e-17 * total) {
            break;
        }
    }
    if (y < x) {
        f64 one = 0;
        f64 rest = 0;
        one = ag_two_sum_f64(-y, 1.0, &rest);
        low = low + powers * ((rest + (one - x)) / x);
    }
    return (total + low) / a;
}

/* log1p(x) - x, for |x| < 0.01 to the last bits. */
static inline f64 ag_log1p_rest_f64(f64 x)
{
    if (fabs_F(x) > 0.1) {
        return ag_log1p_f64(x) - x;
    }
    const f64 square = x * x;
    return square * (x / 3.0 - 0.5 + square * (x / 5.0 - 0.25 + square * (x / 7.0 - 1.0 / 6.0 + square * (x / 9.0 -
        0.125))));
}

/* I_x(a, b) for a and b above 1e6 and x up to the mean, where mean_part is a - (a + b) x. The density at x times
   the integral in t = x (1 - w), by the trapezoidal rule in s: w = scale exp(s - exp(-s)). */
static inline f64 ag_beta_of_large_f64(f64 a, f64 b, f64 x, f64 y, f64 mean_part)
{
    const f64 ratio = x / y;
    const f64 slope = (mean_part - 1.0 + 2.0 * x) / y;
    const f64 bend = a - 1.0 + (b - 1.0) * ratio * ratio;
    const f64 scale = 2.0 / (fabs_F(slope) + sqrt_F(slope * slope + 2.0 * bend));
    f64 total = 0.0;
    for (i32 k = 0; k < 76; k++) {
        const f64 s = 0.1 * (f64)k - 3.6;
        const f64 inner = ag_exp_f64(-s);
        const f64 w = scale * ag_exp_f64(s - inner);
        const f64 height = ag_exp_f64((a - 1.0) * ag_log1p_rest_f64(-w) + (b - 1.0) * ag_log1p_rest_f64(w * ratio) -
            slope * w);
        total = total + height * w * (1.0 + inner);
    }
    const f64 power = a * ag_log1p_rest_f64(-mean_part / a) + b * ag_log1p_rest_f64(mean_part / b);
    const f64 corrected = (1.0 / (a + b) - 1.0 / a - 1.0 / b) / 12.0;
    return ag_exp_f64(power + corrected) * sqrt_F(b / (a + b) * a / 0x1.921fb54442d18p+2) * (0.1 * total / y);
}

/* The same as `beta_series` by the continued fraction from its end on, for x up to the mean a / (a + b), b > 1.
   mean_part is a - (a + b) x. The number of terms was fitted: it is largest at the mean. */
static inline f64 ag_beta_fraction_f64(f64 a, f64 b, f64 x, f64 y, f64 mean_part)
{
    const f64 small = a < b ? a : b;
    const f64 root = sqrt_F(sqrt_F(small));
    const f64 few = 7.5 * sqrt_F(a);
    const f64 wide = b < a ? 4.4 + 2.6 * (1.0 - b / a) : 4.4;
    f64 count = 4.0 + wide * (root * sqrt_F(root)) + (few < 76.0 ? few : 76.0) / b;
    count = 6.0 + count / (1.0 + 0.2 * mean_part / sqrt_F(a / (a + b) * b));
    f64 over = 0.0;
    f64 under = 1.0;
    f64 n = floor_F(count);
    f64 above = 1.0 / (a + 2.0 * n + 1.0);
    const f64 first = mean_part + 1.0;
    const f64 slope = 1.0 + y;
    while (n > 0.0) {
        const f64 w = 1.0 / (a + 2.0 * n - 1.0);
        const f64 share = x * w;
        const f64 t = n * (b - n) * share;
        f64 p = a + n;
        const f64 f = n + t + p * above * __builtin_fma(n, slope, first);
        above = w;
        p = p - 1.0;
        const f64 factor = p * (p + b) * (share * t);
        const f64 larger = __builtin_fma(f, under, over);
        over = factor * under;
        under = larger;
        if (under > 1e+100) {
            over = over * 1e-100;
            under = under * 1e-100;
        }
        n = n - 1.0;
    }
    return 1.0 / (a / (a + 1.0) * (mean_part + 1.0) + over / under);
}

/* (I_x(a, b), 1 - I_x(a, b)), both accurate, for a <= 1 and b x < 1 or b <= 1: W. Gautschi's form. I is x**a / (a
   B(a, b)) (1 + a sum of (1 - b)_n x**n / (n! (a + n))). `rough`: 0, or the relative size of terms that do not
   count, where only the first result is wanted. `whole`: 0, or B(a, b). */
static inline f64 ag_beta_of_small_f64(f64 a, f64 b, f64 x, f64 rough, f64 whole, f64 whole_low, f64 *second)
{
    const f64 least = rough > 0.0 ? rough : 1e-18;
    f64 term = 1.0;
    f64 total = 0.0;
    f64 n = 0;
    for (i32 k = 1; k < 200; k++) {
        n = (f64)k;
        term = term * ((n - b) * x / n);
        total = total + term / (a + n);
        if (fabs_F(term) < least * n) {
            break;
        }
    }
    if (a < 1e-16) {
        const f64 growth = ag_expm1_f64(a * (ag_log_f64(x) + 0x1.2788cfc6fb619p-1 + ag_digamma_f64(1.0 + b)) -
            ag_log1p_f64(a / b));
        *second = -growth - (1.0 + growth) * (a * total);
        return (1.0 + growth) * (1.0 + a * total);
    }
    f64 quick = 0;
    if (b < 10.0) {
        if (whole == 0.0) {
            whole = ag_beta_of_moderate_f64(a, b, &whole_low);
        }
        quick = pow_F(x, a) / (a * whole) * (1.0 - whole_low / whole) * (1.0 + a * total);
        if (quick < 0.5 || rough > 0.0) {
            *second = 1.0 - quick;
            return quick;
        }
    }
    if (b >= 10.0) {
        whole = whole > 0.0 ? whole : ag_beta_by_powers_f64(a, b);
        quick = whole > 0.0 ? pow_F(x, a) / (a * whole) * (1.0 + a * total) : 1.0;
        if (quick < 0.5 || (rough > 0.0 && whole > 0.0)) {
            *second = 1.0 - quick;
            return quick;
        }
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, a, 0.0, &e_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_log_beta_parts_f64(a, b, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    p = ag_log_in_parts_f64(a, 0.0, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    term = 1.0;
    f64 term_low = 0.0;
    f64 sum_ = 0.0;
    f64 sum_low = 0.0;
    for (i32 k = 1; k < 200; k++) {
        n = (f64)k;
        p = ag_two_sum_f64(n, -b, &p_low);
        p = ag_times_parts_f64(p, p_low, x, 0.0, &p_low);
        p = ag_divided_parts_f64(p, p_low, n, 0.0, &p_low);
        term = ag_times_parts_f64(term, term_low, p, p_low, &term_low);
        p = ag_two_sum_f64(a, n, &p_low);
        p = ag_divided_parts_f64(term, term_low, p, p_low, &p_low);
        sum_ = ag_plus_parts_f64(sum_, sum_low, p, p_low, &sum_low);
        if (fabs_F(term) < 1e-18 * n) {
            break;
        }
    }
    p = ag_times_parts_f64(sum_, sum_low, a, 0.0, &p_low);
    p = ag_plus_parts_f64(1.0, 0.0, p, p_low, &p_low);
    p = ag_log_in_parts_f64(p, p_low, &p_low);
    e = ag_plus_parts_f64(e, e_low, p, p_low, &e_low);
    const f64 grown = ag_exp_f64(e);
    *second = -(ag_expm1_f64(e) + grown * e_low);
    return grown * (1.0 + e_low);
}

/* I_x(a, b) for b <= 1, y = 1 - x < 0.2 and a >= 15, or y < 0.3 and a >= 20. A. R. DiDonato and A. H. Morris'
   expansion in incomplete gamma functions. */
static inline f64 ag_beta_of_tail_f64(f64 a, f64 b, f64 y)
{
    f64 t = 0;
    f64 t_low = 0;
    t = ag_two_sum_f64(a, 0.5 * (b - 1.0), &t_low);
    f64 z = 0;
    f64 z_low = 0;
    z = ag_log1p_parts_f64(-y, 0.0, &z_low);
    const f64 log_x = z;
    z = ag_times_parts_f64(z, z_low, -t, -t_low, &z_low);
    f64 upper = 0;
    ag_incomplete_gamma_f64(b, z, &upper);
    const f64 size = ag_gamma_factor_f64(b, z) * b;
    if (size == 0.0) {
        return 0.0;
    }
    upper = upper - size * (z_low / z);
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_gamma_parts_f64(b, 0.0, &e_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_log_beta_parts_f64(a, b, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    p = ag_log_in_parts_f64(t, t_low, &p_low);
    p = ag_times_parts_f64(p, p_low, b, 0.0, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    const f64 c = b - 1.0;
    const f64 p1 = c / 6.0;
    const f64 p2 = (b - 2.0) * p1 / 6.0 / 2.0 + c / 120.0;
    const f64 p3 = ((b - 3.0) * p2 / 6.0 + (2.0 * b - 3.0) * p1 / 120.0) / 3.0 + c / 5040.0;
    const f64 p4 = ((b - 4.0) * p3 / 6.0 + (2.0 * b - 4.0) * p2 / 120.0 + (3.0 * b - 4.0) * p1 / 5040.0) / 4.0 + c /
        362880.0;
    f64 p5 = (b - 5.0) * p4 / 6.0 + (2.0 * b - 5.0) * p3 / 120.0 + (3.0 * b - 5.0) * p2 / 5040.0;
    p5 = (p5 + (4.0 * b - 5.0) * p1 / 362880.0) / 5.0 + c / 39916800.0;
    f64 p6 = (b - 6.0) * p5 / 6.0 + (2.0 * b - 6.0) * p4 / 120.0 + (3.0 * b - 6.0) * p3 / 5040.0;
    p6 = (p6 + (4.0 * b - 6.0) * p2 / 362880.0 + (5.0 * b - 6.0) * p1 / 39916800.0) / 6.0 + c / 6227020800.0;
    const f64 square = 0.25 * log_x * log_x;
    f64 power = 1.0;
    f64 j = upper / size;
    f64 total = 0.0;
    for (i32 k = 0; k < 6; k++) {
        const f64 n = b + 2.0 * (f64)k;
        j = (n * (n + 1.0) * j + (z + n + 1.0) * power) / (4.0 * t * t);
        power = power * square;
        const f64 factor = k == 0 ? p1 : k == 1 ? p2 : k == 2 ? p3 : k == 3 ? p4 : k == 4 ? p5 : p6;
        total = total + factor * j;
    }
    return ag_exp_parts_f64(e, e_low) * (upper + size * total);
}

/* The same, where `given` is 0 or beta_factor(a, b, x, y), and `whole` 0 or B(a, b). `rough` is that of
   `beta_of_small` below the mean. */
static inline f64 ag_incomplete_beta_of_f64(f64 a, f64 b, f64 x, f64 y, f64 given, f64 rough, f64 whole, f64 whole_low, f64 *second)
{
    f64 swapped = 0;
    if (a > 1.0 && b > 1.0) {
        swapped = x * (a + b - 2.0 / 3.0) > a - 1.0 / 3.0;
    }
    else {
        swapped = a + b > 2.0 ? x * (a + b) > a : x > 0.5;
    }
    const f64 p = swapped ? b : a;
    const f64 q = swapped ? a : b;
    const f64 u = swapped ? y : x;
    const f64 v = swapped ? x : y;
    f64 got = 0.0;
    f64 rest = 0.0;
    if (p < 1.0) {
        got = ag_beta_of_small_f64(p, q, u, swapped && rough < 1e-06 ? 0.0 : rough, whole, whole_low, &rest);
    }
    else {
        if (q <= 1.0 && u > 0.7 && p * v < 0.8) {
            rest = ag_beta_of_small_f64(q, p, v, rough > 1e-06 ? rough : 0.0, whole, whole_low, &got);
        }
        else {
            if (q <= 1.0 && p >= 15.0 && v < (p >= 20.0 ? 0.3 : 0.2)) {
                got = ag_beta_of_tail_f64(p, q, v);
            }
            else {
                if (q <= 1.0 || u * (p + q) < 0.5 * (p + 1.0) || (u < 0.02 * v && p < 40.0)) {
                    got = (given > 0.0 ? given : ag_beta_factor_f64(p, q, u, v)) * ag_beta_series_f64(p, q, u, v);
                }
                else {
                    f64 s = 0;
                    f64 s_low = 0;
                    s = ag_two_sum_f64(a, b, &s_low);
                    s = ag_times_parts_f64(s, s_low, x, 0.0, &s_low);
                    s = ag_plus_parts_f64(a, 0.0, -s, -s_low, &s_low);
                    s = swapped ? -s : s;
                    if (p > 1000000.0 && q > 1000000.0) {
                        got = ag_beta_of_large_f64(p, q, u, v, s);
                    }
                    else {
                        got = given > 0.0 ? given : ag_beta_factor_f64(p, q, u, v);
                        got = got * ag_beta_fraction_f64(p, q, u, v, s);
                    }
                }
            }
            got = got > 1.0 ? 1.0 : got;
            rest = 1.0 - got;
        }
    }
    if (swapped) {
        *second = got;
        return rest;
    }
    *second = rest;
    return got;
}

/* (I_x(a, b), 1 - I_x(a, b)) for positive a, b and 0 < x < 1, y = 1 - x: the smaller one is accurate. */
INLINE f64 ag_incomplete_beta_f64(f64 a, f64 b, f64 x, f64 y, f64 *second)
{
    return ag_incomplete_beta_of_f64(a, b, x, y, 0.0, 0.0, 0.0, 0.0, second);
}

/* The incomplete beta function, regularized; NaN outside of a, b >= 0 and 0 <= x <= 1. Within 8 ulp for a, b from
   0.05 to 1e4. */
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
    p = ag_incomplete_beta_of_f64(a, b, x, 1.0 - x, 0.0, 1e-18, 0.0, 0.0, &_q);
    return p > 1.0 ? 1.0 : p;
}

/* 1 - betainc(a, b, x), without cancellation above the mean; within 8 ulp. */
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

/* The derivatives of I_x(a, b) by a and b, for x below the mean and y = 1 - x: the series, term by term. Sums are
   in two parts, since the slopes of terms change their sign. */
static inline f64 ag_beta_slopes_f64(f64 a, f64 b, f64 x, f64 x_low, f64 y, f64 y_low, f64 *second)
{
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    f64 n = 0;
    f64 n_low = 0;
    n = ag_two_sum_f64(a, 1.0, &n_low);
    f64 joint = 0;
    f64 joint_low = 0;
    joint = ag_digamma_parts_f64(s, s_low, &joint_low);
    f64 slope_a = 0;
    f64 slope_a_low = 0;
    slope_a = ag_log_in_parts_f64(x, x_low, &slope_a_low);
    slope_a = ag_plus_parts_f64(slope_a, slope_a_low, joint, joint_low, &slope_a_low);
    f64 slope_b = 0;
    f64 slope_b_low = 0;
    slope_b = ag_log_in_parts_f64(y, y_low, &slope_b_low);
    slope_b = ag_plus_parts_f64(slope_b, slope_b_low, joint, joint_low, &slope_b_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_digamma_parts_f64(n, n_low, &p_low);
    slope_a = ag_plus_parts_f64(slope_a, slope_a_low, -p, -p_low, &slope_a_low);
    p = ag_digamma_parts_f64(b, 0.0, &p_low);
    slope_b = ag_plus_parts_f64(slope_b, slope_b_low, -p, -p_low, &slope_b_low);
    f64 term = 1.0;
    f64 term_low = 0.0;
    f64 by_a = slope_a;
    f64 by_a_low = slope_a_low;
    f64 by_b = slope_b;
    f64 by_b_low = slope_b_low;
    const f64 least = 1e-17 * y;
    for (i32 _ = 0; _ < 200000; _++) {
        p = ag_divided_parts_f64(1.0, 0.0, s, s_low, &p_low);
        slope_b = ag_plus_parts_f64(slope_b, slope_b_low, p, p_low, &slope_b_low);
        f64 q = 0;
        f64 q_low = 0;
        q = ag_divided_parts_f64(1.0, 0.0, n, n_low, &q_low);
        p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
        slope_a = ag_plus_parts_f64(slope_a, slope_a_low, p, p_low, &slope_a_low);
        q = ag_times_parts_f64(q, q_low, s, s_low, &q_low);
        q = ag_times_parts_f64(q, q_low, x, x_low, &q_low);
        term = ag_times_parts_f64(term, term_low, q, q_low, &term_low);
        p = ag_times_parts_f64(term, term_low, slope_a, slope_a_low, &p_low);
        by_a = ag_plus_parts_f64(by_a, by_a_low, p, p_low, &by_a_low);
        p = ag_times_parts_f64(term, term_low, slope_b, slope_b_low, &p_low);
        by_b = ag_plus_parts_f64(by_b, by_b_low, p, p_low, &by_b_low);
        s = ag_plus_parts_f64(s, s_low, 1.0, 0.0, &s_low);
        n = ag_plus_parts_f64(n, n_low, 1.0, 0.0, &n_low);
        const f64 size = term * (1.0 + fabs_F(slope_a) + fabs_F(slope_b));
        if (size < least * fabs_F(by_a) && size < least * fabs_F(by_b)) {
            break;
        }
    }
    const f64 factor = ag_beta_factor_f64(a, b, x, y) / a;
    *second = factor * (by_b + by_b_low);
    return factor * (by_a + by_a_low);
}

/* The derivative of `betainc` by a, within 8 ulp for parameters from 0.1 to 300. */
static inline f64 ag_betainc_by_a_f64(f64 a, f64 b, f64 x)
{
    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (x == 0.0 || x == 1.0) {
        return 0.0;
    }
    f64 y = 0;
    f64 y_low = 0;
    y = ag_two_sum_f64(1.0, -x, &y_low);
    f64 by_a = 0;
    if (x * (a + b) > a) {
        ag_beta_slopes_f64(b, a, y, y_low, x, 0.0, &by_a);
        return -by_a;
    }
    f64 _by_b = 0;
    by_a = ag_beta_slopes_f64(a, b, x, 0.0, y, y_low, &_by_b);
    return by_a;
}

/* The derivative of `betainc` by b, as exact. */
static inline f64 ag_betainc_by_b_f64(f64 a, f64 b, f64 x)
{
    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (x == 0.0 || x == 1.0) {
        return 0.0;
    }
    f64 y = 0;
    f64 y_low = 0;
    y = ag_two_sum_f64(1.0, -x, &y_low);
    f64 by_b = 0;
    f64 _by_a = 0;
    if (x * (a + b) > a) {
        by_b = ag_beta_slopes_f64(b, a, y, y_low, x, 0.0, &_by_a);
        return -by_b;
    }
    ag_beta_slopes_f64(a, b, x, 0.0, y, y_low, &by_b);
    return by_b;
}
