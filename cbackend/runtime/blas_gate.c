/* The gate of the BLAS: every call of the BLAS passes it, which delays forks and sets the number of threads.

   A fork while a thread is inside a product that OpenBLAS shares among its threads may never return: before the fork
   OpenBLAS tells its threads to end by a mark in their queues, and a thread that is just finishing its part of the
   product overwrites the mark with "nothing to do" and sleeps on (driver/others/blas_server.c,
   blas_thread_shutdown).  Our handler runs before OpenBLAS's, which was registered earlier: it waits until no thread
   is inside, and admits none until the fork is done. */
#pragma once
#include "runtime.c"

enum { GATE_NAP_NS = 50000 };

static i32 inside_blas, forking;
static int (*blas_threads)(void);
static void (*set_blas_threads)(int); /* NULL: that BLAS has no such function */
static pthread_mutex_t blas_threads_lock = PTHREAD_MUTEX_INITIALIZER;
static i32 limited; /* calls that limit the threads of the BLAS */
static int threads_unlimited;

static void nap(void)
{
    struct timespec moment = {0, GATE_NAP_NS};
    nanosleep(&moment, NULL);
}

static i32 wants_limit(const ag_runtime *rt) { return set_blas_threads && rt->threads < rt->blas_threads; }

static void limit_blas(const ag_runtime *rt)
{
    pthread_mutex_lock(&blas_threads_lock);
    if (limited++ == 0) threads_unlimited = blas_threads();
    if (rt->threads < blas_threads()) set_blas_threads(rt->threads);
    pthread_mutex_unlock(&blas_threads_lock);
}

static void unlimit_blas(void)
{
    pthread_mutex_lock(&blas_threads_lock);
    if (--limited == 0) set_blas_threads(threads_unlimited);
    pthread_mutex_unlock(&blas_threads_lock);
}

static void enter_blas(const ag_runtime *rt)
{
    for (;;) {
        __atomic_add_fetch(&inside_blas, 1, __ATOMIC_SEQ_CST);
        if (!__atomic_load_n(&forking, __ATOMIC_SEQ_CST)) break;
        __atomic_sub_fetch(&inside_blas, 1, __ATOMIC_SEQ_CST);
        nap();
    }
    if (wants_limit(rt)) limit_blas(rt);
}

static void leave_blas(const ag_runtime *rt)
{
    if (wants_limit(rt)) unlimit_blas();
    __atomic_sub_fetch(&inside_blas, 1, __ATOMIC_SEQ_CST);
}

static void close_gate(void)
{
    __atomic_add_fetch(&forking, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&inside_blas, __ATOMIC_SEQ_CST)) nap();
}

static void open_gate(void) { __atomic_sub_fetch(&forking, 1, __ATOMIC_SEQ_CST); }
