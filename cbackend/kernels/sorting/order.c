/* Positions in stable order.  A position stands in the low bits of a number whose high bits are the key, or as much of it as
   there is room for; equal numbers do not occur, so any sort of integers is stable.  Runs of keys that were cut off and
   are equal so far are put in order by the rest. */
#pragma once
#include "rows.c"

enum { SHORT_RUN = 16 };

static i32 order_keys(const ag_runtime *rt, const i64 *keys, i64 n, i64 *order, i64 *other);

/* Put positions with these keys in order; they are ascending. */
static i32 order_run(const ag_runtime *rt, const i64 *keys, i64 n, i64 *order)
{
    if (n <= SHORT_RUN) {
        for (i64 i = 1; i < n; i++) {
            const i64 own = order[i], key = keys[own];
            i64 j = i;
            for (; j > 0 && keys[order[j - 1]] > key; j--) order[j] = order[j - 1];
            order[j] = own;
        }
        return 0;
    }
    i64 *const room = rt->alloc(4 * n * (i64)sizeof(i64)), *const own = room + n, *const inner = own + n;
    if (!room) return OUTCOME_MEMORY;
    for (i64 i = 0; i < n; i++) own[i] = order[i], room[i] = keys[own[i]];
    const i32 failed = order_keys(rt, room, n, inner, inner + n);
    for (i64 i = 0; i < n && !failed; i++) order[i] = own[inner[i]];
    rt->release(room);
    return failed;
}

/* Write the positions of n keys in ascending order; `other` has room for as many. */
static i32 order_keys(const ag_runtime *rt, const i64 *keys, i64 n, i64 *order, i64 *other)
{
    if (n < 1) return 0;
    i64 low = keys[0], high = keys[0];
    for (i64 i = 1; i < n; i++) {
        low = keys[i] < low ? keys[i] : low;
        high = keys[i] > high ? keys[i] : high;
    }
    const i32 digits = digits_of((u64)(n - 1)), all = digits_of((u64)high - (u64)low);
    const i32 cut = all + digits > 63 ? all + digits - 63 : 0;
    for (i64 i = 0; i < n; i++) order[i] = (i64)(((u64)keys[i] - (u64)low) >> cut << digits) | i;
    sort_keys64(order, n, other);
    const i64 mask = ((i64)1 << digits) - 1;
    i32 failed = 0;
    for (i64 i = 0; i < n && !cut; i++) order[i] &= mask;
    for (i64 i = 0, end; i < n && cut && !failed; i = end) {
        const i64 part = order[i] >> digits;
        for (end = i + 1; end < n && order[end] >> digits == part; end++) order[end] &= mask;
        order[i] &= mask;
        if (end - i > 1) failed = order_run(rt, keys, end - i, order + i);
    }
    return failed;
}

/* Load the real or imaginary parts of complex numbers as keys, at the positions of `order` where there is one. */
static void load_parts(i32 kind, i64 n, const void *x, i64 step, i32 imaginary, const i64 *order, i64 *keys)
{
    const i32 real = kind == AG_C64 ? AG_F32 : AG_F64;
    if (order)
        for (i64 i = 0; i < n; i++) keys[i] = key_at(real, x, 2 * order[i] * step + imaginary);
    else load_merged64(real, n, (const char *)x + imaginary * kind_bytes[real], 2 * step, keys);
}

/* Return 0 for a number, 1 for a NaN as imaginary part, 2 as real part, 3 for both: complex numbers in this order. */
static i32 class_of(i32 kind, const void *x, i64 at)
{
    if (kind == AG_C64) {
        const float *part = (const float *)x + 2 * at;
        return 2 * (part[0] != part[0]) + (part[1] != part[1]);
    }
    const double *part = (const double *)x + 2 * at;
    return 2 * (part[0] != part[0]) + (part[1] != part[1]);
}

/* Order complex numbers by imaginary parts, then by real ones, then by their NaNs.  Room for 3 n integers. */
static i32 order_complex(const ag_runtime *rt, i32 kind, i64 n, const void *x, i64 step, i64 *order, i64 *room)
{
    i64 *const keys = room, *const other = room + n, *const last = other + n;
    load_parts(kind, n, x, step, 1, 0, keys);
    i32 failed = order_keys(rt, keys, n, last, other);
    if (failed) return failed;
    load_parts(kind, n, x, step, 0, last, keys);
    failed = order_keys(rt, keys, n, order, other);
    if (failed) return failed;
    i64 at[5] = {0};
    for (i64 i = 0; i < n; i++) order[i] = last[order[i]], at[1 + class_of(kind, x, order[i] * step)]++;
    if (at[1] == n) return 0;
    for (int k = 1; k < 5; k++) at[k] += at[k - 1];
    memcpy(last, order, (size_t)n * sizeof(i64));
    for (i64 i = 0; i < n; i++) order[at[class_of(kind, x, last[i] * step)]++] = last[i];
    return 0;
}

/* Order bytes by counting. */
static void order_bytes(i32 kind, i64 n, const void *x, i64 step, i64 *order)
{
    const u8 sign = kind == AG_I8 ? 128 : 0, *const bytes = x;
    i64 at[257] = {0};
    for (i64 i = 0; i < n; i++) at[1 + (bytes[i * step] ^ sign)]++;
    for (int k = 1; k < 257; k++) at[k] += at[k - 1];
    for (i64 i = 0; i < n; i++) order[at[bytes[i * step] ^ sign]++] = i;
}

/* Write the positions of a row in stable order.  Room for 3 n integers. */
static i32 order_row(const ag_runtime *rt, i32 kind, i64 n, const void *x, i64 step, i64 *order, i64 *room)
{
    if (is_complex(kind)) return order_complex(rt, kind, n, x, step, order, room);
    if (kind <= AG_I8 && n > 64) {
        order_bytes(kind, n, x, step, order);
        return 0;
    }
    load_merged64(kind, n, x, step, room);
    return order_keys(rt, room, n, order, room + n);
}

static i32 argsort_row(const ag_runtime *rt, const void *call, i64 row, void *room)
{
    const ag_argsort *of = call;
    const i64 step = of->y_strides[of->rank];
    const char *x = (const char *)of->x + place_of(row, of->rank, of->batch, of->x_strides) * kind_bytes[of->kind];
    i64 *y = (i64 *)of->y + place_of(row, of->rank, of->batch, of->y_strides),
        *order = step == 1 ? y : (i64 *)room + 3 * of->n;
    const i32 failed = order_row(rt, of->kind, of->n, x, of->x_strides[of->rank], order, room);
    if (step != 1)
        for (i64 i = 0; i < of->n; i++) y[i * step] = order[i];
    return failed;
}

static i32 argsort_batch(const ag_runtime *rt, const ag_argsort *of)
{
    row_work work = FOR_ROWS(rt, of, argsort_row, of->n * 4 * (i64)sizeof(i64));
    return do_batch(&work, of->n);
}
