"""The backend of `torch.compile`: AOTAutograd's graphs of inference, forward and backward passes, compiled here."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch._guards import TracingContext
from torch._subclasses.fake_tensor import unset_fake_temporarily

from ... import ops as T
from ...function.function import function
from ...graph import TensorType, Variable
from ...networks.freezing import freeze
from ...networks.quantizing import quantize
from ...notices import notice
from ...ops.core.shared import Container, SharedVariable
from ...ops.core.tensor import TensorVariable, as_tensor
from ...ops.shapes.specify import specify_shape
from . import calls
from .building import Conversion, ConversionError
from .decompositions import decompositions_of
from .dtypes import Unsupported, array_of, loaded, require_plain, stored, type_of
from .layers import keep_recurrent_layers, without_layers_of_onednn
from .saved import Saved
from .settings import Settings, settings_of
from .strides import axes_by_stride
from .symbols import lengths

_compiled: weakref.WeakSet[calls.CompiledGraph] = weakref.WeakSet()
_number = itertools.count(1)


def graphs() -> list[calls.CompiledGraph]:
    """Return the compiled graphs that are in use, the oldest first."""
    return sorted(_compiled, key=lambda g: int(g.name.rpartition("_")[2]))


def arignote(module: torch.fx.GraphModule, example_inputs: Sequence[Any], **how: Any) -> Any:
    """Return a compiled graph of Dynamo: the backend "arignote" of `torch.compile`.

    `how`: `options` (see `Settings`) and `mode` of `torch.compile`.  Raises ValueError for an unknown option.
    """
    # Importing Dynamo sets variables of the environment, so only a call of the backend does it.
    from functorch.compile import min_cut_rematerialization_partition
    from torch._dynamo.backends.common import aot_autograd

    settings, saved = settings_of(how.get("options"), how.get("mode")), Saved()
    keep_recurrent_layers(module)

    def inference(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        return _graph(graph, settings, "inference", saved)

    def forward(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        return _graph(graph, settings, "forward", saved)

    def backward(graph: torch.fx.GraphModule, inputs: Sequence[Any]) -> Any:
        return _graph(graph, settings, "backward", saved)

    compiled = aot_autograd(
        fw_compiler=forward, bw_compiler=backward, inference_compiler=inference, decompositions=decompositions_of(),
        partition_fn=min_cut_rematerialization_partition, keep_inference_input_mutations=True,
    )  # fmt: skip
    with without_layers_of_onednn(module):
        return compiled(module, example_inputs)


def _graph(graph: torch.fx.GraphModule, settings: Settings, phase: str, saved: Saved) -> Any:
    """Return a compiled graph; the graph itself, run by PyTorch, where a value has no place in our arrays."""
    name = f"{phase}_{next(_number)}"
    try:
        with unset_fake_temporarily():  # constants of the graph are plain tensors, which it would not let us read
            return _Build(name, graph, settings, phase, saved).compiled()
    except (ConversionError, Unsupported) as error:
        if settings.strict:
            raise
        notice(f"PyTorch runs the graph {name}: {error}")
        return _eager(graph, phase, saved)


def _eager(graph: torch.fx.GraphModule, phase: str, saved: Saved) -> Any:
    """Return a graph as a function of the list of its arguments."""
    if phase == "forward":
        saved.clear()
    names = [n.name if phase == "backward" else "" for n in graph.graph.nodes if n.op == "placeholder"]

    def run(args: list[Any]) -> Any:
        return graph.forward(*map(saved.as_traced, names, args))

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


class _Build:
    """The way from one graph of AOTAutograd to its compiled form."""

    def __init__(self, name: str, graph: torch.fx.GraphModule, settings: Settings, phase: str, saved: Saved) -> None:
        self.name, self.graph, self.settings, self.phase, self.saved = name, graph, settings, phase, saved
        self.placeholders = [n for n in graph.graph.nodes if n.op == "placeholder"]
        self.output = next(n for n in graph.graph.nodes if n.op == "output")
        self.inputs: list[Variable] = []
        self.passed: list[tuple[int, calls.Reading]] = []
        self.held: list[calls.Held] = []
        self.frozen: list[tuple[SharedVariable, calls.Held]] = []
        self.mutated = {n.args[0]: n for n in graph.graph.nodes if n.target is torch.ops.aten.copy_.default}

    def compiled(self) -> calls.CompiledGraph:
        for node in self.placeholders:
            if isinstance(node.meta["val"], torch.Tensor):
                require_plain(node.meta["val"])
        static = _static_places(len(self.placeholders)) if self.phase != "backward" else set()
        values = [n.meta["val"] for n in self.placeholders]
        shared: dict[Any, SharedVariable] = {}
        terms: list[Any] = []
        for place, (node, value) in enumerate(zip(self.placeholders, values, strict=True)):
            if _is_token(node):
                terms.append(None)
            elif isinstance(value, torch.Tensor):
                if place in static or node in self.mutated:
                    shared[node] = self._shared(node, place, value)
                    terms.append(loaded(shared[node], value.dtype))
                else:
                    terms.append(self._tensor_input(node, value, place))
            else:
                terms.append(value)  # a number: found below
        terms = self._with_numbers(terms, values)
        conversion = Conversion(self.settings.strict)
        found = conversion.graph(self.graph, terms)
        outputs, results = self._results(found)
        updates = {shared[n]: stored(conversion.writes[n], n.meta["val"].dtype) for n in self.mutated}
        compiled = calls.CompiledGraph(self.name, self.graph, conversion.remarks)
        options = {"name": self.name, "on_unused_input": "ignore", **self.settings.function_options}
        if self.settings.frozen and self.phase == "inference" and not updates:
            compiled.run = self._freezing(compiled, outputs, results, options)
        else:
            compiled.function = function(self.inputs, outputs, updates or None, **options)
            compiled.run = calls.runner(compiled.function, self.passed, self.held, results)
        for line in conversion.remarks:
            notice(line)
        _compiled.add(compiled)
        return compiled

    def _freezing(
        self, compiled: calls.CompiledGraph, outputs: list[Any], results: list[Any], options: dict[str, Any]
    ) -> Any:
        """Return the calls with parameters frozen, for each set of them that calls give."""

        def freezing() -> tuple[Any, Any]:
            if self.settings.quantize is None:
                found = freeze(outputs, inputs=self.inputs, borrow=True, **options)  # of copies, where one is needed
            else:
                found = quantize(outputs, self._samples(), inputs=self.inputs, **options)
            compiled.function = found
            return found, calls.runner(found, self.passed, (), results)

        return calls.Frozen(self.held, freezing, self.settings.borrow)

    def _samples(self) -> list[tuple[Any, ...]]:
        """Return the arguments of typical calls as arrays."""
        each = [s if isinstance(s, (tuple, list)) else (s,) for s in self.settings.quantize]
        readings = [reading for _, reading in self.passed]
        return [tuple(r(v) if isinstance(v, torch.Tensor) else v for r, v in zip(readings, s)) for s in each]

    # --- inputs
    def _tensor_input(self, node: Any, value: torch.Tensor, place: int) -> Any:
        """Return the numbers of a tensor argument, which is read in the order of its memory."""
        reading: calls.Reading = array_of if value.dtype is torch.bfloat16 else calls.plain_array
        kind, order = type_of(value), axes_by_stride(value)
        if self.phase == "backward" and node.name in self.saved.kept:
            kept = self.saved.kept[node.name]
            return kept.whole(loaded(self._input(node.name, kind.with_shape(kept.shape), place, reading), value.dtype))
        if order == list(range(len(order))):
            return loaded(self._input(node.name, kind, place, reading), value.dtype)
        moved = kind.with_shape(tuple(kind.shape[k] for k in order))
        array = self._input(node.name, moved, place, lambda tensor: reading(tensor).transpose(order))
        return T.dimshuffle(loaded(array, value.dtype), *np.argsort(order).tolist())

    def _input(self, name: str, kind: TensorType, place: int, reading: calls.Reading) -> Variable:
        variable = TensorVariable(kind, name=name)
        self.inputs.append(variable)
        self.passed.append((place, reading))
        return variable

    def _shared(self, node: Any, place: int, value: torch.Tensor) -> SharedVariable:
        kind = type_of(value)
        held = calls.Held(
            place, Container(np.zeros([1 if n is None else n for n in kind.shape], kind.dtype)), node in self.mutated
        )
        self.held.append(held)
        return SharedVariable(kind, held.container, node.name)

    def _with_numbers(self, terms: list[Any], values: list[Any]) -> list[Any]:
        """Return the terms with a length of a tensor in the place of each symbolic number that is one."""
        known: dict[Any, Any] = {}
        for k, (term, value) in enumerate(zip(terms, values, strict=True)):
            if not isinstance(value, torch.Tensor) or term is None:
                continue
            wanted: list[Any] = lengths(term)
            for axis, n in enumerate(list[Any](value.shape)):
                if type(n) is int or not n.node.expr.is_symbol:
                    continue
                if n.node.expr in known:
                    wanted[axis] = known[n.node.expr]
                else:
                    known[n.node.expr] = wanted[axis]
            if wanted != lengths(term):
                terms[k] = specify_shape(term, wanted)
        for place, (node, value) in enumerate(zip(self.placeholders, values, strict=True)):
            if isinstance(value, torch.Tensor):
                continue
            symbol = getattr(getattr(value, "node", None), "expr", None)
            if symbol is not None and symbol in known:
                terms[place] = known[symbol]
            elif isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
                dtype = (
                    "int64"
                    if isinstance(value, torch.SymInt)
                    else "float64"
                    if isinstance(value, torch.SymFloat)
                    else "bool"
                )
                terms[place] = self._input(node.name, TensorType(dtype, ()), place, np.asarray)
        return terms

    # --- results
    def _results(self, found: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return our outputs, and for each result of the graph how it is made."""
        outputs: list[Any] = []
        results: list[Any] = []
        nodes = self.output.args[0]
        blocks = self.saved.layouts(nodes, found) if self.phase == "forward" else [None] * len(nodes)
        for node, value, kept in zip(nodes, found, blocks, strict=True):
            if kept is not None:
                dtype = node.meta["val"].dtype
                outputs.append(as_tensor(stored(kept, dtype)))
                results.append(calls.Viewed(calls.Whole(), dtype) if dtype is torch.bfloat16 else calls.Whole())
            elif not isinstance(value, Variable):
                results.append(calls.Known(value))
            elif isinstance(node, torch.fx.Node) and node.op == "placeholder":
                results.append(calls.Given(self.placeholders.index(node)))
            elif not isinstance(node.meta["val"], torch.Tensor):
                outputs.append(value)
                results.append(calls.Number())
            else:
                output, result = self._tensor(value, node.meta["val"])
                outputs.append(output)
                results.append(result)
        return outputs, results

    def _tensor(self, value: Variable, traced: torch.Tensor) -> tuple[Variable, Any]:
        """Return our output for a result that is a tensor, and how the tensor is made of it."""
        output = as_tensor(stored(value, traced.dtype))
        made: Any = _repeated(traced) if self.phase == "inference" else None
        order = axes_by_stride(traced)
        if made is not None:
            output = output[tuple(slice(0, 1 if k in made.axes else None) for k in range(value.ndim))]
        elif order == list(range(len(order))):
            made = calls.Whole()
        else:
            output, made = T.dimshuffle(output, *order), calls.Permuted(order)
        return output, calls.Viewed(made, traced.dtype) if traced.dtype is torch.bfloat16 else made


def _is_token(node: torch.fx.Node) -> bool:
    """Return whether an argument of a graph is a token, which orders effects and has no value."""
    effects = torch.ops.higher_order.with_effects
    return bool(node.users) and all(user.target is effects and user.args[0] is node for user in node.users)


def _repeated(value: torch.Tensor) -> calls.Expanded | None:
    """Return how a result is made that repeats elements along axes, as `expand` and `meshgrid` give; None if none."""
    sizes, strides = list[Any](value.shape), list[Any](value.stride())
    axes = [k for k, (n, s) in enumerate(zip(sizes, strides, strict=True)) if type(s) is int and s == 0 and n != 1]
    return calls.Expanded(axes, sizes) if axes and all(type(n) is int and n for n in sizes) else None


def _static_places(count: int) -> set[int]:
    """Return the places of arguments that are parameters or buffers."""
    context = TracingContext.try_get()
    found = context.fw_metadata.static_input_indices if context is not None and context.fw_metadata is not None else []
    return {k for k in found if k < count}
