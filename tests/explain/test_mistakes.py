"""Mistakes that users of NumPy and Theano make, and what they are told: who is at fault, what was expected, the line,
the mend.

A row of a table is one mistake.  Texts are held to four lines; what must appear in them stands beside the mistake.
"""

import math
from collections import deque
from pathlib import Path

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.optdb import rule, wilds

HERE = Path(__file__).name
A = np.arange(3.0)
x, y, m, n = T.vector("x"), T.vector("y"), T.matrix("m"), T.matrix("n")
i, k, p = T.lscalar("i"), T.lvector("k"), T.lvector("p")
cube, other_cube = T.tensor3("cube"), T.tensor3("other_cube")
w = ag.shared(np.zeros(3, "float32"), name="w")
s, pair = T.scalar("s"), ag.scan(lambda z: z * 2, x)
three, four = T.vector("three", shape=(3,)), T.vector("four", shape=(4,))
u, v = wilds("u v")


def refused(mistake, error, words):
    """The message of the mistake, held to its error and its words."""
    with pytest.raises(error) as caught:
        mistake()
    text = str(caught.value)
    missing = [word for word in words if word not in text]
    assert not missing, f"{missing} not in:\n{text}"
    assert len(text.splitlines()) <= 4, text
    return text


def chosen_by_if():
    return x if x > 0 else -x


def put(target):
    target[0] = 1.0


@ag.jit
def traced(a):
    return a if a.sum() > 0 else -a


@ag.jit
def counted(n):
    return sum(1.0 for _ in range(n))


@ag.jit
def doubled(a):
    return a * 2


BUILDING = {
    # --- a symbolic value where Python needs a number
    "bool": (lambda: bool(x), TypeError, ["x: float64[?]", "truth value", "T.switch"]),
    "format": (lambda: f"{x:.3f}", TypeError, ["x: float64[?]", "'.3f'", "x.eval"]),
    "a name of nn": (lambda: T.conv2d, AttributeError, ["'conv2d'", "T.nn.conv2d"]),
    "a name of linalg": (lambda: T.cholesky, AttributeError, ["'cholesky'", "T.linalg.cholesky"]),
    "if": (chosen_by_if, TypeError, ["x > 0", "truth value", "T.switch"]),
    "and": (lambda: (x > 0) and (y > 0), TypeError, ["x > 0", "T.logical_and"]),
    "len": (lambda: len(x), TypeError, ["x: float64[?]", "x.shape[0]"]),
    "float": (lambda: float(x), TypeError, ["x: float64[?]", "eval"]),
    "int": (lambda: int(i), TypeError, ["i: int64", "eval"]),
    "range": (lambda: range(i), TypeError, ["i: int64", "T.arange", "ag.scan(..., n_steps=n)", HERE]),
    "math.exp": (lambda: math.exp(s), TypeError, ["s: float64", "T.exp(x)", "eval", HERE]),
    "list index": (lambda: [1, 2][i], TypeError, ["i: int64", "x[i]"]),
    "iteration": (lambda: list(x), TypeError, ["x: float64[?]", "shape=(3,)"]),
    "in": (lambda: 3 in x, TypeError, ["x: float64[?]", "T.any(T.eq"]),
    "np.array": (lambda: np.array(x), TypeError, ["x: float64[?]", "eval"]),
    "NumPy function without counterpart": (lambda: np.is_busday(x), TypeError, ["is_busday", "x: float64[?]"]),
    "assignment": (lambda: put(x), TypeError, ["x: float64[?]", "T.set_subtensor", "T.inc_subtensor"]),
    # --- lengths and ranks that cannot agree
    "add": (lambda: three + four, ValueError, ["three (float64[3])", "four (float64[4])", "3 and 4"]),
    "matmul": (lambda: T.outer(three, three) @ four, ValueError, ["float64[3, 3]", "four (float64[4])", "3 and 4"]),
    "matmul of a scalar": (lambda: x @ 3.0, TypeError, ["matmul", "3.0", "*"]),
    "concatenate, lengths": (
        lambda: T.concatenate([three[None], four[None]]), ValueError, ["3 and 4", "float64[1, 3]", "float64[1, 4]"],
    ),
    "concatenate, ranks": (lambda: T.concatenate([x, m]), TypeError, ["rank", "x (float64[?])", "m (float64[?, ?])"]),
    "reshape": (lambda: four.reshape((3, 2)), ValueError, ["four (float64[4])", "4 elements", "(3, 2)"]),
    "reshape, two unknown": (lambda: x.reshape((-1, -1)), ValueError, ["only one length", "2"]),
    "set_subtensor": (lambda: T.set_subtensor(four[:2], three), ValueError, ["three (float64[3])", "float64[2]"]),
    "set_subtensor of no index": (lambda: T.set_subtensor(x, 1.0), TypeError, ["x[1:]", "x (float64[?])"]),
    "set_subtensor, dtype": (lambda: T.set_subtensor(k[0], 1.5), TypeError, ["1.5", "k (int64[?])", "T.cast"]),
    "tensordot": (lambda: T.tensordot(m, x, axes=2), ValueError, ["2 axes", "m (", "x ("]),
    "axis": (lambda: x.sum(axis=1), np.exceptions.AxisError, ["sum of x", "axis 1", "rank 1"]),
    "axis twice": (lambda: m.sum(axis=(0, 0)), ValueError, ["sum of m", "axis 0", "twice"]),
    "split": (lambda: T.split(three, 2), ValueError, ["split", "three (float64[3])", "2 equal parts"]),
    # --- indices
    "too many indices": (lambda: x[0, 1], IndexError, ["2", "x (float64[?])"]),
    "index out of range": (lambda: three[5], IndexError, ["index 5", "axis 0 of three", "size 3"]),
    "index of a float": (lambda: x[1.5], TypeError, ["an index is an integer", "1.5"]),
    # --- values and dtypes that no tensor has
    "None": (lambda: x + None, TypeError, ["add does not take None"]),
    "text": (lambda: x + "a", TypeError, ["add does not take 'a'"]),
    "objects": (lambda: x * np.array([{}]), TypeError, ["mul does not take", "dtype object"]),
    "dates": (lambda: x - np.datetime64("2020-01-01"), TypeError, ["sub does not take", "datetime64"]),
    "ragged list": (lambda: T.add(x, [[1, 2], [3]]), ValueError, ["add does not take [[1, 2], [3]]", "rectangular"]),
    "masked array": (lambda: x + np.ma.masked_array([1.0], [True]), TypeError, ["add", "mask", "value.filled"]),
    "misspelt dtype": (lambda: x.astype("flaot32"), TypeError, ["'flaot32'", "float32"]),
    "Python integer too large": (lambda: T.bvector("b") + 300, OverflowError, ["300", "int8", "b (int8[?])"]),
    "bits of floats": (lambda: x & y, TypeError, ["bitwise_and", "x (float64[?])", "integer"]),
    # --- gradients
    "grad of a vector": (lambda: ag.grad(x * 2, x), TypeError, ["cost must be a scalar", "float64[?]", "sum()", HERE]),
    "grad, disconnected": (lambda: ag.grad(x.sum(), y), ValueError, ["y (float64[?])", "disconnected", '"zero"']),
    "product of a Hessian by integers": (
        lambda: ag.hvp((k * 1.5).sum(), k, k), TypeError, ["hvp: wrt", "k (int64[?])", "astype"],
    ),
    "grad of integers": (lambda: ag.grad(k.sum(), x), TypeError, ["cost", "floating-point", "int64", HERE]),
    "grad by name": (lambda: ag.grad(x.sum(), "x"), TypeError, ["wrt", "'x'"]),
    # --- loops
    "scan, a parameter missing": (
        lambda: ag.scan(lambda z: z, x, T.zeros(())), TypeError,
        ["scan: fn takes 1 argument (z)", "given 2: x[t], the output 0 before", HERE, "outputs_info"],
    ),
    "scan, a parameter too many": (
        lambda: ag.scan(lambda z, h, c: z, x, T.zeros(())), TypeError,
        ["scan: fn takes 3 arguments (z, h, c)", "given 2", HERE],
    ),
    "scan, rank of a state": (
        lambda: ag.scan(lambda z, h: z * h, m, s), TypeError, ["the state s is float64", "float64[?]", "rank 1", HERE],
    ),
    "scan, dtype of a state": (
        lambda: ag.scan(lambda h: h + 0.5, None, i, n_steps=2), TypeError, ["the state i is int64", "cast", HERE],
    ),
    "scan, updated twice": (lambda: ag.scan(lambda z: [(w, w), (w, w)], x), ValueError, ["two updates of w"]),
    "scan, update of an input": (lambda: ag.scan(lambda z: [(s, s)], x), TypeError, ["shared", "s: float64"]),
    "while, rank": (
        lambda: ag.while_loop(lambda v: v.sum() < 9, lambda v: T.outer(v, v), x), TypeError, ["state", "rank 2", HERE],
    ),
    **{
        f"scan not unpacked, {name}": (use, error, ["(outputs, updates)", "h, updates = ag.scan(...)", HERE])
        for name, use, error in [
            ("method", lambda: pair.sum, AttributeError), ("matmul", lambda: pair @ m, TypeError),
            ("operand", lambda: m @ pair, TypeError), ("add", lambda: pair + 1, TypeError),
            ("product", lambda: 2 * pair, TypeError), ("function", lambda: T.sum(pair), TypeError),
            ("function of NumPy", lambda: np.tanh(pair), TypeError), ("index", lambda: pair[:, 0], TypeError),
            ("cost", lambda: ag.grad(pair, x), TypeError), ("output", lambda: ag.function([x], pair), TypeError),
            ("sequence", lambda: ag.scan(lambda z: z, pair), TypeError), ("comparison", lambda: pair > 0, TypeError),
            ("updates", lambda: pair[1] * 2, TypeError), ("index of updates", lambda: pair[1][-1], TypeError),
        ]
    },
    # --- rules and queries
    "loose name": (lambda: rule("r", T.mul(u, 0), v), ValueError, ["'r'", "asks for v", "binds u"]),
    "unknown tag": (
        lambda: ag.function([x], x, mode="fast_run -inplce"), LookupError, ["'inplce'", "did you mean inplace"],
    ),
    "unknown tag, table": (lambda: ag.optdb.table("fast_rn"), LookupError, ["'fast_rn'", "did you mean fast_run"]),
    "unknown tag, rewrite": (
        lambda: ag.rewrite(x + 1, "canonicalise"), LookupError, ["'canonicalise'", "did you mean canonicalize"],
    ),
    "unknown rule": (
        lambda: ag.optdb["local_mul_zeroo"], LookupError, ["'local_mul_zeroo'", "did you mean local_mul_zero"],
    ),
    "registered twice": (
        lambda: ag.optdb["canonicalize"].register("local_mul_zero", rule("r", T.mul(u, 0), u), "fast_run"),
        ValueError, ["'local_mul_zero'", HERE, "already"],
    ),
    "no rule": (
        lambda: ag.optdb["canonicalize"].register("three", 3, "fast_run"), TypeError, ["'three'", "expected a rule"],
    ),
    "unknown mode": (lambda: ag.function([x], x, mode="FAST_RUNN"), ValueError, ["'FAST_RUNN'", "FAST_RUN"]),
    # --- the definition of a function
    "missing input": (lambda: ag.function([x], x + y), ValueError, ["y (float64[?])", "inputs", "givens"]),
    "unused input": (lambda: ag.function([x, y], x), ValueError, ["nothing depends on y", "on_unused_input"]),
    "givens, dtype": (
        lambda: ag.function([x], y, givens={y: T.fvector("z")}), TypeError, ["float32[?]", "place of y", "float64[?]"],
    ),
    "givens by name": (lambda: ag.function([x], y, givens={"y": x}), TypeError, ["given 0", "'y'"]),
    "givens, no pairs": (lambda: ag.function([x], y, givens=3), TypeError, ["givens", "int 3", "pairs"]),
    "update, dtype": (
        lambda: ag.function([], None, updates=[(w, w + np.ones(3))]), TypeError,
        ["update of w", "float64", "float32", "astype", HERE],
    ),
    "update, rank": (
        lambda: ag.function([], None, updates=[(w, T.outer(w, w))]), TypeError, ["update of w", "float32[?, ?]", HERE],
    ),
    "update of an input": (lambda: ag.function([x], None, updates={x: x}), TypeError, ["update 0", "ag.shared"]),
    "update, no pair": (lambda: ag.function([], None, updates=[w]), TypeError, ["update 0", "w", "pair"]),
    "update, a variable": (lambda: ag.function([], None, updates=w), TypeError, ["updates", "w", "pairs"]),
    # --- values outside of a call
    "set_value, dtype": (lambda: w.set_value(np.zeros(3)), TypeError, ["w (float32[?])", "float64", "astype"]),
    "set_value, rank": (lambda: w.set_value(np.zeros((3, 1), "f4")), TypeError, ["w (", "(3, 1)", "rank 1"]),
    "set_value, None": (lambda: w.set_value(None), TypeError, ["w (float32[?])", "None"]),
    "set_value, masked": (
        lambda: w.set_value(np.ma.masked_array([1.0], [True])), TypeError, ["w (", "masked", "filled"],
    ),
    "set_value, ragged": (lambda: w.set_value([[1], [1, 2]]), TypeError, ["w (", "[[1], [1, 2]]", "rectangular"]),
    "shared, objects": (lambda: ag.shared([{}], name="bag"), TypeError, ["bag", "[{}]", "dtype object"]),
    "eval, value missing": (lambda: (x + y).eval({x: A}), ValueError, ["no value", "y (float64[?])"]),
    "eval by name": (lambda: x.eval({"x": A}), TypeError, ["{x: value}", "'x'"]),
    "jit of an object": (lambda: ag.jit(lambda a: object())(A), TypeError, ["output is <object", "numbers"]),
    "jit of dates": (lambda: doubled(np.array(["2020"], "M8[D]")), TypeError, ["doubled", "argument 0 (a)", "2020"]),
    "jit of a deque": (lambda: doubled(deque()), TypeError, ["doubled", "deque", "hashed"]),
}  # fmt: skip


@pytest.mark.parametrize("mistake", BUILDING)
def test_mistakes_while_an_expression_is_built(mistake):
    refused(*BUILDING[mistake])


def test_branches_and_loops_of_python_run_under_jit():
    np.testing.assert_array_equal(traced(A), A if A.sum() > 0 else -A)
    np.testing.assert_array_equal(traced(-A), A if A.sum() > 0 else -A)
    assert counted(3) == 3.0


def test_what_was_refused_leaves_everything_as_it_was():
    entries = [entry.name for entry in ag.optdb.entries()]
    for row in BUILDING.values():
        refused(*row)
    assert [entry.name for entry in ag.optdb.entries()] == entries
    np.testing.assert_array_equal(w.get_value(), np.zeros(3, "float32"))
    np.testing.assert_array_equal(ag.function([x], x + 1)(A), A + 1)


probabilities = T.nn.softmax(m)
CALLING = {
    # inputs, expression, good arguments, bad arguments, error, words of the C backend, words of every backend
    "add": ([x, y], T.exp(x) * y + 1, (A, A), (A, np.ones(4)), ValueError, ["(3,), y (4,)", "3 and 4"], ["mul", "y"]),
    "broadcasting": ([x, m], m + x, (A, [A]), (np.ones(4), [A]), ValueError, ["m (1, 3), x (4,)"], ["add", "m", "x"]),
    "where": ([x, y], T.where(x > 0, x, y), (A, A), (A, np.ones(4)), ValueError, ["y (4,)", "axis 0"], ["switch", "y"]),
    "matrix times vector": ([m, x], m @ x, ([A], A), ([A], np.ones(4)), ValueError, ["m (1, 3), x (4,)"], ["dot", "m"]),
    "matrices": ([m, n], T.tanh(m @ n), ([[1.0]], [A]), ([A], [A]), ValueError, ["m (1, 3), n (1, 3)"], ["dot", "n"]),
    "stacks of matrices": (
        [cube, other_cube], cube @ other_cube, ([[A]], np.ones((1, 3, 2))),
        ([[A]], np.ones((1, 4, 2))), ValueError, ["cube (1, 1, 3), other_cube (1, 4, 2)"], ["matmul", "other_cube"],
    ),
    "concatenate": (
        [m, n], T.concatenate([m, n]), ([A], [A]), ([A], np.ones((1, 2))), ValueError,
        ["3 and 2", "axis 1", "m (1, 3), n (1, 2)"], ["join", "m", "n"],
    ),
    "set_subtensor": (
        [x, y], T.set_subtensor(x[:2], y), (A, A[:2]), (A, A), ValueError,
        ["3 and 2", "x (3,), y (3,)"], ["inc_subtensor"],
    ),
    "inc_subtensor": (
        [x, y], T.inc_subtensor(x[1:], y), (A, A[:2]), (A, A), ValueError,
        ["3 and 2", "x (3,), y (3,)"], ["inc_subtensor"],
    ),
    "reshape": ([x], x.reshape((2, 2)), (np.ones(4),), (A,), ValueError, ["3 elements", "4"], ["reshape", "x"]),
    "index": ([x, i], x[i], (A, 1), (A, 7), IndexError, ["axis 0 of x with size 3"], ["index 7", "x", "i"]),
    "indices": ([x, k], x[k], (A, [0, 1]), (A, [0, 9]), IndexError, ["axis 0 of x with size 3"], ["index 9", "k"]),
    "labels": (
        [m, k], T.nn.categorical_crossentropy(probabilities, k).mean(), ([A], [1]), ([A], [9]), IndexError,
        ["with size 3"], ["index 9", "axis 1", "k"],
    ),
    "step of a slice": ([x, i], x[::i], (A, 1), (A, 0), ValueError, ["step of a slice is 0"], ["subtensor", "i"]),
    "step of arange": ([i], T.arange(0, 10, i), (1,), (0,), ValueError, ["step of 0"], ["arange", "i"]),
    "negative length": ([i], T.zeros((i,)), (1,), (-3,), ValueError, ["length is negative (-3)"], ["alloc", "i"]),
    "maximum of nothing": ([x], x.max(), (A,), (A[:0],), ValueError, ["of no elements"], ["max", "x"]),
    "negative power": ([k, p], k**p, ([1], [2]), ([1], [-2]), ValueError, ["cast to a float"], ["pow", "k", "p"]),
    "too large": ([i], T.ones((i, i)), (1,), (10**7,), MemoryError, ["(10000000, 10000000)"], ["alloc", "i"]),
}  # fmt: skip


@pytest.mark.few(9)
@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
@pytest.mark.parametrize("mistake", CALLING)
def test_mistakes_in_values(mistake, mode):
    inputs, output, good, bad, error, of_c, always = CALLING[mistake]
    f = ag.function(inputs, output, mode=mode, name="model")
    before = f(*good)
    refused(lambda: f(*bad), error, ["model: ", HERE, *always, *(of_c if f.backend == "c" else ())])
    np.testing.assert_array_equal(f(*good), before)


def test_an_update_that_fails_changes_nothing():
    state = ag.shared(np.zeros(3), name="state")
    step = ag.function([x], None, updates=[(state, state + x)], name="step")
    refused(lambda: step(np.ones(4)), ValueError, ["step: ", "state (3,), x (4,)", HERE])
    np.testing.assert_array_equal(state.get_value(), np.zeros(3))
    step(A)
    np.testing.assert_array_equal(state.get_value(), A)


model = ag.function([x, y], x - y, name="model")
ARGUMENTS = {
    "one missing": (lambda: model(A), ["argument 1 (y) is missing", "float64[?]"]),
    "none given": (model, ["argument 0 (x) is missing"]),
    "unknown name": (lambda: model(A, z=A), ["no input is named 'z'", "x, y"]),
    "too many": (lambda: model(A, A, A), ["takes 2 arguments (x, y), got 3"]),
    "given twice": (lambda: model(A, A, x=A), ["input 0 (x)", "by position and by name"]),
    "None": (lambda: model(A, None), ["argument 1 (y)", "None"]),
    "rank": (lambda: model(A, y=[A]), ["argument 1 (y)", "1 dimension", "(1, 3)", "reshape"]),
    "dtype": (lambda: model(A, A + 1j), ["argument 1 (y)", "float64", "complex128", "y.real"]),
    "ragged": (lambda: model(A, [[1], [1, 2]]), ["argument 1 (y)", "[[1], [1, 2]]", "rectangular"]),
    "symbolic": (lambda: model(A, T.vector("z")), ["argument 1 (y)", "symbolic variable z"]),
    "masked": (lambda: model(A, np.ma.masked_array(A, A > 1)), ["argument 1 (y)", "masked", "y.filled"]),
}


@pytest.mark.parametrize("mistake", ARGUMENTS)
def test_mistakes_in_arguments(mistake):
    call, words = ARGUMENTS[mistake]
    refused(call, TypeError, ["model: ", *words])
    np.testing.assert_array_equal(model(A, A), A - A)
