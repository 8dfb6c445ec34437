/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* The same of bfloat16 numbers q, k and v; scores, sums and y are float. */
typedef struct ag_attention {
    i32 rank;                 /* elements of batch */
    const i64 *batch;         /* lengths of the axes of the batch */
    i64 m;                    /* rows of q */
    i64 n;                    /* positions */
    i64 d;                    /* columns of q */
    i64 e;                    /* columns of v */
    const void *scale;
    const void *q;
    const i64 *q_strides;
    const void *k;
    const i64 *k_strides;
    const void *v;
    const i64 *v_strides;
    const void *mask;         /* NULL, or bools that are `drops` where a score is left out */
    const i64 *mask_strides;
    i64 drops;
    const void *fill;         /* the score of what is left out */
    const void *added;        /* NULL, or numbers added to the scores */
    const i64 *added_strides;
    void *y;                  /* contiguous */
} ag_attention;
