/* What the calls of kernels share. */
#pragma once
#include "types.h"

struct ag_runtime;

struct ag_call;

struct ag_nest;

enum { AG_MEMORY = 2, AG_SINGULAR = 13, AG_NOT_POSITIVE_DEFINITE = 14 }; /* outcomes of calls */

/* An epilogue: a nest that reads the results of a call, with what a launch takes.  nest: NULL if there is none. */
typedef struct ag_after {
    const struct ag_nest *nest;
    const i64 *lengths;
    void *const *data;
    const i64 *strides;
} ag_after;
