"""Weights stored in 16 bits with arithmetic in float32: half the bytes of a bundle and of the reads of a product.

    dot22(x, w)              -->   dot22(x, cast{float32}(w in float16))              widened before the product
    dot22(x, w)              -->   widened_dot(x, panels of w in float16)             widened in registers
    gemv(y, a, w, x, b)      -->   b * y + a * widened_dot(x, panels of w.T in float16)
    advanced_subtensor(w, i) -->   cast{float32}(advanced_subtensor(w in float16, i))

The pass stands behind those that fold and lay out weights, which so compute in float32 and are rounded once.  It runs
where a query names it: `ag.freeze(f, storage="float16")`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ....graph import Apply, Constant, FunctionGraph, GraphEditor, Variable
from ....ops.core.tensor import constant, own_constant
from ....ops.elementwise.records import add, cast, from_bfloat16, mul
from ....ops.elementwise.special import to_bfloat16
from ....ops.linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv
from ....ops.lowered.formats import PackedProduct
from ....ops.lowered.formats.widened import BFLOAT16, FLOAT16, Widened
from ....ops.shapes.advanced_indexing import AdvancedSubtensor
from ....ops.shapes.indexing import Subtensor
from ....ops.shapes.shape import DimShuffle
from ....record import record
from ....targets.costs import ITEMS
from ....targets.current import current
from ...contract import Contract, relaxes
from ...optimizers import Optimizer, Result
from ..facts import is_number
from ..fusion.as_one import profiled

FORMATS = ("float16", "bfloat16")
"""The formats in which weights can be stored; bfloat16 is stored as its bits."""
LEAST = 1024
"""Least elements of a constant that is stored in 16 bits."""


@record(kw_only=True)
class StoreWeights(Optimizer):
    """Stores large float32 constants in 16 bits and widens them at each reader."""

    contract: ClassVar[Contract | None] = relaxes("rounding", "underflow")

    format: str = "float16"

    def optimize(self, graph: FunctionGraph, editor: GraphEditor) -> Result:
        return profiled(_Stored(self.format).stored, graph, self.name, editor)


class _Stored:
    """The 16-bit constants of one graph, each created once."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.narrow: dict[Variable, Constant | None] = {}
        self.wide: dict[Variable, Variable] = {}
        self.panels: dict[tuple[Variable, bool], tuple[Widened, Constant] | None] = {}

    def stored(self, graph: FunctionGraph, by: str, editor: GraphEditor) -> FunctionGraph:
        """Return `graph` with its large constants in 16 bits; call the editor once per reader."""
        known: dict[Variable, Variable] = {}
        for node in graph.order:
            new = node.over(known)
            read = [k for k, i in enumerate(new.inputs) if self.narrowed(i) is not None]
            made = self.reader(new, read) if read else None
            if made is not None and editor.admit(by, node.outputs[0], made[0]):
                known.update(zip(node.outputs, made, strict=True))
            elif new is not node:
                known.update(zip(node.outputs, new.outputs, strict=True))
        return graph.with_images(known)

    def narrowed(self, variable: Variable) -> Constant | None:
        """Return the constant in 16 bits; None for a small one, or with numbers beyond the format's range."""
        if not isinstance(variable, Constant) or variable.dtype != "float32" or variable.data.size < LEAST:
            return None
        if variable not in self.narrow:
            self.narrow[variable] = _narrowed(variable.data, self.format)
        return self.narrow[variable]

    def widened(self, stored: Variable) -> Variable:
        return cast(stored, "float32") if self.format == "float16" else from_bfloat16(stored)

    def wide_of(self, own: Variable) -> Variable:
        """Return an operand in float32."""
        if self.narrowed(own) is None:
            return own
        if own not in self.wide:
            self.wide[own] = self.widened(self.narrow[own])  # type: ignore[arg-type]
        return self.wide[own]

    def in_panels(self, own: Variable, is_left: bool) -> tuple[Widened, Constant] | None:
        """Return the panels of a factor, each laid once, of a left one transposed; None if it is too narrow."""
        if (own, is_left) not in self.panels:
            stored = self.narrowed(own)
            assert stored is not None
            w, lanes = stored.data.T if is_left else stored.data, current().vector // ITEMS["float32"]
            rows, columns = w.shape
            form = Widened(rows, columns, lanes, BFLOAT16 if self.format == "bfloat16" else FLOAT16)
            self.panels[own, is_left] = (form, own_constant(*form.packed(w))) if columns >= lanes else None
        return self.panels[own, is_left]

    def reader(self, node: Apply, read: Sequence[int]) -> Sequence[Variable]:
        """Return the outputs of a node that reads some operands in 16 bits."""
        if isinstance(node.op, (Subtensor, AdvancedSubtensor)) and read == [0]:
            part = node.with_inputs([self.narrow[node.inputs[0]], *node.inputs[1:]]).out  # type: ignore[list-item]
            return [self.widened(part)]
        product = self.product(node, read)
        return node.with_inputs(list(map(self.wide_of, node.inputs))).outputs if product is None else [product]

    def product(self, node: Apply, read: Sequence[int]) -> Variable | None:
        """Return a product of rows or a vector with weights in 16 bits; None if a node is no such product."""
        if not isinstance(node.op, (Dot, Dot22, Dot22Scalar, Gemm, Gemv)):
            return None
        left, right = (0, 1) if isinstance(node.op, Dot) else node.op.factors
        a, b = node.inputs[left], node.inputs[right]
        is_left = left in read and b.ndim == 1
        w, x = (a, b) if is_left else (b, a)
        if w.ndim != 2 or (left in read) is (right in read) or self.narrowed(w) is None:
            return None
        found = self.in_panels(w, is_left)
        if found is None:
            return None
        form, panels = found
        others = [self.wide_of(v) for k, v in enumerate(node.inputs) if k not in (left, right)]
        return _scaled_sum(PackedProduct(form)(x, panels), *others)


def _scaled_sum(product: Variable, *others: Variable) -> Variable:
    """Return the result of a product of BLAS: `others` are none, a factor, or a summand, a factor and the summand's."""
    if len(others) < 2:
        return _times(others[0], product) if others else product
    z, alpha, beta = others
    scaled = _times(alpha, product)
    return scaled if is_number(beta, 0) else add(_times(beta, z), scaled)


def _times(factor: Variable, x: Variable) -> Variable:
    return x if is_number(factor, 1) else mul(DimShuffle(("x",) * x.ndim)(factor), x)


def _narrowed(data: np.ndarray, format: str) -> Constant | None:
    """Return float32 numbers in 16 bits; None if a finite one becomes infinite."""
    with np.errstate(all="ignore"):
        narrow = data.astype("float16") if format == "float16" else to_bfloat16(data)
    infinite = np.isinf(narrow) if format == "float16" else (narrow & 0x7FFF) == 0x7F80
    return constant(narrow) if np.array_equal(infinite, np.isinf(data)) else None
