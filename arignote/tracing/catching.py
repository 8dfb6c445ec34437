"""`try` and `contextlib.suppress` in a rewritten function.

    try: v = x[i]                   try: _ag.trying(lambda: IndexError); v = x[i]
    except IndexError: v = 0   -->  except IndexError as e: _ag.caught(e); v = 0

A compiled function cannot go on after an error.  So the trace notes what its handlers catch, and a call that raises
such an error runs in Python, with a notice.  What the trace itself cannot do is no error that a handler may catch.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple

from ..graph import Variable
from ..graph.provenance import SourceLine, here, line
from ..ops.core.namespace import NoAttribute
from ..ops.core.traced import class_of
from ..ops.core.tracing import current
from ..record.frames import OWN
from .raising import raise_if


class Catch(NamedTuple):
    """The errors that a handler of a traced function catches, asked for only after an error, and its line."""

    kinds: Callable[[], Any]
    line: SourceLine | None
    reason: str = ""
    """Why a call runs in Python, if it is no handler of the function."""
    raises: bool = False
    """Whether Python raises an error of the function, so that no notice is needed."""

    def catches(self, error: BaseException) -> bool:
        """Whether an error that the compiled function raised would have been caught."""
        try:
            return isinstance(error, self.kinds())
        except (TypeError, NameError, AttributeError):
            return False


def trying(kinds: Callable[[], Any]) -> None:
    """Begin the body of a `try` whose handlers catch `kinds()`."""
    trace = current()
    if trace is not None:
        trace.catches.append(Catch(kinds, next(iter(here()), None)))


def caught(error: Any) -> None:
    """Begin a handler.  Raises TypeError for an error of the trace, which Python would not have raised here.

    Nor may it be one that is raised in a loop or branch that depends on values: Python may not run that.
    """
    trace = current()
    if trace is None:
        return
    if any(error is one for one in trace.crossed):
        raise TypeError(
            f"an `except` clause caught {type(error).__name__} ({_first_line(error)}), raised in a loop "
            f"or branch that depends on values; a compiled function cannot decide by it{line()}"
        ) from error
    if not is_of_trace(error):
        return
    raise TypeError(
        f"an `except` clause caught {type(error).__name__} of the trace ({_first_line(error)}); a compiled function "
        f"cannot decide by it: test before, as by `if`, or use ag.jit(strict=False){line()}"
    ) from error


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def is_of_trace(error: BaseException) -> bool:
    """Whether code of this library raised an error, but for `raise` of the user and arithmetic of Python numbers."""
    if isinstance(error, ArithmeticError):
        return False
    at: TracebackType | None = error.__traceback__
    frames: list[Any] = []
    while at is not None:
        frames.append(at.tb_frame)
        at = at.tb_next
    codes = [frame.f_code for frame in frames]
    if not codes or not OWN[codes[-1].co_filename]:
        return False
    if raise_if.__code__ in codes:
        return False
    given = frames[-1].f_locals
    if isinstance(error, NoAttribute) and codes[-1].co_name == "__getattr__":  # NumPy's value may lack it as well
        return hasattr(class_of(given["self"]), error.word)
    if codes[-1].co_name == "item":  # of `statements.item`: Python raised the error
        return any(isinstance(v, Variable) for v in (given.get("x"), given.get("key")))
    if codes[-1].co_name != "call":
        return True
    # of `calls.call`: a function without a frame raised the error
    return any(isinstance(v, Variable) for v in (*given.get("args", ()), *given.get("options", {}).values()))


class Suppress:
    """`contextlib.suppress` in a trace."""

    def __init__(self, *kinds: Any) -> None:
        self._kinds = kinds
        self._own: Any = contextlib.suppress(*kinds)

    def __enter__(self) -> None:
        trying(lambda: self._kinds)

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> Any:
        ended = self._own.__exit__(kind, error, traceback)
        if ended:
            caught(error)
        return ended


def watched(generator: Any, name: str) -> Any:
    """Yield the items of a generator of the user, whose function is traced as it is."""
    try:
        yield from generator
    except TypeError as error:
        if not is_of_trace(error):
            raise
        raise TypeError(
            f"{name} is a generator: it is traced step by step, so its branches cannot depend on values "
            f"({_first_line(error)}); write its loop where it is used, or use ag.jit(strict=False){line()}"
        ) from error
