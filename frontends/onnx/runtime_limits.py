"""Nodes that ONNX Runtime computes otherwise than NumPy, each with its reason: the engine refuses them.

Random programs under random assignments test all others (tests/test_partition_values.py).
"""

from __future__ import annotations

from ...graph import Apply
from ...graph.text import subgraphs
from ...ops.scan_ops import Scan


def differs(node: Apply) -> str:
    """Why the results or errors of a node are not NumPy's; empty if they are."""
    if node.op.fallible and not isinstance(node.op, Scan):
        return "its errors would not be NumPy's"
    if isinstance(node.op, Scan) or node.op.name == "cumprod":
        return "a loop of no steps loses the lengths of its results there"
    inner = (differs(n) for graph in subgraphs(node.op).values() for n in graph.order)
    return next((reason for reason in inner if reason), "")
