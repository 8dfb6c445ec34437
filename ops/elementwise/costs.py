"""Costs of nodes: elementwise ones on the current target (`targets/costs.py`), and operations to choose engines by."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...graph import Apply, Op, Variable, dims_of
from ...record import record
from ...targets.costs import ITEMS, UNKNOWN_LENGTH
from ...targets.current import current


def element(node: Apply) -> float:
    """Return picoseconds per element of the result of an elementwise node; other nodes count as one addition."""
    op = node.op
    return current().costs.elementwise(op.name, float(getattr(op, "cost", 1)), node.outputs[0].type.dtype)


def additions(node: Apply) -> int:
    """Return the additions that take as long as an element of the result of an elementwise node."""
    op = node.op
    return current().costs.additions(op.name, float(getattr(op, "cost", 1)), node.outputs[0].type.dtype)


def work(node: Apply) -> float:
    """Return the same per byte of the result."""
    return element(node) / ITEMS[node.outputs[0].type.dtype]


def lengths(variable: Variable) -> list[int]:
    """Return the lengths of a value, with estimates for unknown ones."""
    return [d if isinstance(d, int) else UNKNOWN_LENGTH for d in dims_of(variable)]


def size(variable: Variable) -> int:
    """Return the estimated number of elements."""
    return math.prod(lengths(variable))


def bytes_of(variables: Iterable[Variable]) -> int:
    """Return the estimated bytes of several values."""
    return sum(size(v) * ITEMS[v.dtype] for v in variables)


# --- operations of a node, by which engines are chosen: `operations = costs.product` in a class


@record
class Operations:
    """The operations of a node.

    Kinds: "elementwise" (picoseconds of the cost model), "product", "window", "cubic", "sorting" and "moving".
    """

    kind: str
    count: float
    dtype: str


def elementwise(op: Op, node: Apply) -> Operations:
    """The formula of the op for each element of the result."""
    return Operations("elementwise", element(node) * size(node.out), node.out.dtype)


def product(op: Op, node: Apply) -> Operations:
    """A multiplication and an addition for each element of the result and each one that is summed."""
    matrix = max(node.inputs, key=lambda v: v.ndim)
    common = lengths(matrix)[-1] if matrix.ndim else 1
    return Operations("product", 2.0 * size(node.outputs[0]) * common, node.inputs[0].dtype)


def stored_product(stored: Variable, node: Apply) -> Operations:
    """A product of rows with a matrix of which only the numbers `stored` are multiplied."""
    rows = math.prod(lengths(node.inputs[0])[:-1])
    return Operations("product", 2.0 * rows * size(stored), node.inputs[0].dtype)


def windows(op: Op, node: Apply) -> Operations:
    """A multiplication and an addition for each element of the result and each one of a kernel."""
    kernel = getattr(op, "weights", ()) or lengths(node.inputs[1])
    return Operations("window", 2.0 * size(node.outputs[0]) * math.prod(kernel[1:]), node.inputs[0].dtype)


def kernel_gradient(op: Op, node: Apply) -> Operations:
    """The same for each element of the result and each position of the windows in all images."""
    images, _, *positions = lengths(node.inputs[1])
    summed = images * math.prod(positions[: node.inputs[0].ndim - 2])
    return Operations("window", 2.0 * size(node.outputs[0]) * summed, node.inputs[0].dtype)


def cubic(op: Op, node: Apply) -> Operations:
    """n operations for each element of matrices of n columns."""
    first = node.inputs[0]
    return Operations("cubic", float(_largest(node) * (lengths(first)[-1] if first.ndim else 1)), first.dtype)


def sorting(op: Op, node: Apply) -> Operations:
    """n log n operations for n elements."""
    n = _largest(node)
    return Operations("sorting", n * max(1.0, math.log2(max(n, 2))), node.inputs[0].dtype)


def moving(op: Op, node: Apply) -> Operations:
    """No operations that take longer than to read and write the elements."""
    return Operations("moving", 0.0, node.outputs[0].dtype)


def _largest(node: Apply) -> int:
    return max(size(v) for v in (*node.inputs, *node.outputs))
