"""The k greatest or least elements along an axis, and their positions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable
from ...record import record
from ..control.batching import on_last_axes
from ..core.checks import describe, normalize_axis
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable, as_tensor, outputs_of
from ..core.typing import LengthLike, TensorLike
from ..elementwise import costs
from ..shapes.lengths import as_length
from ..shapes.shape import tensor_to_dim

__all__ = ["topk"]


@record(repr=False)
class TopK(TensorOp):
    """The k greatest (or least) elements of each last axis, the first of them first, and their positions, int64.

    NaN counts as greater than any number, as NumPy sorts it.  Of equal elements the first ones stand first.
    """

    largest: bool = True
    name = "topk"
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    batching: ClassVar[Callable[..., Any]] = on_last_axes
    fallible: ClassVar[bool] = True
    error: ClassVar[type[Exception]] = ValueError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, k = inputs
        if x.ndim < 1 or x.type.kind == "c":
            raise TypeError(f"topk takes real numbers along an axis, got {describe(x)}")
        count = int(k.data) if isinstance(k, Constant) else None
        n = x.type.shape[-1]
        if count is not None and (count < 0 or (n is not None and count > n)):
            raise ValueError(f"topk: k must be from 0 to the length of the axis, got {count} for {describe(x)}")
        found = x.type.with_shape((*x.type.shape[:-1], count))
        return found, found.with_dtype("int64")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, k = values[0], int(values[1])
        n = x.shape[-1]
        if not 0 <= k <= n:
            raise ValueError(self.broken(0, n, k) if k > 0 else self.broken(1, k, 0))
        if self.largest:  # of the reversed axis, from the end: equal elements stay in order
            order = n - 1 - np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :k]
        else:
            order = np.argsort(x, axis=-1, kind="stable")[..., :k]
        return np.take_along_axis(x, order, -1), order.astype(np.int64, copy=False)

    def broken(self, bound: int, greater: int, less: int) -> str:
        """The message for a k that is greater than the length of the axis (bound 0), or negative (bound 1)."""
        if bound:
            return f"topk: k must be from 0 to the length of the axis, got {greater}"
        return f"topk: k must be from 0 to {greater}, the length of the axis, got {less}"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        found = (*inputs[0][:-1], tensor_to_dim(node.inputs[1]))
        return found, found

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        g, (x, _), places = cotangents[0], node.inputs, node.outputs[1]
        if g is None:
            return [None, None]
        return [T.put_along_axis(T.zeros_like(x), places, g, -1), None]


def topk(
    x: TensorLike, k: LengthLike, axis: int = -1, *, largest: bool = True
) -> tuple[TensorVariable, TensorVariable]:
    """(values, positions) of the `k` greatest elements along `axis` in descending order; the least, without `largest`.

    NaN counts as greater than any number, and of equal elements the first stands first.  `k` is an integer or integer
    scalar; ValueError for one that is not from 0 to the length of the axis, at run time where only the run knows.
    """
    x = as_tensor(x)
    place = normalize_axis(axis, x.ndim, f"topk of {describe(x)}")
    values, positions = outputs_of(TopK(bool(largest)), T.moveaxis(x, place, -1), as_length(k, "topk"))
    return T.moveaxis(values, -1, place), T.moveaxis(positions, -1, place)
