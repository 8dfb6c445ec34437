"""Layers of an inference graph in few bits: their errors on samples, and the search for those that stay in float32.

A layer is a product or a convolution.  A simulation has a flag for each of them, so the sensitivity scan and the search
compile once.  `ag.quantize` and `ag.freeze(compute=...)` say what a layer in few bits is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import numpy as np

from .. import ops as T
from ..function.compiled import Function
from ..function.function import function
from ..graph import Apply, Constant, FunctionGraph, GraphEditor, Variable
from ..ops.core.checks import shown
from ..ops.elementwise.records import add
from ..optdb.rules.blocks.parts import amid, without_zeros
from ..record.cached import cached_property
from ..record.spelling import counted
from . import calibration


class Plan(Protocol):
    """A layer, and its value in few bits."""

    @property
    def node(self) -> Apply:
        """The layer in float32."""

    @property
    def name(self) -> str:
        """The name in tables."""

    @property
    def narrows(self) -> bool:
        """Whether `narrowed` changes the first operand."""

    @property
    def serves_sums(self) -> bool:
        """Whether sums of the first operand and another value read it in few bits too."""

    def narrowed(self, x: Any) -> Any:
        """Return the first operand in few bits, as float32."""

    def product(self, x: Any, w: Any) -> Any:
        """Return the value of the layer of a narrowed operand and of the second one in float32."""


class Layerwise:
    """Runs of one graph on samples, with some of its layers in few bits.  `who`: the name of the caller in errors."""

    plans: list[Any]

    def __init__(
        self, who: str, graph: FunctionGraph, calls: Sequence[tuple[Any, ...]], options: dict[str, Any]
    ) -> None:
        self.who: str = who
        self.graph: FunctionGraph = graph
        self.calls: Sequence[tuple[Any, ...]] = calls
        self.options: dict[str, Any] = {k: v for k, v in options.items() if k in ("threads", "target", "mode")}
        self._simulation: Function | None = None

    @cached_property
    def exact(self) -> list[list[np.ndarray]]:
        """The results in float32, for each sample."""
        return self.run("exact", list(self.graph.outputs))

    def compiled(self, name: str, outputs: Sequence[Any], more: Sequence[Any] = ()) -> Function:
        variables = [*self.graph.inputs, *more]
        return function(variables, list(outputs), name=f"{self.who} {name}", on_unused_input="ignore", **self.options)

    def run(self, name: str, outputs: Sequence[Any]) -> list[list[np.ndarray]]:
        """The outputs for each sample.  Raises TypeError or ValueError, with the number of the sample."""
        f, found = self.compiled(name, outputs), []
        for number, call in enumerate(self.calls):
            try:
                found.append(f(*call))
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"{self.who}: sample {number} does not fit: {error}") from None
        return found

    def number_of(self, name: Any) -> int:
        """Return the number of a layer that is given by number or name."""
        names = [plan.name for plan in self.plans]
        if isinstance(name, str) and names.count(name) == 1:
            return names.index(name)
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(names):
            return int(name)
        reported = ", ".join(f"{k} ({n})" for k, n in enumerate(names))
        raise ValueError(f"{self.who}: keep has {shown(name)}; expected numbers or names of layers: {reported}")

    # --- errors
    def simulated(self, narrow: Collection[int]) -> Callable[..., Any]:
        """The results with some layers in few bits, as a function of the inputs."""
        if self._simulation is None:
            flags = T.vector("flags", "bool")
            known: dict[Variable, Variable] = {}
            places = {plan.node: k for k, plan in enumerate(self.plans)}
            for node in self.graph.order:
                new, k = node.over(known), places.get(node)
                if k is not None:
                    plan, (x, w) = self.plans[k], new.inputs
                    known[node.out] = T.switch(flags[k], plan.product(plan.narrowed(x), w), plan.node.op(x, w))
                elif new is not node:
                    known.update(zip(node.outputs, new.outputs, strict=True))
            outputs = [known.get(o, o) for o in self.graph.outputs]
            self._simulation = self.compiled("simulation", outputs, [flags])
        f, chosen = self._simulation, np.isin(np.arange(len(self.plans)), list(narrow))
        return lambda *call: f(*call, chosen)

    def error(self, narrow: Collection[int]) -> float:
        """The relative error of the results with some layers in few bits."""
        f = self.simulated(narrow)
        found = [array for call in self.calls for array in f(*call)]
        return calibration.relative_error(found, [array for arrays in self.exact for array in arrays])

    @cached_property
    def errors(self) -> list[float]:
        """The sensitivity scan: the error with one layer in few bits, for each."""
        return [self.error([k]) for k in range(len(self.plans))]

    def kept_for(self, goal: Any, kept: set[int], form: Any) -> set[int]:
        """Return the layers that stay in float32 so that the goal is met."""
        if goal is None:
            return kept
        is_number = isinstance(goal, (int, float)) and not isinstance(goal, bool)
        if not callable(goal) and not (is_number and goal > 0):
            raise TypeError(f"{self.who}: goal is {shown(goal)}; expected a positive number or a function")
        order = sorted(range(len(self.plans)), key=self.errors.__getitem__, reverse=True)
        waiting = [k for k in order if k not in kept]
        while True:
            narrow = set(range(len(self.plans))) - kept
            if self.meets(goal, narrow, form):
                return kept
            if not waiting:
                raise ValueError(f"{self.who}: even with all layers in float32 the goal is not met")
            kept = kept | {waiting.pop(0)}

    def meets(self, goal: Any, narrow: set[int], form: Any) -> bool:
        if not callable(goal):
            return bool(self.error(narrow) <= goal)
        f = self.simulated(narrow)
        return bool(goal(lambda *call: form(f(*call))))

    def alone(self, number: int, narrow: bool) -> tuple[Function, list[np.ndarray]]:
        """A layer as a function of its inputs, and these inputs for the first sample."""
        plan = self.plans[number]
        taken = [v for v in plan.node.inputs if not isinstance(v, Constant)]
        leaves = {v: T.TensorVariable(v.type) for v in taken}
        x, w = (leaves.get(v, v) for v in plan.node.inputs)
        y = plan.product(plan.narrowed(x), w) if narrow else plan.node.op(x, w)
        f = function(list(leaves.values()), y, name=f"layer {number}", **self.options)
        return f, list(self.compiled("input", taken)(*self.calls[0]))


def in_few_bits(
    graph: FunctionGraph, plans: Sequence[Plan], kept: Collection[int], by: str, editor: GraphEditor
) -> FunctionGraph:
    """Return the graph with all layers in few bits but those kept; the journal has them under the name `by`.

    A sum of an operand that `serves_sums` and another value reads the rounded numbers, so that the exact ones need not
    exist.
    """
    chosen = {plan.node: plan for k, plan in enumerate(plans) if k not in kept}
    taps = {without_zeros(plan.node.inputs[0]): plan for plan in chosen.values() if plan.narrows}
    summed = {without_zeros(p.node.inputs[0]) for p in chosen.values() if p.narrows and p.serves_sums}
    narrow: dict[Variable, Any] = {}
    known: dict[Variable, Variable] = {}

    def narrowed(tap: Variable) -> Any:
        if tap not in narrow:
            narrow[tap] = taps[tap].narrowed(known.get(tap, tap))
        return narrow[tap]

    for node in graph.order:
        new, plan = node.over(known), chosen.get(node)
        if plan is not None:
            x, (narrow_x, w) = node.inputs[0], new.inputs
            inner = without_zeros(x)
            if plan.narrows:
                narrow_x = narrowed(inner) if inner is x else amid(narrow_x.owner, narrowed(inner))
            made = plan.product(narrow_x, w)
            if editor.admit(by, node.out, made):
                known[node.out] = made
            continue
        if node.op == add and any(i in summed for i in node.inputs) and len({i.type for i in node.inputs}) == 1:
            new = Apply(add, [narrowed(i) if i in summed else known.get(i, i) for i in node.inputs], node.origin)
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return FunctionGraph(graph.inputs, [known.get(o, o) for o in graph.outputs])


def as_calls(who: str, samples: Any, variables: Sequence[Variable]) -> list[tuple[Any, ...]]:
    """Return the arguments of each call.  Raises TypeError or ValueError for anything but a list of them."""
    if isinstance(samples, (np.ndarray, str, dict)) or not hasattr(samples, "__iter__"):
        raise TypeError(
            f"{who}: samples is {type(samples).__name__}; expected a list with the arguments of a call each, as [x]"
        )
    calls = [call if isinstance(call, tuple) else (call,) for call in samples]
    if not calls:
        raise ValueError(f"{who}: samples is empty; expected the arguments of one call at least")
    for number, call in enumerate(calls):
        if len(call) != len(variables):
            names = ", ".join(v.name or "_" for v in variables)
            raise TypeError(
                f"{who}: sample {number} has {counted(len(call), 'argument')}, expected {len(variables)}: {names}"
            )
    return calls
