"""Lists of Python that change by values: arrays with room for items, and the number of items, as states of the trace.

    for v in x:
        if v > 0: found.append(v)    -->    if v > 0: items[count] = v; count += 1

A list of the function stays a list, for its identity, but holds one `Grown` in the place of its items.  A loop or
branch that changes a list is traced again with one (`wanted.attempts`).  The outermost statement has the arrays of all
lists that change inside it, those that begin there among them, so that no step makes arrays.  methods.py has what
programs do with a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import keep_class
from ...ops.core.tracing import Number, Trace
from ...ops.shapes.stored import copied, now, set_item
from ...tree import flat, is_named, unflat
from ..intervals import Interval
from ..iterables import Steps
from ..saved import LISTS
from .kinds import Kind
from .rooms import Room
from .tables import TABLE, Row, table_array

_LENGTH = Interval(0, 2**48)
_FEW = 16
"""Items that are written one by one."""
DOES = (
    "append, extend, pop, remove, index, count, sort, `in`, len, indices, slices, loops over it, heapq and functions "
    "of NumPy"
)


def empty(size: Any, kind: Kind, lengths: Any) -> Any:
    """Return an array with room for items."""
    return copied(T.zeros((size, *lengths), kind.dtype))


def cell(value: Any) -> Any:
    """Return a number as a variable of its own, under which a trace stores what it becomes."""
    return T.ELEMENTWISE["identity"](value)


def hold(container: Any, grown: Grown) -> None:
    """Let a list hold nothing but its items."""
    container.clear()
    container.append(grown)


def grown_of(value: Any, refused_as: str = "") -> Any:
    """Return the `Grown` of a list that grows; None for anything else.

    Raises TypeError for a list that an operator of Python has made of one, and for one `refused_as` what takes none.
    """
    if type(value) not in LISTS or not value or not any(type(v) is Grown for v in value):
        return None
    if len(value) != 1 or refused_as:
        raise TypeError(f"a list that changes by values takes {DOES}; got {refused_as or 'another operator'}{line()}")
    if value[0].lost:
        raise TypeError(f"{value[0].lost}{line()}")
    return value[0]


class Grown:
    """The items of a list: arrays with room, one for each leaf of an item; where the first item lies, and the count."""

    def __init__(self, trace: Trace, holder: Any, form: Any, kinds: list[Kind], lengths: list[Any]) -> None:
        self.trace: Trace = trace
        self.holder: Any = holder
        self.form: Any = form
        self.kinds: list[Kind] = kinds
        self.lengths: list[Any] = lengths
        self.bases: list[Any] = []
        self.first: Any = None
        self.count: Any = None
        self.room: Any = None
        self.result: type = type(holder)
        """The type of a result of the compiled function."""
        self.fixed: int | None = None
        """The count, if no statement changes it."""
        self.owner: Any = None
        """The statement and the variable whose own list it is."""
        self.touched: list[Any] = []
        """Holds something once the list is changed by itself; a list that takes its place shares it."""
        self.lost = ""
        """Why the list has no items."""
        trace.grows = True

    def __repr__(self) -> str:
        return f"a list of {' and '.join(k.dtype for k in self.kinds)} that changes by values"

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self!r} has no number of items that Python knows, so it cannot be unpacked; it takes {DOES}"
                        f"{line()}")  # fmt: skip

    # --- making
    def begin(self, items: Sequence[Any], count: Any, room: Room, arrays: list[Any] | None) -> None:
        """Take the items of the list; `arrays`: those to use, None for new ones."""
        self.room = room
        old = grown_of(items)
        rows: list[list[Any]] = [[] for _ in self.kinds]
        is_table = self.form == TABLE
        for item in items if old is None and not is_table else ():
            leaves: list[Any] = []
            flat(item, leaves, records=None)
            for row, leaf in zip(rows, leaves, strict=True):
                row.append(leaf)
        given = (
            old.arrays() if old is not None else [table_array(items, self.kinds[0])] if is_table else
            [r and T.stack([as_tensor(v) for v in r]) for r in rows]
        )  # fmt: skip
        few = type(count) is int and count <= _FEW and not is_table
        for k, (kind, lengths, values) in enumerate(zip(self.kinds, self.lengths, given, strict=True)):
            base = empty(room.size, kind, lengths) if arrays is None else arrays[k]
            self.bases.append(base)
            for place in range(count) if few else ():
                set_item(base, (place,), rows[k][place] if old is None else values[place])
            if not few:
                kept = T.minimum(as_tensor(count), room.size)
                set_item(base, slice(None, kept), values[:kept])
        self.first, self.count = cell(T.constant(0, "int64")), cell(T.cast(as_tensor(count), "int64"))
        self.fixed = count if type(count) is int else None
        if arrays is not None and not few:
            self.need(self.count)

    def need(self, count: Any) -> None:
        """Say how many items the list has to have room for."""
        needed = self.room.needed
        self.trace.stored[needed] = T.maximum(self._now(needed), count)

    @classmethod
    def of(cls, like: Grown, arrays: Sequence[Any], holder: Any) -> Any:
        """Return a list of the items that arrays hold, which has no room for more."""
        made = cls(like.trace, holder, like.form, like.kinds, like.lengths)
        made.bases = [copied(a) for a in arrays]
        made.first, made.count = cell(T.constant(0, "int64")), cell(T.lengths_of(arrays[0])[0])
        hold(holder, made)
        return holder

    def in_place(self, holder: Any) -> Grown:
        """Return these items as those of another list."""
        made = Grown(self.trace, holder, self.form, self.kinds, self.lengths)
        made.bases, made.first, made.count, made.room = self.bases, self.first, self.count, self.room
        made.touched, made.fixed = self.touched, self.fixed
        return made

    def take(self, count: Any, arrays: Sequence[Any]) -> None:
        """Take `count` items, for which the list may lack room."""
        kept = T.minimum(as_tensor(count), self.room.size)
        for base, values in zip(self.bases, arrays, strict=True):
            set_item(base, slice(None, kept), values[:kept])
        self.trace.stored[self.first] = T.constant(0, "int64")
        self.set_count(T.cast(as_tensor(count), "int64"))
        self.need(as_tensor(count))

    def cells(self) -> list[Any]:
        """Return what the trace stores its state under."""
        return [*self.bases, self.first, self.count]

    def settle(self) -> None:
        """Take the arrays that the trace stores for the arrays of the list."""
        self.bases = [self._now(b) for b in self.bases]
        self.first, self.count = cell(self._now(self.first)), cell(self._now(self.count))

    # --- the state
    def _now(self, cell: Any) -> Any:
        return self.trace.stored.get(cell, cell)

    def count_now(self) -> Any:
        """Return the number of items, an int64 scalar."""
        return self._now(self.count)

    def set_count(self, count: Any) -> None:
        """Set the number of items."""
        self.fixed = None
        self.trace.stored[self.count] = count

    def first_now(self) -> Any:
        """Return where the first item lies."""
        return self._now(self.first)

    def length(self) -> Any:
        """Return `len` of the list."""
        if self.fixed is not None:
            return self.fixed
        return self.length_now()

    def length_now(self) -> Any:
        """Return the number of items as a number of Python that depends on values."""
        found = T.ELEMENTWISE["identity"](self.count_now())
        self.trace.numbers[found] = Number(int)
        self.trace.intervals[found] = _LENGTH
        return found

    def arrays(self) -> list[Any]:
        """Return the items as arrays, one for each leaf."""
        if self.room is not None:
            self.room.read = True
        first = self._now(self.first)
        return [now(self.trace, b)[first : T.add(first, self.count_now())] for b in self.bases]

    def array(self) -> Any:
        """Return what `np.array` makes of the list."""
        found = self.arrays()
        if self.form is None or self.form == TABLE:
            return found[0]
        if any(k.ndim for k in self.kinds) or any(form is not None for form in self.form[1]):
            raise TypeError(f"{self!r} of parts with different shapes is no array{line()}")
        return T.stack(found, axis=1)

    def item(self, place: Any, copies: bool = False) -> Any:
        """Return the item that lies at a place."""
        leaves = []
        if self.room is not None:
            self.room.read = True
        if self.form == TABLE:
            row = Row(self, self.bases[0], (place,))
            return Row(self, copied(row.elements()), ()) if copies else row
        for kind, base in zip(self.kinds, self.bases, strict=True):
            v: Any = T.getitem(base if kind.ndim and not copies else now(self.trace, base), (place,))
            v = copied(v) if kind.ndim and copies else v
            keep_class(self.trace, v, kind.cls)
            leaves.append(v)
        return unflat(self.form, iter(leaves))

    def place(self, k: Any) -> Any:
        """Return where item `k` lies; past the end of the arrays for an index that the list does not have."""
        count = self.count_now()
        if isinstance(k, (bool, int)) and type(k) in (bool, int):
            k = T.add(count, int(k)) if k < 0 else T.constant(int(k), "int64")
        else:
            k = as_tensor(k.variable if not isinstance(k, Variable) else k)
            k = T.switch(T.lt(k, 0), T.add(k, count), k)
        inside = T.logical_and(T.ge(k, 0), T.lt(k, count))
        size = T.lengths_of(now(self.trace, self.bases[0]))[0]
        place = T.add(self._now(self.first), k)
        return T.switch(inside, T.minimum(place, T.sub(size, 1)), size)


class Items(Steps):
    """The items of a list that grows, in a loop over it."""

    def __init__(self, grown: Grown) -> None:
        self.grown: Grown = grown

    def count(self) -> Any:
        return self.grown.length_now()

    def known(self, most: int) -> int | None:
        fixed = self.grown.fixed
        return fixed if fixed is not None and fixed <= most else None

    def at(self, k: Any) -> Any:
        place = T.add(self.grown.first_now(), as_tensor(k))
        return self.grown.item(place)


class ListOf:
    """The form of a result that is a list of a length known at run time only."""

    def __init__(self, kind: type, form: Any, classes: Sequence[type | None]) -> None:
        self.kind: type = kind
        self.form: Any = form
        self.classes: Sequence[type | None] = classes

    def value_of(self, leaves: Iterator[Any]) -> Any:
        columns = [_column(next(leaves), c) for c in self.classes]
        if self.form is None:
            return self.kind(columns[0])
        if self.form == TABLE:
            return self.kind(map(list, columns[0]))
        return self.kind([unflat(self.form, iter(row)) for row in zip(*columns, strict=True)])


def _column(array: Any, cls: type | None) -> list[Any]:
    if cls in (bool, int, float, complex):
        return array.tolist()  # type: ignore[no-any-return]
    return list(array)


def result_of(grown: Grown, outputs: list[Any]) -> ListOf:
    """Return the form of a list as a result; append its arrays to `outputs`."""
    if grown.lost:
        raise TypeError(grown.lost)
    outputs += grown.arrays()
    return ListOf(grown.result, grown.form, [k.cls for k in grown.kinds])


def without_holders(form: Any) -> Any:
    """Return the form of a result in which lists that change by values are no items of lists."""
    if type(form) is not tuple:
        return form
    kind, parts, *static = form
    if kind is list and len(parts) == 1 and type(parts[0]) is ListOf:
        return parts[0]
    if is_named(form):
        return kind, tuple([(k, without_holders(p)) for k, p in parts]), *static
    return kind, tuple(map(without_holders, parts)), *static
