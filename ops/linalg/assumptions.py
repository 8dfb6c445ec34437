"""Assumptions about matrices: properties that the user knows and no op can infer.

    solve(assume(a, "positive_definite"), b)

The rules of linear algebra (optdb/rules/) read them and choose the cheaper method; values are not changed, and not
checked unless they are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable
from ...record import record
from ..control.batching import on_last_axes
from ..core.checks import describe, require_count
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..elementwise import costs

if TYPE_CHECKING:
    from ..writing import code

__all__ = ["assume"]


def _lower(a: np.ndarray) -> bool:
    return not np.triu(a, 1).any()


def _upper(a: np.ndarray) -> bool:
    return not np.tril(a, -1).any()


def _positive_definite(a: np.ndarray) -> bool:
    if not np.allclose(a, np.conj(np.swapaxes(a, -1, -2)), equal_nan=True):
        return False
    return bool((np.linalg.eigvalsh(a) > 0).all())


def _orthogonal(a: np.ndarray) -> bool:
    return np.allclose(np.conj(np.swapaxes(a, -1, -2)) @ a, np.eye(a.shape[-1]), atol=1e-5)


CHECKS: dict[str, Callable[[np.ndarray], bool]] = {
    "lower_triangular": _lower,
    "upper_triangular": _upper,
    "diagonal": lambda a: _lower(a) and _upper(a),
    "symmetric": lambda a: np.allclose(a, np.swapaxes(a, -1, -2), equal_nan=True),
    "positive_definite": _positive_definite,
    "orthogonal": _orthogonal,
}
"""The properties that can be promised of square matrices, each with its test.

"symmetric": equal to the transpose; "positive_definite": Hermitian (symmetric, if real) with positive eigenvalues;
"orthogonal": its columns are orthonormal (complex: unitary).
"""


@record(repr=False)
class Assume(TensorOp):
    """The input, whose matrices in the last two axes are promised to be square and have `property`; a view."""

    property: str
    name = "assume"
    spelling = "assume"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = on_last_axes

    def __post_init__(self) -> None:
        if self.property not in CHECKS:
            raise ValueError(f"no property {self.property!r} can be assumed; expected one of {', '.join(CHECKS)}")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if x.ndim < 2 or (None not in x.type.shape[-2:] and x.type.shape[-2] != x.type.shape[-1]):
            raise ValueError(f"assume: {describe(x)} has no square matrices in its last two axes")
        if isinstance(x, Constant) and not CHECKS[self.property](x.data):
            raise ValueError(f"assume: {describe(x)} is not {self.property.replace('_', ' ')}")
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return values

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return tuple(inputs)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return cotangents

    def views(self) -> dict[int, int]:
        return {0: 0}

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`assume(x, "diagonal")`, and x itself in NumPy."""
        assert output.owner is not None
        (x,) = output.owner.inputs
        return speaker.codes[x] if speaker.numpy else speaker.call("assume", speaker.text(x), repr(self.property))


def assume(x: TensorLike, *properties: str) -> TensorVariable:
    """`x` with the promise that its matrices, in the last two axes, have `properties`; the values are those of `x`.

    Properties: "symmetric", "positive_definite", "lower_triangular", "upper_triangular", "diagonal", "orthogonal".  A
    promise that does not hold gives wrong numbers.  Raises ValueError for another property, for a matrix known not to
    be square, and for a constant that lacks the property.
    """
    x = as_tensor(x)
    if not properties:
        raise ValueError(f"assume(x) promises nothing; expected one or more of {', '.join(CHECKS)}")
    for name in properties:
        x = Assume(name)(x)
    return x
