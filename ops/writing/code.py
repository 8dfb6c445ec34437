"""Expressions as Python: `X.T @ (p - t) / n`.  The text evaluates to the value of the expression again.

Classes and records of ops say how they are written: by `spelling`, the function of the vocabulary that applies them, or
by a method `code` of the output and a `Speaker`.  An op that says nothing is written as its class, with its fields,
or as the call that its method `constructor` names.

    text       names of the vocabulary without a prefix, for people
    python     the same behind `T.`, to be pasted
    numpy      the same computation by NumPy and SciPy
"""

from __future__ import annotations

import keyword
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from ...graph import Constant, Op, Variable
from ...graph.types import numpy_dtype
from ..core import promotion

CASE, COMPARISON, OR, XOR, AND, SHIFT, SUM, PRODUCT, SIGN, POWER, ATOM = range(11)
"""Precedence levels of Python, the loosest first."""
Code = tuple[str, int]
"""A text and its precedence."""

INFIX: Mapping[str, int] = {
    "<": COMPARISON, "<=": COMPARISON, ">": COMPARISON, ">=": COMPARISON, "==": COMPARISON, "!=": COMPARISON,
    "|": OR, "^": XOR, "&": AND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT,
    "//": PRODUCT, "%": PRODUCT, "@": PRODUCT, "**": POWER,
}  # fmt: skip
_BY_IDENTITY = frozenset({"==", "!="})
"""Operators that compare variables by identity: only arrays are written with them."""

LARGEST_CONSTANT = 16
"""Most elements of an array that is spelled out; larger ones have a name."""
_MOST_WHOLE = 2**31
_PLAIN = {"b": "bool", "i": "int64", "f": "float64", "c": "complex128"}
"""The dtype of a Python number of each kind."""

_SCIPY = {
    "sigmoid": "special.expit", "erf": "special.erf", "erfc": "special.erfc", "gamma": "special.gamma",
    "gammaln": "special.gammaln", "digamma": "special.digamma", "polygamma": "special.polygamma",
    "xlogy": "special.xlogy", "softmax": "special.softmax", "log_softmax": "special.log_softmax",
    "logsumexp": "special.logsumexp",
}  # fmt: skip
"""Functions of the vocabulary that SciPy has and NumPy has not."""


class Unwritten(ValueError):
    """A language has no word for an op; the message says which."""


class Speaker:
    """Writer of expressions in one language.  `codes` has the code of each value that is written.

    Args:
        language: "text", "python" or "numpy".
        taken: Names of variables of the expression, which stand for no function.
    """

    def __init__(self, language: str = "text", taken: Sequence[str] = ()) -> None:
        self.language: str = language
        self.codes: dict[Variable, Code] = {}
        self.taken: set[str] = set(taken)
        self.loose: bool = False
        """Whether products of scalars and matrices may be written in another order of multiplication."""
        self.define: Callable[[str, str], str] = lambda stem, text: text
        """Gives a long text a name: a function of a stem and the text."""

    @property
    def numpy(self) -> bool:
        return self.language == "numpy"

    # --- operands
    def text(self, variable: Variable) -> str:
        """The text of an operand that stands alone, as between commas."""
        return self.codes[variable][0]

    def texts(self, variables: Sequence[Variable]) -> list[str]:
        return [self.codes[v][0] for v in variables]

    def bound(self, variable: Variable, level: int) -> str:
        """The text of an operand, in parentheses if it binds looser than `level`."""
        return bound(self.codes[variable], level)

    def atom(self, variable: Variable) -> str:
        """The text of an operand before a dot or a bracket; a number there is a constant."""
        if isinstance(variable, Constant) and variable.data.ndim == 0:
            return self.constant(variable.data)
        return self.bound(variable, ATOM)

    # --- words
    def function(self, name: str) -> str:
        """The function of the vocabulary with this name, such as "sum" and "linalg.inv"."""
        if self.numpy:
            return _of_numpy(name)
        hidden = self.language == "text" and name.partition(".")[0] not in self.taken
        return name if hidden else f"T.{name}"

    def call(self, name: str, *operands: str, **options: Any) -> Code:
        """A call of a function of the vocabulary."""
        return f"{self.function(name)}({arguments(operands, options)})", ATOM

    def method(self, variable: Variable, name: str, *operands: str, **options: Any) -> Code:
        """A call of a method of an operand."""
        return f"{self.atom(variable)}.{name}({arguments(operands, options)})", ATOM

    def infix(self, sign: str, *operands: Code) -> Code:
        """Operands with a sign between them, which is applied from the left."""
        level = INFIX[sign]
        first, *others = operands
        if sign == "**":
            return f"{bound(first, ATOM)} ** {bound(others[0], SIGN)}", POWER
        lowest = level + 1 if level == COMPARISON else level
        return f" {sign} ".join([bound(first, lowest), *(bound(o, level + 1) for o in others)]), level

    def tuple(self, variables: Sequence[Variable]) -> str:
        """The tuple of some operands, such as lengths."""
        inside = self.texts(variables)
        return f"({inside[0]},)" if len(inside) == 1 else f"({', '.join(inside)})"

    # --- constants
    def number(self, value: Any) -> Code:
        """A Python number."""
        if isinstance(value, complex):
            parts = [self.number(part)[0] for part in (value.real, value.imag)]
            plain = repr(value)
            same = "nan" not in plain and "inf" not in plain and _same(complex(plain), value)
            return (plain if plain.startswith("(") or plain[0] != "-" else f"({plain})") if same else (
                f"complex({', '.join(parts)})"), ATOM  # fmt: skip
        if isinstance(value, float) and not math.isfinite(value):
            name = "nan" if math.isnan(value) else "inf"
            name = name if self.language == "text" and name not in self.taken else f"np.{name}"
            return (f"-{name}", SIGN) if value < 0 else (name, ATOM)
        written = repr(value)
        return written, SIGN if written.startswith("-") else ATOM

    def constant(self, data: np.ndarray) -> str:
        """An array or a number of exactly this dtype."""
        if data.ndim and data.size == 0:
            return f"{self.function('zeros')}({data.shape}, {data.dtype.name!r})"
        value = self._nested(data)
        if self.numpy and data.ndim == 0:
            return f"np.{data.dtype.name if data.dtype.kind != 'b' else 'bool_'}({value})"
        plain = _PLAIN.get(data.dtype.kind) == data.dtype.name
        maker = "np.array" if self.numpy else self.function("constant")
        return f"{maker}({value}{'' if plain else f', {data.dtype.name!r}'})"

    def _nested(self, data: np.ndarray) -> str:
        if data.ndim == 0:
            return self.number(data.item())[0]
        return f"[{', '.join(map(self._nested, data))}]"

    def leaf_constant(self, data: np.ndarray) -> Code:
        """A constant as an operand of a function that makes arrays of Python numbers."""
        if data.ndim == 0 and _PLAIN.get(data.dtype.kind) == data.dtype.name:
            return self.number(data.item())
        return self.constant(data), ATOM

    def weak_operands(self, op: Any, inputs: Sequence[Variable]) -> list[Code]:
        """The operands of an elementwise op: constants are numbers where their dtype follows from the others.

        A float that is whole is an integer where that means the same: `x ** 2`.
        """
        numbers = {k: i for k, i in enumerate(inputs) if isinstance(i, Constant) and i.data.ndim == 0 and not i.name}
        if len(numbers) == len(inputs):
            numbers.pop(0)
        kinds: list[Any] = [i.type.dtype for i in inputs]
        codes = [self.codes[i] for i in inputs]
        wanted = op.loop(tuple(kinds))
        for k, i in enumerate(inputs):
            made = _cast_from(i)
            if made not in self.codes:  # None, or too deep for a short form
                continue
            if _loop(op, [*kinds[:k], made.type.dtype, *kinds[k + 1 :]]) == wanted:
                kinds[k], codes[k] = made.type.dtype, self.codes[made]  # NumPy converts it anyway
        for k, operand in numbers.items():
            codes[k] = (self.constant(operand.data), ATOM)
            for value in _as_numbers(operand.data):
                weak = [*kinds[:k], promotion.weak_type(value), *kinds[k + 1 :]]
                if _loop(op, weak) == wanted and _same(np.asarray(value, operand.dtype), operand.data):
                    kinds, codes[k] = weak, self.number(value)
                    break
        for k, i in enumerate(inputs):
            if k not in numbers and isinstance(i, Constant) and i.data.ndim == 0:
                codes[k] = (self.constant(i.data), ATOM) if not i.name else self.codes[i]
        return codes


def bound(code: Code, level: int) -> str:
    """The text, in parentheses if it binds looser than `level`."""
    text, own = code
    return text if own >= level else f"({text})"


def arguments(operands: Sequence[str], options: Mapping[str, Any]) -> str:
    """Operands and options between the parentheses of a call."""
    return ", ".join([*operands, *(f"{name}={value!r}" for name, value in options.items())])


def indexed(entries: Sequence[str]) -> str:
    return f"[{', '.join(entries)}]"


def _as_numbers(data: np.ndarray) -> list[Any]:
    """The Python numbers that stand for an array of one element, the shortest first."""
    value = data.item()
    if isinstance(value, float) and data.dtype.itemsize < 8:
        value = float(np.format_float_scientific(data.dtype.type(value)))  # the shortest of the dtype
    whole = isinstance(value, float) and value.is_integer() and abs(value) < _MOST_WHOLE
    return [int(value), value] if whole and not (value == 0 and math.copysign(1, value) < 0) else [value]


def _cast_from(value: Variable) -> Variable | None:
    """Return the integers that are cast, of a cast of integers."""
    node = value.owner
    if node is None or getattr(node.op, "name", "") != "cast" or node.inputs[0].type.kind not in "iu":
        return None
    return None if isinstance(node.inputs[0], Constant) or value.type.kind != "f" else node.inputs[0]


def _loop(op: Any, kinds: Sequence[Any]) -> Any:
    try:
        return op.loop(tuple(kinds))
    except (TypeError, OverflowError):
        return None


def _same(a: Any, b: Any) -> bool:
    """Whether two numbers are the same bits; NaN equals NaN."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and (a.tobytes() == b.tobytes() or bool(np.isnan(a) and np.isnan(b)))


@cache
def _of_numpy(name: str) -> str:
    """The function of NumPy or SciPy that the vocabulary calls `name`.  Raises Unwritten if there is none."""
    path = name.removeprefix("nn.").split(".")
    found: Any = np
    for part in path:
        found = getattr(found, part, None)
    if callable(found) and not isinstance(found, type):
        return f"np.{'.'.join(path)}"
    if path[-1] in _SCIPY:
        return _SCIPY[path[-1]]
    raise Unwritten(f"NumPy has no {name}")


# --- how ops are written


def elementwise(op: Any, output: Variable, speaker: Speaker) -> Code:
    """An elementwise op: a sign between its operands, or a call."""
    assert output.owner is not None
    inputs = output.owner.inputs
    codes = speaker.weak_operands(op, inputs)
    sign = op.sign
    if sign and len(codes) == 1:
        if sign == "-" and _takes_sign(inputs[0]) and codes[0][1] == PRODUCT:
            return f"-{codes[0][0]}", PRODUCT
        return sign + bound(codes[0], SIGN), SIGN
    if op.name == "mul" and speaker.loose:
        codes = _without_parentheses(inputs, codes)
    by_identity = sign in _BY_IDENTITY and not speaker.numpy and not any(_is_number(text) for text, _ in codes)
    if sign and not by_identity and _folds(op, inputs):
        return speaker.infix(sign, *codes)
    texts = [text for text, _ in codes]
    if not speaker.numpy:
        return f"{speaker.function(op.name)}({', '.join(texts)})", ATOM
    ufunc = isinstance(op.function, np.ufunc)
    name = f"np.{op.function.__name__}" if ufunc else _of_numpy(op.name)
    written = f"{name}({', '.join(texts[: op.arity or 2])})"
    for text in texts[op.arity or 2 :]:
        written = f"{name}({written}, {text})"
    return written, ATOM


_SIGN_INSIDE = frozenset({"*", "/", "@"})
"""Operators of which a minus before the first operand means the same bits as one before the whole."""


def _takes_sign(product: Variable) -> bool:
    above = product.owner
    return above is not None and getattr(above.op, "sign", "") in _SIGN_INSIDE and product.type.kind in "fc"


def _without_parentheses(inputs: Sequence[Variable], codes: list[Code]) -> list[Code]:
    """Return the factors: scalars multiply the first operand of the product of matrices behind them as well."""
    scalars = 0
    while scalars < len(inputs) - 1 and inputs[scalars].ndim == 0:
        scalars += 1
    above = inputs[scalars].owner if scalars else None
    if above is not None and getattr(above.op, "sign", "") == "@" and codes[scalars][1] == PRODUCT:
        codes[scalars] = (codes[scalars][0], ATOM)
    return codes


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit() and "j" not in text


def _folds(op: Any, inputs: Sequence[Variable]) -> bool:
    """Whether three or more operands mean the same if they are joined from the left, two by two."""
    if len(inputs) < 3:
        return True
    whole, _ = op.loop(tuple([i.type.dtype for i in inputs]))
    return all(numpy_dtype(i.type.dtype) == numpy_dtype(whole[0]) or isinstance(i, Constant) for i in inputs)


def spelled(op: Any, output: Variable, speaker: Speaker) -> Code:
    """An op as a call of the function `op.spelling`, its fields as options."""
    node = output.owner
    assert node is not None
    options = {k: v for k, v in op.parameters().items() if v is not None}
    return part_of(output, speaker.call(op.spelling, *speaker.texts(node.inputs), **options))


def part_of(output: Variable, code: Code) -> Code:
    """One output of several."""
    assert output.owner is not None
    return (f"{bound(code, ATOM)}[{output.index}]", ATOM) if len(output.owner.outputs) > 1 else code


def of_class(op: Op, output: Variable, speaker: Speaker) -> Code:
    """An op as its class with its fields, applied: what any op can be written as."""
    node = output.owner
    assert node is not None
    made = op_code(op, speaker)
    if speaker.numpy:  # whose arguments are arrays, also where NumPy would take numbers
        arrays = [speaker.atom(i) if isinstance(i, Constant) and not i.name else speaker.text(i) for i in node.inputs]
        return f"{made}.evaluate({', '.join(arrays)})[{output.index}]", ATOM
    return part_of(output, (f"{made}({', '.join(speaker.texts(node.inputs))})", ATOM))


def op_code(op: Op, speaker: Speaker) -> str:
    """The op itself, made by its class."""
    prefix = "" if speaker.language == "text" and type(op).__name__ not in speaker.taken else "T."
    own = getattr(op, "constructor", None)
    if own is not None:
        name, options = own()
        return f"{prefix}{name}({arguments((), options)})"
    if not is_dataclass(op) or getattr(op, "symbol", ""):  # a record of an elementwise op
        return f"{prefix}{op.name}" if getattr(op, "symbol", "") else f"{prefix}{type(op).__name__}()"
    values = {f.name: getattr(op, f.name) for f in fields(op) if f.init}
    written = (f"{name}={_field(value, speaker)}" for name, value in values.items())
    return f"{prefix}{type(op).__name__}({', '.join(written)})"


def _field(value: Any, speaker: Speaker) -> str:
    if isinstance(value, Op):
        return op_code(value, speaker)
    if hasattr(value, "outputs") and hasattr(value, "inputs"):
        prefix = "" if speaker.language == "text" and "parse" not in speaker.taken else "ag."
        return speaker.define("body", f'{prefix}parse("""{value}""")')
    return repr(value)


def identifier(name: str) -> str:
    """The name as a name of Python: other characters become underscores."""
    made = "".join(c if c.isidentifier() or (c.isalnum() and n) else "_" for n, c in enumerate(name)) or "_"
    made = made if made.isidentifier() else f"_{made}"
    return f"{made}_" if keyword.iskeyword(made) else made


Writer = Callable[[Any, Variable, Speaker], Code]
"""How an op is written: a function of the op, the output and the speaker."""


def operand(op: Any, output: Variable, speaker: Speaker) -> Code:
    """The first operand as it is."""
    assert output.owner is not None
    return speaker.codes[output.owner.inputs[0]]
