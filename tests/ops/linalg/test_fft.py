"""`T.fft`: NumPy's values, dtypes, lengths and errors, derivatives, and `np.fft` of variables."""

import inspect

import numpy as np
import pytest
from against_numpy import assert_like_numpy, sample
from draws import mostly_long
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T

COMPLEX = ["fft", "ifft", "irfft", "hfft"]
REAL = ["rfft", "ihfft"]
SEVERAL = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
ROUNDING = {"float16": 4e-3, "float32": 3e-6, "complex64": 3e-6}  # NumPy scales float16 in float16


def like(name, x, *arguments, rtol=1e-13):
    """`T.fft.name` of `x` is `np.fft.name` of it."""
    ours, numpys = (lambda v, of=of: getattr(of.fft, name)(v, *arguments) for of in (T, np))
    assert_like_numpy(ours, numpys, x, rtol=rtol)


KINDS = ["bool", "int32", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("name", COMPLEX + REAL)
@pytest.mark.parametrize("dtype", mostly_long(KINDS, {"int32", "float64", "complex128"}))
def test_values_and_dtypes_along_an_axis(name, dtype):
    if name in REAL and dtype.startswith("complex"):
        with pytest.raises(TypeError, match=r"rfft takes real numbers, got x .*; use T\.fft\.fft"):
            getattr(T.fft, name)(T.matrix("x", dtype))
        return
    x, rtol = sample((4, 6), dtype), ROUNDING.get(dtype, 1e-13)
    for n in (None, 1, 4, 5, 9):
        for axis in (0, -1):
            for norm in (None, "backward", "ortho", "forward"):
                like(name, x, n, axis, norm, rtol=rtol)


@pytest.mark.parametrize("name", SEVERAL)
def test_several_axes(name):
    x = sample((4, 6))
    for s in (None, (3, 8), (5, -1)):
        for axes in ((-2, -1), (0, 1), (1, 0)):
            for norm in (None, "ortho"):
                like(name, x, s, axes, norm)
    like(name, sample((2, 3, 4)))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_and_shifts(n):
    for name in ("fftfreq", "rfftfreq"):
        np.testing.assert_array_equal(getattr(T.fft, name)(n, 0.1).eval(), getattr(np.fft, name)(n, 0.1))
        length = T.lscalar("n")
        np.testing.assert_array_equal(getattr(T.fft, name)(length).eval({length: n}), getattr(np.fft, name)(n))
    for name in ("fftshift", "ifftshift"):
        for axes in (None, 0, (1, 0)):
            like(name, sample((n, 3)), axes, rtol=0)


def test_a_compiled_function_takes_any_length():
    x, n = T.matrix("x", "float32"), T.lscalar("n")
    f = ag.function([x, n], [np.fft.rfft(x, n), T.sum(T.abs(T.fft.fft(x)) ** 2)])
    for shape in ((3, 1), (0, 4), (2, 7)):
        value = sample(shape, "float32")
        for length in (1, 6, 9):
            found, power = f(value, length)
            wanted = np.fft.rfft(value, length)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-6 * np.abs(wanted).max(initial=1))
            np.testing.assert_allclose(power, (np.abs(np.fft.fft(value)) ** 2).sum(), rtol=1e-5)


@pytest.mark.few(4)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 4, 7, 8])
def test_derivatives(n, norm):
    for length in (5, 6):
        x = sample((3, length))
        assert_gradient(lambda v: T.abs(T.fft.fft(v, n, 0, norm) + 2.5) ** 2, x)
        assert_gradient(lambda v: T.abs(T.fft.rfft(v, n, norm=norm) + 2.5) ** 2, x)
        for back in (T.fft.irfft, T.fft.hfft):
            assert_gradient(lambda v, back=back: back(v * (1 + 2j) + v**2, n, norm=norm) ** 2, x)
    assert_gradient(lambda v: T.fft.irfftn(T.fft.rfftn(v, norm=norm) ** 2, v.shape, norm=norm), x)


def test_examples_of_vmap_and_printed_graphs():
    x = T.matrix("x")
    y = ag.vmap(lambda row: T.fft.irfft(T.fft.rfft(row) * 2, row.shape[0]))(x)
    value = sample((3, 5))
    np.testing.assert_allclose(y.eval({x: value}), 2 * value, rtol=1e-13)
    graph = ag.function([x], T.fft.ifft(x), mode="NUMPY").graph
    assert str(ag.parse(str(graph))) == str(graph) and "fourier{kind='ifft', norm='backward'}" in str(graph)


def test_mistakes():
    x = T.matrix("x")
    for call, error, message in (
        (lambda: T.fft.fft(x, 0), ValueError, "fft: expected an integer that is 1 or more, got 0"),
        (lambda: T.fft.fft(x, 1.5), TypeError, "fft: expected an integer or an integer scalar, got 1.5"),
        (lambda: T.fft.fft(x, axis=2), np.exceptions.AxisError, r"fft of x .*: axis 2 is out of bounds for rank 2"),
        (lambda: T.fft.ifft(x, norm="no"), ValueError, 'ifft: norm must be None, "backward", "ortho" or .*, got'),
        (lambda: T.fft.fftn(x, (2, 3, 4)), ValueError, "fftn: s has 3 lengths, x .* has 2 axes"),
        (lambda: T.fft.fftn(x, (2, 3), axes=(0,)), ValueError, "fftn: s has 2 lengths for 1 axis"),
        (lambda: T.fft.ifftn(x, axes=()), ValueError, "ifftn: at least one axis is needed"),
        (lambda: T.fft.fft(T.scalar("k")), np.exceptions.AxisError, "a scalar has no axes"),
        (lambda: T.fft.fft(x).eval({x: np.zeros((2, 0))}), ValueError, r"Invalid number of FFT data points \(0\)"),
        (lambda: np.fft.fft(x, out=np.zeros(3)), TypeError, "fft.fft: out must be None"),
        (lambda: T.ifft, AttributeError, r"it is T\.fft\.ifft"),
    ):
        with pytest.raises(error, match=message):
            call()


def test_every_function_of_numpy_is_there():
    names = {name for name in dir(np.fft) if inspect.isroutine(getattr(np.fft, name)) and not name.startswith("_")}
    assert names - {"test"} <= set(T.fft.__all__)
