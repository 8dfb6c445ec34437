"""Fields of specs that no planner sets or no C reads; a package with one is not built."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from . import FOLDER, INNER, Field, KernelSpec, modules

PREPARED = FOLDER.parent / "program" / "prepared.py"
"""The planner that adds the result and the epilogue to the calls of all families."""


def unused_fields() -> list[str]:
    """Return a line for each field that no planner sets or no C reads, and for each spec without C."""
    found = []
    for module in modules("spec"):
        folder = FOLDER / str(module.__name__).split(".")[-2]
        given = {name for path in (*folder.glob("plan*.py"), PREPARED) for name in _keywords(path)}
        code = "\n".join(path.read_text() for path in sorted(folder.glob("*.[ch]")) if path.stem != folder.name or
                         path.suffix == ".c")  # fmt: skip
        for spec in module.SPECS:
            found += [f"{folder.name}/spec.py: {line}" for line in _of_spec(spec, given, code)]
    return found


def _of_spec(spec: KernelSpec, given: set[str], code: str) -> Iterator[str]:
    function = spec.through or spec.function
    if not re.search(rf"\b{function}\(", code):
        yield f"{spec.name}: no C file of the folder defines {function}"
    for field in spec.fields:
        if field.name not in given:
            yield f"{spec.name}: no planner sets {field.name}"
        for member in _members(field):
            if not re.search(rf"(->|\.){member}\b", code):
                yield f"{spec.name}: no C reads {member}"


def _members(field: Field) -> list[str]:
    return [field.name, *([field.counted] if field.counted and field.kind != INNER else [])]


def _keywords(path: Path) -> Iterator[str]:
    """Yield the names of keyword arguments, and those of literal keys, in a file."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.keyword) and node.arg is not None:
            yield node.arg
        elif isinstance(node, ast.Dict):
            yield from (key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


if __name__ == "__main__":
    raise SystemExit("\n".join(unused_fields()) or 0)
