/* Elements by their place in sorted order, and the first ones of an order with their positions. */
#pragma once
#include "sorts.c"

/* Room of a row: two arrays of keys, then what is found, then the sorted places, and where each of them stands. */
static i32 select_row(const ag_runtime *rt, const void *call, i64 row, void *room)
{
    const ag_select *of = call;
    const i64 n = of->n, count = of->count, bytes = kind_bytes[of->kind], step = of->x_strides[of->rank];
    const char *x = (const char *)of->x + place_of(row, of->rank, of->batch, of->x_strides) * bytes;
    char *y = (char *)of->y + row * count * bytes;
    i64 *const keys = room, *const found = keys + 4 * n, *const places = found + count, *const order = places + count;
    if (is_complex(of->kind)) {
        i64 *const all = keys + 3 * n;
        const i32 failed = order_complex(rt, of->kind, n, x, step, all, keys);
        for (i64 k = 0; k < count && !failed; k++)
            copy_one(bytes, y, k, x, all[of->places[k] + (of->places[k] < 0 ? n : 0)] * step);
        return failed;
    }
    for (i64 k = 0; k < count; k++) found[k] = of->places[k] + (of->places[k] < 0 ? n : 0);
    const i32 failed = order_keys(rt, found, count, order, places);
    if (failed) return failed;
    for (i64 k = 0; k < count; k++) places[k] = found[order[k]];
    if (is_wide(of->kind)) {
        load64(of->kind, n, x, step, keys);
        select_keys64(keys, keys + n, n, places, count, found);
        for (i64 k = 0; k < count; k++) store64(of->kind, 1, found + k, y + order[k] * bytes, 1);
    } else {
        load32(of->kind, n, x, step, (i32 *)keys);
        select_keys32((i32 *)keys, (i32 *)(keys + n), n, places, count, (i32 *)found);
        for (i64 k = 0; k < count; k++) store32(of->kind, 1, (i32 *)found + k, y + order[k] * bytes, 1);
    }
    return 0;
}

static i32 select_batch(const ag_runtime *rt, const ag_select *of)
{
    for (i64 k = 0; k < of->count; k++)
        if (of->places[k] < -of->n || of->places[k] >= of->n) return OUTCOME_INDEX;
    if (of->count == 0) return 0;
    row_work work = FOR_ROWS(rt, of, select_row, (4 * of->n + 3 * of->count + 1) * (i64)sizeof(i64));
    return do_batch(&work, of->n);
}

/* Candidates of a row: keys with positions.  The first `k` are kept, in order, whenever there are `most` of them. */
typedef struct candidates {
    i64 k, count, most, limit; /* limit: only lesser keys can enter */
    i64 *keys, *positions, *order, *other, *moved;
} candidates;

static i32 keep_first(const ag_runtime *rt, candidates *c)
{
    const i32 failed = order_keys(rt, c->keys, c->count, c->order, c->other);
    if (failed) return failed;
    const i64 kept = least(c->count, c->k);
    for (i64 i = 0; i < kept; i++) c->other[i] = c->keys[c->order[i]], c->moved[i] = c->positions[c->order[i]];
    memcpy(c->keys, c->other, (size_t)kept * sizeof(i64)), memcpy(c->positions, c->moved, (size_t)kept * sizeof(i64));
    c->count = kept;
    if (kept == c->k) c->limit = c->keys[kept - 1];
    return 0;
}

/* Put a key with its position among the k first ones, behind those that are equal. */
static void insert(candidates *c, i64 key, i64 position)
{
    i64 j = c->count < c->k ? c->count++ : c->k - 1;
    for (; j > 0 && c->keys[j - 1] > key; j--) c->keys[j] = c->keys[j - 1], c->positions[j] = c->positions[j - 1];
    c->keys[j] = key, c->positions[j] = position;
    if (c->count == c->k) c->limit = c->keys[c->k - 1];
}

enum {
    TOPK_BLOCK = 256,
    TOPK_LANES = 16,
    TOPK_INSERTED = 16
}; /* the last: up to which k the first are kept in order */

static i64 candidates_of(i64 n, i64 k) { return least(n, 2 * k + 32); }

static i32 topk_row(const ag_runtime *rt, const void *call, i64 row, void *room)
{
    const ag_topk *of = call;
    const i64 n = of->n, k = of->k, bytes = kind_bytes[of->kind], step = of->x_strides[of->rank];
    const char *x = (const char *)of->x + place_of(row, of->rank, of->batch, of->x_strides) * bytes;
    const i64 all = candidates_of(n, k), invert = of->largest ? -1 : 0;
    i64 *const part = room;
    candidates c = {.k = k, .most = all, .limit = KEY64_MOST, .keys = part + TOPK_BLOCK};
    c.positions = c.keys + all, c.order = c.positions + all, c.other = c.order + all, c.moved = c.other + all;
    i32 failed = 0;
    for (i64 start = 0; start < n; start += TOPK_BLOCK) {
        const i64 count = least(TOPK_BLOCK, n - start);
        load_merged64(of->kind, count, x + start * step * bytes, step, part);
        for (i64 i = 0; i < count; i++) part[i] ^= invert;
        for (i64 i = count; i % TOPK_LANES; i++) part[i] = KEY64_MOST;
        for (i64 i = 0; i < count; i += TOPK_LANES) {
            const i64 limit = c.limit;
            i64 enters = c.count < k;
            for (i64 l = 0; l < TOPK_LANES; l++) enters |= part[i + l] < limit;
            if (!enters) continue;
            for (i64 l = i; l < least(count, i + TOPK_LANES); l++) {
                if (part[l] >= c.limit && c.count >= k) continue;
                if (k <= TOPK_INSERTED) {
                    insert(&c, part[l], start + l);
                    continue;
                }
                c.keys[c.count] = part[l], c.positions[c.count++] = start + l;
                if (c.count == c.most) failed = keep_first(rt, &c);
                if (failed) return failed;
            }
        }
    }
    if (k > TOPK_INSERTED) failed = keep_first(rt, &c);
    if (failed) return failed;
    i64 *const positions = (i64 *)of->positions + row * k;
    char *const values = (char *)of->values + row * k * bytes;
    for (i64 i = 0; i < k; i++) positions[i] = c.positions[i], copy_one(bytes, values, i, x, c.positions[i] * step);
    return 0;
}

static i32 topk_batch(const ag_runtime *rt, const ag_topk *of)
{
    if (of->k <= 0) return 0;
    row_work work =
        FOR_ROWS(rt, of, topk_row, (TOPK_BLOCK + TOPK_LANES + 5 * candidates_of(of->n, of->k)) * (i64)sizeof(i64));
    return do_batch(&work, of->n);
}
