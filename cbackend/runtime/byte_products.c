/* Unit: products and tables of bytes. */
#include "prebuilt.h"
#include "../abi/runtime.h"
#include "../kernels/quantized/bytes.c"
#include "../kernels/quantized/registers.c"
#include "../kernels/quantized/sums.c"
#include "../kernels/quantized/products.c"
#include "../kernels/quantized/tables.c"
#include "../kernels/quantized/words.c"
#include "../kernels/slots.h"

/* Fill the entries.  No BLAS has products of bytes. */
EXPORT void ag_blas_install(ag_byte_table *entries, void *const *found, i32 takes_wide, i64 alone)
{
    (void)found, (void)takes_wide, (void)alone;
    *entries = (ag_byte_table){BYTES_SLOTS};
}
