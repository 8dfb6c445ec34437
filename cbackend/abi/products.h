#pragma once
#include "forward.h"

enum { AG_MOST_AXES = 66, AG_MOST_ARRAYS = 64 }; /* of a product's result; of the nest that follows a product */

/* c = alpha * a @ b + beta * c for every matrix of a batch.  Strides count elements, first those of the batch's axes,
   and may be anything.  The rows of c are c_step apart, its matrices m * c_step.  Scalars are passed by address, in the
   dtype.  With *beta == 0 the result is not read.  Any size may be 0. */
typedef struct ag_product {
    i32 rank;                     /* axes of the batch */
    const i64 *batch;             /* their lengths */
    i64 m, n, k;
    const void *alpha, *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;
    const void *beta;
    void *c;
    i64 c_step;
    /* Epilogue of each finished block of c, or NULL.  Its loops are the axes of c, and may
       be further ones, 1 long, in front of the last; data and strides are those of a launch.  grouped: the last axis of
       the batch is none of c, which has the rows of its matrices one after the other. */
    const struct ag_nest *after;
    void *const *data;
    const i64 *strides;
    i32 grouped;
    /* NULL, or where the numbers of b lie, in elements: that of row p and column j at b[b_rows[p] + b_columns[j]].  The
       last two of b_strides then say nothing. */
    const i64 *b_rows, *b_columns;
    i32 in_panels; /* b lies in the panels that tiles read; strides of b then say nothing */
} ag_product;
