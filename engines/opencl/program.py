"""A graph as steps on a device: launches, views, loops over such steps, and nodes that the host runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Union

from ...cbackend.ctext.device import needs_float64
from ...graph import Apply, FunctionGraph, Variable, toposort
from ...graph.types import numpy_dtype
from ...ops.control.scan_ops import Scan
from ...ops.core.tensor import TensorVariable
from ...ops.linalg.blas import BlasOp
from ...ops.lowered.fused import Fused, GraphOp
from ...ops.lowered.fused_product import FusedProduct
from ...ops.lowered.row_passes import Top, opened
from ...ops.networks.functions import AlongAxis
from ...ops.networks.pooling import Pool
from ...ops.shapes.creation import Alloc
from ...ops.shapes.lengths import ShapeI
from ...record import record
from .base import Device
from .groups import GroupsKernel, is_grouped
from .launches import ItemsKernel, PartsKernel
from .moves import KINDS as MOVES
from .moves import IndexKernel, JoinKernel, PoolKernel, SumToKernel, WriteKernel
from .products import KINDS, ProductKernel
from .vector_products import VectorProductKernel, is_with_vector

Move = JoinKernel | WriteKernel | IndexKernel | PoolKernel | SumToKernel
DeviceKernel = PartsKernel | ItemsKernel | GroupsKernel | ProductKernel | VectorProductKernel | Move

TO_PLACES = (PartsKernel, ItemsKernel, GroupsKernel, ProductKernel, VectorProductKernel)
"""Kernels that can write their results to given arrays."""


@record(eq=False)
class Launch:
    """A kernel on the device."""

    node: Apply
    kernel: DeviceKernel


@record(eq=False)
class View:
    """A node whose result is a view of its first operand; other operands are scalars on the host."""

    node: Apply


@record(eq=False)
class Scalar:
    """Arithmetic of scalar lengths and positions, done by the host, which needs them."""

    node: Apply


@record(eq=False)
class Length:
    """The length of an axis; the array is not moved."""

    node: Apply


@record(eq=False)
class Host:
    """A node that NumPy runs, with the reason."""

    node: Apply
    reason: str


@record(eq=False)
class Results:
    """The results of an expanded node, which its inner nodes have computed."""

    node: Apply
    inner: tuple[Variable, ...]


@record(eq=False)
class Body:
    """The steps of a graph, the variables that each step reads last, and the constants on the device.

    `host`, `device`: the variables that are read on that side.
    """

    graph: FunctionGraph
    steps: tuple[Step, ...]
    last: tuple[tuple[Variable, ...], ...]
    constants: dict[Variable, Any]
    host: frozenset[Variable]
    device: frozenset[Variable]


@record(eq=False)
class Loop:
    """A loop whose steps run on the device.  `copies`: copy kernels by dtype and rank."""

    node: Apply
    body: Body
    copies: dict[Any, DeviceKernel]


Step = Union["Launch", "View", "Length", "Scalar", "Host", "Results", "Loop"]


def steps_of(graph: FunctionGraph, device: Device) -> tuple[Step, ...]:
    """Return the steps of a graph, in order; a node without a kernel is expanded to its inner nodes."""
    return tuple(step for node in graph.order for step in _steps(node, device))


def reads(step: Step) -> tuple[Variable, ...]:
    """Return the variables that a step reads."""
    return step.inner if isinstance(step, Results) else tuple(step.node.inputs)


def body_of(graph: FunctionGraph, device: Device) -> Body:
    """Return the steps of a graph with the variables that they read and drop."""
    steps = steps_of(graph, device)
    here = frozenset(v for step in steps for v in _read_here(step))
    there = frozenset(v for step in steps for v in _read_there(step))
    return Body(graph, steps, last_uses(graph, steps), {}, here, there)


def _read_here(step: Step) -> Sequence[Variable]:
    """Return the variables that a step reads on the host."""
    if isinstance(step, (Host, Scalar)):
        return step.node.inputs
    if isinstance(step, View):
        return step.node.inputs[1:]
    return [step.node.inputs[k] for k in step.kernel.numbers] if isinstance(step, Launch) else ()


def _read_there(step: Step) -> Sequence[Variable]:
    """Return the variables that a step reads on the device."""
    if isinstance(step, View):
        return step.node.inputs[:1]
    if isinstance(step, Launch):
        return [v for k, v in enumerate(step.node.inputs) if k not in step.kernel.numbers]
    return step.node.inputs[1:] if isinstance(step, Loop) else ()


def last_uses(graph: FunctionGraph, steps: tuple[Step, ...]) -> tuple[tuple[Variable, ...], ...]:
    """Return for each step the variables that it uses last."""
    seen = set(graph.outputs)
    found = []
    for step in reversed(steps):
        own = dict.fromkeys(v for v in (*reads(step), *step.node.outputs) if v not in seen)
        seen.update(own)
        found.append(tuple(own))
    return tuple(found[::-1])


def inner_steps(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield all steps, including those of loops."""
    for step in steps:
        yield step
        if isinstance(step, Loop):
            yield from inner_steps(step.body.steps)


def _steps(node: Apply, device: Device) -> Iterator[Step]:
    step = _step(node, device)
    inner = _made_of(node) if isinstance(step, Host) else ()
    if not inner:
        yield step
        return
    for each in toposort(inner, stop_at=node.inputs):
        yield from _steps(each, device)
    yield Results(node, inner)


def _made_of(node: Apply) -> tuple[Variable, ...]:
    """Return the outputs of a node expanded to its inner nodes; none if it has none."""
    if isinstance(node.op, (GraphOp, FusedProduct)):
        return tuple(node.op.expand(node.inputs))
    if isinstance(node.op, AlongAxis) and not isinstance(node.op, Top):
        leaf = TensorVariable(node.inputs[0].type)
        return tuple(Fused(opened(FunctionGraph([leaf], [node.op(leaf)]))).expand(node.inputs))
    return (node.op.meaning(*node.inputs),) if isinstance(node.op, BlasOp) else ()


def _step(node: Apply, device: Device) -> Step:
    if isinstance(node.op, Scan):
        return Loop(node, body_of(node.op.graph, device), {})
    if _is_view(node):
        return View(node)
    if isinstance(node.op, ShapeI):
        return Length(node)
    if all(v.ndim == 0 and numpy_dtype(v.dtype).kind in "iub" for v in (*node.inputs, *node.outputs)):
        return Scalar(node)
    try:
        kernel = _kernel(node, device)
    except (TypeError, ValueError, KeyError) as error:
        return Host(node, str(error))
    if not device.has_float64 and needs_float64(kernel.text):
        return Host(node, f"it takes float64, which the device {device.name} lacks")
    return Launch(node, kernel)


def _kernel(node: Apply, device: Device) -> DeviceKernel:
    """Return the kernel of a node.  Raises TypeError or ValueError, with the reason, for a node without one."""
    if type(node.op) in MOVES:
        made: DeviceKernel = MOVES[type(node.op)](node, device)
        return made
    if is_with_vector(node) and (device.in_parts or not device.shares):
        return VectorProductKernel(node, device, _kernel)
    if isinstance(node.op, KINDS):
        return ProductKernel(node, device)
    if isinstance(node.op, Pool):
        raise TypeError(f"{node.op.name} has no kernel on devices")
    if device.in_parts:
        return PartsKernel(node, device)
    return (GroupsKernel if is_grouped(node) else ItemsKernel)(node, device)


def _is_view(node: Apply) -> bool:
    return (
        (bool(node.op.views()) or isinstance(node.op, Alloc))
        and len(node.outputs) == 1
        and not any(i.ndim for i in node.inputs[1:])
    )


def reason_for_host(node: Apply, device: Device) -> str:
    """Return the reason why NumPy runs a node; empty if the device does."""
    steps = tuple(_steps(node, device))
    return "; ".join(dict.fromkeys(s.reason for s in inner_steps(steps) if isinstance(s, Host)))
