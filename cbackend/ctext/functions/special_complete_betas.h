/* The beta function and its logarithm: quotients of gamma functions in two parts, and reflections below 0.

   Written by ../translated.py from ops/special/complete_betas.py. */
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

/* sin(pi (v + low)), accurate near its zeros. */
INLINE f64 ag_sine_of_parts_f64(f64 v, f64 low)
{
    const f64 nearest = rint_F(v);
    const f64 sine = ag_sin_f64(0x1.921fb54442d18p+1 * (v - nearest + low));
    return nearest - 2.0 * floor_F(0.5 * nearest) == 1.0 ? -sine : sine;
}

/* log(|sin(pi (v + low)) / pi|) in two parts, of 1 / (gamma(d) gamma(1 - d)) with the distance d to an integer. */
INLINE f64 ag_log_sine_parts_f64(f64 v, f64 low, f64 *second)
{
    f64 d = 0;
    f64 d_low = 0;
    d = ag_two_sum_f64(v - rint_F(v), low, &d_low);
    d_low = d < 0.0 ? -d_low : d_low;
    d = fabs_F(d);
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_gamma_parts_f64(d, d_low, &e_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_plus_parts_f64(1.0, 0.0, -d, -d_low, &p_low);
    p = ag_log_gamma_parts_f64(p, p_low, &p_low);
    e = ag_plus_parts_f64(e, e_low, p, p_low, &e_low);
    *second = -e_low;
    return -e;
}

/* The logarithmic derivative of gamma for a > 0, to 0.006 and so few terms of DLMF 5.11.2. */
INLINE f64 ag_rough_digamma_f64(f64 a)
{
    const f64 inverse = 1.0 / (a + 1.0);
    return ag_log_f64(a + 1.0) - inverse * (0.5 + 0x1.5555555555555p-4 * inverse) - 1.0 / a;
}

/* log(B(a + a_low, b + b_low)) less log(B(a, b)), to the first order. */
static inline f64 ag_beta_slope_f64(f64 a, f64 a_low, f64 b, f64 b_low)
{
    if (a_low == 0.0 && b_low == 0.0) {
        return 0.0;
    }
    const f64 joint = ag_rough_digamma_f64(a + b);
    return a_low * (ag_rough_digamma_f64(a) - joint) + b_low * (ag_rough_digamma_f64(b) - joint);
}

/* B(a, b) for a < 0, no pole, and finite operands: by the reflection of each gamma of a negative (DLMF 5.5.3). */
static inline f64 ag_mirrored_beta_f64(f64 a, f64 b)
{
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_two_sum_f64(1.0, -a, &p_low);
    const f64 sine = ag_sine_of_parts_f64(a, 0.0);
    f64 q = 0;
    f64 q_low = 0;
    if (b < 0.0) {
        q = ag_two_sum_f64(1.0, -b, &q_low);
        const f64 ratio = 0x1.921fb54442d18p+1 * ag_sine_of_parts_f64(s, s_low) / (sine * ag_sine_of_parts_f64(b,
            0.0));
        return ratio / ((1.0 - s) * ag_beta_of_positive_f64(p, q) * (1.0 + ag_beta_slope_f64(p, p_low, q, q_low)));
    }
    if (s > 0.0) {
        return 0x1.921fb54442d18p+1 / (sine * b * ag_beta_of_positive_f64(p, s) * (1.0 + ag_beta_slope_f64(p, p_low,
            s, s_low)));
    }
    q = ag_plus_parts_f64(1.0, 0.0, -s, -s_low, &q_low);
    return ag_sine_of_parts_f64(s, s_low) / sine * (ag_beta_of_positive_f64(b, q) * (1.0 + ag_beta_slope_f64(b, 0.0,
        q, q_low)));
}

/* log(|B(a, b)|) for such operands, in two parts. */
static inline f64 ag_log_mirrored_beta_f64(f64 a, f64 b, f64 *second)
{
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    f64 p = 0;
    f64 p_low = 0;
    p = ag_two_sum_f64(1.0, -a, &p_low);
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_sine_parts_f64(a, 0.0, &e_low);
    f64 t = 0;
    f64 t_low = 0;
    if (s > 0.0) {
        t = ag_log_in_parts_f64(b, 0.0, &t_low);
        e = ag_plus_parts_f64(e, e_low, t, t_low, &e_low);
        t = ag_log_beta_parts_f64(p, s, &t_low);
        e = ag_plus_parts_f64(e, e_low, t, t_low + ag_beta_slope_f64(p, p_low, s, s_low), &e_low);
        *second = -e_low;
        return -e;
    }
    t = ag_log_sine_parts_f64(s, s_low, &t_low);
    e = ag_plus_parts_f64(t, t_low, -e, -e_low, &e_low);
    f64 q = 0;
    f64 q_low = 0;
    q = ag_plus_parts_f64(1.0, 0.0, -s, -s_low, &q_low);
    if (b > 0.0) {
        t = ag_log_beta_parts_f64(b, q, &t_low);
        return ag_plus_parts_f64(e, e_low, t, t_low + ag_beta_slope_f64(b, 0.0, q, q_low), second);
    }
    t = ag_log_in_parts_f64(q, q_low, &t_low);
    e = ag_plus_parts_f64(e, e_low, -t, -t_low, &e_low);
    t = ag_log_sine_parts_f64(b, 0.0, &t_low);
    e = ag_plus_parts_f64(e, e_low, -t, -t_low, &e_low);
    q = ag_two_sum_f64(1.0, -b, &q_low);
    t = ag_log_beta_parts_f64(p, q, &t_low);
    return ag_plus_parts_f64(e, e_low, -t, -(t_low + ag_beta_slope_f64(p, p_low, q, q_low)), second);
}

/* log(|B(a, b)|), within 8 ulp; infinite at its poles. */
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
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    if (s <= 0.0 && s == floor_F(s) && s_low == 0.0) {
        return -__builtin_inf();
    }
    const f64 least = a < b ? a : b;
    const f64 other = b == least ? a : b;
    const f64 quick = ag_log_f64(fabs_F(ag_mirrored_beta_f64(least, other)));
    if (fabs_F(quick) > 1.5 && fabs_F(quick) < __builtin_inf()) {
        return quick;
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_mirrored_beta_f64(least, other, &e_low);
    return e + e_low;
}

/* B(a, b) = gamma(a) gamma(b) / gamma(a + b), within 8 ulp for positive operands, and 12 ulp for others. */
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
    f64 s = 0;
    f64 s_low = 0;
    s = ag_two_sum_f64(a, b, &s_low);
    if (s <= 0.0 && s == floor_F(s) && s_low == 0.0) {
        return 0.0;
    }
    const f64 least = a < b ? a : b;
    const f64 other = b == least ? a : b;
    const f64 found = ag_mirrored_beta_f64(least, other);
    if (found != 0.0 && fabs_F(found) < __builtin_inf()) {
        return found;
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_mirrored_beta_f64(least, other, &e_low);
    f64 sign = ag_sine_of_parts_f64(least, 0.0) * (other < 0.0 ? ag_sine_of_parts_f64(other, 0.0) : 1.0);
    sign = sign * (s < 0.0 ? ag_sine_of_parts_f64(s, s_low) : 1.0);
    return ag_exp_times_f64(e, e_low, sign < 0.0 ? -1.0 : 1.0);
}
