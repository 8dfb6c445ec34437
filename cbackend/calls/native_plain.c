/* Compiled functions for callers in C and Rust: an address and a pointer, no Python.

       int64_t call(void *function, void *const *inputs, void *const *outputs)
       int64_t density(uint64_t dim, const double *x, double *gradient, double *value, void *function)
       int64_t expand(uint64_t dim, uint64_t results, const double *x, double *out, void *function)

   These take C-contiguous arrays of the lengths that the function was made with.  They return 0 after success, a
   negative number for lengths that do not fit, a positive one if the computation failed: a matrix without factors, a
   failed check, an index out of bounds.  A density also fails where its gradient (3) or its value (4) is not finite.

   The others have the signatures of SciPy's low-level callables, of any lengths: quad gets NaN from a call that fails,
   generic_filter, generic_filter1d and geometric_transform get 0.

   Each call has an ag_call of its own, so any number of threads may call at once. */
#pragma once
#include "native_entry.c"
#include <math.h>

enum { LENGTHS_DIFFER = -1, FAILED = 1, GRADIENT_NOT_FINITE = 3, VALUE_NOT_FINITE = 4 };

/* Run one call on all arrays and their lengths, which it overwrites.  A result of another length than `lengths` says
   lies in a block of the runtime: that is a failure. */
static i64 run_plain(const ag_plain *f, void **data, i64 *lengths)
{
    void *before[AG_ARRAYS];
    for (i32 k = f->inputs; k < f->count; k++) before[k] = data[k];
    ag_call call;
    prepare(&call, f->call.rt, f->call.declared, f->call.constants, f->call.constant_lengths, data, lengths);
    i64 outcome = f->run(&call) == 0 ? 0 : FAILED;
    for (i32 k = f->inputs; k < f->count; k++) {
        if (data[k] == before[k]) continue;
        f->call.rt->release(data[k]);
        outcome = FAILED;
    }
    return outcome;
}

static i64 of_arrays(void *function, void *const *inputs, void *const *outputs)
{
    const ag_plain *f = function;
    void *data[AG_ARRAYS];
    i64 lengths[AG_LENGTHS];
    for (i32 k = 0; k < f->count; k++) data[k] = f->data[k] ? f->data[k] : k < f->inputs ? *inputs++ : *outputs++;
    for (i32 k = 0; k < f->axes; k++) lengths[k] = f->lengths[k];
    return run_plain(f, data, lengths);
}

static i32 is_finite(double x) { return x - x == 0; }

static i64 of_point(i64 dim, double *x, double *gradient, double *value, void *function)
{
    const ag_plain *f = function;
    if (dim != f->dim) return LENGTHS_DIFFER;
    i64 outcome = of_arrays(function, &(void *){x}, (void *[]){value, gradient});
    if (outcome) return outcome;
    for (i64 k = 0; k < dim; k++)
        if (!is_finite(gradient[k])) return GRADIENT_NOT_FINITE;
    return is_finite(*value) ? 0 : VALUE_NOT_FINITE;
}

static i64 of_draw(i64 dim, i64 results, double *x, double *out, void *function)
{
    const ag_plain *f = function;
    if (dim != f->dim || results != f->results) return LENGTHS_DIFFER;
    return of_arrays(function, &(void *){x}, &(void *){out});
}

/* A vector `x` of type-erased elements to `y`, which has `length` elements, or -1 if it is a scalar. */
static i32 of_vector(const ag_plain *f, void *x, i64 count, double *y, i64 length)
{
    return run_plain(f, (void *[]){x, y}, (i64[]){count, length}) == 0;
}

/* double f(int n, double *x, void *function) of quad and nquad: n scalars, or one vector */
static double of_numbers(i32 n, double *x, void *function)
{
    const ag_plain *f = function;
    double result = NAN;
    void *data[AG_ARRAYS];
    i64 lengths[1] = {0};
    if (f->axes) return of_vector(f, x, n, &result, -1) ? result : NAN;
    if (n != f->inputs) return NAN;
    for (i32 k = 0; k < n; k++) data[k] = x + k;
    data[n] = &result;
    return run_plain(f, data, lengths) == 0 ? result : NAN;
}

/* int f(double *buffer, intptr_t size, double *result, void *function) of generic_filter */
static i32 of_window(double *window, i64 size, double *result, void *function)
{
    return of_vector(function, window, size, result, -1);
}

/* int f(double *line, intptr_t length, double *out, intptr_t out_length, void *function) of generic_filter1d */
static i32 of_line(double *line, i64 length, double *out, i64 out_length, void *function)
{
    return of_vector(function, line, length, out, out_length);
}

/* int f(intptr_t *output, double *input, int output_rank, int input_rank, void *function) of geometric_transform */
static i32 of_place(i64 *output, double *input, i32 output_rank, i32 input_rank, void *function)
{
    return of_vector(function, output, output_rank, input, input_rank);
}

/* The entry of a kind: the order of KINDS in plain.py. */
EXPORT void *ag_plain_entry(i32 kind)
{
    switch (kind) {
    case 0: return (void *)of_arrays;
    case 1: return (void *)of_point;
    case 2: return (void *)of_draw;
    case 3: return (void *)of_numbers;
    case 4: return (void *)of_window;
    case 5: return (void *)of_line;
    default: return (void *)of_place;
    }
}
