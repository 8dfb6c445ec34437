/* The gamma family in float64, for narrower floats too: rare functions, and accurate near their roots. */
#pragma once
#include "library.h"

/* (1 / gamma(2 + v) - 1) / v for |v| <= 1/2, in Chebyshev's nodes */
#define RECIPROCAL_GAMMA_SERIES \
    -0x1.b0ee6072093cep-2, -0x1.dd603fb6ac11ep-3, 0x1.875ac5782250ap-3, -0x1.92449b66f1e7bp-6, -0x1.21198511758cbp-6, \
    0x1.06e8179e26f10p-7, -0x1.a5b350a63ff69p-11, -0x1.7a5da952ea19bp-12, 0x1.31565548760d3p-13, \
    -0x1.265f42104ae34p-16, -0x1.5b7cee2c815ccp-19, 0x1.676babe9fa7d6p-20, -0x1.b95491de37037p-23, \
    -0x1.72458740444a7p-30, 0x1.b56dec0b9222ep-28

/* (gamma(a) / (sqrt(2 pi) a**(a - 1/2) exp(-a)) - 1) a in 1 / a, for a >= 8 */
#define STIRLING_FACTOR_SERIES \
    0x1.5555555555555p-4, 0x1.c71c71c71b21dp-9, -0x1.5f7268ec48105p-9, -0x1.e13ced8cef1b1p-13, 0x1.9b1071fe99a87p-11, \
    0x1.23fd48982c68bp-14, -0x1.3553c1934c3c7p-11, -0x1.48147f7a28237p-14, 0x1.1108170e00414p-10, \
    -0x1.b3b0ddc321a0dp-11

/* (2 artanh(s) - 2 s) / s**3 in s**2, for |s| <= 0.172 */
#define ARTANH_REST_SERIES \
    0x1.5555555555555p-1, 0x1.9999999999a38p-2, 0x1.2492492476b0bp-2, 0x1.c71c720185cc1p-3, 0x1.745cf8f397214p-3, \
    0x1.3b1c38a856459p-3, 0x1.0fbe442b6ae60p-3, 0x1.0c06b55bb3efbp-3

/* (a - 1/2) log(a) - a for 8 <= a <= 200, and in *low the rest: an error of it is one of the power. */
INLINE f64 ag_log_of_power_f64(f64 a, f64 *low)
{
    const f64 k0 = a < 11.3 ? 3 : 4, k1 = a < 22.6 ? 0 : 1, k2 = a < 45.2 ? 0 : 1, k3 = a < 90.5 ? 0 : 1;
    const f64 unit = 0x1p-3 * (1 - 0.5 * (k0 - 3)) * (1 - 0.5 * k1) * (1 - 0.5 * k2) * (1 - 0.5 * k3);
    const f64 k = k0 + k1 + k2 + k3;
    const f64 f = a * unit - 1, d = 2 + f, d_low = f - (d - 2), s = f / d;
    const f64 s_low = (__builtin_fma(-s, d, f) - s * d_low) / d, square = s * s;
    POLYNOMIAL(f64, p, square, ARTANH_REST_SERIES);
    const f64 cube = s * square * p, part = 2 * s + cube, part_low = (2 * s - part) + cube + 2 * s_low;
    const f64 whole = k * 0x1.62e42fefa39ep-1, high = whole + part; /* the product is exact, and is the larger term */
    const f64 rest = (whole - high) + part + (k * 0x1.e6af278ece601p-50 + part_low);
    const f64 m = a - 0.5, product = m * high, y = product - a, moved = y - product;
    *low = (product - (y - moved)) - (a + moved) + (__builtin_fma(m, high, -product) + m * rest);
    return y;
}

/* y (y + 1) ... with n factors, up to 6. */
INLINE f64 ag_factors_above_f64(f64 y, f64 n)
{
    const f64 p0 = (n > 0 ? y : 1) * (n > 1 ? y + 1 : 1), p1 = (n > 2 ? y + 2 : 1) * (n > 3 ? y + 3 : 1);
    return p0 * p1 * ((n > 4 ? y + 4 : 1) * (n > 5 ? y + 5 : 1));
}

/* Gamma without branches: below 8 a quotient of products and 1 / gamma about 2, beyond by Stirling's formula, with a
   power in two parts; below -1/2 by reflection, gamma(-a) gamma(a) = -pi / (a sin(pi a)).  Exact at whole numbers
   to 23. */
INLINE f64 ag_gamma_f64(f64 x)
{
    const b8 mirrored = x <= -0.5, is_big = fabs_F(x) >= 8, is_exact = (x >= 8) & (x <= 23) & (x == floor_F(x));
    const f64 size = fabs_F(x) < 200 ? fabs_F(x) : 200, a = mirrored ? size : x < 200 ? x : 200;
    /* a = y + n, and the factors between them, all exact */
    const f64 small = is_big ? 2 : a, n = rint_F(small) - 2, y = small - n, v = y - 2;
    const f64 above = ag_factors_above_f64(y, n);
    POLYNOMIAL(f64, q, v, RECIPROCAL_GAMMA_SERIES);
    const f64 below = __builtin_fma(v, q, 1) * (n < -1 ? small * (small + 1) : n < 0 ? small : 1);
    const f64 near = mirrored ? below / above : above / below;
    f64 low;
    const f64 large = is_big ? size : 8, inverse = 1 / large, power = ag_log_of_power_f64(large, &low);
    POLYNOMIAL(f64, g, inverse, STIRLING_FACTOR_SERIES);
    const f64 factor = 0x1.40d931ff62706p+1 * __builtin_fma(g, inverse, 1);
    const f64 grown = ag_exp_f64(mirrored ? -power : power) * (mirrored ? 1 - low : 1 + low);
    const f64 far = mirrored ? grown / factor : grown * factor, found = is_big ? far : near;
    /* The sine is 1 where nothing is mirrored: a call whose result one side alone reads would become a branch. */
    const f64 b = fabs_F(x), whole = rint_F(b), rest = b - whole, half = 0.5 * whole, pi = 0x1.921fb54442d18p+1;
    const f64 sine = ag_sin_f64(pi * (mirrored ? rest : 0.5)), over = mirrored ? pi : 1;
    const f64 under = (mirrored ? half == floor_F(half) ? -b : b : 1) * sine, reflected = found * (over / under);
    const f64 divisor = x >= 16 ? 1307674368000.0 : 5040, exact = rint_F(found / divisor) * divisor; /* 15!, or 7! */
    return x != x ? x : is_exact ? exact : mirrored & (rest == 0) ? __builtin_nan("") : reflected;
}

/* (log(gamma(a)) - (a - 1/2) log(a) + a - log(2 pi) / 2) a in 1 / a**2, and sin(pi r) / r in r**2, for a >= 8 and
   |r| <= 1/2, in Chebyshev's nodes */
#define LOG_STIRLING_SERIES \
    0x1.5555555555555p-4, -0x1.6c16c16c16b29p-9, 0x1.a01a019ee0dbep-11, -0x1.38137ec070146p-11, \
    0x1.b94f6d659214dp-11, -0x1.f5ff2fdcde511p-10, 0x1.96db406143a31p-8, -0x1.55b3a71b46db0p-6
#define SINE_OF_PI_SERIES \
    0x1.921fb54442d18p+1, -0x1.4abbce625be52p+2, 0x1.466bc6775aa7dp+1, -0x1.32d2cce627c86p-1, \
    0x1.5078348551854p-4, -0x1.e3074dfaf87afp-8, 0x1.e8f3675ee37ddp-12, -0x1.6f7acdb8f6580p-16, 0x1.9d462020fcc78p-21

/* log(|gamma(x)|) without branches: below 8 of the quotient that gamma has, about 1 and 2 of its distance from 1, which
   keeps its digits there; beyond by Stirling's formula; below -1/2 by reflection.  Infinite at the poles, -inf at -inf. */
INLINE f64 ag_gammaln_f64(f64 x)
{
    const b8 mirrored = x <= -0.5, is_big = fabs_F(x) >= 8;
    const f64 size = fabs_F(x), small = is_big ? 2 : mirrored ? size : x;
    const f64 nearest = rint_F(small), v = small - nearest, n = nearest - 2, y = small - n; /* v and y are exact */
    POLYNOMIAL(f64, q, v, RECIPROCAL_GAMMA_SERIES);
    const f64 below = __builtin_fma(v, q, 1) * (n < -1 ? fabs_F(small * (small + 1)) : n < 0 ? small : 1);
    const f64 rest = size - rint_F(size), square = rest * rest;
    POLYNOMIAL(f64, wave, square, SINE_OF_PI_SERIES);
    /* 1 / gamma(x), or where it is mirrored gamma(x); of a large number only the factors of the reflection */
    const f64 over = (is_big ? 1 : below) * (mirrored ? 0x1.921fb54442d18p+1 : 1);
    const f64 under = (is_big ? 1 : ag_factors_above_f64(y, n)) * (mirrored ? size * fabs_F(rest * wave) : 1);
    const f64 ratio = over / under;
    /* About 1 and 2 it is 1 + distance, and its logarithm log(whole) + (distance - (whole - 1)) / whole. */
    const b8 is_near = !mirrored & (n >= -1) & (n <= 0);
    const f64 distance = v * (n < 0 ? __builtin_fma(q, small, 1) : q), whole = 1 + distance;
    const f64 lost = is_near ? (distance - (whole - 1)) * (2 - whole) : 0;
    const f64 log_of = ag_log_f64(is_big ? size : is_near ? whole : ratio), within = log_of + lost;
    const f64 large = is_big ? size : 8, inverse = 1 / large, inverse_square = inverse * inverse;
    POLYNOMIAL(f64, tail, inverse_square, LOG_STIRLING_SERIES);
    const f64 far = (large - 0.5) * (log_of - 1) + __builtin_fma(tail, inverse, 0x1.acfe390c97d68p-2);
    const f64 near = mirrored ? within : 0 - within, found = is_big ? (mirrored ? ag_log_f64(ratio) - far : far) : near;
    const b8 is_pole = (x <= 0) & (rest == 0);
    return is_pole ? __builtin_inf() : x == -__builtin_inf() ? x : found;
}

/* The same by lgamma of the C library, which is within an ulp for x > 0; lgamma itself writes a global, and is +inf at
   -inf. */
static inline f64 ag_log_gamma_f64(f64 x)
{
    int sign;
    return x == -__builtin_inf() ? x : lgamma_r(x, &sign);
}

/* digamma's two series: that of J. Maddock's rational form on [1, 2] (Boost.Math, digamma.hpp, 53 bits), and B(2k) / 2k
   of the asymptotic one (DLMF 5.11.2) */
#define DIGAMMA_OVER \
    0.25479851061131551, -0.32555031186804491, -0.65031853770896507, -0.28919126444774784, -0.045251321448739056, \
    -0.0020713321167745952
#define DIGAMMA_UNDER \
    1.0, 2.0767117023730469, 1.4606242909763515, 0.43593529692665969, 0.054151797245674225, 0.0021284987017821144, \
    -0.55789841321675513e-6
#define DIGAMMA_FAR_SERIES 1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12

/* One more of 1 / (x - 1) + 1 / (x - 2) + ..., as a quotient, where x > 2; selects of factors, not of results, which
   would become branches */
#define DIGAMMA_STEP \
    more = near > 2 ? 1 : 0; \
    near -= more; \
    factor = more * near + (1 - more); \
    over = over * factor + more * under; \
    under *= factor;

/* The logarithmic derivative of gamma without branches: below 10 on [1, 2] by digamma(x + 1) = digamma(x) + 1 / x,
   beyond by the asymptotic series; below 0 by reflection.  NaN at the negative integers and -inf; the sign of the pole
   at 0 is that of the zero. */
INLINE f64 ag_digamma_f64(f64 x)
{
    const b8 mirrored = x < 0;
    const f64 a = mirrored ? 1 - x : x;
    const b8 is_far = a >= 10;
    f64 near = is_far ? 2 : a, over = 0, under = 1, more, factor;
    DIGAMMA_STEP DIGAMMA_STEP DIGAMMA_STEP DIGAMMA_STEP DIGAMMA_STEP DIGAMMA_STEP DIGAMMA_STEP DIGAMMA_STEP
    const b8 below = near < 1;
    over = below ? -1 : over;
    under = below ? near : under;
    near = below ? near + 1 : near;
    const f64 t = near - 1;
    POLYNOMIAL(f64, p, t, DIGAMMA_OVER);
    POLYNOMIAL_AGAIN(f64, q, t, DIGAMMA_UNDER);
    const f64 distance = ((near - 1569415565 / 0x1p30) - 381566830 / 0x1p60) - 9.016312093258695e-20; /* from the root */
    const f64 within = over / under + (distance * 0.99558162689208984375 + distance * (p / q));
    const f64 large = is_far ? a : 10, r = 1 / large, s = r * r;
    POLYNOMIAL(f64, series, s, DIGAMMA_FAR_SERIES);
    const f64 found = ag_log_f64(is_far ? a : 1) + (is_far ? -0.5 * r - s * series : within);
    const f64 fraction = x - rint_F(x), pi = 0x1.921fb54442d18p+1; /* exact; NaN at -inf */
    /* The pole's NaN is in the numerator: a select of results would make branches of the calls. */
    const f64 over_sine = mirrored ? (fraction == 0 ? __builtin_nan("") : pi) : 0;
    return found - over_sine / ag_tan_f64(pi * (mirrored ? fraction : 0.25));
}

/* The sum of ((x + k) / scale)**-s for k = 0, 1, ..., x > 0, by Euler and Maclaurin's formula (DLMF 2.10.1). */
static inline f64 ag_sum_of_powers(f64 s, f64 x, f64 scale)
{
    static const f64 tail[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160,
        -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13, 8.586062056277845e-15,
        -2.174868698558062e-16};
    f64 total = 0;
    for (i32 k = 0; k < 12; k++)
        total += pow_F((x + k) / scale, -s);
    const f64 end = x + 12, power = pow_F(end / scale, 1 - s);
    f64 series = 0.5, factor = s / end;
    for (i32 k = 0; k < 10; k++) {
        series += tail[k] * factor;
        factor *= (s + (2 * k + 1)) / end * ((s + (2 * k + 2)) / end);
    }
    return total + power * (scale / (s - 1)) + power * (scale / end) * series;
}
/* n! for n <= 170, rounded once: the product is kept in two parts. */
static inline f64 ag_factorial(f64 n)
{
    f64 high = 1, low = 0;
    for (f64 k = 2; k <= n; k++) {
        const f64 product = high * k, error = __builtin_fma(high, k, -product), rest = low * k + error;
        high = product + rest;
        low = rest - (high - product);
    }
    return high;
}
/* The derivatives of digamma, (-1)**(n + 1) n! times the sum of (x + k)**-(n + 1) (DLMF 5.15.1); for x < 0 over all
   integers, less those on the other side. */
static inline f64 ag_polygamma_f64(f64 n, f64 x)
{
    if (x != x || n != n)
        return x + n;
    if (!(n >= 0 && n < __builtin_inf()) || n != floor_F(n))
        return __builtin_nan("");
    if (n == 0)
        return ag_digamma_f64(x);
    const f64 s = n + 1, even = fmod_F(s, 2) == 0 ? 1 : -1, inf = __builtin_inf();
    if (x == inf)
        return even * 0;
    if (x <= 0 && x == floor_F(x)) /* -inf too, as SciPy; at -0 from below, where all orders go to +inf */
        return x == 0 && __builtin_signbit(x) ? inf : even * inf;
    const f64 log_2 = 0x1.62e42fefa39efp-1, log_factorial = ag_log_gamma_f64(s), size = rint_F(log_factorial / (s * log_2));
    const f64 scale = pow_F(2, size); /* n! is about scale**s, which is shared out: none overflows */
    const f64 rest = s <= 171 ? ag_factorial(n) * pow_F(2, -size * s) : exp_F(log_factorial - size * s * log_2);
    if (x > 0)
        return even * rest * ag_sum_of_powers(s, x, scale);
    const f64 above = -x - floor_F(-x);
    const f64 everywhere = ag_sum_of_powers(s, 1 - above, scale) + even * ag_sum_of_powers(s, above, scale);
    return even * rest * (everywhere - even * ag_sum_of_powers(s, 1 - x, scale));
}
