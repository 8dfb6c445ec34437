"""The Python files of the product, how its folders lie under `arignote`, and the outline of each file."""

import ast
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TOP = sorted(path.name for path in (ROOT / "arignote").iterdir() if path.is_symlink())
"""Folders beside `arignote/`, into which it has links."""
FILES = sorted(path for folder in ("arignote", *TOP) for path in (ROOT / folder).rglob("*.py"))


def module_of(path):
    """The dotted name of a file's module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "arignote" else ("arignote", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def package_of(path):
    """The dotted name of the package that relative imports of a file begin at."""
    module = module_of(path)
    return module if path.name == "__init__.py" else module.rpartition(".")[0]


class Import(NamedTuple):
    """A statement `import names` or `from module import names`."""

    line: int
    level: int
    """Dots before the module."""
    module: str
    names: tuple[str, ...]
    function: str
    """Innermost function around it, or ""."""
    when_loaded: bool
    """Whether it runs when the module is loaded, not in a function or for type checkers alone."""


class Definition(NamedTuple):
    """A function."""

    line: int
    name: str
    lines: int
    """Its length without the docstring."""


class Outline(NamedTuple):
    """The imports and functions of a file."""

    doc: str
    lines: int
    imports: list[Import]
    functions: list[Definition]


@cache
def outline_of(path):
    """The outline of a file.  All files take seconds to parse, and their trees much memory; outlines are kept."""
    text = path.read_text()
    tree = ast.parse(text)
    found = Outline(ast.get_docstring(tree) or "", text.count("\n"), [], [])
    todo = [(tree, "", True)]
    while todo:
        node, function, loads = todo.pop()
        for child in _statements(node):
            if isinstance(child, ast.Import | ast.ImportFrom):
                level, module = getattr(child, "level", 0), getattr(child, "module", "") or ""
                names = tuple(alias.name for alias in child.names)
                found.imports.append(Import(child.lineno, level, module, names, function, loads))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                found.functions.append(_definition(child))
                todo.append((child, child.name, False))
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                checked, run = (child.body, child.orelse)[:: -1 if isinstance(child.test, ast.UnaryOp) else 1]
                todo += [(ast.Module(checked, []), function, False), (ast.Module(run, []), function, loads)]
            else:
                todo.append((child, function, loads and not isinstance(child, ast.ClassDef)))
    return found


def _statements(node):
    """The statements directly inside a statement: expressions hold none."""
    return [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.stmt | ast.excepthandler | ast.match_case)]


def _definition(node):
    doc = node.body[0] if ast.get_docstring(node, clean=False) else None
    lines = node.end_lineno - node.lineno + 1 - (doc.end_lineno - doc.lineno + 1 if doc else 0)
    return Definition(node.lineno, node.name, lines)
