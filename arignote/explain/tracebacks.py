"""Errors in notebooks: the message with underlined operands, then the user's lines, none of ours.

    ValueError: model: lengths 3 and 4 do not agree on axis 0: exp(x) (3,), y (4,)
      in mul(exp(x), y), built at Cell In[2], line 1
             ^^^^^^  ^
      > h = T.exp(x) * y
    at Cell In[3], line 1
      > f(three, four)

IPython asks an error for `_render_traceback_`.  Calls of functions give it to the errors that they raise; `%load_ext
arignote` gives it to those of building and compiling, too.  A notebook shows the same as a form, with shapes in a
table, and below it the first line alone; what shows no HTML gets the text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from .. import pages
from ..graph.pointing import NOWHERE, Pointed
from ..graph.provenance import SourceLine
from ..record.frames import OWN

MOST = 6
"""Most lines of the user that are shown, the innermost ones."""
RED, PLAIN = "\x1b[31m", "\x1b[0m"

_SHELLS = ("IPython", "ipykernel")


class Told(NamedTuple):
    """The displayed form of one error.  It refers neither to a frame nor to the error, so it keeps no array alive."""

    kind: str
    message: str
    lines: tuple[SourceLine, ...]
    """Lines of the user's program, innermost first."""
    pointed: Pointed = NOWHERE

    def html(self) -> str:
        """The form for notebooks."""
        first, *rest = self.message.removesuffix(str(self.pointed)).splitlines() or [""]
        where = self.pointed
        guilty = set(where.guilty)
        operands = [(name, k in guilty) for k, name in enumerate(where.operands)]
        shapes = [(name, str(shape).replace("None", "?")) for name, shape in zip(where.operands, where.shapes) if shape]
        built = [("built at", str(where.line), where.code)] if where.line is not None else []
        places = built + [("at", str(line), line.code) for line in self.lines[:MOST]]
        said = "\n".join([first, *rest])
        return pages.notebook.error_form(self.kind, said, where.op, operands, shapes, places)

    def text(self) -> list[str]:
        """Lines for displays without HTML; underlines and the kind of the error are red."""
        first, *rest = self.message.splitlines() or [""]
        shown = [f"{RED}{self.kind}{PLAIN}: {first}"]
        shown += [f"{RED}{line}{PLAIN}" if line.strip(" ^") == "" else line for line in rest]
        for line in self.lines[:MOST]:
            shown.append(f"at {line}")
            shown += [f"  > {line.code}"] if line.code else []
        left = len(self.lines) - MOST
        return shown + [f"called from {left} more line{'s' * (left > 1)}"] * (left > 0)


class Shown:
    """Displays an error: once as HTML in a notebook, with the first line below; else as text.

    IPython asks twice for each error, and keeps the second answer.
    """

    def __init__(self, told: Told) -> None:
        self._told, self._shown = told, False

    def __call__(self) -> list[str]:
        """The lines of the traceback."""
        told, publish = self._told, _publisher()
        if publish is None or self._shown:
            return told.text()
        self._shown = True
        publish({"text/html": told.html(), "text/plain": "\n".join(told.text())})
        return told.text()[:1]


def tell(error: BaseException) -> None:
    """Attach the short form to an error that one of our files raised; for use where it is caught.

    Nothing is done without IPython, nor for errors that come from code of the user or have one for their cause.
    """
    if "IPython" not in sys.modules or hasattr(error, "_render_traceback_") or not _raised_by_us(error):
        return
    inner = [_line(tb.tb_frame, tb.tb_lineno) for tb in _steps(error.__traceback__)]
    outer = error.__traceback__.tb_frame.f_back if error.__traceback__ is not None else None
    found = [*reversed(inner), *(_line(frame, frame.f_lineno) for frame in _callers(outer))]
    lines = tuple(line for line in found if not _is_ours(line.file))
    told = Told(type(error).__name__, str(error), lines, getattr(error, "pointed", NOWHERE))
    error._render_traceback_ = Shown(told)  # type: ignore[attr-defined]
    error._repr_html_ = told.html  # type: ignore[attr-defined]


def _publisher() -> Callable[[dict[str, str]], None] | None:
    """The display function of the notebook that runs this; None in terminals and elsewhere."""
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell.display_pub.publish if getattr(shell, "kernel", None) is not None else None


def tell_all(shell: Any) -> None:
    """Make an IPython shell show each error of ours in its short form, and leave others unchanged."""

    def handler(shell: Any, kind: type, error: BaseException, tb: TracebackType, tb_offset: int | None = None) -> None:
        tell(error)
        shell.showtraceback((kind, error, tb), tb_offset=tb_offset, running_compiled_code=True)

    shell.set_custom_exc((Exception,), handler)


def _raised_by_us(error: BaseException) -> bool:
    if error.__cause__ is not None and not _raised_by_us(error.__cause__):
        return False
    steps = list(_steps(error.__traceback__))
    return not steps or _is_ours(steps[-1].tb_frame.f_code.co_filename)


def _is_ours(file: str) -> bool:
    """Whether a file belongs to this library or was generated by it."""
    return OWN[file] or file.startswith("<entry of ")


def _steps(tb: TracebackType | None) -> Iterator[TracebackType]:
    """Yield a traceback from the outermost frame inwards, without frames of the shell."""
    while tb is not None:
        if not _is_shell(tb.tb_frame):
            yield tb
        tb = tb.tb_next


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and its callers, up to the shell."""
    while frame is not None and not _is_shell(frame):
        yield frame
        frame = frame.f_back


def _is_shell(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).split(".")[0] in _SHELLS


def _line(frame: FrameType, number: int) -> SourceLine:
    return SourceLine(frame.f_code.co_filename, number)
