/* One thread and no signals (AG_ALONE, as on WebAssembly): tasks run one after the other, and nothing interrupts them.
   The names are those of interrupt.c, team.c and blas_gate.c; threads.h chooses. */
#pragma once
#include "runtime.c"

enum { AWAY, LISTENING };

static volatile i32 stop;
static const i32 attention = AWAY;
static pthread_mutex_t team_lock;

static void set_main_thread(__UINT64_TYPE__ identity) { (void)identity; }
static i32 on_main_thread(void) { return 1; }
static i32 is_raised(void) { return 0; }
static void listen_to_interrupt(void) {}
static i32 poll_interrupt(void) { return 0; }
static i32 commit_call(void) { return 0; }
static void end_call(void) {}
static void enter_blas(const ag_runtime *rt) { (void)rt; }
static void leave_blas(const ag_runtime *rt) { (void)rt; }

static i32 parallel(const ag_runtime *rt, i64 tasks, void (*task)(void *context, i64 index), void *context)
{
    (void)rt;
    for (i64 k = 0; k < tasks; k++) task(context, k);
    return 0;
}
