"""Running sums, products, maxima and minima along one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Op, TensorType, Variable
from ...graph.types import name_of, numpy_dtype
from ...record import record
from ..control.along import along
from ..control.batching import along_next_axis
from ..core.checks import describe, normalize_axis, require_count
from ..core.namespace import T
from ..core.tensor import TensorOp, TensorVariable, as_tensor
from ..core.typing import DTypeLike, TensorLike
from ..elementwise import costs
from ..elementwise.records import Elementwise, add, cast, maximum, minimum, mul
from .reduce import identity_of, reduced_dtype

if TYPE_CHECKING:
    from ..writing import code

__all__ = ["CUMULATIVE", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]

CUMULATIVE: dict[str, Elementwise] = {"cumsum": add, "cumprod": mul, "cummax": maximum, "cummin": minimum}
"""The elementwise op that each running fold applies, by printed name."""
_NAMES = {op: name for name, op in CUMULATIVE.items()}


@record(repr=False)
class Cumulative(TensorOp):
    """Cumulative fold: element k along `axis` is the fold of the elements 0 to k; dtypes are as in `sum` or `prod`."""

    scalar: Elementwise
    axis: int
    picture: ClassVar[Kind] = Kind.REDUCTION
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = along_next_axis

    def __post_init__(self) -> None:
        if self.scalar not in _NAMES:
            raise TypeError(f"no running fold of {self.scalar}; expected {', '.join(op.name for op in _NAMES)}")

    def unit(self, dtype: str) -> Any:
        """Return the number that a fold begins with, which changes no element: -0.0 + -0.0 is -0.0."""
        if self.scalar in (maximum, minimum):
            return identity_of(self.scalar, numpy_dtype(dtype))
        if self.scalar is mul:
            return 1
        return -0.0 if numpy_dtype(dtype).kind == "f" else 0

    @property
    def name(self) -> str:  # type: ignore[override]
        return _NAMES[self.scalar]

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        return {name: partial(cls, scalar) for name, scalar in CUMULATIVE.items()}

    def parameters(self) -> dict[str, Any]:
        return {"axis": self.axis}

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        require_count(self.name, inputs, 1)
        (x,) = inputs
        if not 0 <= self.axis < x.ndim:
            raise np.exceptions.AxisError(f"{self.name}: {describe(x)} has no axis {self.axis}")
        if x.type.kind == "c" and self.scalar in (maximum, minimum):
            raise TypeError(f"{self.name}: {describe(x)} is complex; use T.accumulate")
        return (x.type.with_dtype(reduced_dtype(self.scalar, x.dtype)),)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (x,) = values
        dtype = reduced_dtype(self.scalar, name_of(x.dtype))
        with np.errstate(all="ignore"):
            return (self.scalar.function.accumulate(x, axis=self.axis, dtype=dtype),)  # type: ignore[attr-defined]

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        (x,), (g,) = node.inputs, cotangents
        if g is None or x.type.kind not in "fc":
            return [None]
        if self.scalar is add:
            return [self._suffix_sums(g)]
        if self.scalar in (maximum, minimum):
            return [self._extreme_vjp(x, node.out, g)]
        if x.type.kind == "c":
            return [T.conj(self._product_vjp(x, node.out, T.conj(g)))]
        return [self._product_vjp(x, node.out, g)]

    def _suffix_sums(self, g: Any) -> TensorVariable:
        """Element k is the sum of the elements from k to the last."""
        return T.flip(Cumulative(add, self.axis)(T.flip(g, self.axis)), self.axis)

    def _extreme_vjp(self, x: Any, y: Any, g: Any) -> TensorVariable:
        """The cotangent of x: each extremum shares its own between the number and the one before, as `scalar` does."""
        x, y, g = (T.moveaxis(v, self.axis, 0) for v in (x, y, g))
        length, *others = T.lengths_of(x)

        def step(slices: list[Any], states: list[Any]) -> tuple[list[Variable], list[Variable]]:
            own, number, last, is_first = slices
            total = own + states[0]
            pair: Any = self.scalar(last, number).owner
            before, here = map(as_tensor, self.scalar.vjp(pair, [total]))  # type: ignore[arg-type]  # both have one
            return [before], [T.switch(is_first, total, here)]

        sequences = [g, x, T.concatenate([x[:1], y[:-1]]), T.eq(T.arange(length), 0)]
        _, (found,) = along(step, [T.flip(v, 0) for v in sequences], [T.zeros(others, dtype=x.dtype)])
        return T.moveaxis(T.flip(found, 0), 0, self.axis)

    def _product_vjp(self, x: Any, y: Any, g: Any) -> TensorVariable:
        """The cotangent of x, also where x has zeros.

        Before the first zero dy_j / dx_k is y_j / x_k; at it, the product of the others up to j.  Behind it there is a
        factor of that zero, which is 0 but has a derivative; so second derivatives are right as well.
        """
        zero = T.eq(x, 0)
        zeros = Cumulative(add, self.axis)(zero)
        first, second = (T.logical_and(zero, T.eq(zeros, n)) for n in (1, 2))
        without_one = Cumulative(mul, self.axis)(T.switch(first, 1, x))
        without_two = Cumulative(mul, self.axis)(T.switch(T.logical_or(first, second), 1, x))
        plain = T.switch(zero, 1, x)
        before = self._suffix_sums(g * y) / plain
        of_first = Cumulative(add, self.axis)(T.switch(first, x, 0))
        of_one = self._suffix_sums(g * without_one)
        behind = T.switch(zero, self._suffix_sums(g * without_two), of_one / plain)
        behind = T.switch(T.logical_or(T.eq(zeros, 1), second), of_first * behind, 0)
        return T.switch(T.eq(zeros, 0), before, T.switch(first, of_one, behind))

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`cumsum(x, axis=1)`, `accumulate(maximum, x, axis=1)`."""
        assert output.owner is not None
        x = speaker.text(output.owner.inputs[0])
        if self.scalar in (add, mul):
            return speaker.call(self.name, x, axis=self.axis)
        if speaker.numpy:
            return speaker.call(f"{self.scalar.name}.accumulate", x, axis=self.axis)
        return speaker.call("accumulate", speaker.function(self.scalar.name), x, axis=self.axis)


def _cumulative(name: str, x: Any, axis: Any, dtype: Any) -> TensorVariable:
    x = as_tensor(x) if dtype is None else cast(x, dtype)
    if axis is None:
        x, axis = T.ravel(x), 0
    result = Cumulative(CUMULATIVE[name], normalize_axis(axis, x.ndim, f"{name} of {describe(x)}"))(x)
    return result if dtype is None else cast(result, dtype)


def cumsum(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None) -> TensorVariable:
    """The running sums along `axis`, of the flattened x for None, in the dtype of `sum`.

    `dtype`: what is summed in.  Raises AxisError for an axis that x does not have.
    """
    return _cumulative("cumsum", x, axis, dtype)


def cumprod(x: TensorLike, axis: int | None = None, dtype: DTypeLike = None) -> TensorVariable:
    """The running products along `axis`; see `cumsum`."""
    return _cumulative("cumprod", x, axis, dtype)


def cumulative_sum(
    x: TensorLike, axis: int | None = None, dtype: DTypeLike = None, include_initial: bool = False
) -> TensorVariable:
    """`cumsum` along `axis`, which only a vector may leave out; with `include_initial` after a 0."""
    return _standard("cumulative_sum", cumsum, 0, x, axis, dtype, include_initial)


def cumulative_prod(
    x: TensorLike, axis: int | None = None, dtype: DTypeLike = None, include_initial: bool = False
) -> TensorVariable:
    """`cumprod` along `axis`, which only a vector may leave out; with `include_initial` after a 1."""
    return _standard("cumulative_prod", cumprod, 1, x, axis, dtype, include_initial)


def _standard(
    what: str, function: Callable[..., TensorVariable], first: int, x: Any, axis: Any, dtype: Any, initial: bool
) -> TensorVariable:
    x = as_tensor(x)
    x = T.atleast_1d(x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"{what}: axis is needed for {describe(x)}")
    place = 0 if axis is None else normalize_axis(axis, x.ndim, f"{what} of {describe(x)}")
    found = function(x, place, dtype)
    if not initial:
        return found
    lengths = [1 if k == place else n for k, n in enumerate(T.lengths_of(x))]
    return T.concatenate([T.full(lengths, first, found.dtype), found], axis=place)
