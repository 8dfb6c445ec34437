"""Expressions as text: `dprint`, a tree from the outputs down, and `pprint`, one line in the notation of NumPy."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TextIO

from ..function.compiled import Function
from ..graph import FunctionGraph, Variable
from ..graph.fgraph import graph_of
from ..graph.text import constant_label, op_text
from ..ops.control.laziness import titles_of
from ..ops.core.shared import SharedVariable

PRECEDENCE = {
    "**": 6, "*": 4, "/": 4, "//": 4, "%": 4, "@": 4, "+": 3, "-": 3, "<": 2, "<=": 2, ">": 2, ">=": 2, "==": 2,
    "!=": 2, "&": 1, "|": 1, "^": 1,
}  # fmt: skip
"""Python's operators between two operands; tighter ones have larger numbers."""
PREFIX, ATOM = 5, 9
_LONGEST = 100_000


def _outputs(thing: Any) -> Sequence[Variable]:
    if isinstance(thing, Function):
        return thing.graph.outputs
    if isinstance(thing, FunctionGraph):
        return thing.outputs
    found = list(thing) if isinstance(thing, (list, tuple)) else [thing]
    for v in found:
        if not isinstance(v, Variable):
            raise TypeError(f"expected a variable, a graph or a function, got {v!r}")
    return found


def dprint(thing: Any, file: TextIO | None = None, depth: int | None = None) -> None:
    """Print a tree: one line per value with op, type and an id; a repeated value shows only its id.

    The bodies of loops and choices follow, a tree each.

    Args:
        thing: a variable, a list of them, a FunctionGraph or a compiled function.
        file: where to print; default: standard output.
        depth: how many levels to show; default: all.
    """
    lines: list[str] = []
    stack = [("", list(_outputs(thing)))]
    while stack:
        title, outputs = stack.pop()
        lines += [*(["", f"inside {title}:"] if title else []), *tree_lines(outputs, depth)]
        stack += [(name, list(body.outputs)) for body, name in titles_of(graph_of(outputs, "dprint")).items()][::-1]
    print("\n".join(lines), file=file or sys.stdout)


def tree_lines(outputs: Sequence[Variable], depth: int | None = None) -> list[str]:
    """The lines of `dprint`."""
    ids: dict[Variable, str] = {}
    lines: list[str] = []
    stack: list[tuple[Variable, str, str, int]] = [(o, "", "", 0) for o in reversed(outputs)]
    while stack:
        variable, head, below, level = stack.pop()
        if variable in ids:
            lines.append(f"{head}{ids[variable]} ...")
            continue
        ids[variable] = f"[id {len(ids)}]"
        lines.append(f"{head}{_label(variable)} {ids[variable]} <{variable.type}>")
        if variable.owner is None or (depth is not None and level + 1 >= depth):
            continue
        inputs = variable.owner.inputs
        for position, i in reversed(list(enumerate(inputs))):
            last = position == len(inputs) - 1
            if level < 200:  # deeper trees go on without growing to the right
                stack.append((i, below + (" └─ " if last else " ├─ "), below + ("    " if last else " │  "), level + 1))
            else:
                stack.append((i, below + " ·· ", below, level + 1))
    return lines


def _label(variable: Variable) -> str:
    if variable.owner is None:
        data = getattr(variable, "data", None)
        unnamed = "shared" if isinstance(variable, SharedVariable) else "input"
        return variable.name or (unnamed if data is None else constant_label(data))
    several = f".{variable.index}" if len(variable.owner.outputs) > 1 else ""
    name = f" '{variable.name}'" if variable.name else ""
    return f"{op_text(variable.owner.op)}{several}{name}"


def pprint(thing: Any) -> str:
    """Return the expression as a user would write it: `exp((x * 2.0) + y)`, without needless parentheses.

    A value that is used twice is written twice; an expression that grows beyond 100,000 characters is cut with "...".
    """
    return ", ".join(_expression(o) for o in _outputs(thing))


def _expression(output: Variable) -> str:
    texts: dict[Variable, tuple[str, int]] = {}
    stack = [output]
    while stack:
        variable = stack[-1]
        node = variable.owner
        if variable in texts:
            stack.pop()
        elif node is None:
            texts[variable] = (_leaf(variable), ATOM)
        elif missing := [i for i in node.inputs if i not in texts]:
            stack.extend(missing)
        else:
            texts[variable] = _applied(variable, [texts[i] for i in node.inputs])
    return texts[output][0]


def _leaf(variable: Variable) -> str:
    data = getattr(variable, "data", None)
    if data is None:
        return variable.name or "_"
    return repr(data.item()) if data.ndim == 0 else constant_label(data)


def _applied(variable: Variable, operands: list[tuple[str, int]]) -> tuple[str, int]:
    node = variable.owner
    assert node is not None
    sign = getattr(node.op, "sign", "")
    if sign and len(operands) == 1:
        text, binding = operands[0]
        result = (f"{sign}{text if binding >= PREFIX else f'({text})'}", PREFIX)
    elif sign:
        binding = PRECEDENCE[sign]
        # The right operand of - and / binds tighter than the operation itself.
        parts = [t if b > binding or (b == binding and n == 0) else f"({t})" for n, (t, b) in enumerate(operands)]
        result = (f" {sign} ".join(parts), binding)
    else:
        several = f"[{variable.index}]" if len(node.outputs) > 1 else ""
        result = (f"{op_text(node.op)}({', '.join(t for t, _ in operands)}){several}", ATOM)
    return result if len(result[0]) <= _LONGEST else ("...", ATOM)
