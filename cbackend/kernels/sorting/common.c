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

/* Return the number of binary digits of x. */
INLINE i32 digits_of(u64 x) { return x ? 64 - __builtin_clzll(x) : 0; }
