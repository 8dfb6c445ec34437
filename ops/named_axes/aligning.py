"""Alignment by name: operands with the axes of all of them, in one order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Variable
from ...record import lazy
from ...record.spelling import counted
from ..core.checks import describe, shown
from ..core.namespace import T

_tensor = lazy.module(".tensor", __package__)


def aligned(operands: Sequence[Any], what: str) -> tuple[list[Any], tuple[str, ...]]:
    """Return the operands as values whose axes broadcast by position, and the names of the axes of the result.

    Scalars stay as they are.  Raises TypeError, with the fix, for an array without names, ValueError for an axis whose
    known lengths differ.
    """
    named = [o for o in operands if isinstance(o, _tensor.NamedTensor)]
    axes = tuple(dict.fromkeys(a for o in named for a in o.axes))
    _tensor.require_lengths(named, what)
    return [_placed(o, axes, what) for o in operands], axes


def _placed(operand: Any, axes: tuple[str, ...], what: str) -> Any:
    if not isinstance(operand, _tensor.NamedTensor):
        ndim = operand.ndim if isinstance(operand, Variable) else np.ndim(operand)
        if ndim:
            text = describe(operand) if isinstance(operand, Variable) else shown(operand)
            has = f"{text} has {counted(ndim, 'axis')} without names"
            raise TypeError(f"{what}: {has}; give names, as in T.named(y, {axes[-1]!r})")
        return operand
    if operand.axes == axes:
        return operand.variable
    first = next(k for k, a in enumerate(axes) if a in operand.axes)  # leading axes broadcast by themselves
    order: Any = [operand.axes.index(a) if a in operand.axes else "x" for a in axes[first:]]
    return operand.variable if order == list(range(operand.ndim)) else T.dimshuffle(operand.variable, order)
