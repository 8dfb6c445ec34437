/* Definitions shared by all files of the matrix products, of one dtype (element.h).  EXACT: their rounding is fixed. */
#pragma once
#include "../../runtime/prebuilt.h"
#include "../../abi/runtime.h"
#include "../../runtime/element.h"

#if !defined(EXACT)
#define EXACT 0
#endif
#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))

/* Sums of products may use fused multiply-adds: a matrix product promises no order of rounding, and takes twice as long
   without.  With FALLBACK only the micro-kernel is optimized, since the first start of a program with a product waits for
   this unit.  With EXACT they round as they are written, as NumPy does. */
#if EXACT && defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif EXACT
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT ON
#elif FALLBACK
#pragma GCC optimize("O1", "no-tree-vectorize", "fp-contract=fast")
#else
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", "fp-contract=fast") /* -O3: the same speed */
#endif

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif

/* Whether our own loops are as fast as the BLAS and replace it: all of them, or those of matrices. */
#if !BLAS_FIRST && defined(__AVX512F__)
enum { OWN_LOOPS = !COMPLEX, OWN_PRODUCTS = 1 };
#elif !COMPLEX && !BLAS_FIRST && defined(__AVX2__) && defined(__FMA__)
enum { OWN_LOOPS = 1, OWN_PRODUCTS = 1 };
#else
enum { OWN_LOOPS = 0, OWN_PRODUCTS = 0 };
#endif

INLINE i64 at_most(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 at_least(i64 a, i64 b) { return a > b ? a : b; }
/* Return the least number of chunks of at most `most` that make up `total`. */
INLINE i64 parts(i64 total, i64 most) { return (total + most - 1) / most; }

/* Up to this number, panels of weights are even in number, for two threads; ops/networks/weights.py packs them likewise. */
enum { EVEN = 16 };
static __attribute__((unused)) i64 even_panels(i64 blocks, i64 most)
{
    const i64 count = parts(blocks, most);
    return count > 1 && count < EVEN ? at_most(blocks, count + count % 2) : count;
}

/* Return the rows of a strip, at most `most`, preferably at least `fewest` or half, that minimize the work of the busiest
   thread.  A strip is `beside` tasks. */
static __attribute__((unused)) i64 even_parts(i64 rows, i64 most, i64 fewest, i64 beside, i64 threads)
{
    i64 best = most, least = parts(parts(rows, most) * beside, threads) * most;
    for (i64 height = most - 1; height >= fewest && 2 * height >= most - 1; height--) {
        const i64 longest = parts(parts(rows, height) * beside, threads) * height;
        if (longest < least) best = height, least = longest;
    }
    return best;
}

/* Number of weights, read in order, that take as long to fetch as one number of an image. */
enum { FORESEEN = 4 };

/* Return the start of chunk k of `count` nearly equal ones.  Longer chunks are spread, so both halves are nearly equal. */
INLINE i64 begin_of(i64 total, i64 count, i64 k) { return total * k / count; }

#if COMPLEX
#define MULTIPLY(a, b) multiply_complex(a, b)
/* C's complex product checks NaNs for infinities, which costs a call; BLAS does not. */
INLINE T multiply_complex(T a, T b)
{
    T product;
    __real__ product = __real__ a * __real__ b - __imag__ a * __imag__ b;
    __imag__ product = __real__ a * __imag__ b + __imag__ a * __real__ b;
    return product;
}
#else
#define MULTIPLY(a, b) ((a) * (b))
#endif
