"""One graph over many blocks of its inputs: how values are split, and the functions of stages.

    splits      for each value: whole, split along an axis, or partial; rules by class of op
    stages      the graph cut where partial values are combined: functions of one block, and of whole values

A split axis is a mesh of one dimension, as in GSPMD (Xu et al., 2021).  Nothing here knows who runs the functions.
"""

from .splits import PARTIAL, WHOLE, Partial, Split, Unsplittable, propagated
from .stages import Stage, Staged, staged

__all__ = ["PARTIAL", "WHOLE", "Partial", "Split", "Stage", "Staged", "Unsplittable", "propagated", "staged"]
