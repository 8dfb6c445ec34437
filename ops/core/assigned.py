"""Variable names from the user's assignments: `w = ag.shared(...)` names the variable w.

A courtesy for messages and pictures: only a line that can be read and is one plain assignment of one call counts.
"""

from __future__ import annotations

import ast

from ...graph.provenance import here


def assigned_name(function: str) -> str | None:
    """The name that the user's line assigns: `w`, the w of `self.w` and of `params["w"]`; or None."""
    line = next(iter(here()), None)
    code = line.code if line is not None else ""
    if function not in code or "=" not in code:
        return None
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError):  # a part of a statement, or no Python at all
        return None
    statement = body[0] if len(body) == 1 else None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AnnAssign):
        target = statement.target
    else:
        return None
    return _said(target) if _calls(statement.value, function) else None


def _calls(value: ast.expr | None, function: str) -> bool:
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    return function == (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None))


def _said(target: ast.expr) -> str | None:
    match target:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case ast.Subscript(slice=ast.Constant(value=str(name))) if name.isidentifier():
            return name
        case _:
            return None
