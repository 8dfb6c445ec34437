/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

enum { AG_FORWARD = 0, AG_BACKWARD = 1, AG_FROM_REAL = 2, AG_TO_REAL = 3 };

enum { AG_UNSCALED = 0, AG_BY_LENGTH = 1, AG_BY_ROOT = 2 };

/* y = the Fourier transform of x along an axis of n numbers; of their real form, n // 2 + 1 are complex.  y is
   contiguous. */
typedef struct ag_transform {
    i32 wide;             /* float64, not float32 */
    i32 form;             /* AG_FORWARD and so on */
    i32 scale;            /* AG_UNSCALED, AG_BY_LENGTH or AG_BY_ROOT */
    i32 rank;             /* elements of batch */
    const i64 *batch;     /* lengths of the other axes */
    i64 n;                /* real or complex numbers */
    const void *x;
    const i64 *x_strides;
    void *y;
} ag_transform;
