"""C of a scalar operation as plain data: a template, and the precedence of it and of its operands.

The records of elementwise ops hold such forms.  `{T}` is the C type of the operands and `{f}` the suffix of library
names; `cbackend/ctext` fills both in and prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from ...graph.types import numpy_dtype
from ...record import record


class Binding(IntEnum):
    """Precedence levels of C, strongest first.

    An operand that binds less strongly than its place asks for is put in parentheses.  Bit operations, `&&` and `||`
    ask for more than C needs, because compilers warn of mixtures.
    """

    ATOM = 0
    UNARY = 1
    PRODUCT = 2
    SUM = 3
    SHIFT = 4
    ORDER = 5
    EQUALITY = 6
    BITS = 7
    LOGIC = 8
    CHOICE = 9
    TOP = 10


@record
class Form:
    """C text with gaps `{0}`, `{1}`, ... for operands, its precedence, and the weakest one each operand may have."""

    text: str
    binding: Binding = Binding.ATOM
    operands: tuple[Binding, ...] = (Binding.TOP, Binding.TOP, Binding.TOP)

    def filled(self, **words: str) -> Form:
        """Return the form with words such as `{T}` filled in; the gaps of the operands stay."""
        text = self.text
        for word, value in words.items():
            text = text.replace("{" + word + "}", value)
        return Form(text, self.binding, self.operands)


def call(name: str, arity: int = 1) -> Form:
    """Return the form name(a, ...)."""
    return Form(f"{name}({', '.join(f'{{{k}}}' for k in range(arity))})", operands=(Binding.TOP,) * arity)


def helper(name: str, arity: int = 1) -> Form:
    """Return a call of the helper `ag_name_{T}` of the C backend."""
    return call(f"ag_{name}_{{T}}", arity)


def library(name: str, arity: int = 1) -> Form:
    """Return a call of a function of the C library, whose name ends in f for float32."""
    return call(f"{name}{{f}}", arity)


def infix(sign: str, binding: Binding, left: Binding | None = None, right: Binding = Binding.UNARY) -> Form:
    """Return the form a sign b, left-associative."""
    return Form(f"{{0}} {sign} {{1}}", binding, (binding if left is None else left, right))


def prefix(sign: str) -> Form:
    """Return the form sign a."""
    return Form(f"{sign}{{0}}", Binding.UNARY, (Binding.ATOM,))


def template(text: str, binding: Binding) -> Form:
    """Return a text in which operands must be atoms."""
    return Form(text, binding, (Binding.ATOM,) * 3)


SUM = {sign: infix(sign, Binding.SUM, right=Binding.PRODUCT) for sign in "+-"}
PRODUCT = {sign: infix(sign, Binding.PRODUCT) for sign in "*/%"}
ORDER = {sign: infix(sign, Binding.ORDER, Binding.SUM, Binding.SUM) for sign in ("<", "<=", ">", ">=")}
EQUALITY = {sign: infix(sign, Binding.EQUALITY, Binding.SUM, Binding.SUM) for sign in ("==", "!=")}
BITS = {sign: infix(sign, Binding.BITS, Binding.UNARY) for sign in "&|^"}
BOTH = infix("&&", Binding.LOGIC, Binding.LOGIC, Binding.EQUALITY)
EITHER = infix("||", Binding.LOGIC, Binding.LOGIC, Binding.EQUALITY)
CHOICE = Form("{0} ? {1} : {2}", Binding.CHOICE, (Binding.EQUALITY, Binding.SUM, Binding.SUM))
ITSELF = Form("{0}", Binding.ATOM, (Binding.ATOM,))


NOT_LOADED = -1
"""The status of a user's C whose shared library cannot be loaded."""


@record
class UserC:
    """C of a user's op: an expression or a function body per kind of dtype, and functions that it calls."""

    operands: tuple[str, ...]
    """The names of the operands in C."""
    texts: Mapping[str, str]
    functions: str = ""

    def text(self, dtype: str) -> str:
        """The C of an elementwise op for operands of a dtype: an expression, or the body of a function."""
        return self.texts["f" if dtype == "float16" else numpy_dtype(dtype).kind]
