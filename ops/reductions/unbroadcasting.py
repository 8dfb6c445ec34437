"""Sums back to a shape: `SumTo()(g, like)`, cotangents of operands that broadcast."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable, dims_of, same_shape
from ...record import record
from ..control.batching import Examples, Flags, aligned, all_broadcast
from ..core.checks import describe, require_count
from ..core.namespace import T, classes
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..elementwise.records import add
from .reduce import Reduce, with_kept_axes

__all__ = ["unbroadcast"]


@record(repr=False)
class SumTo(TensorOp):
    """The first input summed to the shape of the second one, which broadcasts to it and whose values are not read.

    Which axes are summed is decided at run time, as broadcasting is.  `unbroadcast` builds it where nothing better is
    known.
    """

    name: ClassVar[str] = "sum_to"  # type: ignore[misc]
    unread = 1
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        x, like = inputs
        if x.type.kind not in "fc":
            raise TypeError(f"sum_to takes floats or complex numbers, got {describe(x)}")
        shape, target = x.type.shape, like.type.shape
        fits = len(target) <= len(shape) and builtins.all(
            m == 1 or m == n or m is None or n is None
            for n, m in zip(shape[len(shape) - len(target) :], target, strict=True)
        )
        if not fits:
            raise ValueError(f"sum_to: {describe(like)} does not broadcast to the shape of {describe(x)}")
        return (x.type.with_shape(target),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, like = values
        added = x.ndim - like.ndim
        broadcast = tuple(a for a in range(x.ndim) if a < added or like.shape[a - added] == 1 != x.shape[a])
        with np.errstate(all="ignore"):
            result = np.add.reduce(x, axis=broadcast)
        return (np.array(np.reshape(result, like.shape), dtype=x.dtype),)

    def may_view(self) -> dict[int, int]:
        return {0: 0}

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[1],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (x, _), (g,) = node.inputs, cotangents
        return [None if g is None else T.fill(x, g), None]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        x, like = all_broadcast(inputs, flags, examples)
        ndim, own = (i.ndim for i in node.inputs)
        summed = SumTo()(x, aligned(like, True, own, ndim))
        return classes.DimShuffle((0, *range(1 + ndim - own, 1 + ndim)))(summed)


def unbroadcast(cotangent: Variable, like: Variable) -> Variable:
    """`cotangent`, whose shape `like` was broadcast to, summed back to the shape of `like`.

    Axes that are certainly broadcast are summed by a `Reduce`, certainly equal ones are left alone; `SumTo` sees to the
    rest, of which only the run will show.
    """
    made = cotangent.owner
    if made is not None and isinstance(made.op, SumTo) and _is_broadcast(made.inputs[1]):
        cotangent = made.inputs[0]  # `like` broadcasts to that as well
    if same_shape(cotangent, like):
        return cotangent
    sums, certain = broadcast_axes(cotangent, like)
    added = cotangent.ndim - like.ndim
    reduced = Reduce(add, tuple(sums))(cotangent) if sums else cotangent
    aligned = with_kept_axes(reduced, tuple(a - added for a in sums if a >= added), like.ndim)
    return aligned if certain else SumTo()(aligned, like)


def _is_broadcast(v: Variable) -> bool:
    return v.owner is not None and isinstance(v.owner.op, classes.BroadcastTo)


def broadcast_axes(wide: Variable, narrow: Variable) -> tuple[list[int], bool]:
    """Return the axes of `wide` along which `narrow` was certainly broadcast, and whether it was along no other."""
    narrow_dims, wide_dims = dims_of(narrow), dims_of(wide)
    added = len(wide_dims) - len(narrow_dims)
    broadcast, certain = list(range(added)), True
    for axis in range(added, len(wide_dims)):
        mine, theirs = narrow_dims[axis - added], wide_dims[axis]
        if mine == 1:
            broadcast += [axis] if theirs != 1 else []
        elif mine is not theirs and not isinstance(mine, int):
            certain = False
    return broadcast, certain
