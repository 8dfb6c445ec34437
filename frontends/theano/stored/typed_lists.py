"""`theano.typed_list`: lists of tensors of one type as values of a graph.

A list is a bundle of two tensors: the numbers of all items, one after the other, and the shape of each item, a row an
item.  Functions return new lists; as graphs are immutable, `inplace` has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .... import ops as T
from ....ops.shapes.specify import CheckLengths
from ..tensors.dtypes import DISCRETE
from ..tensors.shapes import patternbroadcast
from ..tensors.types import TensorType
from ..tensors.variables import Variable, as_tensor_variable, lower, wrap
from .bundles import BundleType, BundleVariable


class TypedListType(BundleType):
    """The type of a list of tensors of type `ttype`."""

    labels = ("items", "shapes")

    def __init__(self, ttype: Any, depth: int = 0) -> None:
        if depth or not isinstance(ttype, TensorType):
            raise NotImplementedError(f"TypedListType: items are tensors, got {ttype!r} at depth {depth}; flatten them")
        self.ttype: TensorType = ttype
        self.dtype = ttype.dtype

    def kinds(self) -> Sequence[TensorType]:
        """The types of all numbers and of the shapes."""
        return [TensorType(self.dtype, [False]), TensorType("int64", [False, False])]

    def pack(self, value: Any) -> list[np.ndarray]:
        """The numbers and shapes of a list of arrays.  Raises TypeError for other values and items of other types."""
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"{self} takes a list of arrays, got {type(value).__name__} {value!r}"[:200])
        items = [self.ttype.filter(item) for item in value]
        flat = [np.zeros(0, self.dtype), *(item.ravel() for item in items)]
        shapes = np.array([item.shape for item in items], "int64").reshape(len(items), self.ttype.ndim)
        return [np.concatenate(flat), shapes]

    def unpack(self, arrays: Sequence[np.ndarray]) -> Any:
        """The list of arrays."""
        numbers, shapes = arrays
        ends = np.cumsum(shapes.prod(1, dtype="int64"))[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(numbers, ends), shapes, strict=False)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypedListType) and other.ttype == self.ttype

    def __hash__(self) -> int:
        return hash((TypedListType, self.ttype))

    def __str__(self) -> str:
        return f"TypedList <{self.ttype}>"

    __repr__ = __str__


class TypedListVariable(BundleVariable):
    """A symbolic list."""

    @property
    def ttype(self) -> Any:
        """The type of an item."""
        return self.type.ttype

    def __getitem__(self, index: Any) -> Any:
        return getitem(self, index)

    def __len__(self) -> int:
        raise TypeError(f"{self} has no length before a function runs; use theano.typed_list.length(l)")

    @property
    def spans(self) -> tuple[Any, Any]:
        """For each item where its numbers begin, and how many they are, for the core."""
        sizes = T.prod(self.parts[1].core, axis=1)
        return T.sub(T.cumsum(sizes), sizes), sizes

    def with_parts(self, numbers: Any, shapes: Any) -> TypedListVariable:
        """Another list of the same type, of variables of the core."""
        return TypedListVariable(self.type, (wrap(numbers, *self.parts), wrap(shapes, *self.parts)))


TypedListType.Variable = TypedListVariable


def _list(value: Any) -> TypedListVariable:
    if not isinstance(value, TypedListVariable):
        text = f"{value} of type {value.type}" if isinstance(value, Variable) else f"{type(value).__name__} {value!r}"
        raise TypeError(f"expected a typed list, got {text}; use TypedListType(ttype)() or make_list([...])"[:300])
    return value


def _item(items: TypedListVariable, value: Any) -> Any:
    """An item in the type of the list.  Raises TypeError for another dtype or rank."""
    found = as_tensor_variable(value)
    if (found.dtype, found.ndim) != (items.dtype, items.ttype.ndim):
        raise TypeError(f"a list of {items.ttype} takes no {found} of type {found.type}")
    return found.core


def _chosen(items: TypedListVariable, order: Any) -> TypedListVariable:
    """The items at these positions."""
    starts, sizes = (v[order] for v in items.spans)
    ends = T.cumsum(sizes)
    moved = T.sub(starts, T.sub(ends, sizes))
    places = T.add(T.arange(T.sum(sizes)), T.repeat(moved, sizes))
    return items.with_parts(items.parts[0].core[places], items.parts[1].core[order])


def _count(items: TypedListVariable) -> Any:
    return T.shape(items.parts[1].core)[0]


def getitem(list_: Any, index: Any) -> Any:
    """The item at a position, or the list of those of a slice."""
    items = _list(list_)
    if isinstance(index, slice):
        return _chosen(items, T.arange(_count(items))[lower(index)])
    place = as_tensor_variable(index)
    if place.ndim or place.dtype not in DISCRETE:
        raise TypeError(f"a list is indexed by an integer or a slice, got {place} of type {place.type}")
    starts, sizes = items.spans
    shape = items.parts[1].core[place.core]
    start = starts[place.core]
    numbers = items.parts[0].core[start : start + sizes[place.core]]
    found = T.reshape(numbers, tuple(shape[n] for n in range(items.ttype.ndim)))
    return patternbroadcast(wrap(found, *items.parts), items.ttype.broadcastable)


def append(list_: Any, value: Any) -> TypedListVariable:
    """The list with an item behind the others."""
    items = _list(list_)
    item = _item(items, value)
    numbers = T.concatenate([items.parts[0].core, T.flatten(item)])
    shape = T.dimshuffle(T.shape(item), "x", 0)
    return items.with_parts(numbers, T.concatenate([items.parts[1].core, shape]))


def extend(list_: Any, other: Any) -> TypedListVariable:
    """The list with the items of another behind its own.  Raises TypeError for lists of other types."""
    items, more = _list(list_), _list(other)
    if items.type != more.type:
        raise TypeError(f"extend: the lists are {items.type} and {more.type}; expected equal types")
    joined = [T.concatenate([a.core, b.core]) for a, b in zip(items.parts, more.parts, strict=True)]
    return items.with_parts(*joined)


def insert(list_: Any, index: Any, value: Any) -> TypedListVariable:
    """The list with an item before a position, as Python's lists have it."""
    items, place = _list(list_), T.cast(as_tensor_variable(index).core, "int64")
    n = _count(items)
    place = T.clip(T.switch(T.lt(place, 0), place + n, place), 0, n)
    ks = T.arange(n + 1)
    order = T.switch(T.lt(ks, place), ks, T.switch(T.eq(ks, place), n, ks - 1))
    return _chosen(append(items, value), order)


def reverse(list_: Any) -> TypedListVariable:
    """The list from the last item to the first."""
    items = _list(list_)
    return _chosen(items, T.arange(_count(items))[::-1])


def length(list_: Any) -> Any:
    """The number of items, int64."""
    items = _list(list_)
    return wrap(_count(items), *items.parts)


def _equal(items: TypedListVariable, value: Any) -> Any:
    """For each item whether it has the shape and the numbers of another."""
    item = _item(items, value)
    starts, sizes = items.spans
    numbers, shapes = (p.core for p in items.parts)
    within = T.sub(T.arange(T.shape(numbers)[0]), T.repeat(starts, sizes))
    flat = T.flatten(item)
    padded = T.concatenate([flat, T.zeros(1, items.dtype)])
    wrong = T.cast(T.ne(numbers, padded[T.minimum(within, T.shape(flat)[0])]), "int64")
    so_far = T.concatenate([T.zeros(1, "int64"), T.cumsum(wrong)])
    same = T.all(T.eq(shapes, T.shape(item)), axis=1)
    return T.and_(same, T.eq(so_far[starts + sizes], so_far[starts]))


def count(list_: Any, value: Any) -> Any:
    """The number of items that are equal to one, int64."""
    items = _list(list_)
    return wrap(T.sum(T.cast(_equal(items, value), "int64")), *items.parts)


def index_(list_: Any, value: Any) -> Any:
    """The position of the first item that is equal to one, int64; a call raises ValueError if there is none."""
    items = _list(list_)
    same = T.cast(_equal(items, value), "int64")
    found = T.minimum(T.sum(same), 1)
    subject = (("index_: whether the list has such an item", 0),)
    earlier = T.sum(T.cast(T.eq(T.cumsum(same), 0), "int64"))
    return wrap(CheckLengths(subject, declared=False)(earlier, found, T.constant(1, "int64")), *items.parts)


def remove(list_: Any, value: Any) -> TypedListVariable:
    """The list without the first item that is equal to one; a call raises ValueError if there is none."""
    items = _list(list_)
    place = index_(items, value).core
    ks = T.arange(_count(items) - 1)
    return _chosen(items, T.add(ks, T.cast(T.ge(ks, place), "int64")))


def make_list(values: Sequence[Any]) -> TypedListVariable:
    """The list of some tensors of one type.  Raises ValueError if there are none."""
    given = [as_tensor_variable(v) for v in values]
    if not given:
        raise ValueError("make_list: a list of no items has no type; use TypedListType(ttype)() and give []")
    kind = TypedListType(given[0].type)
    none = (wrap(T.zeros(0, kind.dtype)), wrap(T.zeros((0, kind.ttype.ndim), "int64")))
    found = TypedListVariable(kind, none)
    for v in given:
        found = append(found, v)
    return found


for _name, _method in (("append", append), ("extend", extend), ("insert", insert), ("remove", remove),
                       ("reverse", reverse), ("count", count), ("ind", index_)):  # fmt: skip
    setattr(TypedListVariable, _name, _method)
LISTS = {
    name: value for name, value in list(vars().items())
    if not name.startswith("_") and getattr(value, "__module__", "") == __name__ and callable(value)
}  # fmt: skip
