"""The trace: every state of a rewriting computes the same, and the last of them is the optimized graph."""

import json
from random import Random

import numpy as np
import pytest
from draws import mostly_long
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import random_graph

import arignote as ag
from arignote import ops as T
from arignote.demo import digits as demo
from arignote.explain.replay import Replay
from arignote.explain.trace import Trace
from arignote.graph import FunctionGraph, GraphEditor
from arignote.ops.core.interpret import interpret
from arignote.ops.elementwise.records import add, mul
from arignote.optdb import MergeOptimizer, TopoOptimizer, rule, wilds
from arignote.proving.steps import End, Step, parts_of

x, y = T.vector("x"), T.vector("y")
m = T.matrix("m")


def merged(graph):
    return MergeOptimizer()(graph)[0]


def step():
    model = demo.perceptron()
    return model.train_step(*demo.shared_digits(demo.load_digits()))


@pytest.fixture(scope="module")
def f():
    scaled = T.exp(T.log(x)) * 2 / 2
    scaled.name = "scaled"
    return ag.function([x, y, m], [scaled + 0 * y, T.nn.softmax(m).sum(axis=0), T.log(1 + T.exp(x - x))], name="f")


def test_the_last_state_is_the_optimized_graph(f):
    for function in (f, step()):
        last = function.trace.graph(len(function.journal))
        assert merged(last) == merged(function.graph)
        assert last.updates == function.graph.updates


def test_the_first_state_is_the_users_graph(f):
    assert f.trace.graph(0) == f.unoptimized_graph


def test_every_state_computes_the_same(f):
    values = [np.array([0.5, 2.0]), np.array([1.0, -1.0]), np.array([[1.0, 2.0], [0.0, 3.0]])]
    expected = interpret(f.unoptimized_graph, values)
    for k in range(len(f.journal) + 1):
        for got, want in zip(interpret(f.trace.graph(k), values), expected, strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-12)


@settings(max_examples=40)
@given(st.randoms(use_true_random=True))
def test_random_graphs_end_as_they_were_optimized(random):
    graph, _ = random_graph(random, updates=True)
    editor = GraphEditor()
    result, _ = ag.optdb.query("fast_run")(graph, editor)
    replay = Replay(graph, editor.journal)
    replay.goto(len(editor.journal))
    assert merged(replay.graph()) == merged(result)


def test_a_node_equal_to_one_that_is_gone_reads_what_took_its_place():
    twice = m + m
    moved = T.DimShuffle(("x", 0, 1))(T.neg(twice) + T.neg(twice))
    graph, editor = FunctionGraph([m], [T.neg(T.neg(T.neg(moved))), twice]), GraphEditor()
    result, _ = ag.optdb.query("fast_run")(graph, editor)
    replay = Replay(graph, editor.journal)
    replay.goto(len(editor.journal))
    assert merged(replay.graph()) == merged(result)


def test_a_value_may_stand_inside_what_takes_its_place():
    a, b = wilds("a b")
    doubled = rule("doubled", add(a, b), mul(add(a, b), 1.0))
    graph, editor = FunctionGraph([x, y], [x + y]), GraphEditor()
    result, profile = TopoOptimizer(name="walk", rules=(doubled,))(graph, editor)
    trace = Trace(graph, editor.journal, None)
    assert trace.graph(1) == result
    assert len(trace) == profile.replacements == 1


def test_readers_of_a_value_that_stands_inside_its_replacement_read_the_replacement():
    a = T.tensor("a", "float64", (None, 2))
    parts = [a, T.exp(a) + 0.0]  # all after it is made anew before the joins are written into one array
    for _ in range(2):
        parts.append(T.cumsum(T.concatenate(parts, axis=1), axis=1)[:, :1] + 1.0)
    graph, editor = FunctionGraph([a], [T.concatenate(parts, axis=1)]), GraphEditor()
    result, _ = ag.optdb.query("fast_run")(graph, editor)
    assert any(entry.rule == "growing_joins" for entry in editor.journal)
    replay = Replay(graph, editor.journal)
    replay.goto(len(editor.journal))
    assert merged(replay.graph()) == merged(result)


def test_names_stay_where_values_are_replaced():
    f = ag.function([x], T.log(1 + x) * 3, mode="stabilize")
    (change,) = [r for r in f.trace.changes if r.rule == "local_log1p"]
    assert change.delta.removed == ("v0: float64[?] = add(float64(1.0), x)",)
    assert change.delta.changed == (("v1: float64[?] = log(v0)", "v1: float64[?] = log1p(x)"),)
    assert not change.delta.added


def test_deltas_carry_one_text_to_the_next(f):
    replay = Replay(f.unoptimized_graph, f.journal)
    lines = {line.partition(":")[0]: line for line in replay.lines()[:-1]}
    for rewrite in f.trace:
        replay.forward()
        delta = rewrite.delta
        for line in delta.removed:
            assert lines.pop(line.partition(":")[0]) == line
        for old, new in delta.changed:
            assert lines.pop(old.partition(":")[0]) == old
            lines[new.partition(":")[0]] = new
        lines.update((line.partition(":")[0], line) for line in delta.added)
        assert sorted(lines.values()) == sorted(replay.lines()[:-1]), rewrite


def test_a_trace_is_a_sequence(f):
    trace = f.trace
    assert len(trace) == len(f.journal) > 5
    assert trace[0].index == 0 and trace[-1].index == len(trace) - 1
    assert [r.index for r in trace[2:5]] == [2, 3, 4]
    assert len(trace[2:5]) == 3 and len(list(trace)) == len(trace)
    with pytest.raises(IndexError):
        trace[len(trace)]


def test_filters(f):
    trace = f.trace
    softmax = trace.filter(node="softmax")
    assert all("softmax" in f"{r.before} {r.after} {r.delta}" for r in softmax)
    assert [r.rule for r in trace.filter(rule="local_log1p*")] == [r.rule for r in trace if "local_log1p" in r.rule]
    assert len(trace.filter(rule="nothing")) == 0
    assert {r.stage for r in trace.filter(stage="canon*")} <= {"canonicalize"}
    line = trace[-1].lines[0].line
    assert trace[-1] in trace.filter(line=line) and trace[-1] in trace.filter(line=f"test_trace.py:{line}")
    assert len(trace.filter(line=10**6)) == 0


def test_stages_are_those_of_the_profile(f):
    counts = {p.name: p.replacements for p in f.optimizer_profile.children if p.replacements}
    stages = f.trace.stages()
    assert {name: stages.count(name) for name in dict.fromkeys(stages)} == counts


def test_stepping_forward_and_back(f):
    s = f.trace.stepper()
    assert s.position == 0 and s.rewrite is None and "as it was built" in str(s)
    texts = [s.lines]
    while s.position < len(f.trace):
        texts.append(s.next().lines)
    assert s.next().position == len(f.trace)
    for k in (3, 0, len(f.trace), 1):
        assert s.goto(k).lines == texts[k]
    assert s.goto(3).back().position == 2
    assert s.back(10).position == 0
    with pytest.raises(IndexError, match="there is no state number 1000"):
        s.goto(1000)
    with pytest.raises(IndexError, match="there is no state number -1"):
        f.trace.graph(-1)


def test_plain_data(f):
    data = json.loads(f.trace.to_json())
    assert data["total"] == len(f.trace) == len(data["rewrites"])
    assert {"index", "rule", "stage", "before", "after", "lines", "changes"} == set(data["rewrites"][0])
    assert data["graph"][-1].startswith("return ")


def test_a_function_without_optimizers_has_an_empty_trace():
    f = ag.function([x], x + 1, mode="NUMPY")
    assert len(f.trace) == 0 and str(f.trace) == "0 rewrites" and f.trace.graph(0) == f.graph


def test_long_traces_are_cut():
    total = x
    for _ in range(300):
        total = T.log(1 + T.exp(-total)) + y
    f = ag.function([x, y], total, mode=ag.Mode("stabilize", backend="numpy"))
    assert len(f.trace) > 200
    assert "more; slice the trace" in str(f.trace) and len(str(f.trace).splitlines()) < 2000


@pytest.mark.long
@pytest.mark.parametrize("terms", mostly_long([13_000, 25_000], {13_000}))
def test_many_nodes_are_summarized(tmp_path, terms):
    total = x
    for k in range(terms):
        total = T.sin(total) * 1.0 + (x if k % 7 else total) + 0
    f = ag.function([x], total, mode=ag.Mode("canonicalize", backend="numpy"))
    assert len(f.unoptimized_graph) == 4 * terms and len(f.trace) > 1.6 * terms
    assert "more; slice the trace" in str(f.trace) and len(f.trace._repr_html_()) < 200_000
    assert len(f.explain()) < 20_000 and len(str(f.why("x"))) < 20_000 and len(str(f.remarks)) < 20_000
    assert f.report(tmp_path / "page.html").stat().st_size < 1_000_000
    assert "too many to be told" in str(f.why(f.graph.order[0]))


def test_the_text_of_a_step(golden):
    f = ag.function([x, y], T.log(1 + T.exp(x)) * y + 0, mode=ag.Mode("fast_run fusion inplace", backend="numpy"))
    golden("trace.txt", "\n".join(f"{r.index}: {r.rule} ({r.stage})\n{r.delta}" for r in f.trace.changes) + "\n")


def test_the_text_of_a_long_trace_is_counted_and_cut():
    x = y = T.vector("x")
    for _ in range(150):
        y = T.tanh(-(-y))
    trace = ag.function([x], y).trace
    lines = str(trace).splitlines()
    assert "  canonicalize: 150 x local_neg_neg" in lines and len(lines) < 1000
    largest = max(trace, key=lambda r: len(str(r)))
    assert f"more lines; print rewrite {largest.index} alone" in str(trace) and "more lines" not in str(largest)


@pytest.mark.parametrize("seed", [1, 208, 234, 286])
def test_lengths_that_are_assumed_replace_several_inputs_at_once(seed):
    graph, _ = random_graph(Random(seed), updates=True)
    editor = GraphEditor()
    result, _ = ag.optdb.query("fast_run")(graph, editor)
    assert any(entry.rule == "assume_equal" for entry in editor.journal)
    replay = Replay(graph, editor.journal)
    for _ in editor.journal:
        replay.forward()
        replay.graph()
    assert merged(replay.graph()) == merged(result)


def perceptron_and_gradients():
    """Of a mean whose length is computed from the operands that are assumed to be as long as others."""
    w, b, target = T.matrix("w"), T.vector("b"), T.matrix("target")
    loss = T.square(T.tanh(m @ w + b) - target).mean()
    return [m, w, b, target], [loss, *ag.grad(loss, [w, b])]


def states_before_a_write():
    """Of a loop whose body returns an element of the state from before it writes there, and the state itself."""

    def step(e, s):
        return [s.at[0].set(e), s[0], s]

    (after, elements, states), _ = ag.scan(step, x, [y, None, None])
    return [x, y], [after[-1], elements, states]


@pytest.mark.parametrize(
    ("program", "pass_"), [(perceptron_and_gradients, "assume_equal"), (states_before_a_write, "copy_parts")]
)
def test_journals_lead_to_the_graphs_that_run_in_bodies_as_well(program, pass_):
    f = ag.function(*program())
    parts = list(parts_of(f.unoptimized_graph, f.journal, f.graph))
    assert any(isinstance(part, Step) and part.rule == pass_ for part in parts)
    for end in (part for part in parts if isinstance(part, End)):
        last, result = (FunctionGraph(g.inputs, g.outputs) for g in (end.last, end.result))
        assert last == result
