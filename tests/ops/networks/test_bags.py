"""Bags of embedded rows and fractional pooling against loops in NumPy with the formulas of their docstrings."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

F = T.nn


def bag_of(rows, keep, mode):
    rows = rows[keep]
    if not len(rows):
        return np.zeros(rows.shape[1])
    return {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](rows, axis=0)


@pytest.mark.long
def test_bags_are_folds_of_rows():
    rng = np.random.default_rng(0)
    w0, m0, v0 = rng.normal(size=(7, 3)), rng.integers(0, 7, (4, 5)), rng.integers(0, 7, 9)
    starts, factors = np.array([0, 3, 3, 8]), rng.normal(size=(4, 5))
    w, m, v, o, s = T.matrix("w"), T.lmatrix("m"), T.lvector("v"), T.lvector("o"), T.matrix("s")
    cases = [(mode, padding) for mode in ("sum", "mean", "max") for padding in (None, 2, -1)]
    outputs = [F.embedding_bag(m, w, mode=mode, padding_idx=p) for mode, p in cases]
    outputs += [F.embedding_bag(v, w, o, mode, padding_idx=p) for mode, p in cases]
    outputs += [F.embedding_bag(m, w, mode="sum", per_sample_weights=s)]
    outputs += [ag.grad(T.sum(F.embedding_bag(v, w, o) ** 2), w)]
    *found, weighted, slope = ag.function([w, m, v, o, s], outputs)(w0, m0, v0, starts, factors)
    bags = [v0[a:b] for a, b in zip(starts, [*starts[1:], 9])]
    for number, (rows, (mode, padding)) in enumerate((r, c) for r in (m0, bags) for c in cases):
        left_out = -1 if padding is None else padding % 7
        expected = [bag_of(w0[r], r != left_out, mode) for r in rows]
        np.testing.assert_allclose(found[number], expected, rtol=1e-13, atol=1e-15, err_msg=f"{mode} {padding}")
    np.testing.assert_allclose(weighted, np.einsum("bk,bkd->bd", factors, w0[m0]), rtol=1e-13)
    expected = np.zeros_like(w0)
    for bag in bags:
        for k in bag:
            expected[k] += 2 * w0[bag].mean(0) / len(bag)
    np.testing.assert_allclose(slope, expected, rtol=1e-12)


def begins(u, length, window, count):
    if count == 1:
        return [length - window]
    step = (length - window) / (count - 1)
    return [*(int((i + u) * step) - int(u * step) for i in range(count - 1)), length - window]


def lengths_of_windows(shape, kernel, count, ratio):
    """The lengths of the windows along each axis, and their numbers."""
    kernels = kernel if isinstance(kernel, tuple) else (kernel,) * len(shape)
    counts = [int(n * r) for n, r in zip(shape, ratio)] if ratio else count
    return kernels, counts if not isinstance(counts, int) else (counts,) * len(shape)


@pytest.mark.few(1)
@pytest.mark.parametrize(("pool", "shape", "cases"), [
    (F.fractional_max_pool2d, (11, 9), [((2, 3), (5, 4), None), (2, 1, None), (3, None, (0.5, 0.4))]),
    (F.fractional_max_pool3d, (5, 7, 6), [((2, 1, 3), (3, 4, 2), None), (2, 1, None), (2, None, (0.5, 0.6, 0.4))]),
])  # fmt: skip
def test_windows_of_fractional_pools(pool, shape, cases):
    rng = np.random.default_rng(0)
    axes = len(shape)
    x0, u0 = rng.normal(size=(2, 3, *shape)), rng.random((2, 3, axes))
    x, u = T.tensor("x", shape=(None, None, *shape)), T.tensor3("u")
    f = ag.function([x, u], [pool(x, k, n, ratio, samples=u) for k, n, ratio in cases])
    columns = [1, 0] if axes == 2 else [0, 1, 2]  # PyTorch's order
    for found, case in zip(f(x0, u0), cases):
        kernels, counts = lengths_of_windows(shape, *case)
        assert found.shape == (2, 3, *counts)
        for n, c in np.ndindex(2, 3):
            places = [begins(u0[n, c, k], *of) for k, of in zip(columns, zip(shape, kernels, counts))]
            for at in np.ndindex(*counts):
                window = [slice(p[i], p[i] + size) for p, i, size in zip(places, at, kernels)]
                assert found[(n, c, *at)] == x0[(n, c, *window)].max()
    drawn = ag.function([x], pool(x, 2, 4, rng=T.random.RandomStream(3)))(x0)
    assert drawn.shape == (2, 3, *(4,) * axes) and np.isin(drawn, x0).all()


def test_what_does_not_fit_is_refused():
    w, m, v, x = T.matrix("w"), T.lmatrix("m"), T.lvector("v"), T.tensor4("x")
    for make, error, words in [
        (lambda: F.embedding_bag(m, w, mode="min"), ValueError, "mode"),
        (lambda: F.embedding_bag(v, w), ValueError, "offsets"),
        (lambda: F.embedding_bag(w, w), TypeError, "integers"),
        (lambda: F.embedding_bag(m, w, per_sample_weights=w), ValueError, "mode='sum'"),
        (lambda: F.fractional_max_pool2d(x, 2), ValueError, "output_size or output_ratio"),
        (lambda: F.fractional_max_pool2d(x, 2, 3), TypeError, "RandomStream"),
        (lambda: F.fractional_max_pool2d(v, 2, 3), TypeError, "rank 4"),
        (lambda: F.fractional_max_pool3d(x, 2, 3), TypeError, "rank 5"),
        (lambda: F.fractional_max_pool3d(T.tensor5("y"), (2, 2), 3), TypeError, "kernel must be a number or 3"),
        (lambda: F.fractional_max_pool2d(T.tensor("y", shape=(1, 1, 4, 4)), 3, 3), ValueError, "do not fit"),
    ]:
        with pytest.raises(error, match=words):
            make()
