"""Sums of a few chosen elements of each plane, each with a weight, and both derivatives: an op each.

    WeightedGather()(x, at, w)         y[n, c, p] = sum over k of w[n, k, p] * x[n, c, at[n, k, p]]
    WeightedScatter()(g, at, w, s)     the derivative by x, with planes of s elements, for the cotangent g of y
    GatherProducts()(x, at, g)         the derivative by w: the sums over c of x[n, c, at[n, k, p]] * g[n, c, p]

A position of -1 stands for an element that is 0.  Each of the three is linear in both of its arrays of floats, so that
the derivatives of each are the others.  `grid_sample` is a gather; positions are int32, the same for all channels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...record import record
from ..control.batching import Examples, Flags, all_broadcast, require_shared
from ..core.checks import describe, require_count, require_index_scalar
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs
from .lengths import known_length, lengths_of, tensor_to_dim

DTYPES = ("float32", "float64")
MOST = np.iinfo("int32").max
"""The most elements of a plane."""


class Sampling(TensorOp):
    """Base of the three ops: each has two arrays of floats around the positions, of three axes each."""

    picture: ClassVar[Kind] = Kind.OTHER
    fallible = True
    error: ClassVar[type[Exception]] = IndexError
    count: ClassVar[int] = 3

    def require(self, inputs: tuple[Variable, ...]) -> None:
        """Raise TypeError for other operands, ValueError for lengths that differ."""
        require_count(self.name, inputs, self.count)
        first, at, second = inputs[:3]
        if first.dtype not in DTYPES or second.dtype != first.dtype or at.dtype != "int32":
            raise TypeError(f"{self.name} takes floats and int32 positions, got {', '.join(map(describe, inputs))}")
        if {first.ndim, at.ndim, second.ndim} != {3}:
            raise TypeError(f"{self.name} takes arrays of three axes, got {', '.join(map(describe, inputs))}")
        for (i, a), (j, b) in self.pairs:
            known = inputs[i].type.shape[a], inputs[j].type.shape[b]
            if None not in known and known[0] != known[1]:
                raise ValueError(f"{self.name}: lengths {known[0]} and {known[1]} differ in {describe(inputs[i])} and "
                                 f"{describe(inputs[j])}")  # fmt: skip

    pairs: ClassVar[tuple[tuple[tuple[int, int], tuple[int, int]], ...]]
    """Axes of equal lengths: (operand, axis) twice."""

    def require_values(self, values: Sequence[np.ndarray]) -> None:
        """Raise ValueError for lengths that differ."""
        for (i, a), (j, b) in self.pairs:
            if values[i].shape[a] != values[j].shape[b]:
                raise ValueError(f"{self.name}: lengths {values[i].shape[a]} and {values[j].shape[b]} differ")

    def broken(self, *_: int) -> str:
        """The message for positions outside of a plane."""
        return f"{self.name}: a position is out of the bounds of a plane"

    def elements(self, at: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (n, 1, k * p) that can be read, and whether each is one.  Raises IndexError."""
        if at.size and (at.min() < -1 or at.max() >= length or length > MOST):
            raise IndexError(self.broken())
        flat = at.reshape(len(at), 1, at.shape[1] * at.shape[2])
        return np.maximum(flat, 0), flat >= 0

    def gathered(self, x: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return the elements (n, c, k, p) of x at the positions, 0 for -1."""
        n, c, s = x.shape
        places, exists = self.elements(at, s)
        if not s:
            return np.zeros((n, c, *at.shape[1:]), x.dtype)
        found = np.take_along_axis(x, np.broadcast_to(places, (n, c, places.shape[-1])), 2)
        return np.where(exists, found, x.dtype.type(0)).reshape(n, c, *at.shape[1:])

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[3:], "the length of a plane")
        arrays: list[Any] = all_broadcast(inputs[:3], flags[:3], examples)
        images = lengths_of(arrays[0])[1]
        joined = [T.reshape(a, (T.mul(examples.length, images), *lengths_of(a)[2:])) for a in arrays]
        result: Any = self(*joined, *inputs[3:])
        return T.reshape(result, (examples.length, images, *lengths_of(result)[1:]))

    def operations(self, node: Apply) -> costs.Operations:
        """A multiplication and an addition for each position and channel."""
        channels = costs.lengths(node.inputs[0])[1]
        return costs.Operations("product", 2.0 * costs.size(node.inputs[1]) * channels, node.out.dtype)


@record(repr=False)
class WeightedGather(Sampling):
    """`weighted_gather(x, at, w)`: for each place the sum of w[n, k, p] * x[n, c, at[n, k, p]] in the order of k."""

    name = "weighted_gather"
    pairs = (((0, 0), (1, 0)), ((0, 0), (2, 0)), ((1, 1), (2, 1)), ((1, 2), (2, 2)))

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        x, at, _ = inputs
        return (TensorType(x.dtype, (*x.type.shape[:2], at.type.shape[2])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        self.require_values(values)
        x, at, w = values
        with np.errstate(all="ignore"):
            terms = self.gathered(x, at) * w[:, None]
            return (np.add.reduce(terms, axis=2, dtype=x.dtype),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:2], inputs[1][2]),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (g,), (x, at, w) = cotangents, node.inputs
        if g is None:
            return [None] * 3
        return [WeightedScatter()(g, at, w, lengths_of(x)[2]), None, GatherProducts()(x, at, g)]


@record(repr=False)
class WeightedScatter(Sampling):
    """`weighted_scatter(g, at, w, s)`: planes of s elements, the sums of w[n, k, p] * g[n, c, p] by position."""

    name = "weighted_scatter"
    count: ClassVar[int] = 4
    pairs = (((0, 0), (1, 0)), ((0, 0), (2, 0)), ((1, 1), (2, 1)), ((1, 2), (2, 2)), ((0, 2), (1, 2)))

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        require_index_scalar(self.name, inputs[3], "the length of a plane")
        return (TensorType(inputs[0].dtype, (*inputs[0].type.shape[:2], known_length(inputs[3]))),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        self.require_values(values)
        g, at, w, length = values
        n, c, _ = g.shape
        places, exists = self.elements(at, int(length))
        result = np.zeros((n, c, int(length)), g.dtype)
        with np.errstate(all="ignore"):
            terms = (w[:, None] * g[:, :, None]).reshape(n, c, places.shape[-1])
        which = np.broadcast_to(exists, terms.shape)
        rows = np.broadcast_to(np.arange(n)[:, None, None], terms.shape)[which]
        channels = np.broadcast_to(np.arange(c)[:, None], terms.shape)[which]
        with np.errstate(all="ignore"):
            np.add.at(result, (rows, channels, np.broadcast_to(places, terms.shape)[which]), terms[which])
        return (result,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return ((*inputs[0][:2], tensor_to_dim(node.inputs[3])),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (h,), (g, at, w, _) = cotangents, node.inputs
        if h is None:
            return [None] * 4
        return [WeightedGather()(h, at, w), None, GatherProducts()(h, at, g), None]


@record(repr=False)
class GatherProducts(Sampling):
    """`gather_products(x, at, g)`: for each position the sum over channels of x[n, c, at[n, k, p]] * g[n, c, p]."""

    name = "gather_products"
    pairs = (((0, 0), (1, 0)), ((0, 0), (2, 0)), ((0, 1), (2, 1)), ((1, 2), (2, 2)))

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        self.require(inputs)
        return (TensorType(inputs[0].dtype, inputs[1].type.shape),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        self.require_values(values)
        x, at, g = values
        with np.errstate(all="ignore"):
            return (np.add.reduce(self.gathered(x, at) * g[:, :, None], axis=1, dtype=x.dtype),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[1],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (h,), (x, at, g) = cotangents, node.inputs
        if h is None:
            return [None] * 3
        return [WeightedScatter()(g, at, h, lengths_of(x)[2]), None, WeightedGather()(x, at, h)]
