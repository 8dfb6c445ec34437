"""Functions of 8-bit integers as lookup tables, computed at compile time.

    quantize(f(dequantize(q, s, z)), t, y)          -->   look_up(q, table)
    quantize(softmax(dequantize(q, s, z)), t, y)    -->   byte_softmax(q, exponents)

In the first, f has one operand that is not a constant; the entries are NumPy's values of f for all 256 integers.  The
second sums integers instead of float32 numbers, so it may differ by one unit of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....graph import Apply, Constant, Variable, toposort
from ....ops.core.interpret import evaluate_node
from ....ops.core.tensor import constant
from ....ops.elementwise.costs import additions
from ....ops.elementwise.pointwise import Pointwise
from ....ops.lowered.byte_sums import BYTES
from ....ops.lowered.byte_tables import ENTRIES, ByteSoftmax, LookUp
from ....ops.networks.functions import Softmax
from ....ops.networks.quantized import Dequantize, Quantize, ends_of, held_in
from ....ops.shapes.shape import DimShuffle
from ...contract import relaxes
from ...rule import Rule, node_rule
from ..facts import Node, number_of, producer

CHEAP = 8
"""Cost in additions up to which a single elementwise op, such as a maximum, is kept."""
MOST = 64
"""Most nodes of such a function."""
STAGES = 4
"""Most tables in a chain of functions of bytes."""
LEAST_SCALE = 1e-6
"""Smallest scale of a softmax result; the factor would be infinite below it."""


def bytes_below(node: Node, stages: int = STAGES) -> Variable | None:
    """Return the byte variable of which a result is an elementwise function.

    None if the result depends on another variable, if a constant has more than one element, or if paths meet again in
    more than `stages` places one behind the other.
    """
    pending, seen, found = list(node.inputs), set(), set()
    while pending:
        v = pending.pop()
        if isinstance(v, Constant):
            if v.data.size != 1:
                return None
        elif v.dtype in BYTES:
            found.add(v)
        elif v not in seen:
            seen.add(v)
            if v.owner is None or not _is_elementwise(v.owner) or len(seen) > MOST:
                return None
            pending.extend(v.owner.inputs)
    if len(found) < 2:
        return found.pop() if found else None
    if not stages:
        return None
    first, *others = (_and_below(v, stages - 1) for v in found)
    return next((v for v in first if all(v in other for other in others)), None)


def _and_below(v: Variable, stages: int) -> list[Variable]:
    """Return the chain of byte variables, each an elementwise function of the next one."""
    chain = [v]
    while len(chain) <= STAGES:
        made = producer(chain[-1], LookUp, Quantize)
        if made is None or (isinstance(made.op, LookUp) and not isinstance(made.inputs[1], Constant)):
            break
        below = made.inputs[0] if isinstance(made.op, LookUp) else bytes_below(made, stages)
        if below is None:
            break
        chain.append(below)
    return chain


def _is_elementwise(made: Apply) -> bool:
    if len(made.outputs) != 1:
        return False
    axes = isinstance(made.op, DimShuffle) and isinstance(made.inputs[0], Constant)
    return axes or isinstance(made.op, (Pointwise, Dequantize, Quantize))


def table_of(out: Variable, q: Variable, nodes: Sequence[Apply]) -> np.ndarray:
    """Return the NumPy values of `out` for all 256 bytes."""
    all_of_them = np.arange(ENTRIES).astype("uint8").view(q.dtype)
    values: dict[Variable, Any] = {q: all_of_them.reshape(-1, *(1,) * (q.ndim - 1))}
    for node in nodes:
        operands = [i.data if isinstance(i, Constant) else values[i] for i in node.inputs]
        with np.errstate(all="ignore"):
            values.update(zip(node.outputs, evaluate_node(node, operands), strict=True))
    return np.ascontiguousarray(values[out]).reshape(-1)


def by_table(node: Node) -> Variable | None:
    """Replace a function from 8-bit integers to 8-bit integers by a table lookup if that is cheaper."""
    q = None if held_in(node.op.dtype) not in BYTES else bytes_below(node)
    if q is None or not q.ndim or q.type.shape != node.out.type.shape:
        return None
    nodes = toposort([node.out], stop_at=[q])
    work = [additions(n) for n in nodes if isinstance(n.op, (Pointwise, LookUp))]
    if len(work) < 2 and sum(work) <= CHEAP:
        return None
    return LookUp()(q, constant(table_of(node.out, q, nodes)))  # type: ignore[no-any-return]


def softmax_by_table(node: Node) -> Variable | None:
    """Replace the quantized softmax, along the last axis, of dequantized 8-bit integers by a table of exponents."""
    x, scale, zero = node.inputs
    top = producer(x, Softmax)
    made = None if top is None else producer(top.inputs[0], Dequantize)
    t, y = number_of(scale), number_of(zero)
    if top is None or made is None or node.op.dtype not in BYTES:
        return None
    if x.dtype != "float32" or top.op.axis != x.ndim - 1:
        return None
    q, step = made.inputs[0], number_of(made.inputs[1])
    plain = q.dtype in BYTES and q.type.shape == node.out.type.shape and number_of(made.inputs[2]) is not None
    if not plain or step is None or t is None or y is None or not (t >= LEAST_SCALE and 0 < step < np.inf):
        return None
    exponents = np.exp(-np.arange(ENTRIES, dtype="float64") * float(step)).astype("float32")
    op = ByteSoftmax(node.op.dtype, float(t), int(y), *ends_of(node.op.dtype))
    return op(q, constant(exponents))  # type: ignore[no-any-return]


BYTE_TABLES: list[Rule] = [
    node_rule("local_byte_table", Quantize, by_table, having=(),
              formula="quantize(f(dequantize(q, s, z)), t, y) -> look_up(q, table)  for elementwise f of 8 bits"),
    node_rule("local_byte_softmax", Quantize, softmax_by_table, having=Softmax, contract=relaxes("rounding"),
              formula="quantize(softmax(dequantize(q, s, z)), t, y) -> byte_softmax(q, exponents)"),
]  # fmt: skip
