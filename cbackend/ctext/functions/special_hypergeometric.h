/* Hypergeometric functions of real numbers: 1F1 and 2F1, by series, Kummer's and Euler's transformations.

   Written by ../translated.py from ops/special/hypergeometric.py. */
#pragma once
#include "float.h"
#include "gamma.h"

/* The sign of gamma(x), 0 at its poles. */
static inline f64 ag_sign_of_gamma_f64(f64 x)
{
    if (x > 0.0) {
        return 1.0;
    }
    if (x == floor_F(x)) {
        return 0.0;
    }
    return floor_F(x) - 2.0 * floor_F(0.5 * floor_F(x)) == 0.0 ? 1.0 : -1.0;
}

/* The sum of (a)_k x**k / ((b)_k k!), a in two parts; terms and sum in two parts, since terms may cancel. */
static inline f64 ag_kummer_series_f64(f64 a, f64 a_low, f64 b, f64 x)
{
    f64 term = 1.0;
    f64 term_low = 0.0;
    f64 total = 1.0;
    f64 total_low = 0.0;
    f64 n = 0.0;
    while (n < 20000.0) {
        f64 over = 0;
        f64 over_low = 0;
        over = ag_two_sum_f64(a, n, &over_low);
        f64 p = 0;
        f64 p_low = 0;
        p = ag_times_parts_f64(over, over_low + a_low, x, 0.0, &p_low);
        if (p == 0.0) {
            return total + total_low;
        }
        f64 under = 0;
        f64 under_low = 0;
        under = ag_two_sum_f64(b, n, &under_low);
        n = n + 1.0;
        f64 q = 0;
        f64 q_low = 0;
        q = ag_times_parts_f64(under, under_low, n, 0.0, &q_low);
        const f64 inverse = 1.0 / q;
        const f64 ratio = p * inverse;
        const f64 rest = (__builtin_fma(-ratio, q, p) + (p_low - ratio * q_low)) * inverse;
        const f64 product = term * ratio;
        term_low = __builtin_fma(term, ratio, -product) + (term * rest + term_low * ratio);
        term = product;
        f64 error = 0;
        total = ag_two_sum_f64(total, term, &error);
        total_low = total_low + (error + term_low);
        if (fabs_F(term) <= 1e-17 * fabs_F(total) && (n > fabs_F(a) || term == 0.0)) {
            break;
        }
        if (fabs_F(total) > 1e+307) {
            return total;
        }
    }
    return total + total_low;
}

/* The series of 1F1(b - a; b; x). */
INLINE f64 ag_kummer_of_rest_f64(f64 a, f64 b, f64 x)
{
    f64 d = 0;
    f64 d_low = 0;
    d = ag_two_sum_f64(b, -a, &d_low);
    return ag_kummer_series_f64(d, d_low, b, x);
}

/* gamma(b) / gamma(a) exp(x) x**(a - b) times the expansion (DLMF 13.7.2), or the same without exp(x). */
static inline f64 ag_kummer_tail_f64(f64 a, f64 b, f64 x, i32 is_decayed)
{
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 0; k < 100; k++) {
        const f64 n = (f64)k;
        const f64 better = term * ((1.0 - a + n) * (b - a + n) / ((n + 1.0) * x));
        if (fabs_F(better) > fabs_F(term) && k > 2) {
            break;
        }
        term = better;
        total = total + term;
        if (fabs_F(term) < 1e-17 * fabs_F(total)) {
            break;
        }
    }
    const f64 e = ag_log_gamma_f64(b) - ag_log_gamma_f64(a) + (a - b) * ag_log_f64(x) + (is_decayed ? 0.0 : x);
    const f64 half = ag_exp_f64(0.5 * e);
    return ag_sign_of_gamma_f64(a) * ag_sign_of_gamma_f64(b) * (half * total) * half;
}

/* Kummer's function 1F1(a; b; x); infinite where b is 0, -1, ... and the series does not end before. Within 8 ulp
   for 0 < a, b <= 20 and 0 <= x <= 30; else as its terms cancel, with an absolute error of 1e-16 times the
   largest of them. */
static inline f64 ag_hyp1f1_f64(f64 a, f64 b, f64 x)
{
    if (a != a || b != b || x != x) {
        return __builtin_nan("");
    }
    if (b <= 0.0 && b == floor_F(b) && !(a == floor_F(a) && a <= 0.0 && a >= b)) {
        return __builtin_inf();
    }
    if (a == 0.0 || x == 0.0) {
        return 1.0;
    }
    const f64 ends = a < 0.0 && a == floor_F(a);
    if (a == b && !ends) {
        return ag_exp_f64(x);
    }
    if (x < 0.0 && !ends) {
        if (x < -60.0 && -x > 2.0 * fabs_F(a * (a - b + 1.0))) {
            return ag_kummer_tail_f64(b - a, b, -x, 1);
        }
        if (x < -600.0) {
            const f64 half = ag_exp_f64(0.5 * x);
            return half * ag_kummer_of_rest_f64(a, b, -x) * half;
        }
        return ag_exp_f64(x) * ag_kummer_of_rest_f64(a, b, -x);
    }
    if (x > 60.0 && x > 2.0 * fabs_F((1.0 - a) * (b - a)) && !ends) {
        return ag_kummer_tail_f64(a, b, x, 0);
    }
    return ag_kummer_series_f64(a, 0.0, b, x);
}

/* The sum of (a)_k (b)_k x**k / ((c)_k k!). Parameters, terms and sum are in two parts, since terms may cancel,
   down to a percent of the sum; the rest is plain. */
static inline f64 ag_gauss_series_f64(f64 a, f64 a_low, f64 b, f64 b_low, f64 c, f64 c_low, f64 x)
{
    f64 term = 1.0;
    f64 term_low = 0.0;
    f64 total = 1.0;
    f64 total_low = 0.0;
    f64 n = 0.0;
    const f64 left = fabs_F(x) < 1.0 ? 1.0 - fabs_F(x) : 0.0;
    f64 least = a < b ? a : b;
    const f64 settled = -(least < c ? least : c);
    f64 under = 0;
    while (n < 200000.0) {
        f64 first = 0;
        f64 first_low = 0;
        first = ag_two_sum_f64(a, n, &first_low);
        f64 second = 0;
        f64 second_low = 0;
        second = ag_two_sum_f64(b, n, &second_low);
        f64 p = 0;
        f64 p_low = 0;
        p = ag_times_parts_f64(first, first_low + a_low, second, second_low + b_low, &p_low);
        p = ag_times_parts_f64(p, p_low, x, 0.0, &p_low);
        if (p == 0.0) {
            return total + total_low;
        }
        f64 under_low = 0;
        under = ag_two_sum_f64(c, n, &under_low);
        n = n + 1.0;
        f64 q = 0;
        f64 q_low = 0;
        q = ag_times_parts_f64(under, under_low + c_low, n, 0.0, &q_low);
        const f64 inverse = 1.0 / q;
        const f64 ratio = p * inverse;
        const f64 rest = (__builtin_fma(-ratio, q, p) + (p_low - ratio * q_low)) * inverse;
        const f64 product = term * ratio;
        term_low = __builtin_fma(term, ratio, -product) + (term * rest + term_low * ratio);
        term = product;
        f64 error = 0;
        total = ag_two_sum_f64(total, term, &error);
        total_low = total_low + (error + term_low);
        if (fabs_F(total) > 1e+307) {
            return total;
        }
        if (fabs_F(term) <= 0.01 * left * fabs_F(total) && (n > settled || term == 0.0)) {
            break;
        }
    }
    f64 tail = 0.0;
    least = 3e-17 * left * fabs_F(total);
    while (fabs_F(term) > least && n < 10000000.0) {
        under = (c + n) * (n + 1.0);
        term = term * ((a + n) * (b + n) * x / under);
        tail = tail + term;
        n = n + 1.0;
    }
    return n < 10000000.0 ? total + (total_low + tail) : __builtin_nan("");
}

/* 2F1 at 1 - y, 0 < y <= 1/8, for d = c - a - b >= 0: the equation (DLMF 15.10.1), solved by Taylor series. Each
   series halves the distance to 1, which is half of its radius of convergence, so 60 terms suffice. */
static inline f64 ag_gauss_in_steps_f64(f64 a, f64 b, f64 c, f64 d, f64 y)
{
    f64 distance = 0.125;
    f64 value = ag_gauss_series_f64(a, 0.0, b, 0.0, c, 0.0, 0.875);
    f64 low = 0.0;
    f64 slope = a * b / c * ag_gauss_series_f64(a + 1.0, 0.0, b + 1.0, 0.0, c + 1.0, 0.0, 0.875);
    while (distance > y) {
        const f64 nearer = 0.5 * distance > y ? 0.5 * distance : y;
        const f64 step = distance - nearer;
        const f64 scale = step / ((1.0 - distance) * distance);
        const f64 by_order = 2.0 * distance - 1.0;
        const f64 at_0 = d - 1.0 + (a + b + 1.0) * distance;
        f64 before = value;
        f64 term = slope * step;
        f64 rise = term;
        f64 slopes = term;
        f64 n = 0.0;
        while (n < 1000.0) {
            f64 after = (n + a) * ((n + b) * (step * before)) / (n + 1.0) - (by_order * n + at_0) * term;
            after = after * scale / (n + 2.0);
            n = n + 1.0;
            rise = rise + after;
            slopes = slopes + (n + 1.0) * after;
            before = term;
            term = after;
            if (fabs_F(before) + fabs_F(term) <= 1e-18 * fabs_F(rise) && n > 8.0) {
                break;
            }
        }
        f64 error = 0;
        value = ag_two_sum_f64(value, rise, &error);
        low = low + error;
        slope = slopes / step;
        distance = nearer;
    }
    return value + low;
}

/* 2F1 for -1/2 <= x <= 1, y = 1 - x > 0: the series; for x > 0.9 the transformation to y (DLMF 15.8.4). That one
   cancels where d = c - a - b is nearly an integer: there steps lead from 7/8 to x. */
static inline f64 ag_gauss_of_unit_f64(f64 a, f64 a_low, f64 b, f64 b_low, f64 c, f64 x, f64 y, f64 y_low)
{
    f64 p = 0;
    f64 p_low = 0;
    p = ag_two_sum_f64(c, -a, &p_low);
    p_low = p_low - a_low;
    f64 q = 0;
    f64 q_low = 0;
    q = ag_two_sum_f64(c, -b, &q_low);
    q_low = q_low - b_low;
    f64 d = 0;
    f64 d_low = 0;
    d = ag_plus_parts_f64(p, p_low, -b, -b_low, &d_low);
    if (x < 0.9 || fabs_F(d - rint_F(d)) < 0.05) {
        const f64 in_steps = x >= 0.9 && fabs_F(a) < 1000.0 && fabs_F(b) < 1000.0 && fabs_F(c) < 1000.0;
        if (d < 0.0 && x > 0.5) {
            const f64 size = pow_F(y, d) * (1.0 + (d * (y_low / y) + d_low * ag_log_f64(y)));
            if (in_steps) {
                return size * ag_gauss_in_steps_f64(p, q, c, -d, y);
            }
            return size * ag_gauss_series_f64(p, p_low, q, q_low, c, 0.0, x);
        }
        if (in_steps) {
            return ag_gauss_in_steps_f64(a, b, c, d, y);
        }
        return ag_gauss_series_f64(a, a_low, b, b_low, c, 0.0, x);
    }
    f64 first = ag_exp_f64(ag_log_gamma_f64(c) + ag_log_gamma_f64(d) - ag_log_gamma_f64(p) - ag_log_gamma_f64(q));
    first = first * ag_sign_of_gamma_f64(c) * ag_sign_of_gamma_f64(d) * ag_sign_of_gamma_f64(p) *
        ag_sign_of_gamma_f64(q);
    f64 second = ag_exp_f64(ag_log_gamma_f64(c) + ag_log_gamma_f64(-d) - ag_log_gamma_f64(a) - ag_log_gamma_f64(b));
    second = second * ag_sign_of_gamma_f64(c) * ag_sign_of_gamma_f64(-d) * ag_sign_of_gamma_f64(a) *
        ag_sign_of_gamma_f64(b);
    f64 e = 0;
    f64 e_low = 0;
    e = ag_plus_parts_f64(-d, -d_low, 1.0, 0.0, &e_low);
    first = first * ag_gauss_series_f64(a, a_low, b, b_low, e, e_low, y);
    e = ag_plus_parts_f64(d, d_low, 1.0, 0.0, &e_low);
    return first + second * pow_F(y, d) * ag_gauss_series_f64(p, p_low, q, q_low, e, e_low, y);
}

/* Gauss' function 2F1(a, b; c; x) for x <= 1; NaN beyond, infinite where c is 0, -1, ... Within 8 ulp for 0 < a, b
   <= 10, 0 < c <= 20 and 0 <= x <= 0.9; else as its terms cancel, with an absolute error of 1e-16 times the
   largest of them. */
static inline f64 ag_hyp2f1_f64(f64 a, f64 b, f64 c, f64 x)
{
    if (a != a || b != b || c != c || x != x) {
        return __builtin_nan("");
    }
    const f64 ends = (a <= 0.0 && a == floor_F(a)) || (b <= 0.0 && b == floor_F(b));
    if (c <= 0.0 && c == floor_F(c) && !(ends && ((a == floor_F(a) && a >= c) || (b == floor_F(b) && b >= c)))) {
        return __builtin_inf();
    }
    if (x == 0.0 || a == 0.0 || b == 0.0) {
        return 1.0;
    }
    if (x > 1.0 && !ends) {
        return __builtin_nan("");
    }
    f64 y = 0;
    if ((a == c || b == c) && x != 1.0 && !(c <= 0.0 && c == floor_F(c))) {
        const f64 e = a == c ? -b : -a;
        f64 y_low = 0;
        y = ag_two_sum_f64(1.0, -x, &y_low);
        return pow_F(y, e) * (1.0 + e * (y_low / y));
    }
    if (ends) {
        return ag_gauss_series_f64(a, 0.0, b, 0.0, c, 0.0, x);
    }
    if (x == 1.0) {
        const f64 d = c - a - b;
        if (d <= 0.0) {
            return __builtin_inf();
        }
        const f64 size = ag_exp_f64(ag_log_gamma_f64(c) + ag_log_gamma_f64(d) - ag_log_gamma_f64(c - a) -
            ag_log_gamma_f64(c - b));
        return size * ag_sign_of_gamma_f64(c) * ag_sign_of_gamma_f64(d) * ag_sign_of_gamma_f64(c - a) *
            ag_sign_of_gamma_f64(c - b);
    }
    f64 rest = 0;
    f64 rest_low = 0;
    if (x < -0.5) {
        f64 under = 0;
        f64 under_low = 0;
        under = ag_two_sum_f64(1.0, -x, &under_low);
        rest = ag_divided_parts_f64(1.0, 0.0, under, under_low, &rest_low);
        y = x / (x - 1.0);
        f64 p = 0;
        f64 p_low = 0;
        p = ag_two_sum_f64(c, -a, &p_low);
        f64 q = 0;
        f64 q_low = 0;
        q = ag_two_sum_f64(c, -b, &q_low);
        const f64 p_ends = p <= 0.0 && p == floor_F(p) && p_low == 0.0;
        const f64 q_ends = q <= 0.0 && q == floor_F(q) && q_low == 0.0;
        if (p_ends && (p >= q || !q_ends)) {
            return pow_F(1.0 - x, -b) * ag_gauss_series_f64(p, 0.0, b, 0.0, c, 0.0, y);
        }
        if (q_ends) {
            return pow_F(1.0 - x, -a) * ag_gauss_series_f64(a, 0.0, q, 0.0, c, 0.0, y);
        }
        if (fabs_F(b) < fabs_F(a)) {
            return pow_F(1.0 - x, -b) * ag_gauss_of_unit_f64(p, p_low, b, 0.0, c, y, rest, rest_low);
        }
        return pow_F(1.0 - x, -a) * ag_gauss_of_unit_f64(a, 0.0, q, q_low, c, y, rest, rest_low);
    }
    rest = ag_two_sum_f64(1.0, -x, &rest_low);
    return ag_gauss_of_unit_f64(a, 0.0, b, 0.0, c, x, rest, rest_low);
}
