"""Elementwise ops, reductions, and their neighbours."""

from __future__ import annotations

from typing import Any

from pytensor.scalar import basic as ps
from pytensor.tensor import math, special
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise

from .... import ops as T
from ..table import FAMILIES, Call, converter
from ..versions import classes
from .scalars import applied, as_dtype


@converter(Elemwise)
def elemwise(call: Call, *xs: Any) -> Any:
    found = applied(call.op.scalar_op, call.dtypes, xs)
    return NotImplemented if found is None else found


FAMILIES.add(ps.ScalarOp)


@converter(ps.ScalarOp)
def scalar_op(call: Call, *xs: Any) -> Any:
    found = applied(call.op, call.dtypes, xs)
    return NotImplemented if found is None else found


@converter(DimShuffle)
def dimshuffle(call: Call, x: Any) -> Any:
    return T.dimshuffle(x, *call.op.new_order)


_REDUCTIONS = {ps.Add: "sum", ps.Mul: "prod", ps.Maximum: "max", ps.Minimum: "min", ps.AND: "all", ps.OR: "any"}


@converter(CAReduce, *classes(math, "NonZeroDimsCAReduce"))
def reduction(call: Call, x: Any) -> Any:
    op, kind, dtype = call.op, type(call.op.scalar_op), call.dtypes[0]
    axis = op.axis if op.axis is None else tuple(op.axis)
    if axis == ():
        return as_dtype(x, dtype)
    working = getattr(op, "acc_dtype", None) or dtype
    if kind in (ps.Add, ps.Mul):
        return as_dtype(getattr(T, _REDUCTIONS[kind])(as_dtype(x, working), axis, working), dtype)
    if kind is math.MulWithoutZeros:
        x = as_dtype(x, working)
        return as_dtype(T.prod(T.switch(T.eq(x, 0), T.constant(1, working), x), axis, working), dtype)
    if kind in (ps.Maximum, ps.Minimum) and getattr(op, "initial", False):  # of version 3: the result if none is there
        return as_dtype(getattr(T, _REDUCTIONS[kind])(x, axis, initial=op.initial_value(x.dtype)), dtype)
    if kind in (ps.Maximum, ps.Minimum) or (kind in (ps.AND, ps.OR) and x.dtype == "bool"):
        return as_dtype(getattr(T, _REDUCTIONS[kind])(x, axis), dtype)
    return NotImplemented


@converter(math.Argmax)
def argmax(call: Call, x: Any) -> Any:
    axes = range(x.ndim) if call.op.axis is None else [a % x.ndim for a in call.op.axis]
    kept = [a for a in range(x.ndim) if a not in axes]
    if len(axes) != 1:
        x = T.transpose(x, [*kept, *axes])
        lengths = T.lengths_of(x)[: len(kept)]
        x = T.reshape(x, (*lengths, -1), ndim=len(kept) + 1)
        return T.argmax(x, axis=-1)
    return T.argmax(x, axis=axes[0])


@converter(special.Softmax)
def softmax(call: Call, x: Any) -> Any:
    return _along(T.softmax, call, x)


@converter(special.LogSoftmax)
def log_softmax(call: Call, x: Any) -> Any:
    return _along(T.log_softmax, call, x)


@converter(*classes(special, "SoftmaxGrad"))
def softmax_grad(call: Call, dy: Any, sm: Any) -> Any:
    product = dy * sm
    axis = tuple(range(sm.ndim)) if call.op.axis is None else call.op.axis
    return product - T.sum(product, axis, keepdims=True) * sm


def _along(function: Any, call: Call, x: Any) -> Any:
    """Return a softmax along the axes of its op: one, all of them, or several, which version 3 alone has."""
    axes = call.op.axis
    if axes is None or x.ndim == 1:
        return T.reshape(function(T.flatten(x), axis=0), T.lengths_of(x), ndim=x.ndim)
    first, *others = axes if isinstance(axes, tuple) else (axes,)
    return call.conversion.inner(call.op.fgraph, (x,))[0] if others else function(x, axis=first)
