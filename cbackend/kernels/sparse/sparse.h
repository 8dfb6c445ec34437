/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "../../abi/forward.h"

/* y, with n columns: row i is the sum of data[e] * x[indices[e]]; e goes from indptr[i] to indptr[i + 1].  All arrays
   are contiguous. */
typedef struct ag_sparse_rows {
    i64 m;              /* rows of the matrix: one less than the numbers of indptr */
    i64 k;              /* columns of the matrix: rows of x */
    i64 n;              /* columns of x */
    i64 elements;       /* numbers of data */
    const void *data;
    const i32 *indices;
    const i32 *indptr;
    const void *x;
    void *y;
} ag_sparse_rows;

/* y, with n columns: row indices[e] gets data[e] * x[i] added; e goes from indptr[i] to indptr[i + 1].  All arrays
   are contiguous. */
typedef struct ag_sparse_across {
    i64 m;              /* rows of the matrix: one less than the numbers of indptr */
    i64 k;              /* columns of the matrix: rows of y */
    i64 n;              /* columns of x */
    i64 elements;       /* numbers of data */
    const void *data;
    const i32 *indices;
    const i32 *indptr;
    const void *x;
    void *y;
} ag_sparse_across;

/* y, with n columns: row rows[e] gets data[e] * x[columns[e]] added.  All arrays are contiguous. */
typedef struct ag_sparse_entries {
    i64 m;              /* rows of y */
    i64 k;              /* rows of x */
    i64 n;              /* columns of x */
    i64 elements;
    const void *data;
    const i32 *rows;
    const i32 *columns;
    const void *x;
    void *y;
} ag_sparse_entries;

/* The places of x @ y, in order: without `indices` indptr and their count, else indices, where indptr says. */
typedef struct ag_sparse_pattern {
    i64 m;                /* rows of x */
    i64 k;                /* columns of x, rows of y */
    i64 n;                /* columns of y */
    i64 x_elements;       /* numbers of x_indices */
    const i32 *x_indices;
    const i32 *x_indptr;
    i64 y_elements;       /* numbers of y_indices */
    const i32 *y_indices;
    const i32 *y_indptr;
    i32 *indptr;          /* m + 1 numbers */
    i64 *count;
    i32 *indices;
} ag_sparse_pattern;

/* The places of x and y, in order: without `indices` indptr, their count, and where each of x and y is among those of
   a task, in `merged`; else indices, and where each is among them. */
typedef struct ag_sparse_union {
    i64 m;                /* rows */
    i64 n;                /* columns */
    i64 x_elements;       /* numbers of x_indices */
    const i32 *x_indices;
    const i32 *x_indptr;
    i64 y_elements;       /* numbers of y_indices */
    const i32 *y_indices;
    const i32 *y_indptr;
    i32 *indptr;          /* m + 1 numbers */
    i64 *count;
    i32 *merged;          /* as many as x and y have together */
    i32 *indices;
    i64 *x_places;
    i64 *y_places;
} ag_sparse_union;

/* places = where y, of as many rows, has each element of x; -1 if nowhere. */
typedef struct ag_sparse_places {
    i64 m;                /* rows */
    i64 n;                /* columns */
    i64 x_elements;       /* numbers of x_indices */
    const i32 *x_indices;
    const i32 *x_indptr;
    i64 y_elements;       /* numbers of y_indices */
    const i32 *y_indices;
    const i32 *y_indptr;
    i64 *places;          /* as many as x_indices */
} ag_sparse_places;

/* order = the positions of elements by their rows, in their order; indptr = where each row begins. */
typedef struct ag_sparse_order {
    i64 elements;
    i64 n;           /* rows */
    const i32 *rows;
    i32 *order;
    i32 *indptr;     /* n + 1 numbers */
} ag_sparse_order;

/* y = the greatest or least number of each row, or of all, zeros that are not stored too; elements of one place are
   summed. */
typedef struct ag_sparse_extremes {
    i32 kind;           /* the dtype of data: AG_U8 and so on */
    i32 greatest;
    i32 whole;          /* y is one number */
    i64 m;              /* rows */
    i64 n;              /* columns */
    i64 elements;       /* numbers of data */
    const void *data;
    const i32 *indices;
    const i32 *indptr;
    void *y;
} ag_sparse_extremes;

/* y = the greatest or least number of a matrix, zeros that are not stored too; elements of one place are summed. */
typedef struct ag_sparse_extreme {
    i32 kind;           /* the dtype of data: AG_U8 and so on */
    i32 greatest;
    i64 m;              /* rows */
    i64 n;              /* columns */
    i64 elements;       /* numbers of data */
    const void *data;
    const i32 *rows;
    const i32 *columns;
    void *y;
} ag_sparse_extreme;

/* values = the elements of x @ y at the places of a pattern. */
typedef struct ag_sparse_values {
    i64 m;                /* rows of x */
    i64 k;                /* columns of x, rows of y */
    i64 n;                /* columns of y */
    const void *x;
    i64 x_elements;       /* numbers of x_indices */
    const i32 *x_indices;
    const i32 *x_indptr;
    const void *y;
    i64 y_elements;       /* numbers of y_indices */
    const i32 *y_indices;
    const i32 *y_indptr;
    i64 elements;         /* numbers of indices */
    const i32 *indices;
    const i32 *indptr;
    void *values;
} ag_sparse_values;
