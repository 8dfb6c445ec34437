"""The base class of ops.

An op knows its type rule, its meaning in NumPy, the lengths of its outputs and its gradient; every other reading of it
(C, rules, text) is a table elsewhere, keyed by op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

import numpy as np

from . import facets
from .dims import Dim, opaque_dims
from .node import Apply, Variable
from .pointing import Pointed, called, pointing
from .provenance import here
from .types import TensorType


class NoGradient(TypeError):
    """The requested derivative does not exist; the message says why."""


class Op(facets.Faceted):
    """Base of all ops.  Subclasses are frozen dataclasses: two ops of a class are equal if their fields are.

    A subclass gives `name`, `infer` and `evaluate`; `dims` if an output's lengths are not those of `infer`'s broadcast
    rule; `vjp` if it has a derivative; and the other facets of facets.py, or in `lacks` the reason why it has none.
    """

    name: str
    variable_class: ClassVar[type[Variable]] = Variable

    # --- the type rule
    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        """The types of the outputs.  Constant inputs may be looked into.

        Raises TypeError for a wrong number, dtype or rank of inputs and ValueError for lengths that cannot agree.
        """
        raise NotImplementedError(f"{type(self).__name__}.infer")

    # --- the meaning
    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        """Compute the outputs with NumPy: the reference of every test, and the fallback without a compiler."""
        raise NotImplementedError(f"{type(self).__name__}.evaluate")

    # --- the shape rule
    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        """The lengths of the outputs in terms of the lengths of the inputs (see dims.py)."""
        return tuple(opaque_dims(output) for output in node.outputs)

    def demands(self, node: Apply) -> Iterable[tuple[Dim, Dim]]:
        """Pairs of lengths that are equal in each run of the node that raises nothing."""
        return ()

    # --- the derivative
    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        """The cotangents of the inputs (None: no dependence), each of exactly the shape and dtype of its input.

        `cotangents` holds one entry an output, None where nothing flows back.  Raises NoGradient with the reason where
        the derivative is not defined.
        """
        raise NoGradient(f"{self} has {facets.lacking(type(self), 'derivative')}")

    def vjp_onto(
        self, node: Apply, cotangents: Sequence[Variable | None], totals: Sequence[Variable | None]
    ) -> Sequence[Variable | None] | None:
        """The cotangents as by `vjp`, each added to the entry of `totals` in its place unless that is None.

        None: the caller adds what `vjp` gives.  An op whose cotangents are zeros but for a part adds that part.
        """
        return None

    def jvp(self, node: Apply, tangents: Sequence[Variable | None]) -> Sequence[Variable | None] | None:
        """The tangents of the outputs, or None to derive forward mode by applying `vjp` twice."""
        return None

    # --- many examples at once
    def batching(self, node: Apply, inputs: list[Variable], flags: Sequence[bool], examples: Any) -> Any:
        """Return the results for all examples, with their axis in front: one, or a sequence of them.

        Args:
            node: The node of one example.
            inputs: The operands; those that are flagged have the axis of the examples in front.
            flags: For each operand whether it has that axis; one has.
            examples: The examples, with the helpers of `ops/control/batching.py`.

        Raises NoBatch where lengths would differ from one example to the next.
        """
        raise NotImplementedError(f"{type(self).__name__}.batching")

    # --- facts about failure and cost
    def operations(self, node: Apply) -> Any:
        """Return the estimated operations of a node, by which engines are chosen (`ops/elementwise/costs.py`)."""
        raise NotImplementedError(f"{type(self).__name__}.operations")

    fallible: ClassVar[bool] = False
    """Whether it can raise for values of the right type and shape (an index out of range, a singular matrix)."""

    restorable: ClassVar[bool] = False
    """Whether a call that fails restores the part that this op has overwritten in place."""

    unread: ClassVar[int | None] = None
    """The input of which only the shape is read, if there is one."""

    only_checks: ClassVar[bool] = False
    """Whether its value is its first operand, which it checks: pictures leave it out."""

    fingerprint: ClassVar[str | None] = ""
    """Digest of the code of an op from outside this package, equal in every process; None if there is none."""

    def views(self) -> dict[int, int]:
        """Outputs that share memory with an input: output index -> input index."""
        return {}

    def may_view(self) -> dict[int, int]:
        """Outputs that share memory with an input always, as in `views`, or for some lengths."""
        return self.views()

    def destroys(self) -> dict[int, int]:
        """Outputs that may overwrite an input, destroying its value: output index -> input index."""
        return {}

    # --- building
    def convert(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        """Variables for the arguments of a call.  Vocabularies override it to accept numbers and arrays."""
        return tuple(inputs)

    def __call__(self, *inputs: Any) -> Any:
        """Apply the op: a Variable, or a tuple of them where the op has several outputs.

        An argument that has `__apply_op__` (a pattern) takes the call over: an op applied to a pattern is a pattern.
        """
        for i in inputs:
            take_over = getattr(type(i), "__apply_op__", None)
            if take_over is not None:
                return take_over(i, self, inputs)
        operands = self.convert(inputs)
        try:
            outputs = Apply(self, operands).outputs
        except ValueError as error:
            raise _pointing(error, self, operands) from None
        return outputs[0] if len(outputs) == 1 else outputs

    # --- text
    def produced_by(self, output: Variable) -> str:
        """The function that made an output, as messages name it."""
        return self.name

    def brief(self, output: Variable, operands: Sequence[str]) -> str:
        """An output in a line of a message, from the texts of the operands."""
        return f"{self.name}({', '.join(operands[:4])})"

    def parameters(self) -> dict[str, Any]:
        """The fields that distinguish this op from others of its name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.repr} if is_dataclass(self) else {}

    @property
    def class_name(self) -> str:
        """The name under which profiles add up nodes: that of the class."""
        return type(self).__name__

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        """Return the ops of this class by their printed names: an op, or what makes one of its fields.

        The default is the name of the class; bases without a name have no entry.
        """
        name = getattr(cls, "name", None)
        if not isinstance(name, str):
            return {}
        return {name: cls if is_dataclass(cls) and fields(cls) else cls()}

    def __str__(self) -> str:
        plain = {k: v for k, v in self.parameters().items() if not (hasattr(v, "inputs") and hasattr(v, "outputs"))}
        inside = ", ".join(f"{k}={v}" if isinstance(v, Op) else f"{k}={v!r}" for k, v in plain.items())
        return f"{self.name}{{{inside}}}" if inside else self.name

    def __repr__(self) -> str:
        return str(self)


def _pointing(error: ValueError, op: Op, operands: Sequence[Variable]) -> ValueError:
    """The error of a type rule, with the operands that it names underlined in the user's line."""
    message = str(error)
    guilty = [k for k, v in enumerate(operands) if (v.name or v.owner is not None) and _named(v) in message]
    line = next(iter(here()), None)
    where = Pointed(op.name, tuple(map(called, operands)), tuple(v.type.shape for v in operands), tuple(guilty), line)
    return pointing(type(error)(f"{message}{where}"), where) if guilty else error


def _named(operand: Variable) -> str:
    """The name of an operand in messages of type rules."""
    made = operand.owner
    word = operand.name or (f"the result of {made.op.produced_by(operand)}" if made is not None else "")
    return f"{word} ({operand.type})"
