"""A bound function computes what the function computes, in the same arrays every time, and nothing pulls them away."""

import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.calls import native

X, Y = T.matrix("X"), T.vector("Y")
MODES = ["FAST_RUN", "NUMPY", "DEBUG"]


def arrays():
    rng = np.random.default_rng(0)
    return rng.standard_normal((3, 4)), rng.standard_normal(4)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("form", ["one", "list", "dict", "none"])
def test_results_follow_the_arrays(mode, form):
    outputs = {"one": X + Y, "list": [X + Y, Y.sum()], "dict": {"a": X + Y, "b": Y.sum()}, "none": None}[form]
    f = ag.function([X, Y], outputs, mode=mode, on_unused_input="ignore")
    x, y = arrays()
    b = f.bind(x, Y=y)
    for k in range(3):
        x[...] += k
        got, expected = b(), f(x, y)
        if form == "dict":
            assert list(got) == ["a", "b"]
            got, expected = list(got.values()), list(expected.values())
        for mine, its in zip(np.atleast_1d(got) if form == "none" else [got] if form == "one" else got,
                             np.atleast_1d(expected) if form == "none" else [expected] if form == "one" else expected,
                             strict=True):  # fmt: skip
            np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("mode", MODES)
def test_results_lie_in_the_same_arrays(mode):
    f = ag.function([X, Y], [X + Y, (X * Y).sum(0)], mode=mode)
    b = f.bind(*arrays())
    first = b()
    copies = [r.copy() for r in first]
    second = b()
    assert all(r is s for r, s in zip(first, second, strict=True)) and b.outputs == tuple(first)
    for r, c in zip(second, copies, strict=True):
        np.testing.assert_array_equal(r, c)


@pytest.mark.parametrize("mode", MODES)
def test_results_go_where_they_are_wanted(mode):
    f = ag.function([X, Y], {"sum": X + Y, "total": Y.sum()}, mode=mode)
    x, y = arrays()
    out = {"total": np.empty(()), "sum": np.empty((3, 4))}
    f.bind(x, y, out=out)()
    np.testing.assert_array_equal(out["sum"], x + y)
    np.testing.assert_allclose(out["total"], y.sum())
    one, result = ag.function([Y], Y + 1, mode=mode), np.empty(4)
    assert one.bind(y, out=result)() is result


@pytest.mark.parametrize("view", [
    lambda x: x[::-1], lambda x: x[:, ::2].T, lambda x: np.broadcast_to(x[:1], (3, 4)), lambda x: x.T,
    lambda x: x[:0], lambda x: x[1:2, 1:2],
], ids=["reversed", "every other", "broadcast", "transposed", "empty", "single"])  # fmt: skip
def test_strided_arrays_are_read_where_they_lie(view):
    f = ag.function([X], [T.exp(X) + 1, X.sum(0)])
    base = np.arange(12.0).reshape(3, 4)
    b = f.bind(view(base))
    for _ in range(2):
        base += 0.5
        for mine, its in zip(b(), f(view(base)), strict=True):
            np.testing.assert_array_equal(mine, its)


def test_numbers_and_lists_stay_what_they_were():
    s = T.scalar("s")
    f = ag.function([Y, s], Y * s)
    numbers = [1.0, 2.0]
    b = f.bind(numbers, 3)
    numbers[0] = 7.0
    np.testing.assert_array_equal(b(), [3.0, 6.0])


@pytest.mark.parametrize(("arguments", "error", "message"), [
    ((np.ones((2, 2), "float32"), np.ones(2)), TypeError, "X.astype('float64')"),
    ((np.ones((2, 2)).astype(">f8"), np.ones(2)), TypeError, "X.astype('float64')"),
    ((np.frombuffer(b"\0" * 33, "f8", offset=1).reshape(2, 2), np.ones(2)), TypeError, "X.copy()"),
    ((np.ones(2), np.ones(2)), TypeError, "argument 0"),
    ((np.ones((2, 2)),), TypeError, "takes 2 arguments"),
    ((np.ones((2, 2)), np.ones(2), 3), TypeError, "takes 2 arguments"),
])  # fmt: skip
def test_arrays_that_would_be_copied_are_refused(arguments, error, message):
    f = ag.function([X, Y], X + Y)
    with pytest.raises(error, match=message.replace("(", r"\(").replace(")", r"\)")):
        f.bind(*arguments)


def test_arrays_for_results_must_fit_and_not_overlap():
    f = ag.function([X, Y], [X + Y, Y * 2])
    x, y = arrays()
    separate = np.empty((3, 4))
    for out, error, message in [
        ([x, np.empty(4)], ValueError, "overlaps with what the function reads"),
        ([separate, separate[0]], ValueError, "overlaps with the array for output 1"),
        ([np.empty((3, 5)), np.empty(4)], ValueError, "has shape"),
        ([np.empty((4, 3)).T, np.empty(4)], ValueError, "C-contiguous"),
        ([np.empty((3, 4), "f"), np.empty(4)], TypeError, "float32"),
        ([np.empty((3, 4))], ValueError, "1 array for 2 outputs"),
        ([[1.0], np.empty(4)], TypeError, "list"),
        (np.empty(4), TypeError, "a list of arrays"),
    ]:
        with pytest.raises(error, match=message):
            f.bind(x, y, out=out)


def test_lengths_that_do_not_agree_are_reported_at_the_call():
    f = ag.function([X, Y], X + Y)
    with pytest.raises(ValueError, match="do not agree"):
        f.bind(np.ones((3, 4)), np.ones(3))()


@pytest.mark.long
def test_bound_arrays_cannot_be_resized():
    f = ag.function([Y], Y + 1)
    y = np.arange(4.0)
    b = f.bind(y)
    for array in (y, b()):
        with pytest.raises(ValueError, match="resize"):
            array.resize(10**6, refcheck=False)
    del b
    gc.collect()
    y.resize(8, refcheck=False)


@pytest.mark.filterwarnings("ignore:.*shape:DeprecationWarning")  # NumPy 2.5 advises against it
def test_another_shape_of_a_bound_array_changes_nothing():
    f = ag.function([X], X + 1)
    x = np.arange(12.0).reshape(3, 4)
    b = f.bind(x)
    x.shape = (4, 3)
    np.testing.assert_array_equal(b(), np.arange(12.0).reshape(3, 4) + 1)


@pytest.mark.long
def test_a_binding_holds_its_arrays_and_no_more():
    f = ag.function([Y], Y + 1)
    y = np.arange(4.0)
    b = f.bind(y)
    gone, result = weakref.ref(y), weakref.ref(b())
    del y
    gc.collect()
    assert gone() is not None and (b() == [1, 2, 3, 4]).all()
    del b
    gc.collect()
    assert gone() is None and result() is None


def test_no_reference_is_lost():
    f = ag.function([Y], [Y + 1, Y * 2])
    b = f.bind(np.ones(4))
    results = b()
    before = [sys.getrefcount(it) for it in (results, *results)]
    for _ in range(1000):
        b()
    assert [sys.getrefcount(it) for it in (results, *results)] == before


def test_updates_go_on_as_ever():
    w = ag.shared(np.zeros(3), name="w")
    step = ag.function([Y], (Y - w).sum(), updates=[(w, w + Y)])
    y = np.ones(3)
    b = step.bind(y)
    assert [float(b()) for _ in range(3)] == [3.0, 0.0, -3.0]
    w.set_value(np.zeros(3))
    y[:] = 2
    assert float(b()) == 6.0 and (w.get_value() == 2).all()


def test_shared_variables_may_change_their_lengths():
    w = ag.shared(np.zeros(3), name="w")
    f = ag.function([Y], w + Y[:1])
    b = f.bind(np.ones(4))
    assert b().shape == (3,)
    w.set_value(np.zeros(5))
    assert b().shape == (5,) and b() is b()


def test_shapes_that_only_a_call_tells():
    n = T.lscalar("n")
    length = np.array(3)
    f = ag.function([n], T.arange(n) * 2)
    b = f.bind(length)
    assert b.outputs == (None,) or b.outputs[0].shape == (3,)
    first = b()
    np.testing.assert_array_equal(first, [0, 2, 4])
    assert b() is first
    length[...] = 5
    np.testing.assert_array_equal(b(), [0, 2, 4, 6, 8])
    fixed = f.bind(length, out=np.empty(5, "int64"))
    fixed()
    length[...] = 2
    with pytest.raises(ValueError, match="shape"):
        fixed()


def test_ops_without_c():
    f = ag.function([X], T.linalg.svd(X)[1])
    x = np.diag([3.0, 2.0])
    b = f.bind(x)
    np.testing.assert_allclose(b(), [3, 2])
    x[0, 0] = 5
    np.testing.assert_allclose(b(), [5, 2])


def test_calls_are_profiled():
    f = ag.function([Y], Y + 1, profile=True)
    b = f.bind(np.ones(4))
    for _ in range(5):
        b()
    assert f.profile.calls == 5


def test_threads_may_call_one_binding():
    f = ag.function([Y], T.exp(Y).sum())
    y = np.linspace(0, 1, 100_000)
    b = f.bind(y)
    expected, wrong = float(f(y)), []

    def work():
        wrong.extend(r for _ in range(50) if (r := float(b())) != expected)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not native.layouts_hold(), reason="objects of this Python lie in memory otherwise")
def test_a_pure_function_is_bound_to_a_builtin():
    b = ag.function([Y], Y + 1).bind(np.ones(4))
    assert type(b.run).__name__ == "builtin_function_or_method"
    with pytest.raises(TypeError):
        b.run(1)
    assert repr(b) == "<function bound to float64[4]>"
