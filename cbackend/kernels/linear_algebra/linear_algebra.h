/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* x[n, k] = inv(a[n, n]) @ b[n, k] for each place of a batch; without b, the inverse of a, and k is n. */
typedef struct ag_solve {
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the axes of the batch */
    i64 n;                /* rows and columns of a */
    const void *a;
    const i64 *a_strides;
    i64 k;                /* right sides */
    const void *b;        /* NULL, or the right sides */
    const i64 *b_strides;
    void *x;              /* contiguous */
} ag_solve;

/* x[n, k] = inv(a[n, n]) @ b[n, k] for each place of a batch, where a triangle of a is read. */
typedef struct ag_solve_triangular {
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the axes of the batch */
    i64 n;                /* rows and columns of a */
    const void *a;
    const i64 *a_strides;
    i32 upper;
    i32 unit;             /* the diagonal is 1, and not read */
    i64 k;                /* right sides */
    const void *b;
    const i64 *b_strides;
    void *x;              /* contiguous */
} ag_solve_triangular;

/* l[n, n], lower triangular, of a = l @ l^H for each place of a batch; the upper triangle of a is not read. */
typedef struct ag_cholesky {
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the axes of the batch */
    i64 n;                /* rows and columns of a */
    const void *a;
    const i64 *a_strides;
    void *l;              /* contiguous */
} ag_cholesky;

/* The cotangent of the lower triangle of a = l @ l^H, given that of l, for each place of a batch. */
typedef struct ag_cholesky_gradient {
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the axes of the batch */
    i64 n;                /* rows and columns */
    const void *l;
    const i64 *l_strides;
    const void *g;        /* the cotangent of l */
    const i64 *g_strides;
    void *x;              /* contiguous */
} ag_cholesky_gradient;

/* The signs of the determinants of a[n, n], and the logarithms of their moduli. */
typedef struct ag_slogdet {
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the axes of the batch */
    i64 n;                /* rows and columns of a */
    const void *a;
    const i64 *a_strides;
    void *sign;
    void *logarithm;      /* real */
} ag_slogdet;
