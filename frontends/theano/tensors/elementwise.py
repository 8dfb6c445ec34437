"""Elementwise functions: Theano's names, their ops of the core, and Theano's rules for dtypes."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from .... import ops as T
from ..flags import config
from .dtypes import DISCRETE, autocast, float_x, upcast, upgraded_to_float
from .slopes import EXTREMA
from .variables import NUMPY, as_tensor_variable, lower, wrap

SAME = {
    "abs_": "abs", "add": "add", "sub": "sub", "mul": "mul", "neg": "neg", "pow": "pow", "int_div": "floor_div",
    "floor_div": "floor_div", "mod": "mod", "sqr": "square", "sgn": "sign",
    "ceil": "ceil", "floor": "floor", "trunc": "trunc", "round_half_to_even": "rint", "conj": "conj",
    "real": "real", "imag": "imag", "angle": "angle", "and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor",
    "invert": "bitwise_not", "fill": "fill",
}  # fmt: skip
"""Functions whose result has the dtype that holds their operands."""
REAL = {
    **{name: name for name in (
        "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "cos", "cosh", "deg2rad", "erf",
        "erfc", "exp", "exp2", "expm1", "gamma", "gammaln", "log", "log10", "log1p", "log2", "rad2deg", "sin", "sinh",
        "sqrt", "tan", "tanh", "sigmoid", "softplus",
    )},
    "inv": "reciprocal", "psi": "digamma",
}  # fmt: skip
"""Functions that compute in floating point; integers are converted first."""
TESTS = {
    **{name: name for name in ("lt", "gt", "le", "ge", "eq", "isnan", "isinf")},
    "neq": "ne",
}
"""Functions that answer True or False."""
METHODS = {
    "abs": "abs_", "power": "pow", "square": "sqr", "not_equal": "neq", "equal": "eq", "less": "lt", "greater": "gt",
    "less_equal": "le", "greater_equal": "ge", "subtract": "sub", "multiply": "mul", "divide": "true_div",
    "true_divide": "true_div", "floor_divide": "floor_div", "remainder": "mod", "negative": "neg", "absolute": "abs_",
    "sign": "sgn", "bitwise_and": "and_", "bitwise_or": "or_", "bitwise_xor": "xor", "invert": "invert", "rint":
    "round_half_to_even", "conjugate": "conj", "reciprocal": "inv", "logical_not": "invert", "fabs": "abs_",
}  # fmt: skip
"""NumPy's ufuncs under other names."""


class ElementwiseFunction:
    """A function of `theano.tensor`, and the op of the core whose nodes it makes: `node.op == T.exp` holds."""

    def __init__(self, name: str, call: Callable[..., Any], *ops: Any, doc: str = "") -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = doc
        self.ops = ops
        self._call = call

    def __call__(self, *values: Any, **options: Any) -> Any:
        return self._call(*values, **options)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __eq__(self, other: object) -> bool:
        return self is other or any(other is op for op in self.ops)

    def __hash__(self) -> int:
        return hash(self.ops[0])

    def __repr__(self) -> str:
        return f"Elemwise{{{self.__name__}}}"

    def __reduce__(self) -> Any:
        return _by_name, (self.__name__,)


def _by_name(name: str) -> Any:
    return FUNCTIONS[name]


def _operands(values: tuple[Any, ...]) -> list[Any]:
    return [as_tensor_variable(v) for v in values]


def _same(name: str, core: str) -> Callable[..., Any]:
    def function(*values: Any) -> Any:
        operands = _operands(values)
        return wrap(T.ELEMENTWISE[core](*map(lower, operands)), *operands)

    return _named(name, function, core)


def _real(name: str, core: str) -> Callable[..., Any]:
    def function(*values: Any) -> Any:
        operands = _operands(values)
        dtype = upgraded_to_float(upcast(*(v.dtype for v in operands)))
        given = [v.core if v.dtype == dtype else T.cast(v.core, dtype) for v in operands]
        return wrap(T.ELEMENTWISE[core](*given), *operands)

    return _named(name, function, core)


def _named(name: str, function: Callable[..., Any], core: str) -> ElementwiseFunction:
    doc = f"The elementwise op `{core}` of `arignote.ops`, with Theano's dtypes."
    return ElementwiseFunction(name, function, T.ELEMENTWISE[core], doc=doc)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _same(name, core) for name, core in (SAME | TESTS).items()},
    **{name: _real(name, core) for name, core in REAL.items()},
}


def exported(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add a function to the namespace."""
    FUNCTIONS[function.__name__] = function
    return function


@exported
def true_div(a: Any, b: Any) -> Any:
    """The quotient; of two integers in floatX."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    if x.dtype in DISCRETE and y.dtype in DISCRETE:
        dtype = upcast(x.dtype, y.dtype, config.floatX) if config.floatX == "float64" else config.floatX
        return wrap(T.true_div(T.cast(x.core, dtype), T.cast(y.core, dtype)), x, y)
    return wrap(T.true_div(x.core, y.core), x, y)


def div_proxy(a: Any, b: Any) -> Any:
    """The operator `/`, as `config.int_division` has it for integers."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    if config.int_division == "raise" and x.dtype in DISCRETE and y.dtype in DISCRETE:
        raise TypeError(f"{x} / {y} divides integers; use x // y, or T.true_div(x, y)")
    return true_div(x, y)


@exported
def divmod(a: Any, b: Any) -> Any:
    """Floor quotient and remainder."""
    return [FUNCTIONS["int_div"](a, b), FUNCTIONS["mod"](a, b)]


@exported
def ceil_intdiv(a: Any, b: Any) -> Any:
    """The quotient of integers, rounded up."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    return FUNCTIONS["int_div"](x, y) + cast(FUNCTIONS["neq"](x % y, 0), x.dtype)


@exported
def cast(x: Any, dtype: Any) -> Any:
    """`x` as another dtype; "floatX" is that of the configuration."""
    x, dtype = as_tensor_variable(x), float_x(dtype)
    if x.dtype.startswith("complex") and not dtype.startswith("complex"):
        raise TypeError(f"{x} is complex and cannot be cast to {dtype}; use T.real(x), T.imag(x) or abs(x)")
    return x if x.dtype == dtype else wrap(T.cast(x.core, dtype), x)


@exported
def switch(condition: Any, ift: Any, iff: Any) -> Any:
    """`ift` where the condition is not zero, else `iff`."""
    operands = _operands((condition, ift, iff))
    return wrap(T.switch(*map(lower, operands)), *operands)


@exported
def clip(x: Any, min: Any, max: Any) -> Any:
    """`x`, no less than `min` and no more than `max`."""
    operands = _operands((x, min, max))
    dtype = upcast(*(v.dtype for v in operands))
    low, high = (T.cast(v.core, dtype) for v in operands[1:])
    return wrap(T.clip(T.cast(operands[0].core, dtype), low, high), *operands)


@exported
def round(a: Any, mode: str | None = None) -> Any:
    """The nearest integers; halves go to even numbers, or for "half_away_from_zero" away from zero."""
    if mode in (None, "half_to_even"):
        return FUNCTIONS["round_half_to_even"](a)
    if mode != "half_away_from_zero":
        raise ValueError(f"round: mode is {mode!r}; expected 'half_to_even' or 'half_away_from_zero'")
    return round_half_away_from_zero(a)


@exported
def round_half_away_from_zero(a: Any) -> Any:
    """The nearest integers; halves go away from zero."""
    x = as_tensor_variable(a)
    half = as_tensor_variable(autocast(0.5, x.dtype))
    return FUNCTIONS["sgn"](x) * FUNCTIONS["floor"](abs(x) + half)


@exported
def iround(a: Any, mode: str | None = None) -> Any:
    """The nearest integers as int64."""
    return cast(round(a, mode), "int64")


@exported
def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether numbers are equal but for the tolerances, elementwise."""
    x, y = as_tensor_variable(a), as_tensor_variable(b)
    return wrap(T.isclose(x.core, y.core, rtol, atol, equal_nan), x, y)


@exported
def allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all numbers are equal but for the tolerances."""
    return wrap(T.all(lower(isclose(a, b, rtol, atol, equal_nan))))


@exported
def tensor_copy(a: Any) -> Any:
    """Another variable of the same value."""
    x = as_tensor_variable(a)
    return wrap(T.ELEMENTWISE["identity"](x.core), x)


@exported
def complex(real: Any, imag: Any) -> Any:
    """real + i imag."""
    return as_tensor_variable(real) + as_tensor_variable(imag) * as_tensor_variable(1j)


@exported
def complex_from_polar(abs: Any, angle: Any) -> Any:
    """abs (cos angle + i sin angle)."""
    return complex(abs * FUNCTIONS["cos"](angle), abs * FUNCTIONS["sin"](angle))


@exported
def xlogx(x: Any) -> Any:
    """x log x, and 0 for 0."""
    return xlogy0(x, x)


@exported
def xlogy0(x: Any, y: Any) -> Any:
    """x log y, and 0 where x is 0, also if y is NaN."""
    x, y = as_tensor_variable(x), as_tensor_variable(y)
    return wrap(T.switch(T.eq(x.core, 0), 0, x.core * T.log(y.core)), x, y)


xlogx.__dict__.update(xlogx=xlogx, xlogy0=xlogy0)  # Theano has a module of that name, too


def _extreme(name: str, doc: str) -> None:
    def function(a: Any, b: Any) -> Any:
        x, y = as_tensor_variable(a), as_tensor_variable(b)
        return wrap(EXTREMA[name](x.core, y.core), x, y)

    FUNCTIONS[name] = ElementwiseFunction(name, function, T.ELEMENTWISE[name], EXTREMA[name], doc=doc)


_extreme("maximum", "The larger of two numbers; for equal ones the derivative goes to the first.")
_extreme("minimum", "The smaller of two numbers; for equal ones the derivative goes to the first.")
FUNCTIONS["second"] = FUNCTIONS["fill"]
FUNCTIONS["square"] = FUNCTIONS["sqr"]
FUNCTIONS["power"] = FUNCTIONS["pow"]
FUNCTIONS["bitwise_and"], FUNCTIONS["bitwise_or"] = FUNCTIONS["and_"], FUNCTIONS["or_"]
FUNCTIONS["bitwise_xor"], FUNCTIONS["bitwise_not"] = FUNCTIONS["xor"], FUNCTIONS["invert"]
FUNCTIONS["isnan_"], FUNCTIONS["isinf_"] = FUNCTIONS["isnan"], FUNCTIONS["isinf"]
for _name in ("true_div", "switch", "clip"):
    FUNCTIONS[_name] = ElementwiseFunction(
        _name, FUNCTIONS[_name], T.ELEMENTWISE[_name], doc=FUNCTIONS[_name].__doc__ or ""
    )
FUNCTIONS["where"] = FUNCTIONS["switch"]
FUNCTIONS["tri_gamma"] = lambda x: wrap(T.ELEMENTWISE["polygamma"](1, as_tensor_variable(x).core), x)
NUMPY.update(FUNCTIONS)
NUMPY.update({name: FUNCTIONS[ours] for name, ours in METHODS.items()})
