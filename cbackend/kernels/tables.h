/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "attention/attention.h"
#include "convolutions/convolutions.h"
#include "linear_algebra/linear_algebra.h"
#include "pools/pools.h"
#include "products/products.h"
#include "quantized/quantized.h"
#include "../abi/products.h"

/* Kernels of one dtype, and products that other kernels use.  gemv: y = alpha * op(a[m, n]) @ x + beta * y; ger: a[m,
   n] += alpha * x * y; dot: sum(x * y), nothing conjugated.  trans: 0 as stored (row-major), 1 transposed.  Leading
   dimensions and increments count elements; element i of x is x[i * incx], whatever the sign.  With *alpha == 0 the
   operands are not read. */
typedef struct ag_blas {
    void (*product)(const struct ag_runtime *rt, const ag_product *product);
    void (*gemv)(const struct ag_runtime *rt, i32 trans, i64 m, i64 n, const void *alpha, const void *a, i64 lda,
                 const void *x, i64 incx, const void *beta, void *y, i64 incy);
    void (*ger)(const struct ag_runtime *rt, i64 m, i64 n, const void *alpha, const void *x, i64 incx,
                const void *y, i64 incy, void *a, i64 lda);
    void (*dot)(const struct ag_runtime *rt, i64 n, const void *x, i64 incx, const void *y, i64 incy, void *result);
    i32 (*attention)(const struct ag_runtime *rt, const ag_attention *of);
    i32 (*window_product)(const struct ag_runtime *rt, const ag_window_product *of);
    void (*convolution)(const struct ag_runtime *rt, const ag_convolution *of);
    void (*tiled_convolution)(const struct ag_runtime *rt, const ag_tiled_convolution *of);
    void (*convolution_pair)(const struct ag_runtime *rt, const ag_convolution_pair *of);
    void (*convolution_pool)(const struct ag_runtime *rt, const ag_convolution_pool *of);
    void (*kernel_gradient)(const struct ag_runtime *rt, const ag_kernel_gradient *of);
    void (*pooling)(const struct ag_runtime *rt, const ag_pooling *of);
    void (*channel_sums)(const struct ag_runtime *rt, const ag_channel_sums *of);
} ag_blas;

/* Products and tables of bytes, and of weights of few bits. */
typedef struct ag_byte_table {
    i32 (*nibble_product)(const struct ag_runtime *rt, const ag_nibble_product *of);
    i32 (*sparse_product)(const struct ag_runtime *rt, const ag_sparse_product *of);
    i32 (*sparse_columns)(const struct ag_runtime *rt, const ag_sparse_product *of);
    i32 (*two_of_four)(const struct ag_runtime *rt, const ag_two_of_four *of);
    i32 (*bfloat_product)(const struct ag_runtime *rt, const ag_bfloat_product *of);
    void (*byte_sums)(const struct ag_runtime *rt, const ag_byte_sums *of);
    i32 (*byte_product)(const struct ag_runtime *rt, const ag_byte_product *of);
    void (*look_up)(const struct ag_runtime *rt, const ag_look_up *of);
    void (*byte_softmax)(const struct ag_runtime *rt, const ag_byte_softmax *of);
    void (*quantize_words)(const struct ag_runtime *rt, const ag_quantize_words *of);
} ag_byte_table;

/* Systems of equations and factorizations of one dtype. */
typedef struct ag_solvers {
    i32 (*solve)(const struct ag_runtime *rt, const ag_solve *of);
    i32 (*solve_triangular)(const struct ag_runtime *rt, const ag_solve_triangular *of);
    i32 (*cholesky)(const struct ag_runtime *rt, const ag_cholesky *of);
    i32 (*slogdet)(const struct ag_runtime *rt, const ag_slogdet *of);
} ag_solvers;
