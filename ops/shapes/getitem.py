"""`x[...]` as Python writes it, and the functions that write to the part of a tensor that an index selects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Constant, Variable
from ...record import record
from ...record.spelling import counted
from ..core.checks import describe, normalize_axis
from ..core.namespace import T, classes
from ..core.operands import with_dtype
from ..core.promotion import weak_type
from ..core.tensor import TensorVariable, as_tensor, constant
from ..core.traced import as_variable, in_dtype, is_symbolic, number_of
from ..core.typing import TensorLike
from ..elementwise.records import Elementwise, cast
from .advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor, pointers_of
from .combining import METHODS, AdvancedCombine
from .creation import arange
from .distinct import names_each_once
from .indexing import IncSubtensor, Subtensor, joint_position
from .joining import stack
from .lengths import as_length, lengths_of
from .scalar_masks import WholeIf, written
from .shape import DimShuffle, flatten
from .specify import MaskedShape

__all__ = ["combine_subtensor", "getitem", "inc_subtensor", "scatter_add", "set_subtensor", "take", "take_along_axis"]

_ACCEPTED = "an index is an integer, a slice, None, ..., an array of integers, or a mask"
_OF_THE_MASK = object()
"""Mark of the axes after the first that a mask selects from."""


def getitem(x: Variable, key: Any) -> TensorVariable:
    """`x[key]` with NumPy's meaning; integers, bounds and arrays may be variables.

    A mask of rank k stands for the positions of its true elements along k axes, `nonzero(mask)`.  Raises IndexError for
    too many indices, for constants out of range and for a mask that has not the lengths of these axes (if that is not
    known before, when the function runs), TypeError for what is no index.
    """
    key = key if isinstance(key, tuple) else (key,)
    if x.owner is not None and x.owner.op.name == "with_last" and key and type(key[0]) is int and key[0] == -1:
        return getitem(x.owner.inputs[1], key[1:]) if key[1:] else x.owner.inputs[1]  # type: ignore[return-value]
    flags = [k for k in key if _is_flag(k)]
    if len(flags) == 1 and len(key) <= 2 and all(k is flags[0] or k is Ellipsis for k in key):
        whole = WholeIf()(x, flags[0])
        return DimShuffle((*range(1, whole.ndim), 0))(whole) if key[0] is Ellipsis else whole
    x, items = _expanded(x, key)
    if any(isinstance(i, Variable) and i.ndim for i in items):
        return _advanced(x, items)
    spec, scalars = _spec_of([i for i in items if i is not None])
    part = Subtensor(spec)(x, *scalars)
    return _with_new_axes(part, items) if None in items else part


def _is_flag(item: Any) -> bool:
    """Whether an item is a mask without axes."""
    return isinstance(item, (bool, np.bool_)) or (getattr(item, "dtype", None) == "bool" and item.ndim == 0)


def _advanced(x: Variable, items: Sequence[Any]) -> TensorVariable:
    spec, indices = _spec_of([i for i in items if i is not None])
    part = AdvancedSubtensor(spec)(x, *indices)
    if None not in items:
        return part
    # New axes part neighbours, as slices do, so the joint axes may stand elsewhere than without them.
    pointed = [k for k, i in enumerate(items) if i is not None and not isinstance(i, slice)]
    rank, begin = max(items[k].ndim for k in pointed), joint_position(spec)
    joint, others = list(range(begin, begin + rank)), [*range(begin), *range(begin + rank, part.ndim)]
    own = iter(others)
    order: list[int | str] = ["x" if i is None else next(own) for i in items if i is None or isinstance(i, slice)]
    place = pointed[0] if pointed[-1] - pointed[0] == len(pointed) - 1 else 0
    return DimShuffle((*order[:place], *joint, *order[place:], *own))(part)


def _with_new_axes(x: Variable, items: Sequence[Any]) -> TensorVariable:
    """Return `x`, indexed by the slices among `items`, with new axes in the positions of None."""
    own = iter(range(x.ndim))
    order: list[int | str] = ["x" if i is None else next(own) for i in items if i is None or isinstance(i, slice)]
    return DimShuffle((*order, *own))(x)


def _expanded(x: Variable, key: tuple[Any, ...]) -> tuple[Variable, list[TensorVariable]]:
    """Return `x` with the lengths of constant masks, and one item per axis (None for new axes).

    `...` is written out, masks and lists are arrays of integers.
    """
    items: list[Any] = []
    for item in key:
        found = _converted(item)
        items += [found] if not _is_mask(found) else [found, *[_OF_THE_MASK] * (found.ndim - 1)]
    dots = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can hold only one ...")
    missing = x.ndim - sum(i is not None and i is not Ellipsis for i in items)
    if missing < 0:
        raise IndexError(f"too many indices: {x.ndim - missing} for the {counted(x.ndim, 'axis')} of {describe(x)}")
    for k in dots:
        items[k : k + 1] = [slice(None)] * missing
    axis = 0
    for k, item in enumerate(items):
        if _is_mask(item):
            x = _of_mask_lengths(x, axis, item)
            items[k : k + item.ndim] = _positions(x, axis, item)
        axis += item is not None
    return x, items


def _is_mask(item: Any) -> bool:
    return isinstance(item, (Variable, np.ndarray)) and item.dtype == "bool"


def _of_mask_lengths(x: Variable, axis: int, mask: Any) -> Variable:
    """Return `x` with a check that the axes, from `axis` on, that a constant mask selects from have its lengths.

    NumPy accepts a mask of length 0 along any axis.  Raises IndexError for a length that is known to be another one.
    """
    shape = mask.shape if isinstance(mask, np.ndarray) else mask.type.shape
    for k, (given, expected) in enumerate(zip(shape, x.type.shape[axis:], strict=False)):
        if given and expected is not None and given != expected:
            raise IndexError(f"the mask has length {given} on axis {k}, axis {axis + k} of {describe(x)} {expected}")
    if not isinstance(mask, np.ndarray) or None not in x.type.shape[axis : axis + mask.ndim]:
        return x
    lengths = [*lengths_of(x)]
    lengths[axis : axis + mask.ndim] = [
        constant(n, "int64") if n else own for n, own in zip(mask.shape, lengths[axis:], strict=False)
    ]
    return MaskedShape()(x, *lengths)


def _positions(x: Variable, axis: int, mask: Any) -> Sequence[TensorVariable]:
    """Return where `mask` is true, along the axes of `x` from `axis` on: int64 vectors, one per axis."""
    if isinstance(mask, np.ndarray):
        return [constant(positions, "int64") for positions in mask.nonzero()]
    found = classes.Nonzero()(mask, *lengths_of(x)[axis : axis + mask.ndim])
    return found if isinstance(found, tuple) else (found,)


def _converted(item: Any) -> Any:
    """Return the value of `item`: itself, a variable, or a mask, which is an array if it is constant."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return item
    item = as_variable(item)
    if isinstance(item, (list, tuple)) and any(map(is_symbolic, item)):
        item = stack(item)
    if isinstance(item, Variable) and not isinstance(item, Constant):
        return _integers(item)
    data = item.data if isinstance(item, Constant) else np.asarray(item)
    if data.dtype == bool and data.ndim:
        return data
    if data.size == 0 and not isinstance(item, (np.ndarray, Constant)):  # [] is an array of floats to NumPy
        data = data.astype(np.int64)
    if data.dtype.kind not in "iu":
        raise TypeError(f"{_ACCEPTED}; got {item!r}")
    return constant(data, "int64")


def _integers(index: Variable) -> Variable:
    """`index` as int64; a mask as it is."""
    if index.type.kind == "b" and index.ndim:
        return index
    if index.type.kind not in "iu":
        raise TypeError(f"{_ACCEPTED}; got {describe(index)}")
    return with_dtype(index, "int64")


def _spec_of(items: Sequence[Any]) -> tuple[tuple[str, ...], list[Variable]]:
    """Return the spec and the index inputs of items without None; whole slices at the end are left out."""
    spec: list[str] = []
    inputs: list[Variable] = []
    for item in items:
        if isinstance(item, slice):
            bounds = [item.start, item.stop, None if isinstance(item.step, int) and item.step == 1 else item.step]
            spec.append("s" + "".join("0" if b is None else "1" for b in bounds))
            inputs += [as_length(b, "the bound of a slice") for b in bounds if b is not None]
        else:
            spec.append("a" if item.ndim else "i")
            inputs.append(item)
    while spec and spec[-1] == "s000":
        spec.pop()
    return tuple(spec), inputs


# --- writing


def set_subtensor(part: Variable, value: TensorLike) -> TensorVariable:
    """For `part` an expression `x[...]`, perhaps transposed: `x` with `value` there, which broadcasts to the part.

    Raises TypeError if `part` is no indexing expression or `value` cannot become the dtype of `x` without changing
    its kind.  An element indexed several times keeps the last value.
    """
    return _written("set_subtensor", part, value, True)


def inc_subtensor(part: Variable, value: TensorLike) -> TensorVariable:
    """For `part` an expression `x[...]`: `x` with `value` added there.

    An element indexed several times gets each addition.  Errors are those of `set_subtensor`.
    """
    return _written("inc_subtensor", part, value, False)


def combine_subtensor(part: Variable, value: TensorLike, scalar: Elementwise) -> TensorVariable:
    """For `part` an expression `x[...]`: `x` whose elements there are combined with `value` by `scalar`.

    An element indexed several times is combined with each value.  Errors are those of `set_subtensor`.
    """
    what = f"x.at[...].{METHODS[scalar]}"
    place = _place_of(what, part)
    y = _as_source(what, value, place.x)
    if place.may_repeat:
        return AdvancedCombine(place.op.spec, scalar)(place.x, place.laid_out(y), *place.indices)
    return set_subtensor(part, cast(scalar(part, y), part.dtype))


def _written(what: str, part: Any, value: Any, put: bool) -> TensorVariable:
    place = _place_of(what, part)
    y = place.laid_out(_as_source(what, value, place.x))
    if isinstance(place.op, WholeIf):
        return as_tensor(written(place.x, place.indices[0], y, put))
    write = IncSubtensor if isinstance(place.op, Subtensor) else AdvancedIncSubtensor
    return write(place.op.spec, set=put)(place.x, y, *place.indices)


@record
class _Place:
    """An indexing expression `x[...]`, perhaps transposed by `order`, taken apart."""

    node: Apply
    part: Variable
    order: tuple[int | str, ...] | None

    @property
    def op(self) -> Any:
        """The indexing op."""
        return self.node.op

    @property
    def x(self) -> Variable:
        """The indexed tensor."""
        return self.node.inputs[0]

    @property
    def indices(self) -> Sequence[Variable]:
        """The inputs of the index."""
        return self.node.inputs[1:]

    @property
    def may_repeat(self) -> bool:
        """Whether an element may be named twice."""
        advanced = isinstance(self.op, AdvancedSubtensor)
        return advanced and not names_each_once(self.x, pointers_of(self.op.spec, self.indices))

    def laid_out(self, y: Variable) -> Variable:
        """Return `y`, broadcast like the part, with its axes in the order of the index."""
        if self.order is None or y.ndim > self.part.ndim:
            return y
        return _put_back(y, self.order, self.node.out.ndim)


def _place_of(what: str, part: Any) -> _Place:
    """Raises TypeError if `part` is no indexing expression."""
    node = part.owner if isinstance(part, Variable) else None
    order: tuple[int | str, ...] | None = None
    if node is not None and isinstance(node.op, DimShuffle):
        order, node = node.op.order, node.inputs[0].owner
    if node is None or not isinstance(node.op, (Subtensor, AdvancedSubtensor, WholeIf)):
        got = describe(part) if isinstance(part, Variable) else repr(part)
        raise TypeError(f"{what} takes an indexing expression, as in {what}(x[1:], value), got {got}")
    return _Place(node, part, order)


def _put_back(y: Variable, order: tuple[int | str, ...], ndim: int) -> TensorVariable:
    """Return `y`, broadcast like the result of `dimshuffle(order)` on a part of rank `ndim`, laid out as that part."""
    missing = len(order) - y.ndim
    places = [order.index(axis) - missing if axis in order else -1 for axis in range(ndim)]
    return DimShuffle(tuple(k if k >= 0 else "x" for k in places))(y)


def _as_source(what: str, value: Any, x: Variable) -> Variable:
    """Return `value` in the dtype of `x`."""
    if is_symbolic(value) and (number := number_of(value)) and x.type.kind in _HOLD[number.kind]:
        return as_tensor(in_dtype(value, x.dtype, False))
    weak = weak_type(value)
    if weak is not None and x.type.kind in _HOLD[weak]:
        return constant(value, x.dtype)
    given = as_tensor(value)
    if weak is not None or not np.can_cast(given.type.numpy, x.type.numpy, "same_kind"):
        raise TypeError(
            f"{what}: {describe(given)} cannot be put into {describe(x)}; cast it, as in T.cast(value, {x.dtype!r})"
        )
    return with_dtype(given, x.dtype)


_HOLD = {int: "iufc", float: "fc", complex: "c"}
"""The kinds of dtype that can hold a Python number."""


# --- NumPy's functions


def take(x: TensorLike, indices: TensorLike, axis: int | None = None, mode: str | None = "raise") -> TensorVariable:
    """The elements of `x` at `indices` along `axis` (of the flattened `x` for None); false and true are 0 and 1.

    `mode`, where an index is out of range: "raise" or None raises IndexError when the function runs, "clip" takes the
    first or the last element (and the first for every negative index), "wrap" counts on from the other end.
    """
    x = as_tensor(x)
    if axis is None:
        x, axis = x if x.ndim == 1 else flatten(x), 0
    axis = normalize_axis(axis, x.ndim, "take")
    if mode not in (None, "raise", "clip", "wrap"):
        raise ValueError(f'take: mode must be "raise", "clip" or "wrap", got {mode!r}')
    positions = as_tensor(indices)
    if positions.type.kind not in "biu" and not _is_empty_list(indices):
        raise TypeError(f"take: indices must be integers, got {describe(positions)}")
    positions = with_dtype(positions, "int64")
    if mode not in (None, "raise"):
        n = lengths_of(x)[axis]
        positions = T.clip(positions, 0, T.sub(n, 1)) if mode == "clip" else T.mod(positions, n)
    return getitem(x, (slice(None),) * axis + (positions,))


def _is_empty_list(indices: Any) -> bool:
    """Whether the indices are a list without elements, which has no dtype."""
    return isinstance(indices, (list, tuple)) and not len(indices)


def take_along_axis(x: TensorLike, indices: TensorLike, axis: int = -1) -> TensorVariable:
    """NumPy's `take_along_axis`: `x[i, ..., indices[i, ..., k, ...], ...]` with the index in the place of `axis`.

    `indices` is an integer tensor of the rank of `x` that broadcasts against it on the other axes.
    """
    x, indices = as_tensor(x), as_tensor(indices)
    if x.ndim != indices.ndim:
        raise ValueError(f"take_along_axis: {describe(x)} and {describe(indices)} are not of the same rank")
    axis = normalize_axis(axis, x.ndim, "take_along_axis")
    own = [
        DimShuffle(tuple(0 if k == place else "x" for k in range(x.ndim)))(arange(length))
        for place, length in enumerate(lengths_of(x))
    ]
    return getitem(x, tuple(indices if k == axis else positions for k, positions in enumerate(own)))


def scatter_add(x: TensorLike, indices: TensorLike, values: TensorLike, axis: int = 0) -> TensorVariable:
    """`x` with `values` added at `indices` along `axis`; an index given several times gets each addition."""
    return inc_subtensor(T.take(as_tensor(x), indices, axis), values)
