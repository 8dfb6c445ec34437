"""Signatures of elementwise ops: for `help` and `inspect.signature` as a descriptor, for editors as classes of calls.

An elementwise op is an instance, called through one method whatever its arity.  `CallSignature` tells its parameters
when the program runs; the classes below tell them to type checkers and editors, which run nothing: `exp: Unary`.
"""

from __future__ import annotations

from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING

from .keywords import operand_names

if TYPE_CHECKING:
    from ..elementwise.pointwise import Elementwise
    from .tensor import TensorVariable
    from .typing import TensorLike

    class Unary(Elementwise):
        """An op of one operand."""

        def __call__(self, x: TensorLike) -> TensorVariable: ...

    class Part(Elementwise):
        """`real` and `imag`, whose operand NumPy calls `val`."""

        def __call__(self, val: TensorLike) -> TensorVariable: ...

    class Binary(Elementwise):
        """An op of two operands."""

        def __call__(self, x1: TensorLike, x2: TensorLike) -> TensorVariable: ...

    class Fold(Elementwise):
        """An op of two or more operands."""

        def __call__(self, x1: TensorLike, x2: TensorLike, *more: TensorLike) -> TensorVariable: ...

    class Switch(Elementwise):
        """`switch`."""

        def __call__(self, condition: TensorLike, x: TensorLike, y: TensorLike) -> TensorVariable: ...

    class Fill(Elementwise):
        """`fill`."""

        def __call__(self, like: TensorLike, value: TensorLike) -> TensorVariable: ...


class CallSignature:
    """The attribute `__signature__` of an elementwise op, made when it is asked for; a class has none."""

    def __get__(self, op: Elementwise | None, kind: type[Elementwise]) -> Signature:
        if op is None:
            raise AttributeError("__signature__")
        own = signature(type(op).__call__)
        if all(p.kind is not Parameter.VAR_POSITIONAL for p in own.parameters.values()):  # a call of its own
            return own.replace(parameters=list(own.parameters.values())[1:])
        names = operand_names(op.operands, op.arity)
        parameters = [Parameter(n, Parameter.POSITIONAL_OR_KEYWORD, annotation="TensorLike") for n in names]
        if op.arity is None:
            parameters.append(Parameter("more", Parameter.VAR_POSITIONAL, annotation="TensorLike"))
        return Signature(parameters, return_annotation="TensorVariable")


def usage(name: str, operands: tuple[str, ...], arity: int | None) -> str:
    """The call of an op in a line: `exp(x)`, `add(x1, x2, *more)`."""
    names = [*operand_names(operands, arity), *(["*more"] if arity is None else [])]
    return f"{name}({', '.join(names)})"
