"""The loop IR and its printer: precedence, constants, substitution, pruning, helpers in order."""

from __future__ import annotations

import ctypes
import hashlib
import math

import numpy as np
import pytest
from ckernel import Library

from arignote.cbackend.ctext import emit, preamble
from arignote.cbackend.ctext.casts import cast_form
from arignote.cbackend.ir.kernel import Kernel
from arignote.cbackend.ir.loops import (
    ONE,
    ZERO,
    Assign,
    Const,
    ElementPointer,
    For,
    If,
    Let,
    Load,
    Local,
    ScalarOp,
    Store,
    index,
    loop,
    number,
    plus,
    times,
)
from arignote.cbackend.ir.operands import Extent, Operand, Pointer, Stride
from arignote.cbackend.ir.walk import pruned, substituted
from arignote.graph import DTYPES

A, B, C = (Local("float64", n) for n in "abc")
F = "float64"


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (ScalarOp("mul", F, (ScalarOp("add", F, (A, B)), C)), "(a + b) * c"),
        (ScalarOp("add", F, (A, ScalarOp("mul", F, (B, C)))), "a + b * c"),
        (ScalarOp("sub", F, (A, ScalarOp("sub", F, (B, C)))), "a - (b - c)"),
        (ScalarOp("sub", F, (ScalarOp("sub", F, (A, B)), C)), "a - b - c"),
        (ScalarOp("true_div", F, (A, ScalarOp("true_div", F, (B, C)))), "a / (b / c)"),
        (ScalarOp("neg", F, (ScalarOp("neg", F, (A,)),)), "-(-a)"),
        (ScalarOp("neg", F, (Const(F, -2.0),)), "-(-2.0)"),
        (ScalarOp("exp", F, (ScalarOp("add", F, (A, B)),)), "ag_exp_f64(a + b)"),
        (ScalarOp("square", F, (ScalarOp("add", F, (A, B)),)), "(a + b) * (a + b)"),
        (ScalarOp("lt", "bool", (ScalarOp("add", F, (A, B)), C)), "a + b < c"),
        (ScalarOp("switch", F, (ScalarOp("lt", "bool", (A, B)), A, B)), "a < b ? a : b"),
        (ScalarOp("cast", "int64", (Local("int8", "k"),)), "(i64)k"),
        (ScalarOp("add", "int8", (Local("int8", "j"), Local("int8", "k"))), "(i8)(j + k)"),
        (Load(F, "x", plus(times(index("i"), index("s")), number(1))), "x[i * s + 1]"),
        (times(index("i"), ONE), "i"),
        (plus(ZERO, index("i")), "i"),
    ],
)
def test_parentheses_stand_only_where_they_are_needed(expr, text):
    assert emit.expression(expr) == text


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        ("float64", 3.0, "3.0"),
        ("float64", -0.0, "-0.0"),
        ("float64", 0.1, "0x1.999999999999ap-4"),
        ("float32", 0.1, "0x1.99999ap-4f"),
        ("float64", math.inf, "__builtin_inf()"),
        ("float32", -math.inf, "-__builtin_inff()"),
        ("float64", math.nan, '__builtin_nan("")'),
        ("float64", 5e-324, "0x0.0000000000001p-1022"),
        ("float16", 1.0, "0x3c00"),
        ("bool", True, "1"),
        ("int64", -(2**63), "(-9223372036854775807 - 1)"),
        ("uint64", 2**64 - 1, "18446744073709551615u"),
        ("complex64", 1 + 2j, "ag_make_c64(1.0f, 2.0f)"),
    ],
)
def test_constants_are_exact(dtype, value, text):
    assert emit.constant(Const(dtype, value))[0] == text


@pytest.mark.parametrize("value", [0.1, 1e300, 5e-324, 1 / 3, 123456.75, 2.0**60])
def test_a_float_constant_reads_back(value):
    text = emit.constant(Const("float64", value))[0]
    assert (float.fromhex(text) if text.startswith("0x") else float(text)) == value


def test_blocks_and_else_if():
    small = If(
        ScalarOp("lt", "bool", (A, B)),
        (Assign("c", A),),
        (If(ScalarOp("lt", "bool", (B, A)), (Assign("c", B),), (Assign("c", C),)),),
    )
    assert emit.statements([loop(0, [small])], 0) == [
        "for (i64 i0 = 0; i0 < n0; i0++) {",
        "    if (a < b) {",
        "        c = a;",
        "    } else if (b < a) {",
        "        c = b;",
        "    } else {",
        "        c = c;",
        "    }",
        "}",
    ]


def test_simd_clauses_are_gathered_by_operator():
    body = [loop(0, [Assign("a", A)], simd=True, reductions=(("+", "a"), ("max", "b"), ("+", "c")))]
    assert emit.statements(body, 0)[0] == "#pragma omp simd reduction(+:a, c) reduction(max:b)"


def test_substitution_reaches_everything_and_simplifies():
    body = (
        For(
            "i",
            ZERO,
            index("n"),
            (Store("y", times(index("i"), index("s")), Load(F, "x", times(index("i"), index("t")))),),
        ),
    )
    (changed,) = substituted(body, {"s": ONE, "t": ONE})
    assert changed == For("i", ZERO, index("n"), (Store("y", index("i"), Load(F, "x", index("i"))),))


def test_pruning_keeps_what_is_read_scope_by_scope():
    point = ElementPointer("p", F, "x", ZERO)
    reads = loop(0, (point, Store("y", ZERO, Load(F, "p", ZERO))))
    idle = loop(0, (point, Let("v", A), Store("y", ZERO, B)))
    assert pruned((idle, reads)) == (loop(0, (Store("y", ZERO, B),)), reads)


def test_pruning_follows_chains():
    body = (Let("u", A), Let("v", ScalarOp("neg", F, (Local(F, "u"),))), Store("y", ZERO, B))
    assert pruned(body) == body[2:]


# --- helpers


@pytest.mark.long
def test_helpers_come_with_what_they_use_once_and_in_order():
    assert preamble.used("ag_expm1_f64(a) + floor(c)")[-1] == "ag_expm1_f64"
    used = preamble.used("ag_floor_div_f64(a, b) + floor(c)")
    assert len(set(used)) == len(used) and {"floor", "fmod", "copysign"} < set(used) and used[-1] == "ag_floor_div_f64"
    for name, helper in preamble.HELPERS.items():
        order = preamble.used(helper.text)
        assert order[-1] == name, f"{name} uses a helper that stands after it"


@pytest.mark.long
def test_all_helpers_compile_without_a_warning():
    class Everything(Library):
        def text(self) -> str:
            return preamble.preamble(preamble.HELPERS)

    assert isinstance(Everything([], ["-O0"]).library, ctypes.CDLL)


def test_an_unknown_helper_is_an_error():
    with pytest.raises(ValueError, match="no_such_helper"):
        preamble.preamble(["no_such_helper"])


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_every_cast_has_a_form(source, target):
    assert "{0}" in cast_form(source, target).text


# --- kernels


def test_the_name_is_a_digest_of_the_text_form():
    out, x = Operand(F, (0,), 0), Operand(F, (0,), 0)
    one, same, other = (Kernel(comment, 1, (out,), (x,), ()) for comment in ("a", "a", "b"))
    assert one.name == same.name == f"k_{hashlib.sha256(str(one).encode()).hexdigest()[:16]}"
    assert one.name != other.name


def test_arguments_are_extents_then_each_operand_with_its_strides():
    out, x = Operand(F, (0, None, 1), 0), Operand("bool", (1, 0), 0)
    kernel = Kernel("", 2, (out,), (x,), ())
    assert kernel.arguments == (
        Extent(0), Extent(1), Pointer(0), Stride(0, 0), Stride(0, 1), Pointer(1), Stride(1, 0), Stride(1, 1),
    )  # fmt: skip
    head = "(i64 n0, i64 n1, f64 *restrict y0, i64 y0_s0, i64 y0_s1, const u8 *x0, i64 x0_s0, i64 x0_s1)"
    assert head in emit.kernel_c(kernel).replace("\n   ", "")


def test_a_shared_output_promises_nothing():
    out, x = Operand(F, (0,), 0), Operand(F, (0,), 0)
    assert "f64 *y0" in emit.kernel_c(Kernel("", 1, (out,), (x,), (), shared=frozenset({0})))


def test_float16_constants_have_numpys_bits():
    for value in (0.1, 65504.0, 6e-8, -0.0, math.inf):
        assert int(emit.constant(Const("float16", value))[0], 16) == int(np.float16(value).view(np.uint16))
