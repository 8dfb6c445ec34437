"""Winograd's algorithm under its tag: values and errors, borders, epilogues, bits, weights; and where it stays out."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.blocked import BlockedConvolution, in_blocks
from arignote.ops.networks.weights import GROWN, kernels_of_tiles, pack_tiles, unpack_tiles
from arignote.targets.current import current
from arignote.targets.limits import Convolutions, Limits
from arignote.targets.named import host

RNG = np.random.default_rng(5)
conv = T.nn.conv2d
MODE = ag.Mode().including("winograd")
ERROR = {("float32", 2): 2e-6, ("float32", 4): 3e-5, ("float64", 2): 1e-14, ("float64", 4): 1e-13}
"""The largest difference from a convolution in float64, over the largest number: some eight times of what was seen."""
ROUNDINGS = {2: 8, 4: 32}
"""The largest error, in units of eps times the largest sum of absolute products.

The transforms can multiply a rounding by the product of their norms, 81 for tiles of 2 and over 10,000 for tiles of 4.
"""


def numbers(*shape, dtype="float32"):
    return RNG.uniform(-1, 1, shape).astype(dtype)


def tiles_of(f):
    found = [getattr(node.op, "product", node.op) for node in f.graph.order]
    return [op.tile for op in found if isinstance(op, BlockedConvolution)]


def by(tile):
    """A target on which all convolutions that can be are computed by these tiles."""
    return replace(host(), limits=Limits(convolutions=Convolutions(tiles=(tile,), tiled_number=-(10**6))))


@pytest.fixture(params=[2, 4])
def tile(request):
    return request.param


@pytest.mark.long
@settings(max_examples=25)
@given(st.data())
def test_any_convolution(data):
    draw = lambda *a: data.draw(st.integers(*a))  # noqa: E731
    size, dtype = draw(1, 4), data.draw(st.sampled_from(["float32", "float64"]))
    chosen = data.draw(st.sampled_from([2, 4]))
    padding = [(draw(0, 2), draw(0, 2)) for _ in range(2)]
    shape = (draw(0, 3), draw(1, 40), *(max(1, 3 - sum(p)) + draw(0, 17) for p in padding))
    w, b = numbers(draw(17, 70), 16 * size, 3, 3, dtype=dtype), numbers(1, dtype=dtype)
    first = numbers(16 * size, shape[1], 1, 1, dtype=dtype)
    x = T.tensor("x", dtype, shape if data.draw(st.booleans()) else (None, shape[1], None, None))
    whole = conv(conv(x, first), w, padding=padding) + b
    y = T.clip(whole, -1, 2) if data.draw(st.booleans()) else whole
    f = ag.function([x], y, mode=MODE, target=by(chosen))
    assert tiles_of(f) == [0, chosen] or not shape[0]  # without images there is nothing to pad
    value = numbers(*shape, dtype=dtype)
    summed = conv(abs(conv(x, first)), np.abs(w), padding=padding) + np.abs(b)
    exact, size_of_sums = ag.function([x], [y, summed], mode="NUMPY")(value)
    bound = ROUNDINGS[chosen] * np.finfo(dtype).eps * size_of_sums.max(initial=0)
    np.testing.assert_allclose(f(value), exact, rtol=0, atol=bound)


W = [numbers(*s) / 10 for s in ((48, 3, 3, 3), (48, 48, 3, 3), (48, 48, 3, 3))]


def network(x):
    """Residuals, a bound, pooling."""
    y = T.nn.relu(conv(x, W[0], padding=1))
    y = T.nn.relu(conv(y, W[1], W[1][:, 0, 0, 0], padding=1) + y)
    y = T.nn.sigmoid(conv(y, W[2], padding=1))
    return T.nn.max_pool2d(y, 2)


def test_a_network_has_its_values_with_any_number_of_threads_and_equal_bits(tile):
    x = T.tensor("x", "float32", (None, 3, None, None))
    plain = ag.function([x], network(x), mode="NUMPY")
    functions = [ag.function([x], network(x), mode=MODE, threads=n, target=by(tile)) for n in (1, 2, 5)]
    assert tiles_of(functions[0]) == [0, tile, tile]
    for shape in ((1, 3, 56, 56), (2, 3, 14, 15), (5, 3, 7, 30), (0, 3, 16, 16), (1, 3, 2, 2)):
        value = numbers(*shape)
        results = [f(value) for f in functions]
        np.testing.assert_allclose(results[0], plain(value), rtol=0, atol=1e-5)
        for other in results[1:]:
            np.testing.assert_array_equal(results[0], other)


def test_equal_images_have_equal_bits(tile):
    x = T.tensor("x", "float32", (3, 3, 17, 19))
    f = ag.function([x], network(x), mode=MODE, target=by(tile))
    one = numbers(1, 3, 17, 19)
    found = f(np.concatenate([one, one, one]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


@pytest.mark.long
def test_only_its_tag_takes_it():
    x = T.tensor("x", "float32", (1, 3, 56, 56))
    assert set(tiles_of(ag.function([x], network(x)))) == {0}
    assert set(tiles_of(ag.function([x], network(x), mode=ag.Mode().including("unsafe")))) == {0}
    f = ag.function([x], network(x), mode=MODE)
    assert tiles_of(f) == [0, 4, 4]


@pytest.mark.parametrize(("side", "channels", "tile"), [(56, 64, 4), (28, 128, 4), (2, 64, 0), (56, 16, 0)])
def test_the_estimate_takes_tiles_where_they_save_time(side, channels, tile):
    x = T.tensor("x", "float32", (1, channels, side, side))
    w = numbers(channels, channels, 3, 3)
    f = ag.function([x], conv(conv(x, w[:, :, :1, :1]), w, padding=1), mode=MODE)
    assert tiles_of(f)[-1:] == ([tile] if channels > 16 or tile else tiles_of(f)[-1:])


def test_numbers_that_are_not_finite_stay_within_their_tiles(tile):
    x = T.tensor("x", "float32", (1, 48, 16, 16))
    f = ag.function([x], conv(conv(x, W[1][:, :, :1, :1]), W[2], padding=1), mode=MODE, target=by(tile))
    value = numbers(1, 48, 16, 16)
    clean = f(value)
    value[0, :, 0, 0] = np.inf
    found = f(value)
    assert not np.isfinite(found[0, :, 0, 0]).any()
    np.testing.assert_array_equal(found[..., 2 + tile :, :], clean[..., 2 + tile :, :])


def test_weights_have_a_way_back(tile):
    w = numbers(37, 21, 3, 3, dtype="float64")
    grown = unpack_tiles(pack_tiles(w, 16, 2, tile), w.shape, 16, 2, tile)
    expected = np.einsum("ia,jb,ocab->ijoc", GROWN[tile], GROWN[tile], w)
    np.testing.assert_allclose(grown, expected, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(kernels_of_tiles(grown, tile), w, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [3, 4, current().vector // 8])
def test_blocks_of_any_width(tile, size):
    w, b, x = (numbers(*s, dtype="float64") for s in ((5, 2 * size, 3, 3), (6 * size,), (2, 2, 9, 7, size)))
    op = BlockedConvolution((1, 1), (1, 1), ((1, 0), (0, 2)), size, 2, tile=tile)
    blocks = -(-5 // size)
    b[5:] = 0
    laid, (v,) = op.packed(w, True), (T.tensor("v", "float64", x.shape),)
    whole = BlockedConvolution((1, 1), (1, 1), op.padding, size, 2, weights=w.shape, tile=tile)
    y = whole(v, T.constant(laid), T.constant(b[: blocks * size]))
    got = ag.function([v], y)(x)
    channels = x.transpose(0, 1, 4, 2, 3).reshape(2, 2 * size, 9, 7)
    plain = conv(T.constant(channels), w, padding=op.padding).eval() + b[:5, None, None]
    np.testing.assert_allclose(got.transpose(0, 1, 4, 2, 3).reshape(2, -1, *got.shape[2:4])[:, :5], plain, atol=1e-12)
    np.testing.assert_allclose(ag.function([v], y, mode="NUMPY")(x), got, atol=1e-12)
    assert in_blocks(plain, size).shape == got.shape


def test_derivatives_of_a_convolution_by_tiles(tile):
    size = current().vector // 8
    w, x = numbers(size, size, 3, 3, dtype="float64"), numbers(1, 1, 5, 6, size, dtype="float64")
    fields = {"size": size, "panel": 1}
    direct = BlockedConvolution((1, 1), (1, 1), ((1, 1), (1, 1)), **fields)
    op = BlockedConvolution((1, 1), (1, 1), ((1, 1), (1, 1)), **fields, weights=w.shape, tile=tile)
    v, zeros = T.tensor("v", "float64", x.shape), T.constant(np.zeros(size))
    by_tiles = ag.grad(T.sum(T.sin(op(v, T.constant(pack_tiles(w, size, 1, tile)), zeros))), v)
    directly = ag.grad(T.sum(T.sin(direct(v, T.constant(w), zeros))), v)
    np.testing.assert_allclose(by_tiles.eval({v: x}), directly.eval({v: x}), rtol=1e-9, atol=1e-9)
