"""Draws from the streams of NumPy's generators, bit for bit; their states are arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Lacks, TensorType, Variable
from ...record import record
from ..core.checks import describe, require_count
from ..core.tensor import TensorOp
from ..elementwise import costs
from ..shapes.lengths import known_length, tensor_to_dim
from .generator_states import STATE_DTYPE, borrowed_generator

DISTRIBUTIONS: dict[str, tuple[tuple[str, ...], str]] = {
    "normal": (("float64", "float64"), "float64"),
    "uniform": (("float64", "float64"), "float64"),
    "gamma": (("float64", "float64"), "float64"),
    "beta": (("float64", "float64"), "float64"),
    "lognormal": (("float64", "float64"), "float64"),
    "laplace": (("float64", "float64"), "float64"),
    "logistic": (("float64", "float64"), "float64"),
    "vonmises": (("float64", "float64"), "float64"),
    "wald": (("float64", "float64"), "float64"),
    "exponential": (("float64",), "float64"),
    "weibull": (("float64",), "float64"),
    "triangular": (("float64", "float64", "float64"), "float64"),
    "poisson": (("float64",), "int64"),
    "geometric": (("float64",), "int64"),
    "halfnormal": (("float64",), "float64"),
    "binomial": (("int64", "float64"), "int64"),
    "integers": (("int64", "int64"), "int64"),
}
"""Distributions -> dtypes of their parameters and of the sample.  All but halfnormal are methods of a generator."""


def _halfnormal(generator: np.random.Generator, scale: np.ndarray, size: tuple[int, ...]) -> Any:
    """Return absolute values of normal samples, as SciPy computes them."""
    return np.abs(generator.standard_normal(size)) * scale


class ParameterError(ValueError):
    """Parameters that a distribution refuses, or a generator that C does not know."""


@record(repr=False)
class NumpyDraw(TensorOp):
    """`numpy_draw(state, *lengths, *parameters)`: the state after the draw, and a sample of these lengths.

    `state`: as in generator_states.py.  Each parameter has rank 0 or the rank of the sample; lengths then agree.
    """

    distribution: str
    rank: int
    name = "numpy_draw"
    fallible = True
    folds: ClassVar[bool] = False
    error: ClassVar[type[Exception]] = ParameterError
    picture: ClassVar[Kind] = Kind.OTHER
    lacks: ClassVar[Lacks] = Lacks(derivative="draws have none", batching="a stream has one order")

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        expected, result = DISTRIBUTIONS[self.distribution]
        require_count(self.name, inputs, 1 + self.rank + len(expected))
        state, lengths, parameters = inputs[0], inputs[1 : 1 + self.rank], inputs[1 + self.rank :]
        fits = state.dtype == STATE_DTYPE and state.ndim == 1 and all(n.ndim == 0 for n in lengths)
        if not fits or any(p.ndim not in (0, self.rank) for p in parameters):
            raise TypeError(f"{self.name} takes a state, lengths, parameters, got {', '.join(map(describe, inputs))}")
        if tuple(p.dtype for p in parameters) != expected:
            got = ", ".join(p.dtype for p in parameters)
            raise TypeError(f"{self.name}: {self.distribution} takes {', '.join(expected)}, got {got}")
        return TensorType(STATE_DTYPE, state.type.shape), TensorType(result, tuple(map(known_length, lengths)))

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        state, lengths, parameters = values[0], values[1 : 1 + self.rank], values[1 + self.rank :]
        view = borrowed_generator(state)
        size = tuple(int(n) for n in lengths)
        if self.distribution == "halfnormal":
            found = _halfnormal(view.generator, parameters[0], size)
        else:
            found = getattr(view.generator, self.distribution)(*parameters, size=size)
        return view.read(), np.asarray(found, DISTRIBUTIONS[self.distribution][1])

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return inputs[0], tuple(tensor_to_dim(n) for n in node.inputs[1 : 1 + self.rank])

    def broken(self, *_: int) -> str:
        """The message for parameters that do not fit."""
        return f"{self.distribution}: a parameter is out of bounds, or the generator is not PCG64"

    def operations(self, node: Apply) -> costs.Operations:
        """Ten additions for each element."""
        return costs.Operations("moving", 10.0 * costs.size(node.outputs[1]), node.outputs[1].dtype)
