/* Functions of the driver that are not in the runtime: lengths, indices, the counts of profiles.  A file gets those that its
   driver uses. */
#pragma once
#include "../abi/call.h"

/* The joint length of two axes, -1 if they do not broadcast. */
static inline i64 ag_join(i64 a, i64 b) { return a == b || b == 1 ? a : a == 1 ? b : -1; }

/* The position that an index means, -1 if it is out of bounds. */
static inline i64 ag_index(i64 index, i64 length)
{
    const i64 position = index < 0 ? index + length : index;
    return position < length ? position < 0 ? -1 : position : -1;
}

/* Check every index of an array where the kernel has no element to read or write, so that it would check none.
   `others`: how often the kernel goes over the array; n, s: its lengths and strides.  0, or INDEX (6). */
static i32 ag_in_bounds(i64 others, i32 rank, const i64 *n, const i64 *indices, const i64 *s, i64 length, i64 axis,
                        i64 *detail)
{
    i64 count = others == 0;
    for (i32 k = 0; k < rank; k++) count *= n[k];
    for (i64 element = 0; element < count; element++) {
        i64 left = element, place = 0;
        for (i32 k = rank - 1; k >= 0; left /= n[k--]) place += left % n[k] * s[k];
        const i64 index = indices[place];
        if (index >= -length && index < length) continue;
        detail[0] = 3, detail[1] = index, detail[2] = length, detail[3] = axis;
        return 6;
    }
    return 0;
}

/* One run of a node, for the profile; when it ended, which is when the next one begins. */
static i64 ag_count(ag_call *call, i32 step, i64 start, i64 bytes, i64 flops, i64 moment)
{
    i64 *const row = call->profile + 4 * step, now = call->rt->clock();
    row[0] += 1;
    row[1] += now - start;
    row[2] += bytes;
    row[3] += flops;
    call->profile[moment] = start, call->profile[moment + 1] = now;
    return now;
}

/* The call is over; `done`: it has results.  While calls are left out, its first `counted` numbers are cleared. */
static void ag_called(ag_call *call, i32 step, i32 done, i64 counted, i64 moment)
{
    i64 *const row = call->profile + 4 * step, now = call->rt->clock();
    row[0] += done;
    row[1] += now - call->begun;
    call->profile[moment] = call->begun, call->profile[moment + 1] = now;
    if (done && *call->warm_up > 0 && __atomic_fetch_sub(call->warm_up, 1, __ATOMIC_RELAXED) > 0)
        for (i64 k = 0; k < counted; k++) call->profile[k] = 0;
}

/* A call begins: it holds nothing yet.  What the calls before it have counted stays. */
static void ag_begin(ag_call *call, i64 at, i32 slots)
{
    i64 *const memory = call->memory = call->profile + at;
    memory[0] = memory[3] = 0;
    for (i32 k = 0; k < slots; k++) memory[5 + k] = 0;
}

/* A slot, of which `held` is the entry, holds so many bytes from now on.  memory: held now, the peak, the peak without
   in-place work, spared. */
static void ag_hold(ag_call *call, i64 *held, i64 bytes)
{
    i64 *const memory = call->memory;
    memory[0] += bytes - *held;
    *held = bytes;
    if (memory[0] > memory[1]) memory[1] = memory[0];
    if (memory[0] + memory[3] > memory[2]) memory[2] = memory[0] + memory[3];
}

/* A result was written over an operand of so many bytes; `lasting`: over an input, so its own memory would stay. */
static void ag_spared(ag_call *call, i64 bytes, i32 lasting)
{
    i64 *const memory = call->memory;
    if (memory[0] + memory[3] + bytes > memory[2]) memory[2] = memory[0] + memory[3] + bytes;
    if (lasting) memory[3] += bytes;
}
