"""Pipelines: one call, which runs the kernels of the stages over blocks of rows and keeps rows between in line buffers.

    b = fused(x, ...); y = fused(b[:-2], b[2:])
    -->
    pipeline({k_b, lengths, {0, x}, strides, {line_buffer 0, x}},
             {k_y, lengths, {y, 0, 0}, strides, {y, line_buffer 0 from row 0, line_buffer 0 from row 2}})

A stage's result has lengths and strides, as if it lay in memory as a whole, but no address.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....graph import Apply, Variable
from ....ops.lowered.pipeline import VIEWS, Pipeline
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.shape import DimShuffle
from ...kernels.memory.spec import PIPELINE
from ..accounts import cost
from ..launches import is_launched
from ..planner import Planner, whole_outputs
from ..program import Argument, Array, Lengths, Rows, Stage, Stages
from .indexing import gather_kernel
from .views import sliced

MAX_ARRAYS, MAX_LOOPS, MAX_LINE_BUFFERS = 64, 32, 32
"""Capacity of the runtime's tables."""
MEMORY = Rows(-1, 0, 0)
"""Rows of an array that lies in memory."""


def plan_pipeline(p: Planner, node: Apply) -> None:
    """Plan one call, if the kernel of each stage runs along rows; else the stages one by one."""
    assert isinstance(node.op, Pipeline)
    nodes = node.op.over(node)
    line_buffers: dict[Variable, int] = {}
    for o in (o for n in nodes[:-1] if not isinstance(n.op, VIEWS) for o in n.outputs):
        line_buffers[o] = len(line_buffers)
    own = dict(zip(nodes[-1].outputs, node.outputs, strict=True))
    p.direct.update((mine, p.direct[o]) for mine, o in own.items() if o in p.direct)
    views = {v.out: v.inputs[0] for v in nodes if isinstance(v.op, VIEWS)}
    read = {**{o: o for o in line_buffers}, **views}
    kernels = [n for n in nodes if not isinstance(n.op, VIEWS)]
    if len(line_buffers) > MAX_LINE_BUFFERS or not all(_goes_along_rows(p, n, read) for n in kernels):
        p.expand(node, nodes[-1].outputs)
        return
    places = {o: Rows(line_buffer, 0, 0) for o, line_buffer in line_buffers.items()}
    stages = []
    for inner in nodes[:-1]:
        if isinstance(inner.op, VIEWS):
            view = _with_axes if isinstance(inner.op, DimShuffle) else _part
            places[inner.out] = view(p, inner, places[inner.inputs[0]])
        else:
            stages.append(_stage(p, inner, places))
    p.needed.update(nodes[-1].outputs)
    stages.append(_stage(p, nodes[-1], places))
    for mine, o in own.items():
        p.put(o, p.arrays[mine])
    p.run(PIPELINE, stages=Stages(tuple(stages), len(line_buffers)))


def _goes_along_rows(p: Planner, stage: Apply, read: dict[Variable, Variable]) -> bool:
    """Whether the results of a stage, and what it reads of others, move along the first loop of its kernel."""
    if isinstance(stage.op, AdvancedSubtensor):
        return 0 < stage.out.ndim <= MAX_LOOPS and stage.out.type.shape[0] != 1
    kernel = p.kernel(stage)
    inner = [operand for operand in kernel.inputs if stage.inputs[operand.source] in read]
    rows = [*inner, *kernel.outputs]
    return (
        is_launched(kernel)
        and kernel.splits is not None
        and 0 in kernel.splits.free
        and not kernel.fallible
        and kernel.rank <= MAX_LOOPS
        and len(kernel.operands) <= MAX_ARRAYS
        and all(operand.axes[:1] == (0,) for operand in rows)
        and all(whole_outputs(stage, kernel))
    )


def _part(p: Planner, node: Apply, whole: Rows) -> Rows:
    """Where a part of a stage's result begins; its lengths and strides become known."""
    x = p.arrays[node.inputs[0]]
    firsts, lengths, strides = sliced(p, x, node, node.inputs[1:])
    p.put(node.out, Array("", x.dtype, lengths, strides, False, ()))
    p.keep_promises(node.out, lengths)
    element = p.sum(p.product((first, stride)) for first, stride in zip(firsts[1:], x.strides[1:], strict=True))
    return Rows(whole.line_buffer, firsts[0], element)


def _with_axes(p: Planner, node: Apply, whole: Rows) -> Rows:
    """The rows of a stage's result with axes of length 1 behind their own."""
    x, added = p.arrays[node.inputs[0]], node.out.ndim - node.inputs[0].ndim
    lengths = (*x.lengths, *[1] * added)
    p.put(node.out, Array("", x.dtype, lengths, (*x.strides, *[0] * added), False, ()))
    p.keep_promises(node.out, lengths)
    return whole


def _stage(p: Planner, node: Apply, places: dict[Variable, Rows]) -> Stage:
    if isinstance(node.op, AdvancedSubtensor):
        kernel, extents, arguments = gather_kernel(p, node, lambda lengths: _result(p, node.out, lengths, places))
        rows: Sequence[Rows] = (places[node.out], *(MEMORY for _ in kernel.inputs))
    else:
        kernel = p.kernel(node)
        inputs = [p.arrays[node.inputs[operand.source]] for operand in kernel.inputs]
        extents = p.extents(kernel, inputs)
        outputs = [
            _result(p, node.outputs[o.source], tuple(1 if a is None else extents[a] for a in o.axes), places)
            for o in kernel.outputs
        ]
        arguments = list[Argument](p.kernel_arguments(kernel, extents, outputs, inputs))
        read = [node.outputs[o.source] for o in kernel.outputs] + [node.inputs[i.source] for i in kernel.inputs]
        rows = [places.get(v, MEMORY) for v in read]
    p.kernels.setdefault(kernel.name, kernel)
    return Stage(kernel.name, tuple(arguments), tuple(rows), cost(node), extents)


def _result(p: Planner, variable: Variable, lengths: Lengths, places: dict[Variable, Rows]) -> Array:
    """Return the array of a result of a stage: one of the pipeline's, or rows of a line buffer."""
    if variable not in places:
        return p.result(variable, lengths)
    p.keep_promises(variable, lengths)
    return p.put(variable, p.dense("", variable.dtype, lengths))


PLANNERS = {
    Pipeline: plan_pipeline,
}
