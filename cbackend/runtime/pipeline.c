/* Pipelines of kernels: later stages read rows of earlier ones, block by block, from line buffers.

       for blocks of rows of the last stage:
           for each stage: compute the rows that this block needs and no earlier one computed, in a line buffer

   Each task takes a chunk of the last stage's rows, with its own line buffers, and recomputes the border rows of the
   adjacent chunks; chunks are long, so these are few.  A row stays in the cache between the stages.
   A line buffer is circular: row r lies in place r modulo its capacity.  If all intermediate results are small, rows
   are very long, or lengths broadcast so that rows are not adjacent, each stage runs whole. */
#pragma once
#include "launch.c"

enum {
    MOST_STAGES = 16,
    MOST_LINE_BUFFERS = 32,
    BLOCK_BYTES = 1 << 15, /* of the widest line buffer, per block of rows */
    WHOLE_BYTES = 1 << 19, /* intermediate results that stay in the cache as they are */
    ROW_BYTES = 1 << 18,   /* longer rows leave the cache before the next stage, and are work for several threads */
    HALO_SHARE = 16        /* least ratio of the rows of a task to its recomputed rows */
};

typedef struct row_blocks {
    const ag_stage *stage;
    i32 stages, buffers;
    i64 row_bytes[MOST_LINE_BUFFERS], capacity[MOST_LINE_BUFFERS]; /* of each line buffer: bytes of a row, rows */
    i32 maker[MOST_LINE_BUFFERS];                                  /* and the stage that computes it */
    i64 low[MOST_STAGES], high[MOST_STAGES]; /* for rows a to b of the last stage one needs rows a + low to b + high */
    i64 rows, block, task;                   /* of the last stage: all, those of a block, those of a task */
    i64 failed, detail[DETAILS + 1];         /* the first task that failed, and why */
    i32 status;
} row_blocks;

static i32 has_whole_rows(const row_blocks *b, const ag_stage *s)
{
    for (i32 k = 0; k < s->nest->arrays; k++) {
        i64 r = s->rows[k].buffer;
        if (r >= 0 && s->strides[k * s->nest->rank] * s->nest->items[k] != b->row_bytes[r]) return 0;
    }
    return 1;
}

/* Find the stage of each line buffer, the bytes of its rows, and how far stages run ahead; 0 if they must run whole. */
static i32 survey(row_blocks *b)
{
    i64 bytes = 0, widest = 0;
    for (i32 j = 0; j < b->stages; j++) {
        const ag_stage *s = &b->stage[j];
        b->low[j] = b->high[j] = j == b->stages - 1 ? 0 : -1;
        for (i32 k = 0; k < s->nest->outputs; k++) {
            i64 r = s->rows[k].buffer;
            if (r < 0) continue;
            b->maker[r] = j;
            b->row_bytes[r] = s->strides[k * s->nest->rank] * s->nest->items[k];
            bytes += b->row_bytes[r] * s->lengths[0];
            if (b->row_bytes[r] > widest) widest = b->row_bytes[r];
        }
    }
    for (i32 j = b->stages - 1; j >= 0; j--) {
        const ag_stage *s = &b->stage[j];
        if (!has_whole_rows(b, s)) return 0;
        for (i32 k = s->nest->outputs; k < s->nest->arrays; k++) {
            if (s->rows[k].buffer < 0) continue;
            i32 from = b->maker[s->rows[k].buffer];
            i64 low = b->low[j] + s->rows[k].row, high = b->high[j] + s->rows[k].row;
            if (b->low[from] < 0 || low < b->low[from]) b->low[from] = low;
            if (high > b->high[from]) b->high[from] = high;
        }
    }
    return bytes > WHOLE_BYTES && widest <= ROW_BYTES;
}

static void plan_rows(row_blocks *b, double work)
{
    i64 widest = 1, halo = 0;
    for (i32 r = 0; r < b->buffers; r++)
        if (b->row_bytes[r] > widest) widest = b->row_bytes[r];
    for (i32 j = 0; j < b->stages; j++)
        if (b->high[j] - b->low[j] > halo) halo = b->high[j] - b->low[j];
    b->block = BLOCK_BYTES / widest > 1 ? BLOCK_BYTES / widest : 1;
    b->task = ceiling(b->rows, (i64)(work / TASK_NS) + 1);
    if (b->task < HALO_SHARE * halo) b->task = HALO_SHARE * halo;
    if (b->task < b->block) b->task = b->block;
    for (i32 r = 0; r < b->buffers; r++) b->capacity[r] = b->block + b->high[b->maker[r]] - b->low[b->maker[r]];
}

/* Run rows `from` to `to` of a stage, in chunks within which no line buffer wraps around. */
static i32 run_rows(const row_blocks *b, const ag_stage *s, i64 from, i64 to, char *const *buffer, i64 *detail)
{
    const ag_nest *nest = s->nest;
    i64 lengths[MOST_LOOPS];
    void *data[MOST_ARRAYS];
    for (i32 l = 1; l < nest->rank; l++) lengths[l] = s->lengths[l];
    while (from < to) {
        i64 count = to - from;
        for (i32 k = 0; k < nest->arrays; k++) {
            const ag_rows *rows = &s->rows[k];
            if (rows->buffer < 0) {
                data[k] = (char *)s->data[k] + from * s->strides[k * nest->rank] * nest->items[k];
                continue;
            }
            i64 at = (from + rows->row) % b->capacity[rows->buffer], left = b->capacity[rows->buffer] - at;
            if (left < count) count = left;
            data[k] = buffer[rows->buffer] + at * b->row_bytes[rows->buffer] + rows->element * nest->items[k];
        }
        lengths[0] = count;
        i32 status = nest->part(nest, lengths, data, s->strides, detail);
        if (status) return status;
        from += count;
    }
    return 0;
}

static void note_rows_failure(row_blocks *b, i64 index, i32 status, i64 stage, const i64 *detail)
{
    pthread_mutex_lock(&team_lock);
    if (!b->status || index < b->failed) {
        b->failed = index, b->status = status;
        for (i32 k = 0; k < DETAILS; k++) b->detail[k] = detail[k];
        b->detail[DETAILS] = stage;
    }
    pthread_mutex_unlock(&team_lock);
}

/* Compute a chunk of the last stage's rows, block by block. */
static void run_task_rows(void *context, i64 index)
{
    row_blocks *b = context;
    i64 first = index * b->task, end = first + b->task < b->rows ? first + b->task : b->rows, bytes = 0;
    i64 done[MOST_STAGES], detail[DETAILS] = {0};
    char *buffer[MOST_LINE_BUFFERS];
    for (i32 r = 0; r < b->buffers; r++) bytes += (b->capacity[r] * b->row_bytes[r] + 63) & -64;
    char *memory = pool_alloc(bytes);
    if (!memory) {
        detail[0] = 1, detail[1] = bytes;
        note_rows_failure(b, index, AG_NO_MEMORY, 0, detail);
        return;
    }
    buffer[0] = memory;
    for (i32 r = 1; r < b->buffers; r++)
        buffer[r] = buffer[r - 1] + ((b->capacity[r - 1] * b->row_bytes[r - 1] + 63) & -64);
    for (i32 j = 0; j < b->stages; j++) done[j] = first + b->low[j];
    i32 status = 0;
    for (i64 at = first; at < end && !status; at += b->block) {
        i64 last = at + b->block < end ? at + b->block : end;
        for (i32 j = 0; j < b->stages && !status; j++) {
            status = run_rows(b, &b->stage[j], done[j], last + b->high[j], buffer, detail);
            done[j] = last + b->high[j];
            if (status) note_rows_failure(b, index, status, j, detail);
        }
    }
    pool_release(memory);
}

/* Run each stage after the other, over whole arrays. */
static i32 run_whole(const ag_runtime *rt, const row_blocks *b, i64 *detail)
{
    char *whole[MOST_LINE_BUFFERS] = {NULL};
    i32 status = 0;
    for (i32 r = 0; r < b->buffers && !status; r++) {
        i64 rows = b->stage[b->maker[r]].lengths[0];
        whole[r] = pool_alloc(rows * b->row_bytes[r]);
        if (!whole[r]) status = AG_NO_MEMORY, detail[0] = 1, detail[1] = rows * b->row_bytes[r];
    }
    for (i32 j = 0; j < b->stages && !status; j++) {
        const ag_stage *s = &b->stage[j];
        void *data[MOST_ARRAYS];
        for (i32 k = 0; k < s->nest->arrays; k++) {
            const ag_rows *rows = &s->rows[k];
            data[k] = s->data[k];
            if (rows->buffer < 0) continue;
            i64 row = rows->row * b->row_bytes[rows->buffer];
            data[k] = whole[rows->buffer] + row + rows->element * s->nest->items[k];
        }
        detail[DETAILS] = j;
        status = launch(rt, s->nest, s->lengths, data, s->strides, detail);
    }
    for (i32 r = 0; r < b->buffers; r++) pool_release(whole[r]);
    return status;
}

static i32 pipeline(const ag_runtime *rt, i32 stages, const ag_stage *stage, i32 buffers, i64 *detail)
{
    row_blocks b = {.stage = stage, .stages = stages, .buffers = buffers, .rows = stage[stages - 1].lengths[0]};
    double work = 0;
    for (i32 j = 0; j < stages; j++) {
        double each = 1e-3 * stage[j].nest->picoseconds;
        for (i32 l = 0; l < stage[j].nest->rank; l++) each *= (double)stage[j].lengths[l];
        work += each;
    }
    if (work > LONG_NS) listen_to_interrupt();
    if (poll_interrupt()) return AG_STOPPED;
    if (!survey(&b)) return run_whole(rt, &b, detail);
    plan_rows(&b, work);
    i32 stopped = parallel(rt, ceiling(b.rows, b.task), run_task_rows, &b);
    for (i32 k = 0; b.status && k <= DETAILS; k++) detail[k] = b.detail[k];
    return stopped ? AG_STOPPED : b.status;
}
