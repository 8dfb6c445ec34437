"""A theory: what machine numbers and real numbers have in common while graphs are translated into their terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import z3

from .terms import NotTranslated, Term, number_of

PART = {"complex64": "float32", "complex128": "float64"}
"""The dtype of the two parts of a complex number."""


class Theory:
    """Base of the theories: the state of a translation, and complex numbers as pairs of real ones."""

    name: str

    def __init__(self) -> None:
        self.facts: set[str] = set()
        self.raises: list[Any] = []
        """Conditions under which the graph that is translated raises."""
        self.side: list[Any] = []
        """Statements that hold for the values."""
        self.leaves: dict[str, Any] = {}
        self.uninterpreted = False
        self.clock: Any = None
        """The clock of the rule, if there is one."""
        self.ops: dict[Any, int] = {}
        """The ops that are functions without a meaning, numbered."""

    def require_time(self) -> None:
        """Raise NotTranslated when the time for the rule is over."""
        if self.clock is not None and self.clock.over:
            raise NotTranslated("time")

    def leaf(self, name: str, dtype: str) -> Term:
        """Return an unknown value."""
        if dtype in PART:
            return Term(self, dtype, tuple(self.leaf(f"{name}.{p}", PART[dtype]).value for p in ("re", "im")))
        return Term(self, dtype, self._leaf(name, dtype))

    def constant(self, value: Any, dtype: str) -> Term:
        """Return a known value."""
        value = number_of(value)
        if np.dtype(dtype).kind == "c":
            value = complex(value)
            return Term(self, dtype, tuple(self.constant(p, PART[dtype]).value for p in (value.real, value.imag)))
        return Term(self, dtype, self._constant(value, dtype))

    def parts(self, t: Term) -> tuple[Any, ...]:
        """Return the two parts of a complex number, or the value alone."""
        return t.value if isinstance(t.value, tuple) else (t.value,)

    def fold_of_none(self, op: Any, dtype: str) -> Term:
        """Return the reduction of no elements, which extrema refuse."""
        if op.name in ("maximum", "minimum"):
            self.raises.append(z3.BoolVal(True))
        return self.constant({"mul": 1, "logical_and": 1}.get(op.name, 0), dtype)

    def _leaf(self, name: str, dtype: str) -> Any:
        """Return an unknown value of a dtype that is not complex."""
        raise NotTranslated(f"an unknown value of {dtype} in the theory of {self.name}")

    def _constant(self, value: Any, dtype: str) -> Any:
        """Return a known value of a dtype that is not complex."""
        raise NotTranslated(f"a constant of {dtype} in the theory of {self.name}")
