"""Axes that the run computes: a lazy choice among the sets of axes that they may be.

One test decides for each axis whether it is among them, so a reduction of a matrix along one axis has two alternatives
and one test.  Sets that are impossible, by the number of axes, have no alternative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .... import ops as T
from ....record.spelling import counted
from .alternatives import MOST_ALTERNATIVES, Choice, Impossible
from .node import Node, OnnxError
from .values import elements

_REFUSALS = (TypeError, ValueError)


def by_axes(node: Node, axes: Any, rank: int, function: Callable[[tuple[int, ...]], Any]) -> Any:
    """The function's value for these axes, which count from the end if negative: a tuple of distinct numbers."""
    known = elements(axes)
    if known is not None and all(isinstance(a, int) for a in known):
        return function(tuple(a % rank if rank else 0 for a in known))
    count = 1 if axes.ndim == 0 else axes.type.shape[0]
    places = _places(axes, rank)
    asked = [T.any(T.eq(places, k)) for k in range(rank)]
    found = _decided(node, count, asked, (), function)
    if not isinstance(found, Impossible):
        return found
    raise found.error


def _decided(
    node: Node, count: int | None, asked: list[Any], given: tuple[bool, ...], function: Callable[[tuple[int, ...]], Any]
) -> Any:
    """The value where it is decided of the first axes whether they are asked for."""
    if len(given) == len(asked):
        try:
            return function(tuple(k for k, is_asked in enumerate(given) if is_asked))
        except _REFUSALS as error:
            return Impossible(error if isinstance(error, OnnxError) else node.error(str(error)))
    rest = len(asked) - len(given)
    missing = None if count is None else count - sum(given)
    sides = [side for side in (True, False) if missing is None or (missing > 0 if side else missing < rest)]
    if count is not None and not sides:
        return Impossible(node.error(f"has {counted(count, 'axis')}, expected {len(asked)} or fewer"))
    if len(asked) > MOST_ALTERNATIVES.bit_length() and missing is None:
        raise node.error("the number of axes must be known")
    found = [_decided(node, count, asked, (*given, side), function) for side in sides]
    if len(found) == 1:
        return found[0]
    if all(isinstance(f, Impossible) for f in found):
        return found[0]
    return Choice(asked[len(given)], *found)


def _places(axes: Any, rank: int) -> Any:
    """Axes counted from the front; a gather, which checks them when it runs."""
    return T.arange(rank)[axes]


def number_along(axes: Any, axis: int, rank: int, values: Any, default: Any) -> Any:
    """The element of `values` that belongs to an axis, by its place among computed axes; else the default."""
    here = T.eq(_places(axes, rank), axis)
    return T.where(T.any(here), T.sum(T.where(here, values, 0)), default)
