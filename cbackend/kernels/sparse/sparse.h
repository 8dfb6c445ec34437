/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y[m, n]: row i is the sum of data[e] * x[indices[e]] for indptr[i] <= e < indptr[i + 1]; all arrays are contiguous.
   */
typedef struct ag_sparse_rows {
    i64 m;              /* rows of y: one less than the numbers of indptr */
    i64 k;              /* rows of x */
    i64 n;              /* columns of x */
    i64 elements;       /* numbers of data */
    const void *data;
    const i32 *indices;
    const i32 *indptr;
    const void *x;
    void *y;
} ag_sparse_rows;
