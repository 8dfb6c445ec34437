/* arcsin, arccos, arctan and arctan2 of float32 and float64: C without branches, which any compiler vectorizes.

   Polynomials are minimax in the relative error of the function (Remez); in the square of the argument, which is at most
   1/2 for the arcsine, by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)), and 1 for the arctangent. */
#pragma once
#include "exponential.h"

/* asin(x) for 0 <= x <= 1/2, whose square is s */
INLINE F ag_arc_of_F(F x, F s)
{
    POLYNOMIAL(F, p, s, ASIN_SERIES);
    return ag_fma_F(x * s, p, x);
}

INLINE F ag_asin_F(F x)
{
    const F a = fabs_F(x);
    const b8 is_large = a > (F)0.5;
    const F s = is_large ? (F)0.5 * (1 - a) : a * a, y = ag_arc_of_F(is_large ? sqrt_F(s) : a, s);
    return copysign_F(is_large ? RIGHT - (2 * y - RIGHT_REST) : y, x);
}

INLINE F ag_acos_F(F x)
{
    const F a = fabs_F(x);
    const b8 is_large = a > (F)0.5;
    const F s = is_large ? (F)0.5 * (1 - a) : a * a, arc = ag_arc_of_F(is_large ? sqrt_F(s) : a, s);
    const F y = copysign_F(is_large ? 2 * arc : arc, x), turns = is_large ? (x < 0 ? 2 : 0) : 1;
    return turns * RIGHT - ((is_large ? -y : y) - turns * RIGHT_REST);
}

/* atan(x) for 0 <= x <= 1 */
INLINE F ag_arc_of_ratio_F(F x)
{
    const F s = x * x;
    POLYNOMIAL(F, p, s, ATAN_SERIES, 3);
    return ag_fma_F(x * s, p, x);
}

INLINE F ag_atan_F(F x)
{
    const F a = fabs_F(x);
    const b8 is_large = a > 1;
    const F y = ag_arc_of_ratio_F((is_large ? 1 : a) / (is_large ? a : 1));
    return copysign_F(is_large ? RIGHT - (y - RIGHT_REST) : y, x);
}

INLINE F ag_atan2_F(F y, F x)
{
    const F a = fabs_F(y), b = fabs_F(x);
    const b8 is_steep = a > b, is_left = copysign_F(1, x) < 0;
    const F low = is_steep ? b : a, high = is_steep ? a : b;
    const F arc = ag_arc_of_ratio_F(low == high ? (low == 0 ? 0 : 1) : low / high); /* 0 / 0 and inf / inf, too */
    const F turns = is_steep ? 1 : is_left ? 2 : 0;
    return copysign_F(turns * RIGHT - ((is_steep == is_left ? -arc : arc) - turns * RIGHT_REST), y);
}
