/* Rows of a batch: their places in memory, their division among threads, and elements by kind. */
#pragma once
#include "../batch.h"
#include "key_sorts.c"

enum { SORT_TASK = 1 << 14, OWN_ROOM = 1 << 14 }; /* elements of a task, at least; bytes on the stack */

static const u8 kind_bytes[] = {1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8, 8, 16};

INLINE i32 is_complex(i32 kind) { return kind >= AG_C64; }
INLINE i32 is_wide(i32 kind) { return kind >= AG_U64; }

/* Return the key of an element; zeros are equal. */
static i64 key_at(i32 kind, const void *x, i64 at)
{
    i64 key = 0;
    load_some64(kind, 1, (const char *)x + at * kind_bytes[kind], 1, 1, &key);
    return key;
}

/* The work on the rows of a batch.  row: of one, with room of `room` bytes; nonzero: it had no memory. */
typedef struct row_work {
    const ag_runtime *rt;
    const void *of;
    i32 (*row)(const ag_runtime *rt, const void *of, i64 row, void *room);
    i64 rows, each, room;
    i32 volatile failed;
} row_work;

static void do_rows(void *context, i64 task)
{
    row_work *work = context;
    char own[OWN_ROOM] __attribute__((aligned(64)));
    void *const room = work->room <= OWN_ROOM ? own : work->rt->alloc(work->room);
    const i64 end = least((task + 1) * work->each, work->rows);
    if (!room) work->failed = OUTCOME_MEMORY;
    for (i64 row = task * work->each; row < end && !work->failed; row++) {
        const i32 failed = work->row(work->rt, work->of, row, room);
        if (failed) work->failed = failed;
        if (*work->rt->stop && work->rt->stopped()) break;
    }
    if (room != own) work->rt->release(room);
}

/* Do all rows of n elements, several threads side by side where there are many.  Each row is one thread's. */
static i32 do_batch(row_work *work, i64 n)
{
    if (work->rows <= 0) return 0;
    const i64 tasks = most(1, least(work->rows, work->rows * n / SORT_TASK));
    work->each = work->rt->threads > 1 ? (work->rows + tasks - 1) / tasks : work->rows;
    const i64 count = (work->rows + work->each - 1) / work->each;
    if (count > 1) work->rt->parallel(work->rt, count, do_rows, work);
    else do_rows(work, 0);
    return work->failed;
}

#define FOR_ROWS(runtime, call, function, bytes) \
    (row_work) \
    { \
        .rt = (runtime), .of = (call), .row = (function), .rows = count_of((call)->rank, (call)->batch), \
        .room = (bytes), \
    }
