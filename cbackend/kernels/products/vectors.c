/* Products of a matrix and a vector, and of two vectors, whose strides may be any: they are brought to the form that BLAS
   takes.

   A transposed matrix is passed as it is; a copy is made only where no stride is 1, or where elements are used twice (a
   stride of 0).  A vector is copied unless its stride is 1: a BLAS adds up strided numbers in another order. */
#pragma once
#include "../../driver/outcomes.h"
#include "blas.c"

/* A matrix as BLAS takes it: rows (or, transposed, columns) of which each is contiguous, `ld` elements apart. */
typedef struct stored_matrix {
    const T *data;
    T *block; /* the copy, if there had to be one */
    i64 ld;
    i32 trans;
} stored_matrix;

static i32 store_matrix(const ag_runtime *rt, stored_matrix *a, i64 rows, i64 cols, const T *x, const i64 *strides)
{
    const i64 s0 = strides[0], s1 = strides[1];
    *a = (stored_matrix){.data = x, .ld = cols > 1 ? cols : 1};
    if (rows == 0 || cols == 0) return 0;
    if ((s1 == 1 || cols == 1) && (s0 >= a->ld || rows == 1)) {
        if (rows > 1) a->ld = s0;
        return 0;
    }
    if (s0 == 1 && rows > 1 && (s1 >= rows || cols == 1)) {
        a->trans = 1, a->ld = cols > 1 ? s1 : rows;
        return 0;
    }
    a->trans = rows > 1 && cols > 1 && (s0 < 0 ? -s0 : s0) < (s1 < 0 ? -s1 : s1); /* the copy is laid out alike */
    a->ld = a->trans ? rows : a->ld;
    const i64 n[] = {rows, cols}, packed[] = {a->trans ? 1 : cols, a->trans ? rows : 1};
    a->data = a->block = rt->take(rt, sizeof(T), 2, n);
    if (!a->block) return OUTCOME_MEMORY;
    rt->copy(sizeof(T), 2, n, a->block, packed, x, strides);
    return 0;
}

/* Return a vector whose stride is 1, copied (then *block holds the copy) where it is not; NULL if there is no memory. */
static const T *store_vector(const ag_runtime *rt, T **block, i64 n, const T *x, i64 step)
{
    const i64 one = 1;
    *block = 0;
    if (step == 1 || n <= 1) return x;
    *block = rt->take(rt, sizeof(T), 1, &n);
    if (*block) rt->copy(sizeof(T), 1, &n, *block, &one, x, &step);
    return *block;
}

static i32 multiply_by_vector(const ag_runtime *rt, const ag_gemv *of)
{
    stored_matrix a;
    T *block;
    const T *x = store_vector(rt, &block, of->n, of->x, of->x_step);
    if (!x) return OUTCOME_MEMORY;
    const i32 failed = store_matrix(rt, &a, of->m, of->n, of->a, of->a_strides);
    const i64 rows = a.trans ? of->n : of->m, cols = a.trans ? of->m : of->n;
    if (!failed) gemv(rt, a.trans, rows, cols, of->alpha, a.data, a.ld, x, 1, of->beta, of->y, 1);
    rt->release(a.block);
    rt->release(block);
    return failed;
}

static i32 add_outer_product(const ag_runtime *rt, const ag_ger *of)
{
    T *x_block, *y_block;
    const T *x = store_vector(rt, &x_block, of->m, of->x, of->x_step);
    const T *y = store_vector(rt, &y_block, of->n, of->y, of->y_step);
    if (x && y) ger(rt, of->m, of->n, of->alpha, x, 1, y, 1, of->a, of->n > 1 ? of->n : 1);
    rt->release(x_block);
    rt->release(y_block);
    return x && y ? 0 : OUTCOME_MEMORY;
}

static i32 multiply_vectors(const ag_runtime *rt, const ag_dot *of)
{
    T *x_block, *y_block;
    const T *x = store_vector(rt, &x_block, of->n, of->x, of->x_step);
    const T *y = store_vector(rt, &y_block, of->n, of->y, of->y_step);
    if (x && y) dot(rt, of->n, x, 1, y, 1, of->result);
    rt->release(x_block);
    rt->release(y_block);
    return x && y ? 0 : OUTCOME_MEMORY;
}
