/* Bytes, for the file that is included once for each dtype, and what all of them share. */
#pragma once
#include "../sorting/rows.c"
#include "patterns.c"

enum {
    EXTREMES = 8,             /* that are kept side by side, for their instructions overlap */
    EXTREMES_MOST = 16,       /* where there are many numbers */
    EXTREMES_MANY = 1 << 10,  /* numbers that are many */
    ASCENDING_BLOCK = 1 << 11 /* columns whose order is looked at before that of their rows */
};

typedef struct extremes_call {
    ag_sparse_extremes of;
    i64 is_sorted; /* rows have their columns in order, each once */
} extremes_call;

/* Return how many numbers stand before the first that begins a cache line: vectors that cross lines are slow. */
INLINE i64 until_line(const void *numbers, i64 bytes) { return (i64)(-(u64)numbers & 63) / bytes; }

/* Whether all elements are in rows that have their columns in order, each once, and in bounds: as many are not after the
   one before as begin a row.  Rows lie one after the other, so each block of elements is read once from afar. */
static i64 rows_ascend(const ag_sparse_extremes *of)
{
    const i32 *const columns = of->indices, *const indptr = of->indptr;
    if (indptr[0] != 0 || indptr[of->m] != of->elements) return 0;
    i32 wrong = 0;
    u32 largest = of->elements ? (u32)columns[0] : 0; /* negative ones are the largest */
    i64 row = 0;
    while (row < of->m && !indptr[row]) row++;
    for (i64 first = 1, end; first < of->elements; first = end) {
        const i64 before = until_line(columns + first, sizeof *columns);
        end = least(first + (before ? before : ASCENDING_BLOCK), of->elements);
        for (i64 e = first; e < end; e++) {
            wrong += columns[e - 1] >= columns[e];
            largest = (u32)columns[e] > largest ? (u32)columns[e] : largest;
        }
        for (; row < of->m && indptr[row] < end; row++) {
            const i32 *const begin = columns + indptr[row];
            wrong -= (indptr[row + 1] > indptr[row]) & (begin[-1] >= begin[0]);
        }
    }
    return !wrong && (!of->elements || (largest < 0x80000000u && largest < of->n));
}

/* Whether elements are in order of one position, then of the other, each place once. */
static i64 places_ascend(const i32 *majors, const i32 *minors, i64 count)
{
    i32 wrong = 0;
    for (i64 e = 1; e < count; e++)
        wrong |= (majors[e - 1] > majors[e]) | ((majors[e - 1] == majors[e]) & (minors[e - 1] >= minors[e]));
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
