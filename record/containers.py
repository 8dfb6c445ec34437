"""Classes whose instances hold several variables: those of `ag.tree.register`, and sparse matrices.

`tree.py` takes instances apart and makes them; operators of variables leave those with operators of their own alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Registered(NamedTuple):
    """How a class is taken apart and made."""

    kind: type
    """The class that stands for this one in forms: a variable's class for one of values."""
    flatten: Callable[[Any], tuple[Any, Any]]
    unflatten: Callable[[Any, Any], Any]
    fixed: frozenset[str] = frozenset()
    """The names of parts that derivatives leave as they are, such as positions of elements."""
    fix: str = ""
    """The fix for a value of another class, in messages."""


registered: dict[type, Registered] = {}
with_operators: set[type] = set()
"""Classes whose operators take variables on the other side."""
