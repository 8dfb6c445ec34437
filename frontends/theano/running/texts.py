"""`theano.printing`: expressions as text and pictures, and values as a function computes them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ....explain.printing import pprint, tree_lines
from ....graph import Constant as CoreConstant
from ....graph import Dim, FunctionGraph, Kind, Lacks, TensorType, leaves
from ....graph import Variable as CoreVariable
from ....graph.picture import picture_of
from ....ops.core.tensor import HostOp
from ....ops.elementwise import costs
from ....pages.graph_svg import graph_svg
from ....record import record
from ..tensors.variables import Apply, Variable, as_tensor_variable, wrap
from .functions import Function


def _roots(obj: Any) -> list[Any]:
    if isinstance(obj, (list, tuple)):
        return [root for o in obj for root in _roots(o)]
    if isinstance(obj, Function):
        return list(obj.core.graph.outputs)
    if isinstance(obj, Apply):
        return [o.core for o in obj.outputs]
    if isinstance(obj, Variable):
        return [obj.core]
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


class Print:
    """A function of one variable that prints its value in each call of a compiled function."""

    def __init__(self, message: str = "", attrs: Sequence[str] = ("__str__",), global_fn: Any = None) -> None:
        self.message, self.attrs = message, tuple(attrs)
        self.global_fn: Callable[..., None] = global_fn or _show

    def __call__(self, x: Any) -> Any:
        x = as_tensor_variable(x)
        return wrap(Printing(self)(x.core), x)

    def __repr__(self) -> str:
        return f"Print({self.message!r})"


def _show(how: Print, value: np.ndarray) -> None:
    for name in how.attrs:
        part = getattr(value, name)
        print(how.message, name, "=", part() if callable(part) else part)


@record(eq=False)
class Printing(HostOp):
    """The value of x, printed."""

    how: Print
    name = "print"
    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.moving
    lacks: ClassVar[Lacks] = Lacks(batching="it prints the value of one example")

    def infer(self, inputs: tuple[CoreVariable, ...]) -> tuple[TensorType, ...]:
        return (inputs[0].type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        self.how.global_fn(self.how, values[0])
        return (values[0].copy(),)

    def vjp(self, node: Any, cotangents: Sequence[CoreVariable | None]) -> Sequence[CoreVariable | None]:
        return [cotangents[0]]

    def dims(self, node: Any, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)
