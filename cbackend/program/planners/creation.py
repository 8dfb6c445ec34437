"""New arrays from lengths, concatenation, ranges, and sums back to a shape before broadcasting."""

from __future__ import annotations

from collections.abc import Iterator

from ....graph import Apply, Constant, FunctionGraph, TensorType, Variable
from ....ops.core.tensor import TensorVariable, constant
from ....ops.elementwise.records import Cast, add, fill, mul, sub, true_div
from ....ops.lowered.fused import Fused
from ....ops.reductions.reduce import Reduce
from ....ops.reductions.unbroadcasting import SumTo
from ....ops.shapes.creation import Alloc, Arange, Eye
from ....ops.shapes.joining import Join
from ...kernels.memory.spec import EYE, IOTA, RANGE_COUNT, SPAN_COUNT
from ..outcome import Outcome
from ..planner import Planner
from ..program import Array, Lengths, Number, Quantity
from .views import broadcast


def plan_alloc(p: Planner, node: Apply) -> None:
    """Plan an array filled with a value: the kernel of `fill`, which does not read its target."""
    lengths = p.lengths(node.inputs[1:])
    broadcast(p, p.arrays[node.inputs[0]], lengths)
    fill_with(p, p.result(node.out, lengths), node.inputs[0])


def fill_with(p: Planner, target: Array, value: Variable) -> None:
    """Write a value, broadcast, over `target`."""
    source = broadcast(p, p.arrays[value], target.lengths)
    like = TensorVariable(TensorType(value.dtype, (None,) * len(target.lengths)))
    kernel = p.kernel(Apply(fill, (like, TensorVariable(value.type))))
    own = Array(source.base, source.dtype, p.arrays[value].lengths, p.arrays[value].strides, False, source.memory)
    p.launch(kernel, target.lengths, (target,), tuple((target, own)[o.source] for o in kernel.inputs))


def fill_with_zeros(p: Planner, target: Array) -> None:
    """Write zeros over `target`."""
    like = TensorVariable(TensorType(target.dtype, (None,) * len(target.lengths)))
    inner = TensorVariable(like.type)
    kernel = p.kernel(Apply(Fused(FunctionGraph([inner], [fill(inner, constant(0, target.dtype))])), (like,)))
    p.launch(kernel, target.lengths, (target,), (target,) * len(kernel.inputs))


def plan_join(p: Planner, node: Apply) -> None:
    """Plan the copies of the inputs of a join into their parts of the result."""
    result = p.result(node.out, joined_lengths(p, node))
    for x, part in zip(p.inputs_of(node), parts_of(p, node, result), strict=True):
        p.copy(part, x)


def joined_lengths(p: Planner, node: Apply) -> Lengths:
    """Return the lengths of the result of a join, whose inputs agree along all other axes."""
    along: int = node.op.axis  # type: ignore[attr-defined]
    inputs = p.inputs_of(node)
    lengths = list(inputs[0].lengths)
    for x in inputs[1:]:
        for axis, (n, m) in enumerate(zip(lengths, x.lengths, strict=True)):
            if axis != along:
                p.guard("equal", n, m, failure=Outcome.LENGTHS, axis=axis)
    lengths[along] = p.sum(x.lengths[along] for x in inputs)
    return tuple(lengths)


def parts_of(p: Planner, node: Apply, result: Array) -> Iterator[Array]:
    """Yield the part of the result of a join that each input fills."""
    along: int = node.op.axis  # type: ignore[attr-defined]
    start: Quantity = 0
    for x in p.inputs_of(node):
        length = x.lengths[along]
        lengths = (*result.lengths[:along], length, *result.lengths[along + 1 :])
        yield p.view(result, lengths, result.strides, p.product((start, result.strides[along])))
        start = p.sum((start, length))


def plan_eye(p: Planner, node: Apply) -> None:
    n, m = p.lengths(node.inputs[:2])
    result = p.result(node.out, (n, m))
    item = node.out.type.numpy.itemsize
    p.run(EYE, item=item, n=n, m=m, d=p.read(node.inputs[2]), y=result, one=Number(result.dtype, 1))


def plan_arange(p: Planner, node: Apply) -> None:
    """Plan start + step * (0, 1, 2, ...) as NumPy computes it: for floats `step` is the rounded first difference.

    0, 1, 2, ... are written by one call.
    """
    start, stop, step = node.inputs
    dtype = start.dtype
    count = p.on_stack("int64", ())
    if node.out.type.kind == "f":
        span = Cast("float64")(true_div(sub(stop, start), step))
        p.plan_all([span])
        p.run(SPAN_COUNT, span=p.arrays[span], count=count)
    else:
        begin, end, by = (p.read(v) for v in (start, stop, step))
        p.run(RANGE_COUNT, start=begin, stop=end, step=by, is_unsigned=int(dtype == "uint64"), count=count)
    length = p.load(count)
    p.guard("not_negative", length, failure=Outcome.RANGE)
    if dtype == "int64" and _is_constant(start, 0) and _is_constant(step, 1):
        result = p.result(node.out, (length,))
        if node.out in p.needed:
            p.run(IOTA, n=length, y=result)
        return
    numbers = TensorVariable(TensorType("int64", (None,)))
    p.put(numbers, p.fresh("int64", (length,)))
    p.run(IOTA, n=length, y=p.arrays[numbers])
    if node.out.type.kind != "f":
        p.expand(node, [add(mul(Cast(dtype)(numbers), step), start)])
        return
    wide = "float32" if dtype == "float16" else dtype
    first, second = Cast(wide)(start), Cast(wide)(add(start, step))
    p.expand(node, [Cast(dtype)(add(first, mul(Cast(wide)(numbers), sub(second, first))))])


def _is_constant(variable: Variable, value: int) -> bool:
    return isinstance(variable, Constant) and bool(variable.data == value)


def plan_sum_to(p: Planner, node: Apply) -> None:
    """Plan a sum over the axes that were broadcast, which are known only at run time.

    Leading axes are summed first.  Then, if no axis was broadcast, the result is the operand; else each axis of length
    n becomes two, (1, n) where it was broadcast and (n, 1) where not, and the second ones are summed over: one kernel
    for all cases.
    """
    x, like = node.inputs
    added = x.ndim - like.ndim
    if added:
        x = Reduce(add, tuple(range(added)))(x)
        p.plan_all([x])
    array, target = p.arrays[x], p.arrays[like].lengths
    unsettled = [k for k, (n, m) in enumerate(zip(array.lengths, target, strict=True)) if n != m]
    for axis in unsettled:
        p.guard("fits", target[axis], array.lengths[axis], failure=Outcome.LENGTHS, axis=axis)
    if not unsettled:
        p.put(node.out, p.copied(array, p.direct.get(node.out)))
        return
    some = p.let("either", *(p.let("differ", array.lengths[k], target[k]) for k in unsettled))
    summed = _summed(p, array, target, unsettled, some)
    strides = (
        p.strides(target) if array.dense else array.strides
    )  # nothing broadcast: the lengths are those of the target
    p.put(node.out, p.select(some, summed, Array(array.base, array.dtype, target, strides, array.dense, array.memory)))


def _summed(p: Planner, x: Array, target: Lengths, axes: list[int], some: Quantity) -> Array:
    """Return `x` summed along those of `axes` where `target` is 1; an empty array if `some` is 0."""
    rank = len(target)
    moved: list[Quantity] = [p.let("differ", x.lengths[k], target[k]) for k in axes]
    outer = [p.let("choose", flag, 0, x.strides[k]) for flag, k in zip(moved, axes, strict=True)]
    inner_lengths = [p.let("choose", flag, x.lengths[k], 1) for flag, k in zip(moved, axes, strict=True)]
    strides = list(x.strides)
    for k, stride in zip(axes, outer, strict=True):
        strides[k] = stride
    wanted = (p.product((some, target[0])), *target[1:])
    split = Array(
        x.base, x.dtype, (*wanted, *inner_lengths), (*strides, *(x.strides[k] for k in axes)), False, x.memory
    )
    variable = TensorVariable(TensorType(x.dtype, (None,) * (rank + len(axes))))
    kernel = p.kernel(Apply(Reduce(add, tuple(range(rank, rank + len(axes)))), (variable,)))
    result = p.fresh(x.dtype, wanted)
    p.launch(kernel, p.extents(kernel, [split]), (result,), (split,))
    return Array(result.base, result.dtype, target, p.strides(target), True, result.memory)


PLANNERS = {
    Alloc: plan_alloc,
    Join: plan_join,
    Arange: plan_arange,
    Eye: plan_eye,
    SumTo: plan_sum_to,
}
