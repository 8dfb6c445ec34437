"""Launches of elementwise kernels over interleaved arrays: several operands are columns of one array with short rows.

    fused(q[:, 0], q[:, 1], q[:, 2])  -->  one operand q, of which the kernel reads three columns
    join(a, b, c, axis=-1)            -->  one result, of which the kernel writes three columns
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....graph import Apply, Constant, Variable
from ....ops.elementwise.records import Pointwise
from ....ops.lowered.fused import Fused
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.shape import DimShuffle
from ....targets.current import current
from ...ir.kernel import Kernel
from ...ir.schedule import DEFAULT
from ...lowering.interleaved import Interleaved, representatives
from ..planner import Planner, whole_outputs
from ..program import Array, Lengths

Places = Mapping[Variable, tuple[Array, int, int]]
"""For values that are columns of a result: that result, the column, and the number of all columns."""


def launch_interleaved(
    p: Planner, node: Apply, kernel: Kernel, extents: Lengths, outputs: Sequence[Array], places: Places
) -> None:
    """Launch the kernel of an elementwise node, over whole arrays where operands are columns of them."""
    inputs = [p.arrays[node.inputs[operand.source]] for operand in kernel.inputs]
    own: list[Array] = [*outputs, *inputs]
    found = _interleaved(p, node, kernel, own, places)
    whole = p.interleaved(node, tuple(found)) if found and kernel.schedule == DEFAULT else None
    if whole is None:
        p.launch(kernel, extents, outputs, inputs)
        return
    for array, base in found.items():
        own[array.columns[0][0]] = base
    arrays = [own[k] for k in representatives(len(own), found)]
    count = len(whole.outputs)
    p.launch(whole, (*extents, None), arrays[:count], arrays[count:])


def _interleaved(
    p: Planner, node: Apply, kernel: Kernel, own: Sequence[Array], places: Places
) -> dict[Interleaved, Array]:
    """Return the arrays of which a kernel reads or writes several columns, as a kernel takes them."""
    if not (kernel.rank and _is_elementwise(node)) or kernel.fallible or kernel.shared:
        return {}
    if not all(whole_outputs(node, kernel)):
        return {}
    columns: dict[Any, list[tuple[int, int]]] = {}
    arrays: dict[Any, tuple[Array, int | None]] = {}
    for number, operand in enumerate(kernel.operands):
        key: Any
        if number < len(kernel.outputs):
            place = places.get(node.outputs[operand.source])
            if place is None:
                continue
            base, column, width = place
            key = (base.base, operand.axes[:-1])
            arrays[key] = base, width
        else:
            seen = _column_of(node.inputs[operand.source])
            if seen is None or seen[0] not in p.arrays:
                continue
            root, axes, column = seen
            key = (root, tuple(operand.axes[axis] for axis in axes))
            arrays[key] = p.arrays[root], root.type.shape[-1]
        columns.setdefault(key, []).append((number, column))
    found = {}
    for key, numbers in columns.items():
        base, known = arrays[key]
        width = known or 1 + max(column for _, column in numbers)
        if len(numbers) > 1 and width <= current().limits.joins.columns:
            found[Interleaved(tuple(numbers), key[1], width)] = base
    return found


def _is_elementwise(node: Apply) -> bool:
    inside = node.op.graph.order if isinstance(node.op, Fused) else (node,)
    return all(isinstance(n.op, (Pointwise, DimShuffle)) for n in inside)


def _column_of(value: Variable) -> tuple[Variable, tuple[int, ...], int] | None:
    """Return the array whose column a value is, the axes of the value along its other axes, and the column."""
    axes = tuple(range(value.ndim))
    while value.owner is not None and isinstance(value.owner.op, DimShuffle):
        order = value.owner.op.order
        value = value.owner.inputs[0]
        if not all(axis in order for axis in range(value.ndim)):
            return None
        axes = tuple(axes[order.index(axis)] for axis in range(value.ndim))
    node = value.owner
    if node is None or not isinstance(node.op, Subtensor):
        return None
    root, *indices = node.inputs
    if node.op.spec != ("s000",) * (root.ndim - 1) + ("i",) or not isinstance(indices[0], Constant):
        return None
    column = int(indices[0].data)
    return None if column < 0 else (root, axes, column)
