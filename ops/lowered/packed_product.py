"""A product of rows and packed weights: `PackedProduct(format)(x, *arrays)`, one op for all formats.

    dot(x, w)   -->   two_of_four{k, n, lanes}(x, two numbers of each four of w, their places)

Rules make it of constant weights (optdb/rules/linalg/packed.py and panels.py, optdb/rules/quantized).  What is known of
the weights is known of the format: formats/format.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Op, TensorType, Variable
from ...record import record
from ..core.backward import pull_back_to
from ..core.checks import describe
from ..core.tensor import Lowered
from ..elementwise import costs
from .formats import formats
from .formats.format import Format


@record(repr=False)
class PackedProduct(Lowered):
    """`PackedProduct(format)(x, *arrays)`: x @ the matrix whose arrays in the format these are."""

    format: Format
    picture: ClassVar[Kind] = Kind.PRODUCT

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name of the format's products."""
        return self.format.name

    @property
    def class_name(self) -> str:
        """The name of the format's products as a class: TwoOfFour."""
        return self.name.title().replace("_", "")

    def parameters(self) -> dict[str, Any]:
        """Return the fields of the format."""
        return self.format.parameters()

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        """Return what makes a product of each format from the fields of the format."""
        return {kind.name: _maker(kind) for kind in formats()}

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        own, storage, found = self.format, self.format.storage(), ", ".join(map(describe, inputs))
        fewest = sum(not array.optional for array in storage)
        if not fewest < len(inputs) <= len(storage) + 1:
            names = ", ".join(array.name for array in storage)
            raise TypeError(f"{self.name} takes x, {names}, got {len(inputs)} inputs")
        x, *stored = inputs
        pairs = list(zip(stored, storage, strict=False))
        are_vectors = all(v.ndim == 1 and v.dtype == (a.dtype or x.dtype) for v, a in pairs)
        if x.dtype not in own.dtypes or not x.ndim or not are_vectors:
            wanted = ", ".join(f"{a.name} of {a.dtype or 'their dtype'}" for a in storage)
            raise TypeError(f"{self.name} takes rows of {' or '.join(own.dtypes)}, vectors {wanted}; got {found}")
        depth, outputs = own.matrix
        lengths = [(x.type.shape[-1], depth), *((v.type.shape[0], a.length) for v, a in pairs)]
        if any(have is not None and want is not None and have != want for have, want in lengths):
            raise ValueError(f"{self.name}: {found} do not fit a matrix of {depth} rows, {outputs} columns")
        own.require_fitting(stored)
        return (TensorType(own.result or x.dtype, (*x.type.shape[:-1], outputs)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (self.format.product(*values),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:-1], self.format.matrix[1]),)

    def expand(self, inputs: Sequence[Variable]) -> Variable:
        """Return the same by a dense product."""
        return self.format.expand(*inputs)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return pull_back_to(node.inputs, [self.expand(node.inputs)], cotangents)

    def operations(self, node: Apply) -> costs.Operations:
        x, w, *_ = node.inputs
        each = costs.size(w) if self.format.multiplies_stored else math.prod(self.format.matrix)
        return costs.Operations("product", 2.0 * math.prod(costs.lengths(x)[:-1]) * each, x.dtype)


def _maker(kind: type[Format]) -> Callable[..., Op]:
    return lambda **given: PackedProduct(kind(**given))
