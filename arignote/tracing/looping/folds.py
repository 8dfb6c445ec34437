"""Generator expressions in a call, and comprehensions of several loops: their items are folded in loops with states.

    sum(f(v) for v in x if p(v))   -->   total = 0
                                         for v in x:
                                             if p(v): total = total + f(v)

Python's own iteration gives the items where their number is known and small.  A function of NumPy that takes a list
comprehension gets an array that a loop fills:

    np.array([[f(x, y) for x in a] for y in b])   -->   rows = np.empty((len(b), len(a)))
                                                        for j, y in enumerate(b):
                                                            row = np.empty(len(a))
                                                            for i, x in enumerate(a):
                                                                row[i] = f(x, y)
                                                            rows[j] = row
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ... import ops as T
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import held
from ...ops.core.tracing import Known, current
from ...ops.shapes.stored import copied, set_item
from ..branches import choice, if_, itself, not_, or_, truth
from ..builtins.comparisons import compared
from ..iterables import Enumerated, steps_of
from ..raising import raise_if
from ..saved import Saved, is_value
from ..undefined import Undefined
from .loops import UnknownLength, add_to, for_
from .unrolling import MOST, UNROLLED, nothing

_NOTHING: Any = object()


class Fold:
    """The state of nested loops over items, and what they do with one; `stop` tells whether they are to end."""

    def __init__(
        self, emit: Callable[[Any], None], values: Sequence[Any] = (), stop: Callable[[], Any] | None = None,
        seen: Callable[[], tuple[Any, ...]] = tuple,
    ) -> None:  # fmt: skip
        self.emit, self.values, self.stop, self.seen = emit, list(values), stop, seen
        self.names: Sequence[str] = ["the result"] * len(self.values)

    def get(self) -> tuple[Any, ...]:
        return tuple(self.values)

    def put(self, values: tuple[Any, ...]) -> None:
        self.values[:] = values

    def each(self, iterable: Any, body: Callable[[Any], None]) -> None:
        """`for item in iterable: body(item)`."""
        for_(iterable, body, self.stop, self.names, self.get, self.put, self.seen)

    def row(self, plain: Any, run: Any, whole: Callable[[], Any]) -> Any:
        """An item that is a list comprehension: `whole` gives the list."""
        return whole()

    def when(self, test: Any, then: Callable[[], None]) -> None:
        """`if test: then()`."""
        if_(test, then, nothing, self.names, self.get, self.put, self.seen)


class Items:
    """The items of a generator expression that only one call has, or of a comprehension.

    `plain`: Python's generator, along symbolic loops of at most so many steps.  `run`: the loops, for a fold.
    """

    def __init__(self, plain: Callable[[int], Iterable[Any]], run: Callable[[Fold], None]) -> None:
        self.plain, self.run = plain, run

    def in_python(self, take: Callable[[Iterable[Any]], Any], most: int) -> tuple[Any] | None:
        """Return what `take` makes of Python's generator; None if values decide what its items are."""
        trace: Any = current()
        saved = None if trace is None else Saved(trace, (), ())
        try:
            return (take(self.plain(most)),)
        except UnknownLength:
            if saved is not None:
                saved.restore(lambda _: None)
            return None

    def listed(self, most: int = MOST) -> list[Any]:
        """Return the items as a list, which changes by values if values decide its length, or if they are many."""
        found = self.in_python(list, most)
        if found is not None:
            return found[0]  # type: ignore[no-any-return]
        made: list[Any] = []
        self.run(Fold(partial(add_to, made), seen=lambda: (made,)))
        return made


class NotFilled(Exception):
    """The items of a comprehension are no elements or rows of one array."""


def array_of_items(call: Any, items: Items) -> Any:
    """Return the items of a comprehension: a list if they are few, else an array that a loop fills.

    Raises NotFilled for items that are not numbers or arrays of one shape, and for a comprehension with tests.
    """
    few = items.in_python(list, UNROLLED)
    if few is not None:
        return few[0]
    fold = Filling(call)
    items.run(fold)
    return fold.base


class Filling(Fold):
    """The loop over the items of a comprehension, which writes each into an array; see `Fold`."""

    def __init__(self, call: Any) -> None:
        super().__init__(self._take)
        self.call: Any = call
        self.base: Any = None
        self.item: Any = None
        self.place: Any = None

    def _take(self, item: Any) -> None:
        """Write an item; the first time, look at it."""
        value = self.call(np.array, item) if isinstance(item, list) else item
        if not is_value(value):
            raise NotFilled
        if self.base is None:
            self.item = as_tensor(value)
        else:
            set_item(self.base, (self.place,), value)

    def each(self, iterable: Any, body: Callable[[Any], None]) -> None:
        """Fill the array in a loop.  Raises NotFilled inside another loop of the comprehension."""
        trace: Any = current()
        steps = steps_of(iterable, UNROLLED)
        if steps is None or self.base is not None or self.place is not None:
            raise NotFilled
        saved = Saved(trace, (), ())
        self.place = T.constant(0, "int64")
        body(steps.at(self.place))
        saved.restore(lambda _: None)
        lengths = [trace.known_length(self.item, axis) for axis in range(self.item.ndim)]
        if None in lengths:
            raise NotFilled
        known = [held(n) if isinstance(n, Known) else n for n in lengths]
        self.base = copied(T.zeros((steps.variable(), *known), self.item.dtype))

        def write(numbered: Any) -> None:
            self.place, item = numbered
            body(item)

        for_(Enumerated(steps), write, None, (), tuple, lambda _: None, tuple)

    def when(self, test: Any, then: Callable[[], None]) -> None:
        """Refuse a test: the number of items would depend on values."""
        raise NotFilled

    def row(self, plain: Any, run: Any, whole: Callable[[], Any]) -> Any:
        """An item that is a list comprehension, as an array."""
        return array_of_items(self.call, Items(plain, run))


def collected(plain: Callable[[int], Iterable[Any]], run: Callable[[Fold], None]) -> list[Any]:
    """A list comprehension of several loops."""
    return Items(plain, run).listed()


def consumed(call: Any, f: Any, plain: Callable[[int], Iterable[Any]], run: Callable[[Fold], None], *args: Any,
             **options: Any) -> Any:  # fmt: skip
    """`f(generator, *args, **options)`."""
    items = Items(plain, run)
    fold = _FOLDS.get(f) if isinstance(f, Hashable) else None
    if fold is None:
        lists = isinstance(f, Hashable) and f in _LISTING
        return call(f, items.listed() if lists else plain(MOST), *args, **options)
    found = items.in_python(lambda g: next(iter(g), *args) if f is next else list(g), UNROLLED)
    if found is None:
        return fold(items, *args, **options)
    return found[0] if f is next else call(f, found[0], *args, **options)


def consumed_list(call: Any, f: Any, plain: Callable[[int], Iterable[Any]], run: Callable[[Fold], None], *args: Any,
                  **options: Any) -> Any:  # fmt: skip
    """`f([...], *args, **options)`.  A function of NumPy gets an array that a loop fills, for any number of items."""
    items = Items(plain, run)
    of_numpy = getattr(f, "__module__", None) == "numpy"
    if not of_numpy:
        return call(f, items.listed(UNROLLED if isinstance(f, Hashable) and f in _FOLDS else MOST), *args, **options)
    trace: Any = current()
    saved = None if trace is None else Saved(trace, (), ())
    try:
        found = array_of_items(call, items)
    except NotFilled:
        if saved is not None:
            saved.restore(lambda _: None)
        found = items.listed(UNROLLED)
    return call(f, found, *args, **options)


def _sum(items: Items, start: Any = 0) -> Any:
    def emit(v: Any) -> None:
        fold.values[0] = fold.values[0] + v

    fold = Fold(emit, [start])
    items.run(fold)
    return fold.values[0]


def _some(items: Items, decisive: bool) -> Any:
    """`any(items)` if the truth value that decides is True, else `all(items)`."""

    def emit(v: Any) -> None:
        fold.values[0] = truth(v)

    fold = Fold(emit, [not decisive], lambda: fold.values[0] if decisive else not_(fold.values[0]))
    items.run(fold)
    return fold.values[0]


def _extreme(items: Items, word: str, name: str, key: Any = None, default: Any = _NOTHING) -> Any:
    def emit(v: Any) -> None:
        one = v if key is None else key(v)
        _, best, exists = fold.values
        better = or_(not_(exists), lambda: compared(word, one, best))
        if_(better, lambda: fold.put((v, one, True)), nothing, fold.names, fold.get, fold.put, fold.seen)

    fold = Fold(emit, [Undefined("the result"), Undefined("its key"), False])
    items.run(fold)
    return _found(fold.values[2], fold.values[0], default, ValueError(f"{name}() iterable argument is empty"))


def extreme_of(name: str, steps: Any, key: Callable[[Any], Any], *default: Any) -> Any:
    """`max(steps, key=key)` or `min`, with a default if there is one."""
    items = Items(lambda most: steps, lambda fold: fold.each(steps, fold.emit))
    return _FOLDS[getattr(builtins, name)](items, key=key, **dict(zip(("default",), default, strict=False)))


def _next(items: Items, default: Any = _NOTHING) -> Any:
    fold = Fold(lambda v: fold.put((v, True)), [Undefined("the result"), False], lambda: fold.values[1])
    items.run(fold)
    return _found(fold.values[1], fold.values[0], default, StopIteration())


def _found(exists: Any, value: Any, default: Any, error: Exception) -> Any:
    """Return a value if there is one, else the default; without one a call raises the error."""
    if default is _NOTHING:
        raise_if(not_(exists), lambda: error)
        return value
    return choice(exists, partial(itself, value), partial(itself, default))


_FOLDS: dict[Any, Callable[..., Any]] = {
    sum: _sum, any: partial(_some, decisive=True), all: partial(_some, decisive=False), next: _next,
    max: partial(_extreme, word="gt", name="max"), min: partial(_extreme, word="lt", name="min"),
}  # fmt: skip
_LISTING = frozenset((list, tuple, sorted, np.fromiter))
"""Functions that take all items at once."""
