"""Results of several parts as named tuples, with the names that NumPy and the array API standard give them."""

from __future__ import annotations

from typing import NamedTuple

from ..core.tensor import TensorVariable


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors of square matrices."""

    eigenvalues: TensorVariable
    eigenvectors: TensorVariable


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors of Hermitian matrices."""

    eigenvalues: TensorVariable
    eigenvectors: TensorVariable


class QRResult(NamedTuple):
    """Factors with orthonormal columns, and upper triangular ones."""

    Q: TensorVariable
    R: TensorVariable


class SlogdetResult(NamedTuple):
    """Signs of determinants, and logarithms of their moduli."""

    sign: TensorVariable
    logabsdet: TensorVariable


class SVDResult(NamedTuple):
    """Singular vectors and values."""

    U: TensorVariable
    S: TensorVariable
    Vh: TensorVariable
