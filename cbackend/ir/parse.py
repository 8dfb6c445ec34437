"""The text form of the loop IR, read back: `parse_kernel(str(kernel)) == kernel`.  The grammar is in text.py."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

import numpy as np

from .kernel import Kernel
from .loops import (
    Assign,
    Body,
    Const,
    Declare,
    Do,
    Expr,
    For,
    If,
    Let,
    Load,
    Local,
    Op,
    Outlined,
    Point,
    Return,
    Statement,
    Store,
    Var,
)
from .operands import Argument, Cutting, Extent, Extra, Operand, Pointer, Report, Stride, parameter
from .operands import arguments as usual_arguments
from .schedule import Schedule
from .text import INFIX

T = TypeVar("T")
_TOKEN = re.compile(
    r"""[ \t]*(?:(?P<line>\n)|(?P<string>"(?:[^"\\]|\\.)*")"""
    r"""|(?P<number>(?<![\w\])])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf\b|nan\b))|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<sign>\.\.|[-+*|&:,=(){}\[\]]))"""
)
_OF_SIGN = {sign: name for name, sign in INFIX.items()}


class IRSyntaxError(ValueError):
    """A text that is no kernel; the message has the line, the column and what was expected there."""


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


class _Reader:
    """A recursive-descent parser: one method a rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_tokens(text))
        self._at = 0
        self._dtypes: dict[str, str] = {}
        """The dtype of each name: of the value of a local, of the elements of an array."""

    # --- tokens

    def fail(self, expected: str) -> NoReturn:
        """Raise IRSyntaxError at the current token."""
        kind, found, place = self._tokens[self._at]
        line = self._text.count("\n", 0, place) + 1
        column = place - (self._text.rfind("\n", 0, place) + 1) + 1
        got = {"end": "the end of the text", "line": "the end of the line"}.get(kind, repr(found))
        raise IRSyntaxError(f"line {line}, column {column}: expected {expected}, got {got}")

    def _is(self, text: str) -> bool:
        kind, found, _ = self._tokens[self._at]
        return found == text and kind in ("name", "sign")

    def _accept(self, text: str) -> bool:
        if self._is(text):
            self._at += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self.fail(repr(text))

    def _take(self, kind: str, expected: str) -> str:
        found, text, _ = self._tokens[self._at]
        if found != kind:
            self.fail(expected)
        self._at += 1
        return text

    def _name(self) -> str:
        return self._take("name", "a name")

    def _int(self) -> int:
        text = self._take("number", "a whole number")
        if not text.lstrip("-").isdigit():
            self._at -= 1
            self.fail("a whole number")
        return int(text)

    def _string(self) -> str:
        text: str = ast.literal_eval(self._take("string", "a string"))
        return text

    def _end_of_line(self) -> None:
        if self._tokens[self._at][0] != "end":
            self._take("line", "the end of the line")
        self._lines()

    def _lines(self) -> None:
        while self._tokens[self._at][0] == "line":
            self._at += 1

    def has_more(self) -> bool:
        """Whether anything follows."""
        self._lines()
        return self._tokens[self._at][0] != "end"

    def end_of_text(self) -> None:
        """Make sure that nothing follows."""
        if self.has_more():
            self.fail("the end of the text")

    def _several(self, item: Callable[[], T], opening: str = "[", closing: str = "]") -> tuple[T, ...]:
        """`[item, ...]`, perhaps empty."""
        self._expect(opening)
        found: list[T] = []
        while not self._accept(closing):
            if found:
                self._expect(",")
            found.append(item())
        return tuple(found)

    def _or_none(self, item: Callable[[], T]) -> T | None:
        return None if self._accept("-") else item()

    # --- a kernel

    def kernel(self) -> Kernel:
        self._lines()
        self._dtypes = {}
        self._expect("kernel")
        comment = self._string()
        self._expect("rank")
        rank = self._int()
        fallible = self._accept("fallible")
        self._expect("{")
        self._end_of_line()
        outputs, inputs, shared = self._operands()
        signature, feeds, cutting, schedule, default = self._headers()
        for argument in signature or usual_arguments(rank, outputs + inputs):
            made = parameter(argument, outputs + inputs, len(outputs), shared)
            self._dtypes[made.name] = made.dtype
        body = self._statements()
        self._end_of_line()
        return Kernel(
            comment, rank, outputs, inputs, body, fallible, shared, cutting, signature, feeds, schedule, default
        )

    def _operands(self) -> tuple[tuple[Operand, ...], tuple[Operand, ...], frozenset[int]]:
        outputs: list[Operand] = []
        inputs: list[Operand] = []
        shared: set[int] = set()
        while self._is("out") or self._is("inout") or self._is("in"):
            kind = self._name()
            if kind == "inout":
                shared.add(len(outputs))
            (inputs if kind == "in" else outputs).append(self._operand())
        return tuple(outputs), tuple(inputs), frozenset(shared)

    def _operand(self) -> Operand:
        self._name()
        self._expect(":")
        dtype = self._dtype()
        axes = self._several(lambda: self._or_none(self._int))
        self._expect("of")
        source = self._int()
        self._end_of_line()
        return Operand(dtype, axes, source)

    def _dtype(self) -> str:
        name = self._name()
        if name != "ag_pairwise":
            try:
                np.dtype(name)
            except TypeError:
                self._at -= 1
                self.fail("a dtype")
        return name

    def _headers(self) -> tuple[tuple[Argument, ...], tuple[tuple[int, ...], ...], Cutting | None, Schedule, str]:
        signature: tuple[Argument, ...] = ()
        feeds: tuple[tuple[int, ...], ...] = ()
        cutting, schedule, default = None, Schedule(), ""
        if self._accept("arguments"):
            signature = self._arguments()
        if self._accept("feeds"):
            feeds = self._feeds()
        if self._accept("cut"):
            cutting = self._cutting()
        if self._accept("schedule"):
            schedule = self._schedule()
        if self._accept("default"):
            default = self._name()
            self._end_of_line()
        return signature, feeds, cutting, schedule, default

    def _arguments(self) -> tuple[Argument, ...]:
        found = [self._argument()]
        while self._accept(","):
            found.append(self._argument())
        self._end_of_line()
        return tuple(found)

    def _argument(self) -> Argument:
        if self._accept("extent"):
            return Extent(self._int())
        if self._accept("pointer"):
            return Pointer(self._int())
        if self._accept("stride"):
            return Stride(self._int(), self._int())
        if self._accept("extra"):
            return Extra(self._int(), self._name())
        self._expect("report")
        return Report()

    def _feeds(self) -> tuple[tuple[int, ...], ...]:
        found = []
        while self._is("["):
            found.append(self._several(self._int))
        self._end_of_line()
        return tuple(found)

    def _cutting(self) -> Cutting:
        self._expect("free")
        free = self._several(self._int)
        self._expect("reduced")
        reduced = self._several(self._int)
        self._expect("folds")
        folds = self._several(lambda: self._or_none(self._name))
        picoseconds = self._int()
        self._expect("ps")
        in_turn = self._accept("in_turn")
        self._end_of_line()
        return Cutting(free, reduced, folds, picoseconds, in_turn)

    def _schedule(self) -> Schedule:
        choices: dict[str, Any] = {}
        while self._tokens[self._at][0] == "name":
            name = self._name()
            self._expect("=")
            choices[name] = self._choice()
        self._end_of_line()
        return Schedule().changed(**choices)

    def _choice(self) -> Any:
        """The value of a choice of a schedule: a number, a truth, a tuple or a dict of numbers."""
        if self._is("("):
            return self._tuple()
        if self._is("{"):
            return dict(self._several(lambda: (self._int(), self._after_colon()), "{", "}"))
        return self._name() == "True" if self._tokens[self._at][0] == "name" else self._int()

    def _tuple(self) -> tuple[int, ...]:
        self._expect("(")
        found: list[int] = []
        while not self._accept(")"):
            found.append(self._int())
            if not self._is(")"):
                self._expect(",")
        return tuple(found)

    def _after_colon(self) -> int:
        self._expect(":")
        return self._int()

    # --- statements

    def _block(self) -> Body:
        self._expect("{")
        self._end_of_line()
        return self._statements()

    def _statements(self) -> Body:
        """The statements up to a closing brace, which is taken."""
        found: list[Statement] = []
        while not self._accept("}"):
            found.append(self._statement())
            self._end_of_line()
        return tuple(found)

    def _statement(self) -> Statement:
        word = self._name()
        if word in _STATEMENTS and not self._is("=") and not self._is("["):
            return _STATEMENTS[word](self)
        if word not in self._dtypes:
            self._at -= 1
            self.fail("a statement, or a name that is declared above")
        if self._accept("["):
            at = self._expr()
            self._expect("]")
            self._expect("=")
            return Store(word, at, self._expr())
        self._expect("=")
        return Assign(word, self._expr())

    def let(self) -> Statement:
        return Let(*self._named_value())

    def var(self) -> Statement:
        return Var(*self._named_value())

    def _named_value(self) -> tuple[str, Expr]:
        name = self._name()
        self._expect("=")
        value = self._expr()
        self._dtypes[name] = value.dtype
        return name, value

    def declare(self) -> Statement:
        name = self._name()
        self._expect(":")
        dtype = self._dtypes[name] = self._dtype()
        if not self._accept("["):
            return Declare(name, dtype)
        length = self._int()
        self._expect("]")
        return Declare(name, dtype, length)

    def point(self) -> Statement:
        name = self._name()
        self._expect(":")
        const = self._accept("const")
        dtype = self._dtype()
        self._expect("=")
        array = self._factor()
        self._expect("+")
        offset = self._expr()
        self._dtypes[name] = dtype
        if not isinstance(array, (Local, Op)):
            self.fail("the name of an array, or a call, in front of the offset")
        return Point(name, dtype, array if isinstance(array, Op) else array.name, offset, const)

    def do(self) -> Statement:
        return Do(self._expr())

    def returned(self) -> Statement:
        return Return(self._expr())

    def outlined(self) -> Statement:
        name = self._name()
        arguments = self._several(self._word, "(", ")")
        return Outlined(name, arguments, self._block() if self._is("{") else ())

    def _word(self) -> str:
        return str(self._int()) if self._tokens[self._at][0] == "number" else self._name()

    def condition(self) -> Statement:
        condition, body = self._expr(), self._block()
        return If(condition, body, self._block() if self._accept("else") else ())

    def loop(self) -> Statement:
        name = self._name()
        self._expect("in")
        start = self._expr()
        self._expect("..")
        stop = self._expr()
        step: int | Expr = 1
        if self._accept("step"):
            found = self._expr()
            step = int(found.value.real) if isinstance(found, Const) else found
        simd = self._accept("simd")
        lanes = self._int() if self._accept("lanes") else None
        reductions = self._reductions() if self._accept("reduce") else ()
        self._dtypes[name] = "int64"
        return For(name, start, stop, self._block(), step, simd, reductions, lanes)

    def _reductions(self) -> tuple[tuple[str, str], ...]:
        found = []
        while not self._is("{"):
            _, sign, _ = self._tokens[self._at]
            self._at += 1
            found.append((sign, self._name()))
        return tuple(found)

    # --- expressions

    def _expr(self) -> Expr:
        found = self._term()
        while self._is("+") or self._is("-"):
            sign = self._take("sign", "a sign")
            found = Op(_OF_SIGN[sign], "int64", (found, self._term()))
        return found

    def _term(self) -> Expr:
        found = self._factor()
        while self._accept("*"):
            found = Op("mul", "int64", (found, self._factor()))
        return found

    def _factor(self) -> Expr:
        if self._accept("("):
            inside = self._expr()
            self._expect(")")
            return inside
        if self._tokens[self._at][0] == "number":
            return self._number()
        name = self._name()
        if name == "complex" and self._is("("):
            return self._complex()
        if self._accept(":"):
            dtype = self._dtype()
            return Op(name, dtype, self._several(self._expr, "(", ")"))
        if name not in self._dtypes:
            self._at -= 1
            self.fail("a name that is declared above")
        if self._accept("["):
            at = self._expr()
            self._expect("]")
            return Load(self._dtypes[name], name, at)
        return Local(self._dtypes[name], name)

    def _number(self) -> Expr:
        text = self._take("number", "a number")
        if not self._is(":"):
            self._at -= 1
            return Const("int64", self._int())
        return self._typed(float(text) if not text.lstrip("-").isdigit() else int(text))

    def _typed(self, value: float) -> Expr:
        self._expect(":")
        dtype = self._dtype()
        kind = np.dtype(dtype).kind
        value = math.nan if math.isnan(value) else value  # one object, which is equal to itself
        return Const(dtype, bool(value) if kind == "b" else float(value) if kind == "f" else value)

    def _complex(self) -> Expr:
        real, imaginary = self._several(self._float, "(", ")")
        self._expect(":")
        return Const(self._dtype(), complex(real, imaginary))

    def _float(self) -> float:
        return float(self._take("number", "a number"))


_STATEMENTS: Mapping[str, Callable[[_Reader], Statement]] = {
    "let": _Reader.let,
    "var": _Reader.var,
    "local": _Reader.declare,
    "point": _Reader.point,
    "do": _Reader.do,
    "for": _Reader.loop,
    "if": _Reader.condition,
    "outlined": _Reader.outlined,
    "return": _Reader.returned,
}


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """(kind, text, place) of each token; the last is the end of the text."""
    found: list[tuple[str, str, int]] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at:].strip() == "":
                break
            found.append(("other", text[at:].lstrip()[:1], at + len(text[at:]) - len(text[at:].lstrip())))
            break
        kind = str(match.lastgroup)
        found.append((kind, match[kind], match.start(kind)))
        at = match.end()
    return [*found, ("end", "", len(text))]
