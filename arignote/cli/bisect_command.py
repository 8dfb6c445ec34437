"""`python -m arignote bisect graph.txt --inputs arrays.npz`: the first wrong rewrite of a graph in a file.

The exit code is 0 if all rewrites and the C are right, 1 if one is wrong, 2 if the search cannot begin.
"""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Mapping

import numpy as np

from ..explain.bisect import bisect
from ..function.function import function
from ..graph import FunctionGraph
from .opt_command import graph_in

LENGTH = 5
"""Length of axes of unknown length in random inputs."""


def main(source: str, inputs: str | None, mode: str | None, exact: bool) -> int:
    """Looks for the first rewrite that changes the results of a graph in a file; the exit code."""
    try:
        graph = graph_in(source)
        arrays = _drawn(graph) if inputs is None else _read(graph, inputs)
        compiled = function(list(graph.inputs), list(graph.outputs), mode=mode, on_unused_input="ignore")
        verdict = bisect(compiled, arrays, exact)
    except (ValueError, TypeError) as error:
        print(f"bisect: {error}", file=sys.stderr)
        return 2
    print(verdict)
    return int(verdict.fault != "none")


def _drawn(graph: FunctionGraph) -> list[np.ndarray]:
    """Return numbers of the types of the inputs: floats around 1, integers below 4; the same every time."""
    rng = np.random.default_rng(0)
    found = []
    for variable in graph.inputs:
        shape = [LENGTH if n is None else n for n in variable.type.shape]
        numbers = rng.integers(0, 4, shape) if variable.type.kind in "iub" else rng.normal(1.0, 0.5, shape)
        found.append(np.asarray(numbers).astype(variable.dtype))
    return found


def _read(graph: FunctionGraph, path: str) -> list[np.ndarray]:
    """The arrays of an .npz file by the names of the inputs.  Raises ValueError for a file without one of them."""
    try:
        with np.load(path) as file:
            arrays: Mapping[str, np.ndarray] = dict(file) if hasattr(file, "files") else {}
    except OSError as error:
        raise ValueError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, zipfile.BadZipFile):
        raise ValueError(f"{path}: is no .npz file") from None
    names = [str(v.name) for v in graph.inputs]
    missing = [name for name in names if name not in arrays]
    if missing:
        raise ValueError(f"{path}: has no array {missing[0]}; its arrays are: {', '.join(arrays) or 'none'}")
    return [arrays[name] for name in names]
