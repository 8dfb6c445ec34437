/* The beta function and its logarithm; the incomplete beta function, its derivatives by the parameters, its inverse.

   Written by ../translated.py from ops/special/betas.py. */
#pragma once
#include "float.h"
#include "gamma.h"

/* log(B(a, b)) for positive operands, in two parts. gamma(b) / gamma(a + b) of a large b as one quotient (DLMF
   5.11.13's idea), which does not cancel. */
static inline f64 ag_log_beta_parts_f64(f64 a, f64 b, f64 *second)
{
    const f64 small = a < b ? a : b;
    const f64 large = a < b ? b : a;
    f64 p = 0;
    f64 p_low = 0;
    f64 q = 0;
    f64 q_low = 0;
    f64 s = 0;
    f64 s_low = 0;
    if (large < 15.0 || small > 0.4 * large) {
        p = ag_log_gamma_parts_f64(a, 0.0, &p_low);
        q = ag_log_gamma_parts_f64(b, 0.0, &q_low);
        p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
        s = ag_two_sum_f64(a, b, &s_low);
        q = ag_log_gamma_parts_f64(s, s_low, &q_low);
        return ag_plus_parts_f64(p, p_low, -q, -q_low, second);
    }
    p = ag_log_gamma_parts_f64(small, 0.0, &p_low);
    q = ag_log_in_parts_f64(large, 0.0, &q_low);
    q = ag_times_parts_f64(q, q_low, small, 0.0, &q_low);
    p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
    f64 r = 0;
    f64 r_low = 0;
    r = ag_divided_parts_f64(small, 0.0, large, 0.0, &r_low);
    q = ag_log1p_parts_f64(r, r_low, &q_low);
    s = ag_two_sum_f64(small, large, &s_low);
    q = ag_times_parts_f64(q, q_low, s - 0.5, s_low, &q_low);
    p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
    p = ag_plus_parts_f64(p, p_low, small, 0.0, &p_low);
    q = ag_stirling_parts_f64(large, 0.0, &q_low);
    p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
    q = ag_stirling_parts_f64(s, s_low, &q_low);
    return ag_plus_parts_f64(p, p_low, -q, -q_low, second);
}

/* log(B(a, b)) for positive operands. */
static inline f64 ag_log_beta_of_positive_f64(f64 a, f64 b)
{
    const f64 small = a < b ? a : b;
    const f64 large = a < b ? b : a;
    if (large == __builtin_inf()) {
        return -__builtin_inf();
    }
    if (small < 1e-290) {
        return ag_log1p_f64(small / large) - ag_log_f64(small);
    }
    if (small == 1.0 || large == 1.0) {
        return -ag_log_f64(small == 1.0 ? large : small);
    }
    const f64 quick = ag_short_log_beta_f64(small, large);
    if (quick != 0.0) {
        return quick;
    }
    f64 p = 0;
    f64 p_low = 0;
    p = ag_log_beta_parts_f64(a, b, &p_low);
    return p + p_low;
}

/* B(a, b) for positive operands. */
static inline f64 ag_beta_of_positive_f64(f64 a, f64 b)
{
    if (a == __builtin_inf() || b == __builtin_inf()) {
        return 0.0;
    }
    const f64 small = a < b ? a : b;
    if (small < 1e-290) {
        return 1.0 / a + 1.0 / b;
    }
    f64 p = 0;
    f64 p_low = 0;
    if (a < 10.0 && b < 10.0) {
        p = ag_beta_of_moderate_f64(a, b, &p_low);
        return p + p_low;
    }
    const f64 quick = ag_beta_by_powers_f64(small, a < b ? b : a);
    if (quick > 0.0) {
        return quick;
    }
    p = ag_log_beta_parts_f64(a, b, &p_low);
    return ag_exp_parts_f64(p, p_low);
}

/* Whether a is an integer below 0, or -inf. */
INLINE f64 ag_is_pole_f64(f64 a)
{
    return a < 0.0 && a == floor_F(a);
}

/* The finite limit of B(a, b) or an infinity, as SciPy's, where an operand is an integer below 0. */
static inline f64 ag_beta_at_pole_f64(f64 a, f64 b)
{
    const f64 n = ag_is_pole_f64(a) ? a : b;
    const f64 m = ag_is_pole_f64(a) ? b : a;
    const f64 sign = m != floor_F(m) || 2.0 * floor_F(0.5 * m) == m ? 1.0 : -1.0;
    if (m == floor_F(m) && m > 0.0 && n > -__builtin_inf() && 1.0 - n - m > 0.0) {
        return sign * ag_beta_of_positive_f64(1.0 - n - m, m);
    }
    return m > -__builtin_inf() && n > -__builtin_inf() && m < 0.0 ? sign * __builtin_inf() : __builtin_inf();
}

/* (a + n, B(a, b) / B(a + n, b)) with the least n for a + n > 0, where a is no negative integer (DLMF 5.12.1). */
static inline f64 ag_raised_f64(f64 a, f64 b, f64 *second)
{
    f64 factor = 1.0;
    while (a < 0.0) {
        factor = factor * ((a + b) / a);
        a = a + 1.0;
    }
    *second = factor;
    return a;
}

/* log(|B(a, b)|), within 8 ulp for positive operands; infinite at its poles. */
static inline f64 ag_betaln_f64(f64 a, f64 b)
{
    if (a != a || b != b) {
        return __builtin_nan("");
    }
    if (a == 0.0 || b == 0.0) {
        return __builtin_inf();
    }
    if (a > 0.0 && b > 0.0) {
        return ag_log_beta_of_positive_f64(a, b);
    }
    if (ag_is_pole_f64(a) || ag_is_pole_f64(b)) {
        return ag_log_f64(fabs_F(ag_beta_at_pole_f64(a, b)));
    }
    if (a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_inf();
    }
    const f64 total = a + b;
    if (total <= 0.0 && total == floor_F(total)) {
        return -__builtin_inf();
    }
    if (a > -30.0 && b > -30.0) {
        f64 p = 0;
        f64 r = 0;
        p = ag_raised_f64(a, b, &r);
        f64 q = 0;
        f64 s = 0;
        q = ag_raised_f64(b, p, &s);
        return ag_log_beta_of_positive_f64(p, q) + (ag_log_f64(fabs_F(r)) + ag_log_f64(fabs_F(s)));
    }
    return ag_gammaln_f64(a) + ag_gammaln_f64(b) - ag_gammaln_f64(total);
}

/* B(a, b) = gamma(a) gamma(b) / gamma(a + b), within 8 ulp for positive operands. */
static inline f64 ag_beta_f64(f64 a, f64 b)
{
    if (a != a || b != b) {
        return __builtin_nan("");
    }
    if (a == 0.0 || b == 0.0) {
        return __builtin_inf();
    }
    if (a > 0.0 && b > 0.0) {
        return ag_beta_of_positive_f64(a, b);
    }
    if (ag_is_pole_f64(a) || ag_is_pole_f64(b)) {
        return ag_beta_at_pole_f64(a, b);
    }
    if (a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_inf() * ag_gamma_f64(a == __builtin_inf() ? b : a);
    }
    const f64 total = a + b;
    if (total <= 0.0 && total == floor_F(total)) {
        return 0.0;
    }
    if (a > -30.0 && b > -30.0) {
        f64 p = 0;
        f64 r = 0;
        p = ag_raised_f64(a, b, &r);
        f64 q = 0;
        f64 s = 0;
        q = ag_raised_f64(b, p, &s);
        return ag_beta_of_positive_f64(p, q) * r * s;
    }
    f64 sign = 1.0;
    sign = a < 0.0 && floor_F(a) - 2.0 * floor_F(0.5 * floor_F(a)) == 1.0 ? -sign : sign;
    sign = b < 0.0 && floor_F(b) - 2.0 * floor_F(0.5 * floor_F(b)) == 1.0 ? -sign : sign;
    sign = total < 0.0 && floor_F(total) - 2.0 * floor_F(0.5 * floor_F(total)) == 1.0 ? -sign : sign;
    return sign * ag_exp_f64(ag_gammaln_f64(a) + ag_gammaln_f64(b) - ag_gammaln_f64(total));
}

/* x**a (1 - x)**b / B(a, b); y is 1 - x rounded. */
static inline f64 ag_beta_factor_f64(f64 a, f64 b, f64 x, f64 y)
{
    f64 one = 0;
    f64 y_low = 0;
    one = ag_two_sum_f64(-x, 1.0, &y_low);
    y_low = x < 1e-16 ? 0.0 : y_low;
    f64 x_low = 0.0;
    if (y < x) {
        one = ag_two_sum_f64(-y, 1.0, &x_low);
        x_low = x_low + (one - x);
        y_low = 0.0;
    }
    const f64 quick = ag_short_beta_factor_f64(a, b, x, x_low, y, y_low);
    if (quick > 0.0) {
        return quick;
    }
    f64 p = 0;
    f64 p_low = 0;
    f64 q = 0;
    f64 q_low = 0;
    if (a >= 15.0 && b >= 15.0) {
        p = ag_times_parts_f64(x, x_low, b, 0.0, &p_low);
        q = ag_times_parts_f64(y, y_low, a, 0.0, &q_low);
        f64 d = 0;
        f64 d_low = 0;
        d = ag_plus_parts_f64(p, p_low, -q, -q_low, &d_low);
        f64 m = 0;
        f64 m_low = 0;
        if (fabs_F(d) < 0.29 * a && fabs_F(d) < 0.29 * b) {
            m = ag_divided_parts_f64(d, d_low, a, 0.0, &m_low);
            p = ag_log1p_parts_f64(m, m_low, &p_low);
            m = ag_divided_parts_f64(-d, -d_low, b, 0.0, &m_low);
            q = ag_log1p_parts_f64(m, m_low, &q_low);
        }
        else {
            f64 s = 0;
            f64 s_low = 0;
            s = ag_two_sum_f64(a, b, &s_low);
            m = ag_log_in_parts_f64(s, s_low, &m_low);
            p = ag_log_in_parts_f64(x, x_low, &p_low);
            p = ag_plus_parts_f64(p, p_low, m, m_low, &p_low);
            q = ag_log_in_parts_f64(a, 0.0, &q_low);
            p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
            q = ag_log_in_parts_f64(y, y_low, &q_low);
            q = ag_plus_parts_f64(q, q_low, m, m_low, &q_low);
            m = ag_log_in_parts_f64(b, 0.0, &m_low);
            q = ag_plus_parts_f64(q, q_low, -m, -m_low, &q_low);
        }
        p = ag_times_parts_f64(p, p_low, a, 0.0, &p_low);
        q = ag_times_parts_f64(q, q_low, b, 0.0, &q_low);
        p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
        const f64 rest = ag_stirling_f64(a + b) - ag_stirling_f64(a) - ag_stirling_f64(b);
        return ag_exp_parts_f64(p, p_low) * ag_exp_f64(rest) * sqrt_F(a / 0x1.921fb54442d18p+2 * (b / (a + b)));
    }
    p = ag_log_in_parts_f64(x, x_low, &p_low);
    p = ag_times_parts_f64(p, p_low, a, 0.0, &p_low);
    q = ag_log_in_parts_f64(y, y_low, &q_low);
    q = ag_times_parts_f64(q, q_low, b, 0.0, &q_low);
    p = ag_plus_parts_f64(p, p_low, q, q_low, &p_low);
    q = ag_log_beta_parts_f64(a, b, &q_low);
    p = ag_plus_parts_f64(p, p_low, -q, -q_low, &p_low);
    return ag_exp_parts_f64(p, p_low);
}

/* I_x(a, b) B(a, b) x**-a (1 - x)**-b, a sum of positive terms (DLMF 8.17.8). */
static inline f64 ag_beta_series_f64(f64 a, f64 b, f64 x)
{
    f64 term = 1.0;
    f64 total = 1.0;
    f64 low = 0.0;
    const f64 more = x * (b - 1.0);
    f64 n = a;
    for (i32 _ = 0; _ < 100000; _++) {
        n = n + 1.0;
        term = term * (x + more / n);
        f64 error = 0;
        total = ag_two_sum_f64(total, term, &error);
        low = low + error;
        if (term < 1e-17 * total) {
            break;
        }
    }
    return (total + low) / a;
}

/* log1p(x) - x, for |x| < 0.01 to the last bits. */
static inline f64 ag_log1p_rest_f64(f64 x)
{
    if (fabs_F(x) > 0.1) {
        return ag_log1p_f64(x) - x;
    }
    const f64 square = x * x;
    return square * (x / 3.0 - 0.5 + square * (x / 5.0 - 0.25 + square * (x / 7.0 - 1.0 / 6.0 + square * (x / 9.0 -
        0.125))));
}

/* I_x(a, b) for a and b above 1e6 and x up to the mean, where mean_part is a - (a + b) x. The density at x times
   the integral in t = x (1 - w), by the trapezoidal rule in s: w = scale exp(s - exp(-s)). */
static inline f64 ag_beta_of_large_f64(f64 a, f64 b, f64 x, f64 y, f64 mean_part)
{
    const f64 ratio = x / y;
    const f64 slope = (mean_part - 1.0 + 2.0 * x) / y;
    const f64 bend = a - 1.0 + (b - 1.0) * ratio * ratio;
    const f64 scale = 2.0 / (fabs_F(slope) + sqrt_F(slope * slope + 2.0 * bend));
    f64 total = 0.0;
    for (i32 k = 0; k < 76; k++) {
        const f64 s = 0.1 * (f64)k - 3.6;
        const f64 inner = ag_exp_f64(-s);
        const f64 w = scale * ag_exp_f64(s - inner);
        const f64 height = ag_exp_f64((a - 1.0) * ag_log1p_rest_f64(-w) + (b - 1.0) * ag_log1p_rest_f64(w * ratio) -
            slope * w);
        total = total + height * w * (1.0 + inner);
    }
    const f64 power = a * ag_log1p_rest_f64(-mean_part / a) + b * ag_log1p_rest_f64(mean_part / b);
    const f64 corrected = (1.0 / (a + b) - 1.0 / a - 1.0 / b) / 12.0;
    return ag_exp_f64(power + corrected) * sqrt_F(b / (a + b) * a / 0x1.921fb54442d18p+2) * (0.1 * total / y);
}

/* The same as `beta_series` by the continued fraction from its end on, for x up to the mean a / (a + b), b > 1.
   mean_part is a - (a + b) x. The number of terms was fitted: it is largest at the mean. */
static inline f64 ag_beta_fraction_f64(f64 a, f64 b, f64 x, f64 y, f64 mean_part)
{
    const f64 small = a < b ? a : b;
    const f64 root = sqrt_F(sqrt_F(small));
    const f64 few = 7.5 * sqrt_F(a);
    const f64 wide = b < a ? 4.4 + 2.6 * (1.0 - b / a) : 4.4;
    f64 count = 4.0 + wide * (root * sqrt_F(root)) + (few < 76.0 ? few : 76.0) / b;
    count = 6.0 + count / (1.0 + 0.2 * mean_part / sqrt_F(a / (a + b) * b));
    f64 over = 0.0;
    f64 under = 1.0;
    f64 n = floor_F(count);
    f64 above = 1.0 / (a + 2.0 * n + 1.0);
    const f64 first = mean_part + 1.0;
    const f64 slope = 1.0 + y;
    while (n > 0.0) {
        const f64 w = 1.0 / (a + 2.0 * n - 1.0);
        const f64 share = x * w;
        const f64 t = n * (b - n) * share;
        f64 p = a + n;
        const f64 f = n + t + p * above * __builtin_fma(n, slope, first);
        above = w;
        p = p - 1.0;
        const f64 factor = p * (p + b) * (share * t);
        const f64 larger = __builtin_fma(f, under, over);
        over = factor * under;
        under = larger;
        if (under > 1e+100) {
            over = over * 1e-100;
            under = under * 1e-100;
        }
        n = n - 1.0;
    }
    return 1.0 / (a / (a + 1.0) * (mean_part + 1.0) + over / under);
}

/* (I_x(a, b), 1 - I_x(a, b)), both accurate, for a <= 1 and b x < 1 or b <= 1: W. Gautschi's form. I is x**a / (a
   B(a, b)) (1 + a sum of (1 - b)_n x**n / (n! (a + n))). `rough`: 0, or the relative size of terms that do not
   count, where only the first result is wanted. */
static inline f64 ag_beta_of_small_f64(f64 a, f64 b, f64 x, f64 rough, f64 *second)
{
    const f64 least = rough > 0.0 ? rough : 1e-18;
    f64 term = 1.0;
    f64 total = 0.0;
    for (i32 k = 1; k < 200; k++) {
        const f64 n = (f64)k;
        term = term * ((n - b) * x / n);
        total = total + term / (a + n);
        if (fabs_F(term) < least * n) {
            break;
        }
    }
    f64 growth = 0;
    if (a < 1e-16) {
        growth = ag_expm1_f64(a * (ag_log_f64(x) + 0x1.2788cfc6fb619p-1 + ag_digamma_f64(1.0 + b)) - ag_log1p_f64(a /
            b));
        *second = -growth - (1.0 + growth) * (a * total);
        return (1.0 + growth) * (1.0 + a * total);
    }
    f64 quick = 0;
    f64 p = 0;
    f64 p_low = 0;
    if (b < 10.0) {
        p = ag_beta_of_moderate_f64(a, b, &p_low);
        quick = pow_F(x, a) / (a * p) * (1.0 - p_low / p) * (1.0 + a * total);
        if (quick < 0.6 || rough > 0.0) {
            *second = 1.0 - quick;
            return quick;
        }
    }
    if (b >= 10.0) {
        p = ag_beta_by_powers_f64(a, b);
        quick = p > 0.0 ? pow_F(x, a) / (a * p) * (1.0 + a * total) : 1.0;
        if (quick < 0.6 || (rough > 0.0 && p > 0.0)) {
            *second = 1.0 - quick;
            return quick;
        }
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, a, 0.0, &e_low);
    p = ag_log_beta_parts_f64(a, b, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    p = ag_log_in_parts_f64(a, 0.0, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    growth = ag_expm1_f64(e) + ag_exp_f64(e) * e_low;
    const f64 rest = -growth - ag_exp_f64(e) * (a * total);
    *second = rest;
    return ag_exp_f64(e) * (1.0 + e_low) * (1.0 + a * total);
}

/* I_x(a, b) for b <= 1, y = 1 - x < 0.2 and a >= 15, or y < 0.3 and a >= 20. A. R. DiDonato and A. H. Morris'
   expansion in incomplete gamma functions. */
static inline f64 ag_beta_of_tail_f64(f64 a, f64 b, f64 y)
{
    f64 t = 0;
    f64 t_low = 0;
    t = ag_two_sum_f64(a, 0.5 * (b - 1.0), &t_low);
    f64 z = 0;
    f64 z_low = 0;
    z = ag_log1p_parts_f64(-y, 0.0, &z_low);
    const f64 log_x = z;
    z = ag_times_parts_f64(z, z_low, -t, -t_low, &z_low);
    f64 upper = 0;
    ag_incomplete_gamma_f64(b, z, &upper);
    const f64 size = ag_gamma_factor_f64(b, z) * b;
    if (size == 0.0) {
        return 0.0;
    }
    upper = upper - size * (z_low / z);
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_gamma_parts_f64(b, 0.0, &e_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_log_beta_parts_f64(a, b, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    p = ag_log_in_parts_f64(t, t_low, &p_low);
    p = ag_times_parts_f64(p, p_low, b, 0.0, &p_low);
    e = ag_plus_parts_f64(e, e_low, -p, -p_low, &e_low);
    const f64 c = b - 1.0;
    const f64 p1 = c / 6.0;
    const f64 p2 = (b - 2.0) * p1 / 6.0 / 2.0 + c / 120.0;
    const f64 p3 = ((b - 3.0) * p2 / 6.0 + (2.0 * b - 3.0) * p1 / 120.0) / 3.0 + c / 5040.0;
    const f64 p4 = ((b - 4.0) * p3 / 6.0 + (2.0 * b - 4.0) * p2 / 120.0 + (3.0 * b - 4.0) * p1 / 5040.0) / 4.0 + c /
        362880.0;
    f64 p5 = (b - 5.0) * p4 / 6.0 + (2.0 * b - 5.0) * p3 / 120.0 + (3.0 * b - 5.0) * p2 / 5040.0;
    p5 = (p5 + (4.0 * b - 5.0) * p1 / 362880.0) / 5.0 + c / 39916800.0;
    f64 p6 = (b - 6.0) * p5 / 6.0 + (2.0 * b - 6.0) * p4 / 120.0 + (3.0 * b - 6.0) * p3 / 5040.0;
    p6 = (p6 + (4.0 * b - 6.0) * p2 / 362880.0 + (5.0 * b - 6.0) * p1 / 39916800.0) / 6.0 + c / 6227020800.0;
    const f64 square = 0.25 * log_x * log_x;
    f64 power = 1.0;
    f64 j = upper / size;
    f64 total = 0.0;
    for (i32 k = 0; k < 6; k++) {
        const f64 n = b + 2.0 * (f64)k;
        j = (n * (n + 1.0) * j + (z + n + 1.0) * power) / (4.0 * t * t);
        power = power * square;
        const f64 factor = k == 0 ? p1 : k == 1 ? p2 : k == 2 ? p3 : k == 3 ? p4 : k == 4 ? p5 : p6;
        total = total + factor * j;
    }
    return ag_exp_parts_f64(e, e_low) * (upper + size * total);
}

/* The same, where `given` is 0 or beta_factor(a, b, x, y); `rough` is that of `beta_of_small` below the mean. */
static inline f64 ag_incomplete_beta_of_f64(f64 a, f64 b, f64 x, f64 y, f64 given, f64 rough, f64 *second)
{
    const f64 swapped = a + b > 2.0 ? x * (a + b) > a : x > 0.5;
    const f64 p = swapped ? b : a;
    const f64 q = swapped ? a : b;
    const f64 u = swapped ? y : x;
    const f64 v = swapped ? x : y;
    f64 got = 0.0;
    f64 rest = 0.0;
    if (p < 1.0) {
        got = ag_beta_of_small_f64(p, q, u, swapped ? 0.0 : rough, &rest);
    }
    else {
        if (q <= 1.0 && u > 0.7 && p * v < 0.7) {
            rest = ag_beta_of_small_f64(q, p, v, 0.0, &got);
        }
        else {
            if (q <= 1.0 && p >= 15.0 && v < (p >= 20.0 ? 0.3 : 0.2)) {
                got = ag_beta_of_tail_f64(p, q, v);
            }
            else {
                if (q <= 1.0 || u * (p + q) < 0.5 * (p + 1.0) || (u < 0.02 * v && p < 40.0)) {
                    got = (given > 0.0 ? given : ag_beta_factor_f64(p, q, u, v)) * ag_beta_series_f64(p, q, u);
                }
                else {
                    f64 s = 0;
                    f64 s_low = 0;
                    s = ag_two_sum_f64(a, b, &s_low);
                    s = ag_times_parts_f64(s, s_low, x, 0.0, &s_low);
                    s = ag_plus_parts_f64(a, 0.0, -s, -s_low, &s_low);
                    s = swapped ? -s : s;
                    if (p > 1000000.0 && q > 1000000.0) {
                        got = ag_beta_of_large_f64(p, q, u, v, s);
                    }
                    else {
                        got = given > 0.0 ? given : ag_beta_factor_f64(p, q, u, v);
                        got = got * ag_beta_fraction_f64(p, q, u, v, s);
                    }
                }
            }
            got = got > 1.0 ? 1.0 : got;
            rest = 1.0 - got;
        }
    }
    if (swapped) {
        *second = got;
        return rest;
    }
    *second = rest;
    return got;
}

/* (I_x(a, b), 1 - I_x(a, b)) for positive a, b and 0 < x < 1, y = 1 - x: the smaller one is accurate. */
INLINE f64 ag_incomplete_beta_f64(f64 a, f64 b, f64 x, f64 y, f64 *second)
{
    return ag_incomplete_beta_of_f64(a, b, x, y, 0.0, 0.0, second);
}

/* The incomplete beta function, regularized; NaN outside of a, b >= 0 and 0 <= x <= 1. Within 8 ulp for a, b from
   0.05 to 1e4. */
static inline f64 ag_betainc_f64(f64 a, f64 b, f64 x)
{
    if (a != a || b != b || x != x || a < 0.0 || b < 0.0 || x < 0.0 || x > 1.0) {
        return __builtin_nan("");
    }
    if ((a == 0.0 && b == 0.0) || (a == __builtin_inf() && b == __builtin_inf())) {
        return __builtin_nan("");
    }
    if ((x == 0.0 && a > 0.0) || (b == 0.0 && x < 1.0) || (a == __builtin_inf() && x < 1.0)) {
        return 0.0;
    }
    if (x == 1.0 || a == 0.0 || b == __builtin_inf()) {
        return x > 0.0 ? 1.0 : 0.0;
    }
    f64 p = 0;
    f64 _q = 0;
    p = ag_incomplete_beta_of_f64(a, b, x, 1.0 - x, 0.0, 1e-18, &_q);
    return p > 1.0 ? 1.0 : p;
}

/* 1 - betainc(a, b, x), as exact, without cancellation above the mean. */
static inline f64 ag_betaincc_f64(f64 a, f64 b, f64 x)
{
    if (a != a || b != b || x != x || a < 0.0 || b < 0.0 || x < 0.0 || x > 1.0) {
        return __builtin_nan("");
    }
    if ((a == 0.0 && b == 0.0) || (a == __builtin_inf() && b == __builtin_inf())) {
        return __builtin_nan("");
    }
    if ((x == 0.0 && a > 0.0) || (b == 0.0 && x < 1.0) || (a == __builtin_inf() && x < 1.0)) {
        return 1.0;
    }
    if (x == 1.0 || a == 0.0 || b == __builtin_inf()) {
        return x > 0.0 ? 0.0 : 1.0;
    }
    f64 q = 0;
    ag_incomplete_beta_f64(a, b, x, 1.0 - x, &q);
    return q;
}

/* The derivatives of I_x(a, b) by a and b, for x below the mean: the series, term by term. */
static inline f64 ag_beta_slopes_f64(f64 a, f64 b, f64 x, f64 y, f64 *second)
{
    f64 term = 1.0;
    f64 total = 1.0;
    f64 by_a = 0.0;
    f64 by_b = 0.0;
    f64 slope_a = 0.0;
    f64 slope_b = 0.0;
    for (i32 k = 0; k < 200000; k++) {
        const f64 n = (f64)k;
        slope_b = slope_b + 1.0 / (a + b + n);
        slope_a = slope_a + (1.0 - b) / ((a + b + n) * (a + 1.0 + n));
        term = term * (x * (a + b + n) / (a + 1.0 + n));
        total = total + term;
        by_a = by_a + term * slope_a;
        by_b = by_b + term * slope_b;
        if (term * (1.0 + slope_b) < 1e-17 * total) {
            break;
        }
    }
    const f64 factor = ag_beta_factor_f64(a, b, x, y) / a;
    const f64 joint = ag_digamma_f64(a + b);
    const f64 log_x = x < 0.5 ? ag_log_f64(x) : ag_log1p_f64(-y);
    const f64 log_y = y < 0.5 ? ag_log_f64(y) : ag_log1p_f64(-x);
    *second = factor * ((log_y - ag_digamma_f64(b) + joint) * total + by_b);
    return factor * ((log_x - ag_digamma_f64(a + 1.0) + joint) * total + by_a);
}

/* The derivative of `betainc` by a, within 1024 ulp for parameters from 0.1 to 300. */
static inline f64 ag_betainc_by_a_f64(f64 a, f64 b, f64 x)
{
    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (x == 0.0 || x == 1.0) {
        return 0.0;
    }
    f64 by_a = 0;
    if (x * (a + b) > a) {
        ag_beta_slopes_f64(b, a, 1.0 - x, x, &by_a);
        return -by_a;
    }
    f64 _by_b = 0;
    by_a = ag_beta_slopes_f64(a, b, x, 1.0 - x, &_by_b);
    return by_a;
}

/* The derivative of `betainc` by b, as exact. */
static inline f64 ag_betainc_by_b_f64(f64 a, f64 b, f64 x)
{
    if (!(a > 0.0 && b > 0.0 && x >= 0.0 && x <= 1.0) || a == __builtin_inf() || b == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (x == 0.0 || x == 1.0) {
        return 0.0;
    }
    f64 by_b = 0;
    f64 _by_a = 0;
    if (x * (a + b) > a) {
        by_b = ag_beta_slopes_f64(b, a, 1.0 - x, x, &_by_a);
        return -by_b;
    }
    ag_beta_slopes_f64(a, b, x, 1.0 - x, &by_b);
    return by_b;
}
