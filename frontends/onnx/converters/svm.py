"""Support vector machines of `ai.onnx.ml`.

Kernels are computed in float64.  Sources: the ONNX specification; C.-C. Chang and C.-J. Lin, "LIBSVM: a library for
support vector machines", 2011; T.-F. Wu, C.-J. Lin and R. C. Weng, "Probability estimates for multi-class
classification by pairwise coupling", 2004, algorithm 2; where these are silent, ONNX Runtime.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .... import ops as T
from ....control.scan import while_loop
from ....ops.core.tensor import constant
from ....record.spelling import counted
from ..reading.node import Node
from ..reading.table import converter
from .elementwise import like
from .ml import ML, features
from .scores import labelled, labels_of, of_two_labels, transformed

LEAST = 1e-7
"""The least probability of one of two classes."""
MOST_STEPS = 100
"""Steps of the iteration that couples probabilities of pairs."""


def _kernel(node: Node, x: Any, vectors: np.ndarray) -> Any:
    """The kernel between rows of x and vectors."""
    kind = node.attr("kernel_type", "LINEAR")
    gamma, offset, degree = (*(node.attr("kernel_params") or ()), 0.0, 0.0, 3.0)[:3]
    products = T.dot(x, constant(vectors.T))
    if kind == "LINEAR":
        return products
    if kind == "POLY":
        return T.pow(products * gamma + offset, float(degree))
    if kind == "SIGMOID":
        return T.tanh(products * gamma + offset)
    if kind != "RBF":
        raise node.error(f"the kernel_type is {kind!r}, expected LINEAR, POLY, RBF or SIGMOID")
    squares = T.sum(x * x, axis=1, keepdims=True) + constant((vectors * vectors).sum(axis=1))
    return T.exp(T.maximum(squares - 2.0 * products, 0.0) * -gamma)


def _numbers(node: Node, name: str) -> np.ndarray:
    return np.array(node.attr(name) or [], "float32").astype("float64")


@converter("SVMRegressor", domain=ML)
def svm_regressor(node: Node, x: Any) -> Any:
    x, weights, rho = features(x, "float64"), _numbers(node, "coefficients"), _numbers(node, "rho")
    count = node.attr("n_supports", 0)
    if count:
        scores = T.dot(_kernel(node, x, _numbers(node, "support_vectors").reshape(count, -1)), constant(weights))
    else:
        scores = _kernel(node, x, weights.reshape(1, -1))[:, 0]
    scores = T.cast(scores + float(rho[0]), "float32")
    if node.attr("one_class", 0):
        scores = T.where(T.gt(scores, like(0, scores)), like(1, scores), like(-1, scores))
    return transformed(node, T.expand_dims(scores, 1))


@converter("SVMClassifier", domain=ML)
def svm_classifier(node: Node, x: Any) -> Any:
    labels = labels_of(node, "classlabels_strings", "classlabels_ints")
    x, counts = features(x, "float64"), node.attr("vectors_per_class") or []
    if not counts:
        return _linear(node, x, labels)
    pairs = _pairs(node, x, [int(n) for n in counts])
    votes = _votes(pairs, len(counts))
    chosen = T.argmax(votes, axis=1)
    a, b = _numbers(node, "prob_a"), _numbers(node, "prob_b")
    if a.size:
        scores = T.cast(_coupled(pairs, a, b, len(counts)), "float32")
        return labelled(labels, chosen), transformed(node, scores)
    scores = T.cast(pairs, "float32")
    of_two = len(counts) == 2
    opposite = node.attr("post_transform", "NONE") == "NONE"
    return labelled(labels, chosen), of_two_labels(node, scores, opposite) if of_two else transformed(node, scores)


def _linear(node: Node, x: Any, labels: Any) -> Any:
    """One vector of coefficients for each class."""
    count = labels[0].type.shape[0]
    weights, rho = _numbers(node, "coefficients").reshape(count, -1), _numbers(node, "rho")
    scores = T.cast(_kernel(node, x, weights) + float(rho[0]), "float32")
    chosen = T.argmax(scores, axis=1)
    if count == 2:  # the second class wins wherever a score says so
        limit = like(0.5, scores) if (weights >= 0).all() else like(0, scores)
        best = T.max(scores, axis=1)
        chosen = T.where(T.ge(best, limit) if (weights >= 0).all() else T.gt(best, limit), 1, chosen)
    return labelled(labels, chosen), transformed(node, scores)


def _pairs(node: Node, x: Any, counts: list[int]) -> Any:
    """The score of each pair of classes, a column each: one product with the coefficients of all pairs."""
    total, bounds = sum(counts), np.cumsum([0, *counts])
    weights = _numbers(node, "coefficients").reshape(len(counts) - 1, total)
    vectors, rho = _numbers(node, "support_vectors").reshape(total, -1), _numbers(node, "rho")
    every = list(combinations(range(len(counts)), 2))
    if len(rho) != len(every):
        raise node.error(
            f"rho has {counted(len(rho), 'element')}, expected {len(every)} for {counted(len(counts), 'class')}"
        )
    matrix = np.zeros((total, len(every)))
    for k, (i, j) in enumerate(every):
        own, other = slice(bounds[i], bounds[i + 1]), slice(bounds[j], bounds[j + 1])
        matrix[own, k], matrix[other, k] = weights[j - 1, own], weights[i, other]
    return T.dot(_kernel(node, x, vectors), constant(matrix)) + constant(rho)


def _votes(pairs: Any, classes: int) -> Any:
    """How many pairs each class wins."""
    wins = T.cast(T.gt(pairs, 0.0), "int64")
    first, second = np.zeros((2, classes * (classes - 1) // 2, classes), np.int64)
    for k, (i, j) in enumerate(combinations(range(classes), 2)):
        first[k, i], second[k, j] = 1, 1
    return T.dot(wins, constant(first)) + T.dot(1 - wins, constant(second))


def _coupled(pairs: Any, a: np.ndarray, b: np.ndarray, classes: int) -> Any:
    """The probability of each class from those of pairs."""
    each = T.clip(T.sigmoid(-(pairs * constant(a) + constant(b))), LEAST, 1 - LEAST)
    r = {(i, j): each[:, k] for k, (i, j) in enumerate(combinations(range(classes), 2))}
    r |= {(j, i): 1.0 - p for (i, j), p in r.items()}
    own = [sum(r[j, t] * r[j, t] for j in range(classes) if j != t) for t in range(classes)]
    rows = [[own[t] if t == s else -r[s, t] * r[t, s] for s in range(classes)] for t in range(classes)]
    matrix = T.stack([T.stack(row, axis=1) for row in rows], axis=1)

    def products(p: Any) -> tuple[Any, Any]:
        found = T.sum(matrix * T.expand_dims(p, 1), axis=2)
        return found, T.sum(p * found, axis=1)

    def is_open(p: Any) -> Any:
        found, total = products(p)
        return T.ge(T.max(T.abs(found - T.expand_dims(total, 1)), axis=1), 0.005 / classes)

    def step(state: Any) -> Any:
        k, before = state
        p, (found, total) = before, products(before)
        for t in range(classes):
            weight = matrix[:, t, t]
            d = (total - found[:, t]) / weight
            total = (total + d * (d * weight + 2.0 * found[:, t])) / (1.0 + d) / (1.0 + d)
            column = T.expand_dims(d, 1)
            unit = constant(np.eye(classes)[t])
            found = (found + column * matrix[:, t, :]) / (1.0 + column)
            p = (p + column * unit) / (1.0 + column)
        return k + 1, T.where(T.expand_dims(is_open(before), 1), p, before)

    start = T.zeros_like(pairs[:, :1]) + constant(np.full(classes, 1.0 / classes))
    begin = constant(np.array(0, "int64"))
    _, p = while_loop(lambda s: T.logical_and(T.lt(s[0], MOST_STEPS), T.any(is_open(s[1]))), step, (begin, start))
    return p
