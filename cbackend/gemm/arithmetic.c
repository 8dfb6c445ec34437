/* Definitions that all files of the matrix products share.  In front of it stand the declarations, T (the dtype), REAL (the dtype
   of its parts), COMPLEX, FALLBACK and BLAS_FIRST (0 or 1); tile.c, panels.c, blocks.c, little.c,
   vector.c, ../runtime/linear_algebra.c, batch.c, attention.c and table.c follow in the same unit.  With BYTES it is bytes.c,
   tables.c, nibbles.c, sparse.c and byte_table.c. */

#if !defined(BYTES)
#define BYTES 0
#endif
#define EXPORT __attribute__((visibility("default")))
#define INLINE static inline __attribute__((always_inline))

/* Sums of products may fuse: no order of rounding is promised for a matrix product, and it takes twice as long without.
   With FALLBACK only the micro-kernel is compiled with effort: every first start of a program with a product waits for
   this unit.  What is done with sums of bytes is rounded as NumPy does. */
#if BYTES && defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif BYTES
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", "fp-contract=off")
#elif defined(__clang__)
#pragma STDC FP_CONTRACT ON
#elif FALLBACK
#pragma GCC optimize("O1", "no-tree-vectorize", "fp-contract=fast")
#else
#pragma GCC optimize("O2", "tree-vectorize", "vect-cost-model=dynamic", "fp-contract=fast") /* -O3: the same speed */
#endif

/* Whether our own loops keep up with the BLAS, which then is not asked. */
#if !COMPLEX && !BLAS_FIRST && (defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__)))
enum { OWN_LOOPS = 1 };
#else
enum { OWN_LOOPS = 0 };
#endif

INLINE i64 at_most(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 at_least(i64 a, i64 b) { return a > b ? a : b; }
/* How many parts of at most `most` make `total`. */
INLINE i64 parts(i64 total, i64 most) { return (total + most - 1) / most; }

/* So few panels of weights are an even number, for two threads; ops/weights.py lays weights in the same way. */
enum { EVEN = 16 };
static __attribute__((unused)) i64 even_panels(i64 blocks, i64 most)
{
    const i64 count = parts(blocks, most);
    return count > 1 && count < EVEN ? at_most(blocks, count + count % 2) : count;
}

/* Rows of a strip, `most` or fewer, at best no less than `fewest` or half: those for which the thread with the most to do
   has the least.  A strip is `beside` tasks. */
static __attribute__((unused)) i64 even_parts(i64 rows, i64 most, i64 fewest, i64 beside, i64 threads)
{
    i64 best = most, least = parts(parts(rows, most) * beside, threads) * most;
    for (i64 height = most - 1; height >= fewest && 2 * height >= most - 1; height--) {
        const i64 longest = parts(parts(rows, height) * beside, threads) * height;
        if (longest < least) best = height, least = longest;
    }
    return best;
}

/* Weights, which are read in their order, that take as long to be fetched as a number of an image. */
enum { FORESEEN = 4 };

/* Where part number k of `count` nearly equal parts begins: the longer ones are spread, so both halves are nearly equal. */
INLINE i64 begin_of(i64 total, i64 count, i64 k) { return total * k / count; }

#if COMPLEX
#define MULTIPLY(a, b) multiply_complex(a, b)
/* C's own product looks for infinities behind NaNs, which BLAS does not and which costs a call. */
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
