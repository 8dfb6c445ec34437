/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y, with n columns: row i is the sum of data[e] * x[indices[e]]; e goes from indptr[i] to indptr[i + 1].  All arrays
   are contiguous. */
typedef struct ag_sparse_rows {
    i64 m;              /* rows of the matrix: one less than the numbers of indptr */
    i64 k;              /* columns of the matrix: rows of x */
    i64 n;              /* columns of x */
    i64 elements;       /* numbers of data */
    const void *data;
    const i32 *indices;
    const i32 *indptr;
    const void *x;
    void *y;
} ag_sparse_rows;

/* y, with n columns: row indices[e] gets data[e] * x[i] added; e goes from indptr[i] to indptr[i + 1].  All arrays
   are contiguous. */
typedef struct ag_sparse_across {
    i64 m;              /* rows of the matrix: one less than the numbers of indptr */
    i64 k;              /* columns of the matrix: rows of y */
    i64 n;              /* columns of x */
    i64 elements;       /* numbers of data */
    const void *data;
    const i32 *indices;
    const i32 *indptr;
    const void *x;
    void *y;
} ag_sparse_across;
