/* Written by cbackend/abi/generate.py from the specs: do not edit. */

#include "attention/attention.h"
#include "convolutions/convolutions.h"
#include "pools/pools.h"

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
    void (*sums)(const struct ag_runtime *rt, const ag_byte_sums *sums);
    i32 (*product)(const struct ag_runtime *rt, const ag_byte_product *product);
    i32 (*nibbles)(const struct ag_runtime *rt, const ag_nibble_product *product);
    i32 (*sparse)(const struct ag_runtime *rt, const ag_sparse_product *product);
    i32 (*columns)(const struct ag_runtime *rt, const ag_sparse_product *product);
    i32 (*two)(const struct ag_runtime *rt, const ag_two_product *product);
    i32 (*bfloats)(const struct ag_runtime *rt, const ag_bfloat_product *product);
    void (*look_up)(const struct ag_runtime *rt, i64 count, const void *x, const void *table, void *y);
    void (*softmax)(const struct ag_runtime *rt, const ag_byte_softmax *softmax);
    void (*words)(const struct ag_runtime *rt, i64 images, i64 channels, i64 positions, i64 is_signed, const float *x,
                  const float *scale, const void *zero, void *y);
} ag_byte_table;
