"""`T.named`: names for the axes of a variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...record import lazy

if TYPE_CHECKING:
    from ..named_axes.tensor import NamedTensor

__all__ = ["named"]

_tensor = lazy.module("..named_axes.tensor", __package__)


def named(x: Any, *axes: str) -> NamedTensor:
    """Return `x` with a name for each of its axes, for operations by name.

        x = T.named(T.matrix("x"), "batch", "feature")
        (x - x.mean("batch")) / x.std("batch")              # aligned by name
        x.dot(w, "feature").softmax("class")

    Each operation builds the expression by position, so optimized graphs and calls are the same as without names.
    `x.variable` is the expression by position, for `ag.function` and `ag.grad`.

    Args:
        x: a variable, an array, or an xarray DataArray, whose names are taken if none are given.  A named tensor gets
            its axes in this order.
        axes: a distinct name for each axis, in order.

    Raises TypeError for a name that is no text, ValueError for names that are not as many as the axes, or not distinct.
    """
    return _tensor.named_tensor(x, axes)  # type: ignore[no-any-return]
