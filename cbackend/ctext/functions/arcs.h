/* arcsin, arccos, arctan and arctan2 of float32 and float64: C without branches, which any compiler vectorizes.

   Polynomials are minimax in the relative error of the function (Remez); in the square of the argument, which is at most
   1/3: by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)), and by atan(x) = pi/4 + atan((x - 1) / (x + 1)) from 0.55 to 1.82.
   Masks choose the arctangent's range: gcc makes branches of nested choices, and four times as many choices of those.
   Arctangents of neighbours are in order: so are the quotients, and the error of the term that the polynomial adds to
   its argument is less than the distance of neighbours. */
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

/* atan(x) for |x| <= 0.55 */
INLINE F ag_arc_of_ratio_F(F x)
{
    const F s = x * x;
    POLYNOMIAL(F, p, s, ATAN_SERIES);
    return ag_fma_F(x * s, p, x);
}

INLINE F ag_atan_F(F x)
{
    const F a = fabs_F(x);
    const U bits = ag_bits_F(a), not_small = -(U)!(a < LOW_ARC), not_large = -(U)!(a > HIGH_ARC);
    const F over = ag_from_bits_F(bits & not_large) - ag_from_bits_F(ONE_BITS & not_small);
    const F under = ag_from_bits_F(bits & not_small) + ag_from_bits_F(ONE_BITS & not_large);
    const F turns = ag_from_bits_F(ONE_BITS & not_small) + ag_from_bits_F(ONE_BITS & ~not_large);
    const F y = ag_fma_F(turns, HALF_RIGHT_REST, ag_arc_of_ratio_F(over / under));
    return copysign_F(ag_fma_F(turns, HALF_RIGHT, y), x);
}

INLINE F ag_atan2_F(F y, F x)
{
    const F less = (fabs_F(x) > HUGE_SIDE) | (fabs_F(y) > HUGE_SIDE) ? (F)0.25 : (F)1; /* no sum overflows */
    const F more = (fabs_F(x) < 1) & (fabs_F(y) < 1) ? (F)16777216 : (F)1; /* LOW_ARC times a subnormal number is exact enough */
    const F a = fabs_F(y) * less * more, b = fabs_F(x) * less * more, low = a > b ? b : a, high = a > b ? a : b;
    const U steep = -(U)(a > b), left = -(ag_bits_F(x) >> TOP), flips = (steep ^ left) & SIGN_BIT;
    const U middle = -(U)((low > LOW_ARC * high) | (low == INFINITY));
    const F over = low - ag_from_bits_F(ag_bits_F(high) & middle);
    const F ratio = over / (high + ag_from_bits_F(ag_bits_F(low) & middle));
    const F arc = ag_arc_of_ratio_F(low == high ? 0 : ratio); /* 0 / 0 and inf - inf, too */
    const F quarters = ag_from_bits_F((ONE_BITS & steep) | (TWO_BITS & left & ~steep));
    const F turns = quarters + ag_from_bits_F((HALF_BITS & middle) ^ flips);
    const F rest = ag_fma_F(turns, RIGHT_REST, ag_from_bits_F(ag_bits_F(arc) ^ flips));
    return copysign_F(ag_fma_F(turns, RIGHT, rest), y);
}
