/* Sorting and selection of keys: KEY is a signed integer of KEY_BITS, or a float without NaNs.  Equal keys are alike, but
   for the sign of a zero, which may get lost.

   Quicksort between two arrays: the keys below a pivot stay, the others move to the same places of the other array.  The
   last few are written in order to their places.  Where pivots are bad, and without vectors, digits of 8 bits sort, from
   the last one on. */
#include "key32.h"

#ifdef __AVX2__
#include "vectors.c"
#else
enum { NAME(FEW) = 48 };

static void NAME(sort_few)(const KEY *a, i64 n, KEY *to)
{
    for (i64 i = 0; i < n; i++) {
        const KEY x = a[i];
        i64 j = i;
        for (; j > 0 && to[j - 1] > x; j--) to[j] = to[j - 1];
        to[j] = x;
    }
}

static i64 NAME(partition)(KEY *from, KEY *to, i64 n, KEY pivot)
{
    KEY *left = from, *right = to + n;
    for (i64 i = 0; i < n; i++) {
        const KEY x = from[i];
        const i64 is_below = x < pivot;
        *left = x, right[-1] = x;
        left += is_below, right -= !is_below;
    }
    return left - from;
}

static KEY NAME(pivot_of)(const KEY *a, i64 n)
{
    KEY sample[15], median[15];
    const i64 step = n / 15;
    for (i64 i = 0; i < 15; i++) sample[i] = a[i * step + (i64)((u64)i * 2654435761u >> 7) % step];
    NAME(sort_few)(sample, 15, median);
    return median[7];
}
#endif

#if KEY_IS_FLOAT
/* Sort by digits of integers in the same order. */
static void NAME(sort_by_digits)(KEY *from, KEY *other, i64 n, KEY *to)
{
    i64 *const keys = (i64 *)from, *const sorted = (i64 *)to;
    for (i64 i = 0; i < n; i++) keys[i] ^= keys[i] >> 63 & KEY64_MOST;
    sort_by_digits64(keys, (i64 *)other, n, sorted);
    for (i64 i = 0; i < n; i++) sorted[i] ^= sorted[i] >> 63 & KEY64_MOST;
}
#else
/* Sort by digits; the result is in `to`, which may be one of both arrays. */
static void NAME(sort_by_digits)(KEY *from, KEY *other, i64 n, KEY *to)
{
    enum { DIGITS = KEY_BITS / 8 };
    const UNSIGNED sign = (UNSIGNED)1 << (KEY_BITS - 1);
    i64 counts[DIGITS][256];
    memset(counts, 0, sizeof counts);
    for (i64 i = 0; i < n; i++) {
        const UNSIGNED x = (UNSIGNED)from[i] ^ sign;
        for (int d = 0; d < DIGITS; d++) counts[d][x >> (8 * d) & 255]++;
    }
    for (int d = 0; d < DIGITS; d++) {
        i64 at = 0, same = 0;
        for (int k = 0; k < 256; k++) {
            const i64 count = counts[d][k];
            same |= count == n;
            counts[d][k] = at, at += count;
        }
        if (same) continue;
        for (i64 i = 0; i < n; i++) {
            const KEY x = from[i];
            other[counts[d][((UNSIGNED)x ^ sign) >> (8 * d) & 255]++] = x;
        }
        KEY *const last = from;
        from = other, other = last;
    }
    if (from != to) memcpy(to, from, (size_t)n * sizeof(KEY));
}
#endif

/* Partition around a pivot from a sample.  Return how many keys stay in *from, at the front; the others are in *other.  If
   none is below the pivot, it is the least key: those equal to it come first, and *same says how many they are. */
static i64 NAME(halve)(KEY **from, KEY **other, i64 n, i64 *same)
{
    const KEY pivot = NAME(pivot_of)(*from, n);
    const i64 below = NAME(partition)(*from, *other, n, pivot);
    *same = 0;
    if (below) return below;
    KEY *const all = *other;
    *other = *from, *from = all;
    *same = pivot == KEY_MOST ? n : NAME(partition)(*from, *other, n, NEXT_KEY(pivot));
    return *same;
}

/* Sort n keys of `from`, into `to`, which is this array or the other one.  depth: bad pivots until digits take over. */
static void NAME(sort_to_depth)(KEY *from, KEY *other, i64 n, KEY *to, int depth)
{
    while (n > NAME(FEW)) {
        if (depth-- == 0) {
            NAME(sort_by_digits)(from, other, n, to);
            return;
        }
        i64 same;
        const i64 first = NAME(halve)(&from, &other, n, &same);
        if (same)
            for (i64 i = 0; i < first; i++) to[i] = from[i];
        else NAME(sort_to_depth)(from, other, first, to, depth);
        KEY *const rest = other + first;
        other = from + first, from = rest, to += first, n -= first;
    }
    NAME(sort_few)(from, n, to);
}

/* Sort keys, with room for as many. */
static void NAME(sort_keys)(KEY *a, i64 n, KEY *room)
{
#ifndef __AVX2__
    if (n > 256) {
        NAME(sort_by_digits)(a, room, n, a);
        return;
    }
#endif
    NAME(sort_to_depth)(a, room, n, a, 2 * digits_of((u64)n));
}

#if !KEY_IS_FLOAT
/* Write the key that sorting brings to each of `count` ascending places to found[]; both arrays change. */
static void NAME(select_keys)(KEY *from, KEY *other, i64 n, const i64 *places, i64 count, KEY *found)
{
    i64 start = 0; /* of the keys among all */
    int depth = 2 * digits_of((u64)n);
    while (count > 0) {
        if (n <= NAME(FEW) || depth-- == 0 || count > n / 4) {
            NAME(sort_to_depth)(from, other, n, from, depth > 0 ? depth : 0);
            for (i64 k = 0; k < count; k++) found[k] = from[places[k] - start];
            return;
        }
        i64 same, low = 0, high = count;
        const i64 first = NAME(halve)(&from, &other, n, &same);
        while (low < high) { /* find the places of the first part */
            const i64 middle = (low + high) / 2;
            if (places[middle] - start < first) low = middle + 1;
            else high = middle;
        }
        if (same)
            for (i64 k = 0; k < low; k++) found[k] = from[0];
        else if (low == count) {
            n = first;
            continue;
        } else if (low > 0) {
            i64 own[64];
            if (low > 64 || start) { /* places count from the start of the part */
                NAME(sort_to_depth)(from, other, first, from, depth);
                for (i64 k = 0; k < low; k++) found[k] = from[places[k] - start];
            } else {
                for (i64 k = 0; k < low; k++) own[k] = places[k];
                NAME(select_keys)(from, other, first, own, low, found);
            }
        }
        KEY *const rest = other + first;
        other = from + first, from = rest, n -= first, start += first;
        places += low, found += low, count -= low;
    }
}
#endif
