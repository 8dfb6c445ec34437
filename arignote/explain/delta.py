"""The changes of one rewrite in the text of a graph: removed, changed and added lines, and merged values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .. import pages
from ..graph import Op, Origin
from ..record import record


class Line(str):
    """A line of the text of a graph: names of its results, op, names that it reads, origin."""

    __slots__ = ("op", "origin", "reads", "results")
    results: tuple[str, ...]
    op: Op
    reads: tuple[str, ...]
    origin: Origin

    def __new__(cls, text: str, results: tuple[str, ...], op: Op, reads: tuple[str, ...], origin: Origin) -> Line:
        line = super().__new__(cls, text)
        line.results, line.op, line.reads, line.origin = results, op, reads, origin
        return line


@record
class Delta:
    """The effect of one rewrite on the text: removed lines, changed lines (old, new), added lines."""

    removed: tuple[Line, ...] = ()
    changed: tuple[tuple[Line, Line], ...] = ()
    added: tuple[Line, ...] = ()
    equal: tuple[tuple[str, str, str], ...] = ()
    """Merged values: the name that stays, the name that goes, the expression of both.

    The names are the same where the text had one line for both already: equal constants, and readers of merged values.
    """
    returned: tuple[str, ...] = ()
    """The line of the results before and after, if it changed."""

    def __str__(self) -> str:
        lines = [f"- {line}" for line in self.removed]
        lines += [f"{sign} {line}" for pair in self.changed for sign, line in zip("-+", pair, strict=True)]
        lines += [f"+ {line}" for line in self.added]
        return "\n".join([*lines, *self.merges()])

    @property
    def lines(self) -> Iterator[Line]:
        """All lines of the delta."""
        yield from (*self.removed, *(line for pair in self.changed for line in pair), *self.added)

    @property
    def in_text(self) -> bool:
        """Whether any line of the text differs now."""
        return bool(self.removed or self.changed or self.added)

    def merges(self) -> list[str]:
        """A sentence for each two merged values."""
        return pages.notebook.merges(self.equal)

    def to_dict(self) -> dict[str, Any]:
        """The lines as plain data."""
        return {
            "removed": list(self.removed), "changed": [list(p) for p in self.changed], "added": list(self.added),
            "equal": [list(e) for e in self.equal], "returned": list(self.returned),
        }  # fmt: skip


def compact(
    removed: tuple[Line, ...], changed: list[tuple[Line, Line]], added: list[Line],
    equal: list[tuple[str, str, str]], returned: tuple[str, str],
) -> Delta:  # fmt: skip
    """Return the delta with removed and added lines of the same name as changed lines."""
    came = {line.partition(":")[0]: line for line in added}
    pairs = [(line, came.pop(line.partition(":")[0])) for line in removed if line.partition(":")[0] in came]
    paired = {old for old, _ in pairs}
    gone = tuple(line for line in removed if line not in paired)
    results = returned if returned[0] != returned[1] else ()
    return Delta(gone, (*pairs, *changed), tuple(came.values()), tuple(equal), results)
