"""ARIGNOTE_DEBUG: what each level writes to standard error, and that calls cost nothing without it."""

import importlib
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.function.narration import Narrated
from arignote.options import Options

x = T.vector("x")
DATA_PATH = importlib.import_module("arignote.function.function")


@pytest.fixture
def at_level(monkeypatch, capsys):
    """A function compiled and called at a level, and what was told of it."""

    def compiled(level, mode=None, **how):
        options = Options(debug=level, cache=DATA_PATH.process_options().cache)
        monkeypatch.setattr(DATA_PATH, "process_options", lambda: options)
        capsys.readouterr()
        f = ag.function([x], T.log(1 + T.exp(x)).sum(), name="tale", mode=mode, **how)
        assert f(np.zeros(1000)) == pytest.approx(1000 * np.log(2))
        message = capsys.readouterr()
        assert not message.out
        assert all(line.startswith("arignote: ") for line in message.err.splitlines())
        return f, message.err.replace("arignote: ", "")

    return compiled


def test_each_level_tells_what_the_one_before_tells_and_more(at_level):
    for level in range(6):
        f, message = at_level(level)
        (kernel,) = {k.name for k in f.program.kernels} if level else {""}
        shown = {
            1: f"tale: {len(f.unoptimized_graph)} nodes became {len(f.graph)} in " in message
            or "tale: found in the cache with its C" in message,
            2: "tale: call 1: " in message and " us " in message and " GB/s " in message and kernel in message,
            3: "canonicalize: " in message or "stabilize: " in message,
            4: "v0: float64 = fused(x) graph = " in message
            and f"{kernel} is kernel \"y0 = sum" in message
            and f"launch {kernel}(" in message,
            5: "ag_entry(ag_call *" in message and f"static void {kernel}(" in message,
        }
        assert shown == {known: known <= level for known in shown}, message
        assert isinstance(f._run, Narrated) == (level > 1)


def test_numpy_and_tiers_are_reported(at_level):
    _, message = at_level(5, mode="NUMPY")
    assert "C " not in message.splitlines()[0] and message.splitlines()[0].endswith("run by NumPy")
    assert "tale: call 1: " in message
    f, message = at_level(1, compile_budget=0.0)
    assert message.startswith("tale: ")
    assert f.wait(60)
    assert "tale: run by NumPy until C is ready" in message or " kernel" in message or "found in the cache" in message


def test_a_closed_standard_error_is_no_error(at_level, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    f = ag.function([x], x + 1, mode="NUMPY")
    at_level_1 = Options(debug=2)
    monkeypatch.setattr(DATA_PATH, "process_options", lambda: at_level_1)
    assert ag.function([x], x + 2, mode="NUMPY")(np.zeros(1)) == f(np.ones(1))
