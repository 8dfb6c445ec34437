"""C functions of the driver: lengths, slices, memory, copies, failure.  A file gets those that its driver uses.

What runs once a call is not worth a compiler's time: gcc optimizes neither it nor the driver (that of a perceptron's
step takes a third of the time so; a call of 30 steps takes 0.3 us longer, of 7).  Helpers that go over elements stand
before that, with the kernels.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..ctext.helper import Helper
from .product_helpers import PRODUCTS
from .solver_helpers import SOLVERS

_NO_EFFORT = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O0")
#endif
"""

HELPERS = (
    Helper("ag_iota", """\
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
"""),
    Helper("ag_eye", """\
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
"""),
    Helper("ag_order", """\
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
"""),
    Helper("ag_copy", """\
/* Copy elements of `item` bytes between strided arrays of one shape; strides count elements. */
static void ag_copy_row(i64 item, i64 n, char *y, i64 ys, const char *x, i64 xs)
{
#define AG_COPY(T) for (i64 i = 0; i < n; i++) ((T *)y)[i * ys] = ((const T *)x)[i * xs]
    if (xs == 1 && ys == 1) __builtin_memcpy(y, x, (u64)(n * item));
    else if (item == 1) AG_COPY(u8);
    else if (item == 2) AG_COPY(u16);
    else if (item == 4) AG_COPY(u32);
    else if (item == 8) AG_COPY(u64);
    else AG_COPY(c128);
#undef AG_COPY
}
static void ag_copy(i64 item, i32 rank, const i64 *n, void *y, const i64 *ys, const void *x, const i64 *xs)
{
    for (i32 k = 0; k < rank; k++)
        if (n[k] == 0) return;
    if (rank == 0) {
        ag_copy_row(item, 1, y, 1, x, 1);
        return;
    }
    i64 at[64] = {0};
    char *to = y;
    const char *from = x;
    i32 inner = rank - 1; /* the loop that runs inside: along the target's smallest stride */
    for (i32 k = 0; k < rank; k++)
        if (n[k] > 1 && (n[inner] == 1 || (ys[k] < ys[inner] && ys[k] > 0))) inner = k;
    for (;;) {
        ag_copy_row(item, n[inner], to, ys[inner], from, xs[inner]);
        i32 k = rank - 1;
        for (; k >= 0; k--) {
            if (k == inner) continue;
            to += item * ys[k], from += item * xs[k];
            if (++at[k] < n[k]) break;
            to -= item * ys[k] * n[k], from -= item * xs[k] * n[k], at[k] = 0;
        }
        if (k < 0) return;
    }
}
"""),
    Helper("ag_copy_in_parts", """\
/* The same, in parts on several threads if there is much to copy: 0, or AG_STOPPED. */
static i32 ag_copy_of_part(const ag_nest *nest, const i64 *n, void *const *a, const i64 *s, i64 *said)
{
    (void)said;
    ag_copy(nest->items[0], nest->rank, n, a[0], s, a[1], s + nest->rank);
    return 0;
}
static i32 ag_copy_in_parts(const ag_runtime *rt, i64 item, i32 rank, const i64 *n, void *y, const i64 *ys, void *x,
                            const i64 *xs)
{
    i64 bytes = item, strides[64], packed = 1;
    for (i32 k = 0; k < rank; k++) bytes *= n[k];
    if (bytes < 1 << 16 || rank > 32) {
        ag_copy(item, rank, n, y, ys, x, xs);
        return 0;
    }
    for (i32 k = 0; k < rank; k++) strides[k] = ys[k], strides[rank + k] = xs[k];
    for (i32 k = rank - 1; k >= 0 && (n[k] == 1 || (xs[k] == packed && ys[k] == packed)); k--) packed *= n[k];
    const i32 items[] = {(i32)item, (i32)item}, strided = packed * item < 256;
    const i64 all = ((i64)1 << rank) - 1;
    const ag_nest nest = {ag_copy_of_part, rank, 1, 2, 50 * (i32)item + 600 * strided, all, 0, items, &all, 0, 0, 0, 0};
    return rt->launch(rt, &nest, n, (void *[]){y, x}, strides, 0);
}
"""),
    Helper("ag_fail", """\
/* Note where and why the call fails; gives the outcome. */
static i32 ag_fail(ag_call *call, i32 outcome, i32 step, i32 operand, i32 count, const i64 *said)
{
    call->step = step;
    call->operand = operand;
    for (i32 k = 0; k < count; k++) call->detail[k] = said[k];
    return outcome;
}
"""),
    Helper("ag_as_declared", """\
/* Whether the lengths from number `at` on are those that the type promises. */
static i32 ag_as_declared(const ag_call *call, i32 at, i32 rank)
{
    for (i32 k = at; k < at + rank; k++)
        if (call->declared[k] >= 0 && call->declared[k] != call->lengths[k]) return 0;
    return 1;
}
"""),
    Helper("ag_overlap", """\
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
"""),
    Helper("ag_join", """\
/* The joint length of two axes, -1 if they do not broadcast. */
static inline i64 ag_join(i64 a, i64 b) { return a == b || b == 1 ? a : a == 1 ? b : -1; }
"""),
    Helper("ag_index", """\
/* The position that an index means, -1 if it is out of bounds. */
static inline i64 ag_index(i64 index, i64 length)
{
    const i64 position = index < 0 ? index + length : index;
    return position < length ? position < 0 ? -1 : position : -1;
}
"""),
    Helper("ag_slice_bound", """\
/* A bound of a slice with a step on an axis, by Python's rules. */
static i64 ag_slice_bound(i64 length, i64 bound, i64 step)
{
    const i64 lowest = step < 0 ? -1 : 0, highest = step < 0 ? length - 1 : length;
    if (bound < 0) bound += length;
    return bound < lowest ? lowest : bound > highest ? highest : bound;
}
"""),
    Helper("ag_slice_first", """\
/* Where start:stop:step begins on an axis.  given: 1 if there is a start, plus 2 if a stop. */
static i64 ag_slice_first(i64 length, i64 given, i64 start, i64 stop, i64 step)
{
    (void)stop;
    const i64 first = given & 1 ? ag_slice_bound(length, start, step) : step < 0 ? length - 1 : 0;
    return first < 0 || first >= length ? 0 : first; /* of an empty slice: any position that exists */
}
"""),
    Helper("ag_slice_count", """\
/* How many elements start:stop:step has; -1 if the step is 0. */
static i64 ag_slice_count(i64 length, i64 given, i64 start, i64 stop, i64 step)
{
    if (step == 0) return -1;
    const i64 first = given & 1 ? ag_slice_bound(length, start, step) : step < 0 ? length - 1 : 0;
    const i64 last = given & 2 ? ag_slice_bound(length, stop, step) : step < 0 ? -1 : length;
    if (step < 0) return first > last ? (i64)((u64)(first - last - 1) / -(u64)step) + 1 : 0;
    return last > first ? (last - first - 1) / step + 1 : 0;
}
"""),
    Helper("ag_range_count", """\
/* The number of elements of a range of integers; -1 if the step is 0. */
static void ag_range_count(i64 start, i64 stop, i64 step, i32 is_unsigned, i64 *count)
{
    __extension__ typedef __int128 i128;
    const i128 from = is_unsigned ? (i128)(u64)start : start, to = is_unsigned ? (i128)(u64)stop : stop;
    const i128 by = is_unsigned ? (i128)(u64)step : step;
    const i128 n = by == 0 ? -1 : by > 0 ? (to - from + by - 1) / by : (from - to - by - 1) / -by;
    *count = by == 0 ? -1 : n < 0 ? 0 : n > __INT64_MAX__ ? __INT64_MAX__ : (i64)n;
}
"""),
    Helper("ag_span_count", """\
/* The number of elements of a range that is `span` steps long; -1 if that is not finite. */
static void ag_span_count(const f64 *span, i64 *count)
{
    const f64 n = *span;
    *count = !(n - n == 0) ? -1 : n <= 0 ? 0 : n >= 0x1p62 ? __INT64_MAX__ : (i64)n + (n > (f64)(i64)n);
}
"""),
    Helper("ag_bytes", """\
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
"""),
    Helper("ag_alloc", """\
/* Memory for an array, NULL if there is none. */
static void *ag_alloc(const ag_runtime *rt, i64 item, i32 rank, const i64 *n)
{
    const i64 bytes = ag_bytes(item, rank, n);
    return bytes < 0 ? 0 : rt->alloc(bytes);
}
"""),
    Helper("ag_output", """\
/* Memory for output number `k` of call->data: the caller's if it has the right size, else a block of the pool. */
static void *ag_output(ag_call *call, i32 k, i32 at, i32 output_rank, i64 item, i32 rank, const i64 *n)
{
    const i64 bytes = ag_bytes(item, rank, n);
    if (bytes < 0) return 0;
    if (call->data[k] && ag_bytes(item, output_rank, call->lengths + at) == bytes) return call->data[k];
    return call->rt->alloc(bytes);
}
"""),
    Helper("ag_finish_strides", """\
/* Tell the caller the strides of an output whose lengths are number `at` and following. */
static void ag_finish_strides(ag_call *call, i32 at, i32 rank, const i64 *strides)
{
    for (i32 axis = 0; axis < rank && call->strides; axis++) call->strides[at + axis] = strides[axis];
}
"""),
    Helper("ag_finish", """\
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
"""),
    Helper("ag_count", """\
/* One run of a node, for the profile; when it ended, which is when the next one begins. */
static i64 ag_count(ag_call *call, i32 step, i64 start, i64 bytes, i64 flops)
{
    i64 *const row = call->profile + 4 * step, now = call->rt->clock();
    row[0] += 1;
    row[1] += now - start;
    row[2] += bytes;
    row[3] += flops;
    return now;
}
"""),
    Helper("ag_called", """\
/* The call is over; `done`: it has results.  While calls are left out, what this one counted is forgotten. */
static void ag_called(ag_call *call, i32 step, i32 done)
{
    i64 *const row = call->profile + 4 * step;
    row[0] += done;
    row[1] += call->rt->clock() - call->begun;
    if (done && *call->warm_up > 0 && __atomic_fetch_sub(call->warm_up, 1, __ATOMIC_RELAXED) > 0)
        for (i32 k = 0; k < 4 * step + 4 + 3; k++) call->profile[k] = 0;
}
"""),
    Helper("ag_begin", """\
/* A call begins: it holds nothing yet.  What the calls before it have counted stays. */
static void ag_begin(ag_call *call, i64 at, i32 slots)
{
    i64 *const memory = call->profile + at;
    memory[0] = memory[3] = 0;
    for (i32 k = 0; k < slots; k++) memory[4 + k] = 0;
}
"""),
    Helper("ag_hold", """\
/* A slot holds so many bytes from now on.  memory: held now, the peak, the peak without in-place work, spared. */
static void ag_hold(ag_call *call, i64 at, i32 slot, i64 bytes)
{
    i64 *const memory = call->profile + at, *const held = memory + 4 + slot;
    memory[0] += bytes - *held;
    *held = bytes;
    if (memory[0] > memory[1]) memory[1] = memory[0];
    if (memory[0] + memory[3] > memory[2]) memory[2] = memory[0] + memory[3];
}
"""),
    Helper("ag_spared", """\
/* A result was written over an operand of so many bytes; `lasting`: over an input, so its own memory would stay. */
static void ag_spared(ag_call *call, i64 at, i64 bytes, i32 lasting)
{
    i64 *const memory = call->profile + at;
    if (memory[0] + memory[3] + bytes > memory[2]) memory[2] = memory[0] + memory[3] + bytes;
    if (lasting) memory[3] += bytes;
}
"""),
    Helper("ag_pack", """\
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
    *block = ag_alloc(rt, item, rank, n);
    if (*block) ag_copy(item, rank, n, *block, packed, x, s);
    return *block;
}
"""),
)  # fmt: skip

_WORD = re.compile(r"ag_\w+(?=\()")
_HOME = {
    "ag_copy_row": "ag_copy",
    "ag_copy_of_part": "ag_copy_in_parts",
    "ag_iota_of_piece": "ag_iota",
    "ag_eye_of_piece": "ag_eye",
    "ag_is_empty": "ag_next",
}
"""Helpers that stand in the text of another one."""


_OVER_ELEMENTS = ("ag_iota", "ag_eye", "ag_copy", "ag_copy_in_parts", *(solver.name for solver in SOLVERS))


def driver_helpers(driver: str) -> str:
    """The helpers that the text of a driver uses, directly or by other helpers, each once and in order; what stands
    after them is compiled without effort.
    """
    by_name = {h.name: h for h in (*HELPERS, *PRODUCTS, *SOLVERS)}
    wanted = _used(driver, by_name)
    optimized = wanted & _used(" ".join(f"{name}()" for name in _OVER_ELEMENTS if name in wanted), by_name)
    first = [h.text for h in by_name.values() if h.name in optimized]
    return "\n".join([*first, _NO_EFFORT, *(h.text for h in by_name.values() if h.name in wanted - optimized)])


def _used(text: str, by_name: Mapping[str, Helper]) -> set[str]:
    """The names of the helpers that a text calls, directly or by others."""
    wanted: set[str] = set()
    stack = [text]
    while stack:
        for word in _WORD.findall(stack.pop()):
            name = _HOME.get(word, word)
            if name in by_name and name not in wanted:
                wanted.add(name)
                stack.append(by_name[name].text)
    return wanted
