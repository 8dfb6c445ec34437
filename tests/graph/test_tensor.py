"""Variables as users meet them: operators, methods, NumPy functions, constructors, constants, shared values, `eval`."""

import operator
import pickle
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import DTYPES, Constant, FunctionGraph
from arignote.ops.core.shared import Container

VALUES = np.array([[1.5, -2.0, 3.0], [0.5, 4.0, -1.25]])


def of(expression, *values):
    """The value of an expression in as many variables as there are values."""
    variables = [T.tensor(f"x{n}", v.dtype, (None,) * v.ndim) for n, v in enumerate(map(np.asarray, values))]
    result = expression(*variables)
    return result.eval(dict(zip(variables, values)))


# --- operators

ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
              operator.lt, operator.le, operator.gt, operator.ge]  # fmt: skip
BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


@pytest.mark.parametrize("op", ARITHMETIC)
def test_arithmetic_operators_on_either_side(op):
    with np.errstate(all="ignore"):
        for other in (2, 2.5, np.float32(1.5), VALUES[0]):
            np.testing.assert_array_equal(of(lambda x, o=other: op(x, o), VALUES), op(VALUES, other), strict=True)
            np.testing.assert_array_equal(of(lambda x, o=other: op(o, x), VALUES), op(other, VALUES), strict=True)


@pytest.mark.parametrize("op", BITS)
def test_bit_operators_on_either_side(op):
    values = np.array([1, 2, 7], "int16")
    for other in (3, np.array([1, 0, 2], "int16")):
        np.testing.assert_array_equal(of(lambda x, o=other: op(x, o), values), op(values, other), strict=True)
        np.testing.assert_array_equal(of(lambda x, o=other: op(o, x), values), op(other, values), strict=True)


def test_unary_operators():
    for op in (operator.neg, operator.pos, operator.abs, round):
        np.testing.assert_array_equal(of(op, VALUES), np.round(VALUES) if op is round else op(VALUES))
    np.testing.assert_array_equal(of(operator.invert, np.array([0, 5])), ~np.array([0, 5]))
    quotient = of(lambda x: divmod(7.0, x)[0], VALUES)
    np.testing.assert_array_equal(quotient, divmod(7.0, VALUES)[0])
    np.testing.assert_array_equal(of(lambda x, y: x @ y, VALUES, VALUES.T), VALUES @ VALUES.T)
    np.testing.assert_array_equal(of(lambda x: VALUES.T @ x, VALUES), VALUES.T @ VALUES)


def test_equality_is_identity_so_that_variables_are_keys():
    x, y = T.vector("x"), T.vector("y")
    assert x == x
    assert x != y
    assert {x: 1}[x] == 1
    assert x in [y, x]
    np.testing.assert_array_equal(T.eq(x, y).eval({x: [1, 2], y: [1, 3]}), [True, False])
    assert (x == y, x == "x", x == None) == (False,) * 3  # noqa: E711
    assert (x != y, x != "x", x != None) == (True,) * 3  # noqa: E711
    assert repr((x == y, x != y, x == x)) == "(False, True, True)"
    assert len({x == y, x != y}) == 2
    np.testing.assert_array_equal((x == np.array([1.0, 3.0])).eval({x: [1, 2]}), [True, False])


@pytest.mark.parametrize(
    "use",
    [
        lambda same, x: T.where(same, 1, 2), lambda same, x: T.mean(same), lambda same, x: same.mean(),
        lambda same, x: same & (x > 0), lambda same, x: (x > 0) & same, lambda same, x: ~same, lambda same, x: x * same,
        lambda same, x: same * x, lambda same, x: np.mean(same), lambda same, x: T.as_tensor([same, same]),
        lambda same, x: x[same], lambda same, x: 1 - same,
    ],
)  # fmt: skip
def test_what_equality_gives_is_no_tensor(use):
    x, y = T.vector("x"), T.vector("y")
    for same, call in ((x == y, r"T\.eq"), (x != y, r"T\.ne")):
        with pytest.raises((TypeError, AttributeError), match=f"compares identity and is .*{call}"):
            use(same, x)


@pytest.mark.parametrize("other", [1, 1.0, np.float32(1), True, [1, 2], (1, 2), np.array([1.0, 2.0]), np.array(1)])
def test_equality_with_numbers_and_arrays_is_elementwise(other):
    x = T.vector("x")
    for found, expected in (
        (x == other, np.array(other) == [1, 2]), (other == x, np.array(other) == [1, 2]),
        (x != other, np.array(other) != [1, 2]), (other != x, np.array(other) != [1, 2]),
    ):  # fmt: skip
        np.testing.assert_array_equal(found.eval({x: [1, 2]}), expected, strict=True)
        with pytest.raises(TypeError, match=r"no truth value(?s:.*)test_tensor.py"):
            bool(found)
    with pytest.raises(TypeError, match="no truth value"):
        x[0] in (3, 4)  # noqa: B015


# --- attributes and methods

METHODS = {
    "sum": lambda x: x.sum(axis=0), "prod": lambda x: x.prod(axis=1, keepdims=True), "mean": lambda x: x.mean(),
    "std": lambda x: x.std(axis=0), "var": lambda x: x.var(ddof=1), "max": lambda x: x.max(axis=-1),
    "min": lambda x: x.min(), "argmax": lambda x: x.argmax(axis=0), "argmin": lambda x: x.argmin(),
    "any": lambda x: x.any(axis=0), "all": lambda x: x.all(), "dot": lambda x: x.dot(x.T), "T": lambda x: x.T,
    "clip": lambda x: x.clip(0, 1), "round": lambda x: x.round(1), "astype": lambda x: x.astype("float32"),
    "reshape": lambda x: x.reshape(3, 2), "reshape a tuple": lambda x: x.reshape((3, -1)), "ravel": lambda x: x.ravel(),
    "transpose": lambda x: x.transpose(1, 0), "transpose all": lambda x: x.transpose(),
    "flatten": lambda x: x.flatten(), "swapaxes": lambda x: x.swapaxes(0, 1), "mT": lambda x: x.mT,
    "squeeze": lambda x: x.reshape(1, 6).squeeze(), "repeat": lambda x: x.repeat(2, axis=0),
    "take": lambda x: x.take([1, 0], axis=1), "copy": lambda x: x.copy(), "conj": lambda x: x.conj(),
    "real": lambda x: x.real, "imag": lambda x: x.imag, "index": lambda x: x[0, ::-1],
}  # fmt: skip


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_numpys(name):
    method = METHODS[name]
    np.testing.assert_allclose(of(method, VALUES), method(VALUES), rtol=1e-15, strict=True)


def test_shape_and_size():
    x = T.matrix("x")
    np.testing.assert_array_equal(x.shape.eval({x: VALUES}), [2, 3])
    rows, columns = x.shape
    assert (rows * 10 + columns).eval({x: VALUES}) == 23
    assert x.size.eval({x: VALUES}) == 6
    assert (x.ndim, x.dtype, x.name, x.owner) == (2, "float64", "x", None)


def test_iteration_over_a_known_length():
    x = T.tensor("x", shape=(2, None))
    assert len(x) == 2
    first, second = x
    np.testing.assert_array_equal((first - second).eval({x: VALUES}), VALUES[0] - VALUES[1])


@pytest.mark.parametrize(
    ("use", "fix"),
    [
        (bool, r"T\.switch"), (float, r"x\.eval"), (int, r"x\.eval"), (complex, r"x\.eval"), (len, r"x\.shape\[0\]"),
        (list, r"x\.shape\[0\]"), (lambda x: 1.0 in x, r"T\.any\(T\.eq"), (np.asarray, r"x\.eval"),
        (lambda x: 0 < x < 1, r"T\.logical_and"),
    ],
)  # fmt: skip
def test_what_is_not_known_before_the_run_is_refused_with_a_way_out(use, fix):
    with pytest.raises(TypeError, match=rf"(weights: float64|weights [<>] ).* is symbolic and has no .*{fix}"):
        use(T.vector("weights"))
    with pytest.raises(TypeError, match="is a scalar"):
        len(T.scalar("weights"))


# --- NumPy functions called on variables


def test_numpy_functions_build_expressions():
    x, y = VALUES, VALUES[::-1].copy()
    for function in (
        np.add,
        lambda x, y: np.sin(x) * np.float64(2) + np.arange(3.0),
        lambda x, y: np.arange(3.0) - x,
        lambda x, y: np.sum(x, axis=1),
        lambda x, y: np.concatenate([x, y], axis=1),
        lambda x, y: np.where(x > y, x, 0),
        lambda x, y: np.clip(x, -1, 1),
        lambda x, y: np.mean(x, axis=0, keepdims=True),
        lambda x, y: np.dot(x, y.T) @ np.ones((2, 2)),
        lambda x, y: np.stack([x, y]),
        lambda x, y: np.transpose(x),
        lambda x, y: np.maximum(x, VALUES),
    ):
        np.testing.assert_allclose(of(function, x, y), function(x, y), rtol=1e-15)


def test_numpy_functions_without_counterpart_are_refused():
    x = T.matrix("x")
    with pytest.raises(TypeError, match=r"numpy\.isnat does not take the symbolic x"):
        np.isnat(x)
    with pytest.raises(TypeError, match=r"numpy\.subtract\.reduceat does not take the symbolic x"):
        np.subtract.reduceat(x, [0])
    folds = np.add.reduce, np.subtract.reduce, np.multiply.accumulate
    for call in (*folds, lambda v: np.maximum.reduce(v, axis=1, keepdims=True)):
        np.testing.assert_array_equal(call(x).eval({x: VALUES}), call(VALUES), strict=True)
    np.testing.assert_array_equal(np.subtract.outer(x, x).eval({x: VALUES}), np.subtract.outer(VALUES, VALUES))
    with pytest.raises(TypeError, match=r"numpy\.add: the symbolic x.* cannot be written into an array"):
        np.add(x, 1, out=np.zeros(3))
    with pytest.raises(TypeError, match=r"numpy\.is_busday does not take the symbolic x"):
        np.is_busday(x)


# --- inputs


@pytest.mark.parametrize(
    ("letter", "dtype"),
    [("b", "int8"), ("w", "int16"), ("i", "int32"), ("l", "int64"), ("ub", "uint8"), ("uw", "uint16"), ("ui", "uint32"),
     ("ul", "uint64"), ("h", "float16"), ("f", "float32"), ("d", "float64"), ("c", "complex64"), ("z", "complex128"),
     ("bool", "bool")],
)  # fmt: skip
def test_typed_constructors(letter, dtype):
    for kind, shape in {"scalar": (), "vector": (None,), "matrix": (None, None), "row": (1, None), "col": (None, 1),
                        "tensor3": (None,) * 3, "tensor4": (None,) * 4}.items():  # fmt: skip
        x = getattr(T, letter + kind)("x")
        assert (x.name, x.dtype, x.type.shape) == ("x", dtype, shape)
        assert getattr(T, kind)(dtype=dtype).type == x.type


def test_constructors_with_lengths():
    assert T.matrix("x", "float32", (None, 3)).type.shape == (None, 3)
    assert T.tensor(shape=(2, None, 4)).type.shape == (2, None, 4)
    assert T.col(shape=(7, 1)).type.shape == (7, 1)
    assert T.tensor("x", shape=[np.int64(2)]).type.shape == (2,)
    for wrong, error, message in (
        (lambda: T.vector(3), TypeError, "name of a variable must be a str"),
        (lambda: T.matrix(shape=(3,)), ValueError, "a matrix has shape"),
        (lambda: T.row(shape=(2, 3)), ValueError, "a row has shape"),
        (lambda: T.vector(shape=(-1,)), ValueError, "must not be negative"),
        (lambda: T.vector(shape=(1.5,)), TypeError, "a length must be an int"),
        (lambda: T.tensor(shape=3), TypeError, "a shape must be a tuple"),
        (lambda: T.vector(dtype="object"), TypeError, "no tensor has dtype object"),
        (lambda: T.vector(dtype="float46"), TypeError, "is not a dtype"),
        (lambda: T.fvector(dtype="float64"), TypeError, "this vector is of float32"),
    ):
        with pytest.raises(error, match=message):
            wrong()


# --- constants


def test_constants_are_copies_in_native_order():
    given = np.arange(6, dtype=">f8").reshape(2, 3).T
    c = T.constant(given)
    given[0, 0] = 9
    assert isinstance(c, Constant)
    assert c.data[0, 0] == 0
    assert c.data.dtype.isnative
    assert c.data.flags.c_contiguous
    assert not c.data.flags.writeable
    assert T.constant([1, 2]).dtype == "int64"
    assert T.constant(1.5, "float32", name="half").name == "half"


def test_what_no_constant_can_be_made_of():
    for value, message in (
        ("text", "no tensor has dtype str"),
        (None, "no tensor has dtype object"),
        (np.datetime64("2020-01-01"), "no tensor has dtype datetime"),
        (np.ma.array([1.0], mask=[True]), "no tensor has a mask"),
        (T.vector("x"), "got the symbolic x: .*T.stop_gradient"),
    ):
        with pytest.raises(TypeError, match=message):
            T.constant(value)


def test_as_tensor():
    x, y = T.scalar("x"), T.scalar("y")
    assert T.as_tensor(x) is x
    stacked = T.as_tensor([[x, 1.0], [2.0, y]])
    np.testing.assert_array_equal(stacked.eval({x: 5, y: 7}), [[5, 1], [2, 7]])
    with pytest.raises(TypeError, match=r"expected int64, got x: float64; use T\.cast"):
        T.as_tensor(x, "int64")


def test_representations_name_the_variable_and_its_type():
    x = T.matrix("x")
    assert repr(x) == "x: float64[?, ?]"
    assert repr(T.exp(x)) == "exp(x): float64[?, ?]"
    assert repr(T.constant([1, 2])) == "[1, 2]: int64[2]"
    assert repr(T.vector()) == "unnamed variable: float64[?]"


# --- shared variables


def test_shared_variables_keep_values_of_their_type():
    weights = T.shared(np.zeros((2, 3), "float32"), "weights")
    assert (weights.dtype, weights.type.shape, weights.name) == ("float32", (None, None), "weights")
    weights.set_value(np.ones((4, 3), "float32"))
    np.testing.assert_array_equal((weights * 2).eval(), np.full((4, 3), 2, "float32"), strict=True)
    weights.set_value([[1, 2]])
    assert weights.get_value().dtype == "float32"
    for wrong, error, message in (
        (np.zeros((2, 3)), TypeError, r"weights \(float32.*given float64; use value.astype\('float32'\)"),
        (np.zeros(3, "float32"), TypeError, "expected rank 2"),
        ("text", TypeError, "no tensor has dtype str"),
    ):
        with pytest.raises(error, match=message):
            weights.set_value(wrong)
    np.testing.assert_array_equal(weights.get_value(), [[1, 2]])
    with pytest.raises(ValueError, match="was given an array of shape"):
        T.shared(np.zeros((2, 3)), shape=(None, 3)).set_value(np.zeros((2, 4)))


def test_shared_values_are_copied_unless_lent():
    own = np.zeros(3)
    copied, lent = T.shared(own), T.shared(own, borrow=True)
    own[0] = 1
    assert copied.get_value()[0] == 0
    assert lent.get_value()[0] == 1
    assert lent.get_value(borrow=True) is own
    assert copied.get_value(borrow=True) is not copied.get_value()
    copied.set_value(own, borrow=True)
    assert copied.container.value is own


def test_shared_variables_pickle_with_their_container():
    weights = T.shared(np.arange(3.0), "weights")
    again, doubled = pickle.loads(pickle.dumps((weights, weights * 2)))
    assert isinstance(again.container, Container)
    again.set_value([5.0])
    np.testing.assert_array_equal(doubled.eval(), [10.0])
    np.testing.assert_array_equal(weights.get_value(), [0, 1, 2])
    assert weights.clone_leaf().container is weights.container


# --- the meaning of a graph


def test_eval_takes_values_of_inputs_and_of_intermediate_results():
    x, y = T.vector("x"), T.vector("y")
    inner = x * y
    outer = inner + x
    np.testing.assert_array_equal(outer.eval({x: [1, 2], y: [3, 4]}), [4, 10])
    np.testing.assert_array_equal(outer.eval({x: [1, 2], inner: [0, 0]}), [1, 2])
    with pytest.raises(ValueError, match=r"no value is given for y \(float64\[\?\]\)"):
        outer.eval({x: [1, 2]})
    with pytest.raises(TypeError, match=r"y .* was given complex128"):
        outer.eval({x: [1.0], y: np.array([1j])})
    with pytest.raises(TypeError, match="expected rank 1"):
        outer.eval({x: [1.0], y: 1.0})


def test_eval_gives_arrays_of_its_own():
    x, values = T.vector("x"), np.zeros(3)
    result = x.eval({x: values})
    result[0] = 1
    assert values[0] == 0


def test_errors_of_a_run_say_which_op_and_where_it_was_built():
    x, y = T.vector("x"), T.vector("y")
    with pytest.raises(IndexError, match=r"(?s)x \(2,\).*in subtensor\(x, 5\), built at .*test_tensor\.py:\d+"):
        x[5].eval({x: [1, 2]})
    with pytest.raises(ValueError, match=r"(?s)in dot.*built at"):
        T.dot(x, y).eval({x: [1, 2], y: [1]})


def test_interpret_holds_no_value_longer_than_needed():
    x = T.vector("x")
    y = x
    for _ in range(50):
        y = y + 1.0
    graph = FunctionGraph([x], [y, x])
    one, other = T.interpret(graph, [np.zeros(2)])
    np.testing.assert_array_equal(one, [50, 50])
    np.testing.assert_array_equal(other, [0, 0])


@pytest.mark.long
def test_long_chains_need_no_stack():
    x = T.scalar("x")
    y = x
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(200)
    try:
        for _ in range(20_000):
            y = y + 1.0
        assert y.eval({x: 0.0}) == 20_000
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("name", DTYPES)
def test_the_dtype_of_a_variable_equals_what_numpys_equals(name):
    """Python and NumPy compare by `==` in either order, by `in`, and by a key of a dictionary."""
    numpys = np.dtype(name)
    ones = np.ones(2, name)
    variables = (T.vector("x", name), T.constant(ones), ag.shared(ones), T.cast(T.vector(), name))
    others = (None, 1, "f", "f8", "?", "no such", "", float, int, bool, complex, object, *DTYPES)
    asked = (*others, *map(np.dtype, DTYPES), *(np.dtype(d).type for d in DTYPES))
    for x in variables:
        for other in asked:
            expected = other is not None and _equals(numpys, other)
            assert [x.dtype == other, other == x.dtype, x.dtype != other] == [expected, expected, not expected], other
        assert x.dtype in (numpys.type,) and x.dtype in {name: 0} and hash(x.dtype) == hash(name)
        assert repr(x.dtype) == repr(name) and f"{x.dtype}" == name and np.dtype(x.dtype) == numpys
        assert pickle.loads(pickle.dumps(x.dtype)) == numpys.type


def _equals(dtype: np.dtype, other: object) -> bool:
    try:
        return bool(dtype == other)
    except TypeError:  # NumPy refuses text that names no dtype
        return False


def test_operands_in_messages_are_calls_and_indices():
    x, n = T.tensor("x", shape=(None, 5)), T.lscalar("n")
    with pytest.raises(ValueError, match=r"the result of zeros .*\n  in add\(zeros\(\(n, 4\)\), x\[:, :3\]\), built"):
        T.zeros((n, 4)) + x[:, :3]
    with pytest.raises(ValueError, match="the result of tap"):
        ag.tap(T.exp(x), "seen") + T.zeros((3, 4))
