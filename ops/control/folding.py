"""Functions of two elements, folded along an axis or into elements one after the other: methods of NumPy's ufuncs.

    T.accumulate(T.maximum, x)    T.reduce_with(T.hypot, m, axis=1)    T.apply_at(T.divide, x, i, y)
    T.reduce_parts(T.sum, x, starts)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...graph import Variable
from ..core.checks import describe, normalize_axis
from ..core.namespace import T, classes
from ..core.tensor import TensorVariable, as_tensor
from ..core.typing import TensorLike
from ..shapes.conditions import between
from .along import along

__all__ = ["accumulate", "apply_at", "reduce_parts", "reduce_with"]

Function = Callable[..., Any]


def accumulate(function: Function, x: TensorLike, axis: int = 0) -> TensorVariable:
    """The values f(...f(f(x[0], x[1]), x[2])..., x[k]) for each k along `axis`, of the shape of `x`.

    `function` takes two expressions and returns one.  The dtype is that of its result for two elements.  Raises
    ValueError for an axis that `x` does not have.  Source: `numpy.ufunc.accumulate`.
    """
    v = as_tensor(x)
    if function in (T.maximum, T.minimum) and v.type.kind != "c":
        place = normalize_axis(axis, v.ndim, f"accumulate of {describe(v)}")
        return classes.Cumulative(function, place)(v)  # type: ignore[no-any-return]
    rows, place = _rows(function, v, axis, "accumulate")
    first = T.zeros(T.lengths_of(rows)[1:], dtype=rows.dtype)
    starts = T.eq(T.arange(T.lengths_of(rows)[0]), 0)

    def step(slices: list[Any], states: list[Any]) -> tuple[list[Variable], list[Variable]]:
        row, is_first = slices
        new = T.switch(is_first, row, T.cast(function(states[0], row), rows.dtype))
        return [new], [new]

    _, (values,) = along(step, [rows, starts], [first])
    return T.moveaxis(values, 0, place)


def reduce_with(
    function: Function, x: TensorLike, axis: int = 0, keepdims: bool = False, initial: TensorLike | None = None
) -> TensorVariable:
    """The value f(...f(f(initial, x[0]), x[1])..., x[n-1]) along `axis`, without it unless `keepdims`.

    Without `initial` the first element is where it starts, and ValueError is raised if there is none.  Raises
    ValueError for an axis that `x` does not have.  Source: `numpy.ufunc.reduce`.
    """
    rows, place = _rows(function, x, axis, "reduce_with")
    length, shape = T.lengths_of(rows)[0], T.lengths_of(rows)[1:]
    if initial is None:
        some = T.gt(length, 0)
        known = classes.Check("zero-size array to a reduction without an initial value", "ValueError")(length, some)
        rest = T.getitem(rows, (slice(1, known),))
        first = T.getitem(rows, (0,))
    else:
        rest, first = rows, T.broadcast_to(T.cast(initial, rows.dtype), shape)

    def step(slices: list[Any], states: list[Any]) -> tuple[list[Variable], list[Variable]]:
        return [T.cast(function(states[0], slices[0]), rows.dtype)], []

    (found,), _ = along(step, [rest], [first])
    return T.expand_dims(found, place) if keepdims else found


def apply_at(function: Function, x: TensorLike, indices: Any, *values: TensorLike) -> TensorVariable:
    """A copy of `x` whose elements at `indices` are `function` of themselves and of `values`, one after the other.

    An element that is indexed several times is changed as often, in C order of the index.  `values` broadcast to
    `x[indices]`; a function of one argument takes none.  Raises IndexError as `x[indices]` does.
    Source: `numpy.ufunc.at`.
    """
    v = as_tensor(x)
    flat = T.ravel(v)
    places = T.getitem(T.reshape(T.arange(T.lengths_of(flat)[0]), T.lengths_of(v)), indices)
    several = [T.ravel(T.broadcast_to(as_tensor(one), T.lengths_of(places))) for one in values]

    def step(slices: list[Any], states: list[Any]) -> tuple[list[Variable], list[Variable]]:
        place, *own = slices
        old = T.getitem(states[0], (place,))
        return [T.set_subtensor(old, T.cast(function(old, *own), v.dtype))], []

    (found,), _ = along(step, [T.ravel(places), *several], [flat])
    return T.reshape(found, T.lengths_of(v))


def reduce_parts(reduction: Function, x: TensorLike, starts: TensorLike, axis: int = 0) -> TensorVariable:
    """The reductions of the parts of `x` along `axis` that begin at `starts`, each up to where the next one begins.

    `reduction` takes an array and returns one without its first axis.  The last part goes to the end.  A part that
    would have no element has that at its start.  Raises IndexError for a start outside.
    Source: `numpy.ufunc.reduceat`.
    """
    v, starts = as_tensor(x), T.cast(starts, "int64")
    place = normalize_axis(axis, v.ndim, f"reduce_parts of {describe(v)}")
    rows = T.moveaxis(v, place, 0)
    length = T.lengths_of(rows)[0]
    starts = between(starts, 0, length - 1, "reduce_parts: starts", error=IndexError)
    ends = T.maximum(T.concatenate([starts[1:], T.expand_dims(T.as_tensor(length), 0)]), starts + 1)

    def step(slices: list[Any], states: list[Any]) -> tuple[list[Variable], list[Variable]]:
        start, end = slices
        return [], [reduction(T.getitem(rows, (slice(start, end),)))]

    _, (found,) = along(step, [starts, ends], [])
    return T.moveaxis(found, 0, place)


def _rows(function: Function, x: TensorLike, axis: int, name: str) -> tuple[Any, int]:
    """Return `x` in the dtype of results, its axis first, and the place of the axis."""
    v = as_tensor(x)
    place = normalize_axis(axis, v.ndim, f"{name} of {describe(v)}")
    element = TensorVariable(v.type.with_shape(()))
    return T.moveaxis(T.cast(v, function(element, element).dtype), place, 0), place
