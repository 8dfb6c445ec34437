"""Values that the optimizer computes on channels in blocks, in a graph that is not optimized yet."""

from __future__ import annotations

from collections.abc import Sequence

from ..graph import Variable
from ..graph.walk import toposort
from ..ops.elementwise.pointwise import Pointwise
from ..ops.networks.convolution import Convolution
from ..ops.networks.pooling import MaxPool, SumPool
from ..optdb.rules.blocks.layout import convolution_in_blocks
from ..targets.costs import ITEMS
from ..targets.current import current


def block_of(value: Variable) -> int:
    """Return the length of a block of channels: a vector."""
    return current().vector // ITEMS[value.dtype]


def results_in_blocks(values: Sequence[Variable]) -> set[Variable]:
    """Return the results of convolutions on blocks, of pools and of elementwise ops on them, whose blocks are full."""
    found: set[Variable] = set()
    for node in toposort(values):
        made = node.outputs[0]
        if made.ndim != 4:
            continue
        if isinstance(node.op, Convolution):
            inside = convolution_in_blocks(node) is not None
        elif isinstance(node.op, (MaxPool, SumPool)):
            inside = node.inputs[0] in found
        else:
            same = [v for v in node.inputs if v.type.shape == made.type.shape]
            inside = isinstance(node.op, Pointwise) and any(v in found for v in same)
        channels = made.type.shape[1]
        if inside and made.dtype in ITEMS and channels is not None and channels % block_of(made) == 0:
            found.add(made)
    return found
