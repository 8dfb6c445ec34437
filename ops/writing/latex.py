"""Formulas in LaTeX: `exp(x) / 2` as \\frac{e^{\\boldsymbol{x}}}{2}.

Classes and records of ops say how they are written by a formula: a function of the op, the output and the operands,
each written with its precedence.  An op that says nothing is written as a function with its name.  Vectors are bold,
matrices bold and upright.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ...graph import Constant, Variable

CASES, BIG, SUM, PRODUCT, PREFIX, POWER, ATOM = range(-1, 6)
"""Precedence levels of an expression; BIG reaches as far as it can, like a sum over an index."""
Written = tuple[str, int]
Formula = Callable[[Any, Variable, Sequence[Written]], Written]

ESCAPES = {
    "_": r"\_", "%": r"\%", "$": r"\$", "#": r"\#", "&": r"\&", "{": r"\{", "}": r"\}", "\\": r"\backslash ",
    "^": r"\wedge ", "~": r"\sim ", "<": r"\lt ", ">": r"\gt ",
}  # fmt: skip
_INDICES = "ijkl"
MOST_ELEMENTS = 16
"""Most elements of a constant that is spelled out."""


def escaped(text: str) -> str:
    return "".join(ESCAPES.get(c, c) for c in text)


def name_text(name: str, ndim: int = 0) -> str:
    """The name of a variable: digits behind it below; a vector bold, a matrix bold and upright.

    A scalar of one letter stands as it is, longer names are in italics.
    """
    stem = name.rstrip("0123456789")
    below = name[len(stem) :]
    stem = stem.removesuffix("_") if below else stem
    if not stem:
        stem, below = name, ""
    style = (r"\mathbf" if ndim > 1 else r"\boldsymbol") if ndim else r"\mathit" if len(stem) > 1 else ""
    written = f"{style}{{{escaped(stem)}}}" if style else escaped(stem)
    return f"{written}_{{{below}}}" if below else written


def width(text: str) -> int:
    """About the number of signs of a formula that a reader sees."""
    return len(re.sub(r"[{}\s\\^_]", "", re.sub(r"\\[a-zA-Z]+", "x", text)))


def constant_text(constant: Constant) -> Written:
    """A number, or the elements of a small array in brackets."""
    data = constant.data
    if data.size == 1:
        written = number_text(data.reshape(()).item())
        return written, PREFIX if written.startswith("-") else PRODUCT if r"\cdot" in written else ATOM
    if data.ndim == 1:
        return rf"\left[{', '.join(number_text(value) for value in data.tolist())}\right]", ATOM
    if data.ndim == 2:
        rows = r" \\ ".join(" & ".join(map(number_text, row)) for row in data.tolist())
        return rf"\begin{{bmatrix}}{rows}\end{{bmatrix}}", ATOM
    lengths = r" \times ".join(map(str, data.shape))
    return rf"\left[{lengths}\right]", ATOM


def number_text(value: Any) -> str:
    if isinstance(value, complex):
        return rf"\left({value.real:g} {value.imag:+g}i\right)"
    if isinstance(value, (bool, int)):
        return rf"\mathrm{{{value}}}" if isinstance(value, bool) else str(value)
    written = _decimal(value)
    if "e" in written:
        digits, _, exponent = written.partition("e")
        power = f"10^{{{int(exponent)}}}"
        return {"1": power, "-1": f"-{power}"}.get(digits, rf"{digits} \cdot {power}")
    return {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\mathrm{nan}"}.get(written, written)


def _decimal(value: float) -> str:
    """The number with six digits; with more if that looks whole and is not, or is another whole number."""
    for digits in (6, 9, 12):
        written = f"{value:.{digits}g}"
        if float(written) == value or not (float(written).is_integer() or float(value).is_integer()):
            return written
    return f"{value:.17g}"


# --- forms of formulas


def parenthesized(text: str) -> str:
    return rf"\left({text}\right)"


def bound(operand: Written, level: int) -> str:
    """Return an operand, in parentheses if it binds looser than `level`."""
    text, own = operand
    return text if own >= level else parenthesized(text)


def called(op: Any, output: Variable, operands: Sequence[Written], name: str = "") -> Written:
    """Return the op as a function: `name`, or its own name upright, with the axes that it works along."""
    assert output.owner is not None
    name = name or rf"\operatorname{{{escaped(op.name)}}}"
    several = [str(output.index)] if len(output.owner.outputs) > 1 else []
    first = output.owner.inputs[0] if output.owner.inputs else None
    axis = getattr(op, "axis", None)
    if first is not None and axis is not None and first.ndim > 1:
        axes = axis if isinstance(axis, tuple) else (axis,)
        several += [rf"\mathrm{{axis}}\,{', '.join(map(str, axes))}"] if len(axes) < first.ndim else []
    below = f"_{{{', '.join(several)}}}" if several else ""
    return rf"{name}{below}\left({', '.join(text for text, _ in operands)}\right)", ATOM


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


_SIGNS = {
    "==": ("=", 0), "!=": (r"\ne", 0), "<": ("<", 0), "<=": (r"\le", 0), ">": (">", 0), ">=": (r"\ge", 0),
    "&": (r"\mathbin{\&}", -2), "|": (r"\mathbin{|}", -2), "^": (r"\oplus", -2), "<<": (r"\ll", -1),
    ">>": (r"\gg", -1),
}  # fmt: skip
"""Signs of LaTeX, and how tight they bind, for signs of Python."""


def signed(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    """The formula with the sign of LaTeX for the sign that Python writes."""
    sign, level = _SIGNS[op.sign]
    return _between(sign, level, False, operands)


def times(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    r"""The product of numbers, side by side, scalars first; `\odot` between tensors, `\cdot` before digits."""
    assert output.owner is not None
    text, tensor = "", False
    factors = sorted(zip(operands, output.owner.inputs, strict=True), key=lambda pair: _place(pair[1]))
    for k, (operand, value) in enumerate(factors):
        ends = k == len(factors) - 1 and _ends_well(operand)
        side = operand[0] if ends else _factor(operand, bool(text))
        if text:
            sign = r"\odot" if tensor and value.ndim else r"\cdot" if side[0].isdigit() or side[0] == "-" else r"\,"
            text += f" {sign} {side}"
        else:
            text = side
        tensor = tensor or value.ndim > 0
    return text, BIG if ends else PRODUCT


def _place(factor: Variable) -> int:
    """The place of a factor: numbers, scalars, tensors."""
    return 2 if factor.ndim else 0 if isinstance(factor, Constant) else 1


def _factor(operand: Written, behind: bool) -> str:
    """Return a factor; a negative one behind another stands in parentheses."""
    text, own = operand
    plain = own >= PRODUCT and not (behind and text.startswith("-"))
    return text if plain else parenthesized(text)


def quotient(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    """A fraction; its parts need no parentheses, it needs some under an exponent."""
    return rf"\frac{{{operands[0][0]}}}{{{operands[1][0]}}}", PREFIX


def power(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    base, exponent = operands
    return f"{bound(base, ATOM)}^{{{inline(exponent[0])}}}", POWER


def exponential(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    return f"e^{{{inline(operands[0][0])}}}", POWER


def inline(text: str) -> str:
    """The text of an exponent: a fraction in it becomes a product with a slash, `x / 2`."""
    while (found := text.find(r"\frac{")) >= 0:
        above, middle = _group(text, found + 5)
        below, end = _group(text, middle)
        text = f"{text[:found]}{_of_slash(above)} / {_of_slash(below, True)}{text[end:]}"
    return text


def _group(text: str, begin: int) -> tuple[str, int]:
    """Return the inside of the braces that open at `begin`, and the place behind them."""
    depth, k = 0, begin
    while True:
        if text[k] == "\\":
            k += 1
        elif text[k] == "{":
            depth += 1
        elif text[k] == "}":
            depth -= 1
            if depth == 0:
                return text[begin + 1 : k], k + 1
        k += 1


def _of_slash(text: str, below: bool = False) -> str:
    """Return a part of a fraction beside the slash, in parentheses if it is a sum or, below, a product."""
    signs = (" + ", " - ", *((r" \, ", r" \cdot ", r" \odot ", r"\frac") if below else ()))
    depth, k = 0, 0
    while k < len(text):
        if text.startswith((r"\left", "{"), k):
            depth += 1
        elif text.startswith((r"\right", "}"), k):
            depth -= 1
        elif depth == 0 and text.startswith(signs, k):
            return parenthesized(text)
        k += 1
    return text


def _between(sign: str, level: int, flat: bool, operands: Sequence[Written]) -> Written:
    *others, last = operands
    sides = [_side(o, level, flat or n == 0, n > 0) for n, o in enumerate(others)]
    sides.append(last[0] if _ends_well(last) else _side(last, level, flat, True))
    return f" {sign} ".join(sides), BIG if _ends_well(last) else level


def _ends_well(operand: Written) -> bool:
    """Whether an operand that reaches as far as it can needs no parentheses at the end."""
    return operand[1] == BIG


def _side(operand: Written, level: int, loosely: bool, behind: bool = False) -> str:
    text, own = operand
    plain = own > level or (own == level and loosely)
    return text if plain and not (behind and text.startswith("-")) else parenthesized(text)


def choice(op: Any, output: Variable, operands: Sequence[Written]) -> Written:
    """Cases of a condition."""
    condition, then, otherwise = (text for text, _ in operands)
    rows = rf"{then} & {condition} \\ {otherwise} & \text{{otherwise}}"
    return rf"\begin{{cases}}{rows}\end{{cases}}", CASES


def indexed(operand: Written, entries: Sequence[str]) -> Written:
    """Return an operand with an index below it; one that has an index or an exponent stands in parentheses."""
    text, own = operand
    if found := re.fullmatch(_RAISED, text):
        return f"{found[1]}_{{{', '.join(entries)}}}{found[2]}", POWER
    if found := re.fullmatch(_OF_NAME, text):
        return f"{found[1]}{found[2]}_{{{', '.join(entries)}}}{found[3]}", POWER
    plain = (own >= ATOM and not text.endswith("}")) or _is_name(text)
    base = text if plain else parenthesized(text)
    return f"{base}_{{{', '.join(entries)}}}", ATOM


def _is_name(text: str) -> bool:
    return re.fullmatch(_ONE, text) is not None


_ONE = r"\\(?:mathbf|boldsymbol|mathit)\{[^{}]*\}"
_RAISED = rf"({_ONE})(\^\{{\d+\}})"
_OF_NAME = rf"(e\^\{{-?)({_ONE})(\}})"


def reduced(sign: str, axes: Sequence[int], output: Variable, operand: Written) -> Written:
    """Return a reduction: a sign with its indices below it, and the operand with all of its indices."""
    assert output.owner is not None
    ndim = output.owner.inputs[0].ndim
    letters = iter(_INDICES) if len(axes) <= len(_INDICES) else iter([f"i_{{{k}}}" for k in range(len(axes))])
    names = {axis: next(letters) for axis in axes}
    entries = [names.get(axis, ":") for axis in range(ndim)]
    inside, _ = indexed(operand, entries) if entries else operand
    below = f"_{{{', '.join(names.values())}}}" if names else ""
    return f"{sign}{below} {inside}", BIG
