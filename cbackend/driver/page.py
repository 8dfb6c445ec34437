"""A C file under construction: pieces of text, and the lines that belong to each node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...record import record


@record
class Place:
    """Lines `first` to `last` of a C file, counted from 1, with the numbers of the nodes they work for."""

    first: int
    last: int
    sites: tuple[int, ...]
    kernel: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The place as plain data."""
        return {"first": self.first, "last": self.last, "sites": list(self.sites), "kernel": self.kernel}


@record
class CFile:
    """A C file: its text, and the places in it that belong to nodes, from the top down."""

    text: str
    places: tuple[Place, ...]


@record
class Definition:
    """The text of a function, of which the first `comment` lines are a comment.

    `kernel`: its name, if the function is the kernel itself and not outlined from it.
    """

    kernel: str
    text: str
    comment: int


@record
class Mark:
    """The next line is the first that belongs to a node; to none, if `site` is None."""

    site: int | None


Line = str | Mark


class Page:
    """Pieces of text, one below the other."""

    def __init__(self, sites_of: Mapping[str, Sequence[int]]) -> None:
        """`sites_of`: the nodes that launch each kernel, by name."""
        self._sites_of = sites_of
        self._lines: list[str] = []
        self._places: list[Place] = []
        self._open: tuple[int, int] | None = None

    def add(self, piece: str | Definition) -> None:
        """Put a piece below the others."""
        if isinstance(piece, Definition) and piece.kernel:
            first = len(self._lines) + piece.comment + 1
            last = len(self._lines) + piece.text.count("\n")
            self._places.append(Place(first, last, tuple(self._sites_of.get(piece.kernel, ())), piece.kernel))
        text = piece.text if isinstance(piece, Definition) else piece
        self._lines += text.split("\n")

    def add_lines(self, lines: Iterable[Line]) -> None:
        """Put lines below the others; marks among them begin and end places."""
        for line in lines:
            if isinstance(line, str):
                self._lines += line.split("\n")
                continue
            if self._open is not None:
                first, site = self._open
                self._places.append(Place(first, len(self._lines), (site,)))
            self._open = None if line.site is None else (len(self._lines) + 1, line.site)

    def file(self) -> CFile:
        """The file so far."""
        return CFile("\n".join(self._lines), tuple(sorted(self._places, key=lambda place: place.first)))
