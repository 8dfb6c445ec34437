/* The remainder of a float division, without a call where the quotient has few digits (vector_forms.py chooses).

   A quotient below 2^MANTISSA, rounded and then cut off, is the whole one or 1 more.  What is left of a is a float in both
   cases, so the fused operation gives it without error, and adding b once sets it right. */
#pragma once
#include "exponential.h"

/* |a / b|, or the largest number where the near way may be wrong: for quotients that are no numbers, for infinite b,
   without the fused operation, and in OpenCL, whose quotients need not be rounded correctly. */
INLINE F ag_fmod_size_F(F a, F b)
{
#if (defined(FAST_FMA) || defined(__FMA__) || defined(__aarch64__)) && !defined(__OPENCL_VERSION__)
    const F size = fabs_F(a / b);
    return size < GREATEST && fabs_F(b) <= GREATEST ? size : GREATEST;
#else
    (void)a, (void)b;
    return GREATEST;
#endif
}

INLINE F ag_fmod_near_F(F a, F b)
{
    const F rest = ag_fma_F(-trunc_F(a / b), b, a);
    const F mod = rest * copysign_F(1, a) < 0 ? rest + copysign_F(b, a) : rest;
    return copysign_F(mod, a);
}

static inline F ag_fmod_far_F(F a, F b)
{
    return fmod_F(a, b);
}
