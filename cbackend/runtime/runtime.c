/* The runtime of generated code: a pool of memory blocks and a clock.  core.c lists the other files of the unit.

   Built once for a compiler and processor, through the same cache as everything else. */
#pragma once
#include "prebuilt.h"
#include "../abi/call.h"

#ifdef __linux__
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#ifndef AG_ALONE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#else
#define pthread_mutex_t int /* there is one thread only */
#define PTHREAD_MUTEX_INITIALIZER 0
#define pthread_mutex_lock(lock) ((void)(lock))
#define pthread_mutex_unlock(lock) ((void)(lock))
#endif
#ifdef __linux__
#include <sys/mman.h>
#endif

#if !defined(__clang__)
#pragma GCC optimize("O1") /* nothing here is hot, and every first start waits for it */
#endif

#define EXPORT __attribute__((visibility("default")))

/* ---- Pool --------------------------------------------------------------------------------------------------------
   Blocks come in size classes, four to the doubling, so at most a fifth of a block is slack.  Freed blocks wait on the
   stack of their class, the last freed one on top, since the processor's cache is likely to hold it.  A header of
   64 bytes in front keeps the class. */

enum { ALIGNMENT = 64, CLASSES = 4 * 48, HUGE_BYTES = 4 << 20 };
#define MOST_BYTES ((i64)1 << (sizeof(size_t) < 8 ? 30 : 46)) /* of a block */

typedef struct block {
    struct block *next;
    i64 class;
} block;

static block *waiting[CLASSES];
static i64 waiting_bytes, live_bytes, peak_bytes;
static i64 waiting_limit = (i64)1 << 30;
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;

static i64 bytes_of_class(i64 class) { return (4 + class % 4) << (class / 4 + 4); }

/* Return the smallest class that holds `bytes`: 64, 80, 96, 112, 128, 160, ... */
static i64 class_of(i64 bytes)
{
    if (bytes <= 64) return 0;
    i64 doubling = 63 - __builtin_clzll((unsigned long long)(bytes - 1)); /* 2^doubling <= bytes - 1 */
    i64 quarter = ((bytes - 1) >> (doubling - 2)) - 4;
    return 4 * (doubling - 6) + quarter + 1;
}

/* Free waiting blocks until at most `keep` bytes wait; the lock is held. */
static void shrink(i64 keep)
{
    for (i64 class = CLASSES - 1; class >= 0 && waiting_bytes > keep; class--)
        while (waiting[class] && waiting_bytes > keep) {
            block *first = waiting[class];
            waiting[class] = first->next;
            waiting_bytes -= bytes_of_class(class);
            free(first);
        }
}

static block *take_waiting(i64 class)
{
    block *first = waiting[class];
    if (first) {
        waiting[class] = first->next;
        waiting_bytes -= bytes_of_class(class);
    }
    return first;
}

static block *allocate(i64 class)
{
    size_t bytes = (size_t)bytes_of_class(class) + ALIGNMENT;
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT, bytes)) return NULL;
#ifdef MADV_HUGEPAGE
    if (bytes >= HUGE_BYTES) { /* as NumPy does: fewer faults at the first touch */
        size_t skip = -(size_t)memory & 4095;
        madvise((char *)memory + skip, bytes - skip, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

static void *pool_alloc(i64 bytes)
{
    if (bytes < 0 || bytes > MOST_BYTES) return NULL;
    i64 class = class_of(bytes);
    pthread_mutex_lock(&pool_lock);
    block *found = take_waiting(class);
    if (!found) {
        pthread_mutex_unlock(&pool_lock);
        found = allocate(class);
        pthread_mutex_lock(&pool_lock);
        if (!found) {
            shrink(0);
            found = allocate(class);
        }
    }
    if (found) {
        live_bytes += bytes_of_class(class);
        if (live_bytes > peak_bytes) peak_bytes = live_bytes;
        found->class = class;
    }
    pthread_mutex_unlock(&pool_lock);
    return found ? (char *)found + ALIGNMENT : NULL;
}

static void pool_release(void *memory)
{
    if (!memory) return;
    block *freed = (block *)((char *)memory - ALIGNMENT);
    i64 class = freed->class, bytes = bytes_of_class(class);
    pthread_mutex_lock(&pool_lock);
    live_bytes -= bytes;
    freed->next = waiting[class];
    waiting[class] = freed;
    waiting_bytes += bytes;
    if (waiting_bytes > waiting_limit) shrink(waiting_limit);
    pthread_mutex_unlock(&pool_lock);
}

/* out: bytes in use, their peak, waiting bytes.  keep >= 0: let no more than that wait from now on. */
EXPORT void ag_pool(i64 keep, i64 *out)
{
    pthread_mutex_lock(&pool_lock);
    if (keep >= 0) {
        waiting_limit = keep;
        shrink(keep);
    }
    out[0] = live_bytes;
    out[1] = peak_bytes;
    out[2] = waiting_bytes;
    pthread_mutex_unlock(&pool_lock);
}

/* ---- Clock ------------------------------------------------------------------------------------------------------- */

static i64 clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (i64)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Processor's cycle counter, which is read in a third of the time of a clock; nanoseconds where there is none. */
EXPORT i64 ag_ticks(void)
{
#ifdef __x86_64__
    return (i64)__builtin_ia32_rdtsc();
#else
    return clock_ns();
#endif
}

/* out: nanoseconds and ticks at one moment: of several readings the pair closest together. */
EXPORT void ag_clocks(i64 *out)
{
    i64 least = 0;
    for (int k = 0; k < 8; k++) {
        i64 before = ag_ticks(), now = clock_ns(), after = ag_ticks();
        if (k && after - before >= least) continue;
        least = after - before;
        out[0] = now;
        out[1] = before + least / 2;
    }
}
