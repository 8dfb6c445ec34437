"""Classes of Theano's that programs call or catch: ops by their class, errors, small helpers of its files."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..networks import nnet
from ..networks.windows import conv2d
from ..tensors import tensors
from ..tensors.elementwise import FUNCTIONS
from ..tensors.types import TensorType
from ..tensors.variables import Apply, TensorConstant, Variable, as_tensor_variable, constant
from . import gradients
from .user_ops import Op


class FunctionOp:
    """A function of this front end as an op: `GradClip(-1, 1)(x)` is `grad_clip(x, -1, 1)`."""

    function: Callable[..., Any]
    first = False
    """Whether the arguments of the class come before the operands."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.arguments: tuple[Any, ...] = (*arguments, *options.values())

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        given = (*self.arguments, *inputs) if self.first else (*inputs, *self.arguments)
        return type(self).function(*given)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.arguments == other.arguments  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self.arguments))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self.arguments))})"


def _op(name: str, function: Callable[..., Any], first: bool = False) -> type[FunctionOp]:
    names = {"function": staticmethod(function), "first": first, "__module__": __name__,
             "__doc__": f"The op of `{getattr(function, '__name__', name)}`."}  # fmt: skip
    return type(name, (FunctionOp,), names)


class ViewOp(Op):
    """The identity, to be subclassed with a `grad` of its own."""

    view_map = {0: [0]}
    __props__: tuple[str, ...] = ()

    def make_node(self, x: Any) -> Apply:
        x = as_tensor_variable(x)
        return Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, output_storage: Any, params: Any = None) -> None:
        output_storage[0][0] = inputs[0]

    def grad(self, inputs: Any, output_grads: Any) -> Any:
        """The derivative, unless a subclass has another."""
        return output_grads


class AdvancedIndexingError(TypeError):
    """Error for an index that is not basic (integers, slices)."""


class AdvancedBooleanIndexingError(TypeError):
    """A mask among indices."""


class InconsistencyError(Exception):
    """A graph that a rewrite left inconsistent."""


def make_slice(start: Any = None, stop: Any = None, step: Any = None) -> slice:
    """The slice of an index; its ends may be symbolic."""
    return slice(*(as_int_none_variable(n) for n in (start, stop, step)))


def as_int_none_variable(x: Any) -> Any:
    """None, or an integer as a variable.  Raises TypeError for a variable of floats."""
    if x is None:
        return None
    found = as_tensor_variable(x)
    if not found.dtype.startswith(("int", "uint", "bool")):
        raise TypeError(f"an index must be an integer or None, got {found} of type {found.type}")
    return found


def check_and_normalize_axes(x: Any, axis: Any) -> list[int]:
    """The axes of a tensor as a list of integers counted from the front; all for None.

    Raises TypeError for axes that are no integers, ValueError for those that the tensor does not have.
    """
    x = as_tensor_variable(x)
    if axis is None:
        return []
    given = axis if isinstance(axis, (list, tuple, np.ndarray)) else [axis]
    found = []
    for n in given:
        one = n.data if isinstance(n, TensorConstant) else n
        if isinstance(one, Variable) or int(one) != one:
            raise TypeError(f"an axis must be an integer that is known when the graph is built, got {n!r}")
        if not -x.ndim <= int(one) < x.ndim:
            raise ValueError(f"{x} of rank {x.ndim} has no axis {int(one)}")
        found.append(int(one) % x.ndim)
    return found


def check_and_reject_bool(args_el: Any) -> None:
    """Raise TypeError for an index that is a bool."""
    kind = getattr(args_el, "dtype", None)
    if isinstance(args_el, (bool, np.bool_)) or str(kind) == "bool":
        raise TypeError(f"an index must be an integer or a slice, got the bool {args_el}")


def alloc_validate_shape(shape: Any) -> tuple[list[Any], list[bool]]:
    """Lengths as variables of integers, and which of them are known to be 1."""
    given = [as_int_none_variable(n) for n in (shape if isinstance(shape, (list, tuple)) else [shape])]
    return given, [isinstance(n, TensorConstant) and int(n.data) == 1 for n in given]


def check_equal_numpy(x: Any, y: Any) -> bool:
    """Whether two arrays have equal dtypes, shapes and numbers, or other values are equal."""
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray):
        return x.dtype == y.dtype and x.shape == y.shape and bool(np.all(abs(x - y) < 1e-10))
    return bool(x == y)


def get_debug_values(*args: Any) -> Iterator[tuple[Any, ...]]:
    """One tuple of test values, if all variables have them and `config.compute_test_value` is on; else nothing."""
    values = [getattr(v.tag, "test_value", getattr(v, "data", None)) if isinstance(v, Variable) else v for v in args]
    if all(v is not None for v in values):
        yield tuple(values)


@contextmanager
def disable_log_handler(logger: Any = None, handler: Any = None) -> Iterator[None]:
    """Block in which a handler of a logger is off."""
    log, off = logger or theano_logger, handler or logging_default_handler
    there = off in log.handlers
    log.removeHandler(off)
    try:
        yield
    finally:
        if there:
            log.addHandler(off)


def has_handlers(logger: Any) -> bool:
    """Whether a logger has handlers."""
    return bool(logger.hasHandlers())


def inc_code() -> None:
    """Nothing; in Theano it counts."""


theano_logger = logging.getLogger("theano")
logging_default_handler = logging.StreamHandler()
logging_default_formatter = logging.Formatter(fmt="%(levelname)s (%(name)s): %(message)s")
logging_default_handler.setFormatter(logging_default_formatter)
GRADIENT_OPS = {
    "ConsiderConstant": _op("ConsiderConstant", tensors.consider_constant),
    "DisconnectedGrad": _op("DisconnectedGrad", gradients.disconnected_grad),
    "GradClip": _op("GradClip", gradients.grad_clip), "GradScale": _op("GradScale", gradients.grad_scale),
    "UndefinedGrad": _op("UndefinedGrad", gradients.undefined_grad), "ZeroGrad": _op("ZeroGrad", gradients.zero_grad),
    "ViewOp": ViewOp,
}  # fmt: skip
NNET_OPS = {
    "SoftmaxWithBias": _op("SoftmaxWithBias", nnet.softmax_with_bias), "softmax_op": nnet.NNET["softmax"],
    "logsoftmax_op": nnet.NNET["logsoftmax"],
    "CrossentropyCategorical1Hot": _op("CrossentropyCategorical1Hot", nnet.categorical_crossentropy),
    "CrossentropySoftmaxArgmax1HotWithBias":
        _op("CrossentropySoftmaxArgmax1HotWithBias", nnet.crossentropy_softmax_argmax_1hot_with_bias),
    "Prepend_scalar_to_each_row": _op("Prepend_scalar_to_each_row", nnet.prepend_scalar_to_each_row),
    "Prepend_scalar_constant_to_each_row":
        _op("Prepend_scalar_constant_to_each_row", nnet.prepend_scalar_to_each_row, first=True),
    "sigmoid_inplace": nnet.NNET["sigmoid"], "abstract_conv2d": conv2d,
    "scalar_sigmoid": nnet.NNET["sigmoid"], "scalar_softsign": nnet.NNET["softsign"],
}  # fmt: skip
HELPERS: dict[str, Any] = {
    **{function.__name__: function for function in (
        AdvancedIndexingError, AdvancedBooleanIndexingError, InconsistencyError, make_slice, as_int_none_variable,
        check_and_normalize_axes, check_and_reject_bool, alloc_validate_shape, check_equal_numpy, get_debug_values,
        disable_log_handler, has_handlers, inc_code,
    )},
    "MakeSlice": _op("MakeSlice", make_slice),
    "ScalarFromTensor": _op("ScalarFromTensor", FUNCTIONS["scalar_from_tensor"]),
    "TensorFromScalar": _op("TensorFromScalar", FUNCTIONS["tensor_from_scalar"]),
    "python_all": all, "python_any": any, "python_complex": complex, "hashtype": hash, "object2": object,
    "numpy_diagonal_return_view": True, "make_constant": constant, "theano_logger": theano_logger,
    "logging_default_handler": logging_default_handler, "logging_default_formatter": logging_default_formatter,
    "values_eq_approx_always_true": lambda a, b: True, "int32": TensorType("int32", ()),
}  # fmt: skip
