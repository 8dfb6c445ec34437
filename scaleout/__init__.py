"""One graph over many blocks of its inputs: how values are split, and the functions of stages.

    states      how a value lies over blocks: whole, split along an axis, or partial
    rules       states of a node's outputs by those of its inputs, by class of op
    positions   ranges and counters of random draws as ranges of a block's rows
    stable_sums  softmax and logsumexp along a split axis as maxima and sums
    splits      states of all values of a graph
    stages      the graph cut where partial values are combined: functions of one block, and of whole values

A split axis is a mesh of one dimension, as in GSPMD (Xu et al., 2021).  Nothing here knows who runs the functions.
"""

from .splits import propagated
from .stages import Stage, Staged, staged
from .states import PARTIAL, WHOLE, Collect, Partial, Split, Unsplittable

__all__ = ["PARTIAL", "WHOLE", "Collect", "Partial", "Split", "Stage", "Staged", "Unsplittable", "propagated", "staged"]
