"""The derivative of a loop: another loop, from the last step to the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from ...graph import Apply, Constant, FunctionGraph, Kind, Variable, dims_of, rebuild
from ...graph import leaves as leaves_of
from ..core.backward import pull_back
from ..core.namespace import T, classes
from ..core.tensor import TensorVariable
from ..elementwise import costs
from ..elementwise.arithmetic import add, sub
from ..shapes.lengths import ShapeI, tensor_to_dim
from ..shapes.specify import with_lengths_of
from .overwriting import is_seen_by_its_step_alone, overwritten, written_last
from .scan_ops import Scan, joint_type, looped

LONG_PRODUCT = 32
"""Operations for each element of a product from which on its result is kept."""


def cotangents(
    node: Apply, given: Sequence[Variable | None], totals: Sequence[Variable | None]
) -> Sequence[Variable | None]:
    """Return the cotangents of the inputs of a loop, added to `totals`; `given`: those of its outputs."""
    op: Scan = node.op  # type: ignore[assignment]
    forward = node if all(op.traced) else node.with_op(replace(op, traced=(True,) * len(op.traced)))
    if op.until or op.truncate >= 0 or op.alive(forward) is not None:
        return Backward(node, forward, totals).cotangents(given)
    parts: dict[int, Any] = {} if forward is node else overwritten(op)
    forward, kept, products = _keeping(node, parts)
    return Backward(node, forward, totals, parts, kept, products).cotangents(given)


class Backward:
    """The gradient of a scan: another scan, from the last step to the first.

    Its states are the cotangents of the states, and the sums of those of what is the same in every step; it goes along
    the states that the first one went through: `forward` gives them all, but for the `parts` that it keeps of some.
    `kept`: the outputs of the first loop that are states before each step; `products`: those that are values of the
    body with a product in them, which no step computes again.
    Source: Griewank and Walther, Evaluating Derivatives, section 3.2.
    """

    def __init__(
        self, node: Apply, forward: Apply, totals: Sequence[Variable | None],
        parts: Mapping[int, Any] = MappingProxyType({}), kept: Mapping[int, int] = MappingProxyType({}),
        products: Mapping[Variable, int] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.parts: Mapping[int, Any] = parts
        self.kept: Mapping[int, int] = kept
        self.products: Mapping[Variable, int] = products
        self.op, self.body = forward.op, node.op.graph  # type: ignore[attr-defined]
        self.traced: tuple[bool, ...] = node.op.traced  # type: ignore[attr-defined]
        self.forward: Apply = forward
        self.outputs: tuple[Variable, ...] = node.outputs
        n, self.sequences, self.firsts, others = self.op.parts(forward)  # type: ignore[attr-defined]
        self.others = list(others)
        self.totals: tuple[Variable | None, ...] = tuple(totals)
        self.steps: Any = ShapeI(0)(forward.outputs[0]) if node.op.until else n  # type: ignore[attr-defined]
        truncate = node.op.truncate  # type: ignore[attr-defined]
        self.count: Any = self.steps if truncate < 0 else T.minimum(self.steps, T.constant(truncate, "int64"))
        self.whole = truncate < 0
        self.alive: Any = self.op.alive(forward)  # type: ignore[attr-defined]

    def cotangents(self, received: Sequence[Variable | None]) -> list[Variable | None]:
        """The cotangents of the inputs of the node, given the cotangents of its outputs."""
        states = len(self.firsts)
        leaves = [TensorVariable(i.type, name=i.name) for i in self.body.inputs[: len(self.sequences) + states]]
        slices, olds = leaves[: len(self.sequences)], leaves[len(self.sequences) :]
        given = dict(zip(self.body.inputs, [*leaves, *self.others], strict=True))
        rows = [*self.sequences, *(self._before(k) for k in range(states) if k not in self.parts)]
        leaves = [leaf for k, leaf in enumerate(leaves, -len(slices)) if k not in self.parts]
        after = {k: olds[k] for k in self.parts}
        reads = self._restore(given, olds, leaves, rows)
        for value, k in self.products.items():
            rows.append(self.forward.outputs[k])
            leaves.append(TensorVariable(value.type))
            reads[value] = leaves[-1]
        images = rebuild([*self.body.outputs, *reads], given, lambda inner: _with_views_inside(inner).outputs)
        outputs, kept = images[: len(self.body.outputs)], images[len(self.body.outputs) :]
        rows_of_reads = dict(zip(kept, reads.values(), strict=True))
        ends = [None if traced else g for traced, g in zip(self.traced, received, strict=False)]
        starts = [T.zeros_like(f) if g is None else g for f, g in zip(self.firsts, ends, strict=True)]
        adjoints = [
            TensorVariable(joint_type(o.type, start.type), name=f"d_{o.name}" if o.name else None)
            for o, start in zip(olds, starts, strict=True)
        ]
        sent: list[Any] = [a if a.type.kind in "fc" else None for a in adjoints]
        for k, g in enumerate(received):
            if g is None:
                sent += [None] * (k >= states)
            elif k >= states or self.traced[k]:
                leaf = TensorVariable(g.type.with_shape(g.type.shape[1:]))  # it may know less than the output
                leaves.append(leaf)
                rows.append(g)
                if k < states:
                    sent[k] = T.add(sent[k], leaf)
                else:
                    sent.append(leaf)
        if self.alive is not None:
            leaves.append(TensorVariable(self.alive.type.with_shape(())))
            rows.append(self.alive)
        return self._applied(leaves, rows, slices, olds, adjoints, starts, outputs, sent, after, rows_of_reads)

    def _restore(
        self, given: dict[Any, Any], olds: list[Any], leaves: list[Any], rows: list[Any]
    ) -> dict[Variable, Variable]:
        """Make states before a step of those after it, where the first loop has kept what a step overwrites.

        Return what the body reads of them that is kept, with the rows of the kept values.
        """
        number = len(self.body.outputs)
        reads: dict[Variable, Variable] = {}
        for k, parts in self.parts.items():
            restored = olds[k]
            for part in parts:
                kept: Any = self.forward.outputs[number]
                number += 1
                rows.append(kept)
                leaves.append(TensorVariable(kept.type.with_shape(kept.type.shape[1:])))
                indices = rebuild(part.indices, dict(given))
                restored = part.restored(restored, leaves[-1], dict(zip(part.indices, indices, strict=True)))
                reads.update((v, leaves[-1]) for v in part.reads(self.body, self.body.inputs[len(self.sequences) + k]))
            olds[k] = given[self.body.inputs[len(self.sequences) + k]] = restored
        return reads

    def _applied(
        self, leaves: list[Any], rows: list[Any], slices: list[Any], olds: list[Any], adjoints: list[Any],
        starts: list[Any], outputs: list[Variable], sent: list[Any], after: dict[int, Any],
        known: dict[Variable, Variable],
    ) -> list[Variable | None]:  # fmt: skip
        shared = [o for o in dict.fromkeys(self.others) if o.type.kind in "fc" and not isinstance(o, Constant)]
        wrt = [v for v in (*slices, *olds, *shared) if v.type.kind in "fc"]
        before = dict(zip(self.others, self.totals[len(self.totals) - len(self.others) :], strict=True))
        begun = {o: T.zeros_like(o) if before[o] is None else before[o] for o in shared}
        sums = {o: TensorVariable(joint_type(o.type, begun[o].type)) for o in shared}
        pulled = pull_back(outputs[: len(sent)], sent, wrt, stop_at={*leaves, *olds, *self.others}, onto=sums)
        found = dict(zip(wrt, pulled, strict=True))
        if self.alive is not None:
            self._mask(found, leaves[-1], dict(zip(olds, sent, strict=False)), sums)
        carried = [k for k, old in enumerate(olds) if old.type.kind in "fc"]
        summed = [o for o in shared if found[o] is not sums[o]]
        new = [T.zeros_like(olds[k]) if found[olds[k]] is None else found[olds[k]] for k in carried]
        new += [found[o] for o in summed]
        new += [olds[k] for k in after]
        read = [k for k, s in enumerate(slices) if found.get(s) is not None]
        values = [_row(found[slices[k]], slices[k]) for k in read]
        if after:
            known = {**written_last(outputs, after), **known}
        new, values = rebuild(new, dict(known)), rebuild(values, dict(known))
        used = set(leaves_of([*new, *values]))
        pairs = [(leaf, r) for leaf, r in zip(leaves, rows, strict=True) if leaf in used]
        results = looped(
            Scan, self.count, [self._reversed(r) for _, r in pairs], [leaf for leaf, _ in pairs],
            [*(starts[k] for k in carried), *(begun[o] for o in summed), *(self._last(k) for k in after)],
            [*(adjoints[k] for k in carried), *(sums[o] for o in summed), *after.values()],
            new, values, traced=(False,) * len(new),
        )  # fmt: skip
        ends = dict(zip(carried, results, strict=False))
        totals = {**before, **dict(zip(summed, results[len(carried) :], strict=False))}
        parts = dict(zip(read, results[len(new) :], strict=True))
        rows = [self._of_sequence(s, parts[k]) if k in parts else None for k, s in enumerate(self.sequences)]
        return [
            None,
            *self._onto(1, [*rows, *(self._of_first(ends[k]) if k in ends else None for k in range(len(self.firsts)))]),
            *(totals.pop(o, None) for o in self.others),
        ]

    def _onto(self, start: int, found: list[Any]) -> list[Any]:
        """Return cotangents of the inputs from `start` on, added to their totals."""
        totals = self.totals[start : start + len(found)]
        return [t if g is None else g if t is None else T.add(t, g) for t, g in zip(totals, found, strict=True)]

    def _mask(self, found: dict[Variable, Any], alive: Any, sent: dict[Variable, Any], sums: dict[Any, Any]) -> None:
        """Let steps that do not count pass the cotangents of the states on, and add nothing to others."""
        for v, g in found.items():
            if v in sent:
                found[v] = T.switch(alive, T.zeros_like(v) if g is None else g, sent[v])
            elif v in sums:
                found[v] = sums[v] if g is sums[v] else T.switch(alive, g, sums[v])
            elif g is not None:
                found[v] = T.switch(alive, g, T.zeros_like(g))

    def _last(self, k: int) -> Any:
        """Return the last value of a state: of this loop where it is to be restored in the array of the loop.

        Around an inner loop the array is known as it is after a step.  If no step sees what another one restores, the
        inner loop need not run again for it.
        """
        state = self.body.inputs[len(self.sequences) + k]
        alone = is_seen_by_its_step_alone(self.body, state, k, self.parts[k])
        return (self.outputs if alone else self.forward.outputs)[k]

    def _before(self, k: int) -> Any:
        """Return the values of state `k` at the start of the steps."""
        if k in self.kept:
            return self.forward.outputs[self.kept[k]]
        return T.concatenate([T.expand_dims(self.firsts[k], 0), self.forward.outputs[k][:-1]])  # type: ignore[index]

    def _reversed(self, rows: Any) -> Any:
        """Return the rows from the last step on, as many as the gradient visits."""
        found = rows[: self.steps][::-1]
        return found if self.whole else found[: self.count]

    def _of_sequence(self, sequence: Any, rows: Any) -> Any:
        """Return the cotangent of a sequence, of which the steps may have read a part."""
        if self.whole and dims_of(sequence)[0] == tensor_to_dim(self.steps):
            return rows[::-1]
        return T.set_subtensor(T.zeros_like(sequence)[self.steps - self.count : self.steps], rows[::-1])

    def _of_first(self, end: Any) -> TensorVariable:
        return end if self.whole else T.switch(T.eq(self.count, self.steps), end, T.zeros_like(end))


def _keeping(node: Apply, parts: Mapping[int, Any]) -> tuple[Apply, dict[int, int], dict[Variable, int]]:
    """Return the loop that also keeps what its derivative reads, and the numbers of the outputs that hold it.

    Of the states of `parts` it keeps what a step overwrites, of others without a trace all.  So the loop of the value
    and this one have the same states.  The numbers are those of the states before each step, and of `products`.
    """
    op: Scan = node.op  # type: ignore[assignment]
    body, states = op.graph, op.graph.inputs[op.states]
    values = [part.read(states[k], {}) for k, several in parts.items() for part in several]
    whole = [k for k, traced in enumerate(op.traced) if not traced and k not in parts]
    products = _products(node)
    given = {v: k for k, v in enumerate(body.outputs) if k >= len(states)}
    traces = [k for k, s in enumerate(states) if op.traced[k] and body.outputs[k].type == s.type]
    given.update((body.outputs[k], k) for k in traces)
    more = [v for v in products if v not in given]
    added = [*values, *(states[k] for k in whole), *more]
    forward = node.with_op(_with_values(op, added)) if added else node
    first = len(body.outputs) + len(values)
    given.update((v, first + len(whole) + number) for number, v in enumerate(more))
    return forward, {k: first + number for number, k in enumerate(whole)}, {v: given[v] for v in products}


def _with_values(op: Scan, values: Sequence[Variable]) -> Scan:
    return replace(op, graph=FunctionGraph(op.graph.inputs, [*op.graph.outputs, *values]))


def _products(node: Apply) -> list[Variable]:
    """Return the values of the body with a product in them that have one shape in all steps.

    The product of long rows costs more than its result's way to memory and back.  What is added to it is in the value,
    since derivatives read no operand of a sum.
    """
    op: Scan = node.op  # type: ignore[assignment]
    body, found = op.graph, list[Variable]()
    varying = set(body.inputs[: op.states.stop])
    for inner in body.order:
        if varying.intersection(inner.inputs):
            varying.update(inner.outputs)
            if inner.op.picture is Kind.PRODUCT and inner.outputs[0].type.kind in "fc" and _is_long(inner):
                found.append(_summed(body, inner.outputs[0]))
    found = list(dict.fromkeys(found))
    if not found:
        return found
    operands = node.inputs[1:]
    lengths = _with_values(op, found).lengths(operands, [dims_of(i) for i in operands])[len(body.outputs) :]
    return [v for v, shape in zip(found, lengths, strict=True) if None not in shape]


def _is_long(product: Apply) -> bool:
    """Return whether a product adds up many numbers for each element; with unknown lengths it does."""
    operations = getattr(product.op, "operations", None)
    return operations is not None and bool(operations(product).count >= LONG_PRODUCT * costs.size(product.outputs[0]))


def _summed(body: FunctionGraph, v: Variable) -> Variable:
    """Return the sum that a value is a term of, if nothing else reads it; else the value."""
    while True:
        (user, _), *others = body.uses[v]
        if others or user is None or user.op not in (add, sub) or user.out.type != v.type:
            return v
        v = user.out


def _with_views_inside(node: Apply) -> Apply:
    """Return an inner loop that takes arrays for parts of them, whose cotangents then add to those of the arrays."""
    op = node.op
    if not isinstance(op, Scan):
        return node
    outer, inner = list(node.inputs[1:]), list(op.graph.inputs)
    views = [k for k in range(op.states.stop, len(inner)) if _is_view(outer[k])]
    if not views:
        return node
    kept = [k for k in range(len(inner)) if k not in views]
    known = {outer[k]: inner[k] for k in kept if k >= op.states.stop}
    images: dict[Variable, Variable] = {}
    for k in views:
        made: Any = outer[k].owner
        for i in made.inputs:
            if not isinstance(i, Constant) and i not in known:
                known[i] = TensorVariable(i.type, name=i.name)
                kept.append(len(inner))
                outer.append(i)
                inner.append(known[i])
        images[inner[k]] = made.over(known).out
    body = FunctionGraph([inner[k] for k in kept], rebuild(op.graph.outputs, dict(images)))
    return Apply(replace(op, graph=body), (node.inputs[0], *(outer[k] for k in kept)), node.origin)


def _is_view(v: Variable) -> bool:
    """Whether a variable is a part of an array of numbers."""
    return bool(v.ndim) and v.type.kind in "fc" and v.owner is not None and isinstance(v.owner.op, classes.Subtensor)


def _row(g: Any, slice_: Variable) -> Variable:
    """Return the cotangent of a slice; its lengths are known even if no step computes them."""
    known = all(isinstance(n, int) or n.of_leaves for n in dims_of(g))
    return g if known else with_lengths_of(g, slice_)
