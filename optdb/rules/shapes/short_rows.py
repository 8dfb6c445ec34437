"""Short rows by columns: elementwise work on rows of 2 to 4 numbers becomes work on columns where these are read.

    d = x[:, None] - x; r = sum(d * d, -1); f = sum(d * r[..., None], 1)          for points x: float64[n, 3]
    -->
    d0 = x[:, None, 0] - x[:, 0]; ...; r = d0 * d0 + d1 * d1 + d2 * d2; f = join(sum(d0 * r, 1)[:, None], ...)

Rows of three numbers fill no vector, and what is broadcast along them is computed again for each of them.  Columns are
as long as the other axes.  A value is divided if each of its readers is a column, a join of rows, a reduction, or an
elementwise node that is divided itself.  Linear in the size of the graph.
"""

from __future__ import annotations

from functools import reduce
from typing import ClassVar

from ....graph import Apply, FunctionGraph, GraphEditor, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Pointwise, cast
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.indexing import Subtensor, entries
from ....ops.shapes.joining import Join
from ....ops.shapes.shape import DimShuffle, expand_dims
from ....profiling import OptimizerProfile
from ....record import record
from ....targets.current import current
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from ..facts import constant_int
from ..reductions.reductions import FEW, FOLDS


@record(kw_only=True)
class ShortRowsOptimizer(Optimizer):
    """Divides elementwise work on short rows into columns."""

    contract: ClassVar[Contract | None] = relaxes("rounding", "signed zero")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        if not {type(op) for op in graph.ops} & {Subtensor, Join, Reduce}:
            return graph, OptimizerProfile()
        columns = _Columns(graph)
        return columns.rebuilt(self.name, editor) if columns.ends else graph, OptimizerProfile()


class _Columns:
    """The elementwise nodes of a graph that are divided, and their columns.  `ends`: the other readers of these."""

    def __init__(self, graph: FunctionGraph) -> None:
        self.graph = graph
        self.ends: dict[Apply, Apply] = {}
        """With one of the divided nodes that they read."""
        self._divided: set[Apply] = set()
        self._set: dict[Apply, Apply] = {}
        """For divided nodes another one of the same set of neighbours."""
        self._known: dict[Variable, Variable] = {}
        self._columns: dict[tuple[Variable, int], Variable] = {}
        for node in reversed(graph.order):
            if _has_short_rows(node):
                self._divide(node)
        self._keep_gaining()

    def _divide(self, node: Apply) -> None:
        """Divide a node if all its readers read columns of it."""
        readers = [reader for reader, _ in self.graph.uses.get(node.out, ())]
        if not all(r is not None and (r in self._divided or _reads_columns(r, node.out)) for r in readers):
            return
        self._divided.add(node)
        for reader in readers:
            assert reader is not None
            other = reader if reader in self._divided else self.ends.setdefault(reader, node)
            self._set[self._first(node)] = self._first(other)

    def _first(self, node: Apply) -> Apply:
        while (above := self._set.get(node, node)) is not node:
            self._set[node] = self._set.get(above, above)
            node = above
        return node

    def _keep_gaining(self) -> None:
        """Keep the sets of which columns are read, or joined, or both summed and used again."""
        kinds: dict[Apply, set[str]] = {}
        for end, node in self.ends.items():
            kinds.setdefault(self._first(node), set()).add(_kind(end))
        long = {self._first(node) for node in self._divided if node.out.type.shape[-1] != 1}
        gaining = {s for s, found in kinds.items() if found & {"column", "join"} or found >= {"row", "other"}} & long
        self._divided = {node for node in self._divided if self._first(node) in gaining}
        self.ends = {end: node for end, node in self.ends.items() if node in self._divided}

    def rebuilt(self, by: str, editor: GraphEditor) -> FunctionGraph:
        """Return the graph with the values of `ends` computed from columns; call the editor once for each."""
        known = self._known
        for node in self.graph.order:
            if node in self.ends:
                made = self._of_end(node)
                if editor.admit(by, node.out, made):
                    known[node.out] = made
                    continue
            new = node.over(known)
            if new is not node:
                known.update(zip(node.outputs, new.outputs, strict=True))
        return self.graph.with_images(known)

    def _of_end(self, end: Apply) -> Variable:
        x, last = end.inputs[0], end.inputs[0].ndim - 1
        if isinstance(end.op, Subtensor):
            column = constant_int(end.inputs[1])
            assert column is not None
            return self.column(x, column)
        if isinstance(end.op, Join):
            return Join(last)(*(c for i in end.inputs for c in self._as_columns(i)))
        assert isinstance(end.op, Reduce)
        columns = [self.column(x, k) for k in range(x.type.shape[-1] or 0)]
        if end.op.axis == (last,):
            return reduce(end.op.scalar, [cast(c, end.out.dtype) for c in columns])
        parts = [expand_dims(end.op(c), -1) for c in columns]
        return Join(end.out.ndim - 1)(*parts)

    def _as_columns(self, part: Variable) -> list[Variable]:
        if part.owner not in self._divided:
            return [self._known.get(part, part)]
        return [expand_dims(self.column(part, k), -1) for k in range(part.type.shape[-1] or 0)]

    def column(self, x: Variable, k: int) -> Variable:
        """Return `x[..., k]`, computed from columns if `x` is divided; of an axis of length 1 its only column."""
        stack = [(x, k)]
        while stack:
            value, column = key = stack[-1]
            node = value.owner
            if key in self._columns:
                stack.pop()
            elif node in self._divided:
                assert node is not None
                needed = [(i, column if i.type.shape[-1] != 1 else 0) for i in node.inputs if i.ndim]
                missing = [n for n in needed if n not in self._columns]
                stack.extend(missing)
                if not missing:
                    own = iter(needed)
                    inputs = [self._columns[next(own)] if i.ndim else self._known.get(i, i) for i in node.inputs]
                    self._columns[key] = node.with_inputs(inputs).out
            else:
                self._columns[key] = _part(self._known.get(value, value), column)
        return self._columns[x, k]


def _part(x: Variable, k: int) -> Variable:
    """Return `x[..., k]`; of added axes before they are added, of columns that are cut out before they are."""
    node, last = x.owner, x.ndim - 1
    if node is not None and isinstance(node.op, DimShuffle):
        order, inner = node.op.order, node.inputs[0]
        if order[-1] == "x":
            return DimShuffle(order[:-1])(inner)
        if order[-1] == inner.ndim - 1:
            return DimShuffle(order[:-1])(_part(inner, k))
    if node is not None and isinstance(node.op, Subtensor) and node.op.spec[:-1] == ("s000",) * last:
        cut = entries(node.op.spec, node.inputs[1:])[-1]
        start = 0 if not isinstance(cut, slice) or cut.start is None else constant_int(cut.start)
        if isinstance(cut, slice) and cut.step is None and start is not None and start >= 0:
            return _part(node.inputs[0], start + k)
    return Subtensor(("s000",) * (x.ndim - 1) + ("i",))(x, constant(k, "int64"))


def _has_short_rows(node: Apply) -> bool:
    """Whether an elementwise node computes rows of at most FEW numbers."""
    if not isinstance(node.op, Pointwise) or node.op.fallible or node.out.ndim < 2:
        return False
    length = node.out.type.shape[-1]
    if length is None or not 1 <= length <= FEW:
        return False
    return all(not i.ndim or i.type.shape[-1] in (1, length) for i in node.inputs)


def _reads_columns(node: Apply, x: Variable) -> bool:
    """Whether a node reads short rows `x` in columns, or may do so."""
    op, last = node.op, x.ndim - 1
    if isinstance(op, Subtensor):
        return node.inputs[0] is x and op.spec == ("s000",) * last + ("i",) and _is_in(node.inputs[1], x)
    if isinstance(op, Join):
        lengths = [i.type.shape[-1] for i in node.inputs]
        return op.axis == last and None not in lengths and sum(lengths) <= current().limits.joins.columns  # type: ignore[arg-type]
    if not isinstance(op, Reduce) or op.scalar not in FOLDS or node.out.dtype == "float16":
        return False
    return op.axis == (last,) or last not in op.axis


def _is_in(index: Variable, x: Variable) -> bool:
    k = constant_int(index)
    return k is not None and 0 <= k < (x.type.shape[-1] or 0)


def _kind(end: Apply) -> str:
    """Return how a node reads columns: "column", "join", "row" or "other"."""
    if isinstance(end.op, Reduce):
        return "row" if end.op.axis == (end.inputs[0].ndim - 1,) else "other"
    return "column" if isinstance(end.op, Subtensor) else "join"
