"""The functions of torch.nn.functional: against values that torch gave, differences, loops, and torch where it is."""

import functools
import json
from pathlib import Path

import numpy as np
import pytest
from draws import mostly_long
from functional_cases import CASES

import arignote as ag
from arignote import ops as T

HELD = json.loads((Path(__file__).parents[2] / "lib" / "functional_values.json").read_text())
"""For each case its shape, a weighted sum of its values, and of each operand's gradient; written by torch."""
STATIC = ("pdist", "adaptive_avg_pool1d")
"""Cases whose lengths are known in all tests: functions that need them, and windows of equal length."""
STOPPED = ("embedding",)
"""Cases with parts that derivatives take for constants."""
HOT = ("group_norm", "local_response_norm", "conv_transpose2d", "gru", "ctc_loss", "max_pool2d_indices", "unfold",
       "grid_sample")  # fmt: skip
"""Cases that ordinary tests compile."""


@functools.cache
def drawn(name, seed):
    rng = np.random.default_rng([seed, len(name)])
    arrays, options = CASES[name].draw(rng)
    return arrays, options, rng


def weights_of(value):
    return np.cos(1.0 + np.arange(value.size)).reshape(value.shape)


def floats_of(name, arrays):
    return [k for k, a in enumerate(arrays) if a.dtype.kind == "f" and k not in CASES[name].constants]


def built(name, seed, static):
    """The variables, the arrays and the result of a case."""
    arrays, options, _ = drawn(name, seed)
    static = static or name in STATIC or options.get("mode") == "area"
    inputs = [T.tensor(f"{name}_{k}", a.dtype, a.shape if static else (None,) * a.ndim) for k, a in enumerate(arrays)]
    return inputs, arrays, CASES[name].ours(*inputs, **options)


@pytest.mark.parametrize("static", [True, False])
def test_values_and_derivatives(static):
    """Values and gradients in the meaning of NumPy are those of torch."""
    for name, held in HELD.items():
        inputs, arrays, result = built(name, 0, static)
        given = dict(zip(inputs, arrays))
        value = result.eval(given)
        assert list(value.shape) == held["shape"], name
        np.testing.assert_allclose(np.sum(value * weights_of(value)), held["sum"], rtol=1e-8, atol=1e-8, err_msg=name)
        if not CASES[name].differentiable:
            continue
        places = floats_of(name, arrays)
        cost = T.sum(result * weights_of(value))
        slopes = ag.grad(cost, [inputs[k] for k in places], disconnected="zero")
        for k, slope, expected in zip(places, T.evaluate(slopes, given), held["slopes"], strict=True):
            found = np.sum(slope * weights_of(slope))
            np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7, err_msg=f"{name}, operand {k}")


def test_derivatives_are_those_of_differences():
    for name, each in CASES.items():
        if not each.differentiable or name in STOPPED:
            continue
        inputs, arrays, result = built(name, 1, True)
        places = floats_of(name, arrays)
        cost = T.sum(result * weights_of(np.zeros(result.type.shape)))
        slopes = ag.grad(cost, [inputs[k] for k in places], disconnected="zero")
        along = {k: np.random.default_rng(k).normal(size=arrays[k].shape) for k in places}

        def moved(h, arrays=arrays, along=along):
            return [a + h * along[k] if k in along else a for k, a in enumerate(arrays)]

        costs = [cost.eval(dict(zip(inputs, moved(h)))) for h in (1e-6, -1e-6)]
        expected = (costs[0] - costs[1]) / 2e-6
        found = sum(np.sum(s * along[k]) for k, s in zip(places, T.evaluate(slopes, dict(zip(inputs, arrays)))))
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-7 * max(1, abs(costs[0])), err_msg=name)


def check_compiled(names, static):
    """Compare the values of one compiled function with those of its graphs."""
    inputs, outputs, values, expected = [], [], [], []
    for name in names:
        variables, arrays, result = built(name, 0, static)
        inputs += variables
        values += arrays
        outputs.append(result)
        expected.append(result.eval(dict(zip(variables, arrays))))
    found = ag.function(inputs, outputs, on_unused_input="ignore")(*values)
    for name, got, wanted in zip(names, found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-10, err_msg=name)


def test_compiled():
    check_compiled(HOT, True)


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, len(CASES), 16))
def test_all_compiled(start):
    check_compiled([*CASES][start : start + 16], start % 32 == 0)


def test_many_examples_at_once():
    """`ag.vmap` along the first operand, and along all of them."""
    for name in CASES:
        first, options, _ = drawn(name, 0)
        second = [np.roll(a, 1) if a.dtype.kind == "f" else a for a in first]
        for several in {(True,) + (False,) * (len(first) - 1), (True,) * len(first)}:
            stacked = [np.stack([a, b]) if s else a for a, b, s in zip(first, second, several)]
            inputs = [T.tensor(f"x{k}", a.dtype, a.shape) for k, a in enumerate(stacked)]

            def one(*moved, inputs=inputs, several=several, name=name, options=options):
                given = iter(moved)
                return CASES[name].ours(*(next(given) if s else x for x, s in zip(inputs, several)), **options)

            both = ag.vmap(one)(*(x for x, s in zip(inputs, several) if s))
            found = both.eval(dict(zip(inputs, stacked)))
            for k, arrays in enumerate((first, [b if s else a for a, b, s in zip(first, second, several)])):
                variables = [T.tensor(f"v{n}", a.dtype, a.shape) for n, a in enumerate(arrays)]
                expected = CASES[name].ours(*variables, **options).eval(dict(zip(variables, arrays)))
                np.testing.assert_allclose(found[k], expected, rtol=1e-9, atol=1e-9, err_msg=name)


def test_dtypes_stay():
    for name in CASES:
        arrays, options, _ = drawn(name, 0)
        for dtype in ("float16", "float32"):
            inputs = [T.tensor("x", dtype if a.dtype.kind == "f" else a.dtype, a.shape) for a in arrays]
            found = CASES[name].ours(*inputs, **options)
            assert found.dtype == ("int64" if name.endswith("indices") else dtype), name


# --- what torch does not have, or means otherwise


def test_same_padding_with_strides():
    """As many windows as ceil(length / stride); an odd rest goes behind, with "same_lower" before."""
    rng = np.random.default_rng(0)
    for length, kernel, stride, dilation in ((7, 3, 2, 1), (8, 3, 2, 1), (8, 2, 3, 2), (5, 1, 3, 1), (6, 4, 1, 1)):
        value, w = rng.normal(size=(1, 1, length)), rng.normal(size=(1, 1, kernel))
        total = max((-(-length // stride) - 1) * stride + dilation * (kernel - 1) + 1 - length, 0)
        for how, before in (("same", total // 2), ("same_lower", total - total // 2)):
            for shape in ((1, 1, length), (None, None, None)):
                x = T.tensor("x", shape=shape)
                pads = ((before, total - before),)
                found, expected = (T.nn.conv1d(x, w, None, stride, p, dilation).eval({x: value}) for p in (how, pads))
                assert found.shape[2] == -(-length // stride)
                np.testing.assert_allclose(found, expected, rtol=1e-12)
                pooled = [T.nn.max_pool1d(x, kernel, stride, p, dilation).eval({x: value}) for p in (how, pads)]
                np.testing.assert_array_equal(*pooled)


def test_gather_and_scatter():
    x, rng = T.tensor("x", shape=(None, None, 4)), np.random.default_rng(0)
    value = rng.normal(size=(3, 5, 4))
    at = np.array([[0, 1], [2, -1], [0, 1]])
    np.testing.assert_array_equal(T.nn.gather_nd(x, at).eval({x: value}), value[[0, 2, 0], [1, -1, 1]])
    rows = np.array([[[1], [0]], [[4], [2]], [[0], [3]]])
    expected = value[np.arange(3)[:, None], rows[..., 0]]
    np.testing.assert_array_equal(T.nn.gather_nd(x, rows, 1).eval({x: value}), expected)
    updates = rng.normal(size=(3, 4))
    for how, function in (("add", np.add), ("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)):
        wanted = value.copy()
        function.at(wanted, tuple(at.T), updates)
        np.testing.assert_allclose(T.nn.scatter_nd(x, at, updates, how).eval({x: value}), wanted, rtol=1e-12)
    wanted = value.copy()
    wanted[2, -1], wanted[0, 1] = updates[1], updates[2]
    np.testing.assert_array_equal(T.nn.scatter_nd(x, at, updates).eval({x: value}), wanted)


def test_caches_of_attention_continue_a_sequence():
    """Steps with a cache give the rows of one causal call."""
    rng = np.random.default_rng(0)
    q, k, v = (rng.normal(size=(2, 4, 6, 3)), *(rng.normal(size=(2, 2, 6, 3)) for _ in range(2)))
    attend = functools.partial(T.nn.scaled_dot_product_attention, is_causal=True, enable_gqa=True)
    whole = attend(q, k, v).eval({})
    past = np.zeros((2, 2, 0, 3)), np.zeros((2, 2, 0, 3))
    for start, stop in ((0, 2), (2, 3), (3, 6)):
        y, past = attend(q[..., start:stop, :], k[..., start:stop, :], v[..., start:stop, :], cache=past)
        np.testing.assert_allclose(y.eval({}), whole[..., start:stop, :], rtol=1e-12)


def test_targets_that_attend_to_nothing():
    q = T.matrix("q")
    kept = np.array([[True, False], [False, False]])
    y = T.nn.scaled_dot_product_attention(q, q, q, kept)
    value = np.array([[1.0, 2], [3, 4]])
    np.testing.assert_array_equal(y.eval({q: value}), [[1, 2], [0, 0]])
    assert np.isfinite(ag.grad(T.sum(y), q).eval({q: value})).all()


def test_lengths_of_recurrent_layers():
    """Each example gives what it gives alone, cut to its length."""
    rng = np.random.default_rng(0)
    x, w, u, b = rng.normal(size=(5, 3, 2)), rng.normal(size=(8, 2)), rng.normal(size=(8, 2)), rng.normal(size=8)
    y, (h, c) = T.nn.lstm(x, [(w, u, b, b)] * 2, lengths=[5, 2, 0], bidirectional=True)
    rows, last, cells = T.evaluate([y, h, c], {})
    for n, length in enumerate((5, 2)):
        alone, (h1, c1) = T.nn.lstm(x[:length, n : n + 1], [(w, u, b, b)] * 2, bidirectional=True)
        for whole, part in zip((rows[:length, n], last[:, n], cells[:, n]), T.evaluate([alone, h1, c1], {})):
            np.testing.assert_allclose(whole, part[:, 0], rtol=1e-12)
    assert not rows[2:, 1].any() and not rows[:, 2].any()


def test_losses_that_labels_do_not_fit():
    logs = np.log(np.full((2, 1, 3), 1 / 3))
    given = (logs, np.array([[1, 1]]), np.array([2]), np.array([2]))
    assert T.nn.ctc_loss(*given).eval({}) == np.inf
    assert T.nn.ctc_loss(*given, zero_infinity=True).eval({}) == 0


def test_lengths_of_labels_that_do_not_fit():
    """Each is refused when a function runs, for matrices and for joined vectors of labels."""
    x, i, n = T.tensor3("x"), T.lvector("i"), T.lvector("n")
    logs = np.log(np.full((3, 2, 4), 1 / 4))
    for labels, given in ((T.lvector("v"), [1, 2, 3]), (T.lmatrix("m"), [[1, 2], [3, 0]])):
        f = ag.function([x, labels, i, n], T.nn.ctc_loss(x, labels, i, n, reduction="none"))
        expected = -np.log(np.array([5, 6]) / 4**3)  # the alignments of two different labels, and of one
        np.testing.assert_allclose(f(logs, given, [3, 3], [2, 1]), expected, rtol=1e-12)
        for steps, counts, message in (
            ([4, 3], [2, 1], "input_lengths must be from 0 to 3"), ([3, 3], [4, -1], "target_lengths must be from 0"),
            ([3, 3], [5, 1], "target_lengths must be from 0"),
        ):  # fmt: skip
            with pytest.raises(ValueError, match=message):
                f(logs, given, steps, counts)
    joined = ag.function([x, labels := T.lvector("v"), i, n], T.nn.ctc_loss(x, labels, i, n, reduction="none"))
    for counts, total in (([1, 1], 2), ([3, 1], 4)):
        with pytest.raises(ValueError, match=f"targets has 3 labels, and the sum of target_lengths is {total}"):
            joined(logs, [1, 2, 3], [3, 3], counts)
    none = np.zeros(0, int)
    np.testing.assert_allclose(joined(logs[:, :1], none, [3], [0]), [3 * np.log(4)])
    assert joined(logs[:, :0], none, none, none).shape == (0,)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_running_statistics_of_instances(dtype):
    """Updates are PyTorch's: values it gave for these arrays; the frozen function normalizes by the averages."""
    a = np.sin(1.0 + np.arange(24)).reshape(2, 3, 2, 2).astype(dtype)
    mean, variance = ag.shared(np.array([0.5, -1, 2], dtype)), ag.shared(np.array([1, 2, 0.5], dtype))
    x, weight, bias = T.tensor4("x", dtype), np.array([1, 2, 3], dtype), np.array([0.5, 0, -1], dtype)
    y = T.nn.instance_norm(x, mean, variance, weight, bias, momentum=0.3, eps=1e-3)
    step = ag.function([x], y, updates=T.nn.running_updates(y))
    found, tolerance = step(a), {"float32": 2e-6, "float64": 1e-12}[dtype]
    centred = a - a.mean((2, 3), keepdims=True)
    scale = (slice(None), None, None)
    expected = centred / np.sqrt(a.var((2, 3), keepdims=True) + 1e-3) * weight[scale] + bias[scale]
    np.testing.assert_allclose(found, expected, rtol=20 * tolerance, atol=20 * tolerance)
    means = 0.7 * np.array([0.5, -1, 2]) + 0.3 * a.mean((0, 2, 3))
    spreads = 0.7 * np.array([1, 2, 0.5]) + 0.3 * a.var((2, 3), ddof=1).mean(0)
    for averages, held in ((mean, means), (variance, spreads)):
        np.testing.assert_allclose(averages.get_value(), held, rtol=tolerance, atol=tolerance)
    inferred = (a - means[scale]) / np.sqrt(spreads[scale] + 1e-3) * weight[scale] + bias[scale]
    np.testing.assert_allclose(ag.freeze(step, y)(a), inferred, rtol=20 * tolerance, atol=20 * tolerance)


@pytest.mark.long
def test_running_statistics_of_instances_are_those_of_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    a, mean, variance = rng.normal(size=(3, 4, 5)), rng.normal(size=4), rng.uniform(1, 2, 4)
    x, shared = T.tensor3("x"), [ag.shared(v.copy()) for v in (mean, variance)]
    y = T.nn.instance_norm(x, *shared, momentum=0.2)
    found = ag.function([x], y, updates=T.nn.running_updates(y))(a)
    running = [torch.tensor(v) for v in (mean, variance)]
    expected = torch.nn.functional.instance_norm(torch.tensor(a), *running, momentum=0.2)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12, atol=1e-12)
    for mine, held in zip(shared, running):
        np.testing.assert_allclose(mine.get_value(), held.numpy(), rtol=1e-14)


def test_functions_that_draw():
    """Whole channels are dropped, means and variances kept, draws of classes follow their probabilities."""
    stream, value = T.random.RandomStream(3), np.random.default_rng(0).normal(size=(40, 50, 4))
    logits = np.log(np.broadcast_to([0.2, 0.5, 0.3], (4000, 3)))
    x, y = T.tensor3("x"), T.matrix("y")
    soft, hard = (T.nn.gumbel_softmax(y, 0.5, hard, rng=stream) for hard in (False, True))
    drawn = [
        T.nn.dropout1d(x, 0.25, stream), T.nn.alpha_dropout(x, 0.25, stream), T.nn.rrelu(x, 0.1, 0.3, stream),
        T.nn.feature_alpha_dropout(x, 0.25, stream), soft, hard, ag.grad(T.sum(hard * np.arange(3.0)), y),
    ]  # fmt: skip
    channels, alpha, noisy, features, shares, classes, slopes = ag.function([x, y], drawn, mode="NUMPY")(value, logits)
    kept = channels[..., 0] != 0
    np.testing.assert_allclose(channels, np.where(kept[..., None], value / 0.75, 0), rtol=1e-12)
    assert abs(kept.mean() - 0.75) < 0.03
    for found in (alpha, features):
        assert abs(found.mean()) < 0.05 and abs(found.var() - 1) < 0.1
    low = (features == features[..., :1]).all(axis=2)
    assert abs(low.mean() - 0.25) < 0.03
    ratio = (noisy / value)[value < 0]
    assert 0.1 <= ratio.min() < 0.105 and 0.295 < ratio.max() <= 0.3
    np.testing.assert_allclose(shares.sum(1), 1)
    assert set(classes.ravel().round(9)) == {0, 1}
    np.testing.assert_allclose(classes.mean(0), [0.2, 0.5, 0.3], atol=0.03)
    assert np.abs(slopes).max() > 0


X, M = T.tensor("x", shape=(2, 4, 6, 6)), T.matrix("m")


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: T.nn.group_norm(X, 3), ValueError, "group_norm: num_groups is 3, and the 4 channels"),
        (lambda: T.nn.group_norm(X, 2, M), TypeError, r"group_norm: weight must be a vector, .*got m"),
        (lambda: T.nn.instance_norm(M), TypeError, "instance_norm: x must be of rank 3 or more, .*got m"),
        (lambda: T.nn.instance_norm(X, T.vector("v")), TypeError, "running_mean and running_var are given together"),
        (lambda: T.nn.instance_norm(X, use_input_stats=False), TypeError, "together, and with use_input_stats=False"),
        (lambda: T.nn.instance_norm(X, M[0], M[0]), TypeError, "instance_norm: running is .*two shared vectors"),
        (lambda: T.nn.instance_norm(X[:, :, :1, :1], M[0], M[0]), ValueError, "running_var needs two elements"),
        (lambda: T.nn.one_hot(M), TypeError, "one_hot: without classes labels must be integers, got m"),
        (lambda: T.nn.embedding([0], np.ones((3, 2)), 3), ValueError, "embedding: padding_idx is 3, and .* has 3 rows"),
        (lambda: T.nn.embedding([0], M, 1.0), TypeError, "embedding: padding_idx must be an integer or None, got"),
        (lambda: T.nn.prelu(X, np.ones(3)), ValueError, "prelu: weight has 3 elements, expected 4"),
        (lambda: T.nn.glu(T.tensor("y", shape=(3,))), ValueError, "glu: the length of axis 0 must be even"),
        (lambda: T.gelu(X, "erf"), ValueError, """gelu: approximate must be "none" or "tanh", got 'erf'"""),
        (lambda: T.nn.local_response_norm(X, 0), ValueError, "local_response_norm: size must be 1 or more"),
        (lambda: T.nn.conv_transpose2d(X, np.ones((3, 2, 2, 2))), ValueError, "w has kernels for 3 channels"),
        (lambda: T.nn.conv_transpose2d(X, np.ones((4, 2, 2, 2)), output_padding=1), ValueError, "less than the stride"),
        (lambda: T.nn.conv_transpose2d(X, np.ones((4, 2, 2, 2)), padding=4), ValueError, "no positions are left"),
        (lambda: T.nn.conv_transpose1d(X, X), TypeError, "conv_transpose1d: x has rank 3"),
        (lambda: T.nn.max_pool1d(X, 2), TypeError, r"max_pool1d: x must be .*rank 3.* got x"),
        (lambda: T.nn.max_pool2d(X, 2, padding=((0, 2), (0, 0))), ValueError, "padding must be less than the window"),
        (lambda: T.nn.adaptive_avg_pool2d(X, (1, 2, 3)), ValueError, "output_size has one number for each of 2 axes"),
        (lambda: T.nn.adaptive_max_pool2d(X, 0), ValueError, "output_size must be 1 or more, got 0"),
        (lambda: T.nn.max_unpool2d(X, X, 2), TypeError, "max_unpool2d: indices must be integers"),
        (lambda: T.nn.unfold(X, 7), ValueError, "unfold: the kernel extends over 7 positions of axis 2"),
        (lambda: T.nn.fold(X, 6, 2), TypeError, "fold: x must be of rank 3"),
        (lambda: T.nn.pixel_shuffle(X, 3), ValueError, "pixel_shuffle: 4 channels are no multiple of 9"),
        (lambda: T.nn.pixel_unshuffle(X, 4), ValueError, "must be multiples of 4"),
        (lambda: T.nn.gather_nd(X, np.zeros((2, 5), int)), ValueError, "indices name 5 axes after 0"),
        (lambda: T.nn.gather_nd(X, X), TypeError, "gather_nd: indices must be integers"),
        (lambda: T.nn.scatter_nd(X, np.zeros((2, 1), int), X, "sum"), ValueError, "reduction must be one of"),
        (lambda: T.nn.scatter_nd(X, np.zeros((2, 1), int), M), TypeError, "updates must be of rank 4"),
        (lambda: T.nn.interpolate(X), ValueError, "exactly one of size and scale_factor"),
        (lambda: T.nn.interpolate(X, 3, mode="linear"), TypeError, 'mode "linear" takes x of rank 3'),
        (lambda: T.nn.interpolate(X, 3, mode="cubic"), ValueError, "mode must be one of"),
        (lambda: T.nn.interpolate(X, 3, align_corners=True), ValueError, "align_corners goes with"),
        (lambda: T.nn.grid_sample(X, M), TypeError, "grid_sample: expected x"),
        (lambda: T.nn.grid_sample(X, X[..., :2], "cubic"), ValueError, "mode must be one of"),
        (lambda: T.nn.affine_grid(M, (1, 1, 2, 2)), TypeError, r"theta must be \(images, 2, 3\)"),
        (lambda: T.nn.mse_loss(X, M), TypeError, "mse_loss: x and target must be of one rank"),
        (lambda: T.nn.mse_loss(X, X, "avg"), ValueError, "mse_loss: reduction must be"),
        (lambda: T.nn.mse_loss(np.ones(3), np.ones(4)), ValueError, "lengths of axis 0 differ, 3 and 4"),
        (lambda: T.nn.cross_entropy(M, M[0]), TypeError, "target must be integer labels of rank 1"),
        (lambda: T.nn.cross_entropy(M, [0], label_smoothing=2.0), ValueError, "label_smoothing must be from 0 to 1"),
        (lambda: T.nn.huber_loss(M, M, delta=0), ValueError, "delta must be positive"),
        (lambda: T.nn.pdist(M), ValueError, "the number of rows must be known"),
        (lambda: T.nn.ctc_loss(X, M, M, M), TypeError, "ctc_loss: log_probs must be floats of rank 3"),
        (lambda: T.nn.scaled_dot_product_attention(M, M[0], M), TypeError, "key must be of rank 2 or more"),
        (lambda: T.nn.scaled_dot_product_attention(M, M, M, dropout_p=0.5), TypeError, "dropout_p needs rng"),
        (lambda: T.nn.multi_head_attention(X[0], X[0], X[0], 4, np.ones((18, 6))), ValueError, "no multiple of num_h"),
        (lambda: T.nn.lstm(X[0], []), TypeError, "lstm: weights must be a list"),
        (lambda: T.nn.lstm(X[0], [(np.ones((8, 6)), np.ones((8, 3)))]), ValueError, "W has 8 rows, expected 4 times 3"),
        (lambda: T.nn.linear(M, X), TypeError, r"linear: w must be \(outputs, features\) or a vector"),
        (lambda: T.nn.dropout2d(M, 0.5, None), TypeError, "dropout2d: x must be of rank 4"),
        (lambda: T.nn.dropout2d(X, 0.5, None), TypeError, "dropout2d: rng is None; expected a stream"),
        (lambda: T.nn.rnn(X[0], [(M, M)], nonlinearity="gelu"), ValueError, "nonlinearity must be"),
    ],
)  # fmt: skip
def test_errors(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


# --- torch itself


def torchs(name, seed):
    """The value and the gradients that torch gives a case, for the weighted sum of its values."""
    torch = pytest.importorskip("torch")
    arrays, options, _ = drawn(name, seed)
    places = floats_of(name, arrays) if CASES[name].differentiable else []
    given = [torch.tensor(a, requires_grad=k in places) for k, a in enumerate(arrays)]
    found = CASES[name].torchs(*given, **options)
    value = found.detach().numpy()
    if not places:
        return value, []
    cost = (found * torch.tensor(weights_of(value))).sum()
    slopes = torch.autograd.grad(cost, [given[k] for k in places], allow_unused=True)
    return value, [np.zeros_like(arrays[k]) if s is None else s.numpy() for k, s in zip(places, slopes)]


def held_values():
    """The text of functional_values.json."""
    rows = {}
    for name in CASES:
        value, slopes = torchs(name, 0)
        sums = [float(f"{np.sum(v * weights_of(v)):.12g}") for v in (value, *slopes)]
        rows[name] = {"shape": list(value.shape), "sum": sums[0], "slopes": sums[1:]}
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items()) + "\n}\n"


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")  # torch's
def test_held_values_are_those_of_torch():
    pytest.importorskip("torch")
    assert json.loads(held_values()).keys() == HELD.keys()
    for name, row in json.loads(held_values()).items():
        assert row["shape"] == HELD[name]["shape"]
        np.testing.assert_allclose([row["sum"], *row["slopes"]], [HELD[name]["sum"], *HELD[name]["slopes"]], rtol=1e-9,
                                   atol=1e-9)  # fmt: skip


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")  # torch's
@pytest.mark.parametrize("seed", mostly_long(range(8), range(2)))
def test_torch_agrees_on_drawn_arguments(seed):
    """Compiled values and gradients are those of torch."""
    pytest.importorskip("torch")
    for name in CASES:
        value, slopes = torchs(name, seed)
        inputs, arrays, result = built(name, seed, seed % 2 == 0)
        cost = T.sum(result * weights_of(value))
        places = floats_of(name, arrays) if CASES[name].differentiable else []
        found = ag.grad(cost, [inputs[k] for k in places], disconnected="zero")
        got, *grads = ag.function(inputs, [result, *found], on_unused_input="ignore")(*arrays)
        np.testing.assert_allclose(got, value, rtol=1e-9, atol=1e-9, err_msg=name)
        for k, mine, expected in zip(places, grads, slopes, strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-8, atol=1e-8, err_msg=f"{name}, operand {k}")
