"""Ops that are one kernel: launched over the joint lengths of the inputs, in place if that is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....graph import Apply, FunctionGraph, Variable, same_shape
from ....ops.core.tensor import TensorVariable
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.fused import Fused, InPlace, unmarked
from ....ops.lowered.row_passes import Top
from ....ops.networks.fixed_point import Requantize
from ....ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from ....ops.networks.quantized import Dequantize, Quantize
from ....ops.reductions.cumulative import Cumulative
from ....ops.reductions.reduce import ArgReduce, Reduce
from ...ir.kernel import Kernel
from ...lowering.lower import OverwriteRefusedError
from ..accounts import of_kernels
from ..launches import runs_in_any_order
from ..outcome import Outcome
from ..planner import Planner, whole_outputs
from ..program import Array, Lengths
from .interleaved import launch_interleaved
from .order import ordered_strides, result_in_order


def plan_kernel(p: Planner, node: Apply) -> None:
    """Plan a launch of the kernel of an op over the joint lengths of its inputs, in place where that is allowed.

    An output that may be shorter has the joint lengths of the inputs it is computed from.  It overwrites no input: the
    kernel may visit an element twice, and would then read its own result.
    """
    kernel, destroyed = _kernel(p, node)
    inputs = [p.arrays[node.inputs[operand.source]] for operand in kernel.inputs]
    extents = p.extents(kernel, inputs)
    ordered: Lengths = ()
    outputs = []
    for number, (operand, whole) in enumerate(zip(kernel.outputs, whole_outputs(node, kernel), strict=True)):
        own = extents if whole else _own_lengths(p, kernel, number, inputs, extents)
        lengths = tuple(1 if loop is None else own[loop] for loop in operand.axes)
        victim = _overwritten(p, node, operand.source, destroyed, lengths) if whole else None
        if victim is None and whole and node.outputs[operand.source] in p.ordered and runs_in_any_order(kernel):
            ordered = ordered or ordered_strides(p, kernel, extents, inputs)
            strides = tuple(1 if loop is None else ordered[loop] for loop in operand.axes)
            outputs.append(result_in_order(p, node, operand.source, lengths, strides))
        else:
            outputs.append(victim or p.result(node.outputs[operand.source], lengths))
    if any(o in p.needed for o in node.outputs):
        launch_interleaved(p, node, kernel, extents, outputs, {})


def plan_scaled(p: Planner, node: Apply) -> None:
    """Plan the arithmetic of scales and zero points as one kernel."""
    leaves = [TensorVariable(i.type) for i in node.inputs]
    group = FunctionGraph(leaves, [node.op.expand(leaves)])  # type: ignore[attr-defined]
    p.expand(node, [Fused(group)(*node.inputs)])  # type: ignore[list-item]


def _own_lengths(p: Planner, kernel: Kernel, output: int, inputs: Sequence[Array], extents: Lengths) -> Lengths:
    """Return the lengths, by loop, of an output; guard that none that is shorter than the loops stays unwritten."""
    own = p.extents(kernel, inputs, kernel.feeds[output])
    for axis, loop in enumerate(kernel.outputs[output].axes):
        if loop is not None and isinstance(extents[loop], str) and own[loop] != extents[loop]:
            p.guard("reached", extents[loop], own[loop], failure=Outcome.UNREACHED, axis=axis)
    return own


def _kernel(p: Planner, node: Apply) -> tuple[Kernel, dict[int, int]]:
    """Return the kernel of a node, and which outputs may be written over which inputs: none if its loops forbid it."""
    if not p.parts.keys().isdisjoint(node.outputs):
        return _kernel_in_part(p, node.with_op(unmarked(node.op)), node.outputs), {}
    if not isinstance(node.op, InPlace):
        return p.kernel(node), {}
    kernel = kernel_in_place(p, node)
    return (p.kernel(node.with_op(node.op.op)), {}) if kernel is None else (kernel, node.op.destroys())


def _kernel_in_part(p: Planner, node: Apply, outputs: Sequence[Variable]) -> Kernel:
    """Return the kernel of a node whose outputs may be in the part of a state, which it may read; see parts.py."""
    reads = [(k, p.parts[o][1]) for k, o in enumerate(outputs) if o in p.parts]
    pairs = tuple((k, read) for k, read in reads if read is not None)
    if not pairs:
        return p.kernel(node)
    kernel = kernel_in_place(p, node, pairs)
    if kernel is None:
        for k, _ in pairs:
            del p.parts[outputs[k]]
    return kernel or p.kernel(node)


def kernel_in_place(p: Planner, node: Apply, pairs: tuple[tuple[int, int], ...] = ()) -> Kernel | None:
    """Return the kernel of a node whose outputs share the memory of inputs; None if no order of its loops allows it."""
    try:
        return p.kernel(node, pairs)
    except OverwriteRefusedError:
        return None


def _overwritten(p: Planner, node: Apply, output: int, destroyed: Mapping[int, int], lengths: Lengths) -> Array | None:
    """Return the array of the input that an output is written over; None if there is none."""
    source = destroyed.get(output)
    if source is None:
        return None
    victim = p.arrays[node.inputs[source]]
    if not p.is_overwritable(victim):
        return None
    if victim.lengths != lengths:  # perhaps equal by the shape analysis; the run checks it
        if not same_shape(node.outputs[output], node.inputs[source]):
            return None
        for axis, (have, want) in enumerate(zip(victim.lengths, lengths, strict=True)):
            p.guard("equal", have, want, failure=Outcome.LENGTHS, axis=axis)
    return p.put(node.outputs[output], victim)


KERNEL_OPS = (Pointwise, Fused, Reduce, ArgReduce, Cumulative, Softmax, LogSoftmax, LogSumExp, Top)
"""Ops that lower.py turns into one kernel."""

PLANNERS = {
    **dict.fromkeys(KERNEL_OPS, plan_kernel),
    Quantize: plan_scaled,
    Dequantize: plan_scaled,
    Requantize: plan_scaled,
}
WORK = dict.fromkeys(KERNEL_OPS, of_kernels)
