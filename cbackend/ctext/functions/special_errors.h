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

/* exp(x**2) erfc(x), within 3 ulp; infinite below -26.6. */
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

/* The normal distribution function, within 4 ulp. */
INLINE f64 ag_ndtr_f64(f64 x)
{
    f64 a = fabs_F(x) * 0x1.6a09e667f3bcdp-1;
    a = a > 10000000000.0 ? 10000000000.0 : a;
    const f64 t = (a - 3.0) / (a + 3.0);
    POLYNOMIAL(f64, p, t, ERFCX_SERIES);
    const f64 tail = ag_half_gaussian_f64(fabs_F(x)) * (p / (1.0 + 2.0 * a)) * 0.5;
    return x != x ? x : x > 0.0 ? 1.0 - tail : tail;
}

/* The logarithm of `ndtr`, within 4 ulp; below -1 by `erfcx`, without underflow. */
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

/* The inverse of `log_ndtr`; two of Newton's steps from `ndtri` or the tail's expansion. */
static inline f64 ag_ndtri_exp_f64(f64 y)
{
    if (y != y || y > 0.0) {
        return __builtin_nan("");
    }
    if (y == 0.0) {
        return __builtin_inf();
    }
    if (y == -__builtin_inf()) {
        return -__builtin_inf();
    }
    if (y > -0.01) {
        return -ag_ndtri_f64(-ag_expm1_f64(y));
    }
    if (y > -700.0) {
        return ag_ndtri_f64(ag_exp_f64(y));
    }
    f64 x = -sqrt_F(-2.0 * (y + 0.5 * ag_log_f64(-4.0 * 0x1.921fb54442d18p+1 * y)));
    for (i32 _ = 0; _ < 4; _++) {
        const f64 ratio = 0x1.6a09e667f3bcdp-1 * 2.0 * 0x1.20dd750429b6dp-1 / ag_erfcx_f64(-x * 0x1.6a09e667f3bcdp-1);
        x = x - (ag_log_ndtr_f64(x) - y) / ratio;
    }
    return x;
}

/* Dawson's integral for a <= 7: the series exp(-a**2) sum a**(2k + 1) / (k! (2k + 1)), of positive terms. */
static inline f64 ag_dawson_fraction_f64(f64 a)
{
    const f64 square = a * a;
    f64 power = a;
    f64 total = a;
    for (i32 k = 1; k < 160; k++) {
        power = power * (square / (f64)k);
        total = total + power / (f64)(2 * k + 1);
        if (power < 1e-17 * total) {
            break;
        }
    }
    return total * ag_gaussian_f64(a);
}

/* Dawson's integral exp(-x**2) times the integral of exp(t**2) from 0 to x, within 16 ulp. Near 0 by its series,
   in the tails by the asymptotic one (DLMF 7.6.2, 7.12.1). */
static inline f64 ag_dawsn_f64(f64 x)
{
    const f64 a = fabs_F(x);
    if (a != a) {
        return x;
    }
    const f64 square = a * a;
    if (a > 7.0) {
        f64 term = 1.0;
        f64 total = 1.0;
        for (i32 k = 1; k < 25; k++) {
            term = term * ((f64)(2 * k - 1) / (2.0 * square));
            total = total + term;
            if (term < 1e-17) {
                break;
            }
        }
        return copysign_F(total / (2.0 * a), x);
    }
    return copysign_F(ag_dawson_fraction_f64(a), x);
}

/* The real part of Faddeeva's function at x + i y, y > 0, within about 4 ulp. The trapezoidal rule for (y / pi)
   integral exp(-t**2) / ((x - t)**2 + y**2) with the residue of its pole: F. Matta and A. Reichel, "Uniform
   computation of the error function and other related functions", 1971. */
static inline f64 ag_voigt_real_f64(f64 x, f64 y)
{
    const f64 h = 0.5;
    const f64 a = fabs_F(x);
    const f64 fraction = a / h - floor_F(a / h);
    const f64 shift = fraction >= 0.25 && fraction <= 0.75 ? 0.0 : 0.5;
    f64 total = 0.0;
    for (i32 k = -14; k < 15; k++) {
        const f64 t = h * ((f64)k + shift);
        total = total + ag_exp_f64(-t * t) / ((a - t) * (a - t) + y * y);
    }
    const f64 result = h * y / 0x1.921fb54442d18p+1 * total;
    if (y >= 0x1.921fb54442d18p+1 / h) {
        return result;
    }
    const f64 angle = -2.0 * 0x1.921fb54442d18p+1 * (fraction - shift);
    const f64 growth = ag_exp_f64(2.0 * 0x1.921fb54442d18p+1 * y / h);
    const f64 re = 1.0 - growth * ag_cos_f64(angle);
    const f64 im = -growth * ag_sin_f64(angle);
    const f64 size = 2.0 * ag_exp_f64((y - a) * (y + a)) / (re * re + im * im);
    const f64 phase = -2.0 * a * y;
    return result + size * (ag_cos_f64(phase) * re + ag_sin_f64(phase) * im);
}

/* The imaginary part of Faddeeva's function at x + i y, y > 0, by the same rule. */
static inline f64 ag_voigt_imag_f64(f64 x, f64 y)
{
    const f64 h = 0.5;
    const f64 a = fabs_F(x);
    const f64 fraction = a / h - floor_F(a / h);
    const f64 shift = fraction >= 0.25 && fraction <= 0.75 ? 0.0 : 0.5;
    f64 total = 0.0;
    for (i32 k = -14; k < 15; k++) {
        const f64 t = h * ((f64)k + shift);
        total = total + ag_exp_f64(-t * t) * (a - t) / ((a - t) * (a - t) + y * y);
    }
    f64 result = h / 0x1.921fb54442d18p+1 * total;
    if (y < 0x1.921fb54442d18p+1 / h) {
        const f64 angle = -2.0 * 0x1.921fb54442d18p+1 * (fraction - shift);
        const f64 growth = ag_exp_f64(2.0 * 0x1.921fb54442d18p+1 * y / h);
        const f64 re = 1.0 - growth * ag_cos_f64(angle);
        const f64 im = -growth * ag_sin_f64(angle);
        const f64 size = 2.0 * ag_exp_f64((y - a) * (y + a)) / (re * re + im * im);
        const f64 phase = -2.0 * a * y;
        result = result + size * (ag_sin_f64(phase) * re - ag_cos_f64(phase) * im);
    }
    return x < 0.0 ? -result : result;
}
