/* Places in ascending vectors by bisection without branches: several searches side by side, so that their reads overlap. */
#pragma once
#include "order.c"

enum { SEARCHES = 8 };

typedef struct search_work {
    const ag_runtime *rt;
    const ag_searchsorted *of;
    const i64 *keys;   /* of a; NULL: too few searches to load them */
    i64 example, each; /* elements of v of a task */
} search_work;

/* Find `count` places among keys: the first whose key is not below v, or, `right`, above it.  Keys in another order are
   looked at where NumPy looks.  There are 8 more numbers than n in `keys`, since a search that has ended reads on. */
INLINE void search_keys(const i64 *keys, i64 n, const i64 *v, const int count, const i32 right, i64 *y)
{
    i64 low[SEARCHES] = {0}, high[SEARCHES];
    for (int k = 0; k < count; k++) high[k] = n;
    for (i64 rest = n; rest > 0; rest /= 2) {
#pragma GCC unroll 8
        for (int k = 0; k < count; k++) {
            const i64 middle = (low[k] + high[k]) / 2, key = keys[middle];
            const i32 goes_on = (low[k] < high[k]) & (right ? key <= v[k] : key < v[k]);
            low[k] = goes_on ? middle + 1 : low[k];
            high[k] = goes_on ? high[k] : middle;
        }
    }
    for (int k = 0; k < count; k++) y[k] = low[k];
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
    i64 low = 0, high = n;
    const i64 key = is_complex(kind) ? 0 : key_at(kind, v, at);
    while (low < high) {
        const i64 middle = (low + high) / 2;
        i32 goes_on;
        if (is_complex(kind)) goes_on = right ? !is_before(kind, v, at, a, middle) : is_before(kind, a, middle, v, at);
        else goes_on = right ? key_at(kind, a, middle) <= key : key_at(kind, a, middle) < key;
        low = goes_on ? middle + 1 : low, high = goes_on ? high : middle;
    }
    return low;
}

static void search_some(void *context, i64 task)
{
    search_work *work = context;
    const ag_searchsorted *of = work->of;
    const i64 bytes = kind_bytes[of->kind], end = least((task + 1) * work->each, of->m);
    const char *a = (const char *)of->a + work->example * of->n * bytes;
    const char *v = (const char *)of->v + work->example * of->m * bytes;
    i64 *y = (i64 *)of->y + work->example * of->m, at = task * work->each;
    if (work->keys)
        for (i64 v_keys[SEARCHES]; at + SEARCHES <= end; at += SEARCHES) {
            load_merged64(of->kind, SEARCHES, v + at * bytes, 1, v_keys);
            if (of->right) search_keys(work->keys, of->n, v_keys, SEARCHES, 1, y + at);
            else search_keys(work->keys, of->n, v_keys, SEARCHES, 0, y + at);
        }
    for (; at < end; at++) y[at] = search_one(of->kind, a, of->n, v, at, of->right);
}

static i32 search_batch(const ag_runtime *rt, const ag_searchsorted *of)
{
    const i32 loads = !is_complex(of->kind) && of->m >= of->n / 8;
    const i64 work_of_one = digits_of((u64)of->n) + 1, bytes = kind_bytes[of->kind];
    i64 *const keys = loads ? rt->alloc((of->n + 8) * (i64)sizeof(i64)) : 0;
    if (loads && !keys) return OUTCOME_MEMORY;
    search_work work = {.rt = rt, .of = of, .keys = keys, .each = of->m};
    if (rt->threads > 1 && of->m * work_of_one > 2 * SORT_TASK) work.each = most(SEARCHES, SORT_TASK / work_of_one);
    for (; work.example < of->examples && of->m > 0; work.example++) {
        if (loads) load_merged64(of->kind, of->n, (const char *)of->a + work.example * of->n * bytes, 1, keys);
        const i64 tasks = (of->m + work.each - 1) / work.each;
        if (tasks > 1) rt->parallel(rt, tasks, search_some, &work);
        else search_some(&work, 0);
        if (*rt->stop && rt->stopped()) break;
    }
    rt->release(keys);
    return 0;
}
