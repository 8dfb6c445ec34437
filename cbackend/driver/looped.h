/* The functions that run loops; they are in the table of the runtime. */
#pragma once
#include "../abi/driver.h"
#include "loops.h"
#include "outcomes.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O1", "no-tree-loop-vectorize") /* a step has few outputs: vectors would not pay */
#endif

static i64 ag_bytes_of(const ag_loop *l, i32 k, const i64 *n)
{
    i64 bytes = l->items[k];
    for (i32 axis = 0; axis < l->ranks[k]; axis++)
        if (__builtin_mul_overflow(bytes, n[axis], &bytes)) return -1;
    return bytes;
}

/* A loop holds so many bytes more, or less, if anyone counts them: see ag_hold. */
static void ag_hold_more(ag_call *call, i64 bytes)
{
    i64 *const memory = call->memory;
    if (!memory) return;
    memory[0] += bytes;
    if (memory[0] > memory[1]) memory[1] = memory[0];
    if (memory[0] + memory[3] > memory[2]) memory[2] = memory[0] + memory[3];
}

/* Grow the memory of output k, of which `used` steps are there, by a step at least: whether there is memory. */
static i32 ag_grow(ag_call *call, const ag_loop *l, i32 k, i64 used, i64 n)
{
    const ag_runtime *const rt = call->rt;
    const i64 wanted = used < 8 ? 16 : 2 * used, capacity = wanted < n ? wanted : n;
    i64 size;
    if (__builtin_mul_overflow(capacity, l->bytes[k], &size)) return 0;
    char *const block = rt->alloc(size > 0 ? size : 1);
    if (!block) return 0;
    ag_hold_more(call, size);
    if (l->results[k]) __builtin_memcpy(block, l->results[k], (u64)(used * l->bytes[k]));
    if (k < l->states && used > 0) l->data[l->sequences + k] = block + (used - 1) * l->bytes[k];
    rt->release(l->results[k]);
    ag_hold_more(call, -l->capacity[k] * l->bytes[k]);
    l->results[k] = block, l->capacity[k] = capacity;
    return 1;
}

/* Where each output of step t goes: 0, or MEMORY. */
static i32 ag_aim(ag_call *call, const ag_loop *l, i64 t, i64 n)
{
    for (i32 k = 0; k < l->outputs; k++) {
        void *target = 0;
        if (l->kinds[k] == AG_LAST) target = l->places[2 * k + (t & 1)];
        else if (l->kinds[k] == AG_HELD) target = l->results[k];
        else if (l->bytes[k] >= 0) {
            if (l->kinds[k] == AG_GROWN && t >= l->capacity[k] && !ag_grow(call, l, k, t, n)) return OUTCOME_MEMORY;
            target = (char *)l->results[k] + t * l->bytes[k];
        }
        l->targets[k] = l->data[l->inputs + k] = target;
    }
    return 0;
}

/* Bring results of step t to where they belong that lie elsewhere or have other lengths than expected: 0, CHANGED or
   MEMORY. */
static i32 ag_collect(ag_call *call, const ag_loop *l, i64 t, i64 n)
{
    const ag_runtime *const rt = call->rt;
    i64 *reported = l->lengths + l->reported, *kept = l->kept;
    i32 outcome = 0;
    for (i32 k = 0; k < l->outputs; reported += l->ranks[k], kept += l->ranks[k], k++) {
        char *const made = l->data[l->inputs + k];
        i32 same = 1;
        for (i32 axis = 0; axis < l->ranks[k]; axis++) {
            if (l->bytes[k] < 0) kept[axis] = reported[axis];
            same &= kept[axis] == reported[axis];
        }
        if (!same && !outcome) {
            const i32 axes = l->ranks[k] < 30 ? l->ranks[k] : 30; /* of those that a message shows */
            i64 detail[64] = {3 + 2 * axes, k, t, axes};
            for (i32 axis = 0; axis < axes; axis++) detail[4 + axis] = kept[axis], detail[4 + axes + axis] = reported[axis];
            outcome = ag_fail(call, OUTCOME_CHANGED, l->site, k, 64, detail);
        }
        if (!outcome && l->bytes[k] < 0) { /* the first step tells how large it is */
            l->bytes[k] = ag_bytes_of(l, k, reported);
            if (n == 1) {
                l->results[k] = l->targets[k] = made;
                continue;
            }
            if (!ag_grow(call, l, k, 0, n)) outcome = ag_fail(call, OUTCOME_MEMORY, l->site, 0, 0, 0);
            else l->targets[k] = l->results[k];
        }
        if (made == l->targets[k]) continue;
        if (!outcome) __builtin_memcpy(l->targets[k], made, (u64)l->bytes[k]);
        rt->release(made);
    }
    return outcome;
}

/* The outputs of step t: 0, or what went wrong. */
static i32 ag_step(ag_call *call, ag_call *inner, const ag_loop *l, i64 t, i64 n)
{
    if (ag_aim(call, l, t, n)) return ag_fail(call, OUTCOME_MEMORY, l->site, 0, 0, 0);
    i32 outcome = l->body.run(inner);
    if (outcome > OUTCOME_OTHER_OUTPUTS)
        outcome = ag_fail(call, outcome, inner->step, inner->operand, 64, inner->detail);
    else if (outcome) outcome = ag_collect(call, l, t, n);
    if (l->body.calls_back) call->host(inner, -1, 0, 0, 0); /* release Python's results of this step */
    return outcome;
}

/* One run of a node of a body, for the profile; when it ended, which is when the next one begins.  A run that took far
   longer than the others was interrupted, and would count for many steps: what is beyond is left out (`even`: runs are
   alike). */
static i64 ag_step_count(ag_call *call, i32 step, i64 start, i64 bytes, i64 flops, i32 even)
{
    i64 *const row = call->profile + 4 * step, now = call->rt->clock(), took = now - start;
    const i64 most = even && row[0] >= 32 ? 32 * row[1] / row[0] + 20000 : took;
    if (took > most) call->begun += took - most;
    row[0] += 1;
    row[1] += took < most ? took : most;
    row[2] += bytes;
    row[3] += flops;
    return now;
}

/* Begin a step of a profiled loop with clocks. */
static i64 ag_timed(ag_call *call, ag_call *inner, const ag_loop *l)
{
    inner->profile = call->profile + l->body.counters, inner->begun = 0;
    return call->rt->clock();
}

/* End it.  Clocks take as long as small kernels, so after 32 steps one in 64 is timed, at irregular distances, unless
   steps are long. */
static void ag_timed_end(ag_call *call, ag_call *inner, const ag_loop *l, i64 start)
{
    i64 *const row = inner->profile + 4 * l->body.row;
    row[0] += 1;
    row[1] += call->rt->clock() - start - inner->begun;
    if (row[0] >= 32 && row[1] < row[0] * l->body.row * 2000)
        row[3] = (i64)(((u64)row[0] * 0x9E3779B97F4A7C15u) >> 57);
    inner->profile = 0;
}

/* Run a loop of at most n steps; count: their number.  The outcome. */
static i32 ag_looped(ag_call *call, const ag_loop *l, i64 n, i64 *count)
{
    const ag_runtime *const rt = call->rt;
    ag_call inner = {0};
    inner.rt = rt, inner.data = l->data, inner.lengths = l->lengths, inner.declared = l->lengths;
    inner.host = call->host, inner.memory = call->memory;
    inner.constants = call->constants + l->body.constants;
    inner.constant_lengths = call->constant_lengths + l->body.lengths;
    void **const state = l->data + l->sequences;
    i64 *const row = call->profile ? call->profile + l->body.counters + 4 * l->body.row : 0;
    u8 ends = 0;
    i64 t = 0, held = 0;
    i32 outcome = 0;
    l->data[l->inputs + l->outputs] = &ends;
    for (i32 k = 0, at = 0; k < l->outputs; at += l->ranks[k], k++)
        l->bytes[k] = l->known[k] ? ag_bytes_of(l, k, l->kept + at) : -1;
    for (i32 k = 0; k < 2 * l->states && n > 0; k++) {
        if (l->kinds[k / 2] != AG_LAST) continue;
        l->places[k] = rt->alloc(l->bytes[k / 2] > 0 ? l->bytes[k / 2] : 1);
        if (!l->places[k]) outcome = ag_fail(call, OUTCOME_MEMORY, l->site, 0, 0, 0);
        held += l->bytes[k / 2];
    }
    ag_hold_more(call, held);
    for (i32 k = 0; k < l->states && !outcome; k++) {
        if (l->kinds[k] != AG_HELD) continue;
        if (state[k] != l->results[k]) __builtin_memcpy(l->results[k], state[k], (u64)l->bytes[k]);
        state[k] = l->results[k];
    }
    if (n > 4096) rt->listen();
    for (i64 end = n, first = 0, start = 0, timed = 0;;) { /* steps without clocks, then one with them, and again */
        if (row) {
            end = row[3] < n - t ? t + row[3] : n, first = t, timed = row[3] == 0 && t < n;
            if (timed) end = t + 1, start = ag_timed(call, &inner, l);
        }
        while (t < end && !outcome && !ends) {
            outcome = ag_step(call, &inner, l, t, n);
            for (i32 k = 0; k < l->states; k++) state[k] = l->targets[k];
            for (i32 k = 0; k < l->sequences; k++) l->data[k] = (char *)l->data[k] + l->rows[k];
            t++;
            if ((*rt->stop || t % 64 == 0) && !outcome && rt->stopped())
                outcome = ag_fail(call, OUTCOME_INTERRUPTED, l->site, 0, 0, 0);
        }
        if (!row) break;
        if (timed) ag_timed_end(call, &inner, l, start);
        else row[3] -= t - first;
        row[2] += t - first;
        if (t >= n || outcome || ends) break;
    }
    for (i32 k = 0; k < l->outputs && !outcome; k++) {
        if (l->kinds[k] == AG_LAST && state[k] != l->results[k])
            __builtin_memcpy(l->results[k], state[k], (u64)l->bytes[k]);
        if (l->kinds[k] != AG_GROWN || l->results[k]) continue;
        l->results[k] = rt->alloc(1);
        if (!l->results[k]) outcome = ag_fail(call, OUTCOME_MEMORY, l->site, 0, 0, 0);
    }
    for (i32 k = 0; k < 2 * l->states; k++) rt->release(l->places[k]);
    for (i32 k = 0; k < l->outputs; k++) held += l->capacity[k] * l->bytes[k]; /* whose results the caller counts */
    ag_hold_more(call, -held);
    *count = t;
    return outcome;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
