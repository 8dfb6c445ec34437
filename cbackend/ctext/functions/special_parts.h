/* Numbers in two parts, a sum of floats that holds 106 bits, for the exponents of special functions.

   Written by ../translated.py from ops/special/parts.py. */
#pragma once
#include "float.h"
#include "gamma.h"

#define ARTANH_SERIES \
    0x1.2492492492492p-2, 0x1.c71c71c71c71cp-3, 0x1.745d1745d1746p-3, 0x1.3b13b13b13b14p-3, 0x1.1111111111111p-3, \
    0x1.e1e1e1e1e1e1ep-4, 0x1.af286bca1af28p-4, 0x1.8618618618618p-4, 0x1.642c8590b2164p-4, 0.08, \
    0x1.2f684bda12f68p-4
#define STIRLING_SERIES \
    -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11, -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, \
    -0x1.f6ab0d9993c7dp-10, 0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6, 0x1.6fe96381e0680p-3, \
    -0x1.6476701181f3ap+0, 0x1.ace44322ce006p+3, -0x1.39b2525cccc1bp+7, 0x1.12234e81b4e82p+11
#define SHORT_STIRLING_SERIES \
    -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11, -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, \
    -0x1.f6ab0d9993c7dp-10, 0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6
#define DIGAMMA_SERIES \
    0x1.1111111111111p-7, -0x1.0410410410410p-8, 0x1.1111111111111p-8, -0x1.f07c1f07c1f08p-8, \
    0x1.5995995995996p-6, -0x1.5555555555555p-4, 0x1.c5e5e5e5e5e5ep-2, -0x1.86e7f9b9fe6e8p+1, \
    0x1.a74ca514ca515p+4, -0x1.1975cc0ed7304p+8

/* a + b and its rounding error (D. E. Knuth). */
INLINE f64 ag_two_sum_f64(f64 a, f64 b, f64 *second)
{
    const f64 total = a + b;
    const f64 part = total - a;
    *second = a - (total - part) + (b - part);
    return total;
}

/* a * b and its rounding error. */
INLINE f64 ag_two_product_f64(f64 a, f64 b, f64 *second)
{
    const f64 product = a * b;
    *second = __builtin_fma(a, b, -product);
    return product;
}

/* The product of two numbers in two parts. */
INLINE f64 ag_times_parts_f64(f64 a, f64 a_low, f64 b, f64 b_low, f64 *second)
{
    const f64 product = a * b;
    *second = __builtin_fma(a, b, -product) + (a * b_low + a_low * b);
    return product;
}

/* The sum of two numbers in two parts. */
INLINE f64 ag_plus_parts_f64(f64 a, f64 a_low, f64 b, f64 b_low, f64 *second)
{
    f64 high = 0;
    f64 low = 0;
    high = ag_two_sum_f64(a, b, &low);
    const f64 rest = low + (a_low + b_low);
    const f64 total = high + rest;
    *second = rest - (total - high);
    return total;
}

/* The quotient of two numbers in two parts. */
INLINE f64 ag_divided_parts_f64(f64 a, f64 a_low, f64 b, f64 b_low, f64 *second)
{
    const f64 quotient = a / b;
    const f64 rest = __builtin_fma(-quotient, b, a) + a_low - quotient * b_low;
    *second = rest / b;
    return quotient;
}

/* log(1 + f) for f between -0.3 and 0.42, with an error of about 1e-22 times f. */
INLINE f64 ag_log1p_parts_f64(f64 f, f64 f_low, f64 *second)
{
    f64 d = 0;
    f64 d_low = 0;
    d = ag_two_sum_f64(2.0, f, &d_low);
    f64 s = 0;
    f64 s_low = 0;
    s = ag_divided_parts_f64(f, f_low, d, d_low + f_low, &s_low);
    f64 q = 0;
    f64 q_low = 0;
    q = ag_times_parts_f64(s, s_low, s, s_low, &q_low);
    POLYNOMIAL(f64, tail, q, ARTANH_SERIES);
    f64 u = 0;
    f64 u_low = 0;
    u = ag_times_parts_f64(q, q_low, 0.4, (-0x1.999999999999ap-56), &u_low);
    u = ag_plus_parts_f64(0x1.5555555555555p-1, 0x1.5555555555555p-55, u, u_low + tail * (q * q), &u_low);
    f64 t = 0;
    f64 t_low = 0;
    t = ag_times_parts_f64(q, q_low, s, s_low, &t_low);
    u = ag_times_parts_f64(t, t_low, u, u_low, &u_low);
    return ag_plus_parts_f64(2.0 * s, 2.0 * s_low, u, u_low, second);
}

/* log(x) for normal numbers x > 0. */
INLINE f64 ag_log_in_parts_f64(f64 x, f64 x_low, f64 *second)
{
    const f64 k = rint_F(ag_log_f64(x) * 0x1.71547652b82fep+0);
    f64 f = 0;
    f64 f_low = 0;
    f = ag_log1p_parts_f64(__builtin_ldexp(x, (i32)(-k)) - 1.0, __builtin_ldexp(x_low, (i32)(-k)), &f_low);
    return ag_plus_parts_f64(k * 0x1.62e42fee00000p-1, k * 0x1.a39ef35793c76p-33, f, f_low, second);
}

/* exp(high + low). */
INLINE f64 ag_exp_parts_f64(f64 high, f64 low)
{
    return ag_exp_f64(high) * (1.0 + low);
}

/* exp(high + low) * size, where the exponential alone may overflow or underflow. */
static inline f64 ag_exp_times_f64(f64 high, f64 low, f64 size)
{
    if (fabs_F(high) < 700.0) {
        return ag_exp_parts_f64(high, low) * size;
    }
    const f64 half = ag_exp_parts_f64(0.5 * high, 0.5 * low);
    return half * size * half;
}

/* log(gamma(a)) - (a - 1/2) log(a) + a - log(2 pi) / 2 for a >= 10, with an error of about 1e-22. */
INLINE f64 ag_stirling_parts_f64(f64 a, f64 a_low, f64 *second)
{
    f64 inverse = 0;
    f64 inverse_low = 0;
    inverse = ag_divided_parts_f64(1.0, 0.0, a, a_low, &inverse_low);
    const f64 square = inverse * inverse;
    POLYNOMIAL(f64, series, square, STIRLING_SERIES);
    f64 first = 0;
    f64 first_low = 0;
    first = ag_times_parts_f64(inverse, inverse_low, 0x1.5555555555555p-4, 0x1.5555555555555p-58, &first_low);
    return ag_plus_parts_f64(first, first_low, inverse * square * series, 0.0, second);
}

/* The same in one number, of 1 / a. */
INLINE f64 ag_stirling_of_f64(f64 inverse)
{
    const f64 square = inverse * inverse;
    POLYNOMIAL(f64, series, square, SHORT_STIRLING_SERIES);
    return inverse * (0x1.5555555555555p-4 + square * series);
}

/* The same in one number. */
INLINE f64 ag_stirling_f64(f64 a)
{
    return ag_stirling_of_f64(1.0 / a);
}

/* log(gamma(a)) for a > 0 in two parts, with an absolute error of about 1e-21, or 1e-22 of its terms. Below 10 by
   the product a (a + 1) ... (a + n - 1) = gamma(a + n) / gamma(a). */
static inline f64 ag_log_gamma_parts_f64(f64 a, f64 a_low, f64 *second)
{
    f64 product = 1.0;
    f64 product_low = 0.0;
    f64 x = a;
    f64 x_low = a_low;
    while (x < 10.0) {
        product = ag_times_parts_f64(product, product_low, x, x_low, &product_low);
        x = ag_plus_parts_f64(x, x_low, 1.0, 0.0, &x_low);
    }
    f64 logarithm = 0;
    f64 logarithm_low = 0;
    logarithm = ag_log_in_parts_f64(x, x_low, &logarithm_low);
    f64 high = 0;
    f64 low = 0;
    high = ag_times_parts_f64(logarithm, logarithm_low, x - 0.5, x_low, &low);
    high = ag_plus_parts_f64(high, low, -x, -x_low, &low);
    high = ag_plus_parts_f64(high, low, 0x1.d67f1c864beb5p-1, (-0x1.65b5a1b7ff5e0p-55) + 0.0, &low);
    f64 rest = 0;
    f64 rest_low = 0;
    rest = ag_stirling_parts_f64(x, x_low, &rest_low);
    high = ag_plus_parts_f64(high, low, rest, rest_low, &low);
    if (a < 10.0) {
        if (product < 1e-290) {
            *second = 0.0;
            return -ag_log_f64(a);
        }
        logarithm = ag_log_in_parts_f64(product, product_low, &logarithm_low);
        return ag_plus_parts_f64(high, low, -logarithm, -logarithm_low, second);
    }
    *second = low;
    return high;
}

/* The logarithmic derivative of gamma at a > 0 in two parts, with an absolute error of about 1e-23 (DLMF 5.11.2).
   Below 20 by digamma(a + 1) = digamma(a) + 1 / a. */
static inline f64 ag_digamma_parts_f64(f64 a, f64 a_low, f64 *second)
{
    f64 total = 0.0;
    f64 total_low = 0.0;
    f64 p = 0;
    f64 p_low = 0;
    while (a < 20.0) {
        p = ag_divided_parts_f64(1.0, 0.0, a, a_low, &p_low);
        total = ag_plus_parts_f64(total, total_low, p, p_low, &total_low);
        a = ag_plus_parts_f64(a, a_low, 1.0, 0.0, &a_low);
    }
    p = ag_log_in_parts_f64(a, a_low, &p_low);
    p = ag_plus_parts_f64(p, p_low, -total, -total_low, &p_low);
    f64 inverse = 0;
    f64 inverse_low = 0;
    inverse = ag_divided_parts_f64(1.0, 0.0, a, a_low, &inverse_low);
    p = ag_plus_parts_f64(p, p_low, -0.5 * inverse, -0.5 * inverse_low, &p_low);
    f64 q = 0;
    f64 q_low = 0;
    q = ag_times_parts_f64(inverse, inverse_low, inverse, inverse_low, &q_low);
    POLYNOMIAL(f64, rest, q, DIGAMMA_SERIES);
    rest = rest * (q * q);
    q = ag_times_parts_f64(q, q_low, 0x1.5555555555555p-4, 0x1.5555555555555p-58, &q_low);
    return ag_plus_parts_f64(p, p_low, -q, rest - q_low, second);
}
