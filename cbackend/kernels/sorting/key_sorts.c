/* Sorting of keys of 32 and of 64 bits. */
#pragma once
#include "sorting.h"
#include "common.c"

enum { NANS = 1, ZEROS = 2 }; /* what rows of floats have */

/* Return the middle one of three numbers. */
#define MIDDLE(a, b, c) ((a) < (b) ? ((b) < (c) ? (b) : (a) < (c) ? (c) : (a)) : ((a) < (c) ? (a) : (b) < (c) ? (c) : (b)))

#ifdef __AVX2__
/* Orders of the 8 words of a vector that bring the keys whose bit is set to the front.  Filled when the library is loaded. */
static u32 lanes32[256][8] __attribute__((aligned(32))), lanes64[16][8] __attribute__((aligned(32)));

static __attribute__((constructor)) void fill_lanes(void)
{
    for (u32 set = 0; set < 256; set++)
        for (u32 lane = 0, front = 0, back = (u32)__builtin_popcount(set); lane < 8; lane++)
            lanes32[set][set >> lane & 1 ? front++ : back++] = lane;
    for (u32 set = 0; set < 16; set++) /* the other four lanes stand behind them */
        for (u32 word = 0; word < 8; word++) lanes64[set][word] = 2 * lanes32[set][word / 2] + word % 2;
}
#endif

#define KEY_IS_FLOAT 0
#define NEXT_KEY(x) ((KEY)((x) + 1))
#define KEY i32
#define UNSIGNED u32
#define KEY_BITS 32
#define KEY_MOST KEY32_MOST
#define LANES_OF lanes32
#define NAME(x) x##32
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
