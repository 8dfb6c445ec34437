/* The passes of a transform over numbers VEC wide, real and imaginary parts apart: Stockham's, each by one radix r.

   x holds m * r rows of s numbers, y gets them in the order of the next pass: y[r p + k] = sum over j of x[p + m j] times
   roots, for p < m.  Included for single numbers and for vectors. */
#include "single.h"

/* Multiply by a root and store. */
#define PUT(k, re, im) \
    { \
        const VEC real = (re), imaginary = (im); \
        const REAL cosine = w[2 * (k) - 2], sine = w[2 * (k) - 1]; \
        *(LOOSE *)(yr + (r * p + (k)) * s + q) = real * cosine - imaginary * sine; \
        *(LOOSE *)(yi + (r * p + (k)) * s + q) = real * sine + imaginary * cosine; \
    }
#define PUT_FIRST(re, im) *(LOOSE *)(yr + r * p * s + q) = (re), *(LOOSE *)(yi + r * p * s + q) = (im)
#define GET(k) \
    const VEC x##k = *(const LOOSE *)(xr + (p + m * (k)) * s + q), u##k = *(const LOOSE *)(xi + (p + m * (k)) * s + q)

static void NAME(pass2)(i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr, REAL *restrict yi,
                        const REAL *w)
{
    enum { r = 2 };
    for (i64 p = 0; p < m; p++, w += 2)
        for (i64 q = 0; q < s; q += WIDTH) {
            GET(0);
            GET(1);
            PUT_FIRST(x0 + x1, u0 + u1);
            PUT(1, x0 - x1, u0 - u1);
        }
}

static void NAME(pass3)(i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr, REAL *restrict yi,
                        const REAL *w)
{
    enum { r = 3 };
    const REAL root = (REAL)0.86602540378443864676;
    for (i64 p = 0; p < m; p++, w += 4)
        for (i64 q = 0; q < s; q += WIDTH) {
            GET(0);
            GET(1);
            GET(2);
            const VEC t = x1 + x2, v = u1 + u2, a = x0 - t * (REAL)0.5, b = u0 - v * (REAL)0.5;
            const VEC c = (u1 - u2) * root, d = (x2 - x1) * root;
            PUT_FIRST(x0 + t, u0 + v);
            PUT(1, a + c, b + d);
            PUT(2, a - c, b - d);
        }
}

static void NAME(pass4)(i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr, REAL *restrict yi,
                        const REAL *w)
{
    enum { r = 4 };
    for (i64 p = 0; p < m; p++, w += 6)
        for (i64 q = 0; q < s; q += WIDTH) {
            GET(0);
            GET(1);
            GET(2);
            GET(3);
            const VEC a = x0 + x2, b = u0 + u2, c = x0 - x2, d = u0 - u2;
            const VEC e = x1 + x3, f = u1 + u3, g = u1 - u3, h = x3 - x1;
            PUT_FIRST(a + e, b + f);
            PUT(1, c + g, d + h);
            PUT(2, a - e, b - f);
            PUT(3, c - g, d - h);
        }
}

static void NAME(pass5)(i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr, REAL *restrict yi,
                        const REAL *w)
{
    enum { r = 5 };
    const REAL c1 = (REAL)0.30901699437494742410, c2 = (REAL)-0.80901699437494742410;
    const REAL s1 = (REAL)0.95105651629515357212, s2 = (REAL)0.58778525229247312917;
    for (i64 p = 0; p < m; p++, w += 8)
        for (i64 q = 0; q < s; q += WIDTH) {
            GET(0);
            GET(1);
            GET(2);
            GET(3);
            GET(4);
            const VEC a1 = x1 + x4, b1 = u1 + u4, a2 = x2 + x3, b2 = u2 + u3;
            const VEC d1 = x1 - x4, e1 = u1 - u4, d2 = x2 - x3, e2 = u2 - u3;
            const VEC f1 = x0 + a1 * c1 + a2 * c2, g1 = u0 + b1 * c1 + b2 * c2;
            const VEC f2 = x0 + a1 * c2 + a2 * c1, g2 = u0 + b1 * c2 + b2 * c1;
            const VEC h1 = e1 * s1 + e2 * s2, k1 = d1 * s1 + d2 * s2;
            const VEC h2 = e1 * s2 - e2 * s1, k2 = d1 * s2 - d2 * s1;
            PUT_FIRST(x0 + a1 + a2, u0 + b1 + b2);
            PUT(1, f1 + h1, g1 - k1);
            PUT(2, f2 + h2, g2 - k2);
            PUT(3, f2 - h2, g2 + k2);
            PUT(4, f1 - h1, g1 + k1);
        }
}

/* Any odd radix; `roots` has its r roots. */
static void NAME(pass_odd)(const int r, i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr,
                           REAL *restrict yi, const REAL *w, const REAL *roots)
{
    for (i64 p = 0; p < m; p++, w += 2 * (r - 1))
        for (i64 q = 0; q < s; q += WIDTH) {
            VEC a[MOST_PRIME], b[MOST_PRIME], d[MOST_PRIME], e[MOST_PRIME];
            GET(0);
            VEC sum = x0, other = u0;
            for (int j = 1; 2 * j < r; j++) {
                const VEC x = *(const LOOSE *)(xr + (p + m * j) * s + q),
                          y = *(const LOOSE *)(xr + (p + m * (r - j)) * s + q);
                const VEC u = *(const LOOSE *)(xi + (p + m * j) * s + q),
                          v = *(const LOOSE *)(xi + (p + m * (r - j)) * s + q);
                a[j] = x + y, b[j] = u + v, d[j] = x - y, e[j] = u - v;
                sum += a[j], other += b[j];
            }
            PUT_FIRST(sum, other);
            for (int k = 1; 2 * k < r; k++) {
                VEC f = x0, g = u0, h = a[1] * 0, l = h;
                for (int j = 1, at = k; 2 * j < r; j++, at += k, at -= at >= r ? r : 0) {
                    f += a[j] * roots[2 * at], g += b[j] * roots[2 * at];
                    h += e[j] * roots[2 * at + 1], l += d[j] * roots[2 * at + 1];
                }
                PUT(k, f + h, g - l);
                PUT(r - k, f - h, g + l);
            }
        }
}

#if WIDTH * REAL_BYTES != 16 /* one row, or as many as run side by side */
/* One frequency q of `halved`: r numbers in, r numbers out, or half of them where the numbers are real. */
INLINE void NAME(halved_one)(const int r, const int is_real, i64 m, i64 s, i64 q, const REAL *xr, const REAL *xi,
                             REAL *restrict yr, REAL *restrict yi, const REAL *w, const REAL *roots)
{
    const i64 stride = m * (s / 2 + 1) * WIDTH;
    VEC a[MOST_PRIME / 2 + 1], b[MOST_PRIME / 2 + 1], d[MOST_PRIME / 2 + 1], e[MOST_PRIME / 2 + 1];
    const VEC none = {0}, x0 = *(const LOOSE *)xr;
    VEC u0 = none;
    if (!is_real) u0 = *(const LOOSE *)xi;
    VEC sum = x0, other = u0;
#pragma GCC unroll 4
    for (int j = 1; 2 * j < r; j++) {
        const VEC x = *(const LOOSE *)(xr + j * stride), y = *(const LOOSE *)(xr + (r - j) * stride);
        a[j] = x + y, d[j] = x - y, sum += a[j];
        if (is_real) continue;
        const VEC u = *(const LOOSE *)(xi + j * stride), v = *(const LOOSE *)(xi + (r - j) * stride);
        b[j] = u + v, e[j] = u - v, other += b[j];
    }
    *(LOOSE *)(yr + q * WIDTH) = sum, *(LOOSE *)(yi + q * WIDTH) = other;
#pragma GCC unroll 4
    for (int k = 1; 2 * k < r; k++) {
        const REAL cosine = w[2 * k - 2], sine = w[2 * k - 1];
        VEC f = x0, g = u0, h = none, l = none;
#pragma GCC unroll 4
        for (int j = 1, at = k; 2 * j < r; j++, at += k, at -= at >= r ? r : 0) {
            f += a[j] * roots[2 * at], l += d[j] * roots[2 * at + 1];
            if (!is_real) g += b[j] * roots[2 * at], h += e[j] * roots[2 * at + 1];
        }
        const i64 up = (k * s + q) * WIDTH, down = (k * s - q) * WIDTH;
        const VEC re = f + h, im = g - l, back = f - h, behind = -(g + l);
        *(LOOSE *)(yr + up) = re * cosine - im * sine, *(LOOSE *)(yi + up) = re * sine + im * cosine;
        if (is_real) continue;
        *(LOOSE *)(yr + down) = back * cosine - behind * sine, *(LOOSE *)(yi + down) = back * sine + behind * cosine;
    }
}

/* A pass by an odd radix over WIDTH rows of real numbers, of odd length, side by side.

   The frequency -q is the conjugate of q, so of s frequencies those from 0 to s / 2 are kept: frequency k s + q of the
   next pass, and k s - q as the conjugate of -k s + q, come from q. */
INLINE void NAME(halved)(const int r, i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr,
                         REAL *restrict yi, const REAL *w, const REAL *roots)
{
    const i64 wide = (s / 2 + 1) * WIDTH, out = (r * s / 2 + 1) * WIDTH;
    for (i64 p = 0; p < m; p++, w += 2 * (r - 1), xr += wide, xi += wide, yr += out, yi += out) {
        NAME(halved_one)(r, 1, m, s, 0, xr, xi, yr, yi, w, roots);
        for (i64 q = 1; 2 * q < s; q++)
            NAME(halved_one)(r, 0, m, s, q, xr + q * WIDTH, xi + q * WIDTH, yr, yi, w, roots);
    }
}

static void NAME(halved3)(i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr, REAL *restrict yi,
                          const REAL *w)
{
    static const REAL roots[] = {
        1, 0, (REAL)-0.5, (REAL)0.86602540378443864676, (REAL)-0.5, (REAL)-0.86602540378443864676};
    NAME(halved)(3, m, s, xr, xi, yr, yi, w, roots);
}

static void NAME(halved5)(i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr, REAL *restrict yi,
                          const REAL *w)
{
    const REAL c1 = (REAL)0.30901699437494742410, c2 = (REAL)-0.80901699437494742410;
    const REAL s1 = (REAL)0.95105651629515357212, s2 = (REAL)0.58778525229247312917;
    const REAL roots[] = {1, 0, c1, s1, c2, s2, c2, -s2, c1, -s1};
    NAME(halved)(5, m, s, xr, xi, yr, yi, w, roots);
}

static void NAME(halved_odd)(const int r, i64 m, i64 s, const REAL *xr, const REAL *xi, REAL *restrict yr,
                             REAL *restrict yi, const REAL *w, const REAL *roots)
{
    NAME(halved)(r, m, s, xr, xi, yr, yi, w, roots);
}
#endif

#undef PUT
#undef PUT_FIRST
#undef GET
