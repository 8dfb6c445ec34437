/* Sorted values.  Keys do not tell NaNs apart, and sorting keys would put -0.0 before 0.0; both are written again in the
   order in which x has them. */
#pragma once
#include "order.c"

/* Return whether an element is a NaN (which: 1) or a zero (which: 0). */
INLINE i32 is_special(i32 kind, const void *x, i64 at, i32 which)
{
    if (kind == AG_F16) {
        const u16 b = ((const u16 *)x)[at] & 0x7fff;
        return which ? b > 0x7c00 : b == 0;
    }
    if (kind == AG_F32) {
        const float b = ((const float *)x)[at];
        return which ? b != b : b == 0;
    }
    const double b = ((const double *)x)[at];
    return which ? b != b : b == 0;
}

/* Copy an element. */
INLINE void copy_one(i64 bytes, void *y, i64 to, const void *x, i64 from)
{
    memcpy((char *)y + to * bytes, (const char *)x + from * bytes, (size_t)bytes);
}

/* Write the NaNs, or the zeros, of x in their order to y, from position `at` on. */
static void write_again(i32 kind, i64 n, const void *x, i64 xs, i32 which, void *y, i64 at, i64 ys)
{
    const i64 bytes = kind_bytes[kind];
    for (i64 i = 0; i < n; i++)
        if (is_special(kind, x, i * xs, which)) copy_one(bytes, y, at++ * ys, x, i * xs);
}

/* Return how many keys, which are ascending, are less than -1. */
static i64 below_zeros(i32 kind, i64 n, const void *keys)
{
    i64 low = 0, high = n;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        const i64 key = is_wide(kind) ? ((const i64 *)keys)[middle] : ((const i32 *)keys)[middle];
        if (key < -1) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void sort_bytes(i32 kind, i64 n, const u8 *x, i64 xs, u8 *y, i64 ys)
{
    const u8 sign = kind == AG_I8 ? 128 : 0;
    u32 counts[4][256]; /* equal neighbours would wait for one another */
    memset(counts, 0, sizeof counts);
    for (i64 done = 0; done < n;) {
        const i64 end = least(n, done + ((i64)1 << 30));
        for (; done < end; done++) counts[done % 4][x[done * xs] ^ sign]++;
    }
    for (i64 k = 0; k < 256; k++) {
        const i64 count = (i64)counts[0][k] + counts[1][k] + counts[2][k] + counts[3][k];
        if (ys == 1) memset(y, (u8)k ^ sign, (size_t)count);
        else for (i64 i = 0; i < count; i++) y[i * ys] = (u8)k ^ sign;
        y += count * ys;
    }
}

/* Sort a row of real numbers.  Room for 2 n keys. */
static void sort_real(i32 kind, i64 n, const void *x, i64 xs, void *y, i64 ys, void *room)
{
    if (kind <= AG_I8 && n > 64) {
        sort_bytes(kind, n, x, xs, y, ys);
        return;
    }
    const i64 in_place = ys == 1 && kind >= AG_U32;
    void *const keys = in_place ? y : room;
    i64 negative, nans, zeros = 0;
    if (is_wide(kind)) {
        nans = load64(kind, n, x, xs, keys, &negative);
        sort_keys64(keys, n, in_place ? room : (i64 *)room + n);
    } else {
        nans = load32(kind, n, x, xs, keys, &negative);
        sort_keys32(keys, n, in_place ? room : (i32 *)room + n);
    }
    if (negative) zeros = below_zeros(kind, n, keys);
    if (is_wide(kind)) store64(kind, n, keys, y, ys);
    else store32(kind, n, keys, y, ys);
    if (nans) write_again(kind, n, x, xs, 1, y, n - nans, ys);
    if (negative) write_again(kind, n, x, xs, 0, y, zeros, ys);
}

static i32 sort_row(const ag_runtime *rt, const void *call, i64 row, void *room)
{
    const ag_sort *of = call;
    const i64 bytes = kind_bytes[of->kind], xs = of->x_strides[of->rank], ys = of->y_strides[of->rank];
    const char *x = (const char *)of->x + place_of(row, of->rank, of->batch, of->x_strides) * bytes;
    char *y = (char *)of->y + place_of(row, of->rank, of->batch, of->y_strides) * bytes;
    if (!is_complex(of->kind)) {
        sort_real(of->kind, of->n, x, xs, y, ys, room);
        return 0;
    }
    i64 *const order = (i64 *)room + 3 * of->n;
    const i32 failed = order_complex(rt, of->kind, of->n, x, xs, order, room);
    for (i64 i = 0; i < of->n && !failed; i++) copy_one(bytes, y, i * ys, x, order[i] * xs);
    return failed;
}

static i32 sort_batch(const ag_runtime *rt, const ag_sort *of)
{
    const i64 bytes = is_complex(of->kind) ? 32 : is_wide(of->kind) ? 16 : 8;
    row_work work = FOR_ROWS(rt, of, sort_row, of->n * bytes);
    return do_batch(&work, of->n);
}
