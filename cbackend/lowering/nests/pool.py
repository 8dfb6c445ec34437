"""Loop nests of pooling: one pass over the results, each computed from its whole window of x.

    for (i0) ... for (i3)
        y[...] = maximum(maximum(x[i3 * s3], x[i3 * s3 + s5]), ...)

The kernel sees x as its windows: with one axis for each loop and, behind these, one for each axis of a window.  The
latter have extents and strides but no loops: the positions of a window are read, or written, one after the other.

The cotangent of x is written by the same loops.  Where windows overlap its numbers are added up, in the order of the
windows, so the loops over windows are never split; else each number is written once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

from ....graph import Apply
from ....ops.networks.pooling import MaxPoolGradient, Pool, SumPool
from ....targets.current import current
from ...ir import loops as ir
from ...ir.operands import Operand
from ...ir.walk import substituted
from ..fold import folded_loops
from ..group import Group, Result
from ..nest import Nest, Operands


class Windows(Operands):
    """Operands of a pooling kernel: axes of results have loops, those of a window have extents only."""

    def __init__(self, node: Apply) -> None:
        op = node.op
        assert isinstance(op, Pool)
        self.rank: int = node.inputs[0].ndim
        own = tuple(range(self.rank))
        windows = tuple(range(self.rank + len(op.kernel)))
        is_back = isinstance(op, MaxPoolGradient)
        self.outputs = (Operand(node.out.dtype, windows if is_back else own, 0),)
        axes = [windows, own, own] if is_back else [windows]
        self.inputs = tuple(Operand(i.dtype, a, k) for k, (i, a) in enumerate(zip(node.inputs, axes, strict=True)))
        self.number = {(i, o.axes): 1 + k for k, (i, o) in enumerate(zip(node.inputs, self.inputs, strict=True))}
        self.steps = self._steps(op)

    def _steps(self, op: Pool) -> dict[str, ir.Expr]:
        """Return the strides by which operands move along the last axis if they are contiguous there."""
        last, within = self.rank - 1, self.rank + len(op.kernel) - 1
        found: dict[str, ir.Expr] = {}
        for k in range(self.count):
            has_windows = within in self[k].loops
            found[self.stride(k, last).name] = ir.number(op.stride[-1]) if has_windows else ir.ONE
            if has_windows:
                found[self.stride(k, within).name] = ir.number(op.dilation[-1])
        return found


def pool_kernel(node: Apply) -> tuple[ir.Body, Group, Windows, str, frozenset[int]]:
    """Statements, group, operands, comment and the loops that are never split, of a pooling op or its cotangent."""
    op, operands = node.op, Windows(node)
    assert isinstance(op, Pool)
    order = range(operands.rank)
    nest = Nest(order, operands, (f"v{n}" for n in itertools.count()))
    adds = isinstance(op, MaxPoolGradient) and op.overlaps
    is_large = math.prod(op.kernel) > current().limits.pools.taps
    if not isinstance(op, MaxPoolGradient):
        stores = _folded(nest, op, node.out.dtype)
    else:
        stores = (_shares_in_loops if is_large else _shares)(nest, op, adds)
    inside = _looped(nest, operands, stores, 1 if adds or is_large else _lanes(node))
    body = (*folded_loops(order, operands, frozenset()), *nest.at[0], *inside)
    result = Result(node.out, tuple(order), None, (), node.out.dtype)
    group = Group(node.inputs, (result,), operands.rank + len(op.kernel))
    along = frozenset(order[-len(op.kernel) :]) if adds else frozenset()
    comment = f"y0 = {op.name}{{kernel={op.kernel}, stride={op.stride}, dilation={op.dilation}}}"
    names = ", ".join(f"x{k}" for k in range(len(node.inputs)))
    return body, group, operands, f"{comment}({names})", along


def _looped(nest: Nest, operands: Windows, stores: Sequence[ir.Statement], lanes: int) -> ir.Body:
    """Return the loops, with an alternative for contiguous operands that computes several windows together."""
    depth = len(nest.order)
    plain = nest.inner_loop(stores, simd=False)
    if lanes == 1:
        return nest.looped((plain,), depth - 1)
    close = ir.every([ir.equal(ir.index(name), step) for name, step in operands.steps.items()])
    unit = substituted((replace(plain, simd=True, lanes=lanes),), operands.steps)
    return nest.looped((ir.If(close, unit, (plain,)),), depth - 1)


def _lanes(node: Apply) -> int:
    """Return the number of windows that are computed together: few, since rows of windows may be short."""
    few, more = current().limits.pools.lanes
    length = node.inputs[-1].type.shape[-1] if isinstance(node.op, MaxPoolGradient) else node.out.type.shape[-1]
    return few if length is not None and length < 2 * more else more


def _positions(nest: Nest, op: Pool, operand: int) -> list[tuple[str, ir.Expr]]:
    """Return array and index of each position of the current window."""
    array, offset, _ = nest.address(operand)
    rank = len(nest.order)
    found = []
    for position in itertools.product(*map(range, op.kernel)):
        place = offset
        for axis, p in enumerate(position):
            if p:
                place = ir.plus(place, ir.times(ir.number(p), nest.operands.stride(operand, rank + axis)))
        found.append((array, place))
    return found


def _read(nest: Nest, op: Pool, operand: int) -> list[ir.Local]:
    dtype = nest.operands[operand].dtype
    return [nest.let_at(len(nest.order), ir.Load(dtype, *place)) for place in _positions(nest, op, operand)]


def _folded(nest: Nest, op: Pool, dtype: str) -> list[ir.Statement]:
    """Return the maximum or the sum of each window."""
    name = "add" if isinstance(op, SumPool) else "maximum"
    first, *rest = _read(nest, op, 1)
    value: ir.Expr = first
    for each in rest:
        value = nest.op(name, dtype, value, each)
    return [nest.store(0, value)]


def _shares(nest: Nest, op: Pool, adds: bool) -> list[ir.Statement]:
    """Return the statements that divide the cotangent equally among the positions of the maximum."""
    dtype = nest.operands[0].dtype
    zero, one = ir.Const(dtype, 0), ir.Const(dtype, 1)
    taps, largest, share = _read(nest, op, 1), nest.load(2), nest.load(3)
    reached = [nest.op("eq", "bool", tap, largest) for tap in taps]
    if len(taps) > 1:
        first, *rest = [nest.op("switch", dtype, r, one, zero) for r in reached]  # gcc vectorizes no cast of a bool
        for each in rest:
            first = nest.op("add", dtype, first, each)
        share = nest.op("true_div", dtype, share, first)
    stores: list[ir.Statement] = []
    for r, place in zip(reached, _positions(nest, op, 0), strict=True):
        value = nest.op("switch", dtype, r, share, zero)
        if adds:
            before = nest.let_at(len(nest.order), ir.Load(dtype, *place))
            value = nest.op("add", dtype, before, value)
        stores.append(ir.Store(*place, value))
    return stores


def _shares_in_loops(nest: Nest, op: Pool, adds: bool) -> list[ir.Statement]:
    """Return the same for large windows, by two loops over the positions: one counts the maxima, one writes."""
    dtype = nest.operands[0].dtype
    work = "float32" if dtype == "float16" else dtype
    largest, share, count = _as(nest.load(2), work), _as(nest.load(3), work), ir.Local(work, "count")
    reached = ir.ScalarOp("eq", "bool", (_as(ir.Load(dtype, *_current(nest, op, 1)), work), largest))
    flag = ir.ScalarOp("switch", work, (reached, ir.Const(work, 1), ir.Const(work, 0)))
    array, offset = _current(nest, op, 0)
    value: ir.Expr = ir.ScalarOp("switch", dtype, (reached, ir.Local(dtype, "share"), ir.Const(dtype, 0)))
    if adds:
        parts = (_as(ir.Load(dtype, array, offset), work), _as(value, work))
        value = _as(ir.ScalarOp("add", work, parts), dtype)
    return [
        ir.Var("count", ir.Const(work, 0)),
        *_within(nest, op, ir.Assign("count", ir.ScalarOp("add", work, (count, flag)))),
        ir.Let("share", _as(ir.ScalarOp("true_div", work, (share, _as(_as(count, dtype), work))), dtype)),
        *_within(nest, op, ir.Store(array, offset, value)),
    ]


def _as(value: ir.Expr, dtype: str) -> ir.Expr:
    return value if value.dtype == dtype else ir.ScalarOp("cast", dtype, (value,))


def _current(nest: Nest, op: Pool, operand: int) -> tuple[str, ir.Expr]:
    """Return array and index of the current position of the current window."""
    array, place, _ = nest.address(operand)
    for loop_number in range(len(nest.order), len(nest.order) + len(op.kernel)):
        place = ir.plus(place, ir.times(ir.index(f"i{loop_number}"), nest.operands.stride(operand, loop_number)))
    return array, place


def _within(nest: Nest, op: Pool, inside: ir.Statement) -> ir.Body:
    """Return a statement in loops over the positions of a window."""
    body: ir.Body = (inside,)
    for loop_number in reversed(range(len(nest.order), len(nest.order) + len(op.kernel))):
        body = (ir.loop(loop_number, body),)
    return body
