"""Optimizers are charged processor time; what their thread waited is counted apart, in every form of the profile."""

import re
import threading
import time
from dataclasses import replace
from functools import partial

import pytest

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.elementwise.records import neg
from arignote.optdb import EquilibriumOptimizer, FromFunctionOptimizer, SeqOptimizer, rule, wilds
from arignote.pages.costs import optimizer_parts
from arignote.profiling.difference import difference
from arignote.record import clock

A = T.vector("A")
(x,) = wilds("x")
RULES = EquilibriumOptimizer(name="rules", rules=(rule("local_neg_neg", neg(neg(x)), x),))


class Machine:
    """Clocks that stand still but for `sleep` and `work`: no other program changes what they show."""

    def __init__(self, monkeypatch):
        self.wall = self.processor = 0.0
        monkeypatch.setattr(clock, "perf_counter", lambda: self.wall)
        monkeypatch.setattr(clock.time, "thread_time", lambda: self.processor)
        monkeypatch.setattr(clock, "_clocks", threading.local())

    def sleep(self, seconds):
        self.wall += seconds

    def work(self, seconds):
        self.wall += seconds
        self.processor += seconds


def test_waiting_is_distinguished_from_work(monkeypatch):
    machine = Machine(monkeypatch)

    def idle(graph):
        machine.sleep(0.03)  # as if another thread had the processor
        return graph

    def busy(graph):
        machine.work(0.005)
        return graph

    members = [FromFunctionOptimizer(name=f.__name__, function=f) for f in (idle, busy, idle)]
    rules = replace(RULES, optimizers=(members[0],))
    _, profile = SeqOptimizer(name="all", optimizers=(*members, rules))(FunctionGraph([A], [neg(neg(A))]))
    first, second, _, last = profile.children
    close = partial(pytest.approx, abs=1e-9)
    assert [first.time, second.time, last.time] == close([0, 0.005, 0])
    assert [first.waiting, second.waiting, last.waiting] == close([0.03, 0, 0.06])  # the last one in two passes
    assert profile.waiting == close(sum(child.waiting for child in profile.children))
    assert profile.time == close(0.005)
    assert sum(p.waiting for p in last.passes) == close(last.waiting)
    reported = f"It also waited {profile.waiting:.3f} s for the processor or the GIL."
    assert reported in profile.summary() and "s for waiting (processor or GIL), in no other time" in profile.report()
    assert profile.to_dict()["children"][0]["waiting"] == first.waiting
    (wait,) = (event for event in profile.to_chrome()["traceEvents"] if event["cat"] == "waiting")
    assert wait["dur"] == pytest.approx(1e6 * profile.waiting, abs=0.01)
    assert re.search(r"It also waited [\d.]+ ms for the processor or the GIL\.", profile._repr_html_())
    assert "waiting for the processor or the GIL" in "".join(optimizer_parts({"optimizer": profile.to_dict()}))
    change = difference(profile, replace(profile, waiting=0.0))
    assert f"for the processor or the GIL: {profile.waiting:.3f} s before, 0.000 s after" in str(change)
    assert max(row["waiting"][0] for row in change.to_dict()["passes"]) > 0.02


@pytest.mark.long  # it compares clocks
def test_sleep_is_waiting_and_a_loop_is_work_on_the_clocks_of_the_system():
    def idle(graph):
        time.sleep(0.03)
        return graph

    def busy(graph):
        begun = time.thread_time()
        while time.thread_time() < begun + 0.005:  # the clock is exact to 0.4 ms
            pass
        return graph

    members = [FromFunctionOptimizer(name=f.__name__, function=f) for f in (idle, busy)]
    _, profile = SeqOptimizer(name="all", optimizers=tuple(members))(FunctionGraph([A], [A]))
    first, second = profile.children
    assert first.time < 0.004 <= second.time
    assert first.waiting > 0.025
    assert profile.waiting >= first.waiting + second.waiting - 1e-9  # other programs may run between the two


@pytest.mark.long  # it compares clocks
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
