"""Pieces of a C file: its functions and types by name, each with the comment in front of it.

A blank line in front of a line that is not indented ends a piece.  All that stands together is one piece, so that a
function may have its own struct and its own helpers before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...record import record

_BETWEEN = r"\n\n+(?=[^\s}])"  # patterns are compiled where C is put together, not at import
_COMMENT = r"(?s)/\*.*?\*/"
_ATTRIBUTE = r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\) *"
_DEFINED = r"(?m)^(?:} (\w+);|enum {(.*?)}|(?![ #{}]).*?\b(\w+)\()"


@record
class Piece:
    """Text of a file that stands together, and the names of what it defines, the last one its own."""

    names: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        return self.names[-1]


def pieces(text: str) -> Iterator[Piece]:
    """Yield the pieces of a C text that define a function or a type; includes and lone types have no name."""
    for piece in re.split(_BETWEEN, text.strip("\n")):
        bare = re.sub(_ATTRIBUTE, "", re.sub(_COMMENT, "", piece))
        names = tuple(dict.fromkeys(name for found in re.findall(_DEFINED, bare) for name in _names(*found)))
        if names:
            yield Piece(names, piece + "\n")


def _names(struct: str, constants: str, function: str) -> Iterator[str]:
    """Yield what one match of `_DEFINED` defines."""
    if constants:
        yield from (constant.partition("=")[0].strip() for constant in constants.split(","))
    else:
        yield struct or function


def named(text: str) -> dict[str, Piece]:
    """Return the pieces of a C text by all the names that they define, in order."""
    return {name: piece for piece in pieces(text) for name in piece.names}
