"""Distinct positions: whether an index names each element at most once, and if not, which written values remain.

NumPy's rule for `x[i] = y` is that the last value remains.  "Last" is in C order of the joint axes of the index.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import ops as T  # the namespace; read when a function is called
from ...graph import Constant, Dim, Variable, dims, dims_of
from ...graph.dims import broadcast_dims
from ..core.tensor import constant
from ..elementwise.casting import Cast
from .creation import Alloc, Arange
from .indexing import Subtensor
from .lengths import lengths_of, tensor_to_dim
from .shape import DimShuffle
from .slices import not_negative

Pointer = tuple[int, Variable]
"""An axis of the indexed tensor, and the integer or the array of integers that indexes it."""

_VIEWS = 16
"""The number of views between an index and its source that are followed."""


def names_each_once(x: Variable, pointers: Sequence[Pointer]) -> bool:
    """Return whether `pointers` certainly name no part of `x` twice: equal positions imply equal joint coordinates.

    An array implies its coordinates along some axes if its values differ along them wherever its other coordinates
    are equal.
    """
    joint = broadcast_dims([dims_of(index) for _, index in pointers])
    implied = {axis for axis, length in enumerate(joint) if length == 1}
    while True:
        found = {axis for p in pointers for axis in _implied(p, x, joint, implied, pointers)}
        if not found:
            return len(implied) == len(joint)
        implied |= found


def _implied(
    pointer: Pointer, x: Variable, joint: Sequence[Dim], known: set[int], pointers: Sequence[Pointer]
) -> set[int]:
    """Return further joint axes whose coordinates follow from those of `known` and the positions of `pointer`."""
    axis, index = pointer
    first = len(joint) - index.ndim
    lengths = dims_of(index)
    asked = {first + k for k, n in enumerate(lengths) if n != 1} - known
    if not all(lengths[k - first] == joint[k] for k in asked):  # it may broadcast
        return set()
    if isinstance(index, Constant):
        return asked if _differ(index.data, [k - first for k in sorted(asked)], x.type.shape[axis]) else set()
    return asked if asked <= {first + k for k in _distinct_axes(index, [i for _, i in pointers])} else set()


def _differ(positions: np.ndarray, axes: Sequence[int], length: int | None) -> bool:
    """Return whether positions along an axis of `length` differ along `axes` wherever the other axes are equal."""
    if length is not None:
        positions = np.where(positions < 0, positions + length, positions)
    elif positions.min(initial=0) < 0 <= positions.max(initial=-1):
        return False  # one counts from the front, one from the end
    if not axes:
        return True
    last = np.moveaxis(positions, axes, range(-len(axes), 0))
    rows = np.sort(last.reshape(*last.shape[: -len(axes)], -1), axis=-1)
    return bool((rows[..., 1:] != rows[..., :-1]).all())


def _distinct_axes(index: Variable, pointers: Sequence[Variable]) -> set[int]:
    """Return axes of `index` along which its values, which count from the front, certainly differ."""
    source, axes = index, {k: k for k in range(index.ndim)}  # an axis of the source -> the axis of the index
    for _ in range(_VIEWS):
        node = source.owner
        if node is None:
            return set()
        op: Any = node.op
        if isinstance(op, DimShuffle):
            axes = {own: axes[k] for k, own in enumerate(op.order) if isinstance(own, int)}
        elif isinstance(op, Subtensor):
            sliced = [k for k in range(node.inputs[0].ndim) if k >= len(op.spec) or op.spec[k] != "i"]
            axes = {own: axes[k] for k, own in enumerate(sliced)}
        elif not (isinstance(op, Cast) and np.can_cast(node.inputs[0].dtype, op.dtype)):
            return {axes[k] for k in _made_distinct(source, pointers) if k in axes}
        source = node.inputs[0]
    return set()


def _made_distinct(positions: Variable, pointers: Sequence[Variable]) -> tuple[int, ...]:
    """Return the axes along which the op that makes `positions` gives values of at least 0 that differ."""
    node = positions.owner
    assert node is not None
    op: Any = node.op
    if isinstance(op, Arange):
        start, stop, step = map(tensor_to_dim, node.inputs)
        least = start if isinstance(step, int) and step > 0 else dims.add(stop, 1)
        return (0,) if isinstance(step, int) and not_negative(least) else ()
    if isinstance(op, T.ArgSort):
        return (op.axis,)
    if isinstance(op, T.Nonzero):
        return (0,) if all(any(o is i for i in pointers) for o in node.outputs) else ()
    first_occurrences = isinstance(op, T.UniqueParts) or (isinstance(op, T.Unique) and op.index)
    return (0,) if first_occurrences and positions is node.outputs[1] else ()


def remaining(x: Variable, pointers: Sequence[Pointer]) -> Variable:
    """Return which of the values that are written to `x[pointers]` remain: bool, of the joint shape of the pointers.

    The numbers 0, 1, 2, ... are written in the same way: those that can be read again are of values that remain.
    """
    lengths = lengths_of(x)
    spec = tuple("a" if index.ndim else "i" for _, index in pointers)
    indices = [index for _, index in pointers]
    table = Alloc()(constant(0, "int64"), *(lengths[axis] for axis, _ in pointers))
    shape = lengths_of(T.AdvancedSubtensor(spec)(table, *indices))
    numbers = T.reshape(T.arange(T.prod(T.stack(shape))), shape)
    written = T.AdvancedIncSubtensor(spec, set=True)(table, numbers, *indices)
    return T.eq(T.AdvancedSubtensor(spec)(written, *indices), numbers)
