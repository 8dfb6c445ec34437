"""NumPy's functions and methods under `ag.jit` with all their arguments, in NumPy's order and by NumPy's names."""

import numpy as np
import pytest

import arignote as ag

X, M = np.linspace(-2, 2, 5), np.arange(6.0).reshape(2, 3)


def require_same(function, *arguments):
    """Compare a jitted function with Python: values, types and dtypes."""
    copies = [[a.copy() if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2)]
    expected, got = function(*copies[0]), ag.jit(function, engine="numpy")(*copies[1])
    pairs = zip(got, expected, strict=True) if isinstance(expected, tuple) else [(got, expected)]
    for a, b in (*pairs, *zip(copies[1], copies[0], strict=True)):
        assert type(a) is type(b) and np.asarray(a).dtype == np.asarray(b).dtype, (type(a), type(b))
        np.testing.assert_allclose(a, b, rtol=1e-12)


STORED = [
    (lambda a, o: np.around(a, 1, o), 5), (lambda a, o: np.clip(a, -1, 1, o), 5), (lambda a, o: a.clip(-1, 1, o), 5),
    (lambda a, o: a.round(1, out=o), 5), (lambda a, o: np.cumsum(a, 0, None, o), 5), (lambda a, o: a.cumsum(out=o), 5),
    (lambda a, o: np.concatenate((a, a), 0, o), 10), (lambda a, o: np.take(a, [0, 1], 0, o), 2),
    (lambda a, o: a.take([0, 1], 0, o), 2), (lambda a, o: np.outer(a, a, o), (5, 5)), (np.fix, 5),
    (lambda a, o: np.stack((a, a), 0, o), (2, 5)), (lambda a, o: a.compress([True, False, True], 0, o), 2),
    (lambda a, o: np.choose([0, 1, 0, 1, 0], [a, -a], o), 5),
    (lambda a, o: np.trace(a[:, None] * a[None], 0, 0, 1, None, o), ()), (lambda a, o: a.dot(a[:, None], out=o), 1),
    (lambda a, o: np.sum(a, 0, None, o), ()), (lambda a, o: a.mean(0, None, o), ()), (lambda a, o: a.max(0, o), ()),
    (lambda a, o: np.median(a, None, o), ()), (lambda a, o: np.percentile(a, 30, None, o), ()),
    (lambda a, o: np.std(a, 0, None, o, 1), ()), (lambda a, o: np.mean(a, out=o), ()),
]  # fmt: skip


@pytest.mark.parametrize("function, shape", STORED)
def test_results_are_stored_in_an_array_given_by_position(function, shape):
    require_same(function, X, np.zeros(shape))


def test_what_out_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="cannot hold"):
        ag.jit(lambda a, o: np.clip(a, 0, 1, out=o))(X, np.zeros(5, int))
    with pytest.raises(TypeError, match="no array: True"):
        ag.jit(lambda a: a.max(0, True))(X)
    with pytest.raises(TypeError, match="multiple values for argument 'dtype'"):
        ag.jit(lambda a: np.sum(a, 0, float, dtype=int))(X)


@pytest.mark.parametrize("function", [
    lambda a: (a.sum(initial=3.0), a.max(initial=3.0), a.max(0, where=a > 2, initial=0), a.any(where=a > 2)),
    lambda a: (a.std(where=a > 2), a.mean(None, None, None, True), a.sum(0, None, None, True), a.max(0, None, True)),
    lambda a: (a.std(None, None, None, 1), np.std(a, 0, np.float32), np.nan_to_num(a, True), a.trace(0, 0, 1, int)),
    lambda a: (a.argsort(kind="stable"), a.argsort(-1, "mergesort"), a.argmax(0, None, keepdims=True)),
    lambda a: (np.histogram(a, 3, None, True)[0], np.histogram(a, 3, (0, 9), density=True)[0]),
    lambda a: (np.median(a, 0, None, False, True), np.percentile(a, 50, 0, None, False, "linear", True)),
    lambda a: (np.isin(a, [1.0, 2.0], False, True), np.reshape(a, (3, 2), "F"), a.flatten("F"), a.flatten(order="C")),
])  # fmt: skip
def test_options_by_position_and_of_methods(function):
    require_same(function, M)


def test_methods_that_sort_in_place_take_a_kind():
    def sort(a, b):
        a.sort(-1, "stable")
        b.sort(kind="heapsort", axis=0)
        return a[0]

    require_same(sort, X[::-1], M[::-1])


def test_flattened_copies_are_written_alone():
    def write(a):
        first = a.flatten("F")
        first[0] = 7
        return first

    require_same(write, M)


@pytest.mark.parametrize("function", [
    np.percentile, lambda a, n: np.quantile(a, n / 100), lambda a, n: np.linspace(a, n, 4),
    lambda a, n: np.linspace(a[0], n, 4), lambda a, n: np.logspace(a[0], n, 3), np.nanpercentile,
    lambda a, n: np.histogram(a, 3, (-n, n)), lambda a, n: (np.copyto(a, n + 0.5), a)[1],
    lambda a, n: np.zeros(3, np.result_type(a, n)),
])  # fmt: skip
def test_python_numbers_of_the_call_are_weak(function):
    require_same(function, X.astype("float32"), 3)


@pytest.mark.parametrize("turns", [-1, 0, 1, 2, 3, 6])
def test_numbers_of_the_call_decide_rotations(turns):
    require_same(np.rot90, M, turns)


def test_rows_whose_number_the_call_knows():
    require_same(lambda a: (np.lexsort(a), np.lexsort(a.T), np.unstack(a)[1], np.histogramdd(a.T, 2)[0]), M)


@pytest.mark.parametrize("x", [X[:0], np.zeros(0, int), np.array([3, 1, 2, 2])])
def test_histograms_of_no_elements(x):
    require_same(lambda a: (*np.histogram(a), np.histogram_bin_edges(a, 3), np.histogramdd(a, 2)[0]), x)


@pytest.mark.parametrize("x", [3, -2.5, 2 + 1j, np.array(3.5), np.float32(1.5)])
def test_scalars_that_functions_return_are_those_of_numpy(x):
    require_same(lambda a: (np.around(a), np.clip(a, None, None), np.nan_to_num(a), np.positive(a), np.block(a)), x)


def test_covariances_of_one_variable_are_arrays():
    require_same(lambda a: (np.cov(a), np.corrcoef(a)), X)


def test_lengths_follow_from_one_known_operand():
    def positive(a):
        return (a[a > 0] + a[:2]).tolist(), len(a[a > 0] * a[3:]), list(a[a > 0] + a[3:])

    assert ag.jit(positive)(X) == positive(X)


@pytest.mark.parametrize("value", [M[None], M[None, None], M, M[:1, None][0]])
def test_assigned_arrays_may_have_more_axes_of_length_one(value):
    def assign(target, value):
        target[...] = value
        return target.sum()

    require_same(assign, M * 2, value)


def test_assigned_arrays_of_other_lengths_are_refused():
    jitted = ag.jit(lambda t, v: t.__setitem__(..., v))
    jitted(M[0].copy(), M[:1])
    with pytest.raises(ValueError, match="could not broadcast"):
        jitted(M[0].copy(), M)


def test_buffers_of_arrays_are_views():
    def read(m, n):
        part = np.frombuffer(m, offset=8, count=3)
        part[0] = 7
        return part, np.frombuffer(n, np.uint64), m

    require_same(read, M, np.array([[1, -2]]))
    with pytest.raises(TypeError, match="cannot be read as float32"):
        ag.jit(lambda m: np.frombuffer(m, np.float32))(M)
