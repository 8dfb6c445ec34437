"""Digests of Python functions: equal for equal code and equal values it reads, in every process.

A function is known by its bytecode, its constants, its defaults, and the values that it reads from closures and
globals.  Modules are known by name and version.  A function that reads anything else has no digest.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class _Unknown(Exception):
    """A value that text does not identify."""


def code_digest(function: Any) -> str | None:
    """Return the digest of a function; None if it reads a value without a digest."""
    found = hashlib.sha256()
    try:
        for part in _parts(function, set()):
            found.update(part.encode() + b"\0")
    except _Unknown:
        return None
    return found.hexdigest()


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    if type(value) in _PLAIN:
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, (tuple, list, frozenset)):
        items = sorted(value, key=repr) if isinstance(value, frozenset) else value
        yield f"{type(value).__name__} {len(value)}"
        for item in items:
            yield from _parts(item, seen)
    elif isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "biufc":
        yield f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, FunctionType):
        if id(value) not in seen:
            seen.add(id(value))
            yield from _function(value, seen)
    elif isinstance(value, CodeType):
        yield from _code(value, seen)
    else:
        yield _named(value)


def _function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield from _code(function.__code__, seen)
    yield from _parts(function.__defaults__ or (), seen)
    for name, default in sorted((function.__kwdefaults__ or {}).items()):
        yield name
        yield from _parts(default, seen)
    for cell in function.__closure__ or ():
        try:
            yield from _parts(cell.cell_contents, seen)
        except ValueError:
            raise _Unknown from None  # a name that is not bound yet
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield name
            yield from _parts(function.__globals__[name], seen)


def _code(code: CodeType, seen: set[int]) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_argcount}"
    for const in code.co_consts:
        yield from _parts(const, seen)


def _names(code: CodeType) -> set[str]:
    """Return the names of globals and attributes that a code reads, with those of inner functions."""
    inside = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*map(_names, inside))


def _named(value: Any) -> str:
    """Return a module with its version, or a member of a module with a version."""
    if isinstance(value, ModuleType):
        return f"module {value.__name__} {_version(value.__name__)}"
    name = str(getattr(value, "__name__", ""))
    homes = (getattr(value, "__module__", None), "numpy", "scipy.special")  # a ufunc does not say where it is from
    for home in homes:
        if home is not None and name and getattr(sys.modules.get(home), name, None) is value:
            return f"{home}.{name} {_version(home)}"
    raise _Unknown


def _version(module: str) -> str:
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:
        return sys.version
    version = getattr(sys.modules.get(package), "__version__", None)
    if not isinstance(version, str):
        raise _Unknown
    return version
