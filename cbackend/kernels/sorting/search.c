/* Places in vectors by bisection, as NumPy finds them.  In ascending vectors several searches run side by side, so that
   their reads overlap.  In others the place depends on what is read: as in NumPy 2.5, the middle of what is left. */
#pragma once
#include "order.c"

enum { SEARCHES = 8 };

typedef struct search_work {
    const ag_runtime *rt;
    const ag_searchsorted *of;
    const i64 *keys;   /* of a; NULL: they are not ascending, or too few searches to load them */
    i64 example, each; /* elements of v of a task */
} search_work;

/* Find the places of SEARCHES numbers among ascending keys: the first whose key is not below v, or, `right`, above it.  All
   searches halve the same length; which half is no branch, which half of all numbers would go the wrong way. */
INLINE void search_keys(const i64 *keys, i64 n, const i64 *v, const i32 right, i64 *y)
{
    i64 at[SEARCHES] = {0};
    for (i64 rest = n, half; rest > 0; rest -= half) {
        half = rest - rest / 2;
#pragma GCC unroll 8
        for (int k = 0; k < SEARCHES; k++) {
            const i64 key = keys[at[k] + half - 1];
            at[k] += half & -(i64)(right ? key <= v[k] : key < v[k]);
        }
    }
    for (int k = 0; k < SEARCHES; k++) y[k] = at[k];
}

/* Return whether a complex number is before another one. */
static i32 is_before(i32 kind, const void *a, i64 i, const void *b, i64 j)
{
    const i32 first = class_of(kind, a, i), second = class_of(kind, b, j), real = kind == AG_C64 ? AG_F32 : AG_F64;
    if (first != second) return first < second;
    const i64 x = key_at(real, a, 2 * i), y = key_at(real, b, 2 * j);
    return x != y ? x < y : key_at(real, a, 2 * i + 1) < key_at(real, b, 2 * j + 1);
}

/* Find the place of one element of v by reading a itself. */
static i64 search_one(i32 kind, const void *a, i64 n, const void *v, i64 at, i32 right)
{
    const i32 is_pair = is_complex(kind);
    const i64 key = is_pair ? 0 : key_at(kind, v, at);
    i64 low = 0, high = n;
    while (low < high) {
        const i64 middle = (low + high) / 2;
        i32 goes_on;
        if (is_pair) goes_on = right ? !is_before(kind, v, at, a, middle) : is_before(kind, a, middle, v, at);
        else goes_on = right ? key_at(kind, a, middle) <= key : key_at(kind, a, middle) < key;
        low = goes_on ? middle + 1 : low, high = goes_on ? high : middle;
    }
    return low;
}

typedef struct search_arrays {
    const char *a, *v;
    i64 *y;
} search_arrays;

static search_arrays arrays_of(const search_work *work)
{
    const ag_searchsorted *of = work->of;
    const i64 bytes = kind_bytes[of->kind], example = work->example;
    const char *a = of->a, *v = of->v;
    return (search_arrays){a + example * of->n * bytes, v + example * of->m * bytes, (i64 *)of->y + example * of->m};
}

static void search_some(void *context, i64 task)
{
    const search_work *work = context;
    const ag_searchsorted *of = work->of;
    const search_arrays own = arrays_of(work);
    const i64 first = task * work->each, end = least(first + work->each, of->m);
    i64 at = first;
    if (work->keys)
        for (i64 v_keys[SEARCHES]; at + SEARCHES <= end; at += SEARCHES) {
            load_merged64(of->kind, SEARCHES, own.v + at * kind_bytes[of->kind], 1, v_keys);
            if (of->right) search_keys(work->keys, of->n, v_keys, 1, own.y + at);
            else search_keys(work->keys, of->n, v_keys, 0, own.y + at);
        }
    for (; at < end; at++) own.y[at] = search_one(of->kind, own.a, of->n, own.v, at, of->right);
}

static i32 are_ascending(const i64 *keys, i64 n)
{
    i32 ascending = 1;
#pragma GCC unroll 4
    for (i64 i = 1; i < n; i++) ascending &= keys[i - 1] <= keys[i];
    return ascending;
}

static i32 search_batch(const ag_runtime *rt, const ag_searchsorted *of)
{
    const i32 loads = !is_complex(of->kind) && of->m >= of->n / 8;
    const i64 work_of_one = digits_of((u64)of->n) + 1, bytes = kind_bytes[of->kind];
    i64 *const keys = loads ? rt->alloc((of->n + 1) * (i64)sizeof(i64)) : 0;
    if (loads && !keys) return OUTCOME_MEMORY;
    search_work work = {.rt = rt, .of = of, .each = of->m};
    if (rt->threads > 1 && of->m * work_of_one > 2 * SORT_TASK) work.each = most(SEARCHES, SORT_TASK / work_of_one);
    for (; work.example < of->examples && of->m > 0; work.example++) {
        if (loads) {
            load_merged64(of->kind, of->n, (const char *)of->a + work.example * of->n * bytes, 1, keys);
            work.keys = are_ascending(keys, of->n) ? keys : 0;
        }
        const i64 tasks = (of->m + work.each - 1) / work.each;
        if (tasks > 1) rt->parallel(rt, tasks, search_some, &work);
        else search_some(&work, 0);
        if (*rt->stop && rt->stopped()) break;
    }
    rt->release(keys);
    return 0;
}
