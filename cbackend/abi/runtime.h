#pragma once
#include "forward.h"
#ifndef AG_NO_TABLES
#include "../kernels/tables.h"
#endif

enum { AG_STOPPED = -1, AG_NO_MEMORY = -2 }; /* the status of what Ctrl-C ended, and of what had no room */

/* The order in which a kernel wants its loops.  AG_ANY_ORDER: they may change places, for each array moves along all of
   them or none.  AG_SEQUENTIAL: those that are not free may be cut too, if the parts run one after the other. */
enum { AG_AS_GIVEN, AG_ANY_ORDER, AG_SEQUENTIAL };

/* A kernel that may run over parts of its loops.  Sets of loops are bits: loop l is 1 << l. */
typedef struct ag_nest {
    /* Runs the kernel over these extents; strides[k * rank + l] is that of array k along loop l. */
    i32 (*part)(const struct ag_nest *nest, const i64 *lengths, void *const *data, const i64 *strides, i64 *detail);
    i32 rank, outputs, arrays;    /* arrays: the outputs, then the inputs */
    i32 picoseconds;              /* an estimate for one step of the innermost loop */
    i64 free;                     /* the loops along which every output moves: they may be cut anywhere */
    i64 reduced;                  /* others, one of which may be cut if the results of the parts are combined */
    const i32 *items;             /* the bytes of an element of each array */
    const i64 *moves;             /* for each output the loops along which it moves */
    i32 order;                    /* of the loops */
    /* For each output what combines two parts, into[i] = into[i] (op) from[i]; NULL: it is not reduced. */
    void (*const *folds)(i64 n, void *into, const void *from);
    /* Where all loops are reduced and an output is the position of an extremum among all elements: for each output the
       one that holds the extremum, -1 if it is no position, and what takes the position `from` if the extremum there,
       `other`, comes before `best`.  NULL: there are none. */
    const i32 *extrema;
    void (*const *picks)(i64 *into, const i64 *from, const void *best, const void *other);
} ag_nest;

/* Where an array of a stage lies: `element` elements after row `row` of a line buffer; buffer -1: where data says. */
typedef struct ag_rows {
    i64 buffer, row, element;
} ag_rows;

/* One of several kernels in a row, run over parts of the first loop, along which its results move. */
typedef struct ag_stage {
    const ag_nest *nest;
    const i64 *lengths;           /* of its loops */
    void *const *data;            /* the first element of each array */
    const i64 *strides;           /* as for a launch */
    const ag_rows *rows;          /* of each array */
} ag_stage;

/* The buffers of a function in one block.  What a call needs of each shows when it has ended, so the places of a call
   are those that earlier calls asked for. */
typedef struct ag_plan {
    i32 slots;
    const i32 *lives;             /* of each slot the step that takes it and the one that gives it back; -1: no place */
    i64 *rooms;                   /* of each slot its bytes, then of each its place; the runtime's lock guards them */
    i64 bytes;                    /* of the block; 0: nothing is planned yet */
    i32 idle;                     /* calls in a row that needed far less */
} ag_plan;

/* The block of one call. */
typedef struct ag_arena {
    char *block;                  /* NULL: there is none */
    i64 bytes;
    void *const *slots;           /* the buffers of the call */
    i64 count, beside;            /* how many; the bytes that found no place */
    i64 *rooms;                   /* as the plan had them when the call began */
    i64 *sizes;                   /* the bytes that each slot was asked for */
} ag_arena;

/* Functions that a generated library may call; one table for each setting of `threads`. */
typedef struct ag_runtime {
    void *(*alloc)(i64 bytes);    /* 64-byte aligned, contents undefined; NULL when memory is exhausted */
    void (*release)(void *block); /* hands a block back to the pool; NULL is allowed */
    void (*open)(ag_plan *plan, ag_arena *arena); /* take the block of a call */
    /* Give it back; `learn`: plan again if a buffer did not fit, or if far less is needed.  The bytes of the plan. */
    i64 (*close)(ag_plan *plan, ag_arena *arena, i32 learn);
    i64 (*clock)(void);           /* monotonic, for profiles: nanoseconds, or ticks of the processor */
    volatile i32 *stop;           /* nonzero: Ctrl-C was pressed during a call of the main thread */
    i32 threads;                  /* how many a call may use */
    i32 blas_threads;             /* how many the BLAS uses by default */
    /* Runs task(context, 0) ... task(context, tasks - 1) on this thread and up to threads - 1 others, and returns when
       all are done; a task that calls it again runs those alone.  Nonzero: Ctrl-C was pressed, some were left out. */
    i32 (*parallel)(const struct ag_runtime *rt, i64 tasks, void (*task)(void *context, i64 index), void *context);
    /* Runs a nest, in parts if it is large.  0, AG_STOPPED, or what the kernel returned for the first part
       that failed, with its detail. */
    i32 (*launch)(const struct ag_runtime *rt, const ag_nest *nest, const i64 *lengths, void *const *data,
                  const i64 *strides, i64 *detail);
    /* Runs stages of which later ones read what earlier ones compute, a few rows at a time: line buffers hold rows that
       are still needed.  Returns what launch does, or AG_NO_MEMORY.  detail[4]: the stage that failed. */
    i32 (*pipeline)(const struct ag_runtime *rt, i32 stages, const ag_stage *stage, i32 buffers, i64 *detail);
    void (*listen)(void);         /* what follows takes long: listen to Ctrl-C from here on */
    i32 (*stopped)(void);         /* whether Ctrl-C was pressed: the call returns soon, its results do not count */
    i32 (*commit)(void);          /* the same, and from here on Ctrl-C waits: what is the caller's is overwritten */
    void (*end)(void);            /* the call is over */
    void (*enter_blas)(const struct ag_runtime *rt); /* around every call of the BLAS */
    void (*leave_blas)(const struct ag_runtime *rt);
    /* The functions ag_fail, ag_as_declared ... of drivers: see driver.h and looped.h. */
    i32 (*fail)(struct ag_call *call, i32 outcome, i32 step, i32 operand, i32 count, const i64 *detail);
    i32 (*as_declared)(const struct ag_call *call, i32 at, i32 rank);
    void *(*take)(const struct ag_runtime *rt, i64 item, i32 rank, const i64 *n);
    void *(*output)(struct ag_call *call, i32 k, i32 at, i32 output_rank, i64 item, i32 rank, const i64 *n);
    i32 (*finish)(struct ag_call *call, void *data, i32 k, i32 at, i32 rank, const i64 *n);
    void (*finish_strides)(struct ag_call *call, i32 at, i32 rank, const i64 *strides);
    void (*clear_upper_halves)(void);
    void (*leave)(const struct ag_runtime *rt, const struct ag_call *call, i32 outcome, i32 buffers, void *const *b,
                  i32 outputs, void *const *o, i32 first);
    void (*order)(const struct ag_call *call, i32 rank, const i64 *n, i32 operands, const i64 *strides, i64 *ordered);
    i32 (*overlap)(i32 count, const void *const *start, const i64 *bytes, i32 writes, const i32 *written);
    void (*copy)(i64 item, i32 rank, const i64 *n, void *y, const i64 *ys, const void *x, const i64 *xs);
    i32 (*copy_in_parts)(const struct ag_runtime *rt, i64 item, i32 rank, const i64 *n, void *y, const i64 *ys, void *x,
                         const i64 *xs);
    void *(*pack)(const struct ag_runtime *rt, void **block, i64 item, i32 rank, const i64 *n, void *x, const i64 *s);
    void *(*place)(const struct ag_runtime *rt, ag_arena *arena, void *const *slot, i64 item, i32 rank, const i64 *n);
    void (*drop)(const struct ag_runtime *rt, const ag_arena *arena, void **slot);
    i32 (*iota)(const struct ag_runtime *rt, i64 n, i64 *y);
    i32 (*eye)(const struct ag_runtime *rt, i64 item, i64 n, i64 m, i64 d, char *y, const void *one);
    i64 (*slice_first)(i64 length, i64 given, i64 start, i64 stop, i64 step);
    i64 (*slice_count)(i64 length, i64 given, i64 start, i64 stop, i64 step);
    void (*range_count)(i64 start, i64 stop, i64 step, i32 is_unsigned, i64 *count);
    void (*span_count)(const double *span, i64 *count);
    i32 (*looped)(struct ag_call *call, const struct ag_loop *loop, i64 n, i64 *count);
    i64 (*step_count)(struct ag_call *call, i32 step, i64 start, i64 bytes, i64 flops, i32 even);
    const struct ag_copies *copies; /* of tiles and strips: see copies.h */
#ifndef AG_NO_TABLES                /* programs that call none of these kernels see a table that ends here */
    ag_blas f32, f64, c64, c128;
    ag_byte_table i8;
    ag_draw_table draws;
    ag_packed_table packed_f32, packed_f64;
    ag_sort_table sorts;
    ag_fourier_table fourier;
    ag_narrow_table narrow;
    ag_solvers solve_f32, solve_f64, solve_c64, solve_c128;
#endif
} ag_runtime;
