"""Dialects of devices: each is one file, and a new one is registered as an engine."""

import ast
import shutil
from pathlib import Path

import numpy as np
import pytest
from opencl_devices import calls
from stand_in_dialect import StandInEngine

import arignote as ag
from arignote import ops as T
from arignote.engines.device import dialects

FILES = sorted(Path(dialects.__file__).parent.glob("[!_]*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_dialects_know_the_interface_of_devices_alone(path):
    found = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom) and node.level]
    ours = {f"{'.' * node.level}{node.module}" for node in found}
    assert ours <= {
        "....cbackend.ctext.device", "....cbackend.ctext.device_lists", "...engine", "..base", "..engine", "..memory",
    }  # fmt: skip


@pytest.fixture
def stand_in():
    """The engine of a dialect that one file of the tests adds."""
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    ag.engines.register(StandInEngine())
    yield ag.Mode("fast_run", backend="stand_in")
    ag.engines.unregister("stand_in")


@pytest.mark.long
def test_a_dialect_of_one_file_runs_functions(stand_in):
    x, i, w = T.matrix("x"), T.lvector("i"), T.matrix("w")
    outputs = [T.tanh(x[i] @ w).sum(axis=0), T.join(0, x, x[::2]), T.set_subtensor(x[1:, 0], 2.0)]
    f = ag.function([x, i, w], outputs, mode=stand_in)
    rng = np.random.default_rng(3)
    values = [rng.normal(size=(5, 4)), np.array([4, 0, -2]), rng.normal(size=(4, 3))]
    for got, expected in calls(f, ag.function([x, i, w], outputs, mode="NUMPY"), values):
        np.testing.assert_allclose(got, expected, rtol=1e-12)
    assert not f._run.hosted and f._run.traffic.launches
