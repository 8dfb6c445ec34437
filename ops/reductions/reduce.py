"""Reductions: an elementwise op folded along axes, and the statistics that are compositions of such folds.

    Reduce(add, axis)       sum       Reduce(maximum, axis)      max       Reduce(logical_or, axis)    any
    Reduce(mul, axis)       prod      Reduce(minimum, axis)      min       Reduce(logical_and, axis)   all
    ArgReduce(name, axis)   argmax, argmin

`keepdims` is not a field of an op: it is a `DimShuffle` after the reduction.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, NoGradient, Op, TensorType, Variable
from ...graph.types import numpy_dtype
from ...record import record
from ..control.batching import Examples, Flags
from ..core.checks import describe, normalize_axes, require_count, require_keepdims
from ..core.namespace import T, classes
from ..core.operands import with_dtype
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import Axis, DTypeLike, TensorLike
from ..elementwise import costs
from ..elementwise.records import Elementwise, add, cast, logical_and, logical_or, maximum, minimum, mul
from ..shapes.shape import axes_made_one
from ..writing import latex

if TYPE_CHECKING:
    from ..writing import code

__all__ = ["REDUCTIONS", "all", "amax", "amin", "any", "argmax", "argmin", "max", "min", "prod", "ptp", "sum"]

REDUCTIONS: dict[str, Elementwise] = {
    "sum": add, "prod": mul, "max": maximum, "min": minimum, "any": logical_or, "all": logical_and,
}  # fmt: skip
"""The reductions by their printed name: the elementwise op that each one folds."""
_NAMES = {op: name for name, op in REDUCTIONS.items()}
_LATEX = {"sum": r"\sum", "prod": r"\prod", "max": r"\max", "min": r"\min"}


@record(repr=False)
class Reduce(TensorOp):
    """The elementwise op `scalar` folded along the axes `axis`: a sorted tuple of axes counted from the front.

    dtypes are NumPy's: sums and products of bools and integers are 64 bits wide, `any` and `all` are bool.  `empty`:
    max and min of no elements are the identity element, not an error.
    """

    scalar: Elementwise
    axis: tuple[int, ...]
    empty: bool = False
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def __post_init__(self) -> None:
        if self.scalar not in _NAMES:
            raise TypeError(f"no reduction folds {self.scalar}; expected one of {', '.join(op.name for op in _NAMES)}")
        if tuple(sorted(set(self.axis))) != self.axis or builtins.any(a < 0 for a in self.axis):
            raise ValueError(f"{self.name}: axes must be sorted, not negative and given once, got {self.axis}")

    @property
    def name(self) -> str:  # type: ignore[override]
        return _NAMES[self.scalar]

    @property
    def selects(self) -> bool:
        """Whether a value that is read twice changes nothing: for all but sums and products."""
        return self.name not in ("sum", "prod")

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        """Whether it may raise: max and min of no elements do, unless these are allowed."""
        return self.is_extremum and not self.empty

    @property
    def is_extremum(self) -> bool:
        """Whether it is max or min."""
        return self.scalar is maximum or self.scalar is minimum

    def parameters(self) -> dict[str, Any]:
        return {"axis": self.axis, "empty": True} if self.empty else {"axis": self.axis}

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if self.axis and self.axis[-1] >= x.ndim:
            raise np.exceptions.AxisError(f"{self.name}: {describe(x)} has no axis {self.axis[-1]}")
        if self.fallible and builtins.any(x.type.shape[a] == 0 for a in self.axis):
            raise ValueError(f"{self.name} of {describe(x)} is not defined: no elements along axis {self.axis}")
        return (TensorType(reduced_dtype(self.scalar, x.dtype), _without(x.type.shape, self.axis)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        with np.errstate(all="ignore"):
            first = {"initial": identity_of(self.scalar, x.dtype)} if self.empty else {}
            result = self.scalar.function.reduce(x, axis=self.axis, **first)  # type: ignore[attr-defined]
        return (np.asarray(result, dtype=reduced_dtype(self.scalar, x.dtype.name)),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (_without(inputs[0], self.axis),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (x,), (g,) = node.inputs, cotangents
        if g is None or x.type.kind not in "fc":
            return [None]
        if x.type.kind == "c" and self.is_extremum:
            raise NoGradient(f"{self.name} of {describe(x)}: the order of complex numbers is not differentiable")
        y, g = (with_kept_axes(v, self.axis, x.ndim) for v in (node.out, g))
        return [cast(_VJPS[self.name](x, y, g, self.axis), x.dtype)]

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        return {name: partial(cls, scalar) for name, scalar in REDUCTIONS.items()}

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        return replace(self, axis=tuple(axis + 1 for axis in self.axis))(inputs[0])

    def formula(self, output: Variable, operands: Sequence[latex.Written], /) -> latex.Written:
        sign = _LATEX.get(self.name)
        return latex.reduced(sign, self.axis, output, operands[0]) if sign else latex.called(self, output, operands)

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`sum(x, axis=0)`, and `sum(x)` for all axes."""
        assert output.owner is not None
        (x,) = output.owner.inputs
        whole = len(self.axis) == x.ndim
        axes = {} if whole else {"axis": self.axis[0] if len(self.axis) == 1 else self.axis}
        return speaker.call(self.name, speaker.text(x), **axes)


@cache
def reduced_dtype(scalar: Elementwise, dtype: str) -> str:
    """The dtype of a reduction of `dtype`: NumPy widens sums and products of bools and integers to 64 bits."""
    kind = numpy_dtype(dtype).kind
    if scalar in (logical_and, logical_or):
        return "bool"
    if scalar in (maximum, minimum) or kind in "fc":
        return dtype
    return "uint64" if kind == "u" else "int64"


def identity_of(scalar: Elementwise, dtype: np.dtype) -> Any:
    """The identity element of max or min of bools, integers or floats."""
    if dtype.kind == "f":
        return -np.inf if scalar is maximum else np.inf
    if dtype.kind == "b":
        return scalar is minimum
    return np.iinfo(dtype).min if scalar is maximum else np.iinfo(dtype).max


def _without(shape: tuple[Any, ...], axes: tuple[int, ...]) -> tuple[Any, ...]:
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)


def with_kept_axes(reduced: Any, axes: tuple[int, ...], ndim: int) -> Any:
    """The reduced value with an axis of length 1 in the place of each axis that was reduced."""
    if not axes:
        return reduced
    kept = iter(range(ndim - len(axes)))
    return classes.DimShuffle(tuple("x" if axis in axes else next(kept) for axis in range(ndim)))(reduced)


# --- derivatives: functions of x, and of the result y and its cotangent g with their reduced axes kept


def _sum_vjp(x: Any, y: Any, g: Any, axes: tuple[int, ...]) -> TensorVariable:
    return T.fill(x, g)


def _prod_vjp(x: Any, y: Any, g: Any, axes: tuple[int, ...]) -> Any:
    """g times the product of all other elements, also where elements are zero or infinite.

    With one zero among them only its own derivative is not zero; with more, none is.
    """
    others = product_of_others(x, lambda op, v: _kept(op, v, axes))
    return T.conj(T.conj(g) * others) if x.type.kind == "c" else g * others


def product_of_others(x: Any, folded: Callable[[Elementwise, Any], Any]) -> TensorVariable:
    """Return for each element the product of the others: a quotient, with zeros and infinities handled separately.

    `folded(op, values)` folds what an element is multiplied with, by `mul` or `add`.  The zeros appear as their sum,
    which is 0 but has derivatives, so second derivatives are right as well.
    """
    zero = T.eq(x, 0)
    infinite = T.isinf(x) if x.type.kind == "f" else None
    plain = T.switch(zero if infinite is None else T.logical_or(zero, infinite), 1, x)
    product = folded(mul, plain)
    zeros, sum_of_zeros = folded(add, zero), folded(add, T.switch(zero, x, 0))
    of_zeros = T.switch(T.eq(zeros, 0), 1, T.switch(T.eq(zeros, 1), sum_of_zeros, 0))
    of_other_zeros = T.switch(T.eq(zeros, 1), 1, T.switch(T.eq(zeros, 2), sum_of_zeros - x, 0))
    if infinite is None:
        return T.switch(zero, product * of_other_zeros, product / plain * of_zeros)
    of_infinite = folded(mul, T.switch(infinite, x, 1))
    of_other_infinite = T.switch(T.eq(folded(add, infinite), 1), 1, of_infinite * T.sign(x))
    there = product * of_other_infinite * of_zeros
    elsewhere = T.switch(zero, product * of_other_zeros, product / plain * of_zeros) * of_infinite
    return T.switch(infinite, there, elsewhere)


def _kept(op: Elementwise, x: Any, axes: tuple[int, ...]) -> Any:
    """The reduction, with axes of length 1 in the place of those that are reduced."""
    return with_kept_axes(Reduce(op, axes)(x), axes, x.ndim)


def _extremum_vjp(x: Any, y: Any, g: Any, axes: tuple[int, ...]) -> TensorVariable:
    """Elements that reach the extremum share g equally."""
    reached = T.eq(x, y)
    count = cast(with_kept_axes(Reduce(add, axes)(reached), axes, x.ndim), x.dtype)
    return T.switch(reached, g / count, 0)


_VJPS = {"sum": _sum_vjp, "prod": _prod_vjp, "max": _extremum_vjp, "min": _extremum_vjp}


# --- positions of extrema


@record(repr=False)
class ArgReduce(TensorOp):
    """The int64 index of the first maximum (`argmax`) or minimum (`argmin`) along `axis`, of the flat input for None.

    A NaN counts as the extremum, as in NumPy.  Raises ValueError where there are no elements.
    """

    name: str
    axis: int | None
    fallible: ClassVar[bool] = True
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def __post_init__(self) -> None:
        if self.name not in ("argmax", "argmin"):
            raise ValueError(f"expected argmax or argmin, got {self.name!r}")

    def parameters(self) -> dict[str, Any]:
        return {"axis": self.axis}

    def _axes(self, ndim: int) -> tuple[int, ...]:
        return tuple(range(ndim)) if self.axis is None else (self.axis,)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if self.axis is not None and not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(f"{self.name}: {describe(x)} has no axis {self.axis}")
        axes = self._axes(x.ndim)
        if builtins.any(x.type.shape[a] == 0 for a in axes):
            raise ValueError(f"{self.name} of {describe(x)} is not defined: there are no elements")
        return (TensorType("int64", _without(x.type.shape, axes)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        function = np.argmax if self.name == "argmax" else np.argmin
        return (np.asarray(function(values[0], axis=self.axis), dtype=np.int64),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (_without(inputs[0], self._axes(len(inputs[0]))),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return [None]

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        return {name: partial(cls, name) for name in ("argmax", "argmin")}

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        x = inputs[0] if self.axis is not None else T.reshape(inputs[0], (examples.length, -1))
        return replace(self, axis=1 if self.axis is None else self.axis + 1)(x)

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`argmax(x, axis=1)`, and `argmax(x)` for all axes."""
        assert output.owner is not None
        axes = {} if self.axis is None else {"axis": self.axis}
        return speaker.call(self.name, speaker.text(output.owner.inputs[0]), **axes)


# --- the counterpart of broadcasting


# --- the functions of the namespace


def _reduce(name: str, x: Any, axis: Any, keepdims: bool) -> TensorVariable:
    x = as_tensor(x)
    axes = _axes(name, x, axis)
    require_keepdims(keepdims, name)
    reduced = Reduce(REDUCTIONS[name], axes)(x)
    return with_kept_axes(reduced, axes, x.ndim) if keepdims else reduced


def _axes(name: str, x: Any, axis: Any) -> tuple[int, ...]:
    """The axes as a sorted tuple counted from the front; all for None."""
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(sorted(normalize_axes(axis, x.ndim, f"{name} of {describe(x)}")))


def _widened(name: str, x: Any, axis: Any, dtype: Any, keepdims: bool) -> TensorVariable:
    """Return a sum or product in `dtype`: operands are converted before, a widened result is converted back."""
    if dtype is None:
        return _reduce(name, x, axis, keepdims)
    return cast(_reduce(name, cast(x, dtype), axis, keepdims), dtype)


def chosen(x: TensorLike, where: TensorLike | None, other: float, what: str) -> TensorLike:
    """Return `x` with `other` where the mask `where` does not hold; `x` itself for None."""
    if where is None:
        return x
    x = as_tensor(x)
    return T.switch(mask_of(what, x, where), x, T.constant(other, x.dtype))


def mask_of(what: str, x: TensorVariable, where: TensorLike) -> TensorVariable:
    """The mask `where`, broadcast to the shape of `x`.  Raises TypeError for no bools, ValueError if it is longer."""
    mask = as_tensor(bool(where) if isinstance(where, int) else where)
    if mask.dtype != "bool":
        raise TypeError(f"{what}: where must be a mask of bools, got {describe(mask)}")
    if mask.ndim > x.ndim:
        raise ValueError(f"{what}: where broadcasts to {describe(x)}, got {describe(mask)}")
    return T.broadcast_to(mask, T.lengths_of(x)) if mask.ndim else mask


def sum(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *,
    initial: TensorLike | None = None, where: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The sum along `axis` (an int, several, or None for all); int64 or uint64 for bools and integers, else x's dtype.

    `dtype`: what is summed in; `initial`: what is added to the sum; `where`: a mask of the elements that count.  Raises
    AxisError for an axis that x does not have.
    """
    found = _widened("sum", chosen(x, where, 0, "sum"), axis, dtype, keepdims)
    return found if initial is None else add(found, _first(initial, found.dtype))


def prod(
    x: TensorLike, axis: Axis = None, dtype: DTypeLike = None, keepdims: bool = False, *,
    initial: TensorLike | None = None, where: TensorLike | None = None,
) -> TensorVariable:  # fmt: skip
    """The product along `axis`, times `initial`; dtypes and `where` as those of `sum`."""
    found = _widened("prod", chosen(x, where, 1, "prod"), axis, dtype, keepdims)
    return found if initial is None else mul(found, _first(initial, found.dtype))


def max(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, *, initial: TensorLike | None = None,
    where: TensorLike = True,
) -> TensorVariable:  # fmt: skip
    """The largest element along `axis`, NaN if there is one; its derivative is shared equally among equal elements.

    `initial` counts as a further element; `where`, a mask of the elements that count, needs it.  Raises ValueError
    where there are no elements.
    """
    return _extremum("max", x, axis, keepdims, initial, where)


def min(
    x: TensorLike, axis: Axis = None, keepdims: bool = False, *, initial: TensorLike | None = None,
    where: TensorLike = True,
) -> TensorVariable:  # fmt: skip
    """The smallest element along `axis`; see `max`."""
    return _extremum("min", x, axis, keepdims, initial, where)


def _first(initial: Any, dtype: str) -> TensorVariable:
    """Return the initial value of a reduction in its dtype.  Raises OverflowError if the dtype cannot hold it."""
    if isinstance(initial, (int, float)) and numpy_dtype(dtype).kind in "iu":
        return T.constant(int(initial), dtype)
    return with_dtype(as_tensor(initial), dtype)


def _extremum(what: str, x: Any, axis: Any, keepdims: bool, initial: Any, where: Any) -> TensorVariable:
    """Return a maximum or minimum, of `initial` and of the elements where `where` holds."""
    if initial is None:
        if where is not True:
            raise ValueError(f"{what}: where needs an initial value, for rows without a selected element")
        return _reduce(what, x, axis, keepdims)
    x = as_tensor(x)
    initial, axes = _first(initial, x.dtype), _axes(what, x, axis)
    if where is not True:
        x = T.switch(mask_of(what, x, where), x, initial)
    fold = REDUCTIONS[what]
    if x.type.kind == "c":  # the least complex number is not one of them: the initial one is a further element
        for k in axes:
            further = T.broadcast_to(initial, [1 if a == k else n for a, n in enumerate(T.lengths_of(x))])
            x = T.concatenate([x, further], k)
        return _reduce(what, x, axes, keepdims) if axes else fold(x, initial)
    require_keepdims(keepdims, what)
    some = builtins.all(x.type.shape[k] for k in axes)
    found = Reduce(fold, axes, empty=not some)(x)
    return fold(with_kept_axes(found, axes, x.ndim) if keepdims else found, initial)


def any(x: TensorLike, axis: Axis = None, keepdims: bool = False, *, where: TensorLike | None = None) -> TensorVariable:
    """Whether an element along `axis` (of those where the mask `where` holds) is true (not zero)."""
    return _reduce("any", chosen(x, where, 0, "any"), axis, keepdims)


def all(x: TensorLike, axis: Axis = None, keepdims: bool = False, *, where: TensorLike | None = None) -> TensorVariable:
    """Whether all elements along `axis` (of those where the mask `where` holds) are true (not zero)."""
    return _reduce("all", chosen(x, where, 1, "all"), axis, keepdims)


def _arg_reduce(name: str, x: Any, axis: Any, keepdims: bool) -> TensorVariable:
    x = as_tensor(x)
    axes = _axes(name, x, axis)
    require_keepdims(keepdims, name)
    if len(axes) == 1:
        index = ArgReduce(name, axes[0])(x)
    elif len(axes) == x.ndim:
        index = ArgReduce(name, None)(x)
    else:
        index = ArgReduce(name, x.ndim - len(axes))(axes_made_one(x, axes))
    return with_kept_axes(index, axes, x.ndim) if keepdims else index


def argmax(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """The int64 index of the first maximum along `axis`, of the flattened x for None; the first NaN where there is one.

    Of several axes it is the index among their elements in C order, as in Theano, whatever the order in which the axes
    are given.  Raises ValueError where there are no elements.
    """
    return _arg_reduce("argmax", x, axis, keepdims)


def argmin(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """The int64 index of the first minimum along `axis`; see `argmax`."""
    return _arg_reduce("argmin", x, axis, keepdims)


def ptp(x: TensorLike, axis: Axis = None, keepdims: bool = False) -> TensorVariable:
    """The largest less the smallest element along `axis`."""
    require_keepdims(keepdims, "ptp")
    return T.sub(max(x, axis, keepdims), min(x, axis, keepdims))


amax, amin = max, min
