"""One node of an ONNX graph as converters see it: its attributes, the version of its op set, errors that name it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....graph import SourceLine, Variable
from ....record.spelling import counted
from .narrow import TEXT, format_of, value_of
from .text import Words
from .values import array_of


class OnnxError(ValueError):
    """Error for an unreadable model: the message names node, operand, expected and actual value."""


class ModelLine(SourceLine):
    """A node of a model, as the line that expressions come from: `file` says its op and name, `line` its number."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.file


def line_of(proto: Any, number: int) -> ModelLine:
    """The location of a node in its model, for profiles and errors."""
    name = proto.name or "-> " + ", ".join(filter(None, proto.output))
    return ModelLine(f"{proto.op_type} {name}", number)


class Signature:
    """The operands of an op in the standard, as the checks of its nodes read them."""

    def __init__(self, schema: Any) -> None:
        operands = list(schema.inputs)
        self.names: list[str] = [formal.name for formal in operands]
        self.required: list[Any] = [formal.option == formal.option.Single for formal in operands]
        self.types = [f.type_str if f.type_str[:1] == "T" and f.is_homogeneous else "" for f in operands]
        """The type parameter of each operand, empty for none; the last one is also that of variadic operands."""
        self.least: int = int(schema.min_input)
        self.most: int = int(schema.max_input)
        of_text = (c.type_param_str for c in schema.type_constraints if "tensor(string)" in c.allowed_type_strs)
        self.of_text: set[str] = set(of_text)
        """The type parameters that may be that of strings."""


class Node:
    """A node: `op`, `version` of its op set, `attr(name, default)`, the `words` of its model."""

    def __init__(
        self, proto: Any, version: int, place: str, build: Callable[..., Any], formats: Sequence[Any], words: Words
    ) -> None:
        self.proto: Any = proto
        self.version: int = version
        self.place: str = place
        self.words: Words = words
        self.op: str = proto.op_type
        self.attributes: dict[Any, Any] = {a.name: a for a in proto.attribute}
        self.wanted: list[bool] = [bool(name) for name in proto.output]
        """For each output whether it may have a reader."""
        self.formats: list[Any] = list(formats)
        """The narrow dtype of each operand, None for all others."""
        self.results: list[Any] | None = None
        """The narrow dtypes of what its subgraphs returned; None before."""
        self._build = build

    def attr(self, name: str, default: Any = None) -> Any:
        """The value of an attribute: int, float, text, array, list, or a GraphProto."""
        found = self.attributes.get(name)
        if found is None:
            return default
        kinds = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings"}
        if found.type not in kinds:
            raise self.error(f"attribute {name} is of kind {found.type}, which is not supported")
        value = getattr(found, kinds[found.type])
        if found.type == 3:
            return value.decode("utf-8", "replace")
        if found.type == 4:
            array = array_of(value, self.error)
            return self.words.codes(array) if array.dtype.kind == "O" else array
        if found.type == 8:
            return [text.decode("utf-8", "replace") for text in value]
        return list(value) if found.type in (6, 7) else value

    def format(self, operand: int) -> Any:
        """The narrow dtype of an operand; None for all others, and for operands that are left out."""
        return self.formats[operand] if operand < len(self.formats) else None

    def need(self, name: str) -> Any:
        """The value of an attribute that must be there."""
        value = self.attr(name)
        if value is None:
            raise self.error(f"has no attribute {name}")
        return value

    def body(self, name: str, operands: Sequence[Any]) -> list[Any]:
        """The outputs of the graph in an attribute on these operands; its free names are those around the node."""
        values = self._build(self.need(name), operands)
        found = [format_of(v) for v in values]
        self.results = [a or b for a, b in zip(found, self.results or found, strict=True)]
        return [value_of(v) for v in values]

    def check(self, operands: Sequence[Any], signature: Signature | None) -> None:
        """Raise OnnxError if the standard forbids this number of operands or their dtypes."""
        if signature is not None:
            self._check_count(operands, signature)
            self._check_dtypes(operands, signature)

    def _check_dtypes(self, operands: Sequence[Any], signature: Signature) -> None:
        """Raise OnnxError if operands of one type parameter, such as T, have different dtypes."""
        types = signature.types
        if len(operands) > len(types):
            types = types + types[-1:] * (len(operands) - len(types))
        bound: dict[str, tuple[str, str]] = {}
        for name, parameter, form, value in zip(self.proto.input, types, self.formats, operands, strict=False):
            if not parameter or not isinstance(value, Variable):
                continue
            if form == TEXT and parameter not in signature.of_text:
                raise self.error(f"expected numbers, got strings ({name})")
            got = (form.name if form else value.dtype), name
            first = bound.setdefault(parameter, got)
            if first[0] != got[0]:
                raise self.error(f"expected operands of one dtype, got {first[0]} ({first[1]}) and {got[0]} ({got[1]})")

    def _check_count(self, operands: Sequence[Any], signature: Signature) -> None:
        names = signature.names
        if not signature.least <= len(operands) <= signature.most:
            least, most = signature.least, min(signature.most, 1 << 30)
            expected = f"{least}" if least == most else f"{least} or more" if most == 1 << 30 else f"{least} to {most}"
            raise self.error(f"has {counted(len(operands), 'operand')}, expected {expected}: {', '.join(names)}")
        for name, is_required, given in zip(names, signature.required, operands, strict=False):
            if given is None and is_required and self.proto.input:
                raise self.error(f"its required operand {name} is missing")

    def described(self, error: Exception, operands: Sequence[Any]) -> str:
        """The message of an error in a converter: the reason, the operands and the attributes."""
        reason = {KeyError: f"{error} is no value that it takes", MemoryError: "needs more memory than there is"}
        types = ", ".join("none" if o is None else str(getattr(o, "type", type(o).__name__)) for o in operands)
        given = [f"{name}={self.attr(name)!r:.60}" for name, a in self.attributes.items() if a.type in (1, 2, 3, 6, 7)]
        attributes = f"\n  attributes: {', '.join(given)}" if given else ""
        return f"{reason.get(type(error), error)}\n  operands: {types}{attributes}"

    def error(self, problem: str) -> OnnxError:
        """An OnnxError that names this node."""
        return OnnxError(f"{self}: {problem}")

    def __str__(self) -> str:
        name = f" {self.proto.name!r}" if self.proto.name else ""
        outputs = ", ".join(filter(None, self.proto.output))
        return f"{self.place}node{name} {self.op} (version {self.version}) -> {outputs}"
