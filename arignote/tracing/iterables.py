"""Iterables of loops: ranges with symbolic bounds, rows of arrays, `zip`, `enumerate` and `reversed` of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count as counter
from typing import Any

import numpy as np

from .. import ops as T
from ..graph import Constant, Variable
from ..ops.core.call_lengths import Length
from ..ops.core.tensor import as_tensor
from ..ops.core.traced import as_variable, held, is_symbolic, known_of, length
from ..ops.core.tracing import Known, Number, current
from ..record import lazy
from .saved import LISTS

lists: Any = lazy.module("..growing.lists", __name__)
tables: Any = lazy.module("..growing.tables", __name__)

_MOST = 1_000_000
"""Most steps that are listed."""
_ENDLESS = 1 << 60
"""Steps of what has no end, beside something that ends."""


class Steps:
    """Base of the iterables of loops: the number of steps, and the item of one."""

    def count(self) -> Any:
        """Return the number of steps: an int, a length of the call or a variable."""
        raise NotImplementedError

    def at(self, k: Any) -> Any:
        """Return the item of step `k`."""
        raise NotImplementedError

    def variable(self) -> Any:
        """Return the number of steps as an int64 scalar."""
        found = self.count()
        v = as_tensor(found.variable if type(found) is Length else found)
        return v if v.dtype == "int64" else T.cast(v, "int64")

    def known(self, most: int) -> int | None:
        """Return the number of steps of the call, which becomes a guard; None if it is not known, or too large."""
        found = self.count()
        if isinstance(found, Variable) and not isinstance(found, Constant):
            known = known_of(found)
            return None if known is None or known.value > most else int(held(known))
        value = found.known.value if type(found) is Length else int(found)
        if value > most:
            return None
        return int(found.exact()) if type(found) is Length else value


    def __iter__(self) -> Any:
        return iter([self.at(k) for k in range(len(self))])

    def __len__(self) -> int:
        found = self.known(_MOST)
        if found is None:
            raise TypeError("a number of steps that depends on values has no list; loop over it by a statement")
        return found

    def __getitem__(self, k: Any) -> Any:
        return [*self][k]


class Range(Steps):
    """`range` with bounds of which one at least is symbolic, or with many steps."""

    def __init__(self, *bounds: Any) -> None:
        self.start: Any = 0
        self.step: Any = 1
        if len(bounds) == 1:
            (self.stop,) = bounds
        else:
            self.start, self.stop, *rest = bounds
            self.step = rest[0] if rest else 1
        for b in (self.start, self.stop, self.step):
            if isinstance(b, Variable) and (b.ndim or b.type.kind not in "iu"):
                raise TypeError(f"range takes integers, got {b!r}")

    def count(self) -> Any:
        start, stop, step = self.start, self.stop, self.step
        if type(step) is int and step == 0:
            raise ValueError("range() arg 3 must not be zero")
        if not is_symbolic(step):
            gap = stop - start if step > 0 else start - stop
            size = abs(step)
            found = gap if size == 1 else (gap + (size - 1)) // size
            return _not_negative(found) if is_symbolic(found) else max(found, 0)
        up = (stop - start + step - 1) // step
        down = (start - stop - step - 1) // -step
        return T.maximum(T.switch(as_tensor(step) > 0, as_tensor(up), as_tensor(down)), 0)

    def at(self, k: Any) -> Any:
        if type(k) is int:
            return self.start + k * self.step
        start = as_tensor(as_variable(self.start))
        if self.step != 1 or is_symbolic(self.step):
            found = start + k * as_tensor(as_variable(self.step))
        else:
            found = k if type(self.start) is int and self.start == 0 else start + k
        found = T.cast(found, "int64") if found.dtype != "int64" else found
        trace: Any = current()
        trace.numbers[found] = Number(int)
        return found


def _not_negative(found: Any) -> Any:
    """Return a length or number of the call, at least 0."""
    trace: Any = current()
    if type(found) is Length:
        known = found.known
        if known.value >= 0 and "-" not in known.text and "//" not in known.text:
            return found
        text = f"max({known.text}, 0)"
        return Length(trace, Known(max(known.value, 0), text), lambda: T.maximum(found.variable, 0))
    given = known_of(found)
    made = T.maximum(T.cast(as_tensor(found), "int64"), 0)
    if given is not None:
        trace.numbers[made] = Number(int, Known(max(given.value, 0), f"max({given.text}, 0)"))
    return made


class Rows(Steps):
    """The rows of an array, which are views of it."""

    def __init__(self, array: Any) -> None:
        self.array: Any = array

    def count(self) -> Any:
        trace: Any = current()
        if not trace.of_call:
            return T.lengths_of(self.array)[0]
        return length(self.array, 0, trace)

    def at(self, k: Any) -> Any:
        return self.array[k]


class Zip(Steps):
    """`zip` of several, as long as the shortest."""

    def __init__(self, parts: Sequence[Steps]) -> None:
        self.parts: Sequence[Steps] = parts

    def count(self) -> Any:
        counts = [p.count() for p in self.parts]
        found = counts[0]
        for n in counts[1:]:
            if type(found) is Length and type(n) is Length and found.known.text == n.known.text:
                continue
            if isinstance(found, int) and isinstance(n, int):  # a length of the call is an int
                found = found if found <= n else n
            else:
                found = T.minimum(as_variable(found), as_variable(n))
        return found

    def at(self, k: Any) -> Any:
        return tuple(p.at(k) for p in self.parts)


class Enumerated(Steps):
    """`enumerate`."""

    def __init__(self, part: Steps, start: Any = 0) -> None:
        self.part: Steps = part
        self.numbers: Range = Range(start, 0)

    def count(self) -> Any:
        return self.part.count()

    def at(self, k: Any) -> Any:
        return self.numbers.at(k), self.part.at(k)


class Reversed(Steps):
    """`reversed`."""

    def __init__(self, part: Steps) -> None:
        self.part: Steps = part

    def count(self) -> Any:
        return self.part.count()

    def at(self, k: Any) -> Any:
        return self.part.at(self.part.count() - 1 - k if type(k) is int else self.part.variable() - 1 - k)


class Indices(Steps):
    """`np.ndindex`: the indices of an array of some lengths, the last one fastest."""

    def __init__(self, lengths: Sequence[Any]) -> None:
        self.lengths: Sequence[Any] = lengths

    def count(self) -> Any:
        found: Any = 1
        for n in self.lengths:
            found = found * n
        return found

    def at(self, k: Any) -> Any:
        found: list[Any] = []
        for n in reversed(self.lengths[1:]):
            found.append(k % n)
            k = k // n
        found += [k] * bool(self.lengths)
        trace: Any = current()
        for v in found:
            if isinstance(v, Variable):
                trace.numbers[v] = Number(int)
        return tuple(reversed(found))


class Elements(Steps):
    """`np.nditer` of an array: its elements in C order; with `numbered` their indices before them, `np.ndenumerate`."""

    def __init__(self, array: Any, numbered: bool = False) -> None:
        self.indices: Indices = Indices(array.shape)
        self.flat: Any = T.ravel(array)
        self.numbered: bool = numbered

    def count(self) -> Any:
        return self.indices.count()

    def at(self, k: Any) -> Any:
        return (self.indices.at(k), self.flat[k]) if self.numbered else self.flat[k]


class Listed(Steps):
    """Constant items beside symbolic ones: their place must be known."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values: Sequence[Any] = values

    def count(self) -> Any:
        return len(self.values)

    def at(self, k: Any) -> Any:
        if type(k) is int:
            return self.values[k]
        return as_tensor(np.asarray(self.values))[k]


def counted_from(value: Any) -> tuple[Any, Any] | None:
    """Return the next number and the step of an `itertools.count`; None for anything else."""
    if type(value) is not counter:
        return None
    numbers: Any = value.__reduce__()[1]
    start, *rest = numbers
    return start, rest[0] if rest else 1


def part_of(value: Any) -> Steps | None:
    """Return the steps of an iterable; None for one of Python."""
    if isinstance(value, Steps):
        return value
    if type(value) is range:
        return Range(value.start, value.stop, value.step)
    if type(value) in LISTS:
        grown = lists.grown_of(value)
        return None if grown is None else lists.Items(grown)
    counted = counted_from(value)
    if counted is not None and all(type(n) is int for n in counted):
        start, step = counted
        return Range(start, start + step * _ENDLESS, step)
    if isinstance(value, Variable) and value.ndim:
        return Rows(value)
    if type(value) is tables.Row:
        return tables.Elements(value)  # type: ignore[no-any-return]
    if type(value) is np.ndarray and value.ndim and value.dtype.kind in "biufc":
        return Rows(as_tensor(value))
    return None


def steps_of(value: Any, most: int) -> Steps | None:
    """Return the steps of a loop; None for few constant steps, and for iterables of Python."""
    found = part_of(value)
    if found is None:
        return None
    count = found.count()
    if isinstance(count, Constant):
        count = int(count.data)
    return None if not is_symbolic(count) and count <= most else found
