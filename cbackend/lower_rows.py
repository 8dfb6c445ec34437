"""Kernels of the softmax family: rows along one axis, each read two or three times while it lies in the cache.

    top = max(row);  total = sum(exp(row - top));  then  exp(row - top) / total,  row - top - log(total)  or  log(total) + top

float16 is computed in float32 and rounded once.  Infinities and NaN come out as in the NumPy meaning of the ops (ops/nn.py).
"""

from __future__ import annotations

import itertools
import math

from ..graph import Apply
from ..ops.nn import AlongAxis, LogSoftmax, LogSumExp, Softmax
from .accumulate import cast, choose, recipe
from .blocks import Slot, in_blocks, started, total
from .group import Group, Result
from .loops import Assign, Body, Const, Expr, Let, Load, Local, Op, Statement, Store, Var
from .nest import Nest, Operands, specialized

_TOP, _SHIFT, _TERM, _SCALE = "top", "shift", "term", "scale"


def row_group(node: Apply) -> Group:
    """The group of a softmax: its result before anything is reduced; the axis has a loop even if its length is known to be 1."""
    (x,) = node.inputs
    assert isinstance(node.op, AlongAxis)
    axis = node.op.axis
    moving = [a for a in range(x.ndim) if a == axis or x.type.shape[a] != 1]
    place = tuple(moving.index(a) if a in moving else None for a in range(x.ndim))
    axes = (axis,) if isinstance(node.op, LogSumExp) else ()
    return Group(node.inputs, (Result(x, place, node.op.name, axes, x.dtype),), len(moving))


def row_nest(node: Apply, group: Group, operands: Operands) -> tuple[Nest, Body]:
    """The nest of a softmax and its statements."""
    (result,) = group.results
    assert isinstance(node.op, AlongAxis)
    along = result.place[node.op.axis]
    assert along is not None
    order = (*(l for l in range(group.rank) if l != along), along)
    nest = Nest(order, operands, (f"v{n}" for n in itertools.count()))
    x = nest.value(result.value, result.place)
    wide = "float32" if x.dtype == "float16" else x.dtype
    body = _rows(nest, node, nest.cast(x, wide))
    return nest, (*nest.at[0], *nest.looped(body, len(order) - 1))


def _rows(nest: Nest, node: Apply, x: Expr) -> Body:
    """What is done for one row."""
    top, shift = Local(x.dtype, _TOP), Local(x.dtype, _SHIFT)
    highest = nest.inner_loop((Assign(_TOP, choose("gt", x.dtype)(top, x)),), [("max", _TOP)])
    finite = Op("switch", x.dtype, (Op("isfinite", "bool", (top,)), top, Const(x.dtype, 0)))
    term = Op("exp", x.dtype, (Op("sub", x.dtype, (x, shift)),))
    (lane,) = recipe("sum", x.dtype).lanes
    slot = Slot(lane, "part", "total", Local(x.dtype, _TERM))
    keeps = isinstance(node.op, Softmax) and node.inputs[0].dtype == x.dtype
    output = nest.store(0, slot.fed)
    add = (Let(_TERM, term), Assign(slot.part, lane.step(Local(x.dtype, slot.part), slot.fed)), *((output,) if keeps else ()))
    return (
        Var(_TOP, Const(x.dtype, -math.inf)),
        specialized(highest),
        Let(_SHIFT, finite if isinstance(node.op, LogSumExp) else top),
        *started(slot),
        in_blocks(nest.inner_loop(add, [("+", slot.part)]), [slot]),
        *_finished(nest, node, x, slot, output, term if not keeps else None),
    )


def _finished(nest: Nest, node: Apply, x: Expr, slot: Slot, output: Store, term: Expr | None) -> Body:
    """What is stored once the sum of the row is known; `term`: what softmax scales, None where the output holds it already."""
    shift, scale = Local(x.dtype, _SHIFT), Local(x.dtype, _SCALE)
    log_total = cast(Op("log", slot.total_dtype, (total(slot),)), x.dtype)
    if isinstance(node.op, LogSumExp):
        return (_stored(output, Op("add", x.dtype, (log_total, shift)), node),)
    if isinstance(node.op, LogSoftmax):
        known = Let(_SCALE, log_total)
        value: Expr = Op("sub", x.dtype, (Op("sub", x.dtype, (x, shift)), scale))
    else:
        known = Let(_SCALE, cast(Op("reciprocal", slot.total_dtype, (total(slot),)), x.dtype))
        value = Op("mul", x.dtype, (term or Load(x.dtype, output.array, output.index), scale))
    return (known, specialized(nest.inner_loop((_stored(output, value, node),))))


def _stored(output: Store, value: Expr, node: Apply) -> Statement:
    return Store(output.array, output.index, cast(value, node.outputs[0].dtype))
