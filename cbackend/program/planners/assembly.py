"""Concatenation and padding fusion: the whole is allocated first, then each part is computed in its place.

assembled{join(exp(x), 2 * y)}   -->   allocate v; k_exp(v, x); k_mul(v + n * s, y)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ....graph import Apply, Variable
from ....ops.lowered.assembled import Assembled
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.lowered.blocked_pool import BlockedPool
from ....ops.lowered.fused import unmarked
from ....ops.lowered.fused_product import FusedProduct
from ....ops.shapes.creation import Alloc
from ....ops.shapes.indexing import IncSubtensor
from ....ops.shapes.joining import Join
from ...ir.kernel import Kernel
from ..accounts import Term, cost, of_calls, of_launches
from ..planner import Planner, whole_outputs
from ..prepared import followed
from ..program import Array, Call, Lengths, Program, Site, Step
from .creation import fill_with, joined_lengths, parts_of
from .indexing import fits
from .interleaved import launch_interleaved
from .joined_reads import plan_joined_reads
from .views import sliced, window

PRODUCTS = (BlockedConvolution, BlockedPool, FusedProduct)
"""Parts that are calls for one image, which fills its part evenly."""


def plan_assembled(p: Planner, node: Apply) -> None:
    """Plan the whole and its parts in it; node by node if a part might be broadcast at run time."""
    assert isinstance(node.op, Assembled)
    nodes = node.op.over(node)
    if not isinstance(nodes[-1].op, (Join, IncSubtensor)):
        plan_joined_reads(p, node, nodes)
        return
    kernels = {n: p.kernel(n) for n in nodes if not isinstance(n.op, (Join, IncSubtensor, Alloc, *PRODUCTS))}
    written = [n.inputs[1].owner for n in nodes if isinstance(n.op, IncSubtensor)]
    if not all(_fills(n, kernel, n in written) for n, kernel in kernels.items()):
        p.expand(node, nodes[-1].outputs)
        return
    for inner in nodes:
        for output, lengths in zip(inner.outputs, _lengths(p, inner, kernels), strict=True):
            p.keep_promises(output, lengths)
            p.put(output, p.dense("", output.dtype, lengths))
    whole = p.result(node.out, p.arrays[nodes[-1].out].lengths)
    places = _Places(nodes[-1].out, whole)
    for inner in reversed(nodes):
        _place(p, inner, places, kernels)


def _fills(node: Apply, kernel: Kernel, written: bool) -> bool:
    """Whether a kernel writes all its results, even if a value is broadcast to the part that it is written to."""
    everywhere = tuple(range(node.outputs[0].ndim))
    return all(whole_outputs(node, kernel)) and (
        not written or all(operand.axes == everywhere for operand in kernel.outputs)
    )


def _lengths(p: Planner, node: Apply, kernels: dict[Apply, Kernel]) -> list[Lengths]:
    """Return the lengths of the results of a node of a concatenation fusion."""
    if isinstance(node.op, Join):
        return [joined_lengths(p, node)]
    if isinstance(node.op, Alloc):
        return [p.lengths(node.inputs[1:])]
    if isinstance(node.op, IncSubtensor):
        return [p.arrays[node.inputs[0]].lengths]
    if isinstance(node.op, PRODUCTS):
        product = node.op.split(node.inputs)[0].owner if isinstance(node.op, FusedProduct) else node
        lengths = followed()[type(product.op)].lengths  # type: ignore[union-attr]
        assert lengths is not None
        return [lengths(p, product)]  # type: ignore[arg-type]
    kernel = kernels[node]
    extents = p.extents(kernel, [p.arrays[node.inputs[operand.source]] for operand in kernel.inputs])
    found = {o.source: tuple(1 if loop is None else extents[loop] for loop in o.axes) for o in kernel.outputs}
    return [found[k] for k in range(len(node.outputs))]


def _place(p: Planner, node: Apply, places: _Places, kernels: dict[Apply, Kernel]) -> None:
    """Compute a node in the place of its results, or set the places of its parts; other values are copied there."""
    if isinstance(node.op, Join):
        whole = places[node.out]
        if node.op.axis == node.out.ndim - 1 and all(x.type.shape[-1] == 1 for x in node.inputs):
            count = len(node.inputs)
            places.columns.update({x: (whole, column, count) for column, x in enumerate(node.inputs)})
        for x, part in zip(node.inputs, parts_of(p, node, whole), strict=True):
            _put(p, x, part, places)
    elif isinstance(node.op, IncSubtensor):
        whole, value = places[node.out], node.inputs[0].owner.inputs[0]  # type: ignore[union-attr]
        part = window(p, whole, node, node.inputs[2:])
        for target in _around(p, whole, node) if value.ndim == 0 else [whole]:
            fill_with(p, target, value)
        fits(p, p.arrays[node.inputs[1]], part.lengths)
        _put(p, node.inputs[1], part, places)
    elif isinstance(node.op, Alloc):
        if node.out in places:
            fill_with(p, places[node.out], node.inputs[0])
    elif isinstance(node.op, PRODUCTS):
        p.needed.update(node.outputs)
        place = p.places[node.out] = places[node.out]
        p.plan_node(p, node)
        if p.places.pop(node.out, None) is not None:
            p.copy(place, p.arrays[node.out])
    else:
        kernel = kernels[node]
        results = [places[node.outputs[o.source]] for o in kernel.outputs]
        extents = _extents(kernel, results)
        p.needed.update(node.outputs)
        launch_interleaved(p, node, kernel, extents, results, places.columns)


def _around(p: Planner, whole: Array, node: Apply) -> list[Array]:
    """Return the parts of the whole outside the one that a node writes, axis by axis, without overlap."""
    spec = node.op.spec  # type: ignore[attr-defined]
    if not all(entry[0] == "s" and entry[3] == "0" for entry in spec):
        return [whole]
    firsts, lengths, _ = sliced(p, whole, node, node.inputs[2:])
    found: list[Array] = []
    within, offset = list(whole.lengths), p.sum(())
    for axis, (first, count) in enumerate(zip(firsts, lengths, strict=True)):
        stride, end = whole.strides[axis], p.sum((first, count))
        rest = p.sum((whole.lengths[axis], p.product((-1, end))))
        if spec[axis : axis + 1] not in ((), ("s000",)):
            for start, long in ((0, first), (end, rest)):
                place = p.sum((offset, p.product((start, stride))))
                found.append(p.view(whole, (*within[:axis], long, *within[axis + 1 :]), whole.strides, place))
        within[axis], offset = count, p.sum((offset, p.product((first, stride))))
    return found


def _extents(kernel: Kernel, results: Sequence[Array]) -> Lengths:
    """Return the extents of the loops of a kernel whose results move along all of them."""
    axes = (zip(o.axes, r.lengths, strict=True) for o, r in zip(kernel.outputs, results, strict=True))
    along = dict(itertools.chain.from_iterable(axes))
    return tuple(along[loop] for loop in range(kernel.rank))


class _Places(dict[Variable, Array]):
    """Parts of the whole in which variables are computed; for columns of an array also that array and their numbers."""

    def __init__(self, whole: Variable, array: Array) -> None:
        super().__init__({whole: array})
        self.columns: dict[Variable, tuple[Array, int, int]] = {}


def _put(p: Planner, x: Variable, part: Array, places: _Places) -> None:
    """Set the place of a part, or copy a value computed elsewhere to it."""
    if p.arrays[x].base == "":
        places[x] = part
    else:
        p.copy(part, p.arrays[x])


PLANNERS = {
    Assembled: plan_assembled,
}


_NO_LAUNCH = (BlockedConvolution, BlockedPool, FusedProduct, Join)
"""Parts that launch no kernel of their own."""


def _work(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    """Return the operations of the kernels and calls of all parts, in the order of launches."""
    op = unmarked(site.node.op)
    assert isinstance(op, Assembled)
    order = op.graph.order
    if not isinstance(order[-1].op, (Join, IncSubtensor)):
        return of_launches(program, steps, [cost(order[-1])] * sum(isinstance(s, Call) and s.kernel for s in steps))
    written = {n.inputs[0].owner for n in order if isinstance(n.op, IncSubtensor)}
    launched = (n for n in reversed(order) if not isinstance(n.op, _NO_LAUNCH) and n not in written)
    costs = [0 if isinstance(n.op, (Alloc, IncSubtensor)) else cost(n) for n in launched]
    return [*of_launches(program, steps, costs), *of_calls(program, site, steps)]


WORK = {Assembled: _work}
