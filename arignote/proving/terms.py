"""Terms: the elements of symbolic arrays, and the errors of their translation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import z3

from ..ops.elementwise.records import ELEMENTWISE


class NotTranslated(Exception):
    """A part of a graph that a theory has no words for; the message names it."""


class Vacuous(NotTranslated):
    """A promise of the graph that arrays of these lengths cannot keep."""


class OutOfFormat(NotTranslated):
    """A constant that a small format cannot hold."""


class Term:
    """A value of a theory with its dtype; z3 expressions, or a theory's own values.

    Arithmetic by Python's operators is that of the dtype: NumPy's functions on arrays of objects call it.
    """

    __slots__ = ("dtype", "theory", "value")
    __array_ufunc__ = None

    def __init__(self, theory: Any, dtype: str, value: Any) -> None:
        self.theory: Any = theory
        self.dtype: str = dtype
        self.value: Any = value

    def _with(self, name: str, other: Any, swapped: bool = False) -> Any:
        if not isinstance(other, Term):
            other = self.theory.constant(other, self.dtype)
        pair = (other, self) if swapped else (self, other)
        return apply_scalar(self.theory, name, pair)

    def __add__(self, other: Any) -> Any:
        return self._with("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._with("add", other, True)

    def __sub__(self, other: Any) -> Any:
        return self._with("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._with("sub", other, True)

    def __mul__(self, other: Any) -> Any:
        return self._with("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._with("mul", other, True)

    def __neg__(self) -> Any:
        return apply_scalar(self.theory, "neg", (self,))

    def conjugate(self) -> Any:
        return apply_scalar(self.theory, "conj", (self,))

    def __bool__(self) -> bool:
        raise NotTranslated("a decision on a symbolic value inside an op")

    def __eq__(self, other: object) -> Any:
        raise NotTranslated("a comparison of symbolic values inside an op")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{self.dtype} {self.value}>"


def apply_scalar(theory: Any, name: str, operands: Sequence[Term]) -> Term:
    op = ELEMENTWISE[name]
    dtypes, result = op.loop(tuple(t.dtype for t in operands))
    made: Term = theory.apply(op, operands, dtypes, result)
    return made


def number_of(value: Any) -> Any:
    """The Python number of a NumPy scalar or array of one element."""
    return value.item() if isinstance(value, (np.generic, np.ndarray)) else value


def limit(solver: z3.Solver, milliseconds: int) -> None:
    """Give a solver about so much time: by its own count of steps, which other processes do not change."""
    solver.set("rlimit", STEPS * milliseconds)
    solver.set("timeout", 60 * milliseconds)  # of the clock on the wall


STEPS = 4000
"""Steps of z3 in a millisecond, about."""
