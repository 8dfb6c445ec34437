/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y[n, c, p] = sum over k of w[n, k, p] * x[n, c, at[n, k, p]].  A position of -1 stands for an element that is 0.
   All arrays are contiguous. */
typedef struct ag_weighted_gather {
    i64 images;
    i64 channels;
    i64 taps;      /* positions of a place */
    i64 places;
    i64 plane;     /* elements of a plane */
    const i32 *at;
    const void *x;
    const void *w;
    void *y;
} ag_weighted_gather;

/* x[n, c, at[n, k, p]] is the sum of w[n, k, p] * y[n, c, p].  A position of -1 stands for an element that is 0.  All
   arrays are contiguous. */
typedef struct ag_weighted_scatter {
    i64 images;
    i64 channels;
    i64 taps;      /* positions of a place */
    i64 places;
    i64 plane;     /* elements of a plane */
    const i32 *at;
    const void *y;
    const void *w;
    void *x;
} ag_weighted_scatter;

/* w[n, k, p] = sum over c of x[n, c, at[n, k, p]] * y[n, c, p].  A position of -1 stands for an element that is 0.
   All arrays are contiguous. */
typedef struct ag_gather_products {
    i64 images;
    i64 channels;
    i64 taps;      /* positions of a place */
    i64 places;
    i64 plane;     /* elements of a plane */
    const i32 *at;
    const void *x;
    const void *y;
    void *w;
} ag_gather_products;
