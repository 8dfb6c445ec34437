/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

enum { AG_NORMAL = 0, AG_UNIFORM = 1, AG_GAMMA = 2, AG_BETA = 3, AG_LOGNORMAL = 4, AG_LAPLACE = 5, AG_LOGISTIC = 6, AG_VONMISES = 7, AG_WALD = 8, AG_EXPONENTIAL = 9, AG_WEIBULL = 10, AG_TRIANGULAR = 11, AG_POISSON = 12, AG_GEOMETRIC = 13, AG_HALFNORMAL = 14, AG_BINOMIAL = 15, AG_INTEGERS = 16 };

/* count samples y of a distribution, by NumPy's functions, and the state after them.  A step is 0 or 1: a parameter
   is one number, or has as many as there are samples. */
typedef struct ag_draw {
    i32 distribution;
    i64 count;
    i64 words;          /* length of the state */
    const i64 *state;
    const void *first;
    i64 first_step;
    const void *second;
    i64 second_step;
    const void *third;
    i64 third_step;
    void *y;
    i64 *after;
} ag_draw;
