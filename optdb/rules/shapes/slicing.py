"""Slices as values: simplified, composed, applied.

An index is an int64 scalar, an int64 array or a slice of int64 scalars, as in `x[...]`.  Signs and orders are proven
with the Dims that scalars stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....graph import Dim, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, fill, minimum, mul
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.creation import Arange
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.lengths import tensor_to_dim
from ....ops.shapes.slices import at_most, not_negative
from ..facts import Value, constant_int, producer

WHOLE = slice(None)


def number(value: int) -> Variable:
    """Return a bound of a slice."""
    return constant(value, "int64")


def is_whole(index: Any) -> bool:
    return isinstance(index, slice) and index.start is index.stop is index.step is None


def read(x: Variable, within: Sequence[Any]) -> Value:
    """Return `x[within]`; x itself if every entry is whole."""
    touched = list(within)
    while touched and is_whole(touched[-1]):
        touched.pop()
    if not touched:
        return x
    spec, inputs = spec_of(touched)
    op = AdvancedSubtensor(spec) if "a" in spec else Subtensor(spec)
    return op(x, *inputs)


def spec_of(within: Sequence[Any]) -> tuple[tuple[str, ...], list[Variable]]:
    """Return the spec of an index, and its inputs."""
    spec, inputs = [], []
    for index in within:
        if not isinstance(index, slice):
            spec.append("a" if index.ndim else "i")
            inputs.append(index)
            continue
        bounds = (index.start, index.stop, index.step)
        spec.append("s" + "".join("0" if b is None else "1" for b in bounds))
        inputs.extend(b for b in bounds if b is not None)
    return tuple(spec), inputs


def simplified(index: Any, length: Dim) -> Any:
    """Return the index of an axis of `length` without bounds that cut nothing."""
    if not isinstance(index, slice):
        return index
    start, stop, step = index.start, index.stop, index.step
    if step is not None and constant_int(step) == 1:
        step = None
    if step is None or (constant_int(step) or 0) > 0:
        start = None if start is not None and constant_int(start) == 0 else start
        stop = None if stop is not None and at_most(length, tensor_to_dim(stop)) else stop
    bounds = (start, stop, step)
    return index if bounds == (index.start, index.stop, index.step) else slice(*bounds)


def composed(inner: slice, outer: Any) -> Any:
    """Return the index equal to `inner` and then `outer`; None if signs are not known well enough."""
    if is_whole(inner):
        return outer
    if is_whole(outer):
        return inner
    if _is_reversal(inner) and _is_reversal(outer):
        return WHOLE
    start = constant(0, "int64") if inner.start is None else inner.start
    step = 1 if inner.step is None else constant_int(inner.step)
    if step is None or step < 1 or not _not_negative(start):
        return None
    if isinstance(outer, slice):
        return _slice_of_slice(start, inner.stop, step, outer)
    if outer.ndim or not _not_negative(outer):
        return None
    position = _along(start, step, outer)
    certain = inner.stop is None or _is_before(position, inner.stop)
    return position if certain else None


_LARGEST_STEP, _BEYOND = 1 << 31, (1 << 63) - 1
"""Largest step of two slices that become one; a position beyond the end of any array."""


def _slice_of_slice(start: Variable, stop: Variable | None, step: int, outer: slice) -> slice | None:
    by = 1 if outer.step is None else constant_int(outer.step)
    bounds = [b for b in (outer.start, outer.stop) if b is not None]
    if by is None or by < 1 or step * by > _LARGEST_STEP or not all(map(_not_negative, bounds)):
        return None
    first = start if outer.start is None else _along(start, step, outer.start)
    last = stop
    if outer.stop is not None:
        last = _along(start, step, outer.stop)
        if stop is not None and not _not_negative(stop):
            return None
        last = last if stop is None else _least(stop, last)
    joint_step = None if step * by == 1 else constant(step * by, "int64")
    return slice(None if constant_int(first) == 0 else first, last, joint_step)


def _is_reversal(index: Any) -> bool:
    if not isinstance(index, slice) or index.step is None:
        return False
    return index.start is index.stop is None and constant_int(index.step) == -1


def _not_negative(scalar: Variable) -> bool:
    return not_negative(tensor_to_dim(scalar))


def _is_before(position: Variable, stop: Variable) -> bool:
    """Whether position < stop for certain, and stop does not count from the end."""
    limit = tensor_to_dim(stop)
    return not_negative(limit) and at_most(tensor_to_dim(add(position, 1)), limit)


# --- arithmetic on positions; constants are worked out at once


def _along(start: Variable, step: int, count: Variable) -> Value:
    """Return start + step * count."""
    m, n = constant_int(start), constant_int(count)
    if m is not None and n is not None:
        return constant(min(m + step * n, _BEYOND), "int64")
    far = count if step == 1 else mul(count, step)
    return far if m == 0 else add(start, far)


def _least(a: Variable, b: Variable) -> Value:
    m, n = constant_int(a), constant_int(b)
    return constant(min(m, n), "int64") if m is not None and n is not None else minimum(a, b)


def counts_through(index: Variable, length: Dim) -> Variable | None:
    """Return y for an index `fill(y, arange(length))`, which names each position of an axis in turn; else None."""
    made = producer(index, fill)
    counted = producer(made.inputs[1], Arange) if made is not None else None
    if made is None or counted is None:
        return None
    start, stop, step = counted.inputs
    known = constant_int(start) == 0 and constant_int(step) == 1 and tensor_to_dim(stop) == length
    return made.inputs[0] if known else None
