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

/* Return how many keys, which are ascending, are less than `bound`. */
static i64 below(i32 kind, i64 n, const void *keys, i64 bound)
{
    i64 low = 0, high = n;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        const i64 key = is_wide(kind) ? ((const i64 *)keys)[middle] : ((const i32 *)keys)[middle];
        if (key < bound) low = middle + 1;
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
        else
            for (i64 i = 0; i < count; i++) y[i * ys] = (u8)k ^ sign;
        y += count * ys;
    }
}

#ifdef __AVX2__
/* Copy floats, NaNs as infinities; return how many NaNs there are.  *signs: whether a zero has a sign. */
INLINE i64 load_floats(i64 n, const double *x, i64 step, double *restrict keys, i64 *signs)
{
    i64 nans = 0, zeros = 0;
    for (i64 i = 0; i < n; i++) {
        const double v = x[i * step];
        i64 bits;
        memcpy(&bits, &v, sizeof v);
        keys[i] = v != v ? __builtin_inf() : v;
        nans += v != v, zeros |= bits == (i64)0x8000000000000000u;
    }
    *signs = zeros;
    return nans;
}

/* Sort a row of float64 as floats, which takes fewer instructions than integers do. */
static void sort_floats(i64 n, const double *x, i64 xs, double *y, i64 ys, double *room)
{
    double *const keys = ys == 1 ? y : room;
    i64 signs, nans;
    if (xs == 1) nans = load_floats(n, x, 1, keys, &signs);
    else nans = load_floats(n, x, xs, keys, &signs);
    sort_keys_floats(keys, n, ys == 1 ? room : room + n);
    i64 zeros = 0;
    for (i64 high = n; signs && zeros < high;) {
        const i64 middle = (zeros + high) / 2;
        if (keys[middle] < 0) zeros = middle + 1;
        else high = middle;
    }
    for (i64 i = 0; i < n && ys != 1; i++) y[i * ys] = keys[i];
    if (nans) write_again(AG_F64, n, x, xs, 1, y, n - nans, ys);
    if (signs) write_again(AG_F64, n, x, xs, 0, y, zeros, ys);
}
#endif

enum { COUNTED_BYTES = 256 }; /* fewer bytes are sorted as keys: clearing the counts would take longer */

/* Sort a row of real numbers.  Room for 2 n keys. */
static void sort_real(i32 kind, i64 n, const void *x, i64 xs, void *y, i64 ys, void *room)
{
    if (kind <= AG_I8 && n > COUNTED_BYTES) {
        sort_bytes(kind, n, x, xs, y, ys);
        return;
    }
#ifdef __AVX2__
    if (kind == AG_F64) {
        sort_floats(n, x, xs, y, ys, room);
        return;
    }
#endif
    const i64 in_place = ys == 1 && kind >= AG_U32;
    void *const keys = in_place ? y : room;
    i64 nans = 0, zeros = 0;
    i32 found;
    if (is_wide(kind)) {
        found = load64(kind, n, x, xs, keys);
        sort_keys64(keys, n, in_place ? room : (i64 *)room + n);
    } else {
        found = load32(kind, n, x, xs, keys);
        sort_keys32(keys, n, in_place ? room : (i32 *)room + n);
    }
    if (found & ZEROS) zeros = below(kind, n, keys, -1);
    if (found & NANS) nans = below(kind, n, keys, kind == AG_F16 ? 0x7fff : kind == AG_F32 ? KEY32_MOST : KEY64_MOST);
    if (is_wide(kind)) store64(kind, n, keys, y, ys);
    else store32(kind, n, keys, y, ys);
    if (found & NANS) write_again(kind, n, x, xs, 1, y, nans, ys);
    if (found & ZEROS) write_again(kind, n, x, xs, 0, y, zeros, ys);
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
