"""The sums of the optimizer profile add up on ten graphs as users write them, and its advice costs nothing."""

import itertools
import re

import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph, GraphEditor
from arignote.optdb import Rule
from arignote.optdb.rules import default_db
from arignote.profiling import EquilibriumProfile, SeqProfile

DB = default_db()
RULES = {e.name for e in DB.entries() if isinstance(e.object, Rule)}
x, A, B, W, V = T.vector("x"), T.matrix("A"), T.matrix("B"), T.matrix("W"), T.matrix("V")
b, s, y = T.vector("b"), T.scalar("s"), T.lvector("y")
ROWS = T.arange(A.shape[0])


def perceptron():
    loss = T.nn.categorical_crossentropy(T.nn.softmax(T.tanh(A @ W + b) @ V), y).mean()
    return [loss, *ag.grad(loss, [W, V, b])]


def regression():
    loss = ((A @ x - b) ** 2).mean() + s * T.sum(x**2)
    return [loss, ag.grad(loss, x)]


def attention():
    weights = T.nn.softmax(A @ B.T / T.sqrt(s))
    return [weights @ W, ag.grad(T.sum(weights @ W), A)]


def recurrent():
    h = b
    for _ in range(12):
        h = T.tanh(h @ W + x)
    return [h, ag.grad(T.sum(h), W)]


def layer_norm():
    centered = A - T.mean(A, axis=1, keepdims=True)
    return [centered / T.sqrt(T.mean(centered**2, axis=1, keepdims=True) + 1e-5) * x + b]


def tails():
    return [T.sum(T.log(T.erfc(x)) + T.log(1 - T.sigmoid(x)) - T.log(T.exp(x) + T.exp(-x)))]


def stencil():
    inner = A[1:-1, 1:-1]
    return [T.set_subtensor(inner, inner + s * (A[2:, 1:-1] + A[:-2, 1:-1] + A[1:-1, 2:] + A[1:-1, :-2] - 4 * inner))]


def many_terms():
    return [sum(T.exp(x * (0.1 * k)) - b / (k + 1.0) for k in range(40))]


def picked():
    chosen = T.log(T.nn.softmax(A))[ROWS, y]
    return [-chosen.mean(), ag.grad(-chosen.mean(), A)]


def moments():
    return [T.mean(A, axis=0), T.var(A, axis=0), T.max(abs(-A)), T.sum(T.stack([x, b, x * b]), axis=0), T.dot(A.T, B).T]


GRAPHS = [perceptron, regression, attention, recurrent, layer_norm, tails, stencil, many_terms, picked, moments]


@pytest.fixture(scope="module", params=GRAPHS, ids=[make.__name__ for make in GRAPHS])
def run(request):
    outputs = request.param()
    inputs = [v for v in ag.graph.leaves(outputs) if not isinstance(v, ag.graph.Constant)]
    graph, editor = FunctionGraph(inputs, outputs), GraphEditor()
    result, profile = DB.query("fast_run")(graph, editor)
    return graph, editor, result, profile


def test_the_whole_is_the_sum_of_its_passes(run):
    graph, _, result, profile = run
    for p in (p for p in profile.walk() if isinstance(p, SeqProfile)):
        assert p.time == pytest.approx(sum(child.time for child in p.children))
        assert p.replacements == sum(child.replacements for child in p.children)
        sizes = [(child.nodes_before, child.nodes_after) for child in p.children]
        assert all(left[1] == right[0] for left, right in itertools.pairwise(sizes))
        assert (sizes[0][0], sizes[-1][1]) == (p.nodes_before, p.nodes_after)
    assert (profile.nodes_before, profile.nodes_after) == (len(graph), len(result))
    assert profile.validate_time <= profile.time
    assert not profile.all_failures()


def test_firings_are_those_of_the_journal(run):
    _, editor, _, profile = run
    rows = profile.rules()
    assert profile.replacements == len(editor.journal) == sum(row.fired for row in rows)
    of_rules = [row for row in rows if row.name in RULES]
    assert of_rules
    assert all(row.tried >= row.fired >= 0 and row.time >= 0 and row.nodes_created >= 0 for row in of_rules)
    assert all(not row.fired and not row.time for row in of_rules if not row.tried)


def test_passes_of_an_equilibrium_add_up(run):
    for p in (p for p in run[3].walk() if isinstance(p, EquilibriumProfile)):
        rows = p.rows()
        assert p.time == pytest.approx(sum(one.time for one in p.passes))
        assert sum(one.count for one in p.passes) == sum(row.fired for row in rows) == p.replacements
        parts = p.local_time + p.global_time + p.final_time + p.cleanup_time
        assert sum(row.time for row in rows) == pytest.approx(parts)
        assert parts <= p.time * 1.000001
        assert p.passes[-1].count == 0
        assert p.stop == "fixed point"
        assert p.max_nodes == max([p.nodes_before, p.nodes_after, *(one.nodes for one in p.passes)])
        by_pass = {}
        for one in p.passes:
            for name, count in one.fired:
                by_pass[name] = by_pass.get(name, 0) + count
        assert by_pass == {row.name: row.fired for row in rows if row.fired}


def test_what_only_cost_time_can_be_left_out(run):
    graph, _, result, profile = run
    advice = profile.excluding
    names = re.findall(r"""["']([^"']+)["']""", advice)
    idle = {row.name for row in profile.rules() if row.tried and not row.fired}
    assert set(names) <= idle
    assert ("excluding(" in advice) == bool(names)  # there is none where no rule cost enough to speak of
    without = DB.query("fast_run", *(f"-{name}" for name in names))
    assert without(graph)[0] == result
