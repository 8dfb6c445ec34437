"""Expressions in LaTeX, for notebooks: `exp(x) / 2` as \\frac{e^{x}}{2}.  Large ones are pictures instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...graph import Constant, Variable, toposort

LARGEST = 40
"""Nodes of an expression that is shown as a formula."""
_LONGEST = 600
"""Most characters; a value that is used twice is written twice."""

_SUM, _PRODUCT, _PREFIX, _POWER, _ATOM = 1, 2, 3, 4, 5
"""Precedence levels of an expression."""
Written = tuple[str, int]

_SIGNS = {
    "add": ("+", _SUM), "sub": ("-", _SUM), "mul": (r"\,", _PRODUCT), "dot": (r"\,", _PRODUCT),
    "matmul": (r"\,", _PRODUCT), "dot22": (r"\,", _PRODUCT), "mod": (r"\bmod", _PRODUCT),
    "lt": ("<", 0), "le": (r"\le", 0), "gt": (">", 0), "ge": (r"\ge", 0), "eq": ("=", 0), "ne": (r"\ne", 0),
    "logical_and": (r"\wedge", -1), "logical_or": (r"\vee", -2),
}  # fmt: skip
_FUNCTIONS = "log sin cos tan arcsin arccos arctan sinh cosh tanh det"
_COMMANDS = {name: rf"\{name}" for name in _FUNCTIONS.split()} | {"gamma": r"\Gamma", "sigmoid": r"\sigma"}


def latex(variable: Variable) -> str | None:
    """The formula of an expression without dollar signs; None if it is too large to be read as one."""
    nodes = toposort([variable])
    if len(nodes) > LARGEST:
        return None
    texts: dict[Variable, Written] = {}
    for node in nodes:
        operands = [texts.get(i) or _leaf(i) for i in node.inputs]
        for output in node.outputs:
            texts[output] = _applied(output, operands)
            if len(texts[output][0]) > _LONGEST:
                return None
    return (texts.get(variable) or _leaf(variable))[0]


def name_text(name: str) -> str:
    """The name of a variable: one letter as it is, digits behind it below, longer names in italics."""
    stem = name.rstrip("0123456789")
    below = name[len(stem) :]
    stem = stem.removesuffix("_") if below else stem
    escaped = "".join(_ESCAPES.get(c, c) for c in stem)
    written = escaped if len(stem) == 1 else rf"\mathit{{{escaped}}}"
    return f"{written}_{{{below}}}" if below and stem else written if stem else rf"\mathit{{{name}}}"


_ESCAPES = {
    "_": r"\_", "%": r"\%", "$": r"\$", "#": r"\#", "&": r"\&", "{": r"\{", "}": r"\}", "\\": r"\backslash ",
    "^": r"\wedge ", "~": r"\sim ", "<": r"\lt ", ">": r"\gt ",
}  # fmt: skip


def _leaf(variable: Variable) -> Written:
    if not isinstance(variable, Constant):
        return (name_text(variable.name) if variable.name else r"\square"), _ATOM
    data = variable.data
    if data.size != 1:
        return name_text(variable.name) if variable.name else _shape_text(data.shape), _ATOM
    written = _number(data.reshape(()).item())
    return written, _PREFIX if written.startswith("-") else _ATOM


def _shape_text(shape: Sequence[int]) -> str:
    return r"\left[" + r" \times ".join(map(str, shape)) + r"\right]"


def _number(value: Any) -> str:
    if isinstance(value, complex):
        return rf"\left({value.real:g} {value.imag:+g}i\right)"
    if isinstance(value, (bool, int)):
        return rf"\mathrm{{{value}}}" if isinstance(value, bool) else str(value)
    written = f"{value:.6g}"
    if "e" in written:
        digits, _, exponent = written.partition("e")
        return rf"{digits} \cdot 10^{{{int(exponent)}}}"
    return {"inf": r"\infty", "-inf": r"-\infty", "nan": r"\mathrm{nan}"}.get(written, written)


def _applied(output: Variable, operands: list[Written]) -> Written:
    node = output.owner
    assert node is not None
    op = node.op
    special = _SPECIAL.get(op.name)
    if special is not None:
        return special(op.parameters(), operands)
    if op.name in _SIGNS:
        elementwise = op.name == "mul" and all(i.ndim for i in node.inputs)
        return _infix(op.name, operands, r"\odot" if elementwise else None)
    name = _COMMANDS.get(op.name) or rf"\operatorname{{{''.join(_ESCAPES.get(c, c) for c in op.name)}}}"
    several = f"_{{{output.index}}}" if len(node.outputs) > 1 else ""
    return rf"{name}{several}\left({', '.join(text for text, _ in operands)}\right)", _ATOM


def _infix(name: str, operands: list[Written], other_sign: str | None) -> Written:
    sign, binding = _SIGNS[name]
    sign = other_sign or sign
    same = len(operands) if name in ("add", "mul") else 1  # so many operands may bind as loosely as the whole
    parts = [
        text if bound > binding or (bound == binding and n < same) else _around(text)
        for n, (text, bound) in enumerate(operands)
    ]
    if name == "mul" and other_sign is None and any(part[:1].isdigit() for part in parts[1:]):
        sign = r"\cdot"
    return f" {sign} ".join(parts), binding


def _around(text: str) -> str:
    return rf"\left({text}\right)"


def _bound(operand: Written, binding: int) -> str:
    text, bound = operand
    return text if bound >= binding else _around(text)


def _reduced(sign: str) -> Callable[[dict[str, Any], list[Written]], Written]:
    def written(parameters: dict[str, Any], operands: list[Written]) -> Written:
        axis = parameters.get("axis")
        axes = axis if isinstance(axis, tuple) else () if axis is None else (axis,)
        below = f"_{{{', '.join(map(str, axes))}}}" if axes else ""
        return f"{sign}{below} {_bound(operands[0], _PRODUCT)}", _PRODUCT

    return written


def _switch(parameters: dict[str, Any], operands: list[Written]) -> Written:
    condition, then, otherwise = (text for text, _ in operands)
    rows = rf"{then} & {condition} \\ {otherwise} & \text{{otherwise}}"
    return rf"\begin{{cases}}{rows}\end{{cases}}", _ATOM


def _subtensor(parameters: dict[str, Any], operands: list[Written]) -> Written:
    """`x[1:, i]`, from the spec (("s100", "i")) and the operands behind the first."""
    given = iter(text for text, _ in operands[1:])
    parts = []
    for entry in parameters["spec"]:
        if entry[0] == "i":
            parts.append(next(given))
            continue
        start, stop, step = (next(given) if flag == "1" else "" for flag in entry[1:])
        parts.append(f"{start}:{stop}" + (f":{step}" if step else ""))
    return f"{_bound(operands[0], _ATOM)}\\left[{', '.join(parts)}\\right]", _ATOM


def _dimshuffle(parameters: dict[str, Any], operands: list[Written]) -> Written:
    order = parameters.get("order", ())
    if order == (1, 0):
        return f"{_bound(operands[0], _ATOM)}^{{\\top}}", _POWER
    if [axis for axis in order if axis != "x"] == sorted(axis for axis in order if axis != "x"):
        return operands[0]  # axes of length 1 come and go without a sign, as in broadcasting
    below = ", ".join(map(str, order))
    return rf"\operatorname{{transpose}}_{{{below}}}\left({operands[0][0]}\right)", _ATOM


_SPECIAL: dict[str, Callable[[dict[str, Any], list[Written]], Written]] = {
    "true_div": lambda p, o: (rf"\frac{{{o[0][0]}}}{{{o[1][0]}}}", _ATOM),
    "reciprocal": lambda p, o: (rf"\frac{{1}}{{{o[0][0]}}}", _ATOM),
    "neg": lambda p, o: (f"-{_bound(o[0], _PRODUCT)}", _SUM),
    "exp": lambda p, o: (f"e^{{{o[0][0]}}}", _POWER),
    "sqrt": lambda p, o: (rf"\sqrt{{{o[0][0]}}}", _ATOM),
    "abs": lambda p, o: (rf"\left|{o[0][0]}\right|", _ATOM),
    "square": lambda p, o: (f"{_bound(o[0], _ATOM)}^{{2}}", _POWER),
    "pow": lambda p, o: (f"{_bound(o[0], _ATOM)}^{{{o[1][0]}}}", _POWER),
    "logical_not": lambda p, o: (rf"\neg {_bound(o[0], _ATOM)}", _PREFIX),
    "identity": lambda p, o: o[0],
    "cast": lambda p, o: o[0],
    "switch": _switch,
    "subtensor": _subtensor,
    "dimshuffle": _dimshuffle,
    "shape_i": lambda p, o: (rf"\operatorname{{length}}_{{{p['axis']}}}\left({o[0][0]}\right)", _ATOM),
    "sum": _reduced(r"\sum"),
    "prod": _reduced(r"\prod"),
    "max": _reduced(r"\max"),
    "min": _reduced(r"\min"),
}
