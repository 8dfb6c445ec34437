"""Equality of lengths in every run without an error, from `dims_of` and the requirements of matrix products.

`x @ w` raises unless the last axis of x is as long as the first of w.  So in a graph that holds the product, the
gradient `x.T @ g` has as many rows as w, although the shapes of x and w are independent symbols.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

from ....graph import Apply, Dim, FunctionGraph, Op, Variable, dims_of
from ....graph.dims import Symbol, broadcast
from ....ops.linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ....ops.lowered.fused_product import FusedProduct

_FIRST_OPERAND: dict[type[Op], int] = {Dot: 0, Dot22: 0, Dot22Scalar: 0, MatMul: 0, Gemm: 2, Gemv: 2}
"""Index among the inputs of the first operand of the product."""
_DEMANDING: set[type[Op]] = {*_FIRST_OPERAND, Ger, FusedProduct}


def demanded(node: Apply) -> Iterator[tuple[Dim, Dim]]:
    """Yield pairs of lengths that are equal if `node` raises nothing."""
    op = node.op.product if isinstance(node.op, FusedProduct) else node.op  # the product's inputs come first
    first = _FIRST_OPERAND.get(type(op))
    if first is not None:
        a, b = (dims_of(i) for i in node.inputs[first : first + 2])
        yield a[-1], b[-2 if len(b) > 1 else 0]
    if isinstance(op, (Gemm, Gemv, Ger)):
        yield from zip(dims_of(node.inputs[0]), _product(op, node), strict=True)


def _product(op: Op, node: Apply) -> tuple[Dim, ...]:
    """Return the lengths of the product that a BLAS op adds to its first operand."""
    a, b = (dims_of(i) for i in node.inputs[2:4])
    return (*a, *b) if isinstance(op, Ger) else (*a[:-1], *b[1:])


class Agreement:
    """Equality of lengths in runs of `graph` without an error; requirements of the nodes `besides` are ignored."""

    def __init__(self, graph: FunctionGraph, besides: Collection[Apply] = ()) -> None:
        self._known_as: dict[Symbol, Dim] = {}
        nodes = [node for node in graph.order if type(node.op) in _DEMANDING and node not in besides]
        demands = dict.fromkeys(chain.from_iterable(map(demanded, nodes)))
        # One demand on the parts of a joint length may make an earlier one more informative.
        for _ in range(2):
            for a, b in demands:
                self._agree(self.canonical(a), self.canonical(b))

    def _agree(self, a: Dim, b: Dim) -> None:
        if a == b:
            return
        if not isinstance(a, Symbol) or (isinstance(b, Symbol) and b.kind == "broadcast"):
            a, b = b, a
        # A joint length may be known as a plain one, never the other way: so no chain of names is a circle.
        if isinstance(a, Symbol) and not (isinstance(b, Symbol) and b.kind == "broadcast"):
            self._known_as[a] = b

    def canonical(self, dim: Dim) -> Dim:
        """Return the representative of a length: the same for equal lengths."""
        if isinstance(dim, Symbol) and dim.kind == "broadcast":
            dim = broadcast([self._plain(part) for part in dim.args])  # type: ignore[arg-type]
        return self._plain(dim)

    def _plain(self, dim: Dim) -> Dim:
        while isinstance(dim, Symbol) and dim in self._known_as:
            dim = self._known_as[dim]
        return dim

    def same(self, a: Iterable[Dim], b: Iterable[Dim]) -> bool:
        """Whether two shapes of the same rank are equal."""
        return all(x == y or self.canonical(x) == self.canonical(y) for x, y in zip(a, b, strict=True))

    def same_shape(self, a: Variable, b: Variable) -> bool:
        """Whether two values have the same shape in every run without an error."""
        return a.ndim == b.ndim and self.same(dims_of(a), dims_of(b))
