"""Kernels that move elements: joins, writes into slices, gathers, scatters, sums to a shape, and pooling."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext.device import source
from ...cbackend.ctext.device_lists import item_source
from ...cbackend.ctext.device_parts import parts_item
from ...cbackend.ir.kernel import Kernel
from ...cbackend.ir.operands import Extent, Extra, Pointer, Report, Stride
from ...cbackend.lowering.lower_indexing import ADD, GATHER, SET, Indexing, indexing_kernel
from ...cbackend.lowering.work_items import gather_items
from ...graph import Apply, TensorType, Variable
from ...ops.core.tensor import TensorVariable
from ...ops.elementwise.records import add, fill, logical_or, maximum
from ...ops.networks.pooling import MaxPool, SumPool
from ...ops.reductions.reduce import Reduce
from ...ops.reductions.unbroadcasting import SumTo
from ...ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor, joint_position
from ...ops.shapes.indexing import IncSubtensor, concrete, entries
from ...ops.shapes.joining import Join
from .base import Device
from .call import At, Call
from .groups import GroupsKernel
from .launches import ItemsKernel, PartsKernel, item_grid, steps_along
from .segments import Segments


def elementwise_kernel(op: Any, variables: Sequence[Variable], device: Device) -> PartsKernel | ItemsKernel:
    """Return the kernel of an op on two arrays of any lengths; it may overwrite the first one."""
    node = Apply(op, [TensorVariable(TensorType(v.dtype, (None,) * v.ndim)) for v in variables])
    return PartsKernel(node, device, ((0, 0),) * (op is not fill)) if device.in_parts else ItemsKernel(node, device)


class _Move:
    """Base of the kernels of this file."""

    numbers: Sequence[int] = ()
    """Indices of the inputs whose values the host reads."""
    unread: Sequence[int] = ()
    """Indices of the inputs whose shape alone is read."""

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        elements: int = sum(math.prod(a.shape) for a in arrays)
        return 1000 * elements


class JoinKernel(_Move):
    """Copies each piece to its place."""

    def __init__(self, node: Apply, device: Device) -> None:
        self._axis, self._dtype = node.op.axis, np.dtype(node.out.dtype)  # type: ignore[attr-defined]
        self._copy = elementwise_kernel(fill, [node.out, node.out], device)
        self.text, self.name = self._copy.text, self._copy.name

    def run(self, arrays: Sequence[Any], call: Call) -> list[Any] | None:
        axis, first = self._axis, list(arrays[0].shape)
        if any([*a.shape[:axis], *a.shape[axis + 1 :]] != [*first[:axis], *first[axis + 1 :]] for a in arrays):
            return None
        first[axis] = sum(a.shape[axis] for a in arrays)
        made, at = call.empty(self._dtype, tuple(first)), 0
        for a in arrays:
            place = (*(slice(None),) * axis, slice(at, at + a.shape[axis]))
            part = call.memory.view(made, operator.itemgetter(place))
            self._copy.run([part, a], call, [part])
            at += a.shape[axis]
        return [made]


class WriteKernel(_Move):
    """Copies an array, then sets a slice of it or adds to the slice."""

    def __init__(self, node: Apply, device: Device) -> None:
        op: Any = node.op
        x, y, *_ = node.inputs
        if x.dtype == "bool" and not op.set:
            plus: Any = logical_or
        else:
            plus = fill if op.set else add
        self.numbers = range(2, len(node.inputs))
        self._spec, self._dtype = op.spec, np.dtype(x.dtype)
        rank = x.ndim - sum(entry == "i" for entry in op.spec)
        part = TensorVariable(TensorType(x.dtype, (None,) * rank))
        self._copy = elementwise_kernel(fill, [x, x], device)
        self._write = elementwise_kernel(plus, [part, y], device)
        self.text, self.name = f"{self._copy.text}\n{self._write.text}", self._write.name

    def run(self, arrays: Sequence[Any], call: Call) -> list[Any] | None:
        x, y, *indices = arrays
        place = (*map(concrete, entries(self._spec, indices)), ...)
        made = call.empty(self._dtype, x.shape)
        part = call.memory.view(made, operator.itemgetter(place))
        try:
            fits = np.broadcast_shapes(part.shape, y.shape) == part.shape
        except ValueError:
            fits = False
        if not fits:
            return None
        self._copy.run([made, x], call, [made])
        self._write.run([part, y], call, [part])
        return [made]


class IndexKernel(_Move):
    """Gathers by index arrays, or scatters: copies an array, then sets elements of the copy or adds to them."""

    def __init__(self, node: Apply, device: Device) -> None:
        op: Any = node.op
        self._op, self._gathers = op, isinstance(op, AdvancedSubtensor)
        how = GATHER if self._gathers else SET if op.set else ADD
        spec, skipped = op.spec, 1 if self._gathers else 2
        indices = list(node.inputs[skipped:])
        found = entries(spec, range(skipped, skipped + len(indices)))
        self._arrays = [k for entry, k in zip(spec, found) if entry == "a"]
        self.numbers = [k for k in range(skipped, len(node.inputs)) if k not in self._arrays]
        if node.outputs[0].dtype.startswith("complex"):
            raise TypeError(f"kernels on devices have no {node.outputs[0].dtype}")
        self._skipped, self._device, self._dtype = skipped, device, np.dtype(node.outputs[0].dtype)
        self._indexing = _indexing(spec, node.inputs[0].ndim, [node.inputs[k].ndim for k in self._arrays])
        rank = self._indexing.rank
        other = node.outputs[0] if self._gathers else node.inputs[1]
        kernel = indexing_kernel(how, other.dtype, self._indexing, tuple(range(rank - other.ndim, rank)))
        self._prepare(kernel)
        self._copy = None if self._gathers else elementwise_kernel(fill, [node.inputs[0]] * 2, device)
        if self._copy is not None:
            self.text += "\n" + self._copy.text
        self._segments: Segments | None = None
        if not self._gathers and not device.in_parts:
            own = [node.inputs[k] for k in self._arrays]
            self._segments = Segments(other.dtype, how == ADD, own, device)
            self.text += "\n" + self._segments.text

    def _prepare(self, kernel: Kernel) -> None:
        self._kernel, self.name = kernel, kernel.name
        if self._device.in_parts:
            item = parts_item(kernel)
            self.text = item_source(item)
            self._start = self._device.item_kernel(item, self.text)
        else:
            items = gather_items(kernel)
            self.text = source(items, self._device.dialect)
            both = ([True, False] if isinstance(a, (Pointer, Report)) else [False] for a in kernel.arguments)
            self._start = self._device.kernel(self.text, items.kernel.name, [p for each in both for p in each])

    def run(self, arrays: Sequence[Any], call: Call) -> list[Any] | None:
        memory, indexing = call.memory, self._indexing
        found = entries(self._op.spec, arrays[self._skipped :])
        window = tuple(slice(None) if e == "a" else concrete(f) for e, f in zip(self._op.spec, found))
        pointers = [arrays[k] for k in self._arrays]
        x = arrays[0]
        try:
            joint = np.broadcast_shapes(*(p.shape for p in pointers))
        except ValueError:
            return None
        if not self._gathers:
            assert self._copy is not None
            x = call.empty(self._dtype, x.shape)
        seen = memory.view(x, operator.itemgetter(window))
        sliced = [n for n, (kind, _) in zip(seen.shape, indexing.follows) if kind == "loop"]
        before = joint_position(self._op.spec) if joint or len(self._arrays) else 0
        extents = (*sliced[:before], *joint, *sliced[before:])
        if 0 in extents or 0 in seen.shape:
            return None
        other = call.empty(self._dtype, extents) if self._gathers else arrays[1]
        if not self._gathers:
            if not _fits(other.shape, extents):
                return None
            self._copy.run([x, arrays[0]], call, [x])  # type: ignore[union-attr]
        given = [other, seen, *pointers] if self._gathers else [seen, other, *pointers]
        if self._segments is None or self._segments.are_single(pointers, joint):
            self._launch(given, extents, seen, call)
            return [other] if self._gathers else [x]
        strides = self._strides(given, extents, seen)
        lengths = zip(indexing.follows, seen.shape, memory.strides(seen))
        axes = [(n, stride) for (kind, _), n, stride in lengths if kind == "array"]
        return [x] if self._segments.run(given, axes, (joint, before), (extents, strides), call) else None

    def _strides(self, given: Sequence[Any], extents: Sequence[int], seen: Any) -> list[dict[int, int]]:
        """Return the stride of each operand along its loops."""
        looped = [k for k, (kind, _) in enumerate(self._indexing.follows) if kind == "loop"]
        strides = []
        for operand, array in zip(self._kernel.operands, given):
            axes = looped if array is seen else range(len(array.shape))
            own = self._device.memory.strides(array)
            lengths = [array.shape[k] for k in axes]
            strides.append(steps_along(operand, lengths, [own[k] for k in axes], extents))
        return strides

    def _launch(self, given: Sequence[Any], extents: Sequence[int], seen: Any, call: Call) -> None:
        kernel, memory = self._kernel, call.memory
        strides = self._strides(given, extents, seen)
        follows = {k: axis for axis, (kind, k) in enumerate(self._indexing.follows) if kind == "array"}
        steps = memory.strides(seen)
        in_parts = self._device.in_parts
        arguments: list[Any] = []
        for a in kernel.arguments:
            if isinstance(a, Extent):
                arguments.append(extents[a.loop])
            elif isinstance(a, Stride):
                arguments.append(strides[a.operand][a.loop])
            elif isinstance(a, Extra):
                axis = follows[a.number // 2]
                arguments.append(steps[axis] if a.number % 2 else seen.shape[axis])
            elif isinstance(a, Pointer):
                arguments.append(given[a.operand] if in_parts else At(given[a.operand]))
            elif not in_parts:
                arguments.append(At(call.flag()))
        if in_parts:
            free = kernel.cutting.free if kernel.cutting is not None and extents else ()
            cut = max(free, key=lambda l: extents[l], default=0)
            parts = min(self._device.units * 4, extents[cut]) if free and self._gathers else 1
            work = 1000 * math.prod(extents)
            call.launch(self._start, (parts,), (1,), (*arguments, cut, 0, call.flag()), None, work)
        else:
            call.launch(self._start, *item_grid(extents, self._device), arguments)


class SumToKernel(_Move):
    """Sums along the axes where the second input has length 1; its elements are not read."""

    unread = (1,)

    def __init__(self, node: Apply, device: Device) -> None:
        x, like = node.inputs
        self._x, self._added, self._device = x, x.ndim - like.ndim, device
        self._copy = elementwise_kernel(fill, [x, x], device)
        self._sums: dict[tuple[int, ...], Any] = {}
        self.text, self.name = self._copy.text, self._copy.name
        everything = tuple(range(x.ndim))
        if everything:
            self.text += "\n" + self._sum(everything).text

    def run(self, arrays: Sequence[Any], call: Call) -> list[Any] | None:
        x, like = arrays
        added, shape = self._added, tuple(like.shape)
        if 0 in x.shape or any(n not in (1, m) for n, m in zip(shape, x.shape[added:])):
            return None
        axes = tuple(a for a, n in enumerate(x.shape) if a < added or shape[a - added] == 1 != n)
        if not axes:
            made = call.empty(np.dtype(self._x.dtype), x.shape)
            self._copy.run([made, x], call, [made])
            return [made]
        found = self._sum(axes).run([x], call)
        return None if found is None else [call.memory.view(found[0], lambda array: array.reshape(shape))]

    def _sum(self, axes: tuple[int, ...]) -> Any:
        """Return the kernel that sums along these axes."""
        if axes not in self._sums:
            leaf = TensorVariable(TensorType(self._x.dtype, (None,) * self._x.ndim))
            node = Apply(Reduce(add, axes), [leaf])
            kind: Any = PartsKernel if self._device.in_parts else GroupsKernel
            self._sums[axes] = kind(node, self._device)
        return self._sums[axes]


class PoolKernel(_Move):
    """Pooling as the reduction of a view of all windows."""

    def __init__(self, node: Apply, device: Device) -> None:
        op: Any = node.op
        (x,), self._op = node.inputs, op
        rank = x.ndim + len(op.kernel)
        within = tuple(a % rank for a in op.within)
        windows = TensorVariable(TensorType(x.dtype, (None,) * rank))
        reduced = Apply(Reduce(maximum if isinstance(op, MaxPool) else add, within), [windows])
        if reduced.out.dtype != node.out.dtype:
            raise TypeError(f"{op.name}: kernels on devices add {x.dtype} in {reduced.out.dtype}")
        self._reduce = PartsKernel(reduced, device) if device.in_parts else GroupsKernel(reduced, device)
        self.text, self.name = self._reduce.text, self._reduce.name

    def run(self, arrays: Sequence[Any], call: Call) -> list[Any] | None:
        (x,), op = arrays, self._op
        lengths = x.shape[len(x.shape) - len(op.kernel) :]
        spans = [(k - 1) * d + 1 for k, d in zip(op.kernel, op.dilation)]
        if 0 in x.shape or any(span > n for span, n in zip(spans, lengths)):
            return None
        windows = call.memory.view(x, lambda array: op.windows(array, op.kernel))
        return self._reduce.run([windows], call)


def _fits(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    added = len(wanted) - len(shape)
    return added >= 0 and all(n in (1, m) for n, m in zip(shape, wanted[added:]))


def _indexing(spec: tuple[str, ...], rank: int, ranks: Sequence[int]) -> Indexing:
    """Return the loops of an indexing; see cbackend/program/plan_indexing.py."""
    kept = [entry for entry in spec if entry != "i"] + ["s000"] * (rank - len(spec))
    before, joint = joint_position(spec), max(ranks)
    loops_in_all = sum(entry != "a" for entry in kept) + joint
    numbers: Iterator[int] = iter(range(len(ranks)))
    loops = iter([*range(before), *range(before + joint, loops_in_all)])
    follows = tuple(("array", next(numbers)) if entry == "a" else ("loop", next(loops)) for entry in kept)
    of = tuple(tuple(range(before + joint - n, before + joint)) for n in ranks)
    return Indexing(loops_in_all, follows, of, tuple(k for k, entry in enumerate(spec) if entry == "a"))


KINDS: dict[type[Any], Any] = {
    Join: JoinKernel,
    IncSubtensor: WriteKernel,
    AdvancedSubtensor: IndexKernel,
    AdvancedIncSubtensor: IndexKernel,
    MaxPool: PoolKernel,
    SumPool: PoolKernel,
    SumTo: SumToKernel,
}
