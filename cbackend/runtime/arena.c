/* ---- Arenas ------------------------------------------------------------------------------------------------------
   The buffers of a call in one block: those that do not live at the same time share bytes, whatever their sizes.

   Lives are known when a function is compiled, sizes when a call has ended.  So a call takes the places that earlier
   calls asked for, and a buffer that does not fit gets a block of the pool.  The call then plans again, and since a
   place is never taken for more than its bytes, old places are as safe as new ones. */
#pragma once
#include "runtime.c"

enum {
    GROWTH = 4,    /* a place that grows again gets a quarter more */
    SHRINKING = 4, /* a plan too large by this factor ... */
    PATIENCE = 16, /* ... for this many successive calls is replaced */
};

static i64 aligned(i64 bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

typedef struct placed {
    i64 begin, end;
    i32 first, last;
} placed;

typedef struct wanted {
    i64 bytes;
    i32 slot;
    double weight; /* the heaviest is placed first */
} wanted;

/* Insertion sort: placing takes quadratic time as well, and qsort adds 4 KB to an exported program. */
static void sort_heavier_first(wanted *order, i32 count)
{
    for (i32 k = 1; k < count; k++) {
        const wanted one = order[k];
        i32 at = k;
        for (; at > 0; at--) {
            const wanted *const before = &order[at - 1];
            if (before->weight > one.weight || (before->weight == one.weight && before->slot < one.slot)) break;
            order[at] = *before;
        }
        order[at] = one;
    }
}

/* Return the smallest gap of `bytes` between slots that live at the same time, in order; or the end of the last. */
static i64 best_gap(const placed *others, i32 count, i32 first, i32 last, i64 bytes)
{
    i64 at = 0, best = -1, least = 0;
    for (i32 k = 0; k < count; k++) {
        const placed *const o = &others[k];
        if (o->last < first || last < o->first) continue;
        if (o->begin - at >= bytes && (best < 0 || o->begin - at < least)) best = at, least = o->begin - at;
        if (o->end > at) at = o->end;
    }
    return best < 0 ? at : best;
}

static i64 place_all(const i32 *lives, i64 *places, const wanted *order, i32 count, placed *all)
{
    i64 end = 0;
    for (i32 k = 0; k < count; k++) {
        const i32 first = lives[2 * order[k].slot], last = lives[2 * order[k].slot + 1];
        const i64 at = best_gap(all, k, first, last, order[k].bytes);
        i32 j = k;
        for (; j > 0 && all[j - 1].begin > at; j--) all[j] = all[j - 1];
        all[j] = (placed){at, at + order[k].bytes, first, last};
        places[order[k].slot] = at;
        if (all[j].end > end) end = all[j].end;
    }
    return end;
}

/* Return the bytes of a block for all slots, by best fit: largest slot first, or most bytes times steps first,
   whichever needs less. rooms: in: the bytes of each slot; out, after them: its place; lives as in ag_plan. -1:
   there is no memory for planning.  Cold: it runs where lengths change, and is part of every bundle. */
__attribute__((cold)) EXPORT i64 ag_places(i32 slots, const i32 *lives, i64 *rooms)
{
    const size_t each = sizeof(wanted) + sizeof(placed) + sizeof(i64);
    wanted *const order = malloc((size_t)(slots + 1) * each);
    placed *const room = (placed *)(order + slots + 1);
    i64 *const places = (i64 *)(room + slots + 1);
    i32 count = 0;
    if (!order) return -1;
    for (i32 k = 0; k < slots; k++) {
        rooms[k] = lives[2 * k] < 0 ? 0 : aligned(rooms[k]);
        rooms[slots + k] = places[k] = 0;
        if (rooms[k] > 0) order[count++] = (wanted){rooms[k], k, (double)rooms[k]};
    }
    sort_heavier_first(order, count);
    const i64 by_bytes = place_all(lives, rooms + slots, order, count, room);
    for (i32 k = 0; k < count; k++) order[k].weight *= lives[2 * order[k].slot + 1] - lives[2 * order[k].slot];
    sort_heavier_first(order, count);
    const i64 by_area = place_all(lives, places, order, count, room);
    if (by_area < by_bytes) __builtin_memcpy(rooms + slots, places, (size_t)slots * sizeof *places);
    free(order);
    return by_area < by_bytes ? by_area : by_bytes;
}

static void open_arena(ag_plan *plan, ag_arena *arena)
{
    const size_t bytes = 2 * (size_t)plan->slots * sizeof(i64);
    pthread_mutex_lock(&pool_lock);
    arena->bytes = plan->bytes;
    __builtin_memcpy(arena->rooms, plan->rooms, bytes);
    pthread_mutex_unlock(&pool_lock);
    arena->block = arena->bytes ? pool_alloc(arena->bytes) : NULL;
    if (arena->block) return;
    arena->bytes = 0;
    __builtin_memset(arena->rooms, 0, bytes);
}

/* Whether the plan should shrink, since calls have long needed far less; the lock is held. */
static i32 too_large(ag_plan *plan, i64 asked, i64 had)
{
    plan->idle = asked < had / SHRINKING ? plan->idle + 1 : 0;
    if (plan->idle < PATIENCE) return 0;
    plan->idle = 0;
    return 1;
}

/* Put places for the sizes of a call into `arena`.  False: keep the plan. */
static i32 want_rooms(ag_plan *plan, const ag_arena *arena)
{
    i64 had = 0, asked = 0;
    i32 misses = 0;
    for (i32 k = 0; k < plan->slots; k++) {
        if (plan->lives[2 * k] < 0) continue;
        had += arena->rooms[k];
        asked += aligned(arena->sizes[k]);
        misses += arena->sizes[k] > arena->rooms[k];
    }
    const i32 shrinks = too_large(plan, asked, had);
    if (!shrinks && !misses) return 0;
    for (i32 k = 0; k < plan->slots; k++)
        if (shrinks || !had) arena->rooms[k] = arena->sizes[k];
        else if (arena->sizes[k] > arena->rooms[k]) arena->rooms[k] = arena->sizes[k] + arena->sizes[k] / GROWTH;
    return 1;
}

/* The lock is held.  Blocks that earlier calls needed besides wait in the pool, and no call will use them again. */
static void replan(ag_plan *plan, const ag_arena *arena, i64 bytes)
{
    const i64 spare = arena->bytes + arena->beside;
    plan->bytes = bytes;
    __builtin_memcpy(plan->rooms, arena->rooms, 2 * (size_t)plan->slots * sizeof(i64));
    shrink(waiting_bytes > spare ? waiting_bytes - spare : 0);
}

static i64 close_arena(ag_plan *plan, ag_arena *arena, i32 learn)
{
    pool_release(arena->block);
    pthread_mutex_lock(&pool_lock);
    const i32 changes = learn && want_rooms(plan, arena);
    pthread_mutex_unlock(&pool_lock);
    const i64 bytes = changes ? ag_places(plan->slots, plan->lives, arena->rooms) : -1;
    pthread_mutex_lock(&pool_lock);
    if (bytes >= 0) replan(plan, arena, bytes);
    const i64 planned = plan->bytes;
    pthread_mutex_unlock(&pool_lock);
    return planned;
}
