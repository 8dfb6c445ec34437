"""`ag.cond`: only the branch that is taken is evaluated; values, gradients, forms and errors."""

import pickle

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.core.tensor import TensorOp
from arignote.record import record

MODES = ["FAST_RUN", "FAST_COMPILE", "NUMPY"]


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


CALLS = []


@record(repr=False)
class Counted(TensorOp):
    """The identity, which notes that it was evaluated."""

    label: str
    name = "counted"

    def infer(self, inputs):
        return (inputs[0].type,)

    def evaluate(self, *values):
        CALLS.append(self.label)
        return (np.array(values[0]),)

    def vjp(self, node, cotangents):
        return [Counted(f"d{self.label}")(cotangents[0])]


def calls(function, *arguments):
    CALLS.clear()
    value = function(*arguments)
    return value, list(CALLS)


def test_one_branch_is_computed(mode):
    c, x = T.scalar("c"), T.vector("x")
    f = ag.function([c, x], ag.cond(c > 0, lambda: Counted("a")(x) + 1, lambda: Counted("b")(x) * 2), mode=mode)
    value, made = calls(f, 1.0, [1.0, 2.0])
    np.testing.assert_array_equal(value, [2, 3])
    assert made == ["a"]
    value, made = calls(f, -1.0, [1.0, 2.0])
    np.testing.assert_array_equal(value, [2, 4])
    assert made == ["b"]


def test_values_are_lazy_too(mode):
    c, x = T.scalar("c"), T.vector("x")
    a, b, both = Counted("a")(x) + 1, Counted("b")(x) * 2, Counted("both")(x)
    f = ag.function([c, x], ag.cond(c, a + both, b - both), mode=mode)
    assert sorted(calls(f, 1.0, [1.0, 2.0])[1]) == ["a", "both"]
    assert sorted(calls(f, 0.0, [1.0, 2.0])[1]) == ["b", "both"]
    g = ag.function([c, x], [ag.cond(c, a, b), b], mode=mode)
    assert sorted(calls(g, 1.0, [1.0, 2.0])[1]) == ["a", "b"]
    assert calls(g, 0.0, [1.0, 2.0])[1] == ["b"]


def test_a_choice_in_a_choice(mode):
    c, x = T.scalar("c"), T.vector("x")
    inner = ag.cond(c > 1, Counted("high")(x), Counted("middle")(x))
    f = ag.function([c, x], ag.cond(c > 0, inner * 2, Counted("low")(x)), mode=mode)
    assert [calls(f, v, [1.0])[1] for v in (2.0, 0.5, -1.0)] == [["high"], ["middle"], ["low"]]
    g = ag.function(
        [c, x],
        ag.cond(c > 0, lambda: ag.cond(c > 1, lambda: Counted("high")(x), lambda: Counted("middle")(x)), x),
        mode=mode,
    )
    assert [calls(g, v, [1.0])[1] for v in (2.0, 0.5, -1.0)] == [["high"], ["middle"], []]


def test_the_other_branch_does_not_raise(mode):
    x, i = T.vector("x"), T.lscalar("i")
    f = ag.function([x, i], ag.cond(i < x.shape[0], lambda: x[i], lambda: T.constant(-1.0)), mode=mode)
    assert f([1.0, 2.0], 1) == 2
    assert f([1.0, 2.0], 7) == -1


def test_several_values(mode):
    c, x = T.scalar("c"), T.vector("x")
    (a, b), n = ag.cond(c > 0, lambda: ((x, x * 2), 1), lambda: ((x * 3, x), 2))
    f = ag.function([c, x], [a, b, n], mode=mode)
    for found, expected in zip(f(1.0, [1.0, 2.0]), ([1, 2], [2, 4], 1)):
        np.testing.assert_array_equal(found, expected)
    for found, expected in zip(f(-1.0, [1.0, 2.0]), ([3, 6], [1, 2], 2)):
        np.testing.assert_array_equal(found, expected)


def test_other_lengths_and_dtypes(mode):
    c, x = T.scalar("c"), T.vector("x", dtype="float32")
    f = ag.function([c, x], ag.cond(c, lambda: x[1:], lambda: T.concatenate([x, x])), mode=mode)
    assert f(1, np.ones(3, np.float32)).shape == (2,)
    assert f(0, np.ones(3, np.float32)).shape == (6,)
    assert ag.cond(c, x.sum(), 1).dtype == "float32"
    assert ag.cond(c, x.sum(), T.constant(1.0)).dtype == "float64"


def test_an_input_and_a_constant(mode):
    c, x, y = T.scalar("c"), T.vector("x"), T.vector("y")
    f = ag.function([c, x, y], [ag.cond(c, x, y), ag.cond(c, 1.0, 2.0)], mode=mode)
    value = np.ones(2)
    found, number = f(1, value, [3.0])
    assert found is not value and not np.shares_memory(found, value)
    np.testing.assert_array_equal(found, [1, 1])
    assert number == 1
    assert f(0, value, [3.0])[1] == 2


def test_the_gradient_of_the_branch_that_is_taken(mode):
    c, x = T.scalar("c"), T.scalar("x")
    chosen = ag.cond(c > 0, lambda: Counted("a")(T.log(x)), lambda: Counted("b")(x**3))
    f = ag.function([c, x], [chosen, ag.grad(chosen, x)], mode=mode)
    found, made = calls(f, 1.0, 2.0)
    np.testing.assert_allclose(found, [np.log(2), 0.5])
    assert set(made) <= {"a", "da"}
    found, made = calls(f, -1.0, 0.0)
    np.testing.assert_allclose(found, [0, 0])
    assert set(made) <= {"b", "db"}
    second = ag.function([c, x], ag.grad(ag.grad(chosen, x), x), mode=mode)
    np.testing.assert_allclose([second(1.0, 2.0), second(-1.0, 2.0)], [-0.25, 12])


def test_a_gradient_with_respect_to_what_is_computed_before(mode):
    c, x = T.scalar("c"), T.vector("x")
    h = x * 2
    chosen = ag.cond(c > 0, (h**2).sum(), h[0] * 0)
    f = ag.function([c, x], [ag.grad(chosen, h), ag.grad(chosen, x)], mode=mode)
    np.testing.assert_array_equal(f(1.0, [1.0, 3.0]), [[4, 12], [8, 24]])
    np.testing.assert_array_equal(f(0.0, [1.0, 3.0]), [[0, 0], [0, 0]])


def test_in_a_loop_and_around_one(mode):
    x, c = T.vector("x"), T.scalar("c")
    inside, _ = ag.scan(lambda v, s: ag.cond(v > 0, lambda: s + T.sqrt(v), s), x, T.constant(0.0))
    around = ag.cond(c, lambda: ag.scan(lambda v, s: s * v, x, T.constant(1.0))[0][-1], lambda: x.sum() + 0)
    f = ag.function([x, c], [inside, around], mode=mode)
    found = f([4.0, -1.0, 9.0], 1)
    np.testing.assert_array_equal(found[0], [2, 2, 5])
    assert found[1] == -36
    assert f([4.0, -1.0, 9.0], 0)[1] == 12


def test_pickled(mode):
    c, x = T.scalar("c"), T.vector("x")
    f = pickle.loads(pickle.dumps(ag.function([c, x], ag.cond(c > 0, lambda: T.exp(x), lambda: x), mode=mode)))
    np.testing.assert_array_equal(f(-1.0, [1.0]), [1])
    np.testing.assert_allclose(f(1.0, [1.0]), [np.e])


def test_what_is_refused():
    c, x = T.scalar("c"), T.vector("x")
    with pytest.raises(TypeError, match="cond: the condition must be a scalar, got x"):
        ag.cond(x, x, x)
    with pytest.raises(TypeError, match="different forms"):
        ag.cond(c, [x, x], x)
    with pytest.raises(TypeError, match=r"cond: value 0 is x .* or c .*; expected one rank"):
        ag.cond(c, x, c)


def test_a_cond_is_printed_and_read_back():
    c, x = T.scalar("c"), T.vector("x")
    graph = ag.FunctionGraph([c, x], [ag.cond(c > 0, lambda: T.exp(x), lambda: x)])
    assert ag.parse(str(graph)) == graph
