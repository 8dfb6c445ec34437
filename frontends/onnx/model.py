"""An ONNX model as it is given to users: `ag.from_onnx(path)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...function import function
from ...graph import FunctionGraph, TensorType, Variable
from ...ops.shared import shared
from ...ops.tensor import TensorVariable, constant
from ...record.cached import cached_property
from . import converters  # noqa: F401  # they register themselves
from .building import Builder
from .loading import OnnxError, load, versions_of
from .table import Converter
from .values import dtype_of


class OnnxModel:
    """A model: `inputs` and `outputs` are variables by name, `parameters` its weights by name.

    Called with arrays, by position or by name, it returns an array, or a list if there are several outputs.
    """

    def __init__(
        self, name: str, inputs: Mapping[str, Variable], outputs: Mapping[str, Any], parameters: Mapping[str, Variable]
    ) -> None:
        self.name = name
        self.inputs, self.outputs = dict(inputs), dict(outputs)
        self.parameters = dict(parameters)
        """Constants; shared variables if the model was read as `trainable`."""

    @property
    def graph(self) -> FunctionGraph:
        """The unoptimized graph."""
        return self._function.unoptimized_graph  # type: ignore[no-any-return]

    def function(self, **options: Any) -> Any:
        """The compiled function of the model; `options` are those of `ag.function`."""
        outputs = list(self.outputs.values())
        result = outputs[0] if len(outputs) == 1 else outputs
        how = {"name": self.name, "on_unused_input": "ignore", **options}
        return function(list(self.inputs.values()), result, **how)

    @cached_property
    def _function(self) -> Any:
        return self.function()

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        return self._function(*arrays, **named)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {v.type}" for name, v in self.inputs.items())
        return f"<ONNX model {self.name}({inputs}) -> {', '.join(self.outputs)}>"


def from_onnx(
    source: Any, trainable: bool = False, ops: Mapping[str, Converter] | None = None,
    shapes: Mapping[str, Sequence[int | None]] | None = None,
) -> OnnxModel:  # fmt: skip
    """The model in an ONNX file, as expressions.

    Args:
        source: a path, the bytes of a file, or an `onnx.ModelProto`.
        trainable: whether weights of floats become shared variables, which can be updated; else they are constants.
        ops: converters by the name of an op ("Relu", "my.domain.Op"): functions from a node and its operands, None
            for those left out, to a value, or a tuple of one an output.
        shapes: known lengths of inputs by name, None for a length that only the call tells, in the place of those that
            the model names.

    Raises:
        OnnxError: a ValueError that names the node, the operand, what was expected and what came.
        ImportError: the package `onnx` is not installed.

    Source of the format: the ONNX specification, op sets 7 to 28.
    """
    model, folder = load(source)
    graph = model.graph
    functions = {(f.domain, f.name): f for f in model.functions}
    builder = Builder(versions_of(model), functions, folder, dict(ops or {}))
    builder.refuse_unknown(graph)
    parameters: dict[str, Variable] = {}

    def made(name: str, array: np.ndarray) -> Variable:
        weight = trainable and array.dtype.kind == "f" and array.ndim > 0
        parameters[name] = shared(array, name=name, shape=array.shape) if weight else constant(array)
        return parameters[name]

    scope: dict[str, Any] = dict(builder.initializers(graph, made))
    inputs = {i.name: _input(i, (shapes or {}).get(i.name)) for i in graph.input if i.name not in scope}
    unknown = set(shapes or {}) - set(inputs)
    if unknown:
        raise OnnxError(f"shapes names {min(unknown)!r}; the inputs are {', '.join(inputs) or 'none'}")
    values = builder.run(graph, {**scope, **inputs})
    outputs = {o.name: value for o, value in zip(graph.output, values, strict=True)}
    return OnnxModel(graph.name or "model", inputs, outputs, parameters)


def _input(info: Any, given: Sequence[int | None] | None) -> Variable:
    """The variable of an input."""
    kind = info.type.WhichOneof("value")
    if kind != "tensor_type":
        raise OnnxError(f"input {info.name!r} is a {kind or 'value without a type'}; expected a tensor")
    tensor = info.type.tensor_type
    dtype = dtype_of(tensor.elem_type, lambda problem: OnnxError(f"input {info.name!r}: {problem}"))
    if not tensor.HasField("shape") and given is None:
        raise OnnxError(f"input {info.name!r} has no rank; say its lengths, as in shapes={{{info.name!r}: (None, 3)}}")
    named = [d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else None for d in tensor.shape.dim]
    lengths = tuple(named if given is None else given)
    if given is not None and tensor.HasField("shape") and len(lengths) != len(named):
        raise OnnxError(f"shapes gives {len(lengths)} lengths for the input {info.name!r}, which has {len(named)} axes")
    return TensorVariable(TensorType(dtype, lengths), name=info.name)
