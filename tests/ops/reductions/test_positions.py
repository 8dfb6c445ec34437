"""Positions of extrema in one kernel with the extrema, and with what is searched: groups, values against NumPy's."""

import numpy as np
import pytest
from draws import mostly_long

import arignote as ag
from arignote import ops as T

SHAPES = [(1, 1), (1, 7), (3, 64), (20, 7), (17, 131), (5, 1000), (300, 257), (2, 20000)]
DTYPES = ["float32", "float64", "float16", "int8", "uint8", "int64", "bool"]


def ops_in(function):
    """The kernels of a function: names of the ops in each."""
    return [[str(n.op).split("{")[0] for n in node.op.graph.order] for node in function.graph.order if is_fused(node)]


def is_fused(node):
    return hasattr(node.op, "graph")


def samples(shape, dtype, seed=0):
    """Arrays of a shape: distinct numbers, many ties, and where there are any the infinities and NaN."""
    values = np.random.default_rng(seed).normal(size=shape) * 60
    if dtype == "bool":
        yield values > 0
        yield np.zeros(shape, bool)
        return
    yield values.astype(dtype) if dtype != "uint8" else np.abs(values).astype(dtype)
    yield (np.random.default_rng(seed).integers(0, 3, shape)).astype(dtype)
    if np.dtype(dtype).kind == "f":
        yield np.full(shape, -np.inf, dtype)
        yield np.full(shape, np.inf, dtype)
        special = values.astype(dtype)
        special[..., shape[-1] // 2 :: 3] = np.nan
        yield special


def layouts(x):
    """`x` as it is, by columns, backwards, and with gaps."""
    gaps = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)[..., ::2]
    gaps[...] = x
    return x, np.asfortranarray(x), x[::-1, ::-1], gaps


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", DTYPES)
def test_one_kernel_gives_extremum_and_position(dtype):
    """A kernel for each axis and kind; each has an input of its own."""
    axes = (0, 1, None)
    inputs = [T.matrix(None, dtype) for _ in range(6)]
    most = [y for x, axis in zip(inputs[:3], axes, strict=True) for y in (x.max(axis), x.argmax(axis))]
    least = [y for x, axis in zip(inputs[3:], axes, strict=True) for y in (x.argmin(axis), x.min(axis))]
    function = ag.function(inputs, [*most, *least])
    assert sorted(map(sorted, ops_in(function))) == [["argmax", "max"]] * 3 + [["argmin", "min"]] * 3
    for shape in SHAPES:
        for values in samples(shape, dtype):
            for view in layouts(values):
                found = function(*[view] * 6)
                expected = [y for axis in axes for y in (view.max(axis), view.argmax(axis))]
                expected += [y for axis in axes for y in (view.argmin(axis), view.min(axis))]
                for ours, numpys in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(ours, numpys, strict=True, err_msg=f"{shape} {view.strides}")


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
def test_any_element_may_be_the_extremum_whatever_the_length(dtype):
    x, v = T.tensor("x", dtype=dtype, shape=(None, None)), T.tensor("v", dtype=dtype, shape=(None,))
    f = ag.function([x], [x.max(1), T.argmax(x, axis=1), (-x).min(1), x.max(0)])
    one = ag.function([v], [v.max(), v.min(), T.argmax(v)])
    for n in (1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 95, 127, 128, 129, 130, 161, 255, 257, 513):
        rows = np.eye(n, dtype=dtype)
        for value in (1, *([np.nan] if dtype.startswith("float") else [])):
            rows[np.eye(n, dtype=bool)] = value
            found = f(rows)
            np.testing.assert_array_equal(found[0], np.full(n, value, dtype))
            np.testing.assert_array_equal(found[1], np.arange(n))
            np.testing.assert_array_equal(found[2], np.full(n, -value, dtype))
            np.testing.assert_array_equal(found[3], np.full(n, value, dtype))
            for row in rows[:: max(1, n // 20)]:
                np.testing.assert_array_equal(one(row), [row.max(), row.min(), row.argmax()])


def test_cheap_work_before_a_search_needs_no_array():
    x, w = T.matrix("x", "float32"), T.vector("w", "float32")
    scaled = x * w + 1
    function = ag.function([x, w], [scaled.argmax(1), scaled.max(1)])
    (inside,) = ops_in(function)
    assert sorted(inside) == ["add", "argmax", "max", "mul"]
    alone = ag.function([x, w], (x - w).argmin(1))
    (inside,) = ops_in(alone)
    assert sorted(inside) == ["argmin", "sub"]
    for shape in SHAPES:
        values = np.random.default_rng(1).normal(size=shape).astype("f4")
        weights = np.random.default_rng(2).normal(size=shape[1]).astype("f4")
        for view in layouts(values):
            positions, extrema = function(view, weights)
            np.testing.assert_array_equal(positions, (view * weights + np.float32(1)).argmax(1))
            np.testing.assert_array_equal(extrema, (view * weights + np.float32(1)).max(1))
            np.testing.assert_array_equal(alone(view, weights), (view - weights).argmin(1))


@pytest.mark.long
def test_what_is_wanted_elsewhere_is_not_computed_twice():
    x = T.matrix("x", "float32")
    for outputs in ([T.sin(x) * x, (T.sin(x) * x).argmax(1)], [x + 1, (x + 1).argmax(1)], [T.sin(x).argmax(1)]):
        function = ag.function([x], outputs)
        assert not any("argmax" in names and ("add" in names or "sin" in names) for names in ops_in(function))


@pytest.mark.long
def test_others_keep_their_kernels():
    x = T.matrix("x", "float32")
    values = np.random.default_rng(3).normal(size=(40, 300)).astype("f4")
    function = ag.function([x], [x.argmax(1), x.argmin(1), x.max(1), x.sum(1), x.max(0)])
    expected = [values.argmax(1), values.argmin(1), values.max(1), values.sum(1, dtype="f8"), values.max(0)]
    for ours, numpys in zip(function(values), expected, strict=True):
        np.testing.assert_allclose(ours, numpys, rtol=1e-5)
    of_complex = T.matrix("z", "complex64")
    z = (values + 1j * values[::-1]).astype("c8")
    for ours, numpys in zip(
        ag.function([of_complex], [of_complex.argmax(1), of_complex.max(1)])(z), (z.argmax(1), z.max(1)), strict=True
    ):
        np.testing.assert_array_equal(ours, numpys)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_to_search_is_an_error(shape):
    x = T.matrix("x")
    values = np.zeros(shape)
    function = ag.function([x], [x.max(1), x.argmax(1)])
    if shape[1]:
        assert [r.shape for r in function(values)] == [(0,), (0,)]
    else:
        with pytest.raises(ValueError):
            function(values)
    with pytest.raises(ValueError):
        ag.function([x], [x.argmax()])(values)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", mostly_long(["float32", "float64", "int16", "bool"], ("float32", "int16")))
@pytest.mark.parametrize("shape", [(3_000_017,), (1200, 1501), (2, 1_500_001), (1, 2_000_003), (30, 40, 1501)])
def test_positions_among_all_elements_are_found_in_parts(dtype, shape):
    """Whichever loop is cut, and however many threads there are: the first of equal ones, and the first NaN."""
    x = T.tensor("x", dtype, (None,) * len(shape))
    functions = [ag.function([x], [x.argmax(), x.argmin()], threads=n) for n in (1, 2)]
    assert "fold_argmax" in functions[0].c_source()
    for values in [*samples(shape, dtype, 4), np.ones(shape, dtype)]:
        for view in (values, values[::-1], values.T):
            for function in functions:
                assert [int(r) for r in function(view)] == [view.argmax(), view.argmin()]
