"""`python -m arignote opt --emit`: each stage prints, and loops that were printed are read back and become C."""

from __future__ import annotations

import io
import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import random_graph
from test_standalone_c import FUNCTIONS, program_of

import arignote as ag
from arignote import ops as T
from arignote.__main__ import main
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.ir.reader import IRSyntaxError
from arignote.cbackend.program.plan import plan
from arignote.cbackend.program.text.parsing import parse_program
from arignote.cbackend.program.text.printing import program_text
from arignote.cbackend.program.verify import InvalidProgram, verify_program
from arignote.function import stages
from arignote.function.stages import emitted


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
    assert "call pipeline(stages={k_" in stage(graph, "--emit", "program")
    loops = stage(graph, "--emit", "loops")
    assert loops.count("kernel ") == 2 and "tanh:float64" in loops
    assert "i32 ag_entry(ag_call *call)" in stage(graph, "--emit", "c")


def test_loops_are_a_stage_to_begin_with(stage, graph):
    loops = stage(graph, "--emit", "loops")
    assert stage(loops, "--from", "loops", "--emit", "loops") == loops
    assert "ag_tanh_f64(" in stage(loops, "--from", "loops", "--emit", "c")
    assert ".text" in stage(loops, "--from", "loops", "--emit", "asm")


def test_what_does_not_parse_or_verify_is_reported(stage, graph):
    loops = stage(graph, "--emit", "loops")
    message = stage(loops.replace("rank", "rnak", 1), "--from", "loops", "--emit", "c", code=1)
    assert message == "opt: -: line 1, column 17: expected 'rank', got 'rnak'\n"
    message = stage(loops.replace("return 0:int32", "return 0", 1), "--from", "loops", "--emit", "c", code=1)
    assert message == "opt: -: kernel 'gather': 0 is int64; expected int32\n  in return 0\n"
    assert "expected one of loops, c, asm" in stage(loops, "--from", "loops", "--emit", "program", code=1)
    assert "expected 'kernel'" in stage("", "--from", "loops", "--emit", "c", code=1)


def test_assembly_needs_a_compiler(stage, graph, monkeypatch):
    monkeypatch.setattr(stages, "find_toolchain", lambda: None)
    assert "no working C compiler; `python -m arignote doctor`" in stage(graph, "--emit", "asm", code=1)


def test_every_kind_of_step_has_a_line():
    text = "".join(program_text(program_of(*function)) for function in FUNCTIONS.values())
    for word in (
        "= allocate ", "launch k_", "call copy(", "= read ", "= host(", "loop body ", "choice ", "finish output ",
        "guard ", "= pack ", "= point ", " or LENGTHS", "release slot ", "commit", "= order ", "then k_",
    ):  # fmt: skip
        assert word in text, word


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_are_read_back(name):
    program = program_of(*FUNCTIONS[name])
    text = program_text(program)
    found = parse_program(text, program.graph, program.kernels)
    assert program_text(found) == text
    for fact in ("inputs", "constants", "steps", "sites", "slots", "in_place", "products", "solvers", "dense_inputs"):
        assert getattr(found, fact) == getattr(program, fact), fact
    assert list(found.locals.items()) == list(program.locals.items())  # the C declares them in this order
    assert c_text(found) == c_text(program)


@pytest.mark.long
def test_a_program_is_a_stage_to_begin_with(stage, graph):
    program = stage(graph, "--passes", "fast_run", "--emit", "program")
    assert stage(program, "--from", "program", "--emit", "program") == program
    for later in ("loops", "c", "asm"):
        assert stage(program, "--from", "program", "--emit", later) == stage(
            graph, "--passes", "fast_run", "--emit", later
        )
    assert "expected one of program, loops, c, asm" in stage(program, "--from", "program", code=1)


@given(st.integers(0, 2**32))
@settings(max_examples=30)
def test_programs_of_random_graphs_are_read_back(seed):
    graph, _ = random_graph(Random(seed), updates=True)
    program = plan(ag.rewrite(graph, "fast_run"), strict=True)
    text = program_text(program)
    found = parse_program(text, program.graph, program.kernels)
    assert program_text(found) == text
    assert found.steps == program.steps and list(found.locals.items()) == list(program.locals.items())


def edited(text, old, new):
    assert text.count(old) >= 1, text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("program {", "programme {", "expected a graph, then lines from 'program {' to '}', then the kernels"),
        ("or LENGTHS", "or LENGHTS", "expected an outcome such as LENGTHS, got 'LENGHTS'"),
        ("call product:", "call produce:", "expected a kernel of the runtime: "),
        ("allocate float64[in0_n0, in1_n1]", "allocate float63[in0_n0, in1_n1]", "expected a dtype, got 'float63'"),
        ("guard equal(in0_n1, in1_n0)", "guard alike(in0_n1, in1_n0)", "alike is unknown; expected one of equal"),
        ("guard equal(in0_n1, in1_n0)", "guard equal(in0_n1)", "equal has 1 operand; expected 2"),
        ("guard equal(in0_n1, in1_n0)", "guard equal(in0_n1, n77)", "n77 has no value yet"),
        ("  b0 = allocate float64[in0_n0, in1_n1]\n", "", "expected ':' and a dtype, which no line above tells"),
        ("  release slot 0\n", "  release slot 0\n  b0 = allocate float64[]\n", "b0 is allocated already"),
        ("buffer b1 slot 1", "buffer b1 slot 0", "b1 takes slot 0 of b0, which is live"),
        ("release slot 0", "release slot 7", "slot 7 holds nothing"),
        ("  commit\n", "", "in1 is an input that is not to be overwritten here"),
        ("output 1 over input 1", "output 1 over input 0", "in1 is an input that is not to be overwritten here"),
        ("finish output 0 b3_output0", "finish output 1 b3_output0", "output 1 is finished already"),
        ("  finish output 0 b3_output0\n", "", "output 0 is never finished"),
        (" m=in0_n0,", " m=b0,", "m of product takes no Array"),
        ("  commit\n", "  commit\n  b9_output0 = allocate float64[]\n", "a step behind commit can fail"),
        ("node 0 is 0", "node 1 is 0", "expected node 0, got "),
        ("node 0 is 0", "node 0 is 99", "expected a node of the graph, which has 8"),
    ],
)
def test_a_program_that_breaks_a_rule_is_refused(stage, old, new, message):
    text = emitted(program_of(*FUNCTIONS["a training step"]).graph, "program")
    assert message in stage(edited(text, old, new), "--from", "program", "--emit", "c", code=1)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("a loop", "b1_output1 =", "k0 = read in0\n    b1_output1 =", "body 0: k0 is declared as pointer"),
        ("a loop", "loop body 0", "loop body 3", "expected bodies (3,) of node 1"),
        ("a loop", "(b0_output0, in1, in0)", "(k0, in1, in0)", "body 0: k0 is a constant"),
        ("a loop", "(b0_output0, in1, in0)", "(b0_output0, in1)", "is given 2 arguments; expected 3"),
        ("a loop", "(b0_output0, in1, in0)", "(b0_output0, in1, 1)", "is given 1 for an array of float64"),
    ],
)
def test_rules_hold_in_bodies_and_for_kernels(name, old, new, message):
    program = program_of(*FUNCTIONS[name])
    text = edited(program_text(program), old, new)
    with pytest.raises((IRSyntaxError, InvalidProgram), match=re.escape(message)):
        verify_program(parse_program(text, program.graph, program.kernels))


@pytest.mark.parametrize("name", ["a training step", "a loop"])
def test_golden_programs(golden, name):
    golden(f"{name.replace(' ', '_')}.program", program_text(program_of(*FUNCTIONS[name])))
