"""Lazy imports: modules that are loaded when a name of theirs is first asked for.

    difflib = lazy.module("difflib")                                         # in a file: the import of a module
    __getattr__, __dir__ = lazy.modules_of(__name__, ".why", ".report")      # in a package: modules inside it
    __getattr__, __dir__ = lazy.names_of(__name__, {"jit": ".jitted"})       # names that other modules define
    __getattr__, __dir__ = lazy.all_of(__name__, ".functions")               # all names of one module

Hardly any program needs these modules, and importing all takes several times as long.  Type checkers read the same
names from imports under `if TYPE_CHECKING:`; `tests/project/test_layering.py` compares both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Hooks = tuple[Callable[[str], Any], Callable[[], list[str]]]
"""`__getattr__` and `__dir__` of a module."""


class Module:
    """A module that is imported when an attribute is first asked for."""

    __slots__ = ("_loaded", "_name", "_package")

    def __init__(self, name: str, package: str | None) -> None:
        self._name, self._package = name, package
        self._loaded: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._loaded is None:
            self._loaded = import_module(self._name, self._package)
        return getattr(self._loaded, name)

    def __repr__(self) -> str:
        return f"<lazy module {self._name!r}>"


def module(name: str, package: str | None = None) -> Any:
    """Return the module of this name, not yet imported.  `package`: the one that a relative name starts from."""
    return Module(name, package)


def modules_of(owner: str, *paths: str, **renamed: str) -> Hooks:
    """Return the hooks of the module `owner` that import these modules, each under the last part of its path.

    `paths` are relative to the package of `owner`, such as ".report"; `renamed` gives other names to modules.
    """
    return _hooks(owner, {path.rpartition(".")[2]: path for path in paths} | renamed, lambda found, name: found)


def names_of(owner: str, where: Mapping[str, str], instead: Callable[[str], str] | None = None) -> Hooks:
    """Return the hooks of the module `owner` for names that other modules define.

    `where`: for each name the module, relative to the package of `owner`; `instead` says what to write in the place of
    another name, behind a semicolon, or nothing.
    """
    return _hooks(owner, where, getattr, instead)


def all_of(owner: str, path: str) -> Hooks:
    """Return the hooks of the module `owner` for all public names of one module, relative to the package of `owner`."""

    def get(name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {owner!r} has no attribute {name!r}")
        return getattr(import_module(path, owner), name)

    return get, lambda: list(get("__all__"))


def _hooks(
    owner: str, where: Mapping[str, str], take: Callable[[Any, str], Any], instead: Callable[[str], str] | None = None
) -> Hooks:
    space = vars(sys.modules[owner])

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {owner!r} has no attribute {name!r}{advice(name)}", name=name, obj=None)
        return take(import_module(where[name], space["__package__"]), name)

    def advice(name: str) -> str:
        if name.startswith("_"):
            return ""
        return (instead(name) if instead else "") or _spelling.meant(name, names())

    def names() -> list[str]:
        return sorted({*space, *where})

    return get, names


_spelling = module(".spelling", __package__)
