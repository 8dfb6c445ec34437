"""A PyTorch module as it is given to users: `ag.from_torch(module, example_inputs)`."""

from __future__ import annotations

import os
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch.export.graph_signature import InputKind, OutputKind
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from torch.utils import _pytree as pytree

from ... import ops as T
from ...graph import TensorType, Variable
from ...networks.imported import ImportedModel
from ...ops.core.shared import Container, SharedVariable
from ...ops.core.tensor import TensorVariable, as_tensor, constant
from ...ops.shapes.conditions import checked
from ...record.cached import cached_property
from .arguments import Arguments, Fixed
from .building import Conversion, ConversionError
from .decompositions import export_decompositions
from .dtypes import Unsupported, array_of, as_dtype, loaded, name_of, require_plain, stored, tensor_of, type_of
from .origins import user_line
from .performing import SCALAR_TYPES
from .symbols import lengths

MUTATIONS = {
    kind
    for kind in OutputKind
    if kind.name in ("BUFFER_MUTATION", "PARAMETER_MUTATION")  # PyTorch 2.6 has the first
}


class Form(NamedTuple):
    """The form of the results of a program.

    `known`: for each leaf None, or a tuple of the value that the export found; `spec`: their nesting, None for a list;
    `dtypes`: the dtypes of the leaves that a call computes.
    """

    known: Sequence[tuple[Any] | None]
    spec: Any
    dtypes: Sequence[torch.dtype | None]

    def filled(self, values: Sequence[Any]) -> Any:
        """Return the results with these values in the place of the leaves that a call computes."""
        given = iter(values)
        leaves = [next(given) if k is None else k[0] for k in self.known]
        return leaves if self.spec is None else pytree.tree_unflatten(leaves, self.spec)


class TorchModel(ImportedModel):
    """A module: `inputs` and `outputs` are variables by name, `parameters` its parameters and buffers by path.

    Parameters are shared variables over the module's own memory: training the module changes them, and a buffer that
    a call updates changes in the module.  `remarks` has a line for each op that PyTorch runs.

    Called with tensors, or with arrays, it returns what the module returns, of the same kind.

    It pickles, and copies as by `copy.deepcopy`; the parameters then have memory of their own.
    """

    _computed: ClassVar[tuple[str, ...]] = ("outputs", "updates")

    def __init__(
        self, name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any], parameters: Mapping[str, Any],
        updates: Mapping[Any, Any], arguments: Arguments, form: Form, remarks: Sequence[str],
    ) -> None:  # fmt: skip
        super().__init__(name, inputs, outputs, parameters)
        self.updates: dict[Any, Any] = dict(updates)
        """The new values of buffers that a call changes."""
        self.remarks: tuple[str, ...] = tuple(remarks)
        self._arguments, self._form = arguments, form

    def defaults(self) -> dict[str, Any]:
        """The updates of buffers."""
        return {"updates": self.updates} if self.updates else {}

    @cached_property
    def _homes(self) -> list[tuple[SharedVariable, np.ndarray]]:
        """Return the updated buffers with the memory of the module."""
        return [(v, v.container.value) for v in self.updates]

    def __call__(self, *args: Any, **named: Any) -> Any:
        arrays, of_tensors = self._arguments.arrays(args, named)
        homes = self._homes
        found = self._function(*arrays)
        for variable, home in homes:
            if variable.container.value is not home:
                np.copyto(home, variable.container.value)
                variable.container.value = home
        several = [found] if len(self.outputs) == 1 else list(found)
        if of_tensors:
            several = [tensor_of(np.asarray(v), dtype) for v, dtype in zip(several, self._form.dtypes, strict=True)]
        return self._form.filled(several)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {v.type}" for name, v in self.inputs.items())
        return f"<PyTorch model {self.name}({inputs}) -> {', '.join(self.outputs)}>"


def model_of(source: Any, example_inputs: Any, kwargs: Any, dynamic_shapes: Any, strict: bool) -> TorchModel:
    """Return the model of a module or an exported program; the arguments are those of `ag.from_torch`."""
    program = _exported(source, example_inputs, kwargs, dynamic_shapes)
    name = type(source).__name__ if isinstance(source, torch.nn.Module) else "model"
    return _read(program.run_decompositions(export_decompositions()), name, strict)


def _exported(source: Any, example_inputs: Any, kwargs: Any, dynamic_shapes: Any) -> Any:
    if isinstance(source, torch.export.ExportedProgram):
        if example_inputs is not None or dynamic_shapes is not None:
            raise TypeError("from_torch: an exported program has its inputs; leave out example_inputs, dynamic_shapes")
        return source
    if isinstance(source, (str, os.PathLike)):
        return torch.export.load(source)
    if not isinstance(source, torch.nn.Module):
        raise TypeError(
            "from_torch: expected a module, an ExportedProgram or the path of a .pt2 archive, "
            f"got {type(source).__name__}"
        )
    if example_inputs is None and kwargs is None:
        raise TypeError("from_torch: a module needs example_inputs, a tuple of its arguments")
    given = (example_inputs,) if isinstance(example_inputs, torch.Tensor) else tuple(example_inputs or ())
    try:
        return _program_of(source, given, dict(kwargs or {}), dynamic_shapes)
    except GuardOnDataDependentSymNode as error:
        reason = str(error).partition(".  ")[0].splitlines()[0]
        raise ConversionError(
            f"from_torch: {type(source).__name__} decides by a value that only a call knows{_place(error)}: {reason}; "
            "use torch.cond or torch.where, or torch.compile, which runs such lines in Python"
        ) from error
    except Exception as error:
        if type(error).__module__ != "builtins" or not _place(error):
            raise  # PyTorch's own errors say more, and so does that of arguments that the module does not take
        (reason, *_) = traceback.format_exception_only(error)[-1].splitlines()
        raise ConversionError(
            f"from_torch: torch.export cannot trace {type(source).__name__}{_place(error)}: {reason}; "
            "if the module runs with these arguments, use torch.compile"
        ) from error


def _program_of(module: torch.nn.Module, args: Any, kwargs: Any, dynamic_shapes: Any) -> Any:
    """Return the program of `torch.export`, without Dynamo if possible: PyTorch 2.6 exports recurrent layers by it."""
    try:
        return torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
    except ValueError as error:
        if "_flat_weights" not in str(error):
            raise
        return torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=True)


def _place(error: Exception) -> str:
    """Return the user's line of an error in brackets; nothing if there is none."""
    line = user_line(error.__traceback__)
    return f" ({line})" if line else ""


class _Reader:
    """Values of ours for the inputs of an exported program."""

    def __init__(self, program: Any) -> None:
        self.program = program
        self.inputs: dict[str, Any] = {}
        self.parameters: dict[str, Any] = {}
        self.dtypes: dict[str, torch.dtype] = {}
        """PyTorch's dtype of each parameter."""
        self.terms: list[Any] = []
        self.leaves: list[str | Fixed] = []
        """For each argument of the call the name of its input, or the value that the export fixed."""
        self.values = [n.meta.get("val") for n in program.graph.nodes if n.op == "placeholder"]
        self.symbols: dict[Any, Any] = {}

    def read(self) -> None:
        for spec, value in zip(self.program.graph_signature.input_specs, self.values, strict=True):
            self.terms.append(self._term(spec, value))
        self.terms = [
            _with_lengths(t, v, self.symbols, self.program.range_constraints, n) if n else t
            for t, v, n in zip(self.terms, self.values, self._names, strict=True)
        ]

    @property
    def _names(self) -> list[str | None]:
        kinds = [s.kind is InputKind.USER_INPUT for s in self.program.graph_signature.input_specs]
        return [
            s.arg.name if k and isinstance(v, torch.Tensor) else None
            for k, s, v in zip(kinds, self.program.graph_signature.input_specs, self.values, strict=True)
        ]

    def _term(self, spec: Any, value: Any) -> Any:
        """Return the value of ours for an input.  Raises ConversionError for a tensor that no array holds."""
        try:
            return self._term_of(spec, value)
        except Unsupported as error:
            what = "input" if spec.kind is InputKind.USER_INPUT else spec.kind.name.lower().replace("_", " ")
            name = spec.target or spec.arg.name
            raise ConversionError(
                f"from_torch: the {what} {name}: {error}; convert it, as by module.float(), or use "
                "torch.compile, which lets PyTorch run it"
            ) from error

    def _term_of(self, spec: Any, value: Any) -> Any:
        if spec.kind is InputKind.USER_INPUT:
            kind = _kind_of(value)
            if kind is None:
                self.leaves.append(Fixed(spec.arg.name, getattr(spec.arg, "value", value)))
                return value
            self.leaves.append(spec.arg.name)
            self.inputs[spec.arg.name] = TensorVariable(kind, name=spec.arg.name)
            found = self.inputs[spec.arg.name]
            return loaded(found, value.dtype) if isinstance(value, torch.Tensor) else found
        if spec.kind in (InputKind.PARAMETER, InputKind.BUFFER):
            state = self.program.state_dict
            held = state[spec.target] if spec.target in state else self.program.constants[spec.target]
            variable = shared_of(held, spec.target)
            self.parameters[spec.target], self.dtypes[spec.target] = variable, held.dtype
            return loaded(variable, held.dtype)
        if spec.kind is InputKind.CONSTANT_TENSOR:
            held = self.program.constants[spec.target]
            require_plain(held)
            return loaded(constant(array_of(held)), held.dtype)
        if spec.kind is InputKind.TOKEN:  # it orders effects, and has no value
            return None
        raise ConversionError(f"the input {spec.arg.name} is {spec.kind.name.lower()}, expected tensors and numbers")


def _kind_of(value: Any) -> TensorType | None:
    """Return our type for an argument of a traced graph; None for a Python value, which the export fixed."""
    if isinstance(value, torch.Tensor):
        return type_of(value)
    dtype = SCALAR_TYPES.get(type(value)) if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)) else None
    return None if dtype is None else TensorType(dtype, ())


def _with_lengths(x: Any, value: torch.Tensor, symbols: dict[Any, Any], ranges: Mapping[Any, Any], name: str) -> Any:
    """Return an input whose lengths are checked: equal ones where the export found so, and those of a range."""
    own = lengths(x)
    term = x
    for axis, n in enumerate(list[Any](value.shape)):
        if type(n) is int:
            continue
        symbol = n.node.expr
        what = f"the length of {name} along axis {axis}"
        if symbol in symbols:
            term = checked(
                term, T.eq(own[axis], symbols[symbol]), what + " is {0}, expected {1}", own[axis], symbols[symbol]
            )
        elif symbol.is_symbol:
            symbols[symbol] = own[axis]
            bounds = ranges.get(symbol)
            for end, test, word in (
                () if bounds is None else ((bounds.lower, T.ge, "at least"), (bounds.upper, T.le, "at most"))
            ):
                if end.is_Integer and (word == "at most" or end > 2):
                    term = checked(
                        term, test(own[axis], int(end)), f"{what} is {{0}}, expected {word} {end}", own[axis]
                    )
    return term


def shared_of(held: torch.Tensor, path: str) -> SharedVariable:
    """Return a parameter as a shared variable over its memory, or over a copy if its elements are not in order."""
    require_plain(held)
    array = array_of(held)
    array = array if array.flags.carray else np.array(array, order="C")
    return SharedVariable(type_of(held), Container(array), path)


def _results_of(program: Any) -> Sequence[Any]:
    """Return the nodes of the results of an exported program."""
    output = next(n for n in program.graph.nodes if n.op == "output")
    return list(output.args[0])


def _read(program: Any, name: str, strict: bool) -> TorchModel:
    reader = _Reader(program)
    reader.read()
    conversion = Conversion(strict)
    found = conversion.graph(program.graph_module, reader.terms)
    outputs: dict[str, Any] = {}
    updates: dict[Any, Any] = {}
    known: list[tuple[Any] | None] = []
    dtypes: list[torch.dtype | None] = []
    for spec, value, node in zip(program.graph_signature.output_specs, found, _results_of(program), strict=True):
        if spec.kind in MUTATIONS:
            dtype = reader.dtypes[spec.target]
            updates[reader.parameters[spec.target]] = stored(as_dtype(value, name_of(dtype)), dtype)
        elif spec.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT):
            if isinstance(value, Variable):
                label = spec.arg.name if spec.arg.name not in outputs else f"{spec.arg.name}_{len(outputs)}"
                traced = node.meta.get("val") if isinstance(node, torch.fx.Node) else None
                dtypes.append(getattr(traced, "dtype", None))
                outputs[label] = as_tensor(stored(value, dtypes[-1]))
                known.append(None)
            else:
                known.append((value,))
        elif spec.kind is not OutputKind.TOKEN:
            raise ConversionError(f"{name} changes its input {spec.target}; return the new value instead")
    spec = program.call_spec
    names = getattr(program.module_call_graph[0].signature, "forward_arg_names", None) or []
    arguments = Arguments(name, spec.in_spec, names, reader.leaves)
    return TorchModel(
        name, reader.inputs, outputs, reader.parameters, updates, arguments, Form(known, spec.out_spec, dtypes),
        conversion.remarks,
    )  # fmt: skip
