/* Helpers on complex numbers, with NumPy's formulas: C's own `*` and `/` treat infinities differently (C11 annex G).

   Formulas of division, order and signs are those of numpy/_core/src/umath/loops.c.src and funcs.inc.src. */
#pragma once
#include "arcs.h"
#include "logarithm.h"
#include "roots.h"
#include "trigonometric.h"

#define ag_sin_F ag_sin_near_F /* as tools read them; trigonometric.py makes the functions */
#define ag_cos_F ag_cos_near_F

static inline C ag_make_C(F re, F im)
{
    return __builtin_complex(re, im);
}

C clog_C(C);

C csqrt_C(C);

C csin_C(C);

C ccos_C(C);

C ctan_C(C);

C casin_C(C);

C cacos_C(C);

C catan_C(C);

C csinh_C(C);

C ccosh_C(C);

C ctanh_C(C);

C casinh_C(C);

C cacosh_C(C);

C catanh_C(C);

C cpow_C(C, C);

/* x * y, rounded.  From 12 on, gcc contracts products in pairs of a difference and a sum, in vectors alone, whatever
   -ffp-contract says: the same numbers would have other bits at another place of an array. */
static inline F ag_rounded_product_F(F x, F y)
{
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
    return __builtin_assoc_barrier(x * y);
#else
    return x * y;
#endif
}

static inline C ag_mul_C(C x, C y)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    return ag_make_C(ag_rounded_product_F(xr, yr) - ag_rounded_product_F(xi, yi),
                     ag_rounded_product_F(xr, yi) + ag_rounded_product_F(xi, yr));
}

/* Smith's division: no overflow of the divisor's square.  Choices take the place of its branches, so that loops are
   vectorized; each result has the operations, and the bits, of its branch. */

static inline C ag_div_C(C x, C y)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    const b8 is_real = fabs_F(yr) >= fabs_F(yi), is_zero = (yr == 0) & (yi == 0);
    const F most = is_real ? yr : yi, least = is_real ? yi : yr;
    const F own = is_real ? xr : xi, other = is_real ? xi : xr;
    const F ratio = least / most, scale = 1 / (most + least * ratio);
    const F moved = ag_rounded_product_F(own, ratio);
    const F re = (own + ag_rounded_product_F(other, ratio)) * scale;
    const F im = ((is_real ? other : moved) - (is_real ? moved : other)) * scale;
    return ag_make_C(is_zero ? xr * INFINITY : re, is_zero ? xi * INFINITY : im);
}

static inline C ag_reciprocal_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    const b8 is_real = fabs_F(xi) <= fabs_F(xr);
    const F most = is_real ? xr : xi, least = is_real ? xi : xr;
    const F ratio = least / most, scale = most + least * ratio;
    return ag_make_C((is_real ? 1 : ratio) / scale, (is_real ? -ratio : -1) / scale);
}

static inline C ag_conj_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return ag_make_C(xr, -xi);
}

static inline F ag_abs_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return ag_hypot_F(xr, xi);
}

static inline F ag_angle_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return ag_atan2_F(xi, xr);
}

static inline b8 ag_isnan_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return xr != xr || xi != xi;
}

static inline b8 ag_isinf_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return fabs_F(xr) == __builtin_inf() || fabs_F(xi) == __builtin_inf();
}

static inline b8 ag_isfinite_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return fabs_F(xr) < __builtin_inf() && fabs_F(xi) < __builtin_inf();
}

/* The order is lexicographic; nothing with a NaN is before or after anything. */

static inline b8 ag_lt_C(C x, C y)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    return (xr < yr && xi == xi && yi == yi) || (xr == yr && xi < yi);
}

static inline b8 ag_le_C(C x, C y)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    return (xr < yr && xi == xi && yi == yi) || (xr == yr && xi <= yi);
}

static inline b8 ag_gt_C(C x, C y)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    return (xr > yr && xi == xi && yi == yi) || (xr == yr && xi > yi);
}

static inline b8 ag_ge_C(C x, C y)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    return (xr > yr && xi == xi && yi == yi) || (xr == yr && xi >= yi);
}

static inline C ag_maximum_C(C x, C y)
{
    return ag_isnan_C(x) || ag_ge_C(x, y) ? x : y;
}

static inline C ag_minimum_C(C x, C y)
{
    return ag_isnan_C(x) || ag_le_C(x, y) ? x : y;
}

/* clip has an order of its own: the real parts decide unless they are equal. */

static inline C ag_clip_C(C x, C y, C z)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    const F zr = __real__ z, zi = __imag__ z;
    const C m = ag_isnan_C(x) || (xr == yr ? xi > yi : xr > yr) ? x : y;
    const F mr = __real__ m, mi = __imag__ m;
    return ag_isnan_C(m) || (mr == zr ? mi < zi : mr < zr) ? m : z;
}

static inline C ag_sign_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    const F size = ag_hypot_F(xr, xi), inf = __builtin_inf(), nan = __builtin_nan("");
    if (size != size || (fabs_F(xr) == inf && fabs_F(xi) == inf))
        return ag_make_C(nan, nan);
    if (size == inf)
        return fabs_F(xr) == inf ? ag_make_C(xr > 0 ? 1 : -1, 0) : ag_make_C(0, xi > 0 ? 1 : -1);
    return size == 0 ? ag_make_C(0, 0) : ag_make_C(xr / size, xi / size);
}

static inline C ag_rint_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return ag_make_C(rint_F(xr), rint_F(xi));
}

static inline C ag_scale_C(C x, F factor)
{
    const F xr = __real__ x, xi = __imag__ x;
    return ag_make_C(xr * factor, xi * factor);
}

/* exp(re) times the cosine and sine of im.  Where exp(re) overflows, the product may not: it is made by two factors.
   Operands are chosen, not results: gcc would compute a function only where its result is chosen, in a branch. */

static inline __attribute__((always_inline)) C ag_exp_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x, inf = __builtin_inf();
    const F most = sizeof(F) == 8 ? 709 : 88, factor = sizeof(F) == 8 ? 0x1.d422d2be5dc9bp+1022 : 0x1.f1056ep+126f;
    const b8 is_large = (xr > most) & (xr < inf), no_angle = xi - xi != 0;
    const F size = ag_exp_F(xr - (is_large ? most : 0)), rest = is_large ? factor : 1;
    const F cosine = ag_cos_F(no_angle & (fabs_F(xr) == inf) ? 0 : xi);
    const F sine = ag_sin_F(no_angle & (xr == -inf) ? copysign_F(0, xi) : xi);
    return ag_make_C(size * cosine * rest, (xi == 0 ? 1 : size) * sine * rest);
}

static inline C ag_log1p_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    return ag_make_C(ag_log_F(ag_hypot_F(xr + 1, xi)), ag_atan2_F(xi, xr + 1));
}

static inline C ag_expm1_C(C x)
{
    const F xr = __real__ x, xi = __imag__ x;
    if (xi == 0)
        return ag_make_C(ag_expm1_F(xr) + 0, xi);
    if (xi - xi != 0 && xr - xr != 0 && xr == xr)
        return xr < 0 ? ag_make_C(-1, copysign_F(0, xi)) : ag_make_C(xr, xi - xi);
    const F half = ag_sin_F(xi / 2);
    return ag_make_C(ag_expm1_F(xr) * ag_cos_F(xi) - 2 * half * half, ag_exp_F(xr) * ag_sin_F(xi));
}

/* Small whole exponents by multiplication (npy_cpow); the rest is the C library's. */

__attribute__((noinline, unused)) static void ag_any_pow_C(const C *at, const C *exponent, C *to)
{
    const C x = *at, y = *exponent;
    const F xr = __real__ x, xi = __imag__ x;
    const F yr = __real__ y, yi = __imag__ y;
    if (yr == 0 && yi == 0) {
        *to = ag_make_C(1, 0);
    } else if (xr == 0 && xi == 0) {
        *to = yr > 0 ? ag_make_C(0, 0) : ag_make_C(__builtin_nan(""), __builtin_nan(""));
    } else if (yi != 0 || !(fabs_F(yr) < 100) || yr != rint_F(yr)) {
        *to = cpow_C(x, y);
    } else if (yr == 1) {
        *to = x;
    } else {
        C square = x, result = ag_make_C(1, 0);
        for (u32 n = (u32)fabs_F(yr); n != 0; n >>= 1) {
            result = n & 1 ? ag_mul_C(result, square) : result;
            square = ag_mul_C(square, square);
        }
        *to = yr < 0 ? ag_reciprocal_C(result) : result;
    }
}

/* Numbers go by their addresses: a complex number in a vector register is written and read in parts, which waits for the
   parts to be stored.  The usual exponents stand in the loop. */
static inline __attribute__((always_inline)) C ag_pow_C(C x, C y)
{
    if (__imag__ y == 0 && (__real__ y == 2 || __real__ y == 3) && (__real__ x != 0 || __imag__ x != 0)) {
        const C square = ag_mul_C(x, x);
        return __real__ y == 2 ? square : ag_mul_C(x, square);
    }
    C result;
    ag_any_pow_C(&x, &y, &result);
    return result;
}
