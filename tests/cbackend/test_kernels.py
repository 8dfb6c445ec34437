"""Specs of kernels: every field is set and read; checks, effects, text and C of a call follow from its spec."""

from __future__ import annotations

import ast
from dataclasses import replace

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.driver.driver import c_text
from arignote.cbackend.ir.reader import IRSyntaxError
from arignote.cbackend.kernels import PRODUCTS, READ, WRITE, KernelSpec, array, checks, families, headers, length, specs
from arignote.cbackend.kernels.convolutions.spec import Kind as ConvolutionKind
from arignote.cbackend.kernels.pools.spec import Kind as PoolKind
from arignote.cbackend.program.calls import spec_of, values, work_of
from arignote.cbackend.program.outcome import Outcome
from arignote.cbackend.program.plan import plan
from arignote.cbackend.program.program import Call, Program, Vector
from arignote.cbackend.program.text.parsing import parse_program
from arignote.cbackend.program.text.printing import program_text
from arignote.cbackend.program.verify import InvalidProgram, verify_program
from arignote.graph import FunctionGraph
from arignote.ops.lowered.attention import Attention
from arignote.ops.lowered.formats import PackedProduct
from arignote.ops.lowered.formats.sparse_vectors import SparseVectors
from arignote.ops.lowered.fused_product import FusedProduct
from arignote.targets.current import current


@pytest.mark.long
def test_every_field_is_set_by_a_planner_and_read_by_c():
    assert "attention" in families()
    assert checks.unused_fields() == []


def test_specs_name_outcomes_and_each_name_once():
    every = [spec for module in checks.modules("spec") for spec in module.SPECS]
    assert len(every) == len(specs())
    for spec in every:
        assert set(spec.fails) <= set(Outcome.__members__), spec.name
        assert len({field.name for field in spec.fields}) == len(spec.fields), spec.name


FIELDS = (length("n", "numbers of y"), array("y", WRITE, optional=True))
FILL = KernelSpec("fill", "y = 0", FIELDS, PRODUCTS, "fill_all")


def test_a_field_without_planner_or_c_is_named(tmp_path):
    assert list(checks._of_spec(FILL, {"n"}, "static void fill_all(x) { x->n; }")) == [
        "fill: no planner sets y", "fill: no C reads y",
    ]  # fmt: skip
    (unread,) = checks._of_spec(FILL, {"n", "y"}, "x->n, x.y")
    assert unread == "fill: no C file of the folder defines fill_all"


def test_results_and_epilogues_are_set_by_calls_that_have_them():
    """`Prepared` adds both, but to its own calls alone; a call by `p.run` sets what it names."""
    planners = {node.name: node for node in ast.parse(PLANNERS).body}
    assert checks._given(planners, "PLAIN") == {"n"}
    assert checks._given(planners, "SPREAD") == {"n", "m", "x"}
    assert {"k", "y", "after"} <= checks._given(planners, "FOLLOWED")
    assert checks._given(planners, "UNUSED") == set()


PLANNERS = """
def plan_plain(p): p.run(PLAIN, "float32", n=1)
def plan_spread(p): p.run(SPREAD, "float32", n=1, **_shared(p))
def plan_followed(p): return Prepared(FOLLOWED, "float32", (), {"k": 1})
def _shared(p): return {"m": 1, "x": p}
"""


def test_structs_are_written_from_the_fields():
    spec = replace(FILL, fields=(*FILL.fields, array("x", READ, "bytes", c="char"), length("a" * 40, "word " * 20)))
    assert (
        headers.struct_text(spec)
        == f"""\
/* y = 0 */
typedef struct ag_fill {{
    i64 n;                                        /* numbers of y */
    void *y;
    const char *x;                                /* bytes */
    /* {"word " * 20} */
    i64 {"a" * 40};
}} ag_fill;
"""
    )


def test_calls_are_made_by_the_names_of_fields():
    assert FILL.arguments({"n": 3}) == (3, None)
    with pytest.raises(TypeError, match="fill has no field m; expected n, y"):
        FILL.arguments({"n": 3, "m": 4})
    with pytest.raises(TypeError, match="fill needs n"):
        FILL.arguments({"y": 3})


@pytest.fixture(scope="module")
def program() -> Program:
    q, k, v = (T.tensor("float32", (None, None, None), name) for name in "qkv")
    return plan(FunctionGraph([q, k, v], [Attention()(q, k, v, T.constant(0.5, "float32"))]), strict=True)


def call_of(program: Program) -> Call:
    (found,) = (step for step in program.steps if isinstance(step, Call) and spec_of(step))
    return found


def with_arguments(program: Program, **changed) -> Program:
    """The program with other values of fields of its call."""
    call = call_of(program)
    found = [changed.get(f.name, a) for f, a in zip(specs()[call.function].fields, call.arguments, strict=True)]
    steps = tuple(replace(s, arguments=tuple(found)) if s is call else s for s in program.steps)
    return replace(program, steps=steps)


def test_effects_and_values_follow_from_the_fields(program):
    call = call_of(program)
    given = values(call.function, call.arguments)
    assert call.writes == (given.y,) and set(call.reads) >= {given.q, given.k, given.v}
    assert given.mask is None and len(given.batch) == 1 and call.fallible and call.dtype == "float32"


def test_the_text_names_the_fields_and_is_read_back(program):
    text = program_text(program)
    assert "call attention:float32(batch=[" in text and " mask=" not in text
    assert parse_program(text, program.graph, program.kernels) == program
    for before, after, expected in [
        ("(batch=", "(bach=", "expected a field of attention: batch, m, n"),
        ("attention:", "attentive:", "expected a kernel of the runtime: "),
        ("drops=0, ", "", "expected attention needs drops"),
    ]:
        with pytest.raises(IRSyntaxError, match=expected):
            parse_program(text.replace(before, after), program.graph, program.kernels)


def test_the_c_initializes_members_by_name(program):
    text = " ".join(c_text(program).split())
    assert "rt->f32.attention(rt, &(const ag_attention){.rank = 1, .batch = (const i64[]){" in text
    assert ".mask" not in text


def test_programs_see_the_tables_of_kernels_only_if_they_call_one(program):
    x, m = T.vector("x"), T.matrix("m", shape=(3, 3))
    without = plan(FunctionGraph([x], [T.exp(x) + 1]))
    in_loop = plan(FunctionGraph([x, m], ag.scan(lambda s: T.dot(m, s), outputs_info=[x], n_steps=4)[0].owner.outputs))
    for each, expected in [(without, False), (program, True), (in_loop, True)]:
        text = c_text(each)
        assert ("typedef struct ag_blas" in text, "#define AG_NO_TABLES" in text) == (expected, not expected)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"q": None}, "attention needs q"),
        ({"q": 3}, "q of attention takes no int"),
        ({"m": Vector(())}, "m of attention takes no Vector"),
        ({"m": "n999"}, "n999 has no value yet"),
    ],
)
def test_the_verifier_knows_the_fields(program, changed, expected):
    with pytest.raises(InvalidProgram, match=expected):
        verify_program(with_arguments(program, **changed))


def test_a_call_inside_another_is_checked_counted_and_read_back():
    x = T.tensor("x", "float32", (1, 3, 40, 40))
    w = np.linspace(-1, 1, 32 * 3 * 9, dtype="float32").reshape(32, 3, 3, 3)
    f = ag.function([x], T.nn.max_pool2d(T.nn.relu(T.nn.conv2d(x, w, stride=2)), 3, 2, 1))
    program = plan(f.graph, strict=True)
    (call,) = (s for s in program.steps if isinstance(s, Call) and s.function == "convolution_pool")
    given = values(call.function, call.arguments)
    assert given.first.kind == ConvolutionKind.DENSE and given.second.kind == PoolKind.LARGEST
    assert call.writes == (given.first.y, given.second.y) and given.second.x == given.first.y
    (work,) = work_of(call.function, call.arguments)  # comparisons count none
    assert work.lengths[-3:] == (3, 3, 3)
    assert parse_program(program_text(program), program.graph, program.kernels) == program
    broken = replace(call.arguments[0], arguments=(None, *call.arguments[0].arguments[1:]))
    steps = tuple(replace(s, arguments=(broken, s.arguments[1])) if s is call else s for s in program.steps)
    with pytest.raises(InvalidProgram, match="convolution needs images"):
        verify_program(replace(program, steps=steps))


def test_kinds_have_the_same_names_in_c():
    for kind in (ConvolutionKind, PoolKind):
        path = headers.FOLDER / kind.__module__.split(".")[-2]
        text = (path / f"{path.name}.h").read_text()
        assert f"enum {{ {', '.join(f'AG_{k.name} = {k.value}' for k in kind)} }};" in text


def test_programs_with_formats_of_weights_read_back():
    """A program asks for the library of each format, and an epilogue follows a product of any of them."""
    weights = np.random.default_rng(0).normal(size=(300, 90)).astype("float32")
    weights[np.arange(300) % 4 > 0] = 0
    form = SparseVectors(300, 90, current().vector // 4)
    x = T.matrix("x", "float32")
    product = PackedProduct(form)
    leaf = T.matrix("p", "float32")
    fused = FusedProduct(product, FunctionGraph([leaf], [T.tanh(leaf)]))
    graph = FunctionGraph([x], [fused(x, *map(T.constant, form.packed(weights)))])
    program = plan(graph, strict=True)
    assert program.products == ("sparse_vectors_float32",)
    assert [call.function for call in program.steps if isinstance(call, Call)] == ["sparse_vectors"]
    text = program_text(program)
    assert "after=then" in text
    assert parse_program(text, graph, program.kernels) == program
    f, g = (ag.function([x], [graph.outputs[0], T.tanh(product(x, *graph.constants))], threads=n) for n in (1, 2))
    value = np.random.default_rng(1).normal(size=(19, 300)).astype("float32")
    for found in (f(value), g(value)):
        np.testing.assert_array_equal(*found)
        np.testing.assert_allclose(found[0], np.tanh(value @ weights), rtol=1e-4, atol=1e-4)
