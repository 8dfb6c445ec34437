/* Pairs of bfloat16 numbers in lanes of 32 bits, the first one of a pair in the lower half.

   sum + second product + first product, each with one rounding to the nearest: vdpbf16ps of AVX512-BF16, which flushes
   numbers and sums below 2^-126; bfmlalt and bfmlalb of Armv8.6, which do not; else float multiplications.  A product
   of two such numbers is exact in float32.  (bfdot rounds to odd, so its bits are others.) */
#pragma once
#include "arithmetic.c"

typedef i32 pairs __attribute__((vector_size(VECTOR_BYTES)));
typedef float pair_sums __attribute__((vector_size(VECTOR_BYTES)));

#if defined(__AVX512BF16__)
#define PAIR_UNIT 1
INLINE pair_sums add_pairs(pair_sums sum, pairs a, pairs b)
{
    __asm__("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
}
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
#define PAIR_UNIT 1
INLINE pair_sums add_pairs(pair_sums sum, pairs a, pairs b)
{
    __asm__("bfmlalt %0.4s, %1.8h, %2.8h\n\tbfmlalb %0.4s, %1.8h, %2.8h" : "+w"(sum) : "w"(a), "w"(b));
    return sum;
}
#else
#define PAIR_UNIT 0
INLINE pair_sums add_pairs(pair_sums sum, pairs a, pairs b)
{
    const i32 upper = (i32)0xffff0000;
    sum += (pair_sums)(a & upper) * (pair_sums)(b & upper);
    sum += (pair_sums)(a << 16) * (pair_sums)(b << 16);
    return sum;
}
#endif
