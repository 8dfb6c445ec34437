"""Functions of `theano.tensor` about constants and variables that no other file has."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....graph import dims_of
from ..graphs.gradients import disconnected_grad
from ..graphs.user_ops import Op
from .dtypes import DISCRETE
from .elementwise import FUNCTIONS, exported
from .variables import NUMPY, Apply, TensorConstant, Variable, as_tensor_variable, constant, wrap


class NotScalarConstantError(Exception):
    """A value that is no constant scalar."""


class EmptyConstantError(NotScalarConstantError):
    """A constant without elements."""


class ShapeError(Exception):
    """Error for lengths that cannot be inferred."""


@exported
def get_scalar_constant_value(v: Any, elemwise: bool = True, only_process_constants: bool = False, **more: Any) -> Any:
    """The number of a constant scalar, also of a length that is known, or of arithmetic with constants.

    Raises NotScalarConstantError for everything else.
    """
    if isinstance(v, (int, float, complex, np.generic, np.ndarray)):
        found = np.asarray(v)
        if found.size != 1:
            raise NotScalarConstantError(f"{v!r} is no scalar")
        return found.reshape(())
    if isinstance(v, TensorConstant) and v.data.size == 1:
        return v.data.reshape(()).copy()
    if not isinstance(v, Variable):
        raise NotScalarConstantError(f"{v!r} is no constant")
    if v.core.type.shape and any(n != 1 for n in v.core.type.shape):
        raise NotScalarConstantError(f"{v} is no scalar")
    try:
        if [leaf for leaf in _leaves(v.core) if not hasattr(leaf, "data")]:
            raise NotScalarConstantError(f"{v} depends on variables")
        return np.asarray(v.eval({})).reshape(())
    except (ValueError, TypeError) as error:
        raise NotScalarConstantError(f"{v} has no constant value: {error}") from None


def _leaves(core: Any) -> list[Any]:
    """The leaves of a value, without known lengths."""
    found, waiting, seen = [], [core], set()  # type: list[Any], list[Any], set[Any]
    while waiting:
        v = waiting.pop()
        if v in seen:
            continue
        seen.add(v)
        if v.owner is None:
            found.append(v)
        elif v.owner.op.name == "shape_i" and v.owner.inputs[0].type.shape[v.owner.op.axis] is not None:
            continue
        else:
            waiting += v.owner.inputs
    return found


@exported
def extract_constant(x: Any, elemwise: bool = True, only_process_constants: bool = False) -> Any:
    """The number of a constant scalar, or `x` itself."""
    try:
        return get_scalar_constant_value(x)
    except NotScalarConstantError:
        return x


@exported
def get_vector_length(v: Any) -> int:
    """The length of a vector that is known when the graph is built.  Raises ValueError if it is not."""
    x = as_tensor_variable(v)
    if x.ndim != 1:
        raise TypeError(f"get_vector_length: expected a vector, got {x} of type {x.type}")
    (known,) = dims_of(x.core)
    if not isinstance(known, int):
        raise ValueError(f"get_vector_length: the length of {x} is known at run time only; give the shape")
    return known


@exported
def is_flat(var: Any, ndim: int | None = None, outdim: int | None = None) -> bool:
    """Whether a tensor has this rank (1)."""
    return bool(var.ndim == (ndim or outdim or 1))


@exported
def consider_constant(x: Any) -> Any:
    """`x`, which gradients treat as a constant."""
    return disconnected_grad(x)


@exported
def default(x: Any, y: Any) -> Any:
    """`x`, or `y` for None."""
    return as_tensor_variable(y if x is None else x)


@exported
def tensor_from_scalar(s: Any) -> Any:
    """The scalar itself: scalars are tensors of rank 0."""
    return as_tensor_variable(s)


@exported
def scalar_from_tensor(s: Any) -> Any:
    """The scalar itself: scalars are tensors of rank 0."""
    return as_tensor_variable(s)


@exported
def transfer(var: Any, target: str) -> Any:
    """The variable itself: there is one device."""
    return as_tensor_variable(var)


@exported
def as_index_variable(idx: Any) -> Any:
    """An index as a variable.  Raises TypeError if it is no integer."""
    found = as_tensor_variable(idx)
    if found.dtype not in DISCRETE or found.ndim:
        raise TypeError(f"an index must be an integer, got {found} of type {found.type}")
    return found


NUMPY["get_scalar_constant_value"] = get_scalar_constant_value
NUMPY["constant"] = constant


# --- further names


def advanced_subtensor(x: Any, *args: Any) -> Any:
    """`x[args]`, for arrays of integers and masks."""
    return as_tensor_variable(x)[args]


def advanced_set_subtensor(x: Any, y: Any, *args: Any) -> Any:
    """`x` with `y` at `x[args]`."""
    return FUNCTIONS["set_subtensor"](as_tensor_variable(x)[args], y)


def advanced_inc_subtensor(x: Any, y: Any, *args: Any) -> Any:
    """`x` with `y` added at `x[args]`."""
    return FUNCTIONS["inc_subtensor"](as_tensor_variable(x)[args], y)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, **weights: Any) -> Any:
    """The covariance of the rows."""
    if y is not None or any(w is not None for w in weights.values()):
        raise NotImplementedError("cov: y and weights; join the rows, or weight them before")
    return wrap(T.cov(as_tensor_variable(m).core, rowvar=rowvar, bias=bias, ddof=ddof))


def makeKeepDims(x: Any, y: Any, axis: Any) -> Any:
    """A reduction `y` of `x` with the reduced axes of length 1."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in ([axis] if isinstance(axis, int) else axis)]
    own = iter(range(y.ndim))
    return y.dimshuffle(*("x" if n in axes else next(own) for n in range(x.ndim)))


def load(path: Any, dtype: Any, broadcastable: Any, mmap_mode: Any = None) -> Any:
    """The array of a .npy file as a constant, read now."""
    return constant(np.load(path, mmap_mode=mmap_mode).astype(dtype))


class Assert:
    """The first argument, if the conditions hold when the function runs; else AssertionError with the message."""

    def __init__(self, msg: str = "Theano Assert failed!") -> None:
        self.msg = msg

    def __call__(self, value: Any, *conds: Any) -> Any:
        return _Asserted(self.msg)(value, *conds)


class _Asserted(Op):
    """A value whose conditions are checked."""

    __props__ = ("msg",)

    def __init__(self, msg: str) -> None:
        self.msg = msg

    def make_node(self, *inputs: Any) -> Apply:
        given = [as_tensor_variable(i) for i in inputs]
        return Apply(self, given, [given[0].type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any, params: Any = None) -> None:
        if not all(np.all(c) for c in inputs[1:]):
            raise AssertionError(self.msg)
        output_storage[0][0] = inputs[0].copy()

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        """The derivative of the identity."""
        return [output_grads[0], *[None] * (len(inputs) - 1)]


assert_op = Assert()
TYPES = {
    f"{kind}_{shape}types": [f"{letter}{name}" for letter in letters]
    for kind, letters in (("int", "bwil"), ("float", "fd"), ("complex", "cz"))
    for shape, name in (("", "scalar"), ("scalar_", "scalar"), ("vector_", "vector"), ("matrix_", "matrix"))
}
"""Names of the types in the lists that Theano keeps of them."""
TOLERANCES = {
    "float16_rtol": 1e-3, "float16_atol": 5e-3, "float32_rtol": 1e-5, "float32_atol": 1e-5, "float64_rtol": 1e-5,
    "float64_atol": 1e-8,
}  # fmt: skip
