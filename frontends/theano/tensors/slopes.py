"""Ops of the core with the derivatives of Theano.

The values are the core's; derivatives differ where several numbers are extreme, and where a program asks for others
(`grad_clip`, `zero_grad`).  `plain` puts the core's own ops in their place once all derivatives are taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Apply, NoGradient, Variable, rebuild
from ....ops.elementwise.user_ops import elementwise_op
from ....ops.networks.pooling import MaxPool, MaxPoolGradient
from ....ops.reductions.reduce import REDUCTIONS, Reduce, with_kept_axes
from ....ops.shapes.lengths import lengths_of

# --- extrema: the derivative goes, in full, to each number that is the extremum


class FullExtremum(Reduce):
    """A maximum or minimum over axes."""

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (x,), (g,) = node.inputs, cotangents
        if g is None or x.type.kind != "f":
            return super().vjp(node, cotangents)
        y, slope = (with_kept_axes(v, self.axis, x.ndim) for v in (node.out, g))
        return [T.switch(T.eq(x, y), slope, T.constant(0, x.dtype))]


class FullMaxPool(MaxPool):
    """The largest number of each window."""

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x,) = cotangents, node.inputs
        if g is None or x.type.kind != "f":
            return [None]
        given: Any = x
        places = self.places(lengths_of(node.out))
        reached = [T.cast(T.eq(given[place], node.out), g.type.dtype) for place in places]
        count = reached[0] if len(reached) == 1 else T.add(*reached)
        return [MaxPoolGradient(self.kernel, self.stride, self.dilation)(x, node.out, T.mul(g, count))]


def _sides(reaches: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The derivatives of the larger or smaller of two numbers: equal numbers give all of it to the first."""
    return (
        lambda g, y, a, b: T.switch(reaches(a, b), g, T.zeros_like(g)),
        lambda g, y, a, b: T.switch(reaches(a, b), T.zeros_like(g), g),
    )


EXTREMA = {
    "maximum": replace(T.ELEMENTWISE["maximum"], derivative=_sides(T.ge)),
    "minimum": replace(T.ELEMENTWISE["minimum"], derivative=_sides(T.le)),
}
"""The larger and the smaller of two numbers."""


def extremum(name: str, x: Variable, axis: Any) -> Any:
    """The `max` or `min` of a tensor over axes."""
    rank = len(x.type.shape)
    axes = range(rank) if axis is None else [axis] if isinstance(axis, int) else axis
    if any(not -rank <= a < rank for a in axes):
        getattr(T, name)(x, axis)  # raises for the axis
    return FullExtremum(REDUCTIONS[name], tuple(sorted({a % rank for a in axes})))(x)


# --- the identity with other derivatives


def _itself(x: Any) -> Any:
    return np.copy(x)


def _passing(name: str, derivative: Callable[..., Any]) -> Any:
    """The identity with another derivative."""
    return elementwise_op(
        name, _itself, c="x", derivative=derivative, dtypes=("float64", "float32", "float16"), cost=0,
        doc="The value of x; its derivative is changed.",
    )  # fmt: skip


@cache
def clipping(low: float, high: float) -> Any:
    """The identity whose derivative is clipped."""
    return _passing(_identifier("grad_clip", low, high), lambda g, y, x: T.clip(g, low, high))


@cache
def scaling(factor: float) -> Any:
    """The identity whose derivative is multiplied."""
    return _passing(_identifier("grad_scale", factor), lambda g, y, x: T.mul(g, factor))


@cache
def zeroing() -> Any:
    """The identity whose derivative is zero."""
    return _passing("zero_grad", lambda g, y, x: T.zeros_like(g))


@cache
def refusing() -> Any:
    """The identity whose derivative does not exist."""

    def refuse(g: Any, y: Any, x: Any) -> Any:
        raise NoGradient("the derivative of undefined_grad(x) does not exist")

    return _passing("undefined_grad", refuse)


def _identifier(name: str, *numbers: float) -> str:
    """A name that differs between ops of different numbers."""
    return "_".join([name, *(re.sub(r"\W", lambda found: f"_{ord(found[0])}_", repr(n)) for n in numbers)])


# --- values alone


def plain(values: Sequence[Variable]) -> list[Variable]:
    """The same values by the core's own ops; to be called once no further derivative is taken."""
    return rebuild(values, {}, _visit)


def _visit(node: Apply) -> Sequence[Variable]:
    op: Any = node.op
    if op is T.ELEMENTWISE["stop_gradient"] or getattr(op, "function", None) is _itself:
        return node.inputs
    if isinstance(op, FullExtremum):
        return Apply(Reduce(op.scalar, op.axis), node.inputs, node.origin).outputs
    if isinstance(op, FullMaxPool):
        return Apply(MaxPool(op.kernel, op.stride, op.dilation), node.inputs, node.origin).outputs
    if any(op is special for special in EXTREMA.values()):
        return Apply(T.ELEMENTWISE[op.name], node.inputs, node.origin).outputs
    return node.outputs
