"""A graph as steps on a device: launches of kernels, views, nodes that the host runs, and copies between the two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext.device import needs_float64
from ...graph import Apply, Constant, FunctionGraph, Variable, toposort
from ...graph.types import numpy_dtype
from ...ops.blas import BlasOp
from ...ops.creation import Alloc
from ...ops.fused import Fused, GraphOp
from ...ops.fused_product import FusedProduct
from ...ops.interpret import evaluate_node
from ...ops.lengths import ShapeI
from ...ops.nn import AlongAxis
from ...ops.pooling import Pool
from ...ops.row_passes import Top, opened
from ...ops.shape import Reshape
from ...ops.tensor import TensorVariable
from ...record import record
from .device import Device
from .launches import Call, ItemsKernel, PartsKernel
from .moves import KINDS as MOVES
from .moves import IndexKernel, JoinKernel, PoolKernel, WriteKernel
from .products import KINDS, ProductKernel

DeviceKernel = PartsKernel | ItemsKernel | ProductKernel | JoinKernel | WriteKernel | IndexKernel | PoolKernel


@record(eq=False)
class Launch:
    """A kernel on the device."""

    node: Apply
    kernel: DeviceKernel


@record(eq=False)
class View:
    """A node whose result is a view of its first operand; the others are scalars, which the host has."""

    node: Apply


@record(eq=False)
class Scalar:
    """Arithmetic of lengths and positions, which are scalars: the host, which needs them, does it."""

    node: Apply


@record(eq=False)
class Length:
    """The length of an axis, whose array stays where it is."""

    node: Apply


@record(eq=False)
class Host:
    """A node that NumPy runs, and the reason."""

    node: Apply
    reason: str


@record(eq=False)
class Results:
    """The results of a node made of others, which these have computed one by one."""

    node: Apply
    inner: tuple[Variable, ...]


Step = Launch | View | Length | Scalar | Host | Results


def steps_of(graph: FunctionGraph, device: Device) -> tuple[Step, ...]:
    """The steps of a graph, in order.  A node made of others that is no kernel falls into these."""
    return tuple(step for node in graph.order for step in _steps(node, device))


def reads(step: Step) -> tuple[Variable, ...]:
    """The variables that a step reads."""
    return step.inner if isinstance(step, Results) else tuple(step.node.inputs)


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
    """The outputs of a node as the nodes that it is made of; none if it is made of none."""
    if isinstance(node.op, (GraphOp, FusedProduct)):
        return tuple(node.op.expand(node.inputs))
    if isinstance(node.op, AlongAxis) and not isinstance(node.op, Top):
        leaf = TensorVariable(node.inputs[0].type)
        return tuple(Fused(opened(FunctionGraph([leaf], [node.op(leaf)]))).expand(node.inputs))
    return (node.op.meaning(*node.inputs),) if isinstance(node.op, BlasOp) else ()


def _step(node: Apply, device: Device) -> Step:
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
    """The kernel of a node.  Raises TypeError or ValueError, with the reason, for a node that has none."""
    if type(node.op) in MOVES:
        made: DeviceKernel = MOVES[type(node.op)](node, device)
        return made
    if isinstance(node.op, KINDS):
        return ProductKernel(node, device)
    if isinstance(node.op, Pool):
        raise TypeError(f"{node.op.name} has no kernel on devices")
    return PartsKernel(node, device) if device.in_parts else ItemsKernel(node, device)


def _is_view(node: Apply) -> bool:
    return (
        (bool(node.op.views()) or isinstance(node.op, Alloc))
        and len(node.outputs) == 1
        and not any(i.ndim for i in node.inputs[1:])
    )


def reason_for_host(node: Apply, device: Device) -> str:
    """Reason why NumPy runs a node; empty if the device does."""
    return "; ".join(dict.fromkeys(s.reason for s in _steps(node, device) if isinstance(s, Host)))


class Values:
    """The values of variables in one call: on the host, on the device, or on both; copied when first asked for."""

    def __init__(self, call: Call, constants: dict[Variable, Any], returned: frozenset[Variable]) -> None:
        """`returned`: the variables whose arrays become outputs."""
        self.call, self._memory = call, call.memory
        self._constants, self._returned = constants, returned
        self._host: dict[Variable, np.ndarray] = {}
        self._device: dict[Variable, Any] = {}
        self.own: list[Any] = []
        """Arrays that this call has made in the host's memory: results may be these themselves."""

    def know(self, variables: Sequence[Variable], arrays: Sequence[np.ndarray]) -> None:
        """Take in values on the host."""
        self._host.update(zip(variables, arrays))

    def made(self, variables: Sequence[Variable], arrays: Sequence[Any]) -> None:
        """Take in the results of a kernel."""
        self._device.update(zip(variables, arrays))
        if self.call.device.shares:
            self.own += [array for v, array in zip(variables, arrays) if v in self._returned]

    def know_on_device(self, variables: Sequence[Variable], arrays: Sequence[Any]) -> None:
        self._device.update(zip(variables, arrays))

    def on_host(self, variable: Variable) -> np.ndarray:
        """The value as an array of NumPy."""
        if isinstance(variable, Constant):
            return variable.data
        if variable not in self._host:
            self._host[variable] = self._memory.get(self._device[variable], self.call.traffic)
            if not self.call.device.shares:
                self.own.append(self._host[variable])
        elif self.call.device.shares:
            self._memory.finish()
        return self._host[variable]

    def on_device(self, variable: Variable) -> Any:
        """The value as an array of the device; constants stay there from call to call."""
        kept = self._constants if isinstance(variable, Constant) else self._device
        if variable not in kept:
            kept[variable] = self._memory.put(np.asarray(self.on_host(variable)), self.call.traffic)
        return kept[variable]

    def anywhere(self, variable: Variable) -> Any:
        """The value where it is."""
        if variable in self._device:
            return self._device[variable]
        return variable.data if isinstance(variable, Constant) else self._host[variable]

    def share(self, variable: Variable, other: Variable) -> None:
        """Let a variable have the value of another, wherever it is."""
        if isinstance(other, Constant):
            self._host[variable] = other.data
        for side in (self._host, self._device):
            if other in side:
                side[variable] = side[other]

    def drop(self, variable: Variable) -> None:
        """Forget a value after its last use."""
        self._host.pop(variable, None)
        self._device.pop(variable, None)


def run_step(step: Step, values: Values, name: str) -> None:
    """Run one step."""
    node = step.node
    if isinstance(step, Results):
        for o, i in zip(node.outputs, step.inner):
            values.share(o, i)
    elif isinstance(step, View):
        _view(node, values, name)
    elif isinstance(step, Length):
        length = values.anywhere(node.inputs[0]).shape[node.op.axis]  # type: ignore[attr-defined]
        values.know(node.outputs, [np.array(length, np.int64)])
    elif isinstance(step, Launch):
        numbers = step.kernel.numbers
        given = [values.on_host(v) if k in numbers else values.on_device(v) for k, v in enumerate(node.inputs)]
        is_small = step.kernel.work(given) < values.call.device.small
        results = None if is_small else step.kernel.run(given, values.call)
        if results is None:  # a small one; or NumPy says what does not fit, and makes what has no elements
            _on_host(node, values, name)
        else:
            values.made(node.outputs, results)
    else:
        _on_host(node, values, name)


def _on_host(node: Apply, values: Values, name: str) -> None:
    results = evaluate_node(node, [values.on_host(i) for i in node.inputs], name)
    values.know(node.outputs, [np.asarray(r) for r in results])


def _view(node: Apply, values: Values, name: str) -> None:
    x, *others = node.inputs
    numbers = [values.on_host(i) for i in others]

    def change(array: np.ndarray) -> Any:
        if isinstance(node.op, Alloc):
            return np.broadcast_to(array, tuple(map(int, numbers)))
        return evaluate_node(node, [array, *numbers], name)[0]

    try:
        made = values.call.memory.view(values.on_device(x), change, isinstance(node.op, Reshape))
    except ValueError:
        made = None  # NumPy says what does not fit
    if made is None:
        _on_host(node, values, name)
    else:
        values.know_on_device(node.outputs, [made])
