"""The functions that generated code may call: the pool, the clock, matrix products through the BLAS in the process."""
