"""The ops by the names they are printed with: what `parse` needs to read a graph back."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Union

from ..graph import FunctionGraph, Op, Vocabulary
from .advanced_indexing import AdvancedIncSubtensor, AdvancedSubtensor
from .blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from .creation import Alloc, Arange, Eye
from .cumulative import CUMULATIVE, Cumulative
from .elementwise import ELEMENTWISE, Cast
from .fused import Fused, InPlace
from .indexing import IncSubtensor, Subtensor
from .join import Join
from .lengths import MakeVector, Shape, ShapeI
from .nn import LogSoftmax, LogSumExp, Softmax
from .reduce import REDUCTIONS, ArgReduce, Reduce, SumTo
from .shape import BroadcastTo, DimShuffle, Reshape
from .tensor import TensorConstant, TensorVariable

Entry = Union[Op, Callable[..., Op]]
"""An op without fields, or what makes an op of its fields."""

_WITHOUT_FIELDS = (
    Alloc(), Arange(), BroadcastTo(), Dot(), Dot22(), Dot22Scalar(), Gemm(), Gemv(), Ger(), MakeVector(), MatMul(),
    Reshape(), Shape(), SumTo(),
)  # fmt: skip
_WITH_FIELDS = (
    AdvancedIncSubtensor, AdvancedSubtensor, Cast, DimShuffle, Eye, Fused, InPlace, IncSubtensor, Join, LogSoftmax,
    LogSumExp, ShapeI, Softmax, Subtensor,
)  # fmt: skip


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """Every op by its printed name, and how variables, constants and graphs are made."""
    ops: dict[str, Any] = dict(ELEMENTWISE)
    ops.update((name, partial(Reduce, scalar)) for name, scalar in REDUCTIONS.items())
    ops.update((name, partial(Cumulative, scalar)) for name, scalar in CUMULATIVE.items())
    ops.update((name, partial(ArgReduce, name)) for name in ("argmax", "argmin"))
    ops.update((op.name, op) for op in _WITHOUT_FIELDS)
    ops.update((kind.name, kind) for kind in _WITH_FIELDS)
    return Vocabulary(ops, TensorVariable, TensorConstant, FunctionGraph)
