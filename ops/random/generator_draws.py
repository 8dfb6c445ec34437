"""Draws by methods of NumPy's generators that have no C: host steps on states that are arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Lacks, TensorType, Variable
from ...record import record
from ..core.tensor import HostOp
from ..shapes.lengths import known_length, tensor_to_dim
from .generator_states import STATE_DTYPE, borrowed_generator

Method = Callable[..., Any]


def _of_vectors(name: str) -> Method:
    """Return a method whose samples are vectors: the last length is that of its parameters."""

    def method(generator: Any, *parameters: Any, size: tuple[int, ...], **keywords: Any) -> Any:
        return getattr(generator, name)(*parameters, size=size[:-1], **keywords)

    return method


def _permutation(generator: Any, size: tuple[int, ...]) -> Any:
    return generator.permutation(size[0])


def _weighted(generator: Any, count: Any, weights: Any, size: tuple[int, ...], **keywords: Any) -> Any:
    return generator.choice(count, size, p=weights, **keywords)


_METHODS: dict[str, Method] = {
    **{name: _of_vectors(name) for name in ("dirichlet", "multinomial", "multivariate_normal")},
    "permutation": _permutation,
    "weighted_choice": _weighted,
}


@record
class GeneratorDraw(HostOp):
    """`generator_draw(state, *lengths, *parameters)`: the state after the draw, and a sample of these lengths.

    `method` names the method of `np.random.Generator`, `keywords` are further arguments of it; `rank` is the number of
    lengths, `dtype` the dtype of the sample.
    """

    method: str
    rank: int
    dtype: str
    keywords: tuple[tuple[str, Any], ...] = ()
    name = "generator_draw"
    fallible = True
    folds: ClassVar[bool] = False
    picture: ClassVar[Kind] = Kind.OTHER
    lacks: ClassVar[Lacks] = Lacks(
        derivative="draws have none", batching="a stream has one order", operations="its algorithm is NumPy's",
    )

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        state, lengths = inputs[0], inputs[1 : 1 + self.rank]
        return TensorType(STATE_DTYPE, state.type.shape), TensorType(self.dtype, tuple(map(known_length, lengths)))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        state, lengths, parameters = values[0], values[1 : 1 + self.rank], values[1 + self.rank :]
        view = borrowed_generator(state)
        size = tuple(int(n) for n in lengths)
        method = _METHODS.get(self.method) or getattr(np.random.Generator, self.method)
        found = method(view.generator, *parameters, size=size, **dict(self.keywords))
        return view.read(), np.asarray(found, self.dtype)

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0], tuple(tensor_to_dim(n) for n in node.inputs[1 : 1 + self.rank])
