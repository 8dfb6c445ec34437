"""Expressions as the text of an NNEF graph and its tensors: `Writer`, and the tables of what it writes.

An op of ours is written by the function registered for its class (`writes`), which adds operations of NNEF.
Elementwise ops are those of the reader's table, read backwards.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...graph import Apply, Constant, Variable
from .signatures import ATTRIBUTES, OPERANDS

KINDS = {"float32": "scalar", "int64": "integer", "bool": "logical"}
"""The type of NNEF for each dtype that is written."""
_FORMS = {"float32": (32, 0), "int64": (64, 4)}
"""Bits of an element and the code of its kind, as tensor files have them."""

Reads = Callable[[Apply], Iterable[Variable]]
Writing = Callable[..., Any]
WRITERS: dict[type, tuple[Reads, Writing]] = {}
"""By class of op: the inputs that a node needs as values, and the function (writer, node) -> name."""


class CannotWrite(Exception):
    """NNEF has no op for a node: the text names it."""


def all_inputs(node: Apply) -> Iterable[Variable]:
    """Every input, as a value."""
    return node.inputs


def first_input(node: Apply) -> Iterable[Variable]:
    """The first input; others are lengths or positions."""
    return node.inputs[:1]


def writes(*kinds: type, reads: Reads = all_inputs) -> Callable[[Writing], Writing]:
    """Register the function that writes nodes of these ops; `reads`: the inputs that it needs as values."""
    return lambda function: WRITERS.update(dict.fromkeys(kinds, (reads, function))) or function


def writer_of(node: Apply) -> tuple[Reads, Writing]:
    """The registered functions for the op of a node.  Raises CannotWrite if there are none."""
    found = next((WRITERS[kind] for kind in type(node.op).__mro__ if kind in WRITERS), None)
    if found is None:
        raise CannotWrite(node.op.name)
    return found


class Writer:
    """Collects the lines and tensors of one model."""

    def __init__(self) -> None:
        self.names: dict[Variable, str] = {}
        self.lines: list[str] = []
        self.tensors: dict[str, np.ndarray] = {}
        """Arrays by label, which is the name of the file without its ending."""
        self.missing: dict[str, list[str]] = {}
        """Ops that cannot be written, with the lines that they come from."""
        self._taken: set[str] = set()

    # --- names and values
    def name(self, wanted: str) -> str:
        """An unused name: the wanted one made an identifier, with a number if it is taken."""
        base = re.sub(r"\W", "_", wanted, flags=re.ASCII)
        base = base if re.match("[A-Za-z_]", base) else f"t_{base}"
        found, number = base, 1
        while found in self._taken or found in OPERANDS or found in ATTRIBUTES:
            found, number = f"{base}_{number}", number + 1
        self._taken.add(found)
        return found

    def value(self, variable: Variable) -> str:
        """The name of a value; add its lines if they are missing."""
        stack = [variable]
        while stack:
            last = stack[-1]
            if last in self.names:
                stack.pop()
            elif isinstance(last, Constant):
                self.names[last] = self._constant(last)
            else:
                assert last.owner is not None
                missing = [v for v in self._read(last.owner) if v not in self.names]
                stack += missing
                if not missing:
                    self._write(last.owner)
        return self.names[variable]

    def _constant(self, constant: Constant) -> str:
        try:
            return self.tensor(constant.data, constant.name or "constant")
        except CannotWrite as error:
            self.missing.setdefault(str(error), [])
            return "missing"

    def operand(self, variable: Variable) -> str:
        """A value, or the literal of a single number."""
        return literal(variable.data.item()) if is_literal(variable) else self.value(variable)  # type: ignore[attr-defined]

    def tensor(self, array: np.ndarray, wanted: str) -> str:
        """The name of a variable of the model, whose numbers have a file of their own."""
        array = np.asarray(array)
        name = self.name(wanted)
        if array.dtype == "bool":
            items = array.ravel().tolist()
            return self.line(name, "constant", kind="logical", shape=list(array.shape), value=items)
        if array.dtype.name not in _FORMS:
            raise CannotWrite(f"constant of {array.dtype}")
        self.tensors[name] = array
        kind = KINDS[array.dtype.name]
        return self.line(name, "variable", kind=kind, shape=list(array.shape), label=name)

    # --- lines
    def op(self, op: str, *operands: str, **attributes: Any) -> str:
        """The name of the result of a new line."""
        return self.line(self.name(f"{op}_{len(self.lines)}"), op, *operands, **attributes)

    def line(self, name: str, op: str, *operands: str, kind: str = "", **attributes: Any) -> str:
        unknown = attributes.keys() - ATTRIBUTES.get(op, {}).keys()
        assert not unknown, f"{op} has no {unknown}"
        described = [*operands, *(f"{key} = {literal(value)}" for key, value in attributes.items())]
        self.lines.append(f"{name} = {op}{f'<{kind}>' if kind else ''}({', '.join(described)});")
        return name

    def _read(self, node: Apply) -> list[Variable]:
        try:
            return [v for v in writer_of(node)[0](node) if not is_literal(v)]
        except CannotWrite:
            return []

    def _write(self, node: Apply) -> None:
        try:
            for output in node.outputs:
                if output.dtype not in KINDS:
                    raise CannotWrite(f"{node.op.name} of {output.dtype}")
            found = writer_of(node)[1](self, node)
        except CannotWrite as error:
            self.missing.setdefault(str(error), []).extend(str(line) for line in node.origin[:1])
            found = ["missing"] * len(node.outputs)
        for output, name in zip(node.outputs, [found] if isinstance(found, str) else found, strict=True):
            self.names[output] = name

    def name_last(self, variable: Variable, wanted: str) -> None:
        """Name an output: rename the result if its line is the last one, else add a copy."""
        is_new = variable not in self.names and not isinstance(variable, Constant)
        found = self.value(variable)
        if is_new and self.lines and self.lines[-1].startswith(f"{found} = "):
            self.lines[-1] = wanted + self.lines[-1].removeprefix(found)
            self.names.update((v, wanted) for v, name in self.names.items() if name == found)
        else:
            self.line(wanted, "copy", found)


def is_literal(variable: Variable) -> bool:
    """Whether a value is a constant of one number that the text can hold."""
    return isinstance(variable, Constant) and variable.data.size == 1 and math.isfinite(variable.data.item())


def literal(value: Any) -> str:
    """A number, string or list in NNEF's syntax."""
    if isinstance(value, (list, tuple)):
        begin, end = "[]" if isinstance(value, list) else "()"
        return f"{begin}{', '.join(map(literal, value))}{end}"
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}'"
    text = repr(value)
    return text.replace("e", ".0e") if isinstance(value, float) and "e" in text and "." not in text else text


def tensor_file(array: np.ndarray) -> bytes:
    """The bytes of a tensor file: magic, version, length, rank, eight lengths, bits, kind, padding, numbers."""
    bits, kind = _FORMS[array.dtype.name]
    lengths = [*array.shape, *[0] * (8 - array.ndim)]
    head = np.array([array.nbytes, array.ndim, *lengths, bits, kind], "<u4").tobytes()
    numbers: Sequence[int] = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
    return (b"N\xef\x01\x00" + head).ljust(128, b"\0") + bytes(numbers)
