"""Graphs of `torch.fx` as expressions of ours, one node after the other."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

from ... import ops as T
from ...graph import Variable
from ...graph.provenance import inheriting
from ...ops.core.tensor import constant
from ...ops.shapes.conditions import checked
from . import symbols
from .dtypes import Unsupported, array_of, as_dtype, loaded, require_plain, rounded
from .origins import described, origin_of
from .performing import performed
from .table import Call, found_for, name_of_op


class ConversionError(NotImplementedError):
    """A node cannot be converted; the message names the op, the module, the user's line and the reason."""


class Conversion:
    """One conversion: its options, and what was found on the way.

    `strict`: whether an op without a converter is an error.  `remarks`: one line for each op that runs in PyTorch.
    `order`: the last op with an effect on PyTorch's generator of random numbers, after which the next one runs.
    """

    def __init__(self, strict: bool = False) -> None:
        self.strict = strict
        self.remarks: list[str] = []
        self.order: Variable | None = None
        self.writes: dict[torch.fx.Node, Variable] = {}
        """The new value of each argument that the graph writes to."""
        self.conditions: list[tuple[Variable, str, type[Exception]]] = []
        """Conditions of the graph in conversion: a truth value, the message and the error."""
        self._constants: dict[int, Any] = {}

    def graph(self, module: torch.fx.GraphModule, operands: Sequence[Any]) -> Any:
        """Return the outputs of a graph on these operands, in the nesting of its output node."""
        known: dict[torch.fx.Node, Any] = {}
        given = iter(operands)
        around, self.conditions = self.conditions, []
        try:
            return self._graph(module, known, given)
        finally:
            self.conditions = around

    def _graph(self, module: torch.fx.GraphModule, known: dict[torch.fx.Node, Any], given: Iterator[Any]) -> Any:
        with inheriting() as lines:
            for node in module.graph.nodes:
                lines.origin = origin_of(node)
                if node.op == "placeholder":
                    known[node] = next(given)
                elif node.op == "output":
                    return self._checked(_mapped(node.args[0], known))
                elif node.op == "get_attr":
                    known[node] = self._attribute(module, node.target)
                elif node.op == "call_function":
                    known[node] = self._called(node, known)
                else:
                    raise ConversionError(f"{described(node)}: expected a call of an op, got {node.op}")
        raise ConversionError("the graph has no output")

    def _checked(self, found: Any) -> Any:
        """Return the outputs of a graph; the first one stands on all conditions of the graph."""
        if not self.conditions:
            return found
        values, form = pytree.tree_flatten(found)
        place = next((k for k, v in enumerate(values) if isinstance(v, Variable)), -1)
        for ok, text, error in self.conditions if place >= 0 else ():
            values[place] = checked(values[place], ok, text, error=error)
        return pytree.tree_unflatten(values, form)

    def performed(self, node: torch.fx.Node, operands: Mapping[torch.fx.Node, Any]) -> Any:
        """Return the results of a node that PyTorch runs.  Raises ConversionError if that is not allowed."""
        name = name_of_op(node.target)
        if self.strict:
            raise ConversionError(
                f"{described(node)} has no converter; register one, as in "
                f'@arignote.frontends.torch.converter("{name}"), or allow PyTorch to run it by strict=False'
            )
        self.remarks.append(f"{described(node)} runs in PyTorch, outside C")
        return performed(node, operands, self)

    # --- one node among others
    def _attribute(self, module: Any, path: str) -> Any:
        value = operator.attrgetter(path)(module)
        if not isinstance(value, torch.Tensor):
            return value  # the graph of a branch or a loop
        if id(value) not in self._constants:
            require_plain(value)
            self._constants[id(value)] = loaded(constant(array_of(value)), value.dtype)
        return self._constants[id(value)]

    def _written(self, node: torch.fx.Node, x: Variable, value: Variable) -> Variable:
        """Keep the new value of an argument of the graph.  Raises ConversionError for a write to anything else."""
        target = node.args[0]
        if not isinstance(target, torch.fx.Node) or target.op != "placeholder":
            raise ConversionError(f"{described(node)}: expected a write to an argument of the graph")
        value = as_dtype(value, x.dtype)
        self.writes[target] = value if value.ndim == x.ndim else T.broadcast_to(value, symbols.lengths(x))
        return self.writes[target]

    def _called(self, node: torch.fx.Node, known: Mapping[torch.fx.Node, Any]) -> Any:
        args, kwargs = _mapped(node.args, known), _mapped(node.kwargs, known)
        if node.target is operator.getitem:
            return args[0][args[1]]
        if node.target is torch.ops.aten.copy_.default:
            return self._written(node, *args[:2])
        if symbols.is_known(node):
            return node.meta["val"]
        try:
            if node.target in symbols.FUNCTIONS:
                return symbols.FUNCTIONS[node.target](*args, **kwargs)
            convert = found_for(node.target)
            found = NotImplemented if convert is None else convert(Call(node, self), *args, **kwargs)
            if found is NotImplemented:
                return self.performed(node, known)
            return found if getattr(node.target, "is_view", False) else rounded(found, node.meta.get("val"))
        except ConversionError:
            raise
        except Unsupported as error:
            raise ConversionError(f"{described(node)}: {error}") from error
        except (TypeError, ValueError, LookupError, NotImplementedError, ArithmeticError, AttributeError) as error:
            raise ConversionError(f"{described(node)}: {error}") from error


def _mapped(arguments: Any, known: Mapping[torch.fx.Node, Any]) -> Any:
    """Return arguments of a node with values in the place of nodes."""
    if isinstance(arguments, torch.fx.Node):
        return known[arguments]
    if isinstance(arguments, (list, tuple)):
        return type(arguments)([_mapped(a, known) for a in arguments]) if type(arguments) in (list, tuple) else [
            _mapped(a, known) for a in arguments
        ]  # fmt: skip
    if isinstance(arguments, dict):
        return {name: _mapped(a, known) for name, a in arguments.items()}
    if isinstance(arguments, slice):
        return slice(*(_mapped(a, known) for a in (arguments.start, arguments.stop, arguments.step)))
    return arguments


def leaves(value: Any) -> list[Any]:
    """Return the leaves of nested results."""
    found: list[Any] = pytree.tree_leaves(value, is_leaf=lambda v: v is None)
    return found
