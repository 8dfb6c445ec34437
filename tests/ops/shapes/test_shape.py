"""Shapes as values, axes rearranged, tensors made and joined: against NumPy, with lengths known and unknown."""

import pickle
import re
from functools import partial
from operator import itemgetter

import numpy as np
import pytest
from against_numpy import DTYPES, assert_like_numpy, assert_same_call, sample
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph, dims_of, same_shape
from arignote.graph import dims as algebra

SHAPES = [(), (0,), (1,), (3,), (2, 3), (1, 3), (0, 2), (2, 1, 3), (2, 3, 1, 2)]


# --- axes rearranged


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_transposes(shape, dtype):
    x = sample(shape, dtype)
    n = len(shape)
    assert_like_numpy(T.transpose, np.transpose, x)
    assert_like_numpy(lambda v: v.T, lambda v: v.T, x)
    order = tuple(np.random.default_rng(1).permutation(n))
    assert_like_numpy(lambda v: T.transpose(v, order), lambda v: np.transpose(v, order), x)
    if n >= 2:
        assert_like_numpy(lambda v: T.swapaxes(v, 0, -1), lambda v: np.swapaxes(v, 0, -1), x)
        assert_like_numpy(lambda v: T.moveaxis(v, 0, -1), lambda v: np.moveaxis(v, 0, -1), x)
        assert_like_numpy(lambda v: T.moveaxis(v, (0, 1), (1, 0)), lambda v: np.moveaxis(v, (0, 1), (1, 0)), x)


@pytest.mark.parametrize("shape", SHAPES)
def test_new_axes_and_dropped_ones(shape):
    x = sample(shape)
    for axis in (0, -1, len(shape), (0, -1)):
        assert_same_call("expand_dims", x, axis)
    ones = tuple(k for k, n in enumerate(shape) if n == 1)
    assert_like_numpy(lambda v: T.squeeze(v, ones), lambda v: np.squeeze(v, ones), x)
    assert T.squeeze(T.tensor("x", shape=shape)).type.shape == tuple(n for n in shape if n != 1)


def test_dimshuffle():
    x = sample((2, 1, 3))
    assert_like_numpy(lambda v: v.dimshuffle(2, "x", 0), lambda v: v[:, 0].T[:, None], x)
    assert_like_numpy(lambda v: T.dimshuffle(v, (1, 0, -1)), lambda v: v.transpose(1, 0, 2), x)
    assert T.dimshuffle(T.tensor("x", shape=(None, 3)), 1, "x", 0).type.shape == (3, 1, None)


def test_an_axis_that_is_dropped_must_have_length_1():
    with pytest.raises(ValueError, match=r"axis 1 of x \(float64\[\?, 3\]\) cannot be dropped"):
        T.tensor("x", shape=(None, 3)).dimshuffle(0)
    x = T.matrix("x")
    with pytest.raises(ValueError, match=r"axis 0 of shape \(2, 3\) cannot be dropped"):
        T.squeeze(x, 0).eval({x: np.ones((2, 3))})


@pytest.mark.parametrize("order", [(0, 0), (2,), (-1, 0), ("y", 0, 1)])
def test_orders_that_are_none(order):
    with pytest.raises(ValueError, match="no order"):
        T.DimShuffle(order)(T.matrix())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: T.transpose(x, (0, 2)),
        lambda x: T.expand_dims(x, 4),
        lambda x: T.squeeze(x, 2),
        lambda x: T.swapaxes(x, 0, -3),
        lambda x: T.concatenate([x, x], axis=2),
        lambda x: T.flip(x, 3),
    ],
)
def test_axes_that_are_none(call):
    with pytest.raises(np.exceptions.AxisError, match=r"axis -?\d is out of bounds for rank"):
        call(T.matrix("x"))


# --- reshape


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((6,), (2, 3)), ((2, 3), (-1,)), ((2, 3), (3, -1)), ((), (1, 1)), ((0, 3), (3, 0)), ((2, 3, 4), (2, -1)),
        ((1,), ()),
    ],
)
def test_reshape(before, after, dtype):
    assert_like_numpy(lambda v: T.reshape(v, after), lambda v: np.reshape(v, after), sample(before, dtype))
    assert_like_numpy(lambda v: v.reshape(*after or ((),)), lambda v: v.reshape(after), sample(before))
    assert_like_numpy(lambda v: T.ravel(v.T), lambda v: v.T.ravel(), sample(before, dtype))


def test_reshape_by_lengths_of_other_tensors():
    x, y = sample((2, 6)), sample((3, 5))
    assert_like_numpy(lambda a, b: a.reshape((b.shape[0], -1)), lambda a, b: a.reshape(3, 4), x, y)
    assert_like_numpy(lambda a, b: a.reshape((-1, a.shape[1] // 2)), lambda a, b: a.reshape(-1, 3), x, y)
    assert_like_numpy(lambda a, b: a.T.reshape(a.shape), lambda a, b: a.T.reshape(2, 6), x, y)
    assert_like_numpy(lambda a, b: T.flatten(a, 1), lambda a, b: a.ravel(), x, y)
    assert_like_numpy(lambda a: T.flatten(a, 2), lambda a: a.reshape(2, 12), sample((2, 3, 4)))


def test_the_length_worked_out_says_where_it_comes_from():
    x = T.tensor3("x")
    y = x.reshape((x.shape[0], -1))
    assert dims_of(y)[0] is dims_of(x)[0]
    assert same_shape(y.reshape(x.shape), x)
    assert T.tensor("x", shape=(4, 6)).reshape((-1, T.lscalar("n"))).type.shape == (None, None)
    assert T.reshape(T.tensor("x", shape=(4, 6)), (T.lscalar("n"), 3)).type.shape == (8, 3)


@pytest.mark.parametrize(
    ("shape", "message"),
    [((4,), "6 elements"), ((4, -1), "6 elements"), ((-1, -1), "only one"), ((0, -1), "beside a length of 0")],
)
def test_reshape_refused_when_built(shape, message):
    with pytest.raises(ValueError, match=message):
        T.tensor("x", shape=(2, 3)).reshape(shape)


def test_reshape_refused_when_run():
    x, n = T.vector("x"), T.lscalar("n")
    y = x.reshape((n, -1))
    assert y.eval({x: np.arange(6.0), n: 3}).shape == (3, 2)
    for wrong in (4, -3):
        with pytest.raises(ValueError, match="cannot reshape"):
            y.eval({x: np.arange(6.0), n: wrong})


@pytest.mark.parametrize("wrong", [1.5, "3", T.vector("v"), None])
def test_lengths_are_integers(wrong):
    with pytest.raises((TypeError, ValueError), match=r"integer|not known"):
        T.matrix("x").reshape((wrong, 2))


def test_the_number_of_lengths_must_be_known():
    with pytest.raises(ValueError, match=r"number of elements of v \(int64\[\?\]\) is not known"):
        T.vector("x").reshape(T.lvector("v"))
    assert T.vector("x").reshape(T.tensor("v", "int64", (3,))).ndim == 3


# --- broadcasting


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("before", "after"), [((3,), (2, 3)), ((2, 1), (2, 5)), ((), (0, 2)), ((1, 3), (4, 1, 3)), ((1,), (0,))]
)
def test_broadcast_to(before, after, dtype):
    assert_like_numpy(lambda v: T.broadcast_to(v, after), lambda v: np.broadcast_to(v, after), sample(before, dtype))
    assert_like_numpy(lambda v: T.alloc(v, *after), lambda v: np.broadcast_to(v, after), sample(before, dtype))
    assert_like_numpy(lambda v: T.full(after, v), lambda v: np.full(after, v), sample(before, dtype))


def test_broadcast_to_what_cannot_be():
    with pytest.raises(ValueError, match=r"x \(float64\[3\]\) cannot be broadcast to length 4 on axis 1"):
        T.broadcast_to(T.tensor("x", shape=(3,)), (2, 4))
    with pytest.raises(ValueError, match="more axes than"):
        T.broadcast_to(T.matrix("x"), 4)
    x = T.vector("x")
    with pytest.raises(ValueError, match="broadcast"):
        T.broadcast_to(x, (2, 4)).eval({x: np.ones(3)})


# --- the shape as a value


def test_shape_is_a_vector_of_known_length():
    x = T.tensor3("x")
    assert T.shape(x).type.shape == (3,)
    assert len(list(x.shape)) == 3
    values = T.evaluate([x.shape, *x.shape, x.shape[-1], x.shape[1:]], {x: np.ones((2, 0, 5))})
    assert [v.tolist() for v in values] == [[2, 0, 5], 2, 0, 5, 5, [0, 5]]
    assert all(v.dtype == np.int64 for v in values)


def test_make_vector():
    assert_like_numpy(lambda a, b: T.stack([a, b, a]), lambda a, b: np.stack([a, b, a]), np.float32(1), np.float32(2))
    assert T.MakeVector()().eval({}).tolist() == []
    with pytest.raises(TypeError, match="scalars of one dtype"):
        T.MakeVector()(T.lscalar(), T.scalar())


@pytest.mark.parametrize(
    "length",
    [
        lambda x, n: x.shape[0] + 1,
        lambda x, n: 2 * x.shape[1] - x.shape[0],
        lambda x, n: n // 2,
        lambda x, n: x.shape[0] + (n > 2),
        lambda x, n: T.constant(np.int8(3)) + n,
        lambda x, n: T.maximum(n, x.shape[0]),
        lambda x, n: T.minimum(T.cast(n, "int32"), 3),
        lambda x, n: T.stack([n, x.shape[1]])[1],
        lambda x, n: T.switch(T.eq(n, 1), x.shape[0], n),
    ],
)
def test_lengths_to_dims_and_back(length):
    x, n = T.matrix("x"), T.lscalar("n")
    scalar = length(x, n)
    dim = T.tensor_to_dim(scalar)
    assert T.tensor_to_dim(T.dim_to_tensor(dim)) is dim
    for shape in [(1, 4), (2, 3)]:
        for k in (1, 7):
            expected, found = T.evaluate([scalar, T.dim_to_tensor(dim)], {x: np.ones(shape), n: k})
            assert expected == found


def test_a_joint_length_is_computed_at_run_time():
    x, y = T.vector("x"), T.vector("y")
    (dim,) = dims_of(x + y)
    for n, m, joint in [(1, 5, 5), (5, 1, 5), (1, 1, 1), (0, 1, 0), (3, 3, 3)]:
        assert T.dim_to_tensor(dim).eval({x: np.ones(n), y: np.ones(m)}) == joint


@pytest.mark.long
def test_deep_lengths_cost_little():
    n = T.lscalar("n")
    for _ in range(20_000):
        n = n + 1
    assert T.zeros(n).type.shape == (None,)


# --- tensors made


@pytest.mark.parametrize("dtype", DTYPES)
def test_filled_tensors(dtype):
    x = sample((2, 3), dtype)
    assert_like_numpy(lambda v: T.zeros((v.shape[1], 2), dtype), lambda v: np.zeros((3, 2), dtype), x)
    assert_like_numpy(lambda v: T.ones(v.shape, dtype), lambda v: np.ones((2, 3), dtype), x)
    assert_like_numpy(T.zeros_like, np.zeros_like, x)
    assert_like_numpy(T.ones_like, np.ones_like, x)
    assert_like_numpy(lambda v: T.zeros_like(v, "float32"), lambda v: np.zeros_like(v, "float32"), x)
    assert_like_numpy(lambda v: T.full_like(v, 1), lambda v: np.full_like(v, 1), x)
    assert_like_numpy(lambda v: T.full((2, 2), 1, dtype), lambda v: np.full((2, 2), 1, dtype), x)
    assert_like_numpy(lambda v: T.empty((0, 3), dtype), lambda v: np.empty((0, 3), dtype), x)


@pytest.mark.parametrize(
    "bounds", [(5,), (2, 9), (2, 9, 3), (9, 2, -2), (0,), (3, 1), (-4, 5, 4), (0, 7, 7), (8, 1, -7)]
)
@pytest.mark.parametrize("dtype", ["int64", "int32", "float32", "float64", "float16"])
def test_arange(bounds, dtype):
    as_arrays = [np.array(b, dtype) for b in bounds]
    assert_like_numpy(lambda *b: T.arange(*b, dtype=dtype), lambda *b: np.arange(*map(int, b), dtype=dtype), *as_arrays)
    assert T.arange(*bounds).type.shape == np.arange(*bounds).shape


def test_arange_of_fractions_is_numpys():
    rng = np.random.default_rng(4)
    for dtype in ("float16", "float32", "float64"):
        for _ in range(200):
            start, stop, step = rng.uniform(-9, 9, 3).astype(dtype)
            expected = np.arange(start, stop, step, dtype=dtype)
            np.testing.assert_array_equal(T.arange(start, stop, step, dtype=dtype).eval({}), expected, strict=True)


@pytest.mark.parametrize("value", [np.int8(3), np.int32(3), np.uint64(3), np.float32(3), 3, 3.0])
def test_the_dtype_of_arange(value):
    assert T.arange(value).dtype == np.arange(value).dtype


def test_the_length_of_arange_is_known_symbolically():
    x, n = T.vector("x"), T.lscalar("n")
    assert same_shape(T.arange(x.shape[0]), x)
    assert same_shape(T.arange(1, x.shape[0] + 1), x)
    for k in (0, 1, 5, -2):
        a = T.arange(2, n, 2)
        assert T.dim_to_tensor(dims_of(a)[0]).eval({n: k}) == len(range(2, k, 2))
    with pytest.raises(ValueError, match="step is 0"):
        T.arange(0, 5, 0)


@pytest.mark.parametrize("arguments", [(3,), (2, 4), (4, 2, 1), (3, 3, -2), (0, 2), (2, 2, 5)])
@pytest.mark.parametrize("dtype", ["float64", "bool", "int8", "complex64"])
def test_eye(arguments, dtype):
    assert_like_numpy(lambda *a: T.eye(*a, dtype=dtype), lambda *a: np.eye(*map(int, a), dtype=dtype), *arguments)


def test_linspace():
    for arguments in [(0.0, 1.0, 5), (2.0, -3.0, 7), (0.0, 1.0, 1), (1.0, 2.0, 0)]:
        for endpoint in (True, False):
            ours = T.linspace(*arguments, endpoint=endpoint).eval({})
            np.testing.assert_allclose(ours, np.linspace(*arguments, endpoint=endpoint), rtol=1e-15, atol=1e-16)
    assert T.linspace(0, 0.3, 4).eval({})[-1] == 0.3


# --- joined and taken apart


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_join(dtype, axis):
    x, y = sample((2, 3), dtype), sample((2, 3), dtype, seed=6)
    assert_like_numpy(lambda a, b: T.concatenate([a, b, a], axis), lambda a, b: np.concatenate([a, b, a], axis), x, y)
    assert_like_numpy(lambda a, b: T.stack([a, b], axis), lambda a, b: np.stack([a, b], axis), x, y)
    assert_like_numpy(lambda a, b: T.vstack([a, b]), lambda a, b: np.vstack([a, b]), x, y)
    assert_like_numpy(lambda a, b: T.hstack([a, b]), lambda a, b: np.hstack([a, b]), x, y)


def test_join_of_different_lengths_and_dtypes():
    x, y = sample((2, 0), "int32"), sample((2, 3), "float32")
    assert_like_numpy(lambda a, b: T.concatenate([a, b], 1), lambda a, b: np.concatenate([a, b], 1), x, y)
    assert_like_numpy(lambda a, b: T.vstack([a, b]), lambda a, b: np.vstack([a, b]), sample(3), sample((2, 3)))
    assert_like_numpy(lambda a, b: T.hstack([a, b]), lambda a, b: np.hstack([a, b]), sample(3), sample(1))
    a, b = T.tensor("a", shape=(None, 3)), T.tensor("b", shape=(2, 4))
    with pytest.raises(ValueError, match=r"lengths 3 and 4 of axis 1 differ, of a \(float64\[\?, 3\]\) and b"):
        T.concatenate([a, b])
    with pytest.raises(TypeError, match="tensors of one rank"):
        T.concatenate([a, T.vector()])


def _applied(after, before, value):
    return after(before(value))


@pytest.mark.parametrize("sections", [1, 2, 3, [2], [1, 4], [0, 6, 9]])
def test_split(sections):
    x = sample((6, 2))
    parts = len(np.split(x, sections))
    for part in map(itemgetter, range(parts)):
        for axis, given in [(0, x), (1, x.T.copy())]:
            ours, numpys = (partial(f, indices_or_sections=sections, axis=axis) for f in (T.split, np.split))
            assert_like_numpy(partial(_applied, part, ours), partial(_applied, part, numpys), given)


def test_split_into_unequal_parts():
    with pytest.raises(ValueError, match="cannot be cut into 4 equal parts"):
        T.split(T.tensor("x", shape=(6,)), 4)
    x = T.vector("x")
    with pytest.raises(ValueError, match="cannot be cut into 4 equal parts, its length is 6"):
        T.split(x, 4)[0].eval({x: np.ones(6)})


@pytest.mark.parametrize("shape", [(3,), (2, 3), (1, 0, 2)])
def test_tile_repeat_flip_roll_pad(shape):
    x = sample(shape)
    for reps in (2, (2, 1), (1, 3, 2), 0):
        assert_same_call("tile", x, reps)
    for axis in (None, *range(len(shape))):
        for by in (0, 2):
            assert_same_call("repeat", x, by, axis)
        for by in (0, 1, -2, 7):
            assert_same_call("roll", x, by, axis)
        assert_same_call("flip", x, axis)
    for width in (1, (0, 2), [(k, 1) for k in range(len(shape))]):
        assert_same_call("pad", x, width, constant_values=7)
    assert_same_call("repeat", x, [2, 0, 1][: shape[0]], 0)
    with pytest.raises(ValueError, match=r"mode must be one of 'constant', .*, got 'constantly'"):
        T.pad(T.vector(), 1, mode="constantly")


@pytest.mark.few(4)
@pytest.mark.parametrize("mode", ["edge", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("shape", [(1,), (3,), (2, 3), (4, 1, 2)])
def test_pad_with_elements_of_the_tensor(shape, mode):
    x = sample(shape)
    for width in (0, 1, (0, 2), (7, 9), [(k, 1) for k in range(len(shape))]):
        assert_same_call("pad", x, width, mode)
    v, n = T.vector("v"), T.lscalar("n")
    found = T.pad(v, (n, n + 1), mode).eval({v: sample(3), n: 2})
    np.testing.assert_array_equal(found, np.pad(sample(3), (2, 3), mode))
    assert_gradient(lambda v: T.pad(v, (2, 1), mode) ** 2, x)


def test_rolled_by_a_variable():
    assert_like_numpy(lambda v, k: T.roll(v, k, 1), lambda v, k: np.roll(v, int(k), 1), sample((2, 5)), 3)
    assert_like_numpy(lambda v, k: T.tile(v, (k, 1)), lambda v, k: np.tile(v, (int(k), 1)), sample((2, 5)), 3)


# --- derivatives


@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: T.transpose(x) * 2,
        lambda x: x.dimshuffle(1, "x", 0),
        lambda x: x.reshape((3, -1)),
        lambda x: T.broadcast_to(x[:, :1], (4, 2, 3)),
        lambda x: T.alloc(x, 5, 2, 3),
        lambda x: T.broadcast_to(x, (x.shape[0], 3)),
        lambda x: T.concatenate([x, x * x, x[:1]], 0),
        lambda x: T.stack([x, x * x], 1),
        lambda x: T.stack([x[0, 0], x[1, 1], x[0, 0] * x[0, 1]]),
        lambda x: T.split(x * x, 3, 1)[1],
        lambda x: T.tile(x, (2, 2)),
        lambda x: T.repeat(x, 3, 1),
        lambda x: T.flip(x, 0) * x,
        lambda x: T.roll(x, 1, 1) * x,
        lambda x: T.pad(x, 1) * 3,
        lambda x: T.squeeze(x[:, :1], 1),
        lambda x: T.full((2, 2), x[0, 0]),
        lambda x: x * x.shape[0],
    ],
)
def test_derivatives(function, static):
    assert_gradient(function, sample((2, 3)), static=static)


def test_derivatives_of_arange():
    assert_gradient(lambda a, s: T.arange(a, 10.0, s) ** 2, np.array(0.7), np.array(1.9))


def test_broadcast_at_run_time():
    for shape in [(1, 3), (2, 1), (1, 1), (2, 3)]:
        assert_gradient(lambda x: T.broadcast_to(x, (2, 3)) ** 2, sample(shape), static=False)


# --- ops as values


@pytest.mark.parametrize(
    "op",
    [T.DimShuffle((1, "x")), T.Shape(), T.ShapeI(1), T.Reshape(), T.Join(0), T.Eye("int8"), T.Alloc(), T.MakeVector()],
)
def test_ops_are_values(op):
    again = pickle.loads(pickle.dumps(op))
    assert again == op
    assert hash(again) == hash(op)
    assert re.fullmatch(r"[a-z_]+(\{.*\})?", str(op))


def test_views_and_new_memory():
    assert T.DimShuffle((0,)).views() == T.Reshape().views() == T.BroadcastTo().views() == {0: 0}
    assert T.Alloc().views() == T.Join(0).views() == {}


def test_a_length_of_an_op_applied_twice_is_not_shared():
    """Opaque lengths of a group belong to each use of it."""
    x, n = T.vector(), T.lscalar()
    group = T.Fused(FunctionGraph([x, n], [x[n:] * 2]))
    a, b = group(T.vector("a"), T.lscalar("n")), group(T.vector("b"), T.lscalar("n"))
    assert not same_shape(a, b)
    assert same_shape(a, a + 1)
    assert algebra.dims_of(T.Fused(FunctionGraph([x], [x * 2]))(T.tensor("x", shape=(3,)))) == (3,)


@pytest.mark.parametrize("shape", [(4, 6), (-1,), (6, -1), (2, 2, 6)])
def test_reshapes_in_the_order_of_fortran(shape):
    x = sample((2, 3, 4))
    assert_like_numpy(lambda v: T.reshape(v, shape, order="F"), lambda v: np.reshape(v, shape, order="F"), x)
    assert_like_numpy(lambda v: v.reshape(shape, order="F"), lambda v: v.reshape(shape, order="F"), x)
    assert_like_numpy(lambda v: v.ravel("F"), lambda v: v.ravel("F"), x)
    v, lengths = T.tensor3("v"), T.lvector("lengths")
    f = ag.function([v, lengths], T.reshape(v, lengths, ndim=len(shape), order="F"))
    np.testing.assert_array_equal(f(x, np.array(shape)), x.reshape(shape, order="F"))
    with pytest.raises(ValueError, match='reshape: order must be'):
        T.reshape(v, shape, order="Z")


@pytest.mark.parametrize("bounds", [(-3, 3, 0.5), (0, 5, 0.5), (0, -3, -0.7), (1.5, 4), (2.9, -2.2, -1.3), (0.0, 0.0)])
@pytest.mark.parametrize("dtype", ["int64", "int8"])
def test_ranges_of_integers_between_floats_go_on_as_their_first_two_elements(bounds, dtype):
    np.testing.assert_array_equal(T.arange(*bounds, dtype=dtype).eval(), np.arange(*bounds, dtype=dtype))
