"""Matrix products by our own loops: C text per dtype, which the runtime builds together with its calls of the BLAS."""
