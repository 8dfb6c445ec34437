/* Numbers of bfloat16 in memory, the upper halves of floats: widened and rounded LANES at a time.  See pairs.c. */
#pragma once
#include "pairs.c"

typedef i32 number_bits __attribute__((may_alias));
typedef unsigned short half __attribute__((may_alias));
typedef unsigned short halves __attribute__((vector_size(VECTOR_BYTES / 2), aligned(2), may_alias));

INLINE pair_sums widened_halves(const half *x)
{
#if defined(__AVX512VBMI__) /* the load fills bytes from number 32 on with zeros */
    typedef unsigned char bytes __attribute__((vector_size(64)));
#define UPPER(k) 32, 32, k, k + 1
    const bytes places = {UPPER(0),  UPPER(2),  UPPER(4),  UPPER(6),  UPPER(8),  UPPER(10), UPPER(12), UPPER(14),
                          UPPER(16), UPPER(18), UPPER(20), UPPER(22), UPPER(24), UPPER(26), UPPER(28), UPPER(30)};
#undef UPPER
    pair_sums found;
    __asm__("vmovdqu8 %1, %t0\n\tvpermb %0, %2, %0" : "=&v"(found) : "m"(*(const halves *)x), "v"(places));
    return found;
#elif defined(__AVX512F__) /* gcc widens two halves of a vector and joins them */
    pairs found;
    __asm__("vpmovzxwd %1, %0" : "=v"(found) : "m"(*(const halves *)x));
    return (pair_sums)(found << 16);
#else
    return (pair_sums)(__builtin_convertvector(*(const halves *)x, pairs) << 16);
#endif
}

/* The larger of the bits of two numbers each. */
INLINE __attribute__((unused)) halves larger_bits(halves a, halves b)
{
#if defined(__AVX512VL__) && defined(__AVX512BW__) /* gcc compares to a mask and blends */
    halves found;
    __asm__("vpmaxuw %2, %1, %0" : "=v"(found) : "v"(a), "vm"(b));
    return found;
#else
    const halves greater = (halves)(a > b);
    return (greater & a) | (~greater & b);
#endif
}

/* Whether a number has its sign bit set. */
INLINE __attribute__((unused)) i32 has_sign(halves x)
{
    typedef unsigned long long signs __attribute__((vector_size(VECTOR_BYTES / 2)));
    const signs found = (signs)x & 0x8000800080008000;
    unsigned long long any = 0;
    for (int k = 0; k < VECTOR_BYTES / 16; k++) any |= found[k];
    return any != 0;
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

/* Two vectors at once: any is NaN; store them behind each other. */
#define STORES_TWO 1
INLINE __attribute__((unused)) i32 has_nan(pair_sums x, pair_sums y)
{
    unsigned short found;
    __asm__("vcmpunordps %2, %1, %0" : "=k"(found) : "v"(x), "v"(y));
    return found;
}
INLINE __attribute__((unused)) void store_nearest_two(half *to, pair_sums x, pair_sums y)
{
    typedef unsigned short both __attribute__((vector_size(VECTOR_BYTES), aligned(2), may_alias));
    both found;
    __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(found) : "v"(x), "v"(y));
    *(both *)to = found;
}
#else
INLINE __attribute__((unused)) i32 awkward(pair_sums x)
{
    (void)x;
    return 0;
}
INLINE __attribute__((unused)) void store_nearest(half *to, pair_sums x) { store_halves(to, nearest_halves(x)); }
#endif
