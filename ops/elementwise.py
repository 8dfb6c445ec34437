"""Elementwise ops: one NumPy function over operands that broadcast at run time.

Below the class stands every op in one table.  Each `Elementwise` is a singleton: compared by identity, found by name in
`ELEMENTWISE`, pickled and copied as itself.  Their docstrings are in meanings.py, their derivatives in the tables of
derivatives.py, their C in the tables of the backend.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial, reduce
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..graph import Apply, Dim, TensorType, Variable
from ..graph.dims import broadcast_dims
from ..graph.types import Shape, dtype_name
from ..record import record
from . import derivatives, promotion, special
from .checks import describe, shown
from .keywords import operands_by_name
from .meanings import MEANINGS
from .promotion import Loop, Operand, Rule
from .signatures import CallSignature, usage
from .tensor import TensorConstant, TensorOp, TensorVariable, as_tensor, constant
from .typing import DTypeLike, TensorLike

if TYPE_CHECKING:
    from .signatures import Binary, Fill, Fold, Part, Switch, Unary


class Pointwise(TensorOp):
    """The base of elementwise ops and casts: one output, whose shape is that of the operands broadcast together."""

    def loop(self, dtypes: tuple[Operand, ...]) -> Loop:
        """(dtypes the operands are converted to, dtype of the result).

        Raises TypeError for operands it does not take.
        """
        raise NotImplementedError

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        try:
            return _infer(self, tuple([i.type for i in inputs]))
        except (TypeError, ValueError):
            pass
        self._check(inputs)  # the same again, slowly, for a message that names the operands
        raise AssertionError(f"{self} is refused without a reason")

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (broadcast_dims(inputs),)

    def check_count(self, count: int) -> None:
        """Raises TypeError unless the op takes `count` operands."""

    def _check(self, inputs: tuple[Variable, ...]) -> None:
        self.check_count(len(inputs))
        try:
            self.loop(tuple([i.dtype for i in inputs]))
        except TypeError as error:
            raise _refused(self, inputs, error) from None
        _check_lengths(self, inputs)


@lru_cache(maxsize=8192)
def _infer(op: Pointwise, types: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
    op.check_count(len(types))
    _, result = op.loop(tuple([t.dtype for t in types]))
    return (TensorType(result, broadcast_shapes([t.shape for t in types])),)


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """NumPy's joint shape of these; an unknown length stays unknown beside 1 and agrees with any other.

    Raises ValueError where two known lengths differ and neither is 1.
    """
    ndim = builtins.max(map(len, shapes))
    joint: list[int | None] = [1] * ndim
    for shape in shapes:
        for axis, n in enumerate(shape, start=ndim - len(shape)):
            have = joint[axis]
            if n == 1 or n == have:
                continue
            if have == 1 or have is None:
                joint[axis] = n
            elif n is not None:
                raise ValueError(f"lengths {have} and {n} cannot be broadcast together")
    return tuple(joint)


def _check_lengths(op: Pointwise, inputs: Sequence[Variable]) -> None:
    for position, i in enumerate(inputs):
        for other in inputs[:position]:
            for axis in range(1, builtins.min(i.ndim, other.ndim) + 1):
                m, n = other.type.shape[-axis], i.type.shape[-axis]
                if m != n and None not in (m, n) and 1 not in (m, n):
                    raise ValueError(
                        f"{op.name}: {describe(other)} and {describe(i)} cannot be broadcast together: "
                        f"lengths {m} and {n} on axis -{axis}"
                    )
    broadcast_shapes([i.type.shape for i in inputs])


def _refused(op: Pointwise, operands: Sequence[Any], error: TypeError) -> TypeError:
    """The error for dtypes that `op` does not take."""
    got = ", ".join(describe(o) if isinstance(o, Variable) else repr(o) for o in operands)
    if op.name in _REASONED:
        return TypeError(f"{op.name} does not take {got}: {error}")
    accepted = f"{op.name} does not take {got}: expected {_accepted(op, len(operands))}"
    return TypeError(f"{accepted}; {_FOR_BOOLS[op.name]}" if op.name in _FOR_BOOLS else accepted)


_REASONED = ("cast",)
"""Ops whose own error says more than a list of dtypes."""
_FOR_BOOLS = {"sub": "for bools use T.logical_xor(a, b), a ^ b", "neg": "for bools use T.logical_not(a), ~a"}
_KINDS = {"bool": "bool", "integer": "int64", "unsigned": "uint64", "float": "float64", "complex": "complex128"}


def _accepted(op: Pointwise, count: int) -> str:
    """The kinds of dtype that `op` takes, as text; operands of one kind are all that is tried."""
    taken = []
    for kind, example in _KINDS.items():
        try:
            op.loop((example,) * count)
        except TypeError:
            continue
        taken.append(kind)
    kinds = " or ".join(taken) or "no dtype"
    return f"operands of one kind, {kinds}" if count > 1 else f"an operand of {kinds}"


@record(eq=False, repr=False)
class Elementwise(Pointwise):
    """A NumPy function applied element by element, with the algebraic facts that rules read.

    The facts hold for the numbers of mathematics; what NaN, infinities, signed zeros and rounding make of them is for
    the contract of the rule that uses them.
    """

    name: str
    function: Callable[..., Any]
    """The meaning: arrays of the loop's dtypes to an array (or NumPy scalar) of the loop's result dtype."""
    rule: Rule
    arity: int | None = 1
    """The number of operands; None: two or more, converted to their joint dtype and folded from the left."""
    commutative: bool = False
    associative: bool = False
    idempotent: bool = False
    """Of two operands: op(x, x) is x.  Of one: op(op(x)) is op(x)."""
    unit: int | None = None
    """op(x, unit) and op(unit, x) are x."""
    zero: int | None = None
    """op(x, zero) and op(zero, x) are zero."""
    involution: bool = False
    """op(op(x)) is x."""
    cost: int = 1
    """In additions."""
    compares: bool = False
    """Whether it is one of the six comparisons."""
    fallible: bool = False  # type: ignore[misc]
    __signature__: ClassVar[CallSignature] = CallSignature()

    def __post_init__(self) -> None:
        meaning = MEANINGS.get(self.name) or self.function.__doc__
        object.__setattr__(self, "__doc__", f"{usage(self.name, self.arity)}\n\n{meaning}")  # what `help` shows

    def loop(self, dtypes: tuple[Operand, ...]) -> Loop:
        """NumPy's computation for operands of these dtypes: (dtypes they are converted to, dtype of the result)."""
        return _loop(self, dtypes)

    def check_count(self, count: int) -> None:
        if count != self.arity and (self.arity is not None or count < 2):
            positions = "; T.nonzero(condition) says where it holds" if self.name == "switch" and count == 1 else ""
            raise TypeError(f"{self.name} takes {self.arity or 'two or more'} operands, got {count}{positions}")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        operands, result = self.loop(tuple([promotion.name_of(v.dtype) for v in values]))
        with np.errstate(all="ignore"):
            converted = [v.astype(d, copy=False) for v, d in zip(values, operands, strict=True)]
            value = self.function(*converted) if self.arity else reduce(self.function, converted)
        return (np.asarray(value, dtype=result),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return derivatives.elementwise_vjp(node, cotangents[0])

    def __call__(self, *inputs: Any, **keywords: Any) -> TensorVariable:
        """The op applied; operands may be given by NumPy's names, x or x1 and x2, as well."""
        if keywords:
            inputs = tuple(operands_by_name(self.name, self.arity, inputs, keywords))
        return super().__call__(*inputs)

    def convert(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        self.check_count(len(inputs))
        return operands(self, inputs)

    def parameters(self) -> dict[str, Any]:
        return {}

    def __reduce__(self) -> Any:
        return _by_name, (self.name,)


@cache
def _loop(op: Elementwise, dtypes: tuple[Operand, ...]) -> Loop:
    return op.rule(dtypes)


def _by_name(name: str) -> Elementwise:
    return ELEMENTWISE[name]


# --- operands


def operands(op: Elementwise, inputs: Sequence[Any]) -> tuple[Variable, ...]:
    """The inputs as variables; a Python number becomes a constant of the dtype the others give it (NEP 50).

    Raises OverflowError for a Python integer that this dtype cannot hold (except in comparisons, which answer as
    NumPy does), and TypeError for what no array can be made of.
    """
    weak = [None if isinstance(i, Variable) else promotion.weak_type(i) for i in inputs]
    made = [i if w else _as_operand(op, i) for i, w in zip(inputs, weak, strict=True)]
    if None not in weak:
        return tuple([as_tensor(i) for i in made])
    if not builtins.any(weak):
        return tuple(made)
    kinds = tuple([w or i.dtype for i, w in zip(made, weak, strict=True)])
    try:
        dtypes, _ = op.loop(kinds)
    except TypeError as error:
        raise _refused(op, made, error) from None
    return tuple([_scalar(op, i, d, made) if w else i for i, w, d in zip(made, weak, dtypes, strict=True)])


def _as_operand(op: Elementwise, value: Any) -> Variable:
    if isinstance(value, Variable):
        return value
    try:
        return as_tensor(value) if isinstance(value, (list, tuple)) else constant(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{op.name} does not take {shown(value)}: {error}") from None


def _scalar(op: Elementwise, value: Any, dtype: str, operands: Sequence[Any]) -> Variable:
    if op.compares and isinstance(value, int) and np.dtype(dtype).kind in "iu":
        return constant(promotion.comparable_scalar(value, dtype))
    try:
        return scalar_constant(value, dtype)
    except OverflowError:
        others = ", ".join(describe(o) for o in operands if isinstance(o, Variable))
        number = value if value.bit_length() <= 128 else f"of {value.bit_length()} bits"
        raise OverflowError(
            f"{op.name}: the Python integer {number} is out of bounds for {dtype}, the dtype it takes beside {others}; "
            "give it one of its own, T.constant(value, dtype=...), or cast the other operand"
        ) from None


_numbers: dict[tuple[str, bytes], TensorConstant] = {}
MOST_NUMBERS = 10_000
"""Constants that are kept; a program that makes ever new ones could else fill the memory."""


def scalar_constant(value: complex, dtype: str) -> TensorConstant:
    """The constant that a Python number is as `dtype`: one object for all who write it, so that none need be merged.

    Raises OverflowError for an integer that the dtype cannot hold.
    """
    typed = promotion.typed_scalar(value, dtype)
    key = (dtype, typed.tobytes())
    found = _numbers.get(key)
    if found is None:
        if len(_numbers) >= MOST_NUMBERS:
            _numbers.clear()
        found = _numbers[key] = constant(typed)
    return found


# --- casts


@record(repr=False)
class Cast(Pointwise):
    """The input converted to another dtype, with NumPy's `astype`; complex numbers do not become real ones by it."""

    dtype: str
    name: ClassVar[str] = "cast"  # type: ignore[misc]
    arity: ClassVar[int] = 1
    cost: ClassVar[int] = 1

    def loop(self, dtypes: tuple[Operand, ...]) -> Loop:
        """The operand as it is, and the dtype of the cast."""
        (given,) = dtypes
        name = promotion.result_type((given,))
        if name.startswith("complex") and not self.dtype.startswith("complex") and self.dtype != "bool":
            raise TypeError(f"the imaginary part would be lost; use T.real(x) or T.abs(x) and then {self.dtype}")
        return (name,), self.dtype

    def check_count(self, count: int) -> None:
        if count != 1:
            raise TypeError(f"cast takes 1 operand, got {count}")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        with np.errstate(all="ignore"):
            return (values[0].astype(self.dtype),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return derivatives.elementwise_vjp(node, cotangents[0])


def cast(x: TensorLike, dtype: DTypeLike) -> TensorVariable:
    """`x` as `dtype`, NumPy's `astype`; `x` itself where it has that dtype.

    Raises TypeError for complex numbers cast to real ones (take `real` or `abs` first), and for a dtype of None, which
    NumPy takes for float64.
    """
    if dtype is None:
        raise TypeError("cast: dtype must be given, got None; write 'float64' if you mean what NumPy takes None for")
    name = dtype_name(dtype)
    x = as_tensor(x)
    return x if getattr(x, "dtype", None) == name else Cast(name)(x)


class _Angle(Elementwise):
    """`angle` is called as in NumPy: in degrees if asked for."""

    def __call__(self, z: TensorLike, deg: bool = False) -> TensorVariable:
        found = super().__call__(z)
        return mul(found, 180 / math.pi) if deg else found


class _Clip(Elementwise):
    """`clip` is called as in NumPy: a bound may be None or left out."""

    def __call__(  # type: ignore[override]
        self, x: Any = None, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None, **keywords: Any
    ) -> TensorVariable:
        if keywords:
            (x,) = operands_by_name("clip", 1, () if x is None else (x,), keywords)
        if not (a_min is a_max is None or min is max is None):
            raise ValueError("clip: bounds are given as a_min and a_max or as min and max, got both")
        low, high = (a_min if min is None else min), (a_max if max is None else max)
        low, high = _bound(x, low, -1), _bound(x, high, 1)
        if low is None and high is None:
            return as_tensor(x)
        if high is None:
            return maximum(x, low)
        return minimum(x, high) if low is None else super().__call__(x, low, high)


def _bound(x: Any, bound: Any, side: int) -> Any:
    """The bound, or None for a Python integer at or beyond the end of x's dtype: it cannot clip anything."""
    if not isinstance(x, Variable) or x.type.kind not in "iu" or promotion.weak_type(bound) is not int:
        return bound
    limits = np.iinfo(x.type.numpy)
    return None if (bound >= limits.max if side > 0 else bound <= limits.min) else bound


# --- the table

_op: Any = Elementwise  # the annotations of the table say how each op is called
_unary: Any = partial(Elementwise, arity=1)


def _ufunc(name: str, ufunc: np.ufunc, **facts: Any) -> Any:
    facts.setdefault("arity", ufunc.nin)
    return Elementwise(name, ufunc, promotion.by_ufunc(ufunc), **facts)


def _float_function(name: str, function: Callable[[np.ndarray], np.ndarray], cost: int) -> Any:
    return Elementwise(name, function, promotion.by_ufunc(np.cbrt), cost=cost)


_fold = partial(_ufunc, arity=None, commutative=True, associative=True)
_symmetric = partial(_ufunc, commutative=True)

add: Fold = _fold("add", np.add, unit=0)
mul: Fold = _fold("mul", np.multiply, unit=1, zero=0)
sub: Binary = _ufunc("sub", np.subtract)
true_div: Binary = _ufunc("true_div", np.true_divide, cost=4)
floor_div: Binary = _ufunc("floor_div", np.floor_divide, cost=12)
mod: Binary = _ufunc("mod", np.remainder, cost=12)
fmod: Binary = _ufunc("fmod", np.fmod, cost=12)
pow: Binary = _ufunc("pow", np.power, cost=40, fallible=True)
neg: Unary = _ufunc("neg", np.negative, involution=True)
abs: Unary = _ufunc("abs", np.absolute, idempotent=True)
sign: Unary = _ufunc("sign", np.sign, idempotent=True)
square: Unary = _ufunc("square", np.square)
sqrt: Unary = _ufunc("sqrt", np.sqrt, cost=6)
cbrt: Unary = _ufunc("cbrt", np.cbrt, cost=20)
reciprocal: Unary = _ufunc("reciprocal", np.reciprocal, cost=4, involution=True)
maximum: Fold = _fold("maximum", np.maximum, idempotent=True)
minimum: Fold = _fold("minimum", np.minimum, idempotent=True)
hypot: Binary = _symmetric("hypot", np.hypot, cost=12)

exp: Unary = _ufunc("exp", np.exp, cost=12)
exp2: Unary = _ufunc("exp2", np.exp2, cost=12)
expm1: Unary = _ufunc("expm1", np.expm1, cost=20)
log: Unary = _ufunc("log", np.log, cost=14)
log2: Unary = _ufunc("log2", np.log2, cost=14)
log10: Unary = _ufunc("log10", np.log10, cost=14)
log1p: Unary = _ufunc("log1p", np.log1p, cost=20)
logaddexp: Binary = _symmetric("logaddexp", np.logaddexp, cost=34)
sin: Unary = _ufunc("sin", np.sin, cost=14)
cos: Unary = _ufunc("cos", np.cos, cost=14)
tan: Unary = _ufunc("tan", np.tan, cost=24)
arcsin: Unary = _ufunc("arcsin", np.arcsin, cost=20)
arccos: Unary = _ufunc("arccos", np.arccos, cost=20)
arctan: Unary = _ufunc("arctan", np.arctan, cost=20)
arctan2: Binary = _ufunc("arctan2", np.arctan2, cost=30)
sinh: Unary = _ufunc("sinh", np.sinh, cost=20)
cosh: Unary = _ufunc("cosh", np.cosh, cost=20)
tanh: Unary = _ufunc("tanh", np.tanh, cost=20)
arcsinh: Unary = _ufunc("arcsinh", np.arcsinh, cost=25)
arccosh: Unary = _ufunc("arccosh", np.arccosh, cost=25)
arctanh: Unary = _ufunc("arctanh", np.arctanh, cost=25)
deg2rad: Unary = _ufunc("deg2rad", np.deg2rad)
rad2deg: Unary = _ufunc("rad2deg", np.rad2deg)

erf: Unary = _float_function("erf", special.erf, cost=25)
erfc: Unary = _float_function("erfc", special.erfc, cost=30)
gamma: Unary = _float_function("gamma", special.gamma, cost=60)
gammaln: Unary = _float_function("gammaln", special.gammaln, cost=60)
digamma: Unary = _float_function("digamma", special.digamma, cost=60)
polygamma: Binary = _op(
    "polygamma", special.polygamma, promotion.by_ufunc(np.arctan2), arity=2, cost=600
)
sigmoid: Unary = _float_function("sigmoid", special.sigmoid, cost=18)
softplus: Unary = _float_function("softplus", special.softplus, cost=34)
log1mexp: Unary = _float_function("log1mexp", special.log1mexp, cost=40)

eq: Binary = _symmetric("eq", np.equal, compares=True)
ne: Binary = _symmetric("ne", np.not_equal, compares=True)
lt: Binary = _ufunc("lt", np.less, compares=True)
le: Binary = _ufunc("le", np.less_equal, compares=True)
gt: Binary = _ufunc("gt", np.greater, compares=True)
ge: Binary = _ufunc("ge", np.greater_equal, compares=True)
logical_and: Binary = _symmetric("logical_and", np.logical_and, associative=True, unit=1, zero=0)
logical_or: Binary = _symmetric("logical_or", np.logical_or, associative=True, unit=0, zero=1)
logical_xor: Binary = _symmetric("logical_xor", np.logical_xor, associative=True, unit=0)
logical_not: Unary = _ufunc("logical_not", np.logical_not)
isnan: Unary = _ufunc("isnan", np.isnan)
isinf: Unary = _ufunc("isinf", np.isinf)
isfinite: Unary = _ufunc("isfinite", np.isfinite)
signbit: Unary = _ufunc("signbit", np.signbit)

bitwise_and: Fold = _fold("bitwise_and", np.bitwise_and, idempotent=True, zero=0)
bitwise_or: Fold = _fold("bitwise_or", np.bitwise_or, idempotent=True, unit=0)
bitwise_xor: Fold = _fold("bitwise_xor", np.bitwise_xor, unit=0)
bitwise_not: Unary = _ufunc("bitwise_not", np.invert, involution=True)
left_shift: Binary = _ufunc("left_shift", np.left_shift)
right_shift: Binary = _ufunc("right_shift", np.right_shift)
threefry: Binary = _op("threefry", special.threefry, promotion.unsigned_words, arity=2, cost=60)

floor: Unary = _ufunc("floor", np.floor, idempotent=True)
ceil: Unary = _ufunc("ceil", np.ceil, idempotent=True)
trunc: Unary = _ufunc("trunc", np.trunc, idempotent=True)
rint: Unary = _ufunc("rint", np.rint, idempotent=True)
copysign: Binary = _ufunc("copysign", np.copysign)
conj: Unary = _ufunc("conj", np.conjugate, involution=True)
real: Part = _unary("real", lambda x: np.array(x.real), promotion.real_part, idempotent=True)
imag: Part = _unary("imag", lambda x: np.array(x.imag), promotion.real_part)
angle: _Angle = _Angle("angle", np.angle, promotion.phase, cost=30)

switch: Switch = _op("switch", np.where, promotion.choice, arity=3)
clip: _Clip = _Clip("clip", np.clip, promotion.joint, arity=3, cost=2)
fill: Fill = _op(
    "fill", lambda like, value: np.broadcast_arrays(value, like)[0].copy(), promotion.last, arity=2, cost=0
)
identity: Unary = _unary("identity", np.copy, promotion.last, idempotent=True, involution=True, cost=0)
stop_gradient: Unary = _unary("stop_gradient", np.copy, promotion.last, idempotent=True, cost=0)

ELEMENTWISE: dict[str, Elementwise] = {op.name: op for op in list(globals().values()) if isinstance(op, Elementwise)}
"""Every elementwise op by its name."""
