"""Values as a function computes them: printed (`Print`, `debug_print`) or collected (`tap`).

    watch(x)             -->  x, after the watcher saw its value
    watch(x, condition)  -->  the same, if the condition holds

The op is a host step: C hands the value to Python, so nothing is fused across it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, TextIO, Union

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import lazy, record
from ...record.forks import ProcessLock
from ..core.checks import describe, shown
from ..core.interpret import watched as is_watched
from ..core.tensor import HostOp, TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..elementwise import costs
from .batching import Examples, Flags, require_shared

__all__ = ["Print"]

string: Any = lazy.module("string")

When = Union[Callable[[np.ndarray], Any], TensorLike, None]
"""A condition: a function of the value, or an expression that is a bool."""
FIELDS = ("value", "name", "shape", "dtype", "min", "max", "mean", "nans", "infs", "count")
"""Words that a format may use."""


@record(eq=False)
class Watch(HostOp):
    """`watch{word}(x)`: x, whose value `see` gets; with a second operand only if that bool is true."""

    folds: ClassVar[bool] = False
    see: Callable[[np.ndarray], object]
    word: str = "watch"
    picture: ClassVar[Kind] = Kind.OTHER
    operations: ClassVar[Callable[..., Any]] = costs.moving

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.word

    def __repr__(self) -> str:
        return f"<{self.word}>"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        for condition in inputs[1:]:
            if condition.type.dtype != "bool" or condition.ndim:
                raise TypeError(f"{self.word}: when is {describe(condition)}; expected a bool without axes")
        return (inputs[0].type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        if all(values[1:]) and is_watched.get():
            self.see(values[0])
        return (values[0].copy(),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [cotangents[0], *(None for _ in node.inputs[1:])]

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[1:], "the condition of a watched value")
        return self(*inputs)


class Print:
    """Theano's `Print(message)(x)`: x, whose value is printed in each call of a compiled function.

    Args:
        message: what stands before the value.
        attrs: attributes and methods of the array that are printed, such as ("shape", "min").
        global_fn: a function of this object and the value that prints in another way.
    """

    def __init__(self, message: str = "", attrs: Sequence[str] = ("__str__",), global_fn: Any = None) -> None:
        self.message: str = message
        self.attrs: tuple[str, ...] = tuple(attrs)
        self.global_fn: Callable[..., object] = global_fn or _show_attributes

    def __call__(self, x: TensorLike) -> TensorVariable:
        return watched(x, lambda value: self.global_fn(self, value), "print")

    def __repr__(self) -> str:
        return f"Print({self.message!r})"


def _show_attributes(how: Print, value: np.ndarray) -> None:
    for name in how.attrs:
        part = getattr(value, name)
        print(how.message, name, "=", part() if callable(part) else part)


def watched(x: TensorLike, see: Callable[[np.ndarray], object], word: str, *condition: Any) -> TensorVariable:
    """Return x, whose value `see` gets in each call; `condition`: a bool expression that decides."""
    given = as_tensor(x)
    result: TensorVariable = Watch(see, word)(given, *map(as_tensor, condition))  # type: ignore[assignment]
    result.name = given.name
    return result


def debug_print(
    x: TensorLike, text: str = "", when: When = None, every: int = 1, file: TextIO | None = None
) -> TensorVariable:
    """Return x, and print its value in each call of a compiled function, and in each step of a loop.

        loss = ag.debug_print(loss, "loss = {value:.4f}", every=100)
        h = ag.debug_print(h, "{name}: {shape}, {min} .. {max}", when=lambda v: not np.isfinite(v).all())

    Args:
        x: the expression; use the result in its place, else nothing is printed.
        text: what is printed; `{value}`, `{name}`, `{shape}`, `{dtype}`, `{min}`, `{max}`, `{mean}`, `{nans}`, `{infs}`
            and `{count}` (of the times so far) stand for facts of the value.  Without any the value follows the text.
        when: a function of the array, or a bool expression; nothing is printed where it is false.
        every: print only each so many-th time that `when` holds.
        file: where to print; by default standard output.

    Raises:
        ValueError: the text has an unknown word, or `every` is below 1.
        TypeError: `when` is neither a function nor a bool expression without axes.
    """
    variable = as_tensor(x)
    fields = [word for _, word, _, _ in string.Formatter().parse(text) if word is not None]
    wrong = [word for word in fields if word.partition("[")[0].partition(".")[0] not in FIELDS]
    if wrong:
        raise ValueError(f"debug_print: text has {{{wrong[0]}}}; expected one of {', '.join(FIELDS)}")
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ValueError(f"debug_print: every is {every!r}; expected a whole number of at least 1")
    test, condition = _condition(when)
    label = (text or variable.name or "value").replace("{", "{{").replace("}", "}}") if not fields else ""
    whole = text if fields else f"{label} {{value}}"
    printer = _Printer(whole, variable.name or "", test, every, file)
    return watched(variable, printer, "debug_print", *condition)


def _condition(when: When) -> tuple[Callable[[np.ndarray], Any] | None, tuple[Any, ...]]:
    """Return a test of the value, or the expression that decides."""
    if when is None:
        return None, ()
    if isinstance(when, (Variable, bool, np.bool_)):
        return None, (when,)
    if not callable(when):
        raise TypeError(f"debug_print: when is {shown(when)}; expected a function of the value, or a bool expression")
    return when, ()


class _Printer:
    """Prints values by a format; `count` is how many times the condition held."""

    def __init__(self, text: str, name: str, test: Any, every: int, file: TextIO | None) -> None:
        self.text, self.name, self.test, self.every, self.file = text, name, test, every, file
        self.count = 0
        self._lock = ProcessLock()

    def __call__(self, value: np.ndarray) -> None:
        if self.test is not None and not self.test(value):
            return
        with self._lock:
            self.count += 1
            count = self.count
        if (count - 1) % self.every == 0:
            print(self.text.format_map(_Facts(value, self.name, count)), file=self.file or sys.stdout)


class _Facts(dict[str, Any]):
    """The words of a format, each computed when it is used."""

    def __init__(self, value: np.ndarray, name: str, count: int) -> None:
        super().__init__(value=value.item() if value.ndim == 0 else value, name=name, count=count)
        self.array = value

    def __missing__(self, word: str) -> Any:
        if word in ("shape", "dtype"):
            return getattr(self.array, word)
        if word in ("nans", "infs"):
            test = np.isnan if word == "nans" else np.isinf
            return int(test(self.array).sum()) if self.array.dtype.kind in "fc" else 0
        return getattr(self.array, word)() if self.array.size else float("nan")


class Taps(Mapping[str, list[np.ndarray]]):
    """The values that `tap` collected, by name: `taps["h"]` has one array for each time, in order."""

    def __init__(self) -> None:
        self._values: dict[str, list[np.ndarray]] = {}

    def add(self, name: str, value: np.ndarray) -> None:
        """Add a value."""
        self._values.setdefault(name, []).append(value)

    def __getitem__(self, name: str) -> list[np.ndarray]:
        if name not in self._values:
            raise KeyError(f"no value was tapped as {name!r}; there are {', '.join(self._values) or 'none'}")
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        parts = (f"{name}: {len(found)} of {found[-1].dtype}{list(found[-1].shape)}" for name, found in self.items())
        return f"<taps {', '.join(parts)}>" if self else "<taps without values>"


_collecting: ContextVar[tuple[Taps, ...]] = ContextVar("collecting", default=())
"""The collections that are open."""


def tap(x: TensorLike, name: str) -> TensorVariable:
    """Return x, whose values are collected by name while `with ag.taps()` is open.

        h = ag.tap(T.tanh(x @ w), "h")
        f = ag.function([x, w], h.sum())
        with ag.taps() as values:
            f(a, b)
        values["h"]  # a list: one array a call, or a step of a loop

    Args:
        x: the expression; use the result in its place, else nothing is collected.
        name: the key of its values.

    Raises TypeError if the name is no text.
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"tap: name is {name!r}; expected text")

    def keep(value: np.ndarray) -> None:
        for taps in _collecting.get():
            taps.add(name, np.array(value))

    return watched(x, keep, "tap")


@contextmanager
def taps() -> Iterator[Taps]:
    """Collect the values of `tap` in calls of this thread: `with ag.taps() as values: f(x)`."""
    found = Taps()
    token = _collecting.set((*_collecting.get(), found))
    try:
        yield found
    finally:
        _collecting.reset(token)
