"""Printed expressions: golden texts, and the value that a text has when it is read again."""

import re

import numpy as np
import pytest
from every_op import ZOO
from expressions import EXPRESSIONS, GRADIENTS, A, c, d, f, i, j, read, s, w, x, y

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, FunctionGraph, leaves
from arignote.ops.elementwise.records import ELEMENTWISE
from arignote.ops.writing.code import Speaker
from arignote.pages.mathml import mathml

INTERNAL = re.compile(r"\b(SumTo|fill|dimshuffle|Subtensor|parse|Check\w*|Mean|astype\(constant)\b")


def elementwise_cases():
    """Each elementwise op on the first dtype that it takes."""
    for op in ELEMENTWISE.values():
        for dtype in ("float64", "int64", "bool", "complex128", "uint64", "uint16"):
            try:
                yield op(*(T.vector(f"x{k}", dtype) for k in range(op.arity or 2)))
                break
            except TypeError:
                continue


LITERALS = [
    x * 2, f * 0.1, f * T.constant(0.1), f + np.float64(2), 2 - x,
    i * 2, i / 2, i + T.constant(2, "int8"), c + 1, x * -0.0,
    x + np.inf, x - np.nan, -np.inf + x, x * 1e-300, x * (1 + 2j),
    x * -2j, T.constant(1.0) * T.constant(2.0) + x, T.constant(3, "uint8") + T.constant(4, "uint8"),
    T.add(i, T.constant(1, "int8"), x), T.constant([1.0, np.nan]) + x[:2],
    T.constant(np.zeros((0, 3))) + x[:3], T.constant(np.arange(40.0)) + s, T.eq(x, 2),
    T.ne(2, x), T.eq(x, y), T.logical_and(c, d),
    (x < y) | (y < w) & c, -(x @ y),
    -(i * 2), -x / y, (-x) / y, (x**2) ** 0.5,
    (2**x) ** 3, T.pow(-2.0, x), 2**-x, abs(-x), ~c,
    (i << 2) + 1, i << (2 + j), T.vector("lambda") + T.vector("a b") * T.vector("a_b"),
    T.vector("sum") * T.sum(x), T.vector() + T.vector(), x[-1], A[..., 0],
    A.T[1], (x + y)[0], T.constant([1, 2])[0] + i,
]  # fmt: skip
CASES = [*ZOO, *elementwise_cases(), *EXPRESSIONS, *LITERALS]


def graph_of(output):
    free = sorted({v for v in leaves([output]) if not isinstance(v, Constant)}, key=lambda v: v.number)
    return free, FunctionGraph(free, [output])


def arrays_for(free, seed=0):
    """Arrays for leaves: square matrices, positive small numbers; indices and counts that are in range."""
    rng = np.random.default_rng(seed)
    for v in free:
        shape = tuple(3 if n is None else n for n in v.type.shape)
        numbers = {"f": rng.uniform(0.5, 2, shape), "c": rng.uniform(0.5, 2, shape) + 1j, "b": rng.random(shape) < 0.5}
        yield np.asarray(numbers.get(v.type.kind, rng.integers(1, 3, shape))).astype(v.dtype)


def valued(output, free):
    """The value for the arrays of the leaves; the class of the error if there is none."""
    try:
        return T.evaluate([output], dict(zip(free, arrays_for(free), strict=True)))[0]
    except (IndexError, ValueError) as error:
        return np.array(type(error).__name__)


def test_each_text_has_the_value_of_the_expression():
    """Read again, it is the same graph, or one with the same bits."""
    same = 0
    for case in CASES:
        text = ag.pprint(case, simplify=False, names={})
        again = read(text)
        assert (again.dtype, again.ndim) == (case.dtype, case.ndim), text
        free, graph = graph_of(case)
        assert {v for v in leaves([again]) if not isinstance(v, Constant)} <= set(free), text
        if FunctionGraph(free, [again]) == graph:
            same += 1
            continue
        np.testing.assert_array_equal(valued(again, free), valued(case, free), err_msg=text, strict=True)
    assert same > 0.8 * len(CASES)


def test_simplified_texts_have_the_value_where_lengths_agree():
    for case in [*EXPRESSIONS, *(ag.grad(cost, v) for cost, v in GRADIENTS)]:
        text = ag.pprint(case, names={})
        again = read(text)
        free, _ = graph_of(case)
        given = dict(zip(free, arrays_for(free), strict=True))
        want, got = (T.evaluate([v], given)[0] for v in (case, again))
        assert got.shape == want.shape and got.dtype == want.dtype, text
        np.testing.assert_allclose(got, want, rtol=1e-5 if want.dtype == "float32" else 1e-9, atol=1e-12, err_msg=text)


@pytest.mark.long
def test_numpy_code_has_the_value():
    special = pytest.importorskip("scipy.special")
    for case in [*EXPRESSIONS, *elementwise_cases(), *(ag.grad(cost, v) for cost, v in GRADIENTS)]:
        code = ag.pprint(case, style="numpy", names={})
        free, _ = graph_of(case)
        given = dict(zip(free, arrays_for(free), strict=True))
        names = {"np": np, "special": special, "T": T, "ag": ag}
        names |= {name: given.get(v, getattr(v, "data", None)) for name, v in code.names.items()}
        *lines, result = code.splitlines()
        with np.errstate(all="ignore"):
            exec("\n".join(lines), names)
            got = eval(result, names)
        want = T.evaluate([case], given)[0]
        rtol = 1e-5 if want.dtype in ("float32", "complex64") else 1e-9
        np.testing.assert_allclose(got, want, rtol=rtol, atol=1e-12, err_msg=code)


def test_python_code_runs():
    for case in EXPRESSIONS:
        code = ag.pprint(case, style="python", names={})
        names = dict(code.names)
        *lines, result = code.splitlines()
        exec("\n".join(lines), names)
        assert eval(result, names).type.dtype == case.type.dtype, code


def test_golden_expressions(golden):
    lines = []
    for case in EXPRESSIONS:
        formula = ag.pprint(case, names={}, style="latex")
        mathml(formula)
        lines += [ag.pprint(case, names={}), f"    {formula}", ""]
    golden("expressions.txt", "\n".join(lines))


def test_golden_gradients_without_an_internal_op(golden):
    lines = []
    for cost, v in GRADIENTS:
        text = ag.pprint(ag.grad(cost, v), names={})
        mathml(ag.pprint(ag.grad(cost, v), names={}, style="latex"))
        assert not INTERNAL.search(text), text
        lines += [f"d/d{v.name} {ag.pprint(cost, names={})}", f"= {text}", ""]
    assert len(GRADIENTS) >= 50
    golden("gradients.txt", "\n".join(lines))


def test_words_of_numpy_are_its_own():
    speaker = Speaker("numpy")
    assert speaker.function("sum") == "np.sum" and speaker.function("linalg.inv") == "np.linalg.inv"
    assert speaker.function("softmax") == "special.softmax"
    with pytest.raises(ValueError, match="NumPy has no relu"):
        speaker.function("relu")
