/* Derivatives of modified Bessel functions by the order: moments of the integral for K; for I the series term by term,

   Written by ../translated.py from ops/special/by_order.py. */
#pragma once
#include "float.h"
#include "gamma.h"

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
#define DEBYE_SLOPE_11 \
    -0x1.48256f009b97ep+16, 0x1.11e5c16c629afp+22, -0x1.18155b0b57829p+26, 0x1.0ef6a77985642p+29, \
    -0x1.2792c6b2c013ep+31, 0x1.8bd67c84f0268p+32, -0x1.522f0aac6111fp+33, 0x1.7268078e48462p+33, \
    -0x1.f7f78595225b5p+32, 0x1.841d046bb71eep+31, -0x1.02be02f27a149p+29
#define DEBYE_SLOPE_10 \
    -0x1.b1f0b7d0cbfb1p+13, 0x1.2cf699e52c822p+19, -0x1.fe0fd9897b496p+22, 0x1.958a7e55353d9p+25, \
    -0x1.6644bd69b8ddfp+27, 0x1.7ba0581a5fbdap+28, -0x1.eeb48a57b1107p+28, 0x1.84bccd3f0fa29p+28, \
    -0x1.524a3b821bc57p+27, 0x1.f52b9a87dd4a7p+24
#define DEBYE_SLOPE_9 \
    -0x1.387a934e97623p+11, 0x1.614589b7ecd85p+16, -0x1.e5cef08efb0aep+19, 0x1.35a8d45f867f0p+22, \
    -0x1.ad50d0440fc04p+23, 0x1.5889abc93342bp+24, -0x1.4038ff6e05318p+24, 0x1.404139d5a8d89p+23, \
    -0x1.0ae105876209dp+21
#define DEBYE_SLOPE_8 \
    -0x1.edea5169e2492p+8, 0x1.bc583a953f412p+13, -0x1.e2b9f7042000ap+16, 0x1.dd58770920853p+18, \
    -0x1.f0951c5d67e3ep+19, 0x1.1a0d201e4a6b0p+20, -0x1.4b7a0609ff7eep+19, 0x1.3bb12a52aa2fbp+17
#define DEBYE_SLOPE_7 \
    -0x1.b05d1a13b6db7p+6, 0x1.2c39c95483d71p+11, -0x1.f16787095eaaap+13, 0x1.6c3b258dcc4bep+15, \
    -0x1.095cc0021bbc1p+16, 0x1.79e4aa8ad3fa2p+15, -0x1.a3e1a10c07f98p+13
#define DEBYE_SLOPE_6 \
    -0x1.a7dce636db6dbp+4, 0x1.b4618ac15dc91p+8, -0x1.0657a4ec22222p+11, 0x1.08ff639300000p+12, \
    -0x1.de48651856092p+11, 0x1.3edaee10395b7p+10
#define DEBYE_SLOPE_5 \
    -0x1.d79a53a83a83bp+2, 0x1.5447ad6c16c17p+6, -0x1.137468d555556p+8, 0x1.528b7ca566307p+8, \
    -0x1.1a1ee7df2a7dbp+7
#define DEBYE_SLOPE_4 \
    -0x1.2e9a666666666p+1, 0x1.1940800000000p+4, -0x1.0cf7d2f684bdap+5, 0x1.2ada78a021b64p+4
#define DEBYE_SLOPE_3 \
    -0x1.c84cccccccccdp-1, 0x1.d8b1c71c71c72p+1, -0x1.89e97b425ed0ap+1
#define DEBYE_SLOPE_2 \
    -0x1.9aaaaaaaaaaabp-2, 0x1.5638e38e38e39p-1
#define DEBYE_SLOPE_1 \
    -0x1.aaaaaaaaaaaabp-3

/* The integral of exp(-x (cosh(t) - 1)) t sinh(v t) over t > 0, of positive terms. */
static inline f64 ag_integral_by_order_f64(f64 v, f64 x)
{
    const f64 step = 0.24 / sqrt_F(1.0 + x / 6.0);
    f64 total = 0.0;
    f64 low = 0.0;
    for (i32 k = 1; k < 4000; k++) {
        const f64 t = step * (f64)k;
        const f64 half = ag_sinh_f64(0.5 * t);
        const f64 value = ag_exp_f64(-x * (2.0 * half * half)) * (t * ag_sinh_f64(v * t));
        f64 error = 0;
        total = ag_two_sum_f64(total, value, &error);
        low = low + error;
        if (value < 1e-18 * total && x * half > v) {
            break;
        }
    }
    return step * (total + low);
}

/* The derivative by v of K_v(x), times exp(x - shift): moments of the integral (DLMF 10.32.9). */
static inline f64 ag_k_by_order_f64(f64 v, f64 x, f64 shift)
{
    if (v != v || x != x || x < 0.0) {
        return __builtin_nan("");
    }
    if (x == 0.0) {
        return v == 0.0 ? __builtin_nan("") : v > 0.0 ? __builtin_inf() : -__builtin_inf();
    }
    if (x == __builtin_inf() || v == 0.0) {
        return 0.0;
    }
    const f64 a = fabs_F(v);
    f64 size = 0;
    if (a < 1.0) {
        size = ag_exp_f64(-shift) * ag_integral_by_order_f64(a, x);
        return v > 0.0 ? size : -size;
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_top_of_integral_f64(a, x, &e_low);
    e = ag_plus_parts_f64(e, e_low, -shift, 0.0, &e_low);
    const f64 place = ag_log1p_f64((a + a * a / (sqrt_F(a * a + x * x) + x)) / x);
    const f64 integral = place * ag_integral_of_k_f64(a, x, 0) + ag_integral_of_k_f64(a, x, 1);
    size = ag_exp_times_f64(e, e_low, 0.5 * integral);
    return v > 0.0 ? size : -size;
}

/* The derivative of `kv` by the order, within 8 ulp. */
INLINE f64 ag_kv_by_order_f64(f64 v, f64 x)
{
    return ag_k_by_order_f64(v, x, x);
}

/* The derivative of `kve` by the order, within 8 ulp. */
INLINE f64 ag_kve_by_order_f64(f64 v, f64 x)
{
    return ag_k_by_order_f64(v, x, 0.0);
}

/* The derivative by v of log(I_v(x)) for v >= 0 and hypot(v, x) > 30, by that of Debye's expansion (DLMF 10.41.3).
   The sum's own share is below 1e-4 of the first term. */
INLINE f64 ag_i_log_slope_f64(f64 v, f64 x)
{
    const f64 s = sqrt_F(v * v + x * x);
    const f64 r = 1.0 / s;
    const f64 q = v * r * (v * r);
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
    POLYNOMIAL_AGAIN(f64, s11, q, DEBYE_SLOPE_11);
    POLYNOMIAL_AGAIN(f64, s10, q, DEBYE_SLOPE_10);
    POLYNOMIAL_AGAIN(f64, s9, q, DEBYE_SLOPE_9);
    POLYNOMIAL_AGAIN(f64, s8, q, DEBYE_SLOPE_8);
    POLYNOMIAL_AGAIN(f64, s7, q, DEBYE_SLOPE_7);
    POLYNOMIAL_AGAIN(f64, s6, q, DEBYE_SLOPE_6);
    POLYNOMIAL_AGAIN(f64, s5, q, DEBYE_SLOPE_5);
    POLYNOMIAL_AGAIN(f64, s4, q, DEBYE_SLOPE_4);
    POLYNOMIAL_AGAIN(f64, s3, q, DEBYE_SLOPE_3);
    POLYNOMIAL_AGAIN(f64, s2, q, DEBYE_SLOPE_2);
    POLYNOMIAL_AGAIN(f64, s1, q, DEBYE_SLOPE_1);
    f64 high = d7 + r * (d8 + r * (d9 + r * (d10 + r * d11)));
    const f64 total = 1.0 + r * (d1 + r * (d2 + r * (d3 + r * (d4 + r * (d5 + r * (d6 + r * high))))));
    high = s7 + r * (s8 + r * (s9 + r * (s10 + r * s11)));
    const f64 by_q = r * (s1 + r * (s2 + r * (s3 + r * (s4 + r * (s5 + r * (s6 + r * high))))));
    high = 7.0 * d7 + r * (8.0 * d8 + r * (9.0 * d9 + r * (10.0 * d10 + r * (11.0 * d11))));
    const f64 by_r = d1 + r * (2.0 * d2 + r * (3.0 * d3 + r * (4.0 * d4 + r * (5.0 * d5 + r * (6.0 * d6 + r *
        high)))));
    const f64 of_sum = v * r * r * (2.0 * (1.0 - q) * by_q - r * by_r) / total;
    const f64 place = ag_log1p_f64((v + v * v / (s + x)) / x);
    return of_sum - 0.5 * v * r * r - place;
}

/* The derivative by v of `hankel_sum`. */
static inline f64 ag_hankel_slope_f64(f64 v, f64 x)
{
    const f64 mu = 4.0 * v * v;
    f64 term = 1.0;
    f64 slope = 0.0;
    f64 total = 0.0;
    for (i32 k = 1; k < 60; k++) {
        const f64 n = (f64)(2 * k - 1);
        const f64 below = 8.0 * (f64)k * x;
        slope = (slope * (n * n - mu) - term) / below;
        term = term * (n * n - mu) / below;
        total = total + slope;
        if (fabs_F(slope) < 1e-17 * fabs_F(total)) {
            break;
        }
    }
    return 8.0 * v * total;
}

/* The derivative of I_v(x) by v for v >= 0 and x > 0. */
static inline f64 ag_i_slope_f64(f64 v, f64 x)
{
    const f64 half = ag_exp_f64(0.5 * x);
    if (x > 30.0 && x > 0.9 * v * v) {
        return half * (ag_hankel_slope_f64(v, x) / sqrt_F(2.0 * 0x1.921fb54442d18p+1 * x)) * half;
    }
    if (x * x + v * v > 900.0) {
        return half * (ag_i_scaled_f64(v, x, x) * ag_i_log_slope_f64(v, x)) * half;
    }
    const f64 logarithm = ag_log_f64(0.5 * x);
    const f64 q = 0.25 * x * x;
    f64 term = 1.0;
    f64 total = 1.0;
    f64 slope = 0.0;
    f64 weighted = 0.0;
    for (i32 k = 1; k < 4000; k++) {
        const f64 n = (f64)k;
        slope = slope + 1.0 / (v + n);
        term = term * (q / (n * (v + n)));
        total = total + term;
        weighted = weighted + term * slope;
        if (term * (1.0 + slope) < 1e-17 * total && n * (v + n) > q) {
            break;
        }
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(0.5 * x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, v, 0.0, &e_low);
    f64 g = 0;
    f64 g_low = 0;
    g = ag_two_sum_f64(v, 1.0, &g_low);
    g = ag_log_gamma_parts_f64(g, g_low, &g_low);
    e = ag_plus_parts_f64(e, e_low, -g, -g_low, &e_low);
    return ag_exp_times_f64(e, e_low, (logarithm - ag_digamma_f64(v + 1.0)) * total - weighted);
}

/* The derivative of `iv` by the order within 16 ulp of its larger term; NaN for x < 0. The series, term by term
   (DLMF 10.38.1), or the derivative of Debye's expansion; a negative order by DLMF 10.27.2. */
static inline f64 ag_iv_by_order_f64(f64 v, f64 x)
{
    if (v != v || x != x || x <= 0.0 || v == __builtin_inf() || v == -__builtin_inf()) {
        return x == 0.0 && v > 0.0 ? 0.0 : __builtin_nan("");
    }
    if (v >= 0.0) {
        return ag_i_slope_f64(v, x);
    }
    const f64 cosine = ag_sine_of_turns_f64(v + 0.5);
    const f64 slope = 0x1.45f306dc9c883p-1 * ag_sine_of_turns_f64(v) * ag_k_by_order_f64(v, x, x);
    return -ag_i_slope_f64(-v, x) - 2.0 * cosine * ag_kv_f64(v, x) - slope;
}
