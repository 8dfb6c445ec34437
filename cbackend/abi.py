"""The binary interface between Python and every library that we generate: structs and entry, as C text.

The same text stands at the head of each generated C file and, parsed once by cffi, in `_abi.py`: an out-of-line module in ABI
mode that needs no parser at run time (importing it takes 0.7 ms; `FFI().cdef` of the same text took 18-40 ms).  Run

    python -m arignote.cbackend.generate_abi

after a change here; `tests/test_runtime.py` holds the two together.  Each generated library exports one function, `ag_entry`.
"""

from __future__ import annotations

VERSION = 1
"""Part of every cache key: raise it when a layout below changes its meaning without changing its text."""

C_TYPES = "typedef __INT32_TYPE__ i32;\ntypedef __INT64_TYPE__ i64;\n"
"""What the declarations need; C11 allows the same typedef twice, so a preamble may repeat it."""

RUNTIME_DECLARATIONS = """\
/* Row-major linear algebra on one dtype.  trans: 0 as stored, 1 transposed.  Leading dimensions and increments count elements.
   Scalars are passed by address in the dtype.  With *beta == 0 the result is not read.  Any size may be 0. */
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
    void *(*alloc)(i64 bytes);   /* 64-byte aligned, contents undefined; NULL when memory is exhausted */
    void (*release)(void *block); /* hands a block back to the pool; NULL is allowed */
    i64 (*clock_ns)(void);        /* monotonic */
    volatile i32 *stop;           /* nonzero: Ctrl-C was pressed; a long loop returns soon */
    ag_blas f32, f64, c64, c128;
} ag_runtime;
"""

CALL_DECLARATIONS = """\
typedef struct ag_call {
    const ag_runtime *rt;
} ag_call;

i32 ag_entry(ag_call *call);
"""

LIBRARY_DECLARATIONS = """\
ag_runtime *ag_runtime_table(void);
i32 ag_blas_install(ag_runtime *table, void *const *symbols, i32 wide);
"""
"""What the runtime's own two libraries export."""
