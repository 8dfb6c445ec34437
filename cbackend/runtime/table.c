/* What generated code may call, in one table; and what happens when the process forks. */

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

static ag_runtime table = {
    pool_alloc, pool_release, open_arena, close_arena, clock_ns, &stop, 1, 1, parallel, launch, pipeline,
    listen_to_interrupt, poll_interrupt, commit_call, end_call, enter_blas, leave_blas, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0},
    ag_fail, ag_as_declared, ag_take, ag_output, ag_finish, ag_finish_strides, ag_leave, ag_order, ag_overlap,
    ag_copy, ag_copy_in_parts, ag_pack, ag_place, ag_drop, ag_iota, ag_eye, ag_slice_first, ag_slice_count,
    ag_range_count, ag_span_count
};

/* main: the identity of Python's main thread.  threads: how many a call may use if it says nothing else. */
EXPORT ag_runtime *ag_runtime_table(__UINT64_TYPE__ main, i32 threads)
{
    main_thread = (pthread_t)main;
    table.threads = threads;
    return &table;
}

/* get, set: the functions of the BLAS for its number of threads, both NULL if it has none; found: that number. */
EXPORT void ag_blas_threads(void *get, void *set, i32 found)
{
    blas_threads = (int (*)(void))get;
    set_blas_threads = (void (*)(int))set;
    table.blas_threads = found;
}
