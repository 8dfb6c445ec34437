"""Python's integers in a trace: they never wrap, so whatever might leave 64 bits is noted, and checked.

    r = r * i    -->    overflow |= |float(r) * float(i)| >= 2**63

A call whose integers leave 64 bits runs in Python.  The note is a state of the trace (`Trace.overflow`), which loops
and branches carry as they carry arrays that are written.  Most integers are counters and indices: their intervals show
that they fit (intervals.py), which costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import ops as T
from ..ops.core.call_lengths import Length
from ..ops.core.tensor import as_tensor
from ..ops.core.tracing import Trace
from ..ops.shapes.conditions import ERRORS, Check
from ..ops.shapes.stored import own
from .catching import Catch
from .intervals import FORMULAS, LEAST, MOST, OF_CALL, Interval, interval

LARGE = "an int does not fit 64 bits; take a float, or static_argnames"
_WORDS = {
    "add": "+", "sub": "-", "mul": "*", "left_shift": "<<", "pow": "**", "neg": "-", "floor_div": "//",
    "int": "int()", "round": "round()", "trunc": "math.trunc", "floor": "math.floor", "ceil": "math.ceil",
    "item": "item()", "abs": "abs()",
}  # fmt: skip
"""How a program writes operations whose results are Python's integers."""
_DECIMALS = "round(x, n) of a number this large is correctly rounded by Python alone"
_DOMAIN = "math domain error"
_CLOSE = 9.2233720368547e18
"""A floating-point number below 2**63, by more than a product is rounded."""


def begin(trace: Trace) -> None:
    """Let a trace note integers that leave 64 bits, beginning with none."""
    trace.overflow = own(T.constant(False))
    trace.exact = lambda name, operands, result: _require_exact(trace, name, operands, result)


def end(trace: Trace) -> None:
    """Let the compiled function check what a trace has noted; a call that fails runs in Python."""
    for text in trace.assumed:
        trace.require(f"{OF_CALL.low} <= {text} <= {OF_CALL.high}")
    left = left_now(trace)
    if left is trace.overflow:
        return
    errors, reason = [e for e in trace.inexact.values() if e is not None], _reason(trace)
    kind = "OverflowError"
    if len(errors) == len(trace.inexact) > 0:
        kind = errors[0] if errors[0] in ERRORS else "RuntimeError"
    trace.checks.append(Check(reason, kind)(T.constant(True), T.logical_not(left)))
    if errors:  # steps after it may fail otherwise
        trace.catches.append(Catch(lambda: Exception, None, reason, True))
    trace.catches.append(Catch(lambda: OverflowError, None, reason))


def _reason(trace: Trace) -> str:
    """Return why a call runs in Python, with the operations of which one had such a result."""
    words = " or ".join(dict.fromkeys(_WORDS[name] for name in trace.inexact if name in _WORDS))
    reasons = [f"an int, the result of {words}, does not fit 64 bits; take a float"] if words else []
    reasons += [
        _DOMAIN if name == _DOMAIN else f"it raises {error} in a loop or branch"
        for name, error in trace.inexact.items() if error is not None
    ]  # fmt: skip
    return ", or ".join([*reasons, *[_DECIMALS for name in trace.inexact if name == "decimals"]]) or LARGE


def left_now(trace: Trace) -> Any:
    """Return whether an integer has left 64 bits so far."""
    return trace.stored.get(trace.overflow, trace.overflow)  # type: ignore[arg-type]


def note_error(trace: Trace, test: Any, error: str) -> None:
    """Note where a loop or branch raises an error, of the class of this name, if a test holds."""
    trace.ends_loops = True
    _note(trace, f"raise {error}", test, error)


def note_domain(trace: Any, test: Any) -> None:
    """Note where a function of `math` raises an error if a test holds; loops go on with its NaN or infinity."""
    if trace.of_call and test is not None:
        _note(trace, _DOMAIN, test, "ValueError")


def _require_exact(trace: Trace, name: str, operands: Sequence[Any], result: Any) -> None:
    """Note where the result of an operation on Python's integers might leave 64 bits."""
    if name == "decimals":
        _note(trace, name, T.logical_not(operands[0]))
        return
    if name in _TO_INTEGERS:
        _note(trace, name, _is_outside(operands[0]))
        return
    if name not in _LEAVES or result.dtype != "int64":
        return
    parts = [interval(trace, o) for o in operands]
    if FORMULAS[name](*parts).fits():
        return
    left = _LEAVES[name](*[as_tensor(o.variable if type(o) is Length else o) for o in operands], *parts, result)
    _note(trace, name, left)


def _is_outside(x: Any) -> Any:
    """Return whether a number has no integer of 64 bits: not a number, infinite, or too large."""
    if x.type.kind == "f":
        return T.logical_not(T.lt(T.abs(x), _CLOSE))
    return T.gt(x, T.constant(MOST, "uint64"))


def _note(trace: Trace, name: str, left: Any, error: str | None = None) -> None:
    trace.inexact[name] = error
    trace.stored[trace.overflow] = T.logical_or(left_now(trace), left)  # type: ignore[index]


def _outside(v: Any, of_v: Interval, low: int, high: int) -> Any:
    """Return whether an integer is not within limits, which only its interval may reach."""
    tests = [T.gt(v, high)] if of_v.high > high else []
    if of_v.low < low:
        tests.append(T.lt(v, low))
    return T.logical_or(*tests) if len(tests) == 2 else tests[0] if tests else T.constant(False)


def _add_leaves(a: Any, b: Any, of_a: Interval, of_b: Interval, result: Any) -> Any:
    for v, of_v, c in ((a, of_a, of_b), (b, of_b, of_a)):
        if c.low == c.high:
            return _outside(v, of_v, LEAST - min(c.low, 0), MOST - max(c.low, 0))
    return T.lt(T.bitwise_and(T.bitwise_xor(a, result), T.bitwise_xor(b, result)), 0)


def _sub_leaves(a: Any, b: Any, of_a: Interval, of_b: Interval, result: Any) -> Any:
    if of_b.low == of_b.high:
        return _outside(a, of_a, LEAST + max(of_b.low, 0), MOST + min(of_b.low, 0))
    return T.lt(T.bitwise_and(T.bitwise_xor(a, b), T.bitwise_xor(a, result)), 0)


def _mul_leaves(a: Any, b: Any, of_a: Interval, of_b: Interval, result: Any) -> Any:
    for v, of_v, c in ((a, of_a, of_b), (b, of_b, of_a)):
        if c.low == c.high:
            most = MOST // max(abs(c.low), 1)
            return _outside(v, of_v, -most, most)
    if a is b:
        return _outside(a, of_a, -math.isqrt(MOST), math.isqrt(MOST))
    return _is_large(T.mul(T.cast(a, "float64"), T.cast(b, "float64")))


def _shift_leaves(a: Any, b: Any, of_a: Interval, of_b: Interval, result: Any) -> Any:
    if of_b.low == of_b.high and 0 <= of_b.low < 63:
        return _outside(a, of_a, -(MOST >> of_b.low), MOST >> of_b.low)
    return _is_large(T.mul(T.cast(a, "float64"), T.exp2(T.cast(b, "float64"))))


def _pow_leaves(a: Any, b: Any, of_a: Interval, of_b: Interval, result: Any) -> Any:
    if of_b.low == of_b.high and 1 < of_b.low < 64:
        most = int(math.exp(math.log(MOST) / of_b.low) * (1 - 1e-9))
        return _outside(a, of_a, -most, most)
    return _is_large(T.pow(T.cast(a, "float64"), T.cast(b, "float64")))


def _is_large(x: Any) -> Any:
    return T.ge(T.abs(x), _CLOSE)


_TO_INTEGERS = frozenset(("int", "item", "round", "trunc", "floor", "ceil"))
"""Operations that make integers of other numbers."""
_LEAVES: dict[str, Callable[..., Any]] = {
    "add": _add_leaves, "sub": _sub_leaves, "mul": _mul_leaves, "left_shift": _shift_leaves, "pow": _pow_leaves,
    "neg": lambda a, of_a, result: T.eq(a, LEAST), "abs": lambda a, of_a, result: T.eq(a, LEAST),
    "floor_div": lambda a, b, of_a, of_b, result: T.logical_and(T.eq(a, LEAST), T.eq(b, -1)),
}  # fmt: skip
