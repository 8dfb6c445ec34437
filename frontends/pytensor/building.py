"""PyTensor's graphs as expressions of ours, one node after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant as PyTensorConstant

from ...graph import SourceLine, Variable
from ...graph.provenance import Origin, inheriting
from ...ops.core.tensor import TensorVariable, constant
from .forms import form_of
from .performing import performed
from .table import CONVERTERS, Call, found_for


class ConversionError(NotImplementedError):
    """An op cannot be converted; the message names the op, the variable of the model and the fix."""


class Conversion:
    """One conversion: its options, and what was found on the way.

    `strict`: whether an op without a converter is an error.  `remarks`: one line for each op that runs by its own
    `perform`.  `raises`: the class of the exception for the text of a check.
    """

    def __init__(self, strict: bool = False, rewriter: Any = None) -> None:
        self.strict, self.rewriter = strict, rewriter
        self.remarks: list[str] = []
        self.raises: dict[str, type[BaseException]] = {}
        self._rewritten: dict[Any, Any] = {}

    def function_graph(self, graph: Any) -> tuple[list[Variable], list[Variable]]:
        """Return our inputs and outputs for a FunctionGraph of PyTensor: one variable for each array."""
        inputs: list[Variable] = []
        operands = []
        for v in graph.inputs:
            form = form_of(v.type)
            leaves: list[Variable] = [TensorVariable(kind, name=v.name) for kind in form.types()]
            inputs += leaves
            operands.append(form.term(leaves))
        found = self.graph(graph, operands)
        outputs = [leaf for v, term in zip(graph.outputs, found, strict=True) for leaf in form_of(v.type).variables(term)]
        return inputs, outputs

    def graph(self, graph: Any, operands: Sequence[Any]) -> list[Any]:
        """Return the outputs of a FunctionGraph of PyTensor on these operands."""
        known: dict[Any, Any] = dict(zip(graph.inputs, operands, strict=True))
        with inheriting() as lines:
            for node in graph.toposort():
                lines.origin = origin_of(node)
                self._add(node, known)
        return [self._value(v, known) for v in graph.outputs]

    def inner(self, graph: Any, operands: Sequence[Any]) -> list[Any]:
        """Return the outputs of the inner graph of an op; PyTensor's rewrites run on a copy of it first."""
        found = self._rewritten.get(graph)
        if found is None:
            found = graph.clone(clone_inner_graphs=True) if hasattr(graph, "clone") else graph
            if self.rewriter is not None:
                self.rewriter(found)
            self._rewritten[graph] = found
        return self.graph(found, operands)

    def node(self, node: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs of one node on these operands."""
        convert = found_for(CONVERTERS, type(node.op))
        found = NotImplemented if convert is None else convert(Call(node.op, node, self), *operands)
        if found is NotImplemented:
            return self.performed(node, operands)
        return found if type(found) is tuple else (found,)

    def performed(self, node: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs of a node by the `perform` of its op.  Raises ConversionError if that is not allowed."""
        where = f" (of {node.outputs[0].name})" if node.outputs[0].name else ""
        if self.strict:
            raise ConversionError(
                f"{node.op}{where} has no converter; register one, as in @arignote.frontends.pytensor.converter("
                f"{type(node.op).__name__}), or allow its own perform by strict=False"
            )
        self.remarks.append(f"{node.op}{where} runs by its own perform, outside C")
        return performed(node, operands)

    # --- one node among others
    def _add(self, node: Any, known: dict[Any, Any]) -> None:
        operands = [self._value(i, known) for i in node.inputs]
        try:
            found = self.node(node, operands)
        except ConversionError:
            raise
        except (TypeError, ValueError, LookupError, NotImplementedError, ArithmeticError, AttributeError) as error:
            name = node.outputs[0].name
            raise ConversionError(f"{node.op}{f' (of {name})' if name else ''}: {error}") from error
        for output, term in zip(node.outputs, found, strict=True):
            if output.name and isinstance(term, Variable) and not term.name and term.owner is not None:
                term.name = output.name
            known[output] = term

    def _value(self, v: Any, known: Mapping[Any, Any]) -> Any:
        if v in known:
            return known[v]
        if isinstance(v, PyTensorConstant):
            return constant_of(v)
        raise ConversionError(f"{v} is neither an input nor computed")


def constant_of(v: Any) -> Any:
    """Return the value of a constant of PyTensor."""
    if v.data is None or isinstance(v.data, slice):
        return v.data
    form = form_of(v.type)
    kinds = form.types()
    arrays = form.arrays(v.data)
    return form.term([constant(np.asarray(a), kind.dtype) for a, kind in zip(arrays, kinds, strict=True)])


def origin_of(node: Any) -> Origin:
    """Return the user's line that built a node, from PyTensor's record; empty if it keeps none."""
    trace = getattr(node.outputs[0].tag, "trace", None) if node.outputs else None
    for stack in reversed(trace or ()):
        frames = stack if isinstance(stack, (list, tuple)) else [stack]
        for frame in reversed(frames):
            file, line = frame[0], frame[1]
            if isinstance(file, str) and isinstance(line, int):
                return (SourceLine(file, line),)
    return ()
