"""A model in the NNEF format: a folder with the text of its graph and a file for each variable tensor.

Source of the format: The Khronos NNEF Specification, version 1.0.5.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...function.function import function
from ...graph import FunctionGraph, TensorType, Variable
from ...ops.core.shared import shared
from ...ops.core.tensor import TensorVariable, constant
from ...record.cached import cached_property
from ...record.spelling import counted
from . import convert_elementwise, convert_shapes, convert_windows  # noqa: F401  # they register themselves
from .parsing import Call, Name, parse
from .signatures import ATTRIBUTES, NONE, OPERANDS
from .table import CONVERTERS, Node, tensor
from .table import NnefError as NnefError

DTYPES = {"scalar": "float32", "integer": "int64", "logical": "bool"}
"""Our dtype for each of NNEF's."""
HEADER = 128
"""Bytes in front of the numbers of a tensor file."""
LARGEST = 1 << 40
"""Bytes beyond which a tensor is refused before anything is taken."""

MOST_OF_ONE = 1 << 28
"""Elements of a constant, which the text may give by a single number."""


class NnefModel:
    """A model: `inputs`, `outputs` and `parameters` are variables by name; calls take arrays by position or by name."""

    def __init__(
        self, name: str, inputs: Mapping[str, Variable], outputs: Mapping[str, Variable],
        parameters: Mapping[str, Variable],
    ) -> None:  # fmt: skip
        self.name = name
        self.inputs: dict[str, Variable] = dict(inputs)
        self.outputs: dict[str, Variable] = dict(outputs)
        self.parameters: dict[str, Variable] = dict(parameters)

    @property
    def graph(self) -> FunctionGraph:
        """The unoptimized graph."""
        return self._function.unoptimized_graph  # type: ignore[no-any-return]

    def function(self, **options: Any) -> Any:
        """The compiled function of the model; `options` are those of `ag.function`."""
        outputs = list(self.outputs.values())
        how = {"name": self.name, "on_unused_input": "ignore", **options}
        return function(list(self.inputs.values()), outputs[0] if len(outputs) == 1 else outputs, **how)

    @cached_property
    def _function(self) -> Any:
        return self.function()

    def __call__(self, *arrays: Any, **named: Any) -> Any:
        return self._function(*arrays, **named)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {v.type}" for name, v in self.inputs.items())
        return f"<NNEF model {self.name}({inputs}) -> {', '.join(self.outputs)}>"


def from_nnef(source: str | os.PathLike[str], trainable: bool = False) -> NnefModel:
    """The model in an NNEF folder, as expressions.

    Args:
        source: a folder with `graph.nnef` and the files of its variables.
        trainable: whether variables of floats become shared variables, which can be updated; else they are constants.

    Raises:
        NnefError: a ValueError that names the op, what was expected and what came.
    """
    folder = Path(source)
    path = folder / "graph.nnef"
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise NnefError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    graph = parse(text, path.name)
    unknown = sorted({c.op for _, line in graph.lines for c in _calls(line)} - set(CONVERTERS) - set(SOURCES))
    if unknown:
        raise NnefError(f"{path.name}: no converter for {', '.join(unknown)}")
    reader = _Reader(folder, trainable)
    with np.errstate(all="ignore"):
        for target, line in graph.lines:
            reader.add(target, line)
    inputs = {name: reader.named(name, 0) for name in graph.inputs}
    outputs = {name: reader.named(name, 0) for name in graph.outputs}
    return NnefModel(graph.name, inputs, outputs, reader.parameters)


SOURCES = ("external", "variable", "constant")
"""Ops without operands, which `_Reader` makes itself."""


def _calls(tree: Any) -> Iterator[Call]:
    """All calls in an expression."""
    if isinstance(tree, Call):
        yield tree
        for part in (*tree.given, *tree.named.values()):
            yield from _calls(part)
    elif isinstance(tree, (list, tuple)) and not isinstance(tree, Name):
        for part in tree:
            yield from _calls(part)


class _Reader:
    """Turns the lines of a graph into expressions."""

    def __init__(self, folder: Path, trainable: bool) -> None:
        self.folder, self.trainable = folder, trainable
        self.scope: dict[str, Any] = {}
        self.parameters: dict[str, Variable] = {}

    def add(self, target: Any, line: Any) -> None:
        """Convert one line; its results enter the scope."""
        names = target if isinstance(target, list) else [target]
        found = self.value(line, names[0])
        if isinstance(found, (list, tuple, str)) and not isinstance(target, list):
            raise NnefError(f"{target}: expected one tensor, got a {type(found).__name__}")
        results = found if isinstance(target, list) else [found]
        if not isinstance(results, list) or len(results) != len(names):
            raise NnefError(f"{', '.join(names)}: expected {counted(len(names), 'result')}, got {_count(results)}")
        for name, value in zip(names, results, strict=True):
            if name in self.scope:
                raise NnefError(f"two lines define {name}, expected one")
            self.scope[name] = tensor(value)

    def named(self, name: str, line: int) -> Any:
        if name not in self.scope:
            raise NnefError(f"{f'line {line}: ' if line else ''}{name} is read, but no earlier line defines it")
        return self.scope[name]

    def value(self, tree: Any, output: str) -> Any:
        """An expression as a variable, a literal, or a list of them."""
        if isinstance(tree, Name):
            return self.named(tree.name, tree.line)
        if isinstance(tree, Call):
            return self._called(tree, output)
        if isinstance(tree, list):
            return [self.value(part, output) for part in tree]
        return tuple(self.value(part, output) for part in tree) if isinstance(tree, tuple) else tree

    def _called(self, call: Call, output: str) -> Any:
        operands, attributes = self._bound(call, output)
        node = Node(call.op, output, attributes)
        try:
            if call.op in SOURCES:
                return self._made(node, call.kind)
            return CONVERTERS[call.op](node, *operands)
        except NnefError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError, NotImplementedError) as error:
            raise node.error(f"{error}\n  attributes: {attributes}"[:1000]) from error

    def _bound(self, call: Call, output: str) -> tuple[list[Any], dict[str, Any]]:
        """The operands and the attributes of a call, by the parameters of its op."""
        wanted = OPERANDS.get(call.op, {"input": NONE})
        parameters = {**wanted, **ATTRIBUTES.get(call.op, {})}
        given = dict(zip(parameters, call.given))
        wrong = next((n for n in call.named if n not in parameters or n in given), None)
        if wrong is not None or len(call.given) > len(parameters):
            got = wrong or counted(len(call.given), "argument")
            raise NnefError(f"{call.op} -> {output}: expected {', '.join(parameters)}, got {got}")
        values = {n: self.value(v, output) for n, v in (given | call.named).items()}
        missing = [n for n, default in parameters.items() if default is NONE and n not in values]
        if missing:
            raise NnefError(f"{call.op} -> {output}: there is no {missing[0]}; expected {', '.join(parameters)}")
        found = {**parameters, **values}
        return [found[n] for n in wanted], {n: found[n] for n in parameters if n not in wanted}

    def _made(self, node: Node, kind: str) -> Variable:
        """An input, a variable or a constant."""
        dtype = DTYPES.get(kind or "scalar")
        if dtype is None:
            raise node.error(f"the type is {kind}, expected {', '.join(DTYPES)}")
        if node.op == "external":
            return _input(node, dtype)
        array = _variable(node, self.folder) if node.op == "variable" else _constant(node, dtype)
        if node.op == "constant":
            return constant(array)
        weight = self.trainable and array.dtype.kind == "f"
        value = shared(array, name=node.output, shape=array.shape) if weight else constant(array)
        self.parameters[node["label"]] = value
        return value


def _count(results: Any) -> int:
    return len(results) if isinstance(results, list) else 1


def _input(node: Node, dtype: str) -> Variable:
    """The variable of an external tensor; a length of 0 is unknown until the call."""
    lengths = tuple(n or None for n in node["shape"])
    if any(n is not None and n < 0 for n in lengths):
        raise node.error(f"the shape is {node['shape']}, expected lengths of 0 and more")
    return TensorVariable(TensorType(dtype, lengths), name=node.output)


def _constant(node: Node, dtype: str) -> np.ndarray:
    values, shape = np.array(node["value"], dtype), tuple(node["shape"])
    _refuse_large(node, shape, LARGEST // MOST_OF_ONE)
    return np.broadcast_to(values, shape).copy() if values.size == 1 else values.reshape(shape)


def _refuse_large(node: Node, shape: tuple[int, ...], size: int) -> int:
    """The byte count of a tensor.  Raises NnefError above the limit."""
    count = size
    for n in shape:
        count *= n
    if any(n < 0 for n in shape) or count > LARGEST:
        raise node.error(f"the shape is {list(shape)}, which is not possible")
    return count


def _variable(node: Node, folder: Path) -> np.ndarray:
    """The array of a variable, whose file lies in the folder of the model."""
    base, label = folder.resolve(), str(node["label"])
    path = (base / f"{label.lstrip('/')}.dat").resolve()
    if base not in path.parents:
        raise node.error(f"the label {label!r} is outside of the model's folder")
    try:
        data = path.read_bytes()
    except OSError as error:
        raise node.error(f"{path.name}: {error.strerror or error}") from None
    shape, dtype = _header(node, path.name, data)
    if list(shape) != list(node["shape"]):
        raise node.error(f"{path.name} has the shape {list(shape)}, expected {list(node['shape'])}")
    size = _refuse_large(node, shape, dtype.itemsize)
    if len(data) != HEADER + size:
        raise node.error(f"{path.name} has {counted(len(data), 'byte')}, expected {HEADER + size}")
    array = np.frombuffer(data, dtype, offset=HEADER).reshape(shape)
    wide = {"f": "float32", "i": "int64", "u": "int64", "b": "bool"}[dtype.kind]
    return array.astype(wide)


def _header(node: Node, name: str, data: bytes) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of a tensor file: magic, version, length, rank, eight lengths, bits, kind."""
    if len(data) < HEADER or data[:2] != b"N\xef":
        raise node.error(f"{name} is no tensor of the format, or it is cut short")
    rank, *lengths = np.frombuffer(data, "<u4", 9, 8).tolist()
    bits, kind = np.frombuffer(data, "<u4", 2, 44).tolist()
    letter = {0: "f", 1: "u", 4: "i"}.get(kind)
    if letter is None or bits not in (8, 16, 32, 64) or (letter == "f" and bits == 8) or rank > 8:
        raise node.error(f"{name} has numbers of kind {kind} and {bits} bits, expected floats or integers")
    return tuple(lengths[:rank]), np.dtype(f"<{letter}{bits // 8}")
