"""Attention as one op: `attention(q, k, v, scale[, mask, fill][, added])`.

    y = softmax(scale * (q @ k) [where the mask keeps it, else fill] [+ added]) @ v

The op comes from the rule of optdb/rules/networks/attention.py.  Its C (cbackend/kernels/attention) never holds all
scores: for n positions they are n * n numbers for each head.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...graph.dims import broadcast_dims
from ...record import record
from ...record.spelling import counted
from ..core.backward import pull_back_to
from ..core.checks import describe
from ..core.namespace import T
from ..core.tensor import Lowered, as_tensor
from ..elementwise import costs
from ..linalg.blas import MatMul
from ..networks.functions import Softmax

DTYPES = ("float32", "float64")
MASKS = ("", "keep", "drop")


@record(repr=False)
class Attention(Lowered):
    """`attention(q, k, v, scale[, mask, fill][, added])`; k has the positions along its last axis.

    `mask`: "", or whether the mask is true where scores are kept ("keep") or where `fill` replaces them ("drop").
    `added`: whether the last operand is added to the scores.  All broadcast; `scale` and `fill` are numbers.
    """

    mask: str = ""
    added: bool = False
    name = "attention"
    picture: ClassVar[Kind] = Kind.PRODUCT

    def parts(self, inputs: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """Return q, k, v and the scale; the mask and its fill; the addend of the scores."""
        masked = 6 if self.mask else 4
        return list(inputs[:4]), list(inputs[4:masked]), list(inputs[masked:])

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        if self.mask not in MASKS:
            raise ValueError(f"{self.name}: mask must be one of {', '.join(map(repr, MASKS))}, got {self.mask!r}")
        count = 4 + 2 * bool(self.mask) + self.added
        if len(inputs) != count:
            raise TypeError(f"{self.name} takes {counted(count, 'input')}, got {len(inputs)}")
        (*matrices, scale), masks, added = self.parts(inputs)
        floats = [*matrices, scale, *masks[1:], *added]
        stacks = [*matrices, *masks[:1], *added]
        if len({v.dtype for v in floats}) > 1 or scale.dtype not in DTYPES or min(v.ndim for v in stacks) < 2:
            raise TypeError(f"{self.name} takes matrices of float32 or float64, got {', '.join(map(describe, inputs))}")
        if scale.ndim or any(v.ndim for v in masks[1:]) or any(v.dtype != "bool" for v in masks[:1]):
            found = ", ".join(map(describe, inputs[3:]))
            raise TypeError(f"{self.name} takes a scale that is a number, and a mask of bools, got {found}")
        return (self.meaning(*inputs).type,)

    def meaning(self, *inputs: Variable) -> Variable:
        """Return the same value in ops that users write."""
        (q, k, v, scale), masks, added = self.parts([as_tensor(i) for i in inputs])
        scores: Variable = T.mul(MatMul()(q, k), scale)
        if masks:
            kept, fill = masks
            scores = T.switch(kept, scores, fill) if self.mask == "keep" else T.switch(kept, fill, scores)
        scores = T.add(scores, added[0]) if added else scores
        return MatMul()(Softmax(scores.type.ndim - 1)(scores), v)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (q, k, v, scale), masks, added = self.parts(values)
        with np.errstate(all="ignore"):
            scores = self.scores(q, k, scale, masks, added)
            (shares,) = Softmax(scores.ndim - 1).evaluate(scores)
            return (np.matmul(shares, v),)

    def scores(self, q: np.ndarray, k: np.ndarray, scale: np.ndarray, masks: list[Any], added: list[Any]) -> np.ndarray:
        """Return the scores by NumPy, masked and with their addend."""
        scores: np.ndarray = np.matmul(q, k) * scale
        if masks:
            kept, fill = masks
            scores = np.where(kept if self.mask == "keep" else ~kept, scores, fill)
        return scores + added[0] if added else scores

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        q, k, v = inputs[:3]
        others = [*inputs[4 : 4 + bool(self.mask)], *inputs[6 if self.mask else 4 :]]
        scores = broadcast_dims([(*broadcast_dims([q[:-2], k[:-2]]), q[-2], k[-1]), *others])
        return ((*broadcast_dims([scores[:-2], v[:-2]]), scores[-2], v[-1]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [self.meaning(*node.inputs)], cotangents)

    def operations(self, node: Apply) -> costs.Operations:
        """Both products; the exponentials take less time."""
        q, k, v = map(costs.lengths, node.inputs[:3])
        rows = costs.size(node.out) // max(1, v[-1])
        return costs.Operations("product", 2.0 * rows * k[-1] * (q[-1] + v[-1]), node.out.dtype)
