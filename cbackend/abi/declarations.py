"""The binary interface between Python and every library that we generate: structs and entry, as C text.

The same text stands at the head of each generated C file and, parsed once by cffi, in `_abi.py`: an out-of-line module
in ABI mode that needs no parser at run time (importing it takes 0.7 ms; `FFI().cdef` of the same text 18-40 ms).  Run

    python -m arignote.cbackend.abi.generate

after a change here; `tests/test_runtime.py` holds the two together.  Each generated library exports `ag_entry` alone.
"""

from __future__ import annotations

VERSION = 1
"""Part of every cache key: raise it when a layout below changes its meaning without changing its text."""

C_TYPES = "typedef __INT32_TYPE__ i32;\ntypedef __INT64_TYPE__ i64;\n"
"""What the declarations need; C11 allows the same typedef twice, so a preamble may repeat it."""

RUNTIME_DECLARATIONS = """\
/* Row-major products of one dtype, as CBLAS means them: gemm: c[m, n] = alpha * op(a)[m, k] @ op(b)[k, n] + beta * c;
   gemv: y = alpha * op(a[m, n]) @ x + beta * y; ger: a[m, n] += alpha * x * y; dot: sum(x * y), nothing conjugated.
   trans: 0 as stored, 1 transposed.  Leading dimensions and increments count elements; element i of x is x[i * incx],
   whatever the sign.  Scalars are passed by address, in the dtype.  With *alpha == 0 the operands are not read, with
   *beta == 0 the result is not.  Any size may be 0. */
typedef struct ag_blas {
    void (*gemm)(i32 trans_a, i32 trans_b, i64 m, i64 n, i64 k, const void *alpha, const void *a, i64 lda,
                 const void *b, i64 ldb, const void *beta, void *c, i64 ldc);
    void (*gemv)(i32 trans, i64 m, i64 n, const void *alpha, const void *a, i64 lda, const void *x, i64 incx,
                 const void *beta, void *y, i64 incy);
    void (*ger)(i64 m, i64 n, const void *alpha, const void *x, i64 incx, const void *y, i64 incy, void *a, i64 lda);
    void (*dot)(i64 n, const void *x, i64 incx, const void *y, i64 incy, void *result);
} ag_blas;

/* What a generated library may call. */
typedef struct ag_runtime {
    void *(*alloc)(i64 bytes);    /* 64-byte aligned, contents undefined; NULL when memory is exhausted */
    void (*release)(void *block); /* hands a block back to the pool; NULL is allowed */
    i64 (*clock_ns)(void);        /* monotonic */
    volatile i32 *stop;           /* nonzero: Ctrl-C was pressed; a long loop returns soon */
    ag_blas f32, f64, c64, c128;
} ag_runtime;
"""

CALL_DECLARATIONS = """\
/* One call of one function.  The lengths of all arrays lie one after the other, and so do their strides, which count
   elements. */
typedef struct ag_call {
    const ag_runtime *rt;
    char **data;                  /* first elements of the inputs, then of the outputs */
    i64 *lengths;                 /* inputs, then outputs: a guess going in, the truth coming out */
    const i64 *strides;           /* inputs; NULL: all of them are C-contiguous */
    const i64 *declared;          /* inputs: the lengths that their types promise, -1 where any will do */
    char *const *constants;       /* first elements of the constants, which are C-contiguous */
    const i64 *constant_lengths;
    /* Runs a step that has no C: arrays[] and lengths[] hold its inputs, then its outputs, which the callee fills. */
    i32 (*host)(struct ag_call *call, i32 step, char **arrays, i64 *lengths, const i64 *strides);
    i64 *profile;                 /* NULL, or for each step: calls, nanoseconds, bytes */
    i32 step;                     /* the step that failed */
    i32 operand;                  /* the operand or axis it failed on */
    i64 detail[64];               /* lengths, indices: what the message says */
} ag_call;

i32 ag_entry(ag_call *call);
"""

LIBRARY_DECLARATIONS = """\
ag_runtime *ag_runtime_table(void);
void ag_pool(i64 keep, i64 *out);
i32 ag_watch_interrupt(void);
void ag_blas_install(ag_runtime *table, ag_blas *entries, void *const *found, i32 takes_wide, i64 quiet);
"""
"""What runtime.c and linear_algebra.c export."""
