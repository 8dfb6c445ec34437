"""Partitioning of a graph over blocks of its inputs: states of values, and the functions of each stage.

    states       the state of a value: whole, split along an axis, partial, or local to a block
    facts        lengths and numbers that the caller knows, and the questions of a plan about them
    rules        the states of a node's outputs from those of its inputs, by class of op
    gathers      the rules of indices with integer arrays
    cuts         whole operands that blocks slice
    positions    ranges and random counters as ranges of a block's rows
    stable_sums  softmax and logsumexp along a split axis as maxima and sums
    parts        slices along the split axis, and operands that are different slices of it
    local        running sums, argmax and extremes of slices by values of each block
    splits       propagation of states through a graph
    stages       the graph cut at combinations of partial values: functions of one block, and of whole values

Blocks along a split axis form a one-dimensional mesh, as in GSPMD (Xu et al., 2021).  This subpackage is independent of
the scheduler that runs the functions.
"""

from .splits import propagated
from .stages import Stage, Staged, staged
from .states import PARTIAL, WHOLE, Collect, Partial, Split, Unsplittable

__all__ = ["PARTIAL", "WHOLE", "Collect", "Partial", "Split", "Stage", "Staged", "Unsplittable", "propagated", "staged"]
