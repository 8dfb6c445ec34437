"""Casts: `cast{dtype}`, an elementwise op with a parameter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Kind, Variable
from ...graph.types import dtype_name
from ...record import record
from ..core import promotion
from ..core.derivatives import Row, elementwise_vjp
from ..core.promotion import Loop, Operand
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import DTypeLike, TensorLike
from ..writing import code, latex
from .pointwise import Pointwise


@record(repr=False)
class Cast(Pointwise):
    """The input converted to another dtype by NumPy's `astype`; a complex number does not become a real one."""

    dtype: str
    name: ClassVar[str] = "cast"  # type: ignore[misc]
    arity: ClassVar[int] = 1
    cost: ClassVar[int] = 1
    derivative: ClassVar[Row] = (lambda g, y, x: g,)  # type: ignore[misc]
    real_slopes: ClassVar[bool] = True  # type: ignore[misc]
    explains: ClassVar[bool] = True
    picture: ClassVar[Kind] = Kind.SHAPE
    formula: ClassVar[Callable[..., Any]] = latex.first

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`x.astype('float32')`."""
        assert output.owner is not None
        return f"{speaker.atom(output.owner.inputs[0])}.astype({self.dtype!r})", code.ATOM

    def loop(self, dtypes: tuple[Operand, ...]) -> Loop:
        """The operand as it is, and the dtype of the cast."""
        (given,) = dtypes
        name = promotion.result_type((given,))
        if name.startswith("complex") and not self.dtype.startswith("complex") and self.dtype != "bool":
            raise TypeError(f"the imaginary part would be lost; use T.real(x) or T.abs(x) and then {self.dtype}")
        return (name,), self.dtype

    def check_count(self, count: int) -> None:
        if count != 1:
            raise TypeError(f"cast takes 1 operand, got {count}")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (values[0].astype(self.dtype),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return elementwise_vjp(node, cotangents[0])


def cast(x: TensorLike, dtype: DTypeLike) -> TensorVariable:
    """`x` as `dtype`, NumPy's `astype`; `x` itself where it has that dtype.

    Raises TypeError for complex numbers cast to real ones (take `real` or `abs` first), and for a dtype of None, which
    NumPy takes for float64.
    """
    if dtype is None:
        raise TypeError("cast: dtype must be given, got None; write 'float64' if you mean what NumPy takes None for")
    name = dtype_name(dtype)
    x = as_tensor(x)
    return x if getattr(x, "dtype", None) == name else Cast(name)(x)
