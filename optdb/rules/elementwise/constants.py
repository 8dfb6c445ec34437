"""Constant folding: computing constant values once, when the graph is built.

Folding evaluates the NumPy meaning of an op; it never starts a compiler.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from ....graph import Constant, ConstantHead, Head, Op, Variable
from ....ops.control.scan_ops import Scan
from ....ops.core.tensor import TensorConstant, constant
from ....ops.elementwise.records import Elementwise
from ....ops.linalg.blas import Dot, Dot22, MatMul
from ....ops.lowered.byte_sums import BYTES
from ....ops.networks.convolution import Convolution
from ....ops.networks.quantized import Dequantize
from ....ops.shapes.creation import Alloc
from ...rule import NodeRule, node_rule
from ..facts import Node, Value, preserves, producer

LARGEST_FOLDED = 64 << 20
"""Bytes of the largest constant that folding makes."""
LARGEST_GROWTH = 16
"""How many times larger than its operands a folded constant may be: `zeros((5000, 5000))` stays a recipe."""
SHARED = 1 << 16
"""Bytes from which a transposed or reshaped constant shares the memory of its operand."""
_ALWAYS_SMALL = 1 << 10
"""Results of up to this many bytes are folded, however small their operands are."""


def constant_folding(node: Node) -> Sequence[Variable] | None:
    """Return the values of a node with constant inputs; 8-bit weights are left for byte_sums.py."""
    return None if are_weights(node) else folded(node)


def are_weights(node: Node) -> bool:
    """Whether the node converts 8-bit constants to floats."""
    return isinstance(node.op, Dequantize) and node.inputs[0].dtype in BYTES


def folded(node: Node) -> Sequence[Variable] | None:
    """Return the values of a node with constant inputs; a node that raises stays, to raise at run time."""
    if isinstance(node.op, Scan) or not getattr(node.op, "folds", True) or not _is_small(node):  # a loop may last
        return None
    try:
        with np.errstate(all="ignore"):
            values = node.op.evaluate(*[i.data for i in node.inputs])
    except (ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError):
        return None
    return [_kept(value, node) for value in values]


def _kept(value: np.ndarray, node: Node) -> Constant:
    """Return a folded value: large ones whose axes were only moved or joined share the memory of the operand."""
    operand = node.inputs[0].data if node.inputs else None
    if operand is None or value.nbytes < SHARED or value.size != operand.size or value.dtype != operand.dtype:
        return constant(value)
    if not np.may_share_memory(value, operand):
        return constant(value)
    view = value.view()
    view.flags.writeable = False
    return TensorConstant(view)


def _is_small(node: Node) -> bool:
    read = sum(i.data.nbytes for i in node.inputs)
    limit = min(LARGEST_FOLDED, max(LARGEST_GROWTH * read, _ALWAYS_SMALL))
    return bool(sum(map(_bytes_of, node.outputs)) <= limit)


def _bytes_of(variable: Variable) -> float:
    """The size of a value; infinite where it is not known."""
    shape = variable.type.shape
    elements = math.prod(n for n in shape if n is not None) if None not in shape else math.inf
    return float(variable.type.numpy.itemsize * elements)


def filled_weights(node: Node) -> Variable | None:
    """Return a product or convolution with weights of one number as a constant, which is packed once."""
    x, w = node.inputs[:2]
    made = producer(w, Alloc)
    if made is None or not all(isinstance(i, Constant) for i in made.inputs) or _bytes_of(w) > LARGEST_FOLDED:
        return None
    (value,) = made.op.evaluate(*[i.data for i in made.inputs])
    return node.op(x, constant(value), *node.inputs[2:])  # type: ignore[no-any-return]


def local_upcast_elemwise_constant_inputs(node: Node) -> Value | None:
    """The node with constants in the dtype that they are converted to anyway, so that `1 - x` and `1.0 - x` merge."""
    op = node.op
    dtypes = tuple([i.type.dtype for i in node.inputs])
    operands, _ = op.loop(dtypes)
    if operands == dtypes:
        return None
    inputs = [_converted(i, dtype) for i, dtype in zip(node.inputs, operands, strict=True)]
    if all(new is old for new, old in zip(inputs, node.inputs, strict=True)):
        return None
    result = op(*inputs)
    return result if result.dtype == node.out.dtype else None


def _converted(variable: Variable, dtype: str) -> Value:
    if not isinstance(variable, Constant) or variable.dtype == dtype or not preserves(variable.dtype, dtype):
        return variable
    return constant(variable.data.astype(dtype))


class FoldingRule(NodeRule):
    """Rule for nodes with constant operands only; other nodes cost it no time."""

    def may_match(self, op: Op, heads: Sequence[Head]) -> bool:
        return bool(heads) and all(isinstance(head, ConstantHead) for head in heads)


class UpcastRule(NodeRule):
    """Rule for nodes with a constant among their operands."""

    def may_match(self, op: Op, heads: Sequence[Head]) -> bool:
        return any(isinstance(head, ConstantHead) for head in heads) and super().may_match(op, heads)


_FOLDING = node_rule("constant_folding", Op, constant_folding, formula="op(constants) -> their value")
FOLDING = FoldingRule(**{field.name: getattr(_FOLDING, field.name) for field in fields(_FOLDING)})
_WEIGHTS = node_rule("local_fold_weights", Dequantize, folded, formula="dequantize(constants) -> their value")
FOLD_WEIGHTS = FoldingRule(**{field.name: getattr(_WEIGHTS, field.name) for field in fields(_WEIGHTS)})
FILLED_WEIGHTS = node_rule(
    "local_filled_weights", (Convolution, Dot, Dot22, MatMul), filled_weights, having=Alloc,
    formula="convolution(x, alloc(c, lengths)) -> convolution(x, w)  for constant c and lengths",
)  # fmt: skip
_UPCAST = node_rule(
    "local_upcast_elemwise_constant_inputs",
    Elementwise,
    local_upcast_elemwise_constant_inputs,
    formula="f(constant: int8, x: float64) -> f(constant: float64, x)",
)
UPCAST = UpcastRule(**{field.name: getattr(_UPCAST, field.name) for field in fields(_UPCAST)})
