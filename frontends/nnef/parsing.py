"""The text of an NNEF graph as a tree: flat and nested expressions of the standard ops.

    document   ::= "version" number ";" {"extension" ... ";"} graph
    graph      ::= "graph" name "(" names ")" "->" "(" names ")" "{" {line} "}"
    line       ::= target "=" expression ";"
    expression ::= operators over number, text, name, call, "[" expressions "]", "(" expressions ")"
    call       ::= name ["<" type ">"] "(" arguments ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .table import NnefError

_TOKEN = re.compile(
    r"(?P<space>\s+|#[^\n]*)|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<text>'[^'\n]*'|\"[^\"\n]*\")|(?P<mark>->|&&|\|\||[<>=!]=|[-+*/^<>!=;,(){}\[\]|:])"
)
OPERATORS = [
    {"&&": "and", "||": "or"}, {"<": "lt", ">": "gt", "<=": "le", ">=": "ge", "==": "eq", "!=": "ne"},
    {"+": "add", "-": "sub"}, {"*": "mul", "/": "div"}, {"^": "pow"},
]  # fmt: skip
"""The op of each infix operator; later rows bind more tightly."""
DEEPEST = 64
"""Parentheses, lists and calls inside of one another."""


class Token(NamedTuple):
    kind: str
    text: str
    line: int


class Name(NamedTuple):
    """A tensor that an earlier line makes."""

    name: str
    line: int


class Call(NamedTuple):
    """A call in the text of a graph: the op, its type in angle brackets, and its arguments by position and by name."""

    op: str
    kind: str
    given: list[Any]
    named: dict[str, Any]
    line: int


class Graph(NamedTuple):
    """`lines` are pairs: a name or a list of names, and the expression that they stand for."""

    name: str
    inputs: list[str]
    outputs: list[str]
    lines: list[tuple[Any, Any]]


def parse(text: str, where: str) -> Graph:
    """The graph of a text.  Raises NnefError with the line, the expected token and the one found."""
    return _Parser(text, where).graph()


class _Parser:
    def __init__(self, text: str, where: str) -> None:
        self.where, self.depth = where, 0
        self.tokens = list(self._scanned(text))
        self.place = 0

    def _scanned(self, text: str) -> Iterator[Token]:
        at, line = 0, 1
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise NnefError(f"{self.where}:{line}: expected an expression, got {text[at]!r}")
            if found.lastgroup != "space":
                yield Token(str(found.lastgroup), found.group(), line)
            line += found.group().count("\n")
            at = found.end()
        yield Token("end", "the end of the file", line)

    @property
    def next(self) -> Token:
        return self.tokens[self.place]

    def fail(self, expected: str) -> NnefError:
        return NnefError(f"{self.where}:{self.next.line}: expected {expected}, got {self.next.text!r:.40}")

    def take(self, text: str = "", kind: str = "") -> str:
        """Take the next token.  Raises NnefError unless it has this text or kind."""
        token = self.next
        if (text and token.text != text) or (kind and token.kind != kind) or token.kind == "end":
            raise self.fail(repr(text) if text else f"a {kind}")
        self.place += 1
        return token.text

    def has(self, text: str) -> bool:
        """Take the next token if it is this text."""
        found = self.next.text == text and self.next.kind != "text"
        self.place += found
        return found

    def several(self, end: str, item: Callable[[], Any]) -> list[Any]:
        """Parse a comma-separated list up to its closing token."""
        found: list[Any] = []
        while not self.has(end):
            if found:
                self.take(",")
            found.append(item())
        return found

    # --- the document
    def graph(self) -> Graph:
        self.take("version")
        self.take(kind="number")
        self.take(";")
        while self.has("extension"):
            while not self.has(";"):
                self.take()
        if self.next.text == "fragment":
            raise self.fail("a graph; fragments of users are not supported")
        self.take("graph")
        name = self.take(kind="name")
        inputs, outputs = self._names(), self._names("->")
        self.take("{")
        lines = []
        while not self.has("}"):
            target = self._target()
            self.take("=")
            lines.append((target, self.expression()))
            self.take(";")
        return Graph(name, inputs, outputs, lines)

    def _name(self) -> str:
        return self.take(kind="name")

    def _names(self, before: str = "") -> list[str]:
        if before:
            self.take(before)
        self.take("(")
        return self.several(")", self._name)

    def _target(self) -> Any:
        for begin, end in ("[]", "()"):
            if self.has(begin):
                return self.several(end, self._name)
        found = self._name()
        return [found, *self._more()] if self.next.text == "," else found

    def _more(self) -> list[str]:
        found = []
        while self.has(","):
            found.append(self._name())
        return found

    # --- expressions
    def expression(self, level: int = 0) -> Any:
        if level == len(OPERATORS):
            return self._unary()
        found = self.expression(level + 1)
        while self.next.text in OPERATORS[level] and self.next.kind == "mark":
            line = self.next.line
            op = OPERATORS[level][self.take()]
            found = Call(op, "", [found, self.expression(level + 1)], {}, line)
        return found

    def _unary(self) -> Any:
        line, sign = self.next.line, next((s for s in "-+!" if self.has(s)), "")
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail(f"at most {DEEPEST} levels of nesting")
        value = self._unary() if sign else self._primary()
        self.depth -= 1
        if not sign or sign == "+":
            return value
        if sign == "-" and isinstance(value, (int, float)) and not isinstance(value, bool):
            return -value
        return Call("neg" if sign == "-" else "not", "", [value], {}, line)

    def _primary(self) -> Any:
        token = self.next
        for begin, end in ("[]", "()"):
            if token.kind == "mark" and self.has(begin):
                items = self.several(end, self.expression)
                return items if begin == "[" else items[0] if len(items) == 1 else tuple(items)
        if token.kind not in ("number", "text", "name"):
            raise self.fail("an expression")
        self.place += 1
        if token.kind == "number":
            return float(token.text) if re.search(r"[.eE]", token.text) else int(token.text)
        if token.kind == "text":
            return token.text[1:-1]
        if token.text in ("true", "false"):
            return token.text == "true"
        return self._called(token)

    def _called(self, token: Token) -> Any:
        """A name, or a call of an op."""
        kind, start = "", self.place
        if self.next.text == "<" and [t.text for t in self.tokens[start + 2 : start + 3]] == [">"]:
            self.place += 1
            kind = self.take(kind="name")
            self.take(">")
        if self.next.text != "(":
            self.place = start
            return Name(token.text, token.line)
        self.take("(")
        given: list[Any] = []
        named: dict[str, Any] = {}
        for name, value in self.several(")", self._argument):
            if name is None and named:
                raise self.fail("an argument with a name")
            if name is None:
                given.append(value)
            else:
                named[name] = value
        return Call(token.text, kind, given, named, token.line)

    def _argument(self) -> tuple[str | None, Any]:
        if self.next.kind == "name" and self.tokens[self.place + 1].text == "=":
            name = self.take()
            self.take("=")
            return name, self.expression()
        return None, self.expression()
