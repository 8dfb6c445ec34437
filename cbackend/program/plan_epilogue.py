"""A product of matrices and what follows it: one call, which runs the kernel of the group on each finished block.

    p = dot22(a, b); y = fused(p, c)   -->   ag_product_then(..., a, b, y, k_fused_nest, lengths, {y, y, c}, strides)

The product is computed in the memory of an output of the group, where it is overwritten element by element.  Lengths
broadcast at run time: if the group turns out to be larger than the product, the product gets memory of its own, and the
kernel runs after it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...graph import Apply, Variable
from ...ops.blas import Dot, Dot22, Dot22Scalar, MatMul
from ...ops.fused_product import FusedProduct
from ..ir.kernel import Kernel
from .nest_text import is_launched
from .plan_blas import SUMMED, batch_strides
from .planner import Planner, has_all_loops
from .program import After, Argument, Array, Lengths, Number, Outcome, Quantity, Table, Vector

MAX_ARRAYS = 64
"""AG_MOST_ARRAYS of the runtime."""


def plan_fused_product(p: Planner, node: Apply) -> None:
    """One call where the group is a kernel over the axes of the product; else the product, then the group."""
    assert isinstance(node.op, FusedProduct)
    product, others = node.op.split(node.inputs)
    made = product.owner
    assert made is not None
    group = Apply(node.op.group, (product, *others), node.origin)
    host = _host(group)
    kernel = None if host is None else p.kernel(group, ((host, 0),))
    if (
        kernel is None
        or host is None
        or not isinstance(made.op, (Dot, Dot22, Dot22Scalar, MatMul))
        or not _runs_along(kernel, product)
        or not all(has_all_loops(group, kernel, k) for k in range(len(kernel.outputs)))
        or not all(o in p.needed for o in node.outputs)
    ):
        p.expand(node, node.op.expand(node.inputs))
        return
    _plan_fused(p, node, group, kernel, made, host)


def _host(group: Apply) -> int | None:
    """The output of the group in whose memory the product can lie."""
    dtype = group.inputs[0].dtype
    return next((k for k, o in enumerate(group.outputs) if o.dtype == dtype), None)


def _runs_along(kernel: Kernel, product: Variable) -> bool:
    """Whether the loops of the kernel are the axes of the product, and of every output, and may be cut anywhere."""
    axes = tuple(range(product.ndim))
    reads = [i.axes for i in kernel.inputs if i.source == 0]
    return (
        kernel.rank == product.ndim
        and reads == [axes]
        and all(o.axes == axes for o in kernel.outputs)
        and kernel.cutting is not None
        and set(kernel.cutting.free) == set(axes)
        and is_launched(kernel)
        and not kernel.fallible
        and len(kernel.operands) <= MAX_ARRAYS
    )


def _plan_fused(p: Planner, node: Apply, group: Apply, kernel: Kernel, made: Apply, host: int) -> None:
    a, b = (p.arrays[i] for i in made.inputs[:2])
    p.guard("equal", a.lengths[-1], b.lengths[-2], failure=Outcome.LENGTHS, axis=SUMMED)
    rank = made.out.ndim - 2
    batch = tuple(
        p.join([x.lengths[k - rank - 2] for x in (a, b) if rank - k <= len(x.lengths) - 2], k) for k in range(rank)
    )
    shape = (*batch, a.lengths[-2], b.lengths[-1])
    p.arrays[group.inputs[0]] = p.dense("", made.out.dtype, shape)  # its place is found below
    inputs = [p.arrays[group.inputs[operand.source]] for operand in kernel.inputs]
    extents = p.extents(kernel, inputs)
    results = [p.result(node.outputs[operand.source], extents) for operand in kernel.outputs]
    place = _place(p, made, shape, extents, results[host])
    inputs = [place if operand.source == 0 else x for operand, x in zip(kernel.inputs, inputs, strict=True)]
    p.kernels.setdefault(kernel.name, kernel)
    after = After(kernel.name, tuple(p.kernel_arguments(kernel, extents, results, inputs)))
    scalar = [p.arrays[i] for i in made.inputs[2:]]
    factor: Argument = scalar[0] if scalar else Number(made.out.dtype, 1)
    left, right = (Vector(batch_strides(p, x, batch)) for x in (a, b))
    arguments: Sequence[Argument] = (
        Table(made.out.dtype), rank, Vector(batch), *shape[-2:], a.lengths[-1], factor, a, left, b, right,
        Number(made.out.dtype, 0), place, after,
    )  # fmt: skip
    p.products[made.out.dtype] = None
    p.call("ag_product_then", arguments, (*results, place), (a, b, *scalar, *inputs))


def _place(p: Planner, made: Apply, shape: Lengths, extents: Lengths, result: Array) -> Array:
    """Where the product lies: in `result` if that has the shape of the product, which may show only at run time."""
    dtype = made.out.dtype
    inside = Array(result.base, dtype, shape, p.strides(shape), True, result.memory)
    if shape == extents:
        return inside
    tests: list[Quantity] = [p.let("differ", n, m) for n, m in zip(shape, extents, strict=True) if n != m]
    apart = tests[0] if len(tests) == 1 else p.let("either", *tests)
    rows = p.let("choose", apart, shape[0], 0)  # no memory where none is needed
    own = p.fresh(dtype, (rows, *shape[1:]))
    return p.select(apart, Array(own.base, dtype, shape, inside.strides, True, own.memory), inside)
