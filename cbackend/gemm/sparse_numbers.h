/* The products with sparse matrices of float and of double. */
#pragma once
#include "sparse_work.c"

#define NUMBER float
#define NAMED(name) name##_float
#include "sparse.c"

#define NUMBER double
#define NAMED(name) name##_double
#include "sparse.c"
