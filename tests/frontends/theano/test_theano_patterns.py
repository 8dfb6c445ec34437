"""Lengths of 1 at run time: they broadcast where the pattern says so, and raise an error elsewhere, as in Theano."""

import numpy as np
import pytest

from arignote.frontends import theano

T = theano.tensor
MODES = (None, "FAST_COMPILE")
A, ROW, COLUMN = np.ones((2, 3)), np.ones((1, 3)), np.ones((2, 1))


@pytest.mark.parametrize("mode", MODES)
def test_a_length_of_1_raises_where_no_pattern_broadcasts(mode):
    x, y, b = T.dmatrix("x"), T.dmatrix("y"), T.dvector("b")
    f = theano.function([x, y, b], T.tanh(x + y) * b, mode=mode)
    assert f(A, A, np.ones(3)).shape == (2, 3)
    assert f(ROW, ROW, np.ones(3)).shape == (1, 3)
    for given, said in [((A, ROW, np.ones(3)), "y in add.x, y.*length 2 on axis 0, got 1"),
                        ((A, COLUMN, np.ones(3)), "y in add.x, y.*length 3 on axis 1, got 1"),
                        ((A, A, np.ones(1)), "b in mul.*length 3 on axis 0, got 1")]:  # fmt: skip
        with pytest.raises(ValueError, match=f"(?s){said}.*test_theano_patterns.py"):
            f(*given)


def test_patterns_that_broadcast_do():
    x, r, c, v = T.dmatrix("x"), T.drow("r"), T.dcol("c"), T.dmatrix("v")
    given = [x + r, x * c, r + c, x + T.addbroadcast(v, 0), T.switch(x > 0, x, 1.0), x + T.alloc(v[0], 2, 3)]
    f = theano.function([x, r, c, v], given)
    for found in f(A, ROW, COLUMN, ROW):
        assert found.shape == (2, 3)
    write = theano.function([x, v], T.inc_subtensor(x[:2], v))
    np.testing.assert_array_equal(write(A, ROW), A + ROW)


def test_shared_variables_follow_their_patterns():
    x = T.dmatrix("x")
    fixed, free = theano.shared(ROW, "fixed"), theano.shared(ROW, "free", broadcastable=(True, False))
    assert theano.function([x], x + free)(A).shape == (2, 3)
    with pytest.raises(ValueError, match="expected length 2 on axis 0, got 1"):
        theano.function([x], x + fixed)(A)
    with pytest.raises(ValueError, match="fixed in add"):
        (x + fixed).eval({x: A})


@pytest.mark.parametrize("mode", MODES)
def test_a_call_that_raises_updates_nothing(mode):
    x, y = T.dvector("x"), T.dvector("y")
    s = theano.shared(np.zeros(3), "s")
    f = theano.function([x, y], [], updates=[(s, s + x * y)], mode=mode)
    for bad in ((np.ones(3), np.ones(1)), (np.ones(1), np.ones(1))):
        with pytest.raises(ValueError, match="on axis 0"):
            f(*bad)
    np.testing.assert_array_equal(s.get_value(), np.zeros(3))
    f(np.ones(3), np.ones(3))
    np.testing.assert_array_equal(s.get_value(), np.ones(3))


@pytest.mark.parametrize("mode", MODES)
def test_steps_of_scan_follow_patterns(mode):
    xs, h0, w = T.dtensor3("xs"), T.dmatrix("h0"), T.dvector("w")
    h, _ = theano.scan(lambda x, h, w: T.tanh(x + h * w), sequences=xs, outputs_info=h0, non_sequences=w)
    f = theano.function([xs, h0, w], h[-1], mode=mode)
    steps = np.ones((4, 2, 3))
    assert f(steps, A, np.ones(3)).shape == (2, 3)
    assert f(steps[:, :1], ROW, np.ones(3)).shape == (1, 3)
    for bad in ((steps[:, :1], A, np.ones(3)), (steps, ROW, np.ones(3)), (steps, A, np.ones(1))):
        with pytest.raises(ValueError, match=r"whose pattern does not broadcast|the state h0 of shape .* becomes"):
            f(*bad)


def test_a_value_may_be_given_for_what_is_computed():
    x, y = T.dvector("x"), T.dvector("y")
    z = x + y
    assert z.eval({z: [5.0]}) == [5]
    np.testing.assert_array_equal((z * y).eval({z: [5.0, 6.0], y: [2.0, 3.0]}), [10, 18])
    with pytest.raises(ValueError, match="y in add"):
        z.eval({x: [1.0, 2.0], y: [1.0]})


def test_a_branch_that_is_not_taken_raises_nothing():
    x, y, c = T.dvector("x"), T.dvector("y"), T.lscalar("c")
    f = theano.function([x, y, c], theano.ifelse.ifelse(c, x + y, x))
    np.testing.assert_array_equal(f(np.ones(3), np.ones(1), 0), np.ones(3))
    both = theano.function([x, y, c], [theano.ifelse.ifelse(T.lt(c, 0), x + y, x), x + y])
    with pytest.raises(ValueError, match="y in add"):
        both(np.ones(3), np.ones(1), 0)


def test_gradients_need_no_sums_back_to_shapes_and_fuse():
    x, y = T.dmatrix("x"), T.dmatrix("y")
    cost = T.sqr(T.tanh(x + y) * y).sum()
    f = theano.function([x, y], theano.grad(cost, [x, y]))
    names = [node.op.name for node in f.core.graph.nodes]
    assert "sum_to" not in names, names
    assert sum(n not in ("check_lengths", "shape_i") for n in names) == 1, names
    with pytest.raises(ValueError, match="y in add"):
        f(A, ROW)


def test_a_loss_whose_target_is_a_column_raises():
    prediction, target = T.dmatrix("prediction"), T.dmatrix("target")
    f = theano.function([prediction, target], T.mean(T.sqr(prediction - target)))
    assert f(COLUMN, 0 * COLUMN) == 1
    with pytest.raises(ValueError, match=r"target in sub\(prediction, target.*axis 1, got 1"):
        f(np.ones((2, 2)), COLUMN)
