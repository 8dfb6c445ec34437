"""The interpreter of the steps of a program on a device."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...cbackend.kernels.memory.spec import COPY
from ...cbackend.program import program as prog
from ...cbackend.program.arithmetic import computed, holds
from ...ops.core.interpret import evaluate_node
from .loops import run_loop
from .moves import Moving, SumToKernel
from .schedule import TO_PLACES, Section
from .values import Unplanned, Values


def run_steps(values: Values, name: str) -> None:
    """Run all steps of a program; a value is dropped after its last use.

    Raises Unplanned for lengths or indices that do not fit; NumPy names the error.
    """
    rows, values.call.rows = values.call.rows, None
    for number, section in enumerate(values.schedule.sections):
        if rows is None:
            _run_section(section, values, name)
        else:
            values.call.body_rows = rows.bodies.get(number)
            rows.measure(number, section, values, partial(_run_section, section, values, name))
            values.call.body_rows = None
        for memory in section.unused:
            values.drop(memory)


def _run_section(section: Section, values: Values, name: str) -> None:
    if isinstance(section.placement.kernel, Moving):
        _run_moves(section.placement.kernel, section, values, name)
        return
    for step in section.steps:
        _RUN[type(step)](step, section, values, name)


def _run_moves(kernel: Moving, section: Section, values: Values, name: str) -> None:
    """Run copies and the kernel between them; NumPy runs the node if it is small, or the kernel leaves it."""
    call = values.call
    is_hosted = False
    for step in section.steps:
        if not isinstance(step, prog.Call):
            _RUN[type(step)](step, section, values, name)
        elif not is_hosted:
            is_hosted = _is_small(kernel, section.operands, values)
            if not is_hosted:
                target = values.target(step.writes[0], section.results)
                if step.function == COPY.name:
                    values.schedule.copies.copy(target, values.on_device(step.reads[0]), call)
                else:
                    is_hosted = not kernel.call(step, target, values)
            if is_hosted:
                _run_by_numpy(section, section.operands, values, name)


def _compute(step: prog.Compute, section: Section, values: Values, name: str) -> None:
    found = computed(step, values.numbers)
    if found is None:
        raise Unplanned
    values.numbers[step.result] = found


def _guard(step: prog.Guard, section: Section, values: Values, name: str) -> None:
    if not holds(step, values.numbers):
        raise Unplanned


def _read(step: prog.Read, section: Section, values: Values, name: str) -> None:
    values.numbers[step.result] = int(values.on_host(step.array))


def _pack(step: prog.Pack, section: Section, values: Values, name: str) -> None:
    values.pack(step, partial(values.schedule.copies.copied, call=values.call))


def _run_node(step: prog.Call | prog.Host, section: Section, values: Values, name: str) -> None:
    """Run a node by its kernel; by NumPy if it has none, is small or empty, or NumPy must report an error."""
    kernel = section.placement.kernel
    made = None if kernel is None else _launched(kernel, step.reads, section.results, values)
    if made is not None:
        for result, array in zip(section.results, made, strict=True):
            values.made(result, array)
        return
    _run_by_numpy(section, step.reads, values, name)
    if kernel is None and values.call.recorder is not None and all(map(values.is_steady, step.reads)):
        values.steady.update(result.base for result in section.results)


def _run_by_numpy(section: Section, operands: tuple[prog.Array, ...], values: Values, name: str) -> None:
    found = evaluate_node(section.placement.node, [values.on_host(a) for a in operands], name)
    for result, value in zip(section.results, found, strict=True):
        values.know_result(result, value)


def _is_small(kernel: Any, operands: tuple[prog.Array, ...], values: Values) -> bool:
    """Whether NumPy runs a node, as all nodes so far are small."""
    call = values.call
    return bool(call.small) and call.leaves_to_host(kernel.work([_Shaped(values.shape(a)) for a in operands]))


def _launched(kernel: Any, reads: tuple[prog.Array, ...], results: tuple[prog.Array, ...], values: Values) -> Any:
    """Return the results of a kernel; None if NumPy must run the node."""
    if _is_small(kernel, reads, values):
        return None
    unread = kernel.unread if isinstance(kernel, SumToKernel) else ()
    given = [
        values.shape_only(a) if k in unread else values.on_host(a) if k in kernel.numbers else values.on_device(a)
        for k, a in enumerate(reads)
    ]
    if not values.places or not isinstance(kernel, TO_PLACES):
        return kernel.run(given, values.call)
    return kernel.run(given, values.call, [values.places.get(r.base) for r in results])


class _Shaped:
    """An array of which only the shape is known yet."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


_RUN: dict[type[Any], Any] = {
    prog.Allocate: lambda step, section, values, name: None,
    prog.Compute: _compute,
    prog.Guard: _guard,
    prog.Read: _read,
    prog.Fill: lambda step, section, values, name: values.fill(step),
    prog.Offset: lambda step, section, values, name: values.point(step),
    prog.Select: lambda step, section, values, name: values.point(step),
    prog.Pack: _pack,
    prog.Call: _run_node,
    prog.Host: _run_node,
    prog.Loop: lambda step, section, values, name: run_loop(step, section.results, values, name, run_steps),
}
"""The action of each step.  Others have none here: see schedule.py."""
