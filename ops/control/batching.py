"""Vectorization (vmap): turn an expression of one example into one of many, with a new first axis.

    carried(outputs, {x: xs})      xs has one more axis in front than x, and so have the results

Nothing is looped over: each op is applied once, to operands that have the axis.  Its class says how, by its method
`batching`; rules that several classes share are here.  Values that depend on no example are computed once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...graph import Apply, Older, Op, Variable, facets, gc_paused, inheriting, toposort
from ..core.namespace import T, classes

Flags = Sequence[bool]
"""For each input of a node whether it has the axis of the examples."""


class NoBatch(TypeError):
    """An op cannot be applied to many examples at once; the message says why."""


class SameForAll:
    """A result that all examples share; it has no axis of the examples."""

    def __init__(self, value: Variable) -> None:
        self.value = value


class Examples:
    """The number of examples, as an int64 scalar."""

    def __init__(self, length: Variable) -> None:
        self.length = length

    def broadcast(self, x: Variable) -> Any:
        """Return `x` repeated for each example."""
        return classes.BroadcastTo()(x, self.length, *T.lengths_of(x))

    def numbers(self, ndim: int) -> Any:
        """Return 0, 1, 2, ... along the axis of the examples, with `ndim` axes of length 1."""
        return classes.DimShuffle((0, *"x" * ndim))(T.arange(self.length))


@gc_paused
def carried(outputs: Sequence[Variable], given: Mapping[Variable, Variable]) -> list[Variable]:
    """Return the outputs for all the examples that `given` has in place of its keys, along a new first axis.

    Raises NoBatch, naming the op and its line, where an op has no form for many examples: where the lengths of a
    result would differ from one to the next.
    """
    first = next(iter(given.values()))
    examples = Examples(T.lengths_of(first)[0])
    images = dict(given)
    shared: dict[Variable, Variable] = {}
    """Values that are computed from lengths of examples, equal for all examples."""
    with inheriting() as lines:
        for node in toposort(outputs, stop_at=Older.than(given)):
            flags = [i in images for i in node.inputs]
            if not any(flags) and not any(i in shared for i in node.inputs):
                continue
            lines.origin = node.origin
            inputs = [images[i] if f else shared.get(i, i) for i, f in zip(node.inputs, flags, strict=True)]
            if not any(flags):
                shared.update(zip(node.outputs, Apply(node.op, tuple(inputs)).outputs, strict=True))
                continue
            for output, result in zip(node.outputs, _results(node, inputs, flags, examples), strict=True):
                if isinstance(result, SameForAll):
                    shared[output] = result.value
                else:
                    images[output] = result
    return [images[o] if o in images else examples.broadcast(shared.get(o, o)) for o in outputs]


def _results(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Sequence[Any]:
    where = f", built at {node.origin[0]}" if node.origin else ""
    if facets.facet_of(type(node.op), "batching") is None:
        lacking = facets.lacking(type(node.op), "batching")
        raise NoBatch(f"{node.op} cannot be applied to many examples at once{where}: it has {lacking}")
    try:
        result = node.op.batching(node, inputs, flags, examples)
    except NoBatch as reason:
        raise NoBatch(f"{node.op}{where}: {reason}") from None
    return result if isinstance(result, (list, tuple)) else (result,)


# --- helpers of rules


def aligned(x: Variable, has_axis: bool, own: int, ndim: int) -> Any:
    """Return `x`, with `own` axes per example, extended to rank `ndim` by axes of length 1 after the examples' axis.

    Without the examples' axis nothing need be done: axes are aligned at the end.
    """
    if not has_axis or own == ndim:
        return x
    return classes.DimShuffle((0, *"x" * (ndim - own), *range(1, own + 1)))(x)


def all_broadcast(inputs: Sequence[Variable], flags: Flags, examples: Examples) -> list[Any]:
    return [i if has_axis else examples.broadcast(i) for i, has_axis in zip(inputs, flags, strict=True)]


def require_shared(flags: Flags, what: str) -> None:
    if any(flags):
        raise NoBatch(f"{what} would differ from one example to the next")


def moved(x: Variable, axis: int) -> Any:
    """`x` with `axis` in front."""
    return x if axis == 0 else classes.DimShuffle((axis, *(k for k in range(x.ndim) if k != axis)))(x)


def merged(x: Variable, axis: int) -> Any:
    """Return `x` with `axis` and the next one merged."""
    own = T.lengths_of(x)
    return T.reshape(x, (*own[:axis], T.mul(own[axis], own[axis + 1]), *own[axis + 2 :]))


def split(x: Any, axis: int, length: Variable) -> Any:
    """Return the inverse of `merged`: `axis` split into one of `length` and a next one."""
    own = T.lengths_of(x)
    return T.reshape(x, (*own[:axis], length, T.floor_div(own[axis], length), *own[axis + 1 :]))


# --- rules that classes share


def align_operands(op: Op, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op whose leading axes broadcast: each operand has its axes behind that of the examples."""
    ndim = max(i.ndim for i in node.inputs)
    return op(*(aligned(i, f, old.ndim, ndim) for i, f, old in zip(inputs, flags, node.inputs, strict=True)))


def on_last_axes(op: Op, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op on the last axes of its first input; its other inputs are the same for all examples."""
    require_shared(flags[1:], "its second operand")
    return op(*inputs)


def repeat_operands(op: Op, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op on the last axes of its inputs, whose leading axes are equal."""
    return op(*all_broadcast(inputs, flags, examples))


def along_next_axis(op: Any, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op along its axis, which stands one further behind."""
    return replace(op, axis=op.axis + 1)(inputs[0])


def lengthen(op: Op, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply an op that broadcasts its first input to the lengths behind it."""
    require_shared(flags[1:], "the lengths of its result")
    return op(aligned(inputs[0], True, node.inputs[0].ndim, node.out.ndim), examples.length, *inputs[1:])
