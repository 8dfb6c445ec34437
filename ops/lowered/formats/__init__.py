"""Formats of packed weights, one a file: how a matrix is laid, what it costs, and which C reads it.

Begin with format.py, the base.  No table lists the formats: `formats` finds them in this folder.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from os import listdir
from os.path import dirname

from .format import Format


@cache
def formats() -> tuple[type[Format], ...]:
    """Return the classes of all formats, those whose rules are tried first in front."""
    names = sorted(name[:-3] for name in listdir(dirname(__file__)) if name.endswith(".py") and name[0] != "_")
    modules = [import_module(f".{name}", __name__) for name in names]
    found = [kind for module in modules for kind in vars(module).values() if _is_format(kind, module.__name__)]
    return tuple(sorted(found, key=lambda kind: kind.order))


def _is_format(kind: object, module: str) -> bool:
    return isinstance(kind, type) and issubclass(kind, Format) and kind.__module__ == module and kind is not Format
