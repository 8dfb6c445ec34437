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

/* The sum of (a)_k x**k / ((b)_k k!). */
static inline f64 ag_kummer_series_f64(f64 a, f64 b, f64 x)
{
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 0; k < 20000; k++) {
        const f64 n = (f64)k;
        term = term * ((a + n) / (b + n) * (x / (n + 1.0)));
        total = total + term;
        if (fabs_F(term) <= 1e-17 * fabs_F(total) && (n > fabs_F(a) || term == 0.0)) {
            break;
        }
        if (fabs_F(total) > 1e+307) {
            break;
        }
    }
    return total;
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
    const f64 e = ag_gammaln_f64(b) - ag_gammaln_f64(a) + (a - b) * ag_log_f64(x) + (is_decayed ? 0.0 : x);
    const f64 half = ag_exp_f64(0.5 * e);
    return ag_sign_of_gamma_f64(a) * ag_sign_of_gamma_f64(b) * (half * total) * half;
}

/* Kummer's function 1F1(a; b; x); infinite where b is 0, -1, ... and the series does not end before. Within 64 ulp
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
    if (a == b) {
        return ag_exp_f64(x);
    }
    const f64 ends = a < 0.0 && a == floor_F(a);
    if (x < 0.0 && !ends) {
        if (x < -60.0 && -x > 2.0 * fabs_F(a * (a - b + 1.0))) {
            return ag_kummer_tail_f64(b - a, b, -x, 1);
        }
        if (x < -600.0) {
            const f64 half = ag_exp_f64(0.5 * x);
            return half * ag_kummer_series_f64(b - a, b, -x) * half;
        }
        return ag_exp_f64(x) * ag_kummer_series_f64(b - a, b, -x);
    }
    if (x > 60.0 && x > 2.0 * fabs_F((1.0 - a) * (b - a)) && !ends) {
        return ag_kummer_tail_f64(a, b, x, 0);
    }
    return ag_kummer_series_f64(a, b, x);
}

/* The sum of (a)_k (b)_k x**k / ((c)_k k!). */
static inline f64 ag_gauss_series_f64(f64 a, f64 b, f64 c, f64 x)
{
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 0; k < 200000; k++) {
        const f64 n = (f64)k;
        term = term * ((a + n) / (c + n) * ((b + n) / (n + 1.0)) * x);
        total = total + term;
        if (fabs_F(term) <= 1e-17 * fabs_F(total) * (1.0 - fabs_F(x)) || term == 0.0) {
            break;
        }
    }
    return total;
}

/* 2F1 for -1/2 <= x < 1: the series, or for x > 0.9 the transformation to 1 - x (DLMF 15.8.4). */
static inline f64 ag_gauss_of_unit_f64(f64 a, f64 b, f64 c, f64 x)
{
    const f64 d = c - a - b;
    if (x < 0.9 || fabs_F(d - rint_F(d)) < 0.001) {
        if (d < 0.0 && x > 0.5) {
            return pow_F(1.0 - x, d) * ag_gauss_series_f64(c - a, c - b, c, x);
        }
        return ag_gauss_series_f64(a, b, c, x);
    }
    const f64 y = 1.0 - x;
    f64 first = ag_exp_f64(ag_gammaln_f64(c) + ag_gammaln_f64(d) - ag_gammaln_f64(c - a) - ag_gammaln_f64(c - b));
    first = first * ag_sign_of_gamma_f64(c) * ag_sign_of_gamma_f64(d) * ag_sign_of_gamma_f64(c - a) *
        ag_sign_of_gamma_f64(c - b);
    f64 second = ag_exp_f64(ag_gammaln_f64(c) + ag_gammaln_f64(-d) - ag_gammaln_f64(a) - ag_gammaln_f64(b));
    second = second * ag_sign_of_gamma_f64(c) * ag_sign_of_gamma_f64(-d) * ag_sign_of_gamma_f64(a) *
        ag_sign_of_gamma_f64(b);
    return first * ag_gauss_series_f64(a, b, 1.0 - d, y) + second * pow_F(y, d) * ag_gauss_series_f64(c - a, c - b,
        1.0 + d, y);
}

/* Gauss' function 2F1(a, b; c; x) for x <= 1; NaN beyond, infinite where c is 0, -1, ... Within 512 ulp for 0 < a,
   b <= 10, 0 < c <= 20 and 0 <= x <= 0.9; else as its terms cancel, with an absolute error of 1e-16 times the
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
    if (ends) {
        return ag_gauss_series_f64(a, b, c, x);
    }
    if (x > 1.0) {
        return __builtin_nan("");
    }
    const f64 d = c - a - b;
    if (x == 1.0) {
        if (d <= 0.0) {
            return __builtin_inf();
        }
        const f64 size = ag_exp_f64(ag_gammaln_f64(c) + ag_gammaln_f64(d) - ag_gammaln_f64(c - a) - ag_gammaln_f64(c -
            b));
        return size * ag_sign_of_gamma_f64(c) * ag_sign_of_gamma_f64(d) * ag_sign_of_gamma_f64(c - a) *
            ag_sign_of_gamma_f64(c - b);
    }
    if (x < -0.5) {
        const f64 y = x / (x - 1.0);
        if (fabs_F(b) < fabs_F(a)) {
            return pow_F(1.0 - x, -b) * ag_gauss_of_unit_f64(c - a, b, c, y);
        }
        return pow_F(1.0 - x, -a) * ag_gauss_of_unit_f64(a, c - b, c, y);
    }
    return ag_gauss_of_unit_f64(a, b, c, x);
}
