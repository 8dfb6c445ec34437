"""Kernels that move elements: joins, writes into slices, gathers, scatters, sums to a shape, and pooling."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...cbackend.ctext.device import source
from ...cbackend.ctext.device_lists import item_source
from ...cbackend.ctext.device_parts import parts_item
from ...cbackend.ir.operands import Extent, Pointer, Report, Stride
from ...cbackend.lowering.devices.work_items import gather_items
from ...cbackend.lowering.nests.indexing import ADD, GATHER, SET, indexing_kernel
from ...cbackend.program.planner import Planner
from ...cbackend.program.planners.creation import plan_join
from ...cbackend.program.planners.indexing import access_of, called, fits, indexing_of
from ...cbackend.program.planners.views import window
from ...cbackend.program.program import Array, Call
from ...graph import Apply, TensorType, Variable
from ...ops.core.tensor import TensorVariable
from ...ops.elementwise.records import add, fill, logical_or, maximum
from ...ops.networks.pooling import MaxPool, SumPool
from ...ops.reductions.reduce import Reduce
from ...ops.reductions.unbroadcasting import SumTo
from ...ops.shapes.advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from ...ops.shapes.indexing import IncSubtensor, entries
from ...ops.shapes.joining import Join
from .base import Device
from .call import At
from .call import Call as DeviceCall
from .groups import GroupsKernel
from .launches import ItemsKernel, PartsKernel, item_grid
from .segments import Segments
from .values import Values


class Copies:
    """The kernels that copy on a device, made once for each dtype and rank."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._kernels: dict[tuple[str, int], PartsKernel | ItemsKernel] = {}

    def kernel(self, dtype: str, rank: int) -> PartsKernel | ItemsKernel:
        """Return the kernel of a dtype and rank.  Raises TypeError for a dtype that devices lack."""
        if (dtype, rank) not in self._kernels:
            leaf = TensorVariable(TensorType(dtype, (None,) * rank))
            self._kernels[dtype, rank] = elementwise_kernel(fill, [leaf, leaf], self.device)
        return self._kernels[dtype, rank]

    def copy(self, into: Any, array: Any, call: DeviceCall) -> None:
        """Copy an array, broadcast, to another one."""
        if 0 in into.shape:
            return
        if array.shape != into.shape:
            array = call.memory.view(array, lambda a: np.broadcast_to(a, into.shape))
        self.kernel(into.dtype.name, len(into.shape)).run([into, array], call, [into])

    def copied(self, array: Any, call: DeviceCall) -> Any:
        """Return a C-contiguous copy of an array; None if NumPy must make it."""
        try:
            kernel = self.kernel(array.dtype.name, len(array.shape))
        except TypeError:
            return None
        if call.leaves_to_host(kernel.work([array, array])):
            return None
        made = call.empty(array.dtype, tuple(array.shape))
        self.copy(made, array, call)
        return made


def elementwise_kernel(op: Any, variables: Sequence[Variable], device: Device) -> PartsKernel | ItemsKernel:
    """Return the kernel of an op on two arrays of any lengths; it may overwrite the first one."""
    node = Apply(op, [TensorVariable(TensorType(v.dtype, (None,) * v.ndim)) for v in variables])
    return PartsKernel(node, device, ((0, 0),) * (op is not fill)) if device.in_parts else ItemsKernel(node, device)


class _Move:
    """Base of the kernels of this file."""

    text: str
    name: str
    numbers: Sequence[int] = ()
    """Indices of the inputs whose values the host reads."""
    unread: Sequence[int] = ()
    """Indices of the inputs whose shape alone is read."""

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        elements: int = sum(math.prod(a.shape) for a in arrays)
        return 1000 * elements


class Moving(_Move):
    """Base of kernels that stand between copies: `plan` plans the copies, and the calls of the kernel."""

    def plan(self, p: Planner, node: Apply) -> None:
        """Plan a node."""
        raise NotImplementedError

    def call(self, step: Call, target: Any, values: Values) -> bool:
        """Run a call of the kernel, which writes to `target`; return False if NumPy must run the node."""
        raise NotImplementedError


class JoinKernel(Moving):
    """Copies each piece to its place."""

    def __init__(self, node: Apply, copies: Copies) -> None:
        copy = copies.kernel(node.out.dtype, node.out.ndim)
        self.text, self.name = copy.text, copy.name

    def plan(self, p: Planner, node: Apply) -> None:
        plan_join(p, node)


class WriteKernel(Moving):
    """Copies an array, then sets a slice of it or adds to the slice."""

    def __init__(self, node: Apply, copies: Copies) -> None:
        op: Any = node.op
        x, y, *_ = node.inputs
        rank = x.ndim - sum(entry == "i" for entry in op.spec)
        copy, self._write = copies.kernel(x.dtype, x.ndim), copies.kernel(x.dtype, rank)
        if not op.set:
            part = TensorVariable(TensorType(x.dtype, (None,) * rank))
            plus = logical_or if x.dtype == "bool" else add
            self._write = elementwise_kernel(plus, [part, y], copies.device)
        self._sets = op.set
        self.text, self.name = "\n".join(dict.fromkeys((copy.text, self._write.text))), self._write.name

    def plan(self, p: Planner, node: Apply) -> None:
        value = p.arrays[node.inputs[1]]
        part = window(p, p.modifiable(node), node, node.inputs[2:])
        fits(p, value, part.lengths)
        if self._sets:
            p.copy(part, value)
        else:
            p.elsewhere(self.name, (), (part,), (part, value))

    def call(self, step: Call, target: Any, values: Values) -> bool:
        value = values.on_device(step.reads[1])
        return 0 in target.shape or self._write.run([target, value], values.call, [target]) is not None


class IndexKernel(Moving):
    """Gathers by index arrays, or scatters: copies an array, then sets elements of the copy or adds to them."""

    def __init__(self, node: Apply, copies: Copies) -> None:
        op: Any = node.op
        self._gathers, self._device = isinstance(op, AdvancedSubtensor), copies.device
        self._how = GATHER if self._gathers else SET if op.set else ADD
        x, *rest = node.inputs
        other = node.outputs[0] if self._gathers else rest.pop(0)
        if x.dtype.startswith("complex"):
            raise TypeError(f"kernels on devices have no {x.dtype}")
        arrays = [rest[k] for entry, k in zip(op.spec, entries(op.spec, range(len(rest)))) if entry == "a"]
        self._indexing = indexing_of(op.spec, x.ndim, [i.ndim for i in arrays])
        rank = self._indexing.rank
        loops, dtypes = tuple(range(rank - other.ndim, rank)), [i.dtype for i in arrays]
        self._kernel = indexing_kernel(self._how, other.dtype, self._indexing, loops, dtypes)
        self.name, texts = self._kernel.name, [self._prepared()]
        self._segments: Segments | None = None
        if not self._gathers:
            texts.append(copies.kernel(x.dtype, x.ndim).text)
            if not self._device.in_parts:
                self._segments = Segments(other.dtype, self._how == ADD, arrays, self._device)
                texts.append(self._segments.text)
        self.text = "\n".join(texts)

    def _prepared(self) -> str:
        """Compile the kernel; return its text."""
        kernel, device = self._kernel, self._device
        if device.in_parts:
            item = parts_item(kernel, device.dialect)
            text = item_source(item)
            self._start = device.item_kernel(item, text)
            return text
        items = gather_items(kernel)
        text = source(items, device.dialect)
        both = ([True, False] if isinstance(a, (Pointer, Report)) else [False] for a in kernel.arguments)
        self._start = device.kernel(text, items.kernel.name, [p for each in both for p in each])
        return text

    def plan(self, p: Planner, node: Apply) -> None:
        if self._gathers:
            access = access_of(p, p.arrays[node.inputs[0]], node, node.inputs[1:])
            other = p.result(node.out, access.extents)
        else:
            access = access_of(p, p.modifiable(node), node, node.inputs[2:])
            other = p.arrays[node.inputs[1]]
            fits(p, other, access.extents)
        _, arguments = called(p, access, self._how, other.dtype, other)
        writes, reads = (other, access.x) if self._gathers else (access.x, other)
        p.elsewhere(self.name, arguments, (writes,), (reads, *access.arrays))

    def call(self, step: Call, target: Any, values: Values) -> bool:
        kernel, call, extents = self._kernel, values.call, list[int]()
        given: dict[int, Any] = {}
        strides: dict[int, dict[int, int]] = defaultdict(dict)
        axes: list[int] = []
        arguments: list[Any] = []
        for a, argument in zip(kernel.arguments, step.arguments, strict=True):
            if isinstance(a, Pointer):
                assert isinstance(argument, Array)
                given[a.operand] = found = target if argument is step.writes[0] else values.on_device(argument)
                arguments.append(found if self._device.in_parts else At(found))
            elif not isinstance(a, Report):
                arguments.append(number := values.number(argument))  # type: ignore[arg-type]
                if isinstance(a, Extent):
                    extents.append(number)
                elif isinstance(a, Stride):
                    strides[a.operand][a.loop] = number
                else:
                    axes.append(number)
        if 0 in extents or 0 in axes[::2]:
            return False
        arrays = [given[k] for k in range(len(given))]
        loops = self._indexing.joint
        joint = tuple(extents[l] for l in loops)
        if self._segments is not None and not self._segments.are_single(arrays[2:], joint):
            where = list(zip(axes[::2], axes[1::2])), (joint, min(loops, default=0))
            return self._segments.run(arrays, *where, (extents, [strides[k] for k in range(len(given))]), call)
        self._launch(arguments, extents, call)
        return True

    def _launch(self, arguments: Sequence[Any], extents: Sequence[int], call: DeviceCall) -> None:
        if not self._device.in_parts:
            reports = [At(call.flag())] * any(isinstance(a, Report) for a in self._kernel.arguments)
            call.launch(self._start, *item_grid(extents, self._device), [*arguments, *reports])
            return
        splits = self._kernel.splits
        free = splits.free if splits is not None and extents else ()
        cut = max(free, key=lambda l: extents[l], default=0)
        parts = min(self._device.units * 4, extents[cut]) if free and self._gathers else 1
        work = 1000 * math.prod(extents)
        call.launch(self._start, (parts,), (1,), (*arguments, cut, 0, call.flag()), None, work)


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

    def run(self, arrays: Sequence[Any], call: DeviceCall) -> list[Any] | None:
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

    def run(self, arrays: Sequence[Any], call: DeviceCall) -> list[Any] | None:
        (x,), op = arrays, self._op
        lengths = x.shape[len(x.shape) - len(op.kernel) :]
        spans = [(k - 1) * d + 1 for k, d in zip(op.kernel, op.dilation)]
        if 0 in x.shape or any(span > n for span, n in zip(spans, lengths)):
            return None
        windows = call.memory.view(x, lambda array: op.windows(array, op.kernel))
        return self._reduce.run([windows], call)


MOVING: dict[type[Any], Any] = {
    Join: JoinKernel,
    IncSubtensor: WriteKernel,
    AdvancedSubtensor: IndexKernel,
    AdvancedIncSubtensor: IndexKernel,
}
"""Ops whose copies are steps of the program."""
KINDS: dict[type[Any], Any] = {
    MaxPool: PoolKernel,
    SumPool: PoolKernel,
    SumTo: SumToKernel,
}
