"""Parts of Theano beside tensors: Fourier transforms, typed lists, labels of sequences, special functions."""

import numpy as np
import pytest

from arignote.frontends import theano
from arignote.frontends.theano import modules

T = theano.tensor
fft = modules["theano.tensor.fft"]
RNG = np.random.RandomState(5)


def pairs(values):
    return np.stack([values.real, values.imag], -1)


@pytest.mark.parametrize("length", [8, 7])
@pytest.mark.parametrize("norm", [None, "ortho", "no_norm"])
def test_fourier_transforms_are_numpys_over_all_axes_but_the_first(norm, length):
    values = RNG.randn(2, 3, length)
    x, z = T.dtensor3("x"), T.dtensor4("z")
    there, back = theano.function([x], fft.rfft(x, norm)), theano.function([z], fft.irfft(z, norm, is_odd=length % 2))
    ours = "ortho" if norm == "ortho" else None
    wanted = np.fft.rfftn(values, axes=(1, 2), norm=ours)
    np.testing.assert_allclose(there(values), pairs(wanted), atol=1e-12)
    scale = 3 * length if norm == "no_norm" else 1
    np.testing.assert_allclose(back(pairs(wanted)), values * scale, atol=1e-12)


@pytest.mark.long
def test_derivatives_of_fourier_transforms():
    for length in (6, 5):
        for norm in (None, "ortho"):
            theano.gradient.verify_grad(lambda x, n=norm: fft.rfft(x, n), [RNG.randn(2, length)], n_tests=1)
            points = pairs(np.fft.rfft(RNG.randn(2, length)))
            theano.gradient.verify_grad(
                lambda z, n=norm, k=length: fft.irfft(z, n, is_odd=k % 2), [points], n_tests=1
            )


def test_fourier_transforms_refuse_what_they_do_not_take():
    with pytest.raises(ValueError, match="norm is 'both'; expected None, 'ortho' or 'no_norm'"):
        fft.rfft(T.dmatrix(), norm="both")
    with pytest.raises(TypeError, match="expected floats"):
        fft.rfft(T.lmatrix())
    with pytest.raises(TypeError, match="expected 3 dimensions"):
        fft.irfft(T.dmatrix())
    single = theano.function([x := T.fmatrix()], fft.rfft(x))
    assert single(np.ones((1, 4), "float32")).dtype == "float32"


@pytest.mark.long
def test_special_functions_are_scipys_with_derivatives():
    special = pytest.importorskip("scipy.special", reason="SciPy computes these functions")
    u, v = T.dvector("u"), T.dvector("v")
    points, orders = np.array([0.1, 0.5, 0.9]), np.array([1.5, 2.0, 3.5])
    one = ["erfinv", "erfcinv", "erfcx", "j0", "j1", "i0", "i1"]
    two = ["gammainc", "gammaincc", "jv", "iv"]
    values = [getattr(T, name)(u) for name in one] + [getattr(T, name)(v, u) for name in two]
    f = theano.function([u, v], [*values, *(theano.grad(y.sum(), u) for y in values)])
    found = f(points, orders)
    step = 1e-6
    for n, name in enumerate([*one, *two]):
        ufunc = getattr(special, name)
        call = ufunc if name in one else lambda x, ufunc=ufunc: ufunc(orders, x)
        np.testing.assert_allclose(found[n], call(points), rtol=1e-12, err_msg=name)
        slope = (call(points + step) - call(points - step)) / (2 * step)
        np.testing.assert_allclose(found[len(values) + n], slope, rtol=1e-6, err_msg=name)
    more = theano.function([u], [T.chi2sf(u, 3), T.gammau(2.5, u), T.gammal(2.5, u), T.erfinv(T.constant(0.5) * u[0])])
    p, upper, lower, half = more(points)
    np.testing.assert_allclose(p, special.gammaincc(1.5, points / 2))
    np.testing.assert_allclose(upper + lower, special.gamma(2.5))
    assert half == special.erfinv(0.05)
    assert T.erfinv(T.fvector()).dtype == T.erfinv(T.bscalar()).dtype == "float32"
    with pytest.raises(theano.gradient.NullTypeGradError, match="gammainc"):
        theano.grad(T.gammainc(v, u).sum(), v)


@pytest.mark.long
def test_ops_by_their_class_are_their_functions():
    gradient, nnet = theano.gradient, T.nnet
    x = T.dvector("x")
    assert gradient.GradClip(-1, 1) == gradient.GradClip(-1, 1) != gradient.GradClip(-2, 2)

    class Reversed(theano.compile.ViewOp):
        def grad(self, inputs, output_gradients):
            return [-0.5 * g for g in output_gradients]

    steep = 10 * x.sum()
    of = {
        gradient.GradClip(-1, 1): 1, gradient.GradScale(3): 30, gradient.ZeroGrad(): 0, Reversed(): -5,
    }  # fmt: skip
    slopes = [theano.grad(10 * op(x).sum(), x) for op in of]
    for found, wanted in zip(theano.function([x], slopes)([1.0, 2.0]), of.values(), strict=True):
        np.testing.assert_array_equal(found, [wanted, wanted])
    constant = [op(x).sum() for op in (gradient.DisconnectedGrad(), gradient.ConsiderConstant())]
    for y in constant:
        f = theano.function([x], theano.grad(y + steep, x))
        np.testing.assert_array_equal(f([1.0]), [10])
    with pytest.raises(gradient.NullTypeGradError, match=r"undefined_grad.x. does not exist"):
        theano.grad(gradient.undefined_grad(x).sum(), x)
    rows, bias = np.eye(2), np.array([1.0, 2.0])
    m = T.dmatrix("m")
    made = [nnet.softmax_op(m + x), nnet.SoftmaxWithBias()(m, x), nnet.Prepend_scalar_constant_to_each_row(7)(m)]
    soft, biased, longer = theano.function([m, x], made)(rows, bias)
    np.testing.assert_allclose(soft, biased)
    np.testing.assert_array_equal(longer[:, 0], [7, 7])


def test_helpers_of_theanos_files():
    x, i = T.dvector("x"), T.lscalar("i")
    f = theano.function([x, i], x[T.make_slice(i, None, 2)])
    np.testing.assert_array_equal(f(np.arange(5.0), 1), [1, 3])
    assert T.check_and_normalize_axes(T.dtensor3(), (-1, T.constant(0))) == [2, 0]
    with pytest.raises(ValueError, match="has no axis 3"):
        T.check_and_normalize_axes(T.dtensor3(), 3)
    with pytest.raises(TypeError, match="an index must be an integer or None"):
        T.make_slice(T.dscalar())
    with pytest.raises(TypeError, match="got the bool True"):
        T.check_and_reject_bool(True)
    assert T.check_equal_numpy(np.ones(2), np.ones(2))
    x.tag.test_value = np.ones(2)
    assert [len(values) for values in T.get_debug_values(x, 3)] == [2]
    assert list(T.get_debug_values(i)) == []
    logger = modules["theano"].theano_logger
    with modules["theano"].disable_log_handler(logger):
        assert logger.name == "theano"


def _probability(activations, labels):
    """The probability of labels, by all paths."""
    steps, classes = activations.shape
    rows = np.exp(activations - activations.max(1, keepdims=True))
    rows /= rows.sum(1, keepdims=True)
    total = 0.0
    for path in np.ndindex(*[classes] * steps):
        found = [c for k, c in enumerate(path) if c and (k == 0 or path[k - 1] != c)]
        total += np.prod(rows[range(steps), path]) if found == [n for n in labels if n >= 0] else 0
    return total


@pytest.mark.long
@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_the_loss_of_label_sequences(mode):
    loss = modules["theano.tensor.nnet.ctc"]
    x, labels, steps = T.dtensor3("x"), T.imatrix("labels"), T.ivector("steps")
    costs = loss.ctc(x, labels, steps)
    f = theano.function([x, labels, steps], [costs, theano.grad(costs[:3].mean(), x)], mode=mode)
    # the case of the documentation of warp-ctc
    blocks = [[[0.0] * 5] * 3, [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [11, 12, 13, 14, 15]],
              [[-5, -4, -3, -2, -1], [-10, -9, -8, -7, -6], [-15, -14, -13, -12, -11]]]  # fmt: skip
    found, slopes = f(np.array(blocks, float).transpose(1, 0, 2), [[1, -1], [3, 3], [2, 3]], [1, 3, 3])
    np.testing.assert_allclose(found, [1.609437943, 7.355742931, 4.938849926], rtol=1e-7)
    np.testing.assert_allclose(slopes[0, 0] * 3, [0.2, -0.8, 0.2, 0.2, 0.2], rtol=1e-6)
    assert not slopes[1:, 0].any()
    values = RNG.randn(4, 5, 3)
    marks = np.array([[1, 2], [2, 2], [1, -1], [-1, -1], [2, 1]], "int32")
    times = [4, 3, 2, 4, 1]
    found, slopes = f(values, marks, times)
    wanted = [_probability(values[:n, b], row) for b, (n, row) in enumerate(zip(times, marks, strict=True))]
    np.testing.assert_allclose(np.exp(-found), wanted, atol=1e-12)
    assert found[4] == np.inf
    step = np.zeros_like(values)
    step[1, 0, 2] = 1e-6
    numeric = (f(values + step, marks, times)[0][0] - f(values - step, marks, times)[0][0]) / 2e-6
    np.testing.assert_allclose(slopes[1, 0, 2] * 3, numeric, rtol=1e-5)
    assert np.isfinite(slopes).all()
    found, slopes = f(np.zeros((1, 3, 5)), [[1], [2], [-1]], [1, 1, 1])
    np.testing.assert_allclose(found, np.log(5))
    np.testing.assert_allclose(slopes[0, 2] * 3, [-0.8, 0.2, 0.2, 0.2, 0.2])
    assert loss.ctc_available()
    with pytest.raises(TypeError, match="labels has 2 dimensions and integers"):
        loss.ctc(x, T.dmatrix(), steps)


def test_older_functions_of_windows():
    conv = modules["theano.tensor.signal.conv"].conv2d
    films = modules["theano.tensor.nnet.conv3d2d"].conv3d
    neighbours = modules["theano.tensor.nnet.neighbours"]
    image, several, film, batch = T.dmatrix(), T.dtensor3(), T.dtensor5(), T.dtensor4()
    tiles = neighbours.images2neibs(batch, (2, 3))
    f = theano.function([image, several, film, batch], [
        conv(image, several[0]), conv(image, several), conv(several, several, border_mode="full"),
        films(film, film[:1]), neighbours.neibs2images(tiles, (2, 3), batch.shape),
    ])  # fmt: skip
    x, ws, fs, bs = RNG.randn(4, 5), RNG.randn(2, 2, 3), RNG.randn(2, 3, 2, 4, 4), RNG.randn(2, 2, 4, 6)
    one, many, full, moving, back = f(x, ws, fs, bs)

    def convolved(a, k):
        places = np.ndindex(a.shape[0] - k.shape[0] + 1, a.shape[1] - k.shape[1] + 1)
        values = [(a[i : i + k.shape[0], j : j + k.shape[1]] * k[::-1, ::-1]).sum() for i, j in places]
        return np.reshape(values, (a.shape[0] - k.shape[0] + 1, -1))

    np.testing.assert_allclose(one, convolved(x, ws[0]))
    np.testing.assert_allclose(many, [convolved(x, w) for w in ws])
    padded = np.pad(ws[0], ((1, 1), (2, 2)))
    assert full.shape == (2, 2, 3, 5)
    np.testing.assert_allclose(full[0, 1], convolved(padded, ws[1]))
    assert moving.shape == (2, 1, 1, 1, 1)
    np.testing.assert_allclose(moving[1, 0, 0, 0, 0], (fs[1] * fs[0][::-1, :, ::-1, ::-1]).sum())
    np.testing.assert_array_equal(back, bs)


def test_products_of_sparse_blocks():
    dot = modules["theano.tensor.nnet.blocksparse"].sparse_block_dot
    w, h, b, i, o = T.dtensor4(), T.dtensor3(), T.dmatrix(), T.lmatrix(), T.lmatrix()
    values = RNG.randn(4, 5, 2, 3), RNG.randn(2, 3, 2), RNG.randn(5, 3)
    sources, targets = np.array([[0, 1, 3], [2, 2, 1]]), np.array([[4, 0], [1, 1]])
    found = theano.function([w, h, b, i, o], dot(w, h, i, b, o))(*values, sources, targets)
    for n, k in np.ndindex(2, 2):
        terms = [values[1][n, m] @ values[0][sources[n, m], targets[n, k]] for m in range(3)]
        np.testing.assert_allclose(found[n, k], values[2][targets[n, k]] + sum(terms))
