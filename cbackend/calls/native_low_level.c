/* Entries with the signatures of SciPy's low-level callables: quad, generic_filter, generic_filter1d and
   geometric_transform call a compiled function without Python.

   user: the ag_signature of the function, which low_level.py has checked to fit.  Each call has an ag_call of its own,
   so several threads may call. */
#pragma once
#include "native_entry.c"
#include <math.h>

/* Run one call; 0 if it fails, or if the result has another length than `lengths` says. */
static i32 runs(const ag_signature *s, char **data, i64 *lengths)
{
    char *given = data[s->inputs];
    ag_call call;
    prepare(&call, s->rt, s->declared, s->constants, s->constant_lengths, data, lengths);
    i32 is_done = s->run(&call) == 0;
    if (data[s->inputs] == given) return is_done;
    s->rt->release(data[s->inputs]); /* a block of the runtime, for a result of another length */
    return 0;
}

/* A vector `x` of type-erased elements to `y`, which has `length` elements, or -1 if it is a scalar. */
static i32 of_vector(const ag_signature *s, void *x, i64 count, double *y, i64 length)
{
    char *data[2] = {x, (char *)y};
    i64 lengths[2] = {count, length};
    return runs(s, data, lengths);
}

/* double f(int n, double *x, void *user) of quad and nquad: n scalars, or one vector; NaN if the call fails. */
static double of_numbers(i32 n, double *x, void *user)
{
    const ag_signature *s = user;
    double result = NAN;
    char *data[AG_ARRAYS];
    i64 lengths[1] = {0};
    if (s->input_lengths) return of_vector(s, x, n, &result, -1) ? result : NAN;
    if (n != s->inputs) return NAN;
    for (i32 k = 0; k < n; k++) data[k] = (char *)(x + k);
    data[n] = (char *)&result;
    return runs(s, data, lengths) ? result : NAN;
}

/* int f(double *buffer, intptr_t size, double *result, void *user) of generic_filter */
static i32 of_window(double *window, i64 size, double *result, void *user)
{
    return of_vector(user, window, size, result, -1);
}

/* int f(double *line, intptr_t length, double *out, intptr_t out_length, void *user) of generic_filter1d */
static i32 of_line(double *line, i64 length, double *out, i64 out_length, void *user)
{
    return of_vector(user, line, length, out, out_length);
}

/* int f(intptr_t *output, double *input, int output_rank, int input_rank, void *user) of geometric_transform */
static i32 of_place(i64 *output, double *input, i32 output_rank, i32 input_rank, void *user)
{
    return of_vector(user, output, output_rank, input, input_rank);
}

/* The entry of a kind: the order of KINDS in low_level.py. */
EXPORT void *ag_low_level(i32 kind)
{
    switch (kind) {
    case 0: return (void *)of_numbers;
    case 1: return (void *)of_window;
    case 2: return (void *)of_line;
    default: return (void *)of_place;
    }
}
