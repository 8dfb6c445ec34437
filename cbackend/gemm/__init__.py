"""Matrix products by our own loops: C text for one dtype, which the runtime builds with its calls of the BLAS."""
