"""The discrete Fourier transform along the last axis, computed by NumPy.

    Fourier("fft")(x), Fourier("ifft")(x)   complex -> complex, of equal length
    Fourier("rfft")(x)                      real, of length n -> complex, of length n // 2 + 1
    Fourier("irfft")(x, n)                  complex -> real, of length n; x has the length n // 2 + 1

A transform is a linear map, so its derivative is its adjoint: the other direction with the other scale.  The real forms
keep half of the frequencies, each of which stands for two; the adjoint halves or doubles them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable, dims
from ...record import record
from ..control.batching import on_last_axes
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable
from ..elementwise import costs
from ..shapes.lengths import lengths_of
from .blas import BLAS_DTYPES
from .matrix_ops import real_dtype

if TYPE_CHECKING:
    from ..writing import code

KINDS = ("fft", "ifft", "rfft", "irfft")
SCALED_BACK = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
"""The scale of the adjoint of a transform; also that of the other direction of `hfft`."""
_COMPLEX = {"float32": "complex64", "float64": "complex128"}
_ADJOINT = {"fft": "ifft", "ifft": "fft"}


@record(repr=False)
class Fourier(TensorOp):
    """A transform of `kind` along the last axis, scaled as NumPy's `norm` says.

    It takes float32, float64, complex64 and complex128.  A run raises ValueError for a length of 0.
    """

    kind: str
    norm: str = "backward"
    name = "fourier"
    fallible = True
    error: ClassVar[type[Exception]] = ValueError
    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"fourier: kind must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.norm not in SCALED_BACK:
            raise ValueError(f'fourier: norm must be "backward", "ortho" or "forward", got {self.norm!r}')

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2 if self.kind == "irfft" else 1)
        x = inputs[0]
        wanted = [d for d in BLAS_DTYPES if (d in _COMPLEX) == (self.kind == "rfft")]
        if x.ndim < 1 or x.dtype not in wanted:
            raise TypeError(f"{self.kind} takes tensors of {' or '.join(wanted)} and rank 1 or more, got {describe(x)}")
        *batch, n = x.type.shape
        if self.kind == "irfft":
            length = inputs[1]
            if length.ndim or length.dtype != "int64":
                raise TypeError(f"irfft takes its length as an int64 scalar, got {describe(length)}")
            n = int(length.data) if isinstance(length, Constant) else None
            return (TensorType(real_dtype(x.dtype), (*batch, n)),)
        if self.kind == "rfft":
            return (TensorType(_COMPLEX[x.dtype], (*batch, None if n is None else n // 2 + 1)),)
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        transform: Any = getattr(np.fft, self.kind)
        lengths = [int(n) for n in values[1:]]
        return (transform(values[0], *lengths, axis=-1, norm=self.norm),)

    def broken(self, operand: int, n: int) -> str:
        """The message for a length below 1."""
        return f"{self.kind} takes 1 number or more, got {n}"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        *batch, n = inputs[0]
        if self.kind == "irfft":
            n = T.tensor_to_dim(node.inputs[1])
        elif self.kind == "rfft":
            n = dims.add(dims.floordiv(n, 2), 1)
        return ((*batch, n),)

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`fft.rfft(x)`."""
        assert output.owner is not None
        options = {} if self.norm == "backward" else {"norm": self.norm}
        return speaker.call(f"fft.{self.kind}", *speaker.texts(output.owner.inputs), **options)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x, *length) = cotangents, node.inputs
        norm = SCALED_BACK[self.norm]
        if g is None:
            return [None] * len(node.inputs)
        if self.kind in _ADJOINT:
            return [Fourier(_ADJOINT[self.kind], norm)(g)]
        if self.kind == "rfft":
            n = lengths_of(x)[-1]
            return [Fourier("irfft", norm)(_weighted(g, n, 0.5), n)]
        return [_weighted(Fourier("rfft", norm)(g), length[0], 2), None]


def _weighted(frequencies: Any, n: Any, weight: float) -> TensorVariable:
    """The half of the frequencies of a real signal of length n, times `weight` where one stands for two."""
    place = T.arange(lengths_of(frequencies)[-1])
    alone = T.or_(T.eq(place, 0), T.eq(place * 2, n))
    return T.mul(frequencies, T.switch(alone, np.float32(1), np.float32(weight)))
