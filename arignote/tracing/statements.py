"""Statements of a rewritten function while it is traced: what source.py calls in the place of control flow.

    if_, choice, and_, or_, not_, has_items branches.py
    plus, spliced                           growing/methods.py
    compare, compared                       builtins/comparisons.py
    for_, while_, items, kept, listed       looping/loops.py
    collected, consumed, consumed_list      looping/folds.py
    call, call_writing, joined              calls.py
    hashed, showing, written                builtins/plain_values.py
    raise_if, fail, require                 raising.py
    trying, caught                          catching.py
    item, added, set_item, change_item, set_attribute, change_attribute, owns, assigns, returned,
    is_sequence, Undefined                  here
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Variable
from ..graph.provenance import line
from ..ops.core.traced import known_of
from ..ops.core.tracing import current
from ..ops.shapes.stored import fitted
from ..ops.shapes.stored import set_item as stored_item
from .branches import and_, any_of, choice, has_items, if_, none_of, not_, or_
from .builtins.comparisons import compare, compared
from .builtins.plain_values import key as hashed
from .builtins.plain_values import showing, written
from .calls import call, call_writing, joined
from .catching import caught, trying
from .growing import methods
from .growing.changes import Changed
from .growing.lists import grown_of
from .growing.methods import plus, spliced
from .growing.tables import entry, gathered, table_of
from .looping.folds import collected, consumed, consumed_list
from .looping.loops import for_, items, kept, listed, while_
from .raising import fail, raise_if, require
from .saved import LISTS
from .undefined import Undefined, defined

__all__ = [
    "Undefined", "added", "and_", "any_of", "assigns", "call", "call_writing", "caught", "change_attribute",
    "change_item", "choice", "collected", "compare", "compared", "consumed", "consumed_list", "fail", "for_",
    "has_items", "hashed", "if_", "is_sequence", "item", "items", "joined", "kept", "listed", "none_of", "not_",
    "or_", "owns", "plus", "raise_if", "require", "returned", "set_attribute", "set_item", "showing", "slice",
    "spliced", "trying", "while_", "written",
]

slice = slice  # noqa: PLW0127  (the builtin, under a name that the user's globals do not hide)


def set_item(x: Any, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    defined(x), defined(value)
    if isinstance(x, Variable) and current() is not None:
        stored_item(x, key, value)
        return
    if type(x) in LISTS and _changes(x, key, [value]):
        return
    key = _key(x, key)
    if _is_plain_array(x) and (_holds_variable(key) or _holds_variable(value) or _in_branch()):
        raise TypeError(
            f"x[...] = v: x is an array made outside of the traced function; pass it as an argument, or make it in the "
            f"function, as by np.zeros{line()}"
        )
    x[key] = value


def added(x: Any, value: Any) -> Any:
    """`x += value`, the new value of x."""
    if type(x) in LISTS and (grown := grown_of(x)) is not None:
        methods.extend(grown, value)
        return x
    x += value
    return x


def item(x: Any, key: Any) -> Any:
    """`x[key]`."""
    if type(x) in LISTS:
        grown = grown_of(x)
        if grown is not None:
            return methods.get(grown, key)
    if type(x) in (*LISTS, tuple) and _varies(key):
        if type(x) is not tuple:
            _take_as_table(x, [])
        found = gathered(current(), x, key)  # type: ignore[arg-type]
        if found is not None:
            return found
        if type(x) is not tuple and _in_branch():
            raise Changed([(x, [])], f"an item of a list by an index that depends on values{line()}")
    if isinstance(x, dict) and isinstance(key, Variable) and not key.ndim and known_of(key) is None:
        found = entry(current(), x, key)  # type: ignore[arg-type]
        if found is not None:
            return found
    return x[_key(x, key)]


def _varies(key: Any) -> bool:
    """Whether a key is an integer that depends on values."""
    return isinstance(key, Variable) and not key.ndim and key.type.kind in "biu" and known_of(key) is None


def _take_as_table(x: Any, items: Sequence[Any]) -> None:
    """Raise Changed in a loop or branch if a list is a list of rows, or a row of one, whose numbers one array holds.

    `items`: rows that it has to hold.
    """
    if not _in_branch():
        return
    if table_of([*x, *items]) is not None:
        raise Changed([(x, items)], f"a list of lists by an index that depends on values{line()}", tables=True)
    trace: Any = current()
    known = [c for saved in trace.saved for c, *_ in saved.containers]
    named = any(v is x for saved in trace.saved for v in saved.values)
    for table in known:
        if type(table) is list and any(row is x for row in table) and not named and table_of(table) is not None:
            raise Changed([(table, [])], f"a list of lists by an index that depends on values{line()}", tables=True)


def _changes(x: Any, key: Any, items: Sequence[Any]) -> bool:
    """Write an item of a list that changes by values; return whether it is one.  Raises Changed if it has to be."""
    grown = grown_of(x)
    if grown is not None:
        methods.put(grown, key, *items)
    elif isinstance(key, Variable) and known_of(key) is None and _in_branch():
        _take_as_table(x, items)
        raise Changed([(x, items)], "an item of a list is assigned by an index that depends on values; fill an array"
                      f"{line()}")  # fmt: skip
    return grown is not None


def _key(x: Any, key: Any) -> Any:
    """Return the key with which Python looks into `x`."""
    return hashed(key) if isinstance(x, dict) else key


def change_item(x: Any, key: Any, word: str, value: Any) -> None:
    """`x[key] += value` and the like; the index is evaluated once."""
    defined(x), defined(value)
    old = item(x, key)
    if isinstance(x, Variable) and isinstance(old, Variable) and current() is not None:
        new = getattr(operator, word)(old, value)
        if not _fits(new, x):
            raise TypeError(
                f"x[...] {_symbol(word)}= v: the result is of {new.dtype}, which an array of {x.dtype} cannot hold"
                f"{line()}"
            )
        stored_item(x, key, fitted(old, new, "x[...] += v"))
        return
    set_item(x, key, getattr(operator, "i" + word.rstrip("_"))(old, value))


def _fits(new: Any, x: Any) -> bool:
    return not isinstance(new, Variable) or bool(np.can_cast(new.type.numpy, x.type.numpy, "same_kind"))


def _symbol(word: str) -> str:
    return _SYMBOLS.get(word, "op")


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**"}


def set_attribute(x: Any, name: str, value: Any) -> None:
    """`x.name = value`."""
    defined(x), defined(value)
    if _in_branch() and not isinstance(x, Variable):
        raise TypeError(
            f"{type(x).__name__}.{name} is assigned in a loop or branch that depends on values; assign a variable "
            f"there, and the attribute after it{line()}"
        )
    setattr(x, name, value)


def change_attribute(x: Any, name: str, word: str, value: Any) -> None:
    """`x.name += value` and the like."""
    set_attribute(x, name, getattr(operator, "i" + word.rstrip("_"))(getattr(x, name), value))


def owns(variable: Callable[[], Any]) -> None:
    """Begin a function with a variable that functions inside it assign."""
    trace = current()
    if trace is not None:
        cell = _cell(variable)
        trace.owners[id(cell)] = trace.depth, cell


def assigns(variable: Callable[[], Any]) -> None:
    """Begin a function that assigns a variable of one around it.

    Raises TypeError in a loop or branch that does not know of it: each branch begins with the values from before it.
    """
    trace = current()
    if trace is None:
        return
    cell = _cell(variable)
    first, _ = trace.owners.get(id(cell), (0, cell))
    closures = [getattr(put, "__closure__", None) or () for put in trace.open[first:]]
    if any(all(one is not cell for one in closure) for closure in closures):
        raise TypeError(
            f"{variable.__code__.co_freevars[0]}, a variable of an outer function, is assigned by a function that is "
            f"called in a loop or branch that depends on values; return its value{line()}"
        )


def _cell(variable: Callable[[], Any]) -> Any:
    """Return the cell of the only variable that a function reads."""
    (cell,) = variable.__closure__  # type: ignore[attr-defined, misc]
    return cell


def returned(value: Any) -> Any:
    """The result of a function with several returns."""
    return defined(value)


def is_sequence(x: Any, least: int, more: bool) -> bool:
    """Whether a pattern of `match` for so many items, or `more`, takes a value to pieces."""
    if not isinstance(x, Sequence) or isinstance(x, (str, bytes, bytearray)):
        return False
    return len(x) >= least if more else len(x) == least


def _in_branch() -> bool:
    trace = current()
    return trace is not None and trace.depth > 0


def _is_plain_array(x: Any) -> bool:
    return type(x) is np.ndarray


def _holds_variable(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_holds_variable, value))
    return isinstance(value, Variable)

