"""`ag.OpFromGraph`: an expression as an op, compiled once or copied to each of its places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import ops as T
from ..graph import NoGradient, Variable, rebuild
from ..ops.control.composed import Derivative, composed
from ..ops.core.checks import describe, shown
from ..ops.core.tensor import TensorVariable
from ..ops.shapes.specify import conflict
from ..record import record
from ..record.quoting import one_line
from ..record.spelling import counted
from .custom import tensor_of


class OpFromGraph:
    """An expression as an op: each call is the expression with other values of its inputs.

        square_sum = ag.OpFromGraph([x, y], [x * x + y], name="square_sum")
        square_sum(a, b)

    Args:
        inputs: Variables without owner, which the calls give values to.
        outputs: The expressions, one or several.  Other variables that they read stay what they are.
        inline: True puts the expression in the place of each call, where it fuses.  False compiles it once, as a part
            that all calls share; so do its derivatives.  None decides by cost: several calls share a large one.
        lop_overrides: A function (inputs, outputs, cotangents) that returns one cotangent an input, None for zero; in
            the place of the derivative of the expression.
        name: Its name in graphs and messages.

    A call takes one value an input, of its dtype and rank, and returns a variable, or a list of several.
    Raises TypeError or ValueError for inputs that are no leaves and for values that do not fit.  The name is Theano's.
    """

    def __init__(
        self, inputs: Sequence[Variable], outputs: Any, inline: bool | None = None, lop_overrides: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        self.name: str = one_line(name or "OpFromGraph")
        self.inputs: list[Variable] = list(inputs)
        several = isinstance(outputs, (list, tuple))
        self.outputs: list[Variable] = [tensor_of(o, f"{self.name}: output {k}")
                                        for k, o in enumerate(outputs if several else [outputs])]  # fmt: skip
        self.inline: bool | None = inline
        self.lop_overrides: Any = lop_overrides
        for k, v in enumerate(self.inputs):
            if not isinstance(v, Variable) or v.owner is not None or hasattr(v, "data"):
                raise TypeError(f"{self.name}: input {k} is {shown(v)}; expected a variable that nothing computes")
        if len(set(self.inputs)) < len(self.inputs):
            raise ValueError(f"{self.name}: an input is given twice; expected distinct variables")
        if not self.outputs:
            raise ValueError(f"{self.name}: it has no outputs; expected one at least")
        if lop_overrides is not None and not callable(lop_overrides):
            raise TypeError(f"{self.name}: lop_overrides is {shown(lop_overrides)}; expected a function")
        rule = None if lop_overrides is None else _Overridden(lop_overrides, self.name, len(self.inputs))
        leaves: list[Variable] = [TensorVariable(v.type, name=v.name) for v in self.inputs]
        inside = rebuild(self.outputs, dict(zip(self.inputs, leaves, strict=True)))
        self._apply = composed(leaves, inside, self.name, rule, True if rule is not None and inline is None else inline)

    def __call__(self, *values: Any) -> Any:
        if len(values) != len(self.inputs):
            raise TypeError(f"{self.name}: it takes {counted(len(self.inputs), 'input')}, got {len(values)}")
        given = []
        for k, (value, v) in enumerate(zip(values, self.inputs, strict=True)):
            found = tensor_of(value, f"{self.name}: input {k}")
            found = T.cast(found, v.dtype) if not isinstance(value, Variable) and found.dtype != v.dtype else found
            if found.dtype != v.dtype or found.ndim != v.ndim or conflict(found.type, v.type):
                raise TypeError(f"{self.name}: input {k} is {describe(found)}; expected {v.type}, as {describe(v)}")
            given.append(found if found.type.refines(v.type) else T.specify_shape(found, v.type.shape))
        results = self._apply(given)
        return results[0] if len(results) == 1 else list(results)

    def __repr__(self) -> str:
        return f"<{self.name}: {counted(len(self.inputs), 'input')}, {counted(len(self.outputs), 'output')}>"


@record
class _Overridden(Derivative):
    """The derivative that `lop_overrides` gives."""

    function: Any
    what: str
    count: int

    def pull(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Variable | None]
    ) -> Sequence[Variable | None]:
        own = list(inputs[: self.count])
        sent = [T.zeros_like(o) if g is None else g for o, g in zip(outputs, cotangents, strict=True)]
        found = self.function(own, list(outputs), sent)
        if not isinstance(found, (list, tuple)) or len(found) != self.count:
            raise TypeError(
                f"{self.what}: lop_overrides returned {shown(found)}; expected {self.count} cotangents, one an input"
            )
        pulled: list[Variable | None] = []
        for k, (g, x) in enumerate(zip(found, own, strict=True)):
            if g is None or x.type.kind not in "fc":
                pulled.append(None)
                continue
            value = tensor_of(g, f"{self.what}: cotangent {k}")
            if value.dtype != x.dtype or value.ndim != x.ndim or conflict(value.type, x.type):
                raise TypeError(f"{self.what}: cotangent {k} is {describe(value)}; expected {x.type}")
            pulled.append(value)
        if any(v.type.kind in "fc" for v in inputs[self.count :]):
            raise NoGradient(
                f"{self.what} reads {describe(inputs[self.count])}, which is no input of it, and lop_overrides gives "
                "no derivative for it; make it an input"
            )
        return [*pulled, *(None for _ in inputs[self.count :])]
