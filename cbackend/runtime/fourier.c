/* Unit: Fourier transforms. */
#include "prebuilt.h"
#include "../abi/runtime.h"
#include "../kernels/fourier/both.c"
#include "../kernels/slots.h"

/* Fill the entries.  No BLAS transforms. */
EXPORT void ag_blas_install(ag_fourier_table *entries, void *const *found, i32 takes_wide, i64 alone)
{
    (void)found, (void)takes_wide, (void)alone;
    *entries = (ag_fourier_table){FOURIER_SLOTS};
}
