"""Modes that look at each step of a call: `NanGuardMode`, `MonitorMode`.

Both are engines of their own: the optimized graph runs node by node in NumPy, and a function of Python sees each node
before and after it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from ....engines import CheckedExecutable, Engine, Request, names, register
from ....function.mode import Mode as CoreMode
from ....graph import Apply, Constant, FunctionGraph
from ....ops.control.laziness import made_lazy
from ....ops.core.interpret import evaluate_node
from ..flags import config
from ..tensors.variables import wrap
from .modes import MADE, our_optimizer

Watch = Callable[[int, Apply, list[Any], list[Any]], None]
"""Position, node, cells of its inputs, cells of its outputs (None before it runs)."""
BIG = 1e10
"""Numbers above it are big, for NanGuardMode."""
_numbers = count()


class Watching(Engine):
    """NumPy, node by node, with a function called before each node and one after it."""

    own_errors = (Exception,)

    def __init__(self, name: str, before: Watch | None, after: Watch | None) -> None:
        self.name, self.before, self.after = name, before, after

    def compile(self, graph: FunctionGraph, request: Request) -> CheckedExecutable:
        lazy = made_lazy(graph)
        return CheckedExecutable(self, lazy, request, partial(self.run, lazy, request.name))

    def run(self, graph: FunctionGraph, name: str, *arrays: np.ndarray) -> list[Any]:
        """The outputs of a graph for arrays of its inputs."""
        known: dict[Any, Any] = dict(zip(graph.inputs, arrays, strict=True))
        for position, node in enumerate(graph.order):
            inputs = [i.data if isinstance(i, Constant) else known[i] for i in node.inputs]
            given: list[Any] = [[v] for v in inputs]
            results: list[Any] = [[None] for _ in node.outputs]
            if self.before is not None:
                self.before(position, node, given, results)
            for cell, value in zip(results, evaluate_node(node, inputs, name), strict=True):
                cell[:] = [value]
            if self.after is not None:
                self.after(position, node, given, results)
            known.update(zip(node.outputs, (np.asarray(cell[0]) for cell in results), strict=True))
        return [np.array(o.data if isinstance(o, Constant) else known[o], order="C") for o in graph.outputs]


class Step:
    """The compiled step that a monitor is given: cells of its inputs and outputs."""

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.inputs: Sequence[Any] = inputs
        self.outputs: Sequence[Any] = outputs


def _as_watch(function: Callable[[int, Any, Step], Any] | None) -> Watch | None:
    """A monitor of Theano's form as ours."""
    if function is None:
        return None

    def watch(position: int, node: Apply, inputs: list[Any], outputs: list[Any]) -> None:
        function(position, wrap(node.outputs[0]).owner, Step(inputs, outputs))

    return watch


def MonitorMode(
    pre_func: Callable[..., Any] | None = None, post_func: Callable[..., Any] | None = None,
    optimizer: Any = "default", linker: Any = None,
) -> CoreMode:  # fmt: skip
    """The mode that calls `pre_func(i, node, fn)` before each step and `post_func(i, node, fn)` after it.

    `fn.inputs` and `fn.outputs` are lists of cells: `fn.outputs[0][0]` is the first result.
    """
    engine = register(Watching(f"theano-monitor-{next(_numbers)}", _as_watch(pre_func), _as_watch(post_func)))
    return CoreMode(our_optimizer(optimizer), backend=engine.name)


def NanGuardMode(
    nan_is_error: bool | None = None, inf_is_error: bool | None = None, big_is_error: bool | None = None,
    optimizer: Any = "default", linker: Any = None,
) -> CoreMode:  # fmt: skip
    """The mode that raises AssertionError for a step with a NaN, an Inf or a number over 1e10."""
    asked = {"nan": nan_is_error, "inf": inf_is_error, "big": big_is_error}
    chosen = [kind for kind, message in asked.items()
              if (getattr(config.NanGuardMode, f"{kind}_is_error") if message is None else message)]  # fmt: skip
    name = "-".join(["theano-guard", *chosen])
    if name not in names():
        watch = partial(_guard, chosen)
        register(Watching(name, None, watch))
    return CoreMode(our_optimizer(optimizer), backend=name)


MADE["NanGuardMode"] = NanGuardMode
TESTS: dict[str, tuple[str, Callable[[np.ndarray], Any]]] = {
    "nan": ("NaN", np.isnan),
    "inf": ("Inf", np.isinf),
    "big": ("A number over 1e10", lambda values: np.abs(values) > BIG),
}
"""Faults that a guard finds: name in messages, and test."""


def _guard(kinds: Sequence[str], position: int, node: Apply, inputs: list[Any], outputs: list[Any]) -> None:
    """Raises AssertionError for the first value of a step that is none of the numbers wanted."""
    for role, cells in (("an input", inputs), ("an output", outputs)):
        for number, (value,) in enumerate(cells):
            found = _fault(kinds, value)
            if found:
                where = f"\n  at {node.origin[0]}" if node.origin else ""
                raise AssertionError(f"{found} in {role} ({number}) of {node.op.name}: {value}{where}")


def _fault(kinds: Sequence[str], value: Any) -> str:
    if getattr(value, "dtype", np.dtype("O")).kind not in "fc" or not value.size:
        return ""
    with np.errstate(invalid="ignore"):
        return next((TESTS[kind][0] for kind in kinds if TESTS[kind][1](value).any()), "")
