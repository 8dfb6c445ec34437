"""The text form of the loop IR, read back: `parse_kernel(str(kernel)) == kernel`.  The grammar is in text.py."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import loops as ir
from .kernel import Kernel
from .operands import CALLBACK, Argument, Bits, Extent, Extra, Operand, Pointer, Poll, Report, Splits, Stride, parameter
from .operands import arguments as usual_arguments
from .reader import Reader
from .schedule import Schedule
from .text import INFIX

_OF_SIGN = {sign: name for name, sign in INFIX.items()}


def parse_kernel(text: str) -> Kernel:
    """The kernel of a text form.  Raises IRSyntaxError for any other text."""
    reader = _Reader(text)
    kernel = reader.kernel()
    reader.end_of_text()
    return kernel


def parse_kernels(text: str) -> list[Kernel]:
    """The kernels of a text, one after the other; there is at least one.  Raises IRSyntaxError for any other text."""
    reader = _Reader(text)
    found = [reader.kernel()]
    while reader.has_more():
        found.append(reader.kernel())
    return found


class _Reader(Reader):
    """The parser of kernels."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._dtypes: dict[str, str] = {}
        """The dtype of each name: of the value of a local, of the elements of an array."""

    # --- a kernel

    def kernel(self) -> Kernel:
        self.next_line()
        self._dtypes = {}
        self.expect("kernel")
        comment = self.string()
        self.expect("rank")
        rank = self.integer()
        fallible = self.accept("fallible")
        self.expect("{")
        self.end_of_line()
        outputs, inputs, shared = self._operands()
        signature, feeds, splits, schedule, default = self._headers()
        for argument in signature or usual_arguments(rank, outputs + inputs):
            made = parameter(argument, outputs + inputs, len(outputs), shared)
            self._dtypes[made.name] = made.dtype
        body = self._statements()
        self.end_of_line()
        return Kernel(
            comment, rank, outputs, inputs, body, fallible, shared, splits, signature, feeds, schedule, default
        )

    def _operands(self) -> tuple[tuple[Operand, ...], tuple[Operand, ...], frozenset[int]]:
        outputs: list[Operand] = []
        inputs: list[Operand] = []
        shared: set[int] = set()
        while self.sees("out") or self.sees("inout") or self.sees("in"):
            kind = self.name()
            if kind == "inout":
                shared.add(len(outputs))
            (inputs if kind == "in" else outputs).append(self._operand())
        return tuple(outputs), tuple(inputs), frozenset(shared)

    def _operand(self) -> Operand:
        self.name()
        self.expect(":")
        dtype = self._dtype()
        axes = self.several(lambda: self.or_none(self.integer))
        self.expect("of")
        source = self.integer()
        indexed = self.accept("indexed")
        self.end_of_line()
        return Operand(dtype, axes, source, indexed)

    def _dtype(self) -> str:
        name = self.name()
        if name not in ("pairwise", CALLBACK):
            try:
                np.dtype(name)
            except TypeError:
                self._at -= 1
                self.fail("a dtype")
        return name

    def _headers(self) -> tuple[tuple[Argument, ...], tuple[tuple[int, ...], ...], Splits | None, Schedule, str]:
        signature: tuple[Argument, ...] = ()
        feeds: tuple[tuple[int, ...], ...] = ()
        splits, schedule, default = None, Schedule(), ""
        if self.accept("arguments"):
            signature = self._arguments()
        if self.accept("feeds"):
            feeds = self._feeds()
        if self.accept("cut"):
            splits = self._splits()
        if self.accept("schedule"):
            schedule = self._schedule()
        if self.accept("default"):
            default = self.name()
            self.end_of_line()
        return signature, feeds, splits, schedule, default

    def _arguments(self) -> tuple[Argument, ...]:
        found = [self._argument()]
        while self.accept(","):
            found.append(self._argument())
        self.end_of_line()
        return tuple(found)

    def _argument(self) -> Argument:
        if self.accept("extent"):
            return Extent(self.integer())
        if self.accept("pointer"):
            return Pointer(self.integer())
        if self.accept("stride"):
            return Stride(self.integer(), self.integer())
        if self.accept("bits"):
            return Bits(self.integer())
        if self.accept("extra"):
            return Extra(self.integer(), self.name())
        if self.accept("poll"):
            return Poll()
        self.expect("report")
        return Report()

    def _feeds(self) -> tuple[tuple[int, ...], ...]:
        found = []
        while self.sees("["):
            found.append(self.several(self.integer))
        self.end_of_line()
        return tuple(found)

    def _splits(self) -> Splits:
        self.expect("free")
        free = self.several(self.integer)
        self.expect("reduced")
        reduced = self.several(self.integer)
        self.expect("folds")
        folds = self.several(lambda: self.or_none(self.name))
        picoseconds = self.integer()
        self.expect("ps")
        sequential = self.accept("sequential")
        self.end_of_line()
        return Splits(free, reduced, folds, picoseconds, sequential)

    def _schedule(self) -> Schedule:
        choices: dict[str, Any] = {}
        while self._tokens[self._at][0] == "name":
            name = self.name()
            self.expect("=")
            choices[name] = self._choice()
        self.end_of_line()
        return Schedule().changed(**choices)

    def _choice(self) -> Any:
        """The value of a choice of a schedule: a number, a truth, a tuple or a dict of numbers."""
        if self.sees("("):
            return self._tuple()
        if self.sees("{"):
            return dict(self.several(lambda: (self.integer(), self._after_colon()), "{", "}"))
        return self.name() == "True" if self._tokens[self._at][0] == "name" else self.integer()

    def _tuple(self) -> tuple[int, ...]:
        self.expect("(")
        found: list[int] = []
        while not self.accept(")"):
            found.append(self.integer())
            if not self.sees(")"):
                self.expect(",")
        return tuple(found)

    def _after_colon(self) -> int:
        self.expect(":")
        return self.integer()

    # --- statements

    def _block(self) -> ir.Body:
        self.expect("{")
        self.end_of_line()
        return self._statements()

    def _statements(self) -> ir.Body:
        """The statements up to a closing brace, which is taken."""
        found: list[ir.Statement] = []
        while not self.accept("}"):
            found.append(self._statement())
            self.end_of_line()
        return tuple(found)

    def _statement(self) -> ir.Statement:
        word = self.name()
        if word in _STATEMENTS and not self.sees("=") and not self.sees("["):
            return _STATEMENTS[word](self)
        if word not in self._dtypes:
            self._at -= 1
            self.fail("a statement, or a name that is declared above")
        if self.accept("["):
            at = self._expr()
            self.expect("]")
            self.expect("=")
            return ir.Store(word, at, self._expr())
        self.expect("=")
        return ir.Assign(word, self._expr())

    def let(self) -> ir.Statement:
        return ir.Let(*self._named_value())

    def var(self) -> ir.Statement:
        return ir.Var(*self._named_value())

    def _named_value(self) -> tuple[str, ir.Expr]:
        name = self.name()
        self.expect("=")
        value = self._expr()
        self._dtypes[name] = value.dtype
        return name, value

    def declare(self) -> ir.Statement:
        name = self.name()
        self.expect(":")
        dtype = self._dtypes[name] = self._dtype()
        if not self.accept("["):
            return ir.Declare(name, dtype)
        length = self.integer()
        self.expect("]")
        return ir.Declare(name, dtype, length)

    def point(self) -> ir.Statement:
        name = self.name()
        self.expect(":")
        const = self.accept("const")
        dtype = self._dtype()
        self.expect("=")
        array = self._factor()
        self.expect("+")
        offset = self._expr()
        self._dtypes[name] = dtype
        if not isinstance(array, (ir.Local, ir.ScalarOp)):
            self.fail("the name of an array, or a call, in front of the offset")
        return ir.ElementPointer(name, dtype, array if isinstance(array, ir.ScalarOp) else array.name, offset, const)

    def do(self) -> ir.Statement:
        return ir.Do(self._expr())

    def left(self) -> ir.Statement:
        return ir.Break()

    def returned(self) -> ir.Statement:
        return ir.Return(self._expr())

    def outlined(self) -> ir.Statement:
        name = self.name()
        arguments = self.several(self._word, "(", ")")
        return ir.Outlined(name, arguments, self._block() if self.sees("{") else ())

    def _word(self) -> str:
        return str(self.integer()) if self._tokens[self._at][0] == "number" else self.name()

    def condition(self) -> ir.Statement:
        condition, body = self._expr(), self._block()
        return ir.If(condition, body, self._block() if self.accept("else") else ())

    def loop(self) -> ir.Statement:
        name = self.name()
        self.expect("in")
        start = self._expr()
        self.expect("..")
        stop = self._expr()
        step: int | ir.Expr = 1
        if self.accept("step"):
            found = self._expr()
            step = int(found.value.real) if isinstance(found, ir.Const) else found
        simd = self.accept("simd")
        lanes = self.integer() if self.accept("lanes") else None
        reductions = self._reductions() if self.accept("reduce") else ()
        self._dtypes[name] = "int64"
        unroll = self.integer() if self.accept("unroll") else 1
        return ir.For(name, start, stop, self._block(), step, simd, reductions, lanes, unroll)

    def _reductions(self) -> tuple[tuple[str, str], ...]:
        found = []
        while not self.sees("{"):
            _, sign, _ = self._tokens[self._at]
            self._at += 1
            found.append((sign, self.name()))
        return tuple(found)

    # --- expressions

    def _expr(self) -> ir.Expr:
        found = self._term()
        while self.sees("+") or self.sees("-"):
            sign = self.take("sign", "a sign")
            found = ir.ScalarOp(_OF_SIGN[sign], "int64", (found, self._term()))
        return found

    def _term(self) -> ir.Expr:
        found = self._factor()
        while self.accept("*"):
            found = ir.ScalarOp("mul", "int64", (found, self._factor()))
        return found

    def _factor(self) -> ir.Expr:
        if self.accept("("):
            inside = self._expr()
            self.expect(")")
            return inside
        if self._tokens[self._at][0] == "number":
            return self._number()
        name = self.name()
        if name == "complex" and self.sees("("):
            return self._complex()
        if self.accept(":"):
            dtype = self._dtype()
            return ir.ScalarOp(name, dtype, self.several(self._expr, "(", ")"))
        if name not in self._dtypes:
            self._at -= 1
            self.fail("a name that is declared above")
        if self.accept("["):
            at = self._expr()
            self.expect("]")
            return ir.Load(self._dtypes[name], name, at)
        return ir.Local(self._dtypes[name], name)

    def _number(self) -> ir.Expr:
        text = self.take("number", "a number")
        if not self.sees(":"):
            self._at -= 1
            return ir.Const("int64", self.integer())
        return self._typed(float(text) if not text.lstrip("-").isdigit() else int(text))

    def _typed(self, value: float) -> ir.Expr:
        self.expect(":")
        dtype = self._dtype()
        kind = np.dtype(dtype).kind
        value = math.nan if math.isnan(value) else value  # one object, which is equal to itself
        return ir.Const(dtype, bool(value) if kind == "b" else float(value) if kind == "f" else value)

    def _complex(self) -> ir.Expr:
        real, imaginary = self.several(self._float, "(", ")")
        self.expect(":")
        return ir.Const(self._dtype(), complex(real, imaginary))

    def _float(self) -> float:
        return float(self.take("number", "a number"))


_STATEMENTS: Mapping[str, Callable[[_Reader], ir.Statement]] = {
    "let": _Reader.let,
    "var": _Reader.var,
    "local": _Reader.declare,
    "point": _Reader.point,
    "do": _Reader.do,
    "for": _Reader.loop,
    "if": _Reader.condition,
    "outlined": _Reader.outlined,
    "break": _Reader.left,
    "return": _Reader.returned,
}
