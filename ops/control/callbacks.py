"""Python functions of arrays in the middle of an expression: `ag.pure_callback`.

    f(*arguments, *lengths)

The types of the results are declared, and each call checks them.  `lengths` are those that only a run knows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, Union

import numpy as np

from ...graph import Apply, Constant, Dim, Lacks, NoGradient, TensorType, Variable
from ...graph.dims import opaque_dims
from ...graph.types import dtype_name
from ...record import record
from ...record.quoting import one_line
from ...record.spelling import counted
from ..core.checks import shown
from ..core.tensor import ForeignOp, as_tensor
from ..shapes.lengths import as_length, known_length, lengths_of, tensor_to_dim
from .batching import Examples, Flags, NoBatch, require_shared

METHODS = ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all")
"""How `ag.vmap` calls a function: once an example, or once with all, the others of length 1 or repeated."""
Length = Union[int, Variable, None]


class ShapeDtypeStruct:
    """Shape and dtype of an array that does not exist yet, as JAX's.

    Args:
        shape: The lengths: integers, integer scalars, or None for any length.
        dtype: The dtype, by NumPy's name or class.
    """

    def __init__(self, shape: Sequence[Length], dtype: Any) -> None:
        self.shape: tuple[Length, ...] = tuple(shape)
        self.dtype: str = dtype_name(dtype)

    def __repr__(self) -> str:
        return f"ShapeDtypeStruct({self.shape}, {self.dtype!r})"


class Level(NamedTuple):
    """One `ag.vmap` around a callback: its method, and the arguments that have the axis of the examples."""

    method: str
    flags: tuple[bool, ...]


@record(repr=False)
class Callback(ForeignOp):
    """`function` of arrays.  `types`: of the results; `known`: for each axis of them a length, or the number of one.

    `levels`: the `ag.vmap`s around it, the innermost first.
    """

    folds: ClassVar[bool] = False
    function: Callable[..., Any]
    called: str
    arguments: int
    types: tuple[TensorType, ...]
    measured: tuple[tuple[int | None, ...], ...]
    """For each axis of each result the number of the operand that has its length; None for an axis without one."""
    method: str | None = None
    levels: tuple[Level, ...] = ()
    lacks: ClassVar[Lacks] = Lacks(operations="its function says nothing of them")

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.called

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        lead = tuple(inputs[k].type.shape[axis] for k, axis in self._leading())
        own = [
            [n if at is None or n is not None else known_length(inputs[at]) for n, at in zip(t.shape, row, strict=True)]
            for t, row in zip(self.types, self.measured, strict=True)
        ]
        return tuple(t.with_shape((*lead, *row)) for t, row in zip(self.types, own, strict=True))

    def _leading(self) -> list[tuple[int, int]]:
        """Return for each axis of examples, the outermost first, an argument and its axis with the same length."""
        found = []
        for level in reversed(range(len(self.levels))):
            k = self.levels[level].flags.index(True)
            found.append((k, sum(above.flags[k] for above in self.levels[level + 1 :])))
        return found

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        lead = tuple(inputs[k][axis] for k, axis in self._leading())
        rows = []
        for o, row in zip(node.outputs, self.measured, strict=True):
            own = opaque_dims(o)[len(lead) :]
            known = [mine if at is None else tensor_to_dim(node.inputs[at]) for mine, at in zip(own, row, strict=True)]
            rows.append((*lead, *known))
        return tuple(rows)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        shapes = [
            tuple(int(values[at]) if at is not None else n for n, at in zip(t.shape, row, strict=True))
            for t, row in zip(self.types, self.measured, strict=True)
        ]
        return tuple(self._run(len(self.levels), (), list(values[: self.arguments]), shapes))

    def _run(
        self, level: int, lead: tuple[int, ...], values: list[np.ndarray], shapes: Sequence[tuple[int | None, ...]]
    ) -> list[np.ndarray]:
        """Return the results for the examples of the levels below `level`; `lead`: those that one call has at once."""
        if level == 0:
            found = self.function(*(v.copy() for v in values))
            each = zip(self._each(found, shapes), self.types, strict=True)
            return [fitted(self.called, k, v, kind, (*lead, *s)) for k, ((v, s), kind) in enumerate(each)]
        method, flags = self.levels[level - 1]
        count = len(values[flags.index(True)])
        if method.startswith("sequential"):
            rows = [
                self._run(level - 1, (), [v[e] if f else v for v, f in zip(values, flags, strict=True)], shapes)
                for e in range(count)
            ]
            return [np.array(column) for column in zip(*rows, strict=True)] if rows else self._none(level - 1, shapes)
        size = 1 if method == "expand_dims" else count
        given = [v if f else np.repeat(v[None], size, 0) for v, f in zip(values, flags, strict=True)]
        return self._run(level - 1, (*lead, count), given, shapes)

    def _none(self, levels: int, shapes: Sequence[tuple[int | None, ...]]) -> list[np.ndarray]:
        """Return results for no examples."""
        return [
            np.zeros((0, *(0,) * levels, *(n or 0 for n in s)), t.numpy)
            for t, s in zip(self.types, shapes, strict=True)
        ]

    def _each(self, found: Any, shapes: Sequence[Any]) -> list[tuple[Any, Any]]:
        if not isinstance(found, (list, tuple)) or len(found) != len(shapes):
            raise TypeError(f"{self.called} returned {shown(found)}; expected {counted(len(shapes), 'result')}")
        return list(zip(found, shapes, strict=True))

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        raise NoGradient(f"{self.called} is a function of arrays; give it a derivative by ag.custom_vjp around it")

    def batching(self, node: Apply, inputs: list[Variable], flags: Flags, examples: Examples) -> Any:
        require_shared(flags[self.arguments :], "the declared lengths")
        if self.method is None:
            raise NoBatch(
                f"{self.called} takes one example; pass vmap_method={METHODS[0]!r} (or another) to pure_callback"
            )
        level = Level(self.method, tuple(flags[: self.arguments]))
        return list(Apply(replace(self, levels=(*self.levels, level)), tuple(inputs)).outputs)


def fitted(called: str, k: int, value: Any, kind: TensorType, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return a result as an array.  Raises TypeError or ValueError if it is not what was declared."""
    try:
        got = np.asarray(value)
    except ValueError:
        got = np.asarray(value, dtype=object)
    declared = f"{kind.dtype} of shape {_shape_text(shape)}"
    came = f"{got.dtype} of shape {_shape_text(got.shape)}"
    if not isinstance(value, (np.ndarray, np.generic)) and np.can_cast(got.dtype, kind.numpy, "same_kind"):
        got = got.astype(kind.numpy)  # numbers and lists of Python
    if got.dtype != kind.numpy:
        raise TypeError(f"{called}: result {k} is {came}; declared is {declared}")
    if len(got.shape) != len(shape) or any(n is not None and n != m for n, m in zip(shape, got.shape, strict=True)):
        raise ValueError(f"{called}: result {k} is {came}; declared is {declared}")
    return np.array(got)


def _shape_text(shape: Sequence[int | None]) -> str:
    inside = ", ".join("?" if n is None else str(n) for n in shape)
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def callback_of(
    function: Callable[..., Any], called: str, arguments: Sequence[Variable], declared: Sequence[Any],
    method: str | None,
) -> list[Any]:  # fmt: skip
    """Return the results of a function of arrays that returns a list, each of a declared shape and dtype.

    Raises TypeError for what declares nothing.
    """
    types, measured, lengths = [], [], []  # type: list[TensorType], list[tuple[int | None, ...]], list[Variable]
    for k, one in enumerate(declared):
        if not hasattr(one, "dtype") or not hasattr(one, "shape"):
            raise TypeError(
                f"{called}: result_shape_dtypes declares result {k} by {shown(one)}; expected a value with shape and "
                "dtype, such as ag.ShapeDtypeStruct((3,), 'float64')"
            )
        row: list[int | None] = []
        known: list[int | None] = []
        for n in lengths_of(one) if isinstance(one, Variable) else one.shape:
            length = None if n is None else as_length(n, f"{called}: the shape of result {k}")
            value = None if length is None else known_length(length)
            if value is not None and value < 0:
                raise ValueError(f"{called}: the shape of result {k} has the length {value}; expected 0 or more")
            known.append(value)
            row.append(None if length is None or isinstance(length, Constant) else len(arguments) + len(lengths))
            lengths += [] if row[-1] is None or length is None else [length]
        types.append(TensorType(dtype_name(one.dtype), tuple(known)))
        measured.append(tuple(row))
    op = Callback(function, one_line(called), len(arguments), tuple(types), tuple(measured), method)
    return list(Apply(op, (*map(as_tensor, arguments), *lengths)).outputs)
