"""Kernels that look up elements at computed indices: the check of the indices after the loops.

    for (i)  { outside |= j out of range;  y[i] = w[i] * x[j in range, else 0]; }       (vectorized)
    if (outside)  for (i)  if (j out of range)  report j, and return

An array without elements has no first one, which stands for those outside: the loops are then left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from ...graph import Apply
from ..ir import loops as ir
from ..ir.kernel import Status
from ..ir.operands import Argument, Report, arguments, length_name, table_arguments
from .group import Group, Place, operands_at
from .nest import OUTSIDE, Nest, Operands


class _Reporting(Nest):
    """A nest that returns at the first index outside."""

    numbers: dict[Apply, int]

    def let(self, expr: ir.Expr) -> ir.Local:
        """Return the name of `expr`, computed in the innermost loop, behind the checks of what it reads."""
        return self._known.get(expr) or self.let_at(len(self.order), expr)

    def refuse(self, node: Apply, outside: ir.Expr, index: ir.Expr, length: ir.Expr, axis: int) -> None:
        given = self.cast(index, "int64")
        message = (ir.number(4), given, length, ir.number(axis), ir.number(self.numbers[node]))
        stores = (ir.Store("detail", ir.number(k), value) for k, value in enumerate(message))
        self.at[-1].append(ir.If(outside, (*stores, ir.Return(ir.Const("int32", int(Status.INDEX))))))


def checked(body: ir.Body, group: Group, operands: Operands) -> ir.Body:
    """Return the loops of a kernel that looks up elements, with the checks of indices around them."""
    tables = [k for k, operand in enumerate(operands.inputs, len(operands.outputs)) if operand.indexed]
    lengths = [length_name(operands.array(k), axis) for k in tables for axis in range(len(operands[k].axes))]
    is_empty = ir.some([ir.equal(ir.index(name), ir.ZERO) for name in lengths])
    bare = ir.If(is_empty, (ir.Assign(OUTSIDE.name, ir.ONE),), body)
    is_outside = ir.ScalarOp("ne", "bool", (OUTSIDE, ir.ZERO))
    return (ir.Var(OUTSIDE.name, ir.ZERO), bare, ir.If(is_outside, tuple(_reports(group, operands))))


def signature_of(operands: Operands, rank: int) -> tuple[Argument, ...]:
    """Return the arguments of a kernel that looks up elements."""
    arrays = operands.outputs + operands.inputs
    return (*arguments(rank, arrays), *table_arguments(arrays, len(operands.outputs)), Report())


def _reports(group: Group, operands: Operands) -> Iterator[ir.Statement]:
    """Yield the loops that find the first index outside, and return it."""
    nest = _Reporting(range(group.rank), operands, (f"r{n}" for n in count()))
    nest.numbers = {node: number for number, node in enumerate(group.lookups)}
    for node, place in _placed(group):
        nest.value(node.outputs[0], place)
    yield from nest.at[0]
    if nest.order:
        yield from nest.looped((ir.loop(nest.order[-1], nest.at[-1]),), len(nest.order) - 1)


def _placed(group: Group) -> list[tuple[Apply, Place]]:
    """Return the nodes that look up elements, with the places of their results, in topological order."""
    found: dict[tuple[Apply, Place], None] = {}
    stack = [(r.value, r.place) for r in group.results]
    seen = set(stack)
    while stack:
        value, place = stack.pop()
        if value in group.leaves or value.owner is None:
            continue
        if value.owner in group.lookups:
            found[value.owner, place] = None
        fresh = [key for key in operands_at(value.owner, place) if key not in seen]
        seen.update(fresh)
        stack += fresh
    order = {node: number for number, node in enumerate(group.lookups)}
    return sorted(found, key=lambda key: order[key[0]])
