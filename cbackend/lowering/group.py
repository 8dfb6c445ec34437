"""The computation of a node as input to a loop nest: leaves, elementwise nodes over them, reduced or plain outputs.

    Elementwise, Cast, Fused, Reduce, ArgReduce  --group_of-->  Group(leaves, results)

Loops are numbered by the axes of the widest result, from the left, without axes whose length is known to be 1 in all
results.  `Place` maps the axes of a value to loops; through the graph it follows broadcasting and `DimShuffle` from
results to leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...graph import Apply, Constant, Variable, toposort
from ...ops.elementwise.records import Pointwise
from ...ops.lowered.fused import Fused
from ...ops.reductions.reduce import ArgReduce, Reduce
from ...ops.shapes.advanced_indexing import AdvancedSubtensor
from ...ops.shapes.shape import DimShuffle
from ...record import record
from ...record.cached import cached_property

Place = tuple["int | None", ...]
"""For each axis of a value the loop that it runs along; None: its length is 1."""


@record
class Result:
    """An output of `dtype`: the value that the nest computes, its place, its reduction and the reduced axes.

    `fold` is sum, prod, max, min, any, all, argmax or argmin; None: it is not reduced.  `empty`: max and min of no
    elements are no error.
    """

    value: Variable
    place: Place
    fold: str | None
    axes: tuple[int, ...]
    dtype: str
    empty: bool = False

    @property
    def loops(self) -> frozenset[int]:
        """The loops that the value is computed in."""
        return frozenset(p for p in self.place if p is not None)

    @property
    def reduced(self) -> frozenset[int]:
        """The loops that are reduced."""
        return frozenset(p for a in self.axes if (p := self.place[a]) is not None)

    @property
    def kept(self) -> Place:
        """Return the place of the output: that of the value without its reduced axes."""
        return tuple(p for a, p in enumerate(self.place) if a not in self.axes)


@record
class Group:
    """Leaves by position among the node's inputs, and results in the order of its outputs, over `rank` loops."""

    leaves: tuple[Variable, ...]
    results: tuple[Result, ...]
    rank: int

    @cached_property
    def lookups(self) -> tuple[Apply, ...]:
        """The nodes that read elements at computed indices, in topological order."""
        order = toposort([r.value for r in self.results], stop_at=self.leaves)
        return tuple(node for node in order if isinstance(node.op, AdvancedSubtensor))


def group_of(node: Apply) -> Group:
    """Return the group that an elementwise node, a cast, a reduction or a fused node computes.

    Raises TypeError for other nodes, and for a fused node with other ops inside than its definition allows.
    """
    if isinstance(node.op, Fused):
        leaves, outputs = _inside(node.op, node)
    elif isinstance(node.op, (Pointwise, Reduce, ArgReduce)):
        leaves, outputs = node.inputs, node.outputs
    else:
        raise TypeError(f"{node.op} is not an elementwise op or a reduction, so it has no loop nest of this kind")
    known = set(leaves)
    folds = [_split(o, known) for o in outputs]
    positions = max((value.ndim for value, _, _ in folds), default=0)
    moving = [p for p in range(positions) if any(_moves(value, p - positions) for value, _, _ in folds)]
    loop_at = {p - positions: loop for loop, p in enumerate(moving)}
    results = []
    for output, (value, fold, axes) in zip(outputs, folds, strict=True):
        place = tuple(loop_at[a] if _moves(value, a) else None for a in range(-value.ndim, 0))
        results.append(Result(value, place, fold, axes, output.dtype, fold is not None and _allows_none(output)))
    return Group(leaves, tuple(results), len(moving))


def group_along(node: Apply, looped: Sequence[int], fold: str | None, axes: tuple[int, ...], dtype: str) -> Group:
    """Return the group of an op along an axis of its operand; axes in `looped` have loops even if their length is 1."""
    (x,) = node.inputs
    moving = [a for a in range(x.ndim) if a in looped or x.type.shape[a] != 1]
    place = tuple(moving.index(a) if a in moving else None for a in range(x.ndim))
    return Group(node.inputs, (Result(x, place, fold, axes, dtype),), len(moving))


def _inside(op: Fused, node: Apply) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
    """Return the inner graph, rebuilt over the types of the actual inputs if these differ from the group's."""
    if all(a.type == b.type for a, b in zip(node.inputs, op.graph.inputs, strict=True)):
        return op.graph.inputs, op.graph.outputs
    leaves = tuple(op.variable_class(i.type) for i in node.inputs)
    return leaves, tuple(op.expand(leaves))


def _split(output: Variable, leaves: set[Variable]) -> tuple[Variable, str | None, tuple[int, ...]]:
    """Return the value that a nest computes for `output`, its reduction and the reduced axes."""
    owner = None if output in leaves else output.owner
    if owner is not None and isinstance(owner.op, Reduce):
        return owner.inputs[0], owner.op.name, owner.op.axis
    if owner is not None and isinstance(owner.op, ArgReduce):
        axis = owner.op.axis
        return owner.inputs[0], owner.op.name, tuple(range(owner.inputs[0].ndim)) if axis is None else (axis,)
    return output, None, ()


def _allows_none(reduced: Variable) -> bool:
    """Whether a reduction of no elements is no error."""
    return isinstance(op := reduced.owner and reduced.owner.op, Reduce) and op.empty


def _moves(value: Variable, axis: int) -> bool:
    """Whether `value` has the axis (counted from the right) and its length is not known to be 1."""
    return -axis <= value.ndim and value.type.shape[axis] != 1


def operands_at(node: Apply, place: Place) -> Iterator[tuple[Variable, Place]]:
    """The inputs of a node inside a group, each with its place, given the place of the node's output.

    An array that is looked up in runs along no loop.
    """
    if isinstance(node.op, DimShuffle):
        (x,) = node.inputs
        order = node.op.order
        yield x, tuple(place[order.index(axis)] if axis in order else None for axis in range(x.ndim))
        return
    if isinstance(node.op, AdvancedSubtensor):
        table, *inputs = node.inputs
        yield table, (None,) * table.ndim
    elif isinstance(node.op, Pointwise):
        inputs = list(node.inputs)
    else:
        raise TypeError(f"{node.op} cannot stand inside a group: expected an elementwise op, a lookup or a dimshuffle")
    for i in inputs:
        aligned = place[len(place) - i.ndim :]
        yield i, tuple(None if n == 1 else p for n, p in zip(i.type.shape, aligned, strict=True))


def is_literal(leaf: Variable) -> bool:
    """Whether a leaf inside a group is a number that is written into the C text."""
    return isinstance(leaf, Constant) and leaf.data.size == 1
