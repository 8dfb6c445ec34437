"""Progress of a user's loop: one line in a terminal or a notebook, which replaces the last one.

    for epoch in (bar := ag.progress(range(400), "training")):
        bar.note(loss=step(epoch))

    training: 112 of 400, 28 %, 61.2 a second, 4.7 s left, loss 0.0132
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import Any, Generic, TypeVar

from ..function.compile_progress import Show, shower
from ..options import process_options
from ..record.quoting import one_line

Item = TypeVar("Item")

STEP = 0.1
"""Seconds between two lines."""
_TICKS = "▁▂▃▄▅▆▇█"


class Bar(Generic[Item]):
    """An iterable that shows the progress of its loop in a terminal or a notebook; items are passed on."""

    name: str

    def __init__(self, items: Iterable[Item], name: str, total: int | None) -> None:
        self._items, self.name = items, name
        self.total: int | None = len(items) if total is None and isinstance(items, Sized) else total
        self.done: int = 0
        """Number of finished items."""
        self.notes: dict[str, Any] = {}
        self._begun = self._shown = time.perf_counter()
        self._show: Show | None = None

    def __iter__(self) -> Iterator[Item]:
        self._show = shower(sys.stderr) if process_options().progress else None
        self._begun = time.perf_counter()
        self.done = 0
        try:
            for item in self._items:
                yield item
                self.done += 1
                self._refresh()
        finally:
            if self._show is not None:
                self._show("")
                self._show = None

    def __len__(self) -> int:
        if self.total is None:
            raise TypeError(f"progress: the length of {self.name or 'this loop'} is not known")
        return self.total

    def note(self, **values: Any) -> None:
        """Show these values, such as `loss=0.1`, at the end of the line from now on."""
        self.notes.update(values)

    def line(self) -> str:
        """Return the present line."""
        seconds = time.perf_counter() - self._begun
        speed = self.done / seconds if seconds > 0 else 0.0
        parts = [f"{self.done:,}" if self.total is None else f"{self.done:,} of {self.total:,}"]
        if self.total:
            parts.append(f"{100 * self.done // self.total} %")
        if self.done:
            parts.append(f"{speed:.3g} a second" if speed >= 1 else f"{seconds / self.done:.3g} s each")
        if self.done and self.total and self.total > self.done:
            parts.append(f"{(self.total - self.done) / speed:.1f} s left")
        parts += [f"{name} {_short(value)}" for name, value in self.notes.items()]
        return one_line(f"{self.name}: {', '.join(parts)}" if self.name else ", ".join(parts))

    def _refresh(self) -> None:
        now = time.perf_counter()
        if self._show is not None and now - self._shown >= STEP:
            self._shown = now
            self._show(self.line())


def progress(items: Iterable[Item], name: str = "", total: int | None = None) -> Bar[Item]:
    """Return the items, with a line that shows the loop's progress, speed and remaining time.

    Args:
        items: any iterable, such as `range(400)` or a list of minibatches.
        name: text before the line.
        total: how many items there are, where `len(items)` does not say.

    The line stands in a terminal or below a notebook's cell, ten times a second at most; nothing is written to a file
    or a pipe, nor under ARIGNOTE_PROGRESS=0.  `bar.note(loss=...)` adds values.
    """
    if not isinstance(items, Iterable):
        raise TypeError(f"progress: items is {items!r}; expected an iterable, such as range({items!r})")
    if total is not None and (isinstance(total, bool) or not isinstance(total, int) or total < 0):
        raise ValueError(f"progress: total is {total!r}; expected a number of items or None")
    return Bar(items, name, total)


def curve(values: Iterable[float], width: int = 60) -> str:
    """Return the values as a line of blocks, at most `width`; each block shows the mean of its values."""
    given = [float(value) for value in values]
    if not given:
        return ""
    columns = min(width, len(given))
    shares = [given[k * len(given) // columns : (k + 1) * len(given) // columns] for k in range(columns)]
    means = [sum(share) / len(share) for share in shares]
    low, high = min(means), max(means)
    if not low < high:  # all equal, or a NaN among them
        return _TICKS[0] * columns
    return "".join(_TICKS[round((mean - low) / (high - low) * (len(_TICKS) - 1))] for mean in means)


def _short(value: Any) -> str:
    """A number with four digits; other values as text."""
    try:
        return f"{float(value):.4g}"
    except (TypeError, ValueError):
        return str(value)
