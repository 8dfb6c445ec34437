"""Conforming a rule's result to the value it replaces: dtype, rank, and the shape set by dropped operands.

    add(x, 0)       -> x            x: int8, 0: int64                cast(x, int64)
    sub(add(x, y), y) -> x          y may be longer than x           fill(y, x)

The engine knows no op, so the three ops that this takes are handed to it (`Conform`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

import numpy as np

from ..graph import Apply, ReplacementRefused, Variable, dims_of, same_shape
from ..graph.dims import broadcast_dims


class Conform(Protocol):
    """The ops that convert a value to the dtype, rank and shape of another."""

    def constant(self, value: Any, dtype: str) -> Variable:
        """The number as a constant of rank 0."""

    def cast(self, value: Variable, dtype: str) -> Variable:
        """The value converted to `dtype`."""

    def pad(self, value: Variable, ndim: int) -> Variable:
        """The value with axes of length 1 put in front until it has `ndim`."""

    def wraps(self, value: Variable, dtype: str) -> bool:
        """Whether the value is arithmetic of integers that hold fewer digits than `dtype`."""

    def computed_narrower(self, after: Variable, before: Variable, known: Collection[Apply]) -> Variable | None:
        """The first value of new arithmetic in `after` whose dtype holds fewer digits than that of `before`.

        None if there is none, or if `before` is computed from arithmetic of that dtype as well.
        """

    def fill(self, like: Variable, value: Variable) -> Variable:
        """The value, in its own dtype, broadcast against `like`, whose elements are not read."""


def conformed(
    after: Any,
    before: Variable,
    leaves: Sequence[Variable],
    inner: Sequence[Variable],
    how: Conform | None,
    lossy: bool = False,
    known: Collection[Apply] = (),
) -> Variable:
    """`after` as a value of the dtype, rank and shape of `before`.

    `leaves`: values that may have broadcast `before`; `inner`: values between them and `before`, a second choice.
    What cannot be proven to be broadcast is left as it is: a rule that replaces a shape by an equal one is taken at its
    word.  `known`: the nodes of the graph; others were made by the rule.

    Raises ReplacementRefused where the dtype of `before` does not hold the values of `after` (NumPy's "safe" casting)
    and the rule is not `lossy`; and where `after` would be broadcast along an axis that the rule itself took away.
    """
    if isinstance(after, Variable):
        value = after
    elif how is not None:
        value = _number(after, before, how)
    else:
        raise ReplacementRefused(f"the result is the number {after!r}, but no op makes constants here")
    if how is None:
        return value
    if value.type == before.type and (None not in value.type.shape or same_shape(value, before)):
        return value
    if value.dtype != before.dtype:
        if not lossy and not np.can_cast(value.dtype, before.dtype, "safe"):
            raise ReplacementRefused(f"the result is {value.type}; {before.type} does not hold all its values")
        value = how.cast(value, before.dtype)
    if value.ndim < before.ndim:
        value = how.pad(value, before.ndim)
    if same_shape(value, before) or value.ndim != before.ndim:
        return value
    for choices in (leaves, (*leaves, *inner)):
        broadcast = _broadcast(value, before, choices, how)
        if broadcast is not None:
            _refuse_reduced(value, before, known)
            return broadcast
    return value


def _refuse_reduced(value: Variable, before: Variable, known: Collection[Apply]) -> None:
    """Raise ReplacementRefused if a replacement has fewer axes than the value it replaces.

    Values are broadcast for operands that a rule drops.  A sum or an element of an operand has another meaning.
    """
    most, stack, met = _extent(value), [value], {value}
    while stack and most < _extent(before):
        v = stack.pop()
        if v.owner is None or v.owner in known:
            if _extent(v) > most:
                kept = f"of {v.type} the rule makes {value.type}, which would be repeated to {before.type}"
                raise ReplacementRefused(f"{kept}; a result is broadcast only for operands that the rule drops")
        elif v.ndim or v.type.kind not in "iu":  # lengths are read off values of any rank
            fresh = [i for i in v.owner.inputs if i not in met]
            met.update(fresh)
            stack.extend(fresh)


def _extent(v: Variable) -> int:
    """The number of axes along which there may be more than one element."""
    return sum(n != 1 for n in v.type.shape)


def _number(after: Any, before: Variable, how: Conform) -> Variable:
    """Return the number in the dtype of `before`.  Raises ReplacementRefused for anything else."""
    if isinstance(after, (bool, np.bool_)) and before.dtype != "bool":
        raise ReplacementRefused(f"the result is {after}; expected None, a variable of {before.type}, or a number")
    try:
        return how.constant(after, before.dtype)
    except (TypeError, ValueError, OverflowError) as error:
        expected = f"expected a variable of {before.type}, or a number"
        raise ReplacementRefused(f"the result is {after!r}; {expected} ({error})") from None


def _broadcast(after: Variable, before: Variable, leaves: Sequence[Variable], how: Conform) -> Variable | None:
    """`after` filled along as few leaves as prove that it has the shape of `before`; None if nothing proves it."""
    have, target = dims_of(after), dims_of(before)
    shapes = [(leaf, dims_of(leaf)) for leaf in leaves]
    fitting = [(leaf, dims) for leaf, dims in shapes if broadcast_dims([target, dims]) == target]
    for leaf, dims in fitting:
        if broadcast_dims([have, dims]) == target:
            return how.fill(leaf, after)
    needed = []
    for leaf, dims in fitting:
        joint = broadcast_dims([have, dims])
        if joint != have:
            have = joint
            needed.append(leaf)
    if have != target:
        return None
    for leaf in needed:
        after = how.fill(leaf, after)
    return after
