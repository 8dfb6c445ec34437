/* Table of the functions that generated code calls. */
#pragma once
#include "arena.c"
#include "pipeline.c"
#ifndef AG_ALONE
#include "blas_gate.c"
#endif
#include "../driver/looped.h"
#include "copies.c"

static ag_runtime table = {
    /* without products and solvers, which are installed later */
    .alloc = pool_alloc,
    .release = pool_release,
    .open = open_arena,
    .close = close_arena,
    .clock = clock_ns,
    .stop = &stop,
    .threads = 1,
    .blas_threads = 1,
    .parallel = parallel,
    .launch = launch,
    .pipeline = pipeline,
    .listen = listen_to_interrupt,
    .stopped = poll_interrupt,
    .commit = commit_call,
    .end = end_call,
    .enter_blas = enter_blas,
    .leave_blas = leave_blas,
    .fail = ag_fail,
    .as_declared = ag_as_declared,
    .take = ag_take,
    .output = ag_output,
    .finish = ag_finish,
    .finish_strides = ag_finish_strides,
    .clear_upper_halves = ag_clear_upper_halves,
    .leave = ag_leave,
    .order = ag_order,
    .overlap = ag_overlap,
    .copy = ag_copy,
    .copy_in_parts = ag_copy_in_parts,
    .pack = ag_pack,
    .place = ag_place,
    .drop = ag_drop,
    .iota = ag_iota,
    .eye = ag_eye,
    .slice_first = ag_slice_first,
    .slice_count = ag_slice_count,
    .range_count = ag_range_count,
    .span_count = ag_span_count,
    .looped = ag_looped,
    .step_count = ag_step_count,
    .copies = &copies,
};

/* main: the identity of Python's main thread.  threads: the default number for a call. */
EXPORT ag_runtime *ag_runtime_table(__UINT64_TYPE__ main, i32 threads)
{
    set_main_thread(main);
    table.threads = threads;
    return &table;
}
