"""Products by parts of a matrix that grow or shrink with the steps, as parts of rows of one product before the loop.

    scan{fn(i, y, X, m) -> set(y, dot(X[:, i], X[:, i:m]), (i, i:m))}(n, arange(n), Y, X, m)
    -->
    scan{fn(i, p, y, m) -> set(y, p[i:], (i, i:m))}(n, arange(n), dot(X.T[:n], X[:, :m]), Y, m)

The product has at most twice as many elements as the parts, whose lengths are consecutive numbers.  The loop stores
the parts as rows, so the product takes as much memory again, at most.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from ....graph import Apply, Constant, FunctionGraph, Variable, dims_of, leaves, rebuild
from ....graph.dims import atoms
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import constant
from ....ops.elementwise.pointwise import Elementwise
from ....ops.elementwise.records import maximum, sub
from ....ops.linalg.blas import Dot
from ....ops.shapes.creation import Arange
from ....ops.shapes.indexing import IncSubtensor, Subtensor, entries
from ....ops.shapes.lengths import tensor_to_dim
from ....ops.shapes.shape import BroadcastTo, DimShuffle
from ....ops.shapes.slices import linear, not_negative
from ....record import record


@record(eq=False)
class Moved:
    """A product that leaves the loop.

    Attributes:
        value: The product in the body.
        whole: What all steps read of it, made of slices and invariants of the body and of values around the loop.
        part: The function from a row of `whole`, and from `origin` in the body, to the value.
        origin: The number around the loop that numbers of steps are counted from; None if that does not matter.
    """

    value: Variable
    whole: Variable
    part: Callable[[Any, Any], Variable] = lambda row, origin: row
    origin: Variable | None = None


class PartsOfProducts:
    """Products by parts of matrices in one loop; the parts begin or end one element later in each step."""

    def __init__(self, node: Apply, steady: Collection[Variable]) -> None:
        """Args: the loop, and the values of its body that are equal in every step."""
        op: Scan = node.op  # type: ignore[assignment]
        self._body, self._steady, self._extremes = op.graph, steady, dict[Variable, tuple[Variable, Variable]]()
        self._outside: dict[Variable, Variable] = dict(zip(op.graph.inputs, node.inputs[1:], strict=True))
        for step, rows in zip(op.graph.inputs[: op.sequences], node.inputs[1:], strict=False):
            extremes = _extremes(rows) if dims_of(rows)[0] == tensor_to_dim(node.inputs[0]) else None
            if extremes is not None:
                self._extremes[step] = extremes

    def moved(self, product: Apply) -> Moved | None:
        """Return a product with a row by part of a matrix, as part of a product by the matrix; None for others."""
        if not self._extremes or not _is_stored(self._body, product.out):
            return None
        for side, factor in enumerate(product.inputs):
            flipped = _transposed(factor)
            read = (factor if flipped is None else flipped).owner
            if factor.ndim == 2 and read is not None and isinstance(read.op, Subtensor):
                found = self._by_part(product, side, read, flipped is not None)
                if found is not None:
                    return found
        return None

    def _by_part(self, product: Apply, side: int, read: Apply, transposed: bool) -> Moved | None:
        """Return the product with a part, the factor `side`, of a matrix that `read` reads, perhaps transposed."""
        matrix, *bounds = read.inputs
        axis = side ^ transposed
        varying = [k for k, bound in enumerate(bounds) if not self._is_steady(bound)]
        index = entries(read.op.spec, range(len(bounds)))  # type: ignore[attr-defined]
        one_slice = matrix.ndim == 2 and axis < len(index) and all(isinstance(entry, slice) for entry in index)
        if not one_slice or not self._is_steady(matrix) or len(varying) != 1 or index[axis].step is not None:
            return None
        bound, starts = bounds[varying[0]], index[axis].start == varying[0]
        bound = _unclamped(bound)
        step, ascends = self._step_of(bound)
        if step is None or not (starts or index[axis].stop == varying[0]):
            return None
        lowest, highest = self._extremes[step]
        first, last = (lowest, highest) if ascends else (highest, lowest)
        bounds[varying[0]] = rebuild([bound], {step: first if starts else last})[0]
        hull: Any = read.op(matrix, *bounds)
        factors = list(product.inputs)
        factors[side] = DimShuffle((1, 0))(hull) if transposed else hull
        place = ("s000",) * (product.out.ndim - 1 if side else 0)
        if starts:
            return Moved(
                product.out, Dot()(*factors),
                lambda row, origin: _from(place, row, sub(step, origin) if ascends else sub(origin, step)), first,
            )  # fmt: skip
        start = None if index[axis].start is None else bounds[index[axis].start]
        if start is not None and not _is_natural(start):
            return None
        return Moved(product.out, Dot()(*factors), lambda row, _: _until(place, row, bound, start))

    def _is_steady(self, v: Variable) -> bool:
        return v in self._steady or isinstance(v, Constant)

    def _step_of(self, bound: Variable) -> tuple[Variable | None, bool]:
        """Return the step's number that moves `bound`, never negative, by one, and whether up; None if none does."""
        terms, _ = linear(tensor_to_dim(bound))
        for step in self._extremes:
            around = [term for term in terms if term is not tensor_to_dim(step)]
            rest: list[Any] = [atom.args[0] for term in around for atom in atoms(term)]
            others = [v for v in leaves([bound]) if v is not step]
            slope = terms.get(tensor_to_dim(step), 0)
            if abs(slope) == 1 and all(map(self._is_steady, [*rest, *others])) and self._is_natural(bound, step, slope):
                return step, slope == 1
        return None, False

    def _is_natural(self, bound: Variable, step: Variable, slope: int) -> bool:
        """Whether a bound is never negative: from the first step on, or as c - i for i below n and c >= n - 1."""
        first = self._extremes[step][0] if slope == 1 else constant(0, "int64")
        found = rebuild([bound], {**self._outside, step: first})[0]
        if slope == 1:
            return _is_natural(found)
        n = _unclamped(self._outside[step].owner.inputs[1])  # type: ignore[union-attr]
        (left, more), (right, less) = linear(tensor_to_dim(found)), linear(tensor_to_dim(n))
        return left == right and more - less >= -1


def _extremes(rows: Variable) -> tuple[Variable, Variable] | None:
    """Return the first and the last one of numbers from 0 or more that `rows` counts up through; None for others."""
    if rows.owner is None or not isinstance(rows.owner.op, Arange) or rows.dtype != "int64":
        return None
    start, stop, step = rows.owner.inputs
    counts_up = isinstance(step, Constant) and int(step.data) == 1 and _is_natural(start)
    return (start, sub(stop, constant(1, "int64"))) if counts_up else None


def _unclamped(v: Variable) -> Variable:
    """Return the integer of which `v` is the maximum with 0; `v` itself for others."""
    least = v.owner.inputs[-1] if v.owner is not None and v.owner.op is maximum else None
    return v.owner.inputs[0] if v.owner is not None and isinstance(least, Constant) and not least.data.any() else v


def _is_natural(v: Variable) -> bool:
    return not_negative(tensor_to_dim(v))


def _is_stored(body: FunctionGraph, value: Variable) -> bool:
    """Whether elementwise values of a row are written to rows of an array, or are results of the steps."""
    waiting, seen = [value], {value}
    while waiting:
        for user, number in body.uses.get(waiting.pop(), ()):
            if user is None or (isinstance(user.op, IncSubtensor) and number == 1 and "i" in user.op.spec):
                return True
            if isinstance(user.op, (Elementwise, BroadcastTo, DimShuffle)) and user.out not in seen:
                seen.add(user.out)
                waiting.append(user.out)
    return False


def _transposed(v: Variable) -> Variable | None:
    """Return the matrix that `v` is the transpose of; None if it is none."""
    node = v.owner
    return node.inputs[0] if node is not None and isinstance(node.op, DimShuffle) and node.op.order == (1, 0) else None


def _from(place: tuple[str, ...], row: Variable, start: Variable) -> Variable:
    """Return the part of a row that begins at `start`, along the axis behind `place`."""
    return Subtensor((*place, "s100"))(row, maximum(start, constant(0, "int64")))


def _until(place: tuple[str, ...], row: Variable, stop: Variable, first: Variable | None) -> Variable:
    """Return the part of a row that ends at `stop`, along the axis behind `place`; the row begins at `first`."""
    stop = stop if first is None else sub(stop, first)
    return Subtensor((*place, "s010"))(row, maximum(stop, constant(0, "int64")))
