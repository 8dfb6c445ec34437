/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once

#if !COMPLEX
#define ATTENTION_SLOT .attention = attend,
#else
#define ATTENTION_SLOT
#endif
#define PRODUCTS_SLOTS ATTENTION_SLOT

#define BYTES_SLOTS

#define SOLVE_SLOT .solve = solve_batch,
#define SOLVE_TRIANGULAR_SLOT .solve_triangular = solve_triangular_batch,
#define CHOLESKY_SLOT .cholesky = cholesky_batch,
#define SLOGDET_SLOT .slogdet = slogdet_batch,
#define SOLVERS_SLOTS SOLVE_SLOT SOLVE_TRIANGULAR_SLOT CHOLESKY_SLOT SLOGDET_SLOT
