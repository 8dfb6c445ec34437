"""Ops without a converter: host steps that run the op in PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch

from ...graph import Lacks, TensorType, Variable
from ...ops.core.tensor import ForeignOp, constant, outputs_of
from ...record import record
from .dtypes import Unsupported, array_of, loaded, stored, tensor_of, type_of
from .strides import order_of_copies
from .table import name_of_op

if TYPE_CHECKING:
    from .building import Conversion

SCALAR_TYPES = {int: "int64", float: "float64", bool: "bool", torch.SymInt: "int64", torch.SymFloat: "float64",
                torch.SymBool: "bool"}  # fmt: skip
"""The dtype of a scalar that stands for a number of a traced graph."""


QUANTIZING = ("quantize_", "_make_per_", "_empty_affine_quantized", "_empty_per_channel_affine_quantized")
"""Beginnings of the names of ops whose results are quantized tensors."""


@record(eq=False)
class Perform(ForeignOp):
    """A call of an op of PyTorch.

    `target`: the op; `form`: its arguments, with a `Place` for each value that is computed; `results`: our types.
    `ordered`: whether it draws from PyTorch's generator; its last operand and its last result order the draws.
    """

    target: Any
    form: Any
    results: tuple[TensorType, ...]
    orders: tuple[tuple[int, ...] | None, ...]
    """For each operand the memory order that PyTorch traced, on which `resize` depends; None for a number."""
    dtypes: tuple[torch.dtype | None, ...]
    """For each operand the dtype that PyTorch traced; None for a number."""
    present: tuple[bool, ...]
    """For each result of the op whether the traced one is a value, else None."""
    ordered: bool = False
    folds = False
    lacks: ClassVar[Lacks] = Lacks(
        lengths="PyTorch decides them",
        derivative="PyTorch differentiates before a graph is compiled",
        batching="the op takes one example",
        operations="PyTorch says nothing of them",
    )

    @property
    def name(self) -> str:  # type: ignore[override]
        return name_of_op(self.target)

    def __reduce__(self) -> Any:
        return _performing, (self.name, *(getattr(self, f.name) for f in fields(self) if f.name != "target"))

    def infer(self, inputs: tuple[Variable, ...]) -> tuple[TensorType, ...]:
        return self.results

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        each = zip(values, self.orders, self.dtypes, strict=True)
        given = [v.item() if order is None else _copied(v, order, dtype) for v, order, dtype in each]
        args, kwargs = _filled(self.form, given)
        with torch.no_grad():
            found = self.target(*args, **kwargs)
        several = found if isinstance(found, (tuple, list)) else (found,)
        kept = [v for v, present in zip(several, self.present, strict=True) if present]
        if self.ordered:
            kept.append(0)
        return tuple(_fitted(self.name, v, kind) for v, kind in zip(kept, self.results, strict=True))


def _performing(name: str, *rest: Any) -> Perform:
    """Return the op of a pickle, by the name of PyTorch's."""
    return Perform(attrgetter(name.removeprefix("torch.ops."))(torch.ops), *rest)


class Place(int):
    """The place of an operand in the arguments of an op."""


def _copied(value: np.ndarray, order: tuple[int, ...], dtype: torch.dtype | None) -> torch.Tensor:
    """Return a copy of an array, to which an op may write, its axes in this order in memory."""
    back = [int(k) for k in np.argsort(order)]
    return tensor_of(np.array(value.transpose(order), order="C"), dtype).permute(back)


def _array(value: Any) -> np.ndarray:
    return np.array(array_of(value), order="C", copy=None) if isinstance(value, torch.Tensor) else np.asarray(value)


def _fitted(name: str, given: Any, kind: TensorType) -> np.ndarray:
    """Return a result of PyTorch as an array; one that it leaves undefined holds zeros.

    Raises TypeError if its dtype, rank or a length differs from the traced one.
    """
    value = np.zeros([n or 0 for n in kind.shape], kind.numpy) if given is None else _array(given)
    known = all(n is None or n == m for n, m in zip(kind.shape, value.shape))
    if value.dtype != kind.numpy or value.ndim != kind.ndim or not known:
        raise TypeError(f"{name}: PyTorch gave {value.dtype}{list(value.shape)}, expected {kind}")
    return value


def _filled(form: Any, values: Any) -> Any:
    """Return arguments with values at their places."""
    if isinstance(form, Place):
        return values[form]
    if isinstance(form, (list, tuple)):
        return [_filled(part, values) for part in form]
    if isinstance(form, dict):
        return {name: _filled(part, values) for name, part in form.items()}
    return form


class _Operands:
    """The operands of a node that PyTorch runs, with the order and dtype of each tensor."""

    def __init__(self, known: Mapping[Any, Any]) -> None:
        self._known = known
        self.values: list[Any] = []
        self.orders: list[tuple[int, ...] | None] = []
        self.dtypes: list[torch.dtype | None] = []

    def placed(self, argument: Any) -> Any:
        """Return an argument of the node with a place for each of our variables."""
        if isinstance(argument, torch.fx.Node):
            value, traced = self._known[argument], argument.meta.get("val")
            if isinstance(value, (list, tuple)):
                return [self._at(v, m) for v, m in zip(value, traced, strict=True)]
            return self._at(value, traced)
        if isinstance(argument, (list, tuple)):
            return [self.placed(a) for a in argument]
        if isinstance(argument, dict):
            return {name: self.placed(a) for name, a in argument.items()}
        return argument

    def _at(self, value: Any, traced: Any) -> Any:
        if not isinstance(value, Variable):
            return value
        if isinstance(traced, torch.Tensor):
            return self.add(stored(value, traced.dtype), order_of_copies(traced), traced.dtype)
        return self.add(value)

    def add(self, value: Any, order: tuple[int, ...] | None = None, dtype: torch.dtype | None = None) -> Place:
        """Add an operand and return its place."""
        self.values.append(value)
        self.orders.append(order)
        self.dtypes.append(dtype)
        return Place(len(self.values) - 1)


def performed(node: Any, known: Mapping[Any, Any], conversion: Conversion) -> Any:
    """Return the results of a node that PyTorch runs, on values of ours.

    Raises Unsupported for an op that makes quantized tensors: their traced values do not show it.
    """
    if name_of_op(node.target).partition(".")[2].startswith(QUANTIZING):
        raise Unsupported("its result is a quantized tensor, expected a dense one")
    operands = _Operands(known)
    form = (operands.placed(node.args), operands.placed(node.kwargs))
    value = node.meta["val"]
    several = value if isinstance(value, (tuple, list)) else (value,)
    results = [_type(v) for v in several if v is not None]
    ordered = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
    if ordered:
        operands.add(constant(np.zeros((), np.int64)) if conversion.order is None else conversion.order)
        results.append(TensorType("int64", ()))
    present = tuple(v is not None for v in several)
    orders, dtypes = tuple(operands.orders), tuple(operands.dtypes)
    op = Perform(node.target, form, tuple(results), orders, dtypes, present, ordered)
    found = list(outputs_of(op, *operands.values))
    if ordered:
        conversion.order = found.pop()
    given = iter(found)
    terms = tuple(None if v is None else _loaded(next(given), v) for v in several)
    return terms if isinstance(value, (tuple, list)) else terms[0]


def _loaded(found: Any, traced: Any) -> Any:
    return loaded(found, traced.dtype) if isinstance(traced, torch.Tensor) else found


def _type(value: Any) -> TensorType:
    if isinstance(value, torch.Tensor):
        return type_of(value)
    return TensorType(SCALAR_TYPES[type(value)], ())
