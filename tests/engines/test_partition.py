"""Graphs divided among engines: minimum cuts, convex regions, plans, errors."""

import itertools
import pickle
import random
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arignote as ag
from arignote import ops as T
from arignote.engines import CheckedExecutable, Engine, EngineError
from arignote.engines.division import assignment
from arignote.engines.division.assignment import FORBIDDEN, HOST, Problem, Value, assigned
from arignote.engines.division.min_cut import Network
from arignote.engines.division.regions import groups_of, levels_of, with_regions
from arignote.graph import FunctionGraph
from arignote.ops.core.interpret import interpret
from arignote.ops.lowered.region import Region, regions_of
from arignote.optdb.rules.engines.partition import PartitionError

x, m = T.vector("x"), T.fmatrix("m")
ARRAY = np.array([0.5, -1.0, 2.0])


class Priced(Engine):
    """NumPy's meaning under another name, with prices; `runs`: names of the ops that it takes."""

    own_errors = (EngineError, ZeroDivisionError)

    def __init__(self, name, prices=None, runs=None, launch=1000, fails=None, changes=lambda r: r):
        self.name, self.prices, self.runs = name, prices or {}, runs
        self.launch, self.copied_byte, self.fails, self.changes = launch, 1, fails, changes
        self.calls = 0

    def refusal(self, node):
        return "" if self.runs is None or node.op.name in self.runs else f"it has no {node.op.name}"

    def cost(self, node):
        return self.prices.get(node.op.name, 10**12)

    def compile(self, graph, request):
        def run(*arrays):
            self.calls += 1
            if self.fails is not None:
                raise self.fails
            return [self.changes(r) for r in interpret(graph, arrays)]

        return CheckedExecutable(self, graph, request, run)


@pytest.fixture(autouse=True)
def _without_traces():
    """Remove the file that ONNX Runtime leaves."""
    yield
    Path(tempfile.gettempdir(), ".ses").unlink(missing_ok=True)


@pytest.fixture
def engine():
    """Registers engines for one test."""
    made = []
    yield lambda *args, **options: made.append(ag.engines.register(Priced(*args, **options))) or made[-1]
    for one in made:
        ag.engines.unregister(one.name)


# --- minimum cuts


def problem(seed, nodes, engines):
    """A random problem; engine 0 is the host and runs every node."""
    r = random.Random(seed)

    def cost(e):
        return r.randint(1, 99) if e == 0 or r.random() < 0.9 else FORBIDDEN

    costs = [[cost(e) for _ in range(nodes)] for e in range(engines)]
    readers = [[] for _ in range(nodes)]
    for v in range(1, nodes):
        for _ in range(r.randint(1, 3)):
            readers[r.randrange(max(0, v - 20), v)].append(v)
    values = [Value(u, tuple(dict.fromkeys(rs)) or (HOST,), r.randint(0, 80)) for u, rs in enumerate(readers)]
    values.append(Value(HOST, tuple({r.randrange(nodes), r.randrange(nodes)}), 10))
    prices = [0, *(r.randint(1, 30) for _ in range(engines - 1))]
    return Problem(costs, values, lambda a, b, n: 0 if a == b else n + prices[a] + prices[b], 0)


def test_a_cut_of_a_network_is_that_of_the_textbook():
    # Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms", figure 26.1: the maximum flow is 23.
    net = Network(4)
    net.terminal(0, 16, 0)
    net.terminal(1, 13, 0)
    for tail, head, capacity in ((0, 2, 12), (1, 0, 4), (2, 1, 9), (1, 3, 14), (3, 2, 7)):
        net.edge(tail, head, capacity)
    net.terminal(2, 0, 20)
    net.terminal(3, 0, 4)
    assert net.on_source_side() == [True, True, False, True]


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_two_engines_get_the_exact_minimum(seed, nodes):
    p = problem(seed, nodes, 2)
    best = min(p.energy(labels) for labels in itertools.product(range(2), repeat=nodes))
    assert p.energy(assigned(p)) == best


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_more_engines_get_labels_that_no_pair_improves(seed, nodes):
    p = problem(seed, nodes, 3)
    found = p.energy(assigned(p))
    exact = min(p.energy(labels) for labels in itertools.product(range(3), repeat=nodes))
    assert exact <= found <= 1.25 * exact


@pytest.mark.parametrize("engines", [2, 3])
def test_large_graphs_are_coarsened_and_lose_little(engines, monkeypatch):
    p = problem(1, 600, engines)
    exact = p.energy(assigned(p))
    for name, bound in (("EXACT", 80), ("WINDOW", 100)):
        monkeypatch.setattr(assignment, name, bound)
    labels = assigned(p)
    assert labels == assigned(p) and exact <= p.energy(labels) <= 1.03 * exact
    assert max(assignment.coarsened(p, 80)) < 160


# --- regions


@settings(max_examples=50)
@given(st.integers(0, 10**6))
def test_regions_are_convex_and_compute_the_same(seed):
    r = random.Random(seed)
    values = [x, T.vector("y")]
    for _ in range(r.randint(2, 14)):
        a, b = r.choice(values), r.choice(values)
        values.append(r.choice([T.add, T.maximum, T.sub])(a, b))
    graph = FunctionGraph(values[:2], [values[-1], r.choice(values), values[-2]])
    labels = [r.choice(["c", "p", "q"]) for _ in graph.order]
    outputs = with_regions(graph, labels, "c", None)  # a cycle among regions could not be built
    divided = FunctionGraph(graph.inputs, outputs)
    assert sum(len(op.graph) for op in regions_of(divided)) == sum(label != "c" for label in labels)
    arrays = [ARRAY, ARRAY[::-1].copy()]
    for a, b in zip(interpret(divided, arrays), interpret(graph, arrays), strict=True):
        assert (a == b).all()


def test_a_region_splits_only_where_a_path_leaves_it():
    a = T.exp(x)
    graph = FunctionGraph([x], [T.sin(a) + T.cos(T.tanh(a))])
    names = [node.op.name for node in graph.order]

    def groups(**labels):
        chosen = [labels.get(name, "c") for name in names]
        return len([k for k in groups_of(chosen, levels_of(graph, chosen, "c"), "c") if k[1]])

    assert groups(exp="p", sin="p", add="p", cos="p", tanh="p") == 1
    assert groups(exp="p", sin="p", add="p", cos="p") == 2  # tanh on the host lies between exp and add
    assert groups(exp="p", cos="q") == 2 and groups(sin="p", cos="p") == 1


def test_a_region_is_an_op_with_text_and_a_meaning():
    graph = FunctionGraph([x], [T.exp(x)])
    outer = FunctionGraph([x], [Region(graph, "numpy")(x) * 2])
    assert ag.parse(str(outer)) == outer and "region{engine='numpy', threads=None}" in str(outer)
    assert np.allclose(interpret(outer, [ARRAY])[0], np.exp(ARRAY) * 2)
    assert ag.function([x], Region(graph, "numpy")(x) * 2)(ARRAY).shape == (3,)  # C evaluates it by NumPy


# --- plans


def test_the_cheapest_engine_runs_each_part(engine):
    fast = engine("fast", {"exp": 1, "sin": 10**9})
    f = ag.function([x], T.sin(T.exp(x)) + 1, engines=["numpy", "fast"], name="f")
    assert f.engines == ("numpy", "fast") and [op.engine for op in regions_of(f.graph)] == ["fast"]
    assert [n.op.name for n in regions_of(f.graph)[0].graph.order] == ["exp"]
    np.testing.assert_array_equal(f(ARRAY), np.sin(np.exp(ARRAY)) + 1)
    assert fast.calls == 1
    text = f.explain("partition")
    assert text.startswith("f: 3 nodes, NumPy and engine 'fast'; estimated")
    assert "host, NumPy: 2 nodes\nregion 0, engine 'fast': 1 node: exp\n" in text
    assert "with all on NumPy" in text and "with all on engine 'fast'" in text and "not measured" in text
    assert "not divided" in ag.function([x], x, mode="NUMPY").explain("partition")
    with pytest.raises(ValueError, match='subject is \'nodes\'; expected "partition"'):
        f.explain("nodes")


def test_copies_and_launches_keep_nodes_together(engine):
    engine("far", {"exp": 1}, launch=10**12)
    assert ag.function([x], T.exp(x), engines=["numpy", "far"]).engines == ("numpy",)


def test_a_graph_for_one_engine_is_compiled_by_it_alone(engine):
    whole = engine("whole", dict.fromkeys(("exp", "mul", "add"), 1))
    w = ag.shared(np.ones(3), name="w")
    f = ag.function([x], T.exp(x) * w, updates=[(w, w + x)], engines=["whole", "c"])
    assert f.backend == "whole" and f.engines == ("whole",)
    np.testing.assert_array_equal(f(ARRAY), np.exp(ARRAY))
    np.testing.assert_array_equal(w.get_value(), 1 + ARRAY)
    assert whole.calls == 1


def test_the_pass_is_opt_in_and_takes_the_engines_that_are_ready(engine):
    engine("ready", {"exp": 1}, launch=1)
    assert not regions_of(ag.function([x], T.exp(x), mode="NUMPY").graph)
    mode = ag.Mode("fast_run", backend="numpy").including("partition")
    assert ag.function([x], T.exp(x) + T.sort(x), mode=mode)._optimization.profile is not None
    assert mode.divides and not mode.excluding("partition").divides and not ag.Mode().divides


# --- bad input


def test_bad_lists_of_engines_are_refused_shortly():
    for engines, message in (
        (["c", "onxruntime"], "function: engines has 'onxruntime'; expected one of .*; did you mean 'onnxruntime'?"),
        ("c", r"function: engines is 'c'; expected a list of names, such as \[\"c\", \"onnxruntime\"\]"),
        ([], "function: engines is empty"),
        ([3], "function: engines has 3; expected one of"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            ag.function([x], x + 1, engines=engines)
    with pytest.raises(ValueError, match="runs no optimizer, so there is nothing to divide"):
        ag.function([x], x + 1, engines=["numpy"], mode="NUMPY")


def test_an_engine_that_is_not_installed_says_what_to_install(engine, monkeypatch):
    monkeypatch.setattr("arignote.frontends.onnx.runtime.engine.find_spec", lambda name: None)
    message = r"engine 'onnxruntime' cannot run here: .* pip install 'arignote\[onnxruntime\]' installs them"
    with pytest.raises(EngineError, match=message):
        ag.function([x], x + 1, engines=["c", "onnxruntime"])


def test_a_node_that_no_engine_runs_is_named_with_its_line(engine):
    engine("little", runs=("exp",))
    message = r"none of the engines runs sin: little: it has no sin; add 'c' to them\n  at"
    with pytest.raises(PartitionError, match=message):
        ag.function([x], T.sin(T.exp(x)), engines=["little"])


def test_wrong_dtypes_and_shapes_of_a_region_name_the_engine(engine):
    off = engine("off", {"exp": 1, "sin": 10**12})
    f = ag.function([x], T.sin(T.exp(x)), engines=["numpy", "off"], name="f")
    for change, message in (
        (lambda r: r.astype("float32"), "computes output 0 as float32; expected float64"),
        (lambda r: r[None], r"computes output 0 with shape \(1, 3\); expected"),
        (list, "computes output 0 as list; expected float64"),
    ):
        off.changes = change
        with pytest.raises(EngineError, match=f"f, region 0: engine 'off' {message}"):
            f(ARRAY)


@pytest.mark.parametrize("engines", [["c", "off"], ["numpy", "off"]])
def test_a_region_that_fails_leaves_shared_variables_as_they_were(engine, engines):
    off = engine("off", {"exp": 1, "sin": 10**12, "add": 10**12})
    w, v = (ag.shared(np.zeros(3), name=name) for name in "wv")
    f = ag.function([x], T.sin(T.exp(x + w)), updates=[(w, w + 1), (v, T.sin(T.exp(x + w)) + v)], engines=engines)
    assert "off" in f.engines
    f(ARRAY)
    before = w.get_value(), v.get_value()
    off.fails = EngineError("the device is gone")
    with pytest.raises(EngineError, match="the device is gone"):
        f(ARRAY)
    assert all((a == s.get_value()).all() for a, s in zip(before, (w, v), strict=True))
    off.fails = None
    f(ARRAY)
    assert (w.get_value() == 2).all()


def test_an_error_of_the_meaning_is_reported_as_numpy_tells_it(engine):
    engine("off", {"add": 1}, fails=EngineError("shapes"))
    y = T.vector("y")
    f = ag.function([x, y], T.sin(x + y), engines=["numpy", "off"])
    with pytest.raises(ValueError, match="broadcast"):
        f(ARRAY, np.ones(2))


# --- what is told


@pytest.mark.parametrize("engines", [["c", "fast"], ["numpy", "fast"]])
def test_profiles_have_columns_for_engines_and_copies(engine, engines):
    engine("fast", {"exp": 1, "sin": 10**13})
    f = ag.function([x], T.sin(T.exp(x[::-1])), engines=engines, profile=True, name="f")
    for _ in range(4):
        f(ARRAY)
    (step,) = [s for s in f.profile.steps if s.engine]
    assert (step.engine, step.kernel, step.calls, step.copied) == ("fast", "region", 4, 4 * 2 * ARRAY.nbytes)
    assert 0 < step.copy_seconds < step.seconds
    head, row = (line for line in str(f.profile).splitlines() if "engine  " in line or " fast  " in line)
    assert "engine        copied  copy us  node" in head and "48 bytes" in row and "exp" in row
    assert max(map(len, (head, row))) <= 140
    figures = next(s for s in f.profile.to_dict()["steps"] if "engine" in s)
    assert figures["engine"] == "fast" and figures["copied_bytes"] == 192 and figures["copy_seconds"] > 0
    f.profile.reset()
    f(ARRAY)
    assert [s.copied for s in f.profile.steps if s.engine] == [48]
    assert "region" not in str(f.remarks)


def test_pictures_colour_regions_by_their_engines(engine):
    engine("fast", {"exp": 1})
    f = ag.function([x], T.sin(T.exp(x)), engines=["numpy", "fast"])
    graph = FunctionGraph([x], [Region(FunctionGraph([x], [T.exp(x)]), "onnxruntime")(x)])
    assert 'class="region"' in f.graph._repr_html_() and "fast: exp" in f.graph._repr_html_()
    picture = graph._repr_html_()
    assert 'class="region-onnxruntime"' in picture and "fill:var(--region-onnxruntime)" in picture


def test_a_divided_function_is_pickled_with_its_regions(engine):
    engine("fast", {"exp": 1})
    f = ag.function([x], T.sin(T.exp(x)), engines=["numpy", "fast"])
    again = pickle.loads(pickle.dumps(f))
    assert again.engines == f.engines and (again(ARRAY) == f(ARRAY)).all()
    assert regions_of(again.graph)[0].run is not None and pickle.loads(pickle.dumps(regions_of(f.graph)[0])).run is None
