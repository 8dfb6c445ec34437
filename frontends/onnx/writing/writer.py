"""Expressions as the nodes of an ONNX graph: `Writer`.

A node of ours is written by the function registered for its op (`writes`), which adds nodes of ONNX, or first becomes
other expressions of ours (`means`), which are written in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ....graph import Apply, Constant, Op, TensorType, Variable
from ....graph.walk import toposort
from ..reading.loading import onnx_package
from ..reading.values import NUMBER_OF

VERSION = 21
"""The op set that is written."""

CHOSEN_AS = {
    **dict.fromkeys(("bool", "int8", "int16", "uint16"), "int32"), "uint32": "int64", "uint64": "int64",
}  # fmt: skip
"""The dtypes in which `Writer.where` chooses among others."""

Writing = Callable[..., Any]
WRITERS: dict[Any, Writing] = {}
"""Functions (writer, node) -> name, or names of several outputs; by the class or the name of an op."""
MEANINGS: dict[Any, Writing] = {}
"""Functions (op, *operands) -> other expressions with that value; by class, or by the name of an op."""


def writes(*ops: Any) -> Callable[[Writing], Writing]:
    """Register the function that writes nodes of these ops."""
    return lambda function: WRITERS.update(dict.fromkeys(ops, function)) or function


def means(*ops: Any) -> Callable[[Writing], Writing]:
    """Register the function that expresses these ops by others."""
    return lambda function: MEANINGS.update(dict.fromkeys(ops, function)) or function


class Writer:
    """Collects the nodes and initializers of one model."""

    def __init__(self) -> None:
        self.onnx: Any = onnx_package()
        self.names: dict[Variable, str] = {}
        """The name of each value that is written."""
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.missing: dict[str, list[str]] = {}
        """Ops that cannot be written, with the lines that they come from."""
        self._taken: set[str] = set()
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    # --- names and values
    def name(self, wanted: str) -> str:
        """An unused name: the wanted one, with a number if it is taken."""
        found, number = wanted, 1
        while found in self._taken:
            found, number = f"{wanted}_{number}", number + 1
        self._taken.add(found)
        return found

    def value(self, variable: Variable) -> str:
        """The name of a value; add its nodes if they are missing."""
        if variable not in self.names:
            for node in toposort([variable], stop_at=self.names.keys()):
                self._write(node)
        if variable not in self.names:
            if not isinstance(variable, Constant):
                raise AssertionError(f"{variable} is no input")
            self.names[variable] = self.const(variable.data)
        return self.names[variable]

    def values(self, variables: Sequence[Variable]) -> list[str]:
        return [self.value(v) for v in variables]

    def add_initializer(self, array: np.ndarray, wanted: str) -> str:
        name = self.name(wanted)
        self.initializers.append(self.onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def const(self, value: Any, dtype: str | None = None) -> str:
        """The name of a constant; equal ones are one initializer.  Python integers are int64."""
        array = np.asarray(value, dtype=dtype or _DTYPES.get(type(value)))
        key = (array.dtype.name, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self.add_initializer(array, f"c{len(self._constants)}")
        return self._constants[key]

    def narrow(self, array: np.ndarray, dtype: str) -> str:
        """The name of a constant of integers in that dtype, which may have 4 bits."""
        if dtype == array.dtype.name:
            return self.const(array)
        name, kind = self.name(f"w{len(self.initializers)}"), self.onnx.TensorProto.DataType.Value(dtype.upper())
        self.initializers.append(self.onnx.helper.make_tensor(name, kind, array.shape, array.reshape(-1)))
        return name

    # --- nodes
    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """The output of a new node."""
        return self.several(kind, inputs, 1, **attributes)[0]

    def several(self, kind: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """The outputs of a new node."""
        outputs = [self.name(f"{kind.lower()}{len(self._taken)}") for _ in range(count)]
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs

    def cast(self, name: str, given: str, wanted: str) -> str:
        """A value of dtype `given` in dtype `wanted`."""
        return name if given == wanted else self.op("Cast", name, to=NUMBER_OF[wanted])

    def where(self, condition: str, a: str, b: str, dtype: str) -> str:
        """A Where; dtypes that runtimes lack there are cast to others that hold the same values."""
        work = CHOSEN_AS.get(dtype, dtype)
        a, b = self.cast(a, dtype, work), self.cast(b, dtype, work)
        return self.cast(self.op("Where", condition, a, b), work, dtype)

    def vector(self, scalars: Sequence[Variable | int]) -> str:
        """int64 scalars as one vector."""
        known = [int(s.data) if isinstance(s, Constant) else s for s in scalars]
        if all(isinstance(s, int) for s in known):
            return self.const(np.array(known, np.int64))
        parts = [
            self.const([s]) if isinstance(s, int) else self.op("Reshape", self.value(s), self.const([1])) for s in known
        ]
        return parts[0] if len(parts) == 1 else self.op("Concat", *parts, axis=0)

    def shape(self, name: str) -> str:
        return self.op("Shape", name)

    def _write(self, node: Apply) -> None:
        if all(o in self.names for o in node.outputs):
            return
        try:
            outputs = self._outputs(node)
        except CannotWrite as error:
            self.missing.setdefault(str(error), []).extend(str(line) for line in node.origin[:1])
            outputs = ["?" for _ in node.outputs]
        for output, name in zip(node.outputs, outputs, strict=True):
            self.names.setdefault(output, name)

    def _outputs(self, node: Apply) -> Sequence[str]:
        if any(v.type.kind == "c" for v in (*node.inputs, *node.outputs)):
            raise CannotWrite(f"{node.op.name} of complex numbers")
        meaning = _registered(MEANINGS, node.op)
        if meaning is not None:
            found = meaning(node.op, *node.inputs)
            if found is not None:
                made = found if isinstance(found, (list, tuple)) else [found]
                return [self.cast(self.value(m), m.dtype, o.dtype) for m, o in zip(made, node.outputs, strict=True)]
        write = _registered(WRITERS, node.op)
        if write is None:
            raise CannotWrite(node.op.name)
        names = write(self, node)
        return names if isinstance(names, list) else [names]

    # --- subgraphs
    @contextmanager
    def body(self) -> Iterator[list[Any]]:
        """Context in which added nodes and their values belong to a subgraph."""
        outer, names = self.nodes, dict(self.names)
        self.nodes = []
        try:
            yield self.nodes
        finally:
            self.nodes, self.names = outer, names

    def info(self, name: str, kind: TensorType, lengths: Sequence[Any] | None = None) -> Any:
        """The ValueInfoProto of a value."""
        given = list(kind.shape) if lengths is None else list(lengths)
        return self.onnx.helper.make_tensor_value_info(name, NUMBER_OF[kind.dtype], given)


_DTYPES: dict[type, Any] = {int: np.int64, list: np.int64}
"""The dtypes of constants made of Python's values."""


class CannotWrite(Exception):
    """An op that ONNX lacks; its text names it."""


def _registered(table: Mapping[Any, Writing], op: Op) -> Writing | None:
    """The entry for an op: by its name, or by its class or one that it derives from."""
    named = table.get(op.name)
    return named or next((table[kind] for kind in type(op).__mro__ if kind in table), None)
