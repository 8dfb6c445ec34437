/* Table of the functions that generated code calls. */
#pragma once
#include "arena.c"
#include "pipeline.c"
#ifndef AG_ALONE
#include "blas_gate.c"
#endif
#include "../abi/driver.h"

static ag_runtime table = {
    pool_alloc, pool_release, open_arena, close_arena, clock_ns, &stop, 1, 1, parallel, launch, pipeline,
    listen_to_interrupt, poll_interrupt, commit_call, end_call, enter_blas, leave_blas,
    {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0},
    ag_fail, ag_as_declared, ag_take, ag_output, ag_finish, ag_finish_strides, ag_leave, ag_order, ag_overlap,
    ag_copy, ag_copy_in_parts, ag_pack, ag_place, ag_drop, ag_iota, ag_eye, ag_slice_first, ag_slice_count,
    ag_range_count, ag_span_count
};

/* main: the identity of Python's main thread.  threads: the default number for a call. */
EXPORT ag_runtime *ag_runtime_table(__UINT64_TYPE__ main, i32 threads)
{
    set_main_thread(main);
    table.threads = threads;
    return &table;
}
