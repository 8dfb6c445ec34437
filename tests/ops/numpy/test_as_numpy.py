"""Calls as NumPy's and Theano's users write them: dtypes, axes and shapes in every form, keywords, plurals, streams."""

import inspect
import pickle

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

DTYPES = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32",
          "float64", "complex64", "complex128"]  # fmt: skip
UFUNCS = sorted(
    name for name in set(T.__all__) & set(dir(np))
    if isinstance(u := getattr(np, name), np.ufunc) and u.nin <= 2 and not u.signature
)  # fmt: skip
ROUNDING = {"float16": 2e-3, "float32": 2e-6, "complex64": 1e-5, "float64": 1e-13, "complex128": 1e-12}


def same(ours, numpys):
    """Whether two arrays have one dtype and shape and, up to rounding, the same values."""
    numpys, tolerance = np.asarray(numpys), ROUNDING.get(np.asarray(numpys).dtype.name, 0)
    return (ours.dtype, ours.shape) == (numpys.dtype, numpys.shape) and np.allclose(
        ours, numpys, rtol=tolerance, atol=tolerance, equal_nan=True
    )


# --- elementwise functions, all dtypes


def extremes(dtype):
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False, True, False, True])
    if kind in "fc":
        return np.array([-2.5, 0, 1, 3.75, 0.5]).astype(dtype) + (0.5j if kind == "c" else 0)
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1, 2 if info.min == 0 else -2], dtype)


def results(function, operands):
    try:
        with np.errstate(all="ignore"):
            found = function(*operands)
    except TypeError:
        return None
    return found if isinstance(found, tuple) else (found,)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_of_every_dtype(name):
    ufunc, ours = getattr(np, name), getattr(T, name)
    pairs = [(a,) for a in DTYPES] if ufunc.nin == 1 else [(a, b) for a in DTYPES[:12] for b in (a, "int8", "float16")]
    for dtypes in pairs:
        operands = [np.roll(extremes(d), k) for k, d in enumerate(dtypes)]
        if name in ("power", "pow") and operands[1].dtype.kind in "iu":
            operands[1] = operands[1] % 5  # NumPy refuses negative powers of integers
        found, wanted = results(ours, operands), results(ufunc, operands)
        assert (found is None) == (wanted is None), dtypes
        for f, w in zip(found or (), wanted or (), strict=True):
            value = f.eval()
            assert value.dtype == w.dtype, (dtypes, value.dtype, w.dtype)
            assert same(value, w), (dtypes, value, w)


def test_absolute_values_and_logarithms_are_floats_in_c_too():
    x, y = T.vector("x", "int8"), T.vector("y", "int8")
    values = np.array([-128, 3, 127], "int8"), np.array([1, -5, 127], "int8")
    for found, wanted in zip(ag.function([x, y], [T.fabs(x), T.logaddexp2(x, y)])(*values),
                             (np.fabs(values[0]), np.logaddexp2(*values)), strict=True):  # fmt: skip
        assert same(found, wanted)
    assert T.fabs(-3).eval() == 3.0
    with pytest.raises(TypeError, match=r"fabs takes real numbers, got z \(complex128\[\?\]\)$"):
        T.fabs(T.vector("z", "complex128"))


@pytest.mark.parametrize("count", [None, 4])
def test_polynomials_are_computed_in_the_joint_dtype(count):
    for of_p in DTYPES:
        for of_x in ("bool", "int8", "float16", "float32", "float64", "complex64"):
            p, x = np.array([1, 0, 1, 1]).astype(of_p), np.array([1, 0, 2, 3]).astype(of_x)
            x = x * x.dtype.type(0.3) if x.dtype.kind in "fc" else x
            symbolic = T.tensor("p", of_p, (count,)), T.tensor("x", of_x, (None,))
            found = T.polyval(*symbolic).eval(dict(zip(symbolic, (p, x), strict=True)))
            wanted = np.polyval(p, x)
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=2 * ROUNDING.get(found.dtype.name, 1e-15))


# --- axes, shapes, dtypes in every form

FORMS = {
    "NumPy integers": (np.int64(1), (np.int32(1), np.int64(0))),
    "arrays of rank 0": (np.array(1), (np.array(1), np.array(0))),
    "arrays": (np.array(1, "uint8"), np.array([1, 0])),
    "lists": (1, [1, 0]),
}
X3, M = np.arange(24.0).reshape(2, 3, 4), np.arange(6.0).reshape(2, 3)
WITH_AXIS = sorted(
    f"{prefix}{name}" for prefix, space in (("", T), ("nn.", T.nn), ("linalg.", T.linalg)) for name in space.__all__
    if name not in (
        "join", "batch_norm", "apply_along_axis", "gumbel_softmax", "accumulate", "reduce_with", "reduce_parts",
    )
    and inspect.isfunction(f := getattr(space, name)) and "axis" in inspect.signature(f).parameters
)  # fmt: skip
INTEGERS = {"dequantize": "int8", "requantize": "int32", "packbits": "int8", "unpackbits": "uint8"}
OTHER_ARGUMENTS = {
    "take": ([0, 1],), "repeat": (2,), "append": (X3,), "split": (1,), "roll": (1,), "quantile": (0.5,),
    "percentile": (50,), "nanquantile": (0.5,), "nanpercentile": (50,), "partition": (1,), "argpartition": (1,),
    "insert": (1, 2.0), "topk": (1,), "put_along_axis": (np.zeros((2, 3, 4), int), 1.0),
    "delete": (1,), "array_split": (2,),
    "take_along_axis": (np.zeros((2, 3, 4), int),), "scatter_add": ([0], 1.0),
    "nn.cosine_similarity": (X3 + 1,), "sliding_window_view": (2,),
    "vecdot": (X3,), "linalg.vecdot": (X3,), "cross": (X3,), "linalg.cross": (X3,), "expand_dims": (),
    "quantize": (np.full(3, 0.5),), "dequantize": (np.full(3, 0.5),),
    "requantize": (np.full(3, 0.5),),
    "linspace": (X3 + 1,), "logspace": (X3 + 1,), "geomspace": (X3 + 1,),
}  # fmt: skip


def with_axis(name, axis):
    """The result of a function of X3 (or what it takes instead) along an axis, as arrays."""
    function = T
    for part in name.split("."):
        function = getattr(function, part)
    first = [X3, X3] if name in ("concatenate", "concat", "stack") else X3[:, :1] if name == "squeeze" else X3
    first = X3 + 1 if name == "geomspace" else X3[:, :2] if name == "nn.glu" else first
    first = X3.astype(INTEGERS[name]) if name in INTEGERS else first
    if name == "compress":
        found = function([True, False], X3, axis=axis)
    elif name.endswith("cross"):
        found = function(X3[:, :, :3].copy(), X3[:, :, :3].copy(), axis=axis)
    elif name.endswith("embedding"):
        found = function(X3, [0], axis=axis)
    else:
        found = function(first, *OTHER_ARGUMENTS.get(name, ()), axis=axis)
    return [T.as_tensor(f).eval() for f in (found if isinstance(found, (tuple, list)) else [found])]


@pytest.mark.parametrize("name", WITH_AXIS)
def test_an_axis_is_an_integer_in_any_form(name):
    wanted = with_axis(name, 1)
    for form, (axis, _) in FORMS.items():
        for found, want in zip(with_axis(name, axis), wanted, strict=True):
            np.testing.assert_array_equal(found, want, err_msg=form)


@pytest.mark.parametrize("form", FORMS)
def test_axes_and_shapes_in_any_form(form):
    one, several = FORMS[form]
    m, s = T.as_tensor(M), T.as_tensor(X3)
    two_by_one = np.array([2, 1]) if isinstance(several, np.ndarray) else type(several)([2, 1])
    for found, wanted in (
        (m.transpose(several), M.T), (T.transpose(m, several), M.T), (m.sum(axis=several), M.sum()),
        (m.sum(axis=one), M.sum(axis=1)), (m.dimshuffle(several), M.T), (T.moveaxis(m, several, (0, 1)), M.T),
        (T.flip(m, several), M[::-1, ::-1]), (T.expand_dims(m, several), M[None, None]),
        (T.squeeze(m[None, None], several), M), (T.tensordot(m, m, axes=(several, several)), np.sum(M * M)),
        (T.roll(m, several, (0, 1)), np.roll(M, (1, 0), (0, 1))), (T.rot90(m, 1, several), np.rot90(M, 1, (1, 0))),
        (T.zeros(several), np.zeros((1, 0))), (T.ones(one), np.ones(1)), (T.full(one, 1.0), np.ones(1)),
        (T.broadcast_to(m[0, 0], two_by_one), np.zeros((2, 1))), (T.reshape(m[0, :2], two_by_one), [[0.0], [1.0]]),
        (m[0, :2].reshape(two_by_one), [[0.0], [1.0]]), (T.tile(m, several), np.tile(M, (1, 0))),
        (T.repeat(m, one, one), M), (T.eye(one), np.eye(1)), (T.tri(one), np.tri(1)), (T.swapaxes(m, 0, one), M.T),
        (T.pad(m, one), np.pad(M, 1)), (T.split(m, one, one)[0], M), (T.diag(m, one), np.diag(M, 1)),
        (T.diagonal(s, one, one, 2), X3.diagonal(1, 1, 2)), (T.median(s, several), np.median(X3, (0, 1))),
        (T.linalg.norm(m, axis=several), np.linalg.norm(M)), (T.histogram(m, one)[0], [6]),
        (T.nn.softmax(m, one).sum(axis=one), [1.0, 1.0]), (T.linspace(0.0, 1.0, one), [0.0]),
        (T.tril(m, one), np.tril(M, 1)), (T.empty(several, dtype="int8"), np.zeros((1, 0), "int8")),
    ):  # fmt: skip
        assert same(found.eval(), np.asarray(wanted)) or np.allclose(found.eval(), wanted)
        assert found.eval().shape == np.shape(wanted)
    assert T.tensor("x", shape=two_by_one).type.shape == (2, 1)


def test_no_dtype_is_that_of_numpy():
    for dtype in (None, "float32", float, np.int8):
        for call in (
            lambda n, d: n.zeros(2, dtype=d), lambda n, d: n.ones(2, dtype=d), lambda n, d: n.empty(2, dtype=d),
            lambda n, d: n.full(2, 3, dtype=d), lambda n, d: n.eye(2, dtype=d), lambda n, d: n.tri(2, dtype=d),
            lambda n, d: n.identity(2, dtype=d), lambda n, d: n.arange(3, dtype=d),
            lambda n, d: n.linspace(0, 1, 3, dtype=d), lambda n, d: n.full_like(np.ones(2, int), 3, dtype=d),
            lambda n, d: n.zeros_like(np.ones(2, int), dtype=d), lambda n, d: n.ones_like(np.ones(2, int), dtype=d),
            lambda n, d: n.sum(np.ones(2, "int8"), dtype=d), lambda n, d: n.mean(np.arange(6), dtype=d),
        ):  # fmt: skip
            assert call(T, dtype).eval().dtype == call(np, dtype).dtype


# --- products


@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_vectors_in_every_dtype(dtype):
    rng = np.random.default_rng(3)
    a, b, m = (rng.integers(0, 2 if dtype == "bool" else 100, size=n).astype(dtype) for n in ((4, 5), (5,), (3, 2, 5)))
    for call in (
        lambda n: n.vecdot(a, b), lambda n: n.vecdot(b, b), lambda n: n.vecdot(a, a, axis=0), lambda n: n.matvec(m, b),
        lambda n: n.vecmat(m[0, 0], m.swapaxes(1, 2)),
        lambda n: n.inner(a, a), lambda n: n.dot(a, b), lambda n: n.vdot(a, a), lambda n: n.tensordot(a, b, 1),
        lambda n: n.convolve(b, b[:2]), lambda n: n.correlate(b, b[:2]),
    ):  # fmt: skip
        found, wanted = call(T).eval(), call(np)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=2 * ROUNDING.get(dtype, 0))


@pytest.mark.parametrize("name", ["vecdot", "inner", "dot", "vdot"])
@pytest.mark.parametrize("shapes", [((3,), (1,)), ((1,), (3,)), ((2, 3), (1,)), ((2, 1), (3,))])
def test_lengths_that_are_summed_over_are_not_broadcast(name, shapes):
    a, b = (T.tensor(n, shape=(None,) * len(shape)) for n, shape in zip("ab", shapes, strict=True))
    values = [np.ones(shape) for shape in shapes]
    expression = getattr(T, name)(a, b)
    with pytest.raises(ValueError):
        getattr(np, name)(*values)
    for run in (ag.function([a, b], expression), lambda *v: expression.eval(dict(zip((a, b), v, strict=True)))):
        with pytest.raises(ValueError):
            run(*values)
    with pytest.raises(ValueError):
        getattr(T, name)(*values).eval()


def test_vecdot_has_gradients_and_batches():
    a, b = T.matrix("a"), T.vector("b")
    g = ag.function([a, b], ag.grad(T.sum(T.vecdot(a, b) ** 2), [a, b]), mode="NUMPY")
    x, y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([2.0, -1.0])
    d = 2 * (x @ y)
    for found, wanted in zip(g(x, y), (d[:, None] * y, d @ x), strict=True):
        np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("rcond", [None, 1, 0, -1, 2, 0.5, 1e-10, np.float32(0.3), "symbolic"])
def test_least_squares_take_rcond_as_lapack_does(rcond):
    a = np.random.default_rng(0).normal(size=(5, 3))
    a[:, 2] = a[:, 0] + 1e-3 * a[:, 1]
    b = np.arange(5.0)
    given = {} if rcond != "symbolic" else {T.scalar("rcond"): 0.5}
    r = next(iter(given)) if given else rcond
    wanted = np.linalg.lstsq(a, b, 0.5 if given else rcond)
    for found, want in zip(T.linalg.lstsq(a, b, r), wanted, strict=True):
        value = found.eval(given) if r in given else found.eval()
        np.testing.assert_allclose(value, want, rtol=1e-6)


# --- names


def test_names_of_theano_are_functions_and_no_modules():
    for name in ("join", "matrices", "rows", "cols", "vectors", "scalars", "fmatrices", "ltensor3s"):
        assert inspect.isfunction(getattr(T, name))
    x, y = T.vectors("x", "y")
    assert T.join(0, x, y).eval({x: [1.0], y: [2.0]}).tolist() == [1.0, 2.0]
    assert T.join(1, np.ones((2, 1)), np.zeros((2, 1))).eval().tolist() == [[1.0, 0.0]] * 2
    with pytest.raises(ValueError, match="join: at least one tensor"):
        T.join(0)
    for made in (T.matrices("a b c"), T.matrices("abc"), T.matrices("a", "b", "c"), T.matrices(["a", "b", "c"])):
        assert [(v.name, v.ndim) for v in made] == [("a", 2), ("b", 2), ("c", 2)]
    assert [v.type.dtype for v in T.fmatrices(2)] == ["float32"] * 2
    assert T.matrices("x").name == "x"  # alone, as in Theano
    assert [v.type.shape for v in T.rows("u v")] == [(1, None)] * 2


@pytest.mark.parametrize("space", [np, np.linalg])
def test_no_module_hides_a_function(space):
    ours = T if space is np else T.linalg
    modules = {name for name in dir(space) if inspect.ismodule(getattr(ours, name, None))}
    assert not {name for name in modules if not inspect.ismodule(getattr(space, name))}


def test_identity_is_a_matrix():
    assert same(T.identity(3).eval(), np.identity(3))
    assert same(T.identity(n=2, dtype="int8").eval(), np.identity(2, "int8"))
    with pytest.raises(TypeError, match="expected an integer"):
        T.identity(T.vector())
    assert T.as_tensor([1.5]).copy().eval().tolist() == [1.5]


# --- streams


def test_draws_move_on_when_evaluated():
    stream = T.random.RandomStream(3)
    u = stream.uniform(size=(3,))
    f = ag.function([], u, mode="NUMPY")
    drawn = [u.eval(), f(), u.eval(), f()]
    assert len({tuple(d) for d in drawn}) == 4
    stream.seed(3)
    assert [d.tolist() for d in (f(), f(), u.eval(), u.eval())] == [d.tolist() for d in drawn]
    s = ag.shared(1.0)
    s.default_update = s * 2
    assert [float((s + 0).eval()) for _ in range(3)] == [1.0, 2.0, 4.0]
    assert float(s.eval({s: 7.0})) == 7.0 and float(s.get_value()) == 8.0  # a given value is not moved on


# --- keywords


def test_operands_by_name():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    assert T.add(x1=x, x2=y).eval().tolist() == T.add(x, x2=y).eval().tolist() == [4.0, 7.0]
    assert T.exp(x=x, out=None, where=True).eval().tolist() == np.exp(x).tolist()
    assert T.where(condition=x > 1, x=x, y=y).eval().tolist() == [3.0, 2.0]
    assert T.matmul(x1=x, x2=y).eval() == 13.0
    assert T.median(a=x, overwrite_input=True).eval() == 1.5
    assert T.reshape(a=x, shape=(2, 1)).eval().shape == (2, 1)
    assert same(T.angle(z=np.array([1j]), deg=True).eval(), np.angle(np.array([1j]), deg=True))
    for call, message in (
        (lambda: T.add(x, x1=y, x2=y), "operand 0 is given by position and as x1"),
        (lambda: T.add(x1=x), "operand x2 is missing"),
        (lambda: T.add(x, z=y), "add takes no keyword 'z'; its operands are x1, x2"),
        (lambda: T.median(x, a=x), "median: argument 0 is given by position and as a"),
        (lambda: T.median(x, b=x), "median: there is no argument b; expected x, axis, keepdims"),
    ):
        with pytest.raises(TypeError, match=message):
            call()


def test_options_that_a_graph_has_no_meaning_for_are_refused():
    x = np.ones((2, 3))
    for call, message in (
        (lambda: T.sum(x, out=np.zeros(())), "sum: out must be None, got .*assign the result"),
        (lambda: T.exp(x, out=np.zeros(3)), "exp: out must be None"),
        (lambda: T.add(x, x, where=[True, False, True]), "add: where must be True"),
        (lambda: T.copy(x, order="Q"), "copy: order must be None or 'C' or 'K' or 'A' or 'F', got 'Q'"),
        (lambda: T.zeros(2, order="Q"), "zeros: order must be"),
        (lambda: T.zeros(2, device="gpu"), "zeros: device must be None or 'cpu'"),
        (lambda: T.concatenate([x, x], dtype="int8"), "does not become int8 under casting='same_kind'"),
        (lambda: T.std(x, dtype="int8"), "var: dtype must be one of floats"),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    assert T.concatenate([x, x], dtype="int8", casting="unsafe").dtype == "int8"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_masks_and_initial_values_of_reductions():
    x, mask, empty = np.array([[3.0, -1.0, np.nan], [0.5, 7.0, 2.0]]), np.array([True, True, False]), np.zeros((0, 2))
    for call in (
        lambda n: n.sum(x, axis=1, initial=2.0, where=mask), lambda n: n.prod(x[1], initial=2.0),
        lambda n: n.max(empty, axis=0, initial=-1.0), lambda n: n.min(empty, initial=4.0),
        lambda n: n.max(x, initial=5.0, where=mask), lambda n: n.min(x, axis=1, initial=0.0, where=mask, keepdims=True),
        lambda n: n.nanmax(x, axis=1, initial=1.0), lambda n: n.nansum(x, where=mask, initial=1.0),
        lambda n: n.var(x, axis=1, where=mask), lambda n: n.std(x[1], correction=1), lambda n: n.var(x, where=mask),
        lambda n: n.var(x[1], mean=np.array([3.0])), lambda n: n.nanvar(x, axis=1, where=mask, ddof=1),
        lambda n: n.nanmean(x, where=[[True], [False]]), lambda n: n.nanstd(x, mean=np.array([[2.0]])),
        lambda n: n.trace(x, dtype="float32"), lambda n: n.cov(x[:, :2], dtype="float32"),
        lambda n: n.cross(np.eye(3), np.ones((3, 3)), axisa=0, axisc=0), lambda n: n.size(x, axis=1),
        lambda n: n.zeros_like(x, shape=(2, 2)), lambda n: n.full_like(x, 2, dtype="int8", shape=3),
        lambda n: n.linalg.pinv(x[:, :2], rtol=None), lambda n: n.linalg.matrix_rank(np.eye(3), rtol=0.5),
    ):  # fmt: skip
        assert same(np.asarray(call(T).eval()), call(np)), inspect.getsource(call)
    with pytest.raises(ValueError, match="max: where needs an initial value"):
        T.max(x, where=mask)


def test_functions_with_numpys_keywords_are_pickled_and_documented():
    for function in (T.median, T.sum, T.linalg.svd, T.reshape):
        assert pickle.loads(pickle.dumps(function)) is function
        assert inspect.getdoc(function)
