"""The names of the array API standard 2025.12, and no others: `T.array_api`.

They are the functions of `T` itself, which conforms with all its names, but for one: `floor_divide` of infinities has
the value that the standard prefers, the limit of floor(x1 / x2), where `T` and `//` have Python's, which the standard
permits.  A program that uses this namespace needs nothing else.  Source: https://data-apis.org/array-api/2025.12.
"""

from __future__ import annotations

from typing import Any

from .core.namespace import T
from .core.tensor import TensorVariable
from .core.typing import TensorLike
from .standard.info import __array_api_version__ as __array_api_version__
from .standard.info import __array_namespace_info__ as __array_namespace_info__

_NAMES = [
    "e", "inf", "nan", "newaxis", "pi", "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
    "uint64", "float32", "float64", "complex64", "complex128", "arange", "asarray", "empty", "empty_like", "eye",
    "from_dlpack", "full", "full_like", "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros",
    "zeros_like", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type", "abs", "acos", "acosh", "add",
    "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_left_shift", "bitwise_invert", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal",
    "exp", "expm1", "floor", "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf",
    "isnan", "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not",
    "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative", "nextafter", "not_equal", "positive",
    "pow", "real", "reciprocal", "remainder", "round", "sign", "signbit", "sin", "sinh", "square", "sqrt",
    "subtract", "tan", "tanh", "trunc", "take", "take_along_axis", "matmul", "matrix_transpose", "tensordot",
    "vecdot", "broadcast_arrays", "broadcast_to", "broadcast_shapes", "concat", "expand_dims", "flip", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack", "argmax", "argmin",
    "count_nonzero", "nonzero", "searchsorted", "where", "isin", "unique_all", "unique_counts", "unique_inverse",
    "unique_values", "argsort", "sort", "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std",
    "sum", "var", "all", "any", "diff", "linalg", "fft",
]  # fmt: skip
__all__ = [*_NAMES, "__array_api_version__", "__array_namespace_info__"]  # noqa: PLE0604  (names as text)


def floor_divide(x1: TensorLike, x2: TensorLike, /) -> TensorVariable:
    """Round x1 / x2 down; an infinite operand gives the limit: inf // 2 = inf, 1 // -inf = -0."""
    found = T.floor_divide(x1, x2)
    if found.type.kind != "f":
        return found  # type: ignore[no-any-return]
    infinite = T.logical_or(T.isinf(x1), T.isinf(x2))
    limit = T.cast(T.true_div(x1, x2), found.dtype)
    return T.where(infinite, limit, found)  # type: ignore[no-any-return]


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"the array API standard {__array_api_version__} has no {name}; T itself may have it")
    return getattr(T, name)


def __dir__() -> list[str]:
    return __all__
