/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once
#include "attention/attention.h"
#include "convolutions/convolutions.h"
#include "draws/draws.h"
#include "fourier/fourier.h"
#include "linear_algebra/linear_algebra.h"
#include "packed/packed.h"
#include "pools/pools.h"
#include "products/products.h"
#include "quantized/quantized.h"
#include "sampling/sampling.h"
#include "sorting/sorting.h"
#include "sparse/sparse.h"

typedef struct ag_blas {
    i32 (*attention)(const struct ag_runtime *rt, const ag_attention *of);
    i32 (*window_product)(const struct ag_runtime *rt, const ag_window_product *of);
    void (*convolution)(const struct ag_runtime *rt, const ag_convolution *of);
    void (*tiled_convolution)(const struct ag_runtime *rt, const ag_tiled_convolution *of);
    void (*convolution_pair)(const struct ag_runtime *rt, const ag_convolution_pair *of);
    void (*convolution_pool)(const struct ag_runtime *rt, const ag_convolution_pool *of);
    void (*kernel_gradient)(const struct ag_runtime *rt, const ag_kernel_gradient *of);
    i32 (*cholesky_gradient)(const struct ag_runtime *rt, const ag_cholesky_gradient *of);
    void (*pooling)(const struct ag_runtime *rt, const ag_pooling *of);
    void (*channel_sums)(const struct ag_runtime *rt, const ag_channel_sums *of);
    void (*product)(const struct ag_runtime *rt, const ag_product *of);
    i32 (*gemv)(const struct ag_runtime *rt, const ag_gemv *of);
    i32 (*ger)(const struct ag_runtime *rt, const ag_ger *of);
    i32 (*dot)(const struct ag_runtime *rt, const ag_dot *of);
    i32 (*weighted_gather)(const struct ag_runtime *rt, const ag_weighted_gather *of);
    i32 (*weighted_scatter)(const struct ag_runtime *rt, const ag_weighted_scatter *of);
    i32 (*gather_products)(const struct ag_runtime *rt, const ag_gather_products *of);
    i32 (*sparse_rows)(const struct ag_runtime *rt, const ag_sparse_rows *of);
    i32 (*sparse_across)(const struct ag_runtime *rt, const ag_sparse_across *of);
    i32 (*sparse_entries)(const struct ag_runtime *rt, const ag_sparse_entries *of);
    i32 (*sparse_values)(const struct ag_runtime *rt, const ag_sparse_values *of);
} ag_blas;

typedef struct ag_byte_table {
    void (*byte_sums)(const struct ag_runtime *rt, const ag_byte_sums *of);
    i32 (*byte_product)(const struct ag_runtime *rt, const ag_byte_product *of);
    void (*look_up)(const struct ag_runtime *rt, const ag_look_up *of);
    void (*byte_softmax)(const struct ag_runtime *rt, const ag_byte_softmax *of);
    void (*quantize_words)(const struct ag_runtime *rt, const ag_quantize_words *of);
} ag_byte_table;

typedef struct ag_solvers {
    i32 (*solve)(const struct ag_runtime *rt, const ag_solve *of);
    i32 (*solve_triangular)(const struct ag_runtime *rt, const ag_solve_triangular *of);
    i32 (*cholesky)(const struct ag_runtime *rt, const ag_cholesky *of);
    i32 (*slogdet)(const struct ag_runtime *rt, const ag_slogdet *of);
} ag_solvers;

typedef struct ag_packed_table {
    i32 (*dense_panels)(const struct ag_runtime *rt, const ag_packed_product *of);
    i32 (*sparse_vectors)(const struct ag_runtime *rt, const ag_packed_product *of);
    i32 (*bfloats)(const struct ag_runtime *rt, const ag_packed_product *of);
    i32 (*nibbles)(const struct ag_runtime *rt, const ag_packed_product *of);
    i32 (*sparse_columns)(const struct ag_runtime *rt, const ag_packed_product *of);
    i32 (*two_of_four)(const struct ag_runtime *rt, const ag_packed_product *of);
    i32 (*widened)(const struct ag_runtime *rt, const ag_packed_product *of);
} ag_packed_table;

typedef struct ag_sort_table {
    i32 (*sort)(const struct ag_runtime *rt, const ag_sort *of);
    i32 (*argsort)(const struct ag_runtime *rt, const ag_argsort *of);
    i32 (*select)(const struct ag_runtime *rt, const ag_select *of);
    i32 (*topk)(const struct ag_runtime *rt, const ag_topk *of);
    i32 (*searchsorted)(const struct ag_runtime *rt, const ag_searchsorted *of);
    void (*count_nonzero)(const struct ag_runtime *rt, const ag_count_nonzero *of);
    void (*nonzero)(const struct ag_runtime *rt, const ag_nonzero *of);
    i32 (*suppress)(const struct ag_runtime *rt, const ag_suppress *of);
    void (*count_repeated)(const struct ag_runtime *rt, const ag_count_repeated *of);
    void (*repeated)(const struct ag_runtime *rt, const ag_repeated *of);
    void (*count_distinct)(const struct ag_runtime *rt, const ag_count_distinct *of);
    void (*distinct)(const struct ag_runtime *rt, const ag_distinct *of);
    i32 (*sparse_pattern)(const struct ag_runtime *rt, const ag_sparse_pattern *of);
    i32 (*sparse_union)(const struct ag_runtime *rt, const ag_sparse_union *of);
    i32 (*sparse_places)(const struct ag_runtime *rt, const ag_sparse_places *of);
    i32 (*sparse_order)(const struct ag_runtime *rt, const ag_sparse_order *of);
    i32 (*sparse_extremes)(const struct ag_runtime *rt, const ag_sparse_extremes *of);
    i32 (*sparse_extreme)(const struct ag_runtime *rt, const ag_sparse_extreme *of);
} ag_sort_table;

typedef struct ag_fourier_table {
    i32 (*transform)(const struct ag_runtime *rt, const ag_transform *of);
} ag_fourier_table;

typedef struct ag_draw_table {
    i32 (*draw)(const struct ag_runtime *rt, const ag_draw *of);
} ag_draw_table;

typedef struct ag_narrow_table {
    i32 (*word_attention)(const struct ag_runtime *rt, const ag_attention *of);
    i32 (*word_convolution)(const struct ag_runtime *rt, const ag_convolution *of);
    i32 (*word_pair)(const struct ag_runtime *rt, const ag_convolution_pair *of);
    i32 (*word_pool)(const struct ag_runtime *rt, const ag_convolution_pool *of);
    void (*word_pooling)(const struct ag_runtime *rt, const ag_pooling *of);
} ag_narrow_table;
