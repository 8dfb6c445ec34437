"""Determinants of square matrices, batched over leading axes.

The derivative of det is det(a) * inv(a)^H (Jacobi's formula; Giles, 2008, section 2.2.4).  These are the cofactors,
which a singular matrix has as well; `Cofactors` computes them from singular vectors and products of singular values.
That of slogdet is inv(a)^H, which is infinite for a singular matrix: LinAlgError, unless the result is not taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...graph import Apply, Dim, NoGradient, TensorType, Variable
from ...record import record
from ..control.cond import chosen
from ..core.derivatives import where_read
from ..core.namespace import T
from ..core.tensor import HostOp, TensorVariable
from ..writing import latex
from .factorizations import SVD
from .lapack import order_of
from .matrix_ops import MatrixOp, adjoint, on_columns, product, real_dtype
from .solving import Inverse


@record(repr=False)
class Det(MatrixOp):
    """The determinants of square matrices; 1 for a matrix without elements."""

    name = "det"
    spelling = "linalg.det"
    formula = latex.function(r"\det")

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
        factor = T.mul(g, T.conj(node.out) if a.type.kind == "c" else node.out)
        if _is_divided_by(g, node.out):  # as the derivative of a logarithm is, which cancels the determinant
            return [_scaled_inverse(factor, a)]
        singular = T.expand_dims(T.eq(node.out, 0), (-2, -1))
        inverse = _scaled_inverse(factor, T.switch(singular, T.eye(T.lengths_of(a)[-1], dtype=a.dtype), a))
        leaf = TensorVariable(a.type)
        (cofactors,) = chosen(T.any(singular), [leaf], [a], [Cofactors()(leaf)], [T.zeros_like(leaf)])
        return [T.switch(singular, T.mul(T.expand_dims(g, (-2, -1)), cofactors), inverse)]


def _is_divided_by(g: Variable, value: Variable) -> bool:
    """Whether the form of `g` shows a division by `value` or its modulus, behind signs and products."""
    for _ in range(4):
        node = g.owner
        if node is None or not node.inputs:
            return False
        if node.op is T.true_div:
            divisor = node.inputs[1]
            return divisor is value or (divisor.owner is not None and value in divisor.owner.inputs)
        g = node.inputs[0]
    return False


@record(repr=False)
class Cofactors(MatrixOp, HostOp):
    """det(a) * inv(a)^H of square matrices, also where they are singular: the (conjugate) cofactors.  NaN for NaN.

    Source: with a = u diag(s) vh they are conj(det(u) det(vh)) u diag(p) vh, p[i] the product of all s but s[i].
    """

    name = "cofactors"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.square(inputs),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (a,) = values
        order_of(self.name, a)
        finite = np.isfinite(a).all((-2, -1), keepdims=True)
        with np.errstate(all="ignore"):
            u, s, vh = np.linalg.svd(np.where(finite, a, 0))
            own = np.eye(s.shape[-1], dtype=bool)
            others = np.where(own, 1, s[..., None, :]).prod(-1)
            turn = np.conj(np.linalg.det(u) * np.linalg.det(vh))
            found = np.matmul(u * others[..., None, :], vh) * turn[..., None, None]
        return (np.where(finite, found, np.nan).astype(a.dtype, copy=False),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return the cotangent by way of the minors of all but two singular values, between the singular vectors."""
        (g,), (a,) = cotangents, node.inputs
        if g is None:
            return [None]
        if a.type.kind == "c":
            raise NoGradient("the second derivative of the determinant of a complex matrix is not there")
        u, s, vh = SVD(full_matrices=False)(a)
        k = T.arange(T.lengths_of(s)[-1])
        axes = [T.expand_dims(k, tuple(n for n in range(3) if n != axis)) for axis in range(3)]
        left_out = T.logical_or(T.eq(axes[2], axes[0]), T.eq(axes[2], axes[1]))
        minors = T.prod(T.switch(left_out, T.constant(1, a.dtype), T.expand_dims(s, (-3, -2))), axis=-1)
        own = T.eq(axes[0][..., 0], axes[1][..., 0])
        inner = product(adjoint(u), g, adjoint(vh))
        zero = T.constant(0, a.dtype)
        others = T.sum(T.mul(T.switch(own, zero, minors), on_columns(T.diagonal(inner, 0, -2, -1))), axis=-1)
        between = T.switch(own, T.expand_dims(others, -1), T.neg(T.mul(adjoint(inner), minors)))
        turn = T.expand_dims(T.mul(Det()(u), Det()(vh)), (-2, -1))
        return [T.mul(turn, product(u, between, vh))]


@record(repr=False)
class SlogDet(MatrixOp):
    """The signs of determinants (for complex dtypes numbers of modulus 1) and the logarithms of their moduli.

    A singular matrix has sign 0 and logarithm -inf.
    """

    name = "slogdet"
    spelling = "linalg.slogdet"

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
        read = a if g_sign is not None or g_log is None else where_read(g_log, a)
        parts = [] if g_log is None else [T.cast(g_log, a.dtype)]
        if a.type.kind == "c" and g_sign is not None:  # the sign turns with the imaginary part of tr(inv(a) da)
            turn = T.neg(T.imag(T.mul(T.conj(g_sign), sign)))
            parts.append(T.mul(T.constant(1j, a.dtype), T.cast(turn, a.dtype)))
        if not parts:
            return [None]
        return [_scaled_inverse(parts[0] if len(parts) == 1 else T.add(*parts), read)]


def _scaled_inverse(factor: Variable, a: Variable) -> TensorVariable:
    """factor * inv(a)^H, a factor a matrix."""
    return T.mul(T.expand_dims(factor, (-2, -1)), adjoint(Inverse()(a)))
