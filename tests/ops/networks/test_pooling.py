"""Pooling against windows taken one by one: values, derivatives, errors, in every mode."""

import itertools

import numpy as np
import pytest
from draws import mostly_long
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T

MODES = ("FAST_RUN", "FAST_COMPILE", "NUMPY")


def windows(x, kernel, stride=None, padding=0, dilation=1, ceil_mode=False):
    """((i, j), what of x is in the window, how many positions of padded x) for each window, and how many there are."""
    kernel, padding, dilation = ((v, v) if isinstance(v, int) else v for v in (kernel, padding, dilation))
    stride = kernel if stride is None else (stride, stride) if isinstance(stride, int) else stride
    places = []
    for n, k, s, p, d in zip(x.shape[2:], kernel, stride, padding, dilation):
        starts = range(-p, n + p, s)
        reach = d * (k - 1)
        kept = [a for a in starts if a + reach < n + p or (ceil_mode and a < n)]
        if ceil_mode:  # at most one hangs over
            whole = [a for a in kept if a + reach < n + p]
            over = [a for a in kept if a + reach >= n + p][:1]
            kept = whole + (over if not whole or whole[-1] + reach < n + p - 1 else [])
        places.append([[a + i * d for i in range(k)] for a in kept])
    for (i, rows), (j, columns) in itertools.product(*map(list, map(enumerate, places))):
        inside = [[a for a in some if 0 <= a < n] for some, n in zip((rows, columns), x.shape[2:])]
        padded = [sum(a < n + p for a in some) for some, n, p in zip((rows, columns), x.shape[2:], padding)]
        yield (i, j), x[:, :, inside[0]][:, :, :, inside[1]], padded[0] * padded[1], tuple(map(len, places))


def reference(x, *args, mean=False, count_include_pad=True, **keywords):
    y = None
    for (i, j), part, padded, counts in windows(x, *args, **keywords):
        y = np.zeros((*x.shape[:2], *counts), x.dtype) if y is None else y
        if mean:
            y[:, :, i, j] = part.sum((2, 3)) / (padded if count_include_pad else part.shape[2] * part.shape[3])
        else:
            y[:, :, i, j] = part.max((2, 3))
    return y


def parameters(seed):
    rng = np.random.default_rng(seed)
    kernel = tuple(int(k) for k in rng.integers(1, 5, 2))
    padding = tuple(int(rng.integers(0, k // 2 + 1)) for k in kernel)
    dilation = tuple(int(n) for n in rng.integers(1, 3, 2))
    lengths = [d * (k - 1) + 1 + int(rng.integers(0, 9)) for k, d in zip(kernel, dilation)]
    stride = None if rng.random() < 0.3 else tuple(int(n) for n in rng.integers(1, 4, 2))
    return (int(rng.choice([0, 1, 2])), int(rng.choice([1, 3])), *lengths), kernel, stride, padding, dilation


@pytest.mark.long
@pytest.mark.parametrize("first", mostly_long(range(4), {0}))
def test_random_parameters(first):
    """Six draws in one function; every fourth draw in every mode."""
    inputs, outputs, values, expected = [], [], [], []
    for seed in range(first, 24, 4):
        shape, kernel, stride, padding, dilation = parameters(seed)
        ceil_mode, counted = bool(seed % 2), bool(seed % 3)
        for dtype, known in (("float32", None), ("float64", shape)):
            value = np.random.default_rng(seed).normal(size=shape).astype(dtype)
            x = T.tensor(None, dtype, known or (None,) * 4)
            inputs.append(x)
            values.append(value)
            outputs += [
                T.nn.max_pool2d(x, kernel, stride, padding, dilation, ceil_mode),
                T.nn.avg_pool2d(x, kernel, stride, padding, ceil_mode, counted),
            ]
            means = {"ceil_mode": ceil_mode, "mean": True, "count_include_pad": counted}
            if value.size:
                expected.append(reference(value, kernel, stride, padding, dilation, ceil_mode))
                expected.append(reference(value, kernel, stride, padding, **means))
            else:
                expected += [None, None]
    for mode in MODES if first == 0 else MODES[:1]:
        found = ag.function(inputs, outputs, mode=mode)(*values)
        for k, (got, wanted) in enumerate(zip(found, expected, strict=True)):
            assert got.dtype == outputs[k].dtype == values[k // 2].dtype
            if wanted is not None and k % 2 == 0:
                np.testing.assert_array_equal(got, wanted)
            elif wanted is not None:
                np.testing.assert_allclose(got, wanted, atol=1e-6 if got.dtype == "float32" else 1e-14)


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_large_windows(mode):
    value = np.random.default_rng(0).normal(size=(2, 3, 17, 23))
    x = T.tensor4("x")
    cases = [((17, 23), None), ((7, 8), None), ((7, 6), (3, 2)), ((9, 1), 1), ((1, 20), (2, 1))]
    outputs = [f(x, k, s) for f in (T.nn.max_pool2d, T.nn.avg_pool2d) for k, s in cases]
    found = ag.function([x], outputs, mode=mode)(value)
    for k, (kernel, stride) in enumerate(cases):
        np.testing.assert_array_equal(found[k], reference(value, kernel, stride))
        np.testing.assert_allclose(found[k + len(cases)], reference(value, kernel, stride, mean=True), atol=1e-14)


@pytest.mark.parametrize("mode", MODES)
def test_not_a_number_wins(mode):
    value = np.random.default_rng(0).normal(size=(1, 2, 6, 7))
    value[0, 0, 2, 2], value[0, 0, 5, 5], value[0, 1, 0, 0], value[0, 1] = np.nan, np.inf, -np.inf, -np.inf
    x = T.tensor4("x")
    found = ag.function([x], T.nn.max_pool2d(x, 3, 2, 1), mode=mode)(value)
    np.testing.assert_array_equal(found, reference(value, 3, 2, 1))
    assert np.isnan(found).any() and np.isneginf(found[0, 1]).all()


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", MODES)
def test_other_dtypes(mode):
    dtypes = ["int8", "uint8", "int64", "float16"]
    values = [(np.random.default_rng(0).normal(size=(2, 2, 6, 7)) * 50).astype(dtype) for dtype in dtypes]
    inputs = [T.tensor4("x", dtype) for dtype in dtypes]
    outputs = [y for x in inputs for y in (T.nn.max_pool2d(x, 2, 1, 1), T.nn.avg_pool2d(x, 2, 2))]
    found = ag.function(inputs, outputs, mode=mode)(*values)
    for dtype, value, largest, mean in zip(dtypes, values, found[::2], found[1::2], strict=True):
        assert largest.dtype == dtype and mean.dtype == (dtype if dtype == "float16" else "float64")
        np.testing.assert_array_equal(largest, reference(value, 2, 1, 1))
        tolerance = 2e-3 if dtype == "float16" else 1e-14
        np.testing.assert_allclose(mean, reference(value.astype("float64"), 2, 2, mean=True), rtol=tolerance)


def test_inputs_of_all_strides():
    value = np.random.default_rng(0).normal(size=(2, 4, 12, 14)).astype("float32")
    x = T.tensor4("x", "float32")
    f = ag.function([x], [T.nn.max_pool2d(x, 3, 2, 1), T.nn.avg_pool2d(x, 3, 1, 1)])
    for given in (value[..., ::-1, ::-1], value[:, ::2, ::2, ::3], value.transpose(1, 0, 3, 2), value[:1].repeat(2, 0)):
        largest, mean = f(given)
        np.testing.assert_array_equal(largest, reference(given, 3, 2, 1))
        np.testing.assert_allclose(mean, reference(given, 3, 1, 1, mean=True), atol=1e-6)


@pytest.mark.few(2)
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("keywords", [{}, {"stride": 1, "padding": 1}, {"stride": (2, 1), "ceil_mode": True}], ids=str)
def test_gradients(keywords, static):
    value = np.random.default_rng(1).permutation(2 * 2 * 5 * 6).reshape(2, 2, 5, 6) / 10.0
    assert_gradient(lambda x: T.nn.max_pool2d(x, (3, 2), **keywords), value, static=static)
    assert_gradient(lambda x: T.nn.avg_pool2d(x, (3, 2), **keywords), value, static=static)
    assert_gradient(lambda x: T.nn.max_pool2d(x, 2, dilation=2, stride=1), value, static=static)
    assert_gradient(lambda x: T.nn.max_pool2d(T.tanh(T.nn.avg_pool2d(x, 2, 1)), 2), value, static=static)


@pytest.mark.parametrize("mode", MODES)
def test_positions_that_tie_share_the_gradient(mode):
    x = T.tensor4("x")
    f = ag.function([x], ag.grad(T.sum(T.nn.max_pool2d(x, 2)), x), mode=mode)
    np.testing.assert_array_equal(f(np.ones((1, 1, 4, 2))), np.full((1, 1, 4, 2), 0.25))
    np.testing.assert_array_equal(f(np.array([[[[1.0, 3], [3, 2]]]])), [[[[0, 0.5], [0.5, 0]]]])


def shares(x, y, g, kernel, stride, dilation):
    """The cotangent of x, window by window."""
    back = np.zeros_like(x)
    for j in itertools.product(*(range(n) for n in y.shape[1:])):
        rows = [range(a * s, a * s + d * (k - 1) + 1, d) for a, k, s, d in zip(j, kernel, stride, dilation)]
        place = (slice(None), *np.ix_(*rows))
        reached = x[place] == y[(slice(None), *j)].reshape(-1, *(1,) * len(j))
        count = reached.reshape(len(x), -1).sum(1).astype(g.dtype)
        with np.errstate(all="ignore"):
            share = (g[(slice(None), *j)] / count).reshape(-1, *(1,) * len(j))
        back[place] += np.where(reached, share, g.dtype.type(0))
    return back


WINDOWS = [
    ((2, 2), (2, 2), (1, 1)), ((3, 3), (2, 2), (1, 1)), ((2, 3), (2, 4), (1, 1)), ((2, 2), (1, 1), (2, 2)),
    ((3, 1), (3, 1), (1, 1)), ((1, 2), (2, 2), (1, 1)), ((2,), (3,), (2,)), ((6, 6), (6, 6), (1, 1)),
]  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("dtype", mostly_long(["float16", "float32", "float64"], {"float32"}))
def test_cotangents_with_ties_and_nan(dtype):
    """Whole numbers, so that equal shares of 1, 2, 4 or 12 are exact enough; one function for all windows."""
    rng = np.random.default_rng(0)
    value = rng.integers(0, 3, (3, 7, 8)).astype(dtype)
    value[0, 2, 3], value[1, 0, 0], value[2, 6, 7], value[2, 1] = np.nan, np.inf, -np.inf, -0.0
    x = T.tensor3("x", dtype)
    pairs, cases = [], []
    for kernel, stride, dilation in WINDOWS:
        y = T.MaxPool(kernel, stride, dilation).evaluate(value)[0]
        g = (12 * rng.integers(-3, 4, y.shape)).astype(dtype)
        g.flat[-1] = np.inf
        back = T.MaxPoolGradient(kernel, stride, dilation)(x, T.MaxPool(kernel, stride, dilation)(x), T.constant(g))
        pairs.append((back, shares(value, y, g, (1,) * (2 - len(kernel)) + kernel, (1,) * (2 - len(kernel)) + stride,
                                   (1,) * (2 - len(kernel)) + dilation)))  # fmt: skip
        cases.append(back)
    for mode in MODES:
        f = ag.function([x], cases, mode=mode)
        for given in (value, np.asfortranarray(value), np.repeat(value, 2, 2)[..., ::2]):
            for found, (_, expected) in zip(f(given), pairs, strict=True):
                assert found.dtype == dtype
                np.testing.assert_allclose(found, expected, rtol=2e-3 if dtype == "float16" else 1e-6)


@pytest.mark.long
def test_cotangents_of_known_lengths_on_threads():
    """Windows that cover everything, and others, in images of known lengths: large enough for several threads."""
    value = np.random.default_rng(0).integers(0, 9, (40, 4, 24, 20)).astype("float32")
    x = T.tensor("x", "float32", (None, 4, 24, 20))
    for kernel, stride in ((2, 2), (3, 2), ((2, 3), (3, 2))):
        pooled = T.nn.max_pool2d(x, kernel, stride)
        g = np.random.default_rng(1).normal(size=pooled.owner.op.evaluate(value)[0].shape).astype("float32")
        back = ag.grad(T.sum(pooled * g), x)
        op = back.owner.op
        fast, reference = (ag.function([x], back, mode=mode, threads=2)(value) for mode in ("FAST_RUN", "NUMPY"))
        np.testing.assert_allclose(fast, reference, atol=1e-6)
        expanded = op.meaning(*back.owner.inputs)
        np.testing.assert_allclose(ag.function([x], expanded)(value), reference, atol=1e-6)


def test_cotangents_that_do_not_fit_are_refused():
    x, y = T.tensor("x", "float32", (2, 8, 8)), T.tensor("y", "float32", (2, 4, 4))
    op = T.MaxPoolGradient((2, 2), (2, 2), (1, 1))
    with pytest.raises(TypeError, match=r"max_pool_gradient: g is .*expected"):
        op(x, y, T.tensor("g", "float32", (2, 4, 3)))
    with pytest.raises(TypeError, match="max_pool_gradient: y is"):
        op(x, T.tensor("y", "float64", (2, 4, 4)), y)
    free = T.ftensor3("g")
    with pytest.raises(ValueError, match="4"):
        ag.function([x, y, free], op(x, y, free))(*(np.zeros(s, "float32") for s in ((2, 8, 8), (2, 4, 4), (2, 4, 5))))


@pytest.mark.long
def test_second_derivatives():
    value = np.random.default_rng(1).normal(size=(1, 1, 6, 6))
    x = T.tensor4("x")
    cost = T.sum(T.nn.max_pool2d(x, 2) ** 3) + T.sum(T.nn.avg_pool2d(x, 3, 1) ** 3)
    inner = T.sum(ag.grad(cost, x) ** 2)
    f = ag.function([x], [inner, ag.grad(inner, x)])
    direction = np.random.default_rng(2).normal(size=value.shape)
    slope = (f(value + 1e-6 * direction)[0] - f(value - 1e-6 * direction)[0]) / 2e-6
    np.testing.assert_allclose(np.sum(f(value)[1] * direction), slope, rtol=1e-6)


def test_many_examples_at_once():
    value = np.random.default_rng(1).normal(size=(3, 2, 2, 6, 6))
    xs = T.tensor("xs", shape=(3, None, None, None, None))
    found = ag.function([xs], ag.vmap(lambda x: T.nn.max_pool2d(x, 3, 2, 1))(xs))(value)
    np.testing.assert_array_equal(found, [reference(v, 3, 2, 1) for v in value])


X = T.tensor("x", shape=(2, 4, 8, 8))


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: T.nn.max_pool2d(T.matrix("m"), 2), TypeError, r"max_pool2d: x must be .*rank 4.* got m \(float64"),
        (lambda: T.nn.avg_pool2d(T.tensor4("z", "complex64"), 2), TypeError, r"x must be real numbers .*got z"),
        (lambda: T.nn.max_pool2d(X, 0), ValueError, r"kernel must be 1 or more, got 0"),
        (lambda: T.nn.max_pool2d(X, 2, 0), ValueError, r"stride must be 1 or more, got 0"),
        (lambda: T.nn.max_pool2d(X, 2, dilation=0), ValueError, r"dilation must be 1 or more, got 0"),
        (lambda: T.nn.max_pool2d(X, 9), ValueError, r"extends over 9 positions of axis 2, the padded input has 8"),
        (lambda: T.nn.max_pool2d(X, 2, padding=2), ValueError, r"padding must be at most half of the kernel"),
        (lambda: T.nn.max_pool2d(X, (2, 2, 2)), ValueError, r"kernel has one number for each of 2 axes"),
        (lambda: T.nn.avg_pool2d(X, "2"), TypeError, r"kernel must be an integer or 2 of them, .*got '2'"),
        (lambda: T.MaxPool((2,), (1,), (0,)), ValueError, r"max_pool: .* must be 1 to"),
    ],
)
def test_errors_when_it_is_built(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


def test_means_of_float16_are_summed_in_float32():
    x = T.tensor("x", "float16", (1, 1, 4, 4))
    hot = np.full((1, 1, 4, 4), 60000, "float16")  # whose sums are beyond float16
    found = ag.function([x], T.nn.avg_pool2d(x, 2), mode="NUMPY")(hot)
    assert found.dtype == "float16" and (found == 60000).all()


@pytest.mark.parametrize("mode", MODES)
def test_errors_of_a_call(mode):
    x = T.tensor4("x")
    f = ag.function([x], T.nn.max_pool2d(x, 3), mode=mode)
    with pytest.raises(ValueError, match="extends over 3 positions of axis 3"):
        f(np.zeros((1, 1, 3, 2)))
    assert f(np.zeros((1, 1, 3, 3))).shape == (1, 1, 1, 1)
