"""The binary interface between Python and every library that we generate: structs and entry, as C text.

The same text stands at the head of each generated C file and, parsed once by cffi, in `_abi.py`: an out-of-line module
in ABI mode that needs no parser at run time (importing it takes 0.7 ms; `FFI().cdef` of the same text 18-40 ms).  Run

    python -m arignote.cbackend.abi.generate

after a change here; `tests/cbackend/test_runtime.py` holds the two together.  Each generated library exports `ag_entry` alone.
"""

from __future__ import annotations

import re
from pathlib import Path

from .byte_declarations import BYTE_DECLARATIONS

VERSION = 1
"""Part of every cache key: raise it when a layout below changes its meaning without changing its text."""

C_TYPES = "typedef __INT32_TYPE__ i32;\ntypedef __INT64_TYPE__ i64;\n"
"""Prelude of the declarations; C11 allows a typedef to be repeated, so a preamble may contain it again."""

_KERNELS = Path(__file__).parent.parent / "kernels"


def _kernel_tables() -> str:
    """Return the structs of kernels and the tables of the runtime, which are written from the specs."""
    text = (_KERNELS / "tables.h").read_text()
    for line in re.findall(r'#include "[^"]*"\n', text):
        text = text.replace(line, (_KERNELS / line.split('"')[1]).read_text())
    return text


_FIRST_DECLARATIONS = """\
struct ag_runtime;

struct ag_call;

struct ag_nest;

/* An epilogue: a nest that reads the results of a call, with what a launch takes.  nest: NULL if there is none. */
typedef struct ag_after {
    const struct ag_nest *nest;
    const i64 *lengths;
    void *const *data;
    const i64 *strides;
} ag_after;

enum { AG_MOST_AXES = 66, AG_MOST_ARRAYS = 64 }; /* of a product's result; of the nest that follows a product */

/* c = alpha * a @ b + beta * c for every matrix of a batch.  Strides count elements, first those of the batch's axes,
   and may be anything.  The rows of c are c_step apart, its matrices m * c_step.  Scalars are passed by address, in the
   dtype.  With *beta == 0 the result is not read.  Any size may be 0. */
typedef struct ag_product {
    i32 rank;                     /* axes of the batch */
    const i64 *batch;             /* their lengths */
    i64 m, n, k;
    const void *alpha, *a;
    const i64 *a_strides;
    const void *b;
    const i64 *b_strides;
    const void *beta;
    void *c;
    i64 c_step;
    /* Epilogue of each finished block of c, or NULL.  Its loops are the axes of c, and may
       be further ones, 1 long, in front of the last; data and strides are those of a launch.  grouped: the last axis of
       the batch is none of c, which has the rows of its matrices one after the other. */
    const struct ag_nest *after;
    void *const *data;
    const i64 *strides;
    i32 grouped;
    /* NULL, or where the numbers of b lie, in elements: that of row p and column j at b[b_rows[p] + b_columns[j]].  The
       last two of b_strides then say nothing. */
    const i64 *b_rows, *b_columns;
    i32 in_panels; /* b lies in the panels that tiles read; strides of b then say nothing */
} ag_product;

"""

_MORE_DECLARATIONS = """\
/* LAPACK of one dtype.  Matrices are stored by columns, n elements apart unless ld says otherwise; pivots: 8 * n bytes,
   which only these functions understand.
   factor: a = p l u in place; solve: b = inv(a) b for n by k sides; cholesky: the upper triangle of a becomes the u of
   a = u^H u; triangular: b = inv(op(a)) b for a triangle of a, trans as for ag_blas; determinant: its sign and the
   logarithm of its modulus.  What is returned is 0, or one more than the column where the matrix is singular or not
   positive definite. */
typedef struct ag_lapack {
    i64 (*factor)(const struct ag_runtime *rt, i64 n, void *a, void *pivots);
    void (*solve)(const struct ag_runtime *rt, i64 n, i64 k, const void *lu, const void *pivots, void *b);
    i64 (*cholesky)(const struct ag_runtime *rt, i64 n, void *a);
    i64 (*triangular)(const struct ag_runtime *rt, i32 upper, i32 trans, i32 unit, i64 n, i64 k, const void *a, i64 ld,
                      void *b);
    void (*determinant)(i64 n, const void *lu, const void *pivots, void *sign, void *logarithm);
} ag_lapack;

enum { AG_STOPPED = -1, AG_NO_MEMORY = -2 }; /* the status of what Ctrl-C ended, and of what had no room */

/* The order in which a kernel wants its loops.  AG_ANY_ORDER: they may change places, for each array moves along all of
   them or none.  AG_SEQUENTIAL: those that are not free may be cut too, if the parts run one after the other. */
enum { AG_AS_GIVEN, AG_ANY_ORDER, AG_SEQUENTIAL };

/* A kernel that may run over parts of its loops.  Sets of loops are bits: loop l is 1 << l. */
typedef struct ag_nest {
    /* Runs the kernel over these extents; strides[k * rank + l] is that of array k along loop l. */
    i32 (*part)(const struct ag_nest *nest, const i64 *lengths, void *const *data, const i64 *strides, i64 *said);
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
    i32 blas_threads;             /* how many the BLAS uses if it is not told otherwise */
    /* Runs task(context, 0) ... task(context, tasks - 1) on this thread and up to threads - 1 others, and returns when
       all are done; a task that calls it again runs those alone.  Nonzero: Ctrl-C was pressed, some were left out. */
    i32 (*parallel)(const struct ag_runtime *rt, i64 tasks, void (*task)(void *context, i64 index), void *context);
    /* Runs a nest, in parts if it is large.  0, AG_STOPPED, or what the kernel returned for the first part
       that failed, with what it said. */
    i32 (*launch)(const struct ag_runtime *rt, const ag_nest *nest, const i64 *lengths, void *const *data,
                  const i64 *strides, i64 *said);
    /* Runs stages of which later ones read what earlier ones compute, a few rows at a time: line buffers hold rows that
       are still needed.  Returns what launch does, or AG_NO_MEMORY.  said[4]: the stage that failed. */
    i32 (*pipeline)(const struct ag_runtime *rt, i32 stages, const ag_stage *stage, i32 buffers, i64 *said);
    void (*listen)(void);         /* what follows takes long: listen to Ctrl-C from here on */
    i32 (*stopped)(void);         /* whether Ctrl-C was pressed: the call returns soon, its results do not count */
    i32 (*commit)(void);          /* the same, and from here on Ctrl-C waits: what is the caller's is overwritten */
    void (*end)(void);            /* the call is over */
    void (*enter_blas)(const struct ag_runtime *rt); /* around every call of the BLAS */
    void (*leave_blas)(const struct ag_runtime *rt);
    ag_blas f32, f64, c64, c128;
    ag_byte_table i8;
    ag_lapack solve_f32, solve_f64, solve_c64, solve_c128;
    /* The functions ag_fail, ag_as_declared ... of drivers, compiled ahead: see driver_functions.py. */
    i32 (*fail)(struct ag_call *call, i32 outcome, i32 step, i32 operand, i32 count, const i64 *said);
    i32 (*as_declared)(const struct ag_call *call, i32 at, i32 rank);
    void *(*take)(const struct ag_runtime *rt, i64 item, i32 rank, const i64 *n);
    void *(*output)(struct ag_call *call, i32 k, i32 at, i32 output_rank, i64 item, i32 rank, const i64 *n);
    i32 (*finish)(struct ag_call *call, void *data, i32 k, i32 at, i32 rank, const i64 *n);
    void (*finish_strides)(struct ag_call *call, i32 at, i32 rank, const i64 *strides);
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
} ag_runtime;
"""

RUNTIME_DECLARATIONS = _FIRST_DECLARATIONS + BYTE_DECLARATIONS + _kernel_tables() + _MORE_DECLARATIONS
"""The structs of programs and of the runtime."""

CALL_DECLARATIONS = """\
/* One call of one function.  The lengths of all arrays lie one after the other, and so do their strides, which count
   elements. */
typedef struct ag_call {
    const ag_runtime *rt;
    char **data;                  /* first elements of the inputs, then of the outputs */
    i64 *lengths;                 /* inputs, then outputs: a guess going in, the truth coming out */
    i64 *strides;                 /* inputs, then outputs; NULL: all of them are C-contiguous */
    const i64 *declared;          /* inputs: the lengths that their types promise, -1 where any will do */
    char *const *constants;       /* first elements of the constants, which are C-contiguous */
    const i64 *constant_lengths;
    /* Runs a step that has no C: arrays[] and lengths[] hold its inputs, then its outputs, which the callee fills. */
    i32 (*host)(struct ag_call *call, i32 step, char **arrays, i64 *lengths, const i64 *strides);
    i64 *profile;                 /* NULL, or what is counted: see accounts.py; the next two are for it alone */
    i64 begun;                    /* when the caller began, by rt->clock() */
    i64 *warm_up;                 /* how many calls are yet to be left out */
    i32 step;                     /* the step that failed */
    i32 operand;                  /* the operand or axis it failed on */
    i32 outcome;                  /* what ag_entry returned, for a caller whom Ctrl-C kept from hearing it */
    i64 detail[64];               /* lengths, indices: what the message says */
} ag_call;

i32 ag_entry(ag_call *call);
"""

NATIVE_DECLARATIONS = """\
/* How the native entry knows a function, and what it borrows from Python and NumPy. */
typedef struct object object;

enum { AG_SMALL = 2048, AG_ARRAYS = 32, AG_LENGTHS = 64 }; /* AG_SMALL: elements, up to which Python's lock is kept */
/* Instructions that compute a length; all but the first two pop operands from the stack. */
enum { AG_NUMBER, AG_EXTENT, AG_ADD, AG_SUB, AG_MUL, AG_FLOORDIV, AG_MAXIMUM, AG_MINIMUM, AG_BROADCAST };

typedef struct ag_signature {
    i32 (*run)(ag_call *call);
    const ag_runtime *rt;
    const i64 *declared;
    char *const *constants;
    const i64 *constant_lengths;
    object *const *dtypes;        /* inputs, then outputs */
    const i32 *ranks;             /* inputs, then outputs */
    const i64 *items;             /* their bytes an element; NULL: no array of other strides than C's is taken */
    const i64 *most;              /* outputs: the elements from which they are made elsewhere */
    const i64 *programs;          /* for each length of each output its program, one after the other */
    const i64 *program_lengths;   /* in pairs (operation, operand) */
    i64 *profile, *warm_up;       /* as in ag_call; one call at a time counts there */
    i32 counting;                 /* whether one does now: who holds Python's lock may look, and change it */
    i64 input_lengths;            /* of all inputs together */
    i32 inputs, outputs;
    i32 as_list;
} ag_signature;

/* A function with the arrays that it is called with again and again, results included. */
typedef struct ag_binding {
    ag_call call;                 /* without data and lengths, which each call has its own of */
    i32 (*run)(ag_call *call);
    object *const *arrays;        /* inputs, then outputs */
    char *const *data;            /* where they lie; where one of them has moved, the call goes the other way */
    const i64 *lengths;
    i64 elements;
    i32 inputs, count, axes;      /* arrays, all arrays, the lengths of all */
    object *result;
} ag_binding;

typedef struct ag_python {
    const void *array_type;
    void (*incref)(object *it);
    void (*decref)(object *it);
    void *(*unlock)(void);        /* gives Python's lock back; what `lock` wants to see again */
    void (*lock)(void *thread);
    void (*clear_error)(void);
    void *(*as_pointer)(object *number);
    object *(*item)(object *tuple, i64 index);
    object *(*new_list)(i64 length);
    i32 (*set_item)(object *list, i64 index, object *it);
    object *(*vectorcall)(object *callee, object *const *arguments, i64 count, object *names);
    object *(*empty)(i32 rank, const i64 *shape, object *dtype, i32 fortran);
} ag_python;
"""

LIBRARY_DECLARATIONS = """\
ag_runtime *ag_runtime_table(uint64_t main_thread, i32 threads);
void ag_pool(i64 keep, i64 *out);
i64 ag_places(i32 slots, const i32 *lives, i64 *rooms);
void ag_team(i32 *out);
void ag_judge_team(i64 (*wall)(void), i64 (*processor)(void));
i64 *ag_log_team(i32 *room);
void ag_blas_threads(void *get, void *set, i32 found);
void ag_blas_install(ag_blas *entries, void *const *found, i32 takes_wide, i64 quiet);
void ag_lapack_install(ag_lapack *entries, void *const *found, i32 takes_wide);
void *ag_native_method(const ag_python *python);
void *ag_bound_method(void);
i64 ag_ticks(void);
void ag_clocks(i64 *out);
"""
"""Exports of the runtime, linear_algebra.c, lapack.c, native_entry.c and native_bound.c."""
