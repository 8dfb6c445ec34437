"""Operators and methods of Theano's variables, by tables of functions, and constructors of variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import indexing, products
from .elementwise import FUNCTIONS, div_proxy
from .reductions import norm
from .shapes import dimshuffle
from .types import TensorType
from .variables import NUMPY, TensorOperators, as_tensor_variable

OPERATORS: dict[str, Callable[..., Any]] = {
    **{name: FUNCTIONS[name] for name in ("add", "sub", "mul", "mod", "pow", "lt", "le", "gt", "ge", "divmod")},
    "truediv": div_proxy, "div": div_proxy, "floordiv": FUNCTIONS["int_div"], "and": FUNCTIONS["and_"],
    "or": FUNCTIONS["or_"], "xor": FUNCTIONS["xor"], "matmul": products.dot,
}  # fmt: skip
UNARY = {"neg": FUNCTIONS["neg"], "abs": FUNCTIONS["abs_"], "invert": FUNCTIONS["invert"], "pos": lambda x: x}
METHODS = (
    "sum", "prod", "mean", "var", "std", "max", "min", "argmax", "argmin", "any", "all", "ptp", "dot", "clip",
    "reshape", "flatten", "repeat", "take", "sort", "argsort", "nonzero", "nonzero_values", "round", "diagonal",
    "cumsum", "cumprod", "squeeze", "choose", "compress", "swapaxes", "searchsorted", "conj", "zeros_like", "ones_like",
    "fill", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "cos", "cosh", "deg2rad", "exp",
    "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "rad2deg", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
"""Functions whose first argument is the variable."""
PROPERTIES = {
    "shape": FUNCTIONS["shape"], "real": FUNCTIONS["real"], "imag": FUNCTIONS["imag"],
    "size": lambda x: FUNCTIONS["prod"](x.shape) if x.ndim else as_tensor_variable(np.int64(1)),
    "T": FUNCTIONS["transpose"],
}  # fmt: skip
COMPARING = ("lt", "le", "gt", "ge")


def _answering(function: Callable[..., Any], swapped: bool) -> Callable[..., Any]:
    """The operator; NotImplemented for an operand that no tensor holds."""

    def operator(self: Any, other: Any) -> Any:
        try:
            return function(other, self) if swapped else function(self, other)
        except (NotImplementedError, TypeError):
            if isinstance(other, (int, float, complex, np.ndarray, np.generic, list, tuple, TensorOperators)):
                raise
            return NotImplemented

    return operator


def _transpose(self: Any, *axes: Any) -> Any:
    """The axes in reverse, or in this order."""
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (list, tuple))):
        axes = tuple(axes[0] or ())
    return FUNCTIONS["transpose"](self, axes or None)


def _reshape(self: Any, *shape: Any, ndim: int | None = None) -> Any:
    """The same numbers in another shape."""
    given = shape[0] if len(shape) == 1 else shape
    if (
        len(shape) == 2
        and ndim is None
        and isinstance(shape[0], (list, tuple, TensorOperators))
        and not isinstance(shape[0], TensorOperators)
    ):
        given, ndim = shape
    return FUNCTIONS["reshape"](self, given, ndim)


def _get_scalar_constant_value(self: Any) -> Any:
    """The number of a constant scalar."""
    return NUMPY["get_scalar_constant_value"](self)


OWN: dict[str, Callable[..., Any]] = {
    "dimshuffle": dimshuffle, "transpose": _transpose, "reshape": _reshape,
    "astype": FUNCTIONS["cast"],
    "norm": lambda self, L, axis=None, keepdims=False: norm(self, L, axis, keepdims),
    "copy": lambda self, name=None: _named(FUNCTIONS["tensor_copy"](self), name),
    "ravel": FUNCTIONS["flatten"],
    "trace": lambda self: FUNCTIONS["sum"](FUNCTIONS["diagonal"](self)),
    "transfer": lambda self, target: self,
    "get_scalar_constant_value": _get_scalar_constant_value,
}  # fmt: skip


def _named(variable: Any, name: str | None) -> Any:
    variable.name = name
    return variable


def _install() -> None:
    """Give TensorOperators its operators, methods and attributes."""
    for name, function in OPERATORS.items():
        setattr(TensorOperators, f"__{name}__", _answering(function, False))
        if name not in COMPARING:
            setattr(TensorOperators, f"__r{name}__", _answering(function, True))
    for name, function in UNARY.items():
        setattr(TensorOperators, f"__{name}__", function)
    for name in METHODS:
        setattr(TensorOperators, name, FUNCTIONS[name])
    for name, function in OWN.items():
        setattr(TensorOperators, name, function)
    for name, function in PROPERTIES.items():
        setattr(TensorOperators, name, property(function))
    TensorOperators.compress = (  # type: ignore[attr-defined]
        lambda self, a, axis=None: indexing.compress(self, a, axis)
    )


_install()
NUMPY.update({name: FUNCTIONS[name] for name in ("stack", "dot")})

# --- constructors

PREFIXES = {
    "b": "int8", "w": "int16", "i": "int32", "l": "int64", "f": "float32", "d": "float64", "c": "complex64",
    "z": "complex128",
}  # fmt: skip
PATTERNS = {
    "scalar": (), "vector": (False,), "matrix": (False, False), "row": (True, False), "col": (False, True),
    **{f"tensor{n}": (False,) * n for n in range(3, 8)},
}  # fmt: skip
PLURALS = {"matrix": "matrices"}


def _constructor(kind: str) -> Callable[..., Any]:
    def function(name: str | None = None, dtype: Any = None) -> Any:
        return TensorType(dtype, PATTERNS[kind])(name)

    function.__name__ = function.__qualname__ = kind
    function.__doc__ = f"A new {kind} variable, of floatX unless `dtype` is given."
    return function


def _several(make: Callable[..., Any]) -> Callable[..., Any]:
    def function(*names: Any) -> Any:
        """Several new variables: `vectors("xy")`, `vectors("x", "y")` or `vectors(2)`."""
        if len(names) == 1 and isinstance(names[0], int):
            made = [make() for _ in range(names[0])]
        else:
            given: Iterable[str] = names[0] if len(names) == 1 else names
            made = [make(name) for name in given]
        return made[0] if len(made) == 1 else made

    return function


def tensor(*args: Any, **kwargs: Any) -> Any:
    """A new variable of a dtype and pattern: `tensor(dtype, broadcastable, name)`."""
    name = kwargs.pop("name", None)
    return TensorType(*args, **kwargs)(name)


def constructors() -> dict[str, Any]:
    """All constructors and named types: `matrix`, `fmatrix`, `ivector`, `dscalars`, ..."""
    found: dict[str, Any] = {"tensor": tensor}
    for kind, pattern in PATTERNS.items():
        make = _constructor(kind)
        found[kind] = make
        found[PLURALS.get(kind, kind + "s")] = _several(make)
        for prefix, dtype in PREFIXES.items():
            found[prefix + kind] = TensorType(dtype, pattern)
            found[prefix + PLURALS.get(kind, kind + "s")] = _several(found[prefix + kind])
    return found
