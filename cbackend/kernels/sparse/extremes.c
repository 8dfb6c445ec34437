/* Greatest or least elements of the rows of sparse matrices, zeros that are not stored too.  Elements of one place are
   summed first.  A row is one thread's, so threads change nothing. */
#pragma once
#include "extreme_rows.c" /* of u8 */

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

/* Write the extreme of numbers of a matrix of so many places, each of which has one number at most. */
static i32 extreme_of(const ag_runtime *rt, const ag_sparse_extremes *of, const void *data, i64 count, i64 places)
{
    const i32 ends[2] = {0, (i32)count};
    extremes_call call = {*of, 1};
    call.of.m = 1, call.of.n = places, call.of.data = data, call.of.indptr = ends;
    return by_rows(rt, &call, 1, 1, some_extremes[of->kind]);
}

/* Write the extreme of all places.  Return 0 or MEMORY. */
static i32 extreme_of_all(const ag_runtime *rt, const extremes_call *call)
{
    const ag_sparse_extremes *of = &call->of;
    if (call->is_sorted) {
        const i64 places = of->n > (KEY64_MOST >> 1) / of->m ? KEY64_MOST : of->m * of->n;
        return extreme_of(rt, of, of->data, of->elements, places);
    }
    void *const rows = rt->alloc(of->m * kind_bytes[of->kind]);
    if (!rows) return OUTCOME_MEMORY;
    extremes_call each = *call;
    each.of.y = rows;
    i32 failed = by_rows(rt, &each, of->m, of->elements, some_extremes[of->kind]);
    if (!failed) failed = extreme_of(rt, of, rows, of->m, of->m);
    rt->release(rows);
    return failed;
}

/* Return 0, PROMISED or MEMORY. */
static i32 sparse_extremes(const ag_runtime *rt, const ag_sparse_extremes *of)
{
    if (!rows_fit(of->indptr, of->m, of->elements)) return OUTCOME_PROMISED;
    const extremes_call call = {*of, of->m > 0 && rows_ascend(of)};
    if (!call.is_sorted && !positions_fit(of->indices, of->elements, of->n)) return OUTCOME_PROMISED;
    if (of->whole) return of->m > 0 ? extreme_of_all(rt, &call) : OUTCOME_PROMISED;
    return by_rows(rt, &call, of->m, of->elements, some_extremes[of->kind]);
}

#define ORDER_AS(type) \
    for (i64 e = 0; e < count; e++) ((type *)to)[e] = ((const type *)from)[order[e]]

/* Write numbers in an order. */
static void in_order(i64 bytes, const void *from, const i32 *order, i64 count, void *to)
{
    if (bytes == 1) ORDER_AS(u8);
    else if (bytes == 2) ORDER_AS(u16);
    else if (bytes == 4) ORDER_AS(u32);
    else ORDER_AS(u64);
}

/* The extreme of coordinates, which are grouped by rows unless each place has one element.
   Return 0, PROMISED or MEMORY. */
static i32 sparse_extreme(const ag_runtime *rt, const ag_sparse_extreme *of)
{
    const i64 count = of->elements, bytes = kind_bytes[of->kind];
    const i64 fits = positions_fit(of->rows, count, of->m) && positions_fit(of->columns, count, of->n);
    if (!fits || of->m <= 0 || of->n <= 0 || count > KEY32_MOST) return OUTCOME_PROMISED;
    extremes_call call = {{.kind = of->kind,
                           .greatest = of->greatest,
                           .whole = 1,
                           .m = of->m,
                           .n = of->n,
                           .elements = count,
                           .data = of->data,
                           .y = of->y},
                          1};
    if (places_ascend(of->rows, of->columns, count) || places_ascend(of->columns, of->rows, count))
        return extreme_of_all(rt, &call);
    i32 *const order = rt->alloc(count * (i64)sizeof(i32)), *const columns = rt->alloc(count * (i64)sizeof(i32));
    i32 *const indptr = rt->alloc((of->m + 1) * (i64)sizeof(i32));
    void *const data = rt->alloc(count * bytes);
    i32 failed = OUTCOME_MEMORY;
    if (order && columns && indptr && data) {
        const ag_sparse_order by_row = {
            .elements = count, .n = of->m, .rows = of->rows, .order = order, .indptr = indptr};
        failed = sparse_order(rt, &by_row);
        in_order(bytes, of->data, order, count, data);
        in_order(sizeof(i32), of->columns, order, count, columns);
        call.of.data = data, call.of.indices = columns, call.of.indptr = indptr;
        call.is_sorted = rows_ascend(&call.of);
        if (!failed) failed = extreme_of_all(rt, &call);
    }
    rt->release(order);
    rt->release(columns);
    rt->release(indptr);
    rt->release(data);
    return failed;
}
