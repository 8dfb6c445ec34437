"""A matrix product with an epilogue: one call, which runs the kernel of the group on each finished block.

    p = dot22(a, b); y = fused(p, c)   -->   product(..., a=a, b=b, y=y, after=k_fused(...))

So is a convolution: its outputs are rows, and all its positions columns, over which the kernel runs in its last loop.

The product is computed in the memory of an output of the group, where it is overwritten element by element.  It gets
memory of its own if no output has its dtype, as for results rounded to 16 bits, or if lengths broadcast at run time:
where the group turns out to be larger than the product, the kernel runs after it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ....graph import Apply, FunctionGraph, Variable, rebuild
from ....ops.core.tensor import TensorVariable
from ....ops.lowered.fused import Fused, unmarked
from ....ops.lowered.fused_product import FusedProduct
from ....ops.networks.convolution import Convolution
from ...ir.kernel import Kernel
from ..accounts import Term, cost, of_calls
from ..launches import is_launched
from ..planner import Planner, whole_outputs
from ..prepared import Prepared, clipped, followed
from ..program import After, Array, Call, Lengths, Program, Quantity, Site, Step
from .kernels import kernel_in_place

MAX_ARRAYS = 64
"""Most arrays of an epilogue: AG_MOST_ARRAYS of the runtime."""


def plan_fused_product(p: Planner, node: Apply) -> None:
    """Plan one call if the group is a kernel over the axes of the product; else the product, then the group."""
    assert isinstance(node.op, FusedProduct)
    product, others = node.op.split(node.inputs)
    made = product.owner
    assert made is not None
    group = Apply(node.op.group, (product, *others), node.origin)
    way = followed().get(type(made.op))
    if way is not None and way.takes(made) and (way.alone(p, node) or _plan_clipped(p, node)):
        return
    if way is not None and way.any_lengths:
        product, group = _of_any_lengths(group)
    host = _host(group)
    kernel = p.kernel(group) if host is None else kernel_in_place(p, group, ((host, 0),))
    if (
        kernel is None
        or way is None
        or kernel.rank > way.most_loops
        or not way.takes(made)
        or not _runs_along(kernel, product)
        or not all(whole_outputs(group, kernel))
        or not all(o in p.needed for o in node.outputs)
    ):
        p.expand(node, node.op.expand(node.inputs))
        return
    _plan_fused(p, node, group, kernel, way.prepare(p, made), host)


def _plan_clipped(p: Planner, node: Apply) -> bool:
    """Plan a call and what clips and rounds its result as one call; return whether the node has this form."""
    found = clipped(node)
    if found is None:
        return False
    found.run(p, node.out)
    return True


def _of_any_lengths(group: Apply) -> tuple[Variable, Apply]:
    """Return the product with no lengths known, and the group over it, whose kernel then has loops for all axes."""
    assert isinstance(group.op, Fused)
    graph = group.op.graph
    kind = graph.inputs[0].type.with_shape((None,) * graph.inputs[0].ndim)
    leaf, product = TensorVariable(kind), TensorVariable(kind)
    outputs = rebuild(graph.outputs, {graph.inputs[0]: leaf})
    op = Fused(FunctionGraph([leaf, *graph.inputs[1:]], outputs))
    return product, Apply(op, (product, *group.inputs[1:]), group.origin)


def _host(group: Apply) -> int | None:
    """Return the output of the group whose memory can hold the product."""
    dtype = group.inputs[0].dtype
    return next((k for k, o in enumerate(group.outputs) if o.dtype == dtype), None)


def _runs_along(kernel: Kernel, product: Variable) -> bool:
    """Whether the loops of the kernel are the axes of the product and of every output, and may be split anywhere."""
    axes = tuple(range(product.ndim))
    reads = [i.axes for i in kernel.inputs if i.source == 0]
    return (
        kernel.rank == product.ndim
        and reads == [axes]
        and all(o.axes == axes for o in kernel.outputs)
        and kernel.splits is not None
        and set(kernel.splits.free) == set(axes)
        and is_launched(kernel)
        and not kernel.fallible
        and len(kernel.operands) <= MAX_ARRAYS
    )


def _plan_fused(p: Planner, node: Apply, group: Apply, kernel: Kernel, call: Prepared, host: int | None) -> None:
    shape, dtype = call.lengths, group.inputs[0].dtype
    p.arrays[group.inputs[0]] = p.dense("", dtype, shape)  # its place is found below
    inputs = [p.arrays[group.inputs[operand.source]] for operand in kernel.inputs]
    extents = p.extents(kernel, inputs)
    results = [p.result(node.outputs[operand.source], extents) for operand in kernel.outputs]
    place = p.fresh(dtype, shape) if host is None else _place(p, dtype, shape, extents, results[host])
    if host is None and "spare" in call.fields:
        call = replace(call, fields={**call.fields, "spare": 1})
    inputs = [place if operand.source == 0 else x for operand, x in zip(kernel.inputs, inputs, strict=True)]
    p.kernels.setdefault(kernel.name, kernel)
    call.run(p, place, After(kernel.name, tuple(p.kernel_arguments(kernel, extents, results, inputs))))


def _place(p: Planner, dtype: str, shape: Lengths, extents: Lengths, result: Array) -> Array:
    """Return where the product lies: in `result` if the shapes are equal, which may be known only at run time."""
    inside = Array(result.base, dtype, shape, p.strides(shape), True, result.memory)
    if shape == extents:
        return inside
    tests: list[Quantity] = [p.let("differ", n, m) for n, m in zip(shape, extents, strict=True) if n != m]
    is_separate = tests[0] if len(tests) == 1 else p.let("either", *tests)
    rows = p.let("choose", is_separate, shape[0], 0)  # no memory where none is needed
    own = p.fresh(dtype, (rows, *shape[1:]))
    return p.select(is_separate, Array(own.base, dtype, shape, inside.strides, True, own.memory), inside)


PLANNERS = {
    FusedProduct: plan_fused_product,
}


def _work(program: Program, site: Site, steps: Sequence[Step]) -> list[Term]:
    """Return the operations of a product, or of a convolution as a kernel over views, and of its epilogue."""
    op, calls = unmarked(site.node.op), [s for s in steps if isinstance(s, Call) and s.writes]
    assert isinstance(op, FusedProduct)
    lengths = calls[-1].writes[-1].lengths
    each = sum(cost(inner) for inner in op.graph.order)
    product = of_calls(program, site, calls)
    if not product and isinstance(op.product, Convolution):
        product = [(2 * math.prod(n or 0 for n in site.node.inputs[1].type.shape[2:]), lengths, 1)]
    return [*product, (each, lengths, 1)]


WORK = {FusedProduct: _work}
