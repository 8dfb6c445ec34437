"""Conditions on values, checked at run time: `check`, the op behind errors that the elements of an array decide.

    Check("q must be from 0 to 1, got {0}")(x, ok, got)    x, if the scalar `ok` is true; else ValueError

`checked` builds it: from any number of conditions, with the offending number for the message.  Conditions on lengths
have ops of their own (specify.py).  In C a check is one comparison in the driver.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .. import ops as T  # the namespace; read when a function is called
from ..graph import Constant, TensorType, Variable
from ..record import record
from .checks import describe
from .interpret import evaluate
from .specify import FirstOperand
from .tensor import TensorVariable, as_tensor
from .typing import TensorLike

_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (ValueError, IndexError, OverflowError, ZeroDivisionError, AssertionError)
}
_SMALL = 64
"""Most nodes above a condition that are evaluated when a graph is built."""


@record(repr=False)
class Check(FirstOperand):
    """`check(x, ok, *got)`: x as a view; the bool scalar `ok` must be true.

    `text`: the message; `{0}`, `{1}`, ... stand for the scalars `got`, int64 or float64.  `kind`: the exception's name.
    """

    text: str
    kind: str = "ValueError"
    name = "check"
    fallible = True

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, ok, *got = inputs
        if ok.ndim or ok.dtype != "bool":
            raise TypeError(f"{self.name}: the condition must be a bool scalar, got {describe(ok)}")
        for number in got:
            if number.ndim or number.dtype not in ("int64", "float64"):
                raise TypeError(f"{self.name}: a number of the message must be an int64 or float64 scalar, "
                                f"got {describe(number)}")  # fmt: skip
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, ok, *got = values
        if not ok:
            raise self.error(self.broken(got))
        return (x,)

    @property
    def error(self) -> type[Exception]:
        """The class of the exception."""
        return _ERRORS[self.kind]

    def broken(self, got: Sequence[np.ndarray | np.generic]) -> str:
        """The message for these numbers."""
        return self.text.format(*(number.item() for number in got)) if got else self.text


def checked(
    x: TensorLike, ok: TensorLike, text: str, *got: TensorLike, error: type[Exception] = ValueError
) -> TensorVariable:
    """`x`, for which all elements of `ok` must be true when a function runs.

    `text`: the message, in which `{0}`, ... stand for the real scalars `got`.  Raises `error` at once for a condition
    that depends on constants alone.
    """
    condition = T.all(T.as_tensor(ok))
    numbers = [T.cast(n, "float64" if n.type.kind == "f" else "int64") for n in map(as_tensor, got)]
    op = Check(text, error.__name__)
    known = _known([condition, *numbers])
    if known is None:
        return op(x, condition, *numbers)  # type: ignore[no-any-return]
    op.evaluate(np.zeros(()), *known)
    return as_tensor(x)


def _known(values: Sequence[Variable]) -> Sequence[np.ndarray] | None:
    """The values, if few nodes compute them from constants alone."""
    waiting, seen = list(values), set(values)
    while waiting:
        value = waiting.pop()
        if len(seen) > _SMALL or (value.owner is None and not isinstance(value, Constant)):
            return None
        above = set(value.owner.inputs if value.owner is not None else ()) - seen
        seen |= above
        waiting += above
    return evaluate(values, {})


def between(x: TensorLike, least: float, most: float, what: str) -> TensorVariable:
    """`x`, whose elements must be from `least` to `most`; NaN is not.  Raises ValueError, at run time else."""
    x = as_tensor(x)
    if not x.ndim:
        ends = [x, x]
        got = x
    else:
        ends = [T.min(x, initial=most), T.max(x, initial=least)]
        got = T.switch(T.ge(ends[0], least), ends[1], ends[0])
    ok = T.and_(T.ge(ends[0], least), T.le(ends[1], most))
    return checked(x, ok, f"{what} must be from {least} to {most}, got {{0}}", got)
