/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once

#if !COMPLEX
#define ATTENTION_SLOT .attention = attend,
#else
#define ATTENTION_SLOT
#endif
#define WINDOW_PRODUCT_SLOT .window_product = multiply_windows,
#if defined(CONVOLUTIONS) && !COMPLEX
#define CONVOLUTION_SLOT .convolution = convolve,
#else
#define CONVOLUTION_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define TILED_CONVOLUTION_SLOT .tiled_convolution = convolve_tiles,
#else
#define TILED_CONVOLUTION_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define CONVOLUTION_PAIR_SLOT .convolution_pair = convolve_pair,
#else
#define CONVOLUTION_PAIR_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define CONVOLUTION_POOL_SLOT .convolution_pool = convolve_pool,
#else
#define CONVOLUTION_POOL_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define KERNEL_GRADIENT_SLOT .kernel_gradient = find_kernel_gradient,
#else
#define KERNEL_GRADIENT_SLOT
#endif
#define CHOLESKY_GRADIENT_SLOT .cholesky_gradient = pull_back_cholesky,
#if defined(CONVOLUTIONS) && !COMPLEX
#define POOLING_SLOT .pooling = pool,
#else
#define POOLING_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX
#define CHANNEL_SUMS_SLOT .channel_sums = sum_channels,
#else
#define CHANNEL_SUMS_SLOT
#endif
#define PRODUCT_SLOT .product = multiply_batch,
#define GEMV_SLOT .gemv = multiply_by_vector,
#define GER_SLOT .ger = add_outer_product,
#define DOT_SLOT .dot = multiply_vectors,
#if !COMPLEX
#define WEIGHTED_GATHER_SLOT .weighted_gather = call_weighted_gather,
#else
#define WEIGHTED_GATHER_SLOT
#endif
#if !COMPLEX
#define WEIGHTED_SCATTER_SLOT .weighted_scatter = call_weighted_scatter,
#else
#define WEIGHTED_SCATTER_SLOT
#endif
#if !COMPLEX
#define GATHER_PRODUCTS_SLOT .gather_products = call_gather_products,
#else
#define GATHER_PRODUCTS_SLOT
#endif
#define SPARSE_ROWS_SLOT .sparse_rows = multiply_sparse_rows,
#define SPARSE_ACROSS_SLOT .sparse_across = multiply_sparse_across,
#define PRODUCTS_SLOTS ATTENTION_SLOT WINDOW_PRODUCT_SLOT CONVOLUTION_SLOT TILED_CONVOLUTION_SLOT CONVOLUTION_PAIR_SLOT CONVOLUTION_POOL_SLOT KERNEL_GRADIENT_SLOT CHOLESKY_GRADIENT_SLOT POOLING_SLOT CHANNEL_SUMS_SLOT PRODUCT_SLOT GEMV_SLOT GER_SLOT DOT_SLOT WEIGHTED_GATHER_SLOT WEIGHTED_SCATTER_SLOT GATHER_PRODUCTS_SLOT SPARSE_ROWS_SLOT SPARSE_ACROSS_SLOT

#define BYTE_SUMS_SLOT .byte_sums = sum_bytes,
#define BYTE_PRODUCT_SLOT .byte_product = multiply_bytes,
#define LOOK_UP_SLOT .look_up = look_up,
#define BYTE_SOFTMAX_SLOT .byte_softmax = softmax_of_bytes,
#define QUANTIZE_WORDS_SLOT .quantize_words = quantize_words,
#define BYTES_SLOTS BYTE_SUMS_SLOT BYTE_PRODUCT_SLOT LOOK_UP_SLOT BYTE_SOFTMAX_SLOT QUANTIZE_WORDS_SLOT

#define SOLVE_SLOT .solve = solve_batch,
#define SOLVE_TRIANGULAR_SLOT .solve_triangular = solve_triangular_batch,
#define CHOLESKY_SLOT .cholesky = cholesky_batch,
#define SLOGDET_SLOT .slogdet = slogdet_batch,
#define SOLVERS_SLOTS SOLVE_SLOT SOLVE_TRIANGULAR_SLOT CHOLESKY_SLOT SLOGDET_SLOT

#define SORT_SLOT .sort = sort_batch,
#define ARGSORT_SLOT .argsort = argsort_batch,
#define SELECT_SLOT .select = select_batch,
#define TOPK_SLOT .topk = topk_batch,
#define SEARCHSORTED_SLOT .searchsorted = search_batch,
#define COUNT_NONZERO_SLOT .count_nonzero = count_nonzero,
#define NONZERO_SLOT .nonzero = find_nonzero,
#define SUPPRESS_SLOT .suppress = suppress,
#define COUNT_REPEATED_SLOT .count_repeated = count_repeated,
#define REPEATED_SLOT .repeated = repeat_positions,
#define COUNT_DISTINCT_SLOT .count_distinct = count_distinct,
#define DISTINCT_SLOT .distinct = find_distinct,
#define SORTS_SLOTS SORT_SLOT ARGSORT_SLOT SELECT_SLOT TOPK_SLOT SEARCHSORTED_SLOT COUNT_NONZERO_SLOT NONZERO_SLOT SUPPRESS_SLOT COUNT_REPEATED_SLOT REPEATED_SLOT COUNT_DISTINCT_SLOT DISTINCT_SLOT

#define TRANSFORM_SLOT .transform = transform_batch,
#define FOURIER_SLOTS TRANSFORM_SLOT

#define DRAW_SLOT .draw = draw_samples,
#define DRAWS_SLOTS DRAW_SLOT

#define WORD_ATTENTION_SLOT .word_attention = attend_words,
#define WORD_CONVOLUTION_SLOT .word_convolution = convolve_words,
#define NARROW_SLOTS WORD_ATTENTION_SLOT WORD_CONVOLUTION_SLOT
