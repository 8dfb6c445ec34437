/* The gamma family in float64, for narrower floats too: rare functions, and accurate near their roots. */
#pragma once
#include "library.h"

/* The C library's is a few ulp off at whole numbers too; up to 23 the factorials have 53 bits or less. */

static inline f64 ag_gamma_f64(f64 x)
{
    if (!(x >= 1 && x <= 23) || x != floor_F(x))
        return tgamma_F(x);
    f64 factorial = 1;
    for (f64 k = 2; k < x; k += 1)
        factorial *= k;
    return factorial;
}

/* lgamma itself writes a global. */

static inline f64 ag_gammaln_f64(f64 x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* glibc returns NaN at the negative integers and -inf; the sign of the pole at 0 is that of the zero. */

/* The logarithmic derivative of gamma: on [1, 2] J. Maddock's rational form (Boost.Math, digamma.hpp, 53 bits),
reached by
   digamma(x + 1) = digamma(x) + 1/x; from 10 on the asymptotic series (DLMF 5.11.2); below 0 by reflection. */
static inline f64 ag_digamma_f64(f64 x)
{
    if (x != x)
        return x;
    if (x == 0)
        return -copysign_F(__builtin_inf(), x);
    f64 result = 0;
    if (x < 0) {
        const f64 fraction = x - rint_F(x); /* exact; tan has period pi; NaN at -inf */
        if (fraction == 0 || fraction != fraction)
            return __builtin_nan("");
        result = -0x1.921fb54442d18p+1 / tan_F(0x1.921fb54442d18p+1 * fraction);
        x = 1 - x;
    }
    if (x >= 10) {
        const f64 s = 1 / (x * x);
        const f64 series = s * (1.0 / 12 - s * (1.0 / 120 - s * (1.0 / 252 - s * (1.0 / 240 - s * (1.0 / 132
            - s * (691.0 / 32760 - s * (1.0 / 12)))))));
        return result + (log_F(x) - 0.5 / x - series);
    }
    f64 shift = 0;
    while (x > 2) {
        x -= 1;
        shift += 1 / x;
    }
    if (x < 1) {
        shift = -1 / x;
        x += 1;
    }
    const f64 t = x - 1;
    const f64 p = 0.25479851061131551 + t * (-0.32555031186804491 + t * (-0.65031853770896507
        + t * (-0.28919126444774784 + t * (-0.045251321448739056 + t * -0.0020713321167745952))));
    const f64 q = 1.0 + t * (2.0767117023730469 + t * (1.4606242909763515 + t * (0.43593529692665969
        + t * (0.054151797245674225 + t * (0.0021284987017821144 + t * -0.55789841321675513e-6)))));
    const f64 distance = ((x - 1569415565 / 0x1p30) - 381566830 / 0x1p60) - 9.016312093258695e-20; /* from the root */
    return result + (shift + (distance * 0.99558162689208984375 + distance * (p / q)));
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
    if (x == -inf)
        return __builtin_nan("");
    if (x == inf)
        return even * 0;
    if (x <= 0 && x == floor_F(x)) /* at -0 from below, where all orders go to +inf */
        return x == 0 && __builtin_signbit(x) ? inf : even * inf;
    const f64 log_2 = 0x1.62e42fefa39efp-1, log_factorial = ag_gammaln_f64(s), size = rint_F(log_factorial / (s * log_2));
    const f64 scale = pow_F(2, size); /* n! is about scale**s, which is shared out: none overflows */
    const f64 rest = s <= 171 ? ag_gamma_f64(s) * pow_F(2, -size * s) : exp_F(log_factorial - size * s * log_2);
    if (x > 0)
        return even * rest * ag_sum_of_powers(s, x, scale);
    const f64 above = -x - floor_F(-x);
    const f64 everywhere = ag_sum_of_powers(s, 1 - above, scale) + even * ag_sum_of_powers(s, above, scale);
    return even * rest * (everywhere - even * ag_sum_of_powers(s, 1 - x, scale));
}
