"""Ops without a converter: host steps that call the `perform` of PyTensor's op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from pytensor.graph.basic import Apply as PyTensorApply
from pytensor.graph.basic import Constant as PyTensorConstant

from ...graph import Lacks, TensorType
from ...graph import Variable as CoreVariable
from ...ops.core.tensor import ForeignOp, outputs_of
from ...record import record
from .forms import form_of


@record(eq=False)
class Perform(ForeignOp):
    """A node of PyTensor, computed by the `perform` of its op.

    `node`: the node on inputs of its own, so that it holds no graph; `key`: what equal nodes have in common.
    """

    node: Any
    key: Any
    results: tuple[TensorType, ...]
    lacks: ClassVar[Lacks] = Lacks(
        lengths="its perform decides them",
        derivative="PyTensor differentiates before a function is compiled",
        batching="its perform takes one example",
        operations="its perform says nothing of them",
    )

    @property
    def name(self) -> str:  # type: ignore[override]
        return str(self.node.op)

    @property
    def identity(self) -> Any:
        return self.key, self.results

    def infer(self, inputs: tuple[CoreVariable, ...]) -> tuple[TensorType, ...]:
        return self.results

    def evaluate(self, *values: np.ndarray) -> tuple[np.ndarray, ...]:
        node, given = self.node, iter(values)
        inputs = []
        for k, i in enumerate(node.inputs):
            if isinstance(i, PyTensorConstant):
                value = i.data
            else:
                form = form_of(i.type)
                value = form.value([next(given) for _ in range(form.count)])
            destroyed = any(k in places for places in node.op.destroy_map.values())
            inputs.append(value.copy() if destroyed and isinstance(value, np.ndarray) else value)
        cells: list[list[Any]] = [[None] for _ in node.outputs]
        node.op.prepare_node(node, None, None, "py")
        node.op.perform(node, inputs, cells)
        found: list[np.ndarray] = []
        for output, cell in zip(node.outputs, cells, strict=True):
            found += form_of(output.type).arrays(cell[0])
        return tuple(_fitted(self.name, a, kind) for a, kind in zip(found, self.results, strict=True))


def _fitted(name: str, value: Any, kind: TensorType) -> np.ndarray:
    """Return an output as an array of the dtype that the node declares, which some `perform` do not keep to.

    Raises TypeError if `perform` gave another kind of dtype or another rank.
    """
    found = np.asarray(value)
    if found.ndim != kind.ndim or not np.can_cast(found.dtype, kind.numpy, "same_kind"):
        raise TypeError(f"{name}: perform gave {found.dtype} of rank {found.ndim}, expected {kind}")
    return found.astype(kind.numpy, copy=False)


def performed(node: Any, operands: Sequence[Any], dtype: str = "") -> tuple[Any, ...]:
    """Return the outputs of a node of PyTensor on values of ours, by its own `perform`.

    `dtype`: that of the floating-point outputs, for an op that declares another one than it has.
    """
    inputs = [i if isinstance(i, PyTensorConstant) else i.type() for i in node.inputs]
    alone = PyTensorApply(node.op, inputs, [o.type() for o in node.outputs])
    read = [pair for pair in zip(inputs, operands, strict=True) if not isinstance(pair[0], PyTensorConstant)]
    given = [v for i, operand in read for v in form_of(i.type).variables(operand)]
    outputs = [form_of(o.type) for o in node.outputs]
    declared = [kind for form in outputs for kind in form.types()]
    kinds = tuple(TensorType(dtype, k.shape) if dtype and k.kind == "f" else k for k in declared)
    constants = tuple(_signature(i) for i in inputs if isinstance(i, PyTensorConstant))
    key = (node.op, tuple(i.type for i in inputs), tuple(o.type for o in node.outputs), constants)
    return terms_of(outputs, outputs_of(Perform(alone, key, kinds), *given))


def _signature(constant: PyTensorConstant) -> Any:
    """Return what equal constants have in common, with a hash."""
    return constant.signature() if hasattr(constant.type, "ndim") else (constant.type, repr(constant.data))


def terms_of(forms: Sequence[Any], variables: Sequence[CoreVariable]) -> tuple[Any, ...]:
    """Return the values that variables are the arrays of."""
    rest = iter(variables)
    return tuple(form.term([next(rest) for _ in range(form.count)]) for form in forms)


