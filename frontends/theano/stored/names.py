"""The names of `theano.sparse`, and the operators of sparse variables."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..refusals import refused
from ..tensors.elementwise import FUNCTIONS
from ..tensors.elementwise import cast as dense_cast
from ..tensors.variables import as_tensor_variable
from . import ops as sparse_ops
from . import products as sparse_products
from . import types as sparse_types
from .types import SparseVariable, as_sparse_variable

MAPPED = (
    "sin", "arcsin", "tan", "arctan", "sinh", "arcsinh", "tanh", "arctanh", "sgn", "ceil", "floor", "trunc", "sqr",
    "sqrt", "expm1", "log1p", "deg2rad", "rad2deg", "conj",
)  # fmt: skip
"""Functions that keep zeros zero."""
COMPARISONS = "eq neq lt gt le ge"
CASTS = {
    "b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32", "d": "float64", "c": "complex64",
    "z": "complex128",
}  # fmt: skip


def _mapping(name: str) -> Callable[[Any], SparseVariable]:
    """A function of the elements as one of sparse matrices."""

    def function(x: Any) -> SparseVariable:
        return sparse_ops._mapped(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of each element."
    return function


def cast(variable: Any, dtype: Any) -> SparseVariable:
    """The matrix as another dtype."""
    x = as_sparse_variable(variable)
    return x.with_data(dense_cast(x.data, dtype))


def sparse_grad(var: Any) -> Any:
    """`var`, a selection of rows.  Its derivative is dense, and its numbers are those of Theano's sparse one."""
    return as_tensor_variable(var)


def _public(module: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__}  # fmt: skip


SPARSE: dict[str, Any] = {
    **{name: _mapping(name) for name in MAPPED},
    **{f"structured_{name}": _mapping(name) for name in ("exp", "log", "sigmoid")},
    **_public(sparse_types), **_public(sparse_ops), **_public(sparse_products),
    "enable_sparse": sparse_types.enable_sparse,
    "as_sparse": as_sparse_variable, "constant": sparse_types.sparse_constant, "shared": sparse_types.sparse_shared,
    "cast": cast, **{f"{letter}cast": partial(cast, dtype=dtype) for letter, dtype in CASTS.items()},
    **{f"{kind}_{letter}matrix": partial(sparse_ops.matrix, kind, dtype=CASTS[letter])
       for kind in ("csr", "csc") for letter in "fd"},
    "all_dtypes": sparse_types.SparseType.dtypes, "float_dtypes": sparse_types.SparseType.dtypes[4:6],
    **{name: refused(name, "a comparison of sparse matrices is dense; compare x.toarray()")
       for name in COMPARISONS.split()},
    "sparse_grad": sparse_grad, "_is_sparse_variable": sparse_types.is_sparse,
}  # fmt: skip


def _operator(name: str, swapped: bool = False) -> Callable[..., Any]:
    function = SPARSE[name]
    return (lambda x, y: function(y, x)) if swapped else function


OPERATORS: dict[str, Any] = {
    **{f"__{side}{name}__": _operator(name, side == "r") for name in ("add", "sub", "mul") for side in ("", "r")},
    "__neg__": sparse_ops.neg, "__dot__": sparse_products.dot, "__rdot__": _operator("dot", True),
    "dot": sparse_products.dot,
    "__getitem__": sparse_products.part_of, "T": property(sparse_ops.transpose), "transpose": sparse_ops.transpose,
    "toarray": sparse_ops.dense_from_sparse, "sum": sparse_ops.sp_sum, "astype": cast,
}  # fmt: skip
for _name, _value in OPERATORS.items():
    setattr(SparseVariable, _name, _value)
FUNCTIONS["sparse_grad"] = sparse_grad
