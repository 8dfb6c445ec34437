/* Helpers of reductions: pairwise sums of blocks, whose error grows with the logarithm of the number of blocks. */
#pragma once
#include "element.h"

/* Sums of 1, 2, 4, ... blocks: bit k of `count` says whether one of 2^k blocks waits on the stack (N. Higham, "The
accuracy of
   floating point summation", 1993). */
typedef struct ag_pairwise {
    f64 waiting[64];
    i64 count, depth;
} ag_pairwise;

static inline void ag_pairwise_start(ag_pairwise *sum)
{
    sum->count = sum->depth = 0;
}

static inline void ag_pairwise_add(ag_pairwise *sum, f64 block)
{
    for (i64 bits = sum->count++; bits & 1; bits >>= 1)
        block = sum->waiting[--sum->depth] + block;
    sum->waiting[sum->depth++] = block;
}

static inline f64 ag_pairwise_total(const ag_pairwise *sum)
{
    if (sum->depth == 0)
        return 0;
    f64 total = sum->waiting[sum->depth - 1];
    for (i64 k = sum->depth - 2; k >= 0; k--)
        total = sum->waiting[k] + total;
    return total;
}

/* Sums of lanes as a tree: the upper half is added to the lower one, again and again.  A loop over halves would be made
   one over scalars at the level of optimization that kernels have. */
static inline F ag_sum_of_2_F(const F *lane)
{
    return lane[0] + lane[1];
}

static inline F ag_sum_of_4_F(const F *lane)
{
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

static inline F ag_sum_of_8_F(const F *lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

static inline F ag_sum_of_16_F(const F *lane)
{
#if defined(__GNUC__) && !defined(__CUDACC__) /* halves of the register that the lanes lie in */
    typedef F eight __attribute__((vector_size(8 * sizeof(F)), aligned(sizeof(F)), may_alias));
    typedef F four __attribute__((vector_size(4 * sizeof(F)), may_alias));
    const eight half = *(const eight *)lane + *(const eight *)(lane + 8);
    const four quarter = ((const four *)&half)[0] + ((const four *)&half)[1];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
#else
    F half[8];
    for (i64 k = 0; k < 8; k++) half[k] = lane[k] + lane[k + 8];
    return ag_sum_of_8_F(half);
#endif
}

/* Products of lanes, as a tree as well. */
static inline F ag_product_of_2_F(const F *lane)
{
    return lane[0] * lane[1];
}

static inline F ag_product_of_4_F(const F *lane)
{
    return (lane[0] * lane[2]) * (lane[1] * lane[3]);
}

static inline F ag_product_of_8_F(const F *lane)
{
    const F half[] = {lane[0] * lane[4], lane[1] * lane[5], lane[2] * lane[6], lane[3] * lane[7]};
    return ag_product_of_4_F(half);
}

static inline F ag_product_of_16_F(const F *lane)
{
    F half[8];
    for (i64 k = 0; k < 8; k++) half[k] = lane[k] * lane[k + 8];
    return ag_product_of_8_F(half);
}
