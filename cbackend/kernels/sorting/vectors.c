/* Sorting networks of a few vectors of keys, and partitions.  Included for KEY = i32, i64 and double, which has an
   instruction for minima and maxima, with NAME.

   A network sorts R vectors as columns, then merges neighbouring columns: each merge is bitonic, compares across lanes
   first and within columns last.  So nearly all comparisons are between whole vectors.
   Source: J. Wassenberg, M. Blacher, J. Giesen, P. Sanders, "Vectorized and performance-portable Quicksort", 2022. */
#include "key32.h"

#ifdef __AVX2__
#include "lanes256.c"
#include "lanes512.c"

/* Order two vectors lane by lane. */
INLINE void NAME(order)(VECTOR *a, VECTOR *b)
{
    ORDER(*a, *b, low, high);
    *a = low, *b = high;
}

/* Sort each lane of R vectors: R is 1, 2, 4, 8 or 16. */
INLINE void NAME(sort_columns)(const int r, VECTOR *v)
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
INLINE void NAME(merge_columns)(const int r, VECTOR *v)
{
#pragma GCC unroll 4
    for (int step = r / 2; step > 0; step /= 2)
#pragma GCC unroll 16
        for (int i = 0; i < r; i++)
            if (!(i & step)) NAME(order)(v + i, v + i + step);
}

/* Order lanes of each vector with others of it, and of vectors from both ends. */
#define ACROSS(exchanged, upper) \
    _Pragma("GCC unroll 16") for (int i = 0; i < r; i++) v[i] = ORDERED(v[i], exchanged(v[i]), upper);
#define REFLECTED(reversed, upper) \
    _Pragma("GCC unroll 16") for (int i = 0; i < (r + 1) / 2; i++) \
    { \
        const VECTOR first = reversed(v[i]), last = reversed(v[r - 1 - i]), own = v[i]; \
        v[r - 1 - i] = ORDERED(v[r - 1 - i], first, upper); \
        v[i] = ORDERED(own, last, upper); \
    }

/* Sort R vectors: column j gets the numbers j * R, ..., j * R + R - 1. */
INLINE void NAME(sort_vectors)(const int r, VECTOR *v)
{
    NAME(sort_columns)(r, v);
    REFLECTED(REVERSED2, UPPER2)
    NAME(merge_columns)(r, v);
    REFLECTED(REVERSED4, UPPER4)
    ACROSS(EXCHANGED1, UPPER2)
    NAME(merge_columns)(r, v);
#ifdef UPPER8
    REFLECTED(REVERSED8, UPPER8)
    ACROSS(EXCHANGED2, UPPER4)
    ACROSS(EXCHANGED1, UPPER2)
    NAME(merge_columns)(r, v);
#endif
#ifdef UPPER16
    REFLECTED(REVERSED16, UPPER16)
    ACROSS(EXCHANGED4, UPPER8)
    ACROSS(EXCHANGED2, UPPER4)
    ACROSS(EXCHANGED1, UPPER2)
    NAME(merge_columns)(r, v);
#endif
}

/* Write n numbers in order; they fill at most R vectors, and if R > 1 more than R / 2 of them. */
INLINE void NAME(sort_padded)(const int r, const KEY *a, i64 n, KEY *to)
{
    VECTOR v[16];
#pragma GCC unroll 16
    for (int i = 0; i < r; i++) v[i] = NAME(load_first)(a + i * NAME(LANES), n - i * NAME(LANES));
    NAME(sort_vectors)(r, v);
    NAME(store_columns)(r, v, n, to);
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
    const VECTOR p = BROADCAST(pivot);
    KEY *left = from, *right = to + n;
    i64 i = 0;
#pragma GCC unroll 4
    for (; i + L <= n; i += L) {
        __builtin_prefetch(right - 12 * L, 1); /* a store waits for its line; addresses outside do nothing */
        const i64 count = NAME(split)(from + i, p, left, right);
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

#undef VECTOR
#undef AS_REAL
#undef LEAST_OF
#undef MOST_OF
#undef IS_GREATER
#undef BROADCAST
#undef ORDER
#undef ORDERED
#undef REVERSED2
#undef REVERSED4
#undef REVERSED8
#undef REVERSED16
#undef EXCHANGED1
#undef EXCHANGED2
#undef EXCHANGED4
#undef UPPER2
#undef UPPER4
#undef UPPER8
#undef UPPER16
#undef ACROSS
#undef REFLECTED
#endif
