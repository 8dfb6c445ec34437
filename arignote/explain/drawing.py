"""`ag.draw`: the picture of an expression, to be looked at in a notebook or saved."""

from __future__ import annotations

from typing import Any

from .. import pages
from ..graph import Constant, FunctionGraph, leaves
from ..ops.writing.expressions import opened
from .printing import expression_outputs
from .simplifying import simplified


def draw(thing: Any, simplify: bool = True, open_groups: bool = False) -> pages.figure.Figure:
    """Return the picture of an expression: a box a node, inputs above their readers, results framed strongly.

    Checks, constants and computed lengths are folded away.  A notebook shows the picture; `.save("x.svg")` saves it,
    and "x.png" and "x.html" as well.

    Args:
        thing: A variable, a list of them, a FunctionGraph or a compiled function.
        simplify: Draw the form that `ag.pprint` prints; of a graph or a function, always the nodes that it has.
        open_groups: Draw the nodes inside of fused groups in their place.

    Raises:
        TypeError: `thing` holds no expression.
    """
    outputs = expression_outputs(thing, "draw")
    is_graph = hasattr(thing, "graph") or isinstance(thing, FunctionGraph)
    if simplify and not is_graph:
        outputs = simplified(outputs)
    if open_groups:
        outputs = opened(outputs)
    free = [leaf for leaf in leaves(outputs) if not isinstance(leaf, Constant)]
    graph = FunctionGraph(free, outputs)
    title = getattr(thing, "name", None) if not isinstance(thing, FunctionGraph) else None
    return pages.figure.Figure(graph._repr_svg_(), title or repr(graph).strip("<>"), graph._repr_html_())
