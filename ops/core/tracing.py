"""Tracing: a Python function of the user runs once with symbolic variables in the place of arrays.

While it runs, Python means what NumPy means by it:

    x == y, x != y          element by element, where variables otherwise compare identity
    x.shape, len(x)         the lengths of the call; what a branch asks of them becomes a guard
    2.0 among arguments     a Python number: it takes the dtype that arrays decide

A guard is a Python expression over the arguments of a call.  A later call for which all guards hold runs the same
compiled code; any other call is traced again.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, NamedTuple

from ...graph import Dim, Variable, dims_of

GUARD_NAMES = {"inf": math.inf, "nan": math.nan, "math": math}
"""Names in the expressions of guards."""


class Known(NamedTuple):
    """A Python number of the call that is traced, and the expression that gives it for any call."""

    value: Any
    text: str


_LONGEST = 400
"""Most characters of an expression in a guard; a longer one is replaced by its value."""


class outside:  # noqa: N801  # a context, spelt as contextlib spells them
    """Context without a trace, for the work of compilers."""

    def __enter__(self) -> None:
        self._token: Token[Trace | None] = _current.set(None)

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        _current.reset(self._token)


class Operation(NamedTuple):
    """An operation on Python numbers, and how a guard writes it."""

    function: Callable[[Any, Any], Any]
    form: str


ADD, SUB, MUL = (
    Operation(operator.add, "({a} + {b})"), Operation(operator.sub, "({a} - {b})"),
    Operation(operator.mul, "({a} * {b})"),
)  # fmt: skip
FLOORDIV, MOD, DIV = (
    Operation(operator.floordiv, "({a} // {b})"), Operation(operator.mod, "({a} % {b})"),
    Operation(operator.truediv, "({a} / {b})"),
)  # fmt: skip
_OF_DIMS = {
    "add": ADD, "sub": SUB, "mul": MUL, "floordiv": FLOORDIV,
    "maximum": Operation(max, "max({a}, {b})"), "minimum": Operation(min, "min({a}, {b})"),
    "broadcast": Operation(lambda a, b: b if a == 1 else a, "({b} if {a} == 1 else {a})"),
}  # fmt: skip


class Number(NamedTuple):
    """A Python number that a variable stands for: its type, and its value in the call if that is known."""

    kind: type
    known: Known | None = None


class Trace:
    """The state of one trace.  Used as a context, it is the current one inside.

    of_call    whether a call of `jit` gives the lengths; a loop body outside of `jit` has none
    lengths    the known lengths of leaves, for each axis
    numbers    the variables that stand for Python numbers
    classes    the types of arguments
    stored     the elements that arrays have now, of those that were written; see shapes/stored.py
    held       the arrays that must not be used any more, and why
    frozen     the arrays that must not be written any more, and why
    truths     the comparisons of Python numbers of the call
    open       for each loop and branch around the statement that is traced, what sets its variables
    owners     `depth` when a function began whose variable functions inside assign, and the cell, by its id
    showing    whether a text is made for people: of an error, or to be printed
    layouts    the strides of arguments that are not in C order, and the guard that requires them
    arranged   the new arrays in another order: NumPy's argument for it, and the array whose order "A" and "K" keep
    orders     the conditions that arguments are in C order
    copying    the lengths and orders that decide which reshapes copy in NumPy, guards if an array is written
    in_order   the conditions under which arrays are in C order
    parts      the arrays that may share elements with one, but are no handles of it: its real part
    writes     whether an array was written, in a loop or branch, too
    read_only  the arguments that NumPy does not write to
    guards     the expressions that held in this trace, in order
    inlined    what makes the function of a scope one that reads its globals in this trace
    made       the variables of a class of traces, and their own class
    checks     the conditions that the compiled function checks
    running    the functions of the user that run now, as often as they call themselves
    recursion  the number of those calls of functions by themselves
    repeated   the number of all such calls in loops and branches so far
    crossed    the errors that were raised in a loop or branch that depends on values
    catches    the errors that the function catches, see tracing/catching.py
    sourceless gives the name of a function of the call whose source cannot be read, or an empty text
    overflow   the variable in `stored` for whether an integer of Python left 64 bits, see tracing/integers.py
    exact      what notes that of a result: given the name of an operation, the operands and the result
    inexact    the operations among them whose results may leave 64 bits, and errors that are raised in loops
    intervals  the least and greatest values of integers
    ends_loops whether loops end where one of those errors is raised
    assumed    the integers of the call that are taken to be small, a guard at the end
    grown      for integers that a loop has changed by sums: the value before it, and the interval of the difference
    choices    the two values of a result of a branch
    saved      the states before the statements around the one that is traced, see tracing/saved.py
    rooms      the room that their lists have, see tracing/growing
    watched    lists and dicts that may not be changed, what they hold, and the message that says why
    grows      whether any list changes by values
    unrolls    whether loops that change lists are traced step by step where their number of steps is known
    may_unroll whether there was such a loop
    graphs     the number of graphs of loops and branches so far
    rolled     the codes of bodies of loops that have too many of these for steps one by one
    loop       the loop whose body is traced, see tracing/looping
    checkpoint the number of steps of a loop between states that its derivative keeps, "sqrt", or None for all states
    """

    def __init__(self, of_call: bool = False) -> None:
        self.of_call = of_call
        self.lengths: dict[Variable, tuple[Known | int | None, ...]] = {}
        self.numbers: dict[Variable, Number] = {}
        self.classes: dict[Variable, type] = {}
        self.stored: dict[Variable, Any] = {}
        self.replayed: dict[Variable, tuple[Any, Any]] = {}
        self.held: dict[Variable, str] = {}
        self.frozen: dict[Variable, str] = {}
        self.truths: dict[Variable, Known] = {}
        self.read_only: set[Variable] = set()
        self.layouts: dict[Variable, tuple[tuple[int, ...], str]] = {}
        self.arranged: dict[Variable, tuple[str, Variable | None]] = {}
        self.orders: dict[Variable, str] = {}
        self.copying: dict[str, None] = {}
        self.in_order: dict[Variable, dict[str, None]] = {}
        self.parts: dict[Variable, list[Variable]] = {}
        self.writes = False
        self.dim_of: Callable[[Variable], Dim] | None = None
        self.open: list[Callable[..., None]] = []
        self.owners: dict[int, tuple[int, Any]] = {}
        self.showing: int = 0
        self.guards: dict[str, None] = {}
        self.inlined: Callable[[Any], Callable[..., Any]] | None = None
        self.sourceless: Callable[[], str] = str
        self.made: list[tuple[Any, type]] = []
        self.checks: list[Any] = []
        self.running: dict[Any, int] = {}
        self.recursion: int = 0
        self.repeated: int = 0
        self.overflow: Any = None
        self.exact: Callable[[str, Any, Any], None] | None = None
        self.inexact: dict[str, str | None] = {}
        self.ends_loops: bool = False
        self.assumed: dict[str, None] = {}
        self.intervals: dict[Variable, Any] = {}
        self.grown: dict[Variable, tuple[Variable, Any]] = {}
        self.choices: dict[Variable, tuple[Variable, Variable]] = {}
        self.checkpoint: Any = None
        self.saved: list[Any] = []
        self.rooms: list[Any] = []
        self.watched: list[tuple[Any, list[int], str]] = []
        self.grows: bool = False
        self.unrolls: bool = False
        self.may_unroll: bool = False
        self.graphs: int = 0
        self.rolled: set[Any] = set()
        self.loop: Any = None
        self.crossed: list[BaseException] = []
        self.catches: list[Any] = []
        self._tokens: list[Token[Trace | None]] = []

    @property
    def depth(self) -> int:
        """The number of loops and branches around the statement that is traced."""
        return len(self.open)

    def __enter__(self) -> Trace:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, traceback: TracebackType | None) -> None:
        _current.reset(self._tokens.pop())
        if not self._tokens:
            self.end()

    def inside(self, pairs: Iterable[tuple[Variable, Variable, int]]) -> None:
        """Give variables of a loop body the lengths of others: (inner, outer, number of first axes that it lacks)."""
        if self.of_call:
            for inner, outer, less in pairs:
                known = [self.known_length(outer, axis) for axis in range(less, outer.ndim)]
                self.lengths[inner] = tuple(known)

    def end(self) -> None:
        """Make the variables of the trace ordinary ones again."""
        for variable, plain in self.made:
            variable.__class__ = plain
        self.made.clear()

    def require(self, condition: str) -> None:
        """Add a guard."""
        self.guards[condition] = None

    def known_length(self, x: Variable, axis: int) -> Known | int | None:
        """Return the length of an axis in the call; None if it depends on values."""
        return self._known(dims_of(x)[axis])

    def known_value(self, scalar: Variable) -> Known | int | None:
        """Return the value of an integer scalar that is computed of lengths; None if it depends on values."""
        return self._known(self.dim_of(scalar)) if self.dim_of is not None else None

    def _known(self, dim: Dim) -> Known | int | None:
        """Return the number that a Dim is in the call; None if it depends on values."""
        made: dict[Dim, Known | int | None] = {}
        stack = [dim]
        while stack:
            current = stack[-1]
            parts: list[Any] = []
            if not isinstance(current, int) and current.kind not in ("extent", "value"):
                parts = list(current.args)
            missing = [p for p in parts if p not in made]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            made[current] = self._combined(current, [made[p] for p in parts])
        return made[dim]

    def _combined(self, dim: Dim, parts: list[Any]) -> Known | int | None:
        if isinstance(dim, int):
            return dim
        if dim.kind == "extent":
            variable, axis = dim.args
            own = self.lengths.get(variable)  # type: ignore[call-overload]
            return None if own is None else own[axis]  # type: ignore[no-any-return]
        if dim.kind == "broadcast" and None in parts:
            return self._wide(parts)
        if dim.kind == "value" or None in parts:
            return None
        found = parts[0]
        for part in parts[1:]:
            found = self.joined(_OF_DIMS[dim.kind], found, part)
        return found  # type: ignore[no-any-return]

    def _wide(self, parts: list[Any]) -> Known | int | None:
        """Return a known length above 1, which all lengths of operands are that are not 1."""
        for part in parts:
            if isinstance(part, Known) and part.value > 1:
                self.require(f"({part.text} > 1) is True")
                return part
            if isinstance(part, int) and part > 1:
                return part
        return None

    def joined(self, operation: Operation, a: Any, b: Any) -> Any:
        """Return an operation on numbers of the call: a number if its expression would be too long."""
        (m, of_m), (n, of_n) = (k if isinstance(k, Known) else (k, repr(k)) for k in (a, b))
        value, text = operation.function(m, n), operation.form.format(a=of_m, b=of_n)
        if len(text) <= _LONGEST:
            return Known(value, text)
        for known in (a, b):
            if isinstance(known, Known):
                self.require(f"{known.text} == {known.value!r}")
        return value


_current: ContextVar[Trace | None] = ContextVar("arignote_trace", default=None)
current = _current.get


def comparing() -> Trace:
    """Return the context in which bodies of loops are built: the current trace, or a new one without lengths."""
    return _current.get() or Trace()
