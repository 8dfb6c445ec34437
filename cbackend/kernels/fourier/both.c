/* Fourier transforms of float32 and float64. */
#pragma once
#include "real32.h"
#include "transforms.c"

#undef REAL
#undef REAL_BYTES
#undef OF
#define REAL double
#define REAL_BYTES 8
#define OF(x) x##_f64
#include "transforms.c"

static i32 transform_batch(const ag_runtime *rt, const ag_transform *of)
{
    i64 rows = 1;
    for (i32 axis = 0; axis < of->rank; axis++) rows *= of->batch[axis];
    if (rows == 0) return 0;
    return of->wide ? transform_rows_f64(rt, of, rows) : transform_rows_f32(rt, of, rows);
}
