"""Programs written for Theano, run as they are through `import theano`."""

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from arignote.frontends import theano as front

PROGRAMS = Path(__file__).resolve().parents[3] / "examples" / "theano"


def _descent(epochs, rate=0.5, batch=60):
    """The losses of the same steps in NumPy."""
    with np.load(PROGRAMS.parents[1] / "arignote" / "data" / "digits.npz") as data:
        x, y = data["images"][:-360] / 16, data["labels"][:-360]
    w, b, losses = np.zeros((64, 10)), np.zeros(10), []
    for _ in range(epochs):
        losses.append([])
        for k in range(0, len(x) - batch + 1, batch):
            part, label = x[k : k + batch], y[k : k + batch]
            p = np.exp(part @ w + b)
            p /= p.sum(axis=1, keepdims=True)
            losses[-1].append(-np.log(p[np.arange(batch), label]).mean())
            step = (p - np.eye(10)[label]) / batch
            w, b = w - rate * part.T @ step, b - rate * step.sum(axis=0)
    return [np.mean(part) for part in losses]


@pytest.fixture
def run(monkeypatch):
    """Run a program's `run` with Theano's modules in place."""
    before = set(sys.modules)
    front.install()
    monkeypatch.syspath_prepend(str(PROGRAMS))
    yield lambda name, **options: runpy.run_path(str(PROGRAMS / f"{name}.py"))["run"](**options)
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "theano" or str(PROGRAMS) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


@pytest.mark.long
def test_logistic_regression(run):
    found = run("logistic_regression", epochs=6)
    assert found["losses"] == sorted(found["losses"], reverse=True)
    assert found["losses"] == pytest.approx(_descent(6))
    assert found["errors"] < 0.15


@pytest.mark.long
def test_mlp(run):
    found = run("mlp", epochs=8)
    assert found["losses"][-1] < 0.25 < 1.5 < found["losses"][0]
    assert found["errors"] < 0.15


@pytest.mark.long
def test_the_command_runs_a_script_with_its_arguments(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(
        "import sys\nimport theano\nimport theano.tensor as T\nfrom theano.tensor import nnet\n"
        "x = T.vector()\nprint(theano.function([x], nnet.relu(x) * float(sys.argv[1]))([1, -2]))\n"
    )
    command = [sys.executable, "-m", "arignote", "theano", str(script), "3"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout.strip()) == (0, "[3. 0.]"), found.stderr
    missing = subprocess.run([*command[:-2], "nowhere.py"], capture_output=True, text=True, check=False)
    assert missing.returncode == 2
    assert "nowhere.py" in missing.stderr


# Losses below are those that Theano 1.0.5 itself prints for the same program; they agree in 10 digits.


@pytest.mark.long
def test_lenet(run):
    found = run("lenet", epochs=1)
    assert found["losses"] == pytest.approx([2.28838813842356], rel=1e-9)


@pytest.mark.long
def test_denoising_autoencoders(run):
    found = run("autoencoders", epochs=(1, 3))
    assert found["costs"] == [[pytest.approx(23.72884942682502)], [pytest.approx(25.0, abs=1.0)]]
    assert found["losses"][-1] < found["losses"][0]


@pytest.mark.long
def test_rbm(run):
    found = run("rbm", epochs=3)
    assert found["costs"][-1] > found["costs"][0] > -30
    first, second = found["samples"]
    assert first.shape == (20, 64)
    assert ((first > 0) & (first < 1)).all()
    assert not np.array_equal(first, second)  # the chain moved on


@pytest.mark.long
def test_lstm(run):
    found = run("lstm", epochs=2, dim=8, examples=96)
    assert found["costs"][-1] < found["costs"][0] < 0.75


@pytest.mark.long
def test_hmc(run):
    found = run("hmc", samples=150)
    assert found["mean error"] < 0.2
    assert found["covariance error"] < 0.5
    assert found["acceptance"] > 0.8
