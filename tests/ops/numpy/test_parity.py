"""Arguments that NumPy refuses, and the page of differences from NumPy."""

import numpy as np
import pytest
from campaign.values.parity import PAGE, page

import arignote as ag
from arignote import ops as T

MODES = (None, "NUMPY")
V, W, M = T.vector("v"), T.vector("w"), T.matrix("m")
N, K = T.lvector("n"), T.lscalar("k")
SCALAR = T.scalar("q")


def test_the_page_of_differences_is_current():
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.campaign.values.parity`"


# --- bins, interpolation


@pytest.mark.parametrize("mode", MODES)
def test_bins_that_descend(mode):
    x = np.array([0.5, 1.0, 1.5, 3.0, 3.5, 9.0])
    f = ag.function([V, W], [T.digitize(V, W), T.digitize(V, W, right=True)], mode=mode)
    nan = np.nan
    for bins in ([3.0, 2.0, 1.0], [1.0, 2.0, 3.0], [3.0, 3.0, 1.0], [2.0, 2.0], [2.0], [], [1.0, nan], [nan, 1.0, 0.0]):
        for right, found in enumerate(f(x, bins)):
            wanted = np.digitize(x, bins, right=bool(right))
            np.testing.assert_array_equal(found, wanted, err_msg=str(bins))
            np.testing.assert_array_equal(T.digitize(x, np.array(bins), right=bool(right)).eval(), wanted)
    for bins in ([1.0, 3.0, 2.0], [3.0, 1.0, 2.0], [np.nan, 1.0, 2.0], [1.0, 1.0, 2.0, 0.0]):
        with pytest.raises(ValueError, match="monotonic"):
            np.digitize(x, bins)
        with pytest.raises(ValueError, match="digitize: bins must ascend or descend"):
            f(x, bins)
        with pytest.raises(ValueError, match="digitize: bins must ascend or descend"):
            T.digitize(x, np.array(bins))


@pytest.mark.parametrize("mode", MODES)
def test_histograms_refuse_edges_that_descend_and_ends_that_are_not_finite(mode):
    f = ag.function([V, W], T.histogram(V, W)[0], mode=mode)
    np.testing.assert_array_equal(f([0.5, 1.5, 1.7], [0.0, 1.0, 2.0]), [1, 2])
    with pytest.raises(ValueError, match="the edges of bins must ascend"):
        f([1.0], [3.0, 2.0, 1.0])
    g = ag.function([V, W], T.histogram(V, 3, weights=W)[0], mode=mode)
    for x, w in (([1.0, np.nan], [1.0, 1.0]), ([1.0, np.inf], [1.0, 1.0]), ([1.0, 2.0], [1.0])):
        with pytest.raises(ValueError):
            np.histogram(x, 3, weights=w)
        with pytest.raises(ValueError, match=r"ends of the bins must be finite|weights: expected length 2"):
            g(x, w)
    for call in (
        lambda n: n.histogram([1.0], [2.0, 1.0]), lambda n: n.histogram([1.0], range=(3, 1)),
        lambda n: n.histogram2d([1.0], [1.0], bins=[[2.0, 1.0], 3]), lambda n: n.histogram2d([1.0, 2.0], [1.0]),
        lambda n: n.histogramdd(np.ones((2, 2)), weights=[1.0]), lambda n: n.histogram_bin_edges([np.inf], 2),
        lambda n: n.histogram([2**60, 2**60 + 64.0], 100),
    ):  # fmt: skip
        for space in (np, T):
            with pytest.raises(ValueError):
                call(space)


@pytest.mark.parametrize("mode", MODES)
def test_interpolation_beside_infinities(mode):
    f = ag.function([V, W, M], T.interp(M, V, W), mode=mode)
    rng = np.random.default_rng(5)
    numbers = np.array([-np.inf, -1.0, 0.0, 0.5, 2.0, np.inf, np.nan])
    at = np.array([numbers, numbers / 4])
    for _ in range(200):
        count = rng.integers(1, 6)
        points, values = np.sort(rng.choice(numbers[:-1], count)), rng.choice(numbers, count)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(f(points, values, at), np.interp(at, points, values), rtol=1e-12)
    for points, values in (([1.0, 2.0], [1.0]), ([1.0], [1.0, 2.0]), ([], [])):
        with pytest.raises(ValueError):
            np.interp(1.0, points, values)
        with pytest.raises(ValueError, match="interp: "):
            f(points, values, [[1.0]])


def test_slopes_of_interpolation_at_the_points():
    x = T.vector("x")
    slope = ag.function([x], ag.grad(T.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 8.0]).sum(), x))
    np.testing.assert_array_equal(slope([-1.0, 0.0, 0.5, 1.0, 2.0, 4.0]), [0, 2, 2, 3, 3, 0])


# --- ranges, lengths, values that only a run knows

REFUSED = {
    "bincount weights": (T.bincount(N, V), {N: [1, 2], V: [1.0]}, {N: [1, 2], V: [1.0, 2.0]}, "expected length"),
    "bincount negative": (T.bincount(N), {N: [1, -2]}, {N: [1, 2]}, "x must not be negative"),
    "bincount minlength": (T.bincount(N, minlength=K), {N: [1], K: -1}, {N: [1], K: 4}, "minlength must be 0 or more"),
    "ravel_multi_index": (
        T.ravel_multi_index((N, N), (2, K)), {N: [1, 2], K: 3}, {N: [1, 0], K: 3}, "along axis 0 must be from 0 to 1"
    ),
    "unravel_index": (T.unravel_index(N, (2, 3))[0], {N: [5, 6]}, {N: [5, 0]}, "indices must be from 0 to 5"),
    "percentile": (T.percentile(V, SCALAR), {V: [1.0, 2.0], SCALAR: 101.0}, {V: [1.0], SCALAR: 100.0}, "got 101.0"),
    "quantile": (T.quantile(V, W), {V: [1.0], W: [0.5, np.nan]}, {V: [1.0], W: [0.5]}, "q must be from 0 to 1"),
    "gradient": (T.gradient(V), {V: [1.0]}, {V: [1.0, 2.0]}, "must have 2 samples or more, got 1"),
    "gradient coordinates": (T.gradient(V, W), {V: [1.0, 2.0], W: [1.0]}, {V: [1.0, 2.0], W: [1.0, 3.0]}, "expected"),
    "nanargmax": (T.nanargmax(M, 1), {M: [[1.0], [np.nan]]}, {M: [[1.0], [2.0]]}, "no element that is not NaN"),
    "geomspace": (T.geomspace(SCALAR, 8.0, 3), {SCALAR: 0.0}, {SCALAR: 2.0}, "start must not be 0"),
    "partition": (T.partition(V, K), {V: [1.0, 2.0], K: 2}, {V: [1.0, 2.0], K: -2}, "kth must be from -2 to 1, got 2"),
    "cross": (T.cross(V, W), {V: [1.0] * 4, W: [1.0] * 3}, {V: [1.0] * 3, W: [2.0, 1.0, 0.0]}, "expected length 3"),
    "lexsort": (T.lexsort((V, W)), {V: [1.0], W: [1.0, 2.0]}, {V: [1.0, 0.0], W: [1.0, 1.0]}, "a key: expected"),
    "split": (T.split(M, 3)[0], {M: np.ones((4, 0))}, {M: np.ones((3, 1))}, "cannot be cut into 3 equal parts"),
    "where": (T.sum(V, where=W > 0), {V: [1.0], W: [1.0, 2.0]}, {V: [1.0, 2.0], W: [1.0, 2.0]}, "agree|broadcast"),
    "tensordot": (T.tensordot(M, M.T, 2), {M: np.ones((2, 3))}, {M: np.ones((2, 2))}, "summed over: expected length"),
    "convolve": (T.convolve(V, W), {V: [], W: [1.0]}, {V: [2.0], W: [1.0]}, "must have elements"),
}  # fmt: skip
"""A result, values that it refuses, values that it takes, and a part of the message."""


@pytest.mark.few(2)
@pytest.mark.parametrize("name", REFUSED)
def test_what_only_a_run_knows_is_refused_by_the_run(name):
    result, bad, good, message = REFUSED[name]
    for mode in MODES:
        f = ag.function(list(bad), result, mode=mode)
        f(*good.values())
        with pytest.raises(ValueError, match=message):
            f(*bad.values())
        f(*good.values())


def test_weights_of_sum_0():
    f = ag.function([V, W], T.average(V, weights=W))
    assert f([1.0, 3.0], [1.0, 1.0]) == 2.0
    with pytest.raises(ZeroDivisionError, match="the weights must not add up to 0"):
        f([1.0, 2.0], [1.0, -1.0])
    with pytest.raises(ZeroDivisionError, match="the weights must not add up to 0"):
        T.average([1.0, 2.0], weights=[1.0, -1.0])


@pytest.mark.parametrize("call", [
    lambda n: n.vsplit(np.ones(4), 2), lambda n: n.hsplit(np.ones(()), 1), lambda n: n.geomspace(0, 1),
    lambda n: n.partition([1.0, 2.0], 2), lambda n: n.argpartition([1.0, 2.0], [0, 5]), lambda n: n.nanargmax([np.nan]),
    lambda n: n.percentile([1.0], -1), lambda n: n.ravel_multi_index(([5], [0]), (3, 4)), lambda n: n.gradient([1.0]),
    lambda n: n.interp([1.0], [1.0, 2.0], [1.0]), lambda n: n.bincount([1, 2], weights=[1.0]),
    lambda n: n.unravel_index(7, (2, 3)), lambda n: n.vander([1.0], -1), lambda n: n.linalg.outer([[1.0]], [1.0]),
])  # fmt: skip
def test_constants_are_refused_when_a_graph_is_built(call):
    for space in (np, T):
        with pytest.raises(ValueError):
            call(space)


def test_conditions_of_piecewise_mask_the_first_axes():
    x, rows = np.arange(9.0).reshape(3, 3), np.array([True, False, True])
    np.testing.assert_array_equal(T.piecewise(x, [rows], [1.0, 2.0]).eval(), np.piecewise(x, [rows], [1.0, 2.0]))


def test_bits_behind_the_last_are_0():
    x = np.array([[3, 7]], "uint8")
    np.testing.assert_array_equal(T.unpackbits(x, axis=1, count=20).eval(), np.unpackbits(x, axis=1, count=20))


# --- einsum


@pytest.mark.few(2)
@pytest.mark.parametrize("spec, shapes", [
    ("ij,jk->ik", [(2, 1), (2, 3)]), ("ij,jk->ik", [(2, 2), (1, 3)]), ("i,i->", [(1,), (2,)]),
    ("bij,bjk->bik", [(1, 2, 1), (3, 2, 3)]), ("ijk,jk->i", [(2, 1, 3), (2, 1)]),
    ("ij,jk,kl->il", [(2, 1), (2, 3), (1, 2)]), ("ij,ij->i", [(2, 1), (1, 2)]),
])  # fmt: skip
def test_summed_axes_of_length_1_broadcast(spec, shapes):
    rng = np.random.default_rng(7)
    values = [rng.normal(size=s) for s in shapes]
    inputs = [T.tensor(f"x{k}", "float64", (None,) * len(s)) for k, s in enumerate(shapes)]
    y = T.einsum(spec, *inputs)
    f = ag.function(inputs, [y, *ag.grad(T.sum(T.square(y)), inputs)])
    found, *gradients = f(*values)
    np.testing.assert_allclose(found, np.einsum(spec, *values))
    step, direction = 1e-6, [rng.normal(size=s) for s in shapes]
    moved = [[v + h * d for v, d in zip(values, direction, strict=True)] for h in (step, -step)]
    ends = [np.sum(np.einsum(spec, *m) ** 2) for m in moved]
    slope = sum(np.sum(g * d) for g, d in zip(gradients, direction, strict=True))
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * step), rtol=1e-6)
    assert [g.shape for g in gradients] == shapes
