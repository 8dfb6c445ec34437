"""Lists of Python that change by values: arrays with room for items, and the number of items, as states of the trace.

    for v in x:
        if v > 0: found.append(v)    -->    if v > 0: items[count] = v; count += 1

A list of the function stays a list, for its identity, but holds one `Grown` in the place of its items.  A loop or
branch that changes a list is traced again with one (`attempts`).  The outermost statement has the arrays of all lists
that change inside it, those that begin there among them, so that no step makes arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ... import ops as T
from ...graph import Variable
from ...ops.core.checks import shown
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import adopt, array_of, held, is_symbolic, keep_class
from ...ops.core.tracing import Known, Number, Trace
from ...ops.shapes.stored import base_of, copied, now, own, set_item
from ...record import lazy
from ...tree import flat, is_named, unflat
from ..intervals import Interval
from ..iterables import Steps
from ..saved import LISTS, Saved, inside, is_value, line
from .kinds import Kind, kind_of
from .rooms import Room

loops: Any = lazy.module("...loops", __name__)
_MOST_INSIDE = 32
"""Most lists that begin inside of a statement."""
_LENGTH = Interval(0, 2**48)
_FEW = 16
"""Items that are written one by one."""
_DOES = "append, extend, pop, sort, `in`, len, indices, slices, loops over it, heapq and functions of NumPy"


class Changed(TypeError):
    """A statement that depends on values changes lists: each list, with items that it has to hold."""

    def __init__(self, lists: Sequence[tuple[Any, Sequence[Any]]], message: str) -> None:
        super().__init__(message)
        self.lists: Sequence[tuple[Any, Sequence[Any]]] = lists
        self.saved: Any = None
        """The statement that has changed lists of Python by itself."""


def refused(saved: Saved, where: str) -> Changed:
    """Return the error of a statement that has changed what it must not; `where` names it."""
    changed = [(c, list(c) if type(c) in LISTS else []) for c, parts, _ in saved.containers if inside(c) != parts]
    found = Changed(changed, f"a list or dict is changed in {where}; fill an array, or run it in Python by "
                    f"ag.jit(f, strict=False){line()}")  # fmt: skip
    found.saved = saved
    return found


class Lacking(TypeError):
    """A list that begins inside of a statement has no arrays yet: the kinds and the lengths of its items."""

    def __init__(self, kinds: Sequence[Kind], lengths: Sequence[Any]) -> None:
        super().__init__(f"a list changes in a loop or branch that depends on values{line()}")
        self.kinds, self.lengths = tuple(kinds), tuple(lengths)


def passes_on(trace: Trace, error: Exception) -> bool:
    """Whether a statement around the failed one can be traced again with other lists."""
    known = {id(c) for s in trace.saved for c, _, _ in s.containers}
    return bool(trace.saved) and (
        isinstance(error, Lacking) or (isinstance(error, Changed) and any(id(c) in known for c, _ in error.lists))
    )


class Wanted:
    """The lists that a statement changes, and the form and kinds of their items: what its next trace begins with."""

    def __init__(
        self, trace: Trace, saved: Saved, get: Callable[[], Any], put: Callable[[Any], None], where: str
    ) -> None:  # fmt: skip
        self.trace, self.saved, self.get, self.put, self.where = trace, saved, get, put, where
        self.lists: dict[int, tuple[Any, Any, list[Kind], list[Any]]] = {}
        """By id: the list, the form of an item, and for each leaf its kind and its lengths."""
        self.inside: list[Lacking] = []
        """The lists that begin inside of the statement."""

    def takes(self, error: Exception) -> bool:
        """Whether the statement can be traced again, with lists that grow; then they are known here."""
        if isinstance(error, Lacking) and self.trace.saved[0] is self.saved:
            self.inside.append(error)
            return len(self.inside) <= _MOST_INSIDE
        if not isinstance(error, Changed):
            return False
        known = {id(c) for c, _, _ in self.saved.containers}
        outer = {id(c) for s in self.trace.saved[: self.trace.saved.index(self.saved)] for c, _, _ in s.containers}
        mine = [(c, items) for c, items in error.lists if id(c) in known and id(c) not in outer]
        if not mine or len(mine) != len(error.lists) or any(type(c) not in LISTS for c, _ in mine):
            return False
        taken = [self._takes(c, items) for c, items in mine]
        return all(taken)

    def _takes(self, container: Any, items: Sequence[Any]) -> bool:
        old = self.lists.get(id(container))
        given = [*items, *container]
        grown = [v for v in given if type(v) is Grown]
        form, kinds, lengths = (old[1], list(old[2]), old[3]) if old is not None else (None, [], [])
        for g in grown if old is None else ():
            form, kinds, lengths = g.form, list(g.kinds), g.lengths
        for item in [v for v in given if type(v) is not Grown]:
            leaves: list[Any] = []
            own_form = flat(item, leaves, records=None)
            if not all(is_value(v) for v in leaves):
                return False
            if not kinds:
                form, kinds = own_form, [kind_of(v) for v in leaves]
                lengths = [_lengths(self.trace, v) for v in leaves]
                continue
            joined = [a.joined(kind_of(v)) for a, v in zip(kinds, leaves, strict=True)] if own_form == form else [None]
            if None in joined:
                return False
            kinds = joined  # type: ignore[assignment]
        if not kinds or None in lengths:
            return False
        same = old is not None and old[2] == kinds
        self.lists[id(container)] = container, form, kinds, lengths
        return not same

    def begin(self) -> Room | None:
        """Let the lists grow; return their room, None inside of another statement or if there are no such lists."""
        if not self.lists and not self.inside:
            return None
        before = {id(c): copy for c, _, copy in self.saved.containers}
        counts = [_count_before(before[key]) for key in self.lists]
        least: Any = 0
        for n in counts:
            known = type(n) is int and type(least) is int
            least = max(least, n) if known else T.maximum(as_tensor(least), as_tensor(n))
        is_outermost = self.trace.saved[0] is self.saved
        room = Room(self.trace, least) if is_outermost else self._room_around()
        for (key, (container, form, kinds, lengths)), count in zip(self.lists.items(), counts, strict=True):
            arrays = None if is_outermost else room.take(kinds, lengths)
            if not is_outermost and arrays is None:
                raise Lacking(kinds, lengths)
            grown = Grown(self.trace, container, form, kinds, lengths)
            grown.begin(before[key], count, room, arrays)
            _hold(container, grown)
        self.saved.expect([container for container, *_ in self.lists.values()])
        if not is_outermost:
            return None
        for lack in self.inside:
            arrays = [_empty(room.size, kind, n) for kind, n in zip(lack.kinds, lack.lengths, strict=True)]
            room.ready.append((lack.kinds, lack.lengths, arrays))
        self.trace.rooms.append(room)
        return room

    def _room_around(self) -> Room:
        """Return the room of the outermost statement.  Raises Lacking if it has none."""
        if not self.trace.rooms:
            _, _, kinds, lengths = next(iter(self.lists.values()))
            raise Lacking(kinds, lengths)
        found: Room = self.trace.rooms[0]
        return found

    def end(self, room: Room) -> None:
        """Give the lists their room: in all values that the statement has changed."""
        trace, old = self.trace, self.saved.stored
        values, kept = self.get(), [type(v) in (list, dict, set, *LISTS) for v in self.get()]
        leaves: list[Any] = []
        form = flat([None if k else v for v, k in zip(values, kept, strict=True)], leaves, records=None)
        places = [b for b, v in trace.stored.items() if old.get(b) is not v]
        lists = [grown_of(container) for container, *_ in self.lists.values()]
        places += [b for g in lists for b in g.cells() if b not in places]
        needed = trace.stored.get(room.needed, room.needed)
        before = [*leaves, *(trace.stored.get(b, b) for b in places), *(v.default_update for v in room.drawn)]
        changed = [v for v in before if isinstance(v, Variable)]
        images = dict(zip(changed, room.given(changed, needed), strict=True))
        for v, image in images.items():
            _is_now(trace, v, image)
        after = [images.get(v, v) if isinstance(v, Variable) else v for v in before]
        trace.stored.update(zip(places, after[len(leaves) :], strict=False))
        for v, moved in zip(room.drawn, after[len(leaves) + len(places) :], strict=True):
            v.default_update = moved
        found = unflat(form, iter(after[: len(leaves)]))
        self.put(tuple([v if k else new for v, new, k in zip(values, found, kept, strict=True)]))
        for g in lists:
            g.settle()
        room.open = False
        trace.rooms.remove(room)


def attempts(wanted: Wanted, run: Callable[[], None], otherwise: Callable[[], bool]) -> Exception | None:
    """Trace a statement until its lists have the kinds that it needs; return the error that ends this, or None.

    `otherwise`: whether a statement that changes lists itself has another way.
    """
    trace, saved = wanted.trace, wanted.saved
    trace.saved.append(saved)
    try:
        while True:
            try:
                room = wanted.begin()
                run()
                if saved.changed():
                    raise refused(saved, wanted.where)
                if room is not None:
                    wanted.end(room)
                return None
            except Exception as error:
                cause = error
                if not isinstance(error, Changed) and saved.changed():
                    cause = refused(saved, wanted.where)  # of a list that is not what a step leaves
                    cause.saved = None
                saved.undo_changes()
                saved.restore(wanted.put)
                if (isinstance(error, Changed) and error.saved is saved and otherwise()) or not wanted.takes(cause):
                    return error
    finally:
        trace.saved.remove(saved)


def _is_now(trace: Trace, old: Variable, new: Variable) -> None:
    """Let a variable have what a trace knows of another one."""
    if old is new:
        return
    adopt(trace, new)
    tables: tuple[dict[Variable, Any], ...] = (
        trace.numbers, trace.classes, trace.lengths, trace.frozen, trace.intervals, trace.grown, trace.choices,
    )  # fmt: skip
    for table in tables:
        if old in table:
            table[new] = table[old]


def _empty(size: Any, kind: Kind, lengths: Any) -> Any:
    return copied(T.zeros((size, *lengths), kind.dtype))


def _hold(container: Any, grown: Grown) -> None:
    container.clear()
    container.append(grown)


def _lengths(trace: Trace, value: Any) -> Any:
    """Return the lengths of an item as numbers, which become guards; None if they depend on values."""
    if not isinstance(value, Variable):
        return np.shape(value)
    found = [trace.known_length(value, axis) for axis in range(value.ndim)]
    return None if None in found else tuple([held(n) if isinstance(n, Known) else n for n in found])


def _count_before(items: Any) -> Any:
    return grown_of(items).count_now() if len(items) == 1 and type(items[0]) is Grown else len(items)


def grown_of(value: Any, refused_as: str = "") -> Any:
    """Return the `Grown` of a list that grows; None for anything else.

    Raises TypeError for a list that an operator of Python has made of one, and for one `refused_as` what takes none.
    """
    if type(value) not in LISTS or not value or not any(type(v) is Grown for v in value):
        return None
    if len(value) != 1 or refused_as:
        raise TypeError(f"a list that changes by values takes {_DOES}; got {refused_as or 'another operator'}{line()}")
    return value[0]


class Grown:
    """The items of a list: arrays with room, one for each leaf of an item; where the first item lies, and the count."""

    def __init__(self, trace: Trace, holder: Any, form: Any, kinds: list[Kind], lengths: list[Any]) -> None:
        self.trace, self.holder, self.form, self.kinds, self.lengths = trace, holder, form, kinds, lengths
        self.bases: list[Any] = []
        self.first: Any = None
        self.count: Any = None
        self.room: Any = None
        trace.grows = True

    def __repr__(self) -> str:
        return f"a list of {' and '.join(k.dtype for k in self.kinds)} that changes by values"

    def __iter__(self) -> Iterator[Any]:
        raise TypeError(f"{self!r} has no number of items that Python knows, so it cannot be unpacked; it takes {_DOES}"
                        f"{line()}")  # fmt: skip

    # --- making
    def begin(self, items: Sequence[Any], count: Any, room: Room, arrays: list[Any] | None) -> None:
        """Take the items of the list; `arrays`: those to use, None for new ones."""
        self.room = room
        old = grown_of(items)
        rows: list[list[Any]] = [[] for _ in self.kinds]
        for item in items if old is None else ():
            leaves: list[Any] = []
            flat(item, leaves, records=None)
            for row, leaf in zip(rows, leaves, strict=True):
                row.append(leaf)
        given = [r and T.stack([as_tensor(v) for v in r]) for r in rows] if old is None else old.arrays()
        few = type(count) is int and count <= _FEW
        for k, (kind, lengths, values) in enumerate(zip(self.kinds, self.lengths, given, strict=True)):
            base = _empty(room.size, kind, lengths) if arrays is None else arrays[k]
            self.bases.append(base)
            for place in range(count) if few else ():
                set_item(base, (place,), rows[k][place] if old is None else values[place])
            if not few:
                kept = T.minimum(as_tensor(count), room.size)
                set_item(base, slice(None, kept), values[:kept])
        self.first, self.count = own(T.constant(0, "int64")), own(T.cast(as_tensor(count), "int64"))
        if arrays is not None and not few:
            self._need(self.count)

    def _need(self, count: Any) -> None:
        needed = self.room.needed
        self.trace.stored[needed] = T.maximum(self._now(needed), count)

    @classmethod
    def of(cls, like: Grown, arrays: Sequence[Any], holder: Any) -> Any:
        """Return a list of the items that arrays hold, which has no room for more."""
        made = cls(like.trace, holder, like.form, like.kinds, like.lengths)
        made.bases = [copied(a) for a in arrays]
        made.first, made.count = own(T.constant(0, "int64")), own(T.lengths_of(arrays[0])[0])
        _hold(holder, made)
        return holder

    def cells(self) -> list[Any]:
        """Return what the trace stores its state under."""
        return [*self.bases, self.first, self.count]

    def settle(self) -> None:
        """Take the arrays that the trace stores for the arrays of the list."""
        self.bases = [self._now(b) for b in self.bases]
        self.first, self.count = own(self._now(self.first)), own(self._now(self.count))

    # --- the state
    def _now(self, cell: Any) -> Any:
        return self.trace.stored.get(cell, cell)

    def count_now(self) -> Any:
        """Return the number of items, an int64 scalar."""
        return self._now(self.count)

    def length(self) -> Any:
        """Return `len` of the list."""
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
        if self.form is None:
            return found[0]
        if any(k.ndim for k in self.kinds) or any(form is not None for form in self.form[1]):
            raise TypeError(f"{self!r} of parts with different shapes is no array{line()}")
        return T.stack(found, axis=1)

    def _item(self, place: Any, copies: bool = False) -> Any:
        leaves = []
        if self.room is not None:
            self.room.read = True
        for kind, base in zip(self.kinds, self.bases, strict=True):
            v: Any = T.getitem(base if kind.ndim and not copies else now(self.trace, base), (place,))
            v = copied(v) if kind.ndim and copies else v
            keep_class(self.trace, v, kind.cls)
            leaves.append(v)
        return unflat(self.form, iter(leaves))

    def _place(self, k: Any) -> Any:
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

    # --- what programs do
    def get(self, key: Any) -> Any:
        """`x[key]`."""
        if type(key) is slice:
            ends = [None if e is None else e.variable if is_symbolic(e) and not isinstance(e, Variable) else e
                    for e in (key.start, key.stop, key.step)]  # fmt: skip
            return Grown.of(self, [a[slice(*ends)] for a in self.arrays()], type(self.holder)())
        return self._item(self._place(key))

    def set(self, key: Any, value: Any) -> None:
        """`x[key] = value`."""
        place = self._place(key)
        for base, leaf in zip(self.bases, self._leaves(value), strict=True):
            set_item(base, (place,), leaf)

    def _leaves(self, value: Any) -> list[Any]:
        """Return the leaves of an item.  Raises Changed for one of another kind."""
        leaves: list[Any] = []
        if flat(value, leaves, records=None) == self.form and all(map(is_value, leaves)):
            kinds = [k.joined(kind_of(v)) for k, v in zip(self.kinds, leaves, strict=True)]
            for v in leaves:
                if isinstance(v, Variable) and v.ndim:
                    self.trace.frozen.setdefault(base_of(v), "it is an item of a list that changes by values")
            if kinds == self.kinds:
                return leaves
        raise Changed([(self.holder, [value])], f"an item of {self!r} is {shown(value)}; expected items of one form, "
                      f"rank and type{line()}")  # fmt: skip

    def append(self, value: Any) -> None:
        """`x.append(value)`."""
        leaves = self._leaves(value)
        if self.room is None or not self.room.open:
            self._grow(leaves)
            return
        count, size = self.count_now(), self.room.size
        end = T.add(self._now(self.first), count)
        place = T.minimum(end, T.sub(size, 1))
        for base, leaf in zip(self.bases, leaves, strict=True):
            set_item(base, (place,), leaf)
        self._set_count(T.add(count, 1))
        self._need(T.add(end, 1))
        self.room.add(1)

    def _set_count(self, count: Any) -> None:
        self.trace.stored[self.count] = count

    def _grow(self, leaves: Sequence[Any]) -> None:
        """Append to a list whose room was given by an earlier statement."""
        if self.trace.depth:
            raise Changed([(self.holder, [])], f"{self!r} changes in a loop or branch{line()}")
        ends = [T.expand_dims(T.cast(as_tensor(v), k.dtype), 0) for v, k in zip(leaves, self.kinds, strict=True)]
        joined = [T.concatenate([a, e]) for a, e in zip(self.arrays(), ends, strict=True)]
        Grown.of(self, joined, self.holder)
        self.holder[0].room = self.room

    def extend(self, values: Any) -> None:
        """`x.extend(values)`."""

        def body(value: Any) -> None:
            grown_of(self.holder).append(value)

        loops.for_(values, body, None, (), tuple, lambda _: None, lambda: (self.holder,))

    def pop(self, k: Any = -1) -> Any:
        """`x.pop()` or `x.pop(0)`."""
        if type(k) is not int or k not in (0, -1):
            raise TypeError(f"{self!r}: pop({shown(k)}): expected pop() or pop(0){line()}")
        found = self._item(self._place(k), copies=True)
        if k == 0:
            self.trace.stored[self.first] = T.add(self._now(self.first), 1)
        self._set_count(T.sub(self.count_now(), 1))
        return found

    def clear(self) -> None:
        """`x.clear()`."""
        self._set_count(T.constant(0, "int64"))
        self.trace.stored[self.first] = T.constant(0, "int64")

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        """`x.sort()`."""
        if key is not None or self.form is not None or self.kinds[0].ndim:
            raise TypeError(f"{self!r}: sort() takes no key, and items that are numbers{line()}")
        found = T.sort(self.arrays()[0])
        self._set_all([found[::-1] if reverse else found])

    def reverse(self) -> None:
        """`x.reverse()`."""
        self._set_all([copied(a[::-1]) for a in self.arrays()])

    def _set_all(self, arrays: Sequence[Any]) -> None:
        """Give all items other values."""
        first = self._now(self.first)
        for base, array in zip(self.bases, arrays, strict=True):
            size = T.lengths_of(now(self.trace, base))[0]
            end = T.minimum(T.add(first, self.count_now()), size)
            set_item(base, slice(first, end), array)

    def copy(self) -> Any:
        """`x.copy()`, `list(x)`."""
        return Grown.of(self, self.arrays(), type(self.holder)())

    def method(self, name: str) -> Callable[..., Any]:
        """Return a method of the list.  Raises TypeError for one that needs the values."""
        known: dict[str, Callable[..., Any]] = {
            "append": self.append, "extend": self.extend, "pop": self.pop, "clear": self.clear, "copy": self.copy,
            "popleft": lambda: self.pop(0), "sort": self.sort, "reverse": self.reverse,
        }  # fmt: skip
        if name not in known:
            raise TypeError(f"{self!r} has no {name}(); it takes {_DOES}{line()}")
        return known[name]


class Items(Steps):
    """The items of a list that grows, in a loop over it."""

    def __init__(self, grown: Grown) -> None:
        self.grown: Grown = grown

    def count(self) -> Any:
        return self.grown.length()

    def at(self, k: Any) -> Any:
        place = T.add(self.grown._now(self.grown.first), as_tensor(k))
        return self.grown._item(place)


class ListOf:
    """The form of a result that is a list of a length known at run time only."""

    def __init__(self, kind: type, form: Any, classes: Sequence[type | None]) -> None:
        self.kind, self.form, self.classes = kind, form, classes

    def value_of(self, leaves: Iterator[Any]) -> Any:
        columns = [_column(next(leaves), c) for c in self.classes]
        if self.form is None:
            return self.kind(columns[0])
        return self.kind([unflat(self.form, iter(row)) for row in zip(*columns, strict=True)])


def _column(array: Any, cls: type | None) -> list[Any]:
    return array.tolist() if cls in (bool, int, float, complex) else list(array)


def result_of(grown: Grown, outputs: list[Any]) -> ListOf:
    """Return the form of a list as a result; append its arrays to `outputs`."""
    outputs += grown.arrays()
    return ListOf(type(grown.holder), grown.form, [k.cls for k in grown.kinds])


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


def as_items(value: Any) -> Any:
    """Return a list that grows as an array; anything else as it is."""
    if type(value) not in LISTS:
        return value
    grown = grown_of(value)
    return value if grown is None else array_of(copied(grown.array()))


def of_list(f: Any) -> Callable[..., Any] | None:
    """Return what a method of a list that grows does; None for any other function."""
    owner = getattr(f, "__self__", None)
    grown = grown_of(owner) if type(owner) in LISTS else None
    return None if grown is None else grown.method(f.__name__)
