"""Kernels over interleaved arrays: columns of one array with short rows, as quaternions or the channels of a picture.

    y[:, 0] = x[:, 0] - x[:, 1]; y[:, 1] = x[:, 0] + x[:, 1]
    -->
    if (x_s0 == 2 && x_s1 == 1 && ...)
        for (i0) { y_column0[2 * i0] = x_column0[2 * i0] - x_column1[2 * i0]; ... }                     (vectorized)
    else
        for (i0) { y_column0[i0 * y_s0] = x_column0[i0 * x_s0] - x_column1[i0 * x_s0]; ... }

A row is read and written whole, and vectors are shuffled.  The kernel has a pointer and strides for each array, not for
each column, so the addresses fit into registers.  The columns are no loop of the body: they come after the loops, and a
launch gives them one step.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from ...graph import Apply
from ...record import record
from ..ir import loops as ir
from ..ir.kernel import Kernel
from ..ir.operands import Operand, arguments, operand_name, stride_name
from ..ir.walk import pruned, renamed, substituted
from .describe import describe
from .fold import folded_loops
from .group import group_of
from .nest import Nest, Operands
from .splitting import splits_of
from .strips import in_wide_vectors, is_costly


@record
class Interleaved:
    """An array with the columns, along its last axis, that some operands of a kernel are.

    `columns`: the number of each such operand, and its column.  `axes`: the loops of the other axes of the array.
    `width`: the length of its rows, or the least one if it is not known.
    """

    columns: tuple[tuple[int, int], ...]
    axes: tuple[int | None, ...]
    width: int


def representatives(count: int, arrays: Collection[Interleaved]) -> list[int]:
    """Return those of `count` operands that remain if the first column of each array stands for all its columns."""
    others = {number for array in arrays for number, _ in array.columns[1:]}
    return [number for number in range(count) if number not in others]


def lower_interleaved(node: Apply, arrays: Sequence[Interleaved]) -> Kernel | None:
    """Return the kernel of an elementwise node over interleaved arrays; None if another form of its loops is better."""
    group = group_of(node)
    separate = Operands(group)
    nest = Nest(range(group.rank), separate, (f"v{n}" for n in itertools.count()))
    values = [nest.cast(nest.value(r.value, r.place), r.dtype) for r in group.results]
    column = {number: column for array in arrays for number, column in array.columns}
    in_order = sorted(range(len(values)), key=lambda k: column.get(k, 0))  # processors write ascending addresses faster
    general = nest.inner_loop([nest.store(k, values[k]) for k in in_order])
    if nest.fallible or is_costly(general):
        return None
    whole = _Whole(separate, arrays, group.rank)
    gapless = whole.gapless(nest.order[-1])

    def looped(loop: ir.For, strides: Mapping[str, ir.Expr]) -> ir.Body:
        own = {mine: strides.get(name, ir.index(name)) for mine, name in whole.strides.items()}
        body = substituted((*nest.at[0], *nest.looped((loop,), group.rank - 1)), own)
        return (*substituted(whole.columns(), strides), *renamed(body, whole.names))

    vectors = looped(in_wide_vectors(general), gapless)
    scalars = looped(replace(general, simd=False), {})
    conditions = [ir.equal(ir.index(name), length) for name, length in gapless.items()]
    loops = (*folded_loops(nest.order, whole, frozenset()), ir.If(ir.every(conditions), vectors, scalars))
    rank = group.rank + 1
    return Kernel(
        describe(group), rank, whole.outputs, whole.inputs, pruned(loops),
        splits=replace(splits_of(group, separate), folds=(None,) * len(whole.outputs)),
        signature=tuple(arguments(rank, whole.outputs + whole.inputs)),
    )  # fmt: skip


class _Whole(Operands):
    """The operands of a kernel with interleaved arrays in the place of their columns.

    `names`, `strides`: for each array and stride of the separate operands its name here.
    """

    def __init__(self, separate: Operands, arrays: Sequence[Interleaved], rank: int) -> None:
        first = {array.columns[0][0]: array for array in arrays}
        kept = representatives(separate.count, arrays)
        outputs = sum(k < len(separate.outputs) for k in kept)
        operands = [
            replace(separate[k], axes=(*first[k].axes, rank)) if k in first else separate[k] for k in kept
        ]  # fmt: skip
        self.outputs: tuple[Operand, ...] = tuple(operands[:outputs])
        self.inputs: tuple[Operand, ...] = tuple(operands[outputs:])
        self._along = rank
        self._arrays = {n: first[k] for n, k in enumerate(kept) if k in first}
        place = {k: operand_name(n, outputs) for n, k in enumerate(kept)}
        self.names = {separate.array(k): name for k, name in place.items()}
        for n, array in self._arrays.items():
            for k, column in array.columns:
                place[k] = operand_name(n, outputs)
                self.names[separate.array(k)] = f"{place[k]}_column{column}"
        self.strides = {
            stride_name(separate.array(k), loop): stride_name(name, loop)
            for k, name in place.items()
            for loop in separate[k].loops
        }

    def columns(self) -> ir.Body:
        """Return the pointers to the columns of the arrays."""
        found: list[ir.Statement] = []
        for n, array in self._arrays.items():
            name, along = self.array(n), self.stride(n, self._along)
            for column in sorted({column for _, column in array.columns}):
                offset = ir.times(ir.number(column), along) if column else ir.ZERO
                pointer = f"{name}_column{column}"
                found.append(ir.ElementPointer(pointer, self[n].dtype, name, offset, n >= len(self.outputs)))
        return tuple(found)

    def gapless(self, inner: int) -> dict[str, ir.Expr]:
        """Return the strides along the innermost loop and along columns if no array has gaps."""
        found: dict[str, ir.Expr] = {}
        for n in range(self.count):
            array = self._arrays.get(n)
            if inner in self[n].loops:
                found[self.stride(n, inner).name] = ir.number(1 if array is None else array.width)
            if array is not None:
                found[self.stride(n, self._along).name] = ir.ONE
        return found
