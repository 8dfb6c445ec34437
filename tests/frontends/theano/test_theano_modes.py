"""Modes that look at each step of a call: the programs of Theano's documentation."""

import numpy as np
import pytest

from arignote import engines
from arignote.frontends import theano

T = theano.tensor


@pytest.fixture(autouse=True)
def no_engines_are_left():
    before = engines.names()
    yield
    for name in set(engines.names()) - set(before):
        engines.unregister(name)


def test_a_monitor_sees_the_inputs_and_outputs_of_each_step():
    seen = []

    def before(i, node, fn):
        assert [cell[0] for cell in fn.outputs] == [None]
        seen.append([i, str(node.op), *(float(cell[0]) for cell in fn.inputs)])

    def after(i, node, fn):
        seen[-1].append(float(fn.outputs[0][0]))

    x = T.dscalar("x")
    f = theano.function([x], [5 * x], mode=theano.compile.MonitorMode(pre_func=before, post_func=after))
    assert f(3) == [15]
    ((position, name, *numbers),) = seen
    assert (position, sorted(numbers)) == (0, [3, 5, 15])
    assert "mul" in name


def test_a_monitor_finds_the_step_that_makes_nan(capsys):
    def detect_nan(i, node, fn):
        for output in fn.outputs:
            if np.isnan(output[0]).any():
                print("*** NaN detected ***")
                theano.printing.debugprint(node)
                break

    x = T.dscalar("x")
    mode = theano.compile.MonitorMode(post_func=detect_nan).excluding("local_elemwise_fusion", "inplace")
    f = theano.function([x], [T.log(x) * x], mode=mode)
    f(2.0)
    assert not capsys.readouterr().out
    assert np.isnan(f(0.0)[0])
    assert "*** NaN detected ***\nmul" in capsys.readouterr().out


def test_a_monitor_may_change_results():
    def rounded(i, node, fn):
        fn.outputs[0][0] = np.floor(fn.outputs[0][0])

    x = T.dvector("x")
    f = theano.function([x], x * 0.5, mode=theano.compile.MonitorMode(post_func=rounded))
    np.testing.assert_array_equal(f([1.0, 3.0]), [0, 1])


def test_a_guard_raises_for_numbers_that_are_none_and_updates_nothing():
    x, s = T.dvector("x"), theano.shared(np.zeros(2), "s")
    mode = theano.compile.nanguardmode.NanGuardMode(nan_is_error=True, inf_is_error=True, big_is_error=True)
    f = theano.function([x], T.log(x).sum(), updates=[(s, s + x)], mode=mode)
    np.testing.assert_allclose(f([1.0, np.e]), 1)
    for bad, said in [([np.nan, 1], "NaN in an input"), ([-1, 1], r"NaN in an output .0. of log"),
                      ([0, 1], "Inf in an output"), ([1e11, 1], "A number over 1e10 in an input")]:  # fmt: skip
        with pytest.raises(AssertionError, match=f"(?s){said}.*test_theano_modes.py"):
            f(bad)
    np.testing.assert_allclose(s.get_value(), [1, np.e])
    lenient = theano.compile.NanGuardMode(nan_is_error=True, inf_is_error=False, big_is_error=False)
    assert theano.function([x], T.log(x).sum(), mode=lenient)([0.0, 1.0]) == -np.inf
    with pytest.raises(AssertionError):
        theano.function([x], T.log(x), mode="NanGuardMode")([np.inf])
