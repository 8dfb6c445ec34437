/* cbrt and hypot of float32 and float64: C without branches, which any compiler vectorizes. */
#pragma once
#include "exponential.h"

/* a y^2 where y = a^(-1/3), by Householder's method from its bits; then a step of Newton's with an exact cube */
INLINE F ag_cbrt_F(F x)
{
    const b8 is_small = fabs_F(x) < SMALL_CUBE;
    const F b = x * (is_small ? LARGER_CUBE : 1), a = fabs_F(b), guess = GUESS_FROM;
    const F y0 = GUESSED, h = ag_fma_F(-(a * y0), y0 * y0, 1);
    POLYNOMIAL(F, p, h, CUBE_ROOT_SERIES);
    const F y = ag_fma_F(y0 * h, p, y0), square = y * y, root = b * square;
    const F twice = root * root, less = ag_fma_F(root, root, -twice);
    const F more = ag_fma_F(less, root, ag_fma_F(twice, root, -b)); /* 0 of either zero, so that both stay */
    const F result = ag_fma_F(more, square * (F)(-1.0 / 3), root) * (is_small ? ROOT_OF_LARGER : 1);
    return a < INFINITY ? result : x;
}

/* Both numbers are divided by a power of two near the larger one. */
INLINE F ag_hypot_F(F x, F y)
{
    const F a = fabs_F(x), b = fabs_F(y), inf = INFINITY;
    U exponent = ag_bits_F(a > b ? a : b) & EXPONENT;
    exponent = exponent == 0 ? LEAST_EXPONENT : exponent;
    const F scale = ag_from_bits_F(MIRROR - exponent), s = a * scale, t = b * scale;
    const F size = 2 * sqrt_F(ag_fma_F(s, s, t * t)) * ag_from_bits_F(exponent);
    return (a == inf) | (b == inf) ? inf : size;
}
