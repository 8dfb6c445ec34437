/* Vectors of 64 bytes for the file that is included once for each kind of key. */
#include "key32.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#define VECTOR __m512i
enum { NAME(LANES) = 64 / sizeof(KEY) };

#if KEY_BITS == 32
#define LEAST_OF(a, b) _mm512_min_epi32(a, b)
#define MOST_OF(a, b) _mm512_max_epi32(a, b)
#define ORDERED(x, other, upper) _mm512_mask_max_epi32(LEAST_OF(x, other), upper, x, other)
#define BROADCAST(x) _mm512_set1_epi32(x)
#define LOAD(own, from) _mm512_mask_loadu_epi32(BROADCAST(KEY_MOST), own, from)
#define STORE(to, own, x) _mm512_mask_storeu_epi32(to, own, x)
/* The lower and the upper halves of two vectors, lane by lane in turn. */
#define LOWER_HALVES(a, b) \
    _mm512_permutex2var_epi32(a, _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), b)
#define UPPER_HALVES(a, b) \
    _mm512_permutex2var_epi32(a, _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), b)
/* Reversed lanes of groups, lanes that some are apart exchanged, and the upper half of each group. */
#define REVERSED2(x) _mm512_shuffle_epi32(x, 0xb1)
#define REVERSED4(x) _mm512_shuffle_epi32(x, 0x1b)
#define REVERSED8(x) \
    _mm512_permutexvar_epi32(_mm512_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8), x)
#define REVERSED16(x) \
    _mm512_permutexvar_epi32(_mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0), x)
#define EXCHANGED1(x) _mm512_shuffle_epi32(x, 0xb1)
#define EXCHANGED2(x) _mm512_shuffle_epi32(x, 0x4e)
#define EXCHANGED4(x) _mm512_permutex_epi64(x, 0x4e)
#define UPPER2 0xaaaa
#define UPPER4 0xcccc
#define UPPER8 0xf0f0
#define UPPER16 0xff00
#else
#if KEY_IS_FLOAT
#define AS_REAL(x) _mm512_castsi512_pd(x)
#define LEAST_OF(a, b) _mm512_castpd_si512(_mm512_min_pd(AS_REAL(a), AS_REAL(b)))
#define MOST_OF(a, b) _mm512_castpd_si512(_mm512_max_pd(AS_REAL(a), AS_REAL(b)))
#define ORDERED(x, other, upper) \
    _mm512_castpd_si512(_mm512_mask_max_pd(AS_REAL(LEAST_OF(x, other)), upper, AS_REAL(x), AS_REAL(other)))
#define BROADCAST(x) _mm512_castpd_si512(_mm512_set1_pd(x))
#define IS_BELOW(a, b) _mm512_cmp_pd_mask(AS_REAL(a), AS_REAL(b), _CMP_LT_OQ)
#else
#define LEAST_OF(a, b) _mm512_min_epi64(a, b)
#define MOST_OF(a, b) _mm512_max_epi64(a, b)
#define ORDERED(x, other, upper) _mm512_mask_max_epi64(LEAST_OF(x, other), upper, x, other)
#define BROADCAST(x) _mm512_set1_epi64(x)
#define IS_BELOW(a, b) _mm512_cmplt_epi64_mask(a, b)
#endif
#define LOAD(own, from) _mm512_mask_loadu_epi64(BROADCAST(KEY_MOST), own, from)
#define STORE(to, own, x) _mm512_mask_storeu_epi64(to, own, x)
#define LOWER_HALVES(a, b) _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b)
#define UPPER_HALVES(a, b) _mm512_permutex2var_epi64(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b)
#define REVERSED2(x) _mm512_shuffle_epi32(x, 0x4e)
#define REVERSED4(x) _mm512_permutex_epi64(x, 0x1b)
#define REVERSED8(x) _mm512_permutexvar_epi64(_mm512_setr_epi64(7, 6, 5, 4, 3, 2, 1, 0), x)
#define EXCHANGED1(x) _mm512_shuffle_epi32(x, 0x4e)
#define EXCHANGED2(x) _mm512_permutex_epi64(x, 0x4e)
#define UPPER2 0xaa
#define UPPER4 0xcc
#define UPPER8 0xf0
#endif
#define ORDER(x, y, low, high) const VECTOR low = LEAST_OF(x, y), high = MOST_OF(x, y)

/* Return the lanes that stand for positions below n. */
INLINE u32 NAME(lanes_below)(i64 n) { return n <= 0 ? 0 : n < NAME(LANES) ? (1u << n) - 1 : (1u << NAME(LANES)) - 1; }

/* Return the first n numbers, filled up with the greatest key. */
INLINE VECTOR NAME(load_first)(const KEY *a, i64 n) { return LOAD((__mmask16)NAME(lanes_below)(n), a); }

/* Write the first n numbers of R vectors, column after column.  Each round takes a vector of the first half and one of the
   second half by turns of lanes. */
INLINE void NAME(store_columns)(const int r, const VECTOR *v, i64 n, KEY *to)
{
    VECTOR from[16], next[16];
#pragma GCC unroll 16
    for (int k = 0; k < r; k++) from[k] = v[k];
#pragma GCC unroll 4
    for (int round = 1; round < r; round *= 2) {
#pragma GCC unroll 8
        for (int k = 0; k < r / 2; k++) {
            next[2 * k] = LOWER_HALVES(from[k], from[k + r / 2]);
            next[2 * k + 1] = UPPER_HALVES(from[k], from[k + r / 2]);
        }
#pragma GCC unroll 16
        for (int k = 0; k < r; k++) from[k] = next[k];
    }
#pragma GCC unroll 16
    for (int k = 0; k < r; k++) {
        const i64 at = (i64)k * NAME(LANES);
        STORE(to + at, (__mmask16)NAME(lanes_below)(n - at), from[k]);
    }
}

/* Write a vector's numbers below the pivot to `left`, the others so that they end at `right`; return how many are below. */
INLINE i64 NAME(split)(const KEY *from, VECTOR pivot, KEY *left, KEY *right)
{
    enum { L = NAME(LANES) };
    const VECTOR x = _mm512_loadu_si512(from);
#if KEY_BITS == 32
    const __mmask16 below = _mm512_cmplt_epi32_mask(x, pivot);
    _mm512_storeu_si512(left, _mm512_maskz_compress_epi32(below, x));
    _mm512_storeu_si512(right - L, REVERSED16(_mm512_maskz_compress_epi32(_knot_mask16(below), x)));
#else
    const __mmask8 below = IS_BELOW(x, pivot);
    const VECTOR lanes = _mm512_cvtepu32_epi64(_mm256_load_si256((const __m256i *)lanes32[below]));
    const VECTOR moved = _mm512_permutexvar_epi64(lanes, x);
    _mm512_storeu_si512(left, moved);
    _mm512_storeu_si512(right - L, moved);
#endif
    return __builtin_popcount(below);
}

#undef LOAD
#undef STORE
#undef LOWER_HALVES
#undef UPPER_HALVES
#undef IS_BELOW
#endif
