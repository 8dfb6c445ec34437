"""Ops on axes: they change how elements are addressed, never which elements there are.

`DimShuffle`, `BroadcastTo` and (where the memory allows) `Reshape` give views, as in NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Constant, Dim, Kind, TensorType, Variable, dims_of
from ...record import record
from ...record.spelling import counted
from ..control.batching import Examples, Flags, lengthen, require_shared
from ..core.checks import describe, normalize_axes, normalize_axis, require_count, require_index_scalar, unpacked
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable, as_tensor, constant
from ..core.traced import axes_of_one
from ..core.typing import ShapeLike, TensorLike
from ..elementwise import costs
from ..writing import code, latex
from .lengths import (
    MakeVector,
    Shape,
    ShapeI,
    as_lengths,
    broadcast_shape,
    dim_to_tensor,
    known_length,
    lengths_of,
    shape,
    shows_its_elements,
    tensor_to_dim,
)  # fmt: skip

__all__ = [
    "BroadcastTo", "DimShuffle", "MakeVector", "Reshape", "Shape", "ShapeI", "broadcast_to", "dim_to_tensor",
    "dimshuffle", "expand_dims", "flatten", "moveaxis", "ravel", "reshape", "shape", "squeeze", "swapaxes",
    "tensor_to_dim", "transpose",
]  # fmt: skip


@record(repr=False)
class DimShuffle(TensorOp):
    """Axes permuted, dropped and added: axis k of the result is axis `order[k]` of the input, or a new one for "x".

    Axes that `order` leaves out are dropped; their length must be 1.
    """

    order: tuple[int | str, ...]
    name = "dimshuffle"
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def dropped(self, ndim: int) -> tuple[int, ...]:
        """The axes of an input of rank `ndim` that the result lacks."""
        return tuple(axis for axis in range(ndim) if axis not in self.order)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        kept = [o for o in self.order if o != "x"]
        if len(set(kept)) != len(kept) or not all(isinstance(o, int) and 0 <= o < x.ndim for o in kept):
            raise ValueError(f'dimshuffle: {self.order} is no order for {describe(x)}: each axis at most once, or "x"')
        for axis in self.dropped(x.ndim):
            if x.type.shape[axis] not in (None, 1):
                raise ValueError(f"dimshuffle: axis {axis} of {describe(x)} cannot be dropped: its length is not 1")
        return (x.type.with_shape(tuple(x.type.shape[o] if isinstance(o, int) else 1 for o in self.order)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        dropped = self.dropped(x.ndim)
        for axis in dropped:
            if x.shape[axis] != 1:
                raise ValueError(f"dimshuffle: axis {axis} of shape {x.shape} cannot be dropped: its length is not 1")
        kept = tuple(o for o in self.order if isinstance(o, int))
        added = tuple(None if o == "x" else slice(None) for o in self.order)
        return (x.transpose(kept + dropped).reshape([x.shape[o] for o in kept])[(*added, ...)],)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (tuple(inputs[0][o] if isinstance(o, int) else 1 for o in self.order),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        place = {o: k for k, o in enumerate(self.order)}
        back = tuple(place.get(axis, "x") for axis in range(node.inputs[0].ndim))
        return [None if g is None else DimShuffle(back)(g)]

    def views(self) -> dict[int, int]:
        return {0: 0}

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        return DimShuffle((0, *(o + 1 if isinstance(o, int) else o for o in self.order)))(inputs[0])

    def formula(self, output: Variable, operands: Sequence[latex.Written], /) -> latex.Written:
        """A transpose; new axes as an index below the operand."""
        kept = [axis for axis in self.order if axis != "x"]
        assert output.owner is not None
        ordered = sorted(kept)
        text = operands[0]
        if kept != ordered:
            if kept != ordered[::-1] or len(kept) != 2:
                order = ", ".join(str(ordered.index(axis)) for axis in kept)
                text = rf"\operatorname{{transpose}}_{{{order}}}\left({text[0]}\right)", latex.ATOM
            else:
                text = f"{latex.bound(text, latex.ATOM)}^{{\\top}}", latex.POWER
        if "x" not in self.order or not kept:
            return text
        if self.order == ("x", 0):
            return f"{latex.bound(text, latex.ATOM)}^{{\\top}}", latex.POWER
        return latex.indexed(text, [r"\mathrm{None}" if axis == "x" else ":" for axis in self.order])

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`x.T`, `x.transpose(1, 0, 2)`, `x[:, None]`; axes of length 1 are dropped by `squeeze`."""
        assert output.owner is not None
        (x,) = output.owner.inputs
        kept = [axis for axis in self.order if axis != "x"]
        dropped = tuple(axis for axis in range(x.ndim) if axis not in kept)
        text, level = speaker.codes[x]
        if dropped:
            text, level = speaker.method(x, "squeeze", axis=dropped if len(dropped) > 1 else dropped[0])
        order = [sorted(kept).index(axis) for axis in kept]
        if order != sorted(order):
            text = code.bound((text, level), code.ATOM)
            whole = order == list(reversed(range(len(order))))
            text, level = f"{text}.T" if whole else f"{text}.transpose({', '.join(map(str, order))})", code.ATOM
        if "x" in self.order:
            last = max(k for k, axis in enumerate(self.order) if axis == "x")
            entries = ["None" if axis == "x" else ":" for axis in self.order[: last + 1]]
            plain = level >= code.ATOM and not isinstance(x, Constant)
            text, level = f"{text if plain or dropped else speaker.atom(x)}{code.indexed(entries)}", code.ATOM
        return text, level


@record(repr=False)
class Reshape(TensorOp):
    """`reshape(x, *lengths)`: the elements of `x` in C order under other lengths: int64 scalars, none of them -1.

    Raises ValueError where the number of elements is not the same.
    """

    name = "reshape"
    fallible = True
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if not inputs:
            raise TypeError("reshape takes a tensor and one length an axis")
        x, lengths = inputs[0], inputs[1:]
        for n in lengths:
            require_index_scalar(self.name, n, "a length")
        wanted = [known_length(n) for n in lengths]
        if any(n is not None and n < 0 for n in wanted):
            raise ValueError(f"reshape: lengths {wanted} are not all positive or 0")
        if None in x.type.shape:
            return (x.type.with_shape(tuple(wanted)),)
        return (x.type.with_shape(_completed(x, wanted)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        wanted = tuple(int(n) for n in values[1:])
        if any(n < 0 for n in wanted):
            raise ValueError(f"cannot reshape an array of shape {values[0].shape} into shape {wanted}")
        return (values[0].reshape(wanted),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (tuple(tensor_to_dim(n) for n in node.inputs[1:]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        x, *lengths = node.inputs
        return [None if g is None else Reshape()(g, *lengths_of(x)), *[None for _ in lengths]]

    def views(self) -> dict[int, int]:
        return {0: 0}

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[1:], "the lengths of its result")
        return Reshape()(inputs[0], examples.length, *inputs[1:])

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`x.reshape(n, 3)`."""
        assert output.owner is not None
        x, *lengths = output.owner.inputs
        return speaker.method(x, "reshape", *(speaker.texts(lengths) or ["()"]))


def _completed(x: Variable, wanted: list[int | None]) -> tuple[int | None, ...]:
    """Return `wanted` with its single unknown length computed from the known number of elements of `x`."""
    total = math.prod(n or 0 for n in x.type.shape)
    known = math.prod(n for n in wanted if n is not None)
    unknown = wanted.count(None)
    impossible = total != known if not unknown else (total % known if known else total)
    if impossible:
        raise ValueError(f"reshape: {describe(x)} has {total} elements, which do not fit shape {tuple(wanted)}")
    if unknown != 1 or not known:
        return tuple(wanted)
    return tuple(total // known if n is None else n for n in wanted)


@record(repr=False)
class BroadcastTo(TensorOp):
    """`broadcast_to(x, *lengths)`: `x` broadcast to the lengths given as int64 scalars; a read-only view."""

    name = "broadcast_to"
    fallible = True
    picture: ClassVar[Kind] = Kind.SHAPE
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = lengthen

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return (TensorType(inputs[0].dtype, broadcast_shape(self.name, inputs)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        return (np.broadcast_to(values[0], tuple(int(n) for n in values[1:])),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (tuple(tensor_to_dim(n) for n in node.inputs[1:]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,) = cotangents
        x, *lengths = node.inputs
        return [None if g is None else T.unbroadcast(g, x), *[None for _ in lengths]]

    def views(self) -> dict[int, int]:
        return {0: 0}

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`broadcast_to(x, (n, 3))`."""
        assert output.owner is not None
        x, *lengths = output.owner.inputs
        return speaker.call("broadcast_to", speaker.text(x), speaker.tuple(lengths))


# --- NumPy's functions


def dimshuffle(x: TensorLike, *order: int | str) -> TensorVariable:
    """`x` with axis k of the result being axis `order[k]` of `x`, or a new axis of length 1 where that is "x".

    The order is given as arguments or as one sequence.  Axes left out are dropped; ValueError if their length is not 1.
    """
    x, order = as_tensor(x), tuple(map(unpacked, order))
    if len(order) == 1 and isinstance(order[0], (tuple, list)):
        order = tuple(order[0])
    return DimShuffle(tuple(o if o == "x" else normalize_axis(o, x.ndim, "dimshuffle") for o in order))(x)


def transpose(x: TensorLike, axes: Sequence[int] | None = None) -> TensorVariable:
    """`x` with its axes in reverse order, or in the order `axes`."""
    x = as_tensor(x)
    order = tuple(reversed(range(x.ndim))) if axes is None else normalize_axes(axes, x.ndim, "transpose")
    if len(order) != x.ndim:
        raise ValueError(f"transpose: {order} does not name every axis of {describe(x)} once")
    return DimShuffle(order)(x)


def expand_dims(x: TensorLike, axis: int | Sequence[int]) -> TensorVariable:
    """`x` with new axes of length 1 where the result's axes `axis` are."""
    x = as_tensor(x)
    axis = unpacked(axis)
    count = len(axis) if isinstance(axis, Sequence) else 1
    new = set(normalize_axes(axis, x.ndim + count, "expand_dims"))
    old = iter(range(x.ndim))
    return DimShuffle(tuple("x" if k in new else next(old) for k in range(x.ndim + count)))(x)


def squeeze(x: TensorLike, axis: int | Sequence[int] | None = None) -> TensorVariable:
    """`x` without the axes `axis`, whose length must be 1; by default without all of length 1.

    Raises ValueError without `axis` if a length is not known: the rank of the result would not be.  In a function that
    `ag.jit` traces the lengths are those of the call.
    """
    x = as_tensor(x)
    if axis is None:
        ones = axes_of_one(x)
        if ones is None:
            raise ValueError(
                f"squeeze: which axes of {describe(x)} have length 1 is not known when the graph is built, so the rank "
                "of the result is not; give axis="
            )
        gone = set(ones)
    else:
        gone = set(normalize_axes(axis, x.ndim, "squeeze"))
        for k in gone:
            if x.type.shape[k] not in (None, 1):
                raise ValueError(f"squeeze: axis {k} of {describe(x)} has length {x.type.shape[k]}, expected 1")
    return DimShuffle(tuple(k for k in range(x.ndim) if k not in gone))(x)


def swapaxes(x: TensorLike, axis1: int, axis2: int) -> TensorVariable:
    """`x` with two axes interchanged."""
    x = as_tensor(x)
    a, b = normalize_axis(axis1, x.ndim, "swapaxes"), normalize_axis(axis2, x.ndim, "swapaxes")
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return DimShuffle(tuple(order))(x)


def moveaxis(x: TensorLike, source: int | Sequence[int], destination: int | Sequence[int]) -> TensorVariable:
    """`x` with the axes `source` moved to the places `destination`; the others keep their order."""
    x = as_tensor(x)
    moved, places = normalize_axes(source, x.ndim, "moveaxis"), normalize_axes(destination, x.ndim, "moveaxis")
    if len(moved) != len(places):
        raise ValueError(f"moveaxis: {counted(len(moved), 'axis')} cannot go to {counted(len(places), 'place')}")
    order = [k for k in range(x.ndim) if k not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return DimShuffle(tuple(order))(x)


def broadcast_to(x: TensorLike, shape: ShapeLike) -> TensorVariable:
    """`x` broadcast to `shape`: integers, integer scalars, or a vector of them whose length is known."""
    return BroadcastTo()(as_tensor(x), *as_lengths(shape, "broadcast_to"))


def reshape(x: TensorLike, *shape: ShapeLike, ndim: int | None = None, order: str | None = "C") -> TensorVariable:
    """The elements of `x`, in C order, under other lengths; one of them may be -1 and is then worked out.

    `order`: "F" reads and writes elements with the first axis innermost, as NumPy does; others are "C".

    `shape`: integers or integer scalars, as one sequence or as arguments, or an integer vector.  `ndim`, Theano's
    second argument, is the number of lengths: needed where that of a vector is not known when the graph is built.
    Raises ValueError if the elements do not fit, when the graph is built where lengths are known, else when it is run.
    """
    x = as_tensor(x)
    given: Any = shape[0] if len(shape) == 1 else shape
    if ndim is None and len(shape) == 2 and _is_several(shape[0]):
        given, ndim = shape  # type: ignore[assignment]  # Theano's order
    wanted = as_lengths(given, "reshape", ndim)
    is_computed = isinstance(given, Variable) and given.ndim > 0 and not shows_its_elements(given)
    if is_computed:
        wanted = tuple(_lengths_at_run_time(x, wanted))
    if _is_fortrans(order, "reshape"):
        return T.transpose(reshape(T.transpose(x), wanted[::-1]))
    if is_computed:
        return Reshape()(x, *wanted)
    unknown = [k for k, n in enumerate(wanted) if isinstance(n, Constant) and n.data == -1]
    if len(unknown) > 1:
        raise ValueError(f"reshape: only one length can be -1, got {len(unknown)} of them")
    for k in unknown:
        others = wanted[:k] + wanted[k + 1 :]
        wanted = (*wanted[:k], as_tensor(_missing_length(x, others)), *wanted[k + 1 :])
    return Reshape()(x, *wanted)


def _is_fortrans(order: str | None, what: str) -> bool:
    """Whether elements are in the order "F".  Raises ValueError for an order that NumPy does not have."""
    if order not in (None, "C", "F", "A", "K"):
        raise ValueError(f'{what}: order must be "C", "F", "A" or "K", got {order!r}')
    return order == "F"


def _is_several(shape: Any) -> bool:
    return shape.ndim == 1 if isinstance(shape, Variable) else isinstance(shape, (tuple, list, np.ndarray))


def _lengths_at_run_time(x: Variable, wanted: Sequence[Any]) -> list[TensorVariable]:
    """Return the elements of a computed vector as lengths, a -1 among them computed."""
    others = T.neg(T.mul(*wanted)) if len(wanted) > 1 else constant(1, "int64")
    missing = T.floor_div(_multiplied(1, lengths_of(x)), others)
    return [T.switch(T.eq(n, -1), missing, n) for n in wanted]


def _missing_length(x: Variable, others: Sequence[Variable]) -> Variable:
    """Return the number of elements of `x` divided by the other lengths; equal lengths cancel."""
    divisor, rest = 1, []
    own: list[tuple[Dim, int]] = [(dim, axis) for axis, dim in enumerate(dims_of(x))]
    for n in others:
        dim = tensor_to_dim(n)
        match = next((pair for pair in own if pair[0] is dim and not isinstance(dim, int)), None)
        if match is not None:
            own.remove(match)
        elif isinstance(dim, int):
            divisor *= dim
        else:
            rest.append(n)
    if divisor == 0:
        raise ValueError(f"reshape: -1 can be any length beside a length of 0, for {describe(x)}")
    numbers = math.prod(dim for dim, _ in own if isinstance(dim, int))
    factors = [ShapeI(axis)(x) for dim, axis in own if not isinstance(dim, int)]
    if numbers % divisor == 0:
        numbers, divisor = numbers // divisor, 1
    return _quotient(_multiplied(numbers, factors), _multiplied(divisor, rest))


def _multiplied(number: int, factors: Sequence[Variable]) -> Any:
    """Return the product of a number and lengths."""
    result: Any = constant(number, "int64") if number != 1 or not factors else None
    for factor in factors:
        result = factor if result is None else T.mul(result, factor)
    assert result is not None
    return result


def _quotient(a: Variable, b: Variable) -> Variable:
    if not isinstance(b, Constant):
        return T.floor_div(a, b)
    if isinstance(a, Constant):
        return constant(int(a.data) // int(b.data), "int64")
    return a if b.data == 1 else T.floor_div(a, b)


def ravel(x: TensorLike, order: str | None = "C") -> TensorVariable:
    """The elements of `x` as a vector, in C order, or with the first axis innermost for the order "F"."""
    return reshape(x, (-1,), order=order)


def flatten(x: TensorLike, ndim: int = 1) -> TensorVariable:
    """`x` with its last axes made one, so that `ndim` axes are left (Theano's `flatten`; NumPy's for ndim=1)."""
    x = as_tensor(x)
    if not isinstance(ndim, (int, np.integer)) or isinstance(ndim, bool):
        raise TypeError(f"flatten: ndim must be the number of axes that are left, an int, got {ndim!r}")
    if ndim < 1 or ndim > max(x.ndim, 1):
        raise ValueError(f"flatten: {describe(x)} cannot be given {ndim} axes")
    return reshape(x, (-1,)) if ndim == 1 else as_tensor(axes_made_one(x, range(int(ndim) - 1, x.ndim)))


def axes_made_one(x: Variable, axes: Sequence[int]) -> Variable:
    """`x` with the axes `axes`, counted from the front, made one in their order, the last; of length 1 for no axes."""
    kept = [k for k in range(x.ndim) if k not in axes]
    lines = DimShuffle((*kept, *axes))(x) if [*kept, *axes] != list(range(x.ndim)) else x
    if len(axes) == 1:
        return lines
    own = lengths_of(x)
    return Reshape()(lines, *(own[k] for k in kept), _length_product([own[k] for k in axes]))


def _length_product(lengths: Sequence[Variable]) -> Any:
    """The product of int64 scalars: a constant if all of them are."""
    known = math.prod(int(n.data) for n in lengths if isinstance(n, Constant))
    return _multiplied(known, [n for n in lengths if not isinstance(n, Constant)])
