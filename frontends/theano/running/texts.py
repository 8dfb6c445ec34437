"""`theano.printing`: expressions as text and pictures, and values as a function computes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ....explain.printing import pprint, tree_lines
from ....graph import Constant as CoreConstant
from ....graph import FunctionGraph, leaves
from ....graph.picture import picture_of
from ....ops.control.watching import Print as CorePrint
from ....pages.graph_svg import graph_svg
from ..tensors.variables import Apply, Variable, as_tensor_variable, wrap
from .functions import Function


def _roots(obj: Any) -> list[Any]:
    match obj:
        case list() | tuple(): return [root for o in obj for root in _roots(o)]
        case Function(): return list(obj.core.graph.outputs)
        case Apply(): return [o.core for o in obj.outputs]
        case Variable(): return [obj.core]
    if hasattr(obj, "outputs"):
        return _roots(list(obj.outputs))
    raise TypeError(f"expected a variable, a list of them or a function, got {type(obj).__name__} {obj!r}")


def debugprint(obj: Any, depth: int = -1, print_type: bool = False, file: Any = None, **options: Any) -> Any:
    """The tree of an expression or function, written to `file`; the text itself for file="str"."""
    text = "\n".join(tree_lines(_roots(obj), depth if depth > 0 else None)) + "\n"
    if file == "str":
        return text
    (sys.stdout if file is None else file).write(text)
    return file


def pp(obj: Any) -> str:
    """An expression as a formula."""
    return "\n".join(str(pprint(root)) for root in _roots(obj))


def min_informative_str(obj: Any, indent_level: int = 0) -> str:
    """The tree of an expression."""
    return str(debugprint(obj, file="str"))


def pydotprint(fct: Any, outfile: Any = None, format: str = "svg", **options: Any) -> Any:
    """The picture of an expression or function as SVG, written to `outfile` (ending in .svg)."""
    roots = _roots(fct)
    free = [v for v in leaves(roots) if not isinstance(v, CoreConstant)]
    text = graph_svg(picture_of(FunctionGraph(free, roots)), "graph")
    if outfile is None:
        return text
    path = Path(outfile).with_suffix(".svg")
    path.write_text(text)
    print(f"The output file is available at {path}")
    return path


def pydotprint_variables(vars: Any, outfile: Any = None, **options: Any) -> Any:
    """The same for expressions."""
    return pydotprint(vars, outfile)


class Print(CorePrint):
    """A function of one variable that prints its value in each call of a compiled function."""

    def __call__(self, x: Any) -> Any:
        x = as_tensor_variable(x)
        return wrap(super().__call__(x.core), x)
