"""Products and convolutions of numbers of 16 bits: operands are rounded, sums stay in float32.

    dot(x, w)           -->   dot(rounded(x), rounded(w))            tag `float16`
    matmul(x, y)        -->   matmul(rounded(x), rounded(y))         stacks of matrices; tag `bfloat16` as well
    convolution(x, w)   -->   convolution(rounded(x), rounded(w))    both tags

`rounded` is from_bfloat16(to_bfloat16(x)) or the cast to float16 and back; of a constant it is a constant.  Shares of a
softmax are not rounded.  Kernels of 16 bits then multiply the same numbers, see bfloats.py.  `ag.freeze(compute=...)`
rounds the layers of its choice by the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....graph import Constant, Variable
from ....ops.core.tensor import constant
from ....ops.elementwise.records import Cast, add, cast, from_bfloat16, to_bfloat16
from ....ops.elementwise.special import from_bfloat16 as widened
from ....ops.elementwise.special import to_bfloat16 as bits_of
from ....ops.linalg.blas import Dot, MatMul
from ....ops.networks.convolution import Convolution, KernelGradient
from ....ops.networks.functions import Softmax
from ....ops.networks.quantized import Dequantize
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.joining import Join
from ....ops.shapes.shape import DimShuffle, Reshape
from ...contract import Contract, narrows, relaxes
from ...rule import Rule, node_rule
from ..blocks.parts import amid, without_zeros
from ..facts import Node, producer


class Narrow:
    """A format of 16 bits: `bits` of its significand, and the largest number."""

    __slots__ = ("bits", "largest", "name")

    def __init__(self, name: str, bits: int, largest: float) -> None:
        self.name: str = name
        self.bits: int = bits
        self.largest: float = largest

    def stored(self, x: np.ndarray) -> np.ndarray:
        """Return float32 numbers in this format: float16, or the bits of bfloat16 numbers as uint16."""
        with np.errstate(all="ignore"):
            return x.astype("float16") if self.name == "float16" else bits_of(x)

    def nearest(self, x: np.ndarray) -> np.ndarray:
        """Return the nearest numbers of the format as float32."""
        found = self.stored(x)
        return found.astype("float32") if self.name == "float16" else widened(found)

    def overflows(self, x: np.ndarray) -> bool:
        """Whether a finite number becomes infinite."""
        return bool((np.isinf(self.nearest(x)) & np.isfinite(x)).any())

    def rounded(self, v: Variable) -> Variable:
        """Return float32 values rounded to the format, as float32; those that are already are left alone.

        Numbers are rounded before they move: what computes them then writes 16 bits, and as many move.
        """
        if isinstance(v, Constant):
            near = self.nearest(v.data)
            return v if near.tobytes() == v.data.tobytes() else constant(near, name=v.name)
        if self.is_rounded(v):
            return v
        exact, moves = behind_moves(v)
        if not _is_product(exact):  # of a product all parts are read, such as queries, keys and values
            whole = next((k for k, made in enumerate(moves) if isinstance(made.op, Subtensor)), len(moves))
            exact, moves = moves[whole].out if whole < len(moves) else exact, moves[:whole]
        if self.name == "float16":
            return moved(cast(cast(exact, "float16"), "float32"), moves)
        return moved(from_bfloat16(to_bfloat16(exact)), moves)

    def is_rounded(self, v: Variable) -> bool:
        """Whether all values surely are numbers of the format."""
        if isinstance(v, Constant):
            return self.nearest(v.data).tobytes() == v.data.tobytes()
        x, _ = behind_moves(v)
        if self.name == "float16":
            return (made := producer(x, Cast)) is not None and made.inputs[0].dtype == "float16"
        return producer(x, from_bfloat16) is not None

    @property
    def contract(self) -> Contract:
        """The contract of rules that round operands to the format."""
        return narrows(self.bits) | relaxes("rounding", "signed zero", "overflow", "underflow")


FORMATS: dict[str, Narrow] = {
    "bfloat16": Narrow("bfloat16", 8, (2 - 2.0**-7) * 2.0**127),
    "float16": Narrow("float16", 11, 65504.0),
}
"""The formats of 16 bits by name, which are the tags of their rules."""
LAYERS = (Convolution, Dot, MatMul)
"""The ops whose operands are rounded; in training also the gradient of kernels."""
MOST_MOVES = 16
"""Most nodes between a rounding and its reader that only move numbers."""


def behind_moves(v: Variable) -> tuple[Variable, list[Node]]:
    """Return the value whose numbers `v` has in other places, and the nodes that move them, the last one first."""
    moves: list[Node] = []
    while len(moves) < MOST_MOVES and (made := producer(v, DimShuffle, Join, Reshape, Subtensor)) is not None:
        base = _unrolled(made) if isinstance(made.op, Join) else made.inputs[0]
        if base is None:
            break
        moves.append(made)
        v = base
    return v, moves


def moved(x: Variable, moves: Sequence[Node]) -> Variable:
    """Return a value with its numbers in other places; `moves`: the last one first."""
    for made in reversed(moves):
        if isinstance(made.op, Join):
            x = made.op(*[i.owner.op(x, *i.owner.inputs[1:]) for i in made.inputs if i.owner])
        else:
            x = made.op(x, *made.inputs[1:])
    return x


def _unrolled(node: Node) -> Variable | None:
    """Return the value of which a join has all parts, as a roll has; None for other joins."""
    bases = {None if (made := producer(i, Subtensor)) is None else made.inputs[0] for i in node.inputs}
    base = bases.pop()
    if base is None or bases:
        return None
    return base if None not in base.type.shape and base.type.shape == node.out.type.shape else None


def _is_product(v: Variable) -> bool:
    """Whether a value is a product, perhaps with a bias."""
    sums = producer(v, add)
    return any(producer(i, Dot, MatMul) is not None for i in ([v] if sums is None else sums.inputs))


def is_layer(node: Node) -> bool:
    """Whether a node is a product or a convolution of float32 that is not in 8 bits."""
    x, w = node.inputs[:2]
    same = node.out.dtype == x.dtype == w.dtype == "float32" and min(x.ndim, w.ndim) > 0
    return same and not any(producer(without_zeros(i), Dequantize) for i in (x, w))


def has_shares(node: Node) -> bool:
    """Whether the first operand of a product is a softmax: shares of attention, which stay in float32."""
    return producer(node.inputs[0], Softmax) is not None


def with_rounded(node: Node, form: Narrow) -> Variable | None:
    """Return a layer with rounded operands; None if they are, or a constant has numbers beyond the format."""
    if not is_layer(node):
        return None
    x, w, *lengths = node.inputs
    inner = without_zeros(x)
    taken = [inner, w]
    if any(isinstance(i, Constant) and form.overflows(i.data) for i in taken):
        return None
    near = [i if i is inner and has_shares(node) else form.rounded(i) for i in taken]
    if all(new is old for new, old in zip(near, taken, strict=True)):
        return None
    left = near[0] if inner is x else amid(x.owner, near[0])
    return node.op(left, near[1], *lengths)  # type: ignore[no-any-return]


def _rule(form: Narrow, least_rank: int) -> Rule:
    """Return the rule of a format; `least_rank`: that of a right operand of a product."""

    def rounded(node: Node) -> Variable | None:
        is_product = isinstance(node.op, (Dot, MatMul))
        return None if is_product and node.inputs[1].ndim < least_rank else with_rounded(node, form)

    return node_rule(
        f"local_{form.name}_operands", (*LAYERS, KernelGradient), rounded, contract=form.contract,
        formula=f"convolution(x, w) -> convolution(rounded(x), rounded(w))  for float32, to {form.name}; or matmul",
    )  # fmt: skip


ROUNDED: dict[str, list[Rule]] = {
    "bfloat16": [_rule(FORMATS["bfloat16"], 3)],
    "float16": [_rule(FORMATS["float16"], 1)],
}
"""The rules of each format; bfloats.py has that of bfloat16 for a single matrix."""
