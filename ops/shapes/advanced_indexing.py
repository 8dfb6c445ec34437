"""Indexing with arrays of integers, read (`AdvancedSubtensor`) and written (`AdvancedIncSubtensor`).

A spec is that of basic indexing with one more entry, "a": an int64 array.  Arrays and integers broadcast together;
their joint axes stand where they stood if they were neighbours, else in front: NumPy's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, TensorType, Variable
from ...graph.dims import broadcast_dims, opaque_dims
from ...record import record
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..elementwise.records import broadcast_shapes
from . import indexing
from .distinct import Pointer, names_each_once, remaining
from .shape import DimShuffle


def pointers_of(spec: indexing.Spec, indices: Sequence[Variable]) -> list[Pointer]:
    """Return the arrays and integers among `indices`, which are no bounds of slices, each with its axis."""
    return [(axis, i) for axis, i in enumerate(indexing.entries(spec, indices)) if not isinstance(i, slice)]


def _arranged(spec: indexing.Spec, joint: Sequence[Any], sliced: Sequence[Any], rest: Sequence[Any]) -> tuple[Any, ...]:
    """Return the lengths of the result: broadcast axes of indices among the sliced axes, then the whole axes."""
    before = indexing.joint_position(spec)
    return (*sliced[:before], *joint, *sliced[before:], *rest)


@record(repr=False)
class AdvancedSubtensor(TensorOp):
    """`x[...]` with integer arrays among the indices, as a new tensor.

    Raises IndexError, with index, axis and size, for an index out of range, and for arrays that do not broadcast.
    """

    spec: indexing.Spec
    name = "advanced_subtensor"
    fallible = True
    picture: ClassVar[Kind] = Kind.INDEX
    code = indexing.read_code
    formula = indexing.part_formula
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = indexing.read_by_examples

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, *indices = inputs
        indexing.check_inputs(self.name, self.spec, x, indices)
        if "a" not in self.spec:
            raise TypeError(f"{self.name} takes at least one array, got {list(self.spec)}")
        try:
            joint = broadcast_shapes([i.type.shape for _, i in pointers_of(self.spec, indices)])
        except ValueError as error:
            raise IndexError(f"{self.name}: arrays of indices do not broadcast: {error}") from None
        sliced = indexing.sliced_lengths(self.spec, x, indices)
        return (x.type.with_shape(_arranged(self.spec, joint, sliced, x.type.shape[len(self.spec) :])),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, *indices = values
        return (np.asarray(x[tuple(map(indexing.concrete, indexing.entries(self.spec, indices)))]),)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        x, *indices = inputs
        joint = broadcast_dims([i for i in indexing.entries(self.spec, indices) if not isinstance(i, slice)])
        sliced = indexing.sliced_dims(self.spec, node.inputs[1:], x)
        found = _arranged(self.spec, joint, sliced, x[len(self.spec) :])
        return (tuple(mine if n is None else n for n, mine in zip(found, opaque_dims(node.out), strict=True)),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return indexing.vjp_of_read(self, node, cotangents, None)

    def vjp_onto(
        self, node: Apply, cotangents: Sequence[Variable | None], totals: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        return indexing.vjp_of_read(self, node, cotangents, totals[0])


def _in_c_order(within: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return an equal index that NumPy goes through in C order, not in the order of its arrays in memory."""
    arrays = [i for i in within if isinstance(i, np.ndarray)]
    if all(i.ndim < 2 for i in arrays):
        return within
    ordered = iter([np.ascontiguousarray(i) for i in np.broadcast_arrays(*arrays)])
    return tuple(next(ordered) if isinstance(i, np.ndarray) else i for i in within)


@record(repr=False)
class AdvancedIncSubtensor(TensorOp):
    """`advanced_inc_subtensor(x, y, *indices)`: a copy of `x` with `y` added to `x[...]`, or written there if `set`.

    An element that is indexed several times receives every addition, and keeps the last value that is set.  `y` has
    the dtype of `x` and broadcasts to `x[...]`.
    """

    spec: indexing.Spec
    set: bool
    name = "advanced_inc_subtensor"
    fallible = True
    picture: ClassVar[Kind] = Kind.INDEX
    code = indexing.write_code
    formula = indexing.write_formula
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = indexing.write_by_examples

    def with_spec(self, spec: indexing.Spec) -> AdvancedIncSubtensor:
        """Return the op that writes to another part."""
        return AdvancedIncSubtensor(spec, set=self.set)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, y, *indices = inputs
        (part,) = AdvancedSubtensor(self.spec).infer((x, *indices))
        indexing.check_source(*indexing.write_words(self), x, y, part)
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, y, *indices = values
        result = x.copy()
        within = tuple(map(indexing.concrete, indexing.entries(self.spec, indices)))
        if self.set:
            result[_in_c_order(within)] = y
        else:
            with np.errstate(all="ignore"):
                np.add.at(result, within, y)
        return (result,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return cotangents; that of a value that a later one overwrites is 0."""
        (g,), (x, _, *indices) = cotangents, node.inputs
        read = AdvancedSubtensor(self.spec)
        part = None if g is None else read(g, *indices)
        pointers = pointers_of(self.spec, indices)
        if part is not None and self.set and not names_each_once(x, pointers):
            remains = remaining(x, pointers)
            sliced = part.ndim - indexing.joint_position(self.spec) - remains.ndim
            part = T.switch(DimShuffle((*range(remains.ndim), *"x" * sliced))(remains), part, 0)
        return indexing.vjp_of_write(self, node, g, part)
