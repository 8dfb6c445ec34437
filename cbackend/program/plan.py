"""From a graph to a Program: the planner of each op, and the traversal that applies them.

The order of nodes is legal for in-place work.  Each planner module says which ops it plans (planned.py); an op without
a planner is a call back to Python.

Outputs are computed in the memory of the caller's arrays where they can be; one that is an input, a constant, a view or
another output as well is copied there, so that what a caller gets shares memory with nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ...graph import Apply, FunctionGraph, Op, Variable, gc_paused
from ...graph.ordering import execution_order
from ...graph.text import op_text
from ...ops.control.outside_numbers import with_numbers_outside
from ...ops.lowered.assumed import AssumeEqual, assumption_in
from ...ops.lowered.fused import unmarked
from ...ops.shapes.conditions import Check
from ...ops.shapes.indexing import Subtensor
from ...ops.shapes.lengths import Shape, ShapeI
from ...ops.shapes.shape import DimShuffle, Reshape
from ...ops.shapes.specify import CheckLengths, SpecifyShape
from ..ir.verify import verify
from .buffers import assign_slots
from .choices import Choices
from .late import cannot_fail_late, checks_first, overwritten_for_good
from .parts import parts_of, place
from .planned import Plan, plan_of
from .planner import Planner
from .planners.host import plan_host
from .planners.kernels import KERNEL_OPS
from .planners.loops import counted_ranges, is_count
from .program import Array, Buffer, Finish, Lengths, Program, Site
from .verify import verify_program


@gc_paused
def plan(graph: FunctionGraph, choices: Choices | None = None, strict: bool = False) -> Program:
    """Return the program that computes the outputs of `graph`.

    `choices`: the schedules of its kernels.  `strict`: verify the program and its kernels; what breaks a rule raises
    InvalidKernel or InvalidProgram.

    An input that the graph overwrites (it has an update) is overwritten only if nothing can fail from then on, or if a
    failing call restores it, so that a call that raises has changed nothing; otherwise its new value is made elsewhere.
    Raises InconsistencyError if the graph overwrites what is still needed, ScheduleError for a schedule that does not
    fit its kernel.
    """
    given, graph = graph, with_numbers_outside(graph)
    assumption = assumption_in(graph)
    nodes = execution_order(graph, () if assumption is None else (assumption,))  # before work is done in vain
    mutable = _overwritten_inputs(graph)
    choices = choices or Choices()
    program = _planned(graph, nodes, mutable, choices, plan_node, given)
    if mutable and not cannot_fail_late(program.steps, mutable):
        lasting = overwritten_for_good(program.steps, mutable)
        kept = {i: o for i, o in mutable.items() if i not in lasting}
        program = _planned(graph, nodes, kept, choices, plan_node, given)
    choices.check()
    if strict:
        for kernel in program.kernels:
            verify(kernel)
        verify_program(program)
    return program


def plan_by(graph: FunctionGraph, planner: Plan) -> Program:
    """Return the program of an engine with kernels of its own: `planner(p, node)` plans each node.

    Arrays of any strides enter and leave the program and its bodies, and no input is overwritten.
    """
    return _planned(graph, execution_order(graph), {}, Choices(), planner, graph, strided=True)


def _planned(
    graph: FunctionGraph, nodes: Sequence[Apply], mutable: Mapping[str, int], choices: Choices, planner: Plan,
    given: FunctionGraph, is_body: bool = False, strided: bool = False,
) -> Program:  # fmt: skip
    """Return the planned program.

    `given`: the graph as messages and profiles show it, node by node.  `is_body`: a driver calls it, with C-contiguous
    arrays unless it is `strided`.
    """
    dense = not strided and (is_body or bool(mutable))
    needed = _needed(graph, nodes, strided)
    p = Planner(_direct_outputs(graph, mutable), needed, mutable, (planner, plan_body), choices, strided)
    p.restores = not is_body
    inputs = tuple(p.put(v, _leaf(p, v, f"in{k}", dense=dense)) for k, v in enumerate(graph.inputs))
    constants = tuple(p.put(v, _leaf(p, v, f"k{k}", dense=True)) for k, v in enumerate(graph.constants))
    p.ordered = set() if is_body else _in_any_order(graph, p)
    parts = parts_of(nodes, graph) if is_body and not strided else {}
    for p.site, node in enumerate(nodes):
        if node in parts:
            place(p, parts[node])
        planner(p, node)
    p.site = len(nodes)
    if strided:
        finished = [p.arrays[output] for output in graph.outputs]
    else:
        finished = [_own_array(p, number, output) for number, output in enumerate(graph.outputs)]
    in_place = {o: i for i, o in graph.updates if finished[o].base == f"in{i}"}
    p.steps += [Finish(p.site, k, array) for k, array in enumerate(finished) if k not in in_place]  # these cannot fail
    ordered = p.steps if is_body else checks_first(p.steps, mutable)
    steps, slots = (tuple(p.steps), {}) if strided else assign_slots(ordered)
    sites = _sites(p, nodes, dict(zip(graph.order, given.order, strict=True)))
    return Program(
        given, inputs, constants, steps, sites, tuple(p.kernels.values()), p.locals, slots, tuple(p.products),
        tuple(p.solvers), in_place, dense, tuple(p.bodies.values()),
    )  # fmt: skip


def plan_body(p: Planner, graph: FunctionGraph) -> int:
    """Plan a graph as a body of the program under construction and return its number; equal graphs share a body."""
    given, graph = graph, graph if p.strided else with_numbers_outside(graph)
    if graph not in p.bodies:
        nodes = execution_order(graph, private=True)
        mutable = {} if p.strided else _overwritten_inputs(graph)
        while True:
            body = _planned(graph, nodes, mutable, p.choices, p.plan_node, given, is_body=True, strided=p.strided)
            kept = {f"in{i}": o for o, i in body.in_place.items()}
            if kept.keys() == mutable.keys():
                break
            mutable = kept  # a state whose next value lies elsewhere stays as it is
        p.bodies[graph] = body
        p.kernels.update((kernel.name, kernel) for kernel in body.kernels)
        p.products.update(dict.fromkeys(body.products))
        p.solvers.update(dict.fromkeys(body.solvers))
    return list(p.bodies).index(graph)


def plan_node(p: Planner, node: Apply) -> None:
    (plan_of(node) or plan_host)(p, node)


def _leaf(p: Planner, variable: Variable, name: str, dense: bool) -> Array:
    """Return an input or a constant as an array over locals of the driver: `in0`, `in0_n1`, and strides `in0_s1`.

    A dense array has no locals for strides.
    """
    lengths: Lengths = tuple(1 if n == 1 else f"{name}_n{axis}" for axis, n in enumerate(variable.type.shape))
    if dense or not lengths:
        p.declare(name, lengths)
        return p.dense(name, variable.dtype, lengths)
    strides: Lengths = tuple(f"{name}_s{axis}" for axis in range(len(lengths)))
    p.declare(name, lengths + strides)
    return Array(name, variable.dtype, lengths, strides, False, (name,))


def _sites(p: Planner, nodes: Sequence[Apply], shown: Mapping[Apply, Apply]) -> tuple[Site, ...]:
    names = {i: array.base for i, array in p.arrays.items() if i.owner is None}
    for number, node in enumerate(nodes):
        many = len(node.outputs) > 1
        names.update((o, f"v{number}_{o.index}" if many else f"v{number}") for o in shown[node].outputs)
    return tuple(
        Site(
            shown[node], tuple(p.inputs_of(node)[: len(shown[node].inputs)]), _expression(shown[node], names),
            tuple(p.arrays[o] for o in node.outputs),
        )
        for node in nodes
    )


def _expression(node: Apply, names: Mapping[Variable, Any]) -> str:
    """Return the node as `v3 = add(in0, v1)`, shortened, with names that are the same for all users."""
    operands = ", ".join(str(names[i]) for i in node.inputs)
    results = ", ".join(str(names[o]) for o in node.outputs)
    return f"{results} = {op_text(node.op)}({operands})"


# --- what is needed, and where it goes

SHAPE_ALONE = (*KERNEL_OPS, DimShuffle)
"""Ops whose lengths can be computed without any elements."""


def _needed(graph: FunctionGraph, nodes: Sequence[Apply], strided: bool) -> set[Variable]:
    """Return the variables whose elements are read.  A variable whose shape alone is read is not computed.

    `strided`: loops run as bodies, which read the elements of all inputs.
    """
    needed = set(graph.outputs)
    for node in reversed(nodes):
        op = unmarked(node.op)
        if isinstance(op, (Shape, ShapeI)):
            continue
        wanted = any(o in needed for o in node.outputs)
        if isinstance(op, SHAPE_ALONE) and not wanted and not op.fallible:
            continue
        needed.update(o for o in node.outputs if not is_count(o))  # some readers of a range count its elements
        counted = () if strided else counted_ranges(node)
        needed.update(i for k, i in enumerate(node.inputs) if k != op.unread and i not in counted)
    return needed


def _direct_outputs(graph: FunctionGraph, mutable: Mapping[str, int]) -> dict[Variable, int]:
    """Return the variables that are computed in the memory of an output, and the number of that output."""
    kept = {i for k, i in enumerate(graph.inputs) if f"in{k}" in mutable}
    direct: dict[Variable, int] = {}
    for number, output in enumerate(graph.outputs):
        source, first_copy = _origin_of(output)
        if source.owner is None and source not in kept and first_copy is not None:
            source = first_copy
        if source.owner is not None and source not in direct:
            direct[source] = number
    return direct


def _overwritten_inputs(graph: FunctionGraph) -> dict[str, int]:
    """Return the inputs, by name, whose memory the graph would use for their updates, and these outputs."""
    found = ((i, o, *_origin_of(graph.outputs[o])) for i, o in graph.updates)
    return {f"in{i}": o for i, o, source, written in found if source is graph.inputs[i] and written is not None}


def _origin_of(output: Variable) -> tuple[Variable, Variable | None]:
    """Return the variable that owns the memory of `output`, and the first variable that is written over it, if any."""
    written: Variable | None = None
    while output.owner is not None:
        node = output.owner
        destroyed = node.op.destroys()
        if output.index in destroyed:
            written = output
            output = node.inputs[destroyed[output.index]]
        elif isinstance(node.op, AssumeEqual):
            output = node.inputs[output.index]
        elif _shows_whole(node.op):
            output = node.inputs[0]
        else:
            break
    return output, written


def _in_any_order(graph: FunctionGraph, p: Planner) -> set[Variable]:
    """Return the outputs that may have any strides: no node and no container reads them."""
    read = {i for node in graph.order for i in node.inputs} | {graph.outputs[o] for _, o in graph.updates}
    times = Counter(graph.outputs)
    own = {o for k, o in enumerate(graph.outputs) if p.direct.get(o) == k and times[o] == 1}
    return own - read if not p.mutable else set()


def _shows_whole(op: Op) -> bool:
    """Whether the output of a view has all elements of the input in their order."""
    if isinstance(op, DimShuffle):
        kept = [o for o in op.order if isinstance(o, int)]
        return kept == sorted(kept)
    if isinstance(op, (Reshape, SpecifyShape, CheckLengths, Check)):
        return True
    return isinstance(op, Subtensor) and all(entry == "s000" for entry in op.spec)


def _own_array(p: Planner, number: int, output: Variable) -> Array:
    """Return the array of output `number`: as it is if it lies in that output's memory, else a copy."""
    array = p.arrays[output]
    base = array.base
    if isinstance(base, Buffer) and base.output == number and (array.dense or output in p.ordered):
        return array
    if isinstance(base, str) and p.mutable.get(base) == number and array.dense:
        return array
    return p.copied(array, None if number in p.taken else number)
