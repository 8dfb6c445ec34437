/* Unit: draws from the streams of NumPy's generators.

   NumPy's functions are SSE code.  AVX instructions between two calls of them take up to ten times as long as a call. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC target("no-avx")
#endif
#include "prebuilt.h"
#include "../abi/runtime.h"
#include "../kernels/draws/draws.c"
#include "../kernels/slots.h"

#define EXPORT __attribute__((visibility("default")))

/* found: the bit generator of a PCG64 and the symbols, or NULL for a NumPy that has others. */
EXPORT void ag_blas_install(ag_draw_table *entries, void *const *found, i32 takes_wide, i64 quiet)
{
    (void)takes_wide, (void)quiet;
    if (found[0]) of_pcg64 = *(const bits *)found[0];
    for (i32 k = 0; k < SYMBOLS; k++) symbols[k] = found[1 + k];
    *entries = (ag_draw_table){DRAWS_SLOTS};
}
