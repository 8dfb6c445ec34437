/* Vectors of 32 bytes for the file that is included once for each kind of key. */
#include "key32.h"

#if defined(__AVX2__) && !(defined(__AVX512F__) && defined(__AVX512DQ__))
#define VECTOR __m256i
enum { NAME(LANES) = 32 / sizeof(KEY) };

#if KEY_BITS == 32
#define LEAST_OF(a, b) _mm256_min_epi32(a, b)
#define MOST_OF(a, b) _mm256_max_epi32(a, b)
#define IS_GREATER(a, b) _mm256_cmpgt_epi32(a, b)
#define BROADCAST(x) _mm256_set1_epi32(x)
#define SIGNS(x) (u32) _mm256_movemask_ps(_mm256_castsi256_ps(x))
#define MASKED(from, own) _mm256_maskload_epi32(from, own)
/* Lanes that stand for positions below n. */
#define BELOW(n) _mm256_cmpgt_epi32(_mm256_set1_epi32((i32)(n)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
/* Reversed lanes of groups of 2, 4 and 8, lanes that 1 and 2 are apart exchanged, and the upper half of each group. */
#define REVERSED2(x) _mm256_shuffle_epi32(x, 0xb1)
#define REVERSED4(x) _mm256_shuffle_epi32(x, 0x1b)
#define REVERSED8(x) _mm256_permute4x64_epi64(_mm256_shuffle_epi32(x, 0x1b), 0x4e)
#define EXCHANGED1(x) _mm256_shuffle_epi32(x, 0xb1)
#define EXCHANGED2(x) _mm256_shuffle_epi32(x, 0x4e)
#define UPPER2 0xaa
#define UPPER4 0xcc
#define UPPER8 0xf0
#else
#if KEY_IS_FLOAT
#define AS_REAL(x) _mm256_castsi256_pd(x)
#define IS_GREATER(a, b) _mm256_castpd_si256(_mm256_cmp_pd(AS_REAL(a), AS_REAL(b), _CMP_GT_OQ))
#define LEAST_OF(a, b) _mm256_castpd_si256(_mm256_min_pd(AS_REAL(a), AS_REAL(b)))
#define MOST_OF(a, b) _mm256_castpd_si256(_mm256_max_pd(AS_REAL(a), AS_REAL(b)))
#define BROADCAST(x) _mm256_castpd_si256(_mm256_set1_pd(x))
#else
#define IS_GREATER(a, b) _mm256_cmpgt_epi64(a, b)
#ifdef __AVX512VL__
#define LEAST_OF(a, b) _mm256_min_epi64(a, b)
#define MOST_OF(a, b) _mm256_max_epi64(a, b)
#else
#define LEAST_OF(a, b) _mm256_blendv_epi8(a, b, IS_GREATER(a, b))
#define MOST_OF(a, b) _mm256_blendv_epi8(b, a, IS_GREATER(a, b))
#endif
#define BROADCAST(x) _mm256_set1_epi64x(x)
#endif
#define SIGNS(x) (u32) _mm256_movemask_pd(_mm256_castsi256_pd(x))
#define MASKED(from, own) _mm256_maskload_epi64((const long long *)(from), own)
#define BELOW(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3))
#define REVERSED2(x) _mm256_shuffle_epi32(x, 0x4e)
#define REVERSED4(x) _mm256_permute4x64_epi64(x, 0x1b)
#define EXCHANGED1(x) _mm256_shuffle_epi32(x, 0x4e)
#define UPPER2 0xcc
#define UPPER4 0xf0
#endif

/* Let lanes of `low` have the lesser numbers of x and y, and those of `high` the others. */
#if KEY_BITS == 32 || KEY_IS_FLOAT || defined(__AVX512VL__)
#define ORDER(x, y, low, high) const VECTOR low = LEAST_OF(x, y), high = MOST_OF(x, y)
#else
#define ORDER(x, y, low, high) \
    const VECTOR is_swapped = IS_GREATER(x, y); \
    const VECTOR low = _mm256_blendv_epi8(x, y, is_swapped), high = _mm256_blendv_epi8(y, x, is_swapped)
#endif
/* x with the greater numbers of x and `other` in the upper lanes of groups, with the lesser ones in the others. */
#define ORDERED(x, other, upper) _mm256_blend_epi32(LEAST_OF(x, other), MOST_OF(x, other), upper)

#define STORE_AT(j, x) _mm256_store_si256((__m256i *)(to + (j) * r + i), x);
#define STORE_HALVES(j, half, a, b) \
    STORE_AT(j, _mm256_permute2x128_si256(a, b, 0x20)) STORE_AT((j) + half, _mm256_permute2x128_si256(a, b, 0x31))

/* Write R vectors column after column to an aligned array. */
INLINE void NAME(store_aligned)(const int r, const VECTOR *v, KEY *to)
{
    if (r < NAME(LANES)) {
        KEY rows[16 * NAME(LANES)] __attribute__((aligned(32)));
#pragma GCC unroll 16
        for (int i = 0; i < r; i++) _mm256_store_si256((__m256i *)rows + i, v[i]);
#pragma GCC unroll 8
        for (int j = 0; j < NAME(LANES); j++)
#pragma GCC unroll 16
            for (int i = 0; i < r; i++) to[j * r + i] = rows[i * NAME(LANES) + j];
        return;
    }
#pragma GCC unroll 4
    for (int i = 0; i < r; i += NAME(LANES), v += NAME(LANES)) {
#if KEY_BITS == 32
        __m256i pairs[8], fours[8];
#pragma GCC unroll 4
        for (int k = 0; k < 8; k += 2) {
            pairs[k] = _mm256_unpacklo_epi32(v[k], v[k + 1]);
            pairs[k + 1] = _mm256_unpackhi_epi32(v[k], v[k + 1]);
        }
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) { /* column k, and column k + 4 behind it, of the first and of the last four rows */
            const __m256i a = pairs[k / 2], b = pairs[k / 2 + 2], c = pairs[k / 2 + 4], d = pairs[k / 2 + 6];
            fours[2 * k] = k % 2 ? _mm256_unpackhi_epi64(a, b) : _mm256_unpacklo_epi64(a, b);
            fours[2 * k + 1] = k % 2 ? _mm256_unpackhi_epi64(c, d) : _mm256_unpacklo_epi64(c, d);
            STORE_HALVES(k, 4, fours[2 * k], fours[2 * k + 1])
        }
#else
        STORE_HALVES(0, 2, _mm256_unpacklo_epi64(v[0], v[1]), _mm256_unpacklo_epi64(v[2], v[3]))
        STORE_HALVES(1, 2, _mm256_unpackhi_epi64(v[0], v[1]), _mm256_unpackhi_epi64(v[2], v[3]))
#endif
    }
}

/* Return the first n numbers, filled up with the greatest key. */
INLINE VECTOR NAME(load_first)(const KEY *a, i64 n)
{
    const VECTOR own = BELOW(n);
    return _mm256_blendv_epi8(BROADCAST(KEY_MOST), MASKED(a, own), own);
}

/* Write the first n numbers of R vectors, column after column; n is a vector's length or more if R > 1. */
INLINE void NAME(store_columns)(const int r, const VECTOR *v, i64 n, KEY *to)
{
    enum { L = NAME(LANES) };
    KEY sorted[16 * L] __attribute__((aligned(32)));
    NAME(store_aligned)(r, v, sorted);
    if (r == 1) {
        memcpy(to, sorted, (size_t)n * sizeof(KEY));
        return;
    }
    for (i64 i = 0; i < n - L; i += L)
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_load_si256((__m256i *)(sorted + i)));
    _mm256_storeu_si256((__m256i *)(to + n - L), _mm256_loadu_si256((__m256i *)(sorted + n - L)));
}

/* Write a vector's numbers below the pivot to `left`, the others so that they end at `right`; return how many are below. */
INLINE i64 NAME(split)(const KEY *from, VECTOR pivot, KEY *left, KEY *right)
{
    enum { L = NAME(LANES) };
    const VECTOR x = _mm256_loadu_si256((const __m256i *)from);
    const u32 below = SIGNS(IS_GREATER(pivot, x));
    const VECTOR moved = _mm256_permutevar8x32_epi32(x, _mm256_load_si256((const __m256i *)LANES_OF[below]));
    _mm256_storeu_si256((__m256i *)left, moved);
    _mm256_storeu_si256((__m256i *)(right - L), moved);
    return __builtin_popcount(below);
}

#undef SIGNS
#undef MASKED
#undef BELOW
#undef STORE_AT
#undef STORE_HALVES
#endif
