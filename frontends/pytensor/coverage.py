"""Coverage of PyTensor's ops: converted, run by their own `perform`, or neither."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from pytensor.graph.op import Op
from pytensor.scalar.basic import ScalarOp

from .table import CONVERTERS, SCALARS, found_for

MODULES = (
    "compile.builders", "compile.ops", "gradient", "ifelse", "printing", "raise_op", "scalar.basic", "scalar.loop",
    "scalar.math", "scan.op", "sparse.basic", "sparse.math", "tensor._linalg.solve.linear_control",
    "tensor._linalg.solve.tridiagonal", "tensor.basic", "tensor.blas", "tensor.blockwise", "tensor.einsum",
    "tensor.elemwise", "tensor.extra_ops", "tensor.fft", "tensor.math", "tensor.nlinalg", "tensor.optimize",
    "tensor.pad", "tensor.random.basic", "tensor.random.op", "tensor.reshape", "tensor.shape", "tensor.signal.conv",
    "tensor.slinalg", "tensor.sort", "tensor.special", "tensor.subtensor", "tensor.type_other", "tensor.xlogx",
)  # fmt: skip
"""Modules of PyTensor that define ops for users."""
BASES = frozenset((
    "UnaryScalarOp", "BinaryScalarOp", "UnaryBitOp", "BinaryBitOp", "LogicalComparison", "FixedLogicalComparison",
    "ScalarInnerGraphOp", "ScalarOp", "BaseBlockDiagonal", "SolveBase", "GemmRelated", "OpWithCoreShape",
    "AbstractRNGConstructor", "RNGConsumerOp", "ScipyRandomVariable", "RandomVariable", "ScipyWrapperOp",
    "ScipyScalarWrapperOp", "ScipyVectorWrapperOp", "FixedOpCAReduce", "NonZeroDimsCAReduce", "CAReduce",
    "AbstractConvolveNd", "__ComparisonOpSD", "__ComparisonOpSS",
))  # fmt: skip
"""Classes that only others derive from."""


class Coverage(NamedTuple):
    """Names of the ops of a module: converted, run by their own `perform`, without a meaning in Python."""

    module: str
    converted: list[str]
    performed: list[str]
    refused: list[str]


def coverage() -> list[Coverage]:
    """Return the coverage of each module."""
    rows = []
    for name in MODULES:
        module = import_module(f"pytensor.{name}")
        kinds = [v for v in vars(module).values() if isinstance(v, type) and issubclass(v, Op)]
        own = sorted({k for k in kinds if k.__module__ == module.__name__ and k.__name__ not in BASES}, key=_name)
        found: dict[str, list[str]] = {"converted": [], "performed": [], "refused": []}
        for kind in own:
            found[_fate(kind)].append(kind.__name__)
        if own:
            rows.append(Coverage(name, found["converted"], found["performed"], found["refused"]))
    return rows


def _name(kind: type) -> str:
    return kind.__name__


def _fate(kind: Any) -> str:
    table = SCALARS if issubclass(kind, ScalarOp) else CONVERTERS
    if found_for(table, kind) is not None:
        return "converted"
    without = "_NoPython" in kind.perform.__qualname__ or kind.perform is Op.perform
    return "refused" if without else "performed"
