"""The text form of the loop IR: it reads back, golden files hold it, and a verifier finds kernels that break a rule."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_standalone_c import FUNCTIONS as ZOO
from test_standalone_c import program_of

from arignote.cbackend.ir.kernel import Kernel
from arignote.cbackend.ir.loops import (
    Assign,
    Const,
    Declare,
    Do,
    ElementPointer,
    For,
    If,
    Let,
    Load,
    Local,
    Outlined,
    Return,
    ScalarOp,
    Store,
    Var,
    index,
    loop,
    minus,
    number,
    times,
)
from arignote.cbackend.ir.operands import Extent, Extra, Operand, Pointer, Report, Splits, Stride
from arignote.cbackend.ir.parse import parse_kernel
from arignote.cbackend.ir.reader import IRSyntaxError
from arignote.cbackend.ir.schedule import Schedule
from arignote.cbackend.ir.verify import InvalidKernel, verify

F = "float64"
OUT, IN = Operand(F, (0,), 0), Operand(F, (0,), 0)
COPY = Store("y0", index("i0"), Load(F, "x0", index("i0")))


def kernel(*body, **more):
    return Kernel("a kernel", 1, (OUT,), (IN,), body, **more)


@pytest.fixture(scope="module")
def kernels():
    """The kernels of the functions of test_standalone_c.py, by name."""
    return {k.name: k for function in ZOO.values() for k in program_of(*function).kernels}


@pytest.mark.long
def test_every_kernel_reads_back(kernels):
    assert len(kernels) > 50
    for k in kernels.values():
        back = parse_kernel(str(k))
        assert str(back) == str(k)
        assert back.name == k.name
        assert (back.splits, back.signature, back.feeds) == (k.splits, k.signature, k.feeds)
        verify(k)
        verify(back)


SUMS, ZEROED = Local("pairwise", "sums"), Store("p", index("i1"), Const(F, -0.0))
FULL = Kernel(
    'a "name"\n   schedule: tiles={0: 4}', 2, (Operand("bool", (0, None), 0), Operand(F, (1,), 1)),
    (Operand("complex64", (1, 0), 0), Operand("int64", (), 1)),
    (
        Var("failed", Const("int32", 0)),
        Declare("sums", "pairwise"),
        Declare("tile", F, 16),
        ElementPointer("p", F, "y1", index("y1_s1"), const=False),
        ElementPointer("q", F, ScalarOp("tile_in", F, (Local(F, "p"), number(-1))), number(0)),
        For("t0", number(0), index("n0"), (Do(ScalarOp("pairwise_start", F, (SUMS,))),), step=index("n1")),
        loop(0, [loop(1, [ZEROED], simd=True, lanes=8, reductions=(("|", "failed"),))]),
        If(
            ScalarOp("lt", "bool", (index("n0"), times(index("n1"), minus(index("e"), number(2))))),
            (Outlined("short", ("n0", "1", "y0"), (Store("y0", number(0), Const("bool", True)),)),),
            (Outlined("short", ("n0", "n1", "y0"), ()),),
        ),
        Let("z", Const("complex64", complex(math.inf, -0.0))),
        Assign(
            "failed", ScalarOp("cast", "int32", (ScalarOp("eq", "bool", (Load(F, "q", number(3)), Const(F, 5e-324))),))
        ),
        Return(Local("int32", "failed")),
    ),
    fallible=True, shared=frozenset({1}), splits=Splits((0,), (1,), (None, "sum"), 12, True),
    signature=(Extent(0), Extent(1), Pointer(0), Stride(1, 1), Pointer(1), Extra(0, "e"), Report()),
    feeds=((0,), (0, 1)), schedule=Schedule(order=(1, 0), tiles=((0, 4),), unroll=2, parallel=False), default="k_0",
)  # fmt: skip


def test_every_form_reads_back():
    assert parse_kernel(str(FULL)) == FULL


def expressions():
    leaves = st.one_of(
        st.integers(-(2**63), 2**63 - 1).map(number),
        st.sampled_from(["n0", "y0_s0"]).map(index),
        st.floats(allow_nan=False).map(lambda v: ScalarOp("cast", "int64", (Const(F, v),))),
        st.sampled_from([math.nan, -0.0, 1e22, 0.1]).map(lambda v: ScalarOp("cast", "int64", (Const("float32", v),))),
    )
    pair = lambda inside: st.tuples(inside, inside)  # noqa: E731
    return st.recursive(
        leaves,
        lambda inside: st.one_of(
            st.tuples(st.sampled_from(["add", "sub", "mul", "floor_div"]), pair(inside)).map(
                lambda given: ScalarOp(given[0], "int64", given[1])
            ),
            inside.map(lambda at: ScalarOp("cast", "int64", (Load(F, "x0", at),))),
        ),
        max_leaves=12,
    )


@settings(max_examples=60)
@given(expressions())
def test_expressions_read_back_with_their_grouping(expr):
    text = str(kernel(Let("v", expr)))
    assert str(parse_kernel(text)) == text
    if "nan" not in text:
        assert parse_kernel(text).body == (Let("v", expr),)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("let v = 1", "let = 1", "line 4, column 3: expected a statement, or a name that is declared above, got 'let'"),
        ("let v = 1", "let v = w", "line 4, column 11: expected a name that is declared above, got 'w'"),
        ("let v = 1", "let v = add:float64(1", "line 4, column 24: expected ',', got the end of the line"),
        ("float64[0]", "floaty[0]", "line 2, column 11: expected a dtype, got 'floaty'"),
        ("rank 1", "rank one", "line 1, column 24: expected a whole number, got 'one'"),
        ("let v = 1\n}", "let v = 1", "line 5, column 1: expected a name, got the end of the text"),
        ("let v = 1", "let v = 1 ;", "line 4, column 13: expected the end of the line, got ';'"),
    ],
)
def test_a_text_that_does_not_parse_is_reported_by_line_and_column(before, after, message):
    text = str(kernel(Let("v", number(1))))
    assert before in text
    with pytest.raises(IRSyntaxError) as found:
        parse_kernel(text.replace(before, after))
    assert str(found.value) == message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ((Let("v", index("w")),), "'w' is read, and nothing declares it"),
        ((loop(0, [Let("v", number(1))]), Let("w", index("v"))), "'v' is read, and nothing declares it"),
        ((Store("x0", number(0), Const(F, 1.0)),), "'x0' may only be read"),
        ((Store("y0", number(0), number(1)),), "1 is int64; expected float64"),
        ((Store("y0", Const(F, 0.0), Const(F, 1.0)),), "0.0:float64 is float64; expected int64"),
        ((Let("v", Load("float32", "x0", number(0))),), "'x0' has elements of float64; read as float32"),
        ((Let("v", Load("int64", "n0", number(0))),), "'n0' is no array"),
        ((Let("v", number(1)), Assign("v", number(2))), "'v' cannot be assigned"),
        ((If(number(1), ()),), "1 is int64; expected bool"),
        ((Return(Const("int32", 0)),), "a function that cannot fail returns a value"),
        ((loop(0, [], simd=True, reductions=(("+", "total"),)),), "'total' is read, and nothing declares it"),
        ((loop(0, [], step=0),), "the step of a loop is 0; expected 1 or more"),
        ((ElementPointer("p", "float32", "x0", number(0)),), "'x0' has other elements than float32"),
        ((ElementPointer("p", F, "x0", number(0), const=False),), "'x0' may only be read"),
        ((Outlined("rows", ("n0",), (Let("v", number(1)),)),), "1 arguments for 5 parameters"),
        ((Outlined("rows", (), ()),), "there is no outlined function 'rows'"),
    ],
)
def test_the_verifier_names_the_rule_and_the_statement(body, message):
    with pytest.raises(InvalidKernel) as found:
        verify(kernel(*body))
    assert str(found.value).startswith(f"kernel 'a kernel': {message}\n  in ")


def test_an_operand_along_a_loop_that_there_is_not():
    with pytest.raises(InvalidKernel, match=r"moves along loops \(3,\); the kernel has 1"):
        verify(replace(kernel(loop(0, [COPY])), outputs=(Operand(F, (3,), 0),)))


@pytest.mark.parametrize("name", ["softmax", "gathers", "sums"])
def test_golden_loops(golden, name):
    golden(f"{name}.loops", "\n".join(map(str, program_of(*ZOO[name]).kernels)))
