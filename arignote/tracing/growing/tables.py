"""Tables: lists of rows of one length, such as `[[0] * n for _ in range(m)]`, that change by values.

    grid[i][j] = v    -->    rows[i, j] = v

The rows are one array.  `grid[i]` is a `Row`, which reads and writes the elements of a row of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import line
from ...ops.core.call_lengths import Length
from ...ops.core.tensor import as_tensor
from ...ops.core.traced import array_of, keep_class
from ...ops.core.tracing import Trace
from ...ops.shapes.stored import copied, now, set_item
from ...record import lazy
from ...record.spelling import counted
from ...tree import flat, unflat
from ..iterables import Steps
from ..saved import contents, inside, is_value
from .changes import Changed
from .kinds import Kind, kind_of

ordering: Any = lazy.module("...builtins.ordering", __name__)
raising: Any = lazy.module("...raising", __name__)
TABLE = "table"
"""The form of the items of a table."""
_KEYS = 64
"""Most keys of a dict that are compared with one that depends on values."""
_NUMBERS = frozenset((bool, int, float, complex))


def table_of(items: Sequence[Any]) -> tuple[Kind, int] | None:
    """Return the kind of the elements of some rows, and the length of each; None if they are no table."""
    if not items or any(type(r) not in (list, Row) for r in items) or len({*map(id, items)}) != len(items):
        return None
    length = len(items[0])
    if not length or any(len(r) != length for r in items):
        return None
    kinds: set[Kind] = set()
    for row in items:
        if type(row) is Row:
            kinds.add(row.kind)
            continue
        kinds |= {kind_of(c()) for c in {*map(type, row)} & _NUMBERS}
        others = [v for v in row if type(v) not in _NUMBERS]
        if not all(map(is_value, others)):
            return None
        kinds |= {*map(kind_of, others)}
    kind = _joined(kinds)
    return None if kind is None or kind.ndim else (kind, length)


def _joined(kinds: Iterable[Kind]) -> Kind | None:
    """Return the kind that holds values of all kinds; None if there is none."""
    first, *rest = kinds
    found: Kind | None = first
    for kind in rest:
        found = None if found is None else found.joined(kind)
    return found


def row_array(row: Any, kind: Kind) -> Any:
    """Return a row as an array."""
    if type(row) is Row:
        return T.cast(row.elements(), kind.dtype)
    if _NUMBERS.issuperset(map(type, row)):
        return T.constant(np.array(row, kind.dtype))
    return T.stack([T.cast(as_tensor(v), kind.dtype) for v in row])


def table_array(items: Sequence[Any], kind: Kind) -> Any:
    """Return the rows of a table as one array."""
    if all(type(row) is list and _NUMBERS.issuperset(map(type, row)) for row in items):
        return T.constant(np.array(items, kind.dtype))
    return T.stack([row_array(row, kind) for row in items])


class Row:
    """A row of a table."""

    __slots__ = ("base", "grown", "kind", "length", "place")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, grown: Any, base: Any, place: tuple[Any, ...]) -> None:
        """`base` and `place`: the array of the list `grown` and the row in it, or an array of its own and ()."""
        self.grown: Any = grown
        self.base: Any = base
        self.place: tuple[Any, ...] = place
        self.kind: Kind = grown.kinds[0]
        self.length: int = grown.lengths[0][0]

    def __repr__(self) -> str:
        return f"a row of {counted(self.length, 'element')} of a list of lists"

    def __len__(self) -> int:
        return self.length

    def __iter__(self) -> Iterator[Any]:
        return iter([self[k] for k in range(self.length)])

    def __getitem__(self, key: Any) -> Any:
        if type(key) is slice:
            return list(self)[key]
        found = T.getitem(now(self.grown.trace, self.base), (*self.place, index_of(key)))
        keep_class(self.grown.trace, found, self.kind.cls)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        if not is_value(value) or type(key) is slice:
            raise TypeError(f"{self!r} takes a number for each index{line()}")
        if self.kind.joined(kind_of(value)) != self.kind:
            raise Changed([(self.grown.holder, [[value] * self.length])],
                          f"an element of {self.grown!r} is of another type{line()}", tables=True)  # fmt: skip
        self.grown.touched.append(True)
        set_item(self.base, (*self.place, index_of(key)), value)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise TypeError(f"{self!r} has no {name}; it takes indices, len, loops and functions of NumPy, and list(row) "
                        f"is a list of its elements{line()}")  # fmt: skip

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError(f"{self!r} is not compared; compare arrays made by np.array{line()}")

    def elements(self) -> Any:
        """Return the elements that the row has now."""
        found = now(self.grown.trace, self.base)
        return T.getitem(found, self.place) if self.place else found

    def array(self) -> Any:
        """Return the elements as an array of their own."""
        return array_of(copied(self.elements()))

    def folded(self, name: str) -> Any:
        """Return the sum or an extremum, of the type of the elements."""
        elements = self.elements()
        found = T.sum(elements, 0) if name == "sum" else ordering.first_extreme(name, elements)
        keep_class(self.grown.trace, found, self.kind.cls)
        return found


def index_of(key: Any) -> Any:
    """Return an index of a list as one of an array."""
    if isinstance(key, Variable) and key.dtype == "bool":
        return T.cast(key, "int64")
    return key.variable if type(key) is Length else int(key) if type(key) is bool else key


class Elements(Steps):
    """The elements of a row, in a loop over it."""

    def __init__(self, row: Row) -> None:
        self.row: Row = row

    def count(self) -> Any:
        return len(self.row)

    def at(self, k: Any) -> Any:
        return self.row[k]


def entry(trace: Trace, x: Mapping[Any, Any], key: Variable) -> Any:
    """Return the value of a dict by a number that depends on values; None if it has too many keys or other forms."""
    keys = [k for k in x if type(k) in _NUMBERS]
    if not 0 < len(keys) <= _KEYS:
        return None
    place: Any = T.constant(-1, "int64")
    for n, k in enumerate(keys):
        place = T.switch(T.eq(key, k), T.constant(n, "int64"), place)
    raising.raise_if(T.lt(place, 0), lambda: KeyError(key))
    return gathered(trace, [x[k] for k in keys], T.maximum(place, 0))


def gathered(trace: Trace, x: Sequence[Any], key: Variable) -> Any:
    """Return an item of a list or tuple by an index that depends on values; None if the items differ in form.

    Lists in it are copies, which must not be changed.
    """
    columns: list[list[Any]] = []
    forms = []
    for one in x:
        columns.append([])
        forms.append(flat(one, columns[-1], records=None))
    if not forms or any(form != forms[0] for form in forms) or not all(is_value(v) for c in columns for v in c):
        return None
    found = []
    for leaves in zip(*columns, strict=True):
        kind = _joined(map(kind_of, leaves))
        if kind is None or kind.ndim:
            return None
        values = row_array(list(leaves), kind)
        value = T.getitem(values, (index_of(key),))
        keep_class(trace, value, kind.cls)
        found.append(value)
    made = unflat(forms[0], iter(found))
    message = f"a list or dict is changed that is an item by an index that depends on values; change a copy{line()}"
    trace.watched += [(c, inside(c), message) for c, *_ in contents([made])]
    return made
