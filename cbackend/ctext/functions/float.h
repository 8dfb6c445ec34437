/* Functions of float32 and float64 that the C library lacks. */
#pragma once
#include "remainder.h"
#define ag_fmod_F ag_fmod_near_F /* as tools read it; vector_forms.py makes the function */

/* a if `set`, else b, without a branch. */
static inline F ag_chosen_F(b8 set, F a, F b)
{
    const U other = ag_bits_F(b);
    return ag_from_bits_F(((ag_bits_F(a) ^ other) & -(U)set) ^ other);
}

static inline F ag_sign_F(F x)
{
    return x != x ? x : (F)((x > 0) - (x < 0));
}

/* NaN wins.  In one expression, gcc 12 vectorizes one of these but not the maximum of a maximum. */

static inline F ag_maximum_F(F a, F b)
{
    const F m = a >= b ? a : b;
    return a == a ? m : a;
}

static inline F ag_minimum_F(F a, F b)
{
    const F m = a <= b ? a : b;
    return a == a ? m : a;
}

/* Steps of a reduction that clang vectorizes.  WebAssembly has an instruction for maximum, not for maximumnum, of which
   clang splits vectors.  A total that becomes NaN by it stands beside a flag for NaN, or is the largest number of a
   row of a softmax, of which a NaN makes all results NaN. */

/* The greater one of a and of a total, which is b or NaN where a is NaN. */
static inline F ag_max_number_F(F a, F b)
{
#if defined(__wasm__)
    return __builtin_elementwise_maximum(a, b);
#elif __has_builtin(__builtin_elementwise_maximumnum)
    return __builtin_elementwise_maximumnum(a, b);
#else
    return a > b || b != b ? a : b;
#endif
}

/* The lesser one of a and of a total, which is b or NaN where a is NaN. */
static inline F ag_min_number_F(F a, F b)
{
#if defined(__wasm__)
    return __builtin_elementwise_minimum(a, b);
#elif __has_builtin(__builtin_elementwise_minimumnum)
    return __builtin_elementwise_minimumnum(a, b);
#else
    return a < b || b != b ? a : b;
#endif
}

/* NumPy's npy_divmod (numpy/_core/src/npymath/npy_math_internal.h.src): the quotient is rounded down, the remainder has
   the sign of b.  No condition looks at one operand alone: gcc does not vectorize one that is the same in all steps. */

INLINE F ag_floor_div_F(F a, F b)
{
    const F mod = ag_fmod_F(a, b), quotient = a / b;
    const F div = (a - mod) / b - (F)(mod * copysign_F(1, b) < 0);
    const F whole = floor_F(div), nearest = div - whole > (F)0.5 ? whole + 1 : whole;
    const F defined = mod != mod && b == 0 ? quotient : nearest;
    return div == 0 ? copysign_F(0, quotient) : defined;
}

INLINE F ag_mod_F(F a, F b)
{
    const F mod = ag_fmod_F(a, b), moved = mod * copysign_F(1, b) < 0 ? mod + b : mod;
    return mod == 0 ? copysign_F(0, b) : moved;
}
