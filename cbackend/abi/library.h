#pragma once
#include "native.h"
#include <stdint.h>

ag_runtime *ag_runtime_table(uint64_t main_thread, i32 threads);
void ag_pool(i64 keep, i64 *out);
i64 ag_places(i32 slots, const i32 *lives, i64 *rooms);
void ag_team(i32 *out);
void ag_judge_team(i64 (*wall)(void), i64 (*processor)(void));
i64 *ag_log_team(i32 *room);
void ag_blas_threads(void *get, void *set, i32 found);
void ag_blas_install(ag_blas *entries, void *const *found, i32 takes_wide, i64 quiet);
void ag_lapack_install(ag_solvers *entries, void *const *found, i32 takes_wide);
void *ag_native_method(const ag_python *python);
void *ag_bound_method(void);
void *ag_watch_method(void);
void *ag_jit_method(void);
void *ag_plain_entry(i32 kind);
i64 ag_ticks(void);
void ag_clocks(i64 *out);
