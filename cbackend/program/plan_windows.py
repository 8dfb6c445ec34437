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

from ...graph import Apply, FunctionGraph, TensorType, Variable, rebuild
from ...ops.convolution import Convolution, KernelGradient
from ...ops.elementwise import Cast, add, maximum, mul
from ...ops.fused import Fused
from ...ops.indexing import Subtensor
from ...ops.joining import Join
from ...ops.pooling import MaxPool, MaxPoolGradient, Pool, SumPool
from ...ops.reduce import Reduce
from ...ops.shape import DimShuffle
from ...ops.tensor import TensorVariable
from ...targets.current import current
from .outcome import Outcome
from .plan_blas import Multiplication, plan_multiplication
from .plan_creation import fill_with_zeros
from .plan_views import slice_of
from .planner import Planner
from .program import Argument, Array, Lengths, Number, Quantity, Table, Vector

MOST_LOOPS = 5
"""Most axes of a convolution with an epilogue kernel, as in window_helpers.py."""


def plan_convolution(p: Planner, node: Apply) -> None:
    if node.out.type.kind in "iu" and not has_own_kernels(node):
        _plan_sum(p, node)
    elif node.out.dtype == "float16":
        _in_float32(p, node)
    elif has_own_kernels(node):
        out = TensorVariable(node.out.type)
        plan_as(p, node, own_kernels(p, node, FunctionGraph([out], [out]), ()))
    else:
        plan_multiplication(p, convolved(p, node), node.out)


def convolved(p: Planner, node: Apply) -> Multiplication:
    """Return the product of all kernels of a group and the windows of an image."""
    op, (x, w) = node.op, p.inputs_of(node)
    assert isinstance(op, Convolution)
    each, counts = _checked(p, op, x, w)
    kernels, apart, next_row = _kernels(p, node.inputs[1])
    within, between = _steps(p, op, x)
    left = (0, p.product((each, apart)), apart, next_row)
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
    turned = p.copied(Array(array.base, array.dtype, lengths, strides, False, array.memory))
    return turned, 1, array.lengths[0]


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
    turned = Array(
        g.base, g.dtype, tuple(g.lengths[k] for k in order), tuple(g.strides[k] for k in order), False, g.memory
    )
    packed = p.packed(turned)
    depth = p.product((x.lengths[0], *counts))
    within, between = _steps(p, op, x)
    left, right = (p.product((each, depth)), depth, 1), (p.product((group, x.strides[1])), 0, 0)
    rows = ((x.lengths[0], *counts), (x.strides[0], *between))
    columns = ((group, *kernel), (x.strides[1], *within))
    lengths = (g.lengths[1], group, *kernel)
    product = _product(lengths, (op.groups,), each, (packed, left), (x, right), rows, columns)
    plan_multiplication(p, product, node.out)


Axes = tuple[Lengths, Lengths]
"""Lengths of axes, and their strides in elements."""


def _product(
    lengths: Lengths, batch: Lengths, m: Quantity, a: tuple[Array, Lengths], b: tuple[Array, Lengths],
    rows: Axes, columns: Axes,
) -> Multiplication:  # fmt: skip
    """Return the call of result[batch, m, columns] = a[batch, m, rows] @ b; rows and columns span several axes."""
    dtype = a[0].dtype
    arguments: list[Argument] = [
        Table(dtype), len(batch), Vector(batch), m, Number(dtype, 1), a[0], Vector(a[1]), b[0], Vector(b[1])
    ]  # fmt: skip
    for along, steps in (rows, columns):
        arguments += [len(along), Vector(along), Vector(steps)]
    arguments.append(Number(dtype, 0))
    return Multiplication("multiply_windows", lengths, tuple(arguments), (a[0], b[0]), fallible=True)


def _plan_sum(p: Planner, node: Apply) -> None:
    """Plan a convolution of integers as one kernel: sums of products of each kernel and a view of the windows."""
    op, (x, w) = node.op, p.inputs_of(node)
    assert isinstance(op, Convolution)
    each, counts = _checked(p, op, x, w)
    within, between = _steps(p, op, x)
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


def window_counts(p: Planner, op: Any, lengths: Lengths, kernel: Lengths, front: int = 2) -> Lengths:
    """Return the numbers of windows along each axis.  A kernel that does not fit fails."""
    counts = []
    for k, (length, positions) in enumerate(zip(lengths, kernel, strict=True)):
        stride, dilation = op.stride[k], op.dilation[k]
        if isinstance(positions, str):
            p.guard("positive", positions, failure=Outcome.WINDOW, axis=front + k)
        p.guard("has_room", positions, length, dilation, failure=Outcome.WINDOW, axis=front + k)
        starts = p.sum((length, p.product((-dilation, positions)), dilation))
        counts.append(starts if stride == 1 else slice_of(p, length, None, starts, stride, front + k)[1])
    return tuple(counts)


def _steps(p: Planner, op: Any, x: Array) -> tuple[Lengths, Lengths]:
    """Return strides between positions of a window, and between windows, along each axis."""
    along = x.strides[len(x.strides) - len(op.stride) :]
    within = tuple(p.product((d, s)) for d, s in zip(op.dilation, along, strict=True))
    return within, tuple(p.product((d, s)) for d, s in zip(op.stride, along, strict=True))


# --- what reads x at each position of a window


def plan_pool(p: Planner, node: Apply) -> None:
    """Plan the maximum or the sum of each window: one kernel, unless windows are large."""
    op, (x,) = node.op, p.inputs_of(node)
    assert isinstance(op, Pool)
    if node.out.dtype == "float16" and not isinstance(op, MaxPool):
        p.expand(node, [Cast("float16")(op(Cast("float32")(node.inputs[0])))])
        return
    front = len(x.lengths) - len(op.stride)
    counts = window_counts(p, op, x.lengths[front:], op.kernel, front)
    if math.prod(op.kernel) > current().limits.taps:
        _plan_large_pool(p, node, counts)
        return
    lengths = (*x.lengths[:front], *counts)
    result = p.result(node.out, lengths)
    p.launch(p.kernel(node), (*lengths, *op.kernel), [result], [_windows(p, op, x, counts)])


def plan_pool_gradient(p: Planner, node: Apply) -> None:
    """Plan one kernel that writes the positions of each window, after zeros unless windows cover each position once."""
    op, (x, y, g) = node.op, p.inputs_of(node)
    assert isinstance(op, MaxPoolGradient)
    front = len(x.lengths) - len(op.stride)
    lengths = (*x.lengths[:front], *window_counts(p, op, x.lengths[front:], op.kernel, front))
    for given in (y, g):
        for axis, (have, want) in enumerate(zip(given.lengths, lengths, strict=True)):
            p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    result = p.result(node.out, x.lengths)
    if not _is_covered(op, node.inputs[0].type.shape[front:]):
        fill_with_zeros(p, result)
    back, read = (_windows(p, op, array, lengths[front:]) for array in (result, x))
    p.launch(p.kernel(node), (*lengths, *op.kernel), [back], [read, y, g])


def _is_covered(op: Pool, lengths: Sequence[int | None]) -> bool:
    """Whether each position certainly belongs to exactly one window."""
    numbers = zip(lengths, op.kernel, op.stride, op.dilation, strict=True)
    return all(n is not None and n % k == 0 and k == s and (d == 1 or k == 1) for n, k, s, d in numbers)


def _windows(p: Planner, op: Pool, x: Array, counts: Lengths) -> Array:
    """Return an array as its windows: first axes over the windows, then axes within one."""
    within, between = _steps(p, op, x)
    front = len(x.lengths) - len(counts)
    return p.view(x, (*x.lengths[:front], *counts, *op.kernel), (*x.strides[:front], *between, *within))


def _plan_large_pool(p: Planner, node: Apply, counts: Lengths) -> None:
    """Plan views of x, one per position of a window, folded in steps of as many as a kernel takes."""
    op, x = node.op, p.arrays[node.inputs[0]]
    taps = _taps(p, op, x, counts, op.kernel, node.out.type)  # type: ignore[attr-defined]
    fold = maximum if isinstance(op, MaxPool) else add
    while len(taps) > 1:
        most = current().limits.taps
        parts = [taps[k : k + most] for k in range(0, len(taps), most)]
        taps = [fold(*part) if len(part) > 1 else part[0] for part in parts]
    plan_as(p, node, [taps[0]])


def _taps(p: Planner, op: Any, x: Array, counts: Lengths, kernel: Sequence[int], kind: TensorType) -> list[Variable]:
    """Return the views of x, one per position of a window."""
    front = len(x.lengths) - len(kernel)
    within, between = _steps(p, op, x)
    lengths, strides = (*x.lengths[:front], *counts), (*x.strides[:front], *between)
    found: list[Variable] = []
    for position in itertools.product(*map(range, kernel)):
        offset = p.sum(p.product(pair) for pair in zip(position, within, strict=True))
        found.append(TensorVariable(kind))
        p.put(found[-1], p.view(x, lengths, strides, offset))
    return found


def _own_kernels(op: Any, shape: tuple[int | None, ...]) -> bool:
    """Whether each channel certainly has a kernel of its own, of few positions."""
    kernel = shape[2:]
    known = shape[:2] == (op.groups, 1) and None not in kernel
    return known and math.prod(n or 0 for n in kernel) <= current().limits.taps


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
    taps = _taps(p, node.op, x, counts, kernel, node.out.type)
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


def plan_as(p: Planner, node: Apply, values: Sequence[Variable]) -> None:
    """Plan `values` as the results of the node, in the memory of outputs where the node's results belong there."""
    for mine, other in zip(node.outputs, values, strict=True):
        if mine in p.direct and other.owner is not None:
            p.direct[other] = p.direct[mine]
    p.expand(node, values)


def _plan_gradient_of_own_kernels(p: Planner, node: Apply, counts: Lengths) -> None:
    """Plan for each position of the kernels the sum of a view of x times g, all in one pass over them."""
    shape = node.out.type.shape
    kernel, g = [n or 0 for n in shape[2:]], node.inputs[1]
    taps = _taps(p, node.op, p.arrays[node.inputs[0]], counts, kernel, g.type)
    inner = [TensorVariable(v.type) for v in (*taps, g)]
    axes = (0, *range(2, g.ndim))
    sums = [Reduce(add, axes)(mul(a, inner[-1])) for a in inner[:-1]]
    found = Fused(FunctionGraph(inner, sums))(*taps, g)
    columns = [DimShuffle((0, "x"))(v) for v in (found if len(sums) > 1 else [found])]
    joined = Join(1)(*columns)
    p.plan_all([joined])
    lengths = (p.arrays[joined].lengths[0], 1, *kernel)
    p.put(node.out, p.view(p.arrays[joined], lengths, p.strides(lengths), dense=True))


PLANNERS = {
    Convolution: plan_convolution,
    KernelGradient: plan_kernel_gradient,
    MaxPool: plan_pool,
    MaxPoolGradient: plan_pool_gradient,
    SumPool: plan_pool,
}
CONDITIONS = {KernelGradient: lambda node: node.out.type.kind not in "iu"}
