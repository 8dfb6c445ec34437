"""The live table of `ag.tune`: a line for each kernel, refreshed in terminals and notebooks.

    kernel              now           best   gain  tried  schedule
    k_73162bc81782c2b3  12.1 us     9.8 us   1.23     14  unroll=4

Nothing is shown without a terminal or a notebook's cell, nor under ARIGNOTE_PROGRESS=0.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TextIO

from .. import pages
from ..options import process_options
from ..record import record
from ..record.ending import interpreter_ends

HEADS = ("kernel", "default", "best", "gain", "tried", "schedule", "computes")
_WIDTH = 110


@record
class Row:
    """The state of one kernel: seconds of its default and of its best form, and how many were tried."""

    kernel: str
    computes: str
    default: float
    best: float
    tried: int
    schedule: str

    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        gain = self.default / self.best if self.best else 1.0
        times = (f"{self.default * 1e6:.1f} us", f"{self.best * 1e6:.1f} us")
        return (self.kernel, *times, f"{gain:.2f}", str(self.tried), self.schedule, self.computes)


def text_of(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a table of rows."""
    cells = [HEADS, *(row.cells() for row in rows)]
    widths = [max(len(each[c]) for each in cells) for c in range(len(HEADS))]
    return ["  ".join(f"{t:<{w}}" for t, w in zip(each, widths, strict=True))[:_WIDTH].rstrip() for each in cells]


class LiveTable:
    """A table that is written again in its place whenever a row changes."""

    def __init__(self, title: str, stream: TextIO | None = None) -> None:
        self.title = title
        self._stream = stream if stream is not None else _interactive()
        self._lines = 0
        self._handle: Any = None

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows in place of the last ones."""
        if self._stream is None:
            return
        if type(self._stream).__module__.startswith("ipykernel."):
            self._in_notebook(rows)
        else:
            self._in_terminal([self.title, *text_of(rows)])

    def _in_terminal(self, lines: Sequence[str]) -> None:
        assert self._stream is not None
        up = f"\x1b[{self._lines}A" if self._lines else ""
        try:
            self._stream.write(up + "".join(f"\x1b[2K{line}\n" for line in lines))
            self._stream.flush()
        except (OSError, ValueError):  # closed, or a pipe without a reader
            self._stream = None
        self._lines = len(lines)

    def _in_notebook(self, rows: Sequence[Row]) -> None:
        from IPython.display import display

        html = f"<div>{pages.markup.escaped(self.title)}</div>" + pages.notebook.scrolled(
            HEADS, [row.cells() for row in rows]
        )
        data = {"text/plain": "\n".join([self.title, *text_of(rows)]), "text/html": html}
        if self._handle is None:
            first: Any = display  # some versions of IPython have no types here
            self._handle = first(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _interactive() -> TextIO | None:
    """Return standard error if a person watches it."""
    stream = sys.stderr if process_options().progress and not interpreter_ends() else None
    if stream is None or stream.closed:
        return None
    return stream if type(stream).__module__.startswith("ipykernel.") or stream.isatty() else None
