"""Systems of equations and factorizations, by the LAPACK of the process or by our own loops, over a batch."""
