"""Profiles of optimization and of runs.  Standard library and NumPy only; anyone may call it."""

from .memory import MemoryProfile
from .not_profiled import NotProfiled
from .optimizer import Failure, OptimizerProfile, RuleProfile
from .passes import (
    EquilibriumProfile,
    FusionProfile,
    GemmProfile,
    InplaceProfile,
    MergeProfile,
    PassProfile,
    SeqProfile,
    TopoProfile,
)
from .run import Cost, KernelProfile, Roofline, RunProfile, StepProfile

__all__ = [
    "Cost", "EquilibriumProfile", "Failure", "FusionProfile", "GemmProfile", "InplaceProfile", "KernelProfile",
    "MemoryProfile", "MergeProfile", "NotProfiled", "OptimizerProfile", "PassProfile", "Roofline", "RuleProfile",
    "RunProfile", "SeqProfile", "StepProfile", "TopoProfile",
]  # fmt: skip
