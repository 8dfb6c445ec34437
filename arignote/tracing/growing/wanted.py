"""Statements that change lists by values: they are traced again until their lists have the kinds that they need.

A name that becomes another list has a list of its own while the statement runs (`Own`).  At the end of each step or
branch this takes the items of the list that the name has then:

    while front:                        while front:
        then = []                           then = []
        ...                      -->        ...
        front = then                        front[:] = then
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.checks import shown
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import adopt, held
from ...ops.core.tracing import Known, Trace
from ...tree import flat, unflat
from ..saved import LISTS, Saved, is_value
from .changes import Changed, Lacking, refused
from .kinds import Kind, kind_of
from .lists import Grown, empty, grown_of, hold
from .methods import rows
from .rooms import Room
from .tables import TABLE, table_of

_MOST_INSIDE = 32
"""Most lists that begin inside of a statement."""


class Wanted:
    """The lists that a statement changes, and the form and kinds of their items: what its next trace begins with."""

    def __init__(
        self, trace: Trace, saved: Saved, get: Callable[[], Any], put: Callable[[Any], None], where: str
    ) -> None:  # fmt: skip
        self.trace, self.saved, self.get, self.put, self.where = trace, saved, get, put, where
        self.lists: dict[int, tuple[Any, Any, list[Kind], list[Any]]] = {}
        """By id: the list, the form of an item, and for each leaf its kind and its lengths."""
        self.renamed: set[int] = set()
        """The ids of lists whose name becomes another one."""
        self.guessed: set[int] = set()
        """The ids of lists of which no item is known so far."""
        self.tables: set[int] = set()
        """The ids of lists of rows, see tables.py."""
        self.own: dict[int, Own] = {}
        """By id of the list whose place it takes."""
        self.inside: list[Lacking] = []
        """The lists that begin inside of the statement."""

    def takes(self, error: Exception) -> bool:
        """Whether the statement can be traced again, with lists that grow; then they are known here."""
        if isinstance(error, Lacking) and self.trace.saved[0] is self.saved:
            self.inside.append(error)
            return len(self.inside) <= _MOST_INSIDE
        if not isinstance(error, Changed):
            return False
        places = {id(one.holder): one.old for one in self.own.values()}
        error.lists = [(places.get(id(c), c), items) for c, items in error.lists]
        known = {id(c) for c, _, _ in self.saved.containers}
        outer = {id(c) for s in self.trace.saved[: self.trace.saved.index(self.saved)] for c, _, _ in s.containers}
        mine = [(c, items) for c, items in error.lists if id(c) in known and id(c) not in outer]
        if not mine or len(mine) != len(error.lists) or any(type(c) not in LISTS for c, _ in mine):
            return False
        news = {id(c) for c, _ in mine} - self.renamed if error.renames else set()
        if any(_cell_of(self.get, c) is None for c, _ in mine if id(c) in news):
            return False
        self.renamed |= news
        if error.tables:
            self.tables |= {id(c) for c, _ in mine}
        taken = [self._takes(c, items) or id(c) in news for c, items in mine]
        return all(taken)

    def _takes(self, container: Any, items: Sequence[Any]) -> bool:
        """Whether the items of a list have a form and kinds, which differ from those known so far."""
        key = id(container)
        old = self.lists.get(key)
        form, kinds, lengths = old[1:] if old is not None and key not in self.guessed else (None, [], [])
        for item in [*items, *container]:
            if type(item) is Grown:
                own_form, own_kinds, own_lengths = item.form, list(item.kinds), list(item.lengths)
            elif key in self.tables:
                table = table_of([item])
                if table is None or (kinds and lengths != [(table[1],)]):
                    return False
                own_form, own_kinds, own_lengths = TABLE, [table[0]], [(table[1],)]
            else:
                leaves: list[Any] = []
                own_form = flat(item, leaves, records=None)
                if not all(is_value(v) for v in leaves):
                    return False
                own_kinds, own_lengths = [kind_of(v) for v in leaves], [_lengths(self.trace, v) for v in leaves]
            if not kinds:
                form, kinds, lengths = own_form, own_kinds, own_lengths
                continue
            joined = [a.joined(b) for a, b in zip(kinds, own_kinds, strict=True)] if own_form == form else [None]
            if None in joined:
                return False
            kinds = joined  # type: ignore[assignment]
        if None in lengths or (not kinds and key in self.guessed):
            return False
        self.guessed.discard(key)
        if not kinds:
            self.guessed.add(key)
            kinds, lengths = [Kind("int64", 0, int)], [()]
        same = old is not None and old[2] == kinds and old[1] == form
        self.lists[key] = container, form, kinds, lengths
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
        self.own.clear()
        for (key, (container, form, kinds, lengths)), count in zip(self.lists.items(), counts, strict=True):
            if key in self.renamed and self._takes_over(container):
                continue
            arrays = None if is_outermost else room.take(kinds, lengths)
            if not is_outermost and arrays is None:
                raise Lacking(kinds, lengths)
            holder = type(container)() if key in self.renamed else container
            grown = Grown(self.trace, holder, form, kinds, lengths)
            grown.begin(before[key], count, room, arrays)
            hold(holder, grown)
            if holder is not container:
                self._owns(container, grown)
        self._give_names()
        self.saved.expect([container for container, *_ in self.lists.values()])
        if not is_outermost:
            return None
        for lack in self.inside:
            arrays = [empty(room.size, kind, n) for kind, n in zip(lack.kinds, lack.lengths, strict=True)]
            room.ready.append((lack.kinds, lack.lengths, arrays))
        self.trace.rooms.append(room)
        return room

    def _owns(self, container: Any, grown: Grown) -> None:
        """Give a name a list of its own in the place of another one, which has no items meanwhile."""
        cell = _cell_of(self.get, container)
        grown.owner = self.saved, cell
        values = self.get()
        self.own[id(container)] = Own(next(k for k, v in enumerate(values) if v is container), container, grown)
        lost = Grown(self.trace, container, grown.form, grown.kinds, grown.lengths)
        lost.lost = "a name of this list becomes another list in a loop or branch that depends on values; use a copy"
        hold(container, lost)

    def _takes_over(self, container: Any) -> bool:
        """Whether a list is the own list of its name in a statement around this one; its items get a new list."""
        old = grown_of(container)
        cell = _cell_of(self.get, container)
        if old is None or old.owner is None or old.owner[1] is not cell:
            return False
        if not any(saved is old.owner[0] for saved in self.trace.saved):
            return False
        grown = old.in_place(type(container)())
        hold(grown.holder, grown)
        self._owns(container, grown)
        self.own[id(container)].taken_over = True
        return True

    def _give_names(self) -> None:
        """Let each name that becomes another list have its own."""
        self.saved.own = list(self.own.values())
        if self.own:
            values = list(self.get())
            for one in self.own.values():
                values[one.place] = one.holder
            self.put(tuple(values))

    def give_back(self) -> None:
        """Give lists their items again that the statement has not changed."""
        copies = {id(c): copy for c, _, copy in self.saved.containers}
        for key, one in self.own.items():
            if not one.taken_over and not one.grown.touched:
                one.old.clear()
                one.old.extend(copies[key])

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
        lists = [self.own[k].grown if k in self.own else grown_of(c) for k, (c, *_) in self.lists.items()]
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
                wanted.give_back()
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


class Own:
    """The list that a name has for itself, in the place of one that was made before the statement."""

    def __init__(self, place: int, old: Any, grown: Grown) -> None:
        self.place: int = place
        """The place of the name among those of the statement."""
        self.old: Any = old
        self.grown: Grown = grown
        self.holder: Any = grown.holder
        self.taken_over = False
        """Whether the old list was the own list of the name in a statement around it."""


def renew(trace: Trace, get: Callable[[], Any], put: Callable[[Any], None]) -> None:
    """End a step or a branch: names that have become other lists have their own again, with the items of those."""
    own = trace.saved[-1].own
    if not own:
        return
    values, taken = list(get()), []
    for one in own:
        now = values[one.place]
        values[one.place] = one.holder
        found = None if now is one.holder and now and now[0] is one.grown else grown_of(now)
        if now is one.holder or (found is not None and found.count is one.grown.count):
            continue
        if type(now) is not type(one.holder):
            raise TypeError(f"a list becomes {shown(now)} in a loop or branch that depends on values{line()}")
        if found is None:
            taken.append((one, len(now), rows(one.grown, now)))
            one.grown.room.add(len(now))
        elif found.form != one.grown.form or found.kinds != one.grown.kinds:
            raise Changed([(one.holder, [found])], f"a list becomes one of other items{line()}")
        else:
            taken.append((one, found.count_now(), found.arrays()))
    for one, count, arrays in taken:
        one.grown.take(count, arrays)
    for one in own:
        hold(one.holder, one.grown)
    put(tuple(values))


def _cell_of(get: Callable[[], Any], value: Any) -> Any:
    """Return the variable that has a value, of those that a statement hands on; None if it is not one alone."""
    if sum(v is value for v in get()) != 1:
        return None
    cells = getattr(get, "__closure__", None) or ()
    return next((c for c in cells if c.cell_contents is value), None)


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


def _lengths(trace: Trace, value: Any) -> Any:
    """Return the lengths of an item as numbers, which become guards; None if they depend on values."""
    if not isinstance(value, Variable):
        return np.shape(value)
    found = [trace.known_length(value, axis) for axis in range(value.ndim)]
    return None if None in found else tuple([held(n) if isinstance(n, Known) else n for n in found])


def _count_before(items: Any) -> Any:
    if len(items) != 1 or type(items[0]) is not Grown:
        return len(items)
    grown = grown_of(items)
    return grown.count_now() if grown.fixed is None else grown.fixed
