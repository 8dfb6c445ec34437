/* Compiled functions for callers in C and Rust: an address and a pointer, no Python.

       int64_t ag_plain_call(void *function, void *const *inputs, void *const *outputs)
       int64_t ag_plain_density(uint64_t dim, const double *x, double *gradient, double *value, void *function)
       int64_t ag_plain_expand(uint64_t dim, uint64_t results, const double *x, double *out, void *function)

   Arrays are C-contiguous and have the lengths that the function was made with.  All three return 0 after success, a
   negative number for lengths that do not fit, a positive one if the computation failed: a matrix without factors, a
   failed check, an index out of bounds.  A density also fails where its gradient (3) or its value (4) is not finite.
   Each call has an ag_call of its own, so any number of threads may call at once. */
#pragma once
#include "native_entry.c"

enum { LENGTHS_DIFFER = -1, FAILED = 1, GRADIENT_NOT_FINITE = 3, VALUE_NOT_FINITE = 4 };

/* Run one call; data[]: all arrays. */
static i64 run_plain(const ag_plain *f, char **data)
{
    char *before[AG_ARRAYS];
    i64 lengths[AG_LENGTHS];
    for (i32 k = f->inputs; k < f->count; k++) before[k] = data[k];
    for (i32 k = 0; k < f->axes; k++) lengths[k] = f->lengths[k];
    ag_call call;
    prepare(&call, f->call.rt, f->call.declared, f->call.constants, f->call.constant_lengths, data, lengths);
    if (f->run(&call) == 0) return 0;
    for (i32 k = f->inputs; k < f->count; k++)
        if (data[k] != before[k]) f->call.rt->release(data[k]);
    return FAILED;
}

EXPORT i64 ag_plain_call(void *function, char *const *inputs, char *const *outputs)
{
    const ag_plain *f = function;
    char *data[AG_ARRAYS];
    for (i32 k = 0; k < f->count; k++) data[k] = f->data[k] ? f->data[k] : k < f->inputs ? *inputs++ : *outputs++;
    return run_plain(f, data);
}

static i32 is_finite(double x) { return x - x == 0; }

EXPORT i64 ag_plain_density(i64 dim, double *x, double *gradient, double *value, void *function)
{
    const ag_plain *f = function;
    if (dim != f->dim) return LENGTHS_DIFFER;
    i64 outcome = ag_plain_call(function, &(char *){(char *)x}, (char *[]){(char *)value, (char *)gradient});
    if (outcome) return outcome;
    for (i64 k = 0; k < dim; k++)
        if (!is_finite(gradient[k])) return GRADIENT_NOT_FINITE;
    return is_finite(*value) ? 0 : VALUE_NOT_FINITE;
}

EXPORT i64 ag_plain_expand(i64 dim, i64 results, double *x, double *out, void *function)
{
    const ag_plain *f = function;
    if (dim != f->dim || results != f->results) return LENGTHS_DIFFER;
    return ag_plain_call(function, &(char *){(char *)x}, &(char *){(char *)out});
}
