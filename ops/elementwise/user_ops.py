"""Elementwise ops from outside the package: one call makes the record, as a table of the package does.

    softsign = ag.elementwise_op("softsign", lambda x: x / (1 + np.abs(x)), c="x / (1 + fabs{f}(x))",
                                 derivative=lambda g, y, x: g / T.square(1 + T.abs(x)))

With C for all dtypes that it takes the op is an `Elementwise` and fuses; without C it is a `HostElementwise`, which the
C engine leaves to NumPy.  Kernels and the C table know an op by its `symbol`, which has a digest of its C and meaning:
two versions of an op, of a cell that is run again, do not meet.
"""

from __future__ import annotations

import hashlib
import inspect
import keyword
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from ...graph import DTYPES, Lacks
from ...graph.provenance import here
from ...graph.types import dtype_name, numpy_dtype
from ...record.spelling import counted
from ..core import promotion
from ..core.derivatives import Row
from ..core.promotion import Loop, Operand, Rule
from .c_forms import UserC
from .code_digest import code_digest
from .pointwise import ElementwiseRecord
from .records import ELEMENTWISE, Elementwise, define, user_op

Derivative = Callable[..., Any] | Sequence["Callable[..., Any] | None"]
_KINDS = {"b": "bool", "i": "signed integers", "u": "unsigned integers", "f": "floats", "c": "complex numbers"}
_FLOATS = ("float16", "float32", "float64")
_FACTS = ("commutative", "associative", "idempotent", "unit", "zero", "involution")

class _UserOp(ElementwiseRecord):
    """The part that all users' ops share."""

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        (result,) = super().evaluate(*values)
        shape = np.broadcast_shapes(*(v.shape for v in values))
        if result.shape != shape:
            got = ", ".join(str(v.shape) for v in values)
            raise ValueError(f"{self.name}: its NumPy function made shape {result.shape} of {got}; expected {shape}")
        return (result,)

    def add_derivative(self) -> str:
        return f"pass derivative= to ag.elementwise_op({self.name!r}, ...), {self.defined_at}"

    def __reduce__(self) -> Any:
        return _defined, (self.name, self.symbol)


class UserElementwise(_UserOp, Elementwise):
    """An elementwise op from outside the package, with C."""


class HostElementwise(_UserOp):
    """An elementwise op from outside the package, without C: NumPy computes it under every engine."""

    lacks: ClassVar[Lacks] = Lacks(planner="it was defined without C", work="it was defined without C")


def _defined(name: str, symbol: str) -> ElementwiseRecord:
    found = user_op(symbol)
    if found is None:
        raise ValueError(
            f"the op {name!r} is not defined here, or has changed since it was pickled; import the module that calls "
            f"ag.elementwise_op({name!r}, ...) first"
        )
    return found


def elementwise_op(
    name: str,
    function: Callable[..., Any],
    *,
    c: str | Mapping[str, str] | None = None,
    c_functions: str = "",
    derivative: Derivative | None = None,
    dtypes: Sequence[str] | None = None,
    cost: int = 20,
    doc: str = "",
    **facts: Any,
) -> ElementwiseRecord:
    """Define an elementwise op; it is called like those of `T`.

    Args:
        name: The name in graphs, messages and profiles.
        function: The meaning in NumPy: arrays to an array.
        c: The same in C, over the names of the function's parameters: an expression, or a function body with `return`.
            A mapping gives one for each kind of dtype: "f" float, "i" signed, "u" unsigned, "b" bool, "c" complex.
            `{T}` is the C type of the first operand, `{R}` that of the result, `{f}` the suffix of math functions.
        c_functions: C functions that `c` calls, with the same gaps.
        derivative: A function of the cotangent g, the result y and the operands; it gives the cotangent of its operand.
            For several operands one each, None for a derivative of zero.
        dtypes: The dtypes it computes in, best first: "float64", or "float64, int64 -> bool".  Operands are cast to
            the first that holds them.  Default: those of a NumPy ufunc, else the floats.
        cost: Time an element, in additions; a cheap op is computed again rather than kept.
        facts: Facts for rules: commutative, associative, idempotent, involution, unit, zero.
    """
    _check_name(name)
    operands = _operand_names(name, function)
    loops = _loops(name, function, dtypes, len(operands))
    source = None if c is None else _source(name, operands, c, c_functions, loops)
    _check_facts(name, facts)
    made = (HostElementwise if source is None else UserElementwise)(
        name, function, _rule(function, dtypes, loops), doc or inspect.getdoc(function) or f"{name}, a user's op.",
        arity=len(operands), operands=operands, cost=cost,
        derivative=derivative_row("elementwise_op", name, derivative, len(operands)),
        source=source, defined_at=next(map(str, here()), ""), **facts,
    )  # fmt: skip
    return define(_with_symbol(made, loops))


def _with_symbol(op: ElementwiseRecord, loops: Sequence[Loop]) -> ElementwiseRecord:
    """Return the op with a symbol that identifies its C and its meaning."""
    facts = [(f.name, getattr(op, f.name)) for f in fields(op) if f.name in (*_FACTS, "cost", "arity")]
    meaning = code_digest(op.function)
    message = repr((op.name, loops, facts, op.source, meaning))
    digest = hashlib.sha256(message.encode()).hexdigest()
    return replace(op, symbol=f"{op.name}_{digest[:10]}", fingerprint=digest if meaning else None)


# --- arguments


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not name.isidentifier() or not name.isascii() or keyword.iskeyword(name):
        raise ValueError(f"elementwise_op: the name must be an identifier, got {name!r}")
    if name in ELEMENTWISE or name == "cast":
        raise ValueError(f"elementwise_op: {name!r} is an op of Arignote, T.{name}; choose another name")


def _check_facts(name: str, facts: Mapping[str, Any]) -> None:
    unknown = sorted(facts.keys() - set(_FACTS))
    if unknown:
        raise TypeError(f"elementwise_op: {name!r}: unknown fact {unknown[0]!r}; expected one of {', '.join(_FACTS)}")


def _operand_names(name: str, function: Any) -> tuple[str, ...]:
    if isinstance(function, np.ufunc):
        if function.nout != 1:
            raise ValueError(
                f"elementwise_op: {name!r}: {function.__name__} has {counted(function.nout, 'result')}; expected one"
            )
        return ("x",) if function.nin == 1 else tuple(f"x{k + 1}" for k in range(function.nin))
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise TypeError(
            f"elementwise_op: {name!r}: the parameters of {function!r} are not known; wrap it in a lambda"
        ) from None
    needed = [p for p in parameters if p.default is p.empty]
    taken = [p.name for p in needed if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if not taken or len(taken) < len(needed):
        raise TypeError(f"elementwise_op: {name!r}: the function must have a parameter for each operand")
    return tuple(taken)


def _loops(name: str, function: Any, dtypes: Sequence[str] | None, arity: int) -> list[Loop]:
    """The loops in the order of preference: (dtypes of the operands, dtype of the result)."""
    if dtypes is None and isinstance(function, np.ufunc):
        pairs = [t.split("->") for t in function.types if not set("OmMgGSU") & set(t)]
        found = [(tuple(np.dtype(o).name for o in given), np.dtype(result).name) for given, result in pairs]
        return list(dict.fromkeys(loop for loop in found if {*loop[0], loop[1]} <= set(DTYPES)))
    given = _FLOATS if dtypes is None else (dtypes,) if isinstance(dtypes, str) else dtypes
    loops = [_loop(name, text, arity) for text in given]
    if not loops:
        raise ValueError(f"elementwise_op: {name!r}: dtypes is empty; name one at least, such as 'float64'")
    return loops


def _loop(name: str, text: str, arity: int) -> Loop:
    operands, arrow, result = str(text).partition("->")
    names = [dtype_name(part.strip()) for part in operands.split(",")]
    if not arrow and len(names) == 1:
        return (names[0],) * arity, names[0]
    if not arrow or len(names) != arity:
        raise ValueError(
            f"elementwise_op: {name!r}: dtypes must be a dtype or {arity} of them and a result, as in "
            f"{', '.join(['float64'] * arity)} -> bool; got {text!r}"
        )
    return tuple(names), dtype_name(result.strip())


def _rule(function: Any, dtypes: Sequence[str] | None, loops: Sequence[Loop]) -> Rule:
    """The promotion of operands: that of a ufunc, unless dtypes are given."""
    is_numpys = dtypes is None and isinstance(function, np.ufunc)
    return promotion.by_ufunc(function) if is_numpys else partial(_by_loops, tuple(loops))


def _by_loops(loops: tuple[Loop, ...], dtypes: tuple[Operand, ...]) -> Loop:
    """The first loop that holds all operands."""
    strong = [d for d in dtypes if not isinstance(d, type)]
    given = [promotion.result_type([*strong, d]) if isinstance(d, type) else d for d in dtypes]
    for operands, result in loops:
        if all(np.can_cast(have, want) for have, want in zip(given, operands, strict=True)):  # type: ignore[arg-type]
            return operands, result
    raise TypeError(f"expected operands that fit {' or '.join(', '.join(operands) for operands, _ in loops)}")


def derivative_row(called: str, name: str, derivative: Derivative | None, arity: int) -> Row | None:
    """Return the derivatives by each operand.  Raises TypeError for another number of them; `called` is who asks."""
    if derivative is None:
        return None
    row = (derivative,) if callable(derivative) else tuple(derivative)
    if len(row) != arity or not all(p is None or callable(p) for p in row):
        raise TypeError(f"{called}: {name!r}: expected {arity} derivatives, one an operand; got {row!r}")
    return row


def _source(name: str, operands: tuple[str, ...], c: Any, functions: str, loops: Sequence[Loop]) -> UserC:
    needed = dict.fromkeys("f" if o[0] == "float16" else numpy_dtype(o[0]).kind for o, _ in loops)
    texts = dict.fromkeys(needed, c) if isinstance(c, str) else dict(c)
    for kind in [kind for kind in texts if kind not in _KINDS]:
        raise ValueError(f"elementwise_op: {name!r}: c has the kind {kind!r}; expected one of {', '.join(_KINDS)}")
    for kind in [kind for kind in needed if kind not in texts]:
        dtypes = ", ".join(dict.fromkeys(o[0] for o, _ in loops if numpy_dtype(o[0]).kind == kind))
        raise ValueError(
            f"elementwise_op: {name!r} has no C for {_KINDS[kind]}; add c[{kind!r}], or leave {dtypes} out of dtypes"
        )
    return UserC(operands, texts, functions)
