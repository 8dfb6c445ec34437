"""`ag.freeze(f, compute="bfloat16")`: products and convolutions of numbers of 16 bits.

    conv(x, w)   -->   conv(rounded(x), rounded(w))

`rounded` is the nearest number of the format, as float32; sums stay float32.  So the value is the same on all machines
but for the order of sums.  Rules of the target choose kernels that multiply 16 bits (optdb/rules/quantized/bfloats.py).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..function.compiled import Function
from ..function.function import default_mode, function
from ..function.mode import as_mode
from ..graph import Apply, Constant, FunctionGraph, GraphEditor, Variable
from ..ops.core.checks import shown
from ..ops.elementwise.records import mul
from ..ops.linalg.blas import MatMul
from ..ops.networks.convolution import Convolution
from ..optdb.rules.blocks.parts import without_zeros
from ..optdb.rules.facts import producer
from ..optdb.rules.quantized.narrow import FORMATS, LAYERS, Narrow, has_shares, is_layer
from ..record import record
from .layerwise import Layerwise, as_calls, in_few_bits
from .quantized_layers import Layers


@record(eq=False)
class NarrowLayer:
    """A layer in 16 bits, or the reason why it is `kept` in float32."""

    node: Apply
    name: str
    form: Narrow
    kept: str = ""

    @property
    def narrows(self) -> bool:
        """Whether the first operand is rounded: shares of attention are not."""
        return not has_shares(self.node)

    @property
    def serves_sums(self) -> bool:
        """Whether images of the first operand have 16 bits alone: the residuals of products stay in float32."""
        return isinstance(self.node.op, Convolution)

    def narrowed(self, x: Any) -> Any:
        """Return the first operand rounded."""
        return self.form.rounded(x) if self.narrows else x

    def product(self, x: Any, w: Any) -> Any:
        """Return the layer of a rounded operand, with the second one rounded."""
        return self.node.op(x, self.form.rounded(w))


@record(eq=False)
class NarrowRow:
    """One product or convolution: its error in 16 bits, and the reason if it stays in float32."""

    number: int
    name: str
    line: str
    """The user's line that built it."""
    error: float
    """The relative error of the results if this layer alone is in 16 bits; NaN without samples."""
    why: str
    """The reason why it stays in float32; empty if it does not."""

    @property
    def kept(self) -> bool:
        return bool(self.why)


class NarrowLayers(Layers):
    """The layers in the order in which they run, with the error of all results beside float32 on the samples."""

    def __init__(self, rows: Sequence[Any], error: float, build: Any, form: str) -> None:
        super().__init__(rows, error, build)
        self.form = form

    @property
    def words(self) -> str:
        return self.form

    def _cells(self) -> Iterator[tuple[str, ...]]:
        head = ("layer", "name", "error", "computed in", "because")
        yield (*head, "float32", self.form) if self.times else head
        rows: Sequence[Any] = self._rows
        for row in rows:
            error = "" if np.isnan(row.error) else f"{row.error:.2e}"
            times = [f"{t * 1e6:.1f} us" for t in self.times.get(row.number, ())]
            yield (str(row.number), row.name, error, "float32" if row.kept else self.form, row.why, *times)


class _Work(Layerwise):
    """The layers of one graph, and their errors on the samples if there are any."""

    def __init__(
        self, graph: FunctionGraph, calls: Sequence[tuple[Any, ...]], form: Narrow, options: dict[str, Any]
    ) -> None:
        super().__init__("freeze", graph, calls, options)
        nodes = [node for node in graph.order if isinstance(node.op, LAYERS) and is_layer(node)]
        if not nodes:
            raise ValueError(f"freeze: compute={form.name!r}: there is no convolution or product of float32")
        self.plans: list[NarrowLayer] = [NarrowLayer(node, _name(node), form, _beyond(node, form)) for node in nodes]
        if calls:
            self.exact  # noqa: B018 - refuses samples that do not fit
            self.keep_overflowing(form)

    def keep_overflowing(self, form: Narrow) -> None:
        """Keep layers with an operand that overflows on a sample."""
        taps = {without_zeros(v): None for plan in self.plans for v in plan.node.inputs if not isinstance(v, Constant)}
        beyond: dict[Variable, int] = {}
        for number, arrays in enumerate(self.run("inputs", list(taps))):
            for tap, array in zip(taps, arrays, strict=True):
                if form.overflows(array):
                    beyond.setdefault(tap, number)
        for k, plan in enumerate(self.plans):
            found = [beyond[tap] for tap in map(without_zeros, plan.node.inputs) if tap in beyond]
            if found and not plan.kept:
                why = f"sample {found[0]} gives it a number beyond {form.largest:.5g}, the largest of {form.name}"
                self.plans[k] = replace(plan, kept=why)

    def keep(self, numbers: Collection[int], why: str) -> None:
        """Keep layers that are not kept yet."""
        for k in numbers:
            self.plans[k] = replace(self.plans[k], kept=self.plans[k].kept or why)

    @property
    def kept(self) -> set[int]:
        """The layers that stay in float32."""
        return {k for k, plan in enumerate(self.plans) if plan.kept}

    def table(self, found: Function, form: Narrow) -> NarrowLayers:
        """Return the table of layers; `found`: the function, whose results are compared with those in float32."""
        errors = self.errors if self.calls else [float("nan")] * len(self.plans)
        rows = [
            NarrowRow(k, plan.name, str(plan.node.origin[0]) if plan.node.origin else "", error, plan.kept)
            for k, (plan, error) in enumerate(zip(self.plans, errors, strict=True))
        ]
        error = self.error(set(range(len(rows))) - self.kept) if self.calls else float("nan")
        return NarrowLayers(rows, error, self.alone, form.name)


def computed_in(
    compute: Any, graph: FunctionGraph, given: Sequence[Any], form: Any, samples: Any, keep: Any, goal: Any,
    options: dict[str, Any],
) -> Function:  # fmt: skip
    """Return the function of a canonical graph with layers in a format of 16 bits; see `ag.freeze`.

    `given`: the inputs as the function takes them; `form`: gives a list of results the form of the outputs.
    """
    if compute not in FORMATS:
        raise ValueError(f"freeze: compute is {shown(compute)}; expected one of {', '.join(FORMATS)}, or None")
    if goal is not None and samples is None:
        raise ValueError("freeze: goal needs samples, on which errors are measured")
    narrow, graph = FORMATS[compute], with_factors_behind(graph)
    calls = [] if samples is None else as_calls("freeze", samples, graph.inputs)
    work = _Work(graph, calls, narrow, options)
    work.keep([work.number_of(name) for name in keep], "keep names it")
    work.keep(work.kept_for(goal, work.kept, form), "the goal is not met otherwise")
    final = in_few_bits(graph, work.plans, work.kept, f"compute_{compute}", GraphEditor())
    made = function(given, form(list(final.outputs)), **_with_pairs(compute, options))
    made.layers = work.table(made, narrow)
    return made


def with_factors_behind(graph: FunctionGraph) -> FunctionGraph:
    """Return a graph in which constant factors stand behind products of two values, such as scores of attention.

        matmul(x * 0.2, y)   -->   matmul(x, y) * 0.2

    What computes x then rounds it itself, and attention multiplies its scores anyway.
    """
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        new = node.over(known)
        if isinstance(node.op, MatMul) and not any(isinstance(i, Constant) for i in node.inputs):
            (x, first), (y, second) = map(_without_factor, new.inputs)
            if first is not None or second is not None:
                factors = [f for f in (first, second) if f is not None]
                known[node.out] = mul(node.op(x, y), *factors)
                continue
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return FunctionGraph(graph.inputs, [known.get(o, o) for o in graph.outputs]) if known else graph


def _without_factor(v: Variable) -> tuple[Variable, Variable | None]:
    """Return a value without its one constant scalar factor, and that factor; None if there is none."""
    made = producer(v, mul)
    factor = None if made is None else next((i for i in made.inputs if isinstance(i, Constant) and i.ndim == 0), None)
    if made is None or factor is None or factor.dtype != v.dtype or not np.isfinite(factor.data):
        return v, None
    others = [i for i in made.inputs if i is not factor]
    return (others[0] if len(others) == 1 else mul(*others)), factor


def _with_pairs(compute: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return options whose mode has the kernels for pairs of bfloat16 numbers, attention and functions too."""
    mode = default_mode() if options.get("mode") is None else as_mode(options["mode"])
    if compute != "bfloat16" or mode.optimizer is None:
        return options
    passes = "sums_of_bfloat16", "pairs_of_bfloat16", "attention_of_bfloat16", "functions_of_bfloat16"
    return {**options, "mode": mode.including(*passes)}


def _name(node: Apply) -> str:
    w = node.inputs[1]
    shape = "x".join("?" if n is None else str(n) for n in w.type.shape)
    return w.name or f"{node.op.name} {shape}"


def _beyond(node: Apply, form: Narrow) -> str:
    """Return the reason why constants of a layer cannot be in the format; empty if they can."""
    if not any(isinstance(v, Constant) and form.overflows(v.data) for v in node.inputs[:2]):
        return ""
    return f"its weights have numbers beyond {form.largest:.5g}, the largest of {form.name}"
