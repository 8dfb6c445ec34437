"""The text form of a graph: typed, stable, and read back by `parse`.

    graph     ::= "fn(" [input {", " input}] ") {" {statement} "return " values "}"
    input     ::= name ": " type [" <- " number of the output that replaces it after the run]
    statement ::= name ": " type {", " name ": " type} " = " op "(" values ")" {" " field {"." field} " = " graph}
    op        ::= name ["{" field "=" (op | Python literal) {", " ...} "}"]
    value     ::= name | type "(" Python literal ")" | type "(bits " base64 of the bytes ")"
    type      ::= dtype ["[" (number | "?") {", " ...} "]"]

One variable keeps one name in several printings if they are given the same `names`, so a diff shows only what changed.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..record import lazy
from ..record.spelling import counted
from .op import Op
from .types import DTYPES, TensorType
from .walk import leaves, toposort

if TYPE_CHECKING:
    import base64

    from .node import Variable
else:
    base64 = lazy.module("base64")

_SPELLED_OUT = 16
"""Arrays of up to this many elements are written as literals, larger ones as their bytes."""


def is_name(text: str) -> bool:
    """Return whether the parser reads the text as one name: an identifier of letters, digits and underscores."""
    return text.isidentifier() and text.replace("_", "a").isalnum()


class Names:
    """Names of variables: the user's where they are free identifiers, else v0, v1, ..., shared_0, ... if shared."""

    def __init__(self) -> None:
        self._of: dict[Variable, str] = {}
        self._taken: set[str] = set()
        self._next: Counter[str] = Counter()

    def __getitem__(self, variable: Variable) -> str:
        found = self._of.get(variable)
        return self.give(variable) if found is None else found

    def give(self, variable: Variable) -> str:
        """A new name for `variable`."""
        wish = variable.name
        if wish and is_name(wish) and wish not in self._taken and wish not in (*DTYPES, "fn", "return"):
            name = wish
        else:
            name = self._fresh(variable.stem)
        self._of[variable] = name
        self._taken.add(name)
        return name

    def _fresh(self, stem: str) -> str:
        while True:
            name = f"{stem}{self._next[stem]}"
            self._next[stem] += 1
            if name not in self._taken:
                return name


def show(
    inputs: Sequence[Variable],
    outputs: Sequence[Variable],
    names: Names | None = None,
    updates: Sequence[tuple[int, int]] = (),
) -> str:
    """The text of the graph from `inputs` to `outputs`."""
    return "\n".join(_lines(inputs, outputs, names or Names(), "", dict(updates)))


def _lines(
    inputs: Sequence[Variable], outputs: Sequence[Variable], names: Names, indent: str, updates: Mapping[int, int]
) -> Iterator[str]:
    for i in inputs:
        names[i]  # inputs have the first choice of names
    for leaf in leaves(outputs):
        if not hasattr(leaf, "data"):
            names[leaf]
    replaced = {position: f" <- {output}" for position, output in updates.items()}
    typed = [f"{names[i]}: {i.type}{replaced.get(n, '')}" for n, i in enumerate(inputs)]
    yield f"{indent}fn({', '.join(typed)}) {{"
    inner = indent + "  "
    for node in toposort(outputs):
        op, graphs = op_text(node.op), subgraphs(node.op)
        operands = ", ".join(_value(i, names) for i in node.inputs)
        results = ", ".join(f"{names[o]}: {o.type}" for o in node.outputs)
        line = f"{inner}{results} = {op}({operands})"
        for field, graph in graphs.items():
            first, *rest = _lines(graph.inputs, graph.outputs, Names(), inner, dict(graph.updates))
            yield f"{line} {field} = {first.lstrip()}"
            yield from rest[:-1]
            line = rest[-1]
        yield line
    yield f"{inner}return {', '.join(_value(o, names) for o in outputs)}"
    yield f"{indent}}}"


def subgraphs(op: Op) -> dict[str, Any]:
    """The parameters of an op, and of the ops inside it, that are graphs: by field name, with dots between levels."""
    found: dict[str, Any] = {}
    for field, value in op.parameters().items():
        if isinstance(value, Op):
            found.update((f"{field}.{inner}", graph) for inner, graph in subgraphs(value).items())
        elif _is_graph(value):
            found[field] = value
    return found


def _is_graph(value: object) -> bool:
    return hasattr(value, "outputs") and hasattr(value, "inputs")


def op_text(op: Op) -> str:
    """The op as `name{field=value, ...}`, without the fields that are graphs."""
    plain = {k: v for k, v in op.parameters().items() if not _is_graph(v)}
    inside = ", ".join(f"{k}={op_text(v) if isinstance(v, Op) else repr(v)}" for k, v in plain.items())
    return f"{op.name}{{{inside}}}" if inside else op.name


def _value(variable: Variable, names: Names) -> str:
    data = getattr(variable, "data", None)
    return names[variable] if data is None else constant_text(data)


def constant_text(data: np.ndarray) -> str:
    """A constant such as `float64(1.5)`; bytes where a literal would be long or would not give the same bits."""
    kind = str(TensorType(data.dtype.name, data.shape))
    if data.size <= _SPELLED_OUT:
        literal = repr(data.tolist())
        try:
            again = np.asarray(ast.literal_eval(literal), dtype=data.dtype)
        except ValueError:  # nan, inf
            again = None
        if again is not None and again.shape == data.shape and again.tobytes() == data.tobytes():
            return f"{kind}({literal})"
    return f"{kind}(bits {base64.b64encode(data.tobytes()).decode()})"


def constant_label(data: np.ndarray) -> str:
    """Short text of a constant: its numbers if they are few, else its type."""
    kind = TensorType(data.dtype.name, data.shape)
    return f"{kind}({data.tolist()!r})" if data.size <= _SPELLED_OUT else f"a constant {kind}"


# --- reading


class Vocabulary(NamedTuple):
    """The language that a parser knows: ops by name (an Op, or a callable of its fields) and how leaves are made."""

    ops: Mapping[str, Any]
    variable: Callable[..., Variable]
    constant: Callable[[np.ndarray], Variable]
    graph: Callable[..., Any]


class ParseError(ValueError):
    """A syntax error in the text of a graph; the message has line, column, expected and actual text."""


@lru_cache(maxsize=1)
def _field_of_graph() -> re.Pattern[str]:
    return re.compile(r"\s*([^\W\d][\w.]*)\s*=\s*(?=fn\()")


@lru_cache(maxsize=1)
def _token() -> re.Pattern[str]:
    return re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<mark><-|[(){}\[\]:,=?]))")


class _OpText(NamedTuple):
    """A parsed op before its graphs are attached: its fields are literals and other parsed ops."""

    name: str
    fields: dict[str, Any]

    def put(self, path: str, graph: Any) -> None:
        """Fill in the graph at `path`, such as `op.graph`."""
        *outer, field = path.split(".")
        target = self
        for step in outer:
            target = target.fields[step]
        target.fields[field] = graph


class _Reader:
    """A position in the text; its methods read one piece of the grammar each."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text, self.at, self.vocabulary = text, 0, vocabulary

    def fail(self, expected: str) -> ParseError:
        rest = self.text[self.at :].lstrip()
        line = self.text.count("\n", 0, len(self.text) - len(rest)) + 1
        return ParseError(f"line {line}: expected {expected}, got {rest.splitlines()[0][:40] if rest else 'the end'!r}")

    def peek(self) -> str:
        match = _token().match(self.text, self.at)
        return match.group().strip() if match else ""

    def take(self, what: str | None = None, kind: str | None = None) -> str:
        match = _token().match(self.text, self.at)
        if match is None or (what and match.group().strip() != what) or (kind and match.lastgroup != kind):
            raise self.fail(repr(what) if what else f"a {kind}")
        self.at = match.end()
        return match.group().strip()

    def several(self, one: Callable[[], Any], end: str) -> list[Any]:
        """Parse a comma-separated list up to the mark `end`."""
        found: list[Any] = []
        while self.peek() != end:
            if found:
                self.take(",")
            found.append(one())
        self.take(end)
        return found

    def balanced(self, ends: str) -> str:
        """The text up to a mark of `ends` that is not inside brackets or quotes."""
        start, depth, quote = self.at, 0, ""
        while self.at < len(self.text):
            c = self.text[self.at]
            if quote:
                if c == "\\":
                    self.at += 1
                elif c == quote:
                    quote = ""
            elif c in "\"'":
                quote = c
            elif depth == 0 and c in ends:
                return self.text[start : self.at].strip()
            else:
                depth += (c in "([{") - (c in ")]}")
            self.at += 1
        raise self.fail(f"one of {ends!r}")

    def type(self) -> TensorType:
        dtype = self.take(kind="name")
        if dtype not in DTYPES:
            raise ParseError(f"{dtype!r} is not a dtype; expected one of {', '.join(DTYPES)}")
        if self.peek() != "[":
            return TensorType(dtype)
        self.take("[")
        return TensorType(dtype, tuple(self.several(self._length, "]")))

    def _length(self) -> int | None:
        if self.peek() == "?":
            self.take("?")
            return None
        return int(self.take(kind="number"))

    def _typed_name(self) -> tuple[str, TensorType]:
        name = self.take(kind="name")
        self.take(":")
        return name, self.type()

    def _input(self) -> tuple[str, TensorType, int | None]:
        name, kind = self._typed_name()
        if self.peek() != "<-":
            return name, kind, None
        self.take("<-")
        return name, kind, int(self.take(kind="number"))

    def value(self, known: Mapping[str, Variable]) -> Variable:
        name = self.peek()
        if name not in DTYPES:
            self.take(kind="name")
            if name not in known:
                raise ParseError(f"{name!r} is used before it is defined")
            return known[name]
        kind = self.type()
        self.take("(")
        literal = self.balanced(")")
        self.take(")")
        return self.vocabulary.constant(_read_constant(kind, literal))

    def op(self) -> _OpText:
        name, fields = self.take(kind="name"), {}
        if self.peek() == "{":
            self.take("{")
            fields = dict(self.several(self._field, "}"))
        return _OpText(name, fields)

    def _field(self) -> tuple[str, Any]:
        field = self.take(kind="name")
        self.take("=")
        if self.peek() in self.vocabulary.ops:
            return field, self.op()
        literal = self.balanced(",}")
        try:
            return field, ast.literal_eval(literal)
        except (ValueError, SyntaxError):
            raise ParseError(f"{literal!r} is neither an op nor a Python literal") from None

    def resolve(self, op: _OpText) -> Op:
        known = self.vocabulary.ops.get(op.name)
        if known is None:
            raise ParseError(f"{op.name!r} is not an op")
        fields = {k: self.resolve(v) if isinstance(v, _OpText) else v for k, v in op.fields.items()}
        return known if isinstance(known, Op) and not fields else known(**fields)

    def statement(self, known: dict[str, Variable]) -> None:
        results = [self._typed_name()]
        while self.peek() == ",":
            self.take(",")
            results.append(self._typed_name())
        self.take("=")
        op = self.op()
        self.take("(")
        operands = self.several(lambda: self.value(known), ")")
        while (path := self._subgraph_path()) is not None:
            op.put(path, self.graph())
        outputs = self.resolve(op)(*operands)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        if len(outputs) != len(results):
            raise ParseError(f"{op.name} has {counted(len(outputs), 'output')}, {len(results)} are named")
        for (result, kind), output in zip(results, outputs, strict=True):
            if output.type != kind:
                raise ParseError(f"{result} is said to be {kind}; {op.name} gives {output.type}")
            output.name = None if re.fullmatch(r"v\d+", result) else result
            known[result] = output

    def _subgraph_path(self) -> str | None:
        """The field that a graph follows for, as in ` op.graph = fn(`, if one does; it is then read."""
        match = _field_of_graph().match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group(1)

    def graph(self) -> Any:
        self.take("fn")
        self.take("(")
        known: dict[str, Variable] = {}
        inputs: list[Variable] = []
        updates: list[tuple[int, int]] = []
        for name, kind, output in self.several(self._input, ")"):
            if output is not None:
                updates.append((len(inputs), output))
            known[name] = self.vocabulary.variable(kind, name=None if re.fullmatch(r"v\d+", name) else name)
            inputs.append(known[name])
        self.take("{")
        while self.peek() != "return":
            self.statement(known)
        self.take("return")
        outputs = self.several(lambda: self.value(known), "}")
        return self.vocabulary.graph(inputs, outputs, updates) if updates else self.vocabulary.graph(inputs, outputs)


def _read_constant(kind: TensorType, literal: str) -> np.ndarray:
    if literal.split(" ", 1)[0] == "bits":  # followed by nothing where there are no elements
        data = np.frombuffer(base64.b64decode(literal[5:]), dtype=kind.numpy)
    else:
        data = np.asarray(ast.literal_eval(literal), dtype=kind.numpy)
    return data.reshape([n or 0 for n in kind.shape])


def parse(text: str, vocabulary: Vocabulary) -> Any:
    """Parse a graph.  Raises ParseError with the line of a syntax error."""
    if not isinstance(text, str):
        raise TypeError(f"parse: expected the text of a graph, got {text!r}")
    reader = _Reader(text, vocabulary)
    graph = reader.graph()
    if reader.text[reader.at :].strip():
        raise reader.fail("the end")
    return graph
