"""Progress of a long compilation: one line, shown after half a second in terminals and notebooks.

    arignote: compiling step: optimizing: canonicalize, 6 of 27 0.7 s
    arignote: compiling step: compiling 840 lines of C 3.1 s

Nothing is shown without a terminal or a notebook's cell, nor under ARIGNOTE_PROGRESS=0.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TextIO

from ..options import process_options
from ..record.ending import interpreter_ends
from ..record.stages import told

PATIENCE = 0.5
"""Seconds of silence."""
_STEP = 0.25

Show = Callable[[str], None]
"""Shows a line in place of the last one; an empty one ends it."""


class Progress:
    """Progress of a compilation; the compiler sets `stage`, and a thread refreshes the line."""

    name: str
    show: Show
    verb: str

    def __init__(self, name: str, show: Show, verb: str = "compiling") -> None:
        self.name, self.show, self.verb = name, show, verb
        self.stage = "optimizing"
        self._begun = time.perf_counter()
        self._done = threading.Event()
        self._shown = False
        self._thread = threading.Thread(target=self._run, name="arignote progress", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop and erase the line."""
        self._done.set()
        self._thread.join()
        if self._shown:
            self.show("")

    def _run(self) -> None:
        while not self._done.wait(_STEP if self._shown else PATIENCE):
            self._shown = True
            self.show(f"arignote: {self.verb} {self.name}: {self.stage} {time.perf_counter() - self._begun:.1f} s")


class Silence:
    """No progress: the output is no terminal and no notebook."""

    stage = ""


@contextmanager
def progress(name: str, verb: str = "compiling") -> Iterator[Progress | Silence]:
    """Return the progress of work on `name`, shown after `PATIENCE` seconds if a person watches."""
    show = shower(sys.stderr) if process_options().progress and not interpreter_ends() else None
    if show is None:
        yield Silence()
        return
    shown = Progress(name, show, verb)
    try:
        with told(partial(setattr, shown, "stage")):
            yield shown
    finally:
        shown.end()


def shower(stream: TextIO | None) -> Show | None:
    """Return the function that shows a line on this stream if it is interactive; else None."""
    if stream is None or stream.closed:
        return None
    if type(stream).__module__.startswith("ipykernel."):
        return _in_notebook()
    return _in_terminal(stream) if stream.isatty() else None


def _in_terminal(stream: TextIO) -> Show:
    width = 0

    def show(line: str) -> None:
        nonlocal width
        try:
            stream.write(line.ljust(width) + "\r")
            stream.flush()
        except (OSError, ValueError):  # closed, or a pipe without a reader
            return
        width = len(line)

    return show


def _in_notebook() -> Show:
    """Return a function that shows a line as one output of the cell; the empty last line removes it."""
    from IPython.display import display

    first: Any = display  # some versions of IPython have no types here
    handle: Any = None

    def show(line: str) -> None:
        nonlocal handle
        data = {"text/plain": line, "text/html": f"<i>{line.replace('<', '&lt;')}</i>" if line else ""}
        if handle is None:
            handle = first(data, raw=True, display_id=True)
        else:
            handle.update(data, raw=True)

    return show
