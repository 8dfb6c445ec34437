/* Definitions of all sorting kernels.  Every dtype is sorted as signed integers in the same order, its keys. */
#pragma once
#include "../../abi/runtime.h"
#include "../../driver/outcomes.h"

#include <string.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic")
#endif
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))
#define KEY32_MOST 0x7fffffff
#define KEY64_MOST 0x7fffffffffffffffLL

typedef unsigned char u8;
typedef unsigned short u16;
typedef signed char i8;
typedef short i16;
typedef unsigned int u32;
typedef unsigned long long u64;

INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 most(i64 a, i64 b) { return a > b ? a : b; }

enum { NANS = 1, ZEROS = 2 }; /* what rows of floats have */

/* Return the middle one of three numbers. */
#define MIDDLE(a, b, c) \
    ((a) < (b) ? ((b) < (c) ? (b) : (a) < (c) ? (c) : (a)) : ((a) < (c) ? (a) : (b) < (c) ? (c) : (b)))

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

/* Return the number of binary digits of x. */
INLINE i32 digits_of(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
