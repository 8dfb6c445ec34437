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
from ..ops.linalg.blas import Dot, MatMul
from ..ops.networks.convolution import Convolution
from ..record import record
from . import calibration
from .calibration import SCHEMES, Observer
from .freezing import inference_parts
from .layerwise import Layerwise, as_calls, in_few_bits
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
    work = _Work(graph, as_calls("quantize", samples, variables), scheme, options, block if weights == "int4" else 0)
    kept = {work.number_of(name) for name in keep}
    if bias_correction:
        work.correct()
    kept = work.kept_for(goal, kept, form)
    final = in_few_bits(graph, work.plans, kept, "quantize", GraphEditor())
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

    @property
    def narrows(self) -> bool:
        return not self.block

    @property
    def serves_sums(self) -> bool:
        return True

    def product(self, x: Any, w: Any) -> Any:
        """Return the layer of a narrowed input, with the weights that the quantized ones represent."""
        y = self.node.op(x, self.widened())
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


class _Work(Layerwise):
    """Calibration, corrections and errors of one graph."""

    def __init__(
        self, graph: FunctionGraph, calls: Sequence[tuple[Any, ...]], scheme: str, options: dict[str, Any], block: int
    ) -> None:
        super().__init__("quantize", graph, calls, options)
        self.scheme, self.block = scheme, block
        nodes = layers_of(graph, products=bool(block))
        if not nodes:
            kinds = "product" if block else "convolution or product"
            raise ValueError(f"quantize: there is no {kinds} of float32 with constant weights")
        self.exact  # noqa: B018 - refuses samples that do not fit
        self.plans: list[LayerPlan] = self.planned(nodes)

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


def _name(nodes: Sequence[Apply], k: int) -> str:
    node = nodes[k]
    return node.inputs[1].name or node.op.name
