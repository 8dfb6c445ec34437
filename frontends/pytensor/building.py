"""PyTensor's graphs as expressions of ours, one node after the other."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.graph.basic import Constant as PyTensorConstant
from pytensor.link.c.type import Generic

from ... import ops as T
from ...graph import SourceLine, Variable
from ...graph.provenance import Origin, inheriting
from ...ops.core.tensor import TensorVariable, constant
from ..theano.tensors.patterns import strict
from .forms import form_of
from .performing import performed
from .table import CONVERTERS, Call, found_for


class ConversionError(NotImplementedError):
    """An op cannot be converted; the message names the op, the variable of the model and the fix."""


class Conversion:
    """One conversion: its options, and what was found on the way.

    `strict`: whether an op without a converter is an error.  `own`: classes of ops that run by their own `perform`
    whatever converters there are.  `remarks`: one line for each op without a converter.  `raises`: the class of the
    exception for the text of a check.
    """

    def __init__(self, strict: bool = False, rewriter: Any = None, own: frozenset[type] = frozenset()) -> None:
        self.strict: bool = strict
        self.rewriter: Any = rewriter
        self.own: frozenset[type] = own
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
        pairs = zip(graph.outputs, found, strict=True)
        outputs = [leaf for v, term in pairs for leaf in form_of(v.type).variables(term)]
        return inputs, strict(outputs) if outputs else outputs

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
            found = graph
            if self.rewriter is not None:
                found = graph.unfreeze() if hasattr(graph, "unfreeze") else graph.clone(clone_inner_graphs=True)
                self.rewriter(found)
            self._rewritten[graph] = found
        return self.graph(found, operands)

    def node(self, node: Any, operands: Sequence[Any]) -> tuple[Any, ...]:
        """Return the outputs of one node on these operands."""
        if self.own and {type(node.op), type(getattr(node.op, "core_op", None))} & self.own:
            return performed(node, operands)
        convert = found_for(CONVERTERS, type(node.op))
        found = NotImplemented if convert is None else convert(Call(node.op, node, self), *operands)
        if found is NotImplemented:
            return self.performed(node, operands)
        return found if type(found) is tuple else (found,)

    def performed(self, node: Any, operands: Sequence[Any], dtype: str = "") -> tuple[Any, ...]:
        """Return the outputs of a node by the `perform` of its op.  Raises ConversionError if that is not allowed."""
        where = f" (of {node.outputs[0].name})" if node.outputs[0].name else ""
        if self.strict:
            raise ConversionError(
                f"{node.op}{where} has no converter; register one, as in @arignote.frontends.pytensor.converter("
                f"{type(node.op).__name__}), or allow its own perform by strict=False"
            )
        self.remarks.append(f"{node.op}{where} runs by its own perform, outside C")
        return performed(node, operands, dtype)

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
            term = with_ones(term, output.type)
            if output.name and isinstance(term, Variable) and not term.name and term.owner is not None:
                term.name = output.name
            known[output] = term

    def _value(self, v: Any, known: Mapping[Any, Any]) -> Any:
        if v in known:
            return known[v]
        if isinstance(v, PyTensorConstant):
            return constant_of(v)
        raise ConversionError(f"{v} is neither an input nor computed")


def with_ones(term: Any, kind: Any) -> Any:
    """Return a value that knows which of its axes have length 1, as PyTensor's type says: those broadcast."""
    ones = [k for k, n in enumerate(getattr(kind, "shape", None) or ()) if n == 1]
    if not isinstance(term, Variable) or all(term.type.shape[k] == 1 for k in ones):
        return term
    return T.specify_shape(term, [1 if k in ones else None for k in range(term.ndim)])


def constant_of(v: Any) -> Any:
    """Return the value of a constant of PyTensor."""
    if v.data is None or isinstance(v.data, slice) or isinstance(v.type, Generic):
        return v.data
    form = form_of(v.type)
    kinds = form.types()
    arrays = form.arrays(v.data)
    return form.term([constant(np.asarray(a), kind.dtype) for a, kind in zip(arrays, kinds, strict=True)])


def origin_of(node: Any) -> Origin:
    """Return the user's line that built a node, from PyTensor's record; empty if it keeps none.

    It is the innermost line outside PyTensor and PyMC, else the innermost one.
    """
    trace = getattr(node.outputs[0].tag, "trace", None) if node.outputs else None
    frames = [f for stack in trace or () for f in (stack if isinstance(stack, list) else [stack])]
    places = [(f[0], f[1]) for f in reversed(frames) if isinstance(f[0], str) and isinstance(f[1], int)]
    outside = [p for p in places if not any(folder in p[0] for folder in _LIBRARIES)]
    found = (outside or places)[:1]
    return tuple(SourceLine(*p) for p in found)


_LIBRARIES = (*(f"{os.sep}{name}{os.sep}" for name in ("pytensor", "pymc")), functools.__file__)
