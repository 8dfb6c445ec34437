"""Profiles inside loops and branches: nodes of bodies in all forms of a run profile, and what is printed at exit."""

import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

X, V = T.matrix("x"), T.vector("v")
SQUARE = np.full((40, 6), 0.5), np.ones(6)


@pytest.fixture(scope="module")
def nested():
    """A loop whose step has a loop and a choice, and a loop behind it, called 30 times."""

    def outer(row, s):
        inner, _ = ag.scan(lambda e, acc: T.sin(acc) + e, sequences=row, outputs_info=T.zeros((1,)))
        inner = inner[:, 0]
        return ag.cond(s.sum() > 0, lambda: T.exp(-s * s) + inner[-1], lambda: T.tanh(s) + inner[-1])

    states, _ = ag.scan(outer, sequences=X, outputs_info=V)
    total = ag.while_loop(lambda a: a.sum() < 1e3, lambda a: a * 2 + T.cos(a) ** 2, states[-1])
    f = ag.function([X, V], total, profile=True, name="nested")
    for _ in range(30):
        f(*SQUARE)
    return f


@pytest.mark.long
def test_steps_runs_and_times_add_up(nested):
    loops = {step.op: step for step in nested.profile.steps if step.bodies}
    assert set(loops) == {"Scan", "While"}
    (outer,) = loops["Scan"].bodies
    assert (outer.title, outer.steps) == ("step", 30 * 40) and 32 <= outer.timed < outer.steps
    assert outer.seconds == pytest.approx(loops["Scan"].seconds) and outer.node_seconds <= outer.seconds * 1.001
    inner, choice = (next(n for n in outer.nodes if n.op == op) for op in ("Scan", "Cond"))
    assert inner.calls == choice.calls == 30 * 40
    (body,) = inner.bodies
    assert body.steps == pytest.approx(30 * 40 * 6, rel=0.01) and body.nodes[0].calls == body.steps
    assert body.nodes[0].bytes > 0 and body.nodes[0].flops > 0 and body.seconds == pytest.approx(inner.seconds)
    then, otherwise = choice.bodies
    assert (then.title, otherwise.title) == ("then", "otherwise") and then.steps == 1200 and otherwise.steps == 0
    assert not otherwise.nodes and any("exp" in node.text for node in then.nodes)
    assert all(__file__.rpartition("/")[2] in line for node in outer.nodes for line in node.lines)


def test_groups_count_nodes_of_bodies_in_the_place_of_loops(nested):
    p = nested.profile
    for groups in (p.kernels(), p.ops(), p.user_lines()):
        assert sum(g.seconds for g in groups) == pytest.approx(p.step_seconds, rel=1e-6)
    assert {"Fused", "Reduce", "Scan", "While", "Cond"} <= {g.name for g in p.ops()}


def test_all_forms_show_bodies(nested):
    text, summary, form = str(nested.profile), nested.profile.summary(), nested.profile._repr_html_()
    for shown in (text, summary, form):
        assert "step, 1,200 " in shown
    assert max(map(len, summary.splitlines())) <= 80 and repr(summary) == summary
    assert re.search(r"\n rates: [\d.]+ GB/s, [\d.]+ GFLOP/s; roof: [\d.]+ GB/s, ", summary)
    assert max(map(len, text.partition("\n\n")[0].splitlines())) <= 140
    first, second = nested.profile.headline
    assert first.startswith("nested: 30 calls of ") and second.startswith(("First: ", "No missed"))
    data = json.loads(nested.profile.to_json())
    (scan,) = [s for s in data["steps"] if s["op"] == "Scan"]
    assert scan["bodies"][0]["steps"] == 1200 and scan["bodies"][0]["nodes"][0]["calls"]


def test_bodies_survive_reset_warm_up_snapshots_and_pickles():
    states, _ = ag.scan(lambda row, s: T.tanh(s + row), sequences=X, outputs_info=V)
    f = ag.function([X, V], states[-1], profile=True)
    f(*SQUARE)
    kept = pickle.loads(pickle.dumps(f.profile))
    f.profile.reset(warm_up=2)
    for _ in range(3):
        f(*SQUARE)
    for profile in (f.profile, kept, kept.snapshot()):
        assert profile.calls == 1 and profile.steps[0].bodies[0].steps == 40
    assert f.profile.memory.peak >= 0 and f.profile.last_call is not None


def test_a_loop_of_small_steps_is_remarked_and_advised():
    numbers = T.tensor("numbers", shape=(20_000,))
    states, _ = ag.scan(lambda e, acc: acc * 0.5 + e, sequences=numbers, outputs_info=T.zeros((20,)))
    f = ag.function([numbers], states[-1], profile=True)
    for _ in range(5):
        f(np.ones(20_000))
    (remark,) = f.remarks.of("small steps")
    assert "few numbers" in remark.reason and "vmap" in remark.suggestion
    scalars, _ = ag.scan(lambda e, acc: acc * 0.5 + e, sequences=numbers, outputs_info=T.zeros(()))
    assert not ag.function([numbers], scalars[-1]).remarks.of("small steps")  # one C loop
    sorting, _ = ag.scan(lambda row, s: T.linalg.svdvals(T.outer(s, s)) + row, sequences=X, outputs_info=V)
    (remark,) = ag.function([X, V], sorting[-1]).remarks.of("in Python")
    assert "inside scan at" in remark.what


PROGRAM = """
import numpy as np
{start}
x = T.dmatrix("x")
f = {function}([x], T.exp(x).sum(), name="summed")
f(np.ones((3, 3)))
g = {function}([x], x, name="never_called")
"""
STARTS = {
    "ARIGNOTE_PROFILE=1": PROGRAM.format(
        start="import arignote as ag\nfrom arignote import ops as T", function="ag.function"
    ),
    "THEANO_FLAGS=profile=True": PROGRAM.format(
        start="from arignote.frontends import theano\nT = theano.tensor", function="theano.function"
    ),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("flag", STARTS)
def test_profiles_are_printed_at_exit(flag):
    name, _, value = flag.partition("=")
    run = subprocess.run(
        [sys.executable, "-c", STARTS[flag]],
        env={**os.environ, name: value},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Profile of 1 function: " in run.stderr and "summed: 1 call of " in run.stderr and not run.stdout
    assert "never_called" not in run.stderr
