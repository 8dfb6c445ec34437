"""Functions of `theano.tensor` about constants and variables that no other file has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import dims_of
from .dtypes import DISCRETE
from .elementwise import exported
from .gradients import disconnected_grad
from .variables import NUMPY, TensorConstant, Variable, as_tensor_variable, constant


class NotScalarConstantError(Exception):
    """A value that is no constant scalar."""


class EmptyConstantError(NotScalarConstantError):
    """A constant without elements."""


class AsTensorError(TypeError):
    """A value that no tensor holds."""


class ShapeError(Exception):
    """Lengths that cannot be told."""


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
    """The leaves of a value; a length that is known is none."""
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
        raise TypeError(f"an index is an integer, got {found} of type {found.type}")
    return found


NUMPY["get_scalar_constant_value"] = get_scalar_constant_value
NUMPY["constant"] = constant
