"""Patterns: what matches, what is bound, and what is refused at definition."""

import math

import numpy as np
import pytest

from arignote import ops as T
from arignote.ops.elementwise.records import Elementwise, add, exp, log, mul, neg, sub
from arignote.ops.reductions.reduce import Reduce
from arignote.optdb import (
    Number,
    Wild,
    exact,
    node_rule,
    once,
    op_like,
    relaxes,
    rule,
    stabilizes,
    ulp,
    wilds,
)
from arignote.optdb.contract import CONTRACT_TAGS, narrows

x, y, z = wilds("x y z")
A, B, C = T.vector("A"), T.vector("B"), T.vector("C")


def found(pattern, variable, users=lambda v: (0,)):
    """Every way in which the pattern fits: dictionaries from names to values."""
    bound = {}
    return [{k: v for k, v in bound.items() if isinstance(k, str)} for _ in pattern.match(variable, bound, users)]


def names(matches):
    return [{k: v.name for k, v in match.items()} for match in matches]


# --- matching


@pytest.mark.parametrize(
    ("pattern", "variable", "expected"),
    [
        (neg(x), -A, [{"x": "A"}]),
        (neg(neg(x)), neg(-A), [{"x": "A"}]),
        (neg(neg(x)), -A, []),
        (neg(x), T.exp(A), []),
        (neg(x), A, []),
        (sub(x, y), A - B, [{"x": "A", "y": "B"}]),
        (add(x, y), A + B, [{"x": "A", "y": "B"}, {"x": "B", "y": "A"}]),
        (add(neg(x), y), B + -A, [{"x": "A", "y": "B"}]),
        (sub(neg(x), y), B - -A, []),
        (add(x, x), A + A, [{"x": "A"}, {"x": "A"}]),
        (add(x, x), A + B, []),
        (sub(x, x), A - A, [{"x": "A"}]),
        (add(x, y, z), A + B, []),
        (
            add(mul(x, y), mul(x, z)),
            B * A + C * B,
            [{"x": "B", "y": "A", "z": "C"}, {"x": "B", "y": "C", "z": "A"}],
        ),
        (add(mul(x, y), mul(x, z)), A * B + C * C, []),
    ],
    ids=str,
)
def test_what_matches(pattern, variable, expected):
    assert sorted(names(found(pattern, variable)), key=str) == sorted(expected, key=str)


def test_backtracking_finds_the_only_assignment_that_works():
    # The first factor of the second product must be the second of the first, and so on round.
    pattern = add(mul(exp(x), y), mul(exp(y), z))
    variable = T.exp(B) * C + T.exp(A) * B
    assert names(found(pattern, variable)) == [{"x": "A", "y": "B", "z": "C"}]


def test_variadic_ops_match_with_the_same_number_of_operands_in_any_order():
    three = add(A, B, -C)
    assert three.owner.inputs[2].owner is not None
    assert names(found(add(neg(x), y, z), three)) == [{"x": "C", "y": "A", "z": "B"}, {"x": "C", "y": "B", "z": "A"}]
    assert found(add(x, y), three) == []


def test_a_name_twice_is_one_variable_or_equal_constants():
    one, same, other = (T.constant(v) for v in (1.5, 1.5, 2.5))
    assert one is not same
    assert len(found(sub(x, x), sub(one, same))) == 1
    assert found(sub(x, x), sub(one, other)) == []
    assert found(sub(x, x), sub(T.exp(A), T.exp(A))) == []  # equal nodes become one value by merging, not by matching


def test_one_pattern_object_twice_is_one_value():
    e = exp(x)
    b = T.exp(A)
    assert len(found(sub(e, e), b - b)) == 1
    assert found(sub(e, e), b - T.exp(B)) == []
    assert found(sub(exp(x), exp(y)), b - T.exp(B)) != []


def test_guards_have_a_say_in_backtracking():
    vector, matrix = Wild("v", when=lambda v: v.ndim == 1), Wild("m", when=lambda v: v.ndim == 2)
    M = T.matrix("M")
    assert names(found(add(matrix, vector), A + M)) == [{"m": "M", "v": "A"}]
    assert found(add(matrix, vector), A + B) == []


@pytest.mark.parametrize(
    ("number", "data", "matches"),
    [
        (0, np.float64(0.0), True),
        (0, np.int8(0), True),
        (0, np.float64(-0.0), False),
        (0.0, np.float32(-0.0), False),
        (-0.0, np.float64(-0.0), True),
        (-0.0, np.float64(0.0), False),
        (Number(0, any_sign=True), np.float64(-0.0), True),
        (1, np.True_, True),
        (1, np.float16(1), True),
        (1, np.float64(1 + 1e-15), False),
        (1, np.complex64(1), True),
        (1, np.complex64(1 + 1j), False),
        (0.1, np.float32(0.1), True),
        (0.1, np.float64(np.float32(0.1)), False),
        (1e10, np.float16("inf"), False),
        (math.inf, np.float64("inf"), True),
        (math.nan, np.float64("nan"), False),
        (2, np.full((3, 4), 2), True),
        (2, np.array([2, 3]), False),
        (2, np.zeros((0, 3)), False),
        (0, np.array([0.0, -0.0]), False),
        (300, np.int8(44), False),
    ],
    ids=str,
)
def test_numbers_match_constants_that_numpy_finds_equal(number, data, matches):
    pattern = number if isinstance(number, Number) else Number(number)
    assert bool(found(pattern, T.constant(data))) == matches


def test_numbers_do_not_match_inputs():
    assert found(add(x, 1), A + B) == []
    assert names(found(add(x, 1), A + 1)) == [{"x": "A"}]
    assert names(found(add(x, 1), 1 + A)) == [{"x": "A"}]


def test_ops_of_a_class_are_bound_by_name():
    reduction = op_like(Reduce, "r", when=lambda op: op.axis == (0,))
    (match,) = found(reduction(neg(x)), (-A).sum())
    assert match["r"] == (-A).sum().owner.op
    assert match["x"] is A
    assert found(reduction(neg(x)), (-T.matrix()).sum(axis=1)) == []


def test_a_name_of_an_op_twice_is_one_op():
    unary = op_like(Elementwise, "f", when=lambda op: op.arity == 1)
    assert len(found(sub(unary(x), unary(y)), T.exp(A) - T.exp(B))) == 1
    assert found(sub(unary(x), unary(y)), T.exp(A) - T.log(B)) == []


def test_single_use_asks_who_reads_the_value():
    pattern = neg(once(exp(x)))
    assert pattern.looks_at_users
    assert not neg(exp(x)).looks_at_users
    assert found(pattern, -T.exp(A), users=lambda v: (0, 1)) == []
    assert found(neg(Wild("x", single_use=True)), -A, users=lambda v: (0, 1)) == []
    assert len(found(pattern, -T.exp(A), users=lambda v: (0,))) == 1


# --- rules


def test_a_rule_prints_as_one_line():
    assert str(rule("local_neg_neg", neg(neg(x)), x)) == "local_neg_neg: neg(neg(x)) -> x"
    assert str(rule("local_add_zero", add(x, 0), x)) == "local_add_zero: add(x, 0) -> x"
    assert str(rule("r", exp(x), lambda x: None, formula="exp(x) -> what it is")) == "r: exp(x) -> what it is"
    assert str(node_rule("r", neg, lambda node: None, formula="neg(x) -> x")) == "r: neg(x) -> x"

    def positive(v):
        return True

    guarded = rule("r", log(Wild("x", when=positive)), x)
    assert str(guarded) == "r: log(x) -> x, x: positive"
    lifted = op_like(Reduce, "f")
    assert str(rule("r", lifted(neg(x)), neg(lifted(x)))) == "r: f(neg(x)) -> neg(f(x)), f: Reduce"


def test_a_rule_knows_its_ops_and_where_it_stands():
    r = rule("r", neg(exp(x)), x)
    assert r.ops == (neg,)
    assert r.origin.startswith(__file__)
    assert rule("r", op_like((Reduce, Elementwise), "f")(x), x).ops == (Reduce, Elementwise)
    assert node_rule("r", [neg, Reduce], lambda node: None, formula="a -> b").ops == (neg, Reduce)
    assert node_rule("r", None, lambda node: None, formula="a -> b").ops == ()
    assert not r.uses
    assert rule("r", neg(once(exp(x))), x).uses


@pytest.mark.parametrize(
    ("define", "words"),
    [
        (lambda: rule("r", neg(x), add(x, y)), ["'r'", "y", "neg(x)", "right side"]),
        (lambda: rule("r", neg(x), lambda x, w: x), ["'r'", "w"]),
        (lambda: rule("r", neg(x), x, when=lambda q: True), ["'r'", "q", "condition"]),
        (lambda: rule("r", neg(x), op_like(Reduce, "f")(x)), ["'r'", "f"]),
        (lambda: rule("r", x, x), ["'r'", "an op applied"]),
        (lambda: rule("a b", neg(x), x), ["'a b'"]),
        (lambda: rule("-r", neg(x), x), ["'-r'"]),
        (lambda: rule("r", op_like(Reduce, "x")(x), x), ["'r'", "x", "both"]),
        (lambda: neg(x, y), ["neg", "1", "neg(x, y)"]),
        (lambda: Wild("node"), ["node"]),
        (lambda: Wild("a-b"), ["a-b"]),
        (lambda: node_rule("r", neg, lambda node: None, formula="neg"), ["'r'", "before -> after"]),
        (lambda: node_rule("r", "neg", lambda node: None, formula="a -> b"), ["'r'", "'neg'"]),
        (lambda: ulp(0), ["ulp(0)", "exact"]),
        (lambda: relaxes("nans"), ["'nans'", "'nan'"]),
        (relaxes, ["exact"]),
    ],
)
def test_nonsense_is_refused_at_definition(define, words):
    with pytest.raises(ValueError) as error:
        define()
    for word in words:
        assert word in str(error.value)


def test_what_cannot_stand_in_a_pattern_is_refused():
    with pytest.raises(TypeError, match="'s'"):
        add(x, "s")
    with pytest.raises(TypeError, match="once"):
        once(Number(1))


# --- contracts


def test_contracts_have_tags_and_a_text():
    assert exact.tags == {"exact"}
    assert stabilizes.tags == {"stabilizes"}
    assert ulp(4).tags == {"ulp"}
    both = relaxes("nan", "signed zero")
    assert both.tags == {"relaxes", "relaxes_nan", "relaxes_signed_zero"}
    assert str(both) == 'relaxes("nan", "signed zero")'
    joined = ulp(2) | relaxes("overflow") | ulp(4)
    assert str(joined) == 'ulp(4) | relaxes("overflow")'
    assert joined.tags == {"ulp", "relaxes", "relaxes_overflow"}
    assert exact | stabilizes == stabilizes
    assert joined.tags | both.tags | exact.tags <= CONTRACT_TAGS
    rounded = narrows(8) | relaxes("overflow") | narrows(11)
    assert str(rounded) == 'relaxes("overflow") | narrows(8)'
    assert rounded.tags == {"approximate", "relaxes", "relaxes_overflow"}
    with pytest.raises(ValueError, match="narrows"):
        narrows(0)
