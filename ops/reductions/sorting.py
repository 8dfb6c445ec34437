"""Sorting and searching: order along an axis, positions of nonzero elements, distinct values.

The number of results of `nonzero` and `unique` is known only when a function runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Lacks, TensorType, Variable
from ...graph.dims import opaque_dims
from ...record import record
from ...record.spelling import counted
from ..control.batching import Examples, Flags, all_broadcast, along_next_axis
from ..core.checks import describe, normalize_axis, require_count
from ..core.namespace import T, classes
from ..core.operands import in_joint_dtype
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..elementwise import costs
from ..shapes.conditions import between
from ..shapes.getitem import take_along_axis
from ..shapes.shape import ravel, reshape
from ..shapes.specify import with_shape_of
from ..writing import code
from .selection import select

__all__ = [
    "argpartition", "argsort", "flatnonzero", "lexsort", "nonzero", "partition", "searchsorted", "sort", "sort_complex",
    "unique",
]  # fmt: skip


class Sorting(TensorOp):
    """The base of the ops that sort along an axis."""

    axis: int
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    batching: ClassVar[Callable[..., Any]] = along_next_axis

    def check(self, inputs: tuple[Variable, ...]) -> TensorType:
        """The type of the only input.  Raises AxisError if it lacks the axis."""
        require_count(self.name, inputs, 1)
        if not 0 <= self.axis < inputs[0].ndim:
            raise np.exceptions.AxisError(f"{self.name}: {describe(inputs[0])} has no axis {self.axis}")
        return inputs[0].type

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)


@record(repr=False)
class Sort(Sorting):
    """The elements in ascending order along `axis`, NaNs last, equal ones in their order."""

    axis: int
    name = "sort"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.check(inputs),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.sort(values[0], axis=self.axis, kind="stable"),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        if g is None:
            return [None]
        order = ArgSort(self.axis)
        return [take_along_axis(g, order(order(*node.inputs)), self.axis)]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`sort(x, axis=0)`."""
        assert output.owner is not None
        return speaker.call("sort", *speaker.texts(output.owner.inputs), axis=self.axis)


@record(repr=False)
class ArgSort(Sorting):
    """The positions (int64) whose elements are in ascending order along `axis`, those of equal ones ascending."""

    axis: int
    name = "argsort"

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (self.check(inputs).with_dtype("int64"),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.argsort(values[0], axis=self.axis, kind="stable"),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`argsort(x, axis=0)`."""
        assert output.owner is not None
        return speaker.call("argsort", *speaker.texts(output.owner.inputs), axis=self.axis)


@record(repr=False)
class OrderStatistics(TensorOp):
    """`order_statistics(x, k)`: the elements at positions `k`, an int64 vector, of the sorted last axis.

    In the order of `k`, as the last axis; NaNs are last.  Selection finds them, x is not sorted.  Raises IndexError for
    a place that the axis lacks.
    """

    name = "order_statistics"
    fallible = True
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.sorting

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        if not flags[1]:
            return self(*inputs)
        x, k = all_broadcast(inputs, flags, examples)  # each example has places of its own: all of them are sorted
        among = Sort(x.ndim - 1)(x)
        own = classes.DimShuffle((0, *"x" * (x.ndim - 2), 1))(k)
        rows = T.broadcast_to(own, (*T.lengths_of(x)[:-1], T.lengths_of(k)[1]))
        return take_along_axis(among, rows, x.ndim - 1)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        x, k = inputs
        if not x.ndim or k.ndim != 1 or k.dtype != "int64":
            raise TypeError(f"order_statistics takes a tensor and an int64 vector, got {describe(x)} and {describe(k)}")
        return (x.type.with_shape((*x.type.shape[:-1], *k.type.shape)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, k = values
        n = x.shape[-1]
        if k.size and not (k.min() >= -n and k.max() < n):
            raise IndexError(f"positions {k} are out of range for {counted(n, 'element')}")
        return (select(x, k) if k.size else x[..., :0],)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], *inputs[1]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x, k) = cotangents, node.inputs
        if g is None:
            return [None, None]
        back = T.inc_subtensor(T.zeros_like(x)[..., k], g)
        order = ArgSort(x.ndim - 1)
        return [take_along_axis(back, order(order(x)), x.ndim - 1), None]


@record(repr=False)
class Nonzero(TensorOp):
    """The positions of the elements that are not zero, in C order: an int64 vector an axis, all of one length.

    Further inputs, one an axis, are the lengths that the first has to have, those of what a mask selects from, where it
    is not empty along an axis: NumPy accepts that.
    """

    name = "nonzero"
    spelling = "nonzero"
    picture: ClassVar[Kind] = Kind.INDEX
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    lacks: ClassVar[Lacks] = Lacks(batching="its lengths would differ from one example to the next")
    fallible = True
    error: ClassVar[type[Exception]] = IndexError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1 + inputs[0].ndim if len(inputs) > 1 else 1)
        if not inputs[0].ndim:
            raise ValueError(f"nonzero of a scalar has no positions, got {describe(inputs[0])}")
        return (TensorType("int64", (None,)),) * inputs[0].ndim

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        mask, *lengths = values
        if any(have not in (0, want) for have, want in zip(mask.shape, lengths, strict=False)):
            raise IndexError(
                f"the mask has shape {mask.shape}, the axes that it selects from {tuple(map(int, lengths))}"
            )
        return tuple(np.asarray(k, dtype=np.int64) for k in np.nonzero(mask))

    def broken(self, axis: int, holds: int, have: int, want: int = 0) -> str:
        """The message for a mask that is not as long as the axis that it selects from."""
        return f"the mask has length {have} along axis {axis}, the axis that it selects from has length {want}"

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (opaque_dims(node.outputs[0]),) * len(node.outputs)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None] * len(node.inputs)


def _places(a: np.ndarray, v: np.ndarray, side: Any) -> np.ndarray:
    """Return `np.searchsorted(a, v, side)`, for a vector that is not ascending that of NumPy 2.5, with any NumPy.

    NumPy calls these places undefined.  Before 2.5 each of them depended on the element of `v` before.
    """
    if np.array_equal(np.sort(a), a, equal_nan=True):
        return np.searchsorted(a, v, side)
    ordered = np.sort(np.append(a, v))
    own, wanted = (np.searchsorted(ordered, x) for x in (a, v))
    low, high = np.zeros(v.shape, np.int64), np.full(v.shape, len(a), np.int64)
    while np.any(low < high):
        middle = np.minimum((low + high) // 2, len(a) - 1)
        goes_on = (own[middle] <= wanted if side == "right" else own[middle] < wanted) & (low < high)
        low, high = np.where(goes_on, middle + 1, low), np.where(goes_on | (low >= high), high, middle)
    return low


@record(repr=False)
class SearchSorted(TensorOp):
    """`searchsorted(a, v)`: where elements of `v` go into the sorted vector `a` (int64): before or after equal ones.

    `examples`: how many axes stand in front of both; each part of `v` along them has a vector of its own.
    """

    side: str = "left"
    examples: int = 0
    name = "searchsorted"
    picture: ClassVar[Kind] = Kind.INDEX
    operations: ClassVar[Callable[..., Any]] = costs.sorting

    def __post_init__(self) -> None:
        if self.side not in ("left", "right"):
            raise ValueError(f'searchsorted: side must be "left" or "right", got {self.side!r}')

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 2)
        a, v = inputs
        if a.ndim != 1 + self.examples:
            raise ValueError(f"searchsorted looks through a vector, got {describe(a)}")
        return (v.type.with_dtype("int64"),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        a, v = values
        found = np.empty(v.shape, np.int64)
        for example in np.ndindex(*v.shape[: self.examples]):
            found[example] = _places(a[example], v[example], self.side)
        return (found,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[1],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None, None]

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        if not flags[0] and not self.examples:
            return self(*inputs)
        return replace(self, examples=self.examples + 1)(*all_broadcast(inputs, flags, examples))

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`searchsorted(a, v)`."""
        assert output.owner is not None
        options = {} if self.side == "left" else {"side": self.side}
        if self.examples:
            return code.of_class(self, output, speaker)
        return speaker.call("searchsorted", *speaker.texts(output.owner.inputs), **options)


@record(repr=False)
class Unique(TensorOp):
    """The distinct elements of a vector, ascending, NaNs being one value; then, as asked for, int64 vectors:

    where each stands first (`index`), which each element is (`inverse`), how many are equal (`counts`).
    """

    index: bool = False
    inverse: bool = False
    counts: bool = False
    name = "unique"
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    lacks: ClassVar[Lacks] = Lacks(
        batching="its lengths would differ from one example to the next", lengths="the values decide them"
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if x.ndim != 1:
            raise ValueError(f"unique takes a vector, got {describe(x)}")
        several = TensorType("int64", (None,))
        kinds = [several] * self.index + [several.with_shape(x.type.shape)] * self.inverse + [several] * self.counts
        return x.type.with_shape((None,)), *kinds

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        if not (self.index or self.inverse or self.counts):
            return (_distinct(np.sort(values[0], kind="stable")),)
        found, *numbers = np.unique(values[0], self.index, self.inverse, self.counts)  # type: ignore[call-overload]
        return found, *(np.asarray(n, dtype=np.int64) for n in numbers)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (x,), g = node.inputs, cotangents[0]
        if g is None:
            return [None]
        _, first = Unique(index=True)(x)
        return [T.set_subtensor(T.zeros_like(x)[first], g)]

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`unique(x, return_index=True)[0]`."""
        assert output.owner is not None
        wanted = {"return_index": self.index, "return_inverse": self.inverse, "return_counts": self.counts}
        options = {name: True for name, asked in wanted.items() if asked}
        return code.part_of(output, speaker.call("unique", *speaker.texts(output.owner.inputs), **options))


def _distinct(ascending: np.ndarray) -> np.ndarray:
    """Return the elements that differ from the one before them; of several NaNs at the end, the first."""
    if not ascending.size:
        return ascending
    new = np.empty(ascending.shape, np.bool_)
    new[0] = True
    np.not_equal(ascending[1:], ascending[:-1], out=new[1:])
    if ascending.dtype.kind in "fc" and np.isnan(ascending[-1]):
        new[np.isnan(ascending).argmax() + 1 :] = False
    return ascending if new.all() else ascending[new]


@record(repr=False)
class UniqueParts(TensorOp):
    """The distinct parts of a tensor along `axis`, ascending; their first positions; the inverse; their counts.

    The last three are int64 vectors.  Of a vector NaNs are one value if `equal_nan`; parts with a NaN are all distinct.
    """

    axis: int
    equal_nan: bool = True
    name = "unique_parts"
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.sorting
    lacks: ClassVar[Lacks] = Lacks(
        batching="its lengths would differ from one example to the next", lengths="the values decide them"
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(f"{self.name}: {describe(x)} has no axis {self.axis}")
        shape, several = x.type.shape, TensorType("int64", (None,))
        found = x.type.with_shape((*shape[: self.axis], None, *shape[self.axis + 1 :]))
        return found, several, several.with_shape((shape[self.axis],)), several

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        axis = None if x.ndim == 1 else self.axis  # with an axis NumPy compares records
        found, *numbers = np.unique(x, True, True, True, axis, equal_nan=self.equal_nan)
        return np.ascontiguousarray(found), *(np.asarray(n, dtype=np.int64).reshape(-1) for n in numbers)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (x,), g = node.inputs, cotangents[0]
        return [None if g is None else T.set_subtensor(T.take(T.zeros_like(x), node.outputs[1], self.axis), g)]


# --- NumPy's functions


def sort(
    x: TensorLike, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None,
    descending: bool = False,
) -> TensorVariable:  # fmt: skip
    """The elements in ascending order along `axis` (of the flattened x for None), NaNs last.

    Equal elements keep their order, whatever `kind` and `stable` say.  `descending`: in the opposite order, NaNs first.
    """
    x, place = _sorted_axis("sort", x, axis, kind, stable)
    order = Sort(place)
    return T.flip(order(T.flip(x, place)), place) if descending else order(x)


def argsort(
    x: TensorLike, axis: int | None = -1, kind: str | None = None, *, stable: bool | None = None,
    descending: bool = False,
) -> TensorVariable:  # fmt: skip
    """The positions (int64) of the elements in ascending order along `axis`; see `sort`."""
    x, place = _sorted_axis("argsort", x, axis, kind, stable)
    order = ArgSort(place)
    if not descending:
        return order(x)
    last: Any = T.lengths_of(x)[place] - 1
    return last - T.flip(order(T.flip(x, place)), place)  # type: ignore[no-any-return]


def _sorted_axis(
    what: str, x: Any, axis: int | None, kind: str | None, stable: bool | None
) -> tuple[TensorVariable, int]:
    """Return a tensor and the axis to sort along: for None, the flat tensor and its only axis; `kind` is checked."""
    if kind not in (None, "quicksort", "heapsort", "mergesort", "stable"):
        raise ValueError(f'{what}: kind must be "quicksort", "heapsort", "mergesort" or "stable", got {kind!r}')
    if kind is not None and stable is not None:
        raise ValueError(f"{what}: kind and stable say the same thing; give one of them")
    x = as_tensor(x)
    if axis is None:
        return ravel(x), 0
    return x, normalize_axis(axis, x.ndim, f"{what} of {describe(x)}")


def partition(x: TensorLike, kth: Any, axis: int | None = -1) -> TensorVariable:
    """`x` in an order in which the elements at `kth` are those of the sorted x, smaller ones before: the sorted x.

    `kth`: an integer or several.  Raises ValueError for one out of range, at run time where it is known only then.
    """
    return sort(_with_places("partition", x, kth, axis), axis)


def argpartition(x: TensorLike, kth: Any, axis: int | None = -1) -> TensorVariable:
    """The positions (int64) of the elements in an order that `partition` allows: the same as `argsort`."""
    return argsort(_with_places("argpartition", x, kth, axis), axis)


def _with_places(what: str, x: TensorLike, kth: Any, axis: int | None) -> TensorVariable:
    """`x`, which must have the places `kth` along `axis`, or no elements."""
    x, places = as_tensor(x), as_tensor(kth)
    if places.type.kind not in "iu" or places.ndim > 1:
        raise TypeError(f"{what}: kth must be an integer or a vector of them, got {describe(places)}")
    line = ravel(x) if axis is None else x
    count: Any = T.lengths_of(line)[0 if axis is None else normalize_axis(axis, x.ndim, f"{what} of {describe(x)}")]
    size = T.maximum(count, T.eq(T.size(x), 0) * np.int64(2**62))  # any place of no elements
    return between(T.cast(places, "int64"), -size, size - 1, f"{what}: kth", on=x)


def lexsort(keys: Any, axis: int = -1) -> TensorVariable:
    """The positions (int64) that sort by the last of `keys`, ties by the key before it, and so on.

    `keys`: a sequence of tensors of one shape, or one tensor of them along the first axis.  Raises ValueError for keys
    of different shapes, at run time where these are known only then.
    """
    given = list(T.unstack(keys)) if isinstance(keys, Variable) else [as_tensor(key) for key in keys]
    if not given:
        raise TypeError("lexsort: at least one key is needed")
    place = normalize_axis(axis, given[0].ndim, f"lexsort by {describe(given[0])}")
    order: Any = ArgSort(place)(given[0])
    for key in (with_shape_of(key, given[0], "lexsort: a key") for key in given[1:]):
        again = ArgSort(place)(take_along_axis(key, order, place))
        order = take_along_axis(order, again, place)
    return order  # type: ignore[no-any-return]


def sort_complex(a: TensorLike) -> TensorVariable:
    """The elements in ascending order along the last axis, by real and then imaginary part, as complex numbers."""
    found = sort(a)
    narrow = found.dtype in ("int8", "uint8", "int16", "uint16")
    return found if found.type.kind == "c" else T.cast(found, "complex64" if narrow else "complex128")


def nonzero(x: TensorLike) -> tuple[TensorVariable, ...]:
    """The positions of the nonzero elements: one int64 vector an axis, so that x[nonzero(x)] are these elements."""
    found = Nonzero()(as_tensor(x))
    return found if isinstance(found, tuple) else (found,)


def flatnonzero(x: TensorLike) -> TensorVariable:
    """The positions (int64) in the flattened `x` of the elements that are not zero."""
    return nonzero(ravel(as_tensor(x)))[0]


def searchsorted(a: TensorLike, v: TensorLike, side: str = "left", sorter: TensorLike | None = None) -> TensorVariable:
    """Where to put elements of `v` into the ascending vector `a` so that it stays in order: int64, the shape of v.

    `side`: "left" puts them before equal ones, "right" behind; `sorter`: positions that sort `a`, as of `argsort`.
    """
    a = as_tensor(a) if sorter is None else T.take(a, sorter)
    return SearchSorted(side)(*in_joint_dtype((a, v)))


def unique(
    x: TensorLike, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, *, equal_nan: bool = True, sorted: bool = True,
) -> TensorVariable | tuple[TensorVariable, ...]:  # fmt: skip
    """The distinct elements of the flattened `x`, or its distinct parts along `axis`, ascending.

    Then, as asked for, int64 tensors: the positions of their first occurrences, for each element (or part) of `x` which
    one it is, and how often each occurs.  `equal_nan`: whether NaNs are one value; parts with a NaN are never equal, as
    in NumPy.  `sorted=False` allows another order, of which no use is made.
    """
    x = as_tensor(x)
    if axis is not None or not equal_nan:
        whole, place = (ravel(x), 0) if axis is None else (x, normalize_axis(axis, x.ndim, f"unique of {describe(x)}"))
        values, index, inverse, counts = UniqueParts(place, bool(equal_nan))(whole)
        inverse = reshape(inverse, T.lengths_of(x)) if axis is None and return_inverse else inverse
        asked = [index] * bool(return_index) + [inverse] * bool(return_inverse) + [counts] * bool(return_counts)
        return (values, *asked) if asked else values
    found = Unique(bool(return_index), bool(return_inverse), bool(return_counts))(ravel(x))
    if not isinstance(found, tuple):
        return found
    values, *asked = found
    if return_inverse:
        place = int(bool(return_index))
        asked[place] = reshape(asked[place], T.lengths_of(x))
    return (values, *asked)
