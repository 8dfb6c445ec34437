/* Fill the entries.  found: the CBLAS functions gemm, gemv, ger and dot of this dtype, each of which may be NULL. */
EXPORT void ag_blas_install(ag_blas *entries, void *const *found, i32 takes_wide, i64 alone)
{
    wide = takes_wide;
    quiet = alone;
    for (int i = 0; i < 4; i++) symbols[i] = found[i];
    *entries = (ag_blas){
        .product = multiply_all, .gemv = gemv, .ger = ger, .dot = dot, PRODUCTS_SLOTS
    };
}
