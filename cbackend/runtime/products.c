/* Unit: the kernels of one float dtype (element.h).  CONVOLUTIONS: with those in blocks of channels. */
#include "prebuilt.h"
#include "../abi/runtime.h"
#include "../kernels/products/arithmetic.c"
#include "../kernels/products/tile.c"
#include "../kernels/products/panels.c"
#include "../kernels/products/blocks.c"
#include "../kernels/products/little.c"
#include "../kernels/products/vector.c"
#include "../kernels/products/blas.c"
#include "../kernels/products/choices.c"
#ifdef CONVOLUTIONS
#include "../kernels/convolutions/strips.c"
#include "../kernels/convolutions/direct.c"
#include "../kernels/convolutions/depthwise.c"
#include "../kernels/pools/pools.c"
#include "../kernels/pools/neighbours.c"
#include "../kernels/convolutions/grouped.c"
#include "../kernels/convolutions/winograd.c"
#include "../kernels/convolutions/pairs.c"
#include "../kernels/convolutions/kernel_gradient.c"
#endif
#include "../kernels/products/batch.c"
#include "../kernels/products/vectors.c"
#include "../kernels/convolutions/lines.c"
#include "../kernels/convolutions/windows.c"
#include "../kernels/attention/attention.c"
#include "../kernels/linear_algebra/cholesky_gradient.c"
#include "../kernels/sparse/sparse.c"
#include "../kernels/sparse/values.c"
#include "../kernels/sampling/sampling.c"
#include "../kernels/slots.h"

/* Fill the entries.  found: the CBLAS functions gemm, gemv, ger and dot of this dtype, each of which may be NULL. */
EXPORT void ag_blas_install(ag_blas *entries, void *const *found, i32 takes_wide, i64 alone)
{
    wide = takes_wide;
    quiet = alone;
    for (int i = 0; i < 4; i++) symbols[i] = found[i];
    const ag_blas own = {PRODUCTS_SLOTS};
    void *const *from = (void *const *)&own, **into = (void **)entries;
    for (unsigned k = 0; k < sizeof own / sizeof *from; k++) /* the other slots may be those of a larger library */
        if (from[k]) into[k] = from[k];
}
