"""Values that are watched while a function runs: printed with formats and conditions, or collected."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X, M = T.vector("x"), T.matrix("m")


@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY", "DEBUG", "NAN"])
def test_values_are_printed_once_a_call(mode, capsys):
    f = ag.function([X], ag.debug_print(T.exp(X), "e {shape} {max:.1f} #{count}") * 2, mode=mode)
    assert np.array_equal(f(np.zeros(2)), [2.0, 2.0])
    f(np.zeros(3))
    assert capsys.readouterr().out == "e (2,) 1.0 #1\ne (3,) 1.0 #2\n"


def test_conditions_and_counts(capsys):
    y = ag.debug_print(X * 2, "big", when=lambda v: v.max() > 3)
    z = ag.debug_print(y, "{min}", when=X.sum() > 0, every=2)
    f = ag.function([X], z)
    for k in (-1.0, 1.0, 2.0, 3.0):
        f(np.full(1, k))
    assert capsys.readouterr().out == "2.0\nbig [4.]\nbig [6.]\n6.0\n"


def test_print_is_theanos(capsys):
    f = ag.function([X], T.Print("x", attrs=("__str__", "shape"))(X) + 1)
    f(np.ones(2))
    assert capsys.readouterr().out == "x __str__ = [1. 1.]\nx shape = (2,)\n"


def test_two_functions_of_equal_graphs_keep_their_watchers(capsys):
    f, g = (ag.function([X], ag.debug_print(X, word).sum()) for word in ("first", "second"))
    g(np.ones(1)), f(np.ones(1))
    assert capsys.readouterr().out == "second [1.]\nfirst [1.]\n"


def test_taps_collect_calls_steps_and_gradients():
    h = ag.tap(T.tanh(X), "h")
    f = ag.function([X], [(h**2).sum(), ag.grad((h**2).sum(), X)])
    states, _ = ag.scan(lambda row, s: ag.tap(T.tanh(row + s), "state"), sequences=M, outputs_info=T.zeros(2))
    g = ag.function([M], states[-1])
    f(np.ones(2))
    with ag.taps() as values:
        f(np.zeros(2)), f(np.ones(2))
        last = g(np.ones((3, 2)))
    f(np.ones(2))
    assert {name: len(found) for name, found in values.items()} == {"h": 2, "state": 3}
    assert np.allclose(values["h"][1], np.tanh(1)) and np.array_equal(values["state"][-1], last)
    assert repr(values) == "<taps h: 2 of float64[2], state: 3 of float64[2]>"
    with pytest.raises(KeyError, match="there are h, state"):
        values["other"]


def test_watched_values_have_derivatives_examples_and_constants(capsys):
    watched = ag.debug_print(X, "x")
    assert np.allclose(ag.function([X], ag.grad((watched**3).sum(), X))(np.array([2.0])), [12.0])
    f = ag.function([M], ag.vmap(lambda row: ag.debug_print(row.sum(), "sums"))(M))
    capsys.readouterr()
    f(np.ones((2, 3)))
    assert capsys.readouterr().out == "sums [3. 3.]\n"
    f = ag.function([], ag.debug_print(T.constant(1.0), "c"))
    assert capsys.readouterr().out == ""
    f(), f()
    assert capsys.readouterr().out == "c 1.0\nc 1.0\n"


@pytest.mark.parametrize(
    ("build", "kind", "message"),
    [
        (lambda: ag.debug_print(X, "{nope}"), ValueError, "text has {nope}; expected one of value, name"),
        (lambda: ag.debug_print(X, when=3), TypeError, "when is 3; expected a function of the value"),
        (lambda: ag.debug_print(X, when=X), TypeError, "when is x .*; expected a bool without axes"),
        (lambda: ag.debug_print(X, every=0), ValueError, "every is 0; expected a whole number of at least 1"),
        (lambda: ag.tap(X, 3), TypeError, "name is 3; expected text"),
    ],
)
def test_mistakes_are_named(build, kind, message):
    with pytest.raises(kind, match=message):
        build()


@pytest.mark.parametrize("name", ["NAN", "nan", "NanGuardMode", "nan_guard"])
def test_nan_inside_a_loop_names_step_line_and_operand(name):
    def step(row, h):
        return T.log(row - h)

    states, _ = ag.scan(step, sequences=M, outputs_info=T.zeros(2))
    f = ag.function([M], states[-1].sum(), mode=name)
    with pytest.raises(FloatingPointError) as caught:
        f(np.array([[2.0, 3.0], [0.5, 2.0]]))
    message = str(caught.value)
    assert "first NaN in log(...)" in message and "inside step 1 of scan at" in message
    assert "return T.log(row - h)" in message and "-0.193" in message and "at element [0]" in message


def test_aliases_of_debug():
    assert {ag.function([X], X, mode=name).mode.name for name in ("debug", "DebugMode", "DEBUG_MODE")} == {"DEBUG"}
    with pytest.raises(FloatingPointError, match=r"inside cond at .*\n.*\n.*; -1.0 at element \[0\]"):
        ag.function([X], ag.cond(X.sum() > 0, lambda: T.log(-X), lambda: X), mode="NAN")(np.ones(2))
