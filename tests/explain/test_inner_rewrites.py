"""Rewrites inside bodies: the trace, the profile, why_not, bisect and dprint step into loops and branches."""

import io

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.elementwise.records import cos, sin
from arignote.optdb import exact, rule, wilds

X, V = T.matrix("x"), T.vector("v")


def looped(choose=False):
    def step(row, h):
        grown = T.log(1 + T.exp(h * 1 + row))
        return grown + ag.cond(h.sum() > 0, lambda: T.sin(row), lambda: row) if choose else grown

    return ag.scan(step, sequences=X, outputs_info=V)[0][-1]


@pytest.fixture(scope="module")
def f():
    return ag.function([X, V], looped(), name="looped")


def test_the_trace_steps_into_bodies(f):
    (inner,) = f.trace.inside
    assert [r.rule for r in inner.changes][:3] == ["local_mul_by_one", "local_log1p", "log1pexp_to_softplus"]
    (found,) = f.trace.filter(rule="local_log1p")
    assert found.body.startswith("scan at ") and "log1p" in found.after and "inside scan at" in str(found)
    assert "inside scan at" in str(f.trace) and "log1pexp_to_softplus" in str(f.trace)
    assert "log1pexp_to_softplus" in f.trace._repr_html_() and "log1pexp_to_softplus" in str(f.explain())
    assert len(f.trace) == len(f.journal) and f.trace.to_dict()["inside"][0]["rewrites"]
    assert "softplus" in str(inner.graph(len(inner)))


def test_the_optimizer_profile_counts_rules_of_bodies(f):
    rows = {row.name: row for row in f.optimizer_profile.rules()}
    assert rows["local_log1p"].fired == 1 and rows["log1pexp_to_softplus"].fired == 1
    inside = sum(len(trace) for trace in f.trace.inside)
    assert f"and {inside} inside loops and branches" in f.optimizer_profile.summary()
    assert "passes without effect" in f.optimizer_profile.summary()
    assert "inside scan at" in f.optimizer_profile._repr_html_()


def test_why_not_looks_into_bodies(f):
    answer = f.why_not("local_log1p")
    assert len(answer.fired) == 1 and "inside scan at" in str(answer)
    without = ag.function([X, V], looped(), mode="fast_run -local_log1p").why_not("log1pexp_to_softplus")
    assert not without.fired and "inside scan at" not in str(without.places)
    taken = ag.function([X, V], ag.scan(lambda r, h: T.log(T.exp(h)) + r, sequences=X, outputs_info=V)[0][-1])
    assert "inside scan" in str(taken.why_not("local_log_of_exp"))


@pytest.mark.long
def test_bisect_names_a_rule_in_a_branch_in_a_loop(f):
    x = wilds("x")
    x = x if not isinstance(x, (list, tuple)) else x[0]
    ag.optdb.register("wrong_sine", rule("wrong_sine", sin(x), cos(x), contract=exact), "fast_run")
    try:
        g = ag.function([X, V], looped(True))
        verdict = ag.bisect(g, [np.ones((4, 3)), np.ones(3)])
    finally:
        ag.optdb.unregister("wrong_sine")
    assert verdict.fault == "rewrite" and verdict.rule == "wrong_sine"
    assert "branch 'then' of cond" in verdict.rewrite.body and 'mode.excluding("wrong_sine")' in str(verdict)
    assert "f.trace.graph" not in str(verdict) and verdict.evaluations < 30


def test_dprint_shows_bodies(f):
    file = io.StringIO()
    ag.dprint(f, file=file)
    outer, _, inner = file.getvalue().partition("inside scan at")
    assert "scan{" in outer and "fused" in inner and "x[t]" in inner
