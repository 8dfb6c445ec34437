"""Digest of a graph: equal graphs have equal digests, in every process and on every machine.

It covers types, names, ops with their parameters, constants bit by bit, outputs and updates, but no line of the user's.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from typing import Any

from .fgraph import FunctionGraph
from .node import Constant, Variable
from .op import Op
from .types import DTypeName

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_PACKAGE = __name__.partition(".")[0]


class Unnamed(Exception):
    """A graph has no digest: it has an op from outside this package, or a parameter without a unique text."""


def digest(graph: FunctionGraph) -> bytes:
    """The sha256 digest of a graph.  Raises Unnamed if it has none."""
    found = hashlib.sha256()
    for line in _lines(graph):
        found.update(line.encode())
    return found.digest()


def _lines(graph: FunctionGraph) -> Iterator[str]:
    counter = itertools.count()
    number: dict[Variable, str] = {}
    known: dict[Op, str] = {}

    def operand(v: Variable) -> str:
        found = number.get(v)
        if found is None:  # a constant
            number[v] = found = str(next(counter))
        return found

    def leaf(v: Variable) -> str:
        bits = v.key[2].hex() if isinstance(v, Constant) else ""
        return f"{operand(v)} {type(v).__name__} {v.type} {v.name!r} {bits}\n"

    yield from map(leaf, graph.inputs)
    yield from map(leaf, graph.constants)
    for node in graph.order:
        op = known.get(node.op)
        if op is None:
            known[node.op] = op = _op(node.op)
        results = " ".join([f"{operand(o)} {o.type} {o.name!r}" for o in node.outputs])
        yield f"{results} = {op} {' '.join([number[i] for i in node.inputs])}\n"
    yield f"{' '.join(map(operand, graph.outputs))} {graph.updates}\n"


def _op(op: Op) -> str:
    own = type(op).__module__.partition(".")[0] == _PACKAGE
    if op.fingerprint is None or not (own or op.fingerprint):
        raise Unnamed(f"{op.name} is an op of {type(op).__module__}, whose code has no digest")
    parameters = ", ".join([f"{field}={_parameter(value)}" for field, value in op.parameters().items()])
    return f"{type(op).__name__} {op.name}({parameters}){op.fingerprint}"


def _parameter(value: Any) -> str:
    if type(value) in _PLAIN:
        return repr(value)
    if type(value) is DTypeName:
        return repr(str(value))
    if isinstance(value, tuple):
        return f"({', '.join(map(_parameter, value))})"
    if isinstance(value, Op):
        return _op(value)
    if isinstance(value, FunctionGraph):
        return digest(value).hex()
    raise Unnamed(f"a parameter is {value!r}")
