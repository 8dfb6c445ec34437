"""Errors as notebooks show them: the message with its underlined operands, then the user's lines, none of ours.

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

from . import pages
from .graph.pointing import NOWHERE, Pointed
from .graph.provenance import SourceLine, _is_own

MOST = 6
"""Lines of the user that are shown, the innermost ones."""
RED, PLAIN = "\x1b[31m", "\x1b[0m"

_SHELLS = ("IPython", "ipykernel")


class Told(NamedTuple):
    """The shown form of one error.  It holds no frame and not the error, so it keeps no array alive."""

    kind: str
    message: str
    lines: tuple[SourceLine, ...]
    """Where the user's program was, innermost first."""
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
        """The lines for what shows no HTML; underlines and the kind of the error are red."""
        first, *rest = self.message.splitlines() or [""]
        shown = [f"{RED}{self.kind}{PLAIN}: {first}"]
        shown += [f"{RED}{line}{PLAIN}" if line.strip(" ^") == "" else line for line in rest]
        for line in self.lines[:MOST]:
            shown.append(f"at {line}")
            shown += [f"  > {line.code}"] if line.code else []
        left = len(self.lines) - MOST
        return shown + [f"called from {left} more line{'s' * (left > 1)}"] * (left > 0)


class Shown:
    """Shows what is told of an error: the form where there is a notebook, once, with the first line below; else text.

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
    """Gives an error that one of our files has raised its short form; to be called where it is caught.

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
    """From now on an IPython shell shows each error of ours in its short form and leaves the others as they are."""

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
    """Whether a file is of this library, or Python that it has written: the entry of a function."""
    return _is_own(file) or file.startswith("<entry of ")


def _steps(tb: TracebackType | None) -> Iterator[TracebackType]:
    """A traceback from the outermost frame inwards; those of the shell are left out."""
    while tb is not None:
        if not _is_shell(tb.tb_frame):
            yield tb
        tb = tb.tb_next


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and those around it, up to the shell."""
    while frame is not None and not _is_shell(frame):
        yield frame
        frame = frame.f_back


def _is_shell(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).split(".")[0] in _SHELLS


def _line(frame: FrameType, number: int) -> SourceLine:
    return SourceLine(frame.f_code.co_filename, number)
