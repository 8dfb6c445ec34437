"""Forms of NumPy and Theano whose meaning is clear: values, dtypes, lengths, derivatives, C, many examples at once."""

import numpy as np
import pytest
from against_numpy import assert_like_numpy, assert_same_call, sample
from gradients import assert_gradient

import arignote as ag
from arignote import ops as T
from arignote.ops.control.batching import NoBatch

m, v, k = T.matrix("m"), T.vector("v"), T.lvector("k")


def like(name, *arrays, pick=None, rtol=0.0, **options):
    """`T.name` of the arrays is `np.name` of them, or what stands at `pick` of its results."""

    def call(namespace, given):
        found = getattr(namespace, name)(*given, **options)
        return found if pick is None else found[pick]

    assert_like_numpy(lambda *vs: call(T, vs), lambda *vs: call(np, vs), *arrays, rtol=rtol)


def in_c(inputs, outputs, *values):
    """The values of the outputs in C, which NUMPY gives as well."""
    found = ag.function(inputs, outputs)(*values)
    for a, b in zip(found, ag.function(inputs, outputs, mode="NUMPY")(*values), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13, atol=1e-14)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
    return found


# --- axes


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_argmax_of_several_axes(name):
    x = sample((2, 3, 4), "int8")  # with equal elements

    def of(x, axes, keepdims=False):
        kept = [k for k in range(3) if k not in axes]
        flat = np.transpose(x, kept + sorted(axes)).reshape(*(x.shape[k] for k in kept), -1)
        found = getattr(np, name)(flat, axis=-1)
        return np.expand_dims(found, tuple(axes)) if keepdims else found

    for axes in ((0, 1), (2, 0), (1, 2), (1,), (0, 1, 2)):
        for keepdims in (False, True):
            found = getattr(T, name)(T.constant(x), axes, keepdims)
            np.testing.assert_array_equal(found.eval(), of(x, axes, keepdims))
            assert found.type.shape == found.eval().shape
    assert_like_numpy(lambda v: getattr(v, name)((-1, 0)), lambda v: of(v, (0, 2)), np.where(x > 4, np.nan, x))
    cube = T.tensor3("cube")
    ours = [getattr(T, name)(cube, (0, 2)), ag.vmap(lambda c: getattr(c, name)((0, 2)))(T.stack([cube, -cube]))]
    first, both = in_c([cube], ours, sample((2, 3, 4)))
    np.testing.assert_array_equal(first, of(sample((2, 3, 4)), (0, 2)))
    np.testing.assert_array_equal(both[1], of(-sample((2, 3, 4)), (0, 2)))
    with pytest.raises(ValueError, match=f"{name} of .*axis 1 is given twice"):
        getattr(T, name)(cube, (1, 1))


@pytest.mark.few(1)
@pytest.mark.parametrize("axis", [None, (0, 1), (2, 0), (1,), (0, 1, 2)])
def test_softmax_of_several_axes(axis):
    def softmax(x):
        e = np.exp(x - x.max(axis=axis, keepdims=True))
        return e / e.sum(axis=axis, keepdims=True)

    x = sample((2, 3, 4))
    for dtype in ("float32", "float64"):
        rtol = 1e-6 if dtype == "float32" else 1e-13
        assert_like_numpy(lambda v: T.softmax(v, axis=axis), softmax, x.astype(dtype), rtol=rtol)
        assert_like_numpy(lambda v: T.log_softmax(v, axis), lambda v: np.log(softmax(v)), x.astype(dtype), rtol=rtol)
        assert_like_numpy(
            lambda v: T.logsumexp(v, axis, keepdims=True), lambda v: np.log(np.exp(v).sum(axis, keepdims=True)),
            x.astype(dtype), rtol=rtol,
        )  # fmt: skip
    assert_gradient(lambda v: T.softmax(v, axis) * T.log_softmax(v, axis), x[:, :2], static=False)
    cube = T.tensor3("cube")
    y = T.softmax(cube, axis)
    found = in_c([cube], [y, ag.grad(T.square(y).sum(), cube), ag.vmap(lambda c: T.softmax(c, axis))(cube[None])], x)
    np.testing.assert_allclose(found[2][0], softmax(x), rtol=1e-13)


def test_axes_without_elements():
    for axes in ((1, 2), None):
        found = T.logsumexp(T.tensor3(shape=(0, 3, 4)), axes)
        assert found.type.shape == ((0,) if axes else ())
    assert T.softmax(T.tensor3(shape=(0, 3, 4)), (1, 2)).type.shape == (0, 3, 4)
    assert T.softmax(T.constant(3.0), axis=None).eval() == 1
    assert T.tensor3(shape=(0, 3, 4)).flatten(2).type.shape == (0, 12)


def test_concatenation_of_the_flattened():
    a, b = sample((2, 3)), sample(2, "int8")
    assert_like_numpy(
        lambda a, b: T.concatenate([a, b, 7], axis=None), lambda a, b: np.concatenate([a, b, [7]], None), a, b
    )
    assert_gradient(lambda a, b: T.concatenate([a, b], None) ** 2, a, sample(4), static=False)
    found = in_c(
        [m, v], [T.concatenate([m, v], axis=None), ag.vmap(lambda r: T.concatenate([r, v], None))(m)], a, [1.0]
    )
    np.testing.assert_array_equal(found[1], np.concatenate([a, np.ones((2, 1))], 1))


# --- counts and lengths that the run decides


@pytest.mark.few(1)
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeats_of_the_run(axis):
    x = sample((2, 3))
    counts = np.array([2, 0, 3, 1, 1, 4])[: x.size if axis is None else x.shape[axis]]
    assert_like_numpy(lambda v, c: T.repeat(v, c, axis), lambda v, c: np.repeat(v, c, axis), x, counts)
    assert_like_numpy(lambda v, c: T.repeat(v, c, axis), lambda v, c: np.repeat(v, c, axis), x, counts.astype("uint8"))
    assert_like_numpy(lambda v: T.repeat(v, counts, axis), lambda v: np.repeat(v, counts, axis), x)
    assert_like_numpy(lambda v, c: T.repeat(v, c, axis), lambda v, c: np.repeat(v, c, axis), x, counts[:1])
    assert_like_numpy(lambda v, c: T.repeat(v, [c], axis), lambda v, c: np.repeat(v, [c], axis), x, 3)
    assert T.repeat(T.matrix(shape=(2, 3)), counts, axis).type.shape.count(None) == 0
    y = T.repeat(m, k, axis)
    found, _, many = in_c(
        [m, k], [y, ag.grad(T.square(y).sum(), m), ag.vmap(lambda x: T.repeat(x, k, axis))(T.stack([m, -m]))], x, counts
    )
    np.testing.assert_array_equal(many, np.stack([found, -found]))
    assert_gradient(lambda v: T.repeat(v, T.constant(counts), axis) ** 2, x, static=False)
    for f in (ag.function([m, k], y, name="model"), ag.function([m, k], y, mode="NUMPY", name="model")):
        with pytest.raises(ValueError):
            f(x, [1, 2, 3, 4])
        with pytest.raises(ValueError, match="model: a count of repetitions is negative"):
            f(x, -counts)


def test_repeats_of_the_wrong_number():
    for counts in ([1, 2], np.array([1, 2])):  # of a vector whose length is not known
        with pytest.raises(ValueError):
            ag.function([v], T.repeat(v, counts), mode="NUMPY")(np.arange(3.0))
    with pytest.raises(ValueError, match=r"repeat: 2 counts for axis 0 of x \(float64\[3\]\), whose length is 3"):
        T.repeat(T.vector("x", shape=(3,)), [1, 2])
    with pytest.raises(ValueError, match="repeat: a count must not be negative, got -1"):
        T.repeat(v, -1)
    with pytest.raises(TypeError, match=r"repeat: repeats must be an integer or a vector of integers, got 1\.5"):
        T.repeat(v, 1.5)
    with pytest.raises(NoBatch, match="repeated_positions"):
        ag.vmap(lambda c: T.repeat(v, c))(T.lmatrix("c"))


def test_tiles_of_the_run():
    x = sample((2, 3))
    for reps in ([2, 1], [2, 0, 3]):
        found = T.tile(m, k, len(reps))
        np.testing.assert_array_equal(found.eval({m: x, k: reps}), np.tile(x, reps))
        assert found.ndim == max(2, len(reps))
    y = T.tile(m, k, ndim=3)
    found = in_c([m, k], [y, ag.grad(T.square(y).sum(), m)], x, [2, 1, 3])
    np.testing.assert_array_equal(found[0], np.tile(x, (2, 1, 3)))
    assert T.tile(T.matrix(shape=(2, 3)), 2, ndim=4).type.shape == (1, 1, 2, 6)
    with pytest.raises(ValueError):
        ag.function([m, k], y)(x, [2, 1])
    with pytest.raises(ValueError, match=r"tile: the number of elements of k .* ndim=2"):
        T.tile(m, k)
    with pytest.raises(ValueError, match=r"tile: ndim must be at least 2 for m .*, got 1"):
        T.tile(m, (1, 2), ndim=1)


def test_shapes_of_the_run():
    x = sample((2, 6))
    for shape in ((3, 4), (3, -1), (-1, 2), (12, 1)):
        for form in (lambda x, s: T.reshape(x, s, ndim=2), lambda x, s: T.reshape(x, s, 2),
                     lambda x, s: x.reshape(s, ndim=2), lambda x, s: x.reshape(s, 2)):  # fmt: skip
            found = form(m, k).eval({m: x, k: shape})
            np.testing.assert_array_equal(found, x.reshape(shape))
        assert_like_numpy(lambda x, s: T.reshape(x, s, ndim=2), lambda x, s: x.reshape(s), x, np.array(shape))
    y = T.reshape(m, T.concatenate([m.shape[:1], [-1], k]), ndim=3)
    found = in_c([m, k], [y, ag.grad(T.square(y).sum(), m)], x, [3])
    np.testing.assert_array_equal(found[0], x.reshape(2, -1, 3))
    np.testing.assert_array_equal(found[1], 2 * x)
    assert T.reshape(m, (3, 4), ndim=2).type.shape == (3, 4)
    stacked = T.reshape(m, T.stack([k[0], T.constant(-1)])).eval({m: x, k: [4]})
    np.testing.assert_array_equal(stacked, x.reshape(4, 3))
    f = ag.function([m, k], T.reshape(m, k, ndim=2))
    for shape in ([3, 4, 1], [12], [5, -1], [-1, -1], [0, -1]):
        with pytest.raises(ValueError):
            f(x, shape)
    with pytest.raises(ValueError, match=r"reshape: ndim is 3, got 2 lengths"):
        T.reshape(m, (3, 4), ndim=3)
    with pytest.raises(TypeError, match=r"reshape: ndim must be the number of lengths, an int, got 'two'"):
        T.reshape(m, k, ndim="two")


# --- indices and distinct parts


@pytest.mark.few(1)
@pytest.mark.parametrize("mode", ["raise", "clip", "wrap"])
def test_modes_of_take(mode):
    x, at = sample((3, 4)), np.array([[0, -1], [2, 1]] if mode == "raise" else [[0, -9, 7], [-1, 3, 11]])
    for axis in (None, 0, 1):
        for dtype in ("int64", "int8") if mode != "raise" else ("int64", "bool"):
            like("take", x, at.astype(dtype), axis=axis, mode=mode)
        like("take", x, np.array(2), axis=axis, mode=mode)
        np.testing.assert_array_equal(m.take(at, axis, mode=mode).eval({m: x}), x.take(at, axis, mode=mode))
        assert_gradient(lambda v, axis=axis: T.take(v, at, axis, mode) ** 2, x, static=False)
    y = T.take(m, k, 1, mode)
    found = in_c(
        [m, k],
        [y, ag.grad(T.square(y).sum(), m), ag.vmap(lambda r, i: T.take(r, i, 0, mode))(m, k)],
        x,
        at[0][[0, 1, 1]],
    )
    np.testing.assert_array_equal(found[2], [np.take(r, i, mode=mode) for r, i in zip(x, at[0][[0, 1, 1]])])
    with pytest.raises(IndexError):
        ag.function([m, k], y)(x[:, :0], [1])


def test_what_take_refuses():
    with pytest.raises(ValueError, match='take: mode must be "raise", "clip" or "wrap", got \'cilp\''):
        T.take(v, 0, mode="cilp")
    for indices in (1.5, None, slice(2)):
        with pytest.raises(TypeError):
            T.take(v, indices)


ROWS = np.array([[1, 2, 0], [0, 1, 0], [1, 2, 0], [0, 0, 5], [0, 1, 0]])


@pytest.mark.few(6)
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_distinct_parts(axis, dtype):
    x = ROWS.astype(dtype)
    if dtype == "float64":
        x[1, 1] = x[4, 1] = x[0, 0] = np.nan
    for equal_nan in (True, False):
        options = {"axis": axis, "equal_nan": equal_nan}
        assert_same_call("unique", x, **options)
        for n in range(4):
            like("unique", x, pick=n, return_index=True, return_inverse=True, return_counts=True, **options)
    x = ROWS.astype(dtype)
    matrix = T.matrix("x", dtype)
    in_c([matrix], T.unique(matrix, True, True, True, axis=axis), x)
    if dtype == "float64":
        assert_gradient(lambda v: T.unique(v, axis=axis) ** 2, sample((3, 2)), static=False)
        y = T.unique(m, axis=axis, equal_nan=False)
        in_c([m], [y, ag.grad(T.square(y).sum(), m)], x)


def test_distinct_parts_of_stacks_and_vectors():
    x = np.stack([ROWS, ROWS])
    for axis in (0, 1, 2):
        assert_same_call("unique", x, axis=axis)
    for equal_nan in (True, False):
        assert_same_call("unique", np.array([1.0, np.nan, 0.0, np.nan]), axis=0, equal_nan=equal_nan)
    with pytest.raises(np.exceptions.AxisError, match=r"unique of m .*: axis 2"):
        T.unique(m, axis=2)


def test_where_of_a_condition_alone():
    x = sample((3, 4), "bool")
    for n in (0, 1):
        like("where", x, pick=n)
    assert len(np.where(m > 0)) == 2
    found = in_c([m], T.where(m > 0), sample((3, 4)))
    np.testing.assert_array_equal(found, np.where(sample((3, 4)) > 0))
    for options, missing in (({"x": v}, "y"), ({"y": v}, "x")):
        with pytest.raises(TypeError, match=rf"where: . is given without {missing}; give both"):
            T.where(v > 0, **options)


# --- numbers between two


@pytest.mark.parametrize("endpoint", [True, False])
def test_linspace(endpoint):
    a, b = sample((2, 3)), sample((2, 3), seed=6)
    for num in (0, 1, 2, 5):
        for axis in (0, 1, 2, -1):
            for n in range(1 + (num > endpoint)):
                like("linspace", a, b, pick=n, rtol=1e-14, num=num, endpoint=endpoint, axis=axis, retstep=True)
        for name in ("logspace", "geomspace"):
            like(name, a**2 + 1, b[0] ** 2 + 1, rtol=1e-13, num=num, endpoint=endpoint, axis=-1)
    for axis in (0, -1):
        like("logspace", a[0], b, rtol=1e-13, num=3, endpoint=endpoint, axis=axis, base=np.array([2.0, 3.0, 0.5]))
    for ends in ((-3.5, 4, 7), (np.float32(0), 1.0, 3), (True, np.int8(9), 4), (0, 1j, 5), ([0.0, 1.0], 2, 3)):
        for dtype in (None, "int64", "float32") if ends[1] != 1j else (None,):
            ours = T.linspace(*ends, endpoint=endpoint, dtype=dtype)
            expected = np.linspace(*ends, endpoint=endpoint, dtype=dtype)
            assert ours.dtype == expected.dtype
            np.testing.assert_allclose(ours.eval(), expected, rtol=1e-6)
    ours = T.linspace(T.vector("a", "float32"), 1.0, 3)
    assert ours.dtype == "float32"
    assert np.isnan(T.linspace(0, 1, 1, retstep=True)[1].eval())


@pytest.mark.long
def test_linspace_of_a_number_of_the_run():
    n, a, b = T.lscalar("n"), T.vector("a"), T.vector("b")
    first, last = sample(3), sample(3, seed=6)
    for endpoint in (True, False):
        y, step = T.linspace(a, b, n, endpoint, True, axis=1)
        f = ag.function([a, b, n], [y, step, *ag.grad(T.square(y).sum(), [a, b])])
        with pytest.raises(ValueError):
            y.eval({a: first, b: last, n: -1})
        for count in (0, 1, 4):
            found = f(first, last, count)
            expected, gap = np.linspace(first, last, count, endpoint, True, axis=1)
            np.testing.assert_allclose(found[0], expected, rtol=1e-14)
            np.testing.assert_allclose(found[1], np.broadcast_to(gap, 3), rtol=1e-14)
            assert np.isfinite(found[2]).all()
    assert_gradient(lambda a, b: T.linspace(a, b, 4, axis=-1) ** 2, first, last)
    many = ag.vmap(lambda p, q: T.linspace(p, q, 3))(a, b)
    np.testing.assert_allclose(many.eval({a: first, b: last}), np.linspace(first, last, 3, axis=1), rtol=1e-14)
    with pytest.raises(ValueError, match="linspace: num must not be negative, got -1"):
        T.linspace(0, 1, -1)
    with pytest.raises(TypeError, match=r"linspace: num must be an integer or an integer scalar, got 2\.5"):
        T.linspace(0, 1, 2.5)
    with pytest.raises(np.exceptions.AxisError, match="linspace: axis 3"):
        T.linspace(a, b, 3, axis=3)


# --- methods

ELEMENTWISE = [
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "ceil", "conj", "conjugate", "cos", "cosh",
    "deg2rad", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2", "rad2deg", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
]  # fmt: skip


def test_methods():
    x = np.array([[0.25, 0.5], [0.75, 0.125]])
    for name in ELEMENTWISE:
        shift = 1 if name == "arccosh" else 0
        found = getattr(m + shift, name)()
        assert found.owner.op is getattr(T, name)(m + shift).owner.op
        np.testing.assert_allclose(found.eval({m: x}), getattr(np, name)(x + shift), rtol=1e-15)
    for ours, numpys in [
        (m.zeros_like(), np.zeros_like(x)), (m.ones_like("int8"), np.ones_like(x, "int8")),
        (m.fill(3), np.full_like(x, 3)),
        (m.norm(2), np.linalg.norm(x.ravel())), (m.norm(1, axis=0), np.abs(x).sum(0)),
        (m.norm(3, axis=(0, 1), keepdims=True), np.linalg.norm(x.ravel(), 3).reshape(1, 1)),
        (m.flatten(), x.ravel()), (m.flatten(2), x), (m.flatten(ndim=1), x.ravel()), (m.ptp(1), np.ptp(x, 1)),
        (m.compress([False, True], axis=1), x[:, 1:]), (m[0].searchsorted([0.3]), np.array([1])),
        (m.nonzero_values(), x.ravel()), (m.copy(name="n"), x),
    ]:  # fmt: skip
        found = ours.eval({m: x})
        np.testing.assert_allclose(found, numpys, rtol=1e-15)
        assert (found.dtype, found.shape) == (numpys.dtype, np.shape(numpys))
    assert m.copy(name="again").name == "again"
    assert m.copy().name is None
    with pytest.raises(TypeError, match="the name of a variable must be a str, got 3"):
        m.copy(name=3)
    with pytest.raises(TypeError, match="flatten: ndim must be the number of axes that are left, an int, got 'C'"):
        m.flatten("C")
