"""Expressions as text: `dprint`, a tree from the outputs down, and `pprint`, what a person would write."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TextIO

from ..database import optdb
from ..function.compiled import Function
from ..graph import FunctionGraph, Variable, toposort
from ..graph.text import constant_label, op_text, subgraphs
from ..ops.control.laziness import titles_at
from ..ops.core.shared import SharedVariable
from ..ops.core.tensor import TensorVariable
from ..record import lazy
from ..record.spelling import meant


def expression_outputs(thing: Any, asker: str = "") -> Sequence[Variable]:
    """The variables of an expression, a list of them, a graph or a function.  Raises TypeError, naming `asker`."""
    if isinstance(thing, Function):
        return thing.graph.outputs
    if isinstance(thing, FunctionGraph):
        return thing.outputs
    found = list(thing) if isinstance(thing, (list, tuple)) else [thing]
    for v in found:
        if not isinstance(v, Variable):
            raise TypeError(f"{asker}: expected a variable, a graph or a function, got {v!r}".removeprefix(": "))
    return found


def dprint(thing: Any, file: TextIO | None = None, depth: int | None = None, inner: bool = True) -> None:
    """Print a tree: one line per value with op, type and an id; a repeated value shows only its id.

    The bodies of loops and choices follow, a tree each.

    Args:
        thing: A variable, a list of them, a FunctionGraph or a compiled function.
        file: The file to print to; default: standard output.
        depth: The number of levels to show; default: all.
        inner: Show the graphs inside of ops, such as fused groups and bodies of loops, below the tree.
    """
    print("\n".join(tree_lines(expression_outputs(thing, "dprint"), depth, inner)), file=file or sys.stdout)


def tree_lines(outputs: Sequence[Variable], depth: int | None = None, inner: bool = True) -> list[str]:
    """The lines of `dprint`."""
    tree = _Tree(depth)
    tree.add(outputs)
    if inner:
        tree.add_graphs()
    return tree.lines


class _Tree:
    """The lines of a tree, the ids of its values, and the graphs inside of its ops with the ids of their nodes."""

    def __init__(self, depth: int | None) -> None:
        self.depth = depth
        self.lines: list[str] = []
        self._ids: dict[Variable, str] = {}
        self._graphs: dict[FunctionGraph, list[str]] = {}

    def add(self, outputs: Sequence[Variable], indent: str = "") -> None:
        """Add the lines of the values that `outputs` depend on."""
        stack = [(o, indent, indent, 0) for o in reversed(outputs)]
        while stack:
            variable, head, below, level = stack.pop()
            if variable in self._ids:
                self.lines.append(f"{head}{self._ids[variable]} ...")
                continue
            own = self._ids[variable] = f"[id {len(self._ids)}]"
            self.lines.append(f"{head}{_label(variable)} {own} <{variable.type}>")
            if variable.owner is None or (self.depth is not None and level + 1 >= self.depth):
                continue
            titles = titles_at(variable.owner)
            for field, graph in subgraphs(variable.owner.op).items():
                of = "" if field.rpartition(".")[2] == "graph" else f", {field}"
                heading = f"inside {titles[graph]} {own}" if graph in titles else f"{variable.owner.op.name} {own}{of}"
                self._graphs.setdefault(graph, []).append(heading)
            inputs = variable.owner.inputs
            for position, i in reversed(list(enumerate(inputs))):
                last = position == len(inputs) - 1
                if level < 200:  # deeper trees go on without growing to the right
                    marks = (" └─ ", "    ") if last else (" ├─ ", " │  ")
                    stack.append((i, below + marks[0], below + marks[1], level + 1))
                else:
                    stack.append((i, below + " ·· ", below, level + 1))

    def add_graphs(self) -> None:
        """Add the graphs inside of ops, each once, and those inside of these."""
        shown = 0
        while shown < len(self._graphs):
            graph = list(self._graphs)[shown]
            self.lines += ["", "; ".join(self._graphs[graph]) + ":"]
            self.add(graph.outputs, " ")
            shown += 1


def _label(variable: Variable) -> str:
    if variable.owner is None:
        data = getattr(variable, "data", None)
        unnamed = "shared" if isinstance(variable, SharedVariable) else "input"
        return variable.name or (unnamed if data is None else constant_label(data))
    several = f".{variable.index}" if len(variable.owner.outputs) > 1 else ""
    name = f" '{variable.name}'" if variable.name else ""
    return f"{op_text(variable.owner.op)}{several}{name}"


expressions: Any = lazy.module("...ops.writing.expressions", __name__)
simplifying: Any = lazy.module(".simplifying", __package__)

STYLES = ("text", "python", "numpy", "latex")


class Printed(str):
    """The text of an expression.  `names`: its leaves, and the constants that are too large to be spelled out."""

    __slots__ = ("names",)
    names: Mapping[str, Variable]


def pprint(thing: Any, simplify: bool = True, *, style: str = "text", names: Mapping[str, Any] | None = None) -> str:
    """Return the expression as a person would write it: `X.T @ (p - t) / n` with `p` and `n` defined below it.

    The text means the same value: it is Python in which the names of `arignote.ops` are known.  Parts that are used
    again, and parts of long expressions, are named below it; a part that a variable of Python holds has its name.

    Args:
        thing: A variable, a list of them, a FunctionGraph or a compiled function.
        simplify: Show the form to which the query `print` leads, in which lengths that meet are taken as equal, so that
            what only broadcasting at run time would need is left out.  False shows each op as it stands.  Expressions
            of more than 1,500 nodes are never simplified.
        style: "text"; "python" for code with `T.`; "numpy" for code with NumPy and SciPy; "latex".
        names: Variables by the names that they shall have; default: the variables of the caller.

    Raises:
        TypeError: `thing` holds no expression.
        ValueError: The style is unknown.
    """
    if style not in STYLES:
        hint = meant(style, STYLES) if isinstance(style, str) else ""
        raise ValueError(f"pprint: style is {style!r}; expected one of {', '.join(STYLES)}{hint}")
    outputs = expression_outputs(thing, "pprint")
    wishes = wishes_of(outputs, held_by(sys._getframe(1)) if names is None else names)
    shown, wishes = shown_form(outputs, wishes) if simplify else (list(outputs), wishes)
    if style == "latex":
        formula: str = expressions.formula(shown, wishes)
        return formula
    found = expressions.written(shown, style, wishes, loose=simplify)
    text = Printed(expressions.laid_out(found) if style == "text" else expressions.code(found))
    text.names = found.names
    return text


def held_by(frame: Any) -> dict[str, Variable]:
    """The variables that names of a frame stand for, those of the module behind them."""
    found = {**frame.f_globals, **frame.f_locals}
    return {name: v for name, v in found.items() if isinstance(v, Variable) and not name.startswith("_")}


def wishes_of(outputs: Sequence[Variable], names: Mapping[str, Any]) -> dict[Variable, str]:
    """The names for parts of the expression, and for its leaves without a name of their own."""
    parts = {o for node in toposort(outputs) for o in node.outputs}.difference(outputs)
    parts.update(i for node in toposort(outputs) for i in node.inputs if i.owner is None and not i.name)
    return {v: name for name, v in names.items() if isinstance(v, Variable) and v in parts}


def shown_form(
    outputs: Sequence[Variable], wishes: Mapping[Variable, str]
) -> tuple[list[Variable], dict[Variable, str]]:
    """The simplified outputs, and the names of their parts: a part keeps its name if its simplified form is a part."""
    parts = [v for v in wishes if v.owner is not None]
    parts += [o for node in toposort(outputs) for o in node.outputs if o.name and o not in wishes]
    *shown, = simplifying.simplified([*outputs, *parts])
    kept = {v: name for v, name in wishes.items() if v.owner is None}
    for part, form in zip(parts, shown[len(outputs) :], strict=True):
        if form.owner is not None:
            kept.setdefault(form, wishes.get(part) or part.name or "")
    return shown[: len(outputs)], kept


@lru_cache(maxsize=1)
def _form(
    variable: Any, wishes: tuple[tuple[Variable, str], ...], names: tuple[str | None, ...], query: object
) -> tuple[list[Variable], dict[Variable, str]]:
    """The form of an expression; a cell asks for it as text, LaTeX and HTML.

    `names`: of the parts, and `query`: the optimizer that simplifies; a change of either makes another form.
    """
    return shown_form([variable], dict(wishes))


def _prepared(variable: TensorVariable) -> tuple[list[Variable], dict[Variable, str]]:
    """The form of an expression in a notebook, with the names of the user's own variables."""
    main = sys.modules.get("__main__")
    names = {name: v for name, v in dict(vars(main)).items() if isinstance(v, Variable)} if main else {}
    wishes = wishes_of([variable], {n: v for n, v in names.items() if not n.startswith("_")})
    own = tuple(o.name for node in toposort([variable]) for o in node.outputs)
    return _form(variable, tuple(wishes.items()), own, optdb.query(simplifying.QUERY))  # type: ignore[arg-type]  # identity hashes it


TensorVariable._shown_form = _prepared  # type: ignore[assignment]
