/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once

#if !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_ATTENTION))
#define ATTENTION_SLOT .attention = attend,
#else
#define ATTENTION_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_WINDOW_PRODUCT))
#define WINDOW_PRODUCT_SLOT .window_product = multiply_windows,
#else
#define WINDOW_PRODUCT_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_CONVOLUTION))
#define CONVOLUTION_SLOT .convolution = convolve,
#else
#define CONVOLUTION_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_TILED_CONVOLUTION))
#define TILED_CONVOLUTION_SLOT .tiled_convolution = convolve_tiles,
#else
#define TILED_CONVOLUTION_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_CONVOLUTION_PAIR))
#define CONVOLUTION_PAIR_SLOT .convolution_pair = convolve_pair,
#else
#define CONVOLUTION_PAIR_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_CONVOLUTION_POOL))
#define CONVOLUTION_POOL_SLOT .convolution_pool = convolve_pool,
#else
#define CONVOLUTION_POOL_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_KERNEL_GRADIENT))
#define KERNEL_GRADIENT_SLOT .kernel_gradient = find_kernel_gradient,
#else
#define KERNEL_GRADIENT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_CHOLESKY_GRADIENT))
#define CHOLESKY_GRADIENT_SLOT .cholesky_gradient = pull_back_cholesky,
#else
#define CHOLESKY_GRADIENT_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_POOLING))
#define POOLING_SLOT .pooling = pool,
#else
#define POOLING_SLOT
#endif
#if defined(CONVOLUTIONS) && !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_CHANNEL_SUMS))
#define CHANNEL_SUMS_SLOT .channel_sums = sum_channels,
#else
#define CHANNEL_SUMS_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_PRODUCT))
#define PRODUCT_SLOT .product = multiply_batch,
#else
#define PRODUCT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_GEMV))
#define GEMV_SLOT .gemv = multiply_by_vector,
#else
#define GEMV_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_GER))
#define GER_SLOT .ger = add_outer_product,
#else
#define GER_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_DOT))
#define DOT_SLOT .dot = multiply_vectors,
#else
#define DOT_SLOT
#endif
#if !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_WEIGHTED_GATHER))
#define WEIGHTED_GATHER_SLOT .weighted_gather = call_weighted_gather,
#else
#define WEIGHTED_GATHER_SLOT
#endif
#if !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_WEIGHTED_SCATTER))
#define WEIGHTED_SCATTER_SLOT .weighted_scatter = call_weighted_scatter,
#else
#define WEIGHTED_SCATTER_SLOT
#endif
#if !COMPLEX && (!defined(AG_CHOSEN) || defined(AG_CALLS_GATHER_PRODUCTS))
#define GATHER_PRODUCTS_SLOT .gather_products = call_gather_products,
#else
#define GATHER_PRODUCTS_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_ROWS))
#define SPARSE_ROWS_SLOT .sparse_rows = multiply_sparse_rows,
#else
#define SPARSE_ROWS_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_ACROSS))
#define SPARSE_ACROSS_SLOT .sparse_across = multiply_sparse_across,
#else
#define SPARSE_ACROSS_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_ENTRIES))
#define SPARSE_ENTRIES_SLOT .sparse_entries = multiply_sparse_entries,
#else
#define SPARSE_ENTRIES_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_VALUES))
#define SPARSE_VALUES_SLOT .sparse_values = sum_at_places,
#else
#define SPARSE_VALUES_SLOT
#endif
#define PRODUCTS_SLOTS ATTENTION_SLOT WINDOW_PRODUCT_SLOT CONVOLUTION_SLOT TILED_CONVOLUTION_SLOT CONVOLUTION_PAIR_SLOT CONVOLUTION_POOL_SLOT KERNEL_GRADIENT_SLOT CHOLESKY_GRADIENT_SLOT POOLING_SLOT CHANNEL_SUMS_SLOT PRODUCT_SLOT GEMV_SLOT GER_SLOT DOT_SLOT WEIGHTED_GATHER_SLOT WEIGHTED_SCATTER_SLOT GATHER_PRODUCTS_SLOT SPARSE_ROWS_SLOT SPARSE_ACROSS_SLOT SPARSE_ENTRIES_SLOT SPARSE_VALUES_SLOT

#if (!defined(AG_CHOSEN) || defined(AG_CALLS_BYTE_SUMS))
#define BYTE_SUMS_SLOT .byte_sums = sum_bytes,
#else
#define BYTE_SUMS_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_BYTE_PRODUCT))
#define BYTE_PRODUCT_SLOT .byte_product = multiply_bytes,
#else
#define BYTE_PRODUCT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_LOOK_UP))
#define LOOK_UP_SLOT .look_up = look_up,
#else
#define LOOK_UP_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_BYTE_SOFTMAX))
#define BYTE_SOFTMAX_SLOT .byte_softmax = softmax_of_bytes,
#else
#define BYTE_SOFTMAX_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_QUANTIZE_WORDS))
#define QUANTIZE_WORDS_SLOT .quantize_words = quantize_words,
#else
#define QUANTIZE_WORDS_SLOT
#endif
#define BYTES_SLOTS BYTE_SUMS_SLOT BYTE_PRODUCT_SLOT LOOK_UP_SLOT BYTE_SOFTMAX_SLOT QUANTIZE_WORDS_SLOT

#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SOLVE))
#define SOLVE_SLOT .solve = solve_batch,
#else
#define SOLVE_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SOLVE_TRIANGULAR))
#define SOLVE_TRIANGULAR_SLOT .solve_triangular = solve_triangular_batch,
#else
#define SOLVE_TRIANGULAR_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_CHOLESKY))
#define CHOLESKY_SLOT .cholesky = cholesky_batch,
#else
#define CHOLESKY_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SLOGDET))
#define SLOGDET_SLOT .slogdet = slogdet_batch,
#else
#define SLOGDET_SLOT
#endif
#define SOLVERS_SLOTS SOLVE_SLOT SOLVE_TRIANGULAR_SLOT CHOLESKY_SLOT SLOGDET_SLOT

#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SORT))
#define SORT_SLOT .sort = sort_batch,
#else
#define SORT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_ARGSORT))
#define ARGSORT_SLOT .argsort = argsort_batch,
#else
#define ARGSORT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SELECT))
#define SELECT_SLOT .select = select_batch,
#else
#define SELECT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_TOPK))
#define TOPK_SLOT .topk = topk_batch,
#else
#define TOPK_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SEARCHSORTED))
#define SEARCHSORTED_SLOT .searchsorted = search_batch,
#else
#define SEARCHSORTED_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_COUNT_NONZERO))
#define COUNT_NONZERO_SLOT .count_nonzero = count_nonzero,
#else
#define COUNT_NONZERO_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_NONZERO))
#define NONZERO_SLOT .nonzero = find_nonzero,
#else
#define NONZERO_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SUPPRESS))
#define SUPPRESS_SLOT .suppress = suppress,
#else
#define SUPPRESS_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_COUNT_REPEATED))
#define COUNT_REPEATED_SLOT .count_repeated = count_repeated,
#else
#define COUNT_REPEATED_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_REPEATED))
#define REPEATED_SLOT .repeated = repeat_positions,
#else
#define REPEATED_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_COUNT_DISTINCT))
#define COUNT_DISTINCT_SLOT .count_distinct = count_distinct,
#else
#define COUNT_DISTINCT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_DISTINCT))
#define DISTINCT_SLOT .distinct = find_distinct,
#else
#define DISTINCT_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_PATTERN))
#define SPARSE_PATTERN_SLOT .sparse_pattern = sparse_pattern,
#else
#define SPARSE_PATTERN_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_UNION))
#define SPARSE_UNION_SLOT .sparse_union = sparse_union,
#else
#define SPARSE_UNION_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_PLACES))
#define SPARSE_PLACES_SLOT .sparse_places = sparse_places,
#else
#define SPARSE_PLACES_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_ORDER))
#define SPARSE_ORDER_SLOT .sparse_order = sparse_order,
#else
#define SPARSE_ORDER_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_EXTREMES))
#define SPARSE_EXTREMES_SLOT .sparse_extremes = sparse_extremes,
#else
#define SPARSE_EXTREMES_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_SPARSE_EXTREME))
#define SPARSE_EXTREME_SLOT .sparse_extreme = sparse_extreme,
#else
#define SPARSE_EXTREME_SLOT
#endif
#define SORTS_SLOTS SORT_SLOT ARGSORT_SLOT SELECT_SLOT TOPK_SLOT SEARCHSORTED_SLOT COUNT_NONZERO_SLOT NONZERO_SLOT SUPPRESS_SLOT COUNT_REPEATED_SLOT REPEATED_SLOT COUNT_DISTINCT_SLOT DISTINCT_SLOT SPARSE_PATTERN_SLOT SPARSE_UNION_SLOT SPARSE_PLACES_SLOT SPARSE_ORDER_SLOT SPARSE_EXTREMES_SLOT SPARSE_EXTREME_SLOT

#if (!defined(AG_CHOSEN) || defined(AG_CALLS_TRANSFORM))
#define TRANSFORM_SLOT .transform = transform_batch,
#else
#define TRANSFORM_SLOT
#endif
#define FOURIER_SLOTS TRANSFORM_SLOT

#if (!defined(AG_CHOSEN) || defined(AG_CALLS_DRAW))
#define DRAW_SLOT .draw = draw_samples,
#else
#define DRAW_SLOT
#endif
#define DRAWS_SLOTS DRAW_SLOT

#if (!defined(AG_CHOSEN) || defined(AG_CALLS_WORD_ATTENTION))
#define WORD_ATTENTION_SLOT .word_attention = attend_words,
#else
#define WORD_ATTENTION_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_WORD_CONVOLUTION))
#define WORD_CONVOLUTION_SLOT .word_convolution = convolve_words,
#else
#define WORD_CONVOLUTION_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_WORD_PAIR))
#define WORD_PAIR_SLOT .word_pair = convolve_word_pair,
#else
#define WORD_PAIR_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_WORD_POOL))
#define WORD_POOL_SLOT .word_pool = convolve_word_pool,
#else
#define WORD_POOL_SLOT
#endif
#if (!defined(AG_CHOSEN) || defined(AG_CALLS_WORD_POOLING))
#define WORD_POOLING_SLOT .word_pooling = pool_words,
#else
#define WORD_POOLING_SLOT
#endif
#define NARROW_SLOTS WORD_ATTENTION_SLOT WORD_CONVOLUTION_SLOT WORD_PAIR_SLOT WORD_POOL_SLOT WORD_POOLING_SLOT
