"""Results for a graph do not depend on Python's order of sets, nor on the order of registration."""

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import rule_rows
import rule_rows_shapes
from rewriting import graph_of

from arignote import ops as T
from arignote.calculus.calculus import grad
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.program.plan import plan
from arignote.graph import FunctionGraph
from arignote.optdb import EquilibriumDB
from arignote.optdb.rules import default_db

pytestmark = pytest.mark.long

HERE = Path(__file__).parent


def text_under(seed):
    """The optimized graphs and their C as a process with this hash seed prints them."""
    paths = os.pathsep.join([str(HERE), *filter(None, sys.path)])
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": paths}
    command = [sys.executable, str(HERE / "zoo_text.py")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120).stdout


def in_another_order(seed):
    """The database with the members of each equilibrium, which have no positions, registered in another order."""
    db = default_db()
    shuffle = random.Random(seed).shuffle
    for entry in db.entries():
        if isinstance(entry.object, EquilibriumDB):
            members = list(entry.object._members.items())
            shuffle(members)
            entry.object._members = dict(members)
    return db


def functions():
    """Graphs on which rules compete: a training step, a normalization, a sum of products, a solved system."""
    x, w, y, b = T.matrix("x"), T.matrix("w"), T.matrix("y"), T.vector("b")
    loss = T.mean((T.tanh(T.dot(x, w) + b) - y) ** 2)
    likelihood = -T.mean(T.log(T.softmax(T.dot(x, w) + b, axis=1))[:, 0])
    centred = x - T.mean(x, axis=1, keepdims=True)
    return [
        FunctionGraph([x, w, y, b], [loss, *grad(loss, [w, b])]),
        FunctionGraph([x, w, b], [likelihood, *grad(likelihood, [w, b])]),
        FunctionGraph([x], [centred / T.sqrt(T.mean(centred**2, axis=1, keepdims=True) + 1e-5)]),
        FunctionGraph([x, w, y], [2.0 * T.dot(x, w) + 0.5 * y - T.log(1.0 + T.exp(-y)) * 1.0]),
        FunctionGraph([w, b], [T.dot(T.inv(w), b) + 0.0]),
    ]


@pytest.fixture(scope="module")
def optimizers():
    """Default optimizations under fifty orders of registration."""
    return [in_another_order(seed).query("fast_run") for seed in range(50)]


def test_the_c_does_not_depend_on_the_order_of_registration(optimizers):
    def texts(optimizer):
        return [c_text(plan(optimizer(graph)[0])) for graph in graphs]

    graphs = functions()
    expected = texts(default_db().query("fast_run"))
    assert all("return" in text for text in expected)
    for seed, optimizer in enumerate(optimizers):
        assert texts(optimizer) == expected, f"order {seed}"


def test_optimized_graphs_do_not_depend_on_the_order_of_registration(optimizers):
    """Fifty orders; each example of a rule under ten of them."""
    graphs = [graph_of(before) for _, before, *_ in [*rule_rows.ROWS, *rule_rows_shapes.ROWS]]
    optimizer = default_db().query("fast_run")
    expected = [optimizer(graph)[0] for graph in graphs]
    for seed, other in enumerate(optimizers):
        for graph, want in list(zip(graphs, expected, strict=True))[seed % 5 :: 5]:
            result = other(graph)[0]
            assert result == want, f"{graph}\n{want}\nin order {seed}\n{result}"


def test_optimized_graphs_and_their_c_are_the_same_under_twenty_hash_seeds():
    with ThreadPoolExecutor(2) as pool:
        first, *others = pool.map(text_under, range(20))
    assert first.count("return") > 300
    for seed, other in enumerate(others, 1):
        assert other == first, f"PYTHONHASHSEED={seed}"
