"""`ag.ablate`: the worth of rules and tags for a function."""

import json

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.tuning.ablation import Ablation, LeastTimes, Worth, settled_ratio

X, Y = T.vectors("x", "y")
VALUE = T.exp(-(X**2) / 2) * Y + T.log(1 + T.exp(X))
ENOUGH = 10_000.0
"""Seconds that no machine needs: which rules are measured must not depend on it."""


@pytest.fixture(scope="module")
def found():
    f = ag.function([X, Y], VALUE, name="formula")
    values = np.linspace(-3, 3, 2_000)
    return ag.ablate(f, [values, values], seconds=ENOUGH), f, values


@pytest.mark.long
def test_what_a_function_needs_comes_first(found):
    result, f, _ = found
    rules = {row.name: row for row in result.of("rule")}
    assert rules.keys() == {rewrite.rule for rewrite in f.trace.every}
    assert [row.gain for row in result.rows] == sorted((row.gain for row in result.rows), reverse=True)
    best = rules["local_pow_two"]
    assert best.fired >= 1 and best.measured
    assert all(row.difference < 1e-12 for row in result.rows)
    assert {row.name for row in result.of("tag")}.isdisjoint(rules)


@pytest.mark.long
def test_the_square_of_a_formula_with_gradients_is_worth_something():
    f = ag.function([X, Y], [VALUE, *ag.grad(T.sum(VALUE), [X, Y])], name="formula")
    values = np.linspace(-3, 3, 20_000)
    rules = {row.name: row for row in ag.ablate(f, [values, values], seconds=ENOUGH).of("rule")}
    assert rules["local_pow_two"].measured and rules["local_pow_two"].gain >= 1.0


@pytest.mark.long
def test_the_short_query_computes_the_same(found):
    result, f, values = found
    names = result.query.split()
    assert set(names) <= {row.name for row in result.of("rule")}
    g = ag.function([X, Y], VALUE, mode=result.query)
    np.testing.assert_allclose(g(values, values), f(values, values), rtol=1e-12, atol=1e-300)
    np.testing.assert_array_equal(result.function(values, values), g(values, values))
    assert result.function.mode == g.mode and result.function is result.function


@pytest.mark.long
def test_the_result_is_text_a_page_and_data(found):
    result, _, _ = found
    text = str(result)
    assert f"mode={result.query!r}" in text and "local_pow_two" in text
    html = result._repr_html_()
    assert "<table" in html and "local_pow_two" in html
    assert json.loads(json.dumps(result.to_dict()))["query"] == result.query


def test_two_noisy_runs_agree_on_the_most_valuable_rules():
    rng = np.random.default_rng(0)
    gains = {f"rule_{k:02}": 1.1 ** (15 - k) for k in range(14)}
    runs = []
    for _ in range(20):
        rows = [Worth(n, "rule", 1, g * rng.uniform(0.97, 1.03), 0, 0.0, 0.0) for n, g in gains.items()]
        runs.append(Ablation("f", rows, 1.0, 0.0, "", 1.0).most())
    assert len(set(runs)) == 1 and set(runs[0]) == set(sorted(gains)[:10])


def test_what_cannot_be_ablated_is_refused():
    f = ag.function([X], X + 1, mode="NUMPY")
    with pytest.raises(ValueError, match="run as C"):
        ag.ablate(f, [np.ones(3)])
    with pytest.raises(TypeError, match="expected a function"):
        ag.ablate(lambda x: x, [np.ones(3)])
    g = ag.function([X], X * 2 + X)
    with pytest.raises(ValueError, match="positive"):
        ag.ablate(g, [np.ones(3)], seconds=0)
    with pytest.raises(TypeError):
        ag.ablate(g, [np.ones(3), np.ones(3)])
    late = ag.ablate(g, [np.ones(3)], seconds=1e-9)
    assert not any(row.measured for row in late.rows) and "not measured" in str(late)


def test_a_jitted_function_is_measured_by_its_trace():
    f = ag.jit(lambda v: np.exp(v) * 2 + 0 * v)
    result = ag.ablate(f, [np.ones(100)], seconds=1)
    assert result.name == next(iter(f.traces.values())).function.name


def test_other_work_on_the_machine_does_not_hide_a_slower_form():
    """A form of 2.4 times the time, where the other one is preempted in most rounds."""
    noisy = [(429, 173), (1781, 176), (456, 655), (426, 737), (433, 184), (426, 1838), (436, 174), (428, 2949)]
    assert settled_ratio(iter(noisy)) == pytest.approx(426 / 173)
    rounds = iter([(100.0, 100.0)] * 10)
    assert settled_ratio(rounds) == 1.0 and len([*rounds]) == 6


class Timed:
    """A form whose calls take the listed seconds, one after the other, and then the last of them."""

    def __init__(self, *seconds):
        self.times = [*seconds]

    def seconds(self, arrays, calls):
        return self.times.pop(0) if len(self.times) > 1 else self.times[0]


def test_a_form_that_was_unlucky_is_met_again():
    slow, unlucky = Timed(0.5, 0.375, 0.25), Timed(*[0.375] * 9, 0.125)
    times = LeastTimes(Timed(0.75, 0.125), [])
    for form in (slow, unlucky):
        times.measure(form)
    assert times.gain(slow) == 2.0 and times.gain(unlucky) == 3.0
    times.settle(np.inf)
    assert times.gain(slow) == 2.0 and times.gain(unlucky) == 1.0
    assert slow in times and Timed(0.1) not in times and None not in times
