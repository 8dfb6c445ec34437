"""Optimizing without compiling."""

from __future__ import annotations

from typing import Any

from .database import optdb
from .graph import Constant, Door, FunctionGraph, Variable, leaves


def rewrite(expression: Any, query: Any = "canonicalize", watch: Any = None) -> Any:
    """`expression` as the optimizers of `query` leave it.

    It is of the same kind: a variable for a variable, a list for a list, a graph for a graph.

    Args:
        expression: a variable, a list or tuple of variables, or a FunctionGraph.
        query: a Query or its text, such as "canonicalize +specialize".
        watch: called with each Replacement before it is kept; a false answer leaves the graph as it is.
    """
    if isinstance(expression, FunctionGraph):
        return _optimized(expression, query, watch)
    several = isinstance(expression, (list, tuple))
    outputs = list(expression) if several else [expression]
    for position, output in enumerate(outputs):
        if not isinstance(output, Variable):
            raise TypeError(f"rewrite: expression {position} is {output!r}; expected a variable or a graph")
    free = [leaf for leaf in leaves(outputs) if not isinstance(leaf, Constant)]
    results = _optimized(FunctionGraph(free, outputs), query, watch).outputs
    return type(expression)(results) if several else results[0]


def _optimized(graph: FunctionGraph, query: Any, watch: Any) -> FunctionGraph:
    result, _ = optdb.query(query)(graph, Door(watch))
    return result  # type: ignore[no-any-return]
