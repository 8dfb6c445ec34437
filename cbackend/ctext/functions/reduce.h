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
