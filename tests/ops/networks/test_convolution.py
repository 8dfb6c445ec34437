"""Convolutions against sums of slices, position by position: values, derivatives, errors, in every mode."""

import itertools

import numpy as np
import pytest
from draws import mostly_long
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T

RNG = np.random.default_rng(5)
CONV = {1: T.nn.conv1d, 2: T.nn.conv2d, 3: T.nn.conv3d}
MODES = ("FAST_RUN", "FAST_COMPILE", "NUMPY")


def pairs(padding, kernel, dilation):
    if padding == "same":
        totals = [d * (k - 1) for k, d in zip(kernel, dilation)]
        return [(t // 2, t - t // 2) for t in totals]
    if padding == "valid":
        return [(0, 0)] * len(kernel)
    several = padding if isinstance(padding, tuple) else (padding,) * len(kernel)
    return [p if isinstance(p, tuple) else (p, p) for p in several]


def sequence(value, axes):
    return value if isinstance(value, tuple) else (value,) * axes


def by_slices(x, w, stride=1, padding=0, dilation=1, groups=1):
    """The convolution as a sum over the positions of the kernel, of slices of the padded x."""
    kernel = w.shape[2:]
    stride, dilation = (sequence(v, len(kernel)) for v in (stride, dilation))
    x = np.pad(x, [(0, 0), (0, 0), *pairs(padding, kernel, dilation)])
    counts = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation)]
    y = np.zeros((x.shape[0], w.shape[0], *counts), np.result_type(x, w))
    each = w.shape[0] // groups
    for place in itertools.product(*map(range, kernel)):
        at = tuple(slice(p * d, p * d + (n - 1) * s + 1, s) for p, d, n, s in zip(place, dilation, counts, stride))
        part = x[(slice(None), slice(None), *at)]
        for o, c in itertools.product(range(w.shape[0]), range(w.shape[1])):
            with np.errstate(all="ignore"):
                y[:, o] += part[:, o // each * w.shape[1] + c] * w[(o, c, *place)]
    return y


def parameters(seed):
    """A random (axes, shape of x, shape of w, keywords)."""
    rng = np.random.default_rng(seed)
    axes = int(rng.choice([1, 2, 2, 2, 3]))
    groups = int(rng.choice([1, 1, 1, 2, 3]))
    group, each = int(rng.choice([1, 1, 2, 5])), int(rng.choice([1, 1, 3, 9]))
    kernel = [int(rng.integers(1, 5 if axes < 3 else 3)) for _ in range(axes)]
    stride, dilation = ([int(n) for n in rng.integers(1, 4, axes)] for _ in range(2))
    padding = [(int(rng.integers(0, 3)), int(rng.integers(0, 3))) for _ in range(axes)]
    room = [d * (k - 1) + 1 - sum(p) for k, d, p in zip(kernel, dilation, padding)]
    lengths = [max(1, n) + int(rng.integers(0, 12 if axes < 3 else 4)) for n in room]
    images = int(rng.choice([0, 1, 1, 2, 5]))
    keywords = {
        "stride": tuple(stride), "dilation": tuple(dilation), "padding": tuple(padding), "groups": groups,
    }  # fmt: skip
    return axes, (images, group * groups, *lengths), (each * groups, group, *kernel), keywords


def function(axes, dtype="float64", mode="FAST_RUN", shapes=None, **keywords):
    x = T.tensor("x", dtype, shapes[0] if shapes else (None,) * (axes + 2))
    w = T.tensor("w", dtype, shapes[1] if shapes else (None,) * (axes + 2))
    return ag.function([x, w], CONV[axes](x, w, **keywords), mode=mode)


def assert_near(found, x, w, **keywords):
    """As exact as sums of so many products in the dtype are, in whatever order."""
    expected = by_slices(x.astype("float64"), w.astype("float64"), **keywords)
    bound = by_slices(abs(x.astype("float64")), abs(w.astype("float64")), **keywords)
    depth = w[0].size + 1 if len(w) else 1
    assert (found.dtype, found.shape) == (x.dtype, expected.shape)
    assert (abs(found - expected) <= depth * np.finfo(x.dtype).eps * bound).all()


@pytest.mark.parametrize("first", mostly_long(range(12), {0, 1}))
def test_random_parameters(first):
    """Five draws in one function, of which nothing or all is known beforehand; every fourth function in every mode."""
    draws = []
    for seed in range(first, 60, 12):
        axes, x_shape, w_shape, keywords = parameters(seed)
        rng = np.random.default_rng(seed)
        for dtype, known in (("float32", False), ("float64", True)):
            given = [rng.normal(size=s).astype(dtype) for s in (x_shape, w_shape)]
            inputs = [T.tensor(None, dtype, v.shape if known else (None,) * v.ndim) for v in given]
            draws.append((given, inputs, CONV[axes](*inputs, **keywords), keywords))
    for mode in MODES if first % 4 == 0 else MODES[:1]:
        f = ag.function([v for _, inputs, _, _ in draws for v in inputs], [y for _, _, y, _ in draws], mode=mode)
        results = f(*(v for given, _, _, _ in draws for v in given))
        for found, (given, _, _, keywords) in zip(results, draws, strict=True):
            assert_near(found, *given, **keywords)


@pytest.mark.few(1)
@pytest.mark.parametrize("padding", [0, 2, (1, 2), ((0, 2), (1, 0)), "same", "valid"])
def test_forms_of_padding(padding):
    x, w = RNG.normal(size=(2, 3, 9, 8)), RNG.normal(size=(4, 3, 3, 4))
    for shapes in (None, (x.shape, w.shape)):
        found = function(2, shapes=shapes, padding=padding, dilation=(1, 2))(x, w)
        assert_near(found, x, w, padding=padding, dilation=(1, 2))
    if padding == "same":
        assert found.shape == (2, 4, 9, 8)


def test_bias_and_joint_dtype():
    x, w, b = T.tensor4("x", "float32"), T.tensor4("w"), T.vector("b", "float32")
    y = T.nn.conv2d(x, w, b, padding=1)
    assert y.dtype == "float64"
    one, two = RNG.normal(size=(2, 3, 5, 5)).astype("float32"), RNG.normal(size=(4, 3, 3, 3))
    found = ag.function([x, w, b], y)(one, two, np.arange(4, dtype="float32"))
    np.testing.assert_allclose(found, by_slices(one, two, padding=1) + np.arange(4)[:, None, None], atol=1e-12)


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "shapes",
    [
        ((0, 3, 5, 5), (4, 3, 3, 3)), ((2, 0, 5, 5), (4, 0, 3, 3)), ((2, 3, 5, 5), (0, 3, 3, 3)),
        ((1, 1, 1, 1), (1, 1, 1, 1)), ((2, 3, 3, 3), (5, 3, 3, 3)), ((1, 40, 1, 1), (33, 40, 1, 1)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", MODES)
def test_sizes_of_nothing_and_of_one(shapes, mode):
    x, w = (RNG.normal(size=s) for s in shapes)
    for stride, known in itertools.product((1, 2), (None, shapes)):
        assert_near(function(2, mode=mode, shapes=known, stride=stride)(x, w), x, w, stride=stride)
    x, w = ((9 * v).astype("int16") for v in (x, w))
    np.testing.assert_array_equal(function(2, "int16", mode, shapes)(x, w), by_slices(x, w), strict=True)


def layouts(x):
    room = np.zeros([2 * n for n in x.shape], x.dtype)
    room[(slice(None, None, 2),) * x.ndim] = x
    yield "apart", room[(slice(None, None, 2),) * x.ndim]
    yield "backwards", np.ascontiguousarray(x[..., ::-1, ::-1])[..., ::-1, ::-1]
    yield "channels last", np.ascontiguousarray(np.moveaxis(x, 1, -1)).swapaxes(-1, 1).swapaxes(-1, -2)
    yield "by columns", np.asfortranarray(x)
    yield "one image", np.broadcast_to(x[:1], x.shape)
    yield "one row", np.broadcast_to(x[..., :1, :], x.shape)


@pytest.mark.few(1)
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_operands_of_all_strides(groups):
    f = function(2, "float32", groups=groups, padding=1)
    g = function(2, "float32", groups=groups, stride=2, dilation=2)
    x, w = (RNG.normal(size=s).astype("float32") for s in ((3, 4, 20, 19), (8, 4 // groups, 3, 3)))
    for (name, one), (other, two) in itertools.product(layouts(x), layouts(w)):
        for h, keywords in ((f, {"padding": 1}), (g, {"stride": 2, "dilation": 2})):
            assert_near(h(one, two), one, two, groups=groups, **keywords), (name, other)


@pytest.mark.parametrize("mode", MODES)
def test_not_a_number_and_infinity(mode):
    """Padding is numbers that are multiplied: 0 * inf is NaN."""
    x, w = RNG.normal(size=(1, 2, 6, 7)), RNG.normal(size=(3, 2, 3, 3))
    x[0, 0, 2, 3], x[0, 1, 5, 6], w[1, 0, 0, 0], w[2, 1, 1, 1] = np.nan, np.inf, np.inf, np.nan
    for keywords in ({"padding": 1}, {"stride": 2}, {"padding": 2, "dilation": 2}):
        expected = by_slices(x, w, **keywords)
        np.testing.assert_allclose(function(2, mode=mode, **keywords)(x, w), expected, atol=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float16", "complex128"])
@pytest.mark.parametrize("mode", MODES)
def test_other_dtypes(dtype, mode):
    x, w = ((RNG.normal(size=s) * 9).astype(dtype) for s in ((2, 2, 6, 5), (4, 1, 3, 2)))
    if dtype == "complex128":
        x = x + 1j * x[::-1]
    found = function(2, dtype, mode, padding=1, stride=2, groups=2)(x, w)
    wide = "float32" if dtype == "float16" else dtype
    expected = by_slices(x.astype(wide), w.astype(wide), padding=1, stride=2, groups=2).astype(dtype)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, expected, rtol=1e-3 if dtype == "float16" else 1e-12)


@pytest.mark.parametrize("seed", mostly_long(range(12), range(4)))
def test_integers_wrap_around(seed):
    axes, x_shape, w_shape, keywords = parameters(100 + seed)
    rng = np.random.default_rng(seed)
    dtype = ("int8", "uint8", "int32", "uint64")[seed % 4]
    info = np.iinfo(dtype)
    x, w = (rng.integers(info.min, info.max, s, dtype, endpoint=True) for s in (x_shape, w_shape))
    expected = by_slices(x, w, **keywords)
    for shapes in (None, (x_shape, w_shape)):
        f = function(axes, dtype, shapes=shapes, **keywords)
        assert not f.remarks.of("in Python")
        np.testing.assert_array_equal(f(x, w), expected, strict=True)
        np.testing.assert_array_equal(f(np.asfortranarray(x), w[::-1][::-1]), expected, strict=True)


# --- derivatives

CASES = [
    {}, {"stride": 2}, {"stride": (3, 2), "padding": (2, 1)}, {"dilation": 2, "padding": 1}, {"groups": 2},
    {"stride": 2, "dilation": (2, 1), "groups": 2}, {"groups": 4, "padding": "same"}, {"stride": 4},
    {"stride": (1, 2), "groups": 4, "padding": ((1, 0), (0, 2))},
]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize("keywords", CASES, ids=str)
@pytest.mark.parametrize("static", [True, False])
def test_gradients(keywords, static):
    rng = np.random.default_rng(2)
    groups = keywords.get("groups", 1)
    x, w, b = (rng.normal(size=s) for s in ((2, 4, 7, 6), (4, 4 // groups, 3, 2), (4,)))
    assert_gradient(lambda x, w, b: T.nn.conv2d(x, w, b, **keywords), x, w, b, static=static)


@pytest.mark.parametrize("axes", [1, 3])
def test_gradients_of_other_ranks(axes):
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=(2, 2, *(5, 4, 3)[:axes])), rng.normal(size=(2, 2, *(2, 3, 1)[:axes]))
    assert_gradient(lambda x, w: CONV[axes](x, w, stride=2, padding=1), x, w)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives(mode):
    """The derivatives of derivatives, along a direction, against differences; all cases in one function."""
    inputs, outputs, values = [], [], []
    for keywords in CASES[:7:2]:
        rng, groups = np.random.default_rng(3), keywords.get("groups", 1)
        given = [rng.normal(size=s) for s in ((1, 4, 6, 5), (4, 4 // groups, 3, 2))]
        several = [T.tensor(n, shape=v.shape) for n, v in zip("xw", given)]
        first = ag.grad(T.sum(T.tanh(T.nn.conv2d(*several, **keywords))), several)
        inner = T.sum(T.sin(first[0])) + T.sum(first[1] ** 2)
        inputs += several
        outputs += [inner, *ag.grad(inner, several)]
        values += given
    f = ag.function(inputs, outputs, mode=mode)
    found = f(*values)
    for k, value in enumerate(values):
        case, place = divmod(k, 2)
        direction = np.random.default_rng(4).normal(size=value.shape)
        above, below = (f(*values[:k], value + h * direction, *values[k + 1 :]) for h in (1e-5, -1e-5))
        slope = (above[3 * case] - below[3 * case]) / 2e-5
        np.testing.assert_allclose(np.sum(found[3 * case + 1 + place] * direction), slope, rtol=1e-6)


def test_forward_mode():
    x, w, dx, dw = (T.tensor4(n) for n in ("x", "w", "dx", "dw"))
    values = [RNG.normal(size=s) for s in ((2, 2, 5, 5), (3, 2, 3, 3)) * 2]
    tangent = ag.jvp(T.nn.conv2d(x, w, padding=1), [x, w], [dx, dw])
    found = ag.function([x, w, dx, dw], tangent)(*values)
    found = found[0] if isinstance(found, list) else found
    x, w, dx, dw = values
    np.testing.assert_allclose(found, by_slices(dx, w, padding=1) + by_slices(x, dw, padding=1), atol=1e-12)


@pytest.mark.few(1)
@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True)])
def test_many_examples_at_once(flags):
    values = [RNG.normal(size=(3, *s) if f else s) for s, f in zip(((2, 4, 6, 5), (4, 2, 3, 2)), flags)]
    inputs = [T.tensor(n, shape=v.shape) for n, v in zip("xw", values)]

    def one(x, w):
        y = T.nn.conv2d(x, w, groups=2, stride=2)
        return [y, *ag.grad(T.sum(y**2), [x, w])]

    axes = tuple(0 if f else None for f in flags)
    found = ag.function(inputs, list(ag.vmap(one, in_axes=axes)(*inputs)))(*values)
    f = ag.function(single := [T.tensor4("x"), T.tensor4("w")], one(*single))
    for k in range(3):
        expected = f(*(v[k] if flag else v for v, flag in zip(values, flags)))
        for some, each in zip(found, expected):
            np.testing.assert_allclose(some[k], each, atol=1e-12)


# --- what does not fit

X, W = T.tensor("x", shape=(2, 4, 8, 8)), T.tensor("w", shape=(6, 4, 3, 3))


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: T.nn.conv2d(T.matrix("m"), W), TypeError, r"conv2d: x has rank 4, .*got m \(float64"),
        (lambda: T.nn.conv2d(X, T.matrix("m")), TypeError, r"conv2d: w has rank 4, .*got m \(float64"),
        (lambda: T.nn.conv1d(X, W), TypeError, r"conv1d: x has rank 3"),
        (lambda: T.nn.conv2d(T.tensor4("x", "bool"), W.astype("bool")), TypeError, "takes numbers, got x"),
        (lambda: T.nn.conv2d(X, W, groups=2), ValueError, r"w has kernels for 4 channels, expected 2.*groups is 2"),
        (lambda: T.nn.conv2d(X, W, groups=3), ValueError, r"groups is 3, and the 4 channels of x .* no multiple"),
        (lambda: T.nn.conv2d(X, T.tensor("w", shape=(6, 1, 3, 3)), groups=4), ValueError, r"the 6 outputs of w"),
        (lambda: T.nn.conv2d(X, T.tensor("w", shape=(6, 4, 9, 1))), ValueError,
         r"conv2d: the kernel extends over 9 positions of axis 2, the padded input has 8: w is w"),
        (lambda: T.nn.conv2d(X, W, dilation=5, padding=1), ValueError, r"extends over 11 .* the padded input has 10"),
        (lambda: T.nn.conv2d(X, T.tensor("w", shape=(6, 4, 0, 1))), ValueError, r"kernel has no positions on axis 2"),
        (lambda: T.nn.conv2d(X, W, stride=0), ValueError, r"conv2d: stride must be 1 or more, got 0"),
        (lambda: T.nn.conv2d(X, W, dilation=(1, -1)), ValueError, r"conv2d: dilation must be 1 or more, got \(1, -1\)"),
        (lambda: T.nn.conv2d(X, W, padding=-1), ValueError, r"conv2d: padding must be 0 or more, got -1"),
        (lambda: T.nn.conv2d(X, W, dilation=2**62), ValueError, r"conv2d: dilation must be at most 2147483647"),
        (lambda: T.nn.conv2d(X, W, groups=0), ValueError, r"conv2d: groups must be 1 or more, got 0"),
        (lambda: T.nn.conv2d(X, W, stride=(1, 2, 3)), ValueError, r"stride has one number for each of 2 axes"),
        (lambda: T.nn.conv2d(X, W, stride=1.5), TypeError, r"stride must be an integer or 2 of them, .*got 1.5"),
        (lambda: T.nn.conv2d(X, W, padding="full"), ValueError, r"padding must be a number, pairs, .*got 'full'"),
        (lambda: T.nn.conv2d(X, W, T.matrix("b")), TypeError, r"bias must be a vector, .*got b"),
        (lambda: T.nn.conv2d(X, W, T.tensor("b", shape=(5,))), ValueError, r"bias has 5 elements, expected 6"),
        (lambda: T.Convolution((1,), (1,))(X, W), TypeError, r"convolution takes tensors of rank 3, got x"),
        (lambda: T.Convolution((0,), (1,)), ValueError, r"stride, dilation and groups must be 1 to"),
    ],
)  # fmt: skip
def test_errors_when_it_is_built(build, kind, message):
    with pytest.raises(kind, match=message) as error:
        build()
    assert len(str(error.value).splitlines()) <= 3


@pytest.mark.few(9)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("shapes", "keywords"),
    [
        (((1, 3, 5, 5), (4, 2, 3, 3)), {}), (((1, 4, 5, 5), (3, 2, 3, 3)), {"groups": 2}),
        (((1, 3, 2, 5), (4, 3, 3, 3)), {}), (((1, 3, 5, 4), (4, 3, 1, 3)), {"dilation": 2}),
        (((1, 3, 5, 5), (4, 3, 0, 3)), {}), (((1, 3, 0, 5), (4, 3, 1, 1)), {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "int32"])
def test_errors_of_a_call(mode, shapes, keywords, dtype):
    f = function(2, dtype, mode, **keywords)
    with pytest.raises(ValueError) as error:
        f(*(np.zeros(s, dtype) for s in shapes))
    assert 0 < len(str(error.value).splitlines()) <= 4
    groups = keywords.get("groups", 1)
    f(np.zeros((1, 4, 6, 6), dtype), np.zeros((4, 4 // groups, 2, 2), dtype))  # and it works again


# --- how it is computed

X1, W1 = T.tensor3("x", "float32"), T.tensor3("w", "float32")


@pytest.mark.long
def test_no_step_is_run_by_python():
    for dtype, keywords in [("float16", CASES[2]), ("complex64", CASES[5]), *(("float32", case) for case in CASES[:7])]:
        x, w = T.tensor4("x", dtype), T.tensor("w", dtype, (None, 1 if keywords.get("groups") == 4 else None, 3, 3))
        y = T.nn.conv2d(x, w, **keywords)
        cost = T.sum(T.real(y * T.conj(y)) if dtype == "complex64" else T.cast(y, "float32") ** 2)
        f = ag.function([x, w], [y, *ag.grad(cost, [x, w])])
        assert not f.remarks.of("in Python"), (dtype, keywords)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("shapes", "keywords"),
    [
        (((2, 40, 37, 41), (50, 40, 3, 3)), {"padding": 1}), (((1, 3, 90, 90), (64, 3, 7, 7)), {"stride": 2}),
        (((40, 8, 9, 9), (8, 4, 3, 3)), {"groups": 2, "dilation": 2}),
        (((4, 32, 60, 60), (32, 1, 3, 3)), {"groups": 32}),
    ],
)  # fmt: skip
def test_bits_do_not_depend_on_threads(shapes, keywords):
    values = [RNG.normal(size=s).astype("float32") for s in shapes]
    inputs = [T.tensor(n, "float32", s) for n, s in zip("xw", shapes)]
    y = T.nn.conv2d(*inputs, **keywords)
    outputs = [y, *ag.grad(T.sum(y * y), inputs)]
    first, *others = (ag.function(inputs, outputs, threads=n)(*values) for n in (1, 2, 5))
    assert_near(first[0], *values, **keywords)
    for found, same in itertools.product(others, range(3)):
        np.testing.assert_array_equal(found[same], first[same])


def test_one_compiled_function_takes_all_lengths():
    f = function(2, "float32", padding=1)
    text = f.c_source()
    for n in (1, 3, 5, 17, 40):
        x, w = (RNG.normal(size=s).astype("float32") for s in ((n % 4, n, n + 2, 2 * n), (n + 1, n, 3, 3)))
        assert_near(f(x, w), x, w, padding=1)
    assert f.c_source() == text


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_all_widths(dtype):
    """Numbers of windows that are neighbours in memory in groups of 2, 4, 8 or not at all, whatever the lengths."""
    x, w = T.tensor4("x", dtype), T.tensor4("w", dtype)
    y = T.nn.conv2d(x, w)
    f = ag.function([x, w], [y, *ag.grad(T.sum(y * T.sin(y)), [x, w])])
    plain = ag.function([x, w], [y, *ag.grad(T.sum(y * T.sin(y)), [x, w])], mode="NUMPY")
    rng = np.random.default_rng(0)
    for width, k in itertools.product((2, 3, 4, 6, 7, 8, 12, 14, 16, 18, 20), (1, 2, 3, 5)):
        given = rng.normal(size=(3, 4, 5 + k, width + k - 1)), rng.normal(size=(9, 4, k, k))
        arrays = [a.astype(dtype) for a in given]
        for found, expected in zip(f(*arrays), plain(*arrays), strict=True):
            scale = np.abs(expected).max()
            np.testing.assert_allclose(found, expected, atol=scale * (2e-5 if dtype == "float32" else 1e-13))


def test_results_that_have_no_room():
    """They are views of one number, which exist."""
    x, w = (np.broadcast_to(np.float32(1), s) for s in ((1, 2**20, 2**20, 1), (2**20, 2**20, 1, 1)))
    for h in (function(2, "float32"), function(2, "float32", dilation=2)):
        with pytest.raises((MemoryError, ValueError)) as error:
            h(x, w)
        assert len(str(error.value).splitlines()) <= 4
        assert h(np.ones((1, 1, 3, 3), "float32"), np.ones((1, 1, 1, 1), "float32")).sum() == 9


def test_kernels_whose_reach_overflows():
    """A kernel of 2**40 positions, a view of one number, 2**31 apart."""
    f = ag.function([X1, W1], T.nn.conv1d(X1, W1, dilation=2**31 - 1))
    for length, k in ((5, 2**40), (2**34, 2**33), (2**40, 2**40), (2**33, 6)):
        x, w = (np.broadcast_to(np.float32(1), (1, 1, n)) for n in (length, k))
        with pytest.raises(ValueError, match=rf"extends over {(2**31 - 1) * (k - 1) + 1} positions"):
            f(x, w)
    assert f(np.ones((1, 1, 2), "float32"), np.ones((1, 1, 1), "float32")).tolist() == [[[1, 1]]]


def test_the_driver(golden):
    """Two tables and one product, of operands that lie where they are."""
    text = function(2, "float32", stride=2, groups=2).c_source()
    start = text.index("    /* 0: ")
    golden("convolution.c", text[start : text.index("    /* 1: outputs */", start)])


@pytest.mark.long
def test_bodies_of_networks_are_trained_by_it():
    """A step along the gradients of all parameters lessens a loss as much as their squares say."""
    rng = np.random.default_rng(0)
    x, labels = T.tensor4("x", "float32"), T.ivector("labels")
    shapes = [(8, 1, 3, 3), (8,), (16, 8, 3, 3), (16,), (16 * 9, 10)]
    weights = [ag.shared((0.2 * rng.normal(size=s)).astype("float32"), name=f"w{k}") for k, s in enumerate(shapes)]
    h = T.nn.max_pool2d(T.nn.relu(T.nn.conv2d(x, weights[0], weights[1], padding=1)), 2)
    h = T.nn.avg_pool2d(T.nn.relu(T.nn.conv2d(h, weights[2], weights[3], stride=2, padding=1)), 2, 1)
    loss = T.mean(T.nn.softmax_crossentropy(T.reshape(h, (x.shape[0], -1)) @ weights[4], labels))
    gradients = ag.grad(loss, weights)
    rate = np.float32(1e-4)
    step = ag.function(
        [x, labels], [loss, sum(T.sum(g * g) for g in gradients)],
        updates=[(w, w - rate * g) for w, g in zip(weights, gradients)],
    )  # fmt: skip
    given = rng.normal(size=(6, 1, 15, 15)).astype("float32"), rng.integers(0, 10, 6).astype("int32")
    (before, squares), (after, _) = step(*given), step(*given)
    np.testing.assert_allclose(before - after, rate * squares, rtol=0.05)
