"""A reader of text forms, token by token: the base of the parsers of loops and programs."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

T = TypeVar("T")
_TOKEN = re.compile(
    r"""[ \t]*(?:(?P<line>\n)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<heading>\#[^\n]*)"""
    r"""|(?P<number>(?<![\w\])])-?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf\b|nan\b))|(?P<name>[A-Za-z_]\w*)"""
    r"""|(?P<sign>\.\.|[-+*|&:,=?;(){}\[\]]))"""
)


class IRSyntaxError(ValueError):
    """Syntax error in the text of a kernel or program; the message has the line, the column and the expected text."""


class Reader:
    """A recursive-descent parser: its subclasses have one method for each rule of a grammar."""

    def __init__(self, text: str) -> None:
        self._text: str = text
        self._tokens: list[tuple[str, str, int]] = _tokens(text)
        self._at: int = 0

    # --- tokens

    def fail(self, expected: str) -> NoReturn:
        """Raise IRSyntaxError at the current token."""
        kind, found, place = self._tokens[self._at]
        line = self._text.count("\n", 0, place) + 1
        column = place - (self._text.rfind("\n", 0, place) + 1) + 1
        got = {"end": "the end of the text", "line": "the end of the line"}.get(kind, repr(found))
        raise IRSyntaxError(f"line {line}, column {column}: expected {expected}, got {got}")

    def back(self) -> None:
        """Take back the last token."""
        self._at -= 1

    def sees(self, text: str) -> bool:
        """Whether the next token is this name or sign."""
        kind, found, _ = self._tokens[self._at]
        return found == text and kind in ("name", "sign")

    def accept(self, text: str) -> bool:
        """Take the next token if it is this name or sign."""
        if self.sees(text):
            self._at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        """Take the next token, which must be this name or sign."""
        if not self.accept(text):
            self.fail(repr(text))

    def take(self, kind: str, expected: str) -> str:
        """Take the next token, which must be of this kind."""
        found, text, _ = self._tokens[self._at]
        if found != kind:
            self.fail(expected)
        self._at += 1
        return text

    def name(self) -> str:
        """Take a name."""
        return self.take("name", "a name")

    def sees_number(self) -> bool:
        """Whether the next token is a number."""
        return self._tokens[self._at][0] == "number"

    def integer(self) -> int:
        """Take a whole number."""
        text = self.take("number", "a whole number")
        if not text.lstrip("-").isdigit():
            self._at -= 1
            self.fail("a whole number")
        return int(text)

    def string(self) -> str:
        """Take a string in double quotes."""
        text: str = ast.literal_eval(self.take("string", "a string"))
        return text

    def heading(self) -> int | None:
        """The number of a heading, a line such as `# 3 text`, which is taken; None for any other line."""
        kind, text, _ = self._tokens[self._at]
        if kind != "heading":
            return None
        number = text[1:].split(maxsplit=1)[:1]
        if not number or not number[0].isdigit():
            self.fail("'#' and a number")
        self._at += 1
        self.end_of_line()
        return int(number[0])

    def end_of_line(self) -> None:
        """Take the end of the line, and empty lines behind it."""
        if self._tokens[self._at][0] != "end":
            self.take("line", "the end of the line")
        self.next_line()

    def next_line(self) -> None:
        """Skip ends of lines."""
        while self._tokens[self._at][0] == "line":
            self._at += 1

    def has_more(self) -> bool:
        """Whether anything follows."""
        self.next_line()
        return self._tokens[self._at][0] != "end"

    def end_of_text(self) -> None:
        """Make sure that nothing follows."""
        if self.has_more():
            self.fail("the end of the text")

    def several(self, item: Callable[[], T], opening: str = "[", closing: str = "]") -> tuple[T, ...]:
        """`[item, ...]`, perhaps empty."""
        self.expect(opening)
        found: list[T] = []
        while not self.accept(closing):
            if found:
                self.expect(",")
            found.append(item())
        return tuple(found)

    def or_none(self, item: Callable[[], T]) -> T | None:
        """An item, or None for `-`."""
        return None if self.accept("-") else item()


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
