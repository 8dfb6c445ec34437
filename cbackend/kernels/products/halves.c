/* Numbers of bfloat16 in memory, the upper halves of floats: widened and rounded LANES at a time.  See pairs.c. */
#pragma once
#include "pairs.c"

typedef i32 number_bits __attribute__((may_alias));
typedef unsigned short half __attribute__((may_alias));
typedef unsigned short halves __attribute__((vector_size(VECTOR_BYTES / 2), aligned(2), may_alias));

INLINE pair_sums widened_halves(const half *x)
{
    return (pair_sums)(__builtin_convertvector(*(const halves *)x, pairs) << 16);
}

/* The nearest bfloat16 numbers, ties to even, as floats; a NaN stays a NaN. */
INLINE __attribute__((unused)) pair_sums nearest_halves(pair_sums x)
{
    const pairs bits = (pairs)x, up = (bits + 0x7fff + ((bits >> 16) & 1)) & (i32)0xffff0000;
    const pairs is_nan = (bits & 0x7fffffff) > 0x7f800000;
    return (pair_sums)((is_nan & 0x7fc00000) | (~is_nan & up));
}

INLINE __attribute__((unused)) half nearest_half(float x)
{
    const union {
        float number;
        unsigned bits;
    } of = {x};
    return x == x ? (half)((of.bits + 0x7fff + (of.bits >> 16 & 1)) >> 16) : 0x7fc0;
}

/* Store the upper halves of floats. */
INLINE __attribute__((unused)) void store_halves(half *to, pair_sums x)
{
    typedef unsigned int words __attribute__((vector_size(VECTOR_BYTES)));
    *(halves *)to = __builtin_convertvector((words)x >> 16, halves);
}

/* Store the nearest bfloat16 numbers of floats none of which is `awkward`. */
#if defined(__AVX512BF16__)
INLINE __attribute__((unused)) i32 awkward(pair_sums x) /* NaN or subnormal, for which vcvtneps2bf16 has other bits */
{
    unsigned short found;
    __asm__("vfpclassps $0xa1, %1, %0" : "=k"(found) : "v"(x));
    return found;
}
INLINE __attribute__((unused)) void store_nearest(half *to, pair_sums x)
{
    halves found;
    __asm__("vcvtneps2bf16 %1, %0" : "=v"(found) : "v"(x));
    *(halves *)to = found;
}
#else
INLINE __attribute__((unused)) i32 awkward(pair_sums x)
{
    (void)x;
    return 0;
}
INLINE __attribute__((unused)) void store_nearest(half *to, pair_sums x) { store_halves(to, nearest_halves(x)); }
#endif
