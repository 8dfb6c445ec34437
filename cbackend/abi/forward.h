/* Definitions that the calls of all kernels share. */
#pragma once
#include "types.h"

struct ag_runtime;

struct ag_call;

struct ag_nest;

struct ag_loop;

struct ag_copies;

enum { AG_MOST_AXES = 66, AG_MOST_ARRAYS = 64 }; /* of a product's result; of the nest that follows */

/* An epilogue: a nest that reads the results of a call, with what a launch takes.  nest: NULL if there is none. */
typedef struct ag_after {
    const struct ag_nest *nest;
    const i64 *lengths;
    void *const *data;
    const i64 *strides;
} ag_after;
