/* Attention of floats or doubles: shares.c, with the products of `products/`. */
#pragma once
#include "../products/batch.c"
#include "shares.c"

#if !COMPLEX
enum { FEW_QUERIES = 2 }; /* for fewer rows, packing k does not pay off */

/* Packed blocks of k and v; NULL for few rows. */
typedef struct panels {
    REAL *k, *v;
} panels;

static const batched_product lying = {.rank = 0}, in_panels = {.in_panels = 1};

/* c += a @ b for `rows` rows; b is in panels, or in place for few rows. */
static void add_to(const attention *work, product x)
{
    if (x.of == &lying) {
        multiply_matrices(work->rt, &x);
        return;
    }
    for (i64 p = 0; p < x.k; p += DEPTH) {
        block part = {&x, 0, x.n, p, at_most(DEPTH, x.k - p), 0};
        multiply_block(&part, 0, 0, x.m);
    }
}

/* Pack all of b in panels, in the layout of rules/linalg/packed.py. */
static void pack_all(i64 k, i64 n, const REAL *b, i64 b0, i64 b1, REAL *panels)
{
    const product x = {.m = 1, .n = n, .k = k, .b = b, .b0 = b0, .b1 = b1, .of = &lying};
    for (i64 p = 0; p < k; p += DEPTH) {
        const block part = {&x, 0, n, p, at_most(DEPTH, k - p), 0};
        pack_block(&part, panels + p * round_up(n, LANES));
    }
}

/* Process the tile of `rows` rows that begins at `row`, for a block of keys. */
static void attend_tile(const queries *at, const panels *packed, i64 row, i64 rows)
{
    const ag_attention *of = at->work->of;
    const i32 rank = of->rank;
    const i64 width = round_up(at->keys, LANES), few = packed->k == 0;
    if (at->mask && at->can_skip && !lets_through(at, row, rows)) return;
    for (i64 i = 0; i < rows; i++) {
        const REAL nothing = *(const REAL *)of->scale * 0; /* the scores of rows of no numbers */
        for (i64 j = 0; of->d == 0 && j < at->keys; j++) at->scores[i * width + j] = nothing;
    }
    hide_rest(at, rows, width);
    const i64 *ks = of->k_strides + rank, *vs = of->v_strides + rank, *qs = of->q_strides + rank;
    product x = {rows,
                 at->keys,
                 of->d,
                 *(const REAL *)of->scale,
                 0,
                 at->scores,
                 (const REAL *)at->q + row * qs[0],
                 packed->k,
                 qs[0],
                 qs[1],
                 ks[0],
                 ks[1],
                 width,
                 few ? &lying : &in_panels,
                 0,
                 0};
    if (few) x.b = (const REAL *)at->k + at->key * ks[1];
    if (of->d > 0) add_to(at->work, x);
    if (at->mask) apply_mask(at, row, rows, width);
    if (at->added) add_mask(at, row, rows, width);
    REAL *y = at->y + row * of->e;
    weigh(rows, width, at->lift, at->scores, at->top + row, at->total + row, y, of->e);
    x = (product){rows, of->e, at->keys, 1, 1, y, at->scores, packed->v, width, 1, vs[0], vs[1], of->e, x.of, 0, 0};
    if (few) x.b = (const REAL *)at->v + at->key * vs[0];
    add_to(at->work, x);
}

/* Whether all numbers of v in the packed block lie below `bound`. */
static i32 lies_below(const queries *at, const panels *packed, REAL bound)
{
    const vector *from = (const vector *)packed->v;
    const i64 count = at->keys * parts(at->work->of->e, LANES);
    mask outside = (mask)(vector){0};
    for (i64 k = 0; k < count; k++) outside |= ~((from[k] < bound) & (from[k] > -bound));
    return folded(0, choose(outside, (vector){0} + 1, (vector){0})) == 0;
}

/* Take the lift from the exponentials so far. */
static void lower(queries *at)
{
    const REAL factor = sizeof(REAL) == 4 ? 0x1p-64 : 0x1p-512;
    const i64 count = at->rows * at->work->of->e;
    at->lift = 0;
    scale_numbers(count, at->y, at->y, factor);
    scale_numbers(at->rows, at->total, at->total, factor);
}

/* Prepare for a packed block of v: what may be left out, and whether the exponentials are lifted. */
static void look_at_values(queries *at, const panels *packed, i32 hides)
{
    const i32 are_small = lies_below(at, packed, LIFTED_TOP);
    if (!are_small && at->lift != 0) lower(at);
    at->can_skip = hides && (are_small || lies_below(at, packed, (REAL)__builtin_inf()));
}

static void attend_rows(queries *at)
{
    const ag_attention *of = at->work->of;
    const i64 *ks = of->k_strides + of->rank, *vs = of->v_strides + of->rank;
    const i64 keys = round_up(at_most(KEYS, of->n), COLUMNS), hides = begin_rows(at);
    panels packed = {0};
    at->scores = at->room;
    if (of->m > FEW_QUERIES)
        packed.k = at->room, packed.v = packed.k + keys * of->d,
        at->scores = packed.v + keys * round_up(of->e, COLUMNS);
    else at->lift = 0; /* for few rows, a look at all of v does not pay off */
    __builtin_memset(at->y, 0, (unsigned long)(at->rows * of->e) * sizeof(REAL));
    for (at->key = 0; at->key < of->n; at->key += at->keys) {
        at->keys = at_most(KEYS, of->n - at->key);
        if (packed.k) {
            pack_all(of->d, at->keys, (const REAL *)at->k + at->key * ks[1], ks[0], ks[1], packed.k);
            pack_all(at->keys, of->e, (const REAL *)at->v + at->key * vs[0], vs[0], vs[1], packed.v);
            look_at_values(at, &packed, hides);
        }
        for (i64 row = 0; row < at->rows; row += QUERIES)
            attend_tile(at, &packed, row, at_most(QUERIES, at->rows - row));
    }
    for (i64 i = 0; of->n > 0 && i < at->rows; i++) {
        REAL *const y = at->y + i * of->e;
        scale_numbers(of->e, y, y, 1 / at->total[i]);
    }
}

/* Return 0, or MEMORY (2). */
static i32 attend(const ag_runtime *rt, const ag_attention *of)
{
    const i64 keys = round_up(at_most(KEYS, of->n), COLUMNS), few = of->m <= FEW_QUERIES;
    const i64 packed = few ? 0 : keys * (of->d + round_up(of->e, COLUMNS));
    return attend_with((attention){.rt = rt,
                                   .of = of,
                                   .item = sizeof(REAL),
                                   .room = packed + at_most(of->m, QUERIES) * keys,
                                   .function = attend_rows});
}
#endif
