"""The head of a generated C file: the scalar types, and the helpers that its kernels use, each once and in order."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import cache

from ...record.package_files import package_text
from .helper import Helper
from .helpers import FOLDER, HELPERS, place

_WORD = re.compile(r"\b[A-Za-z_]\w*")
_COMMENT = re.compile(r"/\*.*?\*/", re.S)


_added: dict[str, Helper] = {}
"""The helpers of users' ops, which use those of `HELPERS` only."""


def add_helper(helper: Helper) -> None:
    """Add the helper of a user's op."""
    _added[helper.name] = helper


def helper(name: str) -> Helper:
    """Return a helper by name.

    Raises:
        KeyError: there is none.
    """
    return _added[name] if name in _added else HELPERS[name]


@cache
def types() -> str:
    """Return the C text of the types of scalars."""
    return package_text(FOLDER / "types.h").partition("#pragma once\n\n")[2]


def in_order(names: Collection[str]) -> tuple[str, ...]:
    """Return the helpers `names` in order of definition."""
    own = sorted((name for name in names if name in HELPERS), key=place)
    return (*own, *(name for name in _added if name in names and name not in HELPERS))


def used(text: str) -> tuple[str, ...]:
    """Return the names of the helpers that a C text uses, directly or through others, in order of definition."""
    wanted: set[str] = set()
    stack = [text]
    while stack:
        for word in _WORD.findall(stack.pop()):
            if word not in wanted and (word in HELPERS or word in _added):
                wanted.add(word)
                stack.append(_COMMENT.sub("", helper(word).text))
    return in_order(wanted)


def preamble(names: Iterable[str]) -> str:
    """Return the C text of the types and of the helpers `names`.  Raises ValueError for an unknown helper."""
    wanted = set(names)
    ordered = in_order(wanted)
    if len(ordered) < len(wanted):
        raise ValueError(f"no helper is called {min(wanted - set(ordered))!r}")
    return types() + "".join("\n" + helper(name).text for name in ordered)
