"""Functions along the chunked axis, of NumPy arrays beside chunks and of arrays chunked on two axes: values, errors."""

import re

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
RNG = np.random.default_rng(6)
ROWS, CHUNKS = 50, (20, 7, 23)
X, Y, W, V = RNG.normal(size=(ROWS, 4)), RNG.normal(size=(ROWS, 4)), RNG.normal(size=(4, 3)), RNG.normal(size=ROWS)
LABELS = RNG.integers(0, 4, ROWS)
x, y, w, v = T.matrix("x"), T.matrix("y"), T.matrix("w"), T.vector("v")
labels, k = T.lvector("labels"), T.lscalar("k")
n = T.shape(x)[0]
INPUTS, VALUES = [x, y, w, v, labels, k], [X, Y, W, V, LABELS, 7]


def gradient(cost):
    return ag.grad(cost, x)


BESIDE = [
    x + y,
    x * v[:, None],
    x[T.arange(n), labels],
    T.dot(x.T, y),
    T.dot(y.T, x),
    T.switch(x > 0, y, v[:, None]),
    -T.log(T.nn.softmax(x, axis=1)[T.arange(n), labels]).mean(),
    T.stack([x, y], axis=1),
    v @ x,
    T.exp(y)[3:] * x[3:],
    T.concatenate([x, y], axis=1),
    (x * v[:, None]).sum(axis=0),
    gradient(T.sum(x * y * v[:, None])),
    w.T[labels % 3] * x,
]
COLUMNS = [
    x[:, [0, 2]],
    x[:, [[0, 2], [1, 1]]],
    gradient(T.sum(x[:, [0, 2, 2]] ** 2)),
    T.stack([x, y], axis=1)[:, [0, 1, 1]],
    T.stack([x, y], axis=1)[:, 1, [0, 3]],
    x.at[:, [1, 3]].add(1.0),
    x.at[:, [1, 3]].set(y[:, :2]),
]
SLICES = [
    x[3:],
    x[:3],
    x[::2],
    x[::-1],
    x[5],
    x[-1],
    x[-2, 1],
    x[2:3],
    x - x[:1],
    x[3:, 1],
    x[10:20:3, ::-1],
    x[40:10:-7],
    x[3:][::2][:-1],
    x[n // 2 :],
    x[k:],
    x[k],
    x[-k:],
    x[:0],
    x[60:],
    T.sum(x[60:], axis=0),
    x[45:].max(axis=0),
    x[45:].min(),
    x[3:].std(),
    T.nn.softmax(x[30:], axis=0),
    x[3:, 0] + T.arange(n - 3),
    x[3:].mean(axis=0),
    T.shape(x[3:])[0],
    x[::3] * y[::3],
    x[3:] * v[3:, None],
]
WRITES = [
    gradient(T.sum(x[3:] ** 2)),
    gradient(T.sum(x[::-1] ** 2 * y)),
    gradient(T.sum(x[5] ** 2)),
    x.at[5].add(w[:, 0]),
    gradient(T.sum(x[-1] ** 3)),
    gradient(T.sum(x[3:40:2, 1] ** 2)),
    x.at[3:].set(0.0),
    x.at[10:20].set(y[10:20]),
    x.at[10:20, 1:3].set(7.0),
    x.at[7, 2].add(5.0),
    x.at[::-2].set(y[::2]),
    x.at[3:6].set(y[40:43]),
]
RUNNING = [
    T.cumsum(x, axis=0),
    T.accumulate(T.maximum, x, axis=0),
    T.cumprod(x, axis=0),
    T.cumsum(labels),
    T.cumsum(v),
    T.cumsum(x[3:45:2], axis=0),
    T.cumsum(x[::-1], axis=0),
    gradient(T.sum(T.cumsum(x, axis=0) ** 2)),
    T.cumsum(x, axis=0)[-1],
    gradient(T.sum(T.cumprod(x[:9], axis=0) ** 2)),
    T.cumsum(x - x.mean(axis=0), axis=0).max(axis=0),
]
EXTREMES = [
    T.argmax(x, axis=0),
    T.argmin(x, axis=0),
    T.argmax(v),
    T.argmax(x),
    T.argmin(x[47:], axis=0),
    T.argmin(v[::-1]),
    T.argmax(x[::-1], axis=0),
    T.argmax(x - x.mean(axis=0), axis=0),
    T.argmax(T.round(x), axis=0),
    T.argmax(T.switch(x > 1, np.nan, x), axis=0),
]
ALIGNED = [
    x[1:] - x[:-1],
    T.diff(v),
    T.dot(x.T, x[::-1]),
    x + x[::-1],
    T.sum(v[1:] * v[:-1]),
    x[2:] - 2 * x[1:-1] + x[:-2],
    gradient(T.sum((x[1:] - x[:-1]) ** 2)),
    T.cumsum(v)[5:] - T.cumsum(v)[:-5],
    x[40:45] * x[3:8],
]
TAKEN = [
    x[[0, 3]],
    x[[0, -1, 40, 3, 40]],
    v[[49, 0]],
    x[[[7, 30], [0, 7], [49, -50]]],
    x[3:][[0, 46, -1]] * 2,
    x[::-1][[0, 1, 30]],
    T.take(x, T.cast(T.abs(w[:, 0]) * 10, "int64"), axis=0),
    x[[k, 0, -k]].sum(axis=0),
    x[:0][T.zeros(0, dtype="int64")],
    x.T[:, [4, 44]],
    gradient(T.sum(x[[0, 3, 3, -1]] ** 2)),
    gradient(T.sum(x[[[7, 30], [0, 7]]] ** 3)),
    x.at[[30, 2, 30, 7]].set(w[:, :1]),
    x.at[[30, 2]].set(w[:1, :1]),
    x.T.at[:, [[30], [2]]].add(w[:2, :1]),
    x.at[[1, 48]].add(5.0),
    *T.topk(x, 3, axis=0),
    *T.topk(T.round(x), 6, axis=0, largest=False),
    *T.topk(v, 44),
    *T.topk(v[::-1], 2),
    *T.topk(x, 2, axis=1),
]
GROUPS = {
    "taken": TAKEN,
    "beside": BESIDE,
    "columns": COLUMNS,
    "slices": SLICES,
    "writes": WRITES,
    "running": RUNNING,
    "extremes": EXTREMES,
    "aligned": ALIGNED,
}


def chunked(array, chunks=CHUNKS, axis=0):
    return da.from_array(array, chunks=tuple(chunks if a == axis else -1 for a in range(array.ndim)))


LAYOUTS = {
    "x": [chunked(X), Y, W, V, LABELS, 7],
    "all": [chunked(X), chunked(Y), W, chunked(V), chunked(LABELS), 7],
    "two axes": [da.from_array(X, chunks=(CHUNKS, (1, 3))), chunked(Y), chunked(W, (1, 3)), V, LABELS, 7],
}


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def require_equal(got, want):
    for number, (a, b) in enumerate(zip(got, want, strict=True)):
        found = a.compute()
        assert (a.shape, found.shape, a.dtype) == (np.shape(b), np.shape(b), b.dtype), number
        np.testing.assert_allclose(found, b, rtol=1e-11, atol=1e-12, err_msg=str(number))


@pytest.mark.few(8)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("group", GROUPS)
def test_blocks_give_the_values_of_the_whole(group, layout):
    f = ag.function(INPUTS, GROUPS[group], mode="NUMPY", on_unused_input="ignore")
    require_equal(f(*LAYOUTS[layout]), f(*VALUES))


def test_an_index_out_of_range_is_an_error_of_the_call_that_computes():
    f = ag.function([x, labels], x[labels], mode="NUMPY")
    with pytest.raises(IndexError, match="index -51 is out of bounds for axis 0 with size 50"):
        f(chunked(X), np.array([3, 49, -51])).compute()
    with pytest.raises(ValueError, match="k must be from 0 to 50, the length of the axis, got 51"):
        ag.function([v], T.topk(v, 51)[0], mode="NUMPY")(chunked(V)).compute()


def test_a_plan_serves_other_lengths_and_another_one_other_answers():
    f = ag.function([x, y, k], [x[k:] + 1, x * y, T.argmax(x, axis=0)], engine="dask", mode="NUMPY")
    for rows, other, start in [(50, Y, 7), (40, Y[:40], 3), (50, Y[:1], 7), (50, Y, 49), (30, Y[:30], -4), (50, Y, -1)]:
        given, want = chunked(X[:rows], (rows - 9, 9)), ag.function([x, y, k], [x[k:] + 1, x * y, T.argmax(x, axis=0)])
        require_equal(f(given, other, start), want(X[:rows], other, start))
    (plans,) = f._chunked._plans.values()
    assert len(plans) == 3  # a product of equal rows, of one row, and a part of one row


def test_blocks_of_other_lengths_than_those_taken_as_equal_broadcast():
    f = ag.function([x, w], T.exp(x) * T.cos(w) + T.exp(x), engine="dask")
    for rows in (ROWS, 1):
        want = np.exp(X) * np.cos(Y[:rows]) + np.exp(X)
        np.testing.assert_allclose(f(chunked(X), Y[:rows]).compute(), want, rtol=1e-12)


def test_blocks_without_rows_of_a_result_are_left_out():
    read = []
    made = da.map_blocks(lambda block: read.append(1) or block, chunked(X), dtype="float64", meta=X[:0])
    f = ag.function([x], [x[30:40] * 2, x[::-1]], mode="NUMPY")
    part, transposed = f(made)
    assert part.chunks == ((10,), (4,)) and transposed.chunks == (CHUNKS[::-1], (4,))
    read.clear()
    part.compute()
    assert len(read) == 1


def test_of_two_chunked_axes_one_is_kept_by_which_the_graph_can_be_split():
    both = da.from_array(X, chunks=(CHUNKS, (1, 3)))
    rows, columns = (ag.on_dask(ag.function([x], o, mode="NUMPY")) for o in (T.sort(x, axis=1), T.sort(x, axis=0)))
    assert rows(both).chunks == (CHUNKS, (4,)) and columns(both).chunks == ((50,), (1, 3))
    np.testing.assert_array_equal(columns(both).compute(), np.sort(X, axis=0))
    assert columns.remarks == ["x is chunked along axes [0, 1].  It is rechunked"]


WHOLE = [
    T.sort(x, axis=0),
    T.median(v),
    T.sort(x[3:], axis=0),
    x[labels],
    x @ x.T,
    T.reshape(x, (-1,)),
    T.tril(x),
    T.tile(x, (2, 1)),
    T.roll(x, 1, axis=0),
    T.concatenate([x, y], axis=0),
    T.repeat(v, 2),
    T.dot(x, y.T),
    x[T.argmax(v) :],
    x[T.argmax(v)],
    T.argmax(x.T),
    T.sort(x.T, axis=1) + y.T,
    x[:, T.argmax(x, axis=1)],
    T.percentile(x, 30, axis=0),
    x[x[:, 0] > 0],
    T.searchsorted(T.sort(v), v),
]


def is_chunked(array):
    return max(getattr(array, "numblocks", (1,)), default=1) > 1


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_a_refusal_names_the_arguments_whose_rechunk_helps(number):
    f, given = ag.function(INPUTS, WHOLE[number], mode="NUMPY", on_unused_input="ignore"), LAYOUTS["all"]
    with pytest.raises(TypeError, match=r"give \w+\.rechunk\(\{\d: -1\}\).*test_dask_parts.py:\d+") as error:
        f(*given)
    result, message = None, str(error.value)
    while result is None:
        fixes = dict(re.findall(r"(\w+)\.rechunk\(\{(\d): -1\}\)", message))
        named = [i.name in fixes and is_chunked(a) for i, a in zip(INPUTS, given, strict=True)]
        assert any(named), message
        given = [
            a.rechunk({int(fixes[i.name]): -1}) if is_named else a
            for i, a, is_named in zip(INPUTS, given, named, strict=True)
        ]
        try:
            result = f(*given)
        except TypeError as further:
            message = str(further)
    want = f(*VALUES)
    np.testing.assert_allclose(result.compute(), want, rtol=1e-11)
    assert all(a == b or np.isnan(a) for a, b in zip(result.shape, want.shape, strict=True))


def test_lengths_that_depend_on_values_of_chunks_are_unknown():
    f = ag.on_dask(ag.function([x], x[x[:, 0] > 0], mode="NUMPY"), gather=True)
    found = f(chunked(X))
    assert np.isnan(found.shape[0]) and np.array_equal(found.compute(), X[X[:, 0] > 0])


@pytest.mark.long
def test_any_program_along_the_chunked_axis():
    """Chains of drawn steps on rows, against NumPy's meaning of the graph."""
    steps = [
        lambda z, r: z[r.integers(-3, 9) :],
        lambda z, r: z[: r.integers(3, 60)],
        lambda z, r: z[:: r.choice([-3, -1, 2])],
        lambda z, r: T.cumsum(z, axis=0) * 0.1,
        lambda z, r: z[1:] - z[:-1],
        lambda z, r: z - z.mean(axis=0),
        lambda z, r: z + z[::-1],
        lambda z, r: z[:, [1, 0, 3, 2]],
        lambda z, r: T.tanh(z) + z[:1],
        lambda z, r: z.at[r.integers(0, 5) :].set(1.5),
        lambda z, r: z * T.arange(T.shape(z)[0])[:, None] * 0.1,
        lambda z, r: z - z.max(axis=0),
        lambda z, r: T.nn.softmax(z, axis=0),
    ]
    ends = [
        lambda z: z,
        lambda z: T.argmax(z, axis=0),
        lambda z: gradient(T.sum(z**2)),
        lambda z: z.sum(axis=0),
        lambda z: z[-1],
    ]
    for seed in range(150):
        r = np.random.default_rng(seed)
        z = x
        for _ in range(r.integers(1, 5)):
            z = steps[r.integers(len(steps))](z, r)
        f = ag.function([x], [end(z) for end in (ends[0], ends[2], ends[r.choice([1, 3, 4])])], mode="NUMPY")
        bounds = np.sort(r.choice(np.arange(1, ROWS), r.integers(1, 6), replace=False))
        given = chunked(X, tuple(map(int, np.diff([0, *bounds, ROWS]))))
        try:
            want = f(X)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                dask.compute(*f(given))
            continue
        try:
            got = f(given)
        except TypeError as error:
            raise AssertionError(f"seed {seed}") from error
        try:
            require_equal(got, want)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
