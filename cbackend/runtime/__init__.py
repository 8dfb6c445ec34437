"""The functions that generated code may call: pool, clock, matrix products by the BLAS of the process."""
