/* Threads of the process outside the runtime: forks, and the threads of the BLAS. */
#pragma once
#include "blas_gate.c"
#include "table.c"

static void before_fork(void)
{
    close_gate();
    pthread_mutex_lock(&pool_lock); /* a lock that another thread holds would never be freed in the child */
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool_lock);
    open_gate();
}

static void in_child(void)
{
    after_fork();
    team_in_child();
    interrupt_in_child();
}

__attribute__((constructor)) static void at_load(void) { pthread_atfork(before_fork, after_fork, in_child); }

/* get, set: the functions of the BLAS for its number of threads, both NULL if it has none; found: its present value. */
EXPORT void ag_blas_threads(void *get, void *set, i32 found)
{
    blas_threads = (int (*)(void))get;
    set_blas_threads = (void (*)(int))set;
    table.blas_threads = found;
}
