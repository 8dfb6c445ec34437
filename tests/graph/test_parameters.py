"""Parameters of ops: equal ones, however they are spelled, make equal ops and equal C; odd ones are refused by name."""

import numpy as np
import pytest

from arignote import ops as T
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.program.plan import plan
from arignote.graph import FunctionGraph

x, m = T.vector("x"), T.matrix("m")

EQUAL = [
    (lambda: T.sum(m, axis=0), lambda: T.sum(m, axis=np.int64(0))),
    (lambda: T.sum(m, axis=1), lambda: T.sum(m, axis=-1)),
    (lambda: T.sum(m, axis=(0, 1)), lambda: T.sum(m, axis=[1, 0])),
    (lambda: T.sum(m, axis=(0, 1)), lambda: T.sum(m)),
    (lambda: T.sum(m, axis=0, keepdims=True), lambda: T.sum(m, axis=0, keepdims=np.True_)),
    *[(lambda: T.cast(x, "float32"), lambda d=d: T.cast(x, d)) for d in (np.float32, np.dtype("f4"), "f4", "<f4")],
    (lambda: m.dimshuffle(1, 0), lambda: m.dimshuffle([np.int64(1), np.int8(0)])),
    (lambda: m.T, lambda: T.transpose(m, (-1, 0))),
    (lambda: x[1:3], lambda: x[np.int64(1) : np.int64(3)]),
    (lambda: T.concatenate([m, m], axis=1), lambda: T.concatenate((m, m), axis=np.int16(-1))),
    (lambda: T.stack([x, x], axis=0), lambda: T.stack((x, x), axis=-2)),
]


@pytest.mark.parametrize("spellings", EQUAL, ids=range(len(EQUAL)))
def test_equal_parameters_make_equal_ops_and_equal_c(spellings):
    first, second = (spelling() for spelling in spellings)
    assert first.owner.op == second.owner.op and hash(first.owner.op) == hash(second.owner.op)
    assert str(first.owner.op) == str(second.owner.op)
    assert c_text(plan(FunctionGraph([x, m], [first]))) == c_text(plan(FunctionGraph([x, m], [second])))


ODD = [
    (lambda: T.sum(m, axis=[[0]]), "sum of m .*integer known when the graph is built, got .0."),
    (lambda: T.sum(m, axis={"a": 1}), "sum of m .*got 'a'"),
    (lambda: T.sum(m, axis=0.0), "sum of m .*got 0.0"),
    (lambda: T.sum(m, axis=float("nan")), "sum of m .*got nan"),
    (lambda: T.sum(m, axis=lambda: 0), "sum of m .*got <function"),
    (lambda: T.sum(m, axis=(None,)), "sum of m .*got None"),
    (lambda: T.sum(m, axis=(0, -2)), "sum of m .*axis 0 is given twice"),
    (lambda: T.cast(x, "float33"), "'float33' is not a dtype"),
    (lambda: T.cast(x, object), "no tensor has dtype object"),
    (lambda: m.dimshuffle(0, 0), r"dimshuffle: \(0, 0\) is no order for m"),
    (lambda: x[1.5:], "bound of a slice: expected an integer .*got 1.5"),
    (lambda: x["a"], "an index is an integer.*got 'a'"),
    (lambda: T.reshape(x, (1.5, 2)), "reshape: shape: expected an integer .*got 1.5"),
    (lambda: T.concatenate([m, m], axis="x"), "concatenate: an axis must be an integer .*got 'x'"),
]


@pytest.mark.parametrize(("build", "says"), ODD, ids=range(len(ODD)))
def test_odd_parameters_are_refused_by_name(build, says):
    with pytest.raises((TypeError, ValueError), match=says):
        build()


@pytest.mark.parametrize("pair", [(0.0, -0.0), (1.0, np.float32(1)), (1, True), (1.0, np.nextafter(1.0, 2))])
def test_constants_that_differ_in_a_bit_or_a_dtype_differ(pair):
    first, second = map(T.constant, pair)
    assert first.type != second.type or first.data.tobytes() != second.data.tobytes()
    outputs = [T.copysign(x, c) if pair[0] == 0 else x + c for c in (first, second)]
    for got, value in zip(T.evaluate(outputs, {x: np.ones(1)}), pair):
        np.testing.assert_array_equal(got, np.copysign(1.0, value) if pair[0] == 0 else 1 + np.float64(value))


def test_nans_of_constants_are_one():
    one, other = T.constant(np.nan), T.constant(float("nan"))
    text = c_text(plan(FunctionGraph([x], [x + one])))
    assert text == c_text(plan(FunctionGraph([x], [x + other])))
