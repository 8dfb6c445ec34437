/* Sorting of keys of 32 and of 64 bits, and of floats. */
#pragma once
#include "key32.h"
#include "keys.c"
#include "keys_sort.c"

#undef KEY
#undef UNSIGNED
#undef KEY_BITS
#undef KEY_MOST
#undef LANES_OF
#undef NAME
#define KEY i64
#define UNSIGNED u64
#define KEY_BITS 64
#define KEY_MOST KEY64_MOST
#define LANES_OF lanes64
#define NAME(x) x##64
#include "keys.c"
#include "keys_sort.c"

#ifdef __AVX2__
/* Return the least float above x. */
static double next_float(double x)
{
    i64 bits;
    x += 0; /* -0.0 is 0.0 */
    memcpy(&bits, &x, sizeof x);
    bits += bits < 0 ? -1 : 1;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#undef KEY_IS_FLOAT
#undef NEXT_KEY
#undef KEY
#undef KEY_MOST
#undef NAME
#define KEY_IS_FLOAT 1
#define NEXT_KEY(x) next_float(x)
#define KEY double
#define KEY_MOST __builtin_inf()
#define NAME(x) x##_floats
#include "keys_sort.c"
#endif
