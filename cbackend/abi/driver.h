#pragma once
#include "call.h"

typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef double f64;
typedef double _Complex c128;

/* 0, 1, 2, ..., on several threads if they are many: 0, or AG_STOPPED. */
enum { AG_PIECE = 1 << 17 };
typedef struct ag_numbers {
    i64 n, *y;
} ag_numbers;
static void ag_iota_of_piece(void *context, i64 piece)
{
    const ag_numbers *const it = context;
    const i64 end = (piece + 1) * AG_PIECE < it->n ? (piece + 1) * AG_PIECE : it->n;
    for (i64 i = piece * AG_PIECE; i < end; i++) it->y[i] = i;
}
static i32 ag_iota(const ag_runtime *rt, i64 n, i64 *y)
{
    ag_numbers it = {n, y};
    if (n > 1 << 20) rt->listen();
    return rt->parallel(rt, n / AG_PIECE + 1, ag_iota_of_piece, &it) ? AG_STOPPED : 0;
}

/* An n by m matrix of zeros with `one` on diagonal `d`, which lies above the main one if it is positive; on several
   threads if it is large.  0, or AG_STOPPED. */
typedef struct ag_diagonal {
    i64 item, n, m, d, rows; /* rows: of a piece */
    char *y;
    const void *one;
} ag_diagonal;
static void ag_eye_of_piece(void *context, i64 piece)
{
    const ag_diagonal *const it = context;
    const i64 m = it->m, d = it->d, item = it->item, begin = piece * it->rows;
    const i64 end = it->n - begin < it->rows ? it->n : begin + it->rows;
    __builtin_memset(it->y + begin * m * item, 0, (u64)((end - begin) * m * item));
    for (i64 i = begin < -d ? -d : begin; i < end && i < m - d; i++)
        __builtin_memcpy(it->y + (i * m + i + d) * item, it->one, (u64)item);
}
static i32 ag_eye(const ag_runtime *rt, i64 item, i64 n, i64 m, i64 d, char *y, const void *one)
{
    const i64 row = m * item, rows = row ? (1 << 20) / row + 1 : n + 1;
    ag_diagonal it = {item, n, m, d, rows, y, one};
    if (n * row > 1 << 23) rt->listen();
    return rt->parallel(rt, n / rows + 1, ag_eye_of_piece, &it) ? AG_STOPPED : 0;
}

/* Whether axis a lies outside of axis b although it is the later one: C order wins where operands differ. */
static i32 ag_is_outside(i32 rank, i32 a, i32 b, const i64 *n, i32 operands, const i64 *strides)
{
    i32 found = 0;
    for (i32 k = 0; k < operands && n[a] != 1 && n[b] != 1; k++, strides += rank) {
        const i64 of_a = __builtin_llabs(strides[a]), of_b = __builtin_llabs(strides[b]);
        if (of_a && of_b && of_a <= of_b) return 0;
        found |= of_a && of_b;
    }
    return found;
}
/* The strides of a result in the order of its operands; C-contiguous if all arguments are. */
static void ag_order(const ag_call *call, i32 rank, const i64 *n, i32 operands, const i64 *strides, i64 *ordered)
{
    i32 axes[64];
    for (i32 k = 0; k < rank; k++) axes[k] = k;
    for (i32 k = 1; k < rank && call->strides; k++)
        for (i32 j = k; j > 0 && ag_is_outside(rank, axes[j], axes[j - 1], n, operands, strides); j--) {
            const i32 axis = axes[j];
            axes[j] = axes[j - 1], axes[j - 1] = axis;
        }
    i64 step = 1;
    for (i32 k = rank - 1; k >= 0; k--) ordered[axes[k]] = step, step *= n[axes[k]];
}

/* Copy elements of `item` bytes between strided arrays of one shape; strides count elements.  This goes over elements,
   and is worth a compiler's time. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O2")))
#endif
static void ag_copy_row(i64 item, i64 n, char *y, i64 ys, const char *x, i64 xs)
{
#define AG_COPY(T) for (i64 i = 0; i < n; i++) ((T *)y)[i * ys] = ((const T *)x)[i * xs]
#define AG_SET(T) \
    { \
        __typeof__((T *)y) to = (T *)y; \
        const __typeof__(*to) one = *(const T *)x; \
        for (; n >= 4; n -= 4, to += 4 * ys) to[0] = one, to[ys] = one, to[2 * ys] = one, to[3 * ys] = one; \
        for (; n > 0; n--, to += ys) *to = one; \
    }
    if (xs == 1 && ys == 1) __builtin_memcpy(y, x, (u64)(n * item));
    else if (xs == 0 && item == 1) AG_SET(u8)
    else if (xs == 0 && item == 4) AG_SET(u32)
    else if (xs == 0 && item == 8) AG_SET(u64)
    else if (item == 1) AG_COPY(u8);
    else if (item == 2) AG_COPY(u16);
    else if (item == 4) AG_COPY(u32);
    else if (item == 8) AG_COPY(u64);
    else AG_COPY(c128);
#undef AG_SET
#undef AG_COPY
}
/* Planes of rows of so many bytes; short rows are copied as two blocks, which may overlap, without a call. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O2")))
#endif
static void ag_copy_rows(const i64 *n, i64 bytes, char *y, const i64 *ys, const char *x, const i64 *xs)
{
#define AG_ROWS(COPY)     for (i64 j = 0; j < n[0]; j++) {         char *to = y + j * ys[0];         const char *from = x + j * xs[0];         for (i64 i = 0; i < n[1]; i++, to += ys[1], from += xs[1]) { COPY; }     }
#define AG_BLOCKS(N)     AG_ROWS(__builtin_memcpy(to, from, N); __builtin_memcpy(to + bytes - (N), from + bytes - (N), N))
    if (bytes < 8 || bytes > 128) AG_ROWS(__builtin_memcpy(to, from, (u64)bytes))
    else if (bytes < 16) AG_BLOCKS(8)
    else if (bytes < 32) AG_BLOCKS(16)
    else if (bytes < 64) AG_BLOCKS(32)
    else AG_BLOCKS(64)
#undef AG_BLOCKS
#undef AG_ROWS
}
/* Axes without those of length 1, neighbours as one where both arrays allow it; how many there are. */
static i32 ag_fold_axes(i32 rank, const i64 *n, const i64 *ys, const i64 *xs, i64 *m, i64 *yt, i64 *xt)
{
    i32 count = 0;
    for (i32 k = 0; k < rank; k++) {
        if (n[k] == 1) continue;
        if (count && yt[count - 1] == n[k] * ys[k] && xt[count - 1] == n[k] * xs[k]) m[count - 1] *= n[k];
        else m[count++] = n[k];
        yt[count - 1] = ys[k], xt[count - 1] = xs[k];
    }
    return count;
}
/* y[i * ys + j] = x[i + j * xs] for i < n and j < m: a transposed matrix of elements of 1, 2, 4, 8 or 16 bytes.  Squares are
   transposed in vector registers: so whole lines of memory are read and written, whichever of them share a place in the
   cache.  In each of log2(N) rounds, rows k and k + N / 2 are interleaved to rows 2 k and 2 k + 1.  Elements of 16 bytes are
   vectors themselves: a line has four. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("O2")))
#endif
static void ag_transpose(i64 item, i64 n, i64 m, char *y, i64 ys, const char *x, i64 xs)
{
#if defined(__clang__) || __GNUC__ >= 12
#define AG_FIRST_2 0, 2
#define AG_SECOND_2 1, 3
#define AG_FIRST_4 0, 4, 1, 5
#define AG_SECOND_4 2, 6, 3, 7
#define AG_FIRST_8 0, 8, 1, 9, 2, 10, 3, 11
#define AG_SECOND_8 4, 12, 5, 13, 6, 14, 7, 15
#define AG_FIRST_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define AG_SECOND_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define AG_SQUARES(T, N) \
    typedef T row __attribute__((vector_size((N) * sizeof(T)), aligned(sizeof(T)), may_alias)); \
    for (; i + (N) <= n; i += (N)) { \
        i64 j = 0; \
        for (; j + (N) <= m; j += (N)) { \
            row from[N], to[N]; \
            _Pragma("GCC unroll 16") for (i32 k = 0; k < (N); k++) \
                from[k] = *(const row *)((const T *)x + i + (j + k) * xs); \
            _Pragma("GCC unroll 4") for (i32 round = 1; round < (N); round *= 2) { \
                _Pragma("GCC unroll 8") for (i32 k = 0; k < (N) / 2; k++) { \
                    to[2 * k] = __builtin_shufflevector(from[k], from[k + (N) / 2], AG_FIRST_##N); \
                    to[2 * k + 1] = __builtin_shufflevector(from[k], from[k + (N) / 2], AG_SECOND_##N); \
                } \
                _Pragma("GCC unroll 16") for (i32 k = 0; k < (N); k++) from[k] = to[k]; \
            } \
            _Pragma("GCC unroll 16") for (i32 k = 0; k < (N); k++) \
                *(row *)((T *)y + (i + k) * ys + j) = from[k]; \
        } \
        for (; j < m; j++) \
            for (i64 k = i; k < i + (N); k++) ((T *)y)[k * ys + j] = ((const T *)x)[k + j * xs]; \
    }
#else
#define AG_SQUARES(T, N)
#endif
#define AG_TRANSPOSED(T, N) \
    { \
        AG_SQUARES(T, N) \
        for (; i < n; i++) \
            for (i64 j = 0; j < m; j++) ((T *)y)[i * ys + j] = ((const T *)x)[i + j * xs]; \
    }
#if defined(__AVX512BW__)
    enum { AG_LINE = 64 };
#elif defined(__AVX2__)
    enum { AG_LINE = 32 };
#else
    enum { AG_LINE = 16 };
#endif
    i64 i = 0;
    if (item == 16) {
        for (; i + 4 <= n; i += 4)
            for (i64 j = 0; j < m; j++)
                for (i64 k = i; k < i + 4; k++) ((c128 *)y)[k * ys + j] = ((const c128 *)x)[k + j * xs];
        for (; i < n; i++)
            for (i64 j = 0; j < m; j++) ((c128 *)y)[i * ys + j] = ((const c128 *)x)[i + j * xs];
    } else if (item == 1) AG_TRANSPOSED(u8, 16)
    else if (item == 2 && AG_LINE == 16) AG_TRANSPOSED(u16, 8)
    else if (item == 2) AG_TRANSPOSED(u16, 16)
    else if (item == 4 && AG_LINE == 16) AG_TRANSPOSED(u32, 4)
    else if (item == 4 && AG_LINE == 32) AG_TRANSPOSED(u32, 8)
    else if (item == 4) AG_TRANSPOSED(u32, 16)
    else if (AG_LINE == 16) AG_TRANSPOSED(u64, 2)
    else if (AG_LINE == 32) AG_TRANSPOSED(u64, 4)
    else AG_TRANSPOSED(u64, 8)
}
/* The loop that runs inside: along the target's smallest stride or, if that is short, along the source's; and in *across
   the axis along which the source lies if both are long, else -1. */
static i32 ag_inner_axis(i32 rank, const i64 *n, const i64 *ys, const i64 *xs, i32 *across)
{
    i32 inner = rank - 1;
    for (i32 k = 0; k < rank; k++)
        if (ys[k] < ys[inner] && ys[k] > 0) inner = k;
    for (i32 k = 0; n[inner] < 8 && k < rank; k++)
        if (xs[k] == 1 && xs[inner] != 1 && n[k] >= 8) inner = k;
    *across = -1;
    for (i32 k = 0; ys[inner] == 1 && n[inner] >= 8 && k < rank; k++)
        if (k != inner && xs[k] == 1 && n[k] >= 8) *across = k;
    return inner;
}
static void ag_copy(i64 item, i32 rank, const i64 *lengths, void *y, const i64 *y_steps, const void *x,
                    const i64 *x_steps)
{
    i64 n[64], ys[64], xs[64], at[64] = {0};
    for (i32 k = 0; k < rank; k++)
        if (lengths[k] == 0) return;
    rank = ag_fold_axes(rank, lengths, y_steps, x_steps, n, ys, xs);
    if (rank == 0) {
        ag_copy_row(item, 1, y, 1, x, 1);
        return;
    }
    char *to = y;
    const char *from = x;
    i32 across;
    const i32 inner = ag_inner_axis(rank, n, ys, xs, &across);
    const i32 beside = inner == rank - 1 && xs[inner] == 1 && ys[inner] == 1;
    i64 planes[] = {1, 1}, y_planes[] = {0, 0}, x_planes[] = {0, 0}; /* the loops around it, where rows lie beside */
    i32 left = beside ? rank - 1 : rank;
    for (i32 k = 1; beside && k >= 0 && left > 0; k--)
        left--, planes[k] = n[left], y_planes[k] = ys[left] * item, x_planes[k] = xs[left] * item;
    for (;;) {
        if (across >= 0) ag_transpose(item, n[across], n[inner], to, ys[across], from, xs[inner]);
        else if (beside) ag_copy_rows(planes, n[inner] * item, to, y_planes, from, x_planes);
        else ag_copy_row(item, n[inner], to, ys[inner], from, xs[inner]);
        i32 k = left - 1;
        for (; k >= 0; k--) {
            if (k == inner || k == across) continue;
            to += item * ys[k], from += item * xs[k];
            if (++at[k] < n[k]) break;
            to -= item * ys[k] * n[k], from -= item * xs[k] * n[k], at[k] = 0;
        }
        if (k < 0) return;
    }
}

/* The same, in parts on several threads if there is much to copy: 0, or AG_STOPPED. */
static i32 ag_copy_of_part(const ag_nest *nest, const i64 *n, void *const *a, const i64 *s, i64 *detail)
{
    (void)detail;
    ag_copy(nest->items[0], nest->rank, n, a[0], s, a[1], s + nest->rank);
    return 0;
}
static i32 ag_copy_in_parts(const ag_runtime *rt, i64 item, i32 rank, const i64 *n, void *y, const i64 *ys, void *x,
                            const i64 *xs)
{
    i64 bytes = item, m[64], yt[64], xt[64], strides[64], packed = 1;
    for (i32 k = 0; k < rank; k++) bytes *= n[k];
    if (bytes < 1 << 16 || rank > 32) {
        ag_copy(item, rank, n, y, ys, x, xs);
        return 0;
    }
    rank = ag_fold_axes(rank, n, ys, xs, m, yt, xt);
    i32 across;
    i32 outer = ag_inner_axis(rank, m, yt, xt, &across); /* of a transposed part the longer axis is divided */
    if (across >= 0 && m[across] > m[outer]) outer = across;
    for (i32 k = outer; across >= 0 && k > 0; k--) {
        const i64 length = m[k], to = yt[k], from = xt[k];
        m[k] = m[k - 1], yt[k] = yt[k - 1], xt[k] = xt[k - 1];
        m[k - 1] = length, yt[k - 1] = to, xt[k - 1] = from;
    }
    for (i32 k = 0; k < rank; k++) strides[k] = yt[k], strides[rank + k] = xt[k];
    for (i32 k = rank - 1; k >= 0 && xt[k] == packed && yt[k] == packed; k--) packed *= m[k];
    const i32 items[] = {(i32)item, (i32)item}, strided = across < 0 && packed * item < 256;
    const i64 all = ((i64)1 << rank) - 1;
    const ag_nest nest = {ag_copy_of_part, rank, 1, 2, 50 * (i32)item + 600 * strided, all, 0, items, &all, 0, 0, 0, 0};
    return rt->launch(rt, &nest, m, (void *[]){y, x}, strides, 0);
}

/* Note where and why the call fails; gives the outcome. */
static i32 ag_fail(ag_call *call, i32 outcome, i32 step, i32 operand, i32 count, const i64 *detail)
{
    call->step = step;
    call->operand = operand;
    for (i32 k = 0; k < count; k++) call->detail[k] = detail[k];
    return outcome;
}

/* Whether the lengths from number `at` on are those that the type promises. */
static i32 ag_as_declared(const ag_call *call, i32 at, i32 rank)
{
    for (i32 k = at; k < at + rank; k++)
        if (call->declared[k] >= 0 && call->declared[k] != call->lengths[k]) return 0;
    return 1;
}

/* Whether one of the arrays numbered `written` shares memory with another one. */
static i32 ag_overlap(i32 count, const void *const *start, const i64 *bytes, i32 writes, const i32 *written)
{
    for (i32 w = 0; w < writes; w++)
        for (i32 k = 0; k < count; k++) {
            const char *const a = start[written[w]], *const b = start[k];
            if (k != written[w] && a < b + bytes[k] && b < a + bytes[written[w]]) return 1;
        }
    return 0;
}

/* A bound of a slice with a step on an axis, by Python's rules. */
static i64 ag_slice_bound(i64 length, i64 bound, i64 step)
{
    const i64 lowest = step < 0 ? -1 : 0, highest = step < 0 ? length - 1 : length;
    if (bound < 0) bound += length;
    return bound < lowest ? lowest : bound > highest ? highest : bound;
}

/* Where start:stop:step begins on an axis.  given: 1 if there is a start, plus 2 if a stop. */
static i64 ag_slice_first(i64 length, i64 given, i64 start, i64 stop, i64 step)
{
    (void)stop;
    const i64 first = given & 1 ? ag_slice_bound(length, start, step) : step < 0 ? length - 1 : 0;
    return first < 0 || first >= length ? 0 : first; /* of an empty slice: any position that exists */
}

/* How many elements start:stop:step has; -1 if the step is 0. */
static i64 ag_slice_count(i64 length, i64 given, i64 start, i64 stop, i64 step)
{
    if (step == 0) return -1;
    const i64 first = given & 1 ? ag_slice_bound(length, start, step) : step < 0 ? length - 1 : 0;
    const i64 last = given & 2 ? ag_slice_bound(length, stop, step) : step < 0 ? -1 : length;
    if (step < 0) return first > last ? (i64)((u64)(first - last - 1) / -(u64)step) + 1 : 0;
    return last > first ? (last - first - 1) / step + 1 : 0;
}

/* The number of elements of a range of integers; -1 if the step is 0. */
static void ag_range_count(i64 start, i64 stop, i64 step, i32 is_unsigned, i64 *count)
{
    __extension__ typedef __int128 i128;
    const i128 from = is_unsigned ? (i128)(u64)start : start, to = is_unsigned ? (i128)(u64)stop : stop;
    const i128 by = is_unsigned ? (i128)(u64)step : step;
    const i128 n = by == 0 ? -1 : by > 0 ? (to - from + by - 1) / by : (from - to - by - 1) / -by;
    *count = by == 0 ? -1 : n < 0 ? 0 : n > __INT64_MAX__ ? __INT64_MAX__ : (i64)n;
}

/* The number of elements of a range that is `span` steps long; -1 if that is not finite. */
static void ag_span_count(const f64 *span, i64 *count)
{
    const f64 n = *span;
    *count = !(n - n == 0) ? -1 : n <= 0 ? 0 : n >= 0x1p62 ? __INT64_MAX__ : (i64)n + (n > (f64)(i64)n);
}

/* The size of an array in bytes; -1 if it exceeds an i64, or would but for a length of 0: NumPy has no such array. */
static i64 ag_bytes(i64 item, i32 rank, const i64 *n)
{
    i64 bytes = item, empty = 0;
    for (i32 k = 0; k < rank; k++) {
        empty |= n[k] == 0;
        if (__builtin_mul_overflow(bytes, n[k] ? n[k] : 1, &bytes)) return -1;
    }
    return empty ? 0 : bytes;
}

/* Memory for an array, NULL if there is none. */
static void *ag_take(const ag_runtime *rt, i64 item, i32 rank, const i64 *n)
{
    const i64 bytes = ag_bytes(item, rank, n);
    return bytes < 0 ? 0 : rt->alloc(bytes);
}

/* Memory for output number `k` of call->data: the caller's if it has the right size, else a block of the pool. */
static void *ag_output(ag_call *call, i32 k, i32 at, i32 output_rank, i64 item, i32 rank, const i64 *n)
{
    const i64 bytes = ag_bytes(item, rank, n);
    if (bytes < 0) return 0;
    if (call->data[k] && ag_bytes(item, output_rank, call->lengths + at) == bytes) return call->data[k];
    return call->rt->alloc(bytes);
}

/* Tell the caller the strides of an output whose lengths are number `at` and following. */
static void ag_finish_strides(ag_call *call, i32 at, i32 rank, const i64 *strides)
{
    for (i32 axis = 0; axis < rank && call->strides; axis++) call->strides[at + axis] = strides[axis];
}

/* Tell the caller where output number `k` of call->data lies and its lengths; whether that is news to him. */
static i32 ag_finish(ag_call *call, void *data, i32 k, i32 at, i32 rank, const i64 *n)
{
    i32 news = call->data[k] != data;
    call->data[k] = data;
    for (i32 axis = 0; axis < rank; axis++) {
        news |= call->lengths[at + axis] != n[axis];
        call->lengths[at + axis] = n[axis];
    }
    return news;
}

/* Let SSE code run at its speed.  Kernels leave the upper halves of AVX registers in use (gcc clears them at -O2 only).
   An SSE instruction then waits for the one before it that wrote its register: NumPy takes two to five times as long. */
static void ag_clear_upper_halves(void)
{
#ifdef __AVX__
    __builtin_ia32_vzeroupper();
#endif
}

/* A call ends: its buffers go back, and if it failed, so do blocks that were to become outputs, which are those of
   call->data from number `first` on. */
static void ag_leave(const ag_runtime *rt, const ag_call *call, i32 outcome, i32 buffers, void *const *b, i32 outputs,
                     void *const *o, i32 first)
{
    for (i32 k = 0; k < buffers; k++) rt->release(b[k]);
    for (i32 k = 0; outcome && k < outputs; k++)
        if (o[k] != call->data[first + k]) rt->release(o[k]);
    ag_clear_upper_halves();
}

/* `x` itself if it is C-contiguous, else a copy in a new block, which *block holds; NULL if there is no memory. */
static void *ag_pack(const ag_runtime *rt, void **block, i64 item, i32 rank, const i64 *n, void *x, const i64 *s)
{
    i64 packed[64], step = 1, dense = 1;
    for (i32 k = rank - 1; k >= 0; k--) {
        dense &= n[k] == 1 || s[k] == step;
        packed[k] = step;
        step *= n[k];
    }
    if (dense || step == 0) return x;
    *block = ag_take(rt, item, rank, n);
    if (*block) ag_copy(item, rank, n, *block, packed, x, s);
    return *block;
}

/* Memory for the array of a slot: its place in the block of the call, or a block of the pool if it does not fit there;
   NULL if there is none. */
static void *ag_place(const ag_runtime *rt, ag_arena *arena, void *const *slot, i64 item, i32 rank, const i64 *n)
{
    const i64 bytes = ag_bytes(item, rank, n), k = slot - arena->slots;
    if (bytes < 0) return 0;
    arena->sizes[k] = bytes;
    if (bytes && bytes <= arena->rooms[k]) return arena->block + arena->rooms[arena->count + k];
    arena->beside += bytes;
    return rt->alloc(bytes);
}

/* A slot is empty from now on; its memory goes back unless it is a part of the block of the call. */
static void ag_drop(const ag_runtime *rt, const ag_arena *arena, void **slot)
{
    if ((u64)((char *)*slot - arena->block) >= (u64)arena->bytes) rt->release(*slot);
    *slot = 0;
}
