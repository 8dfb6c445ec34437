"""Agreement of two results with a contract; where one may be better, the truth decides (truths.py)."""

import math

import numpy as np
from truths import true_value

from arignote.graph import Constant
from arignote.ops.elementwise.records import fill
from arignote.proving.agreement import SPARE_ULPS, ulps_between


def farther_from_truth(output, at, before, after):
    """Whether `after` is farther than `before` from the true value of `output` for the values `at` of the leaves.

    A NaN that comes from a NaN remains.  The truth at infinities is that of the extended reals, in which nothing
    overflows; a number becomes NaN there only if no limit exists.
    """
    values = [float(at[i]) for i in leaves_of_value(output, at)]
    infinite = any(math.isinf(v) for v in values)
    if any(math.isnan(v) for v in values):
        return math.isnan(after) != math.isnan(before) or not (math.isnan(after) or _close(output, after, before))
    truth = true_value(output, at)
    if infinite and (truth is None or math.isnan(after)):  # a number stays one, unless the limit is no real number
        return not math.isnan(before) and true_value(output, _near_infinity(at, values)) is not None
    if truth is None:  # not a real number
        return not math.isnan(after)
    if math.isnan(after):
        return True
    kind = np.dtype(output.dtype).type
    with np.errstate(all="ignore"):
        nearest = kind(as_float(truth))
    if _close(output, after, nearest) or math.isnan(before):
        return False
    if math.isinf(before):
        return infinite and before == nearest
    return abs(truth - float(after)) > abs(truth - float(before)) * (1 + 1e-9) + spacing(nearest)


def _near_infinity(at, values):
    """The values of the leaves with large numbers in the place of infinities."""
    far = 10 * max([1e3, *(abs(v) for v in values if math.isfinite(v))])
    return {i: math.copysign(min(abs(float(v)), far), float(v)) for i, v in at.items()}


def _close(output, a, b):
    """Whether two numbers of the dtype of `output` differ by no more than rounding."""
    kind = np.dtype(output.dtype).type
    with np.errstate(all="ignore"):
        return abs(int(ulps_between(np.atleast_1d(kind(a)), np.atleast_1d(kind(b)))[0])) <= SPARE_ULPS


def leaves_of_value(output, at):
    """The variables of `at` that the value depends on; of what `fill` takes a shape from it does not."""
    met, stack = [], [output]
    while stack:
        v = stack.pop()
        if v.owner is not None and v not in at:
            stack.extend(v.owner.inputs[1:] if v.owner.op is fill else v.owner.inputs)
        elif not isinstance(v, Constant) and v not in met:
            met.append(v)
    return met


def as_float(truth):
    try:
        return float(truth)
    except OverflowError:
        return math.inf if truth > 0 else -math.inf


def spacing(x):
    """The distance to the next float; that at the largest one for infinities."""
    with np.errstate(over="ignore"):
        return float(np.spacing(min(np.abs(x), np.finfo(x.dtype).max)))
