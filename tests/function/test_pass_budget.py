"""Passes that `compile_budget` leaves out of the rewriting of large graphs."""

import importlib
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.function.pass_budget import PassEstimate, chosen_to_leave

FOUND = [
    PassEstimate("needed", 4.0, 0.0), PassEstimate("useless", 2.0, 0.0), PassEstimate("dear", 2.0, 10.0),
    PassEstimate("cheap", 1.0, 100.0), PassEstimate("tiny", 0.001, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(("seconds", "left"), [
    (10.0, []), (8.0, ["useless"]), (5.5, ["useless", "dear"]), (0.0, ["useless", "dear", "cheap"]),
])  # fmt: skip
def test_the_passes_of_least_saving_for_their_time_go_first(seconds, left):
    assert chosen_to_leave(FOUND, seconds, frozenset({"needed"})) == left


@pytest.mark.long
def test_a_large_graph_runs_without_some_passes_and_computes_the_same(monkeypatch):
    importlib.import_module("arignote.function.function")
    monkeypatch.setattr(sys.modules["arignote.function.function"], "LEAST_NODES", 10)
    x = y = T.vector("x")
    for k in range(12):
        y = T.tanh(y * (1 + k)) + T.exp(-(y**2))
    value = np.linspace(-1, 1, 50)
    plain = ag.function([x], y)
    short = ag.function([x], y, compile_budget=0)
    enough = ag.function([x], y, compile_budget=1000)
    left = short.mode.optimizer.exclude - plain.mode.optimizer.exclude
    assert left and not left & {"canonicalize", "elemwise_fusion", "merge1"}
    assert enough.mode.optimizer == plain.mode.optimizer
    np.testing.assert_allclose(short(value), plain(value), rtol=1e-12)
    assert short.wait()
    np.testing.assert_allclose(short(value), plain(value), rtol=1e-12)
