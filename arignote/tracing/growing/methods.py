"""Operations of lists that change by values: items, slices, methods, `+`, bisect and `zip(*x)`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.checks import shown
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import array_of, is_symbolic, keep_class, known_of
from ...ops.core.tracing import current
from ...ops.shapes.stored import base_of, copied, now, set_item
from ...record import lazy
from ...tree import flat
from ..saved import LISTS, is_value
from .changes import Changed
from .kinds import kind_of
from .lists import DOES, Grown, grown_of
from .rooms import rooms_now
from .tables import TABLE, Row, row_array, table_of

raising: Any = lazy.module("...raising", __name__)
loops: Any = lazy.module("...looping.loops", __name__)


def get(x: Grown, key: Any) -> Any:
    """`x[key]`."""
    if type(key) is slice:
        ends = [None if e is None else e.variable if is_symbolic(e) and not isinstance(e, Variable) else e
                for e in (key.start, key.stop, key.step)]  # fmt: skip
        return Grown.of(x, [a[slice(*ends)] for a in x.arrays()], type(x.holder)())
    return x.item(x.place(key))


def put(x: Grown, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    place = x.place(key)
    x.touched.append(True)
    for base, leaf in zip(x.bases, leaves_of(x, value), strict=True):
        set_item(base, (place,), leaf)


def leaves_of(x: Grown, value: Any) -> list[Any]:
    """Return the leaves of an item.  Raises Changed for one of another kind."""
    leaves: list[Any] = []
    if x.form == TABLE:
        return [_row_of(x, value)]
    if flat(value, leaves, records=None) == x.form and all(map(is_value, leaves)):
        kinds = [k.joined(kind_of(v)) for k, v in zip(x.kinds, leaves, strict=True)]
        for v in leaves:
            if isinstance(v, Variable) and v.ndim:
                x.trace.frozen.setdefault(base_of(v), "it is an item of a list that changes by values")
        if kinds == x.kinds:
            return leaves
    raise Changed([(x.holder, [value])], f"an item of {x!r} is {shown(value)}; expected items of one form, "
                  f"rank and type{line()}")  # fmt: skip


def _row_of(x: Grown, value: Any) -> Any:
    """Return a new row of a table as an array.  Raises TypeError for a row that is in a table, which has two places."""
    if type(value) is Row:
        raise TypeError(f"{value!r} becomes an item of a list, so it has two places; use a copy, list(row){line()}")
    table = table_of([value])
    if table is not None and table[1] == x.lengths[0][0] and x.kinds[0].joined(table[0]) == x.kinds[0]:
        return row_array(value, x.kinds[0])
    raise Changed([(x.holder, [value])], f"an item of {x!r} is {shown(value)}; expected lists of one length and type"
                  f"{line()}", tables=True)  # fmt: skip


def append(x: Grown, value: Any) -> None:
    """`x.append(value)`."""
    leaves = leaves_of(x, value)
    x.touched.append(True)
    if x.room is None or not x.room.open:
        _grow(x, leaves)
        return
    count, size = x.count_now(), x.room.size
    end = T.add(x.first_now(), count)
    place = T.minimum(end, T.sub(size, 1))
    for base, leaf in zip(x.bases, leaves, strict=True):
        set_item(base, (place,), leaf)
    x.set_count(T.add(count, 1))
    x.need(T.add(end, 1))
    x.room.add(1)


def _grow(x: Grown, leaves: Sequence[Any]) -> None:
    """Append to a list whose room was given by an earlier statement."""
    _require_room(x)
    ends = [T.expand_dims(T.cast(as_tensor(v), k.dtype), 0) for v, k in zip(leaves, x.kinds, strict=True)]
    joined = [T.concatenate([a, e]) for a, e in zip(x.arrays(), ends, strict=True)]
    Grown.of(x, joined, x.holder)
    x.holder[0].room = x.room


def _require_room(x: Grown) -> None:
    if x.trace.depth:
        raise Changed([(x.holder, [])], f"{x!r} changes in a loop or branch{line()}")


def rows(x: Grown, items: Sequence[Any]) -> list[Any]:
    """Return items of Python as arrays, one for each leaf of an item of `x`."""
    if not items:
        return [T.zeros((0, *n), k.dtype) for n, k in zip(x.lengths, x.kinds, strict=True)]
    leaves = zip(*[leaves_of(x, v) for v in items], strict=True)
    return [T.stack([T.cast(as_tensor(v), k.dtype) for v in c]) for c, k in zip(leaves, x.kinds, strict=True)]


def extend(x: Grown, values: Any) -> None:
    """`x.extend(values)`."""
    holder = x.holder

    def body(value: Any) -> None:
        append(grown_of(holder), value)

    loops.for_(values, body, None, (), tuple, lambda _: None, lambda: (holder,))


def insert(x: Grown, k: Any, value: Any) -> None:
    """`x.insert(k, value)`."""
    _require(x, "insert")
    count = x.count_now()
    at = as_tensor(k.variable if is_symbolic(k) and not isinstance(k, Variable) else k)
    at = T.minimum(T.maximum(T.switch(T.lt(at, 0), T.add(at, count), at), 0), count)
    append(x, value)
    x.room.read = True
    first, leaves = x.first_now(), leaves_of(x, value)
    size = T.lengths_of(now(x.trace, x.bases[0]))[0]
    begin, end = T.minimum(T.add(first, at), T.sub(size, 1)), T.minimum(T.add(first, T.add(count, 1)), size)
    for base, leaf in zip(x.bases, leaves, strict=True):
        later = copied(now(x.trace, base)[begin : T.sub(end, 1)])
        set_item(base, slice(T.add(begin, 1), end), later)
        set_item(base, (begin,), leaf)


def _require(x: Grown, name: str) -> None:
    """Raise Changed for a list that has no room, in a loop or branch; give it some elsewhere."""
    if x.room is None or not x.room.open:
        if not x.trace.depth:
            raise TypeError(f"{x!r}: {name}() after the loop that fills it; use np.insert on an array{line()}")
        _require_room(x)


def pop(x: Grown, k: Any = -1) -> Any:
    """`x.pop(k)`."""
    x.touched.append(True)
    place = x.place(k)
    found = x.item(place, copies=True)
    if type(k) is int and k == 0:
        x.trace.stored[x.first] = T.add(x.first_now(), 1)
    elif not (type(k) is int and k == -1):
        end = T.add(x.first_now(), x.count_now())
        for base in x.bases:
            later = copied(now(x.trace, base)[T.add(place, 1) : end])
            set_item(base, slice(place, T.sub(end, 1)), later)
    x.set_count(T.sub(x.count_now(), 1))
    return found


def index(x: Grown, value: Any) -> Any:
    """`x.index(value)`."""
    is_it = T.eq(_numbers(x, "index"), as_tensor(value))
    place = T.argmax(T.concatenate([is_it, T.constant([True])]), 0)
    raising.raise_if(T.ge(place, x.count_now()), lambda: ValueError("list.index(x): x not in list"))
    keep_class(x.trace, place, int)
    return place


def remove(x: Grown, value: Any) -> None:
    """`x.remove(value)`."""
    pop(x, index(x, value))


def count(x: Grown, value: Any) -> Any:
    """`x.count(value)`."""
    found = T.sum(T.cast(T.eq(_numbers(x, "count"), as_tensor(value)), "int64"))
    keep_class(x.trace, found, int)
    return found


def _numbers(x: Grown, name: str) -> Any:
    """Return the items of a list of numbers."""
    if x.form is not None or x.kinds[0].ndim:
        raise TypeError(f"{x!r}: {name}() takes items that are numbers{line()}")
    return x.arrays()[0]


def clear(x: Grown) -> None:
    """`x.clear()`."""
    x.touched.append(True)
    x.set_count(T.constant(0, "int64"))
    x.trace.stored[x.first] = T.constant(0, "int64")


def sort(x: Grown, *, key: Any = None, reverse: bool = False) -> None:
    """`x.sort()`."""
    if key is not None or x.form is not None or x.kinds[0].ndim:
        raise TypeError(f"{x!r}: sort() takes no key, and items that are numbers{line()}")
    found = T.sort(x.arrays()[0])
    _set_all(x, [found[::-1] if reverse else found])


def turn(x: Grown) -> None:
    """`x.reverse()`."""
    _set_all(x, [copied(a[::-1]) for a in x.arrays()])


def _set_all(x: Grown, arrays: Sequence[Any]) -> None:
    """Give all items other values."""
    x.touched.append(True)
    first = x.first_now()
    for base, array in zip(x.bases, arrays, strict=True):
        size = T.lengths_of(now(x.trace, base))[0]
        end = T.minimum(T.add(first, x.count_now()), size)
        set_item(base, slice(first, end), array)


def copy(x: Grown) -> Any:
    """`x.copy()`, `list(x)`."""
    return Grown.of(x, x.arrays(), type(x.holder)())


METHODS: dict[str, Callable[..., Any]] = {
    "append": append, "extend": extend, "insert": insert, "pop": pop, "clear": clear, "copy": copy,
    "popleft": lambda x: pop(x, 0), "sort": sort, "reverse": turn, "index": index, "remove": remove, "count": count,
}  # fmt: skip


def _varies(value: Any) -> bool:
    return is_symbolic(value) and known_of(value) is None


_SEARCHES = frozenset(("index", "remove", "count"))


def of_list(f: Any, args: Sequence[Any]) -> Callable[..., Any] | None:
    """Return what a method of a list that grows does; None for any other function.

    Raises Changed for `pop` of a list that is empty while a statement is traced for the first time, and for a search
    that depends on values.
    """
    owner = getattr(f, "__self__", None)
    if type(owner) not in LISTS:
        return None
    name = f.__name__
    if not owner and name in ("pop", "popleft"):
        _may_have_items(owner)
    x = grown_of(owner)
    if x is None:
        if name in _SEARCHES and any(map(_varies, [*args, *f.__self__])):
            _may_have_items(owner)
        return None
    if name not in METHODS:
        raise TypeError(f"{x!r} has no {name}(); it takes {DOES}{line()}")
    return partial(METHODS[name], x)


def _may_have_items(x: Any) -> None:
    trace: Any = current()
    if trace.depth and trace.saved and any(c is x for c, *_ in trace.saved[-1].containers):
        raise Changed([(x, [])], f"an item of a list is asked for that depends on values{line()}")


def plus(a: Any, b: Any) -> Any:
    """`a + b`."""
    if type(a) not in LISTS or type(a) is not type(b):
        return a + b
    one, other = grown_of(a), grown_of(b)
    if one is None and other is None:
        return a + b
    like = one if one is not None else other
    parts = [x.arrays() if x is not None else rows(like, items) for x, items in ((one, a), (other, b))]
    for room in rooms_now():
        room.add(len(b) if other is None else len(a) if one is None else None)
    return Grown.of(like, [T.concatenate(pair) for pair in zip(*parts, strict=True)], type(a)())


def spliced(*parts: Any) -> Any:
    """`[*a, b, *c]` of the parts `a`, `[b]` and `c`."""
    lists = [p if type(p) is list else list(p) for p in parts]
    if all(grown_of(p) is None for p in lists):
        return [v for p in lists for v in p]
    return reduce(plus, lists, [])


def columns(x: Grown) -> tuple[Any, ...]:
    """`zip(*x)` of a list of tuples of numbers."""
    if x.form is None or x.form[0] is not tuple or any(form is not None for form in x.form[1]):
        raise TypeError(f"{x!r}: zip(*x) takes a list of tuples of numbers{line()}")
    found = []
    for array, kind, lengths in zip(x.arrays(), x.kinds, x.lengths, strict=True):
        one = Grown(x.trace, [], None, [kind], [lengths])
        one.result = tuple
        Grown.of(one, [array], one.holder)
        one.holder[0].result = tuple
        found.append(one.holder)
    return tuple(found)


def as_items(value: Any) -> Any:
    """Return a list that grows as an array; anything else as it is."""
    if type(value) is Row:
        return value.array()
    if type(value) not in LISTS:
        return value
    grown = grown_of(value)
    return value if grown is None else array_of(copied(grown.array()))

