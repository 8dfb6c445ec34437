/* Greatest or least elements of the rows of sparse matrices, zeros that are not stored too.  Elements of one place are
   summed first.  A row is one thread's, so threads change nothing. */
#pragma once
#include "../sorting/rows.c"
#include "patterns.c"

enum {
    EXTREMES = 8,            /* that are kept side by side, for their instructions overlap */
    EXTREMES_CHECK = 1 << 16 /* columns that are compared at once */
};

typedef struct extremes_call {
    ag_sparse_extremes of;
    i64 is_sorted; /* rows have their columns in order, each once */
} extremes_call;

/* Whether all rows have their columns in order, each once: as many are not after the one before as begin a row. */
static i64 rows_ascend(const i32 *columns, const i32 *indptr, i64 rows)
{
    i64 wrong = 0;
    for (i64 first = indptr[0] + 1, end = indptr[rows], until; first < end; first = until) {
        until = least(first + EXTREMES_CHECK, end);
        i32 found = 0;
        for (i64 e = first; e < until; e++) found += columns[e - 1] >= columns[e];
        wrong += found;
    }
    for (i64 i = 0; i < rows; i++) {
        const i64 from = indptr[i];
        if (from > indptr[0] && from < indptr[i + 1]) wrong -= columns[from - 1] >= columns[from];
    }
    return !wrong;
}

/* Return a number for each of n columns, which are 0, and room for as many elements behind them; NULL: no memory. */
static i64 *new_places(rows_work *work, i64 n, i64 bytes)
{
    i64 *const places = work->rt->alloc(n * ((i64)sizeof(i64) + bytes));
    if (places) memset(places, 0, (size_t)n * sizeof(i64));
    else work->failed = OUTCOME_MEMORY;
    return places;
}

#define ELEMENT u8
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_u8
#include "extreme_rows.c"

#define ELEMENT i8
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_i8
#include "extreme_rows.c"

#define ELEMENT u16
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_u16
#include "extreme_rows.c"

#define ELEMENT i16
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_i16
#include "extreme_rows.c"

#define ELEMENT u32
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_u32
#include "extreme_rows.c"

#define ELEMENT i32
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_i32
#include "extreme_rows.c"

#define ELEMENT u64
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_u64
#include "extreme_rows.c"

#define ELEMENT i64
#define SUM u64
#define IS_NAN(v) ((void)(v), 0)
#define NAMED(x) x##_i64
#include "extreme_rows.c"

#define ELEMENT float
#define SUM float
#define IS_NAN(v) ((v) != (v))
#define NAMED(x) x##_f32
#include "extreme_rows.c"

#define ELEMENT double
#define SUM double
#define IS_NAN(v) ((v) != (v))
#define NAMED(x) x##_f64
#include "extreme_rows.c"

static void (*const some_extremes[])(void *, i64) = {
    [AG_U8] = some_extremes_u8,   [AG_I8] = some_extremes_i8,   [AG_U16] = some_extremes_u16,
    [AG_I16] = some_extremes_i16, [AG_U32] = some_extremes_u32, [AG_I32] = some_extremes_i32,
    [AG_U64] = some_extremes_u64, [AG_I64] = some_extremes_i64, [AG_F32] = some_extremes_f32,
    [AG_F64] = some_extremes_f64,
};

/* Write the extreme of all rows.  Return 0 or MEMORY. */
static i32 extreme_of_all(const ag_runtime *rt, const extremes_call *call)
{
    const ag_sparse_extremes *of = &call->of;
    i32 ends[2] = {of->indptr[0], of->indptr[of->m]};
    extremes_call all = *call;
    all.of.m = 1, all.of.n = of->n > (KEY64_MOST >> 1) / of->m ? KEY64_MOST : of->m * of->n, all.of.indptr = ends;
    all.is_sorted = 1;
    void *rows = 0;
    i32 failed = 0;
    if (!call->is_sorted) {
        rows = rt->alloc(of->m * kind_bytes[of->kind]);
        if (!rows) return OUTCOME_MEMORY;
        extremes_call each = *call;
        each.of.y = rows;
        failed = by_rows(rt, &each, of->m, of->elements, some_extremes[of->kind]);
        all.of.data = rows, all.of.n = of->m, ends[0] = 0, ends[1] = (i32)of->m;
    }
    if (!failed) failed = by_rows(rt, &all, 1, 1, some_extremes[of->kind]);
    rt->release(rows);
    return failed;
}

/* Return 0, PROMISED or MEMORY. */
static i32 sparse_extremes(const ag_runtime *rt, const ag_sparse_extremes *of)
{
    if (!matrix_fits(of->indices, of->indptr, of->m, of->elements, of->n)) return OUTCOME_PROMISED;
    const extremes_call call = {*of, of->m > 0 && rows_ascend(of->indices, of->indptr, of->m)};
    if (of->whole) return of->m > 0 ? extreme_of_all(rt, &call) : OUTCOME_PROMISED;
    return by_rows(rt, &call, of->m, of->elements, some_extremes[of->kind]);
}
