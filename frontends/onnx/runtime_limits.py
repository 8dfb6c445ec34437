"""Nodes whose ONNX Runtime results differ from NumPy's, each with the reason: the engine refuses them.

Found by comparing each op with NumPy on special values, on a dense sample of values, and on empty arrays
(tests/engines/test_partition_values.py).
"""

from __future__ import annotations

from ...graph import Apply
from ...graph.text import subgraphs
from ...ops.control.scan_ops import Scan
from ...ops.networks.functions import LogSoftmax, Softmax
from ...ops.networks.pooling import MaxPool
from ...ops.networks.quantized import Quantize
from ...ops.reductions.sorting import ArgSort

_LESS_EXACT = ("sigmoid", "erfc", "logaddexp", "sin", "cos", "cbrt")
"""Elementwise ops that are more than 4 units in the last place off there."""


def differs(node: Apply) -> str:
    """Why the results or errors of a node are not NumPy's; empty if they are."""
    op = node.op
    if op.fallible and not isinstance(op, Scan):
        return "its errors would not be NumPy's"
    if isinstance(op, Scan) or op.name == "cumprod":
        return "a loop of no steps loses the lengths of its results there"
    if op.name in _LESS_EXACT:
        return "it is less exact there"
    half_sign = op.name == "sign" and node.outputs[0].dtype == "float16"
    if half_sign or isinstance(op, (Softmax, LogSoftmax, MaxPool, Quantize)):
        return "NaN and infinities give other results there"
    if isinstance(op, ArgSort):
        return "equal elements come in another order there"
    if op.name in ("sum", "prod") and node.outputs[0].type.kind in "iu":
        return "sums and products of large integers are not exact there"
    inner = (differs(n) for graph in subgraphs(op).values() for n in graph.order)
    return next((reason for reason in inner if reason), "")
