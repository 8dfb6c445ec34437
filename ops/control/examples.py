"""Helpers of the batching rules: the axis of the examples, which stands in front, and the application of rules.

The rules stand in batching.py; a rule may apply them to a graph inside its op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import ops as T
from ...graph import Apply, Variable, facets, inheriting, toposort
from ..shapes.creation import arange
from ..shapes.lengths import Shape, ShapeI, lengths_of
from ..shapes.shape import BroadcastTo, DimShuffle

Flags = Sequence[bool]
"""For each input of a node whether it has the axis of the examples."""


class NoBatch(TypeError):
    """An op cannot be applied to many examples at once; the message says why."""


class Examples:
    """The number of examples, as an int64 scalar."""

    def __init__(self, length: Variable) -> None:
        self.length = length

    def broadcast(self, x: Variable) -> Any:
        """Return `x` repeated for each example."""
        return BroadcastTo()(x, self.length, *lengths_of(x))

    def numbers(self, ndim: int) -> Any:
        """Return 0, 1, 2, ... along the axis of the examples, with `ndim` axes of length 1."""
        return DimShuffle((0, *"x" * ndim))(arange(self.length))


Rule = Callable[[Apply, "list[Variable]", Flags, Examples], Any]
"""Returns the results of a node for all examples, from inputs of which flagged ones have the new axis."""


def carried_by(outputs: Sequence[Variable], given: Mapping[Variable, Variable]) -> list[Variable]:
    """Return the outputs for all the examples that `given` has in place of its keys, along a new first axis."""
    first = next(iter(given.values()))
    examples = Examples(lengths_of(first)[0])
    images = dict(given)
    shared: dict[Variable, Variable] = {}
    """Values that are computed from lengths of examples, equal for all examples."""
    with inheriting() as lines:
        for node in toposort(outputs, stop_at=set(given)):
            flags = [i in images for i in node.inputs]
            if not any(flags) and not any(i in shared for i in node.inputs):
                continue
            lines.origin = node.origin
            inputs = [images[i] if f else shared.get(i, i) for i, f in zip(node.inputs, flags, strict=True)]
            if not any(flags):
                shared.update(zip(node.outputs, Apply(node.op, tuple(inputs)).outputs, strict=True))
            elif isinstance(node.op, (Shape, ShapeI)):
                shared[node.out] = _length(node, inputs[0])
            else:
                results = _applied(node, inputs, flags, examples)
                images.update(zip(node.outputs, results, strict=True))
    return [images[o] if o in images else examples.broadcast(shared.get(o, o)) for o in outputs]


def _applied(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Sequence[Variable]:
    rule = facets.facet_of(type(node.op), "batching")
    where = f", built at {node.origin[0]}" if node.origin else ""
    if rule is None:
        lacking = facets.lacking(type(node.op), "batching")
        raise NoBatch(f"{node.op} cannot be applied to many examples at once{where}: it has {lacking}")
    try:
        result = rule(node, inputs, flags, examples)
    except NoBatch as reason:
        raise NoBatch(f"{node.op}{where}: {reason}") from None
    return result if isinstance(result, (list, tuple)) else (result,)


def _length(node: Apply, x: Variable) -> Any:
    return ShapeI(node.op.axis + 1)(x) if isinstance(node.op, ShapeI) else Shape()(x)[1:]


def aligned(x: Variable, has_axis: bool, own: int, ndim: int) -> Any:
    """Return `x`, with `own` axes per example, extended to rank `ndim` by axes of length 1 after the examples' axis.

    Without the examples' axis nothing need be done: axes are aligned at the end.
    """
    if not has_axis or own == ndim:
        return x
    return DimShuffle((0, *"x" * (ndim - own), *range(1, own + 1)))(x)


def all_broadcast(inputs: Sequence[Variable], flags: Flags, examples: Examples) -> list[Any]:
    return [i if has_axis else examples.broadcast(i) for i, has_axis in zip(inputs, flags, strict=True)]


def require_shared(flags: Flags, what: str) -> None:
    if any(flags):
        raise NoBatch(f"{what} would differ from one example to the next")


def moved(x: Variable, axis: int) -> Any:
    """`x` with `axis` in front."""
    return x if axis == 0 else DimShuffle((axis, *(k for k in range(x.ndim) if k != axis)))(x)


def merged(x: Variable, axis: int) -> Any:
    """Return `x` with `axis` and the next one merged."""
    own = lengths_of(x)
    return T.reshape(x, (*own[:axis], T.mul(own[axis], own[axis + 1]), *own[axis + 2 :]))


def split(x: Any, axis: int, length: Variable) -> Any:
    """Return the inverse of `merged`: `axis` split into one of `length` and a next one."""
    own = lengths_of(x)
    return T.reshape(x, (*own[:axis], length, T.floor_div(own[axis], length), *own[axis + 1 :]))
