"""Random variables, drawn by NumPy's own algorithms from states that are arrays."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pytensor.tensor.random import basic
from pytensor.tensor.random.op import RandomVariable

from .... import ops as T
from ....graph import Constant, Lacks, TensorType
from ....graph import Variable as CoreVariable
from ....ops.core.tensor import ForeignOp, outputs_of
from ....ops.random.draw_parameters import draw_lengths
from ....ops.random.generator_states import STATE_DTYPE, borrowed_generator, draws_in_c
from ....ops.random.numpy_draws import DISTRIBUTIONS, NumpyDraw
from ....record import record
from ..scipy_draws import drawn
from ..table import Call, converter
from .scalars import as_dtype


@record(eq=False)
class Draw(ForeignOp):
    """`draw(state, *size, *parameters)`: the state after the draw, and the sample, by the `rng_fn` of PyTensor's op."""

    random_op: Any
    lengths: int | None
    result: TensorType
    lacks: ClassVar[Lacks] = Lacks(
        lengths="the size and the parameters decide them",
        derivative="draws have none",
        batching="a stream has one order",
        operations="its algorithm is NumPy's",
    )

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.random_op)

    @property
    def identity(self) -> Any:
        return self.random_op, self.lengths, self.result

    def infer(self, inputs: tuple[CoreVariable, ...]) -> tuple[TensorType, ...]:
        return TensorType(STATE_DTYPE, inputs[0].type.shape), self.result

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        state, *rest = values
        size = None
        if self.lengths is not None:
            size, rest = tuple(int(n) for n in rest[: self.lengths]), rest[self.lengths :]
        view = borrowed_generator(state)
        found = drawn(self.random_op, view.generator, rest, size)
        if found is None:
            found = self.random_op.rng_fn(view.generator, *rest, size)
        return view.read(), np.asarray(found, dtype=self.result.dtype)


@converter(RandomVariable)
def draw(call: Call, state: Any, size: Any, *parameters: Any) -> Any:
    output = call.node.outputs[1].type
    lengths: list[Any] | None = None
    if size is not None:
        (count,) = size.type.shape
        if count is None:
            return NotImplemented
        lengths = [T.cast(size[k], "int64") for k in range(count)]
    if RandomVariable not in call.conversion.own and draws_in_c():
        found = _in_c(call.op, state, lengths, parameters)
        if found is not None:
            return found[0], as_dtype(found[1], output.dtype)
    op = Draw(call.op, None if lengths is None else len(lengths), TensorType(output.dtype, tuple(output.shape)))
    return outputs_of(op, state, *(lengths or ()), *parameters)


def _in_c(op: Any, state: Any, lengths: list[Any] | None, parameters: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the state after a draw by NumPy's C functions, and the sample; None for a distribution without one."""
    kind = type(op)
    if kind is basic.HalfNormalRV and _is_zero(parameters[0]):
        return _sample("halfnormal", state, lengths, parameters[1:])
    if kind is basic.BernoulliRV:
        return _sample("binomial", state, lengths, (T.constant(1, "int64"), *parameters))
    if kind is basic.InvGammaRV:
        shape, scale = parameters
        found = _sample("gamma", state, lengths, (shape, 1 / scale))  # in the dtype of scale, as PyTensor has it
        return None if found is None else (found[0], 1 / found[1])
    if kind.rng_fn is RandomVariable.rng_fn and op.name in DISTRIBUTIONS:
        return _sample(op.name, state, lengths, parameters)
    return None


def _sample(name: str, state: Any, lengths: list[Any] | None, parameters: tuple[Any, ...]) -> tuple[Any, Any] | None:
    """Return the state after a draw and the sample; None for parameters of other kinds than NumPy's C takes."""
    dtypes, _ = DISTRIBUTIONS[name]
    for p, dtype in zip(parameters, dtypes, strict=True):
        if dtype == "int64" and (p.type.kind not in "iu" or p.dtype == "uint64"):
            return None
    found = [_as_number(as_dtype(p, dtype)) for p, dtype in zip(parameters, dtypes, strict=True)]
    every = draw_lengths(None, [as_dtype(p, "float64") for p in parameters]) if lengths is None else lengths
    if any(p.ndim > len(every) for p in found):
        return None
    whole = [T.broadcast_to(p, tuple(every)) if p.ndim else p for p in found]
    state, sample = outputs_of(NumpyDraw(name, len(every)), state, *every, *whole)
    return state, sample


def _as_number(parameter: Any) -> Any:
    """Return a parameter of one element as a number, so that no array of equal parameters is made."""
    if isinstance(parameter, Constant) and parameter.data.size and (parameter.data == parameter.data.flat[0]).all():
        return T.constant(parameter.data.flat[0])
    return T.reshape(parameter, ()) if parameter.ndim and all(n == 1 for n in parameter.type.shape) else parameter


def _is_zero(value: Any) -> bool:
    return isinstance(value, Constant) and not value.data.any()
