"""A graph as steps on a device: launches of kernels, views, nodes that the host runs, and copies between the two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext.device import OPENCL, source
from ...cbackend.ir.operands import Extent, Pointer, Stride
from ...cbackend.ir.work_items import WorkItems
from ...cbackend.lowering.work_items import work_items
from ...graph import Apply, Constant, FunctionGraph, Variable, toposort
from ...ops.fused import Fused
from ...ops.interpret import evaluate_node
from ...ops.shape import DimShuffle
from ...record import record
from ...targets.current import current
from .device import Device, OnDevice, Traffic


@record(eq=False)
class Launch:
    """A kernel on the device."""

    node: Apply
    items: WorkItems
    source: str
    kernel: Any
    width: int


@record(eq=False)
class View:
    """A node whose result is a view of its operand."""

    node: Apply


@record(eq=False)
class Host:
    """A node that NumPy runs, and the reason."""

    node: Apply
    reason: str


@record(eq=False)
class Results:
    """The results of a fused node, which its inner nodes have computed one by one."""

    node: Apply
    inner: tuple[Variable, ...]


Step = Launch | View | Host | Results


def steps_of(graph: FunctionGraph, device: Device) -> tuple[Step, ...]:
    """The steps of a graph, in order.  A fused node that is no kernel falls into its inner nodes."""
    return tuple(step for node in graph.order for step in _steps(node, device))


def reads(step: Step) -> tuple[Variable, ...]:
    """The variables that a step reads."""
    return step.inner if isinstance(step, Results) else tuple(step.node.inputs)


def _steps(node: Apply, device: Device) -> Iterator[Step]:
    if not isinstance(node.op, Fused) or not reason_for_host(node, device):
        yield _step(node, device)
        return
    inner = tuple(node.op.expand(node.inputs))
    for each in toposort(inner, stop_at=node.inputs):
        yield from _steps(each, device)
    yield Results(node, inner)


def reason_for_host(node: Apply, device: Device | None = None) -> str:
    """Reason why a node has no kernel; empty if it has one."""
    if isinstance(node.op, DimShuffle):
        return ""
    try:
        work_items(node)
    except (TypeError, ValueError, KeyError) as error:
        return str(error)
    if device is not None and not device.has_float64 and _needs_float64(node):
        return f"the device {device.name} has no float64; cast to float32"
    return ""


def _needs_float64(node: Apply) -> bool:
    return any(v.dtype == "float64" for v in (*node.inputs, *node.outputs))


def _step(node: Apply, device: Device) -> Step:
    if isinstance(node.op, DimShuffle):
        return View(node)
    reason = reason_for_host(node, device)
    if reason:
        return Host(node, reason)
    items = work_items(node)
    width = min(current().limits.group_items, device.items)
    text = source(items, OPENCL, width)
    return Launch(node, items, text, device.kernel(text, items.kernel.name), width)


class Values:
    """The values of variables in one call: on the host, on the device, or on both; copied when first asked for."""

    def __init__(self, device: Device, traffic: Traffic, constants: dict[Variable, OnDevice]) -> None:
        self.device, self.traffic = device, traffic
        self._constants = constants
        self._host: dict[Variable, np.ndarray] = {}
        self._device: dict[Variable, OnDevice] = {}

    def know(self, values: Mapping[Variable, Any]) -> None:
        """Take in results of a step, arrays of either side."""
        for variable, value in values.items():
            (self._device if isinstance(value, OnDevice) else self._host)[variable] = value

    def on_host(self, variable: Variable) -> np.ndarray:
        """The value as an array of NumPy."""
        if isinstance(variable, Constant):
            return variable.data
        if variable not in self._host:
            self._host[variable] = self.device.get(self._device[variable], self.traffic)
        return self._host[variable]

    def on_device(self, variable: Variable) -> OnDevice:
        """The value as an array of the device; constants stay there from call to call."""
        kept = self._constants if isinstance(variable, Constant) else self._device
        if variable not in kept:
            kept[variable] = self.device.put(np.asarray(self.on_host(variable)), self.traffic)
        return kept[variable]

    def anywhere(self, variable: Variable) -> Any:
        """The value where it is; on the device if it is on both sides."""
        found = self._device.get(variable)
        return self.on_host(variable) if found is None else found

    def drop(self, variable: Variable) -> None:
        """Forget a value after its last use."""
        self._host.pop(variable, None)
        self._device.pop(variable, None)


def run_step(step: Step, values: Values, name: str) -> None:
    """Run one step."""
    node = step.node
    if isinstance(step, Results):
        values.know({o: values.anywhere(i) for o, i in zip(node.outputs, step.inner)})
    elif isinstance(step, View):
        values.know({node.outputs[0]: _view(node, values.on_device(node.inputs[0]), name)})
    elif isinstance(step, Launch):
        arrays = [values.on_device(i) for i in node.inputs]
        extents = _extents(step.items, arrays)
        if extents is None or (step.items.reduced and 0 in extents):
            _on_host(node, values, name)  # NumPy says what does not fit, and reduces nothing as it should be
        else:
            values.know(dict(zip(node.outputs, _launched(step, arrays, extents, values))))
    else:
        _on_host(node, values, name)


def _on_host(node: Apply, values: Values, name: str) -> None:
    results = evaluate_node(node, [values.on_host(i) for i in node.inputs], name)
    values.know(dict(zip(node.outputs, map(np.asarray, results))))


def _view(node: Apply, array: OnDevice, name: str) -> OnDevice:
    order = node.op.order  # type: ignore[attr-defined]
    dropped = [a for a in range(len(array.shape)) if a not in order]
    if any(array.shape[a] != 1 for a in dropped):
        raise ValueError(f"{name}: {node.op.name} drops axis {dropped[0]} of shape {array.shape}; its length is not 1")
    shape = tuple(array.shape[a] if isinstance(a, int) else 1 for a in order)
    return OnDevice(
        array.buffer, array.dtype, shape, tuple(array.strides[a] if isinstance(a, int) else 0 for a in order)
    )


def _extents(items: WorkItems, arrays: Sequence[OnDevice]) -> list[int] | None:
    """The lengths of the loops; None if operands disagree."""
    lengths: list[set[int]] = [set() for _ in range(items.kernel.rank)]
    for operand in items.kernel.inputs:
        for loop, n in zip(operand.axes, arrays[operand.source].shape):
            if loop is not None:
                lengths[loop].add(n)
            elif n != 1:
                return None
    return [n.pop() for n in lengths] if all(len(n) == 1 for n in lengths) else None


def _launched(step: Launch, inputs: Sequence[OnDevice], extents: Sequence[int], values: Values) -> list[OnDevice]:
    kernel, device = step.items.kernel, values.device
    outputs = [
        device.empty(np.dtype(o.dtype), tuple(1 if l is None else extents[l] for l in o.axes)) for o in kernel.outputs
    ]
    kept = [extents[loop] for loop in step.items.kept]
    if 0 in kept:
        return outputs
    arrays = [*outputs, *(inputs[operand.source] for operand in kernel.inputs)]
    arguments = [_argument(a, kernel.operands, arrays, extents) for a in kernel.arguments]
    grid = _grid(kept)
    reduces = bool(step.items.reduced)
    device.launch(
        step.kernel, (grid[0] * step.width, *grid[1:]) if reduces else grid, (step.width, 1, 1) if reduces else None,
        arguments,
    )  # fmt: skip
    values.traffic.launches += 1
    return outputs


def _grid(kept: Sequence[int]) -> tuple[int, int, int]:
    """The last two loops along axes of their own, all others along the third."""
    inner = [*reversed(kept[-2:]), 1, 1][:2]
    return inner[0], inner[1], int(np.prod(kept[:-2], dtype=np.int64))


def _argument(argument: Any, operands: Sequence[Any], arrays: Sequence[OnDevice], extents: Sequence[int]) -> Any:
    if isinstance(argument, Extent):
        return np.int64(extents[argument.loop])
    array = arrays[argument.operand]
    if isinstance(argument, Pointer):
        return array.buffer
    assert isinstance(argument, Stride)
    return np.int64(array.strides[operands[argument.operand].axes.index(argument.loop)])
