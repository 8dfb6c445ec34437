"""`ag.to_onnx`: expressions and functions as ONNX models."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ....export.sources import graph_of_source, graph_over, output_names
from ....function.rewriting import rewrite
from ....graph import FunctionGraph, Variable, dims_of, leaves, rebuild
from ....graph.dims import Symbol
from ....ops.core.shared import SharedVariable
from ....ops.core.tensor import TensorVariable
from ..model import OnnxModel
from ..reading.edges import EdgeFunction
from ..reading.loading import nodes_of
from ..reading.node import OnnxError
from ..reading.values import NUMBER_OF
from . import arrays, control, elementwise, indexing, quantized  # noqa: F401  (they register themselves)
from .writer import VERSION, Writer

OPTIMIZED = "fast_run -fusion -inplace -blas_c -layout -attention -sparse -bfloat16"
"""The optimizers that run before a graph is written as `optimized`."""
IR_VERSION = 10
"""The version of the file format that belongs to the op set."""


def to_onnx(
    source: Any, path: str | os.PathLike[str] | None = None, optimized: bool = False,
    inputs: Sequence[Variable] | None = None,
) -> Any:  # fmt: skip
    """The ONNX model (an `onnx.ModelProto`) of a function or of expressions.

    Args:
        source: a function, a FunctionGraph, a model of `from_onnx`, an expression, or a list or dict of expressions.
        path: a file that it is written to.
        optimized: whether the graph is optimized first; no ops are fused, since ONNX has no fused ops.
        inputs: the inputs of expressions, in order; else all variables that they read.

    Shared variables become initializers with their present values.  An update becomes a further output, named after the
    variable with "_next".  Unknown lengths become named axes; lengths that are equal in every call share a name.

    Raises:
        OnnxError: a ValueError that names all ops that ONNX lacks and the lines that they come from.
        ImportError: the package `onnx` is not installed.
    """
    name, graph, keys = _graph_of(source, inputs)
    if optimized:
        graph = rewrite(graph, OPTIMIZED)
    writer = Writer()
    model = _written(writer, name, graph, keys)
    if path is not None:
        Path(path).write_bytes(model.SerializeToString())
    return model


def model_of(name: str, graph: FunctionGraph) -> Any:
    """The model of a graph whose inputs are all arguments of a call, named i0, i1, ... and its outputs o0, o1, ...

    It has the inputs that are read: others may have dtypes that no model takes.
    """
    plain: dict[Variable, Variable] = {i: TensorVariable(i.type, name=f"i{k}") for k, i in enumerate(graph.inputs)}
    outputs = rebuild(graph.outputs, plain)
    read = set(leaves(outputs))
    inputs = [i for i in plain.values() if i in read]
    return _written(Writer(), name, FunctionGraph(inputs, outputs), [f"o{k}" for k in range(len(outputs))])


def _graph_of(source: Any, inputs: Sequence[Variable] | None) -> tuple[str, FunctionGraph, Sequence[str]]:
    """The name of the model, its graph, and the names of its outputs."""
    if isinstance(source, EdgeFunction) or (isinstance(source, OnnxModel) and source.is_wide):
        raise OnnxError("to_onnx: models with sequences or dtypes of few bits cannot be written")
    if isinstance(source, OnnxModel):
        outputs: Any = source.outputs
        return source.name, graph_over(list(source.inputs.values()), list(outputs.values())), list(outputs)
    return graph_of_source(source, inputs, "to_onnx")


def _written(w: Writer, name: str, graph: FunctionGraph, keys: Sequence[str]) -> Any:
    infos, axes = [], _Axes()
    for k, variable in enumerate(graph.inputs):
        wanted = variable.name or f"input_{k}"
        if isinstance(variable, SharedVariable):
            array = np.asarray(variable.get_value())
            w.names[variable] = w.add_initializer(array, wanted)
            axes.know(variable, array.shape)
            continue
        w.names[variable] = w.name(wanted)
        _refuse_complex(variable)
        infos.append(w.info(w.names[variable], variable.type, axes.of_input(variable, w.names[variable])))
    results = []
    for variable, wanted in zip(graph.outputs, output_names(graph, keys), strict=True):
        _refuse_complex(variable)
        found, output = w.value(variable), w.name(wanted)
        w.nodes.append(w.onnx.helper.make_node("Identity", [found], [output]))
        results.append(w.info(output, variable.type, axes.of_output(variable)))
    if w.missing:
        described = "; ".join(f"{op}{f' ({lines[0]})' if lines else ''}" for op, lines in w.missing.items())
        raise OnnxError(f"to_onnx: ONNX has no op for {described}")
    helper = w.onnx.helper
    made = helper.make_graph(w.nodes, name, infos, results)
    read = {name for node in nodes_of(made) for name in node.input}
    made.initializer.extend(t for t in w.initializers if t.name in read)
    opsets = [helper.make_opsetid("", VERSION)]
    return helper.make_model(made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="arignote")


def _refuse_complex(variable: Variable) -> None:
    if variable.dtype not in NUMBER_OF or variable.type.kind == "c":
        raise OnnxError(f"to_onnx: {variable} of {variable.dtype} cannot be an input or output of an ONNX model")


class _Axes:
    """Names of unknown lengths: one for each length of an input, reused by outputs of equal length."""

    def __init__(self) -> None:
        self._names: dict[Symbol, str | int] = {}

    def know(self, variable: Variable, shape: Sequence[int]) -> None:
        """Record the lengths of an initializer as those of its variable."""
        self._names.update((dim, n) for dim, n in zip(dims_of(variable), shape) if isinstance(dim, Symbol))

    def of_input(self, variable: Variable, name: str) -> list[Any]:
        found: list[Any] = []
        for axis, dim in enumerate(dims_of(variable)):
            if isinstance(dim, Symbol):
                self._names.setdefault(dim, f"{name}_{axis}")
            found.append(self._names[dim] if isinstance(dim, Symbol) else dim)
        return found

    def of_output(self, variable: Variable) -> list[Any]:
        dims = dims_of(variable)
        return [self._names.get(d) if isinstance(d, Symbol) else d for d in dims]
