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
    i64 count; /* of `words` */
} column_set;

/* Make an empty set of n columns; return whether there is memory. */
static i64 new_set(const ag_runtime *rt, i64 n, column_set *set)
{
    const i64 bits = (n >> 6) + 1, words = (bits >> 6) + 1;
    const size_t bytes = (size_t)(bits + words) * sizeof(u64);
    u64 *const room = rt->alloc((i64)bytes);
    if (!room) return 0;
    memset(room, 0, bytes);
    *set = (column_set){.bits = room, .words = room + bits, .count = words};
    return 1;
}

/* Add columns; `all`: the set is read by all of its bits, not by its words. */
INLINE void add_columns(const column_set *set, const i32 *restrict columns, i64 count, i64 all)
{
    u64 *restrict const bits = set->bits, *restrict const words = set->words;
    for (i64 k = 0; k < count; k++) {
        const u32 column = (u32)columns[k];
        bits[column >> 6] |= 1ull << (column & 63);
        if (!all) words[column >> 12] |= 1ull << (column >> 6 & 63);
    }
}

/* Empty a word of the set; return how many columns it had, and write them in order unless `columns` is NULL. */
INLINE i64 take_word(u64 *word, i64 first, i32 *columns)
{
    u64 bits = *word;
    *word = 0;
    if (!columns) return __builtin_popcountll(bits);
    i64 count = 0;
    for (; bits; bits &= bits - 1) columns[count++] = (i32)(first + __builtin_ctzll(bits));
    return count;
}

/* Empty the set; return how many columns it had, and write them in order unless `columns` is NULL. */
INLINE i64 take_columns(const column_set *set, i32 *columns, i64 all)
{
    i64 count = 0;
    for (i64 at = 0; at < set->count; at++)
        if (all) {
            const i64 end = least(64 * at + 64, set->words - set->bits);
            for (i64 word = 64 * at; word < end; word++)
                count += take_word(set->bits + word, 64 * word, columns ? columns + count : 0);
        } else if (set->words[at]) {
            for (u64 left = set->words[at]; left; left &= left - 1) {
                const i64 word = 64 * at + __builtin_ctzll(left);
                count += take_word(set->bits + word, 64 * word, columns ? columns + count : 0);
            }
            set->words[at] = 0;
        }
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

typedef struct rows_work {
    const ag_runtime *rt;
    const void *of; /* the call */
    i64 rows;       /* of a task */
    i32 volatile failed;
} rows_work;

/* Do `rows` rows of about `elements` elements of a call by tasks.  Return 0 or what failed. */
static i32 by_rows(const ag_runtime *rt, const void *of, i64 rows, i64 elements, void (*some)(void *, i64))
{
    const i64 most_tasks = rt->threads > 1 ? most(1, least(least(rows, 8 * rt->threads), elements / PATTERN_TASK)) : 1;
    rows_work work = {.rt = rt, .of = of, .rows = most(1, (rows + most_tasks - 1) / most_tasks)};
    rt->parallel(rt, (rows + work.rows - 1) / work.rows, some, &work);
    return work.failed;
}

/* Return how many columns row i of the result has, and write them unless `columns` is NULL. */
INLINE i64 pattern_row(const ag_sparse_pattern *of, i64 i, const column_set *set, i32 *columns)
{
    const i32 *const first = of->x_indices, *const ends = of->y_indptr, *const second = of->y_indices;
    const i64 from = of->x_indptr[i], end = of->x_indptr[i + 1];
    i64 total = 0, count = 0;
    for (i64 e = from; e < end; e++) total += ends[first[e] + 1] - ends[first[e]];
    if (total > PATTERN_FEW) {
        const i64 all = 4 * total > set->words - set->bits;
        for (i64 e = from; e < end; e++) {
            const i64 begin = ends[first[e]], length = ends[first[e] + 1] - begin;
            if (all) add_columns(set, second + begin, length, 1);
            else add_columns(set, second + begin, length, 0);
        }
        return all ? take_columns(set, columns, 1) : take_columns(set, columns, 0);
    }
    i32 few[PATTERN_FEW];
    for (i64 e = from; e < end; e++)
        for (i64 f = ends[first[e]]; f < ends[first[e] + 1]; f++) count = insert_column(few, count, second[f]);
    if (columns) memcpy(columns, few, (size_t)count * sizeof *few);
    return count;
}

static void pattern_rows(void *context, i64 task)
{
    rows_work *work = context;
    const ag_sparse_pattern *of = work->of;
    const i64 end = least((task + 1) * work->rows, of->m);
    column_set set;
    if (!new_set(work->rt, of->n, &set)) {
        work->failed = OUTCOME_MEMORY;
        return;
    }
    for (i64 i = task * work->rows; i < end; i++) {
        if (of->indices) pattern_row(of, i, &set, of->indices + of->indptr[i]);
        else of->indptr[i + 1] = (i32)pattern_row(of, i, &set, 0);
    }
    work->rt->release(set.bits);
}

/* Make the numbers of elements behind indptr[0] the ends of rows.  Return 0, or PROMISED if they are too many. */
static i32 sum_counts(i64 rows, i32 *indptr, i64 *count)
{
    i64 total = 0;
    indptr[0] = 0;
    for (i64 i = 0; i < rows; i++) {
        total += indptr[i + 1];
        if (total > KEY32_MOST) return OUTCOME_PROMISED;
        indptr[i + 1] = (i32)total;
    }
    *count = total;
    return 0;
}

/* Return 0, PROMISED or MEMORY. */
static i32 sparse_pattern(const ag_runtime *rt, const ag_sparse_pattern *of)
{
    const i64 writes = of->indices != 0;
    if (!writes) {
        const i64 fits = matrix_fits(of->y_indices, of->y_indptr, of->k, of->y_elements, of->n)
                         && matrix_fits(of->x_indices, of->x_indptr, of->m, of->x_elements, of->k);
        if (!fits) return OUTCOME_PROMISED;
    }
    const double each = (double)of->y_elements / (double)most(1, of->k);
    const i32 failed = by_rows(rt, of, of->m, (i64)((double)of->x_elements * each), pattern_rows);
    return failed || writes ? failed : sum_counts(of->m, of->indptr, of->count);
}

/* Give the elements before the first row and behind the last one a place. */
static void place_outside(i64 rows, const i32 *indptr, i64 elements, i64 place, i64 *places)
{
    for (i64 e = 0; e < indptr[0]; e++) places[e] = place;
    for (i64 e = indptr[rows]; e < elements; e++) places[e] = place;
}

/* Whether columns are in order, each once. */
INLINE i64 ascending(const i32 *columns, i64 count)
{
    i32 wrong = 0;
    for (i64 k = 1; k < count; k++) wrong |= columns[k - 1] >= columns[k];
    return !wrong;
}

/* Columns of a row, and where the places of each go in the result. */
typedef struct union_row {
    const i32 *columns;
    i64 *places;
    i64 count;
} union_row;

/* Write the columns of two ascending rows, and where each is, `start` for the first; return how many there are. */
INLINE i64 merge_rows(union_row a, union_row b, i64 start, i32 *columns)
{
    i64 i = 0, j = 0, count = 0;
    for (; i < a.count && j < b.count; count++) {
        const i32 own = a.columns[i], other = b.columns[j];
        i64 of_a = own <= other, of_b = other <= own;
        __asm__("" : "+r"(of_a), "+r"(of_b)); /* numbers, not branches, which nobody could predict */
        columns[count] = own < other ? own : other;
        a.places[i] = b.places[j] = start + count;
        i += of_a, j += of_b;
    }
    for (; i < a.count; i++, count++) columns[count] = a.columns[i], a.places[i] = start + count;
    for (; j < b.count; j++, count++) columns[count] = b.columns[j], b.places[j] = start + count;
    return count;
}

/* Write where the columns of a row are among ascending ones, all of which are there. */
INLINE void find_columns(union_row row, i64 start, const i32 *columns, i64 count)
{
    for (i64 k = 0; k < row.count; k++) {
        i64 low = 0;
        for (i64 left = count; left > 1; left -= left / 2)
            if (columns[low + left / 2] <= row.columns[k]) low += left / 2;
        row.places[k] = start + low;
    }
}

/* Write the columns of the rows of a task one after the other to `merged`, with places that begin at 0. */
static void unite_rows(void *context, i64 task)
{
    rows_work *work = context;
    const ag_sparse_union *of = work->of;
    const i64 first = task * work->rows, end = least(first + work->rows, of->m);
    i32 *const columns = of->merged + of->x_indptr[first] + of->y_indptr[first];
    i64 total = 0;
    column_set set;
    if (!new_set(work->rt, of->n, &set)) {
        work->failed = OUTCOME_MEMORY;
        return;
    }
    for (i64 i = first; i < end; i++) {
        const i64 x = of->x_indptr[i], y = of->y_indptr[i];
        const union_row a = {of->x_indices + x, of->x_places + x, of->x_indptr[i + 1] - x};
        const union_row b = {of->y_indices + y, of->y_places + y, of->y_indptr[i + 1] - y};
        i64 count;
        if (ascending(a.columns, a.count) && ascending(b.columns, b.count)) {
            count = merge_rows(a, b, total, columns + total);
        } else {
            add_columns(&set, a.columns, a.count, 0);
            add_columns(&set, b.columns, b.count, 0);
            count = take_columns(&set, columns + total, 0);
            find_columns(a, total, columns + total, count), find_columns(b, total, columns + total, count);
        }
        of->indptr[i + 1] = (i32)count;
        total += count;
    }
    work->rt->release(set.bits);
}

/* Move the columns of the rows of a task to where they belong, and their places with them. */
static void move_rows(void *context, i64 task)
{
    const rows_work *work = context;
    const ag_sparse_union *of = work->of;
    const i64 first = task * work->rows, end = least(first + work->rows, of->m);
    const i64 start = of->indptr[first], x = of->x_indptr[first], y = of->y_indptr[first];
    memcpy(of->indices + start, of->merged + x + y, (size_t)(of->indptr[end] - start) * sizeof(i32));
    if (!start) return;
    for (i64 e = x; e < of->x_indptr[end]; e++) of->x_places[e] += start;
    for (i64 e = y; e < of->y_indptr[end]; e++) of->y_places[e] += start;
}

/* Return 0, PROMISED or MEMORY. */
static i32 sparse_union(const ag_runtime *rt, const ag_sparse_union *of)
{
    const i64 elements = of->x_elements + of->y_elements;
    if (of->indices) return by_rows(rt, of, of->m, elements, move_rows);
    const i64 fits = matrix_fits(of->y_indices, of->y_indptr, of->m, of->y_elements, of->n)
                     && matrix_fits(of->x_indices, of->x_indptr, of->m, of->x_elements, of->n);
    if (!fits) return OUTCOME_PROMISED;
    place_outside(of->m, of->x_indptr, of->x_elements, 0, of->x_places);
    place_outside(of->m, of->y_indptr, of->y_elements, 0, of->y_places);
    const i32 failed = by_rows(rt, of, of->m, elements, unite_rows);
    return failed ? failed : sum_counts(of->m, of->indptr, of->count);
}

static void place_rows(void *context, i64 task)
{
    rows_work *work = context;
    const ag_sparse_places *of = work->of;
    const i64 end = least((task + 1) * work->rows, of->m);
    const size_t bytes = (size_t)(of->n + 1) * sizeof(i32);
    i32 *const place = work->rt->alloc((i64)bytes);
    if (!place) {
        work->failed = OUTCOME_MEMORY;
        return;
    }
    memset(place, -1, bytes);
    const i32 *const first = of->x_indices, *const second = of->y_indices;
    for (i64 i = task * work->rows; i < end; i++) {
        const i64 from = of->y_indptr[i], until = of->y_indptr[i + 1], last = of->x_indptr[i + 1];
        for (i64 f = from; f < until; f++) place[second[f]] = (i32)f;
        for (i64 e = of->x_indptr[i]; e < last; e++) of->places[e] = place[first[e]];
        for (i64 f = from; f < until; f++) place[second[f]] = -1;
    }
    work->rt->release(place);
}

/* Return 0, PROMISED or MEMORY. */
static i32 sparse_places(const ag_runtime *rt, const ag_sparse_places *of)
{
    const i64 fits = matrix_fits(of->y_indices, of->y_indptr, of->m, of->y_elements, of->n)
                     && matrix_fits(of->x_indices, of->x_indptr, of->m, of->x_elements, of->n);
    if (!fits) return OUTCOME_PROMISED;
    place_outside(of->m, of->x_indptr, of->x_elements, -1, of->places);
    return by_rows(rt, of, of->m, of->x_elements + of->y_elements, place_rows);
}

/* Whether rows are in order. */
INLINE i64 not_descending(const i32 *rows, i64 count)
{
    i32 wrong = 0;
    for (i64 e = 1; e < count; e++) wrong |= rows[e - 1] > rows[e];
    return !wrong;
}

/* Order the elements by their rows: count each row, then write each element behind those of its row before it.
   Return 0 or PROMISED. */
static i32 sparse_order(const ag_runtime *rt, const ag_sparse_order *of)
{
    (void)rt;
    i32 *const indptr = of->indptr;
    const i32 *const rows = of->rows;
    if (!positions_fit(rows, of->elements, of->n) || of->elements > KEY32_MOST) return OUTCOME_PROMISED;
    i32 *const order = of->order;
    if (not_descending(rows, of->elements)) {
        for (i32 e = 0; e < (i32)of->elements; e++) order[e] = e;
        for (i64 i = 0, e = 0; i <= of->n; i++) {
            while (e < of->elements && rows[e] < i) e++;
            indptr[i] = (i32)e;
        }
        return 0;
    }
    memset(indptr, 0, (size_t)(of->n + 1) * sizeof(i32));
    for (i64 e = 0; e < of->elements; e++) indptr[rows[e] + 1]++;
    for (i64 i = 0; i < of->n; i++) indptr[i + 1] += indptr[i];
    for (i32 e = 0; e < (i32)of->elements; e++) order[indptr[rows[e]]++] = e;
    for (i64 i = of->n; i > 0; i--) indptr[i] = indptr[i - 1]; /* each beginning has become its end */
    indptr[0] = 0;
    return 0;
}
