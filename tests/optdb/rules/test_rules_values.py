"""Every rule held against its contract on random graphs on which it fires, and the better rules shown to be better."""

import itertools

import numpy as np
import pytest
import rule_rows
from rewriting import graph_of, rewritten, sample, tame, values_of
from rule_trials import (
    EXAMPLES,
    ON_NUMBERS,
    POSITIONS,
    RULES,
    Violation,
    at_special_values,
    compare,
    fire,
    hold_at_special_values,
    outcome,
)  # fmt: skip
from truths import true_array

from arignote import ops as T
from arignote.optdb import PatternRule, node_rule, relaxes, stabilizes
from arignote.optdb.patterns import Applied, OpLike, Wild, instantiate
from arignote.proving.agreement import ulps_between

pytestmark = pytest.mark.usefixtures("on_wide_target")

HELD = sorted(set(ON_NUMBERS) - POSITIONS)
FIRINGS, MORE_FIRINGS = 15, 50
"""Firings of each rule in the ordinary tests and in the long ones."""
LATE = {"local_add_specialize", "local_mul_of_neg", "local_ne_with_itself", "local_neg_of_sub"}
"""Rules of which a planted fault shows only after more than `FIRINGS`: all firings are ordinary."""
X, Y = T.matrix("X"), T.vector("Y")


@pytest.mark.parametrize("name", HELD)
def test_contract(name):
    _hold(name, MORE_FIRINGS if name in LATE else FIRINGS)


@pytest.mark.long
@pytest.mark.parametrize("name", HELD)
def test_contract_on_more_graphs(name):
    """`python -m tests.campaign rules` does the same 10,000 times a rule."""
    _hold(name, MORE_FIRINGS)


def _hold(name, firings):
    fired, compared = fire(RULES[name], firings, attempts=60 * firings)
    assert fired == firings <= compared, f"{RULES[name]}: fired {fired} times only"


def _of_ops(pattern):
    """Whether a pattern names each op that it matches."""
    named = not isinstance(pattern, Applied) or not isinstance(pattern.op, OpLike)
    return named and all(map(_of_ops, getattr(pattern, "operands", ())))


def _wilds(pattern):
    if isinstance(pattern, Wild):
        return {pattern.name: pattern}
    return {k: w for p in getattr(pattern, "operands", ()) for k, w in _wilds(p).items()}


PATTERNS = [r for r in RULES.values() if isinstance(r, PatternRule) and _of_ops(r.pattern)]


@pytest.mark.parametrize("name", [r.name for r in PATTERNS if len(_wilds(r.pattern)) > 1])
def test_the_condition_alone_refuses_what_is_wrong_for_integers_of_two_widths(name):
    """The driver refuses that as well: no other test would miss a condition on dtypes."""
    rng, pattern = np.random.default_rng(0), RULES[name].pattern
    wilds = _wilds(pattern)
    for dtypes in itertools.product(("int64", "uint8", "int8"), repeat=len(wilds)):
        variables = {w: T.vector(w, dtype) for w, dtype in zip(wilds, dtypes, strict=True)}
        if any(w.when and not w.when(variables[k]) for k, w in wilds.items()):
            continue
        try:
            before = instantiate(pattern, dict(variables))
        except TypeError:  # no op of these dtypes
            continue
        proposal = RULES[name].propose(before.owner, lambda variable: ())
        if proposal is None:
            continue
        after = [T.as_tensor(new) for new in proposal.outputs]
        values = {v: sample(rng, v.dtype, (99,)) for v in variables.values()}
        want, *got = T.evaluate([before, *after], values)
        assert all(np.array_equal(np.broadcast_to(g, want.shape), want) for g in got), dtypes


@pytest.mark.parametrize("op", [T.exp, T.sigmoid, T.softplus, T.tanh, T.arctan])
@pytest.mark.parametrize("extremum", [T.argmax, T.argmin])
def test_positions_are_those_of_the_true_extremum(op, extremum):
    graph = graph_of(extremum(op(rule_rows.x)))
    after = rewritten(graph, RULES["local_argmax_pushdown"])
    rng = np.random.default_rng(0)
    for make in (sample, tame):
        for _ in range(20):
            array = make(rng, "float64", (17,))
            assert values_of(after, [array])[0] == getattr(np, extremum.__name__)(array)


@pytest.mark.parametrize("name", [name for name in ON_NUMBERS if RULES[name].contract.nearer])
def test_what_stabilizes_keeps_the_values_at_special_ones(name):
    assert hold_at_special_values(RULES[name])


WRONG = [
    (T.exp(X) / T.exp(X).sum(1, keepdims=True), T.exp(X - T.log(T.exp(X).sum(1, keepdims=True)))),
    (T.log(T.nn.softmax(X)), T.switch(T.isinf(X).any(1, keepdims=True), np.nan, T.nn.log_softmax(X))),
    (T.nn.log_softmax(X), T.switch(T.isnan(X), 0.0, T.nn.log_softmax(X))),
    (T.exp(Y), T.exp(Y) + 0.0 * Y),
    (T.exp(Y), T.switch(T.isneginf(Y), 0.5, T.exp(Y))),
    (T.exp(Y) * 0.5, T.switch(T.isnan(Y), 0.5, T.exp(Y) * 0.5)),
]


@pytest.mark.parametrize(("before", "after"), WRONG)
def test_a_rule_that_is_wrong_at_special_values_is_found_out(before, after):
    made = node_rule("wrong", T.exp, lambda node: None, formula="a -> b", contract=stabilizes | relaxes("rounding"))
    changed = graph_of(after)

    def held():
        for graph, arrays in at_special_values(before, "float64"):
            compare(made, graph, changed, arrays, outcome(graph, arrays), outcome(changed, arrays))

    with pytest.raises(Violation):
        held()


# --- what stabilizes: where the plain form fails, the other does not

TAILS = [
    1e-300, 1e-200, 1e-20, 1e-17, 1e-9, 1e-5, 1 - 1e-10, 1 + 1e-10, 5.9, 9.7, 19.3, 26.6, 30.1, 37.3, 100.3, 701.7,
    720.0, 800.0, 1e5, 1e10, 1e154, 1e160, 1e307,
]  # fmt: skip
LOST = 16
"""Units in the last place that count as lost."""
MOST_POINTS = 12
"""At which the truth is asked for, among those where the two forms differ."""
AS_GOOD_AS_BEFORE = {
    "local_logsoftmax_grad": "exact where the softmax does not underflow; test_nn.py has the case where it does",
    "local_exp_log_softmax": "the sum is of positive numbers in both",
    "local_opt_alloc": "one rounding in the place of n",
    "local_mul_canonizer": "one rounding in the place of two",
    "local_erfc_of_quotient": "the rounding of one division less, which counts in the tail; test_nn.py has GELU",
    "local_advanced_indexing_crossentropy_onehot": "it is local_logsoftmax on some of the elements",
    **dict.fromkeys(
        ["local_sqr_sqrt", "local_sin_of_arcsin", "local_tanh_of_arctanh", "local_rad2deg_of_deg2rad",
         "local_odds_sigmoid", "local_inv_odds_sigmoid", "local_exp_of_softplus", "local_expm1_of_softplus"],
        "the argument itself, or one function of it, in the place of two well-conditioned ones",
    ),
}  # fmt: skip
"""Rules that are shown elsewhere, or that save roundings a few at a time."""
BETTER = [name for name in ON_NUMBERS if RULES[name].contract.nearer and name not in AS_GOOD_AS_BEFORE]


@pytest.mark.parametrize("name", BETTER)
def test_what_stabilizes_is_right_where_the_plain_form_is_not(name):
    pytest.importorskip("mpmath")
    for graph in map(graph_of, EXAMPLES[name]):
        if any(v.type.kind != "f" for v in graph.inputs):
            continue
        after = rewritten(graph, RULES[name])
        arrays = where_they_differ(graph, after, tail_arrays(graph))
        if not arrays[0].size:
            continue
        truth = true_array(graph, arrays)
        lost, still = (off(values_of(g, arrays)[0], truth) for g in (graph, after))
        if "underflow" in RULES[name].contract.relaxed:
            still &= np.abs(truth.astype(float)) >= np.finfo(float).tiny
        assert "rounding" in RULES[name].contract.relaxed or not (still & ~lost).any(), f"{RULES[name]} is worse"
        if (lost & ~still).any():
            return
    pytest.fail(f"{RULES[name]} is nowhere better")


def tail_arrays(graph):
    """Combinations of tails: elements of vectors, or rows of matrices."""
    points = np.array([*TAILS, *(-t for t in TAILS)])
    if graph.inputs[0].ndim == 2:
        pairs = np.array(list(itertools.product(points[::3], repeat=2)))
        return [pairs, pairs[::-1]][: len(graph.inputs)]
    combined = itertools.product(points if len(graph.inputs) == 1 else points[::2], repeat=len(graph.inputs))
    return [np.ascontiguousarray(column) for column in np.array(list(combined)).T]


def where_they_differ(before, after, arrays):
    """Some of the elements, or rows, on which the two graphs give results that are not the same but for rounding."""
    want, got = (values_of(graph, arrays)[0] for graph in (before, after))
    separate = (ulps_between(want, got) > LOST) | (np.isfinite(want) != np.isfinite(got))
    rows = np.flatnonzero(separate.reshape(len(arrays[0]), -1).any(axis=1))
    return [a[rows[:: 1 + len(rows) // MOST_POINTS]] for a in arrays]


def off(values, truth):
    """Where values that should be real numbers are not, or are far from them."""
    nearest = np.array([float(t) for t in truth.flat]).reshape(truth.shape)
    with np.errstate(all="ignore"):
        return np.isfinite(nearest) & (~np.isfinite(values) | (ulps_between(values, nearest) > LOST))
