/* Unit: sorts, selections and searches of every dtype, patterns and extremes of sparse matrices. */
#include "prebuilt.h"
#include "../abi/runtime.h"
#include "../kernels/sorting/select.c"
#include "../kernels/sorting/search.c"
#include "../kernels/sorting/lengths.c"
#include "../kernels/sorting/suppression.c"
#include "../kernels/sparse/extremes.c"
#include "../kernels/slots.h"

/* Fill the entries.  No BLAS sorts. */
EXPORT void ag_blas_install(ag_sort_table *entries, void *const *found, i32 takes_wide, i64 alone)
{
    (void)found, (void)takes_wide, (void)alone;
    *entries = (ag_sort_table){SORTS_SLOTS};
}
