"""Launch modes of a kernel: a plain call, parallel chunks, or loops in any order."""

from __future__ import annotations

from ...targets.current import current
from ..ir.kernel import Kernel
from ..lowering.splitting import ELEMENTS_OF_PART, ROWS_OF_PART


def is_launched(kernel: Kernel) -> bool:
    """Whether the runtime may split the kernel into chunks."""
    splits = kernel.splits
    return splits is not None and bool(splits.free or splits.reduced or splits.sequential)


def runs_in_any_order(kernel: Kernel) -> bool:
    """Whether the loops of a kernel may be interchanged: each array moves along all of them, or along none."""
    everywhere = tuple(range(kernel.rank))
    splits = kernel.splits
    return (
        kernel.rank > 1
        and splits is not None
        and not splits.sequential
        and splits.free == everywhere
        and all(o.loops in ((), everywhere) for o in kernel.operands)
        and any(i.loops for i in kernel.inputs)
    )


def steps_alone(kernel: Kernel) -> int:
    """Return the limit of loop iterations for a plain call."""
    assert kernel.splits is not None
    return current().costs.alone // kernel.splits.picoseconds + 1


def reduced_alone(kernel: Kernel) -> tuple[tuple[int, ...], int] | None:
    """Return loops, and the limit of their iterations, up to which no reduced loop is cut; None if none ever is."""
    splits = kernel.splits
    if splits is None or not splits.reduced:
        return None
    folded = (o for o, fold in zip(kernel.outputs, splits.folds, strict=True) if fold)
    inside = any(loop > min(splits.reduced) for o in folded for loop in o.loops)
    limit = ROWS_OF_PART if inside else ELEMENTS_OF_PART
    return tuple(l for l in range(kernel.rank) if l not in splits.free), limit
