"""`ag.quantize`: an inference function with its products and convolutions in 8 bits.

    conv(x, w)   -->   conv(rounded(x), rounded(w)) + correction

Samples give the ranges.  A simulation with a switch for each layer gives their errors with one compilation.  Changes
pass through the graph editor.  `rounded` is a number of 8 bits times its scale: the arithmetic is float32.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ops as T
from ..export.sources import graph_over
from ..function.compiled import Function
from ..function.function import function
from ..function.rewriting import rewrite
from ..graph import Apply, Constant, FunctionGraph, GraphEditor, Variable
from ..ops.core.checks import shown
from ..ops.core.tensor import constant
from ..ops.elementwise.records import add
from ..ops.linalg.blas import Dot, MatMul
from ..ops.networks.convolution import Convolution
from ..ops.shapes.indexing import IncSubtensor
from ..optdb.rules.blocks.parts import is_padding
from ..optdb.rules.facts import is_number
from ..record import record
from ..record.cached import cached_property
from . import calibration
from .calibration import SCHEMES, Observer
from .freezing import inference_parts
from .quantized_layers import LayerRow, Layers


def quantize(
    source: Any, samples: Any, scheme: str = "minmax", *, outputs: Any = None, inputs: Any = None,
    keep: Collection[int | str] = (), goal: float | Callable[[Any], bool] | None = None, bias_correction: bool = True,
    weights: str = "int8", block: int = 32, **options: Any,
) -> Function:  # fmt: skip
    """Return the inference function of `source` with layers in 8 bits: an ordinary function, with a table in `.layers`.

    It multiplies integers of 8 bits and adds them in 32 bits; each sum is scaled once, in float32.

    A layer is a convolution, or a product with a matrix, of float32 with constant weights, after shared variables are
    frozen (`ag.freeze`) and normalizations folded.  Its input becomes uint8 with a scale and a zero point for all, its
    weights int8 with a scale for each output channel and no zero point.

    Args:
        source: a function, an expression, a list or dict of expressions, or a FunctionGraph.
        samples: arguments of typical calls: a list with an array a call, or a tuple of them for several inputs.
        scheme: how ranges of inputs follow from the samples: "minmax", "percentile" (all but 0.01 % of the values),
            "entropy" (least divergence of the histogram) or "mse" (least mean square error; of weights as well).
        outputs, inputs: as for `ag.freeze`.
        keep: numbers or names of layers that stay in float32.
        goal: the largest relative error of the results on the samples, or a function that is given the quantized
            function and says whether it is good enough.  Layers stay in float32, those with the largest error first,
            until it is met.
        bias_correction: add to each channel of a layer what quantization takes from its mean over the samples (Nagel
            and others, "Data-free quantization", 2019).
        weights: "int8", or "int4" for weights of 4 bits alone: two to a byte, with a scale for each `block` of them
            along the sum.  Layers are then products only, and their inputs stay float32.
        block: how many weights of 4 bits share a scale, a multiple of 8.
        options: arguments of `ag.function` that say how to compile.

    Raises:
        TypeError, ValueError: no samples, samples that do not fit the inputs or give NaN or infinities, no layers, an
            unknown scheme or layer, a goal that even float32 does not meet.
    """
    if scheme not in SCHEMES:
        raise ValueError(f"quantize: scheme is {shown(scheme)}; expected one of {', '.join(SCHEMES)}")
    if weights not in WEIGHTS:
        raise ValueError(f"quantize: weights is {shown(weights)}; expected one of {', '.join(WEIGHTS)}")
    if isinstance(block, bool) or not isinstance(block, int) or block <= 0 or block % 8:
        raise ValueError(f"quantize: block is {shown(block)}; expected a positive multiple of 8")
    variables, results, form, options = inference_parts(source, outputs, inputs, "quantized", options)
    graph = rewrite(graph_over(variables, results), "canonicalize")
    work = _Work(graph, _calls(samples, variables), scheme, options, block if weights == "int4" else 0)
    kept = {work.number_of(name) for name in keep}
    if bias_correction:
        work.correct()
    kept = work.kept_for(goal, kept, form)
    final = quantized(graph, work.plans, kept, GraphEditor())
    made = function(list(variables), form(list(final.outputs)), **options)
    made.layers = work.table(kept)
    return made


WEIGHTS = ("int8", "int4")


@record(eq=False)
class LayerPlan:
    """A layer with the numbers of its quantization."""

    node: Apply
    name: str
    low: float
    high: float
    scale: float
    zero_point: int
    weights: Any
    """int8, as an array; of 4 bits if there are blocks."""
    weight_scales: Any
    axis: int
    """The axis of output channels in the weights."""
    correction: Any = None
    """A number to add to each channel of the result."""
    block: int = 0
    """How many weights of 4 bits share a scale along the sum; 0 for 8 bits, in which the input is too."""

    @property
    def out_axis(self) -> int:
        return 1 if isinstance(self.node.op, Convolution) else self.node.out.ndim - 1

    def narrowed(self, x: Any) -> Any:
        """Return the input rounded to the values that uint8 represents; unchanged for weights of 4 bits."""
        if self.block:
            return x
        return T.dequantize(T.quantize(x, self.scale, self.zero_point), self.scale, self.zero_point)

    def widened(self) -> Any:
        """Return the values that the quantized weights represent."""
        if self.block:
            return T.dequantize(constant(self.weights), self.weight_scales, axis=0, block=self.block)
        scales = self.weight_scales.astype("float32").reshape(-1)
        if scales.size == 1:
            return T.dequantize(constant(self.weights), scales[0])
        return T.dequantize(constant(self.weights), scales, axis=self.axis)

    def applied(self, x: Any, w: Any) -> Any:
        y = self.node.op(x, w)
        if self.correction is None or not self.correction.any():
            return y
        return y + constant(self.correction.reshape([-1 if k == self.out_axis else 1 for k in range(y.ndim)]))


def layers_of(graph: FunctionGraph, products: bool = False) -> list[Apply]:
    """Return the convolutions and products of float32 with constant weights; `products`: only products."""
    return [
        node
        for node in graph.order
        if isinstance(node.op, (Dot, MatMul) if products else (Convolution, Dot, MatMul))
        and isinstance(node.inputs[1], Constant)
        and node.out.dtype == node.inputs[0].dtype == node.inputs[1].dtype == "float32"
        and (isinstance(node.op, Convolution) or node.inputs[1].ndim == 2)
    ]


def quantized(
    graph: FunctionGraph, plans: Sequence[LayerPlan], kept: Collection[int], editor: GraphEditor
) -> FunctionGraph:
    """Return the graph with operands rounded to 8 bits at all layers but those kept.

    A sum of such an operand and another value reads the rounded numbers too, so that the exact ones need not exist.
    """
    chosen = {plan.node: plan for k, plan in enumerate(plans) if k not in kept}
    taps = {_without_zeros(plan.node.inputs[0]): plan for plan in chosen.values()}
    narrow: dict[Variable, Any] = {}
    known: dict[Variable, Variable] = {}

    def narrowed(tap: Variable) -> Any:
        if tap not in narrow:
            narrow[tap] = taps[tap].narrowed(known.get(tap, tap))
        return narrow[tap]

    for node in graph.order:
        new, plan = node.over(known), chosen.get(node)
        if plan is not None:
            x = node.inputs[0]
            inner = _without_zeros(x)
            narrow_x = narrowed(inner) if inner is x else _amid(new.inputs[0].owner, narrowed(inner))
            made = plan.applied(narrow_x, plan.widened())
            if editor.admit("quantize", node.out, made):
                known[node.out] = made
            continue
        if node.op == add and any(i in taps for i in node.inputs) and len({i.type for i in node.inputs}) == 1:
            new = Apply(add, [narrowed(i) if i in taps else known.get(i, i) for i in node.inputs], node.origin)
        if new is not node:
            known.update(zip(node.outputs, new.outputs, strict=True))
    return FunctionGraph(graph.inputs, [known.get(o, o) for o in graph.outputs])


def _without_zeros(x: Variable) -> Variable:
    """Return the value that x pads with zeros along rows and columns, or x itself: 0 is a quantized value."""
    write = x.owner
    is_padded = write is not None and isinstance(write.op, IncSubtensor) and is_padding(write)
    return write.inputs[1] if is_padded and is_number(write.inputs[0].owner.inputs[0], 0) else x  # type: ignore[union-attr]


def _amid(write: Apply | None, value: Variable) -> Variable:
    """Return another value padded as `write` does."""
    assert write is not None
    return Apply(write.op, [write.inputs[0], value, *write.inputs[2:]], write.origin).out


class _Work:
    """Calibration, corrections and errors of one graph."""

    def __init__(
        self, graph: FunctionGraph, calls: Sequence[tuple[Any, ...]], scheme: str, options: dict[str, Any], block: int
    ) -> None:
        self.graph, self.calls, self.scheme, self.block = graph, calls, scheme, block
        self.options = {k: v for k, v in options.items() if k in ("threads", "target", "mode")}
        nodes = layers_of(graph, products=bool(block))
        if not nodes:
            kinds = "product" if block else "convolution or product"
            raise ValueError(f"quantize: there is no {kinds} of float32 with constant weights")
        self.exact = self.run("exact", list(graph.outputs))
        self.plans = self.planned(nodes)
        self._simulation: Function | None = None

    def compiled(self, name: str, outputs: Sequence[Any], more: Sequence[Any] = ()) -> Function:
        variables = [*self.graph.inputs, *more]
        return function(variables, list(outputs), name=f"quantize {name}", on_unused_input="ignore", **self.options)

    def run(self, name: str, outputs: Sequence[Any]) -> list[list[np.ndarray]]:
        """The outputs for each sample.  Raises TypeError or ValueError, with the number of the sample."""
        f, found = self.compiled(name, outputs), []
        for number, call in enumerate(self.calls):
            try:
                found.append(f(*call))
            except (TypeError, ValueError) as error:
                kind = TypeError if isinstance(error, TypeError) else ValueError
                raise kind(f"quantize: sample {number} does not fit: {error}") from None
        return found

    # --- ranges
    def planned(self, nodes: Sequence[Apply]) -> list[LayerPlan]:
        """The layers with ranges from the samples, and weights in 8 bits."""
        taps = list(dict.fromkeys(node.inputs[0] for node in nodes))
        values = self.run("ranges", taps)
        observers = {tap: Observer() for tap in taps}
        for number, arrays in enumerate(values):
            for tap, array in zip(taps, arrays, strict=True):
                self.require_finite(array, number, nodes, tap)
                observers[tap].see_range(array)
        for arrays in values:
            for tap, array in zip(taps, arrays, strict=True):
                observers[tap].see_values(array)
        if not any(array.size for arrays in values for array in arrays):
            raise ValueError("quantize: the samples hold no values; expected arrays with elements")
        return [self.plan(node, observers[node.inputs[0]]) for node in nodes]

    def require_finite(self, array: np.ndarray, number: int, nodes: Sequence[Apply], tap: Variable) -> None:
        if np.isfinite(array).all():
            return
        layer = next(k for k, node in enumerate(nodes) if node.inputs[0] is tap)
        what = "a NaN" if np.isnan(array).any() else "an infinity"
        raise ValueError(f"quantize: sample {number} gives {what} as input of layer {layer} ({_name(nodes, layer)})")

    def plan(self, node: Apply, observer: Observer) -> LayerPlan:
        low, high = calibration.range_of(observer.histogram, self.scheme)
        scale, zero_point = calibration.affine(low, high)
        w: Any = node.inputs[1]
        axis = 0 if isinstance(node.op, Convolution) else 1
        name = w.name or f"{node.op.name} {'x'.join(map(str, w.data.shape))}"
        if self.block:
            scales, narrow = calibration.nibbles_in_blocks(w.data, self.block, self.scheme)
            return LayerPlan(node, name, low, high, 1.0, 0, narrow, scales, axis, block=self.block)
        scales = calibration.weight_scales(w.data, axis, self.scheme)
        narrow = calibration.quantized_weights(w.data, scales, axis)
        return LayerPlan(node, name, low, high, scale, zero_point, narrow, scales, axis)

    def number_of(self, name: Any) -> int:
        """Return the number of a layer that is given by number or name."""
        names = [plan.name for plan in self.plans]
        if isinstance(name, str) and names.count(name) == 1:
            return names.index(name)
        if isinstance(name, (int, np.integer)) and not isinstance(name, bool) and 0 <= name < len(names):
            return int(name)
        told = ", ".join(f"{k} ({n})" for k, n in enumerate(names))
        raise ValueError(f"quantize: keep has {shown(name)}; expected numbers or names of layers: {told}")

    # --- corrections
    def correct(self) -> None:
        """Give each layer a correction for the mean error of quantization in each channel."""
        changes: list[Any] = []
        for plan in self.plans:
            x, w = plan.node.inputs
            others = [k for k in range(plan.node.out.ndim) if k != plan.out_axis]
            lost = plan.node.op(x, w) - plan.node.op(plan.narrowed(x), plan.widened())
            changes += [T.sum(lost, axis=others), T.shape(lost)]
        found = self.run("corrections", changes)
        for k, plan in enumerate(self.plans):
            sums, shapes = ([arrays[2 * k + part] for arrays in found] for part in (0, 1))
            count = sum(int(np.prod(shape)) // plan.weights.shape[plan.axis] for shape in shapes)
            mean = np.sum(sums, axis=0, dtype="float64") / max(count, 1)
            self.plans[k] = replace(plan, correction=mean.astype("float32"))

    # --- errors
    def simulated(self, narrow: Collection[int]) -> Callable[..., Any]:
        """The results with some layers in 8 bits, as a function of the inputs."""
        if self._simulation is None:
            flags = T.vector("flags", "bool")
            known: dict[Variable, Variable] = {}
            places = {plan.node: k for k, plan in enumerate(self.plans)}
            for node in self.graph.order:
                new, k = node.over(known), places.get(node)
                if k is not None:
                    plan, (x, w) = self.plans[k], new.inputs
                    both = plan.applied(plan.narrowed(x), plan.widened()), plan.node.op(x, w)
                    known[node.out] = T.switch(flags[k], *both)
                elif new is not node:
                    known.update(zip(node.outputs, new.outputs, strict=True))
            outputs = [known.get(o, o) for o in self.graph.outputs]
            self._simulation = self.compiled("simulation", outputs, [flags])
        f, chosen = self._simulation, np.isin(np.arange(len(self.plans)), list(narrow))
        return lambda *call: f(*call, chosen)

    def error(self, narrow: Collection[int]) -> float:
        """The relative error of the results with some layers in 8 bits."""
        f = self.simulated(narrow)
        found = [array for call in self.calls for array in f(*call)]
        return calibration.relative_error(found, [array for arrays in self.exact for array in arrays])

    @cached_property
    def errors(self) -> list[float]:
        """The sensitivity scan: the error with one layer in 8 bits, for each."""
        return [self.error([k]) for k in range(len(self.plans))]

    def kept_for(self, goal: Any, kept: set[int], form: Any) -> set[int]:
        """Return the layers that stay in float32 so that the goal is met."""
        if goal is None:
            return kept
        is_number = isinstance(goal, (int, float)) and not isinstance(goal, bool)
        if not callable(goal) and not (is_number and goal > 0):
            raise TypeError(f"quantize: goal is {shown(goal)}; expected a positive number or a function")
        order = sorted(range(len(self.plans)), key=self.errors.__getitem__, reverse=True)
        waiting = [k for k in order if k not in kept]
        while True:
            narrow = set(range(len(self.plans))) - kept
            if self.meets(goal, narrow, form):
                return kept
            if not waiting:
                raise ValueError("quantize: even with all layers in float32 the goal is not met")
            kept = kept | {waiting.pop(0)}

    def meets(self, goal: Any, narrow: set[int], form: Any) -> bool:
        if not callable(goal):
            return bool(self.error(narrow) <= goal)
        f = self.simulated(narrow)
        return bool(goal(lambda *call: form(f(*call))))

    # --- the table
    def table(self, kept: Collection[int]) -> Layers:
        rows = [
            LayerRow(
                k, plan.name, str(plan.node.origin[0]) if plan.node.origin else "", plan.low, plan.high, plan.scale,
                plan.zero_point, plan.weight_scales, error, k in kept, 4 if plan.block else 8,
            )
            for k, (plan, error) in enumerate(zip(self.plans, self.errors, strict=True))
        ]  # fmt: skip
        return Layers(rows, self.error(set(range(len(rows))) - set(kept)), self.alone)

    def alone(self, number: int, narrow: bool) -> tuple[Function, np.ndarray]:
        """A layer as a function of its input, and this input for the first sample."""
        plan = self.plans[number]
        x, w = plan.node.inputs
        leaf = T.TensorVariable(x.type, name="x")
        y = plan.applied(plan.narrowed(leaf), plan.widened()) if narrow else plan.node.op(leaf, w)
        f = function([leaf], y, name=f"layer {number}", **self.options)
        (value,) = self.compiled("input", [x])(*self.calls[0])
        return f, value


def _name(nodes: Sequence[Apply], k: int) -> str:
    node = nodes[k]
    return node.inputs[1].name or node.op.name


def _calls(samples: Any, variables: Sequence[Variable]) -> list[tuple[Any, ...]]:
    """Return the arguments of each call.  Raises TypeError or ValueError for anything but a list of them."""
    if isinstance(samples, (np.ndarray, str, dict)) or not hasattr(samples, "__iter__"):
        raise TypeError(
            f"quantize: samples is {type(samples).__name__}; expected a list with the arguments of a call each, as [x]"
        )
    calls = [call if isinstance(call, tuple) else (call,) for call in samples]
    if not calls:
        raise ValueError("quantize: samples is empty; expected the arguments of one call at least")
    for number, call in enumerate(calls):
        if len(call) != len(variables):
            names = ", ".join(v.name or "_" for v in variables)
            raise TypeError(f"quantize: sample {number} has {len(call)} arguments, expected {len(variables)}: {names}")
    return calls
