#pragma once
#include "runtime.h"

/* One call of one function.  The lengths of all arrays lie one after the other, and so do their strides, which count
   elements. */
typedef struct ag_call {
    const ag_runtime *rt;
    void **data;                  /* first elements of the inputs, then of the outputs */
    i64 *lengths;                 /* inputs, then outputs: a guess going in, the truth coming out */
    i64 *strides;                 /* inputs, then outputs; NULL: all of them are C-contiguous */
    const i64 *declared;          /* inputs: the lengths that their types promise, -1 where any will do */
    void *const *constants;       /* first elements of the constants, which are C-contiguous */
    const i64 *constant_lengths;
    /* Runs a step that has no C: arrays[] and lengths[] hold its inputs, then its outputs, which the callee fills. */
    i32 (*host)(struct ag_call *call, i32 step, void **arrays, i64 *lengths, const i64 *strides);
    i64 *profile;                 /* NULL, or what is counted: see accounts.py; the next three are for it alone */
    i64 *memory;                  /* of those the figures of memory, from the first step on, in bodies too; else NULL */
    i64 begun;                    /* when the caller began, by rt->clock() */
    i64 *warm_up;                 /* how many calls are yet to be left out */
    i32 step;                     /* the step that failed */
    i32 operand;                  /* the operand or axis it failed on */
    i32 outcome;                  /* what ag_entry returned, for a caller whom Ctrl-C kept from hearing it */
    i64 detail[64];               /* lengths, indices: what the message says */
} ag_call;

i32 ag_entry(ag_call *call);
