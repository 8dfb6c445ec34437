"""Scores of classifiers and regressors of `ai.onnx.ml` as the values that are given: post transforms, and labels.

Source: the ONNX specification, attribute `post_transform`; where it is silent (one score for two labels), ONNX Runtime.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ops as T
from ....ops.core.tensor import constant
from ..reading.narrow import TEXT, narrow
from ..reading.node import Node
from .elementwise import like


def transformed(node: Node, scores: Any, how: str = "") -> Any:
    """The scores of rows after a post transform, by default the node's."""
    how = how or node.attr("post_transform", "NONE")
    if how == "NONE":
        return scores
    if how == "LOGISTIC":
        return T.sigmoid(scores)
    if how == "SOFTMAX":
        return T.softmax(scores, axis=-1)
    if how == "SOFTMAX_ZERO":
        return _softmax_zero(scores)
    if how == "PROBIT":
        return _probit(scores)
    raise node.error(f"the post_transform is {how!r}, expected NONE, LOGISTIC, SOFTMAX, SOFTMAX_ZERO or PROBIT")


def _probit(scores: Any) -> Any:
    """The quantile of the normal distribution, to three digits, as the format's own reference computes it.

    Source: S. Winitzki, "A handy approximation for the error function and its inverse", 2008.
    """
    x = like(2, scores) * scores - like(1, scores)
    log = T.log((like(1, x) - x) * (like(1, x) + x))
    v = like(2 / (np.pi * 0.147), x) + like(0.5, x) * log
    return like(np.sqrt(2.0), x) * T.copysign(T.sqrt(T.sqrt(v * v - log * like(1 / 0.147, x)) - v), x)


def _softmax_zero(scores: Any) -> Any:
    """The softmax of the scores that are not zero; the others stay zero."""
    present = T.gt(T.abs(scores), like(1e-7, scores))
    weights = T.where(present, T.exp(scores - T.max(scores, axis=-1, keepdims=True)), like(0, scores))
    total = T.sum(weights, axis=-1, keepdims=True)
    return weights / T.where(T.eq(total, like(0, total)), like(1, total), total)


def of_two_labels(node: Node, score: Any, opposite: bool) -> Any:
    """Columns for two labels from one score: of the second label, and its complement, or its opposite, of the first."""
    if node.attr("post_transform", "NONE") == "LOGISTIC":
        return T.concatenate([T.sigmoid(-score), T.sigmoid(score)], axis=1)
    if node.attr("post_transform", "NONE") == "PROBIT":
        return transformed(node, score)
    return T.concatenate([-score if opposite else like(1, score) - score, score], axis=1)


def labels_of(node: Node, *names: str) -> tuple[Any, Any]:
    """The label of each class as a constant vector, and its form; the first attribute that is there has them."""
    for name in names:
        values = node.attr(name)
        if values:
            is_text = isinstance(values[0], str)
            found = constant(node.words.codes(np.array(values, object)) if is_text else np.array(values, "int64"))
            return found, (TEXT if is_text else None)
    raise node.error(f"has none of the attributes {', '.join(names)}")


def labelled(labels: tuple[Any, Any], classes: Any) -> Any:
    """The label of each class number."""
    values, form = labels
    return narrow(values[classes], form)
