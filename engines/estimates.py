"""Estimates of the time of a node on an engine, in picoseconds, for `partition` without measurements.

    work_of(node)              the kind of work, operations and bytes of a node
    Prices(...).of(work)       picoseconds on an engine with these prices

Unknown lengths count as `UNKNOWN_LENGTH`, so an estimate depends only on the graph.
"""

from __future__ import annotations

import math

from ..graph import Apply, Constant
from ..graph.text import subgraphs
from ..ops.control.scan_ops import Scan
from ..ops.elementwise.costs import bytes_of, element, lengths, size
from ..ops.elementwise.records import Pointwise
from ..ops.linalg.blas import Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul
from ..ops.linalg.determinants import Cofactors, Det, SlogDet
from ..ops.linalg.factorizations import QR, SVD, Cholesky, Eig, Eigh, Eigvals, Eigvalsh, SingularValues
from ..ops.linalg.fourier import Fourier
from ..ops.linalg.solving import Inverse, PseudoInverse, Solve, SolveTriangular
from ..ops.lowered.blocked import BlockedConvolution
from ..ops.lowered.blocked_gradient import BlockedKernelGradient
from ..ops.lowered.byte_sums import ByteConvolution, ByteProduct
from ..ops.networks.convolution import Convolution, KernelGradient
from ..ops.reductions.sorting import ArgSort, Nonzero, OrderStatistics, SearchSorted, Sort, Unique, UniqueParts
from ..record import record
from ..targets.costs import ITEMS, UNKNOWN_LENGTH

_PRODUCTS = (Dot, Dot22, Dot22Scalar, Gemm, Gemv, Ger, MatMul, ByteProduct)
_WINDOWS = (Convolution, KernelGradient, BlockedConvolution, BlockedKernelGradient, ByteConvolution)
_CUBIC = (QR, SVD, Cholesky, Eig, Eigh, Eigvals, Eigvalsh, SingularValues, Inverse, PseudoInverse, Solve,
          SolveTriangular, Cofactors, Det,
          SlogDet)  # fmt: skip
_SORTING = (ArgSort, Fourier, Nonzero, OrderStatistics, SearchSorted, Sort, Unique, UniqueParts)
"""Ops of n log n operations on n elements."""


@record
class Work:
    """Work of one kind, with its operations and the bytes that it reads and writes.

    Kinds: "elementwise" (operations are picoseconds of the cost model), "product", "window", "cubic", "sorting" and
    "moving".
    """

    kind: str
    operations: float
    bytes: int
    dtype: str
    steps: int = 1
    """Number of nodes that run; a node of a loop body counts once per step."""


@record
class Prices:
    """Prices of operations on an engine, in picoseconds."""

    node: int
    """Fixed cost of a node."""
    byte: float
    """Cost per byte that a node reads or writes."""
    elementwise: float = 1.0
    """Factor of elementwise operations, which the cost model prices."""
    product: float = 10.0
    """Cost of a float32 operation in a matrix product; float64 costs twice as much."""
    window: float = 10.0
    """Cost of a float32 operation in a convolution."""
    half: float = 5.0
    """Cost of a float16 operation in products and convolutions."""
    small: float = 10.0
    """Cost of an operation on 8-bit integers in products and convolutions."""
    integer: float = 400.0
    """Cost of an operation on wider integers in products and convolutions."""
    cubic: float = 100.0
    """Cost of an operation in a factorization or a linear solve."""
    sorting: float = 300.0
    """Cost of a comparison in a sort."""

    def of(self, work: Work) -> int:
        """Return the time of some work."""
        return int(work.steps * self.node + self.byte * work.bytes + work.operations * self._operation(work)) + 1

    def _operation(self, work: Work) -> float:
        if work.kind in ("product", "window"):
            if work.dtype in ("int8", "uint8"):
                return self.small
            if work.dtype == "float16":
                return self.half
            if not work.dtype.startswith(("float", "complex")):
                return self.integer
            price = self.product if work.kind == "product" else self.window
            return price * ITEMS[work.dtype] / 4
        others = {"elementwise": self.elementwise, "cubic": self.cubic, "sorting": self.sorting}
        return others.get(work.kind, 0.0)


def work_of(node: Apply) -> Work:
    """Return the work of a node."""
    moved = bytes_of([v for v in (*node.inputs, *node.outputs) if not (isinstance(v, Constant) and v.ndim == 0)])
    kind, operations, dtype = _operations(node)
    bodies = list(subgraphs(node.op).values())
    if not bodies:
        return Work(kind, operations, 0 if node.op.views() else moved, dtype)
    inside = [work_of(inner) for body in bodies for inner in body.order]
    steps = _steps(node)
    total = steps * sum(w.operations for w in inside)
    return Work("elementwise", total, steps * sum(w.bytes for w in inside) + moved, dtype, steps * len(inside) + 1)


def _steps(node: Apply) -> int:
    """Return how often the inner graphs of a node run."""
    if not isinstance(node.op, Scan):
        return 1
    count = node.inputs[0]
    return max(1, int(count.data)) if isinstance(count, Constant) else UNKNOWN_LENGTH


def _operations(node: Apply) -> tuple[str, float, str]:
    """Return the kind of a node's work, the number of operations, and their dtype."""
    op, out = node.op, node.outputs[0]
    first = node.inputs[0] if node.inputs else out
    largest = max([size(v) for v in (*node.inputs, *node.outputs)], default=1)
    if isinstance(op, _PRODUCTS):
        matrix = max(node.inputs, key=lambda v: v.ndim)
        common = lengths(matrix)[-1] if matrix.ndim else 1
        return "product", 2.0 * size(out) * common, first.dtype
    if isinstance(op, _WINDOWS):
        kernel = lengths(node.inputs[1])
        return "window", 2.0 * size(out) * math.prod(kernel[1:]), first.dtype
    if isinstance(op, _CUBIC):
        return "cubic", float(largest * (lengths(first)[-1] if first.ndim else 1)), first.dtype
    if isinstance(op, _SORTING):
        return "sorting", largest * max(1.0, math.log2(max(largest, 2))), first.dtype
    if isinstance(op, Pointwise):
        return "elementwise", element(node) * size(out), out.dtype
    return "moving", 0.0, out.dtype


NUMPY = Prices(
    node=2_000_000, byte=150, elementwise=2.0, window=400.0, half=1500.0, small=1500.0, integer=1500.0, cubic=120.0,
)  # fmt: skip
C = Prices(node=50_000, byte=30, product=12.0, window=12.0, half=50.0, small=8.0)
ONNXRUNTIME = Prices(node=3_000_000, byte=80, elementwise=3.0, half=6.0, small=60.0, integer=1000.0, sorting=1500.0)


def numpy_cost(node: Apply) -> int:
    """Return the time of a node that NumPy runs."""
    return NUMPY.of(work_of(node))
