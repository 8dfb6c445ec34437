"""`raise` and `assert` of a rewritten function: by a test of values they become conditions of the compiled function.

    if x.sum() < 0: raise ValueError("...")    assert n > 0, "..."

A condition is an op `check` on a result that nobody sees.  A `raise` in a loop or branch that depends on values cannot
be one; the branch is then decided by the numbers of the call, or refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .. import ops as T
from ..ops.core.checks import shown
from ..ops.core.tracing import current
from ..ops.shapes.conditions import ERRORS, Check
from .branches import decided, line, not_, truth
from .plain_values import showing


def raise_if(test: Any, error: Callable[[], Any]) -> None:
    """`if test: raise error()`."""
    found = truth(test)
    if found is False:
        return
    if found is True:
        raise raised(error)
    trace: Any = current()
    if not trace.of_call:
        bool(test)  # a variable has none, and says so
    if trace.depth:
        known = decided(test)
        if known is None:
            refuse()
        if known:
            raise showing(error)
        return
    trace.checks.append(_check(showing(error))(T.constant(True), T.logical_not(found)))


def require(test: Any, message: Callable[[], Any]) -> None:
    """`assert test, message()`."""
    raise_if(not_(test), lambda: AssertionError(*filter(None, (message(),))))


def raised(error: Callable[[], Any]) -> Any:
    """Return what `raise` raises.  Raises TypeError in a loop or branch that depends on values."""
    trace = current()
    if trace is not None and trace.depth:
        refuse()
    return showing(error)


def _check(error: Any) -> Check:
    """Return the op that raises an exception."""
    made = error() if isinstance(error, type) else error
    name = type(made).__name__
    if ERRORS.get(name) is not type(made):
        raise TypeError(
            f"raise {shown(made)}: by a test of values a compiled function raises exceptions of Python and NumPy, one "
            f"of {', '.join(ERRORS)}{line()}"
        )
    return Check(str(made.args[0]) if len(made.args) == 1 else str(made), name)


def refuse() -> NoReturn:
    """Raise TypeError for a `raise` that no call could make."""
    raise TypeError(
        "raise in a loop or branch that depends on values: a compiled loop cannot stop so; let it compute whether, and "
        f"raise after it{line()}"
    )
