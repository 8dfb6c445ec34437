"""Scatters on a device whose work items run side by side: the host sorts the indices, an item writes each element."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext.device_scatter import GROUP, scatter_name, scatter_source
from ...graph import Constant, Variable
from ...ops.shapes.creation import Arange
from .base import Device
from .call import At, Call
from .memory import OnDevice, offsets

_PLANS = 4
"""Most sets of index arrays whose order is kept."""


class Segments:
    """The kernel of a scatter, by segments: the items that write to one element, in their order.

    The order of indices that are on the host too, such as constants and shared variables, is computed once.
    """

    def __init__(self, dtype: str, adds: bool, indices: Sequence[Variable], device: Device) -> None:
        self.text: str = scatter_source(dtype, adds, device.dialect)
        pointers = [False, False, True, False, True, False, *[True] * 5]
        self._start = device.kernel(self.text, scatter_name(dtype, adds), pointers)
        self._are_constant = all(isinstance(i, Constant) for i in indices)
        ranks = [i.ndim for i in indices]
        self._counting = [k for k, i in enumerate(indices) if _counts_up(i)] if max(ranks) == 1 else []
        self._plans: list[tuple[Any, list[Any]]] = []

    def are_single(self, pointers: Sequence[Any], joint: tuple[int, ...]) -> bool:
        """Whether no two items write to one element: an index is 0, 1, 2, ..."""
        return any(pointers[k].shape == joint for k in self._counting)

    def run(
        self, given: Sequence[Any], axes: Sequence[tuple[int, int]], joint: tuple[tuple[int, ...], int],
        loops: tuple[Sequence[int], Sequence[dict[int, int]]], call: Call,
    ) -> bool:  # fmt: skip
        """Write the items; False if an index is out of range.

        `given`: the array, the values and the index arrays.  `axes`: length and stride of the indexed axes.  `joint`:
        the lengths of the joint loops, and the first one.  `loops`: the lengths of all loops, and the strides of
        `given` along them.
        """
        y, x, *pointers = given
        if call.recorder is not None and not self._are_constant:
            if all(isinstance(p, OnDevice) and p.host is not None for p in pointers):
                call.recorder.pinned += [p.buffer for p in pointers]
            else:
                call.recorder.broken = True
        tables = self._tables(pointers, axes, joint, loops, call)
        if tables is None:
            return False
        segments, columns = tables[1].shape[0], tables[3].shape[0]
        count = -(-segments * columns // GROUP) * GROUP
        call.launch(self._start, (count,), (GROUP,), (segments, columns, At(y), At(x), *tables))
        return True

    def _tables(
        self, pointers: Sequence[Any], axes: Sequence[tuple[int, int]], joint: tuple[tuple[int, ...], int],
        loops: tuple[Sequence[int], Sequence[dict[int, int]]], call: Call,
    ) -> list[Any] | None:  # fmt: skip
        extents, strides = loops
        static = (*axes, *joint, *extents, *(tuple(s.items()) for s in strides[:2]))
        on_device = [p for p in pointers if isinstance(p, OnDevice)]
        stays = self._are_constant or (len(on_device) == len(pointers) and all(p.host is not None for p in on_device))
        key = [p.buffer if isinstance(p, OnDevice) else p for p in pointers]
        for (known, then), tables in self._plans:
            if then == static and all(a is b for a, b in zip(known, key)):
                return tables
        made = _ordered([call.memory.get(p, call.traffic) for p in pointers], axes, joint, loops)
        if made is None:
            return None
        found = [call.memory.put(t, call.traffic) for t in made]
        if stays:
            self._plans = [*self._plans[1 - _PLANS :], ((key, static), found)]
        return found


def _counts_up(index: Variable) -> bool:
    """Whether an index is `arange` from a known start of at least 0, in known steps of at least 1."""
    if index.owner is None or not isinstance(index.owner.op, Arange):
        return False
    start, _, step = index.owner.inputs
    known = isinstance(start, Constant) and isinstance(step, Constant)
    return known and int(start.data) >= 0 and int(step.data) >= 1  # type: ignore[attr-defined]


def _ordered(
    indices: Sequence[np.ndarray], axes: Sequence[tuple[int, int]], joint: tuple[tuple[int, ...], int],
    loops: tuple[Sequence[int], Sequence[dict[int, int]]],
) -> list[np.ndarray] | None:  # fmt: skip
    """Return the tables of the kernel: first, at, row, yj, xj; None if an index is out of range."""
    shape, before = joint
    extents, (ys, xs, *_) = loops
    places = np.zeros(shape, np.int64)
    for index, (length, stride) in zip(indices, axes):
        index = index.astype(np.int64, copy=False)
        if np.any((index < -length) | (index >= length)):
            return None
        places += np.where(index < 0, index + length, index) * stride
    places = places.reshape(-1)
    order = np.argsort(places, kind="stable")
    places = places[order]
    first = np.flatnonzero(np.diff(places, prepend=places[0] - 1))
    own = range(before, before + len(shape))
    rows = offsets(shape, [xs.get(l, 0) for l in own])[order]
    others = [l for l in range(len(extents)) if l not in own]
    lengths = [extents[l] for l in others]
    columns = [offsets(lengths, [s.get(l, 0) for l in others]) for s in (ys, xs)]
    assert math.prod(lengths) == columns[0].size
    return [np.append(first, order.size), places[first], rows, *columns]
