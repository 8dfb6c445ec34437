"""Provenance of a node: the user's file and line, taken when the node is built and inherited through every rewrite.

`here()` walks out of this library to the user's frame.  While a gradient or a rewrite builds nodes,
`inheriting(origin)` says whose lines they carry instead.
"""

from __future__ import annotations

import itertools
import linecache
import os
import sys
from collections.abc import Mapping
from contextvars import ContextVar
from inspect import CO_VARARGS
from types import CodeType
from typing import Any, NamedTuple

from ..record.frames import OWN, users_frame
from ..record.quoting import one_line


class SourceLine(NamedTuple):
    """One line of the user's program.  `str` is for people; the fields are exact.

    `module`: the path of the module of a network that the line computes, such as "layer1.0.conv1", or empty.
    """

    file: str
    line: int
    module: str = ""

    @property
    def code(self) -> str:
        """The text of the line; empty if the file cannot be read."""
        try:
            return linecache.getline(self.file, self.line).strip()
        except ValueError:  # a name that no file can have
            return ""

    def __str__(self) -> str:
        if not self.file:
            return one_line(self.module)
        cell = _cell(self.file)
        place = f"{cell}, line {self.line}" if cell else f"{one_line(_shortest(self.file))}:{self.line}"
        return f"{place} ({one_line(self.module)})" if self.module else place


def _shortest(file: str) -> str:
    """The path, relative to the working folder for files inside it."""
    try:
        seen = os.path.relpath(file)
    except (OSError, ValueError):  # the working folder is gone, or on another drive
        return file
    return file if seen.startswith(os.pardir) else seen


def _cell(file: str) -> str:
    """IPython's name for the code of a notebook's cell or a prompt, as `Cell In[3]`; empty for other files."""
    if "ipykernel_" not in file and not file.startswith("<ipython-input-"):
        return ""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    found = shell.compile.format_code_name(file) if shell is not None else None
    return " ".join(found) if found else "a cell"


Origin = tuple[SourceLine, ...]


class inheriting:  # noqa: N801  # a context, spelt as contextlib spells them
    """Nodes built inside carry `origin`; an engine that visits many nodes changes it without a new context for each."""

    __slots__ = ("_token", "origin")

    def __init__(self, origin: Origin = ()) -> None:
        self.origin: Origin = origin

    def __enter__(self) -> inheriting:
        self._token = _inherited.set(self)
        return self

    def __exit__(self, *error: object) -> None:
        _inherited.reset(self._token)


next_number = itertools.count().__next__
"""Count the variables of the process."""


class marking(inheriting):  # noqa: N801
    """Mark the nodes built inside, so that `made` distinguishes them from older ones.

    `first`: the number from which on variables were made inside or later.
    """

    __slots__ = ("_marks", "first")

    def __init__(self) -> None:
        self._marks: dict[int, Origin] = {}
        self.first: int = 0

    def __enter__(self) -> marking:
        super().__enter__()
        self.first = next_number()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        around = _inherited.get()
        if isinstance(around, marking):  # what is built inside of another block is built inside of this one, too
            around._marks.update(self._marks)

    @property
    def origin(self) -> Origin:  # type: ignore[override]
        """The user's line as an object, which nodes derived from this one share."""
        line = _users_line()
        self._marks[id(line)] = line
        return line

    def made(self, origin: Origin) -> bool:
        """Return whether a node of this origin was built inside; False if it has no lines."""
        return bool(origin) and id(origin) in self._marks


_inherited: ContextVar[inheriting | None] = ContextVar("arignote_inherited_origin", default=None)


def here() -> Origin:
    """The user's line that is building a node now, a tuple of at most one: the innermost frame outside this library."""
    cell = _inherited.get()
    if cell is not None:
        return cell.origin
    return _users_line()


def line() -> str:
    """The user's line as the end of a message."""
    at = next(iter(here()), None)
    return f"\n  at {at}" if at else ""


def remember(leaf: Any) -> None:
    """Keep the user's line as the one that made this leaf."""
    leaf.made = _users_line()


def made_at(variable: object) -> Origin:
    """The user's lines that made a leaf; empty if they are not known."""
    return getattr(variable, "made", ())


def is_inheriting() -> bool:
    """Whether the nodes that are built carry the lines of others: in a gradient or a rewrite."""
    cell = _inherited.get()
    return cell is not None and not isinstance(cell, marking)


def asked_by_us(above: int = 2) -> bool:
    """Whether a calling function is part of this library: the caller of the one that asks, or one further `above`."""
    return OWN[sys._getframe(above).f_code.co_filename]


def _users_line() -> Origin:
    frame = users_frame(sys._getframe(2))
    return () if frame is None else (SourceLine(frame.f_code.co_filename, frame.f_lineno),)


_NOTHING = object()


def asked(value: object = _NOTHING) -> str:
    """The function of this library that the user's line calls, and which of its arguments `value` is: "outer: b".

    It is for errors, which name both; empty where no line of the user calls a function.
    """
    frame, found = sys._getframe(1), ""
    while frame is not None and OWN[frame.f_code.co_filename]:
        code, given = frame.f_code, frame.f_locals
        name = code.co_name
        if name == "__call__":  # an op is called by the name that it is printed with
            name = str(getattr(given.get(code.co_varnames[0]), "name", "_"))
        if name[0].isalpha():
            argument = "" if value is _NOTHING else _argument(code, given, value)
            found = f"{name}: {argument}" if argument else name
        frame = frame.f_back  # type: ignore[assignment]
    return found if frame is not None else ""


def _argument(code: CodeType, given: Mapping[str, object], value: object) -> str:
    """The name of the argument that `value` is, or that is a list with it; empty if there is none."""
    count = code.co_argcount + code.co_kwonlyargcount
    words = code.co_varnames[: count + bool(code.co_flags & CO_VARARGS)]
    for word in words:
        held = given.get(word, _NOTHING)
        if held is value:
            return word
        if isinstance(held, (list, tuple)):
            place = next((k for k, item in enumerate(held) if item is value), None)
            if place is not None:
                return f"{word}[{place}]"
    return ""


def modules_of(origin: Origin) -> tuple[str, ...]:
    """The paths of the modules of a network that lines belong to, each once, in order."""
    return tuple(dict.fromkeys(line.module for line in origin if line.module))


def union(*origins: Origin) -> Origin:
    """The lines of several nodes together, each once, in order."""
    return tuple(dict.fromkeys(line for origin in origins for line in origin))
