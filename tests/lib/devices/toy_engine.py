"""A toy engine from outside the package: the graph as one Python function of NumPy calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import arignote as ag

PLAIN = {"exp", "sin", "cos", "tanh", "maximum", "minimum", "add", "subtract", "multiply"}
OTHER = {"sub": "subtract", "mul": "multiply"}


class Toy(ag.engines.Engine):
    """Prints a graph as Python, and runs that."""

    name = "toy"

    def compile(self, graph: ag.FunctionGraph, request: ag.engines.Request) -> ag.engines.Executable:
        text, names = printed(graph)
        exec(compile(text, f"<toy {request.name}>", "exec"), names)
        return ag.engines.CheckedExecutable(self, graph, request, names["run"])


def printed(graph: ag.FunctionGraph) -> tuple[str, dict[str, Any]]:
    """The Python of a graph, and the values of the names that it uses."""
    words = {variable: f"x{k}" for k, variable in enumerate(graph.inputs)}
    names: dict[str, Any] = {"np": np}
    lines = [f"def run({', '.join(words.values())}):"]

    def word(variable: Any) -> str:
        if variable not in words:  # a constant
            words[variable] = f"c{len(words)}"
            names[words[variable]] = variable.data
        return words[variable]

    for node in graph.order:
        operands = ", ".join(map(word, node.inputs))
        results = []
        for output in node.outputs:
            words[output] = f"v{len(words)}"
            results.append(words[output])
        call = function_of(node, names, f"f{len(words)}")
        lines.append(f"    {', '.join(results)}, = {call}({operands}){'' if call.startswith('f') else ','}")
    lines.append(f"    return [{', '.join(map(word, graph.outputs))}]")
    return "\n".join(lines), names


def function_of(node: Any, names: dict[str, Any], fresh: str) -> str:
    """The NumPy function of a node; the op's own meaning where its name is none, or dtypes are mixed."""
    name = OTHER.get(node.op.name, node.op.name)
    dtypes = {v.dtype for v in (*node.inputs, *node.outputs)}
    if name in PLAIN and len(node.inputs) <= 2 and dtypes <= {"float32", "float64"} and len(dtypes) == 1:
        return f"np.{name}"
    evaluate: Callable[..., Any] = node.op.evaluate
    names[fresh] = evaluate
    return fresh
