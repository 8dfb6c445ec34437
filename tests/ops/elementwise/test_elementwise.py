"""Elementwise ops against the NumPy functions they are named after: dtypes, values, broadcasting."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from draws import rarely_long

import arignote as ag
from arignote import ops as T
from arignote.graph import DTYPES, Constant, FunctionGraph, dims_of, same_shape
from arignote.ops import ELEMENTWISE, Elementwise
from arignote.ops.core.promotion import weak_type

AWKWARD = {
    "digamma": lambda x: (x < 0) & (np.rint(x) != x),
    "gammaln": lambda x: ((x < -1e4) & (x > -np.inf)) | ((x > 0) & (x < 1e-300)),
}
"""Where SciPy is no judge: digamma near its roots; gammaln at far poles, taken for ordinary, and at subnormals."""
NUMPY_NAMES = {
    "mul": "multiply", "sub": "subtract", "true_div": "true_divide", "floor_div": "floor_divide", "mod": "remainder",
    "pow": "power", "neg": "negative", "abs": "absolute", "eq": "equal", "ne": "not_equal", "lt": "less",
    "le": "less_equal", "gt": "greater", "ge": "greater_equal", "bitwise_not": "invert", "conj": "conjugate",
    "switch": "where", "identity": "copy", "stop_gradient": "copy",
}  # fmt: skip
SPECIAL = {"erf", "erfc", "gamma", "gammaln", "digamma", "sigmoid", "softplus", "log1mexp"}
WITHOUT_NUMPY = {
    *SPECIAL, "coarse_erfc", "fill", "frexp_exponent", "frexp_mantissa", "from_bfloat16", "normal_tails", "polygamma",
    "threefry", "to_bfloat16", "xlogy",
}  # fmt: skip
UNARY = [n for n, op in ELEMENTWISE.items() if op.arity == 1 and n not in WITHOUT_NUMPY]
BINARY = [n for n, op in ELEMENTWISE.items() if op.arity in (2, None) and n not in WITHOUT_NUMPY]


def numpy_function(name):
    return getattr(np, NUMPY_NAMES.get(name, name))


def samples(dtype):
    """Values of a dtype that ops tend to get wrong, in one vector of odd length."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.array([True, False, True, True, False, False, True])
    if kind in "iu":
        limits = np.iinfo(dtype)
        values = [0, 1, 2, 3, 5, 7, 63, limits.max, limits.max - 1, limits.min, limits.min + 1]
        return np.array(values + [-1, -2, -3, -7, -64] * (kind == "i") + [8] * (kind == "u"), dtype)
    limits = np.finfo(dtype)
    real = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, 1e-3, 7.0, 30.0, -30.0, np.inf, -np.inf, np.nan]
    real += [limits.max, limits.tiny, limits.smallest_subnormal, -limits.max]
    if kind == "f":
        return np.array(real, dtype)
    return np.array([0, 1, -1, 1j, -1j, 0.5 + 2j, -3 - 0.25j, 1e-3j, 7 - 1e-3j], dtype)


def variable(dtype, *shape):
    return T.tensor("x", dtype, shape)


def in_numpy(function, *values):
    """NumPy's result or the class of its error."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(function(*values))
    except (TypeError, OverflowError, ValueError) as error:
        return next(kind for kind in (TypeError, OverflowError, ValueError) if isinstance(error, kind))


def assert_same(ours, numpys):
    assert isinstance(ours, np.ndarray)
    assert ours.dtype == numpys.dtype
    np.testing.assert_array_equal(ours, numpys, strict=True)
    zero = (numpys == 0) & (numpys.dtype.kind == "f")
    assert np.array_equal(np.signbit(ours[zero].real), np.signbit(numpys[zero].real))


def assert_as_numpy(op, function, *values):
    """The op builds, has NumPy's dtype and gives NumPy's values, or raises what NumPy raises."""
    expected = in_numpy(function, *values)
    variables = [variable(v.dtype, *v.shape) for v in values]
    if isinstance(expected, type):
        with pytest.raises(expected):
            op(*variables).eval(dict(zip(variables, values)))
        return
    result = op(*variables)
    assert result.dtype == expected.dtype.name
    assert result.type.shape == expected.shape
    assert_same(result.eval(dict(zip(variables, values))), expected)


# --- values and dtypes


@pytest.mark.parametrize("name", UNARY)
def test_unary_is_numpys(name):
    for dtype in DTYPES:
        values = samples(dtype)
        for shaped in (values, values[:0], values[1], values[:6].reshape(2, 3)):
            assert_as_numpy(ELEMENTWISE[name], numpy_function(name), np.asarray(shaped))


@pytest.mark.parametrize("name", BINARY)
def test_binary_is_numpys_for_every_pair_of_dtypes(name):
    for one, other in itertools.product(DTYPES, repeat=2):
        a, b = samples(one), samples(other)
        if name == "pow" and np.result_type(one, other).kind == "i":
            b = np.abs(b[b > 0])
        assert_as_numpy(ELEMENTWISE[name], numpy_function(name), a[:, None], b[None, :])


@pytest.mark.parametrize("name", ["switch", "clip"])
def test_three_operands(name):
    op = ELEMENTWISE[name]
    for one, other in itertools.product(DTYPES, repeat=2):
        a, b = samples(one), samples(other)
        c = samples("bool")[:, None, None] if name == "switch" else samples("int8")[:3, None, None]
        assert_as_numpy(op, numpy_function(name), c, a[:, None], b)
    assert_as_numpy(T.switch, np.where, samples("float64"), samples("float64"), samples("float64")[::-1].copy())


def test_functions_that_numpy_lacks():
    special = pytest.importorskip("scipy.special")
    references = {
        "erf": special.erf, "erfc": special.erfc, "gamma": special.gamma, "gammaln": special.gammaln,
        "digamma": special.digamma, "sigmoid": special.expit, "softplus": lambda x: np.logaddexp(x, 0),
        "log1mexp": lambda x: np.where(x < -0.5, np.log1p(-np.exp(x)), np.log(-np.expm1(x))),
    }  # fmt: skip
    assert set(references) == SPECIAL
    for name, reference in references.items():
        for dtype in ("bool", "int8", "uint16", "int64", "float16", "float32", "float64"):
            x = variable(dtype, None)
            values = samples(dtype)
            if name in AWKWARD:
                values = values[~AWKWARD[name](values)]
            result = ELEMENTWISE[name](x)
            like = np.cbrt if name in ("softplus", "log1mexp") or dtype == "float16" else reference
            assert result.dtype == like(np.ones(1, dtype)).dtype.name
            with np.errstate(all="ignore"):
                expected = reference(values.astype("float64")).astype(result.dtype)
            tolerance = 8 * np.finfo(result.dtype).eps
            np.testing.assert_allclose(result.eval({x: values}), expected, rtol=tolerance, atol=0, err_msg=name)


def test_xlogy_is_scipys_and_0_where_the_factor_is():
    special = pytest.importorskip("scipy.special")
    for dtype in ("bool", "int8", "float16", "float32", "float64"):
        values = samples(dtype)
        x, y = values[:, None], values[None, :]
        with np.errstate(all="ignore"):
            expected = special.xlogy(x.astype("float64"), y.astype("float64"))
        result = T.xlogy(x, y)
        assert result.dtype == (dtype if dtype == "float16" else special.xlogy(x, y).dtype)
        with np.errstate(all="ignore"):
            expected, tolerance = expected.astype(result.dtype), 4 * np.finfo(result.dtype).eps
        np.testing.assert_allclose(result.eval({}), expected, rtol=tolerance)
    p, q = T.vector("p"), T.vector("q")
    cost = T.xlogy(p, q)
    f = ag.function([p, q], [cost, *ag.grad(cost.sum(), [p, q])])
    value, by_factor, by_operand = f([0.0, 2.0, 0.0], [0.0, 0.5, np.nan])
    np.testing.assert_array_equal(value, [0, 2 * np.log(0.5), np.nan])
    np.testing.assert_array_equal(by_factor, [-np.inf, np.log(0.5), np.nan])
    np.testing.assert_array_equal(by_operand, [0, 4, np.nan])


def test_digamma_of_negative_numbers():
    special = pytest.importorskip("scipy.special")
    values = np.array([-0.5, -1e-8, -1.5, -3.75, -100.25, -2.0, -np.inf])
    np.testing.assert_allclose(T.digamma.evaluate(values)[0], special.digamma(values), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("order", rarely_long([1, 2, 3, 6, 19, 40], {3, 6, 40}))
def test_polygamma_is_what_mpmath_says(order):
    mpmath = pytest.importorskip("mpmath")
    values = [1e-100, 1e-3, 0.5, 1.0, 1.5, 7.25, 30.0, 1e3, 1e9, -1e-9, -0.3, -2.5, -7.75, -30.1, -1e5 - 0.25]
    with mpmath.workdps(200):
        expected = np.array([float(mpmath.polygamma(order, mpmath.mpf(v))) for v in values])
    n, x = T.lscalar("n"), T.vector("x")
    for mode in ("FAST_RUN", "NUMPY"):
        got = ag.function([n, x], T.polygamma(n, x), mode=mode)(order, values)
        np.testing.assert_allclose(got, expected, rtol=1e-14)


def test_polygamma_at_poles_and_for_orders_that_are_none():
    n = np.array([1, 2, 1, 2, 1, 1, 1.5, -1, 0, np.inf])
    x = np.array([0, -3, np.inf, np.inf, -np.inf, np.nan, 2, 2, 2, 2])
    expected = [np.inf, -np.inf, 0, 0, np.inf, np.nan, np.nan, np.nan, T.digamma.evaluate(np.array(2.0))[0], np.nan]
    for mode in ("FAST_RUN", "NUMPY"):
        order, at = T.vector("order"), T.vector("at")
        np.testing.assert_array_equal(ag.function([order, at], T.polygamma(order, at), mode=mode)(n, x), expected)


def test_logistic_family_keeps_its_relative_accuracy_in_the_tails():
    mpmath = pytest.importorskip("mpmath")
    exact = {
        "sigmoid": lambda v: 1 / (1 + mpmath.exp(-v)),
        "softplus": lambda v: mpmath.log(1 + mpmath.exp(v)),
        "log1mexp": lambda v: mpmath.log(1 - mpmath.exp(v)),
    }
    values = -np.concatenate([np.logspace(-15, 2.8, 60), [np.log(2)]])
    with mpmath.workdps(320):
        for name, function in exact.items():
            expected = np.array([float(function(mpmath.mpf(v))) for v in values.tolist()])
            np.testing.assert_allclose(ELEMENTWISE[name].evaluate(values)[0], expected, rtol=5e-16)


def test_fill_broadcasts_the_second_operand_in_its_own_dtype():
    like, value = T.matrix("like"), T.tensor("value", "int8", (None,))
    result = T.fill(like, value)
    assert result.dtype == "int8"
    given = {like: np.full((3, 2), np.nan), value: np.array([7], "int8")}
    assert_same(result.eval(given), np.full((3, 2), 7, "int8"))
    assert same_shape(T.fill(like, T.constant(0.0)), like)


def test_operands_of_any_number_are_folded_from_the_left_in_their_joint_dtype():
    x, y, z = variable("float32", None), variable("int8", None), variable("float64", None)
    values = [np.array([1.5], "float32"), np.array([3], "int8"), np.array([2.25])]
    result = T.add(x, y, z)
    assert_same(result.eval(dict(zip((x, y, z), values))), values[0] + values[1] + values[2])
    assert T.mul(x, 2, x).dtype == "float32"
    assert T.maximum(1, y, 2.5).dtype == "float64"


@pytest.mark.parametrize("to", DTYPES)
def test_cast(to):
    for dtype in DTYPES:
        values = samples(dtype)
        x = variable(dtype, None)
        if dtype.startswith("complex") and not to.startswith("complex") and to != "bool":
            with pytest.raises(TypeError, match="imaginary part would be lost"):
                T.cast(x, to)
            continue
        with np.errstate(all="ignore"):
            assert_same(x.astype(to).eval({x: values}), values.astype(to))
    assert T.cast(variable(to), to).owner is None


# --- Python numbers are weak (NEP 50)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("number", [2, 2.5, 1 + 2j, True])
def test_python_numbers_take_numpys_dtype(name, number):
    for dtype in DTYPES:
        values = samples(dtype)[:5]
        x = variable(dtype, None)
        for ours, numpys in (((x, number), (values, number)), ((number, x), (number, values))):
            if name == "pow" and numpys[1] is values and values.dtype.kind == "i":
                continue  # negative exponents
            expected = in_numpy(numpy_function(name), *numpys)
            if isinstance(expected, type):
                with pytest.raises(expected):
                    ELEMENTWISE[name](*ours)
            else:
                assert_same(ELEMENTWISE[name](*ours).eval({x: values}), expected)


def test_numpy_scalars_and_bools_are_not_weak():
    assert (T.fvector("x") * np.float64(2)).dtype == "float64"
    assert (np.float64(2) * T.fvector("x")).dtype == "float64"
    assert (T.fvector("x") * 2.0).dtype == "float32"
    assert [weak_type(v) for v in (1, 1.0, 1j)] == [int, float, complex]
    assert [weak_type(v) for v in (True, np.float64(1), np.int64(1), "1")] == [None] * 4


@pytest.mark.parametrize("number", [300, -1, -129, 2**31, 2**63, 2**64, -(2**63) - 1, 10**30])
def test_integers_out_of_range(number):
    for dtype in ("int8", "uint8", "int64", "uint64"):
        values = samples(dtype)
        x = T.tensor("counter", dtype, (None,))
        fits = np.iinfo(dtype).min <= number <= np.iinfo(dtype).max
        for name in ("eq", "ne", "lt", "le", "gt", "ge"):
            for ours, numpys in (((x, number), (values, number)), ((number, x), (number, values))):
                assert_same(ELEMENTWISE[name](*ours).eval({x: values}), in_numpy(numpy_function(name), *numpys))
        if fits:
            assert_same((x + number).eval({x: values}), values + np.array(number, dtype))
        else:
            with pytest.raises(OverflowError, match=rf"add: the Python integer {number} .* {dtype}.*counter"):
                x + number
        if number >= np.iinfo(dtype).max:
            assert_same(x.clip(None, number).eval({x: values}), values)
            assert_same(x.clip(1, number).eval({x: values}), np.maximum(values, np.array(1, dtype)))


def test_clip_with_bounds_left_out():
    x, values = T.vector("x"), np.array([-2.0, 0.5, np.nan, 9])
    assert T.clip(x) is x
    for arguments in ((0, 1), (None, 1), (0, None)):
        assert_same(T.clip(x, *arguments).eval({x: values}), np.clip(values, *arguments))
    assert_same(T.clip(x, min=0, max=1).eval({x: values}), np.clip(values, 0, 1))


def test_integers_to_negative_integer_powers_raise_as_in_numpy():
    x = T.lvector("n")
    with pytest.raises(ValueError, match="negative integer powers"):
        (x**-1).eval({x: [2, 3]})


def test_evaluation_gives_no_warnings_and_arrays_even_of_rank_0():
    x = T.scalar("x")
    value = (1 / x).eval({x: 0.0})
    assert isinstance(value, np.ndarray)
    assert value.shape == ()
    assert T.log(x).eval({x: -1.0}).dtype == "float64"


# --- what an op is


def test_ops_are_singletons():
    for name, op in ELEMENTWISE.items():
        assert str(op) == repr(op) == name
        assert isinstance(op, Elementwise)
        assert pickle.loads(pickle.dumps(op)) is op
        assert copy.copy(op) is copy.deepcopy(op) is op
    assert T.Cast("int8") == T.Cast("int8") != T.Cast("int16")
    assert str(T.Cast("int8")) == "cast{dtype='int8'}"


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_the_algebraic_facts_are_true(name):
    op = ELEMENTWISE[name]
    integers = name.startswith("bitwise") or name in ("gcd", "lcm")
    dtype = "int64" if integers else "bool" if name.startswith("logical") else "float64"
    a, b, c = (np.array(v, dtype) for v in ([1, 0, 5, 2, 0], [0, 1, 3, 1, 0], [1, 1, 2, 4, 0]))
    if dtype == "float64":
        a, b, c = a + 1.5, b + 1.5, c + 1.5

    def apply(*values):
        return op.evaluate(*values)[0]

    if op.commutative:
        np.testing.assert_array_equal(apply(a, b), apply(b, a))
    if op.associative:
        np.testing.assert_allclose(apply(apply(a, b), c), apply(a, apply(b, c)), rtol=1e-15)
    if op.idempotent:
        once = a if op.arity in (2, None) else apply(a)
        np.testing.assert_array_equal(apply(a, a) if op.arity in (2, None) else apply(once), once)
    if op.involution:
        np.testing.assert_allclose(apply(apply(a)), a, rtol=1e-15)
    for value, expected in ((op.unit, a), (op.zero, op.zero)):
        if value is not None:
            np.testing.assert_array_equal(apply(a, np.array(value, dtype)), expected)
            np.testing.assert_array_equal(apply(np.array(value, dtype), a), expected)


def test_aliases_are_the_ops_themselves():
    pairs = {"power": T.pow, "divide": T.true_div, "asin": T.arcsin, "lgamma": T.gammaln}
    assert all(getattr(T, alias) is op for alias, op in pairs.items())
    x, values = T.lvector("x"), np.array([-7, 0, 7])
    quotient, rest = divmod(x, 3)
    assert_same(quotient.eval({x: values}), values // 3)
    assert_same(rest.eval({x: values}), values % 3)


@pytest.mark.parametrize("decimals", [0, 2, -1])
def test_round(decimals):
    for dtype in ("int8", "int64", "uint8", "float32", "float64", "complex128"):
        x, values = variable(dtype, None), np.array([2.5, 3.5, 15, 0.125, 25, 99], dtype)
        assert_same(T.round(x, decimals).eval({x: values}), np.round(values, decimals))


def test_a_cast_to_no_dtype_is_refused():
    x = T.vector("x")
    for mistake in (lambda: T.cast(x, None), lambda: x.astype(None)):
        with pytest.raises(TypeError, match="cast: dtype must be given, got None"):
            mistake()


# --- shapes


def test_static_shapes_of_broadcasting():
    def shape(*shapes):
        return T.add(*(T.tensor("x", shape=s) for s in shapes)).type.shape

    assert shape((3, 1), (1, 4)) == (3, 4)
    assert shape((None, 4), (1, 4)) == (None, 4)
    assert shape((None,), (4,)) == (4,)
    assert shape((None,), (0,)) == (0,)
    assert shape((), (2, None), (5, 1, 1)) == (5, 2, None)


def test_lengths_that_cannot_agree_name_the_operands():
    weights, data = T.tensor("weights", shape=(3,)), T.tensor("data", shape=(2, 4))
    with pytest.raises(ValueError, match=r"add: data \(float64\[2, 4\]\) and weights \(float64\[3\]\).*4 and 3"):
        data + weights
    x, y = T.vector("x"), T.vector("y")
    with pytest.raises(ValueError, match=r"(?s)x \(2,\), y \(3,\).*in add\(x, y\), built at .*test_"):
        (x + y).eval({x: [1, 2], y: [1, 2, 3]})


def test_symbolic_shapes():
    x, y = T.vector("x"), T.vector("y")
    assert same_shape(T.exp(x), x)
    assert not same_shape(x + y, x)
    assert same_shape(x + y, y * x)
    assert dims_of(x + T.tensor("z", shape=(5,))) == (5,)


def test_errors_name_op_operands_and_fix():
    x, flags, z = T.vector("x"), T.vector("flags", "bool"), T.zvector("z")
    with pytest.raises(TypeError, match=r"bitwise_and does not take x \(float64\[\?\]\).*bool or integer"):
        x & x
    with pytest.raises(TypeError, match=r"sub does not take flags.*logical_xor"):
        flags - flags
    with pytest.raises(TypeError, match=r"floor does not take z"):
        T.floor(z)
    with pytest.raises(TypeError, match=r"sin takes 1 operand, got 2"):
        T.sin(x, x)
    with pytest.raises(TypeError, match=r"add does not take 'text'.*dtype"):
        x + "text"
    with pytest.raises(TypeError, match="mask"):
        x + np.ma.array([1.0, 2.0], mask=[True, False])


def test_constants_made_of_numbers_are_constants():
    x = T.fvector("x")
    two = (x * 2).owner.inputs[1]
    assert isinstance(two, Constant)
    assert two.type.dtype == "float32"
    assert two.type.shape == ()


def test_equal_numbers_are_one_constant():
    x = T.vector("x")
    one = (x + 1).owner.inputs[1]
    assert (x * 1.0).owner.inputs[1] is one
    assert (T.vector("y", dtype="float32") + 1).owner.inputs[1] is not one
    assert (x + 0.0).owner.inputs[1] is not (x + -0.0).owner.inputs[1]
    assert T.constant(1.0) is not T.constant(1.0)
    gradient = FunctionGraph([x], [ag.grad(T.sum(T.tanh(T.tanh(x)) ** 2), x)])
    assert len({c.key for c in gradient.constants}) == len(gradient.constants)
