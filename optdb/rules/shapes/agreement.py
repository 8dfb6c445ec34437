"""Equality of lengths in every run without an error, from `dims_of` and the requirements of matrix products.

`x @ w` raises unless the last axis of x is as long as the first of w.  So in a graph that holds the product, the
gradient `x.T @ g` has as many rows as w, although the shapes of x and w are independent symbols.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ....graph import Apply, Dim, FunctionGraph, Variable, dims_of
from ....graph.dims import Symbol, broadcast


class Agreement:
    """Equality of lengths in runs of `graph` without an error; requirements of the nodes `besides` are ignored.

    `assumed`: further lengths that are taken as equal.
    """

    def __init__(
        self, graph: FunctionGraph, besides: Collection[Apply] = (), assumed: Iterable[tuple[Dim, Dim]] = ()
    ) -> None:
        self._known_as: dict[Symbol, Dim] = {}
        demands = dict.fromkeys(pair for n in graph.order if n not in besides for pair in n.op.demands(n))
        demands.update(dict.fromkeys(assumed))
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
