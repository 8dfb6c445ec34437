/* Extremes of rows of sparse matrices of one dtype.  Included once for each: ELEMENT, SUM (of integers its sums wrap), IS_NAN,
   NAMED. */
#include "extremes_u8.h"

/* Return the greatest or least of numbers, of which so many take turns, the first of equal ones, which zeros are too, or
   the first NaN if there is one. */
INLINE ELEMENT NAMED(extreme_in_turns)(const ELEMENT *data, i64 count, const i32 greatest, const i64 turns)
{
    ELEMENT best[EXTREMES_MOST], wrong[EXTREMES_MOST]; /* wrong: a NaN, or 0 */
    for (i64 j = 0; j < turns; j++) {
        best[j] = data[0];
        wrong[j] = 0;
    }
    i64 k = 0;
    for (const i64 before = turns == EXTREMES_MOST ? until_line(data, sizeof *data) : 0; k < before; k++) {
        const ELEMENT v = data[k];
        best[0] = (greatest ? v > best[0] : v < best[0]) ? v : best[0];
        wrong[0] = IS_NAN(v) ? v : wrong[0];
    }
    for (; k + turns <= count; k += turns)
#pragma GCC unroll 1 /* or `best` stays in memory */
        for (i64 j = 0; j < turns; j++) {
            const ELEMENT v = data[k + j];
            best[j] = (greatest ? v > best[j] : v < best[j]) ? v : best[j];
            wrong[j] = IS_NAN(v) ? v : wrong[j];
        }
    for (; k < count; k++) {
        const ELEMENT v = data[k];
        best[0] = (greatest ? v > best[0] : v < best[0]) ? v : best[0];
        wrong[0] = IS_NAN(v) ? v : wrong[0];
    }
    i32 is_wrong = 0;
    for (i64 j = 0; j < turns; j++) {
        best[0] = (greatest ? best[j] > best[0] : best[j] < best[0]) ? best[j] : best[0];
        is_wrong |= IS_NAN(wrong[j]);
    }
    for (k = 0; is_wrong; k++)
        if (IS_NAN(data[k])) return data[k];
    if ((ELEMENT)0.5 && best[0] == 0) /* of floats, of which -0 is one */
        for (k = 0; k < count; k++)
            if (data[k] == 0) return data[k];
    return best[0];
}

static __attribute__((noinline)) ELEMENT NAMED(extreme_of_many)(const ELEMENT *data, i64 count, const i32 greatest)
{
    if (greatest) return NAMED(extreme_in_turns)(data, count, 1, EXTREMES_MOST);
    return NAMED(extreme_in_turns)(data, count, 0, EXTREMES_MOST);
}

INLINE ELEMENT NAMED(extreme)(const ELEMENT *data, i64 count, const i32 greatest)
{
    if (count >= EXTREMES_MANY) return NAMED(extreme_of_many)(data, count, greatest);
    return NAMED(extreme_in_turns)(data, count, greatest, EXTREMES);
}

/* Sum the elements of equal places in front of `sums`; return how many places there are.  `places` has one number a
   column, which no row before has left at or above `start`. */
static i64 NAMED(sum_places)(const ELEMENT *data, const i32 *columns, i64 count, i64 start, i64 *places, ELEMENT *sums)
{
    i64 found = 0;
    for (i64 e = 0; e < count; e++) {
        i64 *const place = places + columns[e];
        if (*place < start) {
            *place = start + found;
            sums[found++] = data[e];
        } else {
            sums[*place - start] = (ELEMENT)((SUM)sums[*place - start] + (SUM)data[e]);
        }
    }
    return found;
}

INLINE void NAMED(extremes_of_rows)(rows_work *work, i64 first, i64 end, const i32 greatest)
{
    const extremes_call *call = work->of;
    const ag_sparse_extremes *of = &call->of;
    const ELEMENT *const data = of->data;
    ELEMENT *const y = of->y;
    i64 *places = 0, used = 0; /* of sums; columns of rows that were summed */
    for (i64 i = first; i < end; i++) {
        const i64 from = of->indptr[i];
        const ELEMENT *row = data + from;
        i64 count = of->indptr[i + 1] - from;
        if (!call->is_sorted && !ascending(of->indices + from, count)) {
            if (!places) places = new_places(work, of->n, (i64)sizeof(ELEMENT));
            if (!places) return;
            ELEMENT *const sums = (ELEMENT *)(places + of->n);
            const i64 start = used + 1;
            used += count;
            count = NAMED(sum_places)(row, of->indices + from, count, start, places, sums);
            row = sums;
        }
        const ELEMENT best = count ? NAMED(extreme)(row, count, greatest) : 0;
        const i32 has_zero = count < of->n && (greatest ? best && !(best > 0) && !IS_NAN(best) : best > 0);
        y[i] = has_zero ? 0 : best;
    }
    work->rt->release(places);
}

static void NAMED(some_extremes)(void *context, i64 task)
{
    rows_work *work = context;
    const ag_sparse_extremes *of = &((const extremes_call *)work->of)->of;
    const i64 first = task * work->rows, end = least(first + work->rows, of->m);
    if (of->greatest) NAMED(extremes_of_rows)(work, first, end, 1);
    else NAMED(extremes_of_rows)(work, first, end, 0);
}

#undef ELEMENT
#undef SUM
#undef IS_NAN
#undef NAMED
