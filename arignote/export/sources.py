"""The graph to be exported, for writers of other formats: of a function, a graph or expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..function.compiled import Function
from ..graph import Constant, FunctionGraph, Variable
from ..graph.walk import leaves
from ..ops.core.shared import SharedVariable


def graph_of_source(
    source: Any, inputs: Sequence[Variable] | None, writer: str
) -> tuple[str, FunctionGraph, Sequence[str]]:
    """Return name, unoptimized graph and names of outputs of a function, a FunctionGraph, an expression, list or dict.

    `inputs`: the inputs of expressions, in order; None: all variables that they read.  The graph of expressions has the
    shared variables that they read as further inputs.  Raises TypeError, naming the `writer`, for anything else.
    """
    source = function_of(source)
    if isinstance(source, Function):
        return source.name, source.unoptimized_graph, source.compilation.signature.keys
    if isinstance(source, FunctionGraph):
        return "graph", source, ()
    named = source if isinstance(source, dict) else {}
    values = list(source.values()) if named else list(source) if isinstance(source, (list, tuple)) else [source]
    if not values or not all(isinstance(v, Variable) for v in values):
        raise TypeError(f"{writer}: expected a function, expressions or a FunctionGraph, got {type(source).__name__}")
    given = list(inputs) if inputs is not None else [v for v in leaves(values) if _is_input(v)]
    return "expressions", graph_over(given, values), list(named)


def function_of(source: Any) -> Any:
    """Return the function of a model, such as `ag.from_onnx` reads; anything else as it is.

    Raises TypeError for a model with sequences or dtypes of few bits, whose function converts its arguments.
    """
    convert = getattr(source, "as_function", None)
    return source if convert is None or isinstance(source, (Function, Variable)) else convert()


def _is_input(variable: Variable) -> bool:
    return not isinstance(variable, (Constant, SharedVariable))


def graph_over(inputs: Sequence[Variable], outputs: Sequence[Variable]) -> FunctionGraph:
    """Return a graph whose further inputs are the shared variables that it reads."""
    own = [v for v in leaves(outputs) if isinstance(v, SharedVariable)]
    return FunctionGraph([*inputs, *(v for v in own if v not in inputs)], list(outputs))


def output_names(graph: FunctionGraph, keys: Sequence[str]) -> list[str]:
    """Names of outputs: their keys, their own, or numbers; updates after the variables that they change."""
    count = len(graph.outputs) - len(graph.updates)
    named = [keys[k] if k < len(keys) else graph.outputs[k].name or f"output_{k}" for k in range(count)]
    changed = {o: graph.inputs[i].name or f"input_{i}" for i, o in graph.updates}
    return named + [f"{changed[k]}_next" for k in range(count, len(graph.outputs))]
