"""Decision trees of ONNX as the arrays of `ops/reductions/trees.py`: all comparisons become `x <= threshold`.

    x <  v   x <= the number before v
    x >  v   x <= v, with the children exchanged
    x == v   x <= v, then x <= the number before v, exchanged
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.core.tensor import constant
from ....ops.reductions.trees import TreeFold
from ....record import record

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
"""Comparisons of a branch, by the numbers that `TreeEnsemble` has for them."""


@record(eq=False)
class Branches:
    """The branches of trees, an element a branch; a child, or a root, of -1 - k is leaf k."""

    feature: np.ndarray
    threshold: np.ndarray
    mode: np.ndarray
    """Positions in MODES."""
    yes: np.ndarray
    no: np.ndarray
    tracks: np.ndarray
    """Whether NaN goes where the comparison holds."""
    roots: np.ndarray

    def check(self, fail: Callable[[str], Exception]) -> None:
        """Raise an error for branches that are no trees: a child that is not there, or of two parents."""
        children = np.concatenate([self.yes, self.no, self.roots])
        inner = children[children >= 0]
        if inner.size and inner.max() >= len(self.feature):
            raise fail("a branch names a node that is not there")
        if np.unique(inner).size < inner.size:
            raise fail("two branches name one node; expected trees")
        if len(self.feature) and self.feature.min() < 0:
            raise fail("a branch reads a feature of a negative number")


def fold(branches: Branches, leaves: np.ndarray, how: str, x: Any) -> Any:
    """The expression of a fold over the leaves that rows of x reach; `leaves` has a row for each of them."""
    feature, threshold, children, roots = _plain(branches, branches.threshold.astype(x.dtype))
    count = 2 if np.array_equal(children[:, 1], children[:, 2]) else 3
    arrays = (
        feature.astype("int32"), threshold, children[:, :count].astype("int32").reshape(-1),
        roots.astype("int32"), leaves.reshape(-1),
    )  # fmt: skip
    visits = max(len(roots), 1) * max(int(np.log2(len(feature) / max(len(roots), 1) + 1)), 1)
    return TreeFold(how, leaves.shape[1], count, visits)(x, *map(constant, arrays))


def _plain(b: Branches, limits: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features, thresholds and three children (below or equal, above, NaN) of branches that all compare by <=."""
    names = np.array(MODES)[b.mode] if len(b.mode) else np.array([], "U")
    before = np.nextafter(limits, limits.dtype.type(-np.inf))
    before[np.isneginf(limits)] = np.nan
    strict = np.isin(names, ("BRANCH_LT", "BRANCH_GTE"))
    exchanged = np.isin(names, ("BRANCH_GTE", "BRANCH_GT"))
    equal = np.isin(names, ("BRANCH_EQ", "BRANCH_NEQ"))
    holds, fails = np.where(names == "BRANCH_NEQ", b.no, b.yes), np.where(names == "BRANCH_NEQ", b.yes, b.no)
    missing = np.where(b.tracks, b.yes, np.where(names == "BRANCH_NEQ", b.yes, b.no))
    below, above = np.where(exchanged, b.no, b.yes), np.where(exchanged, b.yes, b.no)
    second = len(b.feature) + np.arange(equal.sum())
    below[equal], above[equal] = second, fails[equal]
    children = np.stack([below, above, missing], axis=1)
    more = np.stack([fails[equal], holds[equal], missing[equal]], axis=1)
    return (
        np.concatenate([b.feature, b.feature[equal]]),
        np.concatenate([np.where(strict, before, limits), before[equal]]),
        np.concatenate([children, more]),
        b.roots,
    )
