"""Views of variables in notebooks: an expression as a formula, a leaf as a card with its type and its value.

`TensorVariable._shown_form` simplifies what is shown; the layer that has the rules sets it.
"""

from __future__ import annotations

from typing import Any

from ... import pages
from ...graph import Constant, FunctionGraph, leaves, toposort
from ...graph.provenance import made_at
from . import expressions

LARGEST = 90
"""Most nodes of an expression that is shown as a formula; larger ones have a picture."""

def latex(variable: Any) -> str | None:
    """The formula without dollar signs; None for an expression that is too large to be read as one."""
    if variable.owner is None or len(toposort([variable])) > LARGEST:
        return None
    return expressions.formula(*variable._shown_form())


def html(variable: Any) -> str:
    """The card of a leaf, the formula of an expression, the picture of a large one."""
    if variable.owner is None:
        return pages.values.value_form(*card(variable))
    where = ", ".join(map(str, variable.origin))
    note = f"{variable.type}, {where}" if where else str(variable.type)
    if len(toposort([variable])) > LARGEST:
        free = [leaf for leaf in leaves([variable]) if not isinstance(leaf, Constant)]
        return FunctionGraph(free, [variable])._repr_html_()
    shown, names = variable._shown_form()
    formula = expressions.formula(shown, names)
    copies = [("LaTeX", formula)]
    for name, style in (("Python", "python"), ("NumPy", "numpy")):
        copies.append((name, expressions.code(expressions.written(shown, style, names, loose=True))))
    return pages.values.expression_form(pages.mathml.mathml(formula), note, copies)


def card(variable: Any) -> tuple[str, list[tuple[str, str]], str]:
    """Title, facts and preview of a leaf."""
    container = getattr(variable, "container", None)
    data = getattr(variable, "data", None) if container is None else container.value
    kind = "shared variable" if container is not None else "input" if data is None else "constant"
    lengths = [str(n) if n is not None else "?" for n in variable.type.shape]
    rows = [("dtype", variable.dtype), ("shape", f"({', '.join(lengths)}{',' if len(lengths) == 1 else ''})")]
    if data is not None and not isinstance(data, (int, float)) and hasattr(data, "nbytes"):
        if container is not None and data.shape != variable.type.shape:
            rows[1] = ("shape", f"{data.shape} now, {rows[1][1]} promised")
        rows.append(("memory", pages.values.memory_text(data)))
        found = pages.values.statistics(data)
        rows += [("elements", found)] if found else []
    if getattr(variable, "default_update", None) is not None:
        rows.append(("after each call", repr(variable.default_update)))
    rows += [("made at", str(line)) for line in made_at(variable)]
    shown = pages.values.preview(data) if data is not None and hasattr(data, "nbytes") else ""
    return f"{kind} {variable.name}" if variable.name else kind, rows, shown


def text(variable: Any) -> str:
    """The same for terminals: an expression as it is printed; a leaf with its facts in lines."""
    if variable.owner is not None:
        shown, names = variable._shown_form()
        return f"{expressions.laid_out(expressions.written(shown, 'text', names, loose=True))}: {variable.type}"
    title, rows, shown_value = card(variable)
    width = max(len(name) for name, _ in rows)
    lines = [title, *(f"  {name:{width}}  {value}" for name, value in rows)]
    return "\n".join([*lines, *(f"  {line}" for line in shown_value.splitlines())])
