"""The run profile as people read it: the user's words in columns, lines as he knows them."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import SourceLine


@pytest.fixture(scope="module")
def text():
    x, y = T.matrix("x"), T.vector("y")
    weights = ag.shared(np.ones((3, 3)), name="weights")
    loss = T.nn.softmax(T.tanh(x @ weights) + y).max(axis=1).mean()
    updates = [(weights, weights - 0.1 * ag.grad(loss, weights))]
    step = ag.function([x, y], loss, updates=updates, profile=True, name="step")
    step(np.ones((2, 3)), np.arange(3.0))
    return str(step.profile)


def test_rows_are_aligned_and_fit_the_screen(text):
    header, *rows = text.splitlines()[5:]
    assert len(rows) > 5 and all(len(row) <= 140 for row in rows)
    kernel = header.index("kernel")
    assert all(row[kernel - 2 : kernel] == "  " and row[kernel] != " " for row in rows)


def test_rows_speak_of_the_users_names_and_lines(text):
    (product,) = [row for row in text.splitlines() if "(x, weights)" in row]
    assert Path(__file__).name in product
    assert "inplace" not in text and "fused(" not in text


def test_lines_are_seen_from_the_working_folder_if_they_lie_in_it(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert str(SourceLine(str(tmp_path / "train.py"), 3)) == "train.py:3"
    assert str(SourceLine(str(tmp_path / "models" / "net.py"), 3)) == f"{Path('models', 'net.py')}:3"
    outside = str(tmp_path.parent / "a.py")
    assert str(SourceLine(outside, 3)) == f"{outside}:3"


@pytest.mark.parametrize("file", ["/tmp/ipykernel_17/42.py", "<ipython-input-3-ab>"])
def test_lines_of_cells_are_called_as_ipython_calls_them(monkeypatch, file):
    named = {file: ("Cell", "In[3]")}
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: SimpleNamespace(compile=SimpleNamespace(format_code_name=named.get))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    assert str(SourceLine(file, 2)) == "Cell In[3], line 2"
    ipython.get_ipython = lambda: None  # read back in another process
    assert str(SourceLine(file, 2)) == "a cell, line 2"


def test_graphs_and_tables_show_themselves():
    x = T.vector("x")
    graph = ag.function([x], (x < 1) & (x > 0)).unoptimized_graph
    page = graph._repr_html_()
    assert page.startswith("<pre>fn(x: float64[?])") and page.endswith("</pre>")
    table = ag.optdb.table("fast_run")
    assert repr(table) == str(table) and "local_mul_zero" in repr(table)


@pytest.mark.parametrize("mode", ["FAST_RUN", "NUMPY"])
def test_calls_add_up_and_are_forgotten_on_reset(mode):
    x = T.vector("x")
    f = ag.function([x], T.exp(x) * 2, mode=mode, profile=True)
    for _ in range(5):
        f(np.ones(10))
    assert f.profile.calls == 5 and f.profile.seconds >= f.profile.step_seconds
    assert all(step.calls == 5 for step in f.profile.steps)
    assert bool(f.profile.steps) == (mode == "FAST_RUN")
    f.profile.reset()
    assert f.profile.calls == 0 and not f.profile.steps
