"""Determinants of square matrices, batched over leading axes.

Their derivative is det(a) * inv(a)^H (Jacobi's formula; Giles, 2008, section 2.2.4), so it asks for a matrix that is
not singular.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import ops as T
from ..graph import Apply, Dim, TensorType, Variable
from ..record import record
from .matrix_ops import MatrixOp, adjoint, real_dtype
from .solving import Inverse
from .tensor import TensorVariable


@record(repr=False)
class Det(MatrixOp):
    """The determinants of square matrices; 1 for a matrix without elements."""

    name = "det"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.square(inputs)
        return (a.with_shape(a.shape[:-2]),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (np.asarray(np.linalg.det(values[0])),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0][:-2],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (a,) = cotangents, node.inputs
        if g is None:
            return [None]
        value = T.conj(node.out) if a.type.kind == "c" else node.out
        return [_scaled_inverse(T.mul(g, value), a)]


@record(repr=False)
class SlogDet(MatrixOp):
    """The signs of determinants (for complex dtypes numbers of modulus 1) and the logarithms of their moduli.

    A singular matrix has sign 0 and logarithm -inf.
    """

    name = "slogdet"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        a = self.square(inputs)
        sign = a.with_shape(a.shape[:-2])
        return sign, TensorType(real_dtype(a.dtype), sign.shape)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            sign, logarithm = np.linalg.slogdet(values[0])
        return np.asarray(sign), np.asarray(logarithm)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0][:-2], inputs[0][:-2]

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (a,), (g_sign, g_log), (sign, _) = node.inputs, cotangents, node.outputs
        parts = [] if g_log is None else [T.cast(g_log, a.dtype)]
        if a.type.kind == "c" and g_sign is not None:  # the sign turns with the imaginary part of tr(inv(a) da)
            turn = T.neg(T.imag(T.mul(T.conj(g_sign), sign)))
            parts.append(T.mul(T.constant(1j, a.dtype), T.cast(turn, a.dtype)))
        if not parts:
            return [None]
        return [_scaled_inverse(parts[0] if len(parts) == 1 else T.add(*parts), a)]


def _scaled_inverse(factor: Variable, a: Variable) -> TensorVariable:
    """factor * inv(a)^H, a factor a matrix."""
    return T.mul(T.expand_dims(factor, (-2, -1)), adjoint(Inverse()(a)))
