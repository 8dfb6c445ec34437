"""Errors that say which lists a statement changes, so that it is traced again with lists that grow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...graph.provenance import line
from ...ops.core.tracing import Trace
from ...tree import flat
from ..saved import LISTS, Saved, inside
from .kinds import Kind


class Changed(TypeError):
    """A statement that depends on values changes lists: each list, with items that it has to hold."""

    def __init__(self, lists: Sequence[tuple[Any, Sequence[Any]]], message: str, renames: bool = False,
                 tables: bool = False) -> None:  # fmt: skip
        super().__init__(message)
        self.lists: Sequence[tuple[Any, Sequence[Any]]] = lists
        self.renames: bool = renames
        """Whether a name becomes another list."""
        self.tables: bool = tables
        """Whether the items of the lists are rows, see tables.py."""
        self.saved: Any = None
        """The statement that has changed lists of Python by itself."""


def refused(saved: Saved, where: str) -> Changed:
    """Return the error of a statement that has changed what it must not; `where` names it."""
    changed = [(c, list(c) if type(c) in LISTS else []) for c, parts, _ in saved.containers if inside(c) != parts]
    found = Changed(changed, f"a list or dict is changed in {where}; fill an array, or run it in Python by "
                    f"ag.jit(f, strict=False){line()}")  # fmt: skip
    found.saved = saved
    return found


class Lacking(TypeError):
    """A list that begins inside of a statement has no arrays yet: the kinds and the lengths of its items."""

    def __init__(self, kinds: Sequence[Kind], lengths: Sequence[Any]) -> None:
        super().__init__(f"a list changes in a loop or branch that depends on values{line()}")
        self.kinds: tuple[Kind, ...] = tuple(kinds)
        self.lengths: tuple[Any, ...] = tuple(lengths)


def passes_on(trace: Trace, error: Exception) -> bool:
    """Whether a statement around the failed one can be traced again with other lists."""
    known = {id(c) for s in trace.saved for c, _, _ in s.containers}
    return bool(trace.saved) and (
        isinstance(error, Lacking) or (isinstance(error, Changed) and any(id(c) in known for c, _ in error.lists))
    )


def require_one_list(name: str, old: Any, *new: Any) -> None:
    """Raise Changed if a name, which is the list `old`, becomes lists that no loop carries number by number."""
    lists = [v for v in new if v is not old and type(v) is type(old)]
    if type(old) not in LISTS or not lists:
        return
    forms = {repr(flat(v, [], records=None)) for v in (old, *lists)}
    if len(forms) > 1 or any(type(v).__name__ == "Grown" for one in (old, *lists) for v in one):
        items = [v for one in lists for v in one]
        raise Changed([(old, items)], f"{name} becomes another list in a loop or branch that depends on values{line()}",
                      renames=True)  # fmt: skip
