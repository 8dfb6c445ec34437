/* Vectors of keys with AVX2: sorting networks of a few vectors, and partitions.  Included for KEY = i32, i64
   and double, which has an instruction for minima and maxima, with NAME.

   A network sorts R vectors as columns, then merges neighbouring columns: each merge is bitonic, compares across lanes
   first and within columns last.  So nearly all comparisons are between whole vectors.
   Source: J. Wassenberg, M. Blacher, J. Giesen, P. Sanders, "Vectorized and performance-portable Quicksort", 2022. */
#include "key32.h"

#ifdef __AVX2__
enum { NAME(LANES) = 32 / sizeof(KEY) };

#if KEY_BITS == 32
#define LEAST_OF(a, b) _mm256_min_epi32(a, b)
#define MOST_OF(a, b) _mm256_max_epi32(a, b)
#define IS_GREATER(a, b) _mm256_cmpgt_epi32(a, b)
#define BROADCAST(x) _mm256_set1_epi32(x)
#define SIGNS(x) (u32) _mm256_movemask_ps(_mm256_castsi256_ps(x))
#define MASKED(from, own) _mm256_maskload_epi32(from, own)
/* Lanes that stand for positions below n, from position k on. */
#define BELOW(n, k) _mm256_cmpgt_epi32(_mm256_set1_epi32((i32)(n) - (k)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
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
#define BELOW(n, k) _mm256_cmpgt_epi64(_mm256_set1_epi64x((n) - (k)), _mm256_setr_epi64x(0, 1, 2, 3))
#define REVERSED2(x) _mm256_shuffle_epi32(x, 0x4e)
#define REVERSED4(x) _mm256_permute4x64_epi64(x, 0x1b)
#define EXCHANGED1(x) _mm256_shuffle_epi32(x, 0x4e)
#define UPPER2 0xcc
#define UPPER4 0xf0
#endif

/* Order two vectors lane by lane. */
INLINE void NAME(order)(__m256i *a, __m256i *b)
{
#if KEY_BITS == 32 || KEY_IS_FLOAT || defined(__AVX512VL__)
    const __m256i low = LEAST_OF(*a, *b), high = MOST_OF(*a, *b);
#else
    const __m256i swap = IS_GREATER(*a, *b);
    const __m256i low = _mm256_blendv_epi8(*a, *b, swap), high = _mm256_blendv_epi8(*b, *a, swap);
#endif
    *a = low, *b = high;
}

/* Sort each lane of R vectors: R is 1, 2, 4, 8 or 16. */
INLINE void NAME(sort_columns)(const int r, __m256i *v)
{
#define O(i, j) NAME(order)(v + i, v + j)
    if (r == 2) {
        O(0, 1);
    }
    if (r == 4) {
        O(0, 2), O(1, 3), O(0, 1), O(2, 3), O(1, 2);
    }
    if (r == 8) {
        O(0, 2), O(1, 3), O(4, 6), O(5, 7), O(0, 4), O(1, 5), O(2, 6), O(3, 7), O(0, 1), O(2, 3), O(4, 5), O(6, 7),
            O(2, 4), O(3, 5), O(1, 4), O(3, 6), O(1, 2), O(3, 4), O(5, 6);
    }
    if (r == 16) { /* Batcher's */
        O(0, 1), O(2, 3), O(4, 5), O(6, 7), O(8, 9), O(10, 11), O(12, 13), O(14, 15), O(0, 2), O(1, 3), O(4, 6),
            O(5, 7), O(8, 10), O(9, 11), O(12, 14), O(13, 15), O(1, 2), O(5, 6), O(9, 10), O(13, 14), O(0, 4), O(1, 5),
            O(2, 6), O(3, 7), O(8, 12), O(9, 13), O(10, 14), O(11, 15), O(2, 4), O(3, 5), O(10, 12), O(11, 13), O(1, 2),
            O(3, 4), O(5, 6), O(9, 10), O(11, 12), O(13, 14), O(0, 8), O(1, 9), O(2, 10), O(3, 11), O(4, 12), O(5, 13),
            O(6, 14), O(7, 15), O(4, 8), O(5, 9), O(6, 10), O(7, 11), O(2, 4), O(3, 5), O(6, 8), O(7, 9), O(10, 12),
            O(11, 13), O(1, 2), O(3, 4), O(5, 6), O(7, 8), O(9, 10), O(11, 12), O(13, 14);
    }
#undef O
}

/* Merge bitonic columns of R vectors. */
INLINE void NAME(merge_columns)(const int r, __m256i *v)
{
#pragma GCC unroll 4
    for (int step = r / 2; step > 0; step /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < r; i++)
            if (!(i & step)) NAME(order)(v + i, v + i + step);
}

/* Order lanes of each vector: the upper lanes of groups get the greater numbers of x and `other`. */
#define ORDERED(x, other, upper) _mm256_blend_epi32(LEAST_OF(x, other), MOST_OF(x, other), upper)
#define ACROSS(exchanged, upper) \
    _Pragma("GCC unroll 16") for (int i = 0; i < r; i++) v[i] = ORDERED(v[i], exchanged(v[i]), upper);
#define REFLECTED(reversed, upper) \
    _Pragma("GCC unroll 16") for (int i = 0; i < (r + 1) / 2; i++) \
    { \
        const __m256i first = reversed(v[i]), last = reversed(v[r - 1 - i]), own = v[i]; \
        v[r - 1 - i] = ORDERED(v[r - 1 - i], first, upper); \
        v[i] = ORDERED(own, last, upper); \
    }

/* Sort R vectors: column j gets the numbers j * R, ..., j * R + R - 1. */
INLINE void NAME(sort_vectors)(const int r, __m256i *v)
{
    NAME(sort_columns)(r, v);
    REFLECTED(REVERSED2, UPPER2)
    NAME(merge_columns)(r, v);
    REFLECTED(REVERSED4, UPPER4)
    ACROSS(EXCHANGED1, UPPER2)
    NAME(merge_columns)(r, v);
#if KEY_BITS == 32
    REFLECTED(REVERSED8, UPPER8)
    ACROSS(EXCHANGED2, UPPER4)
    ACROSS(EXCHANGED1, UPPER2)
    NAME(merge_columns)(r, v);
#endif
}

#define STORE(j, x) _mm256_store_si256((__m256i *)(to + (j) * r + i), x);
#define STORE_HALVES(j, half, a, b) \
    STORE(j, _mm256_permute2x128_si256(a, b, 0x20)) STORE((j) + half, _mm256_permute2x128_si256(a, b, 0x31))

/* Write R vectors column after column. */
INLINE void NAME(store_columns)(const int r, const __m256i *v, KEY *to)
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

/* Write n numbers in order; they fill at most R vectors, and if R > 1 more than R / 2 of them. */
INLINE void NAME(sort_padded)(const int r, const KEY *a, i64 n, KEY *to)
{
    enum { L = NAME(LANES) };
    KEY sorted[16 * L] __attribute__((aligned(32)));
    __m256i v[16];
#pragma GCC unroll 16
    for (int i = 0; i < r; i++) {
        const __m256i own = BELOW(n, i * L);
        v[i] = _mm256_blendv_epi8(BROADCAST(KEY_MOST), MASKED(a + i * L, own), own);
    }
    NAME(sort_vectors)(r, v);
    NAME(store_columns)(r, v, sorted);
    if (r == 1) {
        memcpy(to, sorted, (size_t)n * sizeof(KEY));
        return;
    }
    for (i64 i = 0; i < n - L; i += L)
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_load_si256((__m256i *)(sorted + i)));
    _mm256_storeu_si256((__m256i *)(to + n - L), _mm256_loadu_si256((__m256i *)(sorted + n - L)));
}

enum { NAME(FEW) = 16 * NAME(LANES) };

/* Write at most FEW keys in order; `to` may be `a`. */
static void NAME(sort_few)(const KEY *a, i64 n, KEY *to)
{
    if (n > 8 * NAME(LANES)) NAME(sort_padded)(16, a, n, to);
    else if (n > 4 * NAME(LANES)) NAME(sort_padded)(8, a, n, to);
    else if (n > 2 * NAME(LANES)) NAME(sort_padded)(4, a, n, to);
    else if (n > NAME(LANES)) NAME(sort_padded)(2, a, n, to);
    else NAME(sort_padded)(1, a, n, to);
}

/* Leave the keys below the pivot at the front of `from`, write the others so that they end at to + n; return how many are
   below.  Both ends only grow over what is read already, or free: each vector is written to both, without a branch. */
static i64 NAME(partition)(KEY *from, KEY *to, i64 n, KEY pivot)
{
    enum { L = NAME(LANES) };
    const __m256i p = BROADCAST(pivot);
    KEY *left = from, *right = to + n;
    i64 i = 0;
#pragma GCC unroll 4
    for (; i + L <= n; i += L) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)(from + i));
        const u32 below = SIGNS(IS_GREATER(p, x));
        const __m256i moved = _mm256_permutevar8x32_epi32(x, _mm256_load_si256((const __m256i *)LANES_OF[below]));
        const i64 count = __builtin_popcount(below);
        _mm256_storeu_si256((__m256i *)left, moved);
        _mm256_storeu_si256((__m256i *)(right - L), moved);
        left += count, right -= L - count;
    }
    for (; i < n; i++) {
        const KEY x = from[i];
        const i64 is_below = x < pivot;
        *left = x, right[-1] = x;
        left += is_below, right -= !is_below;
    }
    return left - from;
}

/* Return the median of a sample. */
static KEY NAME(pivot_of)(const KEY *a, i64 n)
{
    enum { L = NAME(LANES) };
    if (n < 2048) { /* the middle one of the middle ones of three */
        const i64 step = n / 9;
        const KEY x = MIDDLE(a[0], a[step], a[2 * step]), y = MIDDLE(a[3 * step], a[4 * step], a[5 * step]);
        const KEY z = MIDDLE(a[6 * step], a[7 * step], a[8 * step]);
        return MIDDLE(x, y, z);
    }
    KEY sample[32], median[32];
    const i64 count = 32, step = n / count;
    for (i64 i = 0; i < count; i++) sample[i] = a[i * step + (i * 2654435761u >> 7) % (u64)step];
    NAME(sort_few)(sample, count, median);
    return median[count / 2];
}

#undef LEAST_OF
#undef MOST_OF
#undef IS_GREATER
#undef BROADCAST
#undef SIGNS
#undef MASKED
#undef BELOW
#undef AS_REAL
#undef REVERSED2
#undef REVERSED4
#undef REVERSED8
#undef EXCHANGED1
#undef EXCHANGED2
#undef UPPER2
#undef UPPER4
#undef UPPER8
#undef ORDERED
#undef ACROSS
#undef REFLECTED
#undef STORE
#undef STORE_HALVES
#endif
