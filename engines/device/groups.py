"""Reductions and passes over rows on a device whose work items run side by side: groups of items reduce outputs.

A plan, from shapes and strides, chooses one of several texts; each is compiled when a call first needs it.  A reduction
to few outputs is split: groups reduce parts to partial results, and another launch reduces these.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...cbackend.ctext.device_groups import group_source
from ...cbackend.ir.work_items import Fold, Groups, WorkItems
from ...cbackend.lowering.devices.groups import Split, groups_of, may_hold, reciprocal, row_split, split_of
from ...cbackend.lowering.devices.work_items import with_numbers, work_items
from ...cbackend.lowering.devices.work_rows import is_over_rows, row_items
from ...graph import Apply, TensorType
from ...ops.core.tensor import TensorVariable
from ...ops.lowered.fused import Fused
from ...ops.lowered.row_passes import Top
from ...ops.reductions.reduce import REDUCTIONS, Reduce
from ...record import record
from ...targets.current import current
from .base import Device
from .call import Call, Places
from .launches import arguments_of, collapsed, joint_extents, pointers_of, steps_along

_PLANS = 64
"""Most launch plans that a kernel caches."""


@record(eq=False)
class _Plan:
    """A launch for given shapes and strides: the text, the parts, and extents with those of collapsed loops."""

    groups: Groups
    split: Split
    dense: bool
    extents: list[int]
    shapes: tuple[tuple[int, ...], ...]


def is_grouped(node: Apply) -> bool:
    """Whether groups of items compute a node: a reduction, or passes over rows."""
    outputs = node.op.graph.outputs if isinstance(node.op, Fused) else node.outputs
    own = [o.owner.op if o.owner is not None and isinstance(node.op, Fused) else node.op for o in outputs]
    return is_over_rows(node) or any(isinstance(op, (Reduce, Top)) for op in own)


class GroupsKernel:
    """A reduction, or passes over rows."""

    numbers: Sequence[int] = ()

    def __init__(self, node: Apply, device: Device) -> None:
        self._is_over_rows = is_over_rows(node)
        self._node = node
        self._items = self._numbered(row_items(node) if self._is_over_rows else work_items(node))
        if not self._items.passes:
            raise TypeError("no result is reduced")
        self._holding = self._held(node)
        self.kernel, self.name = self._items.kernel, self._items.kernel.name
        self._device, self._limits = device, current().limits.devices.reduction_items
        self._dtypes = [np.dtype(o.dtype) for o in self.kernel.outputs]
        self._starts: dict[tuple[Groups, bool], Any] = {}
        self._plans: dict[Any, _Plan | None] = {}
        self._combine: dict[int, GroupsKernel] = {}
        self.text: str = self._text(self._typical(), True)

    def _held(self, node: Apply) -> WorkItems:
        """Return the kernel that holds elements in registers, or the other one where these are too few."""
        found = self._numbered(row_items(node, held=True)) if self._is_over_rows else self._items
        return found if may_hold(found) else self._items

    def _numbered(self, items: WorkItems) -> WorkItems:
        return replace(items, kernel=with_numbers(items.kernel, self._node))

    def run(self, arrays: Sequence[Any], call: Call, into: Places = None) -> list[Any] | None:
        key = tuple([(a.shape, call.memory.strides(a)) for a in arrays])
        if key not in self._plans:
            if len(self._plans) >= _PLANS:
                self._plans.clear()
            self._plans[key] = self._planned(key)
        plan = self._plans[key]
        if plan is None:
            return None
        if plan.split.parts == 1:
            made = call.results(self._dtypes, plan.shapes, into)
            self._launch(plan, made, made, arrays, call)
            return made
        partial = [call.empty(d, (*s, plan.split.parts)) for d, s in zip(self._dtypes, plan.shapes)]
        seen = [call.memory.view(p, lambda array: array[..., 0]) for p in partial]
        self._launch(plan, seen, partial, arrays, call)
        places = into or (None,) * len(partial)
        return [self._combined(k, p, place, call) for k, (p, place) in enumerate(zip(partial, places))]

    def _launch(
        self, plan: _Plan, made: Sequence[Any], written: Sequence[Any], arrays: Sequence[Any], call: Call
    ) -> None:
        """Start a launch.  `made`: the results, or views of the first part of each array of partial results."""
        items, groups = self._of(plan.groups), plan.groups
        kernel, extents = items.kernel, plan.extents
        given = [*made, *(arrays[i.source] for i in kernel.inputs)]
        strides = [steps_along(o, a.shape, call.memory.strides(a), extents) for o, a in zip(kernel.operands, given)]
        arguments = arguments_of(kernel, extents, strides, [*written, *given[len(made) :]])
        for loop in groups.divided:
            arguments += reciprocal(extents[loop])
        if groups.is_split:
            arguments += plan.split.parts, plan.split.part
        *outer, last = [extents[l] for l in groups.kept] or [1]
        count = -(-last // groups.across) * plan.split.parts
        grid = (count * groups.items, *outer[-1:], 1)[:2]
        call.launch(
            self._start(groups, plan.dense), (*grid, math.prod(outer[:-1])), (groups.items, 1, 1), arguments,
        )  # fmt: skip

    def work(self, arrays: Sequence[Any]) -> int:
        """Return an estimate in picoseconds."""
        return math.prod(joint_extents(self.kernel, [a.shape for a in arrays]) or ()) * 1000

    def _planned(self, key: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> _Plan | None:
        kernel, items = self.kernel, self._items
        extents = joint_extents(kernel, [shape for shape, _ in key])
        if extents is None or 0 in extents:
            return None
        shapes = tuple(tuple([1 if l is None else extents[l] for l in o.axes]) for o in kernel.outputs)
        outputs, count = (math.prod(extents[l] for l in loops) for loops in (items.kept, items.reduced))
        split = row_split(count) if self._is_over_rows else split_of(outputs, count)
        dense_outputs = [(s, tuple(math.prod(s[k + 1 :]) for k in range(len(s)))) for s in shapes]
        given = [*dense_outputs, *(key[i.source] for i in kernel.inputs)]
        strides = [steps_along(o, *where, extents) for o, where in zip(kernel.operands, given)]
        inputs = strides[len(kernel.outputs) :]
        extents = collapsed(extents, strides, (items.kept, items.reduced))
        usual, most = (min(n, self._device.items) for n in self._limits)
        groups = groups_of(self._holding, split, extents, inputs, usual, most)
        dense = all(s.get(l, 1) == 1 for s in inputs for l in groups.loops[-1:])
        return _Plan(groups, split, dense, extents, shapes)

    def _typical(self) -> Groups:
        """Return the groups of a reduction of long contiguous rows, for a text that shows the kernel."""
        lanes = min(self._limits[0], self._device.items)
        return Groups(lanes, lanes, kept=self._items.kept, loops=self._items.reduced)

    def _of(self, groups: Groups) -> WorkItems:
        return self._holding if groups.held else self._items

    def _text(self, groups: Groups, dense: bool) -> str:
        return group_source(self._of(groups), self._device.dialect, groups, dense)

    def _start(self, groups: Groups, dense: bool) -> Any:
        """Return the compiled kernel for a mapping."""
        if (groups, dense) not in self._starts:
            kernel = self._of(groups).kernel
            pointers = [*pointers_of(kernel), *[False, False] * (len(groups.divided) + groups.is_split)]
            self._starts[groups, dense] = self._device.kernel(self._text(groups, dense), kernel.name, pointers)
        return self._starts[groups, dense]

    def _combined(self, output: int, partial: Any, place: Any, call: Call) -> Any:
        """Return the combined results of the parts."""
        if output not in self._combine:
            fold = self._items.folds[output]
            self._combine[output] = GroupsKernel(_reduction(fold, len(self.kernel.outputs[output].axes)), self._device)
        found = self._combine[output].run([partial], call, [place])
        assert found is not None
        return found[0]


def _reduction(fold: Fold, rank: int) -> Apply:
    """Return the reduction of the partial results of a fold along their last axis."""
    x = TensorVariable(TensorType(fold.dtype, (None,) * (rank + 1)))
    return Apply(Top(rank) if fold.name == "top" else Reduce(REDUCTIONS[fold.name], (rank,)), [x])
