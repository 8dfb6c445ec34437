"""Softmax, its logarithm and logsumexp along a split axis, as reductions whose partial results combine.

    softmax(x)  -->  e / sum(e),  e = exp(x - top),  top = max(x)

Each reduction is a stage.  `top` is clipped to finite numbers where the meaning of the op does so.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .. import ops as T
from ..graph import Apply, Variable
from ..ops.lowered.row_passes import has_finite_top
from ..ops.networks.functions import AlongAxis, LogSoftmax, Softmax
from .rules import along_axis
from .states import State, is_split


def is_stable_sum(node: Apply, states: Mapping[Variable, State]) -> bool:
    """Whether a node is one of these ops along the split axis."""
    return isinstance(node.op, AlongAxis) and is_split(states.get(node.inputs[0]), along_axis(node))


def as_sums(node: Apply) -> Variable:
    """Return the output of the node by a maximum and a sum."""
    (x,), axis = node.inputs, along_axis(node)
    top = T.max(x, axis=axis, keepdims=True)
    if has_finite_top(node.op):
        largest = np.finfo(x.dtype).max
        top = T.clip(top, -largest, largest)
    z = T.sub(x, top)
    e = T.exp(z)
    total = T.sum(e, axis=axis, keepdims=True)
    if isinstance(node.op, Softmax):
        return T.true_div(e, total)
    if isinstance(node.op, LogSoftmax):
        return T.sub(z, T.log(total))
    return T.squeeze(T.add(T.log(total), top), axis)
