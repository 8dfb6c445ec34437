/* Definitions that both readings of sparse.c share. */
#pragma once
#include "../quantized/bytes.c"

#if defined(__AVX512F__) || defined(__aarch64__)
#define SPARSE_ROWS 6 /* rows whose sums are in registers, four vectors each */
#else
#define SPARSE_ROWS 2
#endif
enum { SHARES = 16 }; /* tasks that the panels are divided into */

typedef struct sparse_work {
    ag_sparse_product of;
    i64 share;     /* panels of a task */
    char *special; /* for each row, whether it has an infinity or a NaN */
} sparse_work;
