"""Ensembles of decision trees (`ai.onnx.ml`): their nodes become the constant arrays of one fold over trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import constant
from ..reading.alternatives import Refused
from ..reading.node import Node
from ..reading.table import converter
from ..reading.values import own_lengths
from .elementwise import like
from .forests import MODES, Branches, fold
from .scores import labelled, labels_of, of_two_labels, transformed

ML = "ai.onnx.ml"
_FOLDS = {"SUM": "add", "AVERAGE": "add", "MIN": "minimum", "MAX": "maximum"}


@converter("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(node: Node, x: Any) -> Any:
    branches, leaves = _nodes(node, "target")
    scores = _folded(node, x, branches, leaves)
    base = _numbers(node, "base_values")
    if base is not None:
        scores = scores + constant(base.astype("float64"))
    return transformed(node, T.cast(scores, "float32"))


@converter("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(node: Node, x: Any) -> Any:
    labels = labels_of(node, "classlabels_strings", "classlabels_int64s")
    branches, leaves = _nodes(node, "class")
    scores, base = _folded(node, x, branches, leaves), _numbers(node, "base_values")
    weights, used = _numbers(node, "class_weights"), np.unique(node.attr("class_ids") or [])
    if labels[0].type.shape[0] == 2 and used.size <= 1:
        return _binary(node, scores, base, weights, labels)
    if base is not None:
        scores = scores + constant(np.resize(base, leaves.shape[1]).astype("float64"))
    return labelled(labels, T.argmax(scores, axis=1)), transformed(node, T.cast(scores, "float32"))


def _binary(node: Node, scores: Any, base: Any, weights: Any, labels: Any) -> Any:
    """Two labels, and leaves that have one of them: its score is a probability if all weights are positive.

    Leaves of the second label leave the score of the first one at zero; leaves of the first one, as exporters write
    them for two labels, hold the score of the second label.
    """
    used = int((node.attr("class_ids") or [0])[0])
    score = scores[:, used : used + 1]
    if base is not None:
        score = score + constant(base.astype("float64")[-1:])
    score = T.cast(score, "float32")
    is_probability = weights is not None and bool((weights >= 0).all())
    above = T.gt(score[:, 0], like(0.5 if is_probability else 0.0, score))
    if used == 1:
        scores = transformed(node, T.concatenate([T.zeros_like(score), score], axis=1))
    else:
        scores = of_two_labels(node, score, not is_probability)
    return labelled(labels, T.cast(above, "int64")), scores


@converter("TreeEnsemble", domain=ML)
def tree_ensemble(node: Node, x: Any) -> Any:
    """Trees of version 5: branches and leaves are numbered apart."""
    splits, modes = np.asarray(node.need("nodes_splits")), np.asarray(node.need("nodes_modes"), np.int64)
    feature = np.array(node.need("nodes_featureids"))
    tracks = np.array(node.attr("nodes_missing_value_tracks_true") or [0] * len(feature), bool)
    sides = []
    for side in ("true", "false"):
        at, is_leaf = np.array(node.need(f"nodes_{side}nodeids")), np.array(node.need(f"nodes_{side}leafs"), bool)
        sides.append(np.where(is_leaf, -1 - at, at))
    targets, weights = np.array(node.need("leaf_targetids")), np.asarray(node.need("leaf_weights"))
    leaves = _leaf_table(node, np.arange(len(targets)), len(targets), targets, weights, node.need("n_targets"))
    if min(map(np.min, sides), default=0) < -len(targets) or modes.max(initial=0) > len(MODES):
        raise node.error("a branch names a leaf or a mode that is not there")
    roots = np.array(node.need("tree_roots"))
    branches = _members(node, Branches(feature, splits, modes, sides[0], sides[1], tracks, roots))
    branches.check(node.error)
    how = {0: "AVERAGE", 1: "SUM", 2: "MIN", 3: "MAX"}[node.attr("aggregate_function", 1)]
    scores = T.cast(_folded(node, x, branches, leaves, how), x.dtype)
    posts = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
    return transformed(node, scores, posts[node.attr("post_transform", 0)])


def _members(node: Node, b: Branches) -> Branches:
    """The branches, where membership of a set is a chain of tests for equality."""
    member = b.mode == len(MODES)
    if not member.any():
        return b
    values = np.asarray(node.need("membership_values"))
    sets = np.split(values, np.flatnonzero(np.isnan(values)))
    sets = [s[~np.isnan(s)] for s in sets][: int(member.sum())]
    if len(sets) < member.sum():
        raise node.error("membership_values has fewer sets than there are branches that read one")
    own = b.feature, b.threshold, b.mode, b.yes, b.no, b.tracks
    columns = [list(v) for v in own]
    for k, numbers in zip(np.flatnonzero(member).tolist(), sets):
        columns[1][k], columns[2][k] = numbers[0], MODES.index("BRANCH_EQ")
        last = k
        for number in numbers[1:]:
            columns[4][last] = last = len(columns[0])
            for column, value in zip(columns, (b.feature[k], number, columns[2][k], b.yes[k], b.no[k], b.tracks[k])):
                column.append(value)
    feature, threshold, mode, yes, no, tracks = (np.array(c, v.dtype) for c, v in zip(columns, own))
    return Branches(feature, threshold, mode, yes, no, tracks, b.roots)


# --- nodes


def _numbers(node: Node, name: str) -> np.ndarray | None:
    """An attribute of floats, which may be a tensor of float64 instead."""
    tensor = node.attr(f"{name}_as_tensor")
    if tensor is not None:
        return np.asarray(tensor)
    listed = node.attr(name)
    return np.array(listed, "float32") if listed else None


def _nodes(node: Node, kind: str) -> tuple[Branches, np.ndarray]:
    """The branches and the leaves of a node; `kind` names the attributes of leaves."""
    trees, ids, modes, features, splits = _columns(node)
    is_leaf, count = modes == "LEAF", len(trees)
    place = _Places(node, trees, ids)
    code = np.where(is_leaf, -np.cumsum(is_leaf), np.cumsum(~is_leaf) - 1)
    inner = ~is_leaf
    sides = [place(trees[inner], np.array(node.need(f"nodes_{side}nodeids"))[inner]) for side in ("true", "false")]
    referred = np.zeros(count, bool)
    referred[np.concatenate(sides)] = True
    tops = np.flatnonzero(~referred)
    _, first = np.unique(trees[tops], return_index=True)
    if len(first) < np.unique(trees).size:
        raise node.error("the nodes of a tree go in a circle")
    tracks = np.array(node.attr("nodes_missing_value_tracks_true") or [0] * count, bool)
    number = {mode: k for k, mode in enumerate(MODES)}
    branches = Branches(
        features[inner], splits[inner], np.array([number[m] for m in modes[inner]], np.int64),
        code[sides[0]], code[sides[1]], tracks[inner], code[tops[np.sort(first)]],
    )  # fmt: skip
    branches.check(node.error)
    reached = place(np.array(node.need(f"{kind}_treeids")), np.array(node.need(f"{kind}_nodeids")))
    return branches, _leaves(node, kind, -1 - code[reached], int(is_leaf.sum()))


def _columns(node: Node) -> list[np.ndarray]:
    """The tree, the number, the mode, the feature and the threshold of each node."""
    names = "nodes_treeids", "nodes_nodeids", "nodes_modes", "nodes_featureids"
    splits = _numbers(node, "nodes_values")
    columns = [*(np.array(node.need(name)) for name in names), np.zeros(0) if splits is None else splits]
    if len({len(c) for c in columns}) > 1:
        raise node.error(f"the attributes of nodes have different lengths: {list(map(len, columns))}")
    unknown = set(columns[2].tolist()) - {*MODES, "LEAF"}
    if unknown:
        raise node.error(f"the mode of a node is {min(unknown)!r}, expected LEAF or {', '.join(MODES)}")
    return columns


def _leaves(node: Node, kind: str, leaf: np.ndarray, count: int) -> np.ndarray:
    """The numbers of leaves, from the attributes that give `leaf` its targets and weights."""
    weights = _numbers(node, f"{kind}_weights")
    if weights is None:
        raise node.error(f"has no attribute {kind}_weights")
    if kind == "target":
        width = node.need("n_targets")
    else:
        width = len(node.attr("classlabels_strings") or node.need("classlabels_int64s"))
    kept, targets = leaf >= 0, np.array(node.need(f"{kind}_ids"))
    return _leaf_table(node, leaf[kept], count, targets[kept], weights[kept], width)


class _Places:
    """The positions of nodes by tree and number."""

    def __init__(self, node: Node, trees: np.ndarray, ids: np.ndarray) -> None:
        self.node = node
        self.base = int(ids.max(initial=0)) + 1
        keys = trees * self.base + ids
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]
        if np.unique(keys).size < keys.size:
            raise node.error("two nodes of a tree have one number")

    def __call__(self, trees: np.ndarray, ids: np.ndarray) -> np.ndarray:
        wanted = trees * self.base + ids
        at = np.minimum(np.searchsorted(self.keys, wanted), max(len(self.keys) - 1, 0))
        if wanted.size and (not self.keys.size or np.any((self.keys[at] != wanted) | (ids < 0) | (ids >= self.base))):
            raise self.node.error("a node or a leaf names a node that is not there")
        return self.order[at]  # type: ignore[no-any-return]


def _leaf_table(
    node: Node, leaf: np.ndarray, count: int, targets: np.ndarray, weights: np.ndarray, width: int
) -> np.ndarray:
    """The numbers of each leaf, a column a target; a target that a leaf does not have is that of no leaf."""
    if targets.size and not 0 <= targets.min() <= targets.max() < width:
        raise node.error(f"a leaf has the target {targets.max()}, expected 0 to {width - 1}")
    table = np.zeros((count, width), weights.dtype)
    np.add.at(table, (leaf, targets), weights)
    how = node.attr("aggregate_function", "SUM")
    if how in ("MIN", "MAX", 2, 3):
        present = np.zeros((count, width), bool)
        present[leaf, targets] = True
        table[~present] = np.inf if how in ("MIN", 2) else -np.inf
    return table


def _folded(node: Node, x: Any, branches: Branches, leaves: np.ndarray, how: str = "") -> Any:
    """The float64 scores of rows, before base values and post transform."""
    how = how or node.attr("aggregate_function", "SUM")
    if how not in _FOLDS:
        raise node.error(f"the aggregate_function is {how!r}, expected {', '.join(_FOLDS)}")
    x = T.reshape(x, (1, -1)) if x.ndim == 1 else x
    if x.type.kind != "f" or x.dtype == "float16":
        x = T.cast(x, "float32" if x.dtype == "float16" else "float64")
    needed, columns = int(branches.feature.max(initial=-1)) + 1, x.type.shape[1]
    message = f"{node}: a branch reads feature {needed - 1}; x has fewer"
    if columns is not None and columns < needed:
        raise node.error(f"a branch reads feature {needed - 1}, and x has {columns}")
    if columns is None:
        x = Refused(message)(x, T.lt(own_lengths(x)[1], needed))
    scores = fold(branches, leaves, _FOLDS[how], x)
    if how == "AVERAGE":
        return scores / float(max(len(branches.roots), 1))
    return T.where(T.isinf(scores), 0.0, scores) if how in ("MIN", "MAX") else scores
