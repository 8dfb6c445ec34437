"""Convolutions made one with what follows them: which are, and values against NumPy whatever lengths turn out to be."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from draws import mostly_long
from test_convolution import CONV, by_slices, layouts

import arignote as ag
from arignote import ops as T
from arignote.cbackend.program.program import Call
from arignote.graph import FunctionGraph
from arignote.ops.elementwise.costs import additions
from arignote.ops.lowered.fused_product import FusedProduct

RNG = np.random.default_rng(11)
X, W, B, R = T.tensor4("x", "float32"), T.tensor4("w", "float32"), T.vector("b", "float32"), T.tensor4("r", "float32")
ONE_IMAGE = T.tensor("x1", "float32", (1, 8, 10, 10))
OWN = T.tensor("own", "float32", (8, 1, 3, 3))
POINTS = T.tensor("points", "float32", (None, None, 1, 1))
Y = T.nn.conv2d(X, W)
BIASED = T.nn.conv2d(X, W, B)
SEQUENCE, SPAN = T.tensor3("s", "float32"), T.tensor3("t", "float32")


def convolutions(*outputs, **options):
    """How many convolutions are inside of fused nodes, and how many outside."""
    inputs = (X, W, B, R, ONE_IMAGE, OWN, POINTS, SEQUENCE, SPAN)
    graph = ag.rewrite(FunctionGraph(inputs, outputs, **options), "fast_run")
    found = [n.op.product for n in graph.order if isinstance(n.op, FusedProduct)]
    separate = [n.op for n in graph.order if isinstance(n.op, T.Convolution)]
    return sum(isinstance(op, T.Convolution) for op in found), len(separate)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (T.nn.relu(BIASED), (1, 0)),
        (BIASED, (1, 0)),
        (T.tanh(Y), (1, 0)),
        (2 * Y, (1, 0)),
        (T.nn.relu(BIASED + R), (1, 0)),  # the end of a residual block
        (T.nn.relu(Y * R[:, :, :1, :1] + B[:, None, None]), (1, 0)),
        (T.cast(Y, "float64"), (1, 0)),
        (T.nn.relu(T.nn.conv2d(ONE_IMAGE, W, B)), (1, 0)),
        (T.nn.relu(T.nn.conv2d(ONE_IMAGE, OWN, B, groups=8)), (1, 0)),
        (T.nn.relu(T.nn.conv2d(X, POINTS, B)), (1, 0)),
        (T.nn.relu(T.nn.conv1d(SEQUENCE, SPAN, B, padding=1)), (1, 0)),
        (T.nn.relu(T.nn.conv2d(T.nn.relu(BIASED), W, B)), (2, 0)),
        (T.nn.relu(T.nn.conv2d(X, W, B) + T.nn.conv2d(R, W)), (1, 1)),  # into the first that is read
        (T.sum(T.tanh(Y)), (0, 1)),  # a reduction has loops of its own
        (T.nn.max_pool2d(Y, 2), (0, 1)),
        (Y, (0, 1)),
        (T.tanh(T.nn.conv2d(T.cast(X, "float16"), T.cast(W, "float16"))), (0, 1)),
        (T.abs(T.nn.conv2d(T.cast(X, "int32"), T.cast(W, "int32"))), (0, 1)),
    ],
)
def test_convolutions_with_one_elementwise_reader_are_made_one_with_it(output, expected):
    assert convolutions(output) == expected


def test_a_convolution_that_is_read_elsewhere_stays_separate():
    assert convolutions(T.tanh(Y), Y) == (0, 1)
    assert convolutions(T.tanh(Y), T.sum(Y)) == (0, 1)
    assert convolutions(T.tanh(Y), T.exp(Y)) == (1, 0)  # one group, of two outputs
    assert convolutions(R - 0.1 * T.tanh(Y)) == (1, 0)
    assert convolutions(R - 0.1 * T.tanh(Y), updates=[(3, 0)]) == (0, 1)  # written over the old value instead


@pytest.mark.parametrize("inputs", [(X, W), (ONE_IMAGE, W), (X, POINTS), (ONE_IMAGE, OWN)])
def test_it_is_one_call(inputs):
    """conv + broadcast add + relu: one node beside views, and one step that writes."""
    x, w = inputs
    f = ag.function([x, w, B], T.nn.relu(T.nn.conv2d(x, w, B, groups=8 if w is OWN else 1)))
    assert [n.op.name for n in f.graph.order] == ["dimshuffle", "fused_product"]
    assert len([step for step in f.program.steps if isinstance(step, Call)]) == 1


# --- values


def near(found, expected, bound, depth):
    """As exact as sums of so many products, and a few operations more, are; no function here enlarges errors."""
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert (abs(found.astype("float64") - expected) <= (depth + 8) * np.finfo("float32").eps * (bound + 4)).all()


def case(seed):
    """Shapes of x and w, and keywords."""
    rng = np.random.default_rng(seed)
    axes, groups = int(rng.choice([1, 2, 2, 3])), int(rng.choice([1, 1, 2, 3]))
    group, each = int(rng.choice([1, 2, 5])), int(rng.choice([1, 3, 9, 20]))
    kernel = [int(n) for n in rng.integers(1, 4 if axes < 3 else 3, axes)]
    keywords = {
        "stride": tuple(int(n) for n in rng.integers(1, 3, axes)), "padding": int(rng.integers(0, 2)),
        "dilation": int(rng.choice([1, 1, 2])), "groups": groups,
    }  # fmt: skip
    lengths = [keywords["dilation"] * (k - 1) + 1 + int(rng.integers(0, 14 if axes < 3 else 4)) for k in kernel]
    images = int(rng.choice([0, 1, 2, 5]))
    return (images, group * groups, *lengths), (each * groups, group, *kernel), keywords


@pytest.mark.long
@pytest.mark.parametrize("first", mostly_long(range(8), {0, 1}))
def test_random_parameters(first):
    """A bias, a scaling, a residual that is broadcast or not, of which nothing or all is known beforehand.

    Five draws share one function; each convolution has inputs of its own.
    """
    inputs, outputs, values, expected = [], [], [], []
    for seed in range(first, 40, 8):
        x_shape, w_shape, keywords = case(seed)
        rng = np.random.default_rng(seed)
        x, w, b = (rng.normal(size=s).astype("float32") for s in (x_shape, w_shape, w_shape[:1]))
        both = x.astype("float64"), w.astype("float64")
        exact, bound = by_slices(*both, **keywords), by_slices(*map(abs, both), **keywords)
        residual = rng.normal(size=[n if rng.random() < 0.7 else 1 for n in exact.shape]).astype("float32")
        scaled = 0.5 * exact + b.reshape(-1, *[1] * (x.ndim - 2))
        wanted = np.maximum(scaled, 0).astype("float32"), np.maximum(scaled + residual, 0).astype("float32"), scaled
        for known, given in itertools.product((False, True), ((x, w, b), (x, w, b, residual))):
            operands = [T.tensor(None, "float32", v.shape if known else (None,) * v.ndim) for v in given]
            y = 0.5 * CONV[x.ndim - 2](*operands[:2], **keywords) + T.reshape(operands[2], (-1, *[1] * (x.ndim - 2)))
            followed = [T.nn.relu(y)] if len(given) == 3 else [T.maximum(y + operands[3], 0), T.cast(y, "float64")]
            inputs += operands
            values += given
            outputs += followed
            expected += [(w, bound, w_shape[1:]) for w in (wanted[:1] if len(given) == 3 else wanted[1:])]
    for found, (wanted, bound, depth) in zip(ag.function(inputs, outputs)(*values), expected, strict=True):
        near(found, wanted, bound, int(np.prod(depth)))


@pytest.fixture(scope="module")
def residual():
    return ag.function([X, W, R], T.tanh(T.nn.conv2d(X, W) + R))


def test_addends_of_all_strides(residual):
    x, w, r = (RNG.normal(size=s).astype("float32") for s in ((3, 4, 12, 11), (9, 4, 3, 3), (3, 9, 10, 9)))
    exact = by_slices(x.astype("float64"), w.astype("float64"))
    for _, given in layouts(r):
        near(residual(x, w, given), np.tanh(exact + given).astype("float32"), 40.0, 40)


@pytest.mark.parametrize("addend", [(1, 1, 1, 1), (2, 1, 3, 1), (1, 6, 1, 4), (5, 6, 3, 4), (2, 6, 3, 4), (2, 1, 1, 4)])
@pytest.mark.parametrize("x", [(2, 3, 3, 4), (1, 3, 3, 4), (2, 3, 1, 4), (2, 3, 3, 1), (1, 3, 1, 1)])
@pytest.mark.parametrize("outputs", [1, 6])
def test_either_may_be_broadcast(residual, x, outputs, addend):
    """Which shows at run time: a convolution that is broadcast has memory of its own."""
    x, w, r = (RNG.normal(size=s).astype("float32") for s in (x, (outputs, 3, 1, 1), addend))
    exact = by_slices(x, w)
    try:
        expected = np.tanh(exact.astype("float64") + r)
    except ValueError:
        with pytest.raises(ValueError, match="do not agree on axis"):
            residual(x, w, r)
        return
    near(residual(x, w, r), expected.astype("float32"), 40.0, 12)


def test_sizes_of_nothing(residual):
    for x, w, out in [
        ((0, 3, 5, 5), (4, 3, 3, 3), (0, 4, 3, 3)), ((2, 0, 5, 5), (4, 0, 3, 3), (2, 4, 3, 3)),
        ((2, 3, 5, 5), (0, 3, 3, 3), (2, 0, 3, 3)), ((2, 0, 3, 3), (4, 0, 3, 3), (2, 4, 1, 1)),
    ]:  # fmt: skip
        found = residual(np.ones(x, "float32"), np.ones(w, "float32"), np.ones(out, "float32"))
        near(found, np.tanh(np.ones(out)).astype("float32") if 0 in x[1:2] else np.zeros(out, "float32"), 1.0, 1)


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("shapes", "keywords"),
    [
        (((2, 40, 37, 41), (50, 40, 3, 3)), {"padding": 1}), (((40, 8, 9, 9), (8, 4, 3, 3)), {"groups": 2}),
        (((2, 64, 30, 30), (100, 64, 1, 1)), {}), (((1, 150, 14, 14), (64, 150, 3, 3)), {"stride": 2}),
        (((300, 6, 4, 4), (5, 6, 1, 1)), {}), (((4, 32, 60, 60), (32, 1, 3, 3)), {"groups": 32}),
    ],
)  # fmt: skip
def test_bits_do_not_depend_on_threads(shapes, keywords):
    values = [RNG.normal(size=s).astype("float32") for s in (*shapes, shapes[1][:1])]
    inputs = [T.tensor(n, "float32", v.shape) for n, v in zip("xwb", values)]
    y = T.nn.relu(T.nn.conv2d(*inputs, **keywords))
    first, *others = (ag.function(inputs, y, threads=n)(*values) for n in (1, 2, 5))
    x, w, b = values
    exact = by_slices(x[:1].astype("float64"), w.astype("float64"), **keywords) + b[:, None, None]
    bound = by_slices(abs(x[:1]).astype("float64"), abs(w).astype("float64"), **keywords)
    near(first[:1], np.maximum(exact, 0).astype("float32"), bound, w[0].size)
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_special_values_go_through(residual):
    x, w, r = (RNG.normal(size=s).astype("float32") for s in ((1, 2, 6, 7), (3, 2, 3, 3), (1, 3, 4, 5)))
    x[0, 0, 2, 3], w[1, 0, 0, 0], r[0, 2, 1, 1] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        expected = np.tanh(by_slices(x, w).astype("float64") + r)
    np.testing.assert_allclose(residual(x, w, r), expected, rtol=1e-4, atol=1e-5)


def test_derivatives_go_through():
    """A step back through a block equals that of the graph without optimization."""
    x, w, b = (RNG.normal(size=s).astype("float32") for s in ((2, 3, 7, 6), (4, 3, 3, 3), (4,)))
    cost = T.sum(T.tanh(T.nn.conv2d(X, W, B, stride=2, padding=1)) ** 2)
    found, expected = (ag.function([X, W, B], ag.grad(cost, [X, W, B]), mode=m)(x, w, b) for m in ("FAST_RUN", "NUMPY"))
    for some, other in zip(found, expected):
        np.testing.assert_allclose(some, other, rtol=1e-4, atol=1e-4)


def test_other_backends_profiles_and_pickles_agree():
    x, w, b = (RNG.normal(size=s).astype("float32") for s in ((2, 3, 9, 8), (4, 3, 3, 3), (4,)))
    output = T.nn.relu(BIASED)
    f = ag.function([X, W, B], output)
    expected = f(x, w, b)
    near(ag.function([X, W, B], output, mode=ag.Mode("fast_run fusion", backend="numpy"))(x, w, b), expected, 40.0, 27)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(f))(x, w, b), expected)
    many = ag.vmap(lambda x: T.nn.relu(T.nn.conv2d(x, W, B)))(T.stack([X, X]))
    np.testing.assert_allclose(ag.function([X, W, B], many)(x, w, b), [expected] * 2, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("own", [False, True])
def test_the_profile_counts_both(own):
    x, w, b = T.tensor("x", "float32", (2, 3, 9, 8)), T.tensor("w", "float32", (3, 1 if own else 3, 3, 3)), B
    f = ag.function([x, w, b], T.nn.relu(T.nn.conv2d(x, w, b, groups=3 if own else 1)), profile=True)
    f(*(np.ones(v, "float32") for v in ((2, 3, 9, 8), w.type.shape, (3,))))
    (step,) = (s for s in f.profile.steps if s.kernel)
    results = 2 * 3 * 7 * 6
    relu = additions(T.maximum(x, 0).owner)
    assert step.flops == results * (2 * 9 * (1 if own else 3) + 1 + relu)  # one for the bias
    assert own or step.kernel == "ag_window_product, ag_pack"  # w is packed if it does not lie well
    assert "convolution+add+maxi" in str(f.profile)


# --- what does not fit, and how it is computed


def test_what_does_not_fit_is_named(residual):
    f = ag.function([X, W, B], T.nn.relu(BIASED))
    zeros = lambda *shape: np.zeros(shape, "float32")  # noqa: E731
    for given, message in [
        (((4, 2, 3, 3), 4), r"(?s)lengths 3 and 2 .* axis 1: x .*in convolution\(x, w\)"),
        (((4, 3, 3, 3), 5), r"(?s)lengths 4 and 5 .* axis 1: convolution\(x, w\).*in add"),
        (((4, 3, 6, 3), 4), r"(?s)over 6 positions of axis 2.*in convolution\(x, w\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            f(zeros(1, 3, 5, 5), zeros(*given[0]), zeros(given[1]))
    with pytest.raises(ValueError, match=r"lengths 3 and 2 do not agree on axis 3: convolution\(x, w\) .*, r "):
        residual(zeros(1, 3, 5, 5), zeros(4, 3, 3, 3), zeros(1, 4, 3, 2))
    assert f(zeros(1, 3, 5, 5), zeros(4, 3, 3, 3), zeros(4)).shape == (1, 4, 3, 3)


@pytest.mark.long
def test_one_kernel_for_all_shapes():
    """Lengths of 1 that are known do not shape what follows a convolution."""
    kernels = set()
    for images, height, outputs in itertools.product((None, 1), (None, 3), (None, 1)):
        x, w = T.tensor("x", "float32", (images, 2, height, 9)), T.tensor("w", "float32", (outputs, 2, 3, 3))
        f = ag.function([x, w], T.tanh(T.nn.conv2d(x, w)))
        kernels |= {kernel.name for kernel in f.program.kernels}
        shapes = (images or 4, 2, height or 5, 9), (outputs or 3, 2, 3, 3)
        one, two = (RNG.normal(size=s).astype("float32") for s in shapes)
        near(f(one, two), np.tanh(by_slices(one, two)), 40.0, 18)
    assert len(kernels) == 1


def test_the_kernel_runs_on_blocks_in_the_memory_of_the_output(golden):
    """The bias may broadcast the outputs at run time: only then has the convolution memory of its own."""
    text = ag.function([X, W, B], T.nn.relu(T.nn.conv2d(X, W, B, stride=2))).c_source()
    start = text.index("    /* 1: ")
    golden("convolution_epilogue.c", text[start : text.index("    /* 2: outputs */", start)])
