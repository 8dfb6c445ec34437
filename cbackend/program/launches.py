"""Launch modes of a kernel: a plain call, parallel chunks, or loops in any order."""

from __future__ import annotations

from ...targets.current import current
from ..ir.kernel import Kernel
from ..lowering.cutting import ELEMENTS_OF_PART, ROWS_OF_PART


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


def reduced_alone(kernel: Kernel) -> tuple[tuple[int, ...], int] | None:
    """Return loops, and the limit of their iterations, up to which no reduced loop is cut; None if none ever is."""
    cutting = kernel.cutting
    if cutting is None or not cutting.reduced:
        return None
    folded = (o for o, fold in zip(kernel.outputs, cutting.folds, strict=True) if fold)
    inside = any(loop > min(cutting.reduced) for o in folded for loop in o.loops)
    limit = ROWS_OF_PART if inside else ELEMENTS_OF_PART
    return tuple(l for l in range(kernel.rank) if l not in cutting.free), limit
