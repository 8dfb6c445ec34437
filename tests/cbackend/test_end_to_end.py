"""Random expressions: every mode's result against the NumPy meaning of the graph as it was built.

Tolerances follow from the operations, not from the outcome: each of the at most 25 operations of an expression is
right to 4 ulp and amplifies what it gets by a bounded factor, because arguments are kept in [-2, 2] by `tanh` and
divisions stay off zero.
"""

import itertools

import numpy as np
import pytest
from draws import mostly_long
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.core.interpret import interpret

SHAPES = [(), (1,), (5,), (1, 5), (4, 5), (4, 1), (3, 4, 5), (17,), (33, 17), (40, 3)]
LAYOUTS = [
    lambda a: a, np.asfortranarray, lambda a: np.repeat(a, 2, axis=-1)[..., ::2], lambda a: a[::-1].copy()[::-1],
]  # fmt: skip
"""The same elements, elsewhere in memory."""
UNARY = [
    T.exp, T.sin, T.tanh, T.neg, T.abs, T.square, T.sigmoid, T.softplus, lambda v: T.log(1 + T.square(v)),
    lambda v: v * 2.5 + 1, lambda v: v - v.max() if v.ndim else v, lambda v: T.sqrt(1 + T.square(v)),
]  # fmt: skip
BINARY = [
    T.add, T.sub, T.mul, T.maximum, T.minimum,
    lambda a, b: a / (1 + T.square(b)), lambda a, b: T.where(a > b, a, b * 2),
]  # fmt: skip
REDUCE = [T.sum, T.mean, T.max, T.min, T.prod]


@st.composite
def expressions(draw):
    """(inputs, arrays, outputs): a random graph with shared values, broadcasting, reductions, views and products."""
    dtype = draw(st.sampled_from(["float64", "float32"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    known = [tuple(n if draw(st.booleans()) else None for n in s) for s in shapes]
    inputs = [T.tensor(f"x{n}", dtype=dtype, shape=s) for n, s in enumerate(known)]
    arrays = [np.asarray(rng.uniform(-1, 1, s), dtype=dtype) for s in shapes]
    arrays = [draw(st.sampled_from(LAYOUTS))(a) if a.ndim else a for a in arrays]
    pool = [(v, s) for v, s in zip(inputs, shapes, strict=True)]
    for _ in range(draw(st.integers(1, 8))):
        pool.append(draw(steps(pool)))
    picked = draw(st.lists(st.integers(0, len(pool) - 1), min_size=1, max_size=3))
    return inputs, arrays, [pool[k][0] for k in picked] + [pool[-1][0]]


@st.composite
def steps(draw, pool):
    """One more value upon those of the pool, with its shape."""
    value, shape = pool[draw(st.integers(0, len(pool) - 1))]
    kinds = ["unary", "unary", "binary", "binary", "reduce", "view", "slice", "softmax", "join", "running"]
    kind = draw(st.sampled_from(kinds))
    if kind == "binary":
        other, other_shape = pool[draw(st.integers(0, len(pool) - 1))]
        try:
            joint = np.broadcast_shapes(shape, other_shape)
        except ValueError:
            other, joint = value, shape
        return T.tanh(draw(st.sampled_from(BINARY))(value, other)), joint
    if not shape or kind == "unary":
        return T.tanh(draw(st.sampled_from(UNARY))(value)), shape
    axis = draw(st.integers(0, len(shape) - 1))
    if kind == "reduce":
        keep = draw(st.booleans())
        reduced = draw(st.sampled_from(REDUCE))(value, axis=axis, keepdims=keep)
        return reduced / 8, tuple(1 if k == axis else n for k, n in enumerate(shape) if keep or k != axis)
    if kind == "softmax":
        return T.nn.softmax(value, axis=axis), shape
    if kind == "running":
        return T.cumsum(value, axis=axis) / 8, shape
    if kind == "join":
        return T.concatenate([value, value * 0.5], axis=axis), tuple(n * (1 + (k == axis)) for k, n in enumerate(shape))
    if kind == "slice":
        index = (slice(None),) * axis + (draw(st.sampled_from([slice(None, None, -1), slice(1, None), slice(0, 1)])),)
        return value[index], np.empty(shape)[index].shape
    return value.T, shape[::-1]


def check(cases, mode):
    """Compare one function of several cases with the NumPy meaning of the graph; a second call gives equal bits."""
    inputs, arrays, outputs = ([v for case in cases for v in case[k]] for k in range(3))
    expected = interpret(FunctionGraph(inputs, outputs), arrays)
    function = ag.function(inputs, outputs, mode=mode, on_unused_input="ignore")
    got = function(*arrays)
    for mine, again in zip(got, function(*arrays), strict=True):
        assert mine.tobytes() == again.tobytes() and mine.strides == again.strides
    dtypes = [given[0].dtype for _, given, results in cases for _ in results]
    for mine, reference, dtype in zip(got, expected, dtypes, strict=True):
        eps = float(np.finfo(dtype).eps)
        assert mine.dtype == reference.dtype and mine.shape == reference.shape
        np.testing.assert_allclose(mine, reference, rtol=400 * eps, atol=100 * eps)


@pytest.mark.long
@settings(max_examples=15)
@given(st.lists(expressions(), min_size=4, max_size=4))
def test_optimized_c_means_what_numpy_means(cases):
    check(cases, "FAST_RUN")


@settings(max_examples=150)
@given(expressions())
def test_optimizers_keep_the_meaning(case):
    check([case], ag.Mode("fast_run fusion inplace blas_c", backend="numpy"))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "tag", ["merge", "canonicalize", "stabilize", "specialize", "fusion", "inplace", "BlasOpt", "uncanonicalize"]
)
def test_each_pass_can_be_left_out(tag):
    rng = np.random.default_rng(0)
    x, y, w = T.matrix("x"), T.lvector("y"), ag.shared(rng.standard_normal((6, 4)), name="w")
    p = T.nn.softmax(T.tanh(x @ w + 1.0))
    loss = T.nn.categorical_crossentropy(p, y).mean() + 0.1 * (w * w).sum()
    gradient = ag.grad(loss, w)
    images, labels = rng.standard_normal((9, 6)), rng.integers(0, 4, 9)
    reference = ag.function([x, y], [loss, gradient], mode="NUMPY")(images, labels)
    got = ag.function([x, y], [loss, gradient], mode=ag.Mode().excluding(tag))(images, labels)
    for mine, expected in zip(got, reference, strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("middle", ["int32", "int64"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_an_integer_made_of_a_float_has_no_sign_when_it_is_zero(dtype, middle):
    """gcc may take a float that was cut to an integer and back for a truncation, of which -0.3 has the zero -0.0."""
    x = T.vector("x", dtype=dtype)
    there_and_back = ag.function([x], T.cast(T.cast(x, middle), dtype))
    for data in (np.full(21, -0.3, dtype), np.array([-0.0, -2.5, 2.5, 100.75, -1e4], dtype)):
        np.testing.assert_array_equal(np.signbit(there_and_back(data)), np.signbit(data.astype(middle).astype(dtype)))
        np.testing.assert_array_equal(there_and_back(data), data.astype(middle).astype(dtype))


SHAPES_WITH_ONES = [(None, 1), (1, 1), (None, 3, 1), (1, None, 1), (1, None, 1, 1), (2, 3, 1, 1)]


@pytest.mark.long
@pytest.mark.parametrize("shape", mostly_long(SHAPES_WITH_ONES, SHAPES_WITH_ONES[::2]))
def test_axes_that_are_known_to_be_1_long(shape):
    functions = [T.softmax, T.log_softmax, T.logsumexp, T.cumsum, T.argmax, T.sum]
    cases = list(itertools.product(functions, range(len(shape))))
    inputs = [T.tensor(None, "float64", shape) for _ in cases]
    outputs = [function(x, axis=axis) for x, (function, axis) in zip(inputs, cases, strict=True)]
    data = [np.random.default_rng(0).normal(size=[4 if n is None else n for n in shape])] * len(cases)
    expected = interpret(FunctionGraph(inputs, outputs), data)
    for found, wanted, case in zip(ag.function(inputs, outputs)(*data), expected, cases, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13, err_msg=str(case))
