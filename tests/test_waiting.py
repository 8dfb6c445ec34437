"""Optimizers are charged processor time; what their thread waited is counted apart, in every form of the profile."""

import re
import threading
import time
from dataclasses import replace

import pytest

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.elementwise import neg
from arignote.optdb import EquilibriumOptimizer, FromFunctionOptimizer, SeqOptimizer, rule, wilds
from arignote.pages.costs import optimizer_parts
from arignote.profiling.difference import difference

A = T.vector("A")
(x,) = wilds("x")
RULES = EquilibriumOptimizer(name="rules", rules=(rule("local_neg_neg", neg(neg(x)), x),))


def test_waiting_is_told_apart_from_work():
    def idle(graph):
        time.sleep(0.03)  # as if another thread had the processor
        return graph

    def busy(graph):
        begun = time.thread_time()
        while time.thread_time() < begun + 0.005:  # the clock is exact to 0.4 ms
            pass
        return graph

    members = [FromFunctionOptimizer(name=f.__name__, function=f) for f in (idle, busy, idle)]
    rules = replace(RULES, optimizers=(members[0],))
    _, profile = SeqOptimizer(name="all", optimizers=(*members, rules))(FunctionGraph([A], [neg(neg(A))]))
    first, second, _, last = profile.children
    assert first.time < 0.004 <= second.time and last.time < 0.01
    assert 0.025 < first.waiting < 0.2 and second.waiting < 0.02 < last.waiting
    assert profile.waiting == pytest.approx(sum(child.waiting for child in profile.children), rel=0.01)
    assert profile.time < profile.waiting
    assert sum(p.waiting for p in last.passes) == pytest.approx(last.waiting, rel=0.01)
    told = f"It also waited {profile.waiting:.3f} s for the processor or the GIL."
    assert told in profile.summary() and "s for waiting (processor or GIL), in no other time" in profile.report()
    assert profile.to_dict()["children"][0]["waiting"] == first.waiting
    (wait,) = (event for event in profile.to_chrome()["traceEvents"] if event["cat"] == "waiting")
    assert wait["dur"] == pytest.approx(1e6 * profile.waiting, abs=0.01)
    assert re.search(r"optimizing took [\d.]+ ms \(and [\d.]+ ms waiting\): ", profile._repr_html_())
    assert "waiting for the processor or the GIL" in "".join(optimizer_parts({"optimizer": profile.to_dict()}))
    change = difference(profile, replace(profile, waiting=0.0))
    assert f"for the processor or the GIL: {profile.waiting:.3f} s before, 0.000 s after" in str(change)
    assert max(row["waiting"][0] for row in change.to_dict()["passes"]) > 0.02


def test_busy_neighbours_are_not_charged_to_the_optimizer():
    stop = threading.Event()
    neighbours = [threading.Thread(target=lambda: [None for _ in iter(stop.is_set, True)]) for _ in range(2)]
    for neighbour in neighbours:
        neighbour.start()
    try:
        graph = FunctionGraph([A], [neg(neg(A + k)) for k in range(300)])
        work, wall = time.thread_time(), time.perf_counter()
        _, profile = SeqOptimizer(optimizers=(RULES,) * 3)(graph)
        work, wall = time.thread_time() - work, time.perf_counter() - wall
    finally:
        stop.set()
        for neighbour in neighbours:
            neighbour.join()
    assert profile.time <= work + 0.001
    assert profile.time + profile.waiting <= wall
