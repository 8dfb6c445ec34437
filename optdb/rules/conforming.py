"""The ops by which the engine fits the result of a rule to its place (see optdb/conform.py)."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np

from ...graph import DTYPES, Apply, Variable
from ...ops.core.tensor import constant
from ...ops.elementwise import records as elementwise
from ...ops.elementwise.pointwise import Elementwise
from ...ops.shapes.shape import DimShuffle

_ROUNDING = frozenset({
    elementwise.add, elementwise.sub, elementwise.mul, elementwise.neg, elementwise.abs, elementwise.square,
    elementwise.pow,
})  # fmt: skip
"""Arithmetic whose result may need more digits than its operands have."""


_LOOKED_AT = 256
"""Most values above a replaced one that are looked at."""


def _computes_in(value: Variable, dtype: str) -> bool:
    """Return whether arithmetic above a value is of this dtype: a rule that moves it loses nothing."""
    stack, met = [value], {value}
    while stack and len(met) < _LOOKED_AT:
        node = stack.pop().owner
        if node is not None:
            if node.op in _ROUNDING and node.outputs[0].type.dtype == dtype:
                return True
            stack += [i for i in node.inputs if i not in met]
            met.update(node.inputs)
    return bool(stack)


def _is_narrower(dtype: np.dtype[Any], than: np.dtype[Any]) -> bool:
    """Return whether a value of `than` may have digits that `dtype` does not hold."""
    if dtype.kind == "b":
        return than.kind != "b"
    if dtype.kind in "iu":
        return than.kind in "fc" or (than.kind in "iu" and dtype.itemsize < than.itemsize)
    return dtype.kind == than.kind and dtype.itemsize < than.itemsize


@cache
def _narrower(dtype: str) -> frozenset[str]:
    """Return the dtypes that may not hold all digits of `dtype`."""
    return frozenset(d for d in DTYPES if _is_narrower(np.dtype(d), np.dtype(dtype)))


class TensorConform:
    """`Conform` with the ops of the package."""

    def constant(self, value: Any, dtype: str) -> Variable:
        return constant(value, dtype)

    def cast(self, value: Variable, dtype: str) -> Variable:
        return elementwise.cast(value, dtype)

    def pad(self, value: Variable, ndim: int) -> Variable:
        missing = ndim - value.ndim
        return DimShuffle((*("x",) * missing, *range(value.ndim)))(value)

    def wraps(self, value: Variable, dtype: str) -> bool:
        kind = np.dtype(value.dtype)
        rounds = value.owner is not None and value.owner.op in _ROUNDING
        return rounds and kind.kind in "biu" and _is_narrower(kind, np.dtype(dtype))

    def computed_narrower(self, after: Variable, before: Variable, known: Collection[Apply]) -> Variable | None:
        """Follow operands of elementwise ops, which carry values; lengths, indices and conditions are no digits."""
        wanted = before.type.dtype
        narrower, stack, met = _narrower(wanted), [after], {after}
        while stack:
            value = stack.pop()
            node = value.owner
            if node is None or node in known or not isinstance(node.op, (Elementwise, DimShuffle)):
                continue
            op, dtype = node.op, value.type.dtype
            if dtype in narrower and op in _ROUNDING:
                return None if _computes_in(before, dtype) else value
            if dtype == "bool" != wanted:  # of a comparison
                continue
            for i in node.inputs[1:] if op is elementwise.switch or op is elementwise.fill else node.inputs:
                if i.owner is not None and i not in met:
                    stack.append(i)
                    met.add(i)
        return None

    def fill(self, like: Variable, value: Variable) -> Variable:
        return elementwise.fill(like, value)
