"""Quotients whose numerator and denominator vanish together, in derivatives by way of eigenvectors.

Source: L'Hopital's rule along a change of the eigenvalues, which leaves the vectors as they are.  A result that does
not depend on the choice of vectors for equal eigenvalues has a derivative there, and the rule finds it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ... import ops as T
from ...graph import NoGradient, Variable
from ..control.cond import chosen
from ..core.backward import pull_back
from ..core.tensor import TensorVariable


def rates(
    results: Sequence[Variable], by: Variable, direction: Variable, fixed: Collection[Variable]
) -> Sequence[Variable | None]:
    """Return how `results` change as `by` moves along `direction`, while `fixed`, which holds it, else stays.

    None for all if an op between them has no second derivative.
    """
    duals = [T.zeros_like(r) for r in results]
    try:
        (pulled,) = pull_back(results, duals, [by], stop_at=fixed)
        moved = [] if pulled is None else pull_back([pulled], [direction], duals, stop_at=fixed)
    except NoGradient:
        return [None] * len(duals)
    moved = moved or [None] * len(duals)
    return [T.zeros_like(r) if g is None else g for r, g in zip(results, moved, strict=True)]


def quotient(
    x: Variable, y: Variable, dx: Variable | None, dy: Variable, x_scale: Variable, y_scale: Variable
) -> TensorVariable:
    """Return x / y, but dx / dy where both x and y vanish to half the digits in relation to their scales.

    Nearer to 0, x / y has lost more digits than the rule neglects.
    """
    if dx is None:
        return T.true_div(x, y)
    small = float(np.sqrt(np.finfo(y.dtype).eps))
    vanish = T.logical_and(T.le(T.abs(y), T.mul(y_scale, small)), T.le(T.abs(x), T.mul(x_scale, small)))
    leaf = TensorVariable(dx.type)  # computed only if it is read, once the optimizer has moved it into the branch
    (rate,) = chosen(T.any(vanish), [leaf], [dx], [leaf], [T.zeros_like(leaf)])
    return T.true_div(T.switch(vanish, rate, x), T.cast(T.switch(vanish, dy, y), x.dtype))


def size_of(*matrices: Variable) -> TensorVariable:
    """Return the largest modulus among the elements of each matrix of a batch, as matrices of one element."""
    largest = [T.max(T.abs(m), axis=(-2, -1), keepdims=True, initial=0) for m in matrices]
    return largest[0] if len(largest) == 1 else T.maximum(*largest)
