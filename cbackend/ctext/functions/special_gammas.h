/* Incomplete gamma functions, their derivatives by the order, their inverses; Hurwitz' and Riemann's zeta functions.

   Written by ../translated.py from ops/special/gammas.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define LOG_GAMMA_SERIES \
    -0x1.2788cfc6fb619p-1, 0x1.a51a6625307d3p-1, -0x1.9a4d55beab37cp-2, 0x1.151322ac7d8e9p-2, \
    -0x1.a8b9c17a91284p-3, 0x1.5b40cb0ff7e2cp-3, -0x1.2703a1e53cd44p-3, 0x1.010b36b799ac3p-3, \
    -0x1.c8066cfb76ec6p-4, 0x1.9a01e02e1bc0ep-4, -0x1.748ca0044fd2dp-4, 0x1.556b3fe9a66f6p-4, \
    -0x1.3b14e848a2d53p-4, 0x1.248e72b0a7186p-4, -0x1.118acc50ec441p-4, 0x1.007509e47a025p-4, \
    -0x1.d8fbcda10e84fp-5, 0x1.be79bd2aebac5p-5, -0x1.ea4aa627b4073p-5, 0x1.d2f7f4a6085fbp-5, \
    -0x1.db7126487ed80p-7, 0x1.b4fc9a43dac9fp-7, -0x1.28eb1f4f52ce4p-3, 0x1.1ef5d11df4a3dp-3, \
    0x1.3914b3aa0e424p-3, -0x1.3046d605c1822p-3, -0x1.cc35b376ce280p-3, 0x1.bdb3d7629dd5ep-3
#define TEMME_0 \
    -0x1.5555555555555p-2, 0x1.5555555555555p-4, -0x1.e573ac901e574p-7, 0x1.2f684bda12f68p-10, \
    0x1.71de3a556c734p-12, -0x1.76e06fec7273bp-13, 0x1.48c5892f7cd83p-15, -0x1.255370652afc1p-19, \
    -0x1.f1b22f594c6b5p-20, 0x1.bd6d21e4b4109p-21, -0x1.7b5f9a2d0465cp-23, 0x1.ccf5ceb7f0d9fp-28, \
    0x1.6097d55c37c1cp-27, -0x1.2d2197c7a2faap-28, 0x1.f6e66d24d5c8ap-31, -0x1.c0d9b6edf2b0bp-36, \
    -0x1.0070a87340428p-34, 0x1.ac9475c463659p-36, -0x1.61ca701fd754ap-38
#define TEMME_1 \
    -0x1.e573ac901e574p-10, -0x1.c71c71c71c71cp-9, 0x1.5ac056b015ac0p-9, -0x1.0394f6f09e723p-10, \
    0x1.af83440e53dbcp-13, -0x1.af83440e53dbcp-22, -0x1.2fa4ae89e5af0p-16, 0x1.00a9cabd6b83ep-17, \
    -0x1.b0bdfcc629cbap-20, 0x1.3f59230a8357cp-28, 0x1.280f2cde3f847p-23, -0x1.ee23d0cba8aeep-25, \
    0x1.9aa7a30de114cp-27, -0x1.349fbca3a377bp-36, -0x1.1564ecff73d58p-30, 0x1.c9b434bf3c34ep-32, \
    -0x1.78a5056f8ce45p-34
#define TEMME_2 \
    0x1.0ee643b990ee6p-8, -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9e0p-11, 0x1.0db20a88f4696p-19, \
    -0x1.c253efaa1a932p-14, 0x1.bbf43daf4fe53p-15, -0x1.ac2d05890f2c3p-17, 0x1.26154ae39151dp-25, \
    0x1.7058929663937p-20, -0x1.522cb05171911p-21, 0x1.32ac81c15d3d7p-23, -0x1.c24bd0e740a6cp-33, \
    -0x1.e437343a46f5dp-27, 0x1.ac0d455e25360p-28, -0x1.77c5829460139p-30
#define TEMME_3 \
    0x1.547d93b34e2b6p-11, 0x1.e13ce465fa859p-13, -0x1.ebfb188b7ca00p-12, 0x1.18b9b5bf2d984p-12, \
    -0x1.3d2a3a29b5d9dp-14, -0x1.0152a1871f27ap-22, 0x1.73df462204ef4p-17, -0x1.7cd6f27b3f020p-18, \
    0x1.7e0201539310ep-20, -0x1.ea23269c140a7p-36, -0x1.6c2dcffbefeefp-23, 0x1.5bde8ef4c4dc7p-24, \
    -0x1.4853ced169327p-26
#define TEMME_4 \
    -0x1.c3e0b02da7bf9p-11, 0x1.9b0ff6874f2c4p-11, -0x1.3999a85a4237ap-12, -0x1.88f2ae1def9d0p-20, \
    0x1.16908b48ce058p-14, -0x1.4ce3fd902bcadp-15, 0x1.7db4c02846e81p-17, 0x1.13b3c5b7cb45ep-32, \
    -0x1.c71c074985d3fp-20, 0x1.de37d9f09164cp-21, -0x1.ec676cf33153cp-23, 0x1.041515bab6adap-35, \
    0x1.efe94304ac16bp-26
#define TEMME_5 \
    -0x1.6128ac5a4fa71p-12, -0x1.247604839c038p-14, 0x1.22be87360ef1fp-12, -0x1.a2042c5148e27p-13, \
    0x1.1d1e9cb24760bp-14, 0x1.30bdcf208080ep-23, -0x1.c823fc1b3cc36p-17, 0x1.0d0e229150428p-17, \
    -0x1.338eb19652fd9p-19, -0x1.659cfde0bb2ebp-32, 0x1.741504e5c87c2p-22
#define TEMME_6 \
    0x1.168ef1b0931c8p-11, -0x1.36773bdb97b48p-11, 0x1.1c0950d3ecb9dp-12, 0x1.a8411da6cab49p-21, \
    -0x1.5600945495b37p-14, 0x1.d6bdf83130dc1p-15, -0x1.3382f4cf48618p-16, -0x1.a74243fa27729p-29, \
    0x1.d115d4f5dcc68p-19, -0x1.10587854fcb37p-19
#define TEMME_7 \
    0x1.691879c01efb4p-12, 0x1.b1d75d3346711p-15, -0x1.5f3385098cebfp-12, 0x1.26eeb5ece1d9fp-12, \
    -0x1.cc642787368cep-14, -0x1.119c70312e0a2p-23, 0x1.d179830b113abp-16, -0x1.3269164e3e304p-16
#define TEMME_8 \
    -0x1.5629b3187b744p-11, 0x1.b8239c670e690p-11, -0x1.cb967b4446107p-12, -0x1.762676b30cfd6p-21, \
    0x1.5d1157082916dp-13, -0x1.0c16fcea7ddb2p-13
#define TEMME_9 \
    -0x1.38dff1cc96982p-11, -0x1.2e31f9b7913eap-14, 0x1.63969bb825829p-11, -0x1.4f9f2582dd0a5p-11
#define TEMME_0_SLOPE \
    0x1.5555555555555p-4, -0x1.e573ac901e574p-6, 0x1.c71c71c71c71cp-9, 0x1.71de3a556c734p-10, \
    -0x1.d4988be78f10ap-11, 0x1.ed284dc73b444p-13, -0x1.00a90258859c9p-16, -0x1.f1b22f594c6b5p-17, \
    0x1.f51ac6214a92ap-18, -0x1.da3780b8457f3p-20, 0x1.3ce8fe1e7595dp-24, 0x1.0871e00529d15p-23, \
    -0x1.e95696a468d74p-25, 0x1.b8099f803b0f9p-27, -0x1.a4cc1b7f1385ap-32, -0x1.0070a87340428p-30, \
    0x1.c75dbd20a99bfp-32, -0x1.8e03be23d23f3p-34
#define TEMME_1_SLOPE \
    -0x1.c71c71c71c71cp-9, 0x1.5ac056b015ac0p-8, -0x1.855f7268edab4p-9, 0x1.af83440e53dbcp-11, \
    -0x1.0db20a88f4696p-19, -0x1.c77705ced8868p-14, 0x1.c12922cb7c26cp-15, -0x1.b0bdfcc629cbap-17, \
    0x1.6744476bd3c2cp-25, 0x1.7212f815cf659p-20, -0x1.53b89f8c03f84p-21, 0x1.33fdba4a68cf9p-23, \
    -0x1.f5839289e9a28p-33, -0x1.e5709ebf0ab5ap-27, 0x1.ad18f17348719p-28, -0x1.78a5056f8ce45p-30
#define TEMME_2_SLOPE \
    -0x1.5f7268edab4c8p-9, 0x1.948b0fcd6e9e0p-10, 0x1.948b0fcd6e9e1p-18, -0x1.c253efaa1a932p-12, \
    0x1.1578a68d91ef4p-12, -0x1.4121c426cb612p-14, 0x1.0152a1871f279p-22, 0x1.7058929663937p-17, \
    -0x1.7c72465b9fc33p-18, 0x1.7f57a231b48cdp-20, -0x1.35941f9efc72ap-29, -0x1.6b29672bb5386p-23, \
    0x1.5bcac85c7e3bep-24, -0x1.48ccd241d4112p-26

/* log(gamma(1 + a)), without cancellation near 0. */
static inline f64 ag_log_gamma_near_1_f64(f64 a)
{
    if (fabs_F(a) > 0.5) {
        return ag_log_gamma_f64(1.0 + a);
    }
    POLYNOMIAL(f64, p, a, LOG_GAMMA_SERIES);
    return a * p;
}

/* log((x / a)**a exp(a - x)), never positive, in two parts, for a >= 15. */
static inline f64 ag_exponent_of_gamma_f64(f64 a, f64 x, f64 *second)
{
    f64 d = 0;
    f64 d_low = 0;
    d = ag_two_sum_f64(x, -a, &d_low);
    f64 logarithm = 0;
    f64 logarithm_low = 0;
    if (fabs_F(d) < 0.3 * a) {
        const f64 m = d / a;
        f64 r = 0;
        f64 r_low = 0;
        r = ag_times_parts_f64(m, 0.0, a, 0.0, &r_low);
        const f64 m_low = (d - r - r_low + d_low) / a;
        logarithm = ag_log1p_parts_f64(m, m_low, &logarithm_low);
    }
    else {
        f64 p = 0;
        f64 p_low = 0;
        p = ag_log_in_parts_f64(x, 0.0, &p_low);
        f64 q = 0;
        f64 q_low = 0;
        q = ag_log_in_parts_f64(a, 0.0, &q_low);
        logarithm = ag_plus_parts_f64(p, p_low, -q, -q_low, &logarithm_low);
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_times_parts_f64(logarithm, logarithm_low, a, 0.0, &e_low);
    return ag_plus_parts_f64(e, e_low, -d, -d_low, second);
}

/* x**a exp(-x) / gamma(a + 1), within about 3 ulp where it is a normal number. */
static inline f64 ag_gamma_factor_f64(f64 a, f64 x)
{
    if (x > 1e-300) {
        const f64 quick = ag_short_gamma_factor_f64(a, x);
        if (quick > 0.0) {
            return quick;
        }
    }
    f64 e = 0;
    f64 e_low = 0;
    if (a >= 15.0) {
        e = ag_exponent_of_gamma_f64(a, x, &e_low);
        return ag_exp_parts_f64(e, e_low) * ag_exp_f64(-ag_stirling_f64(a)) / sqrt_F(0x1.921fb54442d18p+2 * a);
    }
    if (x < 1e-300) {
        return ag_exp_f64(a * ag_log_f64(x) - ag_log_gamma_f64(a + 1.0));
    }
    e = ag_log_in_parts_f64(x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, a, 0.0, &e_low);
    e = ag_plus_parts_f64(e, e_low, -x, 0.0, &e_low);
    f64 g = 0;
    f64 g_low = 0;
    g = ag_log_gamma_parts_f64(a, 0.0, &g_low);
    e = ag_plus_parts_f64(e, e_low, -g, -g_low, &e_low);
    return ag_exp_parts_f64(e, e_low) / a;
}

/* The sum of C_k(eta) a**-k, k = 0 ... 9, for a >= 20 and |eta| < 0.47. */
INLINE f64 ag_temme_sum_f64(f64 a, f64 eta)
{
    POLYNOMIAL(f64, c0, eta, TEMME_0);
    POLYNOMIAL_AGAIN(f64, c1, eta, TEMME_1);
    POLYNOMIAL_AGAIN(f64, c2, eta, TEMME_2);
    POLYNOMIAL_AGAIN(f64, c3, eta, TEMME_3);
    POLYNOMIAL_AGAIN(f64, c4, eta, TEMME_4);
    POLYNOMIAL_AGAIN(f64, c5, eta, TEMME_5);
    POLYNOMIAL_AGAIN(f64, c6, eta, TEMME_6);
    POLYNOMIAL_AGAIN(f64, c7, eta, TEMME_7);
    POLYNOMIAL_AGAIN(f64, c8, eta, TEMME_8);
    POLYNOMIAL_AGAIN(f64, c9, eta, TEMME_9);
    const f64 r = 1.0 / a;
    const f64 high = c5 + r * (c6 + r * (c7 + r * (c8 + r * c9)));
    return c0 + r * (c1 + r * (c2 + r * (c3 + r * (c4 + r * high))));
}

/* P(a, x) gamma(a + 1) exp(x) x**-a, a sum of positive terms (DLMF 8.7.1). */
static inline f64 ag_lower_series_f64(f64 a, f64 x)
{
    f64 term = 1.0;
    f64 total = 1.0;
    f64 low = 0.0;
    f64 n = a;
    while (term > 1e-17 * total) {
        n = n + 1.0;
        term = term * (x / n);
        f64 error = 0;
        total = ag_two_sum_f64(total, term, &error);
        low = low + error;
    }
    return total + low;
}

/* Q(a, x) gamma(a) exp(x) x**-a for x >= 0.6, x >= 1.5 a beyond a = 60: the continued fraction of DLMF 8.9.2. */
static inline f64 ag_upper_fraction_f64(f64 a, f64 x)
{
    f64 n = 0;
    if (a < 60.0) {
        f64 term = 1.0;
        f64 total = 0.0;
        f64 low = 0.0;
        f64 order = a;
        while (order >= 1.0 && term > 1e-17 * total) {
            f64 error = 0;
            total = ag_two_sum_f64(total, term, &error);
            low = low + error;
            order = order - 1.0;
            term = term * (order / x);
        }
        total = (total + low) / x;
        if (order >= 1.0 || order == 0.0) {
            return total;
        }
        f64 over = 1e-200 * x;
        f64 under = 1e-200;
        for (i32 k = (i32)(95.0 / x) + 12; k > 0; k--) {
            n = (f64)k;
            under = over + n * under;
            over = x * under + (n - order) * over;
        }
        return total + term * (under / over);
    }
    f64 rest = x + 37.0 - a;
    for (i32 k = 18; k > 0; k--) {
        n = (f64)k;
        rest = x + (2.0 * n - 1.0) - a + n * (a - n) / rest;
    }
    return 1.0 / rest;
}

/* (P(a, x), Q(a, x)): the smaller one is accurate, the other one is 1 less it. a > 0, x > 0, both finite. */
static inline f64 ag_incomplete_gamma_f64(f64 a, f64 x, f64 *second)
{
    f64 q = 0;
    f64 e = 0;
    f64 p = 0;
    if (a >= 20.0 && x > 0.62 * a && x < 1.5 * a) {
        f64 e_low = 0;
        e = ag_exponent_of_gamma_f64(a, x, &e_low);
        const f64 z = sqrt_F(-e - e_low);
        f64 eta = z * sqrt_F(2.0 / a);
        eta = x < a ? -eta : eta;
        const f64 size = ag_exp_parts_f64(e, e_low);
        const f64 rest = ag_temme_sum_f64(a, eta) / sqrt_F(0x1.921fb54442d18p+2 * a);
        if (x < a) {
            p = size * (0.5 * ag_erfcx_f64(z) - rest);
            *second = 1.0 - p;
            return p;
        }
        q = size * (0.5 * ag_erfcx_f64(z) + rest);
        *second = q;
        return 1.0 - q;
    }
    if (x < 0.6 && (x >= a || a < 0.4)) {
        e = a * ag_log_f64(x) - ag_log_gamma_near_1_f64(a);
        f64 term = 1.0;
        f64 total = 0.0;
        for (i32 k = 1; k < 30; k++) {
            term = term * (-x / (f64)k);
            total = total + term / (a + (f64)k);
            if (fabs_F(term) < 1e-18) {
                break;
            }
        }
        q = -ag_expm1_f64(e) - ag_exp_f64(e) * (a * total);
        if (q < 0.5) {
            *second = q;
            return 1.0 - q;
        }
        p = ag_exp_f64(e) * (1.0 + a * total);
        *second = q;
        return p;
    }
    if (x > 100000.0 && x > 4.0 * a) {
        *second = 0.0;
        return 1.0;
    }
    const f64 factor = ag_gamma_factor_f64(a, x);
    if (x < a - 0.3 || (x < 0.7 && x < a && a >= 0.4)) {
        p = factor * ag_lower_series_f64(a, x);
        *second = 1.0 - p;
        return p;
    }
    q = factor * a * ag_upper_fraction_f64(a, x);
    *second = q;
    return 1.0 - q;
}

/* The lower incomplete gamma function, regularized, within 8 ulp for a <= 1e6; NaN for negative operands. */
static inline f64 ag_gammainc_f64(f64 a, f64 x)
{
    if (a != a || x != x || a < 0.0 || x < 0.0) {
        return __builtin_nan("");
    }
    if (a == 0.0) {
        return x > 0.0 ? 1.0 : __builtin_nan("");
    }
    if (x == 0.0) {
        return 0.0;
    }
    if (a == __builtin_inf()) {
        return x == __builtin_inf() ? __builtin_nan("") : 0.0;
    }
    if (x == __builtin_inf()) {
        return 1.0;
    }
    f64 p = 0;
    if (a < 12.0 && x < a + 2.0 && x > 1e-300) {
        p = ag_gamma_factor_f64(a, x) * ag_lower_series_f64(a, x);
        return p < 1.0 ? p : 1.0;
    }
    f64 _q = 0;
    p = ag_incomplete_gamma_f64(a, x, &_q);
    return p;
}

/* The upper incomplete gamma function, regularized, within 8 ulp for a <= 1e6; NaN for negative operands. */
static inline f64 ag_gammaincc_f64(f64 a, f64 x)
{
    if (a != a || x != x || a < 0.0 || x < 0.0) {
        return __builtin_nan("");
    }
    if (a == 0.0) {
        return x > 0.0 ? 0.0 : __builtin_nan("");
    }
    if (x == 0.0) {
        return 1.0;
    }
    if (a == __builtin_inf()) {
        return x == __builtin_inf() ? __builtin_nan("") : 1.0;
    }
    if (x == __builtin_inf()) {
        return 0.0;
    }
    f64 q = 0;
    ag_incomplete_gamma_f64(a, x, &q);
    return q;
}

/* The derivative of P(a, x) by a for a >= 1000 and x in 0.62 a ... 1.5 a: that of the uniform expansion. The
   derivative of eta by a is -mu / (a eta), mu = x / a - 1, and that of a eta**2 / 2 is -log(1 + mu). */
INLINE f64 ag_temme_by_a_f64(f64 a, f64 x)
{
    f64 e = 0;
    f64 e_low = 0;
    e = ag_exponent_of_gamma_f64(a, x, &e_low);
    f64 eta = sqrt_F(-e - e_low) * sqrt_F(2.0 / a);
    eta = x < a ? -eta : eta;
    POLYNOMIAL(f64, c0, eta, TEMME_0);
    POLYNOMIAL_AGAIN(f64, c1, eta, TEMME_1);
    POLYNOMIAL_AGAIN(f64, c2, eta, TEMME_2);
    POLYNOMIAL_AGAIN(f64, c3, eta, TEMME_3);
    POLYNOMIAL_AGAIN(f64, c0_slope, eta, TEMME_0_SLOPE);
    POLYNOMIAL_AGAIN(f64, c1_slope, eta, TEMME_1_SLOPE);
    POLYNOMIAL_AGAIN(f64, c2_slope, eta, TEMME_2_SLOPE);
    const f64 ratio = 1.0 / (1.0 + eta * c0);
    const f64 logarithm = eta * ratio - 0.5 * eta * eta;
    const f64 r = 1.0 / a;
    const f64 total = c0 + r * (c1 + r * (c2 + r * c3));
    const f64 by_eta = c0_slope + r * (c1_slope + r * c2_slope);
    const f64 total_slope = -r * (ratio * by_eta + r * (c1 + r * (2.0 * c2 + r * (3.0 * c3))));
    const f64 size = ag_exp_parts_f64(e, e_low) / (0x1.40d931ff62705p+1 * sqrt_F(a));
    return size * (0.5 * eta - ratio - (logarithm - 0.5 * r) * total - total_slope);
}

/* The derivative of `gammainc` by a, within 8 ulp for a <= 300, and 32 ulp in the far upper tail. The series, term
   by term, whose slopes change their sign, in two parts; in that tail the continued fraction; near a large a
   the uniform expansion. */
static inline f64 ag_gammainc_by_a_f64(f64 a, f64 x)
{
    if (a != a || x != x || a <= 0.0 || x < 0.0) {
        return __builtin_nan("");
    }
    if (x == 0.0 || x == __builtin_inf() || a == __builtin_inf()) {
        return 0.0;
    }
    if (a >= 1000.0 && x > 0.62 * a && x < 1.5 * a) {
        return ag_temme_by_a_f64(a, x);
    }
    const f64 factor = ag_gamma_factor_f64(a, x);
    f64 n = 0;
    if (x < a + 6.0 + 4.5 * sqrt_F(a)) {
        f64 n_low = 0;
        n = ag_two_sum_f64(a, 1.0, &n_low);
        f64 slope = 0;
        f64 slope_low = 0;
        slope = ag_log_in_parts_f64(x, 0.0, &slope_low);
        f64 p = 0;
        f64 p_low = 0;
        p = ag_digamma_parts_f64(n, n_low, &p_low);
        slope = ag_plus_parts_f64(slope, slope_low, -p, -p_low, &slope_low);
        f64 term = 1.0;
        f64 term_low = 0.0;
        f64 total = slope;
        f64 total_low = slope_low;
        while (fabs_F(term * slope) > 1e-18 * fabs_F(total) || n < x) {
            p = ag_divided_parts_f64(1.0, 0.0, n, n_low, &p_low);
            slope = ag_plus_parts_f64(slope, slope_low, -p, -p_low, &slope_low);
            p = ag_times_parts_f64(p, p_low, x, 0.0, &p_low);
            term = ag_times_parts_f64(term, term_low, p, p_low, &term_low);
            p = ag_times_parts_f64(term, term_low, slope, slope_low, &p_low);
            total = ag_plus_parts_f64(total, total_low, p, p_low, &total_low);
            n = ag_plus_parts_f64(n, n_low, 1.0, 0.0, &n_low);
        }
        return factor * (total + total_low);
    }
    f64 b = x + 1.0 - a;
    f64 c = 1e+300;
    f64 c_slope = 0.0;
    f64 d = 1.0 / b;
    f64 d_slope = d * d;
    f64 h = d;
    f64 h_slope = d_slope;
    for (i32 k = 1; k < 20000; k++) {
        n = (f64)k;
        const f64 t = n * (a - n);
        b = b + 2.0;
        d_slope = -(n * d + t * d_slope - 1.0);
        d = 1.0 / (t * d + b);
        d_slope = d_slope * d * d;
        c_slope = -1.0 + n / c - t / c * (c_slope / c);
        c = b + t / c;
        const f64 step = c * d;
        h_slope = h_slope * step + h * (c_slope * d + c * d_slope);
        h = h * step;
        if (fabs_F(step - 1.0) < 1.2e-16) {
            break;
        }
    }
    return -factor * a * ((ag_log_f64(x) - ag_digamma_f64(a)) * h + h_slope);
}

/* One of Newton's steps from x for the logarithm of P(a, x), by its series, with a sum in two parts for log(x). */
static inline f64 ag_small_quantile_f64(f64 a, f64 p, f64 p_low, f64 x)
{
    if (p < 1e-300 || x < 1e-300) {
        return x;
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(p, p_low, &e_low);
    f64 g = 0;
    f64 g_low = 0;
    g = ag_log_gamma_parts_f64(a, 0.0, &g_low);
    e = ag_plus_parts_f64(e, e_low, g, g_low, &e_low);
    g = ag_log_in_parts_f64(a, 0.0, &g_low);
    e = ag_plus_parts_f64(e, e_low, g, g_low, &e_low);
    f64 term = a;
    f64 rest = 0.0;
    for (i32 k = 1; k < 30; k++) {
        term = term * (-x / (f64)k);
        rest = rest + term / (a + (f64)k);
        if (fabs_F(term) < 1e-18 * a) {
            break;
        }
    }
    e = ag_plus_parts_f64(e, e_low, -ag_log1p_f64(rest), 0.0, &e_low);
    e = ag_divided_parts_f64(e, e_low, a, 0.0, &e_low);
    g = ag_log_in_parts_f64(x, 0.0, &g_low);
    e = ag_plus_parts_f64(e, e_low, -g, -g_low, &e_low);
    return x + x * ag_expm1_f64(e * (1.0 + rest) * ag_exp_f64(x));
}

/* x with P(a, x) = p + p_low and Q(a, x) = q = 1 - p - p_low, by at most 40 of Halley's steps, kept between
   bounds. The equation is solved for the logarithm of the smaller of both, in log(x). The start is by E. B.
   Wilson and M. M. Hilferty (1931), or by the first term of the series. */
static inline f64 ag_gamma_quantile_f64(f64 a, f64 p, f64 p_low, f64 q)
{
    const f64 small = p <= q ? p : q;
    const f64 lower = p <= q;
    f64 x = 0.0;
    if (a >= 1.0) {
        const f64 z = lower ? ag_ndtri_f64(p) : -ag_ndtri_f64(q);
        const f64 r = 1.0 / (9.0 * a);
        const f64 t = 1.0 - r + z * sqrt_F(r);
        x = a * t * t * t;
    }
    if (a < 1.0 || x < 0.1 * a) {
        x = p > 0.0 ? ag_exp_f64((ag_log_f64(p) + ag_log_gamma_near_1_f64(a)) / a) : 0.0;
        if (a < 1.0 && p > 0.75) {
            x = -ag_log_f64(q) - ag_log_gamma_f64(a);
            x = x > 1.0 ? x + (a - 1.0) * ag_log_f64(x) : 1.0;
        }
    }
    if (x < 1e-17 * (a + 1.0)) {
        return ag_small_quantile_f64(a, p, p_low, x);
    }
    f64 low = 0.0;
    f64 high = __builtin_inf();
    for (i32 _ = 0; _ < 40; _++) {
        f64 got_p = 0;
        f64 got_q = 0;
        got_p = ag_incomplete_gamma_f64(a, x, &got_q);
        const f64 got = lower ? got_p : got_q;
        const f64 above = lower ? got > small : got < small;
        if (above) {
            high = x;
        }
        else {
            low = x;
        }
        const f64 density = ag_gamma_factor_f64(a, x) * (a / x);
        if (got <= 0.0 || density <= 0.0) {
            x = high < __builtin_inf() ? 0.5 * (low + high) : 2.0 * x;
            continue;
        }
        const f64 ratio = got / small;
        f64 step = got / density * (ratio < 0.5 || ratio > 2.0 ? ag_log_f64(ratio) : ag_log1p_f64((got - small) /
            small));
        step = lower ? step : -step;
        const f64 bend = 0.5 * step * ((a - 1.0) / x - 1.0 + (lower ? -density / got : density / got));
        f64 better = x - step / (1.0 - (bend > 0.5 ? 0.5 : bend < -0.5 ? -0.5 : bend));
        if (fabs_F(better - x) <= 4e-16 * x) {
            x = better;
            break;
        }
        if (!(better > low && better < high)) {
            better = high < __builtin_inf() ? 0.5 * (low + high) : 2.0 * x;
        }
        const f64 moved = fabs_F(better - x);
        x = better;
        if (moved <= 2e-16 * x || high - low <= 2.3e-16 * x || (fabs_F(bend) < 3e-06 && moved < 1e-06 * x)) {
            break;
        }
    }
    return a < 0.7 && x < 0.7 && (lower || a > 1e-09) ? ag_small_quantile_f64(a, p, p_low, x) : x;
}

/* The inverse of `gammainc` by x, in at most 40 steps; as accurate as p lets it be, and within 8 ulp of that. */
static inline f64 ag_gammaincinv_f64(f64 a, f64 p)
{
    if (a != a || p != p || a < 0.0 || p < 0.0 || p > 1.0) {
        return __builtin_nan("");
    }
    if (p == 0.0 || p == 1.0) {
        return p == 1.0 ? __builtin_inf() : 0.0;
    }
    if (a == 0.0 || a == __builtin_inf()) {
        return __builtin_nan("");
    }
    return ag_gamma_quantile_f64(a, p, 0.0, 1.0 - p);
}

/* The inverse of `gammaincc` by x, in at most 40 steps; as accurate as q lets it be, and within 8 ulp of that. */
static inline f64 ag_gammainccinv_f64(f64 a, f64 q)
{
    if (a != a || q != q || a < 0.0 || q < 0.0 || q > 1.0) {
        return __builtin_nan("");
    }
    if (q == 0.0 || q == 1.0) {
        return q == 0.0 ? __builtin_inf() : 0.0;
    }
    if (a == 0.0 || a == __builtin_inf()) {
        return __builtin_nan("");
    }
    f64 p = 0;
    f64 p_low = 0;
    p = ag_two_sum_f64(1.0, -q, &p_low);
    return ag_gamma_quantile_f64(a, p, p_low, q);
}

/* The sum of (q + k)**-s for k = 0, 1, ..., s > 1, by Euler and Maclaurin's formula (DLMF 25.11.5). */
static inline f64 ag_hurwitz_zeta_f64(f64 s, f64 q)
{
    static const f64 ZETA_TAIL[] = {
        0x1.5555555555555p-4, -0x1.6c16c16c16c17p-10, 0x1.1566abc011567p-15, -0x1.bbd779334ef0bp-21,
        0x1.66a8f2bf70ebep-26, -0x1.22805d644267fp-31, 0x1.d6db2c4e09162p-37, -0x1.7da4e1f79955cp-42,
        0x1.355871d652e9ep-47, -0x1.f57d968caacf1p-53};
    f64 total = 0.0;
    f64 end = q;
    while (end < 9.0 + s) {
        const f64 term = pow_F(end, -s);
        total = total + term;
        end = end + 1.0;
        if (term <= 1e-18 * total) {
            return total;
        }
    }
    const f64 last = pow_F(end, -s);
    if (last <= 1e-18 * total) {
        return total;
    }
    f64 series = 0.5;
    f64 factor = s / end;
    for (i32 k = 0; k < 10; k++) {
        series = series + ZETA_TAIL[k] * factor;
        factor = factor * ((s + (f64)(2 * k + 1)) / end * ((s + (f64)(2 * k + 2)) / end));
    }
    return total + last * (end / (s - 1.0) + series);
}

/* Hurwitz' zeta function, within 8 ulp for q > 0; infinite at s = 1 and at the poles q = 0, -1, ...; NaN for s <
   1. For a negative q that is no integer, s must be an integer. */
static inline f64 ag_zeta_f64(f64 s, f64 q)
{
    if (s != s || q != q || s < 1.0) {
        return __builtin_nan("");
    }
    if (s == 1.0) {
        return __builtin_inf();
    }
    if (q == __builtin_inf()) {
        return 0.0;
    }
    if (q <= 0.0) {
        if (q == floor_F(q)) {
            return __builtin_inf();
        }
        if (s != floor_F(s)) {
            return __builtin_nan("");
        }
        f64 total = 0.0;
        while (q < 0.0 && q > -1000000.0) {
            total = total + pow_F(q, -s);
            q = q + 1.0;
        }
        return q < 0.0 ? __builtin_nan("") : total + ag_hurwitz_zeta_f64(s, q);
    }
    if (s == __builtin_inf()) {
        return q < 1.0 ? __builtin_inf() : q == 1.0 ? 1.0 : 0.0;
    }
    if (q > 100000000.0) {
        return (1.0 / (s - 1.0) + 1.0 / (2.0 * q)) * pow_F(q, 1.0 - s);
    }
    return ag_hurwitz_zeta_f64(s, q);
}
