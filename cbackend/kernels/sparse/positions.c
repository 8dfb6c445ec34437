/* Checks of the positions of sparse matrices, which are read after them. */
#pragma once
#include "../../abi/forward.h"

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif
#define KEEP_SCALAR() __asm__ volatile("") /* gathers are slower than reads of single numbers */

/* Whether positions of elements are below k; negative ones are the largest without their sign. */
INLINE i64 positions_fit(const i32 *indices, i64 count, i64 k)
{
    unsigned largest = 0;
    for (i64 e = 0; e < count; e++) largest = (unsigned)indices[e] > largest ? (unsigned)indices[e] : largest;
    return count == 0 || (largest < 0x80000000u && largest < k);
}

/* Whether rows lie one after the other among the elements. */
INLINE i64 rows_fit(const i32 *indptr, i64 rows, i64 elements)
{
    i32 wrong = 0;
    for (i64 i = 0; i < rows; i++) wrong |= indptr[i + 1] < indptr[i];
    return rows < 0 || (!wrong && indptr[0] >= 0 && indptr[rows] <= elements);
}

/* Whether a matrix of `rows` rows and `columns` columns has all its positions in bounds. */
INLINE i64 matrix_fits(const i32 *indices, const i32 *indptr, i64 rows, i64 elements, i64 columns)
{
    return rows_fit(indptr, rows, elements) && positions_fit(indices, elements, columns);
}
