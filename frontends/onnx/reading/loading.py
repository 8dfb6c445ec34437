"""A model from a file or a ModelProto, its structure checked before anything is built."""

from __future__ import annotations

import mmap
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from .mapped import LEAST, without_weights
from .node import OnnxError as OnnxError

NEWEST = 28
"""The newest version of the standard op set that is known."""


def onnx_package() -> Any:
    """The package `onnx`.  Raises ImportError that says how to install it."""
    try:
        import onnx
    except ImportError:
        raise ImportError("reading ONNX models needs the package onnx: pip install 'arignote[onnx]'") from None
    return onnx


def load(source: Any) -> tuple[Any, Path | None]:
    """The ModelProto of a path, of bytes or of a ModelProto, and the folder that external data lie in."""
    onnx = onnx_package()
    if isinstance(source, onnx.ModelProto):
        return source, None
    folder: Path | None = None
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        folder = path.parent
        try:
            data = _bytes_of(path)
        except OSError as error:
            raise OnnxError(f"{path}: {error.strerror or error}") from None
    elif isinstance(source, (bytes, bytearray)):
        path, data = Path("model"), bytes(source)
    else:
        raise TypeError(f"from_onnx: expected a path, bytes or an onnx.ModelProto, got {type(source).__name__}")
    model = onnx.ModelProto()
    try:
        model.ParseFromString(data)
    except Exception as error:  # protobuf has errors of its own in each of its implementations
        raise OnnxError(f"{path} is no ONNX model, or it is cut short: {error}") from None
    if not model.HasField("graph") or not model.opset_import:
        raise OnnxError(f"{path} is no ONNX model: it has no graph, or declares no op set")
    _refuse_bytes(model, str(path))
    return model, folder


def _bytes_of(path: Path) -> bytes:
    """Return the bytes of a file; those of a large one without its weights, which `values.py` maps."""
    if path.stat().st_size < LEAST:
        return path.read_bytes()
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return without_weights(data, path.name)
        except ValueError:  # the package `onnx` says what is wrong
            return bytes(data)


def _refuse_bytes(model: Any, path: str) -> None:
    """Raise OnnxError for a name that is no UTF-8 text: the package `onnx` returns it as bytes."""
    graph = model.graph
    texts = [graph.name, *(v.name for v in (*graph.input, *graph.output, *graph.initializer))]
    texts += [o.domain for o in model.opset_import]
    for node in nodes_of(graph):
        texts += [node.name, node.op_type, node.domain, *node.input, *node.output]
        texts += [a.name for a in node.attribute]
    for text in texts:
        if isinstance(text, bytes):
            raise OnnxError(f"{path}: the name {text!r} is no text in UTF-8, expected one; the file is damaged")


def versions_of(model: Any) -> dict[str, int]:
    """The version of each op set.  Raises OnnxError for a standard op set that is newer than we know."""
    found = {"" if o.domain == "ai.onnx" else o.domain: int(o.version) for o in model.opset_import}
    version = found.get("", 1)
    if version > NEWEST:
        raise OnnxError(f"the model needs version {version} of the ONNX op set; the newest that is known is {NEWEST}")
    return found


def checked_nodes(graph: Any, known: frozenset[str], place: str = "") -> list[tuple[int, Any]]:
    """The nodes of a graph with their numbers in the file, each behind those that it reads from.

    Raises OnnxError for names that nothing makes, that are made twice, or that are made from themselves.
    """
    weights = [*(t.name for t in graph.initializer), *(s.values.name for s in graph.sparse_initializer)]
    for kind, names in (("inputs", [i.name for i in graph.input]), ("initializers", weights)):
        twice = next((name for name, count in Counter(names).items() if count > 1), None)
        if twice is not None:
            raise OnnxError(f"{place}two {kind} have the name {twice!r}, expected one")
    own = {*weights, *(i.name for i in graph.input)}
    for node in graph.node:
        for name in filter(None, node.output):
            if name in own:
                message = f"makes {name!r}, which is also another output, an input or an initializer"
                raise OnnxError(f"{_where(node, place)} {message}")
            own.add(name)
    made = {*known, *own}
    for node in graph.node:
        gone = next((name for name in node.input if name and name not in made), None)
        if gone is not None:
            raise OnnxError(f"{_where(node, place)} reads {gone!r}, which is not there")
    for output in graph.output:
        if output.name not in made:
            raise OnnxError(f"{place}the output {output.name!r} is made by no node")
    return in_order(graph.node, place)


def _where(node: Any, place: str) -> str:
    return f"{place}node {node.name!r} {node.op_type}" if node.name else f"{place}node {node.op_type}"


def in_order(nodes: Sequence[Any], place: str = "") -> list[tuple[int, Any]]:
    """The nodes, with their numbers from 1 on, each behind those that it reads from; else in their own order.

    Raises OnnxError for nodes that read from themselves.  Source: A. B. Kahn, "Topological sorting of large networks",
    1962.
    """
    maker = {name: k for k, node in enumerate(nodes) for name in node.output if name}
    waits = [{maker[name] for name in _read(node) if name in maker} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for k, before in enumerate(waits):
        for b in before:
            readers[b].append(k)
    ready = [k for k, before in enumerate(waits) if not before]
    found = []
    while ready:
        k = heappop(ready)
        found.append((k + 1, nodes[k]))
        for reader in readers[k]:
            waits[reader].discard(k)
            if not waits[reader]:
                heappush(ready, reader)
    if len(found) < len(nodes):
        k, seen = next(k for k, before in enumerate(waits) if before), set[int]()
        while k not in seen:  # from a node that waits to the one that it waits for, until one comes again
            seen.add(k)
            k = min(waits[k])
        name = next(name for name in _read(nodes[k]) if maker.get(name) in waits[k])
        raise OnnxError(f"{_where(nodes[k], place)} reads {name!r}, which is made from it: the nodes go in a circle")
    return found


def _read(node: Any) -> list[str]:
    """The names from outside that a node and the graphs in its attributes read."""
    if not any(a.HasField("g") or a.graphs for a in node.attribute):
        return [name for name in node.input if name]
    read, own = list(node.input), set[str]()
    stack = [g for a in node.attribute for g in (*([a.g] if a.HasField("g") else []), *a.graphs)]
    while stack:
        graph = stack.pop()
        own.update(v.name for v in (*graph.input, *graph.initializer))
        read += [output.name for output in graph.output]
        for inner in graph.node:
            read += inner.input
            own.update(inner.output)
            stack += [g for a in inner.attribute for g in (*([a.g] if a.HasField("g") else []), *a.graphs)]
    return [name for name in dict.fromkeys(read) if name and (name not in own or name in node.input)]


def nodes_of(graph: Any) -> Iterator[Any]:
    """All nodes of a graph and of the graphs in its nodes' attributes."""
    stack = [graph]
    while stack:
        for node in stack.pop().node:
            yield node
            for attribute in node.attribute:
                stack.extend([attribute.g] if attribute.HasField("g") else [])
                stack.extend(attribute.graphs)
