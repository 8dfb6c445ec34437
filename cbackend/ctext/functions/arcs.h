/* arcsin, arccos, arctan and arctan2 of float32 and float64: C without branches, which any compiler vectorizes.

   Polynomials are minimax in the relative error of the function (Remez); in the square of the argument, which is at most
   1/4: by asin(x) = pi/2 - 2 asin(sqrt((1 - x) / 2)), and by atan(x) = pi/4 + atan((x - 1) / (x + 1)) from 1/2 to 2.
   Masks choose the arctangent's range: gcc makes branches of nested choices, and four times as many choices of those.
   It moves a choice between numbers behind what is computed of them, once for each use; a mask of bits stays.
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

/* atan(x) for |x| <= 1/2 */
INLINE F ag_arc_of_ratio_F(F x)
{
    const F s = x * x;
    POLYNOMIAL(F, p, s, ATAN_SERIES);
    return ag_fma_F(x * s, p, x);
}

INLINE F ag_atan_F(F x)
{
    const F a = fabs_F(x);
    const U bits = ag_bits_F(a), not_small = -(U)!(a < (F)0.5), not_large = -(U)!(a > 2);
    const F over = ag_from_bits_F(bits & not_large) - ag_from_bits_F(ONE_BITS & not_small);
    const F under = ag_from_bits_F(bits & not_small) + ag_from_bits_F(ONE_BITS & not_large);
    const F turns = ag_from_bits_F(ONE_BITS & not_small) + ag_from_bits_F(ONE_BITS & ~not_large);
    const F y = ag_fma_F(turns, HALF_RIGHT_REST, ag_arc_of_ratio_F(over / under));
    return copysign_F(ag_fma_F(turns, HALF_RIGHT, y), x);
}

INLINE F ag_atan2_F(F y, F x)
{
    const F a = fabs_F(y), b = fabs_F(x), longer = a > b ? a : b;
    const U up = ag_bits_F(a) ^ ag_bits_F(y), left = ag_bits_F(b) ^ ag_bits_F(x);
    const U steep = -(U)(a > b), huge = -(U)(longer > HUGE_SIDE), flips = (steep & SIGN_BIT) ^ left;
    const F scale = ag_from_bits_F(ONE_BITS ^ (huge & (ONE_BITS ^ QUARTER_BITS))); /* no sum overflows */
    const F high = longer * scale, low = (a > b ? b : a) * scale;
    const U middle = -(U)!(low <= high - low), differ = -(U)(low != high);
    const F over = low - ag_from_bits_F(ag_bits_F(high) & middle);
    const F ratio = over / (high + ag_from_bits_F(ag_bits_F(low) & middle));
    const F arc = ag_arc_of_ratio_F(ag_from_bits_F(ag_bits_F(ratio) & differ)); /* 0 of 0 / 0 and inf - inf, too */
    const F quarters = a > b ? 1 : ag_from_bits_F(left >> 1); /* half the bits of -0 are those of 2 */
    const F turns = quarters + ag_from_bits_F((HALF_BITS & middle) ^ flips);
    const F rest = ag_fma_F(turns, RIGHT_REST, ag_from_bits_F(ag_bits_F(arc) ^ flips));
    return ag_from_bits_F(ag_bits_F(ag_fma_F(turns, RIGHT, rest)) ^ up);
}
