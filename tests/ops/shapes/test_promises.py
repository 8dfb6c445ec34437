"""Promised lengths: what takes the place of a variable has them, or the call raises."""

import numpy as np
import pytest
from promise_trials import mask_trial, promise_trial

import arignote as ag
from arignote import ops as T
from arignote.function.function import find_toolchain
from arignote.ops.shapes.specify import CheckLengths, SpecifyShape

MODES = (None, "NUMPY", "FAST_COMPILE", "fast_run -relaxes_errors")
PROMISER = T.matrix("q", shape=(50, 2))
READ = [PROMISER.mean(), T.exp(PROMISER).sum(), ag.grad(T.square(PROMISER).mean(), PROMISER)[0], PROMISER * 0 + 1]
"""Expressions that read the variable."""
UNREAD = [PROMISER.shape[0], T.ones_like(PROMISER).sum(), T.zeros(PROMISER.shape[0])]
"""Expressions of which only the length counts."""


@pytest.mark.few(3)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("outputs", [READ, UNREAD, [*READ, *UNREAD]], ids=["read", "unread", "both"])
def test_givens(mode, outputs):
    d, i = ag.shared(np.ones((60, 2)), "d"), T.lscalar("i")
    batch = {PROMISER: d[i * 50 : (i + 1) * 50]}
    f = ag.function([i], outputs, givens=batch, mode=mode)
    for got, expected in zip(f(0), T.evaluate(outputs, {PROMISER: np.ones((50, 2))}), strict=True):
        np.testing.assert_allclose(got, expected)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"givens\[q\]: expected length 50 on axis 0, got 10.*None in its shape"):
            f(1)


def test_givens_that_are_known_to_break_a_promise():
    d, s = ag.shared(np.ones((60, 2)), "d", shape=(60, 2)), ag.shared(np.ones((60, 2)), "s")
    with pytest.raises(ValueError, match=r"given 0 puts .*\[60, 2\].* the place of q .*axis 0 has length 60, not 50"):
        ag.function([], PROMISER.mean(), givens={PROMISER: d})
    with pytest.raises(ValueError, match=r"givens\[q\]: expected length 50 on axis 0, got 60"):
        ag.function([], PROMISER.shape[0], givens={PROMISER: s})()


def test_a_given_of_what_the_function_does_not_have_promises_nothing():
    x, other = T.vector("x"), T.matrix("other")
    assert ag.function([x], x.sum(), givens={PROMISER: other})([1.0, 2.0]) == 3


def test_an_intermediate_value_promises_what_its_type_says():
    x, y = T.vector("x"), T.matrix("y")
    rows = T.reshape(x, (2, 3))
    f = ag.function([y], rows.mean(), givens={rows: y})
    assert f(np.full((2, 3), 4.0)) == 4
    with pytest.raises(ValueError, match="axis 1, got 2"):
        f(np.ones((2, 2)))


@pytest.mark.parametrize("mode", MODES)
def test_updates(mode):
    s, v = ag.shared(np.zeros(3), "s", shape=(3,)), T.vector("v")
    f = ag.function([v], s.mean(), updates=[(s, v * 2)], mode=mode)
    f([1.0, 2.0, 3.0])
    for wrong in ([1.0], [1.0] * 5, []):
        with pytest.raises(ValueError, match=rf"updates\[s\]: expected length 3 on axis 0, got {len(wrong)}"):
            f(np.array(wrong))
        np.testing.assert_array_equal(s.get_value(), [2.0, 4.0, 6.0])
    with pytest.raises(ValueError, match=r"the update of s is .*\[5\].*promises float64\[3\]: axis 0 has length 5"):
        ag.function([], [], updates=[(s, T.zeros(5))], mode=mode)
    assert f(np.ones(3)) == 4


def test_default_updates_and_set_value():
    s = ag.shared(np.zeros((2, 3)), "s", shape=(None, 3))
    rows = ag.shared(np.ones((2, 2)), "rows")
    s.default_update = rows + 0.0
    with pytest.raises(ValueError, match=r"updates\[s\]: expected length 3 on axis 1, got 2"):
        ag.function([], s.sum(), mode="NUMPY")()
    rows.set_value(np.ones((4, 3)))
    f = ag.function([], s.sum(), mode="NUMPY")
    assert (f(), f()) == (0, 12)
    s.default_update = T.zeros(3)
    with pytest.raises(TypeError, match=r"update of s is float64\[3\], the shared variable float64\[\?, 3\]"):
        ag.function([], s.sum())
    with pytest.raises(ValueError, match=r"s \(float64\[\?, 3\]\) was given an array of shape \(3, 2\)"):
        s.set_value(np.ones((3, 2)))


def test_cotangents_and_examples():
    x, g, many = T.tensor("x", shape=(3,)), T.vector("g"), T.matrix("many")
    y = T.exp(x) * 2
    cases = [
        (ag.grad(None, x, known_grads={y: g}), np.ones(5), "known_grads"),
        (ag.vjp(y, x, g), np.ones(2), "cotangents"),
        (ag.jvp(y, x, g), np.ones(4), "tangents"),
        (ag.vectorize(x.mean(), {x: many}), np.ones((2, 4)), r"replace\[x\]"),
        (ag.vectorize(T.ones_like(x).sum(), {x: many}), np.ones((2, 4)), r"replace\[x\]"),
    ]
    for result, wrong, message in cases:
        inputs = [v for v in (x, g, many) if v is (many if wrong.ndim == 2 else g) or (v is x and wrong.ndim == 1)]
        f = ag.function(inputs, result, mode="NUMPY")
        right = [np.ones((2, 3)[-v.ndim :]) for v in inputs]
        assert np.isfinite(f(*right)).all()
        with pytest.raises(ValueError, match=f"{message}.*expected length 3"):
            f(*right[:-1], wrong)


def test_tiers_and_remembered_functions():
    d, i = ag.shared(np.ones((60, 2)), "d"), T.lscalar("i")
    batch = {PROMISER: d[i * 50 : (i + 1) * 50]}
    tiers = (True, None, None)
    made = [ag.function([i], PROMISER.mean(), givens=batch, name="batch", tiered=tiered) for tiered in tiers]
    made[0].wait()
    for f in made:
        assert f(0) == 1
        with pytest.raises(ValueError, match=r"batch: givens\[q\]: expected length 50 on axis 0, got 10"):
            f(1)
    assert made[2].from_cache or find_toolchain() is None


def test_a_promise_costs_no_copy_and_no_fusion():
    d, i, w = ag.shared(np.ones((60, 2)), "d"), T.lscalar("i"), ag.shared(np.ones(2), "w", shape=(2,))
    loss = T.square(PROMISER @ w - 1).mean()
    step = ag.function([i], loss, updates=[(w, w - 0.1 * ag.grad(loss, w))], givens={PROMISER: d[i:]})
    plain = ag.function([PROMISER], loss, updates=[(w, w - 0.1 * ag.grad(loss, w))])
    if step.program is None:
        pytest.skip("needs a C compiler")
    assert len(step.program.kernels) == len(plain.program.kernels)
    assert len(step.program.in_place) == len(plain.program.in_place) == 1
    assert step(10) > 0


def test_specify_shape():
    x, n = T.matrix("x"), T.lscalar("n")
    y = T.specify_shape(x, (None, n))
    assert T.specify_shape(x, (2, None)).type.shape == (2, None)
    f = ag.function([x, n], [y.sum(), ag.grad(T.square(y).sum(), x)])
    np.testing.assert_array_equal(f(np.ones((2, 3)), 3)[1], np.full((2, 3), 2.0))
    with pytest.raises(ValueError, match="specify_shape: expected length 4 on axis 1, got 3"):
        f(np.ones((2, 3)), 4)
    known = T.matrix("known", shape=(2, 3))
    assert ag.rewrite(T.specify_shape(known, (2, 3)), "canonicalize") is known
    with pytest.raises(ValueError, match=r"known .* does not have the shape .*axis 1 has length 3, not 4"):
        T.specify_shape(known, (2, 4))
    with pytest.raises(TypeError, match=r"x .* has 2 axes, got 3 lengths"):
        T.specify_shape(x, (1, 2, 3))


@pytest.mark.parametrize("trial", [promise_trial, mask_trial])
def test_what_is_wrong_is_seen(trial, monkeypatch):
    """The trials find what they are for: a check that is left out."""
    monkeypatch.setattr(SpecifyShape, "evaluate", lambda self, x, *lengths: (x,))
    monkeypatch.setattr(CheckLengths, "evaluate", lambda self, x, *lengths: (x,))
    monkeypatch.setattr("promise_trials.MODES", ("NUMPY",))
    assert any(trial(seed) for seed in range(40))

