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
    for name in sorted(listdir(dirname(__file__))):
        if name.endswith(".py") and name[0] != "_":
            import_module(f".{name[:-3]}", __name__)
    ours = [kind for kind in Format.__subclasses__() if kind.__module__.startswith(__name__)]
    return tuple(sorted(ours, key=_preference))


def _preference(kind: type[Format]) -> tuple[int, str]:
    return kind.order, kind.name
