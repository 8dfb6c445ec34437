"""Launch modes of a kernel: a plain call, parallel chunks, or loops in any order."""

from __future__ import annotations

from ...targets.current import current
from ..ir.kernel import Kernel


def is_launched(kernel: Kernel) -> bool:
    """Whether the runtime may split the kernel into chunks."""
    cutting = kernel.cutting
    return cutting is not None and bool(cutting.free or cutting.reduced or cutting.sequential)


def runs_in_any_order(kernel: Kernel) -> bool:
    """Whether the loops of a kernel may be interchanged: each array moves along all of them, or along none."""
    everywhere = tuple(range(kernel.rank))
    cutting = kernel.cutting
    return (
        kernel.rank > 1
        and cutting is not None
        and not cutting.sequential
        and cutting.free == everywhere
        and all(o.loops in ((), everywhere) for o in kernel.operands)
        and any(i.loops for i in kernel.inputs)
    )


def steps_alone(kernel: Kernel) -> int:
    """Return the limit of loop iterations for a plain call."""
    assert kernel.cutting is not None
    return current().costs.alone // kernel.cutting.picoseconds + 1
