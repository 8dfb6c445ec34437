"""Estimates of the time of a node on an engine, in picoseconds, for `partition` without measurements.

    work_of(node)              the kind of work, operations and bytes of a node
    Prices(...).of(work)       picoseconds on an engine with these prices

Unknown lengths count as `UNKNOWN_LENGTH`, so an estimate depends only on the graph.
"""

from __future__ import annotations

from ..graph import Apply, Constant
from ..graph.facets import facet_of
from ..graph.text import subgraphs
from ..ops.control.scan_ops import Scan
from ..ops.elementwise.costs import bytes_of
from ..ops.lowered.fused import unmarked
from ..record import record
from ..targets.costs import ITEMS, UNKNOWN_LENGTH


@record
class Work:
    """Work of one kind, with its operations and the bytes that it reads and writes.

    The kinds are those of `costs.Operations`.
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
    op = unmarked(node.op)
    if facet_of(type(op), "operations") is not None:
        own = op.operations(node)
        return Work(own.kind, own.count, 0 if op.views() else moved, own.dtype)
    dtype, bodies = node.outputs[0].dtype, list(subgraphs(op).values())
    if not bodies:  # an op from outside that says nothing
        return Work("moving", 0.0, 0 if op.views() else moved, dtype)
    inside = [work_of(inner) for body in bodies for inner in body.order]
    steps = _steps(node)
    total = steps * sum(w.operations for w in inside)
    return Work("elementwise", total, steps * sum(w.bytes for w in inside) + moved, dtype, steps * len(inside) + 1)


def _steps(node: Apply) -> int:
    """Return how often the inner graphs of a node run."""
    if not isinstance(unmarked(node.op), Scan):
        return 1
    count = node.inputs[0]
    return max(1, int(count.data)) if isinstance(count, Constant) else UNKNOWN_LENGTH


NUMPY = Prices(
    node=2_000_000, byte=150, elementwise=2.0, window=400.0, half=1500.0, small=1500.0, integer=1500.0, cubic=120.0,
)  # fmt: skip
C = Prices(node=50_000, byte=30, product=12.0, window=12.0, half=50.0, small=8.0)
ONNXRUNTIME = Prices(node=3_000_000, byte=80, elementwise=3.0, half=6.0, small=60.0, integer=1000.0, sorting=1500.0)


def numpy_cost(node: Apply) -> int:
    """Return the time of a node that NumPy runs."""
    return NUMPY.of(work_of(node))
