"""Ops that programs define in Python: `theano.Op`, `as_op`, `OpFromGraph`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from ....graph import Lacks, NoGradient, TensorType, leaves
from ....graph import Variable as CoreVariable
from ....ops import zeros_like
from ....ops.core.tensor import ForeignOp
from ....ops.core.tensor import TensorVariable as CoreTensor
from ....record import record
from ....record.spelling import counted
from ..tensors.variables import Apply, Tag, Variable, _known, as_tensor_variable, wrap
from .graphs import clone

UNDEFINED: WeakKeyDictionary[CoreVariable, str] = WeakKeyDictionary()
"""Derivatives that do not exist, and the reason."""


class MethodNotDefined(NotImplementedError):
    """An op lacks a method that is needed."""


class NullGradient:
    """A derivative that does not exist, with the reason."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


def grad_undefined(op: Any, x_pos: int, x: Any, comment: str = "") -> NullGradient:
    """For `grad`: the derivative by this input is not defined."""
    return NullGradient(f"the derivative of {op} by input {x_pos} is not defined. {comment}".rstrip())


def grad_not_implemented(op: Any, x_pos: int, x: Any, comment: str = "") -> NullGradient:
    """For `grad`: the derivative by this input is not written."""
    return NullGradient(f"the derivative of {op} by input {x_pos} is not implemented. {comment}".rstrip())


class DisconnectedType:
    """For `grad`: `DisconnectedType()()` says that an output does not depend on the input."""

    def __call__(self) -> DisconnectedType:
        return self


class Op:
    """The base of ops in Python: `make_node`, `perform`, and for derivatives `grad`, `L_op` or `R_op`.

    `__props__` names the attributes that make two ops equal; `itypes` and `otypes` stand for `make_node`.
    """

    __props__: tuple[str, ...]
    itypes: Sequence[Any] | None = None
    otypes: Sequence[Any] | None = None
    default_output: int | None = None
    view_map: dict[int, list[int]] = {}
    destroy_map: dict[int, list[int]] = {}

    def make_node(self, *inputs: Any) -> Apply:
        """The node for inputs.  Raises TypeError for inputs of other types than `itypes`."""
        if self.itypes is None or self.otypes is None:
            raise MethodNotDefined(f"{type(self).__name__} needs make_node, or itypes and otypes")
        given = [as_tensor_variable(i) for i in inputs]
        if len(given) != len(self.itypes) or any(
            not kind.is_super(i.type) for kind, i in zip(self.itypes, given, strict=True)
        ):
            expected, got = ", ".join(map(str, self.itypes)), ", ".join(str(i.type) for i in given)
            raise TypeError(f"{type(self).__name__}: expected inputs of types {expected}, got {got}")
        return Apply(self, given, [kind() for kind in self.otypes])

    def perform(self, node: Any, inputs: Sequence[np.ndarray], output_storage: Any, params: Any = None) -> None:
        """Write the outputs for arrays into `output_storage[k][0]`."""
        raise MethodNotDefined(f"{type(self).__name__} needs perform: there is no other way to compute it")

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        as_list = options.pop("return_list", False)
        node = self.make_node(*inputs, **options)
        _connect(node, self)
        if as_list:
            return node.outputs
        if self.default_output is not None:
            return node.outputs[self.default_output]
        return node.outputs[0] if len(node.outputs) == 1 else node.outputs

    def _properties(self) -> tuple[Any, ...] | None:
        names = getattr(self, "__props__", None)
        return None if names is None else tuple(getattr(self, name) for name in names)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        mine = self._properties()
        return type(self) is type(other) and mine is not None and mine == other._properties()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        mine = self._properties()
        return object.__hash__(self) if mine is None else hash((type(self), mine))

    def __str__(self) -> str:
        mine = self._properties()
        if not mine:
            return type(self).__name__
        pairs = zip(self.__props__, mine, strict=True)
        return f"{type(self).__name__}{{{', '.join(f'{name}={value!r}' for name, value in pairs)}}}"

    __repr__ = __str__


PureOp = Op


def _connect(node: Apply, op: Op) -> None:
    """Connect the outputs of a node to a node of the core.  Raises NotImplementedError for an op with C code only."""
    if type(op).perform is Op.perform:
        has_c = hasattr(op, "c_code")
        message = "has C code alone, which needs Theano's own interface" if has_c else "has no perform"
        raise MethodNotDefined(f"{op} {message}; write perform(self, node, inputs, output_storage) with NumPy")
    inputs = [as_tensor_variable(i) for i in node.inputs]
    types = tuple(o.type.core for o in node.outputs)
    core = PythonOp(op, types, node)
    outputs: Any = core(*(i.core for i in inputs))
    for output, made in zip(node.outputs, outputs if isinstance(outputs, tuple) else (outputs,), strict=True):
        made.name = output.name
        output.core = made
        _known[id(made)] = output
        output.__dict__.setdefault("tag", Tag())


@record(eq=False)
class PythonOp(ForeignOp):
    """A node of the core for an op in Python; NumPy computes it in every mode."""

    theano_op: Op
    types: tuple[TensorType, ...]
    node: Any
    lacks: ClassVar[Lacks] = Lacks(
        lengths="its function decides them",
        batching="its function takes one example",
        operations="its function says nothing of them",
    )

    @property
    def name(self) -> str:  # type: ignore[override]
        return type(self.theano_op).__name__

    @property
    def identity(self) -> Any:
        return self.theano_op, self.types

    def infer(self, inputs: tuple[CoreVariable, ...]) -> tuple[TensorType, ...]:
        return self.types

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        storage: list[list[Any]] = [[None] for _ in self.types]
        self.theano_op.perform(self.node, list(values), storage)
        return tuple(self._fitted(k, cell[0]) for k, cell in enumerate(storage))

    def _fitted(self, k: int, value: Any) -> np.ndarray:
        """An output as an array.  Raises TypeError if `perform` left it out or gave another type."""
        if value is None:
            raise TypeError(f"{self.theano_op}.perform left output {k} empty; write output_storage[{k}][0] = value")
        found, kind = np.asarray(value), self.types[k]
        if found.dtype.name != kind.dtype or found.ndim != kind.ndim:
            got = f"{found.dtype} of rank {found.ndim}"
            raise TypeError(f"{self.theano_op}.perform gave {got} as output {k}, which is {kind}")
        return found

    def vjp(self, node: Any, cotangents: Sequence[CoreVariable | None]) -> Sequence[CoreVariable | None]:
        inputs, outputs = [wrap(i) for i in node.inputs], [wrap(o) for o in node.outputs]
        given = [wrap(zeros_like(o) if g is None else g) for o, g in zip(node.outputs, cotangents, strict=True)]
        op: Any = self.theano_op
        if hasattr(op, "L_op"):
            found = op.L_op(inputs, outputs, given)
        elif hasattr(op, "grad"):
            found = op.grad(inputs, given)
        else:
            raise NoGradient(f"{op} has no derivative; write grad(self, inputs, output_grads) or L_op")
        return [_cotangent(op, i, g) for i, g in zip(inputs, found, strict=True)]


def _cotangent(op: Op, x: Any, g: Any) -> CoreVariable | None:
    """A derivative that `grad` gave, for the core.  Raises NoGradient for one that does not exist."""
    discrete = not x.dtype.startswith(("float", "complex"))
    if g is None or isinstance(g, DisconnectedType) or discrete:
        return None
    if isinstance(g, NullGradient):
        return _without_value(x, g.reason)
    found = as_tensor_variable(g)
    found = found.astype(x.dtype) if found.dtype != x.dtype else found
    if found.ndim != x.ndim:
        raise TypeError(f"{op}.grad gave {found.type} for an input of type {x.type}; expected its rank")
    return found.core  # type: ignore[no-any-return]


def _without_value(x: Any, reason: str) -> CoreVariable:
    """A derivative that does not exist; gradients that are computed from it are refused, see `no_derivative`."""
    found = CoreTensor(x.core.type, name=f"no derivative: {reason}")
    UNDEFINED[found] = reason
    return found


def no_derivative(found: Sequence[CoreVariable]) -> str:
    """The reason why one of these derivatives does not exist; empty if all do."""
    return next((UNDEFINED[v] for v in leaves(found) if v in UNDEFINED), "") if UNDEFINED else ""


class _FromFunction(Op):
    """The op of a function of arrays."""

    def __init__(self, function: Callable[..., Any], itypes: Any, otypes: Any, infer_shape: Any) -> None:
        self.function, self.itypes, self.otypes = function, itypes, otypes
        self.__name__ = getattr(function, "__name__", "function")
        self.shapes = infer_shape

    def perform(self, node: Any, inputs: Any, output_storage: Any, params: Any = None) -> None:
        found = self.function(*inputs)
        several = found if isinstance(found, (list, tuple)) else [found]
        for cell, value in zip(output_storage, several, strict=True):
            cell[0] = value

    def __str__(self) -> str:
        return f"FromFunctionOp{{{self.__name__}}}"


def as_op(itypes: Any, otypes: Any, infer_shape: Any = None) -> Callable[[Callable[..., Any]], Op]:
    """Decorator that makes an op of a function of arrays."""
    kinds = [list(t) if isinstance(t, (list, tuple)) else [t] for t in (itypes, otypes)]
    return lambda function: _FromFunction(function, kinds[0], kinds[1], infer_shape)


class OpFromGraph:
    """An expression as a function of variables; each call is the expression with other inputs.

    `grad_overrides` or `lop_overrides`: a function (inputs, output_grads), or (inputs, outputs, output_grads), that
    gives the derivatives in the place of the expression's own.
    """

    def __init__(
        self, inputs: Sequence[Any], outputs: Sequence[Any], inline: bool = False, lop_overrides: Any = "default",
        grad_overrides: Any = "default", rop_overrides: Any = "default", name: str | None = None, **options: Any,
    ) -> None:  # fmt: skip
        self.local_inputs: list[Any] = list(inputs)
        self.local_outputs: list[Any] = list(outputs)
        self.name: str | None = name
        if rop_overrides != "default":
            raise NotImplementedError("OpFromGraph: rop_overrides; derivatives forward are made of those backward")
        for k, given in enumerate(inputs):
            if not isinstance(given, Variable) or given.owner is not None:
                raise TypeError(f"OpFromGraph: input {k} is a variable without owner, got {given}")
        self.overrides = next((o for o in (lop_overrides, grad_overrides) if o != "default"), None)
        self.with_outputs: Any = lop_overrides != "default"

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        given = [as_tensor_variable(i) for i in inputs]
        if len(given) != len(self.local_inputs):
            raise TypeError(
                f"OpFromGraph {self.name or ''}: takes {counted(len(self.local_inputs), 'input')}, got {len(given)}"
            )
        if self.overrides is not None:
            found = _Overridden(self)(*given)
            found = found if isinstance(found, list) else [found]
        else:
            found = clone(self.local_outputs, dict(zip(self.local_inputs, given, strict=True)))
        return found[0] if len(found) == 1 else found


class _Overridden(Op):
    """An expression with user-defined derivatives; NumPy computes it."""

    __props__ = ("graph",)

    def __init__(self, graph: OpFromGraph) -> None:
        self.graph = graph

    def make_node(self, *inputs: Any) -> Apply:
        return Apply(self, inputs, [v.type() for v in self.graph.local_outputs])

    def perform(self, node: Any, inputs: Any, output_storage: Any, params: Any = None) -> None:
        values = dict(zip(self.graph.local_inputs, inputs, strict=True))
        for cell, output in zip(output_storage, self.graph.local_outputs, strict=True):
            cell[0] = output.eval(values)

    def L_op(self, inputs: Any, outputs: Any, output_grads: Any) -> Any:
        """The derivatives that the program gives."""
        given = (inputs, outputs, output_grads) if self.graph.with_outputs else (inputs, output_grads)
        overrides: Any = self.graph.overrides
        if callable(overrides):
            return overrides(*given)
        return [o(*given) if callable(o) else o for o in overrides]


