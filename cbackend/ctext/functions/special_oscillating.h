/* Bessel functions of the first and second kind, of real orders.

   Written by ../translated.py from ops/special/oscillating.py. */
#pragma once
#include "float.h"
#include "gamma.h"

/* (Y_m(x), Y_(m + 1)(x)) for |m| <= 1/2 and x <= 2, by N. M. Temme's series. */
static inline f64 ag_jy_pair_f64(f64 m, f64 x, f64 *second)
{
    f64 g1 = 0;
    f64 g2 = 0;
    g1 = ag_gamma_differences_f64(m, &g2);
    const f64 plus = g2 - m * g1;
    const f64 minus = g2 + m * g1;
    const f64 factor = fabs_F(m) < 1e-08 ? 1.0 : 0x1.921fb54442d18p+1 * m / ag_sin_f64(0x1.921fb54442d18p+1 * m);
    f64 d = -ag_log_f64(0.5 * x);
    const f64 e = m * d;
    const f64 shape = fabs_F(e) < 0.0001 ? 1.0 + e * e / 6.0 : ag_sinh_f64(e) / e;
    f64 f = 0x1.45f306dc9c883p-1 * factor * (g1 * ag_cosh_f64(e) + g2 * shape * d);
    const f64 grown = ag_exp_f64(e);
    f64 p = grown / (0x1.921fb54442d18p+1 * plus);
    f64 q = 1.0 / (grown * 0x1.921fb54442d18p+1 * minus);
    const f64 half = 0.5 * 0x1.921fb54442d18p+1 * m;
    const f64 ratio = fabs_F(half) < 1e-08 ? 1.0 : ag_sin_f64(half) / half;
    const f64 r = 0x1.921fb54442d18p+1 * half * ratio * ratio;
    f64 c = 1.0;
    const f64 square = -0.25 * x * x;
    f64 f_low = 0.0;
    f64 p_low = 0.0;
    f64 q_low = 0.0;
    f64 c_low = 0.0;
    f64 total = 0;
    f64 total_low = 0;
    total = ag_two_sum_f64(f, r * q, &total_low);
    f64 total1 = p;
    f64 total1_low = 0.0;
    f64 n = 0;
    for (i32 k = 1; k < 3; k++) {
        n = (f64)k;
        f = ag_times_parts_f64(f, f_low, n, 0.0, &f_low);
        f = ag_plus_parts_f64(f, f_low, p, p_low, &f_low);
        f = ag_plus_parts_f64(f, f_low, q, q_low, &f_low);
        f64 d_low = 0;
        d = ag_times_parts_f64(n - m, 0.0, n + m, 0.0, &d_low);
        f = ag_divided_parts_f64(f, f_low, d, d_low, &f_low);
        c = ag_times_parts_f64(c, c_low, -0.25 * x, 0.0, &c_low);
        c = ag_times_parts_f64(c, c_low, x / n, 0.0, &c_low);
        p = ag_divided_parts_f64(p, p_low, n - m, 0.0, &p_low);
        q = ag_divided_parts_f64(q, q_low, n + m, 0.0, &q_low);
        f64 g = 0;
        f64 g_low = 0;
        g = ag_times_parts_f64(q, q_low, r, 0.0, &g_low);
        g = ag_plus_parts_f64(f, f_low, g, g_low, &g_low);
        f64 h = 0;
        f64 h_low = 0;
        h = ag_times_parts_f64(g, g_low, c, c_low, &h_low);
        total = ag_plus_parts_f64(total, total_low, h, h_low, &total_low);
        g = ag_times_parts_f64(g, g_low, -n, 0.0, &g_low);
        g = ag_plus_parts_f64(g, g_low, p, p_low, &g_low);
        g = ag_times_parts_f64(g, g_low, c, c_low, &g_low);
        total1 = ag_plus_parts_f64(total1, total1_low, g, g_low, &total1_low);
    }
    for (i32 k = 3; k < 100; k++) {
        n = (f64)k;
        f = (n * f + p + q) / (n * n - m * m);
        c = c * (square / n);
        p = p / (n - m);
        q = q / (n + m);
        const f64 step = c * (f + r * q);
        total_low = total_low + step;
        total1_low = total1_low + c * (p - n * (f + r * q));
        if (fabs_F(step) < 1e-17 * (1.0 + fabs_F(total))) {
            break;
        }
    }
    *second = -(total1 + total1_low) * (2.0 / x);
    return -(total + total_low);
}

/* J_v(x) for v >= 0 by its power series, for x small beside sqrt(v + 1). */
static inline f64 ag_j_series_f64(f64 v, f64 x)
{
    const f64 q = -0.25 * x * x;
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 1; k < 500; k++) {
        const f64 n = (f64)k;
        term = term * (q / (n * (v + n)));
        total = total + term;
        if (fabs_F(term) < 1e-18 * fabs_F(total)) {
            break;
        }
    }
    if (x < 1e-300) {
        return total * (v == 0.0 ? 1.0 : pow_F(0.5 * x, v) / ag_gamma_f64(v + 1.0));
    }
    if (v == 0.0) {
        return total;
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(0.5 * x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, v, 0.0, &e_low);
    f64 g = 0;
    f64 g_low = 0;
    g = ag_log_gamma_parts_f64(v, 0.0, &g_low);
    e = ag_plus_parts_f64(e, e_low, -g, -g_low, &e_low);
    return ag_exp_parts_f64(e, e_low) * total / v;
}

/* Cosine and sine of x - (v / 2 + 1 / 4) pi, with an angle in two parts for x < 1e6. */
static inline f64 ag_hankel_angle_f64(f64 v, f64 x, f64 *second)
{
    const f64 whole = rint_F(v);
    f64 turn = 0;
    f64 turn_low = 0;
    turn = ag_two_sum_f64(0.25, 0.5 * (v - whole), &turn_low);
    turn = ag_times_parts_f64(turn, turn_low, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, &turn_low);
    const f64 near = x < 1000000.0;
    const f64 k = near ? rint_F(x * 0x1.45f306dc9c883p-1) : 0.0;
    f64 angle = 0;
    f64 low = 0;
    angle = ag_two_sum_f64(near ? x - k * 0x1.921fb54400000p+0 : 0.0, -k * 0x1.0b4611a600000p-34, &low);
    angle = ag_plus_parts_f64(angle, low - k * 0x1.3198a2e037073p-69, -turn, -turn_low, &low);
    f64 c = ag_cos_f64(angle);
    f64 s = ag_sin_f64(angle);
    f64 cosine = c - s * low;
    f64 sine = s + c * low;
    f64 rotated = 0;
    if (!near) {
        c = ag_cos_f64(x);
        s = ag_sin_f64(x);
        rotated = cosine * c - sine * s;
        sine = cosine * s + sine * c;
        cosine = rotated;
    }
    f64 quarters = k - whole;
    quarters = quarters - 4.0 * floor_F(0.25 * quarters);
    if (quarters == 1.0 || quarters == 3.0) {
        rotated = sine;
        sine = cosine;
        cosine = -rotated;
    }
    const f64 sign = quarters >= 2.0 ? -1.0 : 1.0;
    *second = sign * sine;
    return sign * cosine;
}

/* J_v(x), or Y_v(x), for x large beside v**2, by Hankel's expansion (DLMF 10.17.3). */
static inline f64 ag_hankel_pair_f64(f64 v, f64 x, i32 is_y)
{
    const f64 mu = 4.0 * v * v;
    f64 p = 1.0;
    f64 q = 0.0;
    f64 term = 1.0;
    for (i32 k = 1; k < 80; k++) {
        const f64 n = (f64)(2 * k - 1);
        const f64 better = term * ((mu - n * n) / (8.0 * (f64)k * x));
        if (fabs_F(better) > fabs_F(term) && n * n > mu) {
            break;
        }
        term = better;
        const f64 phase_ = k % 4;
        if (phase_ == 1) {
            q = q + term;
        }
        if (phase_ == 2) {
            p = p - term;
        }
        if (phase_ == 3) {
            q = q - term;
        }
        if (phase_ == 0) {
            p = p + term;
        }
        if (fabs_F(term) < 1e-17) {
            break;
        }
    }
    f64 cosine = 0;
    f64 sine = 0;
    cosine = ag_hankel_angle_f64(v, x, &sine);
    const f64 size = sqrt_F(0x1.45f306dc9c883p-1 / x);
    return is_y ? size * (p * sine + q * cosine) : size * (p * cosine - q * sine);
}

/* (p, q): p + i q is the logarithmic derivative of the Hankel function of order m, for x >= 2. */
static inline f64 ag_hankel_fraction_f64(f64 m, f64 x, f64 *second)
{
    f64 a = 0.25 - m * m;
    f64 p = -0.5 / x;
    f64 q = 1.0;
    const f64 br = 2.0 * x;
    f64 bi = 2.0;
    f64 size = p * p + q * q;
    f64 cr = br + a / x * q / size;
    f64 ci = bi + a / x * p / size;
    size = br * br + bi * bi;
    f64 dr = br / size;
    f64 di = -bi / size;
    f64 sr = cr * dr - ci * di;
    f64 si = cr * di + ci * dr;
    f64 t = p * sr - q * si;
    q = p * si + q * sr;
    p = t;
    for (i32 k = 2; k < 100000; k++) {
        a = a + (f64)(2 * (k - 1));
        bi = bi + 2.0;
        dr = a * dr + br;
        di = a * di + bi;
        size = a / (cr * cr + ci * ci);
        cr = br + cr * size;
        ci = bi - ci * size;
        size = dr * dr + di * di;
        dr = dr / size;
        di = -di / size;
        sr = cr * dr - ci * di;
        si = cr * di + ci * dr;
        t = p * sr - q * si;
        q = p * si + q * sr;
        p = t;
        if (fabs_F(sr - 1.0) + fabs_F(si) < 1.2e-16) {
            break;
        }
    }
    *second = q;
    return p;
}

/* The same as `hankel_fraction` for 0 <= m <= 1 and 2 <= x <= 18: from the end on, where errors fade. The number
   of terms was fitted. */
static inline f64 ag_hankel_rest_f64(f64 m, f64 x, f64 *second)
{
    f64 re = 0.0;
    f64 im = 0.0;
    const f64 square = m * m;
    for (i32 k = (i32)(5.0 + 90.0 / x); k > 0; k--) {
        const f64 n = (f64)k;
        re = 2.0 * x + re;
        im = 2.0 * n + im;
        const f64 share = ((n - 0.5) * (n - 0.5) - square) / (re * re + im * im);
        re = share * re;
        im = -share * im;
    }
    *second = 1.0 + re / x;
    return -(0.5 + im) / x;
}

/* (J_v(x), Y_v(x)) for v >= 0 and x > 0. The ratio J_(v + 1) / J_v by its continued fraction, and Y of an order
   near 0 by Temme's series (x <= 2) or p + i q, the continued fraction of the Hankel function; both meet in the
   Wronskian (DLMF 10.5.2, 10.33). */
static inline f64 ag_jy_of_order_f64(f64 v, f64 x, f64 *second)
{
    f64 n = x < 2.0 ? floor_F(v + 0.5) : floor_F(v - x + 1.5);
    n = n > 0.0 ? n : 0.0;
    const f64 m = v - n;
    f64 sign = 1.0;
    f64 b = 2.0 * v / x;
    f64 h = v / x;
    h = h < 1e-300 ? 1e-300 : h;
    f64 c = h;
    f64 d = 0.0;
    for (i32 _ = 0; _ < 100000; _++) {
        b = b + 2.0 / x;
        d = b - d;
        d = fabs_F(d) < 1e-300 ? 1e-300 : d;
        c = b - 1.0 / c;
        c = fabs_F(c) < 1e-300 ? 1e-300 : c;
        d = 1.0 / d;
        const f64 step = c * d;
        h = step * h;
        sign = d < 0.0 ? -sign : sign;
        if (fabs_F(step - 1.0) < 1.2e-16) {
            break;
        }
    }
    f64 j = sign * 1e-250;
    const f64 first = j;
    f64 slope = h * j;
    f64 order = v;
    f64 count = n;
    f64 better = 0;
    while (count > 0.0) {
        better = order / x * j + slope;
        order = order - 1.0;
        slope = order / x * better - j;
        j = better;
        count = count - 1.0;
    }
    j = j == 0.0 ? 1e-300 : j;
    const f64 f = slope / j;
    f64 prime = 0;
    f64 found = 0;
    f64 y = 0;
    f64 y1 = 0;
    if (x < 2.0) {
        y = ag_jy_pair_f64(m, x, &y1);
        prime = m / x * y - y1;
        found = 2.0 / (0x1.921fb54442d18p+1 * x) / (prime - f * y);
    }
    else {
        f64 p = 0;
        f64 q = 0;
        p = ag_hankel_fraction_f64(m, x, &q);
        const f64 g = (p - f) / q;
        found = sqrt_F(2.0 / (0x1.921fb54442d18p+1 * x) / ((p - f) * g + q));
        found = j < 0.0 ? -found : found;
        y = found * g;
        prime = g != 0.0 ? y * (p + q / g) : found * q;
        y1 = m / x * y - prime;
    }
    order = m;
    count = n;
    while (count > 0.0) {
        better = 2.0 * (order + 1.0) / x * y1 - y;
        y = y1;
        y1 = better;
        order = order + 1.0;
        count = count - 1.0;
        if (fabs_F(y1) == __builtin_inf()) {
            break;
        }
    }
    y = count == 0.0 ? y : y1;
    *second = y;
    return found * (first / j);
}

/* J or Y of the order `order + count` from those of order and order + 1, in two parts (DLMF 10.6.1). The
   recurrence is stable for Y, and for J up to the order x. */
static inline f64 ag_upward_f64(f64 order, i32 count, f64 x, f64 here, f64 above)
{
    if (count == 0) {
        return here;
    }
    f64 a = here;
    f64 a_low = 0.0;
    f64 b = above;
    f64 b_low = 0.0;
    const f64 v = order + (f64)count;
    for (i32 _ = 0; _ < count - 1; _++) {
        order = order + 1.0;
        f64 f = 0;
        f64 f_low = 0;
        f = ag_divided_parts_f64(2.0 * order, 0.0, x, 0.0, &f_low);
        f = ag_times_parts_f64(f, f_low, b, b_low, &f_low);
        f = ag_plus_parts_f64(f, f_low, -a, -a_low, &f_low);
        a = b;
        a_low = b_low;
        b = f;
        b_low = f_low;
        if (!(fabs_F(b) < 1e+305)) {
            return v - order > 1.5 || b != b ? -__builtin_inf() : b;
        }
    }
    return b;
}

/* (J_(m + n)(x), J_(m + n + 1)(x)) for 0 <= m < 1, a whole number n, x > 1: J. C. P. Miller's algorithm. The
   recurrence goes down in two parts from an order where J is below 1e-19. Neumann's series gives the size: (x /
   2)**m is the sum of (m + 2 k) g(k) J_(m + 2 k)(x) with g(k) = gamma(m + k) / k! (DLMF 10.23.15). */
static inline f64 ag_downward_f64(f64 m, f64 n, f64 x, f64 *second)
{
    const f64 above = x + 15.0 * pow_F(x, 1.0 / 3.0);
    const f64 beyond = m + n + 25.0;
    f64 half = floor_F(0.5 * (above > beyond ? above : beyond)) + 1.0;
    f64 t = 0;
    f64 t_low = 0;
    t = ag_divided_parts_f64(2.0, 0.0, x, 0.0, &t_low);
    f64 d = 0;
    f64 d_low = 0;
    d = ag_two_sum_f64(m, 2.0 * half, &d_low);
    f64 f = 0;
    f64 f_low = 0;
    f = ag_times_parts_f64(t, t_low, d, d_low, &f_low);
    f64 a = 0.0;
    f64 a_low = 0.0;
    f64 b = 1e-250;
    f64 b_low = 0.0;
    f64 g = 1.0;
    f64 g_low = 0.0;
    f64 total = 0.0;
    f64 total_low = 0.0;
    f64 first = 0.0;
    f64 next_ = 0.0;
    f64 p = 0;
    f64 p_low = 0;
    while (half > 0.0) {
        const f64 k = 2.0 * half;
        first = k == n ? b : first;
        next_ = k == n + 1.0 ? b : next_;
        d = ag_two_sum_f64(m, k, &d_low);
        p = ag_times_parts_f64(d, d_low, g, g_low, &p_low);
        p = ag_times_parts_f64(p, p_low, b, b_low, &p_low);
        total = ag_plus_parts_f64(total, total_low, p, p_low, &total_low);
        if (half > 1.0) {
            g = ag_times_parts_f64(g, g_low, half, 0.0, &g_low);
            d = ag_two_sum_f64(half - 1.0, m, &d_low);
            g = ag_divided_parts_f64(g, g_low, d, d_low, &g_low);
        }
        p = ag_times_parts_f64(f, f_low, b, b_low, &p_low);
        a = ag_plus_parts_f64(p, p_low, -a, -a_low, &a_low);
        f = ag_plus_parts_f64(f, f_low, -t, -t_low, &f_low);
        first = k - 1.0 == n ? a : first;
        next_ = k == n + 2.0 ? a : next_;
        p = ag_times_parts_f64(f, f_low, a, a_low, &p_low);
        b = ag_plus_parts_f64(p, p_low, -b, -b_low, &b_low);
        f = ag_plus_parts_f64(f, f_low, -t, -t_low, &f_low);
        half = half - 1.0;
    }
    first = n == 0.0 ? b : first;
    p = ag_times_parts_f64(g, g_low, b, b_low, &p_low);
    total = ag_plus_parts_f64(total, total_low, p, p_low, &total_low);
    f64 r = 0;
    f64 r_low = 0;
    r = ag_reciprocal_gamma_f64(1.0 + m, &r_low);
    p = ag_divided_parts_f64(g, g_low, total, total_low, &p_low);
    const f64 size = (r + r_low) * (p + p_low) * pow_F(0.5 * x, m);
    *second = size * next_;
    return size * first;
}

/* J_v(x) for v <= x, or Y_v(x), for x > 18: Hankel's expansion of orders below 2, then the recurrence upwards. */
INLINE f64 ag_risen_pair_f64(f64 v, f64 x, i32 is_y)
{
    const f64 n = floor_F(v);
    const f64 order = v - n;
    return ag_upward_f64(order, (i32)n, x, ag_hankel_pair_f64(order, x, is_y), ag_hankel_pair_f64(order + 1.0, x,
        is_y));
}

/* Y_v(x) for v >= 0 and x <= 18, from an order m in [0, 1), or about 0 where x < 2. There by Temme's series, or by
   J and the logarithmic derivative p + i q of the Hankel function: p J - J' = q Y. */
static inline f64 ag_y_of_moderate_f64(f64 v, f64 x)
{
    const f64 n = x < 2.0 ? floor_F(v + 0.5) : floor_F(v);
    const f64 m = v - n;
    f64 y = 0;
    f64 y1 = 0;
    if (x < 2.0) {
        y = ag_jy_pair_f64(m, x, &y1);
    }
    else {
        f64 j = 0;
        f64 j1 = 0;
        j = ag_downward_f64(m, 0.0, x, &j1);
        f64 p = 0;
        f64 q = 0;
        p = ag_hankel_rest_f64(m, x, &q);
        const f64 slope = m / x * j - j1;
        y = (p * j - slope) / q;
        y1 = m / x * y - (p * y + q * j);
    }
    return ag_upward_f64(m, (i32)n, x, y, y1);
}

/* Exponent of 1 / J_v(x) and of -Y_v(x) for large v > x, but for the factor in front (DLMF 10.19.3). */
INLINE f64 ag_debye_decay_f64(f64 v, f64 x)
{
    f64 ratio = v / x;
    ratio = ratio > 100000000.0 ? 100000000.0 : ratio;
    const f64 root = sqrt_F((ratio - 1.0) * (ratio + 1.0));
    return v * (ag_log_f64(ratio + root) - root / ratio);
}

/* J_v(x), or Y_v(x), for x - v > 1e5 and v > 1e5 by Debye's expansion where it oscillates (DLMF 10.19.6). */
INLINE f64 ag_debye_wave_f64(f64 v, f64 x, i32 is_y)
{
    const f64 r = sqrt_F((x - v) * (x + v));
    const f64 c = v / r;
    const f64 q = c * c;
    const f64 phase = r - v * ag_atan_f64(r / v) - 0.25 * 0x1.921fb54442d18p+1;
    const f64 first = (3.0 + 5.0 * q) / (24.0 * r);
    const f64 second = 1.0 - (81.0 + q * (462.0 + q * 385.0)) / (1152.0 * r * r);
    const f64 wave = is_y ? ag_sin_f64(phase) * second - ag_cos_f64(phase) * first : ag_cos_f64(phase) * second +
        ag_sin_f64(phase) * first;
    return sqrt_F(0x1.45f306dc9c883p-1 / r) * wave;
}

/* J_v(x) for v >= 0 and x > 0. */
static inline f64 ag_bessel_j_f64(f64 v, f64 x)
{
    if (x * x < 4.0 * (v + 1.0)) {
        return ag_j_series_f64(v, x);
    }
    if (v > 100000.0 && v > x && ag_debye_decay_f64(v, x) > 1100.0) {
        return 0.0;
    }
    if (x > 18.0 && x > 2.0 * v * v) {
        return ag_hankel_pair_f64(v, x, 0);
    }
    if (x > 18.0 && v <= x && v < 100000.0) {
        return ag_risen_pair_f64(v, x, 0);
    }
    if (v >= 100000.0 && x - v > 100000.0) {
        return ag_debye_wave_f64(v, x, 0);
    }
    f64 j = 0;
    if (v < 200.0) {
        f64 _j1 = 0;
        j = ag_downward_f64(v - floor_F(v), floor_F(v), x, &_j1);
        return j;
    }
    f64 _y = 0;
    j = ag_jy_of_order_f64(v, x, &_y);
    return j;
}

/* Y_v(x) for v >= 0 and x < 1e-290, of the first terms of J_v and J_-v (DLMF 10.2.3). */
static inline f64 ag_y_of_tiny_f64(f64 v, f64 x)
{
    if (v >= 1.0) {
        return v == 1.0 ? -0x1.45f306dc9c883p-1 / x : -(ag_gamma_f64(v) / 0x1.921fb54442d18p+1 * pow_F(2.0, v)) *
            pow_F(x, -v);
    }
    if (v >= 0.01) {
        const f64 grown = pow_F(2.0, v) * pow_F(x, -v);
        return -(ag_gamma_f64(v) * grown + ag_cos_f64(0x1.921fb54442d18p+1 * v) * ag_gamma_f64(-v) / grown) /
            0x1.921fb54442d18p+1;
    }
    const f64 q = v * v;
    const f64 size = 0x1.62e42fefa39efp-1 - ag_log_f64(x);
    const f64 s = size - 0x1.2788cfc6fb619p-1 - q * (0x1.9a4d55beab2d7p-2 + q * 0x1.a8b9c17aa614ap-3);
    const f64 m = q * (0x1.a51a6625307d3p-1 + q * (0x1.151322ac7d847p-2 + q * 0x1.5b40cb100c306p-3));
    const f64 slope = v * s < 1e-09 ? s : ag_sinh_f64(v * s) / v;
    const f64 sine = ag_sin_f64(0.5 * 0x1.921fb54442d18p+1 * v);
    const f64 rest = v > 0.0 ? 2.0 * sine * sine / v * ag_exp_f64(m - v * s) : 0.0;
    return -0x1.45f306dc9c883p-1 * slope * ag_exp_f64(m) - rest / 0x1.921fb54442d18p+1;
}

/* Y_v(x) for v >= 0 and x > 0. */
static inline f64 ag_bessel_y_f64(f64 v, f64 x)
{
    if (x > 18.0 && x > 2.0 * v * v) {
        return ag_hankel_pair_f64(v, x, 1);
    }
    if (x > 18.0 && v < 100000.0) {
        return ag_risen_pair_f64(v, x, 1);
    }
    if (x < 1e-290) {
        return ag_y_of_tiny_f64(v, x);
    }
    if (v > 100000.0 && v > x && ag_debye_decay_f64(v, x) > 1100.0) {
        return -__builtin_inf();
    }
    if (v >= 100000.0 && x - v > 100000.0) {
        return ag_debye_wave_f64(v, x, 1);
    }
    if (x <= 18.0) {
        return ag_y_of_moderate_f64(v, x);
    }
    f64 y = 0;
    ag_jy_of_order_f64(v, x, &y);
    return y;
}

/* factor Y_v(x) where Y_v(x) overflows: the sum of DLMF 10.8.1, which ends before the term with a pole at k = v. */
static inline f64 ag_y_times_f64(f64 v, f64 x, f64 factor)
{
    if (x > 0.5 * v) {
        return -factor * __builtin_inf();
    }
    const f64 q = 0.25 * x * x;
    f64 term = 1.0;
    f64 total = 1.0;
    for (i32 k = 1; k < 4000; k++) {
        const f64 n = (f64)k;
        term = term * (q / (n * (v - n)));
        total = total + term;
        if (term < 1e-17 * total) {
            break;
        }
    }
    f64 e = 0;
    f64 e_low = 0;
    e = ag_log_in_parts_f64(0.5 * x, 0.0, &e_low);
    e = ag_times_parts_f64(e, e_low, v, 0.0, &e_low);
    f64 g = 0;
    f64 g_low = 0;
    g = ag_log_gamma_parts_f64(v, 0.0, &g_low);
    e = ag_plus_parts_f64(g, g_low, -e, -e_low, &e_low);
    return ag_exp_times_f64(e, e_low, -factor / 0x1.921fb54442d18p+1 * total);
}

/* Whether v is an odd integer. */
INLINE f64 ag_is_odd_f64(f64 v)
{
    return v == floor_F(v) && v - 2.0 * floor_F(0.5 * v) == 1.0;
}

/* J_v(x), or Y_v(x), for v < 0 and x > 0, from those of -v (DLMF 10.4.5, 10.4.6). */
static inline f64 ag_of_negative_order_f64(f64 v, f64 x, i32 is_y)
{
    if (v == floor_F(v)) {
        const f64 size = is_y ? ag_bessel_y_f64(-v, x) : ag_bessel_j_f64(-v, x);
        return ag_is_odd_f64(v) ? -size : size;
    }
    const f64 turns = -v - 2.0 * floor_F(-0.5 * v);
    const f64 near = rint_F(turns);
    const f64 sine = ag_sin_f64(0x1.921fb54442d18p+1 * (turns - near)) * (near == 1.0 ? -1.0 : 1.0);
    const f64 half = rint_F(turns - 0.5) + 0.5;
    const f64 cosine = -ag_sin_f64(0x1.921fb54442d18p+1 * (turns - half)) * (half == 1.5 ? -1.0 : 1.0);
    const f64 j = ag_bessel_j_f64(-v, x);
    const f64 factor = is_y ? cosine : -sine;
    f64 y = factor != 0.0 ? factor * ag_bessel_y_f64(-v, x) : 0.0;
    y = fabs_F(y) == __builtin_inf() ? ag_y_times_f64(-v, x, factor) : y;
    return (is_y ? sine : cosine) * j + y;
}

/* The Bessel function of the first kind and real order v; NaN for x < 0 unless v is an integer. For 0 <= v <= 100
   and x <= 1e3 within 8 ulp of the value, or where it oscillates of the envelope sqrt(2 / (pi x)): near a zero
   the absolute error stays, so that the relative one grows without a bound. */
static inline f64 ag_jv_f64(f64 v, f64 x)
{
    const f64 a = fabs_F(x);
    if (v != v || x != x || (x < 0.0 && v != floor_F(v)) || a == __builtin_inf()) {
        return __builtin_nan("");
    }
    if (fabs_F(v) == __builtin_inf()) {
        return x >= 0.0 ? 0.0 : __builtin_nan("");
    }
    if (a == 0.0) {
        return v == 0.0 ? 1.0 : v > 0.0 || v == floor_F(v) ? 0.0 : __builtin_inf();
    }
    const f64 size = v >= 0.0 ? ag_bessel_j_f64(v, a) : ag_of_negative_order_f64(v, a, 0);
    return x < 0.0 && ag_is_odd_f64(v) ? -size : size;
}

/* The Bessel function of the second kind and real order v; NaN for x < 0; as exact as `jv`. Near zeros below 1 the
   absolute error is at most 4e-16. */
static inline f64 ag_yv_f64(f64 v, f64 x)
{
    if (v != v || x != x || x < 0.0 || x == __builtin_inf() || (fabs_F(v) == __builtin_inf() && x > 0.0)) {
        return __builtin_nan("");
    }
    if (x == 0.0) {
        return v >= 0.0 || !ag_is_odd_f64(v) ? -__builtin_inf() : __builtin_inf();
    }
    return v >= 0.0 ? ag_bessel_y_f64(v, x) : ag_of_negative_order_f64(v, x, 1);
}
