"""The nodes of a model as expressions, one after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from .... import ops as T
from ....graph import Constant, FunctionGraph, Variable, inheriting
from ....ops.core.interpret import interpret
from ....ops.core.tensor import constant
from ....ops.lowered.byte_sums import BYTES
from ....ops.networks.quantized import Dequantize
from ....record.spelling import counted
from .alternatives import Choice, by_alternative, joined
from .loading import checked_nodes, in_order, nodes_of, onnx_package
from .narrow import FORMATS, NUMBER_OF_FORMAT, Narrow, format_of, narrow, output_formats, settled, value_of
from .node import Node, OnnxError, Signature, line_of
from .table import CONVERTERS, Converter
from .text import Words
from .values import MOST_ELEMENTS, array_of, elements, scalar, vector

MOST_DENSE = 1 << 28
"""Numbers of a sparse tensor, zeros among them."""
DEEPEST = 32
"""Functions inside of functions."""

_WRONG = (TypeError, ValueError, LookupError, NotImplementedError, ArithmeticError, AttributeError, MemoryError)
"""Errors of converters that become errors of the node."""
_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "Add": T.add, "Sub": T.sub, "Mul": T.mul, "Min": T.minimum, "Max": T.maximum, "Neg": T.neg, "Abs": T.abs,
}  # fmt: skip
"""Ops that are computed element by element where the elements of vectors are known."""


class Builder:
    """Turns graphs of one model into expressions."""

    def __init__(
        self, versions: Mapping[str, int], functions: Mapping[tuple[str, str], Any], folder: Any,
        user_ops: Mapping[str, Converter], words: Words,
    ) -> None:
        self.versions: Mapping[str, int] = versions
        self.functions: Mapping[tuple[str, str], Any] = functions
        self.folder: Any = folder
        self.user_ops: Mapping[str, Converter] = user_ops
        self.words: Words = words
        self.parameters: dict[str, Variable] = {}
        self._signatures: dict[tuple[str, str], Signature | None] = {}
        self._depth = 0

    # --- graphs
    def refuse_unknown(self, graph: Any) -> None:
        """Raise OnnxError that names all ops for which there is no converter, with their nodes."""
        unknown: dict[str, list[str]] = {}
        for node in nodes_of(graph):
            if not _domain(node) and "" not in self.versions:
                raise OnnxError(f"{node.op_type} is a standard op, but the model declares no version of these")
            if self._converter(node) is None and self._definition(node, []) is None:
                name = f"{node.domain}.{node.op_type}" if _domain(node) else node.op_type
                unknown.setdefault(name, []).append(repr(node.name) if node.name else f"-> {', '.join(node.output)}")
        if unknown:
            kinds = "; ".join(f"{op} ({_some(names)})" for op, names in unknown.items())
            raise OnnxError(
                f"no converter for {kinds}; give one for each, as in from_onnx(model, ops={{{next(iter(unknown))!r}: "
                "lambda node, *operands: ...}})"
            )

    def initializers(
        self, graph: Any, made: Callable[[str, np.ndarray], Variable], known: Container[str] = ()
    ) -> dict[str, Any]:
        """The initial values of a graph but for `known` ones; `made(name, array)` gives the variable."""
        found: dict[str, Any] = {}
        for tensor in graph.initializer:
            if tensor.name in known:
                continue
            array = array_of(tensor, lambda problem, t=tensor: OnnxError(f"initializer: {problem}"), self.folder)  # type: ignore[misc]
            array = self.words.codes(array) if array.dtype.kind == "O" else array
            found[tensor.name] = narrow(made(tensor.name, array), FORMATS.get(tensor.data_type))
        for sparse in graph.sparse_initializer:
            found[sparse.values.name] = constant(dense(sparse, _plain_error))
        return found

    def run(self, graph: Any, scope: dict[str, Any], place: str = "") -> list[Any]:
        """The outputs of a graph; `scope` holds its inputs and the names around it."""
        nodes = checked_nodes(graph, frozenset(scope), place)
        own = self.initializers(graph, lambda _, array: constant(array), scope)
        scope.update({name: value for name, value in own.items() if name not in scope})
        for number, node in nodes:
            with nullcontext() if place else inheriting((line_of(node, number),)):
                self._add(node, scope, place)
        return [scope[output.name] for output in graph.output]

    def _add(self, proto: Any, scope: dict[str, Any], place: str) -> None:
        """Convert one node; its outputs enter the scope."""
        version = self.versions.get(_domain(proto), 1)

        def body(graph: Any, operands: Sequence[Any]) -> list[Any]:
            named = zip(graph.input, operands, strict=True)
            inner = {**scope, **{i.name: narrow(value, declared_format(i.type)) for i, value in named}}
            return self.run(graph, inner, f"{place}{proto.name or proto.op_type}: ")

        def converted(given: Sequence[Any]) -> list[Any]:
            operands = [value_of(g) for g in given]
            node = Node(proto, version, place, body, [format_of(g) for g in given], self.words)
            try:
                return self._settled(node, operands)
            except OnnxError:
                raise
            except _WRONG as error:
                raise node.error(node.described(error, operands)) from error

        outputs = by_alternative(converted, [scope[name] if name else None for name in proto.input])
        outputs = joined(outputs, scope)
        scope.update((name, value) for name, value in zip(proto.output, outputs) if name)

    # --- nodes
    def _settled(self, node: Node, operands: list[Any]) -> list[Any]:
        """The outputs of a node in their narrow dtypes, constants folded; there may be more than the model wants."""
        outputs = self._converted(node, operands)
        if len(outputs) < sum(node.wanted):
            raise node.error(f"gives {counted(len(outputs), 'output')}, expected {sum(node.wanted)}")
        forms = output_formats(node, self._schema(node.proto) if any(node.formats) else None)
        found = []
        for output, form in zip(outputs, forms):
            if isinstance(output, Choice):
                found.append(output.mapped(partial(narrow, form=form)))
                continue
            form = format_of(output) or form  # what a converter says itself
            value, form = settled(node, value_of(output), form)
            found.append(narrow(folded(value, operands), form))
        return found

    def _converted(self, node: Node, operands: list[Any]) -> Sequence[Any]:
        known = _on_elements(node, operands)
        if known is not None:
            return known
        convert = self._converter(node.proto)
        if convert is not None and convert is CONVERTERS.get((_domain(node.proto), node.op)):
            node.check(operands, self._signature(node.proto))
        if convert is None:
            return self._by_definition(node, operands)
        result = convert(node, *operands)
        return result if isinstance(result, tuple) and not isinstance(result, Narrow) else (result,)

    def _converter(self, proto: Any) -> Converter | None:
        domain = _domain(proto)
        own = self.user_ops.get(f"{domain}.{proto.op_type}" if domain else proto.op_type)
        if own is not None or (domain, proto.op_type) in self.functions:
            return own
        return CONVERTERS.get((domain, proto.op_type))

    def _definition(self, proto: Any, operands: Sequence[Any]) -> Any:
        """The FunctionProto of an op, defined by the model or by the standard."""
        domain = _domain(proto)
        own = self.functions.get((domain, proto.op_type))
        if own is not None:
            return own
        schema = self._schema(proto)
        if schema is None:
            return None
        if schema.has_function:
            return schema.function_body
        if not schema.has_context_dependent_function:
            return None
        if not operands:
            return schema  # there is one; which one depends on the operands
        onnx = onnx_package()
        types = [_type_proto(onnx, operand).SerializeToString() for operand in operands]
        text = schema.get_context_dependent_function(proto.SerializeToString(), types)
        function = onnx.FunctionProto()
        function.ParseFromString(text)
        return function if function.node else None

    def _signature(self, proto: Any) -> Signature | None:
        """The operands of a node's op in the standard; read once for all nodes of the op."""
        key = _domain(proto), proto.op_type
        if key not in self._signatures:
            schema = self._schema(proto)
            self._signatures[key] = None if schema is None else Signature(schema)
        return self._signatures[key]

    def _schema(self, proto: Any) -> Any:
        """The schema of a node's op in the standard; None if the op or its op set is unknown."""
        onnx, domain = onnx_package(), _domain(proto)
        try:
            return onnx.defs.get_schema(proto.op_type, self.versions.get(domain, 1), domain)
        except onnx.defs.SchemaError:
            return None

    def _defaults(self, proto: Any) -> dict[str, Any]:
        """The values that the standard gives to the attributes of an op."""
        schema = self._schema(proto)
        if schema is None:
            return {}
        return {name: a.default_value for name, a in schema.attributes.items() if a.default_value.type}

    def _by_definition(self, node: Node, operands: list[Any]) -> list[Any]:
        """Inline the function that defines the op of a node."""
        wrapped = [narrow(o, form) for o, form in zip(operands, node.formats, strict=True)]
        function = self._definition(node.proto, wrapped)
        if function is None or not hasattr(function, "node"):
            raise node.error("there is no converter for this op")
        if self._depth >= DEEPEST:
            raise node.error("functions call each other recursively")
        scope = dict(zip(function.input, wrapped))  # the last ones may be left out
        scope |= dict.fromkeys(function.input[len(operands):])
        given = self._defaults(node.proto) | {a.name: a for a in (*function.attribute_proto, *node.proto.attribute)}
        versions = {_named(o.domain): int(o.version) for o in function.opset_import} or dict(self.versions)
        inner = Builder({**self.versions, **versions}, self.functions, self.folder, self.user_ops, self.words)
        inner._depth = self._depth + 1
        place = f"{node.place}{node.proto.name or node.op}: "
        for _, proto in in_order(function.node, place):
            inner._add(_with_attributes(proto, given), scope, place)
        found = [scope.get(name) for name in function.output]
        node.results = [format_of(v) for v in found]
        return [value_of(v) for v in found]


def declared_format(kind: Any) -> Any:
    """The narrow dtype of a TypeProto; None for all others."""
    while kind.WhichOneof("value") in ("sequence_type", "optional_type"):
        kind = getattr(kind, kind.WhichOneof("value")).elem_type
    return FORMATS.get(kind.tensor_type.elem_type) if kind.WhichOneof("value") == "tensor_type" else None


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + ", ..." * (len(names) > 3)


def _named(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _domain(proto: Any) -> str:
    return _named(proto.domain)


def _plain_error(problem: str) -> OnnxError:
    return OnnxError(problem)


def _with_attributes(proto: Any, given: Mapping[str, Any]) -> Any:
    """The node of a function with the attributes of its call in the place of references."""
    if not any(a.ref_attr_name or a.HasField("g") for a in proto.attribute):
        return proto
    made = type(proto)()
    made.CopyFrom(proto)
    del made.attribute[:]
    for attribute in proto.attribute:
        if attribute.ref_attr_name:
            source = given.get(attribute.ref_attr_name)
            if source is not None:
                copy = made.attribute.add()
                copy.CopyFrom(source)
                copy.name = attribute.name
            continue
        copy = made.attribute.add()
        copy.CopyFrom(attribute)
        if attribute.HasField("g"):
            nodes = [_with_attributes(inner, given) for inner in attribute.g.node]
            del copy.g.node[:]
            copy.g.node.extend(nodes)
    return made


def _type_proto(onnx: Any, operand: Any) -> Any:
    """The TypeProto of an operand, for the standard's function definitions."""
    from_dtype = onnx.helper.np_dtype_to_tensor_dtype
    if operand is None:
        return onnx.TypeProto()
    form, operand = format_of(operand), value_of(operand)
    if form is not None and isinstance(operand, Variable):
        return onnx.helper.make_tensor_type_proto(NUMBER_OF_FORMAT[form], operand.type.shape)
    if isinstance(operand, (list, tuple)):
        return onnx.helper.make_sequence_type_proto(_type_proto(onnx, operand[0]) if operand else onnx.TypeProto())
    return onnx.helper.make_tensor_type_proto(from_dtype(np.dtype(operand.dtype)), operand.type.shape)


# --- what is known when the model is read


def folded(value: Any, operands: Sequence[Any]) -> Any:
    """The value, folded to a constant if it is small and all of its operands are constants.

    Weights in 8 bits stay so: the optimizer multiplies them as integers.
    """
    if not isinstance(value, Variable) or value.owner is None:
        return value
    if isinstance(value.owner.op, Dequantize) and value.owner.inputs[0].dtype in BYTES:
        return value
    given = [o for o in operands if o is not None]
    if not given or not all(isinstance(o, Constant) and o.data.size <= 1 << 16 for o in given):
        return value
    if math.prod(n for n in value.type.shape if n is not None) > 1 << 20:
        return value
    graph = FunctionGraph([], [value]) if _is_closed(value) else None
    if graph is None:
        return value
    with np.errstate(all="ignore"):
        result = np.asarray(interpret(graph, [], "from_onnx")[0])
    return constant(result) if result.size <= 1 << 20 else value


def _is_closed(value: Variable) -> bool:
    try:
        FunctionGraph([], [value])
    except ValueError:
        return False
    return True


def _on_elements(node: Node, operands: Sequence[Any]) -> tuple[Any, ...] | None:
    """Arithmetic on vectors of known elements, element by element; None for other nodes."""
    if node.op not in _ELEMENTWISE or not 1 <= len(operands) <= 2 or all(isinstance(o, Constant) for o in operands):
        return None
    every = [elements(o) for o in operands]
    found = [f for f in every if f is not None]
    if len(found) < len(every) or not any(o.ndim for o in operands):
        return None
    count = max(map(len, found))
    if count > MOST_ELEMENTS or any(len(f) not in (1, count) for f in found):
        return None
    dtype = operands[0].dtype
    apply = _ELEMENTWISE[node.op]
    items = []
    for k in range(count):
        args = [scalar(f[k if len(f) > 1 else 0], dtype) for f in found]
        value = folded(apply(*args), args)
        items.append(value.data.item() if isinstance(value, Constant) else value)
    return (vector(items, dtype),)


def dense(sparse: Any, fail: Callable[[str], Exception]) -> np.ndarray:
    """The array of a SparseTensorProto."""
    values, indices = array_of(sparse.values, fail), array_of(sparse.indices, fail)
    shape = tuple(sparse.dims)
    if any(n < 0 for n in shape) or math.prod(shape) > MOST_DENSE:
        name = sparse.values.name
        raise fail(f"the sparse tensor {name!r} has the shape {shape}, expected up to {MOST_DENSE:,} numbers")
    result = np.zeros(shape, values.dtype)
    try:
        places = tuple(indices.T) if indices.ndim == 2 else np.unravel_index(indices, result.shape)
        result[places] = values
    except (IndexError, ValueError) as error:
        raise fail(f"the sparse tensor {sparse.values.name!r} of shape {shape}: {error}") from None
    return result

