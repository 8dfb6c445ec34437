"""`ag.tune` of divided functions: measured times, kept in the cache, decide the next division."""

import importlib
import json

import numpy as np
import pytest
from test_partition import Priced

import arignote as ag
from arignote import ops as T
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.cache.upkeep import entries
from arignote.engines import EngineError
from arignote.engines.division import times
from arignote.ops.lowered.region import regions_of
from arignote.tuning import dividing

x = T.vector("x")
ARRAY = np.linspace(0, 1, 50)


class Clock:
    """A clock that readings and calls of `Slow` move, and nothing else: the load of the machine changes no result."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1e-6
        return self.now


class Slow(Priced):
    """An engine whose estimates are far too low."""

    def compile(self, graph, request):
        made = super().compile(graph, request)
        run = made.run

        def slowly(*arrays):
            self.clock.now += 0.002 * self.sleeps(graph)
            return run(*arrays)

        made.run = slowly
        return made

    @staticmethod
    def sleeps(graph):
        return sum(node.op.name == "exp" for node in graph.order)


@pytest.fixture
def slow(tmp_path, monkeypatch):
    cache = Cache.open(tmp_path / "cache")
    for module in (times, importlib.import_module("arignote.engines.c")):
        monkeypatch.setattr(module, "process_cache", lambda: cache)
    made = ag.engines.register(Slow("slow", {"exp": 1, "tanh": 1, "sub": 1}, launch=1000))
    made.cache, made.clock = cache, Clock()
    monkeypatch.setattr(dividing, "time", made.clock)
    yield made
    ag.engines.unregister("slow")


def function(**options):
    w = ag.shared(np.zeros(50), name="w")
    return ag.function([x], T.sort(T.exp(x) + w), updates=[(w, w + 1)], engines=["numpy", "slow"], name="f", **options)


def test_measured_times_change_the_division_and_are_kept(slow):
    f = function()
    assert f.engines == ("numpy", "slow")
    tuned = ag.tune(f, [ARRAY], seconds=0.2)
    assert tuned.function.engines == ("numpy",) and tuned.gain > 2 and tuned.kept
    assert (f.shared[0].get_value() == 0).all()  # calls that measure change nothing
    np.testing.assert_array_equal(tuned.function(ARRAY), np.sort(np.exp(ARRAY)))
    text = str(tuned)
    assert text.startswith("f: ") and "interval 0, NumPy: " in text and "engine 'slow'" in text
    kept = [json.loads(slow.cache.load(Kind.SCHEDULE, e.key)) for e in entries(slow.cache) if e.kind is Kind.SCHEDULE]
    assert {"engine": "slow", "op": "exp"}.items() <= max(kept, key=lambda k: k["picoseconds"]).items()
    again = function()  # an equal function, or one with such nodes, is divided by what was measured
    assert again.engines == ("numpy",) and again.graph == tuned.function.graph
    y = T.vector("y")
    assert ag.function([y], T.exp(y) * 3, engines=["numpy", "slow"]).engines == ("numpy",)
    for entry in entries(slow.cache):  # records of another version are a miss
        slow.cache.store(Kind.SCHEDULE, entry.key, b'{"picoseconds": "?"}')
    assert function().engines == ("numpy", "slow")


def test_nothing_is_kept_that_nobody_wants_kept(slow):
    tuned = ag.tune(function(), [ARRAY], seconds=0.1, keep=False)
    assert tuned.function.engines == ("numpy",) and not tuned.kept
    assert function().engines == ("numpy", "slow") and not entries(slow.cache)


def test_measured_nodes_are_reported(slow):
    slow.sleeps = lambda graph: 0
    slow.prices["exp"] = 10
    ag.tune(function(), [ARRAY], seconds=0.1)
    f = function()
    if regions_of(f.graph):
        assert "of them measured" in f.explain("partition")
    assert ag.tune(f, [ARRAY], seconds=0.1).gain >= 1


def test_an_engine_that_fails_while_it_is_measured_keeps_its_estimates(slow):
    f = function()
    slow.fails = EngineError("out of memory")
    found = dividing._interval_seconds(f, slow, f.unoptimized_graph, [f.unoptimized_graph.order[0]], {x: ARRAY}, 0.01)
    assert found is None


def test_times_depend_on_types_and_short_constants():
    def signature(value):
        return times.signature(value.owner)

    assert signature(T.exp(x)) == signature(T.exp(T.vector())) != signature(T.exp(T.fvector()))
    assert signature(x[1:]) != signature(x[2:])
    long, other = np.zeros(100), np.ones(100)
    assert signature(x + long) == signature(x + other) != signature(x + 1.0)
    assert times.alone((x + long).owner).inputs[1].type.shape == (100,)
