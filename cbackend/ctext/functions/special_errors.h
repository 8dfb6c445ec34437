/* The error functions and the normal distribution: scaled, inverse, logarithmic; Owen's T, Dawson's and Voigt's.

   Written by ../translated.py from ops/special/errors.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define ERFCX_SERIES \
    0x1.40c522d7e4987p+0, -0x1.15c084bb9e8f2p-3, -0x1.85a15c58aa5e6p-5, 0x1.098366a5b466cp-3, \
    -0x1.e88b803a49228p-4, 0x1.17ca2877f2532p-4, -0x1.8574c40bd189cp-6, 0x1.4b884e41eebcbp-9, \
    0x1.ef1bdd4ca47a3p-10, -0x1.98db50d72f6fdp-11, -0x1.b91279aaf4f8dp-14, 0x1.065a34115a389p-13, \
    0x1.4c2781340ddffp-18, -0x1.513b482a54a1dp-16, -0x1.88ba0a324beaap-21, 0x1.d20f41dbcb1c9p-19, \
    0x1.7f26fd7caec6cp-22, -0x1.4b0fad3f74c42p-21, -0x1.3015c7bf14f85p-23, 0x1.b58741910ab39p-24, \
    0x1.67206d83c9b4dp-25, -0x1.c9e3f1cd92f5bp-27, -0x1.24124a7979a5cp-27, 0x1.0fbd1ff90e1c8p-30, \
    0x1.e750cac4778d3p-31
#define ERFINV_CENTRE \
    0x1.d1cd069f7f97ep-1, 0x1.4ed3b80ab4531p-6, -0x1.b7e2a3b13eae8p-9, -0x1.3a91dd83fbb48p-16, \
    0x1.a1edb4605b7c7p-13, -0x1.7a12bbff05c84p-15, -0x1.7c406e9be7ecbp-18, 0x1.656f11709c0e2p-18, \
    -0x1.8ce55d8ac7799p-21, -0x1.6fc9fc1b363acp-22, 0x1.52106310ae25dp-23, -0x1.7cb0d770f63a3p-29, \
    -0x1.13897292e37a3p-26, 0x1.22d2522f974a1p-28, 0x1.90eb73e77662ap-31, -0x1.5bd54d3f317d8p-31, \
    0x1.138ab319b4e37p-34, 0x1.928fdf11fe0f3p-35, -0x1.a862b39acceb8p-37
#define ERFINV_MIDDLE \
    0x1.ec38b0e5fcee2p-1, 0x1.6a4d475e94bdap-6, -0x1.2faed5e7f1f7ap-7, 0x1.912cfa782b668p-9, \
    -0x1.4e8dcf65295b0p-11, -0x1.d8357112bb966p-14, 0x1.feabbbb698e21p-13, -0x1.92b0fa19c6d4fp-13, \
    0x1.dacc31f31db65p-14, -0x1.ab67be90cfe79p-15, 0x1.8f16e7c89ffaap-17, 0x1.f6c107b543326p-18, \
    -0x1.b11811dfb1e8cp-17, 0x1.5aad1427b42cap-17, -0x1.5472527f79440p-18, 0x1.7f3a6368a3174p-21, \
    0x1.7e18d49fc86a8p-20, -0x1.bea3eceb392b2p-20, 0x1.e20ce9ca568b1p-21, -0x1.5d3ab6a1c2a15p-24, \
    -0x1.5adc100116e3ap-23, 0x1.abd96dd286ddep-25, -0x1.4370cb160fc3bp-24, 0x1.2408d02643258p-23, \
    -0x1.a466a86c42ab1p-26, -0x1.1b0775c7a5902p-24, 0x1.e6026862280d7p-26, 0x1.3b810e6dfec52p-27, \
    -0x1.6b01be0ac2157p-28
#define ERFINV_FAR \
    0x1.fd890f488194bp-1, 0x1.59a10a5a1b790p-8, -0x1.27d274cdbc0e2p-8, 0x1.cb91d20a79c31p-9, \
    -0x1.52b52fa90e28bp-9, 0x1.e2c271d82a7dfp-10, -0x1.4fe22d9a719cfp-10, 0x1.cac8cf101f84cp-11, \
    -0x1.348bd5b23a03fp-11, 0x1.9974a4eba039bp-12, -0x1.0c528242492e9p-12, 0x1.5b707c2de2ccdp-13, \
    -0x1.bc756cf21e4efp-14, 0x1.190d60636823ap-14, -0x1.5dffeedda71c7p-15, 0x1.a15b96d4e59d4p-16, \
    -0x1.f3f13d41ed14bp-17, 0x1.9f470cec21171p-17, -0x1.f008fac44425ap-18, -0x1.65736a592bca9p-17, \
    0x1.01378a00bab86p-17, 0x1.5c6ed8471477bp-15, -0x1.d2e094779f212p-16, -0x1.955bfd517c720p-14, \
    0x1.1245a959b896dp-14, 0x1.737736005b152p-13, -0x1.f5cd5480b26b7p-14, -0x1.087e3c94e028cp-12, \
    0x1.6596f39b113dfp-13, 0x1.20a28bc1bd3a8p-12, -0x1.864b543aea025p-13, -0x1.dbfbdf3ef78bdp-13, \
    0x1.41f82ab5e4d19p-13, 0x1.1ec315d390b4ap-13, -0x1.841e2e3dd2160p-14, -0x1.def31681ac6dap-15, \
    0x1.445260b2671eep-15, 0x1.f11ca851b26c4p-17, -0x1.50dd176aec3a6p-17, -0x1.eb624934b2138p-20, \
    0x1.4d67340bbbbfcp-20
#define TAIL_SERIES \
    -1.0, 2.5, -0x1.8aaaaaaaaaaabp+3, 88.25, -816.2
#define DAWSON_1 \
    0x1.731629848fb3fp-1, -0x1.cc58a6123ecfap-3, 0x1.6509f236bc6efp-5, -0x1.9121715494794p-8, \
    0x1.60bbf8eec052cp-11, -0x1.fd46b117cbf3fp-15, 0x1.37b5d42106824p-18, -0x1.4b20137fe0fc3p-22, \
    0x1.36a3f5ef3cb93p-26, -0x1.04e8f489fa0eep-30, 0x1.8cb924c95f4a4p-35, -0x1.137b6c7bff457p-39, \
    0x1.601415e6e6583p-44, -0x1.a2784332f3b7cp-49, 0x1.ccffc7582840ap-54
#define DAWSON_2 \
    0x1.b686ecab6aaa9p-2, -0x1.2394c6023fffcp-3, -0x1.27c3a80aaafd8p-12, 0x1.8715e4a86aaaep-6, \
    -0x1.2428a7d64553ep-7, 0x1.2dc6fa398919bp-12, 0x1.5fd2ab2bd4f46p-11, -0x1.58ac6d526c10bp-13, \
    -0x1.754564b671c77p-17, 0x1.70969ca6d57f5p-17, -0x1.24ff60aed025dp-20, -0x1.784fc94b54246p-22, \
    0x1.7f7cd671a9acep-24, 0x1.b4ab6fe541d58p-29, -0x1.e50fea2bff783p-29, 0x1.0f76163021cf5p-32, \
    0x1.7f62e2fa346ccp-34, -0x1.051e870404634p-36, -0x1.510f979c8052fp-40, 0x1.e7f9b8ff1a92ap-42
#define DAWSON_3 \
    0x1.b283a0efc956cp-3, -0x1.fb897216ef6dep-5, 0x1.4c1d428abba49p-6, -0x1.971fe7d7a74e5p-8, \
    0x1.39bd5b63353abp-10, 0x1.35d782d7e72d4p-13, -0x1.ce4ecef87506bp-13, 0x1.5c6022b32bd03p-14, \
    -0x1.a53556b5d057ap-17, -0x1.33c408fe7f837p-19, 0x1.b2a96ef2544f8p-20, -0x1.4bfc8b88c9e3fp-22, \
    -0x1.2009aa6b746fcp-26, 0x1.6b53d7f39bfa6p-26, -0x1.08a0901fe453ap-28, -0x1.d82441ef3f211p-33, \
    0x1.d92bb4b05d42fp-33, -0x1.078397528dc27p-35, -0x1.e3dc1708f281ep-39, 0x1.a785660c8c3f6p-40, \
    -0x1.b4eeb34f23c9ap-44
#define DAWSON_4 \
    0x1.f6d40b9fa712ap-4, -0x1.ff07ecf4540c7p-6, 0x1.0e089ca0bc9fdp-7, -0x1.2ae0d968a2665p-9, \
    0x1.5e4f0a02a2a34p-11, -0x1.b940e85570054p-13, 0x1.2d5a6fd70e176p-14, -0x1.b5ea89664e055p-16, \
    0x1.3ceada75d35b8p-17, -0x1.94a404a895867p-19, 0x1.59750449e19fep-21, 0x1.e7b297a612b73p-25, \
    -0x1.3ba70af80ead2p-23, 0x1.7264a448da9f0p-24, -0x1.0816e61554097p-25, 0x1.8946adf311335p-28, \
    0x1.cbbda5ff5fe39p-31, -0x1.2c20f7d1e1b8cp-30, 0x1.cd1a601dbf2e9p-32, -0x1.254663a4c4f3cp-34, \
    -0x1.19d8f5e3a5417p-36, 0x1.8b42c7abc936fp-37, -0x1.11a97a686c44fp-39
#define DAWSON_FAR \
    0x1.026f8e1e9cb0ap+0, 0x1.410ae74c1f01ep-7, 0x1.37cf3f1b70370p-12, 0x1.07dbb3503597dp-16, \
    0x1.47f6e813571bcp-20, 0x1.14192e730b10bp-23, 0x1.2cdc175a1e98bp-26, 0x1.9d0a1137fd195p-29, \
    0x1.5fe7397f040e5p-31, 0x1.73675542f8630p-33, 0x1.e6b0da4ace880p-35, 0x1.7a1c19a9721b6p-36, \
    0x1.a209dd3958da1p-37, 0x1.8b689d09bc470p-37, 0x1.8a2bff0a1aa97p-38, -0x1.4f36e8b403891p-38, \
    -0x1.ab85c16ff9ce6p-38, -0x1.3fb689b699486p-47, 0x1.f804d830b1f2bp-40, 0x1.6ef087de4330dp-43, \
    -0x1.da39807da6bb1p-43

/* exp(x**2) erfc(x), within 8 ulp; infinite below -26.6. */
INLINE f64 ag_erfcx_f64(f64 x)
{
    f64 a = fabs_F(x);
    a = a > 8e+307 ? 8e+307 : a;
    const f64 t = (a - 3.0) / (a + 3.0);
    POLYNOMIAL(f64, p, t, ERFCX_SERIES);
    const f64 positive = p / (1.0 + 2.0 * a);
    const f64 square = x * x;
    const f64 low = __builtin_fma(x, x, -square);
    const f64 e = ag_exp_f64(square);
    const f64 negative = square > 709.8 ? __builtin_inf() : 2.0 * (e + e * low) - positive;
    return x != x ? x : x < 0.0 ? negative : x == __builtin_inf() ? 0.0 : positive;
}

/* exp(-x**2), the square of which is not rounded. */
INLINE f64 ag_gaussian_f64(f64 x)
{
    const f64 square = x * x;
    const f64 low = __builtin_fma(x, x, -square);
    const f64 e = ag_exp_f64(-square);
    return square > 750.0 ? 0.0 : e - e * low;
}

/* exp(-x**2 / 2), the square of which is not rounded. */
INLINE f64 ag_half_gaussian_f64(f64 x)
{
    const f64 square = x * x;
    const f64 low = __builtin_fma(x, x, -square);
    const f64 e = ag_exp_f64(-0.5 * square);
    return square > 1500.0 ? 0.0 : e - e * (0.5 * low);
}

/* The normal distribution function, within 8 ulp. */
INLINE f64 ag_ndtr_f64(f64 x)
{
    f64 a = fabs_F(x) * 0x1.6a09e667f3bcdp-1;
    a = a > 10000000000.0 ? 10000000000.0 : a;
    const f64 t = (a - 3.0) / (a + 3.0);
    POLYNOMIAL(f64, p, t, ERFCX_SERIES);
    const f64 tail = ag_half_gaussian_f64(fabs_F(x)) * (p / (1.0 + 2.0 * a)) * 0.5;
    return x != x ? x : x > 0.0 ? 1.0 - tail : tail;
}

/* The logarithm of `ndtr`, within 8 ulp; below -1 by `erfcx`, without underflow. */
INLINE f64 ag_log_ndtr_f64(f64 x)
{
    f64 a = fabs_F(x) * 0x1.6a09e667f3bcdp-1;
    a = a > 8e+307 ? 8e+307 : a;
    const f64 t = (a - 3.0) / (a + 3.0);
    POLYNOMIAL(f64, p, t, ERFCX_SERIES);
    const f64 scaled_tail = p / (1.0 + 2.0 * a) * 0.5;
    const f64 tail = ag_half_gaussian_f64(fabs_F(x)) * scaled_tail;
    const f64 near = x > 0.0 ? ag_log1p_f64(-tail) : ag_log_f64(tail);
    const f64 far = ag_log_f64(scaled_tail) - 0.5 * x * x;
    return x != x ? x : x < -1.0 ? far : near;
}

/* y >= 0 where erfc(y) (2 - erfc(y)) is exp(-w). */
INLINE f64 ag_inverse_tail_f64(f64 w)
{
    w = w > 760.0 ? 760.0 : w;
    const f64 s = sqrt_F(w);
    const f64 u = 0.4 * w - 1.0;
    const f64 v = (s - 0x1.078dde6e5fd2ap+2) * 0x1.100e50f610555p-1;
    const f64 z = (s - 16.75) * 0x1.6c16c16c16c17p-4;
    POLYNOMIAL(f64, near, u, ERFINV_CENTRE);
    POLYNOMIAL(f64, middle, v, ERFINV_MIDDLE);
    POLYNOMIAL(f64, far, z, ERFINV_FAR);
    return s * (w <= 5.0 ? near : s <= 6.0 ? middle : far);
}

/* The inverse of the error function, within 4 ulp; NaN outside [-1, 1]. */
INLINE f64 ag_erfinv_f64(f64 x)
{
    const f64 a = fabs_F(x);
    const f64 w = a < 0.5 ? -ag_log1p_f64(-a * a) : -ag_log_f64((1.0 - a) * (1.0 + a));
    f64 y = ag_inverse_tail_f64(w);
    y = a < 1e-08 ? 0x1.c5bf891b4ef6bp-1 * a : y;
    return x != x ? x : a > 1.0 ? __builtin_nan("") : copysign_F(a == 1.0 ? __builtin_inf() : y, x);
}

/* The inverse of erfc, within 4 ulp; NaN outside [0, 2]. */
INLINE f64 ag_erfcinv_f64(f64 p)
{
    const f64 q = p < 1.0 ? p : 2.0 - p;
    const f64 r = 1.0 - p;
    const f64 w = q > 0.5 ? -ag_log1p_f64(-r * r) : q < 1e-300 ? -ag_log_f64(q) - ag_log_f64(2.0 - q) : -ag_log_f64(q
        * (2.0 - q));
    f64 y = ag_inverse_tail_f64(w);
    y = fabs_F(r) < 1e-08 ? 0x1.c5bf891b4ef6bp-1 * fabs_F(r) : y;
    y = q == 0.0 ? __builtin_inf() : y;
    return p != p ? p : q < 0.0 ? __builtin_nan("") : p < 1.0 ? y : -y;
}

/* The inverse of `ndtr`, within 5 ulp; NaN outside [0, 1]. */
INLINE f64 ag_ndtri_f64(f64 p)
{
    const f64 q = p < 0.5 ? p : 1.0 - p;
    const f64 r = 1.0 - 2.0 * p;
    const f64 w = q > 0.25 ? -ag_log1p_f64(-r * r) : -ag_log_f64(4.0 * q) - ag_log1p_f64(-q);
    f64 y = ag_inverse_tail_f64(w);
    y = fabs_F(r) < 1e-08 ? 0x1.c5bf891b4ef6bp-1 * fabs_F(r) : y;
    y = q == 0.0 ? __builtin_inf() : 0x1.6a09e667f3bcdp+0 * y;
    return p != p ? p : q < 0.0 ? __builtin_nan("") : p < 0.5 ? -y : y;
}

/* The inverse of `log_ndtr`, within 8 ulp; two of Newton's steps for the square of a far quantile. */
INLINE f64 ag_ndtri_exp_f64(f64 y)
{
    const f64 b = y > -700.0 ? y : -700.0;
    const f64 below = b < -0x1.62e42fefa39efp-1;
    const f64 p = ag_exp_f64(b);
    const f64 q = -ag_expm1_f64(b);
    const f64 r = -ag_expm1_f64(b + 0x1.62e42fefa39efp-1 + 0x1.abc9e3b39803fp-56);
    const f64 is_tail = p < 0.25 || q < 0.25;
    const f64 part = ag_log1p_f64(below && is_tail ? -p : -r * r);
    const f64 rest = below ? b + 2.0 * 0x1.62e42fefa39efp-1 : b + ag_log_f64(4.0 * q);
    const f64 w = below && is_tail ? -rest - part : is_tail ? -rest : -part;
    f64 near = 0x1.6a09e667f3bcdp+0 * ag_inverse_tail_f64(w);
    near = fabs_F(r) < 1e-08 ? 0x1.40d931ff62706p+0 * fabs_F(r) : near;
    f64 t = -2.0 * (y < -700.0 ? y : -700.0) - 0x1.d67f1c864beb4p+0;
    t = t < 1e+308 ? t : 1e+308;
    f64 z = t - ag_log_f64(t);
    const f64 near_0 = 1.0 / z;
    POLYNOMIAL(f64, rest_0, near_0, TAIL_SERIES);
    z = z - (z + ag_log_f64(z) - 2.0 * (near_0 * rest_0) - t) / (1.0 + near_0);
    const f64 near_1 = 1.0 / z;
    POLYNOMIAL(f64, rest_1, near_1, TAIL_SERIES);
    z = z - (z + ag_log_f64(z) - 2.0 * (near_1 * rest_1) - t) / (1.0 + near_1);
    const f64 found = y < -700.0 ? -sqrt_F(z) : below ? -near : near;
    return y != y || y > 0.0 ? __builtin_nan("") : y == 0.0 ? __builtin_inf() : y == -__builtin_inf() ? y : found;
}

/* Dawson's integral exp(-x**2) times the integral of exp(t**2) from 0 to x, within 8 ulp: Chebyshev fits. */
static inline f64 ag_dawsn_f64(f64 x)
{
    const f64 a = fabs_F(x);
    if (a < 1.0) {
        const f64 u = 2.0 * (a * a) - 1.0;
        POLYNOMIAL(f64, near, u, DAWSON_1);
        return x * near;
    }
    if (a < 2.0) {
        const f64 v = 2.0 * a - 3.0;
        POLYNOMIAL(f64, first, v, DAWSON_2);
        return copysign_F(first, x);
    }
    if (a < 3.2) {
        const f64 w = (a - 2.6) / 0.6;
        POLYNOMIAL(f64, second, w, DAWSON_3);
        return copysign_F(second, x);
    }
    if (a < 5.2) {
        const f64 y = a - 4.2;
        POLYNOMIAL(f64, third, y, DAWSON_4);
        return copysign_F(third, x);
    }
    const f64 inverse = 1.0 / a;
    const f64 z = 54.08 * (inverse * inverse) - 1.0;
    POLYNOMIAL(f64, p, z, DAWSON_FAR);
    return x != x ? x : copysign_F(0.5 * inverse * p, x);
}

/* The residue of both functions below: 2 exp(-z**2) / (1 - exp(-2 pi i (z / h - shift))), z = a + i y, h = 1/2. */
INLINE f64 ag_voigt_residue_f64(f64 a, f64 y, i32 is_halves, f64 *second)
{
    const f64 angle = -2.0 * 0x1.921fb54442d18p+1 * (2.0 * a - rint_F(2.0 * a));
    f64 growth = ag_exp_f64(4.0 * 0x1.921fb54442d18p+1 * y);
    growth = is_halves ? -growth : growth;
    const f64 re = 1.0 - growth * ag_cos_f64(angle);
    const f64 im = -growth * ag_sin_f64(angle);
    const f64 size = 2.0 * ag_exp_f64((y - a) * (y + a)) / (re * re + im * im);
    const f64 phase = 2.0 * a * y;
    const f64 c = ag_cos_f64(phase);
    const f64 s = ag_sin_f64(phase);
    *second = -size * (s * re + c * im);
    return size * (c * re - s * im);
}

/* Whether 2 a is within 1/4 of a whole number: nodes of the rule are whole numbers and a half then. */
INLINE f64 ag_is_near_node_f64(f64 a)
{
    return fabs_F(2.0 * a - rint_F(2.0 * a)) < 0.25;
}

/* Faddeeva's function at x + i y by its power series, of i z / gamma (DLMF 7.6.3), for |z| <= 0.6. */
static inline f64 ag_faddeeva_series_f64(f64 x, f64 y, f64 *second)
{
    static const f64 FADDEEVA_SERIES[] = {
        1.0, 0x1.20dd750429b6dp+0, 1.0, 0x1.812746b0379e7p-1, 0.5, 0x1.341f6bc02c7ecp-2, 0x1.5555555555555p-3,
        0x1.6023e8dba090dp-4, 0x1.5555555555555p-5, 0x1.390379a6c79d3p-6, 0x1.1111111111111p-7,
        0x1.c74adf7e399edp-9, 0x1.6c16c16c16c17p-10, 0x1.182e13615e892p-11, 0x1.a01a01a01a01ap-13,
        0x1.2adbd067dc4e0p-14, 0x1.a01a01a01a01ap-16, 0x1.19475abc1aa3cp-17, 0x1.71de3a556c734p-19,
        0x1.d9bb8b57c113dp-21, 0x1.27e4fb7789f5cp-22, 0x1.68f06a2a7ab9cp-24, 0x1.ae64567f544e4p-26,
        0x1.f62d19463b71cp-28, 0x1.1eed8eff8d898p-29, 0x1.41648b0e3a864p-31, 0x1.6124613a86d09p-33,
        0x1.7ce8f0a89136dp-35, 0x1.93974a8c07c9dp-37, 0x1.a4507c5012febp-39};
    f64 re = 0.0;
    f64 im = 0.0;
    for (i32 k = 29; k > -1; k--) {
        const f64 t = FADDEEVA_SERIES[k] - re * y - im * x;
        im = re * x - im * y;
        re = t;
    }
    *second = im;
    return re;
}

/* The real part of Faddeeva's function at x + i y, y > 0, within 8 ulp. The trapezoidal rule for (y / pi) integral
   exp(-t**2) / ((x - t)**2 + y**2) with the residue of its pole: F. Matta and A. Reichel, "Uniform computation
   of the error function and other related functions", 1971. */
static inline f64 ag_voigt_real_f64(f64 x, f64 y)
{
    static const f64 VOIGT_HALVES[] = {
        0x1.e0fabfbc702a4p-1, 0x1.23ba930c1568bp-1, 0x1.ad48bc25771c7p-3, 0x1.7f251ab1af77bp-5,
        0x1.9ed300c108a17p-8, 0x1.1068222437d65p-11, 0x1.b1fea4fbb871ap-16, 0x1.a3604afdb0929p-21,
        0x1.eb97d4afc3bd3p-27, 0x1.5d82c26ce1c09p-33, 0x1.2d7026e60ab5ep-40, 0x1.3b5e5c86b9440p-48,
        0x1.903daec8f0fb0p-57, 0x1.3416fe652236ep-66};
    static const f64 VOIGT_WHOLES[] = {
        0x1.8ebef9eac820bp-1, 0x1.78b56362cef38p-2, 0x1.afb718e8457f7p-4, 0x1.2c155b8213cf4p-6,
        0x1.fa0e9586aebc7p-10, 0x1.02cf22526545ap-13, 0x1.411fb0da07713p-18, 0x1.e355bbaee85cbp-24,
        0x1.b93de1e27ca3bp-30, 0x1.e8a37a45fc32ep-37, 0x1.4835bd010a41bp-44, 0x1.0b6c3afdde064p-52,
        0x1.0851945bd91fcp-61, 0x1.3ce9b9de78f85p-71};
    const f64 a = fabs_F(x);
    const f64 square = a * a + y * y;
    if (a == __builtin_inf() || y == __builtin_inf()) {
        return x != x || y != y ? __builtin_nan("") : 0.0;
    }
    if (square < 0.36) {
        f64 re = 0;
        f64 _im = 0;
        re = ag_faddeeva_series_f64(a, y, &_im);
        return re;
    }
    const f64 halves = ag_is_near_node_f64(a);
    f64 total = 0.0;
    for (i32 k = 13; k > -1; k--) {
        const f64 t = 0.5 * (f64)k + (halves ? 0.25 : 0.5);
        const f64 weight = halves ? VOIGT_HALVES[k] : VOIGT_WHOLES[k];
        const f64 near = (a - t) * (a - t) + y * y;
        const f64 far = (a + t) * (a + t) + y * y;
        total = total + weight * ((square + t * t) / (near * far));
    }
    total = halves ? total : total + 0.5 / square;
    const f64 result = y / 0x1.921fb54442d18p+1 * total;
    if (y >= 2.0 * 0x1.921fb54442d18p+1) {
        return result;
    }
    f64 residue = 0;
    f64 _imaginary = 0;
    residue = ag_voigt_residue_f64(a, y, halves, &_imaginary);
    return result + residue;
}

/* The imaginary part of Faddeeva's function at x + i y, y > 0, by the same rule, within 8 ulp. */
static inline f64 ag_voigt_imag_f64(f64 x, f64 y)
{
    static const f64 VOIGT_HALVES[] = {
        0x1.e0fabfbc702a4p-1, 0x1.23ba930c1568bp-1, 0x1.ad48bc25771c7p-3, 0x1.7f251ab1af77bp-5,
        0x1.9ed300c108a17p-8, 0x1.1068222437d65p-11, 0x1.b1fea4fbb871ap-16, 0x1.a3604afdb0929p-21,
        0x1.eb97d4afc3bd3p-27, 0x1.5d82c26ce1c09p-33, 0x1.2d7026e60ab5ep-40, 0x1.3b5e5c86b9440p-48,
        0x1.903daec8f0fb0p-57, 0x1.3416fe652236ep-66};
    static const f64 VOIGT_WHOLES[] = {
        0x1.8ebef9eac820bp-1, 0x1.78b56362cef38p-2, 0x1.afb718e8457f7p-4, 0x1.2c155b8213cf4p-6,
        0x1.fa0e9586aebc7p-10, 0x1.02cf22526545ap-13, 0x1.411fb0da07713p-18, 0x1.e355bbaee85cbp-24,
        0x1.b93de1e27ca3bp-30, 0x1.e8a37a45fc32ep-37, 0x1.4835bd010a41bp-44, 0x1.0b6c3afdde064p-52,
        0x1.0851945bd91fcp-61, 0x1.3ce9b9de78f85p-71};
    const f64 a = fabs_F(x);
    const f64 square = a * a + y * y;
    if (square < 0.36) {
        f64 im = 0;
        ag_faddeeva_series_f64(x, y, &im);
        return im;
    }
    const f64 halves = ag_is_near_node_f64(a);
    f64 total = 0.0;
    for (i32 k = 13; k > -1; k--) {
        const f64 t = 0.5 * (f64)k + (halves ? 0.25 : 0.5);
        const f64 weight = halves ? VOIGT_HALVES[k] : VOIGT_WHOLES[k];
        const f64 near = (a - t) * (a - t) + y * y;
        const f64 far = (a + t) * (a + t) + y * y;
        total = total + weight * (((a - t) * (a + t) + y * y) / (near * far));
    }
    total = halves ? total : total + 0.5 / square;
    f64 result = a / 0x1.921fb54442d18p+1 * total;
    if (y < 2.0 * 0x1.921fb54442d18p+1) {
        f64 residue = 0;
        ag_voigt_residue_f64(a, y, halves, &residue);
        result = result + residue;
    }
    return x < 0.0 ? -result : result;
}
