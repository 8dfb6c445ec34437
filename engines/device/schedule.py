"""The schedule of a program on a device: where each node runs, by which kernel, and what each side reads.

    schedule = schedule_of(graph, device)

Planning has two parts.  `placed` decides for each node whether the device has a kernel for it; a node without one is
expanded to its inner nodes if it has some.  The planner of the C backend (cbackend/program/) then makes the program:
views, lengths, checks, lifetimes, loops and host steps.  A node with a kernel is one `Call` in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ...cbackend.ctext.device import needs_float64
from ...cbackend.program import program as prog
from ...cbackend.program.buffers import last_uses
from ...cbackend.program.plan import plan_by
from ...cbackend.program.planned import plan_of
from ...cbackend.program.planner import Planner
from ...cbackend.program.planners.host import plan_host
from ...cbackend.program.planners.loops import quantities
from ...cbackend.program.planners.views import broadcast
from ...graph import Apply, FunctionGraph, Variable
from ...graph.dims import opaque_dims
from ...graph.types import numpy_dtype
from ...graph.walk import rebuild
from ...ops.control.scan_ops import Scan
from ...ops.core.tensor import TensorVariable
from ...ops.linalg.blas import BlasOp
from ...ops.lowered.fused import Fused, GraphOp, InPlace
from ...ops.lowered.fused_product import FusedProduct
from ...ops.lowered.row_passes import Top, opened
from ...ops.networks.functions import AlongAxis
from ...ops.networks.pooling import Pool
from ...ops.shapes.advanced_indexing import AdvancedSubtensor
from ...ops.shapes.creation import Alloc
from ...ops.shapes.lengths import Shape, ShapeI
from ...record import record
from .base import Device
from .groups import GroupsKernel, is_grouped
from .launches import ItemsKernel, PartsKernel
from .moves import KINDS as MOVES
from .moves import MOVING, Copies, Moving, PoolKernel, SumToKernel
from .products import KINDS, ProductKernel
from .values import Place
from .vector_products import VectorProductKernel, is_with_vector

Move = Moving | PoolKernel | SumToKernel
DeviceKernel = PartsKernel | ItemsKernel | GroupsKernel | ProductKernel | VectorProductKernel | Move

TO_PLACES = (PartsKernel, ItemsKernel, GroupsKernel, ProductKernel, VectorProductKernel)
"""Kernels that can write their results to given arrays."""
LAUNCH, VIEW, LENGTH, SCALAR, HOST, LOOP = "launch", "view", "length", "scalar", "host", "loop"
_NOT_RUN = (prog.Finish, prog.Release)
"""Steps without an action here: `Section.unused` ends lives, and outputs may be views."""


@record(eq=False)
class Placement:
    """Where a node runs: LAUNCH, by `kernel`; HOST, by NumPy for a `reason`; SCALAR, by NumPy, which needs the numbers.

    A VIEW and a LENGTH move no data, and a LOOP has a schedule of its own.
    """

    node: Apply
    kind: str
    kernel: DeviceKernel | None = None
    reason: str = ""


@record(eq=False)
class Section:
    """The steps of a node, its operands and results, and the memory that no later section reads."""

    placement: Placement
    operands: tuple[prog.Array, ...]
    steps: tuple[prog.Step, ...]
    results: tuple[prog.Array, ...]
    unused: tuple[prog.Memory, ...]


@record(eq=False)
class Schedule:
    """A program with the places where its nodes run.

    `host`, `device`: the memory that is read on that side.  `constants`: their arrays, which stay on the device between
    calls, by name.  `fixed`: the lengths of these arrays.  `outputs`: the arrays that are returned;
    `returned`: the memory that they may lie in.  `copies`: the kernels that copy.
    """

    program: prog.Program
    sections: tuple[Section, ...]
    bodies: tuple[Schedule, ...]
    host: frozenset[prog.Memory]
    device: frozenset[prog.Memory]
    constants: dict[prog.Memory, Place]
    fixed: dict[str, int]
    outputs: tuple[prog.Array, ...]
    returned: frozenset[prog.Memory]
    copies: Copies

    def placements(self) -> Iterator[Placement]:
        """Yield the placements of all nodes, with those of bodies behind their loops."""
        for section in self.sections:
            yield section.placement
            for step in section.steps:
                if isinstance(step, prog.Loop):
                    yield from self.bodies[step.body].placements()


def schedule_of(graph: FunctionGraph, device: Device) -> Schedule:
    """Return the schedule of a graph on a device."""
    known, copies = dict[Apply, Placement](), Copies(device)
    program = plan_by(_placed(graph, copies, known), partial(_plan, known))
    return _scheduled(program, known, copies)


def reason_for_host(node: Apply, device: Device) -> str:
    """Return the reason why NumPy runs a node; empty if the device does."""
    known: dict[Apply, Placement] = {}
    _placed(FunctionGraph(node.inputs, node.outputs), Copies(device), known)
    return "; ".join(dict.fromkeys(p.reason for p in known.values() if p.kind == HOST))


# --- where nodes run


def _placed(graph: FunctionGraph, copies: Copies, known: dict[Apply, Placement]) -> FunctionGraph:
    """Return a graph whose nodes have placements, which are added to `known`."""

    def visit(node: Apply) -> Sequence[Variable]:
        if isinstance(node.op, InPlace):
            node = node.with_op(node.op.op)
        if isinstance(node.op, Scan):
            node = node.with_op(replace(node.op, graph=_placed(node.op.graph, copies, known)))
        placement = _placement(node, copies)
        inner = _made_of(node) if placement.kind == HOST else ()
        if inner:
            return rebuild(inner, {i: i for i in node.inputs}, visit)
        known[node] = placement
        return node.outputs

    return graph.rebuilt(visit)


def _made_of(node: Apply) -> tuple[Variable, ...]:
    """Return the outputs of a node expanded to its inner nodes; none if it has none."""
    if isinstance(node.op, (GraphOp, FusedProduct)):
        return tuple(node.op.expand(node.inputs))
    if isinstance(node.op, AlongAxis) and not isinstance(node.op, Top):
        leaf = TensorVariable(node.inputs[0].type)
        return tuple(Fused(opened(FunctionGraph([leaf], [node.op(leaf)]))).expand(node.inputs))
    return (node.op.meaning(*node.inputs),) if isinstance(node.op, BlasOp) else ()


def _placement(node: Apply, copies: Copies) -> Placement:
    device = copies.device
    if isinstance(node.op, Scan):
        return Placement(node, LOOP)
    if _is_view(node):
        return Placement(node, VIEW)
    if isinstance(node.op, (Shape, ShapeI)):
        return Placement(node, LENGTH)
    if all(v.ndim == 0 and numpy_dtype(v.dtype).kind in "iub" for v in (*node.inputs, *node.outputs)):
        return Placement(node, SCALAR)
    try:
        kernel: DeviceKernel = MOVING[type(node.op)](node, copies) if type(node.op) in MOVING else _kernel(node, device)
    except (TypeError, ValueError, KeyError) as error:
        return Placement(node, HOST, reason=str(error))
    if not device.has_float64 and needs_float64(kernel.text, device.dialect):
        return Placement(node, HOST, reason=f"it takes float64, which the device {device.name} lacks")
    return Placement(node, LAUNCH, kernel)


def _kernel(node: Apply, device: Device) -> DeviceKernel:
    """Return the kernel of a node.  Raises TypeError or ValueError, with the reason, for a node without one."""
    if type(node.op) in MOVES:
        made: DeviceKernel = MOVES[type(node.op)](node, device)
        return made
    if is_with_vector(node) and (device.in_parts or not device.shares):
        return VectorProductKernel(node, device, _kernel)
    if isinstance(node.op, KINDS):
        return ProductKernel(node, device)
    if isinstance(node.op, Fused) and any(isinstance(inner, AdvancedSubtensor) for inner in node.op.graph.ops):
        raise TypeError(f"{node.op.name} looks up elements, which has no kernel on devices")
    if isinstance(node.op, Pool):
        raise TypeError(f"{node.op.name} has no kernel on devices")
    if device.in_parts:
        return PartsKernel(node, device)
    return (GroupsKernel if is_grouped(node) else ItemsKernel)(node, device)


def _is_view(node: Apply) -> bool:
    is_view = isinstance(node.op, Alloc) or (bool(node.op.views()) and plan_of(node) is not None)
    return is_view and len(node.outputs) == 1 and not any(i.ndim for i in node.inputs[1:])


# --- the program


def _plan(known: dict[Apply, Placement], p: Planner, node: Apply) -> None:
    """Plan a node where it runs."""
    placement = known[node]
    if isinstance(node.op, Alloc) and placement.kind == VIEW:
        lengths = p.lengths(node.inputs[1:])
        p.keep_promises(node.out, lengths)
        p.put(node.out, broadcast(p, p.arrays[node.inputs[0]], lengths))
    elif placement.kind in (VIEW, LENGTH, LOOP):
        planner = plan_of(node)
        assert planner is not None
        planner(p, node)
    elif isinstance(placement.kernel, Moving):
        placement.kernel.plan(p, node)
    elif placement.kernel is None or not _plan_call(p, node, placement.kernel):
        plan_host(p, node)


def _plan_call(p: Planner, node: Apply, kernel: DeviceKernel) -> bool:
    """Plan the launch of a kernel; return False if the lengths of its results depend on elements."""
    found = quantities(p, node.op.dims(node, list(map(opaque_dims, node.inputs))))
    lengths = [tuple(n for n in row if n is not None) for row in found]
    if any(len(own) < output.ndim for own, output in zip(lengths, node.outputs, strict=True)):
        return False
    results = [p.result(output, own) for output, own in zip(node.outputs, lengths, strict=True)]
    if any(o in p.needed for o in node.outputs):
        p.elsewhere(kernel.name, (), results, p.inputs_of(node))
    return True


# --- the schedule


def _scheduled(program: prog.Program, known: dict[Apply, Placement], copies: Copies) -> Schedule:
    """Return the schedule of a program and its bodies."""
    bodies = tuple(_scheduled(body, known, copies) for body in program.bodies)
    outputs = tuple(step.array for step in program.steps if isinstance(step, prog.Finish))
    returned = frozenset(m for array in outputs for m in array.memory)
    sections = _sections(program, known, returned)
    host, there = set[prog.Memory](), set[prog.Memory]()
    for section in sections:
        for step in section.steps:
            host.update(m for a in _read_by_host(step, section) for m in a.memory)
            there.update(m for a in _read_by_device(step, section) for m in a.memory)
    constants, fixed = dict[prog.Memory, Place](), dict[str, int]()
    for array, constant in zip(program.constants, program.graph.constants, strict=True):
        constants[array.base] = Place(array, np.asarray(constant.data, order="C"), is_constant=True)
        fixed.update((n, m) for n, m in zip(array.lengths, constant.data.shape, strict=True) if isinstance(n, str))
    sides = frozenset(host), frozenset(there)
    return Schedule(program, sections, bodies, *sides, constants, fixed, outputs, returned, copies)


def _sections(
    program: prog.Program, known: dict[Apply, Placement], returned: frozenset[prog.Memory]
) -> tuple[Section, ...]:
    """Return the steps of each node.  `returned`: memory that outputs lie in."""
    steps: list[list[prog.Step]] = [[] for _ in program.sites]
    for step in program.steps:
        if not isinstance(step, _NOT_RUN):
            steps[step.site].append(step)
    steps = [_without_allocations(own, known[site.node]) for own, site in zip(steps, program.sites, strict=True)]
    owners = [number for number, own in enumerate(steps) for _ in own]
    ends = {memory: owners[k] for memory, k in last_uses([s for own in steps for s in own]).items()}
    for number, site in enumerate(program.sites):  # NumPy may run a node, whose numbers are known already
        ends.update((m, max(number, ends.get(m, number))) for a in site.operands for m in a.memory)
    kept = returned.union(a.base for a in program.constants)
    unused: list[list[prog.Memory]] = [[] for _ in steps]
    for memory, last in ends.items():
        if memory not in kept:
            unused[last].append(memory)
    return tuple(
        Section(known[site.node], site.operands, tuple(own), site.results, tuple(over))
        for site, own, over in zip(program.sites, steps, unused, strict=True)
    )


def _without_allocations(steps: list[prog.Step], placement: Placement) -> list[prog.Step]:
    """Return the steps of a node; a kernel that is called once for all results allocates them itself."""
    return steps if isinstance(placement.kernel, Moving) else [s for s in steps if not isinstance(s, prog.Allocate)]


def _read_by_host(step: prog.Step, section: Section) -> Sequence[prog.Array]:
    if isinstance(step, prog.Read):
        return (step.array,)
    if isinstance(step, (prog.Host, prog.Call)):
        kernel = section.placement.kernel
        return [a for k, a in enumerate(step.reads) if kernel is None or k in kernel.numbers]
    return ()


def _read_by_device(step: prog.Step, section: Section) -> Sequence[prog.Array]:
    if isinstance(step, (prog.Host, prog.Call)):
        kernel = section.placement.kernel
        return [] if kernel is None else [a for k, a in enumerate(step.reads) if k not in kernel.numbers]
    if isinstance(step, prog.Loop):
        return (*step.sequences, *step.states, *step.others)
    return (step.array,) if isinstance(step, prog.Pack) else ()
