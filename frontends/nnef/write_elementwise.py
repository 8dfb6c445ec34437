"""The NNEF lines of elementwise ops, casts and softmax.  Most are entries of the reader's table, read backwards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ...graph import Apply, Dim, TensorType, Variable, dims_of
from ...ops.core.tensor import TensorVariable
from ...ops.elementwise.records import Cast, Elementwise
from ...ops.lowered.fused import GraphOp, InPlace
from ...ops.networks.functions import LogSoftmax, LogSumExp, Softmax
from .convert_elementwise import PLAIN
from .signatures import OPERANDS
from .writing import KINDS, CannotWrite, Writer, is_literal, literal, writes

_OF_TRUTH = {
    "not": ("bool",), "and": ("bool", "bool"), "or": ("bool", "bool"), "select": ("bool", "float32", "float32"),
}  # fmt: skip
"""The dtypes of operands that are not all float32."""


_BITS = {"bitwise_not": "not", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "ne"}
"""The same for bits of bools."""


@lru_cache(maxsize=1)
def written_ops() -> dict[str, str]:
    """The NNEF op for each elementwise op: the entries of the reader's table that consist of one op."""
    found: dict[str, str] = {}
    for name, function in PLAIN.items():
        dtypes = _OF_TRUTH.get(name, ("float32",) * len(OPERANDS[name]))
        operands = [TensorVariable(TensorType(dtype, (None,))) for dtype in dtypes]
        node = function(*operands).owner
        if node is not None and isinstance(node.op, Elementwise) and list(node.inputs) == operands:
            found.setdefault(node.op.symbol, name)
    return found


@writes(Elementwise)
def elementwise(w: Writer, node: Apply) -> str:
    op: Any = node.op
    operands = operands_of(w, node)
    if op.symbol == "fill":
        return broadcast_value(w, node, node.inputs[1], dims_of(node.out))
    if op.symbol == "clip":
        return w.op("min", w.op("max", *operands[:2]), operands[2])
    if op.symbol == "isnan":
        return w.op("ne", operands[0], operands[0])
    name = (_BITS if node.inputs[0].dtype == "bool" else written_ops()).get(op.symbol) or written_ops().get(op.symbol)
    if name is None or (name == "pow" and node.out.type.kind != "f"):
        raise CannotWrite(op.symbol)
    if op.arity is not None or len(operands) == 2:
        return w.op(name, *operands)
    found = operands[0]
    for operand in operands[1:]:
        found = w.op(name, found, operand)
    return found


def operands_of(w: Writer, node: Apply) -> list[str]:
    """The operands as text: literals, or values with the rank of the result; at least one is a value."""
    plain = [i for i in node.inputs if i.dtype != node.inputs[0].dtype]
    numbers = all(map(is_literal, node.inputs)) or (plain and all(is_literal(i) for i in node.inputs[1:]))
    return [_aligned(w, i, node.out.ndim, bool(numbers) and i.dtype == "int64") for i in node.inputs]


def _aligned(w: Writer, variable: Variable, rank: int, as_value: bool) -> str:
    """An operand with leading axes added: NNEF aligns operands at the first axis, NumPy at the last."""
    if is_literal(variable) and not as_value:
        return literal(variable.data.item())  # type: ignore[attr-defined]
    name, missing = w.value(variable), rank - variable.ndim
    return w.op("unsqueeze", name, axes=list(range(missing))) if missing and variable.ndim else name


def broadcast_value(w: Writer, node: Apply, value: Variable, lengths: Sequence[Dim]) -> str:
    """A value repeated along axes of length 1, as far as the lengths are known."""
    missing = len(lengths) - value.ndim
    pairs = list(zip(lengths, [*[1] * missing, *dims_of(value)], strict=True))
    if any(length != own and not (own == 1 and isinstance(length, int)) for length, own in pairs):
        raise CannotWrite(f"{node.op.name} to lengths that only the call tells")
    if is_literal(value) and all(isinstance(length, int) for length in lengths):
        dtype = node.out.dtype
        number = np.asarray(value.data, dtype).item()  # type: ignore[attr-defined]
        return w.line(w.name("constant"), "constant", kind=KINDS[dtype], shape=list(lengths), value=[number])
    name = w.value(value)
    if missing:
        name = w.op("unsqueeze", name, axes=list(range(missing)))
    repeats = [1 if length == own else length for length, own in pairs]
    return name if set(repeats) <= {1} else w.op("tile", name, repeats=repeats)


@writes(Cast)
def cast(w: Writer, node: Apply) -> str:
    given, wanted = node.inputs[0].dtype, node.out.dtype
    name = w.value(node.inputs[0]) if not is_literal(node.inputs[0]) else w.operand(node.inputs[0])
    if given == wanted:
        return name
    if (given, wanted) == ("bool", "float32"):
        return w.op("select", name, "1.0", "0.0")
    if (given, wanted) == ("float32", "bool"):
        return w.op("ne", name, "0.0")
    raise CannotWrite(f"cast of {given} to {wanted}")


@writes(Softmax)
def softmax(w: Writer, node: Apply) -> str:
    return w.op("softmax", w.value(node.inputs[0]), axes=[node.op.axis])  # type: ignore[attr-defined]


@writes(LogSoftmax)
def log_softmax(w: Writer, node: Apply) -> str:
    shifted, total, _ = _exponentials(w, node)
    return w.op("sub", shifted, w.op("log", total))


@writes(LogSumExp)
def logsumexp(w: Writer, node: Apply) -> str:
    _, total, top = _exponentials(w, node)
    return w.op("squeeze", w.op("add", w.op("log", total), top), axes=[node.op.axis])  # type: ignore[attr-defined]


def _exponentials(w: Writer, node: Apply) -> tuple[str, str, str]:
    """x - max(x), the sum of its exponentials, and max(x)."""
    axes, x = [node.op.axis], w.value(node.inputs[0])  # type: ignore[attr-defined]
    top = w.op("max_reduce", x, axes=axes)
    shifted = w.op("sub", x, top)
    return shifted, w.op("sum_reduce", w.op("exp", shifted), axes=axes), top


@writes(GraphOp)
def grouped(w: Writer, node: Apply) -> list[str]:
    op: Any = node.op
    return [w.value(v) for v in op.expand(node.inputs)]


@writes(InPlace)
def in_place(w: Writer, node: Apply) -> list[str]:
    op: Any = node.op
    return [w.value(v) for v in Apply(op.op, node.inputs).outputs]
