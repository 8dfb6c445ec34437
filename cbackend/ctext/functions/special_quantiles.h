/* Quantiles of discrete distributions and of von Mises', by which random numbers are drawn from uniform ones.

   Written by ../translated.py from ops/special/quantiles.py. */
#pragma once
#include "float.h"
#include "gamma.h"

/* The probability of at most k, for a whole number k. */
static inline f64 ag_poisson_cdf_f64(f64 rate, f64 k)
{
    if (k < 0.0) {
        return 0.0;
    }
    if (rate <= 0.0) {
        return 1.0;
    }
    f64 q = 0;
    ag_incomplete_gamma_f64(k + 1.0, rate, &q);
    return q;
}

/* The least k such that at most k has the probability u or more: a search, then halving. */
static inline f64 ag_poisson_quantile_f64(f64 rate, f64 u)
{
    if (rate != rate || u != u || rate < 0.0 || u < 0.0 || u > 1.0) {
        return __builtin_nan("");
    }
    if (rate == 0.0 || u == 0.0) {
        return 0.0;
    }
    if (u == 1.0 || rate == __builtin_inf()) {
        return __builtin_inf();
    }
    const f64 z = ag_ndtri_f64(u);
    const f64 start = floor_F(rate + z * sqrt_F(rate) + (z * z - 1.0) / 6.0);
    f64 high = start > 0.0 ? start : 0.0;
    f64 step = 1.0;
    while (ag_poisson_cdf_f64(rate, high) < u && step < 1000000000000000.0) {
        high = high + step;
        step = 2.0 * step;
    }
    step = 1.0;
    f64 low = high - 1.0;
    while (low >= 0.0 && ag_poisson_cdf_f64(rate, low) >= u) {
        high = low;
        low = low - step;
        step = 2.0 * step;
    }
    low = low > -1.0 ? low : -1.0;
    while (high - low > 1.0) {
        const f64 middle = floor_F(0.5 * (low + high));
        if (middle <= low || middle >= high) {
            break;
        }
        if (ag_poisson_cdf_f64(rate, middle) < u) {
            low = middle;
        }
        else {
            high = middle;
        }
    }
    return high;
}

/* The probability of at most k of n, for a whole number k. */
static inline f64 ag_binomial_cdf_f64(f64 n, f64 p, f64 k)
{
    if (k < 0.0) {
        return 0.0;
    }
    if (k >= n) {
        return 1.0;
    }
    f64 above = 0;
    ag_incomplete_beta_f64(k + 1.0, n - k, p, 1.0 - p, &above);
    return above;
}

/* The least k such that at most k of n has the probability u or more. */
static inline f64 ag_binomial_quantile_f64(f64 n, f64 p, f64 u)
{
    if (n != n || p != p || u != u || n < 0.0 || p < 0.0 || p > 1.0 || u < 0.0 || u > 1.0) {
        return __builtin_nan("");
    }
    if (n == 0.0 || p == 0.0 || u == 0.0) {
        return 0.0;
    }
    if (p == 1.0 || u == 1.0) {
        return n;
    }
    const f64 z = ag_ndtri_f64(u);
    const f64 start = floor_F(n * p + z * sqrt_F(n * p * (1.0 - p)) + (z * z - 1.0) * (1.0 - 2.0 * p) / 6.0);
    f64 high = start > 0.0 ? start : 0.0;
    high = high < n ? high : n;
    f64 step = 1.0;
    while (high < n && ag_binomial_cdf_f64(n, p, high) < u) {
        high = high + step;
        high = high < n ? high : n;
        step = 2.0 * step;
    }
    step = 1.0;
    f64 low = high - 1.0;
    while (low >= 0.0 && ag_binomial_cdf_f64(n, p, low) >= u) {
        high = low;
        low = low - step;
        step = 2.0 * step;
    }
    low = low > -1.0 ? low : -1.0;
    while (high - low > 1.0) {
        const f64 middle = floor_F(0.5 * (low + high));
        if (middle <= low || middle >= high) {
            break;
        }
        if (ag_binomial_cdf_f64(n, p, middle) < u) {
            low = middle;
        }
        else {
            high = middle;
        }
    }
    return high;
}

/* The logarithm of the binomial coefficient. */
static inline f64 ag_log_binomial_f64(f64 n, f64 k)
{
    if (k <= 0.0 || k >= n) {
        return 0.0;
    }
    f64 p = 0;
    f64 _p_low = 0;
    p = ag_log_beta_parts_f64(n - k + 1.0, k + 1.0, &_p_low);
    return -(p + ag_log_f64(n + 1.0));
}

/* How many of `sample` are good, by inversion of u outwards from the mode. Source: V. Kachitvichyanukul and B.
   Schmeiser, "Computer generation of hypergeometric random variates", 1985. Numbers are visited in the order
   mode, mode + 1, mode - 1, ..., so it is no quantile but has the distribution. The search ends where
   probabilities are too small to count. */
static inline f64 ag_hypergeometric_draw_f64(f64 good, f64 bad, f64 sample, f64 u)
{
    const f64 total = good + bad;
    if (good != good || bad != bad || sample != sample || good < 0.0 || bad < 0.0 || sample < 0.0 || sample > total) {
        return __builtin_nan("");
    }
    if (!(u >= 0.0 && u <= 1.0) || total == __builtin_inf()) {
        return __builtin_nan("");
    }
    const f64 least = sample > bad ? sample - bad : 0.0;
    const f64 most = sample < good ? sample : good;
    f64 mode = floor_F((sample + 1.0) * (good + 1.0) / (total + 2.0));
    mode = mode > least ? mode : least;
    mode = mode < most ? mode : most;
    const f64 p = ag_exp_f64(ag_log_binomial_f64(good, mode) + ag_log_binomial_f64(bad, sample - mode) -
        ag_log_binomial_f64(total, sample));
    f64 rest = u - p;
    f64 up = mode;
    f64 down = mode;
    f64 p_up = p;
    f64 p_down = p;
    f64 before = __builtin_inf();
    while (rest > 0.0 && rest < before) {
        before = rest;
        if (up < most) {
            p_up = p_up * ((good - up) / (up + 1.0) * ((sample - up) / (bad - sample + up + 1.0)));
            up = up + 1.0;
            rest = rest - p_up;
            if (rest <= 0.0) {
                return up;
            }
        }
        if (down > least) {
            p_down = p_down * (down / (good - down + 1.0) * ((bad - sample + down) / (sample - down + 1.0)));
            down = down - 1.0;
            rest = rest - p_down;
            if (rest <= 0.0) {
                return down;
            }
        }
    }
    return mode;
}

/* The least k such that at most k has the probability u or more, for k**-a / zeta(a): by halving. */
static inline f64 ag_zipf_quantile_f64(f64 a, f64 u)
{
    if (a != a || u != u || a <= 1.0 || u < 0.0 || u > 1.0) {
        return __builtin_nan("");
    }
    const f64 whole = ag_hurwitz_zeta_f64(a, 1.0);
    const f64 rest = (1.0 - u) * whole;
    f64 high = 1.0;
    while (ag_hurwitz_zeta_f64(a, high + 1.0) > rest && high < 9000000000000000.0) {
        high = 2.0 * high;
    }
    f64 low = high == 1.0 ? 0.0 : 0.5 * high;
    while (high - low > 1.0) {
        const f64 middle = floor_F(0.5 * (low + high));
        if (middle <= low || middle >= high) {
            break;
        }
        if (ag_hurwitz_zeta_f64(a, middle + 1.0) > rest) {
            low = middle;
        }
        else {
            high = middle;
        }
    }
    return high;
}

/* The density at an angle. */
INLINE f64 ag_vonmises_density_f64(f64 kappa, f64 x)
{
    const f64 s = ag_sin_f64(0.5 * x);
    return ag_exp_f64(-2.0 * kappa * s * s) / (2.0 * 0x1.921fb54442d18p+1 * ag_i0e_f64(kappa));
}

/* The probability of angles above x > 0, kappa up to 1e6, within few ulp where it is above 1e-10. Gauss and
   Legendre's rule, from x to where the density has fallen by 1e-16. */
static inline f64 ag_vonmises_tail_f64(f64 kappa, f64 x)
{
    f64 width = 0x1.921fb54442d18p+1 - x + 0x1.1a62633145c07p-53;
    const f64 last = kappa > 0.0 ? ag_cos_f64(x) - 37.0 / kappa : -1.0;
    if (last > -1.0) {
        const f64 reach = 2.0 * ag_atan_f64(sqrt_F((1.0 - last) / (1.0 + last))) - x;
        width = reach < width ? reach : width;
    }
    f64 total = 0.0;
    f64 half = 0.5 * width * 0x1.0da27b068a275p-9;
    total = total + 0x1.59bf5428e209cp-8 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.622202af0362cp-7;
    total = total + 0x1.900fe3f869b55p-7 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.b0df78127f69ep-6;
    total = total + 0x1.36fce35747b83p-6 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.8ecb99ea562d7p-5;
    total = total + 0x1.a1980dd13624cp-6 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.3c86d66980075p-4;
    total = total + 0x1.032ba57abce0cp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.c9f629e5ee16ep-4;
    total = total + 0x1.31e801cc5e839p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.36dbc5b1d04a4p-3;
    total = total + 0x1.5c59156bc492bp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.92bf416b042dep-3;
    total = total + 0x1.81e65475c4b54p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.f75b51377edbep-3;
    total = total + 0x1.a208c9728627cp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.31a3334a4c675p-2;
    total = total + 0x1.bc4cf7f9b6f16p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.6a7e577844a6ep-2;
    total = total + 0x1.d0547aeae7cfcp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.a572c2bd1db48p-2;
    total = total + 0x1.ddd75758196a8p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.e1ac97db906c3p-2;
    total = total + 0x1.e4a4ff10a7635p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.0f29b41237c9fp-1;
    total = total + 0x1.e4a4ff10a7635p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.2d469ea17125cp-1;
    total = total + 0x1.ddd75758196a8p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.4ac0d443ddac9p-1;
    total = total + 0x1.d0547aeae7cfcp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.672e665ad9cc5p-1;
    total = total + 0x1.bc4cf7f9b6f16p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.82292bb220491p-1;
    total = total + 0x1.a208c9728627cp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.9b502fa53ef48p-1;
    total = total + 0x1.81e65475c4b54p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.b2490e938bed7p-1;
    total = total + 0x1.5c59156bc492bp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.c6c13ac3423d2p-1;
    total = total + 0x1.31e801cc5e839p-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.d86f2532cfff1p-1;
    total = total + 0x1.032ba57abce0cp-5 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.e71346615a9d3p-1;
    total = total + 0x1.a1980dd13624cp-6 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.f279043f6c04bp-1;
    total = total + 0x1.36fce35747b83p-6 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.fa7777f543f27p-1;
    total = total + 0x1.900fe3f869b55p-7 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    half = 0.5 * width * 0x1.fef25d84f975ep-1;
    total = total + 0x1.59bf5428e209cp-8 * ag_exp_f64(-2.0 * kappa * ag_sin_f64(x + half) * ag_sin_f64(half));
    return ag_vonmises_density_f64(kappa, x) * (width * total);
}

/* The probability of angles from 0 to x: Fourier's series, its ratios of Bessel functions backwards. G. W. Hill,
   "Incomplete Bessel function I0: the von Mises distribution", 1977. */
static inline f64 ag_vonmises_center_f64(f64 kappa, f64 x)
{
    f64 ratio = 0.0;
    f64 total = 0.0;
    for (i32 k = (i32)(12.0 * sqrt_F(kappa) + 24.0); k > 0; k--) {
        const f64 n = (f64)k;
        ratio = kappa > 0.0 ? 1.0 / (2.0 * n / kappa + ratio) : 0.0;
        total = ratio * (ag_sin_f64(n * x) / n + total);
    }
    return x * (0.5 / 0x1.921fb54442d18p+1) + total / 0x1.921fb54442d18p+1;
}

/* The probability of an angle from -pi to x, less u: beyond a standard deviation or so counted from the end. */
static inline f64 ag_vonmises_excess_f64(f64 kappa, f64 x, f64 u)
{
    if (kappa > 1000000.0) {
        return ag_ndtr_f64(2.0 * sqrt_F(kappa) * ag_sin_f64(0.5 * x)) - u;
    }
    if (x * x * (1.0 + kappa) < 1.7) {
        return 0.5 - u + ag_vonmises_center_f64(kappa, x);
    }
    if (x < 0.0) {
        return ag_vonmises_tail_f64(kappa, -x) - u;
    }
    return 1.0 - u - ag_vonmises_tail_f64(kappa, x);
}

/* The probability of an angle from -pi to x, for |x| <= pi. */
static inline f64 ag_vonmises_cdf_f64(f64 kappa, f64 x)
{
    if (kappa != kappa || x != x || kappa < 0.0) {
        return __builtin_nan("");
    }
    if (x <= -0x1.921fb54442d18p+1) {
        return 0.0;
    }
    if (x >= 0x1.921fb54442d18p+1) {
        return 1.0;
    }
    const f64 p = ag_vonmises_excess_f64(kappa, x, 0.0);
    return p < 0.0 ? 0.0 : p > 1.0 ? 1.0 : p;
}

/* The angle below which the probability is u: at most 60 of Newton's steps, kept between bounds. */
static inline f64 ag_vonmises_quantile_f64(f64 kappa, f64 u)
{
    if (kappa != kappa || u != u || kappa < 0.0 || u < 0.0 || u > 1.0) {
        return __builtin_nan("");
    }
    f64 low = -0x1.921fb54442d18p+1;
    f64 high = 0x1.921fb54442d18p+1;
    f64 x = 0x1.921fb54442d18p+1 * (2.0 * u - 1.0);
    if (kappa > 1.0 && u > 0.0 && u < 1.0) {
        x = ag_ndtri_f64(u) / sqrt_F(kappa);
        x = fabs_F(x) < 0x1.921fb54442d18p+1 ? x : 0.0;
    }
    for (i32 _ = 0; _ < 60; _++) {
        const f64 excess = ag_vonmises_excess_f64(kappa, x, u);
        if (excess > 0.0) {
            high = x;
        }
        else {
            low = x;
        }
        const f64 density = ag_vonmises_density_f64(kappa, x);
        f64 better = density > 0.0 ? x - excess / density : 2.0 * 0x1.921fb54442d18p+1;
        if (!(better >= low && better <= high)) {
            better = 0.5 * (low + high);
        }
        const f64 moved = fabs_F(better - x);
        x = better;
        if (moved <= 1e-15) {
            break;
        }
    }
    return x;
}
