/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

enum { AG_U8 = 0, AG_I8 = 1, AG_U16 = 2, AG_I16 = 3, AG_F16 = 4, AG_U32 = 5, AG_I32 = 6, AG_F32 = 7, AG_U64 = 8, AG_I64 = 9, AG_F64 = 10, AG_C64 = 11, AG_C128 = 12 };

/* y = x in ascending order along an axis, NaNs last, equal elements in their order. */
typedef struct ag_sort {
    i32 kind;             /* the dtype of x: AG_U8 and so on */
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the other axes */
    i64 n;                /* elements along the axis */
    const void *x;
    const i64 *x_strides;
    void *y;
    const i64 *y_strides;
} ag_sort;

/* y = the positions of the elements of x in ascending order along an axis, those of equal ones too. */
typedef struct ag_argsort {
    i32 kind;             /* the dtype of x: AG_U8 and so on */
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the other axes */
    i64 n;                /* elements along the axis */
    const void *x;
    const i64 *x_strides;
    i64 *y;
    const i64 *y_strides;
} ag_argsort;

/* y[count] = the elements at these places of the sorted axis; x does not change.  y is contiguous. */
typedef struct ag_select {
    i32 kind;             /* the dtype of x: AG_U8 and so on */
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the other axes */
    i64 n;                /* elements along the axis */
    const void *x;
    const i64 *x_strides;
    i64 count;
    const i64 *places;    /* contiguous */
    void *y;
} ag_select;

/* The k first elements of an axis in descending order, NaNs first, or in ascending order; the first of equal ones
   first.  Results are contiguous. */
typedef struct ag_topk {
    i32 kind;             /* the dtype of x: AG_U8 and so on */
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the other axes */
    i64 n;                /* elements along the axis */
    const void *x;
    const i64 *x_strides;
    i64 k;
    i32 largest;
    void *values;
    i64 *positions;
} ag_topk;

/* y = where elements of v go into the ascending vector a, one pair for each example.  All arrays are contiguous. */
typedef struct ag_searchsorted {
    i32 kind;      /* the dtype of x: AG_U8 and so on */
    i64 examples;
    i64 n;         /* elements of a */
    i64 m;         /* elements of v */
    i32 right;     /* behind equal elements */
    const void *a;
    const void *v;
    i64 *y;
} ag_searchsorted;

/* count = how many elements of x, which is contiguous, are not zero. */
typedef struct ag_count_nonzero {
    i32 kind;      /* the dtype of x: AG_U8 and so on */
    i64 n;
    const void *x;
    i64 *count;
} ag_count_nonzero;

/* y = the positions of the nonzero elements of x, which is contiguous, along one axis: the place in x over `inner`,
   modulo `axis`. */
typedef struct ag_nonzero {
    i32 kind;      /* the dtype of x: AG_U8 and so on */
    i64 inner;
    i64 axis;      /* the length of the axis; 0 for the first one */
    const void *x;
    i64 count;     /* of y */
    i64 *y;
} ag_nonzero;

/* found[3 * count] = batch, class and place of each box that no better one of its class overlaps, the best ones
   first.  All arrays are contiguous. */
typedef struct ag_suppress {
    i32 wide;              /* boxes and scores are float64, not float32 */
    i32 centred;           /* boxes are centre and size */
    i64 batches;
    i64 classes;
    i64 n;                 /* boxes */
    i64 limit;             /* boxes of a class that are kept */
    const void *boxes;     /* four numbers each */
    const void *scores;
    const double *overlap;
    const double *least;   /* the score to exceed */
    i64 *found;
    i64 *count;
} ag_suppress;

/* total = the sum of counts, which are contiguous; if one is negative, the least of them. */
typedef struct ag_count_repeated {
    i32 narrow;         /* counts are int32, not int64 */
    i64 n;
    const void *counts;
    i64 *total;
} ag_count_repeated;

/* y = the positions 0, 1, ... of counts, each as many times as its count says; with starts, where counts are int64,
   as many integers from each start on. */
typedef struct ag_repeated {
    i32 narrow;         /* counts are int32, not int64 */
    i64 n;
    const void *counts;
    const i64 *starts;
    void *y;
} ag_repeated;

/* count = how many elements of x differ from the one before, in the order of `order`. */
typedef struct ag_count_distinct {
    i32 kind;         /* the dtype of x: AG_U8 and so on */
    i64 n;
    i32 equal_nan;    /* NaNs are one value */
    const void *x;    /* contiguous */
    const i64 *order; /* NULL, or positions; without it x is in order */
    i64 *count;
} ag_count_distinct;

/* The distinct elements of x, where each stands first, which of them each element is, how many are equal. */
typedef struct ag_distinct {
    i32 kind;         /* the dtype of x: AG_U8 and so on */
    i64 n;
    i32 equal_nan;    /* NaNs are one value */
    const void *x;    /* contiguous */
    const i64 *order; /* NULL, or positions; without it x is in order */
    void *values;
    i64 *index;
    i64 *inverse;
    i64 *counts;
} ag_distinct;
