"""Elements combined with values at positions that may repeat, as `np.multiply.at` and `np.maximum.at` do.

    x.at[i].multiply(y)    x.at[i].max(y)    x.at[i].min(y)

Sums are `AdvancedIncSubtensor`.  A part without repetitions is written with the combined values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, NoGradient, TensorType, Variable
from ...record import record
from ..core.checks import describe
from ..core.namespace import T
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..elementwise.records import Elementwise, cast, maximum, minimum, mul
from ..reductions.reduce import product_of_others
from ..writing import code, latex
from .advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from .creation import ones_like, zeros_like
from .indexing import Spec, check_source, concrete, entries, index_code, index_entries, write_by_examples

METHODS: dict[Elementwise, str] = {mul: "multiply", maximum: "max", minimum: "min"}
"""The methods of `x.at[i]`."""


@record(repr=False)
class AdvancedCombine(TensorOp):
    """`advanced_combine(x, y, *indices)`: a copy of `x` whose elements `x[...]` are combined with `y` by `scalar`.

    An element that is indexed several times is combined with each value, in C order of the index.  `y` has the dtype
    of `x` and broadcasts to `x[...]`.
    """

    spec: Spec
    scalar: Elementwise
    name = "advanced_combine"
    fallible = True
    picture: ClassVar[Kind] = Kind.INDEX
    operations: ClassVar[Callable[..., Any]] = costs.moving
    batching: ClassVar[Callable[..., Any]] = write_by_examples

    def __post_init__(self) -> None:
        if self.scalar not in METHODS:
            known = ", ".join(op.name for op in METHODS)
            raise TypeError(f"{self.name}: no elements are combined by {self.scalar}; expected one of {known}")

    def with_spec(self, spec: Spec) -> AdvancedCombine:
        """Return the op that writes to another part."""
        return AdvancedCombine(spec, self.scalar)

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        x, y, *indices = inputs
        (part,) = AdvancedSubtensor(self.spec).infer((x, *indices))
        check_source(self.name, "combined with", x, y, part)
        return (x.type,)

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        x, y, *indices = values
        result = x.copy()
        with np.errstate(all="ignore"):
            within = tuple(map(concrete, entries(self.spec, indices)))
            self.scalar.function.at(result, within, y)  # type: ignore[attr-defined]
        return (result,)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (inputs[0],)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """Return cotangents; the values that reach an extremum share that of their element equally."""
        (g,), (x, y, *indices) = cotangents, node.inputs
        none = [None for _ in indices]
        if g is None or x.type.kind not in "fc":
            return [None, None, *none]
        if x.type.kind == "c" and self.scalar is not mul:
            raise NoGradient(f"{self.name} of {describe(x)}: the order of complex numbers is not differentiable")
        back = self._product_vjp if self.scalar is mul else self._extremum_vjp
        of_x, of_part = back(node, g, T.fill(AdvancedSubtensor(self.spec)(x, *indices), y))
        return [of_x, T.unbroadcast(of_part, y), *none]

    def _product_vjp(self, node: Apply, g: Any, part: Any) -> tuple[Any, Any]:
        x, _, *indices = node.inputs
        read = AdvancedSubtensor(self.spec)
        of_x = AdvancedCombine(self.spec, mul)(ones_like(x), part, *indices)

        def together(op: Elementwise, values: Any) -> Any:
            """For each value the values of its element, folded."""
            base = zeros_like(x, dtype=values.dtype if values.dtype != "bool" else "int64")
            if op is mul:
                return read(AdvancedCombine(self.spec, mul)(T.add(base, 1), values, *indices), *indices)
            return read(
                AdvancedIncSubtensor(self.spec, set=False)(base, cast(values, base.dtype), *indices), *indices
            )

        of_part = read(x, *indices) * product_of_others(part, together)
        if x.type.kind == "c":
            of_x, of_part = T.conj(of_x), T.conj(of_part)
        return g * of_x, read(g, *indices) * of_part

    def _extremum_vjp(self, node: Apply, g: Any, part: Any) -> tuple[Any, Any]:
        x, _, *indices = node.inputs
        read, plus = AdvancedSubtensor(self.spec), AdvancedIncSubtensor(self.spec, set=False)
        kept, reached = T.eq(x, node.out), T.eq(part, read(node.out, *indices))
        count = plus(cast(kept, x.dtype), cast(reached, x.dtype), *indices)
        share = g / count
        return T.switch(kept, share, 0), T.switch(reached, read(share, *indices), 0)

    def formula(self, output: Variable, operands: Sequence[latex.Written], /) -> latex.Written:
        assert output.owner is not None
        x, value, *indices = operands
        part = latex.indexed(x, index_entries(self.spec, output.owner.inputs[0].ndim, [text for text, _ in indices]))
        return rf"\operatorname{{{METHODS[self.scalar]}}}\left({part[0]}, {value[0]}\right)", latex.ATOM

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        """`x.at[i].max(y)`."""
        assert output.owner is not None
        x, y, *indices = output.owner.inputs
        if speaker.numpy:
            raise code.Unwritten("NumPy writes parts by a statement")
        part = f"{speaker.atom(x)}.at{index_code(self.spec, indices, speaker)}"
        return f"{part}.{METHODS[self.scalar]}({speaker.text(y)})", code.ATOM

