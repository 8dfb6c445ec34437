"""Convolutions and pooling of NNEF."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import ops as T
from ...ops.networks.convolution import Convolution
from ...ops.networks.pooling import MaxPool, SumPool
from .table import Node, aligned, converter


def _around(node: Node, x: Any, axes: Sequence[int], *numbers: Sequence[int]) -> list[Any]:
    """The padding of each axis.  By default the output has ceil(input / stride) elements.

    `numbers`: sizes of windows, strides and dilations.
    """
    if node["padding"]:
        return [tuple(pair) for pair in node["padding"]]
    pairs = []
    for axis, k, s, d in zip(axes, *numbers, strict=True):
        length = x.type.shape[axis]
        if length is None:
            raise node.error(f"the length of axis {axis} must be known, since the padding depends on it")
        total = max((-(-length // s) - 1) * s + (k - 1) * d + 1 - length, 0)
        pairs.append((total // 2, total - total // 2))
    return pairs


def _numbers(given: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(given) if given else (1,) * count


@converter("conv")
def conv(node: Node, x: Any, kernels: Any, bias: Any) -> Any:
    if node["border"] != "constant":
        raise node.error(f"the border is {node['border']!r}, expected 'constant'")
    axes, size = list(range(2, x.ndim)), kernels.type.shape[2:]
    if None in size:
        raise node.error("the lengths of the kernels must be known")
    stride, dilation = _numbers(node["stride"], len(axes)), _numbers(node["dilation"], len(axes))
    groups = node["groups"] or x.type.shape[1]
    if groups is None:
        raise node.error("the number of channels must be known, since each is a group")
    pairs = _around(node, x, axes, size, stride, dilation)
    wide = T.pad(x, ((0, 0), (0, 0), *pairs)) if any(map(any, pairs)) else x
    y, bias = aligned(Convolution(stride, dilation, groups)(wide, kernels), bias)
    return y + bias


def _windows(node: Node, x: Any, fill: float) -> tuple[Any, list[Any], dict[str, tuple[int, ...]]]:
    """The padded tensor, its padding, and the window parameters with one number for each axis."""
    size, rank = tuple(node["size"]), x.ndim
    stride, dilation = _numbers(node["stride"], rank), _numbers(node["dilation"], rank)
    pairs = _around(node, x, range(rank), size, stride, dilation)
    wide = T.pad(x, tuple(pairs), constant_values=fill) if any(map(any, pairs)) else x
    return wide, pairs, {"kernel": size, "stride": stride, "dilation": dilation}


@converter("max_pool")
def max_pool(node: Node, x: Any) -> Any:
    borders = {"ignore": -math.inf, "constant": 0.0}
    if node["border"] not in borders:
        raise node.error(f"the border is {node['border']!r}, expected {', '.join(borders)}")
    wide, _, numbers = _windows(node, x, borders[node["border"]])
    return MaxPool(**numbers)(wide)


@converter("avg_pool", "box")
def avg_pool(node: Node, x: Any) -> Any:
    """Sums or means of windows.  If the border is ignored, a mean divides by the number of elements inside."""
    if node["border"] not in ("ignore", "constant"):
        raise node.error(f"the border is {node['border']!r}, expected ignore, constant")
    wide, pairs, numbers = _windows(node, x, 0.0)
    total = SumPool(**numbers)(wide)
    if node.op == "box" and not node["normalize"]:
        return total
    if node["border"] == "constant" or not any(map(any, pairs)):
        return total / math.prod(numbers["kernel"])
    inside = T.pad(T.ones_like(x), tuple(pairs))
    return total / SumPool(**numbers)(inside)
