"""The OpenCL engine.  Nodes without a kernel are run by NumPy, as steps of the function."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...cbackend.driver.page import CFile
from ...graph import Apply, Constant, FunctionGraph, Names, Variable
from ..engine import Engine, Request
from ..executable import CheckedExecutable
from .device import OnDevice, Traffic, device, trouble
from .program import Host, Launch, Results, Step, Values, reads, reason_for_host, run_step, steps_of


class OpenCLEngine(Engine):
    """Compiles the kernels of a graph for the first OpenCL device."""

    name = "opencl"
    unwanted: tuple[str, ...] = ("inplace", "blas_c", "layout")
    hosts_refused = True
    stage = "making OpenCL C"

    def missing(self) -> str:
        return trouble()

    def refusal(self, node: Apply) -> str:
        return reason_for_host(node, device())

    def compile(self, graph: FunctionGraph, request: Request) -> OpenCLExecutable:
        return OpenCLExecutable(self, graph, request)


class OpenCLExecutable(CheckedExecutable):
    """A graph on a device.  Values stay there between steps; `traffic` counts what is copied."""

    def __init__(self, engine: Engine, graph: FunctionGraph, request: Request) -> None:
        super().__init__(engine, graph, request, self._run)
        self._device, self.traffic = device(), Traffic()
        self.steps = steps_of(graph, self._device)
        self._constants: dict[Variable, OnDevice] = {}
        self._last = _last_uses(graph, self.steps)
        launches = dict.fromkeys(step.source for step in self.steps if isinstance(step, Launch))
        self.source = "\n".join(("/*", *_listed(graph, self.steps), "*/", *launches))
        self.c_file = CFile(self.source, ())

    @property
    def hosted(self) -> list[tuple[Apply, str]]:
        """The nodes that NumPy runs, each with the reason."""
        return [(step.node, step.reason) for step in self.steps if isinstance(step, Host)]

    def _run(self, *arrays: np.ndarray) -> list[np.ndarray]:
        with self._device.lock:
            values = Values(self._device, self.traffic, self._constants)
            values.know(dict(zip(self.graph.inputs, arrays)))
            for step, unused in zip(self.steps, self._last):
                run_step(step, values, self.name)
                for variable in unused:
                    values.drop(variable)
            return [values.on_host(output) for output in self.graph.outputs]


def _last_uses(graph: FunctionGraph, steps: tuple[Step, ...]) -> list[list[Variable]]:
    """For each step the variables that nothing reads after it."""
    seen = set(graph.outputs)
    found = []
    for step in reversed(steps):
        own = dict.fromkeys(v for v in (*reads(step), *step.node.outputs) if v not in seen)
        seen.update(own)
        found.append(list(own))
    return found[::-1]


def _listed(graph: FunctionGraph, steps: tuple[Step, ...]) -> Iterator[str]:
    """The steps as text, with the copies between host and device."""
    names, on_device, on_host = Names(), set[Variable](), set(graph.inputs)
    for step in steps:
        if isinstance(step, Results):
            for o, i in zip(step.node.outputs, step.inner):
                yield f"result: {names[o]} = {names[i]}"
                (on_device if i in on_device else on_host).add(o)
            continue
        side = "host" if isinstance(step, Host) else "device"
        here = on_host if isinstance(step, Host) else on_device
        for i in dict.fromkeys(step.node.inputs):
            if i not in here and not (isinstance(step, Host) and isinstance(i, Constant)):
                yield f"copy to the {side}: {names[i]}, {i.type}"
                here.add(i)
        results = ", ".join(names[o] for o in step.node.outputs)
        operands = ", ".join(names[i] for i in step.node.inputs)
        yield f"{type(step).__name__.lower()}: {results} = {step.node.op.name}({operands})"
        here.update(step.node.outputs)
    for output in dict.fromkeys(graph.outputs):
        if output in on_device and output not in on_host:
            yield f"copy to the host: {names[output]}, {output.type}"
