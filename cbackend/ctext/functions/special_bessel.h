/* Modified Bessel functions of real orders: by series, an integral, and expansions.

   Written by ../translated.py from ops/special/bessel.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define SINH_SERIES \
    0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a01a01ap-13, 0x1.71de3a556c734p-19, \
    0x1.ae64567f544e4p-26, 0x1.6124613a86d09p-33, 0x1.ae7f3e733b81fp-41
#define TEMME_ODD \
    0x1.2788cfc6fb619p-1, -0x1.5815e8fa27070p-5, -0x1.59af103c33358p-5, 0x1.d919c527225ddp-8, \
    -0x1.c364fccf31d2ap-13, -0x1.51cef9e68440bp-16, 0x1.3045d6e44720dp-20, 0x1.5372033fab1cbp-28
#define TEMME_EVEN \
    1.0, -0x1.4fcf4026afa23p-1, 0x1.5512320b4315cp-3, -0x1.3b4af282b7cd3p-7, -0x1.317113b003f68p-10, \
    0x1.0c8ab4f314716p-13, -0x1.503b27a77e308p-20, -0x1.aeb903cdf8927p-23
#define SHAPE_SERIES \
    0x1.5555555555555p-3, 0x1.1111111111111p-7, 0x1.a01a01a01a01ap-13, 0x1.71de3a556c734p-19, \
    0x1.ae64567f544e4p-26, 0x1.6124613a86d09p-33, 0x1.ae7f3e733b81fp-41, 0x1.952c77030ad4ap-49
#define DEBYE_11 \
    0x1.13aafea4e5774p+9, -0x1.48256f009b97ep+16, 0x1.11e5c16c629afp+21, -0x1.7571ceb9ca037p+24, \
    0x1.0ef6a77985642p+27, -0x1.d8ead78466863p+28, 0x1.07e453034ac45p+30, -0x1.827ee7a06eeffp+30, \
    0x1.7268078e48462p+30, -0x1.bff876bd73df6p+29, 0x1.367d9d22f8e58p+28, -0x1.785a32d50ea99p+25
#define DEBYE_10 \
    0x1.b8118d37ff700p+6, -0x1.b1f0b7d0cbfb1p+13, 0x1.2cf699e52c822p+18, -0x1.540a91065230fp+21, \
    0x1.958a7e55353d9p+23, -0x1.1e9d645493e4cp+25, 0x1.fa2b20232a522p+25, -0x1.1ab04f0d89c04p+26, \
    0x1.84bccd3f0fa29p+25, -0x1.2cb3c31e51931p+24, 0x1.90efaed3176ecp+21
#define DEBYE_9 \
    0x1.8616a64f6c000p+4, -0x1.387a934e97623p+11, 0x1.614589b7ecd85p+15, -0x1.43df4b09fcb1fp+18, \
    0x1.35a8d45f867f0p+20, -0x1.5773d9d00c99dp+21, 0x1.cb623a6199ae4p+21, -0x1.6df7ff592a81cp+21, \
    0x1.404139d5a8d89p+20, -0x1.da73980d20117p+17
#define DEBYE_8 \
    0x1.84bd1aa980000p+2, -0x1.edea5169e2492p+8, 0x1.bc583a953f412p+12, -0x1.41d14f581555cp+15, \
    0x1.dd58770920853p+16, -0x1.8d4416b11fe98p+17, 0x1.7811802863395p+17, -0x1.7ad4992fff6c7p+16, \
    0x1.3bb12a52aa2fbp+14
#define DEBYE_7 \
    0x1.ba4c598000000p+0, -0x1.b05d1a13b6db7p+6, 0x1.2c39c95483d71p+10, -0x1.4b9a5a063f1c7p+12, \
    0x1.6c3b258dcc4bep+13, -0x1.a8946669c5f9bp+13, 0x1.f7db8e0e6ff83p+12, -0x1.dfdd4a56e48aep+10
#define DEBYE_6 \
    0x1.251ee80000000p-1, -0x1.a7dce636db6dbp+4, 0x1.b4618ac15dc91p+7, -0x1.5dca313ad82d8p+9, \
    0x1.08ff639300000p+10, -0x1.7ea050e044d42p+9, 0x1.a923e815a1cf4p+7
#define DEBYE_5 \
    0x1.d11e000000000p-3, -0x1.d79a53a83a83bp+2, 0x1.5447ad6c16c17p+5, -0x1.6f45e11c71c72p+6, \
    0x1.528b7ca566307p+6, -0x1.c364a631dd95fp+4
#define DEBYE_4 \
    0x1.cb60000000000p-4, -0x1.2e9a666666666p+1, 0x1.1940800000000p+3, -0x1.669fc3f35ba78p+3, 0x1.2ada78a021b64p+2
#define DEBYE_3 \
    0x1.2c00000000000p-4, -0x1.c84cccccccccdp-1, 0x1.d8b1c71c71c72p+0, -0x1.069ba781948b1p+0
#define DEBYE_2 \
    0x1.2000000000000p-4, -0x1.9aaaaaaaaaaabp-2, 0x1.5638e38e38e39p-2
#define DEBYE_1 \
    0.125, -0x1.aaaaaaaaaaaabp-3

/* v asinh(v / x) - (hypot(v, x) - x) in two parts: the greatest exponent of the integral for K, with exp(x). */
static inline f64 ag_top_of_integral_f64(f64 v, f64 x, f64 *second)
{
    f64 a = 0;
    f64 a_low = 0;
    a = ag_two_product_f64(v, v, &a_low);
    f64 b = 0;
    f64 b_low = 0;
    b = ag_two_product_f64(x, x, &b_low);
    f64 s = 0;
    f64 s_low = 0;
    s = ag_plus_parts_f64(a, a_low, b, b_low, &s_low);
    const f64 root = sqrt_F(s);
    const f64 root_low = (__builtin_fma(-root, root, s) + s_low) / (2.0 * root);
    f64 d = 0;
    f64 d_low = 0;
    d = ag_plus_parts_f64(root, root_low, x, 0.0, &d_low);
    d = ag_divided_parts_f64(a, a_low, d, d_low, &d_low);
    f64 e = 0;
    f64 e_low = 0;
    e = ag_plus_parts_f64(v, 0.0, d, d_low, &e_low);
    f64 q = 0;
    f64 q_low = 0;
    q = ag_divided_parts_f64(e, e_low, x, 0.0, &q_low);
    if (q < 0.4) {
        e = ag_log1p_parts_f64(q, q_low, &e_low);
    }
    else {
        e = ag_plus_parts_f64(q, q_low, 1.0, 0.0, &e_low);
        e = ag_log_in_parts_f64(e, e_low, &e_low);
    }
    e = ag_times_parts_f64(e, e_low, v, 0.0, &e_low);
    return ag_plus_parts_f64(e, e_low, -d, -d_low, second);
}

/* sinh(s) - s for |s| <= 1/2. */
INLINE f64 ag_small_sinh_f64(f64 s)
{
    const f64 q = s * s;
    POLYNOMIAL(f64, series, q, SINH_SERIES);
    return s * q * series;
}

/* The integral of exp(-(r (cosh(s) - 1) + v (sinh(s) - s))) s**moment over all s, r = hypot(v, x). */
static inline f64 ag_integral_of_k_f64(f64 v, f64 x, i32 moment)
{
    const f64 r = sqrt_F(v * v + x * x);
    const f64 step = 0.24 / sqrt_F(1.0 + r / 6.0);
    f64 total = moment ? 0.0 : 1.0;
    f64 low = 0.0;
    for (i32 side = 0; side < 2; side++) {
        const f64 sign = side == 0 ? 1.0 : -1.0;
        for (i32 k = 1; k < 4000; k++) {
            const f64 s = sign * step * (f64)k;
            const f64 half = ag_sinh_f64(0.5 * s);
            const f64 sine = 2.0 * half * sqrt_F(1.0 + half * half);
            const f64 rest = fabs_F(s) > 0.5 ? sine - s : ag_small_sinh_f64(s);
            const f64 e = r * (2.0 * half * half) + v * rest;
            const f64 value = ag_exp_f64(-e) * (moment ? s : 1.0);
            f64 error = 0;
            total = ag_two_sum_f64(total, value, &error);
            low = low + error;
            if (e > 40.0) {
                break;
            }
        }
    }
    return step * (total + low);
}

/* (g1, g2) of Temme: (1 / gamma(1 - m) - 1 / gamma(1 + m)) / (2 m) and half the sum of both, |m| <= 1/2. */
INLINE f64 ag_gamma_differences_f64(f64 m, f64 *second)
{
    const f64 q = m * m;
    POLYNOMIAL(f64, g1, q, TEMME_ODD);
    POLYNOMIAL_AGAIN(f64, g2, q, TEMME_EVEN);
    *second = g2;
    return -g1;
}

/* (K_m(x), K_(m + 1)(x)) for |m| <= 1/2 and x <= 2, by N. M. Temme's series (1975). */
static inline f64 ag_k_pair_of_small_f64(f64 m, f64 x, f64 *second)
{
    f64 g1 = 0;
    f64 g2 = 0;
    g1 = ag_gamma_differences_f64(m, &g2);
    const f64 plus = g2 - m * g1;
    const f64 minus = g2 + m * g1;
    const f64 factor = fabs_F(m) < 1e-08 ? 1.0 : 0x1.921fb54442d18p+1 * m / ag_sin_f64(0x1.921fb54442d18p+1 * m);
    const f64 d = -ag_log_f64(0.5 * x);
    const f64 e = m * d;
    const f64 e_square = e * e;
    POLYNOMIAL(f64, series, e_square, SHAPE_SERIES);
    const f64 shape = e_square < 1.0 ? e_square * series : ag_sinh_f64(e) / e - 1.0;
    f64 f = factor * (d + (g1 * ag_cosh_f64(e) + d * ((g2 - 1.0) * (1.0 + shape) + shape)));
    f64 total = f;
    const f64 grown = ag_exp_f64(e);
    f64 p = 0.5 * grown / plus;
    f64 q = 0.5 / (grown * minus);
    f64 c = 1.0;
    const f64 square = 0.25 * x * x;
    f64 rest = 0.0;
    for (i32 k = 1; k < 100; k++) {
        const f64 n = (f64)k;
        f = (n * f + p + q) / (n * n - m * m);
        c = c * (square / n);
        p = p / (n - m);
        q = q / (n + m);
        const f64 step = c * f;
        total = total + step;
        rest = rest + c * (p - n * f);
        if (fabs_F(step) < 1e-17 * fabs_F(total)) {
            break;
        }
    }
    *second = 0.5 * pow_F(0.5 * x, -1.0 - m) / plus + rest / (0.5 * x);
    return total;
}

/* factor K_v(x) for v > 10 and x <= 1/2: the sum of DLMF 10.31.1 up to the term with a pole at k = v. */
static inline f64 ag_k_series_f64(f64 v, f64 x, f64 factor)
{
    const f64 q = 0.25 * x * x;
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 1; k < 10; k++) {
        const f64 n = (f64)k;
        term = term * (q / (n * (n - v)));
        total = total + term;
    }
    if (x < 1e-300) {
        return __builtin_inf();
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(0.5 * x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, v, 0.0, &e_low);
    f64 g = 0;
    f64 g_low = 0;
    g = ag_log_gamma_parts_f64(v, 0.0, &g_low);
    e = ag_plus_parts_f64(g, g_low, -e, -e_low, &e_low);
    return ag_exp_times_f64(e, e_low, 0.5 * factor * total);
}

/* K_v(x) for v <= 10 and x <= 1/2: from orders about 0 by the recurrence (DLMF 10.29.1). */
INLINE f64 ag_k_of_small_f64(f64 v, f64 x)
{
    f64 a = 0;
    f64 b = 0;
    a = ag_k_pair_of_small_f64(v - floor_F(v + 0.5), x, &b);
    return ag_k_upwards_f64(v, x, a, b);
}

/* The sum of (x**2 / 4)**k / (k! (v + 1)_k), of positive terms for v >= 0, times exp(-x) of a large x. */
static inline f64 ag_i_series_sum_f64(f64 v, f64 x)
{
    f64 q = 0;
    f64 q_low = 0;
    q = ag_two_product_f64(0.5 * x, 0.5 * x, &q_low);
    f64 term = x > 500.0 ? ag_exp_f64(-x) : 1.0;
    f64 term_low = 0.0;
    f64 total = term;
    f64 total_low = 0.0;
    for (i32 k = 1; k < 4000; k++) {
        const f64 n = (f64)k;
        f64 d = 0;
        f64 d_low = 0;
        d = ag_two_sum_f64(v, n, &d_low);
        d = ag_times_parts_f64(d, d_low, n, 0.0, &d_low);
        const f64 inverse = 1.0 / d;
        const f64 f = q * inverse;
        const f64 f_low = (__builtin_fma(-f, d, q) + (q_low - f * d_low)) * inverse;
        const f64 product = term * f;
        term_low = __builtin_fma(term, f, -product) + (term * f_low + term_low * f);
        term = product;
        f64 error = 0;
        total = ag_two_sum_f64(total, term, &error);
        total_low = total_low + (error + term_low);
        if (term < 1e-17 * total && n * (v + n) > q) {
            break;
        }
    }
    return total + total_low;
}

/* The sum of U_k(p) v**-k, k = 0 ... 11 (DLMF 10.41.9), s = v / p. */
INLINE f64 ag_debye_sum_f64(f64 p, f64 s)
{
    const f64 q = p * p;
    POLYNOMIAL(f64, d11, q, DEBYE_11);
    POLYNOMIAL_AGAIN(f64, d10, q, DEBYE_10);
    POLYNOMIAL_AGAIN(f64, d9, q, DEBYE_9);
    POLYNOMIAL_AGAIN(f64, d8, q, DEBYE_8);
    POLYNOMIAL_AGAIN(f64, d7, q, DEBYE_7);
    POLYNOMIAL_AGAIN(f64, d6, q, DEBYE_6);
    POLYNOMIAL_AGAIN(f64, d5, q, DEBYE_5);
    POLYNOMIAL_AGAIN(f64, d4, q, DEBYE_4);
    POLYNOMIAL_AGAIN(f64, d3, q, DEBYE_3);
    POLYNOMIAL_AGAIN(f64, d2, q, DEBYE_2);
    POLYNOMIAL_AGAIN(f64, d1, q, DEBYE_1);
    const f64 r = 1.0 / s;
    const f64 high = d6 + r * (d7 + r * (d8 + r * (d9 + r * (d10 + r * d11))));
    return 1.0 + r * (d1 + r * (d2 + r * (d3 + r * (d4 + r * (d5 + r * high)))));
}

/* factor K_v(x) exp(x - shift) for v >= 0 and x > 0, where K_v(x) may overflow and the product does not. */
static inline f64 ag_k_times_f64(f64 v, f64 x, f64 shift, f64 factor)
{
    f64 k = 0;
    if (x <= 0.5) {
        k = v > 10.0 ? ag_k_series_f64(v, x, factor) : factor * ag_k_of_small_f64(v, x);
        return k * ag_exp_f64(x - shift);
    }
    const f64 r = sqrt_F(v * v + x * x);
    if (v > 12.0 && r > 45.0) {
        f64 e = 0;
        f64 e_low = 0;
        e = ag_top_of_integral_f64(v, x, &e_low);
        e = ag_plus_parts_f64(e, e_low, -shift, 0.0, &e_low);
        return ag_exp_times_f64(e, e_low, factor * sqrt_F(0x1.921fb54442d18p+0 / r) * ag_debye_sum_f64(v / r, -r));
    }
    f64 a = 0;
    f64 b = 0;
    a = ag_k_scaled_pair_f64(v - floor_F(v + 0.5), x, &b);
    k = factor * ag_k_upwards_f64(v, x, a, b);
    if (shift < 700.0) {
        return k * ag_exp_f64(-shift);
    }
    const f64 half = ag_exp_f64(-0.5 * shift);
    return half * k * half;
}

/* exp(x) times the modified Bessel function of the second kind and real order v, within 8 ulp; NaN for x < 0. */
static inline f64 ag_kve_f64(f64 v, f64 x)
{
    if (v != v || x != x || x < 0.0 || (fabs_F(v) == __builtin_inf() && x > 0.0)) {
        return __builtin_nan("");
    }
    return x == 0.0 ? __builtin_inf() : x == __builtin_inf() ? 0.0 : ag_k_times_f64(fabs_F(v), x, 0.0, 1.0);
}

/* The modified Bessel function of the second kind and real order v, within 8 ulp; NaN for x < 0. */
static inline f64 ag_kv_f64(f64 v, f64 x)
{
    if (v != v || x != x || x < 0.0 || (fabs_F(v) == __builtin_inf() && x > 0.0)) {
        return __builtin_nan("");
    }
    return x == 0.0 ? __builtin_inf() : x == __builtin_inf() ? 0.0 : ag_k_times_f64(fabs_F(v), x, x, 1.0);
}

/* The sum of (-1)**k a_k(v) x**-k (DLMF 10.40.1). */
static inline f64 ag_hankel_sum_f64(f64 v, f64 x)
{
    const f64 mu = 4.0 * v * v;
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 1; k < 60; k++) {
        const f64 n = (f64)(2 * k - 1);
        const f64 better = term * (n * n - mu) / (8.0 * (f64)k * x);
        if (fabs_F(better) > fabs_F(term) && n * n > mu) {
            break;
        }
        term = better;
        total = total + term;
        if (fabs_F(term) < 1e-17 * fabs_F(total)) {
            break;
        }
    }
    return total;
}

/* I_v(x) exp(-shift) for v >= 0, x > 0, shift either 0 or x. */
static inline f64 ag_i_scaled_f64(f64 v, f64 x, f64 shift)
{
    f64 e = 0;
    if (x > 30.0 && x > 0.9 * v * v) {
        e = x - shift;
        const f64 half = ag_exp_f64(0.5 * e);
        return half * (ag_hankel_sum_f64(v, x) / sqrt_F(2.0 * 0x1.921fb54442d18p+1 * x)) * half;
    }
    if (v > 1e+100) {
        return shift == 0.0 && x > 0x1.53531aff7ce6dp-1 * v ? __builtin_inf() : 0.0;
    }
    const f64 s = sqrt_F(v * v + x * x);
    f64 e_low = 0;
    if (s > 45.0) {
        e = ag_top_of_integral_f64(v, x, &e_low);
        e = ag_plus_parts_f64(-e, -e_low, x - shift, 0.0, &e_low);
        const f64 sum_ = ag_debye_sum_f64(v / s, s) / sqrt_F(2.0 * 0x1.921fb54442d18p+1 * s);
        return ag_exp_times_f64(e, e_low, sum_);
    }
    if (x < 1e-300) {
        return v == 0.0 ? 1.0 : pow_F(0.5 * x, v) / ag_gamma_f64(v + 1.0);
    }
    if (v < 1.5 && x > 1e-30) {
        return pow_F(0.5 * x, v) / ag_gamma_f64(v + 1.0) * (ag_i_series_sum_f64(v, x) * ag_exp_f64(-shift));
    }
    e = ag_log_in_parts_f64(0.5 * x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, v, 0.0, &e_low);
    if (v > 0.0) {
        f64 g = 0;
        f64 g_low = 0;
        g = ag_log_gamma_parts_f64(v, 0.0, &g_low);
        e = ag_plus_parts_f64(e, e_low, -g, -g_low, &e_low);
    }
    const f64 moved = x <= 500.0 ? 0.0 : x;
    e = ag_plus_parts_f64(e, e_low, moved - shift, 0.0, &e_low);
    f64 total = ag_i_series_sum_f64(v, x);
    total = v > 0.0 ? total / v : total;
    return ag_exp_times_f64(e, e_low, total);
}

/* sin(pi v). */
INLINE f64 ag_sine_of_turns_f64(f64 v)
{
    const f64 nearest = rint_F(v);
    const f64 sine = ag_sin_f64(0x1.921fb54442d18p+1 * (v - nearest));
    return nearest - 2.0 * floor_F(0.5 * nearest) == 1.0 ? -sine : sine;
}

/* I_v(x) exp(-shift) for every v and x > 0: a negative order by DLMF 10.27.2. */
static inline f64 ag_i_of_order_f64(f64 v, f64 x, f64 shift)
{
    if (v >= 0.0) {
        return ag_i_scaled_f64(v, x, shift);
    }
    if (v == floor_F(v)) {
        return ag_i_scaled_f64(-v, x, shift);
    }
    return ag_i_scaled_f64(-v, x, shift) - ag_k_times_f64(-v, x, x + shift, 0x1.45f306dc9c883p-1 *
        ag_sine_of_turns_f64(v));
}

/* I_v(x), or that times exp(-|x|), with the special values. */
static inline f64 ag_i_any_f64(f64 v, f64 x, i32 is_scaled)
{
    if (v != v || x != x || (x < 0.0 && v != floor_F(v))) {
        return __builtin_nan("");
    }
    const f64 a = fabs_F(x);
    if (fabs_F(v) == __builtin_inf()) {
        return a < __builtin_inf() && !is_scaled ? 0.0 : __builtin_nan("");
    }
    if (a == 0.0) {
        if (v == 0.0) {
            return 1.0;
        }
        return v > 0.0 || v == floor_F(v) ? 0.0 : floor_F(-0.5 * v) == floor_F(-0.5 * v) ? __builtin_inf() :
            __builtin_nan("");
    }
    if (a == __builtin_inf()) {
        return is_scaled ? 0.0 : __builtin_nan("");
    }
    const f64 size = ag_i_of_order_f64(v, a, is_scaled ? a : 0.0);
    const f64 odd = v == floor_F(v) && v - 2.0 * floor_F(0.5 * v) == 1.0;
    return x < 0.0 && odd ? -size : size;
}

/* The modified Bessel function of the first kind and real order v; NaN for x < 0 unless v is an integer. Within 8
   ulp for v >= 0. */
INLINE f64 ag_iv_f64(f64 v, f64 x)
{
    return ag_i_any_f64(v, x, 0);
}

/* exp(-|x|) times the modified Bessel function of the first kind and real order v, as exact as `iv`. */
INLINE f64 ag_ive_f64(f64 v, f64 x)
{
    return ag_i_any_f64(v, x, 1);
}
