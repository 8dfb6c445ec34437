/* Copies of tiles and strips, which kernels call; see ../ctext/functions/copies.h. */
#pragma once
#include "types.h"

/* For elements of 1, 2, 4, 8 and 16 bytes each. */
typedef struct ag_copies {
    const void *(*tile_in[5])(const void *x, i64 at, i64 down, i64 along, i64 rows, i64 columns, void *copy);
    void (*tile_back[5])(void *y, i64 at, i64 down, i64 along, i64 rows, i64 columns, const void *copy);
    const void *(*run_of[5])(const void *x, i64 stride, i64 n, void *copy);
    void (*run_back[5])(void *y, i64 at, i64 stride, i64 n, const void *copy);
    const void *(*widened_in[5])(const void *x, i64 at, i64 stride, i64 n, void *copy);
    const void *(*packed_in[5])(const void *x, i64 at, i64 down, i64 along, i64 rows, i64 columns, void *copy);
} ag_copies;
