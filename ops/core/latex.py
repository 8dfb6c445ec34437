"""Expressions in LaTeX, for notebooks: `exp(x) / 2` as \\frac{e^{x}}{2}.  Large ones are pictures instead.

Classes and records of ops say how they are written by a formula: a function of the op, the output and the operands,
each written with its precedence.  An op that says nothing is written as a function with its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ...graph import Constant, Variable, toposort

LARGEST = 40
"""Nodes of an expression that is shown as a formula."""
_LONGEST = 600
"""Most characters; a value that is used twice is written twice."""

SUM, PRODUCT, PREFIX, POWER, ATOM = 1, 2, 3, 4, 5
"""Precedence levels of an expression."""
Written = tuple[str, int]
Formula = Callable[[Any, Variable, Sequence[Written]], Written]

ESCAPES = {
    "_": r"\_", "%": r"\%", "$": r"\$", "#": r"\#", "&": r"\&", "{": r"\{", "}": r"\}", "\\": r"\backslash ",
    "^": r"\wedge ", "~": r"\sim ", "<": r"\lt ", ">": r"\gt ",
}  # fmt: skip


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


# --- forms of formulas


def parenthesized(text: str) -> str:
    return rf"\left({text}\right)"


def bound(operand: Written, level: int) -> str:
    """Return an operand, in parentheses if it binds looser than `level`."""
    text, own = operand
    return text if own >= level else parenthesized(text)


def called(op: Any, output: Variable, operands: Sequence[Written], name: str = "") -> Written:
    """Return the op as a function: `name`, or its own name upright."""
    assert output.owner is not None
    name = name or rf"\operatorname{{{''.join(ESCAPES.get(c, c) for c in op.name)}}}"
    several = f"_{{{output.index}}}" if len(output.owner.outputs) > 1 else ""
    return rf"{name}{several}\left({', '.join(text for text, _ in operands)}\right)", ATOM


def function(name: str) -> Formula:
    """The formula of a function with a name of its own, such as `\\log`."""


    def written(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
        return called(op, output, operands, name)

    return written


def form(text: str, level: int = ATOM, *levels: int) -> Formula:
    """The formula with the operands in gaps {0}, {1}, ..., each in parentheses if it binds looser than its level."""

    def written(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
        wanted = (*levels, *[0] * (len(operands) - len(levels)))
        return text.format(*(bound(o, n) if n else o[0] for o, n in zip(operands, wanted, strict=True))), level

    return written


def first(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    """The first operand as it is."""
    return operands[0]


def infix(sign: str, level: int, flat: bool = False) -> Formula:
    """The formula of a sign between operands; `flat`: operands behind the first may bind as loosely as the whole."""

    def written(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
        return _between(sign, level, flat, operands)

    return written


def times(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    r"""The product of numbers, side by side; `\odot` between tensors, `\cdot` before digits."""
    assert output.owner is not None
    if all(i.ndim for i in output.owner.inputs):
        return _between(r"\odot", PRODUCT, True, operands)
    digits = any(_side(operand, PRODUCT, True)[:1].isdigit() for operand in operands[1:])
    return _between(r"\cdot" if digits else r"\,", PRODUCT, True, operands)


def _between(sign: str, level: int, flat: bool, operands: Sequence[Written]) -> Written:
    return f" {sign} ".join(_side(o, level, flat or n == 0) for n, o in enumerate(operands)), level


def _side(operand: Written, level: int, loosely: bool) -> str:
    text, own = operand
    return text if own > level or (own == level and loosely) else parenthesized(text)


def choice(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    """Cases of a condition."""
    condition, then, otherwise = (text for text, _ in operands)
    rows = rf"{then} & {condition} \\ {otherwise} & \text{{otherwise}}"
    return rf"\begin{{cases}}{rows}\end{{cases}}", ATOM


def reduced(sign: str, axes: Sequence[int], operand: Written) -> Written:
    """Return a reduction: a sign with the axes below it."""
    below = f"_{{{', '.join(map(str, axes))}}}" if axes else ""
    return f"{sign}{below} {bound(operand, PRODUCT)}", PRODUCT


def displayed(outputs: Sequence[Variable], wishes: Mapping[Variable, str]) -> str:
    return ", ".join(latex(o) or "" for o in outputs)
