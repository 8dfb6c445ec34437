"""The user's lines as plain data: file, number, text and enclosing function, by which drawings group nodes."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Iterable
from typing import Any

from ..graph import SourceLine

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def places_of(lines: Iterable[SourceLine]) -> dict[str, dict[str, Any]]:
    """Return the place of each line by its text; `function` is empty outside functions and without source."""
    functions: dict[str, list[tuple[int, int, str]]] = {}
    found = {}
    for line in dict.fromkeys(lines):
        if line.file not in functions:
            functions[line.file] = list(_functions_in(line.file))
        around = [name for first, last, name in functions[line.file] if first <= line.line <= last]
        shown = str(line)
        file = shown.removesuffix(f":{line.line}").removesuffix(f", line {line.line}")
        found[shown] = {"file": file, "line": line.line, "function": around[-1] if around else "", "code": line.code}
    return found


def _functions_in(file: str) -> Iterable[tuple[int, int, str]]:
    """First line, last line and qualified name of the functions of a file, outer before inner."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the user's literals
            tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, around = stack.pop(0)
        for child in ast.iter_child_nodes(node):
            name = around
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                name = f"{around}.{child.name}".lstrip(".")
            if isinstance(child, _FUNCTIONS):
                yield child.lineno, child.end_lineno or child.lineno, name
            stack.append((child, name))
