"""Kernels of nodes on a device, by parts of their loops or by elements, and the lengths that a call finds.

kernel = kernel_of(node, device)        TypeError with the reason if the node has none
kernel.run(arrays, memory, call)        the results; None where NumPy has to do it, or to say what is wrong
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...cbackend.ctext.device import OPENCL, source
from ...cbackend.ctext.device_parts import parts_name, parts_source
from ...cbackend.ir.kernel import Kernel
from ...cbackend.ir.operands import Extent, Pointer, Stride
from ...cbackend.lowering.lanes import in_lanes
from ...cbackend.lowering.lower import lower
from ...cbackend.lowering.work_items import require_known, work_items
from ...graph import Apply, TensorType
from ...ops.reduce import REDUCTIONS, Reduce
from ...ops.tensor import TensorVariable
from ...targets.current import current
from .device import Device
from .memory import Traffic

_GRAIN = 20_000_000
"""Picoseconds of work below which a part costs more than it saves."""


class Call:
    """One call of a function: its traffic, and the place where a kernel says that it refused an element."""

    def __init__(self, device: Device, traffic: Traffic) -> None:
        self.device, self.memory, self.traffic = device, device.memory, traffic
        self.status = np.zeros(1, np.int32)

    def launch(self, kernel: Any, grid: Sequence[int], group: Sequence[int] | None, arguments: Sequence[Any]) -> None:
        self.device.launch(kernel, grid, group, arguments)
        self.traffic.launches += 1


def joint_extents(kernel: Kernel, shapes: Sequence[tuple[int, ...]]) -> list[int] | None:
    """The lengths of the loops; None if operands disagree.  An axis of length 1 goes along with a longer one."""
    lengths = [1] * kernel.rank
    for operand in kernel.inputs:
        for loop, n in zip(operand.axes, shapes[operand.source]):
            if loop is None:
                if n != 1:
                    return None
            elif n != 1 and lengths[loop] != n:
                if lengths[loop] != 1:
                    return None
                lengths[loop] = n
    return lengths


def steps_along(operand: Any, shape: Sequence[int], strides: Sequence[int], extents: Sequence[int]) -> dict[int, int]:
    """The stride of an operand along each of its loops: 0 where it is broadcast."""
    return {
        loop: 0 if n == 1 and extents[loop] != 1 else s
        for loop, n, s in zip(operand.axes, shape, strides)
        if loop is not None
    }


class PartsKernel:
    """A kernel of the C backend, whose loops work items share."""

    numbers: Sequence[int] = ()
    """The inputs that the host reads."""

    def __init__(self, node: Apply, device: Device) -> None:
        for v in (*node.inputs, *node.outputs):
            if v.dtype.startswith("complex"):
                raise TypeError(f"kernels on devices have no {v.dtype}")
        whole = lower(node)
        self.kernel = replace(whole, body=in_lanes(whole.body))
        require_known(self.kernel.body)
        self.text = parts_source(self.kernel)
        passed = [a for a in self.kernel.arguments if isinstance(a, (Extent, Pointer, Stride))]
        pointers = [isinstance(a, Pointer) for a in passed]
        pointers += [False] * (1 + len(self.kernel.outputs)) + [True]
        self._passed = passed
        self._start = device.kernel(self.text, parts_name(self.kernel), pointers)
        self._combine: dict[int, PartsKernel] = {}
        self._device = device
        self._dtypes = [np.dtype(o.dtype) for o in self.kernel.outputs]

    def run(self, arrays: Sequence[Any], call: Call) -> list[Any] | None:
        kernel, memory = self.kernel, call.memory
        extents = joint_extents(kernel, [a.shape for a in arrays])
        if extents is None or 0 in extents or (kernel.feeds and self._is_partly_shorter(arrays, extents)):
            return None
        cut, parts, apart = self._cut(extents)
        shapes = [tuple([1 if l is None else extents[l] for l in o.axes]) for o in kernel.outputs]
        folded = [apart and cut not in o.loops for o in kernel.outputs]
        made = [memory.empty(d, (parts, *s) if fold else s) for d, s, fold in zip(self._dtypes, shapes, folded)]
        own = [m[0] if fold else m for m, fold in zip(made, folded)]
        given = [*own, *(arrays[i.source] for i in kernel.inputs)]
        strides = [steps_along(o, a.shape, memory.strides(a), extents) for o, a in zip(kernel.operands, given)]
        arguments = [
            extents[a.loop] if isinstance(a, Extent)
            else memory.pointer(given[a.operand]) if isinstance(a, Pointer)
            else strides[a.operand][a.loop]
            for a in self._passed
        ]  # fmt: skip
        steps = [math.prod(s) if fold else 0 for s, fold in zip(shapes, folded)]
        call.launch(self._start, (parts,), (1,), (*arguments, cut, *steps, memory.pointer(call.status)))
        return [self._combined(k, m, call) if fold else m for k, (m, fold) in enumerate(zip(made, folded))]

    def _is_partly_shorter(self, arrays: Sequence[Any], extents: Sequence[int]) -> bool:
        """Whether an output that reads some inputs alone is shorter than the loops."""
        longest = [{n for i in feeds for n in self._lengths(i, arrays)} for feeds in self.kernel.feeds]
        return any(
            (loop, extents[loop]) not in own
            for o, own in zip(self.kernel.outputs, longest)
            for loop in o.loops
            if extents[loop] != 1
        )

    def _lengths(self, number: int, arrays: Sequence[Any]) -> list[tuple[int, int]]:
        operand = self.kernel.inputs[number]
        return [(l, n) for l, n in zip(operand.axes, arrays[operand.source].shape) if l is not None]

    def _cut(self, extents: Sequence[int]) -> tuple[int, int, bool]:
        """The loop that is cut, the number of parts, and whether parts have results of their own."""
        cutting = self.kernel.cutting
        if cutting is None or not extents or cutting.in_turn:
            return 0, 1, False
        most = min(self._device.units * 4, math.prod(extents) * cutting.picoseconds // _GRAIN)
        for loops, apart in ((cutting.free, False), (cutting.reduced, True)):
            if most > 1 and loops:
                loop = next((l for l in loops if extents[l] >= 4 * most), max(loops, key=lambda l: extents[l]))
                parts = min(most, extents[loop])
                if parts > 1:
                    return loop, parts, apart
        return 0, 1, False

    def _combined(self, output: int, parts: Any, call: Call) -> Any:
        """The results of the parts in one."""
        if output not in self._combine:
            operand, cutting = self.kernel.outputs[output], self.kernel.cutting
            assert cutting is not None
            x = TensorVariable(TensorType(operand.dtype, (None,) * (len(operand.axes) + 1)))
            node = Apply(Reduce(REDUCTIONS[str(cutting.folds[output])], (0,)), [x])
            self._combine[output] = PartsKernel(node, self._device)
        found = self._combine[output].run([parts], call)
        assert found is not None
        return found[0]


class ItemsKernel:
    """A kernel whose work items compute an element each, or fold one in a group."""

    numbers: Sequence[int] = ()

    def __init__(self, node: Apply, device: Device) -> None:
        self._items = work_items(node)
        self.kernel = self._items.kernel
        self._width = min(current().limits.group_items, device.items)
        self._device = device
        self._starts: dict[bool, Any] = {}
        self._dtypes = [np.dtype(o.dtype) for o in self.kernel.outputs]
        self.text = source(self._items, OPENCL, self._width)
        self._start(True)

    def run(self, arrays: Sequence[Any], call: Call) -> list[Any] | None:
        kernel, memory, items = self.kernel, call.memory, self._items
        extents = joint_extents(kernel, [a.shape for a in arrays])
        if extents is None or 0 in extents:
            return None
        shapes = [tuple([1 if l is None else extents[l] for l in o.axes]) for o in kernel.outputs]
        made = [memory.empty(d, s) for d, s in zip(self._dtypes, shapes)]
        given = [*made, *(arrays[i.source] for i in kernel.inputs)]
        strides = [steps_along(o, a.shape, memory.strides(a), extents) for o, a in zip(kernel.operands, given)]
        extents = collapsed(kernel, extents, strides, (items.kept, items.reduced))
        lane = (items.reduced or items.kept)[-1:]
        dense = all(s.get(l, 1) == 1 for s in strides for l in lane)
        arguments: list[Any] = []
        for a in kernel.arguments:
            if isinstance(a, Extent):
                arguments.append(extents[a.loop])
            elif isinstance(a, Pointer):
                arguments += [memory.pointer(given[a.operand]), memory.start(given[a.operand])]
            elif isinstance(a, Stride):
                arguments.append(strides[a.operand][a.loop])
        call.launch(self._start(dense), *self._grid([extents[l] for l in items.kept]), arguments)
        return made

    def _start(self, dense: bool) -> Any:
        """The compiled kernel; `dense`: for operands whose elements lie side by side along the last loop."""
        if dense not in self._starts:
            both = ([True, False] if isinstance(a, Pointer) else [False] for a in self.kernel.arguments)
            pointers = [p for each in both for p in each]
            text = source(self._items, OPENCL, self._width, dense)
            self._starts[dense] = self._device.kernel(text, self.kernel.name, pointers)
        return self._starts[dense]

    def _grid(self, kept: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Work items and the size of their groups: the last two kept loops along axes of their own, others as one."""
        inner = [*reversed(kept[-2:]), 1, 1][:2]
        outer = math.prod(kept[:-2])
        if self._items.reduced:
            return (inner[0] * self._width, inner[1], outer), (self._width, 1, 1)
        wide = min(self._width, 1 << (inner[0] - 1).bit_length())
        high = min(self._width // wide, 1 << (inner[1] - 1).bit_length())
        return (-(-inner[0] // wide) * wide, -(-inner[1] // high) * high, outer), (wide, high, 1)


def collapsed(
    kernel: Kernel, extents: Sequence[int], strides: Sequence[dict[int, int]], runs: Sequence[Sequence[int]]
) -> list[int]:
    """The extents with loops made one where all operands go through them as through one, in each of the runs."""
    found = list(extents)
    for loops in runs:
        for outer, inner in zip(loops[-2::-1], loops[:0:-1]):
            if found[outer] == 1:
                continue
            if any(s.get(outer, 0) != s.get(inner, 0) * found[inner] for s in strides):
                break
            found[outer], found[inner] = 1, found[outer] * found[inner]
    return found
