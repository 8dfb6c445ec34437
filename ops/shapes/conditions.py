"""Conditions on values, checked at run time: `check`, the op behind errors that the elements of an array decide.

    Check("q must be from 0 to 1, got {0}")(x, ok, got)    x, if the scalar `ok` is true; else ValueError

`checked` builds it: from any number of conditions, with the offending number for the message.  Conditions on lengths
have ops of their own (specify.py).  In C a check is one comparison in the driver.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Constant, TensorType, Variable
from ...record import record
from ..control.batching import Examples, Flags, all_broadcast
from ..core.checks import describe
from ..core.interpret import evaluate
from ..core.namespace import T
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from .specify import FirstOperand

ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (
        ValueError, IndexError, OverflowError, ZeroDivisionError, AssertionError, np.linalg.LinAlgError, TypeError,
        ArithmeticError, FloatingPointError, RuntimeError, NotImplementedError, KeyError, StopIteration,
        Exception,
    )
}
"""The exceptions that a condition may raise, by name."""
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
        return ERRORS[self.kind]

    def broken(self, got: Sequence[np.ndarray | np.generic]) -> str:
        """The message for these numbers."""
        return self.text.format(*(number.item() for number in got)) if got else self.text

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        """Check the condition of all examples; the message has the numbers of the first example that breaks it."""
        (x,) = all_broadcast(inputs[:1], flags[:1], examples)
        ok, *got = all_broadcast(inputs[1:], flags[1:], examples)
        first = T.argmin(T.append(ok, True))  # there may be no example
        return self(x, T.all(ok), *(T.append(n, T.zeros((1,), n.dtype))[first] for n in got))


def checked(
    x: TensorLike, ok: TensorLike, text: str, *got: TensorLike, of: TensorLike | None = None,
    error: type[Exception] = ValueError,
) -> TensorVariable:  # fmt: skip
    """`x`, for which all elements of `ok` must be true when a function runs.

    `text`: the message, in which `{0}`, ... stand for the real scalars `got`.  `of`: what `ok` judges, element by
    element; the message gets the first bad one, but not of an array known at run time only, which would be read once
    more.  Raises `error` at once for a condition that depends on constants alone.
    """
    ok = T.as_tensor(ok)
    numbers = [T.cast(n, "float64" if n.type.kind == "f" else "int64") for n in map(as_tensor, got)]
    if of is not None and (of.data.size if isinstance(of, Constant) else not as_tensor(of).ndim):
        found = T.ravel(T.fill(ok, of))[T.argmin(ok)] if ok.ndim else of
        numbers.append(T.cast(found, "float64" if found.type.kind == "f" else "int64"))  # type: ignore[union-attr]
        text += f", got {{{len(numbers) - 1}}}"
    op = Check(text, error.__name__)
    known = _known([ok, *numbers])
    if known is None:
        return op(x, T.all(ok), *numbers)  # type: ignore[no-any-return]
    op.evaluate(np.zeros(()), np.asarray(known[0].all()), *known[1:])
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


def between(
    x: TensorLike, least: TensorLike, most: TensorLike, what: str, *,
    error: type[Exception] = ValueError, on: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """`x`, whose elements must be from `least` to `most`, scalars; NaN is not.  Raises `error`, at run time else.

    `on`: a result to return in the place of x, with the check; x is then read once where it fuses with the result.
    """
    x, least, most = map(as_tensor, (x, least, most))
    ok = T.and_(T.ge(x, least), T.le(x, most))
    return checked(x if on is None else on, ok, f"{what} must be from {{0}} to {{1}}", least, most, of=x, error=error)


def at_least(x: TensorLike, least: int, what: str) -> TensorVariable:
    """The scalar `x`, which must not be below `least`.  Raises ValueError, at run time else."""
    x = as_tensor(x)
    return checked(x, T.ge(x, least), f"{what} must be {least} or more", of=x)
