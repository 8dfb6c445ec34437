"""Pooling axis by axis, by slices of blocks, and before a product along channels.

The maximum of a window is that of the maxima of its rows; a product after a sum pool has fewer positions.

    max_pool{kernel=(k, l)}(x)      -->   max_pool{kernel=(1, l)}(max_pool{kernel=(k, 1)}(x))
    sum_pool(convolution(x, w))     -->   convolution(sum_pool(x), w)    for w of one position
    max_pool{kernel=(k, l, 1)}(x)   -->   maximum(x[..., 0::s, 0::t, :], x[..., 0::s, 1::t, :], ...)
"""

from __future__ import annotations

import itertools
import math

from .... import ops as T
from ....graph import Variable, dims_of
from ....ops.core.tensor import constant
from ....ops.elementwise.records import add, maximum
from ....ops.networks.convolution import Convolution
from ....ops.networks.pooling import MaxPool, Pool, SumPool
from ....ops.shapes.lengths import known_length, lengths_of
from ....targets.current import current
from ...contract import relaxes
from ...patterns import Users
from ...rule import Rule, node_rule
from ..facts import Node, producer
from ..shapes.slicing import read, simplified

FLOATS = ("float32", "float64")
POOLED = {MaxPool: (*FLOATS, "int8", "uint8"), SumPool: FLOATS}
"""The dtypes for which blocks are pooled."""


def by_axes(node: Node) -> Variable | None:
    """Pool large windows first along one axis, then along the others."""
    op = node.op
    wide = [k for k, n in enumerate(op.kernel) if n > 1]
    positions = 1
    for n in op.kernel:
        positions *= n
    if len(wide) < 2 or positions <= current().limits.pools.pooled:
        return None
    first = wide[0]
    alone = [tuple(n if k == first else 1 for k, n in enumerate(each)) for each in (op.kernel, op.stride, op.dilation)]
    rest = [tuple(1 if k == first else n for k, n in enumerate(each)) for each in (op.kernel, op.stride, op.dilation)]
    return MaxPool(*rest)(MaxPool(*alone)(node.inputs[0]))


def by_parts(node: Node) -> Variable | None:
    """Pool blocks as the maximum or sum of slices, one per position of a window."""
    op, (x,) = node.op, node.inputs
    if len(op.kernel) != 3 or op.kernel[2] != 1 or op.stride[2] != 1 or x.ndim != 5:
        return None
    if node.out.dtype not in POOLED[type(op)]:
        return None
    counts, lengths = lengths_of(node.out)[2:4], dims_of(x)[2:4]
    places = [
        [simplified(_along(op, k, position, counts[k]), lengths[k]) for position in range(n)]
        for k, n in enumerate(op.kernel[:2])
    ]
    parts = [read(x, (slice(None), slice(None), *place)) for place in itertools.product(*places)]
    fold = maximum if isinstance(op, MaxPool) else add
    return fold(*parts) if len(parts) > 1 else parts[0]


def _along(op: Pool, axis: int, position: int, count: Variable) -> slice:
    """Return the slice of the elements at one position of all windows, along an axis."""
    stride, start = op.stride[axis], position * op.dilation[axis]
    if op.kernel[axis] == stride == 1:
        return slice(None)
    known = known_length(count)
    stop = T.add(T.mul(T.sub(count, 1), stride), start + 1) if known is None else (known - 1) * stride + start + 1
    bounds = (None if start == 0 else start, stop, None if stride == 1 else stride)
    return slice(*(constant(b, "int64") if isinstance(b, int) else b for b in bounds))


def before_product(node: Node, users: Users) -> Variable | None:
    """Move a sum pool before a convolution with 1 x 1 kernels, if it is the only reader and operations are saved."""
    pool, made = node.op, producer(node.inputs[0], Convolution)
    if made is None or len(users(made.out)) != 1 or made.inputs[0].dtype != node.out.dtype:
        return None
    (x, w), channels = made.inputs, made.inputs[0].type.shape[1]
    if len(pool.kernel) != len(made.op.stride):
        return None
    outputs, each, *kernel = w.type.shape
    if outputs is None or each is None or channels is None or any(n != 1 for n in (*kernel, *made.op.stride)):
        return None
    # A window adds x instead of the result, and takes one product instead of as many as it moves by.
    saved = 2 * outputs * each * (math.prod(pool.stride) - 1) + (outputs - channels) * math.prod(pool.kernel)
    return made.op(pool(x), w) if saved > 0 else None  # type: ignore[no-any-return]


BY_PARTS: list[Rule] = [
    node_rule(
        "local_pool_by_parts", (MaxPool, SumPool), by_parts, contract=relaxes("rounding", "signed zero"),
        formula="max_pool{kernel=(k, l, 1)}(x) -> maximum(x[:, :, ::s, ::t], ...)",
    ),
]  # fmt: skip
BY_AXES: list[Rule] = [
    node_rule(
        "local_max_pool_by_axes", MaxPool, by_axes, contract=relaxes("signed zero"),
        formula="max_pool{kernel=(k, l)}(x) -> max_pool{kernel=(1, l)}(max_pool{kernel=(k, 1)}(x))",
    ),
]  # fmt: skip
BEFORE_PRODUCTS: list[Rule] = [
    node_rule(
        "local_sum_pool_of_convolution", SumPool, before_product, having=Convolution, uses=True,
        contract=relaxes("rounding", "signed zero"),
        formula="sum_pool(convolution(x, w)) -> convolution(sum_pool(x), w)  for kernels of one position",
    ),
]  # fmt: skip
