"""Profiles of optimization and of runs.  Standard library and NumPy only; anyone may call it."""

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
from .run import Cost, KernelProfile, MemoryProfile, NotProfiled, Roofline, RunProfile, StepProfile

__all__ = [
    "Cost", "EquilibriumProfile", "Failure", "FusionProfile", "GemmProfile", "InplaceProfile", "KernelProfile",
    "MemoryProfile", "MergeProfile", "NotProfiled", "OptimizerProfile", "PassProfile", "Roofline", "RuleProfile",
    "RunProfile", "SeqProfile", "StepProfile", "TopoProfile",
]  # fmt: skip
