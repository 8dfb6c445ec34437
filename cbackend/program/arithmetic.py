"""The meaning of integers of a program: what `Compute` and `Guard` say, in Python.

Engines that interpret a program use it; driver/spelling.py has the C of the same operators and tests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from .program import Compute, Guard, Quantity

FAILED = -1
"""The value of an operator whose operands do not fit; all others are not negative."""


def computed(step: Compute, numbers: Mapping[str, int]) -> int | None:
    """Return the value of an integer; None if its step fails.  `numbers`: the integers before it, by name."""
    value = _OPERATORS[step.operator](*_values(step.operands, numbers))
    return None if step.failure is not None and value < 0 else value


def holds(step: Guard, numbers: Mapping[str, int]) -> bool:
    """Return whether the test of a guard holds."""
    return _TESTS[step.test](*_values(step.operands, numbers))


def value_of(quantity: Quantity, numbers: Mapping[str, int]) -> int:
    """Return the value of a quantity."""
    return quantity if isinstance(quantity, int) else numbers[quantity]


def _values(operands: tuple[Quantity, ...], numbers: Mapping[str, int]) -> list[int]:
    return [o if isinstance(o, int) else numbers[o] for o in operands]


def _joined(*lengths: int) -> int:
    found = {n for n in lengths if n != 1}
    return 1 if not found else found.pop() if len(found) == 1 else FAILED


def _index(place: int, length: int) -> int:
    return place + length * (place < 0) if -length <= place < length else FAILED


def _bounds(length: int, given: int, start: int, stop: int, step: int) -> range:
    return range(*slice(start if given & 1 else None, stop if given & 2 else None, step).indices(length))


def _slice_count(length: int, given: int, start: int, stop: int, step: int) -> int:
    return len(_bounds(length, given, start, stop, step)) if step else FAILED


_OPERATORS: dict[str, Callable[..., int]] = {
    "sum": lambda *terms: sum(terms),
    "product": lambda *factors: math.prod(factors),
    "either": lambda *flags: int(any(flags)),
    "join": _joined,
    "broadcast": lambda length, stride: 0 if length == 1 else stride,
    "choose": lambda flag, a, b: a if flag else b,
    "differ": lambda a, b: int(a != b),
    "index": _index,
    "slice_count": _slice_count,
    "slice_first": lambda *bounds: _bounds(*bounds).start,
    "maximum": max,
    "minimum": min,
    "quotient": lambda a, b: a // b if b > 0 else 0,
}
_TESTS: dict[str, Callable[..., bool]] = {
    "equal": lambda a, b: a == b,
    "not_negative": lambda a: a >= 0,
    "fits": lambda have, want: have in (1, want),
    "reached": lambda extent, own: extent != 0 or own == 0,
    "positive": lambda a: a >= 1,
    "has_room": lambda a, b, c: b >= 1 and a - 1 <= (b - 1) // c,
    "reaches": lambda a, b: a >= b,
    "holds": lambda condition, *noted: bool(condition),
}
