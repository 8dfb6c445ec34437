"""Convolutions and pooling.

A convolution is one product of matrices for each image and group, whose right operand is read out of the windows of x
where it lies; so is the gradient of its kernels.  Where each channel has a kernel of its own there is nothing to
multiply matrices for: that, and pooling, are kernels that read x at each position of a window, as views.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from ....graph import Apply, FunctionGraph, TensorType, Variable, rebuild
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import Cast, add, mul
from ....ops.lowered.bfloat_convolution import BfloatConvolution
from ....ops.lowered.blocked import BlockedConvolution
from ....ops.lowered.blocked_gradient import BlockedKernelGradient
from ....ops.lowered.convolution_pair import ConvolutionPair
from ....ops.lowered.fused import Fused
from ....ops.lowered.fused_product import FusedProduct
from ....ops.networks.convolution import Convolution, KernelGradient
from ....ops.reductions.reduce import Reduce
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.shape import DimShuffle
from ....targets.current import current
from ...program.accounts import of_calls
from ...program.outcome import Outcome
from ...program.planner import Planner
from ...program.planners.views import slice_of
from ...program.planners.windows import plan_as, steps_of, views_of_windows, window_counts
from ...program.prepared import Followed, Prepared, run_into
from ...program.program import Array, Call, Lengths, Program, Quantity, Site, Step
from . import plan_blocks
from .spec import WINDOW_PRODUCT

MOST_LOOPS = 5
"""Most axes of a convolution with an epilogue kernel, for which windows.c has strides."""


def plan_convolution(p: Planner, node: Apply) -> None:
    if node.out.type.kind in "iu" and not has_own_kernels(node):
        _plan_sum(p, node)
    elif node.out.dtype == "float16":
        _in_float32(p, node)
    elif has_own_kernels(node):
        out = TensorVariable(node.out.type)
        plan_as(p, node, own_kernels(p, node, FunctionGraph([out], [out]), ()))
    else:
        run_into(p, convolved(p, node), node.out)


def convolved(p: Planner, node: Apply) -> Prepared:
    """Return the product of all kernels of a group and the windows of an image."""
    op, (x, w) = node.op, p.inputs_of(node)
    assert isinstance(op, Convolution)
    each, counts = _checked(p, op, x, w)
    kernels, each_step, next_row = _kernels(p, node.inputs[1])
    within, between = steps_of(p, op, x)
    left = (0, p.product((each, each_step)), each_step, next_row)
    right = (x.strides[0], p.product((w.lengths[1], x.strides[1])), 0, 0)
    rows, columns = (w.lengths[1:], (x.strides[1], *within)), (counts, between)
    lengths = (x.lengths[0], w.lengths[0], *counts)
    return _product(lengths, (x.lengths[0], op.groups), each, (kernels, left), (x, right), rows, columns)


def _checked(p: Planner, op: Convolution, x: Array, w: Array) -> tuple[Quantity, Lengths]:
    """Return the number of outputs of a group and of windows along each axis."""
    p.guard("equal", x.lengths[1], p.product((w.lengths[1], op.groups)), failure=Outcome.LENGTHS, axis=1)
    each = _each(p, w.lengths[0], op.groups, 0)
    return each, window_counts(p, op, x.lengths[2:], w.lengths[2:])


def _kernels(p: Planner, w: Variable) -> tuple[Array, Quantity, Quantity]:
    """Return kernels as the rows of a matrix, the stride of these, and the stride of the numbers in them.

    Transposed or reversed kernels are copied with adjacent outputs, which gives them constant strides.
    """
    array = p.arrays[w]
    if w.owner is None or not isinstance(w.owner.op, (DimShuffle, Subtensor)):
        depth = p.product(array.lengths[1:])
        return p.packed(array), depth, 1
    order = (*range(1, len(array.lengths)), 0)
    lengths, strides = (tuple(given[k] for k in order) for given in (array.lengths, array.strides))
    transposed = p.copied(Array(array.base, array.dtype, lengths, strides, False, array.memory))
    return transposed, 1, array.lengths[0]


def plan_kernel_gradient(p: Planner, node: Apply) -> None:
    op, (x, g) = node.op, p.inputs_of(node)[:2]
    assert isinstance(op, KernelGradient)
    if node.out.dtype == "float16":
        _in_float32(p, node)
        return
    kernel = p.lengths(node.inputs[2:])
    group, each = _each(p, x.lengths[1], op.groups, 1), _each(p, g.lengths[1], op.groups, 1)
    counts = window_counts(p, op, x.lengths[2:], kernel)
    for axis, (have, want) in enumerate(zip(g.lengths, (x.lengths[0], g.lengths[1], *counts), strict=True)):
        p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    if _own_kernels(op, node.out.type.shape) and node.inputs[0].type.shape[1] == op.groups:
        _plan_gradient_of_own_kernels(p, node, counts)
        return
    order = (1, 0, *range(2, len(g.lengths)))  # all numbers of an output side by side
    transposed = Array(
        g.base, g.dtype, tuple(g.lengths[k] for k in order), tuple(g.strides[k] for k in order), False, g.memory
    )
    packed = p.packed(transposed)
    depth = p.product((x.lengths[0], *counts))
    within, between = steps_of(p, op, x)
    left, right = (p.product((each, depth)), depth, 1), (p.product((group, x.strides[1])), 0, 0)
    rows = ((x.lengths[0], *counts), (x.strides[0], *between))
    columns = ((group, *kernel), (x.strides[1], *within))
    lengths = (g.lengths[1], group, *kernel)
    product = _product(lengths, (op.groups,), each, (packed, left), (x, right), rows, columns)
    run_into(p, product, node.out)


Axes = tuple[Lengths, Lengths]
"""Lengths of axes, and their strides in elements."""


def _product(
    lengths: Lengths, batch: Lengths, m: Quantity, a: tuple[Array, Lengths], b: tuple[Array, Lengths],
    rows: Axes, columns: Axes,
) -> Prepared:  # fmt: skip
    """Return the call of result[batch, m, columns] = a[batch, m, rows] @ b; rows and columns span several axes."""
    fields = {"batch": batch, "m": m, "a": a[0], "a_strides": a[1], "b": b[0], "b_strides": b[1]}
    fields |= {"rows": rows[0], "row_steps": rows[1], "columns": columns[0], "column_steps": columns[1]}
    return Prepared(WINDOW_PRODUCT, a[0].dtype, lengths, fields)


def _plan_sum(p: Planner, node: Apply) -> None:
    """Plan a convolution of integers as one kernel: sums of products of each kernel and a view of the windows."""
    op, (x, w) = node.op, p.inputs_of(node)
    assert isinstance(op, Convolution)
    each, counts = _checked(p, op, x, w)
    within, between = steps_of(p, op, x)
    (outputs, group, *kernel), axes = w.lengths, len(counts)
    moves = (x.strides[0], p.product((group, x.strides[1])), x.strides[1], *within, *between)
    windows = p.view(x, (x.lengths[0], op.groups, group, *kernel, *counts), moves)
    kernels = p.view(w, (op.groups, each, *w.lengths[1:]), (p.product((each, w.strides[0])), *w.strides))
    operands = [TensorVariable(TensorType(node.out.dtype, (None,) * len(a.lengths))) for a in (windows, kernels)]
    for operand, array in zip(operands, (windows, kernels), strict=True):
        p.put(operand, array)
    left = (0, 1, "x", *range(2, 3 + 2 * axes))
    right = ("x", *range(3 + axes), *"x" * axes)
    inner = [TensorVariable(v.type) for v in operands]
    products = mul(DimShuffle(left)(inner[0]), DimShuffle(right)(inner[1]))
    found = Fused(FunctionGraph(inner, [Reduce(add, tuple(range(3, 4 + axes)))(products)]))(*operands)
    p.plan_all([found])
    lengths = (x.lengths[0], outputs, *counts)
    joined = TensorVariable(TensorType(found.dtype, node.out.type.shape))
    p.put(joined, p.view(p.arrays[found], lengths, p.strides(lengths), dense=True))
    p.keep_promises(node.out, lengths)
    plan_as(p, node, [joined if joined.dtype == node.out.dtype else Cast(node.out.dtype)(joined)])


def _in_float32(p: Planner, node: Apply) -> None:
    wide = [Cast("float32")(v) if v.dtype == "float16" else v for v in node.inputs]
    p.expand(node, [Cast("float16")(node.op(*wide))])


def _each(p: Planner, length: Quantity, groups: int, axis: int) -> Quantity:
    """Return the length of one of `groups` equal parts."""
    if groups == 1:
        return length
    part = slice_of(p, length, None, None, groups, axis)[1]
    p.guard("equal", length, p.product((part, groups)), failure=Outcome.LENGTHS, axis=axis)
    return part


def _own_kernels(op: Any, shape: tuple[int | None, ...]) -> bool:
    """Whether each channel certainly has a kernel of its own, of few positions."""
    kernel = shape[2:]
    known = shape[:2] == (op.groups, 1) and None not in kernel
    return known and math.prod(n or 0 for n in kernel) <= current().limits.pools.taps


def has_own_kernels(node: Apply) -> bool:
    """Whether each channel of a convolution certainly has a kernel of its own, of few positions."""
    return _own_kernels(node.op, node.inputs[1].type.shape)


def own_kernels(p: Planner, node: Apply, then: FunctionGraph, others: Sequence[Variable]) -> list[Variable]:
    """Return the values that `then` computes from the convolution and others, as one group.

    The convolution is the sum, over the positions of the kernels, of a view of x times a number a channel.
    """
    x, w = p.inputs_of(node)
    assert isinstance(node.op, Convolution)
    counts = _checked(p, node.op, x, w)[1]
    shape = node.inputs[1].type.shape
    kernel = [n or 0 for n in shape[2:]]
    taps = views_of_windows(p, node.op, x, counts, kernel, node.out.type)
    numbers: list[Variable] = []
    for position in itertools.product(*map(range, kernel)):
        offset = p.sum(p.product(pair) for pair in zip(position, w.strides[2:], strict=True))
        numbers.append(TensorVariable(TensorType(w.dtype, shape[:1])))
        p.put(numbers[-1], p.view(w, w.lengths[:1], w.strides[:1], offset))
    inner = [TensorVariable(v.type) for v in (*taps, *numbers)]
    order = DimShuffle(("x", 0, *"x" * len(kernel)))
    terms = [mul(a, order(b)) for a, b in zip(inner[: len(taps)], inner[len(taps) :], strict=True)]
    product = add(*terms) if len(terms) > 1 else terms[0]
    outputs = rebuild(then.outputs, {then.inputs[0]: product})
    group = FunctionGraph([*inner, *then.inputs[1:]], outputs)
    return list(Apply(Fused(group), (*taps, *numbers, *others), node.origin).outputs)


def _plan_gradient_of_own_kernels(p: Planner, node: Apply, counts: Lengths) -> None:
    """Plan for each position of the kernels the sum of a view of x times g, all in one pass over them."""
    shape = node.out.type.shape
    kernel, g = [n or 0 for n in shape[2:]], node.inputs[1]
    taps = views_of_windows(p, node.op, p.arrays[node.inputs[0]], counts, kernel, g.type)
    inner = [TensorVariable(v.type) for v in (*taps, g)]
    axes = (0, *range(2, g.ndim))
    sums = [Reduce(add, axes)(mul(a, inner[-1])) for a in inner[:-1]]
    found = Fused(FunctionGraph(inner, sums))(*taps, g)
    columns = [DimShuffle((0, "x"))(v) for v in (found if len(sums) > 1 else [found])]
    joined = Join(1)(*columns)
    p.plan_all([joined])
    lengths = (p.arrays[joined].lengths[0], 1, *kernel)
    p.put(node.out, p.view(p.arrays[joined], lengths, p.strides(lengths), dense=True))


def _plan_group_of_own_kernels(p: Planner, node: Apply) -> bool:
    """Plan a convolution and the group behind it as one kernel, if each channel has a kernel of few positions."""
    assert isinstance(node.op, FusedProduct)
    product, others = node.op.split(node.inputs)
    made = product.owner
    if made is None or not has_own_kernels(made):
        return False
    plan_as(p, node, own_kernels(p, made, node.op.graph, others))
    return True


def _work(program: Program, site: Site, steps: Sequence[Step]) -> list[tuple[int, Lengths, int]]:
    """Return the operations of calls; those of kernels over views, one for each view."""
    node = site.node
    launches = [s for s in steps if isinstance(s, Call) and s.kernel and node.out.type.kind in "fc"]
    views = [(len(dict.fromkeys(a.base for a in s.reads)), s.writes[0].lengths, 1) for s in launches]
    return [*of_calls(program, site, steps), *views]


PLANNERS = {
    Convolution: plan_convolution,
    KernelGradient: plan_kernel_gradient,
    BfloatConvolution: plan_blocks.plan_of_words,
    BlockedConvolution: plan_blocks.plan_convolution,
    BlockedKernelGradient: plan_blocks.plan_kernel_gradient,
    ConvolutionPair: plan_blocks.plan_pair,
}
CONDITIONS = {
    KernelGradient: lambda node: node.out.type.kind not in "iu",
    BlockedConvolution: plan_blocks.has_call,
}
WORK = dict.fromkeys((Convolution, KernelGradient), _work)
FOLLOWED = {
    Convolution: Followed(convolved, alone=_plan_group_of_own_kernels, most_loops=MOST_LOOPS),
    BfloatConvolution: Followed(plan_blocks.of_words, True, rounds=plan_blocks.can_round),
    BlockedConvolution: Followed(plan_blocks.convolved, True, plan_blocks.lengths_of, plan_blocks.has_call),
}
