/* Written by cbackend/abi/generate.py from the specs: do not edit. */
#pragma once

#if !COMPLEX
#define ATTENTION_SLOT .attention = attend,
#else
#define ATTENTION_SLOT
#endif
#define PRODUCTS_SLOTS ATTENTION_SLOT

#define NIBBLE_PRODUCT_SLOT .nibble_product = multiply_nibbles,
#define SPARSE_PRODUCT_SLOT .sparse_product = multiply_sparse,
#define SPARSE_COLUMNS_SLOT .sparse_columns = multiply_columns,
#define TWO_OF_FOUR_SLOT .two_of_four = multiply_two,
#define BFLOAT_PRODUCT_SLOT .bfloat_product = multiply_bfloats,
#define BYTE_SUMS_SLOT .byte_sums = sum_bytes,
#define BYTE_PRODUCT_SLOT .byte_product = multiply_bytes,
#define LOOK_UP_SLOT .look_up = look_up,
#define BYTE_SOFTMAX_SLOT .byte_softmax = softmax_of_bytes,
#define QUANTIZE_WORDS_SLOT .quantize_words = quantize_words,
#define BYTES_SLOTS NIBBLE_PRODUCT_SLOT SPARSE_PRODUCT_SLOT SPARSE_COLUMNS_SLOT TWO_OF_FOUR_SLOT BFLOAT_PRODUCT_SLOT BYTE_SUMS_SLOT BYTE_PRODUCT_SLOT LOOK_UP_SLOT BYTE_SOFTMAX_SLOT QUANTIZE_WORDS_SLOT

#define SOLVE_SLOT .solve = solve_batch,
#define SOLVE_TRIANGULAR_SLOT .solve_triangular = solve_triangular_batch,
#define CHOLESKY_SLOT .cholesky = cholesky_batch,
#define SLOGDET_SLOT .slogdet = slogdet_batch,
#define SOLVERS_SLOTS SOLVE_SLOT SOLVE_TRIANGULAR_SLOT CHOLESKY_SLOT SLOGDET_SLOT
