"""Comparisons in a rewritten function, also of lists and tuples whose elements are symbolic, and membership.

    a == b    a < b <= c    value in container    [a, b] == [c, d]    (a, b) < (c, d)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ... import ops as T
from ...graph import Variable
from ...ops.core.traced import is_symbolic, operated, truth_value
from ...record import lazy
from ..branches import and_, any_of, not_, truth
from ..saved import is_value

lists: Any = lazy.module("...growing.lists", __name__)
methods: Any = lazy.module("...growing.methods", __name__)
_PLAIN: dict[str, Callable[[Any, Any], Any]] = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip


def _equal(word: str, a: Any, b: Any) -> Any:
    """`a == b` or `a != b`, by elements for symbolic values: this library itself compares them by identity."""
    if isinstance(a, Variable) or isinstance(b, Variable):
        other = b if isinstance(a, Variable) else a
        return operated(word, a, b) if is_value(other) or isinstance(other, (list, tuple)) else word == "ne"
    lists.grown_of(a, "comparison"), lists.grown_of(b, "comparison")
    if type(a) is type(b) and type(a) in (list, tuple):
        return _by_elements(word, a, b)
    return a == b if word == "eq" else a != b


_CONTAINERS = (list, tuple, set, frozenset, dict)


def _contains(container: Any, value: Any) -> Any:
    container = methods.as_items(container)
    if isinstance(container, Variable):
        return truth_value(T.any(T.eq(container, value)))
    if type(container) is range and isinstance(value, Variable):
        low, high = sorted((container[0], container[-1])) if container else (0, -1)
        between = T.logical_and(T.ge(value, low), T.le(value, high))
        return truth_value(T.logical_and(between, T.eq(T.mod(T.sub(value, low), abs(container.step)), 0)))
    if type(container) in _CONTAINERS and holds_symbolic((value, *container)):
        return truth_value(any_of(*(True if c is value else _equal("eq", value, c) for c in container)))
    return value in container


def _before(word: str, a: Any, b: Any) -> Any:
    """`a < b` and the like."""
    if type(a) is type(b) and type(a) in (list, tuple):
        return _by_elements(word, a, b)
    return _PLAIN[word](a, b)


def _by_elements(word: str, a: Any, b: Any) -> Any:
    """Compare two lists or two tuples: the first elements that differ decide, then the lengths."""
    compared = _PLAIN[word]
    if not holds_symbolic((a, b)):
        return compared(a, b)
    if word in ("eq", "ne") and len(a) != len(b):
        return word == "ne"
    found: Any = compared(len(a), len(b))
    for x, y in zip(reversed(a[: len(b)]), reversed(b[: len(a)]), strict=True):
        same = x is y or truth(_equal("eq", x, y))
        if same is True:
            continue
        differing = word == "ne" if word in ("eq", "ne") else truth(_before(word, x, y))
        found = differing if same is False else T.where(same, found, differing)
    return found if isinstance(found, bool) else truth_value(found)


def holds_symbolic(values: Any) -> bool:
    """Whether a list or tuple holds a symbolic value, however deep."""
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if is_symbolic(one):
            return True
        if type(one) in (list, tuple):
            waiting += one
    return False


COMPARED: dict[str, Callable[[Any, Any], Any]] = {
    **{w: partial(_equal, w) for w in ("eq", "ne")}, **{w: partial(_before, w) for w in ("lt", "le", "gt", "ge")},
    "is_": operator.is_, "is_not": operator.is_not, "in": lambda a, b: _contains(b, a),
    "not in": lambda a, b: not_(_contains(b, a)),
}  # fmt: skip


def compared(word: str, a: Any, b: Any) -> Any:
    """`a == b` and the like."""
    return COMPARED[word](a, b)


def compare(words: Sequence[str], left: Any, *rest: Callable[[], Any]) -> Any:
    """`left < b <= c` and the like; an operand is computed only if those before it decide nothing."""
    right = rest[0]()
    found = COMPARED[words[0]](left, right)
    if len(words) == 1:
        return found
    return and_(found, lambda: compare(words[1:], right, *rest[1:]))
