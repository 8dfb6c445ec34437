/* Results whose lengths values decide: a call counts, and another one writes. */
#pragma once
#include "order.c"

/* Divide places in ascending order by `inner`: a division takes 20 to 40 cycles, so there is one for each quotient. */
static void divide_ascending(i64 inner, i64 count, i64 *y)
{
    i64 quotient = 0, end = inner;
    for (i64 k = 0; k < count; k++) {
        if (y[k] >= end) quotient = y[k] / inner, end = (quotient + 1) * inner;
        y[k] = quotient;
    }
}

/* Take the remainders of places in ascending order by `axis`. */
static void remainders_of_ascending(i64 axis, i64 count, i64 *y)
{
    i64 begin = 0;
    for (i64 k = 0; k < count; k++) {
        if (y[k] >= begin + axis) begin = y[k] - y[k] % axis;
        y[k] -= begin;
    }
}

/* Return how many elements are not zero, or write their places over `inner`, modulo `axis` if it is not 0, up to `count` of them. */
INLINE i64 scan_nonzero(i32 kind, i64 n, const void *x, const i32 writes, i64 inner, i64 axis, i64 count, i64 *y)
{
    i64 found = 0;
#define SCAN(TYPE, PARTS, IS_SET) \
    for (i64 i = 0; i < n && (!writes || found < count); i++) { \
        const TYPE *b = (const TYPE *)x + i * (PARTS); \
        if (writes) y[found] = i; \
        found += (IS_SET); \
    } \
    break;
    switch (kind) {
    case AG_U8:
    case AG_I8: SCAN(u8, 1, *b != 0)
    case AG_F16: SCAN(u16, 1, (*b & 0x7fff) != 0)
    case AG_U16:
    case AG_I16: SCAN(u16, 1, *b != 0)
    case AG_F32: SCAN(float, 1, *b != 0)
    case AG_U32:
    case AG_I32: SCAN(u32, 1, *b != 0)
    case AG_F64: SCAN(double, 1, *b != 0)
    case AG_U64:
    case AG_I64: SCAN(u64, 1, *b != 0)
    case AG_C64: SCAN(float, 2, (b[0] != 0) | (b[1] != 0))
    case AG_C128: SCAN(double, 2, (b[0] != 0) | (b[1] != 0))
    default: break;
    }
#undef SCAN
    if (writes && inner > 1) divide_ascending(inner, count, y);
    if (writes && axis) remainders_of_ascending(axis, count, y);
    return found;
}

static void count_nonzero(const ag_runtime *rt, const ag_count_nonzero *of)
{
    (void)rt;
    *of->count = scan_nonzero(of->kind, of->n, of->x, 0, 1, 1, 0, 0);
}

static void find_nonzero(const ag_runtime *rt, const ag_nonzero *of)
{
    (void)rt;
    scan_nonzero(of->kind, KEY64_MOST, of->x, 1, of->inner, of->axis, of->count, of->y);
}

static void count_repeated(const ag_runtime *rt, const ag_count_repeated *of)
{
    (void)rt;
    i64 total = 0, lowest = 0;
    for (i64 k = 0; k < of->n; k++) {
        const i64 count = of->narrow ? ((const i32 *)of->counts)[k] : ((const i64 *)of->counts)[k];
        total += count, lowest = least(lowest, count);
    }
    *of->total = lowest < 0 ? lowest : total;
}

/* Write FIRST + e * STEP for each e below the count of each position: eight at a time, then single ones, of which a
   vector would be slower. */
#define REPEAT(TYPE, FIRST, STEP) \
    do { \
        const TYPE *const counts = of->counts; \
        TYPE value, *y = of->y; \
        for (i64 k = 0; k < of->n; k++) { \
            value = (TYPE)(FIRST); \
            i64 left = counts[k]; \
            for (; left >= 8; left -= 8, y += 8, value += 8 * (STEP)) \
                for (i64 e = 0; e < 8; e++) y[e] = value + (TYPE)e * (STEP); \
            for (; left > 0; left--, value += (STEP)) { \
                *y++ = value; \
                __asm__ volatile(""); \
            } \
        } \
    } while (0)

static void repeat_positions(const ag_runtime *rt, const ag_repeated *of)
{
    (void)rt;
    if (of->starts) REPEAT(i64, of->starts[k], 1);
    else if (of->narrow) REPEAT(i32, k, 0);
    else REPEAT(i64, k, 0);
}
#undef REPEAT

static i32 is_nan_at(i32 kind, const void *x, i64 at)
{
    if (is_complex(kind)) return class_of(kind, x, at) != 0;
    if (kind == AG_F16) return (((const u16 *)x)[at] & 0x7fff) > 0x7c00;
    if (kind == AG_F32) return ((const float *)x)[at] != ((const float *)x)[at];
    return kind == AG_F64 && ((const double *)x)[at] != ((const double *)x)[at];
}

/* Return whether two elements have the same bits. */
INLINE i32 is_copy(i64 bytes, const void *x, i64 i, i64 j)
{
    switch (bytes) {
    case 1: return ((const u8 *)x)[i] == ((const u8 *)x)[j];
    case 2: return ((const u16 *)x)[i] == ((const u16 *)x)[j];
    case 4: return ((const u32 *)x)[i] == ((const u32 *)x)[j];
    case 8: return ((const u64 *)x)[i] == ((const u64 *)x)[j];
    default: return memcmp((const char *)x + i * bytes, (const char *)x + j * bytes, (size_t)bytes) == 0;
    }
}

/* Return whether two floats are one value. */
static i32 is_same_float(i32 kind, const void *x, i64 i, i64 j, i32 equal_nan)
{
    if (is_copy(kind_bytes[kind], x, i, j) && equal_nan) return 1;
    if (is_nan_at(kind, x, i)) return equal_nan && is_nan_at(kind, x, j);
    if (is_nan_at(kind, x, j)) return 0;
    if (!is_complex(kind)) return key_at(kind, x, i) == key_at(kind, x, j);
    const i32 real = kind == AG_C64 ? AG_F32 : AG_F64;
    return key_at(real, x, 2 * i) == key_at(real, x, 2 * j) && key_at(real, x, 2 * i + 1) == key_at(real, x, 2 * j + 1);
}

INLINE i32 is_same(i32 kind, const void *x, i64 i, i64 j, i32 equal_nan)
{
    const i32 is_float = kind == AG_F16 || kind == AG_F32 || kind == AG_F64 || is_complex(kind);
    return is_float ? is_same_float(kind, x, i, j, equal_nan) : is_copy(kind_bytes[kind], x, i, j);
}

INLINE i64 at_place(const i64 *order, i64 k) { return order ? order[k] : k; }

static void count_distinct(const ag_runtime *rt, const ag_count_distinct *of)
{
    (void)rt;
    i64 count = of->n > 0;
    for (i64 k = 1; k < of->n; k++)
        count += !is_same(of->kind, of->x, at_place(of->order, k - 1), at_place(of->order, k), of->equal_nan);
    *of->count = count;
}

static void find_distinct(const ag_runtime *rt, const ag_distinct *of)
{
    (void)rt;
    const i64 bytes = kind_bytes[of->kind];
    i64 last = -1, first = 0;
    for (i64 k = 0; k < of->n; k++) {
        const i64 own = at_place(of->order, k);
        if (k == 0 || !is_same(of->kind, of->x, at_place(of->order, k - 1), own, of->equal_nan)) {
            if (of->counts && k) of->counts[last] = k - first;
            first = k, last++;
            memcpy((char *)of->values + last * bytes, (const char *)of->x + own * bytes, (size_t)bytes);
            if (of->index) of->index[last] = own;
        }
        if (of->inverse) of->inverse[own] = last;
    }
    if (of->counts && of->n) of->counts[last] = of->n - first;
}
