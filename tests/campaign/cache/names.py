"""Names, docstrings and paths of the user: none of it reaches the C, the compiler's arguments or its folder."""

from __future__ import annotations

import random

from arignote import ops as T
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.program.plan import plan
from arignote.graph import FunctionGraph

from ..scorecard import Row, Trials

PIECES = (
    "*/", "/*", "//", "\n", "\r", '"', "'", "\\", "\\\n", "%s", "%n", "??/", "??>", "\0", "\u202e", "\ufeff",
    "#include <x>", "$(touch x)", "`id`", ";", "|", "&", "-o", "@file", "../", "é", "\U0001f600", "int main", "}", "{",
    "__asm__", " ", "",
)  # fmt: skip


def text_with(name: str) -> str:
    """The C of a small program all of whose inputs and results have names like `name`."""
    x, y = T.matrix(f"{name}x"), T.vector(f"{name}y")
    total = T.exp(x + y).sum(axis=0)
    total.name = f"{name}t"
    return c_text(plan(FunctionGraph([x, y], [total * y, T.concatenate([y, total])])))


def run(full: bool) -> list[Row]:
    trials = Trials("G18", "hostile names of variables: the C is that of plain names")
    chance, plain = random.Random(9), text_with("n")
    for _ in range(10_000 if full else 200):
        name = "".join(chance.choices(PIECES, k=chance.randrange(1, 9)))
        trials.check(text_with(name) == plain, f"the C changes with the name {name!r}")
    return [trials.row()]
