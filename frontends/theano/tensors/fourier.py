"""`theano.tensor.fft`: real Fourier transforms over all axes but the first; NumPy computes them in every mode.

A complex number is a pair along a last axis of length 2, as in Theano.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....record.spelling import counted
from ..graphs.user_ops import DisconnectedType, Op
from .elementwise import cast
from .types import TensorType
from .variables import Apply, as_tensor_variable, wrap


class RFFTOp(Op):
    """The transform of real numbers, not scaled: `rfft_op(x, lengths)`."""

    __props__ = ()

    def output_type(self, inp: Any) -> TensorType:
        """The type for an input: one more axis, for real and imaginary parts."""
        return TensorType(inp.dtype, [*inp.broadcastable[:-1], False, False])

    def make_node(self, a: Any, s: Any = None) -> Apply:
        a = _real("rfft", a, 2)
        s = a.shape[1:] if s is None else as_tensor_variable(s)
        return Apply(self, [a, _lengths(s)], [self.output_type(a)()])

    def perform(self, node: Any, inputs: Any, output_storage: Any, params: Any = None) -> None:
        a, s = inputs
        found = np.fft.rfftn(a, s=tuple(s), axes=tuple(range(1, a.ndim)))
        output_storage[0][0] = np.stack([found.real, found.imag], -1).astype(a.dtype)

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        """The inverse transform, with frequencies that represent a pair halved."""
        (g,), s = output_grads, inputs[1]
        return [irfft_op(_doubled(g, s, 0.5), s), DisconnectedType()()]


class IRFFTOp(Op):
    """The transform back to real numbers, not scaled: `irfft_op(x, lengths)`."""

    __props__ = ()

    def output_type(self, inp: Any) -> TensorType:
        """The type for an input: one axis less."""
        return TensorType(inp.dtype, [*inp.broadcastable[:-2], False])

    def make_node(self, a: Any, s: Any = None) -> Apply:
        a = _real("irfft", a, 3)
        s = _whole(a, False) if s is None else as_tensor_variable(s)
        return Apply(self, [a, _lengths(s)], [self.output_type(a)()])

    def perform(self, node: Any, inputs: Any, output_storage: Any, params: Any = None) -> None:
        a, s = inputs
        found = np.fft.irfftn(a[..., 0] + 1j * a[..., 1], s=tuple(s), axes=tuple(range(1, a.ndim - 1)))
        output_storage[0][0] = (found * s.prod()).astype(a.dtype)

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        """The transform, with frequencies that represent a pair doubled."""
        (g,), s = output_grads, inputs[1]
        return [_doubled(rfft_op(g, s), s, 2), DisconnectedType()()]


def _real(name: str, x: Any, rank: int) -> Any:
    """Raises TypeError for numbers that are not real, or too few dimensions."""
    x = as_tensor_variable(x)
    if x.ndim < rank:
        raise TypeError(f"{name}: expected {counted(rank, 'dimension')} or more, got {x} of type {x.type}")
    if not x.dtype.startswith("float"):
        raise TypeError(f"{name}: expected floats, got {x} of type {x.type}; use T.cast(x, 'floatX')")
    return x


def _lengths(s: Any) -> Any:
    if not s.dtype.startswith(("int", "uint")):
        raise TypeError(f"the lengths of the transform must be integers, got {s} of type {s.type}")
    return s


def _doubled(frequencies: Any, s: Any, factor: float) -> Any:
    """The frequencies, scaled where one also represents its negative frequency."""
    last = as_tensor_variable(s)[-1].core
    middle = (*[slice(None)] * (frequencies.ndim - 2), slice(1, last // 2 + last % 2))
    part: Any = frequencies.core[middle]
    return wrap(T.set_subtensor(part, T.mul(part, T.constant(factor, frequencies.dtype))), frequencies)


def _whole(inp: Any, is_odd: bool) -> Any:
    """The lengths of the real numbers for an array of frequencies."""
    s = T.shape(inp.core)[1:-1]
    lengths = [s[n] for n in range(inp.ndim - 2)]
    lengths[-1] = (lengths[-1] - 1) * 2 + int(is_odd)
    return wrap(T.stack(lengths), inp)


def _scaled(x: Any, s: Any, norm: str | None, inverse: bool) -> Any:
    """A transform divided by the number of points, or by its root for norm="ortho"."""
    if norm not in (None, "ortho", "no_norm"):
        raise ValueError(f"fft: norm is {norm!r}; expected None, 'ortho' or 'no_norm'")
    points = cast(wrap(T.prod(s.core)), x.dtype)
    if norm == "ortho":
        return x / wrap(T.sqrt(points.core))
    return x / points if inverse and norm is None else x


def rfft(inp: Any, norm: str | None = None) -> Any:
    """The Fourier transform of real numbers over all axes but the first, with pairs along a new last axis.

    `norm`: None, "ortho" for a division by the root of the number of points, or "no_norm".
    """
    x = _real("rfft", inp, 2)
    s = x.shape[1:]
    return _scaled(rfft_op(x, s), s, norm, False)


def irfft(inp: Any, norm: str | None = None, is_odd: bool = False) -> Any:
    """The real numbers of frequencies, divided by the number of points; `is_odd`: whether their last length is odd."""
    x = _real("irfft", inp, 3)
    s = _whole(x, is_odd)
    return _scaled(irfft_op(x, s), s, norm, True)


rfft_op, irfft_op = RFFTOp(), IRFFTOp()
FOURIER = {
    "rfft": rfft, "irfft": irfft, "rfft_op": rfft_op, "irfft_op": irfft_op, "RFFTOp": RFFTOp, "IRFFTOp": IRFFTOp,
}  # fmt: skip
