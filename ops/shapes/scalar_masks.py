"""`x[mask]` for a mask that is one bool: all of x, or nothing, along a new first axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Lacks, TensorType, Variable
from ...graph.dims import opaque_dims
from ...record import record
from ..core.checks import describe, require_count
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs


@record(repr=False)
class WholeIf(TensorOp):
    """`whole_if(x, flag)`: x with a new first axis, of length 1 if the flag is true, else 0."""

    name = "whole_if"
    picture: ClassVar[Kind] = Kind.INDEX
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(batching="its length would differ from one example to the next")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        x, flag = inputs
        if flag.ndim or flag.dtype != "bool":
            raise TypeError(f"{self.name}: the mask must be a bool scalar, got {describe(flag)}")
        return (x.type.with_shape((None, *x.type.shape)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, flag = values
        return (np.array(x[np.newaxis][: int(flag)]),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((opaque_dims(node.out)[0], *inputs[0]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        return [None if g is None else T.sum(g, axis=0), None]


def written(x: Variable, flag: Variable, value: Variable, put: bool) -> Variable:
    """Return `x` with `value`, broadcast to it, put there or added if the flag is true."""
    whole: Variable = T.broadcast_to(T.sum(value, axis=0) if value.ndim > x.ndim else value, T.lengths_of(x))
    if value.ndim > x.ndim:  # one value, or none for a false flag
        whole = T.cast(whole, x.dtype)
    changed: Variable = T.switch(flag, whole if put else T.add(x, whole), x)
    return changed
