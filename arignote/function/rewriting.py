"""Optimization without compilation."""

from __future__ import annotations

from typing import Any

from ..database import optdb
from ..graph import FunctionGraph, GraphEditor, graph_of
from ..optdb.query import as_query
from .optimization import for_any_lengths


def rewrite(expression: Any, query: Any = "canonicalize", watch: Any = None) -> Any:
    """Return `expression` optimized by `query`.

    It is of the same kind: a variable for a variable, a list for a list, a graph for a graph.

    Args:
        expression: a variable, a list or tuple of variables, or a FunctionGraph.
        query: a Query or its text, such as "canonicalize +specialize".
        watch: called with each Replacement before it is kept; a false answer leaves the graph as it is.
    """
    wanted = for_any_lengths(as_query((query,), {}), optdb)  # there is no other graph for other lengths
    result, _ = optdb.query(wanted)(graph_of(expression, "rewrite"), GraphEditor(watch))
    if isinstance(expression, FunctionGraph):
        return result
    if not isinstance(expression, (list, tuple)):
        return result.outputs[0]
    kind = type(expression)
    return kind(*result.outputs) if hasattr(kind, "_fields") else kind(result.outputs)  # a named tuple, as of eigh
