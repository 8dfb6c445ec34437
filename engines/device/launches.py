"""Kernels of nodes on a device, by chunks of loops or by elements, and the lengths that a call determines.

kernel = kernel_of(node, device)        TypeError with the reason if the node has none
kernel.run(arrays, call)                the results; None if NumPy must run the node, or report the error
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...cbackend.ctext.device import source
from ...cbackend.ctext.device_lists import item_source
from ...cbackend.ctext.device_parts import parts_item
from ...cbackend.ir.kernel import Kernel
from ...cbackend.ir.operands import Bits, Extent, Pointer, Stride
from ...cbackend.lowering.devices.far_arguments import near_first
from ...cbackend.lowering.devices.work_items import require_known, with_numbers, work_items
from ...cbackend.lowering.lanes import in_lanes
from ...cbackend.lowering.lower import lower
from ...graph import Apply, TensorType
from ...ops.core.tensor import TensorVariable
from ...ops.reductions.reduce import REDUCTIONS, Reduce, reduced_dtype
from ...record import record
from ...targets.current import current
from .base import Device
from .call import At, Call, Places
from .memory import OnDevice

_PLANS = 64
"""Most launch plans that a kernel caches."""
_GRAIN = 20_000_000
"""Picoseconds of work below which a chunk costs more than it saves."""

_SHARES = 2
"""Chunks of a launch per processor: more chunks would balance loads better but shorten rows."""


def joint_extents(kernel: Kernel, shapes: Sequence[tuple[int, ...]]) -> list[int] | None:
    """Return the lengths of the loops; None if operands disagree.  An axis of length 1 is broadcast."""
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


def is_partly_shorter(kernel: Kernel, shapes: Sequence[tuple[int, ...]], extents: Sequence[int]) -> bool:
    """Whether an output that reads only some inputs is shorter than the loops."""
    operands = [[(l, n) for l, n in zip(i.axes, shapes[i.source]) if l is not None] for i in kernel.inputs]
    longest = [{own for i in feeds for own in operands[i]} for feeds in kernel.feeds]
    return any(
        (loop, extents[loop]) not in own
        for o, own in zip(kernel.outputs, longest)
        for loop in o.loops
        if extents[loop] != 1
    )


def steps_along(operand: Any, shape: Sequence[int], strides: Sequence[int], extents: Sequence[int]) -> dict[int, int]:
    """Return the stride of an operand along each of its loops: 0 where it is broadcast."""
    return {
        loop: 0 if n == 1 and extents[loop] != 1 else s
        for loop, n, s in zip(operand.axes, shape, strides)
        if loop is not None
    }


@record(eq=False)
class _Plan:
    """Plan of a launch for given shapes and strides: extents, shapes of results, arguments, picoseconds of work.

    An argument is (True, index of the operand whose pointer is passed) or (False, number).  `cut`: the split loop.
    `parts`: the number of chunks.  `gaps`: for each output the elements from one chunk to the next, if chunks have
    results of their own.
    """

    extents: Sequence[int] | None
    shapes: tuple[tuple[int, ...], ...]
    arguments: tuple[tuple[bool, int], ...]
    cut: int
    parts: int
    gaps: tuple[int, ...]
    work: int


class PartsKernel:
    """A kernel of the C backend whose loops are divided among work items."""

    numbers: Sequence[int] = ()
    """Indices of the inputs whose values the host reads."""

    def __init__(self, node: Apply, device: Device, aliases: tuple[tuple[int, int], ...] = ()) -> None:
        for v in (*node.inputs, *node.outputs):
            if v.dtype.startswith("complex") or v.dtype == "float16":
                raise TypeError(f"kernels on devices have no {v.dtype}")
        whole = lower(node, aliases)
        self.kernel: Kernel = replace(whole, body=near_first(in_lanes(whole.body)))
        require_known(self.kernel.body)
        item = parts_item(self.kernel, device.dialect)
        self.text: str = item_source(item)
        self.name: str = self.kernel.name
        self._passed = [a for a in self.kernel.arguments if isinstance(a, (Extent, Pointer, Stride))]
        self._start = device.item_kernel(item, self.text)
        self._combine: dict[int, PartsKernel] = {}
        self._device = device
        self._dtypes = [np.dtype(o.dtype) for o in self.kernel.outputs]
        self._sources = [i.source for i in self.kernel.inputs]
        self._plans: dict[Any, _Plan] = {}
        folds = self.kernel.splits.folds if self.kernel.splits is not None else ()
        self._adds_up = all(_is_own(f, o.dtype) for f, o in zip(folds, self.kernel.outputs) if f)

    def run(self, arrays: Sequence[Any], call: Call, into: Places = None) -> list[Any] | None:
        memory = call.memory
        key = tuple([(a.shape, memory.strides(a)) for a in arrays])
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) > _PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._planned(key)
        if plan.extents is None:
            return None
        made = call.results(self._dtypes, plan.shapes, into)
        given = (*made, *(arrays[k] for k in self._sources))
        arguments: list[Any] = [given[n] if is_pointer else n for is_pointer, n in plan.arguments]
        if into is not None and len(made) == 1:
            self._restride(arguments, memory.strides(made[0]))
        call.launch(self._start, (plan.parts,), (1,), (*arguments, plan.cut, *plan.gaps, call.flag()), None, plan.work)
        return [self._combined(k, m, call) if step else m for k, (m, step) in enumerate(zip(made, plan.gaps))]

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        return self._work(joint_extents(self.kernel, [a.shape for a in arrays]) or ())

    def _work(self, extents: Sequence[int]) -> int:
        splits = self.kernel.splits
        return math.prod(extents) * (1000 if splits is None else splits.picoseconds)

    def _planned(self, key: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> _Plan:
        kernel, shapes = self.kernel, [shape for shape, _ in key]
        extents = joint_extents(kernel, shapes)
        if extents is None or 0 in extents or is_partly_shorter(kernel, shapes, extents):
            return _Plan(None, (), (), 0, 1, (), 0)
        cut, parts, gaps = self._cut(extents)
        own = [tuple([1 if l is None else extents[l] for l in o.axes]) for o in kernel.outputs]
        folded = [gaps and cut not in o.loops for o in kernel.outputs]
        dense = [tuple(math.prod(s[k + 1 :]) for k in range(len(s))) for s in own]
        given = [*zip(own, dense), *(key[k] for k in self._sources)]
        strides = [steps_along(o, *where, extents) for o, where in zip(kernel.operands, given)]
        arguments: list[tuple[bool, int]] = []
        for a in self._passed:
            if isinstance(a, Pointer):
                arguments.append((True, a.operand))
            else:
                arguments.append((False, extents[a.loop] if isinstance(a, Extent) else strides[a.operand][a.loop]))
        made = tuple((parts, *s) if fold else s for s, fold in zip(own, folded))
        steps = tuple(math.prod(s) if fold else 0 for s, fold in zip(own, folded))
        return _Plan(extents, made, tuple(arguments), cut, parts, steps, self._work(extents))

    def _restride(self, arguments: list[Any], strides: tuple[int, ...]) -> None:
        """Insert the strides of an output that is not dense."""
        axes = self.kernel.outputs[0].axes
        for k, a in enumerate(self._passed):
            if isinstance(a, Stride) and a.operand == 0:
                arguments[k] = strides[axes.index(a.loop)]

    def _cut(self, extents: Sequence[int]) -> tuple[int, int, bool]:
        """Return the loop that is split, the number of chunks, and whether chunks have results of their own."""
        splits = self.kernel.splits
        if splits is None or not extents or splits.sequential:
            return 0, 1, False
        most = min(self._device.units * _SHARES, math.prod(extents) * splits.picoseconds // _GRAIN)
        for loops, gaps in ((splits.free, False), (splits.reduced if self._adds_up else (), True)):
            if most > 1 and loops:
                loop = next((l for l in loops if extents[l] >= 4 * most), max(loops, key=lambda l: extents[l]))
                parts = min(most, extents[loop])
                if parts > 1:
                    return loop, parts, gaps
        return 0, 1, False

    def _combined(self, output: int, parts: Any, call: Call) -> Any:
        """Return the combined results of the chunks."""
        if output not in self._combine:
            operand, splits = self.kernel.outputs[output], self.kernel.splits
            assert splits is not None
            x = TensorVariable(TensorType(operand.dtype, (None,) * (len(operand.axes) + 1)))
            node = Apply(Reduce(REDUCTIONS[str(splits.folds[output])], (0,)), [x])
            self._combine[output] = PartsKernel(node, self._device)
        found = self._combine[output].run([parts], call)
        assert found is not None
        return found[0]


def _is_own(fold: str, dtype: str) -> bool:
    """Whether partial results of a reduction have its dtype.  False for argmax and argmin, which need the element."""
    return fold in REDUCTIONS and reduced_dtype(REDUCTIONS[fold], dtype) == dtype


class ItemsKernel:
    """A kernel whose work items compute one element each."""

    numbers: Sequence[int] = ()

    def __init__(self, node: Apply, device: Device) -> None:
        found = work_items(node)
        if found.reduced:
            raise TypeError("groups of work items reduce")
        self._items = replace(found, kernel=with_numbers(found.kernel, node))
        self.kernel: Kernel = self._items.kernel
        self._device = device
        self._starts: dict[bool, Any] = {}
        self._dtypes = [np.dtype(o.dtype) for o in self.kernel.outputs]
        self.text: str = source(self._items, self._device.dialect)
        self.name: str = self.kernel.name
        self._start(True)

    def run(self, arrays: Sequence[Any], call: Call, into: Places = None) -> list[Any] | None:
        kernel, memory, kept = self.kernel, call.memory, self._items.kept
        given_shapes = [a.shape for a in arrays]
        extents = joint_extents(kernel, given_shapes)
        if extents is None or 0 in extents or is_partly_shorter(kernel, given_shapes, extents):
            return None
        shapes = [tuple([1 if l is None else extents[l] for l in o.axes]) for o in kernel.outputs]
        made = call.results(self._dtypes, shapes, into)
        given = [*made, *(arrays[i.source] for i in kernel.inputs)]
        strides = [steps_along(o, a.shape, memory.strides(a), extents) for o, a in zip(kernel.operands, given)]
        extents = collapsed(extents, strides, (kept,))
        dense = all(s.get(l, 1) == 1 for s in strides for l in kept[-1:])
        arguments = arguments_of(kernel, extents, strides, given)
        call.launch(self._start(dense), *item_grid([extents[l] for l in kept], self._device), arguments)
        return made

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        return math.prod(joint_extents(self.kernel, [a.shape for a in arrays]) or ()) * 1000

    def _start(self, dense: bool) -> Any:
        """Return the compiled kernel; `dense`: for operands that are contiguous along the last loop."""
        if dense not in self._starts:
            text = source(self._items, self._device.dialect, dense)
            self._starts[dense] = self._device.kernel(text, self.kernel.name, pointers_of(self.kernel))
        return self._starts[dense]


def arguments_of(
    kernel: Kernel, extents: Sequence[int], strides: Sequence[dict[int, int]], given: Sequence[Any]
) -> list[Any]:
    """Return the arguments of a kernel of work items for its operands."""
    found: list[Any] = []
    for a in kernel.arguments:
        if isinstance(a, Extent):
            found.append(extents[a.loop])
        elif isinstance(a, Pointer):
            found.append(At(given[a.operand]))
        elif isinstance(a, Bits):
            found.append(_bits(given[a.operand]))
        elif isinstance(a, Stride):
            found.append(strides[a.operand][a.loop])
    return found


def _bits(array: Any) -> int:
    """Return the bits of the element of a constant."""
    number = np.asarray(array.host if isinstance(array, OnDevice) else array)
    return int(number.view(f"i{number.itemsize}") if number.dtype.kind in "fu" else number)


def pointers_of(kernel: Kernel) -> list[bool]:
    """Return for each of these arguments, as the device takes them, whether it is a pointer."""
    both = ([True, False] if isinstance(a, Pointer) else [False] for a in kernel.arguments)
    return [is_pointer for each in both for is_pointer in each]


def item_grid(loops: Sequence[int], device: Device) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the grid of one work item per element and its group size: the last two loops, and the others as one."""
    most = min(current().limits.devices.group_items, device.items)
    inner = [*reversed(loops[-2:]), 1, 1][:2]
    wide = min(most, 1 << (inner[0] - 1).bit_length())
    high = min(most // wide, 1 << (inner[1] - 1).bit_length())
    return (-(-inner[0] // wide) * wide, -(-inner[1] // high) * high, math.prod(loops[:-2])), (wide, high, 1)


def collapsed(extents: Sequence[int], strides: Sequence[dict[int, int]], runs: Sequence[Sequence[int]]) -> list[int]:
    """Return the extents with loops collapsed, within each of `runs`, if all operands traverse them as one."""
    found = list(extents)
    for loops in runs:
        inner = None
        for outer in reversed(loops):
            if found[outer] == 1:
                continue
            if inner is None or any(s.get(outer, 0) != s.get(inner, 0) * found[inner] for s in strides):
                inner = outer
            else:
                found[outer], found[inner] = 1, found[outer] * found[inner]
    return found
