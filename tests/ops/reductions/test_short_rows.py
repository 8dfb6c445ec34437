"""Short rows are worked on side by side: values of kernels with vectors across the rows, against NumPy's."""

from dataclasses import replace

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.emit import kernel_c
from arignote.cbackend.lowering.lower import lower
from arignote.targets.named import host

SHAPES = [(40, 0), (40, 1), (16, 3), (15, 3), (1000, 7), (129, 15), (128, 31), (300, 2, 3), (2, 40, 5)]
FOLDS = {
    "float32": ("sum", "prod", "max", "min", "any"),
    "float64": ("sum", "max"),
    "float16": ("sum", "min"),
    "int8": ("sum", "max"),
    "bool": ("sum", "all"),
    "complex64": ("sum", "prod"),
}


def sample(shape, dtype, seed=0):
    values = np.random.default_rng(seed).normal(size=shape) * 2
    return values > 0 if dtype == "bool" else values.astype(dtype)


def views(x):
    """`x` in other layouts: turned round, backwards, with gaps."""
    gaps = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)[..., 1::2]
    gaps[...] = x
    return x, np.asfortranarray(x), x[::-1, ..., ::-1], gaps


def normalized(xp, x, w):
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + np.float32(1e-5)) * w


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True, initial=-np.inf))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.few(4)
@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("dtype", FOLDS)
def test_reductions_of_short_rows(dtype, ndim):
    x = T.tensor("x", dtype=dtype, shape=(None,) * ndim)
    f = ag.function([x], [getattr(x, fold)(-1) for fold in FOLDS[dtype]])
    for shape in (s for s in SHAPES if len(s) == ndim):
        if shape[-1] == 0 and {"max", "min"} & set(FOLDS[dtype]):
            with pytest.raises(ValueError):
                f(np.zeros(shape, dtype))
            continue
        for view in views(sample(shape, dtype)):
            found = f(view)
            for k, fold in enumerate(FOLDS[dtype]):
                wide = view.astype("float32") if dtype == "float16" else view
                want = getattr(wide, fold)(-1).astype(found[k].dtype)
                close = {"float16": 1e-3, "float32": 1e-5, "complex64": 1e-4}.get(dtype, 1e-14)
                np.testing.assert_allclose(found[k], want, rtol=close, atol=close)


def test_what_is_no_number_in_short_rows():
    x = T.matrix("x", dtype="float32")
    f = ag.function([x], [x.max(1), x.min(1), x.sum(1), T.nn.softmax(x), T.logsumexp(x, 1)])
    rows = sample((50, 5), "float32")
    rows[1, 2], rows[3, 4], rows[5, 0], rows[7] = np.nan, np.inf, -np.inf, -np.inf
    rows[9] = -0.0
    with np.errstate(invalid="ignore"):
        wanted = [rows.max(1), rows.min(1), rows.sum(1), softmax(rows)]
    for found, want in zip(f(rows), wanted, strict=False):
        np.testing.assert_allclose(found, want, rtol=1e-5)
    assert f(rows)[4][7] == -np.inf and f(rows)[4][3] == np.inf and np.isnan(f(rows)[4][1])


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_passes_over_short_rows(dtype):
    x, w = T.matrix("x", dtype=dtype), T.vector("w", dtype=dtype, shape=(7,))
    v = T.tensor("v", dtype=dtype, shape=(None, 1))
    p = T.nn.softmax(x * v)
    f = ag.function([x, w, v], [normalized(T, x, w), p, (p * x).sum(1), T.nn.log_softmax(x)])
    for n in (1, 15, 16, 127, 128, 129, 300):
        values, weights, scale = sample((n, 7), dtype), sample(7, dtype, 1), sample((n, 1), dtype, 2)
        for view in views(values):
            y, q, s, logs = f(view, weights, scale)
            close = 1e-13 if dtype == "float64" else 1e-5
            np.testing.assert_allclose(y, normalized(np, view, weights), close, close)
            want = softmax(view * scale)
            np.testing.assert_allclose(q, want, close, close)
            np.testing.assert_allclose(s, (want * view).sum(1), close, 10 * close)
            np.testing.assert_allclose(logs, np.log(softmax(view)), close, 10 * close)


@pytest.mark.few(1)
@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "bool", "uint64"])
def test_positions_in_short_rows(dtype, ndim):
    x = T.tensor("x", dtype=dtype, shape=(None,) * ndim)
    f = ag.function([x], [x.argmax(-1), x.argmin(-1)])
    for shape in (s for s in SHAPES if len(s) == ndim and s[-1]):
        values = np.abs(sample(shape, "float64")).astype(dtype) if dtype == "uint64" else sample(shape, dtype)
        values[..., -1] = values[..., 0]
        if dtype.startswith("float"):
            rows = values.reshape(-1, shape[-1])
            rows[1, shape[-1] // 2], rows[2, :2], rows[3], rows[4] = np.nan, np.nan, np.inf, -np.inf
            rows[5], rows[6, 0] = 0.0, -0.0
        for view in views(values):
            found = f(view)
            np.testing.assert_array_equal(found[0], view.argmax(-1))
            np.testing.assert_array_equal(found[1], view.argmin(-1))
            assert found[0].dtype == "int64"


@pytest.mark.long
def test_axes_of_length_one_beside_the_reduced_one():
    x, y = T.tensor("x", shape=(None, None, 1)), T.tensor("y", shape=(1, None, None))
    values = sample((40, 3, 1), "float64")
    for axis in (1, (1, 2)):
        np.testing.assert_allclose(ag.function([x], x.sum(axis))(values), values.sum(axis), rtol=1e-13)
    rows = values[:, :, 0]
    node = T.sum(y * 2.0, axis=2) + T.sum(T.square(y[0] * 2.0), axis=1)
    np.testing.assert_allclose(ag.function([y], node)(rows[None]), [2 * rows.sum(1) + 4 * (rows**2).sum(1)], rtol=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("middle", [(), (3,)])
def test_operands_without_an_outer_axis(middle):
    """The tiles of such an operand are copied outside the loop along that axis; a row has its bits alone."""
    n = 3 + len(middle)
    x, y = T.tensor("x", shape=(None,) * n), T.tensor("y", shape=(1, *(None,) * (n - 1)))
    p, q = T.tensor("p", shape=(None, *(None,) * len(middle), 1, None)), T.matrix("q")
    f = ag.function([x, y, p, q], [(x * y).sum(-1), T.prod(p - q, axis=-1), T.nn.softmax(p * q)])
    for rows in (1, 40, 150):
        values = [sample(s, "float64", k) for k, s in enumerate([(4, *middle, rows, 2), (1, *middle, rows, 2),
                                                                 (4, *middle, 1, 2), (rows, 2)])]  # fmt: skip
        a, b, c, d = values
        found = f(a, b, c, d)
        for got, want in zip(found, ((a * b).sum(-1), (c - d).prod(-1), softmax(c * d)), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-15)
        for k in range(4):
            alone = f(a[k : k + 1], b, c[k : k + 1], d)
            assert all(one.tobytes() == every[k].tobytes() for one, every in zip(alone, found, strict=True))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [15, 31, 33, 64, 127, 128])
def test_distances_of_all_pairs_have_the_bits_of_a_few_pairs(dtype, n):
    """Longer rows count as short where a tile serves many steps of an outer loop."""
    x, y = T.matrix("x", dtype=dtype), T.matrix("y", dtype=dtype)
    differences = x[:, None] - y[None]
    f = ag.function([x, y], [T.abs(differences).sum(-1), T.square(differences).sum(-1), differences.max(-1)])
    a, b = sample((6, n), dtype, 0), sample((70, n), dtype, 1)
    every, difference = f(a, b), a[:, None] - b[None]
    np.testing.assert_allclose(every[0], np.abs(difference).sum(-1), rtol=1e-6 if dtype == "float32" else 1e-13)
    np.testing.assert_array_equal(every[2], difference.max(-1))
    for few in (f(a[:2], b[:10]), f(a[:2].copy("F"), b[:10])):
        assert all(one.tobytes() == several[:2, :10].tobytes() for one, several in zip(few, every, strict=True))


@pytest.mark.few(13)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 16, 33])
@pytest.mark.parametrize("few", [1, 3, 15])
def test_distances_to_a_few_points_have_the_bits_of_one_distance(dtype, n, few):
    """Vectors run along the points, which are many, instead of along the centres."""
    x, y = T.matrix("x", dtype=dtype), T.matrix("y", dtype=dtype)
    differences = x[:, None] - y[None]
    f = ag.function([x, y], [T.square(differences).sum(-1), T.abs(differences).sum(-1) * y.sum(-1)[None]])
    a, b = sample((70, n), dtype, 0), sample((few, n), dtype, 1)
    every, difference = f(a, b), a[:, None] - b[None]
    for found, expected in zip(every, [difference**2, np.abs(difference) * b.sum(-1)[None, :, None]], strict=True):
        expected = expected.sum(-1)
        np.testing.assert_allclose(found, expected, rtol=1e-5 if dtype == "float32" else 1e-12, atol=1e-4)
    for points, centres in ((a[:3], b), (a.copy("F"), b[::-1].copy()[::-1]), (a[3:], b[:1])):
        for one, several in zip(f(points, centres), every, strict=True):
            first = 3 if len(points) == 67 else 0
            assert one.tobytes() == several[first : first + len(points), : len(centres)].tobytes()


def test_lengths_that_are_known_choose_the_loop_of_vectors():
    def tiles(rows):
        x, y = T.tensor("x", shape=(1000, 6)), T.tensor("y", shape=(rows, 6))
        text = ag.function([x, y], T.square(x[:, None] - y[None]).sum(-1)).c_source()
        return [name for name in ("x0_tile", "x1_tile") if name in text]

    assert [tiles(rows) for rows in (3, 40)] == [["x0_tile"], ["x1_tile"]]


def test_bits_do_not_depend_on_threads():
    x = T.matrix("x", dtype="float32")
    outputs = [T.nn.softmax(x), x.sum(1)]
    rows = sample((200_003, 3), "float32")
    one, two = (ag.function([x], outputs, threads=n)(rows) for n in (1, 2))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(one, two, strict=True))


def test_sums_of_short_rows_are_as_exact_as_numpys():
    """With vectors of 32 bytes; in those of 64, up to seven elements of a remainder join one accumulator."""
    x = T.matrix("x")
    f = ag.function([x], x.sum(1), target=replace(host(), vector=min(host().vector, 32)))
    rows = sample((20_000, 15), "float64") + 1
    true = rows.astype(np.longdouble).sum(1)
    assert np.abs(f(rows) - true).max() <= 1.01 * np.abs(rows.sum(1) - true).max()


def test_long_rows_have_no_kernel_for_short_ones():
    known = T.tensor("x", dtype="float32", shape=(None, 1000))
    assert "x0_tile" not in kernel_c(lower(T.nn.softmax(known).owner))
    assert "x0_tile" in kernel_c(lower(T.nn.softmax(T.matrix("x", dtype="float32")).owner))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_add_the_lanes_of_a_block_as_a_tree(dtype):
    """The model in NumPy: blocks of 128, lanes, and what is left of them behind; sums of blocks in float64."""
    x = T.matrix("x", dtype=dtype)
    f = ag.function([x], x.sum(1), threads=1)
    lanes = host().vector // np.dtype(dtype).itemsize
    rng = np.random.default_rng(3)
    for rows in (3, 40):
        for length in (1, lanes - 1, lanes, lanes + 3, 31, 100, 128):
            value = rng.standard_normal((rows, length)).astype(dtype)
            whole = length // lanes * lanes
            tree, rest = np.zeros((rows, lanes), dtype), np.zeros(rows, dtype)
            for k in range(0, whole, lanes):
                tree += value[:, k : k + lanes]
            for k in range(whole, length):
                rest += value[:, k]
            while tree.shape[1] > 1:
                half = tree.shape[1] // 2
                tree = tree[:, :half] + tree[:, half:]
            np.testing.assert_array_equal(f(value), rest + tree[:, 0], err_msg=f"{rows}x{length}")
