"""`raise` and `assert` of a rewritten function: by a test of values they become conditions of the compiled function.

    if x.sum() < 0: raise ValueError("...")    assert n > 0, "..."

A condition is an op `check` on a result that nobody sees.  A `raise` in a loop or branch that depends on values cannot
be one.  It is noted, as integers are that leave 64 bits: the loops around it end, nothing is written, and the call runs
in Python, which raises the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import ops as T
from ..graph import Constant, toposort
from ..graph.provenance import line
from ..ops.core.checks import shown
from ..ops.core.tracing import current
from ..ops.shapes.conditions import ERRORS, Check
from ..record import lazy
from .branches import decided, not_, truth
from .builtins.plain_values import showing

integers: Any = lazy.module("..integers", __name__)


def raise_if(test: Any, error: Callable[[], Any]) -> None:
    """`if test: raise error()`."""
    found = truth(test)
    if found is False:
        return
    if found is True:
        raise showing(error)
    trace: Any = current()
    if not trace.of_call:
        bool(test)  # a variable has none, and says so
    if trace.depth:
        known = decided(test)
        if known is None:
            integers.note_error(trace, found, _name_of(error))
        elif known:
            raise showing(error)
        return
    if _holds_now(trace, found):
        raise showing(error)
    trace.checks.append(_check(showing(error))(T.constant(True), T.logical_not(found)))


def _holds_now(trace: Any, test: Any) -> bool:
    """Whether a test is true by the numbers of the call, which become guards; what follows must not be traced."""
    found: dict[Any, bool | None] = {}

    def of(v: Any) -> bool | None:
        if v in trace.truths:
            return bool(trace.truths[v].value)
        return bool(v.data) if isinstance(v, Constant) and not v.ndim else found.get(v)

    for node in toposort([test], stop_at=set(trace.truths)):
        name, parts = node.op.name, [of(v) for v in node.inputs]
        value: bool | None = None
        if name == "logical_not" and parts[0] is not None:
            value = not parts[0]
        elif name in ("logical_or", "logical_and"):
            decisive = name == "logical_or"
            value = decisive if decisive in parts else None if None in parts else not decisive
        elif name == "switch" and parts[0] is not None:
            value = parts[1] if parts[0] else parts[2]
        found[node.outputs[0]] = value
    if not of(test):
        return False
    for node in toposort([test], stop_at=set(trace.truths)):
        for known in [trace.truths[v] for v in node.inputs if v in trace.truths]:
            trace.require(f"bool({known.text}) is {bool(known.value)}")
    if test in trace.truths:
        trace.require(f"bool({trace.truths[test].text}) is True")
    return True


def require(test: Any, message: Callable[[], Any]) -> None:
    """`assert test, message()`."""
    raise_if(not_(test), lambda: AssertionError(*filter(None, (message(),))))


def fail(error: Callable[[], Any]) -> None:
    """`raise error()`."""
    trace = current()
    if trace is None or not trace.depth:
        raise showing(error)
    integers.note_error(trace, T.constant(True), _name_of(error))


def _name_of(error: Callable[[], Any]) -> str:
    """Return the name of the class of an exception."""
    made = showing(error)
    return made.__name__ if isinstance(made, type) else type(made).__name__


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
