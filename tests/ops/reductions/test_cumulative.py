"""Running sums, products and extrema in C: the bits of NumPy, for every dtype, axis and layout."""

import itertools

import numpy as np
import pytest
from ckernel import Library

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ctext.emit import kernel_c
from arignote.cbackend.lowering.lower import lower
from arignote.graph import DTYPES, TensorType
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.reductions.cumulative import Cumulative

RNG = np.random.default_rng(3)
SHAPES = [(0, 3, 5), (1, 1, 1), (7, 3, 1025), (3, 19, 6)]


def nodes(dtype):
    of_extrema = () if np.dtype(dtype).kind == "c" else (T.maximum, T.minimum)
    for op, ndim in itertools.product((T.add, T.mul, *of_extrema), (1, 2, 3)):
        x = TensorVariable(TensorType(dtype, (None,) * ndim))
        yield from (Cumulative(op, axis)(x).owner for axis in range(ndim) if ndim < 3 or axis == 1)


def numbers(dtype, shape):
    """Numbers of both signs, with a negative zero and an infinity among them."""
    kind = np.dtype(dtype).kind
    if kind in "biu":
        return RNG.integers(0, 2 if kind == "b" else 120, shape).astype(dtype)
    x = RNG.normal(size=shape) + (1j * RNG.normal(size=shape) if kind == "c" else 0)
    x = x.astype(dtype)
    if x.size > 3:
        x.flat[0], x.flat[2] = -0.0, np.inf
    return x


@pytest.fixture(scope="module")
def compiled():
    kernels = {dtype: [(node, lower(node)) for node in nodes(dtype)] for dtype in DTYPES}
    return kernels, Library([kernel for those in kernels.values() for _, kernel in those], ["-Og"])


@pytest.mark.parametrize("dtype", DTYPES)
def test_bits_are_those_of_numpy(dtype, compiled):
    kernels, library = compiled
    for (node, kernel), shape in itertools.product(kernels[dtype], SHAPES):
        x = numbers(dtype, shape[-node.inputs[0].ndim :])
        for given in (x, np.asfortranarray(x), np.flip(x).copy()[(slice(None, None, -1),) * x.ndim]):
            expected = node.op.evaluate(given)[0]
            (got,) = library.run(kernel, [given])
            assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
            np.testing.assert_array_equal(got, expected)
            if got.dtype.kind == "f":
                assert np.array_equal(np.signbit(got), np.signbit(expected)) or np.isnan(expected).any()


@pytest.mark.parametrize("ufunc", [np.maximum, np.minimum])
def test_running_extrema(ufunc):
    """NaN stays from where it stands; ties share the derivative as those of two numbers do."""
    function = T.maximum if ufunc is np.maximum else T.minimum
    x = T.matrix("x")
    values = RNG.integers(-3, 4, (6, 5)).astype(float)
    values[2, 1], values[4, 0] = np.nan, -0.0
    for axis in (0, 1):
        y = T.accumulate(function, x, axis)
        f = ag.function([x], [y, ag.grad((y * y * 0.5).sum() + y.sum(), x)])
        by_steps = [x[0] if axis == 0 else x[:, 0]]
        for k in range(1, values.shape[axis]):
            by_steps.append(function(by_steps[-1], x[k] if axis == 0 else x[:, k]))
        z = T.stack(by_steps, axis=axis)
        expected = ag.function([x], ag.grad((z * z * 0.5).sum() + z.sum(), x))(values)
        found, slope = f(values)
        np.testing.assert_array_equal(found, ufunc.accumulate(values, axis))
        np.testing.assert_array_equal(slope, expected)
        for shape in ((0, 5), (5, 0), (1, 1)):
            found, slope = f(np.ones(shape))
            assert found.shape == slope.shape == shape
    jitted = ag.jit(lambda v: ufunc.accumulate(v, 1, dtype="float32"))
    assert jitted(values).dtype == np.float32
    whole = ag.jit(ufunc.accumulate)
    np.testing.assert_array_equal(whole(np.int8([3, -128, 127, 5])), ufunc.accumulate(np.int8([3, -128, 127, 5])))


def test_no_step_is_run_by_python():
    x = T.matrix("x")
    f = ag.function([x], T.cumsum(T.exp(x), axis=1) * 2 + T.cumprod(x, axis=0))
    assert not f.remarks.of("in Python")
    value = RNG.normal(size=(300, 40))
    np.testing.assert_allclose(f(value), np.cumsum(np.exp(value), 1) * 2 + np.cumprod(value, 0), rtol=1e-13)


def test_a_length_that_is_known_to_be_1():
    x = T.tensor("float64", shape=(None, 1))
    value = RNG.normal(size=(5, 1))
    for axis in (0, 1):
        np.testing.assert_array_equal(ag.function([x], T.cumsum(x, axis))(value), np.cumsum(value, axis))


def test_golden_running_sum(golden):
    kernel = lower(Cumulative(T.add, 0)(TensorVariable(TensorType("float32", (None, None)))).owner)
    golden("cumsum.c", kernel_c(kernel))
