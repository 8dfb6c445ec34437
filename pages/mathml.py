"""Formulas as MathML, which browsers draw by themselves: pages and exported notebooks show them without a network.

    formula = row;  row = {item};  item = atom [^ group] [_ group];  group = "{" row "}"

It reads the LaTeX that ops/writing/latex.py writes, and no more of LaTeX than that.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .markup import element, escaped

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_OPERATORS = {
    r"\cdot": "⋅", r"\times": "×", r"\odot": "⊙", r"\neg": "¬", r"\le": "≤", r"\ge": "≥", r"\ne": "≠", r"\lt": "<",
    r"\gt": ">", r"\wedge": "∧", r"\vee": "∨", r"\bmod": "mod", r"\sum": "∑", r"\prod": "∏", r"\sim": "∼",
    r"\oplus": "⊕", r"\ll": "≪", r"\gg": "≫", r"\lfloor": "⌊", r"\rfloor": "⌋",
}  # fmt: skip
_NAMES = "log sin cos tan arcsin arccos arctan sinh cosh tanh det max min"
_LETTERS = {rf"\{name}": name for name in _NAMES.split()} | {
    r"\Gamma": "Γ", r"\sigma": "σ", r"\infty": "∞", r"\top": "⊤", r"\square": "□", r"\backslash": "\\",
}  # fmt: skip
_WORDS = {
    r"\operatorname": "mi", r"\mathit": "mi", r"\mathrm": "mi", r"\mathbf": "mi", r"\boldsymbol": "mi",
    r"\text": "mtext", r"\mathbin": "mo",
}  # fmt: skip
_STYLES = {
    r"\mathit": "font-style:italic", r"\mathbf": "font-weight:bold;font-style:normal",
    r"\boldsymbol": "font-weight:bold;font-style:italic", r"\operatorname": "font-style:normal",
    r"\mathrm": "font-style:normal",
}  # fmt: skip
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
        if below and base in _LIMITS:
            return element("munder", base + below)
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
            return element(_WORDS[token], escaped(self.word()), style=_STYLES.get(token))
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
        text = "".join(parts)
        return text.rstrip(" ") + "\u00a0" * (len(text) - len(text.rstrip(" ")))  # MathML drops spaces at the end


_TALL = ("<mfrac", "<mtable", "<munder", "<msqrt")
"""Elements that are higher than a line, so that parentheses around them grow."""
_LIMITS = frozenset([*(element("mo", sign) for sign in "∑∏"), *(element("mi", name) for name in ("max", "min"))])
"""Signs whose index stands below them."""


def _fenced(parser: _Parser) -> str:
    opening = parser.take()
    content = parser.row((r"\right",))
    parser.expect(r"\right")
    tall = any(mark in content for mark in _TALL)
    stretchy = "true" if tall else "false"
    signs = [
        element("mo", escaped(_OPERATORS.get(sign, sign)), stretchy=stretchy) for sign in (opening, parser.take())
    ]
    return element("mrow", signs[0] + content + signs[1])


def _phantom(parser: _Parser) -> str:
    return element("mphantom", parser.group())


def _rows(parser: _Parser) -> str:
    kind = parser.word()
    rows = []
    while parser.token != r"\end":
        cells = [parser.row(("&", r"\\", r"\end"))]
        while parser.token == "&":
            parser.take()
            cells.append(parser.row(("&", r"\\", r"\end")))
        if kind == "aligned":  # one column; its mark of alignment stands in front
            cells = ["".join(cells)]
        align = None if kind == "bmatrix" else "text-align:left"
        rows.append(element("mtr", [element("mtd", cell, style=align) for cell in cells]))
        if parser.token == r"\\":
            parser.take()
    parser.expect(r"\end")
    parser.word()
    table = element("mtable", rows, displaystyle="true" if kind == "aligned" else None)
    signs = {"cases": ("{", ""), "bmatrix": ("[", "]")}.get(kind, ("", ""))
    left, right = (element("mo", sign, stretchy="true") if sign else "" for sign in signs)
    return element("mrow", left + table + right)


_COMMANDS: dict[str, Callable[[_Parser], str]] = {
    r"\frac": lambda parser: element("mfrac", parser.group() + parser.group()),
    r"\sqrt": lambda parser: element("msqrt", parser.group()),
    r"\left": _fenced,
    r"\begin": _rows,
    r"\phantom": _phantom,
    r"\quad": lambda parser: element("mspace", width="1em"),
    r"\,": lambda parser: _SPACE,
}
