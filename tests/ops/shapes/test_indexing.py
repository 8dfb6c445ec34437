"""Indexing, read and written: against NumPy, with bounds that are numbers and bounds that are variables."""

import itertools
from functools import partial

import numpy as np
import pytest
from against_numpy import DTYPES, assert_like_numpy, sample
from compiled import compiled
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.graph import dims as algebra
from arignote.graph import dims_of, same_shape
from arignote.ops.shapes.slices import slice_dim


class _Keys:
    def __getitem__(self, key):
        return key


K = _Keys()

BASIC = [
    K[1], K[-1], K[1:], K[:-1], K[::-1], K[::2], K[2:0:-1], K[-100:100], K[5:1], K[-2::-2], K[...], K[()], K[:],
    K[None], K[1, 2], K[:, 1], K[..., -1], K[None, 1, None], K[1:, None, ::-1], K[0, ..., None], K[:, :, None, 1:],
    K[np.int8(1), np.int64(-1)],
]  # fmt: skip
ADVANCED = [
    K[[0, 1, 1]], K[np.array([[0, 1], [1, 0]])], K[[0, 1], [1, 2]], K[:, [2, 0]], K[[0, 1], :, [1, 2]],
    K[0, :, [1, 2]], K[[0, 1], 1], K[:, [0, 1], 1], K[1:, [[0], [2]], [1, 0]], K[None, [0, 1]], K[[0, 1], None, [1, 2]],
    K[..., [3, 0, 3]], K[:, [0, 1], None, [1, 2]], K[None, :, [0, 1], 2], K[[-1, 0]], K[[]], K[np.array([], int), 0],
    K[np.array([1, 0], np.uint8), ::-1, [2, 0]],
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("key", BASIC, ids=str)
def test_basic(key, dtype):
    assert_like_numpy(lambda v: v[key], lambda v: v[key], sample((2, 3, 4), dtype))


@pytest.mark.parametrize("dtype", ["float64", "bool", "int8", "complex64"])
@pytest.mark.parametrize("key", ADVANCED, ids=str)
def test_advanced(key, dtype):
    assert_like_numpy(lambda v: v[key], lambda v: v[key], sample((2, 3, 4), dtype))


@pytest.mark.parametrize("shape", [(0,), (1,), (5,), (0, 3), (1, 1), (3, 0, 2)])
@pytest.mark.parametrize("key", [K[1:], K[::-1], K[:-1], K[::3], K[-2:], K[:, None][:1], K[...]])
def test_lengths_0_and_1(shape, key):
    assert_like_numpy(lambda v: v[key], lambda v: v[key], sample(shape))


@pytest.mark.long
def test_every_slice_of_a_short_vector():
    values = [None, -4, -3, -1, 0, 1, 2, 3, 4]
    for n in range(4):
        x, v = T.vector("x"), np.arange(float(n))
        for start, stop, step in itertools.product(values, values, [None, 1, 2, -1, -2]):
            y = x[start:stop:step]
            found, length = T.evaluate([y, T.dim_to_tensor(dims_of(y)[0])], {x: v})
            np.testing.assert_array_equal(found, v[start:stop:step], strict=True)
            assert length == len(found)
            assert T.tensor("x", shape=(n,))[start:stop:step].type.shape == found.shape


def test_variable_bounds():
    x = sample((5, 4))
    for i, j in itertools.product([-9, -2, 0, 1, 3, 9], repeat=2):
        assert_like_numpy(lambda v, a, b: v[a:b], lambda v, a, b: v[a:b], x, i, j)
        assert_like_numpy(lambda v, a, b: v[a:, :b:2], lambda v, a, b: v[a:, :b:2], x, i, j)
        assert_like_numpy(lambda v, a, b: v[a : a + 2, None, -b], lambda v, a, b: v[a : a + 2, None, -b], x, i, j % 4)
    for dtype in ("int8", "uint8", "int64"):
        assert_like_numpy(lambda v, a: v[a, a], lambda v, a: v[int(a), int(a)], x, np.array(2, dtype))
    for step in (-3, -1, 1, 2):
        assert_like_numpy(lambda v, s: v[::s, 3:0:s], lambda v, s: v[:: int(s), 3 : 0 : int(s)], x, step)


@pytest.mark.parametrize("dtype", ["int64", "int8", "uint16"])
def test_variable_arrays(dtype):
    x, i, j = sample((3, 4)), np.array([0, 2, 2], dtype), np.array([1, 0, 3], dtype)
    assert_like_numpy(lambda v, a, b: v[a], lambda v, a, b: v[a], x, i, j)
    assert_like_numpy(lambda v, a, b: v[a, b], lambda v, a, b: v[a, b], x, i, j)
    assert_like_numpy(lambda v, a, b: v[a[:, None], b], lambda v, a, b: v[a[:, None], b], x, i, j)
    assert_like_numpy(lambda v, a, b: v[T.arange(v.shape[0]), b], lambda v, a, b: v[np.arange(3), b], x, i, j)
    assert_like_numpy(lambda v, a, b: v[[a[2], b[0]], 1:], lambda v, a, b: v[[a[2], b[0]], 1:], x, i, j)


@pytest.mark.parametrize("key", [K[True], K[False], K[..., False], K[..., True], K[np.array(True)]], ids=repr)
def test_masks_of_one_bool_select_all_or_nothing(key):
    for shape in ((), (2, 3), (0, 2)):
        assert_like_numpy(lambda v: v[key], lambda v: v[key], sample(shape))
    assert_gradient(lambda x: x[key] ** 2, sample((2, 3)))
    for value in (np.float64(7), np.arange(6.0).reshape(2, 3)[key][..., :3]):
        for write, changed in ((T.set_subtensor, lambda a, b: b), (T.inc_subtensor, np.add)):
            x, expected = T.matrix("x"), sample((2, 3))
            found = write(x[key], value).eval({x: expected})
            expected[key] = changed(expected[key], value)
            np.testing.assert_array_equal(found, expected)


def test_masks_of_one_bool_that_are_variables():
    x, flag, value = T.matrix("x"), T.scalar("flag", dtype="bool"), sample((2, 3))
    f = ag.function([x, flag], [x[flag], T.set_subtensor(x[flag], 0.0), ag.grad((x[flag] ** 2).sum(), x)])
    for given in (True, False):
        selected, zeroed, slope = f(value, given)
        np.testing.assert_array_equal(selected, value[given], strict=True)
        np.testing.assert_array_equal(zeroed, value * (not given))
        np.testing.assert_array_equal(slope, 2 * value * given)


def test_masks_that_are_constants():
    mask = np.array([[True, False], [False, True], [True, True]])
    assert_like_numpy(lambda v: v[mask], lambda v: v[mask], sample((3, 2)))
    assert_like_numpy(lambda v: v[mask, 1:], lambda v: v[mask, 1:], sample((3, 2, 4)))
    assert_like_numpy(lambda v: v[1:, mask[:, 0]], lambda v: v[1:, mask[:, 0]], sample((2, 3)))
    with pytest.raises(IndexError, match=r"the mask has length 2 on axis 0, axis 1 of x \(float64\[\?, 3\]\) 3"):
        T.tensor("x", shape=(None, 3))[:, [True, False]]


MASKED = [
    lambda v, m, r: v[m], lambda v, m, r: v[m, 0], lambda v, m, r: v[..., 1][m], lambda v, m, r: v[r],
    lambda v, m, r: v[r, :, 1:3], lambda v, m, r: v[m, None], lambda v, m, r: v[None, r][..., ::-1],
    lambda v, m, r: v[v > 0], lambda v, m, r: v[~m].sum(axis=0), lambda v, m, r: v[:0, r[:2]],
    lambda v, m, r: v[m & ~m],
]  # fmt: skip


@pytest.mark.parametrize("read", MASKED)
def test_masks_that_are_variables(read):
    values = sample((3, 2, 4)), np.array([[True, False], [False, True], [True, True]]), np.array([True, False, True])
    assert_like_numpy(read, read, *values)
    for mode in ("FAST_RUN", "fast_run -fusion", "NUMPY"):
        inputs = [T.tensor3(), T.tensor("m", "bool", (None, None)), T.tensor("r", "bool", (None,))]
        f = ag.function(inputs, read(*inputs), mode=mode, on_unused_input="ignore")
        np.testing.assert_array_equal(f(*values), read(*values), strict=True)


def test_what_masks_select_is_written_and_differentiated():
    x, m = sample((4, 3)), np.array([True, False, True, True])
    added, put = x.copy(), x.copy()
    added[m] += [1.0, 2.0, 3.0]
    put[x < 0] = 5.0
    assert_like_numpy(lambda v, m: T.inc_subtensor(v[m], [1.0, 2.0, 3.0]), lambda v, m: added, x, m)
    assert_like_numpy(lambda v, m: T.set_subtensor(v[v < 0], 5.0), lambda v, m: put, x, m)
    assert_gradient(lambda v: v[m] ** 2, x)
    assert_gradient(lambda v: v[v > 0].mean() * v[T.as_tensor(x) < 0], x)


def test_other_spellings_of_writing():
    x = T.as_tensor(sample((3, 4)))
    for ours, other in (
        (x[1:, 0].set(2.0), T.set_subtensor(x[1:, 0], 2.0)), (x[[0, 0]].inc(1.0), T.inc_subtensor(x[[0, 0]], 1.0)),
        (x.at[1:, 0].set(2.0), T.set_subtensor(x[1:, 0], 2.0)), (x.at[[0, 0]].add(1), T.inc_subtensor(x[[0, 0]], 1)),
        (x.at[..., x[0] > 0].set(0), T.set_subtensor(x[:, x[0] > 0], 0)), (x.at[1].get(), x[1]),
    ):  # fmt: skip
        np.testing.assert_array_equal(ours.eval(), other.eval())
    with pytest.raises(TypeError, match="set_subtensor takes an indexing expression"):
        T.vector("x").set(1.0)


@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
@pytest.mark.parametrize("shape", [(3, 2), (1, 3), (2, 1), (1, 1), (6, 1)])
def test_masks_have_the_lengths_of_what_they_select_from(shape, mode):
    x, m, r = T.matrix("x"), T.tensor("m", "bool", (None, None)), T.tensor("r", "bool", (None,))
    message = (
        r"the mask has (shape \(.*\), the axes that it selects from \(2, ?3?\)"
        r"|length \d along axis \d, the axis that it selects from has length [23])"
    )
    with pytest.raises(IndexError, match=message):
        ag.function([x, m], x[m], mode=mode)(np.ones((2, 3)), np.zeros(shape, bool))
    if shape[0] != 2:
        with pytest.raises(IndexError, match=message):
            ag.function([x, r], x[r], mode=mode)(np.ones((2, 3)), np.zeros(shape[0], bool))


# --- what is refused


NO_INDEX = [K[1.5], K["a"], K[[0.5]], K[:, 2.0], K[1.0:], K[T.vector()], K[T.scalar()], K[: T.lvector()], K[True, 0]]


@pytest.mark.parametrize("key", NO_INDEX, ids=str)
def test_what_is_no_index(key):
    with pytest.raises(TypeError, match=r"index|bound of a slice"):
        T.matrix("x")[key]


def test_too_many_and_out_of_range_when_built():
    x = T.tensor("x", shape=(2, None))
    with pytest.raises(IndexError, match=r"too many indices: 3 for the 2 axes of x \(float64\[2, \?\]\)"):
        x[1, 2, 3]
    with pytest.raises(IndexError, match="only one"):
        x[..., 1, ...]
    for key in (K[2], K[-3], K[[0, 2]], K[[0, -3]]):
        with pytest.raises(IndexError, match=r"index -?\d is out of bounds for axis 0 of x \(.*\) with size 2"):
            x[key]
    with pytest.raises(ValueError, match="step of the slice of axis 1 is 0"):
        x[:, ::0]


def test_out_of_range_when_run():
    x, i, v = T.matrix("x"), T.lscalar("i"), T.lvector("v")
    for y, value in [(x[:, i], {i: 3}), (x[:, v], {v: [0, 3]}), (T.set_subtensor(x[:, i], 0), {i: -4})]:
        with pytest.raises(IndexError, match=r"index (3|-4) is out of bounds for axis 1 with size 3"):
            y.eval({x: np.ones((2, 3)), **value})
    with pytest.raises(ValueError, match="zero"):
        x[::i].eval({x: np.ones((2, 3)), i: 0})


WRONG_MASKS = [
    ((2,), (np.array([True]),)), ((2,), (np.array([True] * 3),)), ((2, 2), (slice(None), np.array([True] * 3))),
    ((2, 2), (np.ones((2, 1), bool),)), ((2, 2), (np.ones((1, 2), bool),)), ((2, 2), (0, np.array([False]))),
    ((3, 2, 2), (None, np.ones((3, 3), bool))), ((2, 2), (..., np.array([True]))), ((0,), (np.array([True]),)),
]  # fmt: skip


@pytest.mark.few(2)
@pytest.mark.parametrize(("shape", "key"), WRONG_MASKS)
def test_constant_masks_of_the_wrong_length_raise(shape, key):
    x = T.tensor("x", shape=(None,) * len(shape))
    value = np.ones(shape)
    with pytest.raises(IndexError):
        value[key]
    part = x[key]
    outputs = [part, T.set_subtensor(part, 2.0), T.inc_subtensor(part, 2.0), ag.grad(T.exp(part).sum(), x)]
    for output in outputs:
        with pytest.raises(IndexError, match="the mask has length"):
            output.eval({x: value})
    f = compiled([x], outputs)
    with pytest.raises(IndexError, match=r"the mask has length \d, axis \d that it selects from has length \d"):
        f(value)


def test_a_mask_that_selects_from_an_updated_variable_is_written_in_place():
    s = ag.shared(np.ones((4, 3)), "s")
    f = ag.function([], [], updates=[(s, T.set_subtensor(s[np.array([True, False, True, False])], 5.0))])
    f()
    np.testing.assert_array_equal(s.get_value()[:, 0], [5, 1, 5, 1])
    s.set_value(np.ones((3, 3)))
    with pytest.raises(IndexError, match="length 4, axis 0 that it selects from has length 3"):
        f()
    np.testing.assert_array_equal(s.get_value(), np.ones((3, 3)))


def test_an_empty_mask_fits_any_axis_as_in_numpy():
    x, empty = T.matrix("x"), np.zeros((0,), bool)
    for mask in (empty, np.zeros((0, 2), bool), np.zeros((3, 0), bool)):
        m = T.tensor("m", "bool", (None,) * mask.ndim)
        f = compiled([x, m], [x[mask], x[m]])
        for got in f(np.ones((3, 2)), mask):
            assert got.shape == np.ones((3, 2))[mask].shape


OUTSIDE = [
    (K[:, [5]], (0, 3)), (K[:, :, [5]], (2, 0, 3)), (K[1:, [5]], (1, 3)), (K[:, [[5]]], (0, 3)), (K[[5]], (3, 0)),
]  # fmt: skip


@pytest.mark.parametrize(("key", "shape"), OUTSIDE, ids=str)
@pytest.mark.parametrize("empty", [False, True])
def test_indices_beside_an_axis_of_length_zero_are_checked(key, shape, empty):
    """Where the kernel has nothing to read or write, and as in NumPy not where the array of indices is empty."""
    x, v = T.tensor("x", shape=(None,) * len(shape)), T.lvector("v")
    items = key if isinstance(key, tuple) else (key,)
    part = x[tuple(v if isinstance(i, list) else i for i in items)]
    f = compiled([x, v], [part * 2, T.set_subtensor(part, 1.0), T.inc_subtensor(part, 1.0)])
    if empty:
        f(np.zeros(shape), np.zeros(0, np.int64))
        return
    with pytest.raises(IndexError):
        np.zeros(shape)[key]
    with pytest.raises(IndexError, match=r"index 5 is out of bounds for axis \d of x with size 3"):
        f(np.zeros(shape), np.array([5]))
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        compiled([x, v], [T.take(x, v, len(shape) - 1)])(np.zeros((*shape[:-1], 3)), np.array([5]))


def test_arrays_of_indices_that_do_not_broadcast_raise_an_index_error():
    x, i, j = T.matrix("x"), T.lvector("i"), T.lvector("j")
    arguments = np.ones((3, 3)), np.array([0, 1]), np.array([0, 1, 2])
    for f in (compiled([x, i, j], [x[i, j]]), lambda *a: x[i, j].eval(dict(zip((x, i, j), a, strict=True)))):
        with pytest.raises(IndexError):
            f(*arguments)
    with pytest.raises(IndexError, match="do not broadcast"):
        x[[0, 1], [0, 1, 2]]


# --- what shapes are known to be


def test_slices_of_known_lengths():
    x = T.vector("x")
    (n,) = dims_of(x)
    assert same_shape(x[1:], x[:-1])
    assert same_shape(x[::-1], x)
    assert same_shape(x[: x.shape[0]], x)
    assert same_shape(x[2:-2], x[:-4])
    assert not same_shape(x[1:], x)
    assert same_shape(x[::2], x[::-2])
    assert same_shape(x[2:], x[1:-1])
    assert same_shape(x[-3:], x[:3])
    assert T.tensor("x", shape=(7, 3))[2::2, :1].type.shape == (3, 1)
    m = algebra.dims_of(T.vector("y"))[0]
    joint = algebra.add(n, m)
    assert slice_dim(joint, 0, n, None) is n
    assert slice_dim(joint, n, joint, None) is m


def test_parts_of_a_join_have_the_shapes_of_what_was_joined():
    x, y = T.matrix("x"), T.matrix("y")
    joined = T.Join(0)(x, y)
    parts = joined.owner.op.vjp(joined.owner, [T.zeros_like(joined)])
    assert dims_of(parts[0])[0] is dims_of(x)[0]
    assert dims_of(parts[1])[0] is dims_of(y)[0]


def test_a_thousand_slices_cost_little():
    x = T.vector("x")
    for _ in range(1000):
        x = x[1:]
    assert len(dims_of(x)) == 1


# --- writing


KEYS = [k for k in BASIC + ADVANCED if not isinstance(k, list) or k]


def _set(v, key, value):
    v = v.copy()
    v[key] = value
    return v


def _inc(v, key, value):
    v = v.copy()
    np.add.at(v, key, value)
    return v


@pytest.mark.parametrize("dtype", ["float64", "float16", "int8", "bool", "complex64"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_set_and_increment(key, dtype):
    x = sample((2, 3, 4), dtype)
    y = sample(x[key].shape, dtype, seed=7)
    for source in [y, y.ravel()[0], y[..., :1] if y.ndim else y] if y.size else [y]:
        assert_like_numpy(lambda v, w: T.set_subtensor(v[key], w), lambda v, w: _set(v, key, w), x, source)
        assert_like_numpy(lambda v, w: T.inc_subtensor(v[key], w), lambda v, w: _inc(v, key, w), x, source)


def test_a_transposed_part_is_written_too():
    x, y = sample((2, 3, 4)), sample((4, 2))
    assert_like_numpy(lambda v, w: T.set_subtensor(v[:, 1].T, w), lambda v, w: _set(v, K[:, 1], w.T), x, y)
    assert_like_numpy(lambda v, w: T.set_subtensor(T.squeeze(v[:, :1], 1), w), lambda v, w: _set(v, K[:, 0], w), x, y.T)


def test_repeated_indices_accumulate():
    x, v = np.zeros(3), np.array([0, 2, 2, 2])
    assert_like_numpy(lambda a, i: T.inc_subtensor(a[i], 1), lambda a, i: np.array([1.0, 0, 3]), x, v)
    assert_like_numpy(lambda a, i: T.scatter_add(a, i, [1.0, 2, 3, 4]), lambda a, i: np.array([1.0, 0, 9]), x, v)
    assert_like_numpy(lambda a, i: T.set_subtensor(a[i], [1.0, 2, 3, 4]), lambda a, i: np.array([1.0, 0, 4]), x, v)


def test_inputs_are_left_as_they_are():
    x, value = T.vector("x"), np.zeros(3)
    T.inc_subtensor(x[1:], 1).eval({x: value})
    T.set_subtensor(x[[1]], 1).eval({x: value})
    assert not value.any()


@pytest.mark.parametrize("write", [T.set_subtensor, T.inc_subtensor])
def test_what_cannot_be_written(write):
    x, n = T.tensor("x", "float32", (3, 4)), T.tensor("n", "int64", (3,))
    for wrong in (x, x * 2, x.T, 3, x[:1] * 1):
        with pytest.raises(TypeError, match="takes an indexing expression"):
            write(wrong, 0)
    with pytest.raises(TypeError, match=r"cannot be put into n \(int64\[3\]\)"):
        write(n[0], 1.5)
    with pytest.raises(TypeError, match=r"z \(complex128\) cannot be put into x"):
        write(x[0], T.zscalar("z"))
    with pytest.raises(ValueError, match=r"y \(float32\[3\]\) does not broadcast to the part of x"):
        write(x[0], T.tensor("y", "float32", (3,)))
    with pytest.raises(ValueError, match="does not broadcast"):
        write(x[0], T.tensor("y", "float32", (1, 4)))
    assert write(x[0], T.dvector("y")).dtype == "float32"
    assert write(x[0], 1.5).dtype == "float32"


# --- NumPy's functions


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_take(axis):
    x, i = sample((3, 4)), np.array([[0, 2], [1, 1]])
    assert_like_numpy(lambda v, k: T.take(v, k, axis), lambda v, k: np.take(v, k, axis), x, i)
    assert_like_numpy(lambda v: v.take([1, 2], 1), lambda v: v.take([1, 2], 1), x)


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_take_along_axis(axis):
    x = sample((2, 3, 4))
    ours, numpys = (partial(f, axis=axis) for f in (T.take_along_axis, np.take_along_axis))
    assert_like_numpy(ours, numpys, x, np.argsort(x, axis))
    with pytest.raises(ValueError, match="same rank"):
        T.take_along_axis(T.matrix(), T.lvector())


# --- derivatives


@pytest.mark.few(8)
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_derivatives(key, static):
    x = sample((2, 3, 4))
    assert_gradient(lambda v: v[key] ** 2, x, static=static)
    if x[key].size:
        y = sample(x[key].shape, seed=8)
        assert_gradient(lambda v, w: T.inc_subtensor(v[key], w) ** 2, x, y, static=static)


@pytest.mark.few(16)
@pytest.mark.parametrize("static", [True, False])
@pytest.mark.parametrize("key", [*BASIC, K[[0, 1], [1, 2]], K[:, [2, 0]]], ids=str)
def test_derivatives_of_setting(key, static):
    x = sample((2, 3, 4))
    for y in (sample(x[key].shape, seed=8), sample(x[key].shape, seed=8)[..., :1] if x[key].ndim else np.array(2.0)):
        assert_gradient(lambda v, w: T.set_subtensor(v[key], w) ** 2, x, y, static=static)


@pytest.mark.parametrize("write", [T.set_subtensor, T.inc_subtensor])
def test_derivative_of_a_source_broadcast_at_run_time(write):
    for shape in [(3,), (1,), (2, 1), (1, 3)]:
        assert_gradient(lambda v, w: write(v[1:], w) ** 2, sample((3, 3)), sample(shape), static=False)


def test_derivatives_with_variable_indices():
    i = np.array([0, 2, 0])
    assert_gradient(lambda v: v[T.constant(i) + 1, ::-1] ** 2, sample((4, 2)), static=False)
    assert_gradient(lambda v: T.take_along_axis(v, T.argmax(v, 1, keepdims=True), 1), sample((3, 4)))


def test_complex_derivatives():
    x = sample((3, 2), "complex128")
    assert_gradient(lambda v: T.inc_subtensor(v[1:], v[0])[[0, 2, 2]] ** 2, x)
