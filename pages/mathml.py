"""Formulas as MathML, which browsers draw by themselves: pages and exported notebooks show them without a network.

    formula = row;  row = {item};  item = atom [^ group] [_ group];  group = "{" row "}"

It reads the LaTeX that ops/core/latex.py writes, and no more of LaTeX than that.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .markup import element, escaped

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_OPERATORS = {
    r"\cdot": "⋅", r"\times": "×", r"\odot": "⊙", r"\neg": "¬", r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\lt": "<",
    r"\gt": ">", r"\wedge": "∧", r"\vee": "∨", r"\bmod": "mod", r"\sum": "∑", r"\prod": "∏", r"\sim": "∼",
}  # fmt: skip
_NAMES = "log sin cos tan arcsin arccos arctan sinh cosh tanh det max min"
_LETTERS = {rf"\{name}": name for name in _NAMES.split()} | {
    r"\Gamma": "Γ", r"\sigma": "σ", r"\infty": "∞", r"\top": "⊤", r"\square": "□", r"\backslash": "\\",
}  # fmt: skip
_WORDS = {r"\operatorname": "mi", r"\mathit": "mi", r"\mathrm": "mi", r"\text": "mtext"}
_SPACE = element("mspace", width="0.17em")


def mathml(formula: str) -> str:
    """The MathML element of a formula.  Raises ValueError for LaTeX that it does not know."""
    parser = _Parser(formula)
    content = parser.row(())
    if parser.token is not None:
        raise ValueError(f"formula {formula!r}: {parser.token!r} closes nothing")
    return element(
        "math", element("mrow", content), xmlns="http://www.w3.org/1998/Math/MathML", displaystyle="true"
    )


class _Parser:
    """Parser of a formula: its tokens and the next position."""

    def __init__(self, formula: str) -> None:
        self._formula = formula
        self._tokens = _TOKEN.findall(formula)
        self._at = 0

    @property
    def token(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def take(self) -> str:
        """The next token.  Raises ValueError at the end."""
        token = self.token
        if token is None:
            raise ValueError(f"formula {self._formula!r} ends too early")
        self._at += 1
        return token

    def expect(self, wanted: str) -> None:
        """Take this token.  Raises ValueError for another."""
        token = self.take()
        if token != wanted:
            raise ValueError(f"formula {self._formula!r}: expected {wanted!r}, got {token!r}")

    def row(self, ends: tuple[str, ...]) -> str:
        """The items up to one of these tokens, which stays, or to the end."""
        items = []
        while self.token is not None and self.token not in (*ends, "}"):
            if self.token.isspace():
                self.take()
            else:
                items.append(self.item())
        return "".join(items)

    def item(self) -> str:
        """An atom with its superscript and subscript."""
        base, above, below = self.atom(), "", ""
        while self.token in ("^", "_"):
            if self.take() == "^":
                above = self.group()
            else:
                below = self.group()
        if above and below:
            return element("msubsup", base + below + above)
        return element("msup", base + above) if above else element("msub", base + below) if below else base

    def group(self) -> str:
        self.expect("{")
        content = self.row(())
        self.expect("}")
        return element("mrow", content)

    def atom(self) -> str:
        token = self.take()
        if token in _COMMANDS:
            return _COMMANDS[token](self)
        if token in _WORDS:
            italic = "font-style:italic" if token == r"\mathit" else None
            return element(_WORDS[token], escaped(self.word()), style=italic)
        if token in _OPERATORS:
            return element("mo", escaped(_OPERATORS[token]))
        if token in _LETTERS or token.isalpha():
            return element("mi", escaped(_LETTERS.get(token, token)))
        if token[0].isdigit():
            return element("mn", token)
        if token == "{":
            self._at -= 1
            return self.group()
        if token.startswith("\\") and token[1:].isalnum():
            raise ValueError(f"formula {self._formula!r}: {token} is no command that is known here")
        return element("mo", "−" if token == "-" else escaped(token.removeprefix("\\")))

    def word(self) -> str:
        """The text of a group, as it is."""
        self.expect("{")
        parts = []
        while (token := self.take()) != "}":
            known = _OPERATORS.get(token) or _LETTERS.get(token)
            parts.append(known or token.removeprefix("\\"))
            if known and self.token == " ":  # which ends the command
                self.take()
        return "".join(parts)


def _fenced(parser: _Parser) -> str:
    opening = parser.take()
    content = parser.row((r"\right",))
    parser.expect(r"\right")
    signs = [element("mo", escaped(sign), stretchy="true") for sign in (opening, parser.take())]
    return element("mrow", signs[0] + content + signs[1])


def _cases(parser: _Parser) -> str:
    parser.word()
    rows = []
    while parser.token != r"\end":
        cells = [parser.row(("&", r"\\", r"\end"))]
        while parser.token == "&":
            parser.take()
            cells.append(parser.row(("&", r"\\", r"\end")))
        rows.append(element("mtr", [element("mtd", cell) for cell in cells]))
        if parser.token == r"\\":
            parser.take()
    parser.expect(r"\end")
    parser.word()
    return element("mrow", element("mo", "{", stretchy="true") + element("mtable", rows))


_COMMANDS: dict[str, Callable[[_Parser], str]] = {
    r"\frac": lambda parser: element("mfrac", parser.group() + parser.group()),
    r"\sqrt": lambda parser: element("msqrt", parser.group()),
    r"\left": _fenced,
    r"\begin": _cases,
    r"\,": lambda parser: _SPACE,
}
