"""Row passes: a graph whose reductions along the last axis are read again inside, as passes over one row.

    x - max(x)            pass 0: the maximum                     pass 1: the difference
    softmax(x) * w        pass 0: the maximum; pass 1: exponentials, which are kept, and their sum; pass 2: the product

While a row lies in the cache it may be read once for each pass, so no array is needed between them: what an earlier
pass computed is computed again, or, where that is costly, waits in the memory of an output.

    opened(graph)     the graph with the ops of the softmax family as compositions of reductions
    row_plan(graph)   what is done in each pass
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, FunctionGraph, Lacks, Op, TensorType, Variable
from ...record import record
from ...targets.current import current
from ..core.tensor import TensorVariable, constant
from ..elementwise.costs import work
from ..elementwise.records import Pointwise, add, cast, exp, log, maximum, minimum, mul, reciprocal, sub
from ..networks.functions import AlongAxis, LogSoftmax, LogSumExp, Normalizing
from ..reductions.reduce import Reduce
from ..shapes.shape import DimShuffle


@record(repr=False)
class Top(AlongAxis):
    """The maximum along `axis`, which is reduced: NaN is ignored, and the maximum of nothing is -inf."""

    name = "top"
    lacks: ClassVar[Lacks] = Lacks(
        derivative="rewrites make it, after derivatives are taken",
        batching="rewrites make it, after examples are batched",
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x = self.check(inputs)
        return (x.type.with_shape(x.type.shape[: self.axis] + x.type.shape[self.axis + 1 :]),)

    def meaning(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(np.fmax.reduce(x, axis=self.axis, initial=-np.inf))

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0][: self.axis] + inputs[0][self.axis + 1 :],)


def reduced_axes(op: Op) -> tuple[int, ...] | None:
    """Return the axes that an op folds; None if row passes cannot read its result."""
    if isinstance(op, Reduce):
        return op.axis
    return (op.axis,) if isinstance(op, Top) else None


def is_row_graph(graph: FunctionGraph) -> bool:
    """Whether the graph has an op of the softmax family, or a node that reads the result of a row reduction."""
    reduced = {node.out for node in graph.order if reduced_axes(node.op) is not None}
    return any(isinstance(n.op, AlongAxis) or not reduced.isdisjoint(n.inputs) for n in graph.order)


# --- the softmax family as compositions


@lru_cache(maxsize=256)
def opened(graph: FunctionGraph) -> FunctionGraph:
    """Return `graph` with softmax, log_softmax and logsumexp expanded to reductions and elementwise ops.

    float16 is computed in float32 and rounded once.
    """
    return _opened(graph)[0]


def _opened(graph: FunctionGraph) -> tuple[FunctionGraph, dict[Variable, Variable]]:
    """Return the expanded graph, and its values for values of `graph` that are not in it."""
    known: dict[Variable, Variable] = {}
    family = {n: n.op for n in graph.order if isinstance(n.op, AlongAxis) and not isinstance(n.op, Top)}
    finite = {(n.inputs[0], op.axis) for n, op in family.items() if has_finite_top(op)}
    for node in graph.order:
        if node in family:
            (x,), op = node.inputs, family[node]
            known[node.out] = _composition(op, known.get(x, x), (x, op.axis) in finite)
        else:
            copy = node.over(known)
            if copy is not node:
                known.update(zip(node.outputs, copy.outputs, strict=True))
    if not known:
        return graph, known
    once = _each_once(FunctionGraph(graph.inputs, [known.get(o, o) for o in graph.outputs]), known)
    return FunctionGraph(graph.inputs, [known.get(o, o) for o in graph.outputs]), {**known, **once}


def _each_once(graph: FunctionGraph, known: dict[Variable, Variable]) -> dict[Variable, Variable]:
    """Map equal values of `known` to one, such as the maximum of two ops of the softmax family."""
    made: dict[tuple[Op, tuple[object, ...]], Variable] = {}
    images: dict[Variable, Variable] = {}
    for node in graph.order:
        copy = node.over(images)
        key = (copy.op, tuple(i.key if isinstance(i, Constant) else i for i in copy.inputs))
        first = made.setdefault(key, copy.out)
        if first is not node.out:
            images[node.out] = first
    for value, image in known.items():
        known[value] = images.get(image, image)
    return images


def terms_of(x: Variable, axis: int, finite: bool) -> tuple[TensorVariable, TensorVariable, TensorVariable]:
    """(top, moved, terms) of an op of the softmax family: the maximum along its axis, x - top, and exp of that.

    log_softmax is moved - log(sum(terms)), softmax is terms / sum(terms), logsumexp is log(sum(terms)) + top.
    `finite`: an infinite maximum is cut to the largest number, as where `has_finite_top`.
    """
    top = Top(axis)(x)
    if finite:
        largest = float(np.finfo(x.dtype).max)
        top = minimum(maximum(top, constant(-largest, x.dtype)), constant(largest, x.dtype))
    moved = sub(x, DimShuffle(tuple("x" if a == axis else a - (a > axis) for a in range(x.ndim)))(top))
    return top, moved, exp(moved)


def has_finite_top(op: Op) -> bool:
    """Whether the value of a row with inf is not NaN in each element, so that inf - inf is to be avoided."""
    return not isinstance(op, Normalizing) or op.literal


def _composition(op: AlongAxis, given: Any, finite: bool) -> TensorVariable:
    """The op as a composition, over the same terms as others of `given` if one of them needs a `finite` maximum.

    Rows whose maximum is infinite are NaN then by their sum: inf - inf is added to it, and 0 to those of other rows.
    """
    x = cast(given, "float32") if given.dtype == "float16" else given
    keep = DimShuffle(tuple("x" if a == op.axis else a - (a > op.axis) for a in range(x.ndim)))
    top, moved, terms = terms_of(x, op.axis, finite)
    total = Reduce(add, (op.axis,))(terms)
    if finite and not has_finite_top(op):
        whole = Top(op.axis)(x)
        total = add(total, sub(whole, whole))
    if isinstance(op, LogSumExp):
        return cast(add(log(total), top), given.dtype)
    if isinstance(op, LogSoftmax):
        return cast(sub(moved, keep(log(total))), given.dtype)
    return cast(mul(terms, keep(reciprocal(total))), given.dtype)


# --- passes


@record
class Waiting:
    """A value that is kept in the memory of output `slot` from the pass that computes it to its last reader.

    `slot` is None if no output can hold it: it is computed again.
    """

    value: Variable
    since: int
    until: int
    slot: int | None


@record
class RowPlan:
    """The work of each pass, by number: `folded[p]` are the reductions of pass p, `written[p]` the outputs that are
    whole rows. `single` are the outputs that have one element a row, written at its end.
    """

    graph: FunctionGraph
    rank: int
    folded: tuple[tuple[Variable, ...], ...]
    written: tuple[tuple[int, ...], ...]
    single: tuple[int, ...]
    waiting: tuple[Waiting, ...]

    @property
    def passes(self) -> int:
        return len(self.folded)


def row_plan(graph: FunctionGraph) -> RowPlan:
    """The passes of an opened row graph, all of whose reductions fold the last axis of values of one rank.

    Raises ValueError for other reductions.
    """
    rank = _rank(graph)
    stages: dict[Variable, int] = {}
    for node in graph.order:
        own = max((stages.get(i, 0) for i in node.inputs), default=0)
        stages[node.out] = own + (reduced_axes(node.op) is not None)
    reductions = [node.out for node in graph.order if reduced_axes(node.op) is not None]
    rows = [k for k, o in enumerate(graph.outputs) if _is_row(o, rank)]
    count = 1 + max((stages[r] - 1 for r in reductions), default=0)
    count = max([count, *(stages.get(graph.outputs[k], 0) + 1 for k in rows)])
    folded = tuple(tuple(r for r in reductions if stages[r] == p + 1) for p in range(count))
    written = tuple(tuple(k for k in rows if stages.get(graph.outputs[k], 0) == p) for p in range(count))
    single = tuple(k for k, o in enumerate(graph.outputs) if k not in rows and reduced_axes_of(o) is None)
    waiting = tuple(_placed(graph, written, list(_read_again(graph, rank, folded, written))))
    return RowPlan(graph, rank, folded, written, single, waiting)


def reduced_axes_of(value: Variable) -> tuple[int, ...] | None:
    """Return the axes that are folded to compute `value`; None if it is not the result of a reduction."""
    return None if value.owner is None else reduced_axes(value.owner.op)


def _rank(graph: FunctionGraph) -> int:
    folds = {(node.inputs[0].ndim, reduced_axes(node.op)) for node in graph.order if reduced_axes(node.op) is not None}
    ranks = {rank for rank, _ in folds}
    if len(ranks) != 1 or any(axes != (rank - 1,) for rank, axes in folds):
        raise ValueError(f"a row graph folds the last axis of values of one rank, got {sorted(folds, key=str)}")
    return ranks.pop()


def _is_row(value: Variable, rank: int) -> bool:
    return value.ndim == rank and value.type.shape[-1] != 1


def _in_row(value: Variable, rank: int) -> Iterator[Variable]:
    """Yield the operands of `value` that are whole rows of the same length."""
    if value.owner is not None and isinstance(value.owner.op, Pointwise):
        yield from (i for i in value.owner.inputs if i.owner is not None and _is_row(i, rank))


def _read_again(
    graph: FunctionGraph, rank: int, folded: Sequence[Sequence[Variable]], written: Sequence[Sequence[int]]
) -> Iterator[tuple[Variable, int, int]]:
    """Yield (value, first pass, last pass) of costly rows that a later pass reads."""
    costly, enough = set[Variable](), current().costs.again_byte
    for node in graph.order:
        is_costly = work(node) >= enough or any(i in costly for i in _in_row(node.out, rank))
        if is_costly and isinstance(node.op, Pointwise):
            costly.add(node.out)
    first: dict[Variable, int] = {}
    last: dict[Variable, int] = {}
    for p, (folds, outputs) in enumerate(zip(folded, written, strict=True)):
        stack = [r.owner.inputs[0] for r in folds if r.owner is not None] + [graph.outputs[k] for k in outputs]
        seen: set[Variable] = set()
        while stack:
            value = stack.pop()
            if value in seen or value.owner is None:
                continue
            seen.add(value)
            if first.setdefault(value, p) < p:
                if value in costly:
                    last[value] = p
                continue
            stack.extend(_in_row(value, rank))
    yield from ((value, first[value], p) for value, p in last.items())


def _placed(
    graph: FunctionGraph, written: Sequence[Sequence[int]], values: Sequence[tuple[Variable, int, int]]
) -> Iterator[Waiting]:
    """Yield each value with the output whose memory holds it: itself, or one that is written later."""
    final = {k: p for p, outputs in enumerate(written) for k in outputs}
    taken: dict[int, list[tuple[int, int]]] = {}
    for value, since, until in sorted(values, key=lambda v: (v[1], v[2])):
        own = next((k for k in final if graph.outputs[k] is value), None)
        slot = own
        if slot is None:
            free = (
                k
                for k, p in final.items()
                if graph.outputs[k].dtype == value.dtype
                and until <= p
                and all(since >= end or until <= start for start, end in taken.get(k, ()))
            )
            slot = next(free, None)
        if slot is not None and own is None:
            taken.setdefault(slot, []).append((since, until))
        yield Waiting(value, since, until, slot)


def with_waiting(graph: FunctionGraph) -> FunctionGraph:
    """Return a row graph with outputs for costly values that a later pass reads and no other output can hold.

    What waits inside of a softmax lies in the memory of its result.
    """
    whole, images = _opened(graph)
    waiting = {w.value for w in row_plan(whole).waiting if w.slot is None}
    if not waiting:
        return graph
    values = [node.out for node in graph.order if images.get(node.out, node.out) in waiting]
    if len(values) < len(waiting):
        values += [n.out for n in graph.order if isinstance(n.op, Normalizing) and n.out not in values]
    return FunctionGraph(graph.inputs, [*graph.outputs, *(v for v in values if v not in graph.outputs)])
