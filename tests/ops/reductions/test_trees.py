"""Folds over decision trees: the kernel beside NumPy's walk down the trees."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T


def forest(rng, trees, depth, features, outputs, branches, dtype):
    """Random trees as the arrays of a `TreeFold`; some are a leaf alone."""
    feature, threshold, children, root, values = [], [], [], [], []

    def grown(left):
        if left == 0 or rng.random() < 0.15:
            values.append(rng.integers(-4, 5, outputs))
            return -len(values)
        here = len(feature)
        feature.append(rng.integers(features))
        threshold.append(rng.integers(-2, 3))
        children.append(None)
        children[here] = [grown(left - 1) for _ in range(branches)]
        return here

    for _ in range(trees):
        root.append(grown(depth))
    return [
        np.array(feature, "int32"), np.array(threshold, dtype), np.array(children, "int32").reshape(-1),
        np.array(root, "int32"), np.array(values, "float32").reshape(-1),
    ]  # fmt: skip


@pytest.mark.parametrize("fold", ["add", "maximum", "minimum"])
@pytest.mark.parametrize(("outputs", "branches", "dtype"), [(1, 2, "float32"), (3, 3, "float64"), (300, 2, "float32")])
def test_the_kernel_beside_numpy(fold, outputs, branches, dtype):
    rng = np.random.default_rng(outputs)
    nodes = forest(rng, 9, 6, 5, outputs, branches, dtype)
    x = rng.integers(-3, 4, (133, 5)).astype(dtype)
    x[rng.random(x.shape) < 0.1] = np.nan
    v = T.tensor("x", dtype, (None, 5))
    y = T.TreeFold(fold, outputs, branches, 50)(v, *map(T.constant, nodes))
    f, g = ag.function([v], y), ag.function([v], y, mode="NUMPY")
    assert "tree_fold" in f.c_source()
    for rows in (x, x[:1], x[:16], x[:0], x[::2], np.asfortranarray(x), x[::-1, ::-1]):
        np.testing.assert_array_equal(f(rows), g(rows))
        assert f(rows).shape == (len(rows), outputs)


def test_batches_and_derivatives():
    nodes = list(map(T.constant, forest(np.random.default_rng(0), 4, 3, 2, 2, 2, "float64")))
    x, values = T.matrix("x"), T.vector("values")
    fold = T.TreeFold("add", 2)
    rows = np.arange(12.0).reshape(3, 2, 2) - 6
    batched = ag.vmap(lambda m: fold(m, *nodes))(T.constant(rows)).eval()
    np.testing.assert_array_equal(batched, [fold(T.constant(m), *nodes).eval() for m in rows])
    assert not ag.grad(T.sum(fold(x, *nodes)) + T.sum(x), x).eval({x: rows[0]}).any() - 1
    with pytest.raises(ag.NoGradient if hasattr(ag, "NoGradient") else Exception, match="values of leaves"):
        ag.grad(T.sum(fold(x, *nodes[:4], values)), values)


def test_wrong_operands_are_refused():
    nodes = list(map(T.constant, forest(np.random.default_rng(0), 2, 2, 2, 1, 2, "float64")))
    with pytest.raises(TypeError, match="tree_fold: expected a matrix of floats and thresholds of its dtype"):
        T.TreeFold("add", 1)(T.fmatrix("x"), *nodes)
    with pytest.raises(ValueError, match="expected a fold of add, maximum, minimum, got 'mul'"):
        T.TreeFold("mul", 1)(T.matrix("x"), *nodes)
