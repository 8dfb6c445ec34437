"""Writes docs/public-names.txt, the public names and their signatures: `python docs/make_public_names.py`.

`tests/project/test_public_names.py` compares the file with the package.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import arignote as ag
from arignote import ops as T

FILE = Path(__file__).with_name("public-names.txt")
SPACES: dict[str, Any] = {
    "ag": ag, "ag.optim": ag.optim, "ag.tree": ag.tree, "T": T, "T.nn": T.nn, "T.linalg": T.linalg, "T.fft": T.fft,
    "T.random": T.random, "T.special": T.special, "T.distributions": T.distributions, "T.sparse": T.sparse,
}  # fmt: skip


def text() -> str:
    """Return a line for each public name."""
    lines = [_line(space, name, getattr(module, name)) for space, module in SPACES.items() for name in module.__all__]
    return "\n".join(sorted(lines)) + "\n"


def _line(space: str, name: str, value: Any) -> str:
    """Return the name as one calls it; annotations are left out, since they are no promise."""
    arity = getattr(value, "arity", "")
    if arity is None or isinstance(arity, int):
        return f"{space}.{name}({'*operands' if arity is None else ', '.join('xyz'[:arity])})"
    if isinstance(value, (type, ModuleType)) or not callable(value):
        return f"{space}.{name}"
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return f"{space}.{name}(...)"
    bare = [p.replace(annotation=p.empty, default=_plain(p.default)) for p in parameters if p.name != "self"]
    return f"{space}.{name}{inspect.Signature(bare)}"


def _plain(default: Any) -> Any:
    """Return the default; a mark for one that stands for none."""
    return ... if type(default) is object else default


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
