/* Non-maximum suppression of one float type REAL, with OF: included for float and for double. */
#include "real32.h"

/* NumPy's minimum and maximum, which keep NaNs. */
INLINE REAL OF(lower)(REAL a, REAL b) { return a < b || a != a ? a : b; }
INLINE REAL OF(higher)(REAL a, REAL b) { return a > b || a != a ? a : b; }

/* Corners and areas of boxes, side by side: so a loop over them runs in vectors. */
typedef struct OF(corners) {
    REAL *left, *top, *right, *bottom, *area;
} OF(corners);

static OF(corners) OF(corners_in)(REAL *room, i64 n)
{
    return (OF(corners)){room, room + n, room + 2 * n, room + 3 * n, room + 4 * n};
}

static void OF(load_corners)(const OF(corners) * to, i64 n, const REAL *boxes, i32 centred)
{
    for (i64 i = 0; i < n; i++, boxes += 4) {
        const REAL half = boxes[2] / 2, other = boxes[3] / 2;
        to->left[i] = centred ? boxes[0] - half : OF(lower)(boxes[0], boxes[2]);
        to->top[i] = centred ? boxes[1] - other : OF(lower)(boxes[1], boxes[3]);
        to->right[i] = centred ? boxes[0] + half : OF(higher)(boxes[0], boxes[2]);
        to->bottom[i] = centred ? boxes[1] + other : OF(higher)(boxes[1], boxes[3]);
        to->area[i] = (to->right[i] - to->left[i]) * (to->bottom[i] - to->top[i]);
    }
}

/* Return whether one of the kept boxes overlaps box `i` of x by more than the bound. */
static i32 OF(is_covered)(const OF(corners) * kept, i64 count, const OF(corners) * x, i64 i, REAL bound)
{
    const REAL left = x->left[i], top = x->top[i], right = x->right[i], bottom = x->bottom[i], area = x->area[i];
    for (i64 k = 0; k < count;) {
        const i64 end = least(count, k + 64);
        i32 covered = 0;
        for (; k < end; k++) {
            REAL width = OF(lower)(kept->right[k], right) - OF(higher)(kept->left[k], left);
            REAL height = OF(lower)(kept->bottom[k], bottom) - OF(higher)(kept->top[k], top);
            width = OF(higher)(width, 0), height = OF(higher)(height, 0);
            const REAL common = width * height, all = kept->area[k] + area - common;
            covered |= common / OF(higher)(all, (REAL)1e-30) > bound;
        }
        if (covered) return 1;
    }
    return 0;
}

/* Write the places of the boxes of a class that are kept; return how many, -1 without memory. */
static i64 OF(keep_boxes)(const ag_runtime *rt, const ag_suppress *of, const OF(corners) * x, const REAL *scores,
                          i64 *found)
{
    const i64 n = of->n;
    const REAL bound = (REAL)*of->overlap, low = (REAL)*of->least;
    const i32 all = !(*of->least - *of->least == 0); /* it is not finite */
    i64 *const room = rt->alloc(4 * n * (i64)sizeof(i64) + 5 * of->limit * (i64)sizeof(REAL) + 64);
    if (!room) return -1;
    i64 *const among = room, *const keys = among + n, *const order = keys + n, *const other = order + n;
    const OF(corners) kept = OF(corners_in)((REAL *)(other + n), of->limit);
    i64 count = 0, done = 0;
    for (i64 i = 0; i < n; i++) among[count] = i, count += all || scores[i] > low;
    for (i64 k = 0; k < count; k++) {
        const i64 key = key_at(sizeof(REAL) == 4 ? AG_F32 : AG_F64, scores, among[k]);
        keys[k] = scores[among[k]] != scores[among[k]] ? KEY64_MOST : ~key;
    }
    const i32 failed = order_keys(rt, keys, count, order, other);
    for (i64 k = 0; k < count && done < of->limit && !failed; k++) {
        const i64 i = among[order[k]];
        if (OF(is_covered)(&kept, done, x, i, bound)) continue;
        kept.left[done] = x->left[i], kept.top[done] = x->top[i], kept.right[done] = x->right[i];
        kept.bottom[done] = x->bottom[i], kept.area[done] = x->area[i];
        found[done++] = i;
    }
    rt->release(room);
    return failed ? -1 : done;
}

typedef struct OF(suppression) {
    const ag_runtime *rt;
    const ag_suppress *of;
    REAL *corners; /* of every batch */
    i64 *counts;   /* of every class of every batch */
} OF(suppression);

static void OF(suppress_class)(void *context, i64 task)
{
    OF(suppression) *work = context;
    const ag_suppress *of = work->of;
    const OF(corners) x = OF(corners_in)(work->corners + task / of->classes * 5 * of->n, of->n);
    const REAL *scores = (const REAL *)of->scores + task * of->n;
    work->counts[task] = OF(keep_boxes)(work->rt, of, &x, scores, of->found + (3 * task + 2) * of->limit);
}

static i32 OF(suppress_all)(const ag_runtime *rt, const ag_suppress *of)
{
    const i64 tasks = of->batches * of->classes;
    i64 *const counts = rt->alloc((tasks + 1) * (i64)sizeof(i64) + of->batches * 5 * of->n * (i64)sizeof(REAL) + 64);
    if (!counts) return OUTCOME_MEMORY;
    OF(suppression) work = {.rt = rt, .of = of, .corners = (REAL *)(counts + tasks), .counts = counts};
    for (i64 batch = 0; batch < of->batches; batch++) {
        const OF(corners) to = OF(corners_in)(work.corners + batch * 5 * of->n, of->n);
        OF(load_corners)(&to, of->n, (const REAL *)of->boxes + batch * 4 * of->n, of->centred);
    }
    i32 failed = 0;
    if (rt->threads > 1 && tasks > 1 && tasks * of->n > SORT_TASK)
        failed = rt->parallel(rt, tasks, OF(suppress_class), &work);
    else
        for (i64 task = 0; task < tasks; task++) OF(suppress_class)(&work, task);
    i64 count = 0;
    for (i64 task = 0; task < tasks && !failed; task++) {
        if (counts[task] < 0) failed = OUTCOME_MEMORY;
        const i64 *own = of->found + (3 * task + 2) * of->limit; /* the last third: no row overwrites a place to come */
        for (i64 k = 0; k < counts[task]; k++, count++) {
            const i64 place = own[k];
            of->found[3 * count] = task / of->classes, of->found[3 * count + 1] = task % of->classes;
            of->found[3 * count + 2] = place;
        }
    }
    *of->count = count;
    rt->release(counts);
    return failed == OUTCOME_MEMORY ? failed : 0;
}
