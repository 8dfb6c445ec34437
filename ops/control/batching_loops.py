"""Vectorized loops and choices: one loop, whose states have the examples' axis if they depend on it."""

from __future__ import annotations

from typing import Any

from ... import ops as T
from ...graph import Apply, TensorType, Variable, rebuild
from ..core.tensor import TensorVariable
from .cond import Cond, chosen
from .examples import Examples, Flags, NoBatch, aligned, carried_by, require_shared
from .scan_ops import Scan, looped


def scan(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Return one loop for all examples, which take the same steps."""
    op = node.op
    assert isinstance(op, Scan)
    require_shared(flags[:1], "the number of steps")
    body, states = op.graph, op.states
    steps, *rest = inputs
    given: dict[Variable, Variable] = {}
    same: dict[Variable, Variable] = {}
    varied = _varied(op, flags[1:])
    sequences, leaves, firsts, olds = [], [], [], []
    for k, (outer, inner, has_axis) in enumerate(zip(rest, body.inputs, flags[1:], strict=True)):
        if k < states.start:
            sequences.append(T.swapaxes(outer, 0, 1) if has_axis else outer)  # steps first
            leaves.append(_leaf(sequences[-1].type.with_shape(sequences[-1].type.shape[1:]), inner))
            (given if has_axis else same)[inner] = leaves[-1]
        elif k < states.stop:
            firsts.append(examples.broadcast(outer) if inner in varied and not has_axis else outer)
            olds.append(_leaf(firsts[-1].type, inner))
            (given if inner in varied else same)[inner] = olds[-1]
        else:
            (given if has_axis else same)[inner] = outer
    outputs = rebuild(body.outputs, dict(same))
    depends = [o in varied for o in body.outputs]
    depends[: len(olds)] = [inner in varied for inner in body.inputs[states]]
    if op.until and depends[-1]:
        raise NoBatch("the number of steps would differ from one example to the next")
    many = iter(carried_by([o for o, d in zip(outputs, depends, strict=True) if d], given))
    kept = [next(many) if d else o for o, d in zip(outputs, depends, strict=True)]
    count, last = len(olds), len(outputs) - op.until
    found = looped(
        type(op), steps, sequences, leaves, firsts, olds, kept[:count], kept[count:last],
        kept[-1] if op.until else None, op.traced, op.truncate,
    )  # fmt: skip
    stacked = (*op.traced, *(True for _ in found[count:]))
    return [
        examples.broadcast(o) if not d else T.swapaxes(o, 0, 1) if s else o
        for o, s, d in zip(found, stacked, depends, strict=False)
    ]


def _varied(op: Scan, flags: Flags) -> set[Variable]:
    """Return the values of a body that differ between examples."""
    body, states = op.graph, op.states
    found = {i for i, f in zip(body.inputs, flags, strict=True) if f}
    while True:
        for inner in body.order:
            if not found.isdisjoint(inner.inputs):
                found.update(inner.outputs)
        new = {s for s, o in zip(body.inputs[states], body.outputs, strict=False) if o in found and s not in found}
        if not new:
            return found
        found |= new


def cond(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Return one choice for all examples; if the condition differs between them, compute both branches."""
    op = node.op
    assert isinstance(op, Cond)
    leaves = [_leaf(outer.type, inner) for outer, inner in zip(inputs[1:], op.then.inputs, strict=True)]
    branches = []
    for graph in op.branches:
        if flags[0]:
            leaves = inputs[1:]
        pairs = list(zip(graph.inputs, leaves, flags[1:], strict=True))
        outputs = rebuild(graph.outputs, {inner: leaf for inner, leaf, f in pairs if not f})
        given = {inner: leaf for inner, leaf, f in pairs if f}
        many = carried_by(outputs, given) if given else [examples.broadcast(o) for o in outputs]
        branches.append(many)
    if not flags[0]:
        return chosen(inputs[0], leaves, inputs[1:], *branches)
    test = inputs[0]
    return [T.switch(aligned(test, True, 0, a.ndim - 1), a, b) for a, b in zip(*branches, strict=True)]


def _leaf(kind: TensorType, like: Variable) -> Variable:
    return TensorVariable(kind, name=like.name)
