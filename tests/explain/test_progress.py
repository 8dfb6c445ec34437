"""`ag.progress` around loops of users, and the curve of a demonstration."""

import io
import math
import sys

import pytest

import arignote as ag
from arignote import ops as T
from arignote import pages
from arignote import progress as progress_module
from arignote.explain.progress import Bar, curve
from arignote.function.compile_progress import Progress, shower


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    module = sys.modules[Bar.__module__]
    monkeypatch.setattr(module, "shower", lambda _: shower(stream))  # pytest has put a stream of its own in place
    monkeypatch.setattr(module, "STEP", 0.0)
    return stream


def test_items_pass_and_the_line_says_how_far_it_is(terminal):
    bar = ag.progress(range(4), "training")
    seen = []
    for item in bar:
        seen.append(item)
        bar.note(loss=1 / (item + 1), stage="warm")
    assert seen == [0, 1, 2, 3] and len(bar) == 4 and bar.done == 4
    shown = [line.rstrip() for line in terminal.getvalue().split("\r")]
    assert shown[1].startswith("training: 2 of 4, 50 %, ") and shown[1].endswith(" s left, loss 0.5, stage warm")
    assert shown[3].startswith("training: 4 of 4, 100 %") and "left" not in shown[3]
    assert shown[4] == "" and terminal.getvalue().endswith("\r")  # the line is wiped


def test_a_loop_without_a_length_and_one_that_ends_early(terminal):
    bar = ag.progress(iter("abc"))
    for _ in bar:
        break
    assert bar.total is None and bar.done == 0
    with pytest.raises(TypeError, match="the length of this loop is not known"):
        len(bar)
    assert list(ag.progress((n for n in range(3)), total=3)) == [0, 1, 2]
    assert "2 of 3, 66 %" in terminal.getvalue()
    with pytest.raises(ZeroDivisionError):
        list(map(lambda n: 1 / n, ag.progress(range(3))))  # noqa: C417
    assert list(ag.progress([])) == []


def test_nothing_is_written_where_nobody_looks(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert list(ag.progress(range(3))) == [0, 1, 2]
    assert sys.stderr.getvalue() == "" and capsys.readouterr().out == ""
    monkeypatch.setattr(sys, "stderr", None)
    assert list(ag.progress(range(3))) == [0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((3,), TypeError, r"items is 3; expected an iterable, such as range\(3\)"),
        ((range(3), "", -1), ValueError, "total is -1; expected a number of items"),
        ((range(3), "", True), ValueError, "total is True"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, words):
    with pytest.raises(error, match=words):
        ag.progress(*arguments)


def test_curves_of_values():
    assert curve([8, 7, 6, 5, 4, 3, 2, 1]) == "█▇▆▅▄▃▂▁"
    assert curve([]) == "" and curve([1, 1]) == "▁▁" and curve([1, math.nan]) == "▁▁"
    assert len(curve(range(1000), 60)) == 60


def test_the_picture_of_losses_leaves_out_what_a_logarithm_cannot_show():
    svg = pages.curves.curves({"a<b": [1.0, 0.1, math.nan, 0.0, 0.01], "none": []}, "losses", "epoch", "loss")
    assert svg.count("<polyline") == 1 and "a&lt;b 0.01" in svg and svg.startswith("<svg")
    assert "nan" not in svg.partition("points=")[2].partition(">")[0]
    assert pages.curves.curves({}, "nothing", "epoch", "loss").count("<polyline") == 0
    assert progress_module is ag.progress


def test_a_compilation_says_which_stage_it_is_at(monkeypatch):
    told = []
    monkeypatch.setattr("arignote.function.compile_progress.shower", lambda _: lambda line: None)
    monkeypatch.setattr(Progress, "__setattr__", lambda self, name, value: (
        told.append(value) if name == "stage" else None, object.__setattr__(self, name, value)
    ))  # fmt: skip
    x = T.matrix("x")
    looped, _ = ag.scan(lambda v: v + 1, outputs_info=x, n_steps=3)
    f = ag.function([x], T.tanh(x) * 3.25 + looped[-1], profile=True)
    passes = [stage for stage in told if stage.startswith("optimizing: ")]
    assert passes[0] == f"optimizing: merge1, 1 of {len(passes)}"
    assert passes[-1].endswith(f" {len(passes)} of {len(passes)}")
    if f.backend == "c":
        assert told[-2] == f"planning {len(f.graph)} nodes" and told[-1].startswith("compiling ")
        assert told[-1].endswith(" lines of C")
    told.clear()
    ag.optdb.query("fast_run")(f.graph)
    assert not told
