"""Random matrices of the kinds that linear algebra asks for."""

import numpy as np


def matrices(shape, dtype, seed=0):
    """Well-conditioned random matrices."""
    rng = np.random.default_rng(seed)
    m, n = shape[-2:]
    made = rng.standard_normal(shape) + 3 * np.eye(m, n)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.standard_normal(shape)
    return (4 * made).astype(dtype)


def hermitian(shape, dtype, seed=0):
    """Positive definite matrices."""
    a = matrices(shape, dtype, seed)
    return (a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(shape[-1])).astype(a.dtype)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))
