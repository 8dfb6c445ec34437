"""Mutable arrays of traced functions: views share elements with their base, arguments are written once, at the end."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag

VIEWS = {
    "transposed": lambda a: a.T, "rows": lambda a: a[1:], "every other": lambda a: a[::2],
    "back": lambda a: a[::-1], "flat": lambda a: a.reshape(-1),
    "row": lambda a: a[0], "columns": lambda a: a[..., :2], "last": lambda a: a[..., -1],
    "new axis": lambda a: a[:, None], "copy": lambda a: a.copy(), "sum": lambda a: a + 0.5, "itself": lambda a: a,
    "swapped": lambda a: np.swapaxes(a, 0, -1), "plus": lambda a: +a, "ravel": lambda a: np.ravel(a.copy()),
}  # fmt: skip


def fill(a, v):
    a.fill(v)


def store(a, v):
    a[...] = v


def first(a, v):
    a[0] = v


def tail(a, v):
    a[1:] = a[:-1] + v


def add(a, v):
    a += v


def scale(a, v):
    a[::2] *= v


def mask(a, v):
    a[a > v] = v


def out(a, v):
    np.multiply(a, v, out=a)


def at(a, v):
    np.add.at(a, [0, 0], v)


def sort(a, v):
    a.sort()


def flat(a, v):
    a.flat[0] = v


WRITES = [fill, store, first, tail, add, scale, mask, out, at, sort, flat]


def usable(array):
    return array.ndim and array.size and array.shape[0] > 0


def run(steps, x):
    """Apply views and writes to names in turn; what they are and how often they are read is decided by `steps`."""
    names, read = [x], []
    for kind, k, what, value in steps:
        a = names[k % len(names)]
        if kind == "view":
            if a.ndim and a.shape[0] > 0:
                made = VIEWS[what](a) if a.ndim > 1 or what not in ("row", "last") else a[1:]
                names.append(made)
        elif kind == "write":
            if a.ndim and a.shape[0] > 0 and not isinstance(a, np.generic):
                WRITES[what](a, value)
        else:
            read.append(a.sum() + (a * 2).max() if a.size > 0 else 0.0)
    return read, names[-1] * 1


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("view"), st.integers(0, 9), st.sampled_from(list(VIEWS)), st.just(0.0)),
        st.tuples(st.just("write"), st.integers(0, 9), st.integers(0, len(WRITES) - 1), st.sampled_from([0.5, -1.0])),
        st.tuples(st.just("read"), st.integers(0, 9), st.just(0), st.just(0.0)),
    ),
    min_size=2, max_size=9,
)  # fmt: skip


def same_as_numpy(steps):
    x = np.arange(12.0).reshape(3, 4) - 5
    theirs, ours = x.copy(), x.copy()
    expected = run(steps, theirs)

    def f(x):
        return run(steps, x)

    found = ag.jit(f, mode="NUMPY")(ours)
    np.testing.assert_allclose(ours, theirs)
    for a, b in zip([*found[0], found[1]], [*expected[0], expected[1]], strict=True):
        np.testing.assert_allclose(a, b)


@given(STEPS)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_views_and_writes_as_numpy_has_them(steps):
    same_as_numpy(steps)


@pytest.mark.long
@given(STEPS)
@settings(max_examples=2000, deadline=None, derandomize=True)
def test_many_views_and_writes_as_numpy_has_them(steps):
    same_as_numpy(steps)


def in_numpy_and_jitted(f, *arguments):
    theirs, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected, found = f(*theirs), ag.jit(f, mode="NUMPY")(*ours)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b)
    if expected is not None:
        np.testing.assert_allclose(found, expected)


def test_scalars_are_values():
    def swap(x):
        for i in range(x.shape[0] // 2):
            t = x[i]
            x[i] = x[-1 - i]
            x[-1 - i] = t

    def pairs(x):
        x[0], x[1] = x[1], x[0]

    in_numpy_and_jitted(swap, np.arange(41.0))
    in_numpy_and_jitted(pairs, np.arange(3.0))


def test_the_same_array_twice():
    @ag.jit(mode="NUMPY")
    def f(x, y):
        x[1:] += y[:-1]
        y *= 2

    for x, y in [(np.ones(4), np.ones(4)), (np.ones(4), None), (np.arange(4.0), None)]:
        y = x if y is None else y
        a = x.copy()
        b = a if y is x else y.copy()
        f(x, y)
        f.__wrapped__(a, b)
        np.testing.assert_allclose(x, a)
        np.testing.assert_allclose(y, b)


def test_arrays_that_cannot_be_written():
    @ag.jit(mode="NUMPY")
    def f(x, y):
        x[0] = y[0]

    x = np.arange(4.0)
    with pytest.raises(ValueError, match="f: the function writes to argument 0, which shares elements"):
        f(x[1:], x[:-1])
    fixed = np.ones(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match=r"assignment destination is read-only(?s:.*)test_jit_writes\.py:\d+"):
        ag.jit(f.__wrapped__)(fixed, x)
    f(x, np.full(4, 7.0))
    with pytest.raises(ValueError, match="f: the function writes to argument 0, a read-only array"):
        f(fixed, x)
    with pytest.raises(ValueError, match="read-only"):
        ag.jit(lambda x: np.broadcast_to(x, (3, 4)).__setitem__(0, 1))(x)
    with pytest.raises(TypeError, match=r"x\[\.\.\.\] \+= v: the result is of float64, which an array of int64"):
        ag.jit(halved)(np.arange(3))
    assert x[0] == 7


def halved(x):
    x[0] += 0.5


def test_a_failed_call_writes_nothing():
    @ag.jit(mode="NUMPY")
    def f(x, i):
        x[0] = 5
        return x[i]

    x = np.zeros(3)
    with pytest.raises(IndexError):
        f(x, 7)
    assert not x.any()


def test_reads_between_writes():
    def f(x):
        y = x.T
        total = y.sum()
        x[0] = 9
        row = y[:, 0]
        row -= 1
        return total + y.sum() + x[0, 0]

    in_numpy_and_jitted(f, np.ones((2, 3)))


def test_attributes_and_globals_are_written():
    class Model:
        def __init__(self):
            self.w = np.zeros(3)

        @ag.jit(mode="NUMPY")
        def step(self, g):
            self.w -= g
            self.w[0] = 1

    model = Model()
    before = model.w
    model.step(np.ones(3))
    model.step(np.ones(3))
    np.testing.assert_array_equal(model.w, [1, -2, -2])
    assert before is not None
