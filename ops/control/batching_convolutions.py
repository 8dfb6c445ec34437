"""Convolutions of many examples, as further images or further groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import ops as T
from ...graph import Apply, Variable
from ..networks.convolution import Convolution, KernelGradient
from ..shapes.lengths import known_length
from .examples import Examples, Flags, all_broadcast, merged, moved, require_shared, split


def convolution(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    """Apply a convolution: examples of images are more images, those of kernels groups; else all pairs are computed."""
    op, (x, w) = node.op, inputs
    assert isinstance(op, Convolution)
    if not flags[1]:
        return split(op(merged(x, 0), w), 0, examples.length)
    x, w = all_broadcast(inputs, flags, examples)
    count = known_length(examples.length)
    if count is not None:
        found = replace(op, groups=op.groups * count)(merged(T.swapaxes(x, 0, 1), 1), merged(w, 0))
        return moved(split(found, 1, examples.length), 1)
    by_group = T.swapaxes(split(w, 1, _number(op.groups)), 0, 1)
    pairs = split(op(merged(x, 0), merged(merged(by_group, 0), 0)), 0, examples.length)
    each = split(split(pairs, 2, _number(op.groups)), 3, examples.length)  # examples, images, groups, examples, ...
    return merged(_of_same(each, 0, 3), 2)


def kernel_gradient(node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
    op = node.op
    assert isinstance(op, KernelGradient)
    require_shared(flags[2:], "the lengths of its result")
    x, g = (T.swapaxes(v, 0, 1) for v in all_broadcast(inputs[:2], flags[:2], examples))
    count = known_length(examples.length)
    if count is not None:
        found = replace(op, groups=op.groups * count)(merged(x, 1), merged(g, 1), *inputs[2:])
        return split(found, 0, examples.length)
    x, g = (merged(merged(T.swapaxes(split(v, 2, _number(op.groups)), 1, 2), 1), 1) for v in (x, g))
    pairs = split(split(op(x, g, *inputs[2:]), 0, _number(op.groups)), 1, examples.length)
    each = split(pairs, 3, examples.length)  # groups, examples, outputs, examples, channels, ...
    return merged(_of_same(each, 1, 3), 1)


def _number(n: int) -> Variable:
    return T.constant(n, "int64")


def _of_same(x: Variable, first: int, second: int) -> Any:
    """Return the diagonal of `x`, which has the axis of the examples twice, with that axis in front."""
    return T.moveaxis(T.diagonal(x, 0, first, second), -1, 0)
