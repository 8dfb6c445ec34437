"""Lengths that are taken as equal: made by the pass `assume_equal`, checked at the start of a call.

    y' = assume_equal(y, length of x)        y, whose lengths are those of x

A call that breaks the assumption raises BrokenAssumption, and its executable runs the graph that assumes nothing: no
user sees the exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, FunctionGraph, Kind, Lacks, TensorType, Variable
from ...graph.dims import opaque_dims
from ...record import record
from ..core.checks import require_index_scalar
from ..core.interpret import interpret
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..shapes.lengths import ShapeI, known_length, tensor_to_dim
from ..shapes.specify import CheckLengths


class BrokenAssumption(ValueError):
    """A call whose lengths are not those that its graph assumes."""


@lru_cache(maxsize=64)
def _one_of_equal(axes: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the first tuple that equals `axes`: match keys of all that read an array compare ops, once a node."""
    return axes


def bare(v: Variable) -> Variable:
    """Return the array of which `assume_equal` knows the lengths."""
    while v.owner is not None and isinstance(v.owner.op, AssumeEqual):
        v = v.owner.inputs[v.index]
    return v


@record(repr=False)
class AssumeEqual(TensorOp):
    """`assume_equal(x, y, ..., lengths)`: the tensors as views; their `axes` have these lengths.

    `axes`: for each length, an int64 scalar, the number of the tensor and the axis.
    """

    axes: tuple[tuple[int, int], ...]
    name = "assume_equal"
    fallible = True
    error: ClassVar[type[Exception]] = BrokenAssumption
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(
        derivative="a pass makes it, when derivatives are taken already",
        batching="a pass makes it, when many examples are one graph already",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", _one_of_equal(self.axes))

    def __hash__(self) -> int:
        """The hash of the first axes: a graph has one such node, and match keys of all that read it hash its op."""
        return hash(self.axes[:2])

    def __reduce__(self) -> Any:
        return AssumeEqual, (self.axes,)

    def parts(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """Return the tensors and the lengths among inputs."""
        count = len(inputs) - len(self.axes)
        return inputs[:count], inputs[count:]

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        tensors, lengths = self.parts(inputs)
        shapes = [list(x.type.shape) for x in tensors]
        for (number, axis), length in zip(self.axes, lengths, strict=True):
            require_index_scalar(self.name, length, "a length")
            known = known_length(length)
            if known is not None and known >= 0:
                shapes[number][axis] = known
        return tuple(x.type.with_shape(tuple(shape)) for x, shape in zip(tensors, shapes, strict=True))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        tensors, lengths = self.parts(values)
        for place, ((number, axis), length) in enumerate(zip(self.axes, lengths, strict=True)):
            have, want = tensors[number].shape[axis], int(length)
            if have != want:
                raise BrokenAssumption(self.broken(place, have, want))
        return tuple(tensors)

    def broken(self, place: int, have: int, want: int) -> str:
        """The message for an axis of another length."""
        number, axis = self.axes[place]
        return f"{self.name}: tensor {number} has length {have} on axis {axis}, not {want}"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        tensors, lengths = self.parts(node.inputs)
        found = [list(opaque_dims(x)) for x in tensors]
        for (number, axis), length in zip(self.axes, lengths, strict=True):
            found[number][axis] = tensor_to_dim(length)
        return tuple(map(tuple, found))

    def views(self) -> dict[int, int]:
        return {k: k for k in range(1 + max(number for number, _ in self.axes))}


@record(repr=False)
class CheckAssumed(CheckLengths):
    """CheckLengths of what a graph assumes, on one of its results.

    Rules drop a value of which only the shape is read, perhaps all results of `assume_equal`: this check remains then.
    """

    name = "check_assumed"
    error: ClassVar[type[Exception]] = BrokenAssumption


def assumed_lengths(graph: FunctionGraph) -> Iterator[tuple[Variable, Variable]]:
    """Yield the pairs of lengths that a graph takes as equal: that of an input, and what it is taken for."""
    node = assumption_in(graph)
    if node is not None:
        op: AssumeEqual = node.op  # type: ignore[assignment]
        tensors, lengths = op.parts(node.inputs)
        for (number, axis), length in zip(op.axes, lengths, strict=True):
            yield ShapeI(axis)(tensors[number]), length
        return
    for node in graph.order:
        if isinstance(node.op, CheckAssumed):
            yield from zip(node.inputs[1::2], node.inputs[2::2], strict=True)


def compared_lengths(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph of the pairs of lengths that a graph takes as equal; it has no outputs if there are none."""
    return FunctionGraph(graph.inputs, [n for pair in assumed_lengths(graph) for n in pair])


def are_equal(compared: FunctionGraph, arrays: Sequence[np.ndarray]) -> bool:
    """Return whether the pairs of `compared_lengths` are equal for arrays of the inputs."""
    found = interpret(compared, arrays) if compared.outputs else []
    return all(have == want for have, want in zip(found[::2], found[1::2], strict=True))


def assumption_in(graph: FunctionGraph) -> Apply | None:
    """Return the node by which a graph assumes lengths, if it does."""
    if not any(isinstance(op, AssumeEqual) for op in graph.ops):
        return None
    return next(node for node in graph.order if isinstance(node.op, AssumeEqual))
