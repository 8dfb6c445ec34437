"""Reductions and statistics against NumPy: dtypes, axes, specials, no elements; derivatives against differences."""

import itertools
import operator
import pickle
from contextlib import nullcontext

import numpy as np
import pytest
from gradients import assert_gradient

from arignote import ops as T
from arignote.graph import DTYPES, NoGradient, dims_of, same_shape
from arignote.ops import ArgReduce, Reduce, SumTo

NAMES = ["sum", "prod", "max", "min", "any", "all"]
AXES = [None, 0, 1, -1, (0, 1), (-1, 0), (0, 1, 2), ()]


def arrays(dtype):
    """Arrays of rank 3 of a dtype: ordinary values, extremes, specials."""
    kind, rng = np.dtype(dtype).kind, np.random.default_rng(2)
    yield rng.integers(0, 2 if kind == "b" else 5, (3, 4, 5)).astype(dtype)
    if kind in "iu":
        yield rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, 3, 3), dtype, endpoint=True)
    if kind in "fc":
        yield rng.normal(size=(1, 7, 2)).astype(dtype)
        special = rng.normal(size=(3, 2, 3)).astype(dtype)
        special[0, 1, 2], special[1, 0, 0], special[2, 0, 1] = np.nan, np.inf, -0.0
        yield special


def assert_same(ours, numpys):
    numpys = np.asarray(numpys)
    assert isinstance(ours, np.ndarray)
    np.testing.assert_array_equal(ours, numpys, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_reductions_are_numpys(name):
    for dtype in DTYPES:
        for values, axis, keepdims in itertools.product(arrays(dtype), AXES, (False, True)):
            x = T.tensor("x", dtype, values.shape)
            result = getattr(T, name)(x, axis=axis, keepdims=keepdims)
            with np.errstate(all="ignore"):
                expected = np.asarray(getattr(np, name)(values, axis=axis, keepdims=keepdims))
            assert (result.dtype, result.type.shape) == (expected.dtype.name, expected.shape)
            assert_same(result.eval({x: values}), expected)


@pytest.mark.parametrize("name", [*NAMES, "argmax", "argmin", "mean", "var", "std", "ptp", "logsumexp", "linalg.norm"])
@pytest.mark.parametrize("keepdims", [np.ones(2), None, "yes", 1.0, T.scalar("k")])
def test_keepdims_must_be_plainly_true_or_false(name, keepdims):
    own = operator.attrgetter(name)(T)
    with pytest.raises(TypeError, match=rf"^{name.split('.')[-1]}: keepdims must be True or False, got \S"):
        own(T.matrix("x"), axis=0, keepdims=keepdims)
    assert own(T.matrix("x"), axis=0, keepdims=np.True_).ndim == own(T.matrix("x"), axis=0, keepdims=1).ndim == 2


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_of_extrema_are_numpys(name):
    for dtype in DTYPES:
        for values, axis, keepdims in itertools.product(arrays(dtype), [None, 0, 1, -1], (False, True)):
            x = T.tensor("x", dtype, (None,) * 3)
            result = getattr(x, name)(axis=axis, keepdims=keepdims)
            assert_same(result.eval({x: values}), getattr(np, name)(values, axis=axis, keepdims=keepdims))


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["mean", "var", "std", "ptp"])
def test_statistics_are_numpys(name):
    for dtype in DTYPES:
        if name == "ptp" and dtype == "bool":
            continue  # NumPy has no difference of bools
        for values, axis, keepdims in itertools.product(arrays(dtype), AXES[:-1], (False, True)):
            for static in (True, False):
                x = T.tensor("x", dtype, values.shape if static else (None,) * 3)
                result = getattr(T, name)(x, axis=axis, keepdims=keepdims)
                with np.errstate(all="ignore"):
                    expected = np.asarray(getattr(np, name)(values, axis=axis, keepdims=keepdims))
                assert result.dtype == expected.dtype.name
                found = result.eval({x: values})
                assert found.shape == expected.shape
                tolerance = 4 * np.finfo(result.dtype).eps if expected.dtype.kind in "fc" else 0
                np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


def test_mean_of_small_floats_does_not_overflow():
    x, values = T.tensor("x", "float16", (None,)), np.full(3000, 60, "float16")
    assert x.mean().eval({x: values}) == np.float16(60)
    many = np.ones(100_000, "float16")
    assert x.mean().eval({x: many}) == 1


@pytest.mark.parametrize("ddof", [0, 1, 0.5, 9])
def test_degrees_of_freedom(ddof):
    values = np.random.default_rng(4).normal(size=(4, 3))
    x = T.matrix("x")
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning) if ddof > 4 else nullcontext():
        expected = np.var(values, axis=0, ddof=ddof)
    np.testing.assert_allclose(x.var(axis=0, ddof=ddof).eval({x: values}), expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "float16", "float64", "complex64"])
def test_sums_in_a_dtype_of_ones_own(dtype):
    values = np.random.default_rng(1).integers(0, 100, (7, 3)).astype("int16")
    x = T.tensor("x", "int16", (None, None))
    with np.errstate(all="ignore"):
        for name in ("sum", "prod"):
            assert_same(getattr(x, name)(axis=0, dtype=dtype).eval({x: values}), getattr(values, name)(0, dtype=dtype))
        if np.dtype(dtype).kind in "fc":
            mean, expected = x.mean(axis=0, dtype=dtype).eval({x: values}), values.mean(0, dtype=dtype)
            assert mean.dtype == dtype
            np.testing.assert_allclose(mean, expected, rtol=np.finfo(dtype).eps)


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_folds_are_numpys(name):
    for dtype in DTYPES:
        for values, axis in itertools.product(arrays(dtype), [None, 0, 1, -1]):
            x = T.tensor("x", dtype, (None,) * 3)
            with np.errstate(all="ignore"):
                expected = getattr(np, name)(values, axis=axis)
            assert_same(getattr(x, name)(axis=axis).eval({x: values}), expected)
    assert str(T.Cumulative(T.add, 1)) == "cumsum{axis=1}"
    x = T.tensor("x", "int16", (None,))
    assert_same(getattr(x, name)(dtype="int8").eval({x: [100, 90, 3]}), getattr(np, name)([100, 90, 3], dtype="int8"))


# --- no elements


def test_reductions_of_nothing():
    x, empty = T.matrix("x"), np.zeros((0, 3))
    for name in ("sum", "prod", "any", "all"):
        assert_same(getattr(x, name)(axis=0).eval({x: empty}), getattr(empty, name)(axis=0))
    assert np.isnan(x.mean(axis=0).eval({x: empty})).all()
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=f"x \\(0, 3\\)\n  in {name}\\(x"):
            getattr(x, name)(axis=0).eval({x: empty})
        assert getattr(x, name)(axis=1).eval({x: empty}).shape == (0,)
        known = T.tensor("known", shape=(0, 3))
        with pytest.raises(ValueError, match=f"{name} of known .*not defined"):
            getattr(known, name)(axis=0)


# --- what an op is


def test_reductions_as_text_and_as_values():
    assert str(Reduce(T.add, (0, 2))) == "sum{axis=(0, 2)}"
    assert str(ArgReduce("argmin", None)) == "argmin{axis=None}"
    assert Reduce(T.mul, (1,)) == Reduce(T.mul, (1,)) != Reduce(T.add, (1,))
    assert pickle.loads(pickle.dumps(Reduce(T.maximum, (0,)))) == Reduce(T.maximum, (0,))
    assert Reduce(T.maximum, (0,)).fallible
    assert not Reduce(T.add, (0,)).fallible


def test_impossible_reductions_are_refused():
    x = T.matrix("x")
    with pytest.raises(TypeError, match="no reduction folds sub"):
        Reduce(T.sub, (0,))
    with pytest.raises(ValueError, match="sorted"):
        Reduce(T.add, (1, 0))
    with pytest.raises(np.exceptions.AxisError, match=r"sum of x .*axis 2 is out of bounds"):
        x.sum(axis=2)
    with pytest.raises(ValueError, match="given twice"):
        x.sum(axis=(0, -2))
    with pytest.raises(TypeError, match="an axis must be an integer"):
        x.mean(axis=1.5)
    with pytest.raises(ValueError, match=r"argmax of .*given twice"):
        x.argmax(axis=(0, -2))


def test_symbolic_shapes():
    x = T.tensor3("x")
    assert dims_of(x.sum(axis=1)) == (dims_of(x)[0], dims_of(x)[2])
    assert dims_of(x.max(axis=1, keepdims=True)) == (dims_of(x)[0], 1, dims_of(x)[2])
    assert same_shape(x - x.mean(axis=0), x)
    assert x.size.eval({x: np.zeros((2, 3, 4))}) == 24
    assert T.tensor("y", shape=(2, 3)).size.data == 6


# --- derivatives


@pytest.mark.few(11)
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "mean", "var", "std", "ptp"])
@pytest.mark.parametrize("axis", [None, 0, (0, 2), -1])
def test_derivative_is_that_of_differences(name, axis):
    values = np.random.default_rng(8).uniform(0.5, 2, (2, 3, 4))
    for static, keepdims in itertools.product((True, False), repeat=2):
        assert_gradient(lambda x, k=keepdims: getattr(T, name)(x, axis=axis, keepdims=k), values, static=static)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var"])
def test_derivative_for_complex_numbers(name):
    rng = np.random.default_rng(9)
    assert_gradient(lambda z: getattr(T, name)(z, axis=0), rng.normal(size=(3, 2)) + 1j * rng.normal(size=(3, 2)))


def test_derivative_of_a_product_with_zeros():
    for row in ([2.0, 3.0, 5.0], [0.0, 3.0, 5.0], [0.0, 3.0, 0.0]):
        assert_gradient(T.prod, np.array(row))


def test_derivative_of_running_folds():
    rng = np.random.default_rng(6)
    for name in ("cumsum", "cumprod"):
        assert_gradient(lambda x, n=name: getattr(T, n)(x, axis=1), rng.uniform(0.5, 2, (2, 4, 3)))
        assert_gradient(getattr(T, name), rng.normal(size=4) + 1j * rng.normal(size=4))
    for row in ([0.0, 3.0, 5.0, 2.0], [2.0, 0.0, 5.0, 0.0, 3.0]):
        assert_gradient(T.cumprod, np.array(row))


def test_derivative_of_ties_is_shared():
    x = T.vector("x")
    y = x.max()
    (cotangent,) = y.owner.op.vjp(y.owner, [T.constant(1.0)])
    np.testing.assert_array_equal(cotangent.eval({x: [3.0, 1.0, 3.0]}), [0.5, 0, 0.5])


def test_no_derivative():
    n, z = T.lvector("n"), T.zvector("z")
    total, largest = n.sum(), z.max()
    assert total.owner.op.vjp(total.owner, [None]) == [None]
    assert n.argmax().owner.op.vjp(n.argmax().owner, [None]) == [None]
    with pytest.raises(NoGradient, match="order of complex numbers"):
        largest.owner.op.vjp(largest.owner, [T.constant(1j)])


# --- un-broadcasting


def test_unbroadcast_decides_at_build_what_it_can():
    x = T.tensor("x", shape=(None, 3))
    assert T.unbroadcast(x, x) is x
    assert T.unbroadcast(T.exp(x), x).owner.op is T.exp

    row = T.tensor("row", shape=(3,))
    summed = T.unbroadcast(x + row, row)
    assert summed.owner.op == Reduce(T.add, (0,))
    column = T.tensor("column", shape=(None, 1))
    assert isinstance(T.unbroadcast(T.tensor("g", shape=(5, 3)), T.tensor("l", shape=(5, 1))).owner.op, T.DimShuffle)
    assert isinstance(T.unbroadcast(x + column, column).owner.op, SumTo)


def test_unbroadcast_sums_first_what_is_certain():
    batch, bias = T.matrix("batch"), T.vector("bias")
    rest = T.unbroadcast(batch * bias, bias).owner
    assert rest.op == SumTo()
    assert rest.inputs[0].owner.op == Reduce(T.add, (0,))
    values = np.random.default_rng(3).normal(size=(4, 3))
    assert_gradient(lambda x, b: x * b, values, values[0], static=False)
    assert_gradient(lambda x, b: x * b, values, values[0, :1], static=False)


@pytest.mark.parametrize("shape", [(4, 3), (1, 3), (4, 1), (1, 1), (3,), (1,), ()])
def test_sum_to_undoes_the_broadcasting_that_the_run_shows(shape):
    g = np.random.default_rng(1).normal(size=(2, 4, 3))
    like = np.full(shape, np.nan)
    axes = tuple(a for a in range(3) if a < 3 - len(shape) or (shape[a - 3 + len(shape)] == 1 and g.shape[a] != 1))
    expected = g.sum(axis=axes).reshape(shape)
    x, y = T.tensor3("x"), T.tensor("y", shape=(None,) * len(shape))
    np.testing.assert_allclose(SumTo()(x, y).eval({x: g, y: like}), expected, rtol=1e-14)
    assert_gradient(lambda x: SumTo()(x, T.constant(np.zeros(shape))), g)
    assert same_shape(SumTo()(x, y), y)


def test_sum_to_refuses_what_was_not_broadcast():
    with pytest.raises(ValueError, match=r"sum_to: y .* does not broadcast"):
        SumTo()(T.tensor("x", shape=(3,)), T.tensor("y", shape=(2,)))
    with pytest.raises(ValueError, match=r"sum_to: y .* does not broadcast"):
        SumTo()(T.vector("x"), T.matrix("y"))
    with pytest.raises(TypeError, match="sum_to takes floats"):
        SumTo()(T.lvector("x"), T.vector("y"))
