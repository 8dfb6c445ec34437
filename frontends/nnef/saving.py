"""`ag.to_nnef`: functions and expressions as folders in the NNEF format."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...export.sources import graph_of_source, graph_over, output_names
from ...function.rewriting import rewrite
from ...graph import FunctionGraph, Variable
from ...ops.core.shared import SharedVariable
from . import write_elementwise, write_shapes, write_windows  # noqa: F401  # they register themselves
from .reading import NnefModel
from .table import NnefError
from .writing import KINDS, Writer, tensor_file

MOST_AXES = 8
"""Axes of a tensor file."""


def to_nnef(source: Any, folder: str | os.PathLike[str], inputs: Sequence[Variable] | None = None) -> str:
    """Write a function or expressions as an NNEF model, and return the text of its graph.

    Args:
        source: a function, a FunctionGraph, a model of `from_nnef`, an expression, or a list or dict of expressions.
        folder: the folder for `graph.nnef` and the files of its variables; it is made if it is not there.
        inputs: the inputs of expressions, in order; else all variables that they read.

    Values are float32, int64 or bool.  Shared variables become variables of the model with their present values.  An
    update becomes a further output, named after the variable with "_next".  A length that only the call tells is 0 in
    the shape of an input.  The graph is canonicalized first, which removes computed lengths.

    Raises:
        NnefError: a ValueError that names all ops that NNEF lacks and the lines that they come from.
    """
    if isinstance(source, NnefModel):
        graph = graph_over(list(source.inputs.values()), list(source.outputs.values()))
        text, tensors = _written(source.name, graph, list(source.outputs))
    else:
        text, tensors = _written(*graph_of_source(source, inputs, "to_nnef"))
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    (path / "graph.nnef").write_text(text)
    for label, array in tensors.items():
        (path / f"{label}.dat").write_bytes(tensor_file(array))
    return text


def _written(name: str, graph: FunctionGraph, keys: Sequence[str]) -> tuple[str, dict[str, np.ndarray]]:
    """The text of a graph, and its tensors by label."""
    names = output_names(graph, keys)
    graph = rewrite(graph, "canonicalize")
    w = Writer()
    results = [w.name(wanted) for wanted in names]
    given = [_input(w, variable, k) for k, variable in enumerate(graph.inputs)]
    for variable, result in zip(graph.outputs, results, strict=True):
        w.name_last(variable, result)
    if w.missing:
        told = "; ".join(f"{op}{f' ({lines[0]})' if lines else ''}" for op, lines in w.missing.items())
        raise NnefError(f"to_nnef: NNEF has no op for {told}")
    inputs = ", ".join(name for name in given if name)
    title = w.name(name)
    body = "\n".join(f"    {line}" for line in w.lines)
    return f"version 1.0;\n\ngraph {title}({inputs}) -> ({', '.join(results)})\n{{\n{body}\n}}\n", w.tensors


def _input(w: Writer, variable: Variable, number: int) -> str:
    """Write an input and return its name; a shared variable becomes a tensor and returns none."""
    if variable.dtype not in KINDS or variable.ndim > MOST_AXES:
        form = f"{', '.join(KINDS)} with at most {MOST_AXES} axes"
        raise NnefError(f"to_nnef: input {variable}, expected {form}")
    wanted = variable.name or f"input_{number}"
    if isinstance(variable, SharedVariable):
        w.names[variable] = w.tensor(np.asarray(variable.get_value()), wanted)
        return ""
    shape = [n or 0 for n in variable.type.shape]
    if 0 in variable.type.shape:
        raise NnefError(f"to_nnef: input {variable}, expected lengths of 1 and more")
    w.names[variable] = w.line(w.name(wanted), "external", kind=KINDS[variable.dtype], shape=shape)
    return w.names[variable]
