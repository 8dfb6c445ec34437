/* Non-maximum suppression of boxes of float32 and float64. */
#pragma once
#include "real32.h"
#include "boxes.c"

#undef REAL
#undef OF
#define REAL double
#define OF(x) x##_f64
#include "boxes.c"

static i32 suppress(const ag_runtime *rt, const ag_suppress *of)
{
    return of->wide ? suppress_all_f64(rt, of) : suppress_all_f32(rt, of);
}
