"""Variables of a trace: what a symbolic array answers where NumPy's array would answer at once.

    made_in_trace   the results of ops, as instances of `TracedVariable`
    lengths         `x.shape`
    operated        operators: two Python numbers give a Python number
    written         `x += y`, which NumPy writes into x
    own_array       the result of a method that copies
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...graph import Variable
from ...graph.provenance import is_inheriting, line
from ...graph.types import numpy_dtype
from ...record.containers import with_operators
from ..shapes.stored import base_of, copied, results_now, store, with_copy_of_numpy
from . import tracing
from .call_lengths import Length
from .namespace import T, classes
from .promotion import weak_type
from .tracing import ADD, DIV, FLOORDIV, MOD, MUL, SUB, Known, Number, Operation, Trace

if TYPE_CHECKING:
    from .tensor import TensorVariable

Found = TypeVar("Found")


# --- Python numbers


def number_of(value: Any) -> Number | None:
    """The Python number that an operand is or stands for; None for arrays."""
    if isinstance(value, Variable):
        trace = tracing.current()
        return None if trace is None else trace.numbers.get(value)
    if type(value) is Length:
        return Number(type(value.known.value), value.known)
    kind = int if type(value) is bool else weak_type(value)
    return None if kind is None else Number(kind, Known(kind(value), repr(kind(value))))


PYTHONS = (bool, int, float, complex)
"""Types of Python numbers, each as wide as those before it."""
WIDE = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""The dtypes that they are computed in."""


def class_to_keep(value: Any) -> type | None:
    """The type that dtype and rank do not tell: of Python numbers, and of arrays without axes; None for all else."""
    kind = type_of(value)
    if kind is np.ndarray and not value.ndim:
        return kind
    number = None if kind is bool else number_of(value)
    return kind if kind is bool else None if number is None else number.kind


def joined_class(a: type | None, b: type | None) -> type | None:
    """The type of a value that is one of two, by their types as `class_to_keep` gives them."""
    return max(a, b, key=PYTHONS.index) if a in WIDE and b in WIDE else a if a is b else None


def keep_class(trace: Trace, variable: Variable, kind: type | None) -> None:
    """Let a variable stand for a value of a type that `class_to_keep` has given."""
    if kind is bool or kind is np.ndarray:
        trace.classes[variable] = kind
    elif kind is not None:
        trace.numbers[variable] = Number(kind)


def known_of(value: Any) -> Known | None:
    """The value of an operand that is a number of the call, and its expression; None for any other."""
    number = number_of(value)
    return None if number is None else number.known


def is_symbolic(value: Any) -> bool:
    """Whether an operand is a variable, or a length of the call."""
    return isinstance(value, Variable) or type(value) is Length


def as_variable(value: Any) -> Any:
    """A length of the call as its symbolic scalar; anything else as it is."""
    return value.variable if type(value) is Length else value


_OPERATIONS: dict[str, Operation] = {
    "add": ADD, "sub": SUB, "mul": MUL, "floor_div": FLOORDIV, "mod": MOD, "true_div": DIV,
    "pow": Operation(operator.pow, "({a} ** {b})"),
    "neg": Operation(lambda a, _: -a, "(-{a})"), "abs": Operation(lambda a, _: abs(a), "abs({a})"),
}  # fmt: skip
_KINDS: dict[str, type] = {"i": int, "u": int, "f": float, "c": complex}


def _operated(name: str, *operands: Any) -> Any:
    """The op `name` of the operands, as the operators of Python apply it; NotImplemented for a sparse matrix."""
    if type(operands[-1]) in with_operators:
        return NotImplemented
    trace = tracing.current()
    if trace is not None and any(_is_truth(trace, o) for o in operands) and all(
        _is_truth(trace, o) or number_of(o) is not None for o in operands
    ):
        if name in _BITWISE and all(type(o) is bool or _is_truth(trace, o) for o in operands):
            found = getattr(T, name)(*operands)
            trace.classes[found] = bool
            return found
        operands = tuple(_as_integer(trace, o) for o in operands)
    numbers = None if trace is None else [number_of(o) for o in operands]
    if trace is not None and name == "mul" and trace.of_call and {list, tuple} & set(map(type, operands)):
        return _repeated(*operands)
    if trace is None or numbers is None or None in numbers:
        return getattr(T, name)(*operands)
    if name in _COMPARED:
        compared_now = getattr(T, name)(*operands)
        trace.classes[compared_now] = bool
        known = _joined_truth(trace, name, numbers)
        if known is not None:
            trace.truths[compared_now] = known
        return compared_now
    known = _known(trace, name, numbers)
    if name == "pow" and known is not None and type(known.value) not in [n.kind for n in numbers if n is not None]:
        wide = WIDE[type(known.value)]
        operands = (T.cast(as_variable(operands[0]), wide), operands[1])  # as 2 ** -1 is 0.5
    result = getattr(T, name)(*operands)
    for part in result if type(result) is tuple else (result,):
        kind = _KINDS.get(part.type.kind)
        if kind is not None:
            trace.numbers[part] = Number(kind, known)
    if trace.exact is not None and all(n is not None and n.kind is int for n in numbers):
        trace.exact(name, operands, result)
    return result


_BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor")
"""Operations of two bools of Python whose result is one; all others have that of the integers 0 and 1."""


def _is_truth(trace: tracing.Trace, value: Any) -> bool:
    """Whether a variable stands for a bool of Python."""
    return isinstance(value, Variable) and trace.classes.get(value) is bool


def _as_integer(trace: tracing.Trace, value: Any) -> Any:
    """Return a bool of Python as an integer of Python; any other number as it is."""
    if not _is_truth(trace, value):
        return int(value) if type(value) is bool else value
    found = T.cast(value, WIDE[int])
    trace.numbers[found] = Number(int)
    return found


def _repeated(*operands: Any) -> Any:
    """A list or tuple times a scalar, which repeats it as in Python, or times an array.

    Raises TypeError for a count that depends on values.
    """
    (values, count) = operands if type(operands[0]) in (list, tuple) else operands[::-1]
    if not isinstance(count, Variable) or count.ndim or count.type.kind not in "iu":
        return T.mul(*operands)
    known = known_of(count)
    if known is None:
        raise TypeError(
            f"{count!r} is symbolic and has no fixed count for {type(values).__name__}s to be repeated; make an array, "
            f"as by np.full(n, x){line()}"
        )
    return values * held(known)


_COMPARED = {
    "lt": Operation(operator.lt, "({a} < {b})"), "le": Operation(operator.le, "({a} <= {b})"),
    "gt": Operation(operator.gt, "({a} > {b})"), "ge": Operation(operator.ge, "({a} >= {b})"),
    "eq": Operation(operator.eq, "({a} == {b})"), "ne": Operation(operator.ne, "({a} != {b})"),
}  # fmt: skip


def _joined_truth(trace: Trace, name: str, numbers: Sequence[Any]) -> Known | None:
    """Return the truth value of a comparison of numbers of the call; None if it is not known."""
    if None in [n.known for n in numbers]:
        return None
    found = trace.joined(_COMPARED[name], numbers[0].known, numbers[-1].known)
    return found if isinstance(found, Known) else None


operated = _operated  # errors skip names that begin with _, see `provenance.asked`


_COMPLEX_POWERS = {2: "square", -1: "reciprocal", 0.5: "sqrt"}


def powered(x: Any, exponent: Any) -> Any:
    """`x ** exponent`; of complex numbers the function that NumPy's operator takes in the place of `np.power`.

    NumPy multiplies for the exponent 3, too, in loops that are not vectorized.
    """
    if x.type.kind == "c" and type(exponent) in (int, float):
        if exponent == 3:
            return operated("mul", x, operated("square", x))
        if exponent in _COMPLEX_POWERS:
            return operated(_COMPLEX_POWERS[exponent], x)
    return operated("pow", x, exponent)


def _known(trace: Trace, name: str, numbers: Sequence[Any]) -> Known | None:
    """Return the value of an operation on numbers of the call; what Python refuses for them raises."""
    operation = _OPERATIONS.get(name)
    if operation is None or None in [n.known for n in numbers]:
        return None
    a, b = numbers[0].known, numbers[-1].known
    if name in ("floor_div", "mod", "true_div"):
        trace.require(f"({b.text} == 0) is {b.value == 0}")
    found = trace.joined(operation, a, b)
    if not isinstance(found, Known):
        found = Known(found, repr(found))
    if name == "pow":  # an int, a float or a complex number, by the values
        trace.require(f"type({found.text}).__name__ == {type(found.value).__name__!r}")
    if trace.exact is None and isinstance(found.value, int) and not -(2**63) <= found.value < 2**63:
        raise OverflowError(f"{a.value} and {b.value}: the result {found.value} does not fit 64 bits{line()}")
    return found


def in_dtype(value: Any, dtype: str, compares: bool) -> Any:
    """A symbolic Python number in the dtype that it takes beside arrays, as `typed_scalar` of a number.

    Raises OverflowError for an integer of the call that the dtype cannot hold.
    """
    number, variable = number_of(value), as_variable(value)
    assert number is not None
    if number.kind is int and numpy_dtype(dtype).kind in "iu":
        if compares:
            return variable
        variable = _with_room(number, variable, dtype)
    return variable if variable.dtype == dtype else T.cast(variable, dtype)


def _with_room(number: Number, variable: Any, dtype: str) -> Any:
    """Return an integer that a dtype must hold: decided for one of the call, else checked at run time."""
    trace, limits = tracing.current(), np.iinfo(dtype)
    if number.known is None or trace is None:
        if dtype == "int64" or _fits(variable, limits):
            return variable
        least = T.ge(variable, limits.min)
        fits = least if dtype == "uint64" else T.logical_and(least, T.le(variable, limits.max))
        text = f"Python integer {{0}} out of bounds for {dtype}"
        return classes.Check(text, "OverflowError")(variable, fits, variable)
    value, text = number.known
    trace.require(f"({limits.min} <= {text} <= {limits.max}) is {limits.min <= value <= limits.max}")
    if not limits.min <= value <= limits.max:
        raise OverflowError(f"Python integer {value} out of bounds for {dtype}{line()}")
    return variable


def _fits(variable: Variable, limits: Any) -> bool:
    """Whether an expression certainly is within limits: constants, choices among them, masks by `&`."""
    waiting: list[Variable] = [variable]
    while waiting:
        one = waiting.pop()
        data = getattr(one, "data", None)
        name = "" if one.owner is None else one.owner.op.name
        if data is not None:
            if not limits.min <= data <= limits.max:
                return False
        elif name == "switch":
            waiting += one.owner.inputs[1:]  # type: ignore[union-attr]
        elif name == "bitwise_and":
            masks = [i.data for i in one.owner.inputs if hasattr(i, "data")]  # type: ignore[union-attr]
            if not any(0 <= m <= limits.max for m in masks):
                return False
        else:
            return False
    return True


def rounded(x: Any, decimals: int | None, name: str = "round") -> Any:
    """`round(x)`: a Python integer for a number of a traced call, as Python has it; else a tensor of the dtype of x.

    `name`: also "floor", "ceil" or "trunc".
    """
    if decimals is not None:
        number = None if x.ndim or not is_of_call() else number_of(x)
        digits = known_of(decimals) if number is not None and number.kind is float else None
        if digits is not None and 0 < digits.value <= _MOST_DIGITS:
            return _rounded_decimal(x, held(digits) if is_symbolic(decimals) else decimals)
        return operated(name, x, decimals) if x.ndim == 0 and is_of_call() else T.round(x, decimals)
    found = getattr(T, name)(x)
    if x.ndim or not is_of_call() or x.type.kind not in "fiu":
        return found
    trace: Any = tracing.current()
    whole = T.cast(found, "int64")
    trace.numbers[whole] = Number(int)
    if trace.exact is not None and found.type.kind == "f":
        trace.exact(name, [found], whole)
    return whole


_MOST_DIGITS = 10
"""Digits up to which the power of ten has 24 bits, so that its product with half of a number is exact."""


def _rounded_decimal(x: Any, digits: int) -> Any:
    """A Python float rounded as Python does: to the decimal number that is next to its exact value.

    NumPy rounds the product with a power of ten, which is rounded itself: 2.675 becomes 2.68 there, 2.67 here.
    """
    trace: Any = tracing.current()
    scale = 10.0**digits
    product = T.mul(x, scale)
    high = T.cast(T.cast(x, "float32"), "float64")
    error = T.add(T.sub(T.mul(high, scale), product), T.mul(T.sub(x, high), scale))
    whole = T.round(product)
    part = T.sub(product, whole)
    above = T.logical_and(T.eq(part, 0.5), T.gt(error, 0.0))
    below = T.logical_and(T.eq(part, -0.5), T.lt(error, 0.0))
    whole = T.switch(above, T.add(whole, 1.0), T.switch(below, T.sub(whole, 1.0), whole))
    is_exact = T.lt(T.abs(product), 2.0**52)
    found = T.switch(is_exact, T.true_div(whole, scale), x)
    trace.numbers[found] = Number(float)
    if trace.exact is not None:
        trace.exact("decimals", [T.logical_or(is_exact, T.logical_not(T.lt(T.abs(x), 2.0**52)))], found)
    return found


def held(known: Known) -> Any:
    """The value of a number of the call, which becomes a guard."""
    trace: Any = tracing.current()
    trace.require(f"{known.text} == {known.value!r}")
    return known.value


def held_length(x: Any, axis: int, refusal: str) -> int:
    """The length of an axis in the call, which becomes a guard.  Raises TypeError(refusal) if it depends on values."""
    trace: Any = tracing.current()
    known = trace.known_length(x, axis)
    if known is None:
        raise TypeError(refusal)
    return known if isinstance(known, int) else int(held(known))


def in_text(x: Any, form: str = "") -> str:
    """The text of a variable in a text of the user: of a number of the call that of its value.

    Of others it is what they are if the text is for people.  Raises TypeError otherwise.
    """
    trace = tracing.current()
    if trace is None or not trace.of_call:
        return repr(x)
    known = known_of(x)
    if known is not None:
        return format(held(known), form)
    if trace.showing:
        return repr(x)
    raise x._without("text", "print(x), which says what it is, or the value that the function returns")


def truth_value(x: Any) -> Any:
    """A bool scalar as the bool of Python."""
    trace = tracing.current()
    if trace is None or not isinstance(x, Variable):
        return x
    own = T.ELEMENTWISE["identity"](x)
    trace.classes[own] = bool
    return own


def python_number(x: Any) -> Any:
    """An element of an array as the Python number that NumPy's `item` makes of it."""
    trace, kind = tracing.current(), _KINDS.get(x.type.kind)
    if trace is None or (kind is None and x.dtype != "bool"):
        return x
    if kind is None:
        return truth_value(x)
    wide = WIDE[kind]
    found = T.ELEMENTWISE["identity"](x) if x.dtype == wide else T.cast(x, wide)
    trace.numbers[found] = Number(kind)
    if x.dtype == "uint64" and trace.exact is not None:
        trace.exact("item", [x], found)
    return found


# --- lengths


def lengths(x: Variable, trace: Trace) -> tuple[Any, ...]:
    """`x.shape` in a trace: ints, lengths of the call, and symbolic scalars where a length depends on values."""
    return tuple(length(x, axis, trace) for axis in range(x.ndim))


def length(x: Variable, axis: int, trace: Trace) -> Any:
    """One length of `lengths`."""
    known = trace.known_length(x, axis)
    if known is None:
        made = classes.ShapeI(axis)(x)
        trace.numbers[made] = Number(int)
        return made
    return known if isinstance(known, int) else Length(trace, known, lambda: classes.ShapeI(axis)(x))


def length_of(x: Any) -> Any:
    """`len(x)` in a traced function: a length of the call, which stays symbolic in expressions."""
    trace = tracing.current()
    return length(x, 0, trace) if trace is not None and isinstance(x, Variable) and x.ndim else len(x)


class _IsType(type):
    """So that `isinstance(f, type)` stays true of all classes."""

    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, type)

    def __subclasscheck__(cls, x: type) -> bool:
        return issubclass(x, type)


class type_of(type, metaclass=_IsType):  # noqa: N801
    """`type(x)` in a traced function: the type of NumPy's value in its place.  With more arguments it is `type`."""

    def __new__(cls, x: Any, *rest: Any, **options: Any) -> Any:
        if rest:
            return type(x, *rest, **options)
        if isinstance(x, Length):
            return int
        return class_of(x) if issubclass(type(x), Variable) else type(x)

    def __class_getitem__(cls, item: Any) -> Any:
        return type[item]  # of an annotation in a traced function


ASKED = {"len": length_of, "type": type_of}
"""Builtins as they are in a traced function."""


def first_length(x: Variable) -> int | None:
    """The length of the first axis: known, or that of the call, which becomes a guard; None if it is neither."""
    trace = tracing.current()
    found = x.type.shape[0] if trace is None or not trace.of_call else length(x, 0, trace)
    return None if found is None or isinstance(found, Variable) else operator.index(found)


def axes_of_one(x: Variable) -> list[int] | None:
    """The axes of length 1 in the call that is traced; None if lengths are not known so far."""
    found: list[int] = []
    trace = tracing.current()
    for axis, known in enumerate(x.type.shape):
        own = known if known is not None or trace is None else length(x, axis, trace)
        if own is None or isinstance(own, Variable):
            return None
        if own == 1:
            found.append(axis)
    return found


# --- writing


def _written(name: str, x: Any, other: Any) -> Any:
    """`x += other` and the like: in the trace of a call written into the array x, in its dtype and shape.

    Raises TypeError for a dtype that does not fit within its kind, ValueError for a shape that differs.
    """
    trace = tracing.current()
    if trace is None or not trace.of_call or not x.ndim:
        found = _operated(name, x, other)
        return found if class_of(x) is not np.ndarray else array_of(found)
    result = getattr(T, name)(x, other)
    symbol = _SYMBOLS[name]
    if not np.can_cast(result.type.numpy, x.type.numpy, "same_kind"):
        raise TypeError(f"x {symbol} y: the result is of {result.dtype}, which an array of {x.dtype} cannot hold; "
                        f"write x = x {symbol[:-1]} y{line()}")  # fmt: skip
    same = result.ndim == x.ndim
    for axis in range(x.ndim) if same else ():
        before, after = length(x, axis, trace), length(result, axis, trace)
        same = same and (isinstance(before, Variable) or isinstance(after, Variable) or bool(before == after))
    if not same:
        raise ValueError(f"x {symbol} y: the result does not have the shape of x; write x = x {symbol[:-1]} y{line()}")
    store(x, T.cast(result, x.dtype) if result.dtype != x.dtype else result, f"x {symbol} y")
    return x


written = _written  # as above

_SYMBOLS = {
    "add": "+=", "sub": "-=", "mul": "*=", "true_div": "/=", "floor_div": "//=", "mod": "%=", "pow": "**=",
    "bitwise_and": "&=", "bitwise_or": "|=", "bitwise_xor": "^=", "left_shift": "<<=", "right_shift": ">>=",
    "matmul": "@=",
}  # fmt: skip


def own_array(result: TensorVariable, x: Any = None) -> TensorVariable:
    """The result of a method that copies in NumPy: in a trace not x itself, nor a view."""
    if not is_of_call() or not isinstance(result, Variable) or not result.ndim:
        return result if x is None else array_of(result, x)
    return copied(result) if x is None or base_of(result) is base_of(x) else result  # type: ignore[no-any-return]


def cast_array(x: Any, found: Any, casting: Any, copy: bool) -> Any:
    """The result `found` of a cast of x.  Raises TypeError for one that the rule `casting` does not permit."""
    if not np.can_cast(x.type.numpy, found.type.numpy, casting):
        raise TypeError(f"astype: {x!r} cannot be cast from {x.dtype} to {found.dtype} by the rule {casting!r}{line()}")
    return own_array(found, x) if copy else array_of(found, x)


# --- results of ops


def applied(trace: Trace, op: Any, call: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """The results of an op in a trace."""
    changed = (trace.stored or trace.held) and not is_inheriting()
    outputs = results_now(trace, op, call, inputs) if changed else call(*inputs)
    if trace.of_call and isinstance(op, classes.Reshape) and not is_inheriting():
        outputs = with_copy_of_numpy(trace, outputs)
    for output in outputs if type(outputs) is tuple else (outputs,):
        adopt(trace, output)
    return outputs


def adopt(trace: Trace, variable: Any, kind: type | None = None) -> None:
    """Make a variable one of the trace; `kind`: the type of the argument that it stands for."""
    if type(variable) is T.TensorVariable:
        variable.__class__ = T.TracedVariable
        trace.made.append((variable, T.TensorVariable))
    if kind is not None:
        trace.classes[variable] = kind


def is_of_call() -> bool:
    """Whether a call of `jit` is traced, so that Python is to mean what NumPy means by it."""
    trace = tracing.current()
    return trace is not None and trace.of_call


def array_of(found: Found, source: Any = None) -> Found:
    """A result of which NumPy makes an array also if it has no axes, where most functions give a scalar.

    `source`: the variable whose method gives the result, a scalar again if that is one.
    """
    trace = tracing.current()
    if trace is None or not trace.of_call or not isinstance(found, Variable) or found.ndim:
        return found
    if source is not None and not source.ndim and class_of(source) is not np.ndarray:
        return found
    own: Any = T.ELEMENTWISE["identity"](found)
    trace.classes[own] = np.ndarray
    return own  # type: ignore[no-any-return]


def indexed(found: TensorVariable, key: Any) -> TensorVariable:
    """The result of `x[key]`: an array if the key has an ellipsis."""
    if found.ndim or not (key is Ellipsis or (type(key) is tuple and any(k is Ellipsis for k in key))):
        return found
    return array_of(found)


def class_of(variable: Variable) -> type:
    """The type that NumPy's value in the place of a variable of a trace has."""
    trace = tracing.current()
    if trace is None or not trace.of_call:
        return type(variable)
    given = trace.classes.get(variable)
    if given is not None:
        return given
    number = trace.numbers.get(variable)
    if number is not None:
        return number.kind
    return np.ndarray if variable.ndim else variable.type.numpy.type


# --- methods of integers


class BitMethods:
    """Base of the variables of a trace: methods of Python's integers and NumPy's scalars that count bits."""

    __slots__ = ()

    def bit_count(self: Any) -> Any:
        """The number of 1 bits of the absolute value."""
        return python_number(T.cast(T.bitwise_count(_integer(self, "bit_count")), "int64"))

    def bit_length(self: Any) -> Any:
        """The number of bits of the absolute value, without leading zeros."""
        left = T.cast(T.abs(_integer(self, "bit_length")), "uint64")
        for shift in (1, 2, 4, 8, 16, 32):  # all bits below the first one are 1
            left = T.bitwise_or(left, T.right_shift(left, shift))
        return python_number(T.cast(T.bitwise_count(left), "int64"))


def _integer(x: Any, name: str) -> Any:
    if x.ndim or x.type.kind not in "iu":
        raise AttributeError(f"{x!r} has no attribute {name!r}: it is no integer")
    return x
