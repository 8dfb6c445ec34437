"""A matrix product with its epilogue, the elementwise group that reads it, as one op.

    relu(a @ b + c)   -->   fused_product{dot22, fn(p, c) -> relu(p + c)}(a, b, c)

A convolution is such a product, too.  The op comes from the optimizer of optdb/rules/fusion/epilogues.py.  The backend
runs the group on each block of the product while that is still in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, FunctionGraph, Kind, Op, TensorType, Variable
from ...record import record
from ...record.spelling import counted
from ..core.backward import ByExpansion
from ..core.tensor import Lowered
from .fused import Fused


@record(repr=False)
class FusedProduct(ByExpansion, Lowered):
    """A product and the group `graph` of it and further values, as one op.

    The inputs are those of `product`, then those of `graph` but the first, which stands for the output of `product`.
    The outputs are those of `graph`.
    """

    product: Op
    graph: FunctionGraph
    name = "fused_product"
    picture: ClassVar[Kind] = Kind.PRODUCT

    @property
    def group(self) -> Fused:
        """The elementwise group after the product."""
        return Fused(self.graph)

    def split(self, inputs: Sequence[Variable]) -> tuple[Variable, tuple[Variable, ...]]:
        """Return the product over `inputs`, and the other inputs of the group.  Raises TypeError for too few."""
        count = len(inputs) - len(self.graph.inputs) + 1
        if count < 1:
            raise TypeError(
                f"fused_product takes {counted(len(self.graph.inputs), 'input')} or more, got {len(inputs)}"
            )
        return Apply(self.product, inputs[:count]).out, tuple(inputs[count:])

    def expand(self, inputs: Sequence[Variable]) -> list[Variable]:
        """Return the outputs of the product and the graph built over `inputs`, node by node."""
        product, others = self.split(inputs)
        return self.group.expand((product, *others))

    def body(self, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
        return self.expand(inputs)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        product, others = self.split(inputs)
        return self.group.infer((product, *others))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        count = len(values) - len(self.graph.inputs) + 1
        return self.group.evaluate(*self.product.evaluate(*values[:count]), *values[count:])

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        product, others = self.split(node.inputs)
        assert product.owner is not None
        (lengths,) = self.product.dims(product.owner, inputs[: len(inputs) - len(others)])
        given = (lengths, *inputs[len(inputs) - len(others) :])
        return self.group.lengths((product, *others), given, node.outputs)

    @property
    def fallible(self) -> bool:  # type: ignore[override]
        return self.product.fallible or self.group.fallible

    def demands(self, node: Apply) -> Iterable[tuple[Dim, Dim]]:
        return self.product.demands(node)  # its inputs come first

    def operations(self, node: Apply) -> Any:
        """The operations of the product; the group takes less time."""
        made = self.split(node.inputs)[0].owner
        assert made is not None
        return self.product.operations(made)
