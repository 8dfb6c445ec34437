"""Products of matrices, by the BLAS of the process or by our own loops, and of weights that are laid out ahead."""
