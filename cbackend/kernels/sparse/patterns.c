/* Places of the elements of sparse matrices: patterns of products, places in a pattern, the order by rows.
   A row is one thread's, and a set of columns is read in order, so threads change nothing. */
#pragma once
#include "../sorting/common.c"
#include "positions.c"

enum {
    PATTERN_TASK = 1 << 14, /* elements of a task */
    PATTERN_FEW = 24        /* columns that are sorted by insertion */
};

/* A set of columns: a bit each, and a bit for each word that is not zero. */
typedef struct column_set {
    u64 *bits, *words;
    i64 first, last; /* words of `words` that may be set; none if last < first */
} column_set;

INLINE void add_column(column_set *set, u32 column)
{
    const i64 word = column >> 6, at = column >> 12;
    set->bits[word] |= 1ull << (column & 63);
    set->words[at] |= 1ull << (word & 63);
    set->first = least(set->first, at);
    set->last = most(set->last, at);
}

/* Empty the set; return how many columns it had, and write them in order unless `columns` is NULL. */
INLINE i64 take_columns(column_set *set, i32 *columns)
{
    i64 count = 0;
    for (i64 at = set->first; at <= set->last; at++)
        for (u64 left = set->words[at]; left; left &= left - 1) {
            const i64 word = 64 * at + __builtin_ctzll(left);
            u64 bits = set->bits[word];
            set->bits[word] = 0;
            if (!columns) {
                count += __builtin_popcountll(bits);
                continue;
            }
            for (; bits; bits &= bits - 1) columns[count++] = (i32)(64 * word + __builtin_ctzll(bits));
        }
    for (i64 at = set->first; at <= set->last; at++) set->words[at] = 0;
    set->first = KEY64_MOST, set->last = -1;
    return count;
}

/* Add a column to ascending ones; return how many they are then. */
INLINE i64 insert_column(i32 *columns, i64 count, i32 column)
{
    i64 at = count;
    while (at > 0 && columns[at - 1] > column) at--;
    if (at > 0 && columns[at - 1] == column) return count;
    for (i64 k = count; k > at; k--) columns[k] = columns[k - 1];
    columns[at] = column;
    return count + 1;
}

typedef struct pattern_work {
    const ag_runtime *rt;
    const ag_sparse_pattern *of;
    i64 rows;         /* of a task */
    i32 volatile failed;
} pattern_work;

/* Return how many columns row i of the result has, and write them unless `columns` is NULL. */
INLINE i64 pattern_row(const ag_sparse_pattern *of, i64 i, column_set *set, i32 *columns)
{
    const i32 *first = of->x_indices, *ends = of->y_indptr, *second = of->y_indices;
    const i64 from = of->x_indptr[i], end = of->x_indptr[i + 1];
    i64 total = 0;
    for (i64 e = from; e < end; e++) total += ends[first[e] + 1] - ends[first[e]];
    if (total > PATTERN_FEW) {
        for (i64 e = from; e < end; e++)
            for (i64 f = ends[first[e]]; f < ends[first[e] + 1]; f++) add_column(set, (u32)second[f]);
        return take_columns(set, columns);
    }
    i32 few[PATTERN_FEW];
    i64 count = 0;
    for (i64 e = from; e < end; e++)
        for (i64 f = ends[first[e]]; f < ends[first[e] + 1]; f++) count = insert_column(few, count, second[f]);
    if (columns) memcpy(columns, few, (size_t)count * sizeof *few);
    return count;
}

static void pattern_rows(void *context, i64 task)
{
    pattern_work *work = context;
    const ag_sparse_pattern *of = work->of;
    const i64 words = (of->n >> 6) + 1, end = least((task + 1) * work->rows, of->m);
    const size_t bytes = (size_t)(words + (words >> 6) + 1) * sizeof(u64);
    u64 *const room = work->rt->alloc((i64)bytes);
    if (!room) {
        work->failed = OUTCOME_MEMORY;
        return;
    }
    memset(room, 0, bytes);
    column_set set = {.bits = room, .words = room + words, .first = KEY64_MOST, .last = -1};
    for (i64 i = task * work->rows; i < end; i++) {
        if (of->indices) pattern_row(of, i, &set, of->indices + of->indptr[i]);
        else of->indptr[i + 1] = (i32)pattern_row(of, i, &set, 0);
    }
    work->rt->release(room);
}

/* Do `rows` rows of about `elements` elements by tasks; return the rows of one. */
static i64 rows_of_task(const ag_runtime *rt, i64 rows, i64 elements)
{
    const i64 tasks = rt->threads > 1 ? most(1, least(least(rows, 8 * rt->threads), elements / PATTERN_TASK)) : 1;
    return most(1, (rows + tasks - 1) / tasks);
}

/* Return 0, PROMISED or MEMORY. */
static i32 sparse_pattern(const ag_runtime *rt, const ag_sparse_pattern *of)
{
    const i64 writes = of->indices != 0;
    if (!writes) {
        const i64 fits = matrix_fits(of->y_indices, of->y_indptr, of->k, of->y_elements, of->n) &&
                         matrix_fits(of->x_indices, of->x_indptr, of->m, of->x_elements, of->k);
        if (!fits) return OUTCOME_PROMISED;
        of->indptr[0] = 0;
    }
    pattern_work work = {.rt = rt, .of = of};
    const double each = (double)of->y_elements / (double)most(1, of->k);
    work.rows = rows_of_task(rt, of->m, (i64)((double)of->x_elements * each));
    rt->parallel(rt, (of->m + work.rows - 1) / work.rows, pattern_rows, &work);
    if (work.failed || writes) return work.failed;
    i64 total = 0;
    for (i64 i = 0; i < of->m; i++) {
        total += of->indptr[i + 1];
        of->indptr[i + 1] = (i32)total;
        if (total > KEY32_MOST) return OUTCOME_PROMISED;
    }
    *of->count = total;
    return 0;
}

typedef struct places_work {
    const ag_runtime *rt;
    const ag_sparse_places *of;
    i64 rows; /* of a task */
    i32 volatile failed;
} places_work;

static void place_rows(void *context, i64 task)
{
    places_work *work = context;
    const ag_sparse_places *of = work->of;
    const i64 end = least((task + 1) * work->rows, of->m);
    const size_t bytes = (size_t)(of->n + 1) * sizeof(i32);
    i32 *const place = work->rt->alloc((i64)bytes);
    if (!place) {
        work->failed = OUTCOME_MEMORY;
        return;
    }
    memset(place, -1, bytes);
    for (i64 i = task * work->rows; i < end; i++) {
        const i64 from = of->y_indptr[i], until = of->y_indptr[i + 1];
        for (i64 f = from; f < until; f++) place[of->y_indices[f]] = (i32)f;
        for (i64 e = of->x_indptr[i]; e < of->x_indptr[i + 1]; e++) of->places[e] = place[of->x_indices[e]];
        for (i64 f = from; f < until; f++) place[of->y_indices[f]] = -1;
    }
    work->rt->release(place);
}

/* Return 0, PROMISED or MEMORY. */
static i32 sparse_places(const ag_runtime *rt, const ag_sparse_places *of)
{
    const i64 fits = matrix_fits(of->y_indices, of->y_indptr, of->m, of->y_elements, of->n) &&
                     matrix_fits(of->x_indices, of->x_indptr, of->m, of->x_elements, of->n);
    if (!fits) return OUTCOME_PROMISED;
    for (i64 e = 0; e < (of->m > 0 ? of->x_indptr[0] : of->x_elements); e++) of->places[e] = -1;
    for (i64 e = of->m > 0 ? of->x_indptr[of->m] : of->x_elements; e < of->x_elements; e++) of->places[e] = -1;
    places_work work = {.rt = rt, .of = of, .rows = rows_of_task(rt, of->m, of->x_elements + of->y_elements)};
    rt->parallel(rt, (of->m + work.rows - 1) / work.rows, place_rows, &work);
    return work.failed;
}

/* Order the elements by their rows: count each row, then write each element behind those of its row before it.
   Return 0 or PROMISED. */
static i32 sparse_order(const ag_runtime *rt, const ag_sparse_order *of)
{
    (void)rt;
    i32 *const indptr = of->indptr;
    const i32 *const rows = of->rows;
    if (!positions_fit(rows, of->elements, of->n) || of->elements > KEY32_MOST) return OUTCOME_PROMISED;
    memset(indptr, 0, (size_t)(of->n + 1) * sizeof(i32));
    for (i64 e = 0; e < of->elements; e++) indptr[rows[e] + 1]++;
    for (i64 i = 0; i < of->n; i++) indptr[i + 1] += indptr[i];
    for (i64 e = 0; e < of->elements; e++) of->order[indptr[rows[e]]++] = e;
    for (i64 i = of->n; i > 0; i--) indptr[i] = indptr[i - 1]; /* each beginning has become its end */
    indptr[0] = 0;
    return 0;
}
