/* Batches of kernels: how many calls a batch stands for, and where the operand of each begins. */
#pragma once
#include "../abi/types.h"

/* Return the product of the lengths of a batch. */
static __attribute__((unused)) i64 count_of(i32 rank, const i64 *batch)
{
    i64 count = 1;
    for (i32 axis = 0; axis < rank; axis++) count *= batch[axis];
    return count;
}

/* Return the place of a call's operand in an array, in elements; the last axis of the batch is the fastest. */
static __attribute__((unused)) i64 place_of(i64 call, i32 rank, const i64 *batch, const i64 *strides)
{
    i64 at = 0;
    for (i32 axis = rank - 1; axis >= 0; call /= batch[axis--]) at += call % batch[axis] * strides[axis];
    return at;
}
