"""Shapes, reductions and products of NNEF."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from ... import ops as T
from .table import CONVERTERS, Node, aligned, converter, tensor

REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum_reduce": T.sum, "mean_reduce": T.mean, "max_reduce": T.max, "min_reduce": T.min, "any_reduce": T.any,
    "all_reduce": T.all,
}  # fmt: skip


def _reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    def convert(node: Node, x: Any) -> Any:
        average = node.attributes.get("normalize", False)
        return (T.mean if average else function)(x, axis=tuple(node["axes"]), keepdims=True)

    return convert


for _name, _function in REDUCTIONS.items():
    CONVERTERS[_name] = _reduction(_function)


@converter("argmax_reduce", "argmin_reduce")
def arg_reduce(node: Node, x: Any) -> Any:
    if len(node["axes"]) != 1:
        raise node.error(f"the axes are {node['axes']}, expected one")
    return (T.argmax if node.op == "argmax_reduce" else T.argmin)(x, axis=node["axes"][0], keepdims=True)


@converter("reshape")
def reshape(node: Node, x: Any) -> Any:
    """Reshape the axes from `axis_start` on to `shape`: 0 keeps a length, -1 takes the remaining elements."""
    start, count = node["axis_start"], node["axis_count"]
    stop = x.ndim if count == -1 else start + count
    own = list(T.shape(x))
    known = [n if n is not None else own[k] for k, n in enumerate(x.type.shape)]
    middle = [known[start + k] if n == 0 else n for k, n in enumerate(node["shape"])]
    return T.reshape(x, (*known[:start], *middle, *known[stop:]))


@converter("unsqueeze")
def unsqueeze(node: Node, x: Any) -> Any:
    for axis in sorted(node["axes"]):
        x = T.expand_dims(x, axis)
    return x


@converter("transpose")
def transpose(node: Node, x: Any) -> Any:
    axes = list(node["axes"])
    return T.transpose(x, (*axes, *range(len(axes), x.ndim)))


@converter("split")
def split(node: Node, x: Any) -> Any:
    axis, ratios = node["axis"], node["ratios"]
    length = x.type.shape[axis]
    unit = (T.shape(x)[axis] if length is None else length) // sum(ratios)
    bounds = [unit * n for n in np.cumsum([0, *ratios]).tolist()]
    return [x[(*(slice(None),) * axis, slice(a, b))] for a, b in pairwise(bounds)]


@converter("slice")
def slice_(node: Node, x: Any) -> Any:
    """A slice.  An end of 0 means the end of the axis, with a negative stride its beginning."""
    place = [slice(None)] * x.ndim
    strides = node["stride"] or [1] * len(node["axes"])
    for axis, begin, end, step in zip(node["axes"], node["begin"], node["end"], strides, strict=True):
        place[axis] = slice(begin, end or None, step)
    return x[tuple(place)]


@converter("pad")
def pad(node: Node, x: Any) -> Any:
    modes = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}
    if node["border"] not in modes:
        raise node.error(f"the border is {node['border']!r}, expected {', '.join(modes)}")
    more = {"constant_values": node["value"]} if node["border"] == "constant" else {}
    return T.pad(x, tuple(node["padding"]), mode=modes[node["border"]], **more)


@converter("matmul")
def matmul(node: Node, a: Any, b: Any) -> Any:
    a, b = aligned(a, b)
    a = T.swapaxes(a, -1, -2) if node["transposeA"] else a
    return T.matmul(a, T.swapaxes(b, -1, -2) if node["transposeB"] else b)


@converter("linear")
def linear(node: Node, x: Any, weights: Any, bias: Any) -> Any:
    y, bias = aligned(T.matmul(x, T.swapaxes(weights, -1, -2)), bias)
    return y + bias


converter("squeeze")(lambda node, x: T.squeeze(x, tuple(node["axes"])) if node["axes"] else x)
converter("concat")(lambda node, values: T.concatenate([tensor(v) for v in values], axis=node["axis"]))
converter("stack")(lambda node, values: T.stack([tensor(v) for v in values], axis=node["axis"]))
converter("tile")(lambda node, x: T.tile(x, tuple(node["repeats"])))
converter("gather")(lambda node, x, indices: T.take(x, indices, axis=node["axis"]))
