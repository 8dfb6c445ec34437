"""The versions of PyTensor that this package knows, and what differs between them.

Importing it checks the version that is installed.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

OLDEST, FIRST_UNKNOWN = (2, 38), (4, 0)


def check(version: str) -> None:
    """Raise ImportError for a version of PyTensor that this package does not know."""
    found = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if OLDEST <= found < FIRST_UNKNOWN:
        return
    age = "old" if found < OLDEST else "new"
    low, high = (".".join(map(str, v)) for v in (OLDEST, FIRST_UNKNOWN))
    raise ImportError(
        f"arignote.frontends.pytensor: PyTensor {version} is too {age}, expected {low} or newer and below {high}; "
        "run pip install 'arignote[pytensor]'"
    )


try:
    from pytensor import __version__ as installed
except ImportError:
    raise ImportError(
        "arignote.frontends.pytensor needs the package pytensor: pip install 'arignote[pytensor]'",
        name="pytensor",
    ) from None
check(installed)
THIRD: bool = int(installed.split(".")[0]) >= 3
"""Whether the installed version is 3 or newer."""


def classes(module: Any, *names: str) -> tuple[type, ...]:
    """Return those of the named classes of ops that a module of the installed version has."""
    return tuple(getattr(module, name) for name in names if hasattr(module, name))


def _first(*modules: str) -> Any:
    """Return the first of these modules that the installed version has."""
    for name in modules[:-1]:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            continue
    return importlib.import_module(modules[-1])


def _xlogx() -> Any:
    return importlib.import_module("pytensor.tensor.xlogx") if find_spec("pytensor.tensor.xlogx") else None


def _linear_algebra() -> Any:
    if THIRD:
        return importlib.import_module("pytensor.tensor.linalg")
    parts = [vars(importlib.import_module(f"pytensor.tensor.{name}")) for name in ("nlinalg", "slinalg")]
    return SimpleNamespace(**{**parts[0], **parts[1]})


Function: Any = _first("pytensor.compile.executor", "pytensor.compile.function.types").Function
pickled: Any = _first("pytensor.compile.executor", "pytensor.compile.function.types")._pickle_Function
FunctionMaker: Any = _first("pytensor.compile.maker", "pytensor.compile.function.types").FunctionMaker
conditional: Any = _first("pytensor.conditional.op", "pytensor.ifelse")
linalg: Any = _linear_algebra()
"""All ops of linear algebra."""
xlogx: Any = _xlogx()
"""Module of version 2, which version 3 is about to drop; None without it."""
