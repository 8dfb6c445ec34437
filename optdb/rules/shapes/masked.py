"""Writes of elementwise values to the elements that a mask selects become choices.

    x[m] = f(x[m], y[m])   -->   where(m, f(x, y), x)

The choice is one fused loop.  The write finds the positions of the mask, gathers, computes and scatters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....graph import Apply, Dim, Variable, dims_of
from ....ops.elementwise.costs import additions
from ....ops.elementwise.pointwise import Pointwise
from ....ops.elementwise.records import add, switch
from ....ops.reductions.sorting import Nonzero
from ....ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ....ops.shapes.shape import DimShuffle
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, Value, producer

MOST_ADDITIONS = 64
"""Most work on an element, counted in additions; all elements are computed, those that the mask leaves out as well."""


def masked_write(node: Node, users: Users) -> Value | None:
    """Rewrite a write of elementwise values at the positions of a mask to a choice by the mask."""
    x, y, *positions = node.inputs
    mask = _mask_of(node.op.spec, positions)
    if mask is None or y.dtype != x.dtype or x.dtype == "bool" or dims_of(mask) != dims_of(x)[: mask.ndim]:
        return None
    inner = list(_computed(y))
    inside = {node, *inner}
    if sum(map(additions, inner)) > MOST_ADDITIONS or not _alone(inner, inside, users):
        return None
    images: dict[Variable, Variable] = {}
    for leaf in {i for n in inner for i in n.inputs} | {y}:
        if leaf.owner in inside:
            continue
        image = _whole(leaf, mask, x)
        if image is None:
            return None
        images[leaf] = image
    for n in inner:
        images[n.out] = n.op(*(images[i] for i in n.inputs))
    chosen = DimShuffle((*range(mask.ndim), *["x"] * (x.ndim - mask.ndim)))(mask) if mask.ndim < x.ndim else mask
    return switch(chosen, images[y] if node.op.set else add(x, images[y]), x)


def selected_dims(node: Apply) -> tuple[tuple[Dim, ...], tuple[Dim, ...]] | None:
    """Return the lengths of a mask, and those of the axes of which a node reads or writes its elements."""
    if not isinstance(node.op, (AdvancedSubtensor, AdvancedIncSubtensor)):
        return None
    first = 2 if isinstance(node.op, AdvancedIncSubtensor) else 1
    mask = _mask_of(node.op.spec, node.inputs[first:])
    return None if mask is None else (dims_of(mask), dims_of(node.inputs[0])[: mask.ndim])


def _mask_of(spec: tuple[str, ...], positions: Sequence[Variable]) -> Variable | None:
    """Return the mask of which the index arrays are all positions; None if they are others."""
    found = producer(positions[0], Nonzero) if positions else None
    if found is None or set(spec) != {"a"} or found.inputs[0].dtype != "bool":
        return None
    return found.inputs[0] if tuple(positions) == tuple(found.outputs) else None


def _computed(y: Variable) -> Iterator[Node]:
    """Yield the elementwise nodes behind `y` up to reads and numbers, operands first."""
    seen: set[Variable] = set()

    def visit(v: Variable) -> Iterator[Node]:
        if v in seen or v.owner is None or not v.ndim or not isinstance(v.owner.op, Pointwise):
            return
        seen.add(v)
        for i in v.owner.inputs:
            yield from visit(i)
        yield v.owner

    return visit(y)


def _alone(inner: list[Node], inside: set[Node], users: Users) -> bool:
    """Whether only nodes inside read the values of the inner ones."""
    readers = [users(n.out) for n in inner]
    return all(found and all(u in inside for u, _ in found) for found in readers)


def _whole(leaf: Variable, mask: Variable, x: Variable) -> Variable | None:
    """Return the array of which a leaf is the masked part, or the leaf itself if it is a number; None for others."""
    if not leaf.ndim:
        return leaf
    read = producer(leaf, AdvancedSubtensor)
    if read is None or _mask_of(read.op.spec, read.inputs[1:]) is not mask:
        return None
    return read.inputs[0] if dims_of(read.inputs[0]) == dims_of(x) else None


MASKED: list[Rule] = [
    node_rule("local_masked_write", AdvancedIncSubtensor, masked_write, having=Nonzero, uses=True,
              formula="set_subtensor(x[nonzero(m)], f(y[nonzero(m)])) -> where(m, f(y), x)  for elementwise f"),
]  # fmt: skip
