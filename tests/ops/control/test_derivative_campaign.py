"""The zoo of ops: reverse against forward against differences, and `ag.vmap` of values and slopes against calls."""

import numpy as np
import pytest
from every_op import ZOO, A, B, K, N, V, X, Y

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, NoGradient, leaves
from arignote.ops.control.batching import NoBatch

pytestmark = pytest.mark.long
LOOSE = {"float16", "float32", "complex64"}
OTHERS = {"tree_fold", "sparse_rows", "sparse_across", "numpy_draw", "generator_draw"}
"""Ops whose operands must have a structure; their own tests have it."""


def matrix(rng, more):
    a = rng.normal(size=(3, 3))
    return a @ a.T + 3 * np.eye(3) + more * rng.normal(size=(3, 3))


def value(v, rng):
    made = {
        N: lambda: rng.permutation(3), K: lambda: np.int64(2), A: lambda: rng.uniform(2, 3),
        B: lambda: rng.uniform(0.1, 1), V: lambda: np.sort(rng.normal(size=3)),
        X: lambda: matrix(rng, 0), Y: lambda: matrix(rng, 0.1),
    }  # fmt: skip
    return np.asarray(made[v]())


def evaluated(output, at):
    """The value at a point, None if operands of these lengths do not fit the op."""
    try:
        return output.eval({v: at[v] for v in leaves([output]) if v in at})
    except (ValueError, IndexError, TypeError):
        return None


def require_reason(reason, *stated):
    """The refusal is that of an op that only rewrites make, or one of those stated."""
    assert any(text in str(reason) for text in ("rewrites make it", *stated)), reason


def mapped(outputs, moving, rng, at):
    """Values of all examples at once, and one after the other."""
    many = {v: T.tensor(dtype=v.dtype, shape=(None, *v.type.shape)) for v in moving}
    points = [{**at, **{v: value(v, rng) for v in moving}} for _ in range(3)]
    wanted = [[evaluated(o, p) for p in points] for o in outputs]
    stacked = {**at, **{many[v]: np.array([p[v] for p in points]) for v in moving}}
    return [evaluated(o, stacked) for o in ag.vectorize(outputs, many)], wanted


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("number", range(len(ZOO)))
def test_an_op(number, seed):
    output, rng = ZOO[number], np.random.default_rng(seed)
    if output.owner.op.name in OTHERS:
        return
    variables = [v for v in leaves([output]) if not isinstance(v, Constant)]
    at = {v: value(v, rng) for v in variables}
    moving = [v for v in variables if v is not K]
    found = evaluated(output, at)
    if found is None or not moving:
        return
    try:
        got, wanted = mapped([output], moving, rng, at)
        np.testing.assert_allclose(got[0], np.array(wanted[0]), rtol=1e-9, atol=1e-9)
    except NoBatch as reason:
        require_reason(reason, "lengths would differ", "length would differ")
    floating = [v for v in variables if v.type.kind == "f"]
    if output.type.kind not in "fc" or output.dtype in LOOSE or not floating:
        return
    check_slopes(output, floating, at, rng, found.shape)


def check_slopes(output, floating, at, rng, shape):
    weights = rng.normal(size=(2, *shape))
    parts = [T.real(output), T.imag(output)] if output.type.kind == "c" else [output]
    cost = sum(T.sum(part * w) for part, w in zip(parts, weights, strict=False))
    along = [rng.normal(size=at[v].shape) for v in floating]
    along = [(d + d.T) / 2 if v is X else d for v, d in zip(floating, along, strict=True)]
    try:
        slopes = ag.grad(cost, floating, disconnected="zero")
    except NoGradient as reason:
        require_reason(reason, "determine")
        return

    def moved(step):
        return float(evaluated(cost, {**at, **{v: at[v] + step * d for v, d in zip(floating, along, strict=True)}}))

    h = 1e-4
    expected = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h)
    reverse = sum((evaluated(g, at) * d).sum() for g, d in zip(slopes, along, strict=True))
    forward = evaluated(ag.jvp(cost, floating, along), at)
    np.testing.assert_allclose(reverse, expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(forward, reverse, rtol=1e-9, atol=1e-9)
    try:
        got, wanted = mapped(slopes, floating, rng, at)
    except NoBatch as reason:
        require_reason(reason, "would differ")
        return
    for many, ones in zip(got, wanted, strict=True):
        np.testing.assert_allclose(many, np.array(ones), rtol=1e-8, atol=1e-8)
