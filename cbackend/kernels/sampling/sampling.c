/* Sums of elements at given positions, each with a weight, and their derivatives.

   Places go in blocks, and the positions of a place, its taps, in pairs.  Those of interpolation mostly are neighbours
   in a plane: one read of two numbers serves both, or the one of them that exists.  The other places are loose: they are
   listed once, and redone for each channel.  Reads of a pair are cheaper than gathers. */
#pragma once
#include "../../driver/outcomes.h"
#include "../products/arithmetic.c"

#if !COMPLEX
enum {
    SAMPLED_PLACES = 64,    /* of a block */
    SAMPLING_TASK = 1 << 15 /* multiplications of a task */
};

typedef T two_numbers __attribute__((vector_size(2 * sizeof(T)), aligned(sizeof(T)), may_alias));

/* Two taps of a block of places; the second ones are all -1 if the last tap has no other. */
typedef struct tap_pair {
    i64 count;                  /* places of the block */
    i64 loose;                  /* how many places are listed */
    i64 readable;               /* whether a plane has two numbers */
    i64 masked;                 /* whether a position is -1 */
    i32 at[2][SAMPLED_PLACES];  /* positions, or -1 */
    i32 from[SAMPLED_PLACES];   /* where two numbers are read */
    i32 listed[SAMPLED_PLACES]; /* loose places */
} tap_pair;

/* Prepare taps `at` and `next`, which may be 0; return whether a position is out of bounds. */
static i64 prepare_taps(tap_pair *taps, const i32 *at, const i32 *next, i64 count, i64 plane)
{
    const i32 last = (i32)at_most(plane, 0x7fffffff) - 1;
    i32 wrong = plane > 0x7fffffff, any = 0, masked = 0;
    i32 *restrict first = taps->at[0], *restrict second = taps->at[1], *restrict from = taps->from;
    i32 *restrict listed = taps->listed;
    if (next)
        for (i64 j = 0; j < count; j++) second[j] = next[j];
    else /* apart: a masked read of an address that is 0 is slow */
        for (i64 j = 0; j < count; j++) second[j] = -1;
#pragma omp simd reduction(| : wrong, any, masked)
    for (i64 j = 0; j < count; j++) {
        const i32 a = at[j], b = second[j];
        const i32 loose = a < 0 ? b == 0 : b < 0 ? a == last : b != a + 1;
        const i32 start = a < 0 ? b - 1 : a;
        wrong |= (a < -1) | (a > last) | (b < -1) | (b > last);
        any |= loose;
        masked |= (a < 0) | (b < 0);
        first[j] = a;
        listed[j] = loose;
        from[j] = (loose | (start < 0)) ? 0 : start;
    }
    taps->count = count;
    taps->loose = 0;
    taps->readable = plane > 1;
    taps->masked = masked;
    if (any || !taps->readable)
        for (i64 j = 0; j < count; j++)
            if (!taps->readable || listed[j]) listed[taps->loose++] = (i32)j;
    return wrong;
}

/* Copy the elements of both taps from a plane, side by side; what stands for -1 has no meaning. */
INLINE void read_taps(const tap_pair *taps, const T *x, T *restrict found)
{
    if (taps->readable)
        for (i64 j = 0; j < taps->count; j++)
            *(two_numbers *)(found + 2 * j) = *(const two_numbers *)(x + taps->from[j]);
    for (i64 i = 0; i < taps->loose; i++) {
        const i64 j = taps->listed[i];
        for (int k = 0; k < 2; k++)
            if (taps->at[k][j] >= 0) found[2 * j + k] = x[taps->at[k][j]];
    }
}

/* Add w * (first taps) + v * (second taps) to y, or if `fresh` to 0; elements of -1 are 0. */
INLINE void add_taps(const tap_pair *taps, const T *found, const T *w, const T *v, i64 fresh, T *restrict y)
{
    const i32 *first = taps->at[0], *second = taps->at[1];
    if (!taps->masked)
#pragma omp simd
        for (i64 j = 0; j < taps->count; j++)
            y[j] = ((fresh ? 0 : y[j]) + w[j] * found[2 * j]) + v[j] * found[2 * j + 1];
    else if (v)
#pragma omp simd
        for (i64 j = 0; j < taps->count; j++) {
            const T one = found[2 * j], other = found[2 * j + 1];
            y[j] = ((fresh ? 0 : y[j]) + w[j] * (first[j] < 0 ? 0 : one)) + v[j] * (second[j] < 0 ? 0 : other);
        }
    else
#pragma omp simd
        for (i64 j = 0; j < taps->count; j++) {
            const T one = found[2 * j];
            y[j] = (fresh ? 0 : y[j]) + w[j] * (first[j] < 0 ? 0 : one);
        }
}

/* Add t * w to a plane at the first taps, and t * v at the second ones, if v is not 0. */
INLINE void scatter_taps(const tap_pair *taps, const T *t, const T *w, const T *v, T *x)
{
    const i32 *first = taps->at[0], *second = taps->at[1];
    T terms[2 * SAMPLED_PLACES], kept[2 * SAMPLED_PLACES];
    if (v)
#pragma omp simd
        for (i64 j = 0; j < taps->count; j++) {
            const T one = t[j] * w[j], other = t[j] * v[j];
            terms[2 * j] = first[j] < 0 ? 0 : one;
            terms[2 * j + 1] = second[j] < 0 ? 0 : other;
        }
    else
#pragma omp simd
        for (i64 j = 0; j < taps->count; j++) {
            const T one = t[j] * w[j];
            terms[2 * j] = first[j] < 0 ? 0 : one;
            terms[2 * j + 1] = 0;
        }
    for (i64 i = 0; i < taps->loose; i++)
        for (int k = 0; k < 2; k++) {
            kept[2 * i + k] = terms[2 * taps->listed[i] + k];
            terms[2 * taps->listed[i] + k] = 0; /* added to a number that is never -0 */
        }
    if (taps->readable)
        for (i64 j = 0; j < taps->count; j++)
            *(two_numbers *)(x + taps->from[j]) += *(const two_numbers *)(terms + 2 * j);
    for (i64 i = 0; i < taps->loose; i++)
        for (int k = 0; k < 2; k++)
            if (taps->at[k][taps->listed[i]] >= 0) x[taps->at[k][taps->listed[i]]] += kept[2 * i + k];
}

/* A call, by the fields that all three have; the arrays that it only reads are not written. */
typedef struct sampling_work {
    i64 images, channels, taps, places, plane;
    const i32 *at;
    T *x, *w, *y;
    i64 pieces, piece;   /* tasks of an image; blocks, or channels, of a task */
    i64 volatile failed; /* a position is out of bounds */
} sampling_work;

/* Prepare taps k and k + 1 of a block; return the weights of the second one, 0 if there is none. */
INLINE T *next_taps(sampling_work *work, tap_pair *taps, i64 image, i64 k, i64 place)
{
    const i64 row = (image * work->taps + k) * work->places + place, has_next = k + 1 < work->taps;
    const i32 *at = work->at + row;
    const i64 count = at_most(SAMPLED_PLACES, work->places - place);
    if (prepare_taps(taps, at, has_next ? at + work->places : 0, count, work->plane)) work->failed = 1;
    return has_next ? work->w + row + work->places : 0;
}

static void gather_some(void *context, i64 index)
{
    sampling_work *work = context;
    const i64 image = index / work->pieces, first = index % work->pieces * work->piece * SAMPLED_PLACES;
    const i64 end = at_most(first + work->piece * SAMPLED_PLACES, work->places);
    const i64 from = image * work->channels, until = from + work->channels;
    tap_pair taps, more; /* two pairs at once: what was just stored is not read at once */
    T found[2][2 * SAMPLED_PLACES];
    for (i64 place = first; place < end; place += SAMPLED_PLACES)
        for (i64 k = 0; k < work->taps; k += 4) {
            const T *w = work->w + (image * work->taps + k) * work->places + place;
            const T *v = next_taps(work, &taps, image, k, place);
            const i64 is_more = k + 2 < work->taps;
            const T *last = is_more ? next_taps(work, &more, image, k + 2, place) : 0;
            if (work->failed) return;
            for (i64 c = from; c < until; c++) {
                const T *x = work->x + c * work->plane;
                T *const y = work->y + c * work->places + place;
                read_taps(&taps, x, found[0]);
                if (is_more) read_taps(&more, x, found[1]);
                add_taps(&taps, found[0], w, v, k == 0, y);
                if (is_more) add_taps(&more, found[1], w + 2 * work->places, last, 0, y);
            }
        }
}

static void weigh_some(void *context, i64 index)
{
    sampling_work *work = context;
    const i64 image = index / work->pieces, first = index % work->pieces * work->piece * SAMPLED_PLACES;
    const i64 end = at_most(first + work->piece * SAMPLED_PLACES, work->places);
    tap_pair taps;
    T found[2 * SAMPLED_PLACES], sums[2][SAMPLED_PLACES];
    for (i64 place = first; place < end; place += SAMPLED_PLACES)
        for (i64 k = 0; k < work->taps; k += 2) {
            T *w = work->w + (image * work->taps + k) * work->places + place;
            T *v = next_taps(work, &taps, image, k, place);
            if (work->failed) return;
            for (i64 j = 0; j < taps.count; j++) sums[0][j] = sums[1][j] = 0;
            for (i64 c = image * work->channels; c < (image + 1) * work->channels; c++) {
                const T *y = work->y + c * work->places + place;
                read_taps(&taps, work->x + c * work->plane, found);
#pragma omp simd
                for (i64 j = 0; j < taps.count; j++) {
                    sums[0][j] += y[j] * found[2 * j];
                    sums[1][j] += y[j] * found[2 * j + 1];
                }
            }
            for (i64 j = 0; j < taps.count; j++) w[j] = taps.at[0][j] < 0 ? 0 : sums[0][j];
            if (v)
                for (i64 j = 0; j < taps.count; j++) v[j] = taps.at[1][j] < 0 ? 0 : sums[1][j];
        }
}

static void scatter_some(void *context, i64 index)
{
    sampling_work *work = context;
    const i64 image = index / work->pieces, first = index % work->pieces * work->piece;
    const i64 from = image * work->channels + first;
    const i64 until = image * work->channels + at_most(first + work->piece, work->channels);
    tap_pair taps;
    for (i64 i = from * work->plane; i < until * work->plane; i++) work->x[i] = 0;
    for (i64 place = 0; place < work->places; place += SAMPLED_PLACES)
        for (i64 k = 0; k < work->taps; k += 2) {
            const T *w = work->w + (image * work->taps + k) * work->places + place;
            const T *v = next_taps(work, &taps, image, k, place);
            if (work->failed) return;
            for (i64 c = from; c < until; c++)
                scatter_taps(&taps, work->y + c * work->places + place, w, v, work->x + c * work->plane);
        }
}

/* Run tasks of each image, `units` of which it has at most.  Return 0, or PROMISED. */
static i32 sample(const ag_runtime *rt, sampling_work work, i64 units, void (*some)(void *, i64))
{
    if (work.images <= 0 || units <= 0) return 0;
    const double all = (double)work.channels * (double)work.places * (double)work.taps;
    const i64 most = rt->threads > 1 ? at_most((i64)(all / SAMPLING_TASK) + 1, 4 * rt->threads) : 1;
    work.piece = parts(units, at_most(most, units));
    work.pieces = parts(units, work.piece);
    const i64 tasks = work.images * work.pieces;
    if (rt->threads > 1 && all * (double)work.images > 2 * SAMPLING_TASK) rt->parallel(rt, tasks, some, &work);
    else
        for (i64 i = 0; i < tasks; i++) some(&work, i);
    return work.failed ? OUTCOME_PROMISED : 0;
}

#define SAMPLING_OF(of) \
    .images = (of)->images, .channels = (of)->channels, .taps = (of)->taps, .places = (of)->places, \
    .plane = (of)->plane, .at = (of)->at, .x = (T *)(of)->x, .w = (T *)(of)->w, .y = (T *)(of)->y

static i32 call_weighted_gather(const ag_runtime *rt, const ag_weighted_gather *of)
{
    if (of->taps <= 0)
        for (i64 i = 0; i < of->images * of->channels * of->places; i++) ((T *)of->y)[i] = 0;
    return sample(rt, (sampling_work){SAMPLING_OF(of)}, parts(of->places, SAMPLED_PLACES), gather_some);
}

static i32 call_gather_products(const ag_runtime *rt, const ag_gather_products *of)
{
    return sample(rt, (sampling_work){SAMPLING_OF(of)}, parts(of->places, SAMPLED_PLACES), weigh_some);
}

static i32 call_weighted_scatter(const ag_runtime *rt, const ag_weighted_scatter *of)
{
    return sample(rt, (sampling_work){SAMPLING_OF(of)}, of->channels, scatter_some);
}
#endif
