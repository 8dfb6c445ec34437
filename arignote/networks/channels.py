"""Channels whose weights are all zero, removed from an inference graph: `ag.freeze(f, remove_channels=True)`.

    dot(relu(dot(x, w) + b), u)   -->   dot(relu(dot(x, w[:, k]) + b[k]), u[k]) + relu(b[g]) @ u[g]

k are the channels that stay, g those that go.  A channel that goes has one number v in all positions: 0 behind the
weights, f(v) behind an elementwise op.  The layer that sums over channels drops its weights and adds their share, v
times each weight, which is one number an output.  Each op between has a function in a table; others are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Union

import numpy as np

from ..graph import Apply, Constant, FunctionGraph, Op, Variable
from ..ops.core.tensor import constant
from ..ops.elementwise.records import Pointwise, add, maximum, mul, true_div
from ..ops.linalg.blas import Dot, MatMul
from ..ops.networks.convolution import Convolution
from ..ops.networks.pooling import MaxPool, SumPool
from ..ops.reductions.reduce import Reduce
from ..ops.shapes.creation import Alloc
from ..ops.shapes.indexing import IncSubtensor, Subtensor
from ..ops.shapes.lengths import ShapeI
from ..ops.shapes.shape import DimShuffle, Reshape
from ..record import record


@record(eq=False)
class Carrier:
    """A value without some of its channels.  `gone`: their positions among `length`; `values`: the number each had."""

    image: Any
    axis: int
    length: int
    gone: np.ndarray
    values: np.ndarray

    @property
    def kept(self) -> np.ndarray:
        return np.setdiff1d(np.arange(self.length), self.gone)

    def followed(self, image: Any, axis: int | None = None, values: np.ndarray | None = None) -> Carrier:
        """The result of an op that works channel by channel."""
        numbers = self.values if values is None else values
        return replace(self, image=image, axis=self.axis if axis is None else axis, values=numbers)


class NotRemovable(ValueError):
    """An op that reads removed channels and has no form without them."""


Made = Union[Carrier, Variable]
Carried = Mapping[int, Carrier]
"""The operands without channels, by position."""


def without_zero_channels(graph: FunctionGraph) -> FunctionGraph:
    """The graph without the channels whose weights are all zero.

    `graph` has constant weights and is canonical.  Raises NotRemovable, naming the op that reads such channels and has
    no form without them.
    """
    known: dict[Variable, Variable] = {}
    carriers: dict[Variable, Carrier] = {}
    for node in graph.order:
        carried = {k: carriers[i] for k, i in enumerate(node.inputs) if i in carriers}
        new = node.over(known)
        made = _made(node, new, carried)
        for old, image in zip(node.outputs, made, strict=True):
            if isinstance(image, Carrier):
                carriers[old] = image
            elif image is not old:
                known[old] = image
    for number, output in enumerate(graph.outputs):
        if output in carriers:
            raise NotRemovable(
                f"freeze: remove_channels: output {number} has channels whose weights are all zero, and would become "
                f"shorter{_line(output.owner)}; leave its layer out of pruning"
            )
    return graph.with_images(known)


def _made(node: Apply, new: Apply, carried: Carried) -> Sequence[Made]:
    """Return the values that replace a node's outputs, some without channels."""
    if isinstance(node.op, (Convolution, Dot, MatMul)) and isinstance(node.inputs[1], Constant):
        return [_pruned_product(node, new, carried)]
    if not carried:
        return new.outputs
    for kind, rule in _RULES.items():
        if isinstance(node.op, kind):
            return [rule(node, new, carried)]
    raise _refusal(node, "it has no form without them")


def _refusal(node: Apply, why: str) -> NotRemovable:
    return NotRemovable(
        f"freeze: remove_channels: {node.op.name} reads channels whose weights are all zero: {why}{_line(node)}; "
        "leave the layer before it out of pruning, or freeze without remove_channels"
    )


def _line(node: Apply | None) -> str:
    return f" (built at {node.origin[0]})" if node is not None and node.origin else ""


# --- layers: weights lose the channels that are gone before them, and those of their own that are zero


def _pruned_product(node: Apply, new: Apply, carried: Carried) -> Made:
    weights = node.inputs[1]
    assert isinstance(weights, Constant)
    w, op, is_convolution = weights.data, new.op, isinstance(node.op, Convolution)
    if w.ndim < 2 or (w.ndim != 2 and not is_convolution) or 1 in carried:
        return _unchanged(node, new, carried)
    if is_convolution and node.op.groups != 1:  # type: ignore[attr-defined]
        return _by_channel(node, new, carried, w)
    x, share = new.inputs[0], np.zeros(w.shape[0 if is_convolution else 1])
    if 0 in carried:
        before = carried[0]
        if before.axis != (1 if is_convolution else node.inputs[0].ndim - 1):
            raise _refusal(node, "they do not lie along the axis that it sums over")
        lost = np.take(w, before.gone, 1 if is_convolution else 0).astype("float64")
        along = lost.sum(axis=tuple(range(2, w.ndim))) if is_convolution else lost.T
        share = along @ before.values
        x, w = before.image, np.take(w, before.kept, 1 if is_convolution else 0)
    zero = _zero_channels(weights.data, is_convolution)
    kept = np.setdiff1d(np.arange(len(share)), zero)
    w, share = np.take(w, kept, 0 if is_convolution else 1), share[kept]
    image: Any = op(x, constant(w))
    axis = 1 if is_convolution else node.out.ndim - 1
    if share.any():
        shape = [-1 if k == axis else 1 for k in range(image.ndim)]
        image = add(image, constant(share.astype(w.dtype).reshape(shape)))
    if not zero.size:
        return image  # type: ignore[no-any-return]
    return Carrier(image, axis, len(kept) + len(zero), zero, np.zeros(len(zero)))


def _zero_channels(w: np.ndarray, is_convolution: bool) -> np.ndarray:
    """The output channels whose weights are all zero; at least one stays."""
    others = tuple(range(1, w.ndim)) if is_convolution else 0
    zero = np.flatnonzero(~w.any(axis=others))
    return zero if len(zero) < w.shape[0 if is_convolution else 1] else zero[1:]


def _unchanged(node: Apply, new: Apply, carried: Carried) -> Variable:
    if carried:
        raise _refusal(node, "its weights are computed or have other axes")
    return new.outputs[0]


def _by_channel(node: Apply, new: Apply, carried: Carried, w: np.ndarray) -> Made:
    """Return a depthwise convolution, which passes channels on; None for other groups."""
    if not carried:
        return new.outputs[0]
    op: Any = node.op
    before = carried[0]
    if not (before.axis == 1 and op.groups == before.length == len(w) and w.shape[1] == 1):
        raise _refusal(node, "its groups have several channels")
    total = w.astype("float64").reshape(len(w), -1).sum(axis=1)[before.gone]
    image = replace(op, groups=len(before.kept))(before.image, constant(w[before.kept]))
    return before.followed(image, values=before.values * total)


# --- ops between layers


def _elementwise(node: Apply, new: Apply, carried: Carried) -> Made:
    first = next(iter(carried.values()))
    place = first.axis - first.image.ndim  # from the end: operands may have fewer axes
    operands, numbers = list(new.inputs), [np.zeros(())] * len(node.inputs)
    for k, own in enumerate(node.inputs):
        if k in carried:
            other = carried[k]
            if other.axis - other.image.ndim != place or not np.array_equal(other.gone, first.gone):
                raise _refusal(node, "its operands have lost different channels")
            operands[k], numbers[k] = other.image, other.values.reshape(-1, *(1,) * (-place - 1))
        elif isinstance(own, Constant):
            operands[k], numbers[k] = _of_constant(own, place, first)
        elif not (_is_broadcast(own, place) and node.op in (mul, true_div) and not first.values.any()):
            raise _refusal(node, "another operand is computed and not a product with 0")
    dtypes = [i.dtype for i in node.inputs]
    with np.errstate(all="ignore"):
        (found,) = node.op.evaluate(*[np.asarray(n).astype(d) for n, d in zip(numbers, dtypes, strict=True)])
    if any(i not in carried and not isinstance(v, Constant) for i, v in enumerate(node.inputs)):
        found = np.zeros(len(first.gone))
    image: Any = node.op(*operands)
    return first.followed(image, image.ndim + place, _one_number(node, found, place, len(first.gone)))


def _of_constant(own: Constant, place: int, carrier: Carrier) -> tuple[Variable, np.ndarray]:
    """Return a constant operand without the channels, and its values in them."""
    if _is_broadcast(own, place):
        return own, own.data
    axis = own.data.ndim + place
    kept = constant(np.take(own.data, carrier.kept, axis))
    return kept, np.take(own.data, carrier.gone, axis)


def _is_broadcast(own: Variable, place: int) -> bool:
    return own.ndim < -place or own.type.shape[place] == 1


def _one_number(node: Apply, found: np.ndarray, place: int, count: int) -> np.ndarray:
    """Return the number of each channel; raise NotRemovable if positions differ."""
    found = np.asarray(found, "float64")
    if found.ndim < -place:
        return np.broadcast_to(found.reshape(-1)[:1], count)
    rows = np.moveaxis(found, place, 0).reshape(found.shape[place], -1)
    if not np.array_equal(rows, np.broadcast_to(rows[:, :1], rows.shape), equal_nan=True):
        raise _refusal(node, "it makes their positions differ")
    return np.broadcast_to(rows[:, 0], count)


def _pool(node: Apply, new: Apply, carried: Carried) -> Made:
    (x,), op = carried.values(), node.op
    kernel = op.kernel  # type: ignore[attr-defined]
    if x.axis >= x.image.ndim - len(kernel):
        raise _refusal(node, "it pools over them")
    size = math.prod(kernel) if isinstance(op, SumPool) else 1
    return x.followed(op(x.image), values=x.values * size)


def _reduce(node: Apply, new: Apply, carried: Carried) -> Made:
    (x,), op = carried.values(), node.op
    assert isinstance(op, Reduce)
    lengths = [node.inputs[0].type.shape[a] for a in op.axis]
    counts = op.scalar is add and bool(x.values.any())
    if x.axis in op.axis or op.scalar not in (add, maximum) or (counts and None in lengths):
        raise _refusal(node, "it reduces them, or by another op than a sum or maximum")
    count = math.prod(n or 0 for n in lengths) if counts else 1
    return x.followed(op(x.image), x.axis - sum(a < x.axis for a in op.axis), x.values * count)


def _dimshuffle(node: Apply, new: Apply, carried: Carried) -> Made:
    (x,) = carried.values()
    return x.followed(node.op(x.image), node.op.order.index(x.axis))  # type: ignore[attr-defined,operator]


def _subtensor(node: Apply, new: Apply, carried: Carried) -> Made:
    x, spec = carried.get(0), node.op.spec  # type: ignore[attr-defined]
    if x is None or (x.axis < len(spec) and spec[x.axis] != "s000"):
        raise _refusal(node, "it reads some of them")
    axis = x.axis - sum(entry == "i" for entry in spec[: x.axis])
    return x.followed(node.op(x.image, *new.inputs[1:]), axis)  # type: ignore[operator]


def _padding(node: Apply, new: Apply, carried: Carried) -> Made:
    """Return the padding of an array: a write of all channels into an array filled with one number."""
    base, _, *bounds = node.inputs
    x, op = carried.get(1), node.op
    made = base.owner
    if x is None or made is None or not isinstance(made.op, Alloc) or made.inputs[0].ndim or not op.set:  # type: ignore[attr-defined]
        raise _refusal(node, "it is no padding")
    fill = made.inputs[0]
    if not isinstance(fill, Constant) or not (x.values == fill.data).all():
        raise _refusal(node, f"padding puts another number than {x.values[0]:g} around them; prune the bias as well")
    at = sum(entry.count("1") for entry in op.spec[: x.axis])  # type: ignore[attr-defined]
    entry = op.spec[x.axis]  # type: ignore[attr-defined]
    wanted = {"s000": [], "s110": [0, x.length]}.get(entry)
    own = bounds[at : at + len(wanted or ())]
    length = made.inputs[1 + x.axis]
    if wanted is None or [getattr(b, "data", None) for b in own] != wanted or getattr(length, "data", None) != x.length:
        raise _refusal(node, "it pads the axis of channels")
    count = constant(len(x.kept), "int64")
    shorter = list(new.inputs[0].owner.inputs)  # type: ignore[union-attr]
    shorter[1 + x.axis] = count
    limits = list(new.inputs[2:])
    if wanted:
        limits[at + 1] = count
    return x.followed(op(Alloc()(*shorter), x.image, *limits))  # type: ignore[operator]


def _reshape(node: Apply, new: Apply, carried: Carried) -> Made:
    """Return a reshape that merges channels and later axes."""
    x, own = carried.get(0), node.inputs[0].type.shape
    rest, lengths = own[(x.axis if x else 0) + 1 :], node.inputs[1:]
    if x is None or None in rest or len(lengths) != x.axis + 1:
        raise _refusal(node, "it does not make one axis of them and the axes behind them")
    size = math.prod(n or 0 for n in rest)
    last = lengths[-1]
    if not isinstance(last, Constant) or int(last.data) not in (x.length * size, -1):
        raise _refusal(node, "it does not make one axis of them and the axes behind them")
    image = Reshape()(x.image, *new.inputs[1:-1], constant(len(x.kept) * size, "int64"))
    gone = (x.gone[:, None] * size + np.arange(size)).reshape(-1)
    return Carrier(image, x.axis, x.length * size, gone, np.repeat(x.values, size))


def _length(node: Apply, new: Apply, carried: Carried) -> Made:
    (x,) = carried.values()
    axis = node.op.axis  # type: ignore[attr-defined]
    return constant(x.length, "int64") if axis == x.axis else node.op(x.image)  # type: ignore[operator]


_RULES: dict[type[Op], Callable[[Apply, Apply, Carried], Made]] = {
    Pointwise: _elementwise,
    MaxPool: _pool,
    SumPool: _pool,
    Reduce: _reduce,
    DimShuffle: _dimshuffle,
    Subtensor: _subtensor,
    IncSubtensor: _padding,
    Reshape: _reshape,
    ShapeI: _length,
}
