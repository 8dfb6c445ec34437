"""Matrix products moved out of loops, so that the products of all steps become one large product.

    scan{fn(x, s, W) -> dot(x, W) + s}(n, X, S, W)       -->   scan{fn(p, s) -> p + s}(n, dot(X, W), S)
    scan{fn(x, y, s) -> s + dot(x.T, y)}(n, X, Y, S)     -->   S + dot(rows(X).T, rows(Y))      rows: those of all steps

The first makes one product of many small ones, the second one of many that are added up, as gradients of weights are:
what is multiplied is kept for all steps.  Sums are rounded in another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from .... import ops as T
from ....graph import (
    Apply,
    Constant,
    FunctionGraph,
    GraphEditor,
    Origin,
    Variable,
    dims_of,
    inheriting,
    leaves,
    rebuild,
)
from ....ops.control.batching import NoBatch, carried, merged
from ....ops.control.scan_ops import Scan
from ....ops.control.while_ops import While
from ....ops.core.tensor import TensorVariable
from ....ops.linalg.blas import Dot
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.lengths import tensor_to_dim
from ....ops.shapes.shape import DimShuffle
from ....profiling import OptimizerProfile
from ....record import record
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from .inner_graphs import admitted
from .scan import over_loops, with_loops, without_constants
from .scan_product_parts import Moved, PartsOfProducts

_TRANSPOSED = (1, 0)


@record(kw_only=True)
class PushOutProducts(Optimizer):
    """Multiplies all rows of a sequence by a matrix before the loop, if the body does it row by row."""

    contract: ClassVar[Contract | None] = relaxes("rounding", "errors")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, with_loops(graph, _products_first), self.name, editor), OptimizerProfile()


@record(kw_only=True)
class PushOutSums(Optimizer):
    """Sums products after the loop, as one product over all steps, if a state only accumulates them."""

    contract: ClassVar[Contract | None] = relaxes("rounding", "errors")

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return admitted(graph, over_loops(graph, _sums_after), self.name, editor), OptimizerProfile()


# --- before the loop


def _products_first(node: Apply) -> Apply | None:
    """Return the loop with products of its sequences as further sequences; None if there are none."""
    op = node.op
    assert isinstance(op, Scan)
    body, first = op.graph, op.states.stop
    slices, steady = body.inputs[: op.sequences], set(body.inputs[first:])
    if op.until or isinstance(op, While) or not slices:
        return None
    with inheriting(node.origin):
        found = _to_move(node, set(slices), steady)
        stacked = _over_all_steps(node, [m.whole for m in found]) if found else None
        if stacked is None:
            return None
        given = [TensorVariable(m.whole.type) for m in found]
        origins = [None if m.origin is None else TensorVariable(m.origin.type) for m in found]
        parts = [m.part(row, origin) for m, row, origin in zip(found, given, origins, strict=True)]
        outputs = rebuild(body.outputs, {m.value: part for m, part in zip(found, parts, strict=True)})
    inputs = [*slices, *given, *body.inputs[op.sequences :], *(o for o in origins if o is not None)]
    operands = [*node.inputs[: 1 + op.sequences], *stacked, *node.inputs[1 + op.sequences :]]
    operands += [m.origin for m in found if m.origin is not None]
    more = replace(op, graph=FunctionGraph(inputs, outputs), sequences=op.sequences + len(given))
    made = Apply(more, operands, node.origin)
    return without_constants(made) or made


def _to_move(node: Apply, varying: set[Variable], steady: set[Variable]) -> list[Moved]:
    """Return the products that no state enters, by loop-invariant matrices or parts of them.

    `varying` and `steady` are inputs of the body; values that are computed of them are added.  All steps run, so an
    index out of range raises before the loop as well.
    """
    parts, found = PartsOfProducts(node, steady), []
    safe = set(varying)  # whole rows of sequences: reading rows by number all at once copies them
    for inner in node.op.graph.order:  # type: ignore[attr-defined]
        changes = any(i in varying for i in inner.inputs)
        known = all(i in varying or i in steady or isinstance(i, Constant) for i in inner.inputs)
        if not known or (inner.op.fallible and not (changes and isinstance(inner.op, Subtensor))):
            continue
        (varying if changes else steady).update(inner.outputs)
        if changes and not inner.op.fallible and all(i in safe or i not in varying for i in inner.inputs):
            safe.update(inner.outputs)
        if not isinstance(inner.op, Dot):
            continue
        if not safe.isdisjoint(inner.inputs) and _is_worth_it(inner, safe):
            found.append(Moved(inner.out, inner.out))
        elif all(i in varying for i in inner.inputs) and (part := parts.moved(inner)) is not None:
            found.append(part)
    return found


def _is_worth_it(product: Apply, varying: set[Variable]) -> bool:
    """Whether the node multiplies a row by a loop-invariant matrix."""
    a, b = product.inputs
    if a in varying:
        return b not in varying and b.ndim == 2
    return b in varying and a.ndim == 2 and b.ndim == 1


def _over_all_steps(node: Apply, values: Sequence[Variable]) -> list[Variable] | None:
    """Return values of the body, made of slices and invariants, for all steps; None if they have no such form."""
    op = node.op
    assert isinstance(op, Scan)
    body, first, read = op.graph, op.states.stop, set(leaves(values))
    rows = {s: _rows(node, k) for k, s in enumerate(body.inputs[: op.sequences]) if s in read}
    befores = [_reversed(row) for row in rows.values()]
    transposed = all(before is not None for before in befores)  # the product of all rows may be wanted elsewhere
    if transposed:
        rows = {s: before for s, before in zip(rows, befores, strict=True) if before is not None}
    try:
        found = carried(values, rows)
    except NoBatch:
        return None
    outer = dict(zip(body.inputs[first:], node.inputs[1 + first :], strict=True))
    found = rebuild(found, {**outer, **{row: row for row in rows.values()}})
    return [T.flip(v, 0) for v in found] if transposed else found


def _rows(node: Apply, number: int) -> Variable:
    """Return as many rows of a sequence as there are steps."""
    sequence, steps = node.inputs[1 + number], node.inputs[0]
    before = _reversed(sequence)
    whole = sequence if before is None else before
    few_enough = any(bound is steps for bound in _sliced(whole, "s010"))
    known = few_enough or dims_of(whole)[0] == tensor_to_dim(steps)
    return sequence if known else sequence[:steps]  # type: ignore[index]


def _reversed(rows: Variable) -> Variable | None:
    """Return the value whose reverse `rows` is; None if they are in order."""
    step = _sliced(rows, "s001")
    backwards = len(step) == 1 and isinstance(step[0], Constant) and int(step[0].data) == -1
    return rows.owner.inputs[0] if rows.owner is not None and backwards else None


def _sliced(rows: Variable, spec: str) -> tuple[Variable, ...]:
    """Return the bounds of the slice along the first axis that `rows` is; empty for other forms."""
    node = rows.owner
    return node.inputs[1:] if node is not None and isinstance(node.op, Subtensor) and node.op.spec == (spec,) else ()


# --- after the loop


@record(eq=False)
class _Factor:
    """One side of a product: a value of the body, perhaps transposed."""

    value: Variable
    transposed: bool

    @classmethod
    def of(cls, side: Variable) -> _Factor:
        node = side.owner
        if node is not None and isinstance(node.op, DimShuffle) and node.op.order == _TRANSPOSED:
            return cls(node.inputs[0], True)
        return cls(side, False)

    def left(self, rows: Variable) -> Any:
        """Return the rows of all steps as the left side of one product, which is summed over their last axis."""
        if self.transposed:
            return DimShuffle(_TRANSPOSED)(merged(rows, 0))
        return merged(rows if rows.ndim == 2 else DimShuffle((1, 0, 2))(rows), rows.ndim - 2)

    def right(self, rows: Variable) -> Any:
        """Return the rows of all steps as the right side of one product, which is summed over their first axis."""
        return merged(DimShuffle((0, 2, 1))(rows) if self.transposed else rows, 0)


def _sums_after(node: Apply) -> Sequence[Variable]:
    """Return the outputs of a loop with its sums of products moved after it; unchanged if there are none."""
    op = node.op
    assert isinstance(op, Scan)
    body, count = op.graph, len(op.traced)
    if op.until or isinstance(op, While):
        return node.outputs
    products, outputs = _without_products(op, node.origin)
    if not products:
        return node.outputs
    factors = dict.fromkeys(_Factor.of(i).value for found in products.values() for p in found for i in p.inputs)
    slices = {s: k for k, s in enumerate(body.inputs[: op.sequences])}
    kept = [k for k in range(count) if k not in products or outputs[k] is not body.inputs[op.states][k]]
    values = [f for f in factors if f not in slices]
    first = op.states.start
    places = [*range(first), *(first + k for k in kept), *range(op.states.stop, len(body.inputs))]
    inner = [*(outputs[k] for k in kept), *outputs[count:], *values]
    if not inner:  # the loop alone tells whether there are as many rows as steps
        return node.outputs
    less = replace(
        op, graph=FunctionGraph([body.inputs[k] for k in places], inner), traced=tuple(op.traced[k] for k in kept)
    )
    made = Apply(less, (node.inputs[0], *(node.inputs[1 + k] for k in places)), node.origin)
    given = len(kept) + len(outputs) - count
    rows = {f: _rows(node, slices[f]) if f in slices else made.outputs[given + values.index(f)] for f in factors}
    results = [*made.outputs[len(kept) : given]]
    with inheriting(node.origin):
        for k in reversed(range(count)):
            start = made.outputs[kept.index(k)] if k in kept else node.inputs[1 + first + k]
            sums = [_product_of_all(p, rows) for p in products.get(k, ())]
            results.insert(0, T.add(start, *sums) if sums else start)
    fits = all(new.type.refines(old.type) for new, old in zip(results, node.outputs, strict=True))
    return results if fits else node.outputs


def _without_products(op: Scan, origin: Origin) -> tuple[dict[int, list[Apply]], list[Variable]]:
    """Return the products that are added to states, by state number, and the outputs of the body without them."""
    body, changing = op.graph, _changing(op)
    products: dict[int, list[Apply]] = {}
    outputs = list(body.outputs)
    for k, state in enumerate(body.inputs[op.states]):
        terms = [] if op.traced[k] else _collected(body, state, body.outputs[k])
        found = [t.owner for t in terms if t.owner is not None and _is_product(t.owner, body, changing)]
        if found:
            products[k] = found
            rest = [t for t in terms if t.owner not in found and t is not state]
            with inheriting(origin):
                outputs[k] = T.add(state, *rest) if rest else state
    return products, outputs


def _product_of_all(product: Apply, rows: Mapping[Variable, Variable]) -> Any:
    """Return the sum over all steps of a product."""
    a, b = map(_Factor.of, product.inputs)
    return Dot()(a.left(rows[a.value]), b.right(rows[b.value]))


def _changing(op: Scan) -> set[Variable]:
    """Return the values of a body that differ from step to step."""
    found = set(op.graph.inputs[: op.states.stop])
    for inner in op.graph.order:
        if not found.isdisjoint(inner.inputs):
            found.update(inner.outputs)
    return found


def _collected(body: FunctionGraph, state: Variable, new: Variable) -> list[Variable]:
    """Return the other terms of a sum that updates a state; empty unless the state occurs exactly once."""
    if body.readings[state] != 1 or new is state:
        return []
    terms, open_ = [], [new]
    while open_:
        v = open_.pop()
        if v.owner is not None and v.owner.op == T.add and body.readings[v] == 1:
            open_.extend(v.owner.inputs)
        else:
            terms.append(v)
    return terms if state in terms else []


def _is_product(node: Apply, body: FunctionGraph, changing: set[Variable]) -> bool:
    """Whether a value is a product without other readers, both sides of which differ from step to step."""
    return (
        isinstance(node.op, Dot) and body.readings[node.out] == 1 and node.out.ndim > 0
        and all(i in changing for i in node.inputs)
    )  # fmt: skip
