"""Elementwise ops: one NumPy function over operands that broadcast at run time.

An `Elementwise` is the record of an op: its meaning, dtypes, algebraic facts, derivative and C stand in one place, and
all tables by op are derived from the records.  Each is a singleton: compared by identity, found by name in
`ELEMENTWISE` (elementwise.py), pickled and copied as itself.  The records of the package are in elementwise_*.py.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial, reduce
from typing import Any, ClassVar

import numpy as np

from ...graph import Apply, Dim, Kind, Op, TensorType, Variable
from ...graph.dims import broadcast_dims
from ...graph.types import Shape, name_of
from ...record import record
from ...record.spelling import counted
from ..control.batching import align_operands
from ..core import promotion
from ..core.checks import describe, shown
from ..core.derivatives import FoldRow, Row, elementwise_vjp
from ..core.keywords import operand_names, operands_by_name
from ..core.namespace import T
from ..core.operands import weak_kind
from ..core.promotion import Loop, Operand, Rule
from ..core.signatures import CallSignature, usage
from ..core.tensor import TensorOp, TensorVariable, as_tensor, constant, scalar_constant
from ..core.traced import in_dtype, is_symbolic
from ..writing import code
from ..writing.latex import Formula, Written, called
from . import costs
from .c_forms import Form, UserC


class Broadcasting(TensorOp):
    """Base of elementwise ops: one output, whose shape is that of the operands broadcast together."""

    derivative: Row | FoldRow | None = None
    """The row of derivatives.py; None if there is none."""
    complex_derivative: Row | None = None
    """The row for complex operands of a function that is not holomorphic; g has the dtype of the result."""
    not_holomorphic: str = ""
    """Why there is no derivative for complex operands."""
    real_slopes: bool = False
    """Whether it is linear with real slopes, so that g need not be conjugated."""
    advice: str = ""
    """Alternative that the error for an unsupported dtype suggests."""
    explains: ClassVar[bool] = False
    """Whether the error of `loop` says more than a list of supported dtypes."""
    same_as: int | None = None
    """The operand that is the result: nothing is computed."""
    fixed: tuple[str, int] | None = None
    """Kinds of dtype for which the result is one number whatever the value, and that number."""
    of_truth: bool = False
    """Whether the operands are converted to bool first."""
    picture: ClassVar[Kind] = Kind.ELEMENTWISE
    operations: ClassVar[Callable[..., Any]] = costs.elementwise
    batching: ClassVar[Callable[..., Any]] = align_operands

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
        raise AssertionError(f"{self} refuses an operand without a reason")

    def dims(self, node: Apply, inputs: Sequence[tuple[Dim, ...]]) -> tuple[tuple[Dim, ...], ...]:
        return (broadcast_dims(inputs),)

    def check_count(self, count: int) -> None:
        """Raises TypeError unless the op takes `count` operands."""

    def add_derivative(self) -> str:
        """Return how to add a missing derivative, for errors."""
        return f"add derivative= to the record of {self.name} in ops/elementwise_*.py"

    def _check(self, inputs: tuple[Variable, ...]) -> None:
        self.check_count(len(inputs))
        try:
            self.loop(tuple([i.dtype for i in inputs]))
        except TypeError as error:
            raise _refused(self, inputs, error) from None
        _check_lengths(self, inputs)


class Pointwise(Broadcasting):
    """Base of elementwise ops that kernels compute, a cast among them: they fuse."""


@lru_cache(maxsize=8192)
def _infer(op: Broadcasting, types: tuple[TensorType, ...]) -> tuple[TensorType, ...]:
    op.check_count(len(types))
    _, result = op.loop(tuple([t.dtype for t in types]))
    return (TensorType(result, broadcast_shapes([t.shape for t in types])),)


def broadcast_shapes(shapes: Sequence[Shape]) -> Shape:
    """Return NumPy's joint shape; an unknown length stays unknown beside 1 and agrees with any other.

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


def _check_lengths(op: Broadcasting, inputs: Sequence[Variable]) -> None:
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


def _refused(op: Broadcasting, operands: Sequence[Any], error: TypeError) -> TypeError:
    """Return the error for dtypes that `op` does not support."""
    got = ", ".join(describe(o) if isinstance(o, Variable) else repr(o) for o in operands)
    if op.explains:
        return TypeError(f"{op.name} does not take {got}: {error}")
    accepted = f"{op.name} does not take {got}: expected {_accepted(op, len(operands))}"
    return TypeError(f"{accepted}; {op.advice}" if op.advice else accepted)


_KINDS = {"bool": "bool", "integer": "int64", "unsigned": "uint64", "float": "float64", "complex": "complex128"}


def _accepted(op: Broadcasting, count: int) -> str:
    """Return the kinds of dtype that `op` supports, as text, tested with operands of one kind."""
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
class ElementwiseRecord(Broadcasting):
    """A NumPy function applied element by element, with the algebraic facts that rules read.

    The facts hold for the numbers of mathematics; what NaN, infinities, signed zeros and rounding make of them is for
    the contract of the rule that uses them.
    """

    name: str
    function: Callable[..., Any]
    """The meaning: arrays of the loop's dtypes to an array (or NumPy scalar) of the loop's result dtype."""
    rule: Rule
    meaning: str = ""
    """The meaning in a line: the docstring."""
    arity: int | None = 1
    """The number of operands; None: two or more, converted to their joint dtype and folded from the left."""
    operands: tuple[str, ...] = ()
    """Their names in calls; none: those of NumPy's functions, x or x1 and x2."""
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
    even: bool = False
    """op(-x) is op(x)."""
    increasing: bool = False
    """A greater operand has a greater result."""
    whole: bool = False
    """The results are whole numbers, and whole numbers are their own results."""
    cost: int = 1
    """Cost in additions."""
    compares: bool = False
    """Whether it is one of the six comparisons."""
    fallible: bool = False  # type: ignore[misc]
    derivative: Row | FoldRow | None = None
    complex_derivative: Row | None = None
    not_holomorphic: str = ""
    real_slopes: bool = False
    c: Mapping[str, Form] | None = None
    """C by kinds of dtype: b bool, i signed, u unsigned, f float32 and float64, c complex, e float16.

    The kind is that of the first operand, of the second one of `switch`.  float16 is computed as float32.
    """
    same_as: int | None = None
    fixed: tuple[str, int] | None = None
    of_truth: bool = False
    unread: int | None = None  # type: ignore[misc]
    usage: str = ""
    """The call in a line, if it is not made of the operands' names."""
    advice: str = ""
    one_operand: str = ""
    """Alternative to a call with one operand."""
    symbol: str = ""
    """The name in kernels and in the table of C; of an op from outside it has a digest."""
    sign: str = ""
    latex: Formula | str | None = None
    """How it is written in LaTeX: by a function, or as one of this name; None: with its own name."""
    python: code.Writer | None = None
    """How it is written in Python; None: by its sign or as a function with its name."""
    source: UserC | None = None
    """The C of an op from outside the package."""
    fingerprint: str | None = ""  # type: ignore[misc]
    defined_at: str = ""
    """The user's line that defined the op."""
    __signature__: ClassVar[CallSignature] = CallSignature()

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbol", self.symbol or self.name)
        call = self.usage or usage(self.name, self.operands, self.arity)
        object.__setattr__(self, "__doc__", f"{call}\n\n{self.meaning or self.function.__doc__}")  # for `help`

    def loop(self, dtypes: tuple[Operand, ...]) -> Loop:
        return _loop(self, dtypes)

    def check_count(self, count: int) -> None:
        if count != self.arity and (self.arity is not None or count < 2):
            instead = f"; {self.one_operand}" if self.one_operand and count == 1 else ""
            takes = "two or more operands" if self.arity is None else counted(self.arity, "operand")
            raise TypeError(f"{self.name} takes {takes}, got {count}{instead}")

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        operands, result = self.loop(tuple([name_of(v.dtype) for v in values]))
        with np.errstate(all="ignore"):
            converted = [v.astype(d, copy=False) for v, d in zip(values, operands, strict=True)]
            value = self.function(*converted) if self.arity else reduce(self.function, converted)
        return (np.asarray(value, dtype=result),)

    def vjp(self, node: Apply, cotangents: Sequence[Variable | None]) -> Sequence[Variable | None]:
        return elementwise_vjp(node, cotangents[0])

    def __call__(self, *inputs: Any, **keywords: Any) -> TensorVariable:
        """The op applied; operands may be given by NumPy's names, x or x1 and x2, as well."""
        if keywords:
            inputs = tuple(operands_by_name(self.name, operand_names(self.operands, self.arity), inputs, keywords))
        return super().__call__(*inputs)

    def convert(self, inputs: Sequence[Any]) -> tuple[Variable, ...]:
        self.check_count(len(inputs))
        return operands(self, inputs)

    def parameters(self) -> dict[str, Any]:
        return {}

    def formula(self, output: Variable, operands: Sequence[Written], /) -> Written:
        if self.latex is None or isinstance(self.latex, str):
            return called(self, output, operands, self.latex or "")
        return self.latex(self, output, operands)

    def code(self, output: Variable, speaker: code.Speaker, /) -> code.Code:
        return (self.python or code.elementwise)(self, output, speaker)

    @classmethod
    def printed(cls) -> Mapping[str, Op | Callable[..., Op]]:
        return T.ELEMENTWISE if cls is Elementwise else {}

    def __reduce__(self) -> Any:
        return named, (self.name,)


class Elementwise(ElementwiseRecord, Pointwise):
    """An elementwise op that kernels compute."""


@cache
def _loop(op: ElementwiseRecord, dtypes: tuple[Operand, ...]) -> Loop:
    return op.rule(dtypes)


def named(name: str) -> Elementwise:
    """The elementwise op of this name."""
    return T.ELEMENTWISE[name]


# --- operands


def operands(op: ElementwiseRecord, inputs: Sequence[Any]) -> tuple[Variable, ...]:
    """Return the inputs as variables; a Python number becomes a constant of the dtype of the others (NEP 50).

    Raises OverflowError for a Python integer that this dtype cannot hold (except in comparisons, which answer as
    NumPy does), and TypeError for what no array can be made of.
    """
    weak = [weak_kind(i) for i in inputs]
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


def _as_operand(op: ElementwiseRecord, value: Any) -> Variable:
    if isinstance(value, Variable):
        return value
    try:
        return as_tensor(value) if isinstance(value, (list, tuple)) else constant(value)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{op.name} does not take {shown(value)}: {error}") from None


def _scalar(op: ElementwiseRecord, value: Any, dtype: str, operands: Sequence[Any]) -> Variable:
    if is_symbolic(value):
        return in_dtype(value, dtype, op.compares)  # type: ignore[no-any-return]
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


# --- records in the tables


def ufunc_op(name: str, ufunc: np.ufunc, **facts: Any) -> Any:
    """The record of a function of NumPy, which promotes as that does."""
    facts.setdefault("arity", ufunc.nin)
    return Elementwise(name, ufunc, promotion.by_ufunc(ufunc), **facts)


def float_op(name: str, function: Callable[[np.ndarray], np.ndarray], **facts: Any) -> Any:
    """The record of a function of one float, which promotes as `numpy.cbrt` does."""
    return Elementwise(name, function, promotion.by_ufunc(np.cbrt), **facts)


def scipys_op(name: str, function: Callable[[np.ndarray], np.ndarray], **facts: Any) -> Any:
    """The record of a function of one float of SciPy, which takes integers in float64."""
    return Elementwise(name, function, promotion.by_scipy(np.cbrt), **facts)


fold_op = partial(ufunc_op, arity=None, commutative=True, associative=True)
"""The record of a function of two operands or more."""
symmetric_op = partial(ufunc_op, commutative=True)
plain_op: Any = Elementwise
"""A record without defaults; the annotations of the tables say how each op is called."""
unary_op: Any = partial(Elementwise, arity=1)
