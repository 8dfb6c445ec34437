"""`T.pad`: every mode and option against NumPy, widths of the run, derivatives, C, many examples at once."""

import numpy as np
import pytest
from against_numpy import assert_like_numpy, sample
from draws import mostly_long
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T

WIDTHS = [1, (0, 2), (3, 0), [(1, 2), (0, 3)], [[1], [2]], {-1: 2}, {0: (1, 0)}]
MODES = {
    "constant": [{}, {"constant_values": 3}, {"constant_values": (1, -2)}, {"constant_values": [[1, 2], [3, 4]]}],
    "edge": [{}], "wrap": [{}],
    "linear_ramp": [{}, {"end_values": -7.5}, {"end_values": (1, -2)}, {"end_values": [[1, 2.5], [3, 4]]}],
    "maximum": [{}, {"stat_length": 2}, {"stat_length": [(1, 2), (3, 9)]}],
    "mean": [{}, {"stat_length": (2, 1)}, {"stat_length": [(1, 2), (3, 9)]}],
    "median": [{}, {"stat_length": 2}],
    "minimum": [{}, {"stat_length": (1, 3)}],
    "reflect": [{}, {"reflect_type": "even"}, {"reflect_type": "odd"}],
    "symmetric": [{}, {"reflect_type": "odd"}],
}  # fmt: skip
ROUNDING = {"float16": 2e-3, "float32": 1e-6, "float64": 1e-14}


def pairs(width, ndim):
    """The widths of a dict by axis as pairs, which every NumPy takes."""
    if not isinstance(width, dict):
        return width
    found = [(0, 0)] * ndim
    for axis, n in width.items():
        found[axis] = n if isinstance(n, tuple) else (n, n)
    return found


def like(x, width, mode, **options):
    def expected(v):
        return np.pad(v, pairs(width, v.ndim), mode, **options)

    assert_like_numpy(lambda v: T.pad(v, width, mode, **options), expected, x, rtol=ROUNDING.get(x.dtype.name, 0.0))


@pytest.mark.few(4)
@pytest.mark.parametrize("mode", MODES)
def test_modes_and_options(mode):
    for options in MODES[mode]:
        for width in WIDTHS:
            like(sample((3, 4)), width, mode, **options)
        for shape in ((1, 4), (2, 1)):
            like(sample(shape), [(5, 7), (1, 3)], mode, **options)
        for dtype in ("bool", "int8", "uint16", "float16", "float32"):
            like(sample((3, 4), dtype), ((1, 2), (2, 1)), mode, **options)
    like(sample(5), 11, mode)
    like(np.zeros((0, 3)), ((0, 0), (1, 1)), "constant")


def test_negative_ends_of_ramps_are_rounded_down():
    like(np.array([-4, 3, 9]), (5, 4), "linear_ramp", end_values=(-7, -3))


def test_reflections_of_infinity():
    for mode in ("reflect", "symmetric"):
        like(np.array([1.0, np.inf, 2.0, -np.inf]), 3, mode, reflect_type="odd")
        like(np.array([np.inf]), 3, mode, reflect_type="odd")
        like(np.array([1.0, 3.0, 7.0]), 25, mode, reflect_type="odd")


def test_statistics_of_nothing():
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        like(sample(4), 1, "mean", stat_length=0)
    like(sample(4).astype("f4"), 1, "maximum", stat_length=np.array([1, 2]))


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", mostly_long([*MODES, "odd"], {"constant", "wrap", "maximum", "odd"}))
def test_widths_of_the_run_gradients_examples_and_c(mode):
    name, options = ("reflect", {"reflect_type": "odd"}) if mode == "odd" else (mode, {})
    v, n = T.matrix("v"), T.lscalar("n")

    def padded(x, before=2):
        return T.pad(x, ((before, 1), (0, 2)), name, **options)

    x = sample((3, 4))
    y = padded(v, n)
    outputs = [y, ag.grad(T.sum(T.square(y)), v), ag.vmap(padded)(T.stack([v, 2 * v]))]
    found = ag.function([v, n], outputs)(x, 2)
    for a, b in zip(found, ag.function([v, n], outputs, mode="NUMPY")(x, 2)):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    expected = np.pad(x, ((2, 1), (0, 2)), name, **options)
    np.testing.assert_allclose(found[0], expected, rtol=1e-14)
    np.testing.assert_allclose(
        found[2], np.stack([expected, np.pad(2 * x, ((2, 1), (0, 2)), name, **options)]), rtol=1e-14
    )
    assert_gradient(padded, x)


def test_negative_widths_of_the_run_are_refused():
    v, n = T.vector("v"), T.lscalar("n")
    for mode in MODES:
        options = {"reflect_type": "odd"} if mode == "symmetric" else {}
        f = ag.function([v, n], T.pad(v, (n, 1), mode, **options), mode="NUMPY")
        with pytest.raises(ValueError):
            f(np.arange(3.0), -1)


def test_numbers_of_the_graph():
    a, b, v = T.scalar("a"), T.scalar("b"), T.vector("v")
    found = T.pad(v, T.as_tensor([1, 2]), constant_values=(a, b)).eval({v: [1.0], a: 3, b: 4})
    np.testing.assert_array_equal(found, [3, 1, 4, 4])
    assert T.pad(T.vector(shape=(3,)), (1, 2), "reflect", reflect_type="odd").type.shape == (6,)
    assert T.pad(T.vector(shape=(3,)), (1, 2), "empty").type.shape == (6,)
    assert_gradient(lambda e, v: T.pad(v, 3, "linear_ramp", end_values=e), np.array(2.0), sample(3))


def test_parts_of_padded_arrays_and_of_convolutions_of_them():
    """Every part of known positions, from the padding alone to bounds beyond the end."""
    value, weights = sample((2, 1, 5, 6)), sample((3, 1, 2, 3))
    x, w = T.tensor("x", shape=(None, 1, 5, 6)), T.tensor("w", shape=(3, 1, 2, 3))
    wide = T.pad(x, ((0, 0), (0, 0), (3, 2), (1, 4)), constant_values=2.5)
    slices = [slice(1, -1), slice(4, 99), slice(-3, None), slice(0, 2), slice(3, 3), slice(None, None, 2), slice(5, 1)]
    parts = [wide[:, :, a, b] for a in slices for b in (slice(2, 7), slice(None))]
    y = T.Convolution((2, 1), (1, 2))(wide, w)
    parts += [y[:, :, a, b] for a in slices for b in (slice(1, 5), slice(-2, None))]
    f, plain = (ag.function([x, w], parts, mode=mode) for mode in ("FAST_RUN", ag.Mode("merge", backend="numpy")))
    for k, (found, expected) in enumerate(zip(f(value, weights), plain(value, weights), strict=True)):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13, err_msg=str(parts[k]))
    back = ag.rewrite(ag.grad(T.sum(T.nn.conv2d(x, w, padding=1) ** 2), x))
    assert back.owner.op.name == "convolution" and back.owner.inputs[0].type.shape[2:] == (6, 8)  # nothing is cut off


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64", "complex128"])
def test_rows_of_all_lengths_and_strides(dtype):
    x = T.tensor4("x", dtype)
    f = ag.function([x], T.pad(x, ((0, 0), (1, 0), (0, 2), (1, 1))))
    for width in (1, 2, 3, 4, 5, 7, 8, 9, 14, 16, 17, 31, 33, 40):
        value = (100 * sample((2, 3, 2, width))).astype(dtype)
        for given in (value, value[:, ::-1], value[..., ::-1], value.transpose(0, 2, 1, 3), value.T, value[:1, :, :1]):
            expected = np.pad(given, ((0, 0), (1, 0), (0, 2), (1, 1)))
            np.testing.assert_array_equal(f(given), expected, err_msg=str((width, given.strides)))


def by_hand(vector, width, axis, options):
    vector[:] = 0


WRONG = {
    "function": ({"mode": by_hand}, TypeError, "one of 'constant', .* the function by_hand.* T.concatenate"),
    "mode": ({"mode": "edges"}, ValueError, "mode must be one of 'constant', .* got 'edges'"),
    "option of another mode": ({"mode": "edge", "end_values": 1}, ValueError, "'edge' takes no option, got end_values"),
    "option": ({"mode": "mean", "length": 1}, TypeError, "'mean' takes stat_length, got length"),
    "type of reflection": ({"mode": "reflect", "reflect_type": "both"}, ValueError, "\"even\" or \"odd\", got 'both'"),
    "no statistic": ({"mode": "maximum", "stat_length": 0}, ValueError, "stat_length must be positive .*, got 0"),
    "negative": ({"pad_width": -1}, ValueError, "pad_width must not be negative, got -1"),
    "float": ({"pad_width": 1.5}, TypeError, "integer.* got 1.5"),
    "pairs": ({"pad_width": [(1, 2)] * 3}, ValueError, r"pad_width must be .* 1 such pairs, got \[\(1, 2\)"),
    "axis": ({"pad_width": {3: 1}}, np.exceptions.AxisError, "axis 3"),
    "nothing there": ({"x": T.vector("v", shape=(0,)), "mode": "edge"}, ValueError, r"axis 0 of v .* \"constant\""),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_mistakes(mistake):
    options, error, words = WRONG[mistake]
    with pytest.raises(error, match="pad: .*" + words):
        T.pad(**{"x": T.vector("v"), "pad_width": 1, **options})
