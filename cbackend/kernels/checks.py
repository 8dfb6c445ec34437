"""Fields of specs that no planner sets or no C reads; a package with one is not built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from . import FOLDER, KernelSpec, modules

BACKEND = FOLDER.parent
PROGRAM = BACKEND / "program"
PREPARED = PROGRAM / "prepared.py"
"""The planner that adds the result and the epilogue to the calls of all families."""


def unused_fields() -> list[str]:
    """Return a line for each field that no planner sets or no C reads, and for each spec without C."""
    found = []
    for module in modules("spec"):
        folder = FOLDER / str(module.__name__).split(".")[-2]
        planners = [*folder.glob("plan*.py")] or [PROGRAM / "planner.py", *PROGRAM.glob("planners/*.py")]
        given = {name for path in (*planners, PREPARED) for name in _keywords(path)}
        for spec in module.SPECS:
            code = folder.glob("*.c") if spec.table else (*BACKEND.glob("abi/*.h"), *BACKEND.glob("driver/*.*"))
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
        expected = [*["rt"] * spec.runtime, *members, *["said"] * spec.says]
        match = re.search(rf"\b{spec.function}\(((?:const |void|char|i32|i64|f64|ag_runtime)[^)]*)\)", code)
        found = [re.split(r"[ *]", parameter)[-1] for parameter in match[1].split(",")] if match else []
        if found != expected:
            yield f"{spec.name}: {spec.function} takes {', '.join(found) or 'nothing'}; expected {', '.join(expected)}"


def _keywords(path: Path) -> Iterator[str]:
    """Yield the names of keyword arguments, and those of literal keys, in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg is not None:
            yield node.arg
        elif isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


if __name__ == "__main__":
    raise SystemExit("\n".join(unused_fields()) or 0)
