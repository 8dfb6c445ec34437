"""Expressions in LaTeX, for notebooks: `exp(x) / 2` as \\frac{e^{x}}{2}.  Large ones are pictures instead."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...graph import Constant, Variable, toposort
from ..notation import ATOM, ESCAPES, PREFIX, Written, called

LARGEST = 40
"""Nodes of an expression that is shown as a formula."""
_LONGEST = 600
"""Most characters; a value that is used twice is written twice."""


def latex(variable: Variable) -> str | None:
    """The formula of an expression without dollar signs; None if it is too large to be read as one."""
    nodes = toposort([variable])
    if len(nodes) > LARGEST:
        return None
    texts: dict[Variable, Written] = {}
    for node in nodes:
        operands = [texts.get(i) or _leaf(i) for i in node.inputs]
        for output in node.outputs:
            texts[output] = getattr(node.op, "formula", partial(called, node.op))(output, operands)
            if len(texts[output][0]) > _LONGEST:
                return None
    return (texts.get(variable) or _leaf(variable))[0]


def name_text(name: str) -> str:
    """The name of a variable: one letter as it is, digits behind it below, longer names in italics."""
    stem = name.rstrip("0123456789")
    below = name[len(stem) :]
    stem = stem.removesuffix("_") if below else stem
    escaped = "".join(ESCAPES.get(c, c) for c in stem)
    written = escaped if len(stem) == 1 else rf"\mathit{{{escaped}}}"
    return f"{written}_{{{below}}}" if below and stem else written if stem else rf"\mathit{{{name}}}"


def _leaf(variable: Variable) -> Written:
    if not isinstance(variable, Constant):
        return (name_text(variable.name) if variable.name else r"\square"), ATOM
    data = variable.data
    if data.size != 1:
        return name_text(variable.name) if variable.name else _shape_text(data.shape), ATOM
    written = _number_text(data.reshape(()).item())
    return written, PREFIX if written.startswith("-") else ATOM


def _shape_text(shape: Sequence[int]) -> str:
    return r"\left[" + r" \times ".join(map(str, shape)) + r"\right]"


def _number_text(value: Any) -> str:
    if isinstance(value, complex):
        return rf"\left({value.real:g} {value.imag:+g}i\right)"
    if isinstance(value, (bool, int)):
        return rf"\mathrm{{{value}}}" if isinstance(value, bool) else str(value)
    written = f"{value:.6g}"
    if "e" in written:
        digits, _, exponent = written.partition("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}"
    return {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\mathrm{nan}"}.get(written, written)
