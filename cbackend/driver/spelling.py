"""The C names of what programs call."""

from __future__ import annotations

from ..program.program import Call


def spelled(step: Call) -> str:
    """The C function of a call: a kernel has its own name, an intrinsic a helper of the driver."""
    if step.kernel:
        return step.function
    return "rt->pipeline" if step.function == "pipeline" else f"ag_{step.function}"
