"""The interpreter of the steps of a graph."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...graph import Apply
from ...ops.core.interpret import evaluate_node
from ...ops.shapes.creation import Alloc
from ...ops.shapes.shape import Reshape
from .loops import run_loop
from .moves import SumToKernel
from .program import TO_PLACES, Body, Host, Launch, Length, Loop, Results, Scalar, Step, View
from .values import Values


def run_body(body: Body, values: Values, name: str) -> None:
    """Run all steps; a value is dropped after its last use."""
    rows, values.call.rows = values.call.rows, None  # the steps of a loop count as one row
    for number, (step, unused) in enumerate(zip(body.steps, body.last)):
        if rows is None:
            run_step(step, values, name)
        else:
            rows.measure(number, step, values, partial(run_step, step, values, name))
        for variable in unused:
            values.drop(variable)


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
        values.steady.update(node.outputs)
    elif isinstance(step, Launch):
        numbers = step.kernel.numbers
        unread = step.kernel.unread if isinstance(step.kernel, SumToKernel) else ()
        given = [
            values.anywhere(v) if k in unread else values.on_host(v) if k in numbers else values.on_device(v)
            for k, v in enumerate(node.inputs)
        ]
        is_small = values.call.leaves_to_host(step.kernel.work(given))
        places = [values.places.get(o) for o in node.outputs] if values.places else None
        if places is None or not isinstance(step.kernel, TO_PLACES):
            results = None if is_small else step.kernel.run(given, values.call)
        else:
            results = None if is_small else step.kernel.run(given, values.call, places)
        if results is None:  # a small node, an empty result, or an error that NumPy reports
            _on_host(node, values, name)
        else:
            values.made(node.outputs, results)
    elif not isinstance(step, Loop) or not run_loop(step, values, name, run_body):
        _on_host(node, values, name)
        if isinstance(step, (Host, Scalar)) and all(values.is_steady(i) for i in node.inputs):
            values.steady.update(node.outputs)


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
        made = None  # NumPy reports the error
    if made is None:
        _on_host(node, values, name)
    else:
        values.know_on_device(node.outputs, [made])
