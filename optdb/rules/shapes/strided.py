"""Views with several axes along one (`Strided`): reads at even places become such views, products with them sums.

    x[arange(n)[:, None] + arange(w)]  -->  strided(x, n, w, 1, 1)
    dot(windows, k)                    -->  sum(windows * k, axis=1)

A read copies each element as often as it stands in the result, and so does a product, since BLAS takes no such view.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....graph import Constant, Variable, dims_of
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, mul
from ....ops.linalg.blas import Dot
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.conditions import Check
from ....ops.shapes.creation import Arange
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.lengths import dim_to_tensor
from ....ops.shapes.shape import DimShuffle, Reshape
from ....ops.shapes.sliding import Strided, long_axis_last
from ....ops.shapes.specify import CheckLengths
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node, Value, constant_int, producer
from .dimshuffles import shuffled

FEWEST_STACKED = 5
"""Fewest slices whose stack becomes a view; fused loops read each of fewer ones directly."""
Line = tuple[Variable, int]
"""The length of an axis of places, and their distance along it."""


def read_at_even_places(node: Node) -> Value | None:
    """Rewrite a read of one axis, at places that step evenly along each of theirs, to a view."""
    x, places, *others = node.inputs
    if others or places.ndim < 2 or {*node.op.spec} - {"a", "s000"}:
        return None
    found = _grid(places)
    if found is None:
        return None
    start, lines = found
    axis = node.op.spec.index("a")
    last = shuffled(x, (*(k for k in range(x.ndim) if k != axis), axis))
    if start:
        last = Subtensor((*["s000"] * (x.ndim - 1), "s100"))(last, constant(start, "int64"))
    view = long_axis_last(last, [n for n, _ in lines], [constant(step, "int64") for _, step in lines])
    rest, whole = x.ndim - 1, range(view.ndim)
    return shuffled(view, (*whole[:axis], *whole[rest:], *whole[axis:rest]))


def _grid(places: Variable) -> tuple[int, list[Line]] | None:
    """Return the first place and a line for each axis; None for places that are negative or not even."""
    if isinstance(places, Constant):
        return _even(places.data)
    made = producer(places, add)
    start, lines = 0, dict[int, Line]()
    for operand in made.inputs if made is not None else ():
        if isinstance(operand, Constant):
            even = _even(operand.data.reshape((1,) * (places.ndim - operand.ndim) + operand.data.shape))
            if even is None:
                return None
            start += even[0]
            found = {k: line for k, line in enumerate(even[1]) if constant_int(line[0]) != 1}
        else:
            found = _counted(operand, places.ndim)
        if not found or not lines.keys().isdisjoint(found):
            return None
        lines |= found
    return (start, [lines[k] for k in range(places.ndim)]) if len(lines) == places.ndim else None


def _even(data: np.ndarray) -> tuple[int, list[Line]] | None:
    """Return the same for known places."""
    if not data.size or data.dtype.kind not in "iu":
        return None
    start = int(data.flat[0])
    corner = (0,) * data.ndim
    steps = [int(data[(*corner[:k], 1, *corner[k + 1 :])]) - start if n > 1 else 0 for k, n in enumerate(data.shape)]
    ends = start + sum((n - 1) * step for n, step in zip(data.shape, steps, strict=True))
    if start < 0 or min(steps, default=0) < 0 or int(data.flat[-1]) != ends:
        return None
    expected = start + sum(np.arange(n).reshape((-1, *[1] * (data.ndim - 1 - k))) * step
                           for k, (n, step) in enumerate(zip(data.shape, steps, strict=True)))  # fmt: skip
    if not np.array_equal(data, expected):
        return None
    return start, [(constant(n, "int64"), step) for n, step in zip(data.shape, steps, strict=True)]


def _counted(operand: Variable, ndim: int) -> dict[int, Line]:
    """Return the axis and the line of 0, s, 2 s, ... along one axis; empty for other values."""
    moved = producer(operand, DimShuffle)
    order = tuple(range(operand.ndim)) if moved is None else moved.op.order
    made = producer(operand if moved is None else moved.inputs[0], Arange)
    if made is None or constant_int(made.inputs[0]) != 0:
        return {}
    step = constant_int(made.inputs[2])
    axis = ndim - operand.ndim + order.index(0)
    return {} if step is None or step < 1 else {axis: (dim_to_tensor(dims_of(made.out)[0]), step)}


def stack_of_moved_slices(node: Node) -> Value | None:
    """Rewrite slices of one axis, each as far behind the one before, that are stacked in front, to a view."""
    op, parts = node.op, node.inputs
    if op.axis != 0 or len(parts) < FEWEST_STACKED:
        return None
    slices = [_stacked_slice(part) for part in parts]
    starts = [None if s is None else s[1] for s in slices]
    known = [n for n in starts if n is not None]
    if len(known) < len(parts) or any(s is None or s[0] is not slices[0][0] for s in slices):  # type: ignore[index]
        return None
    step = known[1] - known[0]
    if step < 1 or known != list(range(known[0], known[0] + step * len(known), step)):
        return None
    x: Variable = slices[0][0]  # type: ignore[index]
    length = dims_of(parts[0])[1]
    others = [n for part in parts[1:] if (n := dims_of(part)[1]) != length]
    if others:
        pairs = [dim_to_tensor(n) for other in others for n in (other, length)]
        x = CheckLengths((("stack: an axis", 0),) * len(others))(x, *pairs)
    last = Subtensor(("s100",))(x, constant(known[0], "int64")) if known[0] else x
    numbers = (len(parts), dim_to_tensor(length), step, 1)
    return Strided()(last, *(constant(n, "int64") if isinstance(n, int) else n for n in numbers))


def _stacked_slice(part: Variable) -> tuple[Variable, int] | None:
    """Return the vector and the start of a slice with a new axis in front."""
    moved = producer(part, DimShuffle)
    made = producer(moved.inputs[0], Subtensor) if moved is not None and moved.op.order == ("x", 0) else None
    if made is None or made.op.spec not in (("s010",), ("s110",), ("s100",)):
        return None
    start = constant_int(made.inputs[1]) if made.op.spec[0][1] == "1" else 0
    return None if start is None or start < 0 else (made.inputs[0], start)


# --- products


def product_with_windows(node: Node) -> Value | None:
    """Rewrite the product of a matrix whose elements repeat in memory with a vector to a sum."""
    a, b = node.inputs
    if a.ndim + b.ndim != 3:
        return None
    matrix, vector = (a, b) if a.ndim == 2 else (b, a)
    axis = 1 if a.ndim == 2 else 0
    whole: Variable = matrix
    axes: tuple[int, ...] = (axis,)
    laid = producer(matrix, Reshape) if axis == 1 else None
    if laid is not None:
        whole = laid.inputs[0]
        axes = _laid_together(whole, dims_of(matrix)[1])
    if not axes or not _repeats(whole):
        return None
    vector = _of_length(vector, matrix, axis)
    if laid is not None:
        vector = Reshape()(vector, *(dim_to_tensor(dims_of(whole)[k]) for k in axes))
    order: Sequence[int | str] = range(vector.ndim) if axis == 1 else (0, "x")
    factor = shuffled(vector, (*["x"] * (whole.ndim - len(order)), *order))
    total = Reduce(add, axes)(mul(whole, factor))
    return total if laid is None else Reshape()(total, laid.inputs[1])


def _laid_together(whole: Variable, length: object) -> tuple[int, ...]:
    """Return the last axes of `whole`, all of known length, that have so many elements; empty if there are none."""
    own, count = dims_of(whole), 1
    for axis in reversed(range(1, whole.ndim)):
        n = own[axis]
        if not isinstance(n, int):
            return ()
        count *= n
        if count == length and axis < whole.ndim - 1:
            return tuple(range(axis, whole.ndim))
    return ()


def _of_length(vector: Variable, matrix: Variable, axis: int) -> Variable:
    """Return the vector, with a check that it is as long as the axis unless that is known."""
    have, want = dims_of(vector)[0], dims_of(matrix)[axis]
    if have == want:
        return vector
    return CheckLengths((("dot: the axis that is summed over", 0),))(vector, dim_to_tensor(have), dim_to_tensor(want))


def _repeats(value: Variable) -> bool:
    """Whether a value is a view of a view with several axes along one."""
    made = producer(value, Strided, DimShuffle, Subtensor, Check)
    while made is not None and not isinstance(made.op, Strided):
        made = producer(made.inputs[0], Strided, DimShuffle, Subtensor, Check)
    return made is not None


STRIDED: list[Rule] = [
    node_rule("local_read_at_even_places", AdvancedSubtensor, read_at_even_places, having=add,
              formula="x[arange(n)[:, None] + arange(w)] -> strided(x, n, w, 1, 1)"),
    node_rule("local_read_at_even_constant_places", AdvancedSubtensor, read_at_even_places, constants=True,
              formula="x[[[0, 1], [1, 2]]] -> strided(x, 2, 2, 1, 1)"),
    node_rule("local_dot_with_windows", Dot, product_with_windows, having=(DimShuffle, Strided, Subtensor, Reshape),
              needs=[Strided()], contract=relaxes("rounding", "signed zero"),
              formula="dot(windows, k) -> sum(windows * k, axis=1)"),
]  # fmt: skip
STACKS: list[Rule] = [
    node_rule("local_stack_of_moved_slices", Join, stack_of_moved_slices, having=DimShuffle,
              formula="stack([x[0:n], x[1:n + 1], ...]) -> strided(x, m, n, 1, 1)"),
]  # fmt: skip
