"""Random draws in proofs: unknown functions of the state, the lengths and the parameters.

Two draws by the same op on equal operands are equal, numbers and next state; nothing else is known of them.  A made-up
state may reject for ever, so that no draw runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ..graph import Apply, Dim, FunctionGraph, Kind, Lacks, TensorType, Variable
from ..graph.text import subgraphs
from ..ops.control.laziness import with_bodies
from ..ops.core.tensor import ForeignOp, TensorOp
from ..ops.lowered.fused import unmarked
from ..ops.random.generator_draws import GeneratorDraw
from ..ops.random.numpy_draws import DISTRIBUTIONS, NumpyDraw
from ..record import record
from .claims import Instance


@record
class UnknownDraw(TensorOp):
    """A function in the place of a draw: the next state, and as many numbers, from a digest of the operands."""

    draw: NumpyDraw | GeneratorDraw
    name = "unknown_draw"
    folds: ClassVar[bool] = False
    picture: ClassVar[Kind] = Kind.OTHER
    lacks: ClassVar[Lacks] = Lacks(
        derivative="draws have none", batching="a stream has one order", operations="it stands in proofs alone",
        planner="it stands in proofs alone", work="it stands in proofs alone",
    )  # fmt: skip

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return self.draw.infer(inputs)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return self.draw.dims(node, inputs)

    def lengths(self, operands: Any) -> Any:
        """The operands that are lengths of the sample."""
        return operands[1 : 1 + self.draw.rank]

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        shape = tuple(map(int, self.lengths(values)))
        if any(n < 0 for n in shape):
            raise ValueError(f"a draw of {shape} numbers")
        found = hashlib.sha256(repr(self.draw).encode())
        for value in values:
            found.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
        rng = np.random.default_rng(int.from_bytes(found.digest()[:8], "little"))
        state = rng.integers(0, 2**63, values[0].shape, dtype="uint64")
        draw = self.draw
        dtype = np.dtype(draw.dtype if isinstance(draw, GeneratorDraw) else DISTRIBUTIONS[draw.distribution][1])
        sample = rng.random(shape) if dtype.kind in "fc" else rng.integers(0, 4, shape)
        return state, sample.astype(dtype)


def abstracted(instance: Instance) -> Instance:
    """The instance with an unknown function in the place of each draw."""
    if not any(map(_draws, (instance.before, instance.after))):
        return instance
    return Instance(_abstracted(instance.before), _abstracted(instance.after))


def _draws(graph: FunctionGraph) -> bool:
    """Whether the graph, or a body in it, draws."""
    return any(
        isinstance(unmarked(node.op), (NumpyDraw, GeneratorDraw)) or any(map(_draws, subgraphs(node.op).values()))
        for node in graph.order
    )


def _abstracted(graph: FunctionGraph) -> FunctionGraph:
    graph = with_bodies(graph, _abstracted)
    known: dict[Variable, Variable] = {}
    for node in graph.order:
        op = unmarked(node.op)
        op = UnknownDraw(op) if isinstance(op, (NumpyDraw, GeneratorDraw)) else node.op
        made = Apply(op, [known.get(i, i) for i in node.inputs], node.origin)
        known.update(zip(node.outputs, made.outputs, strict=True))
    return FunctionGraph(graph.inputs, [known.get(o, o) for o in graph.outputs])


def unrunnable(instance: Instance) -> str:
    """The reason why an instance is not run on made-up values; empty if it is."""
    graphs = (instance.before, instance.after)
    if any(map(_draws, graphs)):
        return "a group draws random numbers, which is not run on made-up states"
    return "it calls code of a user, which is not run on made-up values" if any(map(_calls_python, graphs)) else ""


def _calls_python(graph: FunctionGraph) -> bool:
    """Whether the graph, or a body in it, calls code of a user."""
    return any(
        isinstance(node.op, ForeignOp) or any(map(_calls_python, subgraphs(node.op).values())) for node in graph.order
    )
