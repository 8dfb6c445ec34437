"""`python -m arignote opt --emit`: each stage prints, and loops that were printed are read back and become C."""

from __future__ import annotations

import io

import pytest
from test_standalone_c import FUNCTIONS, program_of

import arignote as ag
from arignote import ops as T
from arignote.__main__ import main
from arignote.cbackend.program.text import program_text


@pytest.fixture
def stage(capsys, monkeypatch):
    """A function (text of the file, options) that gives what the command prints."""

    def printed(text, *options, code=0):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        assert main(["opt", "-", *options]) == code
        out, err = capsys.readouterr()
        return out if code == 0 else err

    return printed


@pytest.fixture
def graph():
    m, i = T.matrix("m"), T.lvector("i")
    return str(ag.function([m, i], T.tanh(m[i]).sum(axis=1), mode="NUMPY").unoptimized_graph)


def test_every_stage_prints(stage, graph):
    assert "fn(m: float64[?, ?], i: int64[?])" in stage(graph, "--emit", "graph") == stage(graph)
    assert "call rt->pipeline(k_" in stage(graph, "--emit", "program")
    loops = stage(graph, "--emit", "loops")
    assert loops.count("kernel ") == 2 and "tanh:float64" in loops
    assert "i32 ag_entry(ag_call *call)" in stage(graph, "--emit", "c")


def test_loops_are_a_stage_to_begin_with(stage, graph):
    loops = stage(graph, "--emit", "loops")
    assert stage(loops, "--from", "loops", "--emit", "loops") == loops
    assert "ag_tanh_f64(" in stage(loops, "--from", "loops", "--emit", "c")
    assert ".text" in stage(loops, "--from", "loops", "--emit", "asm")


def test_what_does_not_parse_or_verify_is_told(stage, graph):
    loops = stage(graph, "--emit", "loops")
    said = stage(loops.replace("rank", "rnak", 1), "--from", "loops", "--emit", "c", code=1)
    assert said == "opt: -: line 1, column 17: expected 'rank', got 'rnak'\n"
    said = stage(loops.replace("return 0:int32", "return 0", 1), "--from", "loops", "--emit", "c", code=1)
    assert said == "opt: -: kernel 'gather': 0 is int64; expected int32\n  in return 0\n"
    assert "expected loops, c or asm" in stage(loops, "--from", "loops", "--emit", "program", code=1)
    assert "expected 'kernel'" in stage("", "--from", "loops", "--emit", "c", code=1)


def test_assembly_needs_a_compiler(stage, graph, monkeypatch):
    monkeypatch.setattr("arignote.stages.find_toolchain", lambda: None)
    assert "no working C compiler; `python -m arignote doctor`" in stage(graph, "--emit", "asm", code=1)


def test_every_kind_of_step_has_a_line():
    text = "".join(program_text(program_of(*function)) for function in FUNCTIONS.values())
    for word in (
        "= allocate ", "launch k_", "call ag_", "= read ", "= host(", "loop body ", "choice ", "finish output ",
        "guard ", "= pack ", "= point ", " or LENGTHS", "release slot ", "commit", "= order ", "then k_",
    ):  # fmt: skip
        assert word in text, word


@pytest.mark.parametrize("name", ["a training step", "a loop"])
def test_golden_programs(golden, name):
    golden(f"{name.replace(' ', '_')}.program", program_text(program_of(*FUNCTIONS[name])))
