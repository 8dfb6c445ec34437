/* Unit: convolutions and attention of numbers of 16 bits. */
#include "prebuilt.h"
#include "../abi/runtime.h"
#include "../kernels/products/arithmetic.c"
#include "../kernels/products/tile.c"
#include "../kernels/convolutions/word_pairs.c"
#include "../kernels/pools/pools.c"
#include "../kernels/attention/words.c"
#include "../kernels/slots.h"

/* Fill the entries.  No BLAS has them. */
EXPORT void ag_blas_install(ag_narrow_table *entries, void *const *found, i32 takes_wide, i64 alone)
{
    (void)found, (void)takes_wide, (void)alone;
    *entries = (ag_narrow_table){NARROW_SLOTS};
}
