"""Training of convolutions in blocks: kernels that change with each call, gradients by them and by images, and bits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.blocked_gradient import BlockedKernelGradient
from arignote.targets.current import current

conv = T.nn.conv2d


def lanes(dtype):
    return current().vector // np.dtype(dtype).itemsize


def numbers(*shape, dtype="float32"):
    return np.random.default_rng(shape).uniform(-1, 1, shape).astype(dtype)


def names(f):
    return [getattr(node.op, "product", node.op).name for node in f.graph.order]


def agree(found, expected, dtype="float32", scale=None):
    """Whether results are equal up to rounding: NaN and infinities where they are expected, too."""
    for a, b in zip(found, expected, strict=True):
        size = np.abs(np.where(np.isfinite(b), b, 0)).max(initial=1.0) if scale is None else scale
        np.testing.assert_allclose(a, b, rtol=0, atol=size * (4e-6 if dtype == "float32" else 1e-14))


def layer(channels, outputs, kernel, stride, padding, dilation, dtype, known):
    """Images, kernels and a factor for each output; the results of two convolutions, and their gradients."""
    x = T.tensor("x", dtype, (None, channels, None, None))
    w = T.tensor("w", dtype, (outputs, channels, *kernel) if known else (None,) * 4)
    g = T.tensor("g", dtype, (1, outputs, 1, 1))
    v = T.tensor("v", dtype, (channels, channels, 1, 1))
    h = T.tanh(conv(x, v))
    y = conv(h, w, stride=stride, padding=padding, dilation=dilation)
    return [x, v, w, g], [y, *ag.grad(T.sum(T.tanh(y) * g), [v, w])]


@pytest.mark.long
@settings(max_examples=5)
@given(st.data())
def test_gradients_of_any_convolution(data):
    """Four convolutions in one function."""
    drawn = [any_gradients(data) for _ in range(4)]
    inputs, outputs, values = ([v for case in drawn for v in case[k]] for k in range(3))
    found, expected = (ag.function(inputs, outputs, mode=mode)(*values) for mode in ("FAST_RUN", "NUMPY"))
    at = 0
    for _, results, (x, *_) in drawn:
        these = slice(at, at := at + len(results))
        agree(found[these], expected[these], x.dtype.name)


def any_gradients(data):
    """Inputs and outputs of a drawn layer, and values of its inputs."""
    draw = lambda *a: data.draw(st.integers(*a))  # noqa: E731
    dtype = data.draw(st.sampled_from(["float32", "float64"]))
    size = lanes(dtype)
    c, o = data.draw(st.sampled_from([1, 3, size - 1, size, 3 * size])), data.draw(st.sampled_from([size, 4 * size, 7]))
    kernel, stride, dilation = (draw(1, 3), draw(1, 3)), (draw(1, 2), draw(1, 3)), (draw(1, 2), draw(1, 2))
    padding = [(draw(0, 2), draw(0, 2)) for _ in range(2)]
    least = [max(1, (n - 1) * d + 1 - sum(p)) for n, d, p in zip(kernel, dilation, padding, strict=True)]
    shape = (draw(1, 3), c, *(n + draw(0, 9) for n in least))
    inputs, outputs = layer(c, o, kernel, stride, padding, dilation, dtype, data.draw(st.booleans()))
    return inputs, outputs, [numbers(*n, dtype=dtype) for n in (shape, (c, c, 1, 1), (o, c, *kernel), (1, o, 1, 1))]


@pytest.mark.few(1)
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("images", [1, 5])
def test_a_step_runs_in_blocks_with_equal_bits_on_any_number_of_threads(images, stride):
    size = lanes("float32")
    inputs, outputs = layer(2 * size, 3 * size, (3, 3), stride, 1, 1, "float32", True)
    shapes = (images, 2 * size, 19, 23), (2 * size, 2 * size, 1, 1), (3 * size, 2 * size, 3, 3), (1, 3 * size, 1, 1)
    values = [numbers(*n) for n in shapes]
    found = []
    for threads in (1, 2, 3):
        f = ag.function(inputs, outputs, threads=threads)
        assert names(f).count("blocked_convolution") >= 3 and names(f).count("blocked_kernel_gradient") == 2
        assert not {"convolution", "kernel_gradient"} & set(names(f))
        found.append(f(*values))
    for other in found[1:]:
        assert all(map(np.array_equal, found[0], other))
    agree(found[0], ag.function(inputs, outputs, mode="NUMPY")(*values))


@pytest.mark.long
@pytest.mark.parametrize("known", [True, False])
def test_a_residual_network_learns_in_blocks_as_it_does_without(known):
    """Batch normalization, a stride, pooling, a residual: nothing leaves the blocks between input and last layer."""
    size = lanes("float32")
    widths, rng = [(3, size), (size, 2 * size), (2 * size, 2 * size)], np.random.default_rng(1)
    starts = [rng.standard_normal((m, n, 3, 3)).astype("float32") / 5 for n, m in widths]
    starts += [np.ones(m, "float32") for _, m in widths]
    value, losses = numbers(4, 3, 12, 12), []
    for mode in ("fast_run", "NUMPY"):
        w = [ag.shared(v.copy(), shape=v.shape) for v in starts]
        x = T.tensor("x", "float32", (4, 3, 12, 12) if known else (None, 3, None, None))

        def normalized(h, k, stride=1, w=w):
            h = conv(h, w[k], stride=stride, padding=1)
            mean, var = (of(h, axis=(0, 2, 3), keepdims=True) for of in (T.mean, T.var))
            return (h - mean) / T.sqrt(var + np.float32(1e-5)) * T.reshape(w[3 + k], (1, -1, 1, 1))

        h = T.nn.max_pool2d(T.nn.relu(normalized(x, 0)), 2)
        h = T.nn.relu(normalized(h, 1, 2))
        loss = T.mean(T.square(T.mean(T.nn.relu(normalized(h, 2) + h), axis=(2, 3)) - np.float32(0.7)))
        updates = [(v, v - np.float32(0.1) * g) for v, g in zip(w, ag.grad(loss, w), strict=True)]
        f = ag.function([x], loss, updates=updates, mode=mode)
        if mode == "fast_run":
            assert names(f).count("blocked_kernel_gradient") == 3 and "from_blocks" not in names(f), names(f)
        losses.append([float(f(value)) for _ in range(4)])
    np.testing.assert_allclose(losses[0], losses[1], rtol=2e-5)
    assert losses[1][-1] < losses[1][0]


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("place", [(0, 0), (2, 1), (1, 1)])
@pytest.mark.parametrize("channels", [3, lanes("float32")])
def test_kernels_that_are_not_finite_meet_the_zeros_around_images(channels, place, bad):
    size = lanes("float32")
    x, w = T.tensor("x", "float32", (None, channels, None, None)), T.tensor("w", "float32", (size, channels, 3, 3))
    y = conv(T.exp(x), w, padding=1)
    value, kernels = numbers(2, channels, 9, 21), numbers(size, channels, 3, 3)
    kernels[(3, 1, *place)] = bad
    f, plain = ag.function([x, w], y), ag.function([x, w], y, mode="NUMPY")
    assert "blocked_convolution" in names(f)
    agree([f(value, kernels)], [plain(value, kernels)])


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@pytest.mark.parametrize("place", [(0, 4), (8, 20), (3, 0), (4, 4)])
def test_gradients_that_are_not_finite_meet_the_zeros_around_images(place, bad):
    size = lanes("float32")
    op = BlockedKernelGradient((1, 1), (1, 1), ((1, 1), (1, 1)), (size, 3, 3, 3))
    x, g = T.tensor("x", "float32", (None, 3, None, None)), T.tensor("g", "float32", (None, 1, None, None, size))
    value, gradient = numbers(2, 3, 9, 21), numbers(2, 1, 9, 21, size)
    gradient[(1, 0, *place, 5)] = bad
    f, plain = ag.function([x, g], op(x, g)), ag.function([x, g], op(x, g), mode="NUMPY")
    agree([f(value, gradient)], [plain(value, gradient)])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [2, lanes("float32")])
@pytest.mark.parametrize("outputs", [1, 5, 40])
def test_blocks_of_any_size_and_channels_that_do_not_fill_them(outputs, size, dtype):
    """The op itself: of blocks that are no vector, lanes behind the last channel, and images of 11 channels."""
    op = BlockedKernelGradient((2, 1), (1, 2), ((1, 0), (2, 1)), (outputs, 11, 3, 2))
    g = T.tensor("g", dtype, (None, -(-outputs // size), None, None, size))
    for shape in ((3, 11, 8, 7), (3, -(-11 // size), 8, 7, size)):
        x = T.tensor("x", dtype, (None, shape[1], None, None, *shape[4:]))
        values = numbers(*shape, dtype=dtype), numbers(3, -(-outputs // size), 4, 8, size, dtype=dtype)
        f, plain = ag.function([x, g], op(x, g)), ag.function([x, g], op(x, g), mode="NUMPY")
        agree([f(*values)], [plain(*values)], dtype)


def test_no_images_have_a_gradient_of_zeros():
    size = lanes("float32")
    op = BlockedKernelGradient((1, 1), (1, 1), ((0, 0), (0, 0)), (size, 3, 2, 2))
    x, g = T.tensor("x", "float32", (None, 3, 5, 5)), T.tensor("g", "float32", (None, 1, 4, 4, size))
    found = ag.function([x, g], op(x, g))(np.zeros((0, 3, 5, 5), "float32"), np.zeros((0, 1, 4, 4, size), "float32"))
    assert found.shape == (size, 3, 2, 2) and not found.any()


def test_the_gradient_has_derivatives():
    op = BlockedKernelGradient((1, 1), (1, 1), ((1, 0), (0, 1)), (3, 2, 2, 2))
    x, g = T.tensor("x", "float64", (1, 1, 4, 4, 2)), T.tensor("g", "float64", (1, 2, 4, 4, 2))
    loss = T.sum(T.square(op(x, g)))
    f = ag.function([x, g], [loss, *ag.grad(loss, [x, g])])
    at = [numbers(*v.type.shape, dtype="float64") for v in (x, g)]
    _, *gradients = f(*at)
    for k, gradient in enumerate(gradients):
        step = numbers(*at[k].shape[::-1], dtype="float64").T * 1e-6
        ahead, behind = (f(*[v + s * step if i == k else v for i, v in enumerate(at)])[0] for s in (1, -1))
        np.testing.assert_allclose((ahead - behind) / 2, np.sum(gradient * step), rtol=1e-6)


def test_lengths_that_do_not_fit_are_errors():
    size = lanes("float32")
    op = BlockedKernelGradient((1, 1), (1, 1), ((0, 0), (0, 0)), (size, 3, 2, 2))
    x, g = T.tensor("x", "float32", (None, 3, None, None)), T.tensor("g", "float32", (None, 1, None, None, size))
    with pytest.raises(TypeError, match="blocked_kernel_gradient takes images and blocks"):
        op(x, x)
    with pytest.raises(ValueError, match="does not have the windows"):
        op(T.tensor("x", "float32", (1, 3, 5, 5)), T.tensor("g", "float32", (1, 1, 5, 4, size)))
    with pytest.raises(ValueError):
        ag.function([x, g], op(x, g))(numbers(2, 3, 5, 5), numbers(2, 1, 4, 5, size))
