"""Random variables, drawn by NumPy's own algorithms from states that are arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pytensor.tensor.random.op import RandomVariable

from .... import ops as T
from ....graph import Kind, Lacks, TensorType
from ....graph import Variable as CoreVariable
from ....ops.core.tensor import HostOp, outputs_of
from ....record import record
from ..generators import STATE_DTYPE, borrowed_generator, state_of
from ..table import Call, converter


@record(eq=False)
class Draw(HostOp):
    """`draw(state, *size, *parameters)`: the state after the draw, and the sample, by the `rng_fn` of PyTensor's op."""

    random_op: Any
    lengths: int | None
    result: TensorType
    fallible = True
    fingerprint = None
    picture: ClassVar[Kind] = Kind.OTHER
    lacks: ClassVar[Lacks] = Lacks(
        lengths="the size and the parameters decide them",
        derivative="draws have none",
        batching="a stream has one order",
        operations="its algorithm is NumPy's",
    )

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.random_op)

    def parameters(self) -> dict[str, Any]:
        return {}

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Draw)
        return same and (self.random_op, self.lengths, self.result) == (other.random_op, other.lengths, other.result)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.random_op, self.lengths, self.result))

    def infer(self, inputs: tuple[CoreVariable, ...]) -> tuple[TensorType, ...]:
        return TensorType(STATE_DTYPE, inputs[0].type.shape), self.result

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        state, *rest = values
        size = None
        if self.lengths is not None:
            size, rest = tuple(int(n) for n in rest[: self.lengths]), rest[self.lengths :]
        generator = borrowed_generator(state)
        found = np.asarray(self.random_op.rng_fn(generator, *rest, size), dtype=self.result.dtype)
        return state_of(generator), found


@converter(RandomVariable)
def draw(call: Call, state: Any, size: Any, *parameters: Any) -> Any:
    output = call.node.outputs[1].type
    lengths: list[Any] | None = None
    if size is not None:
        (count,) = size.type.shape
        if count is None:
            return NotImplemented
        lengths = [T.cast(size[k], "int64") for k in range(count)]
    op = Draw(call.op, None if lengths is None else len(lengths), TensorType(output.dtype, tuple(output.shape)))
    return outputs_of(op, state, *(lengths or ()), *parameters)


