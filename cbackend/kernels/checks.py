"""Fields of specs that no planner sets or no C reads; a package with one is not built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import FOLDER, KernelSpec, modules

BACKEND = FOLDER.parent
PROGRAM = BACKEND / "program"
PREPARED = PROGRAM / "prepared.py"
"""The planner of calls that lack their result and epilogue, which it adds."""


def unused_fields() -> list[str]:
    """Return a line for each field that no planner sets or no C reads, and for each spec without C.

    Specs that share a struct share its fields: what one of them sets may be left out by the others.
    """
    found = []
    for module in modules("spec"):
        folder = FOLDER / str(module.__name__).split(".")[-2]
        planners = _functions([*folder.glob("plan*.py")] or [PROGRAM / "planner.py", *PROGRAM.glob("planners/*.py")])
        named = {id(value): name for name, value in vars(module).items()}
        for spec in module.SPECS:
            alike = [other for other in module.SPECS if other.c_struct == spec.c_struct]
            given = {name for other in alike for name in _given(planners, named.get(id(other)))}
            code = folder.rglob("*.c") if spec.table else (*BACKEND.glob("abi/*.h"), *BACKEND.glob("driver/*.*"))
            text = "\n".join(path.read_text() for path in sorted(code) if path.suffix in (".c", ".h", ".py"))
            found += [f"{folder.name}/spec.py: {line}" for line in _of_spec(spec, given, text)]
    return found


def _of_spec(spec: KernelSpec, given: set[str], code: str) -> Iterator[str]:
    yield from (f"{spec.name}: no planner sets {field.name}" for field in spec.fields if field.name not in given)
    if spec.table:
        if not re.search(rf"\b{spec.function}\(", code):
            yield f"{spec.name}: no C file of the folder defines {spec.function}"
        names = [name for field in spec.fields for name in (field.name, field.counted) if name]
        yield from (f"{spec.name}: no C reads {name}" for name in names if not re.search(rf"(->|\.){name}\b", code))
    elif "->" not in spec.function:
        members = [name for field in spec.fields for name in (field.counted, field.name) if name]
        expected = [*["rt"] * spec.runtime, *members, *["detail"] * spec.says]
        match = re.search(rf"\b{spec.function}\(((?:const |void|char|i32|i64|f64|ag_runtime)[^)]*)\)", code)
        found = [re.split(r"[ *]", parameter)[-1] for parameter in match[1].split(",")] if match else []
        if found != expected:
            yield f"{spec.name}: {spec.function} takes {', '.join(found) or 'nothing'}; expected {', '.join(expected)}"


def _functions(paths: list[Path]) -> dict[str, ast.FunctionDef]:
    """Return the functions and methods of planner files by name."""
    nodes = [node for path in sorted(paths) for node in ast.walk(ast.parse(path.read_text()))]
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def _given(planners: Mapping[str, ast.FunctionDef], spec: str | None) -> set[str]:
    """Return the fields that the calls of a spec set: `p.run(SPEC, ...)`, and `Prepared(SPEC, ...)` with those it adds.

    `spec`: its name in the module; None for one that has none, which any call of the family may mean.
    """
    found: set[str] = set()
    for node in planners.values():
        for call in ast.walk(node):
            if not isinstance(call, ast.Call) or not call.args or _called(call) not in ("run", "Prepared"):
                continue
            first = call.args[0]
            is_named = isinstance(first, ast.Name) and first.id.isupper()
            if spec is not None and spec not in _names(first if is_named else node):
                continue
            found.update(keyword.arg for keyword in call.keywords if keyword.arg is not None)
            if _called(call) == "Prepared" or any(keyword.arg is None for keyword in call.keywords):
                found.update(key for helper in _reached(planners, node) for key in _keywords(helper))
            if _called(call) == "Prepared":
                found.update(_keywords(ast.parse(PREPARED.read_text())))
    return found


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _reached(planners: Mapping[str, ast.FunctionDef], start: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """Yield a function, and those of the same planners that it calls, directly or through others."""
    names, seen = [start.name], {start.name}
    while names:
        node = planners[names.pop()]
        yield node
        more = (_names(node) & planners.keys()) - seen
        names += more
        seen |= more


def _names(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load)}


def _keywords(node: ast.AST) -> Iterator[str]:
    """Yield the names of keyword arguments, and those of literal keys, in a file or function."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.keyword) and inner.arg is not None:
            yield inner.arg
        elif isinstance(inner, ast.Dict):
            yield from (key.value for key in inner.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


if __name__ == "__main__":
    raise SystemExit("\n".join(unused_fields()) or 0)
