"""What it cost: profiles of optimization and of runs.  Standard library and NumPy only; anyone may call it."""

from .optimizer import (
    EquilibriumProfile,
    Failure,
    FusionProfile,
    GemmProfile,
    InplaceProfile,
    MergeProfile,
    OptimizerProfile,
    PassProfile,
    RuleProfile,
    SeqProfile,
    TopoProfile,
)
from .run import KernelProfile, RunProfile, StepProfile

__all__ = [
    "EquilibriumProfile", "Failure", "FusionProfile", "GemmProfile", "InplaceProfile", "KernelProfile", "MergeProfile",
    "OptimizerProfile", "PassProfile", "RuleProfile", "RunProfile", "SeqProfile", "StepProfile", "TopoProfile",
]  # fmt: skip
