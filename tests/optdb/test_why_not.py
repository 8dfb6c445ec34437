"""`optdb.explain` and `f.why_not`: where a rule fired, or the nearest node and what differs."""

import ast

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.reductions.reduce import Reduce
from arignote.optdb import OptimizerWarning, Rule, UnknownNameError, node_rule, op_like, rule, wilds
from arignote.optdb.mismatch import mismatch
from arignote.optdb.patterns import once
from arignote.optdb.rules import default_db
from arignote.optdb.why_not import _nearest, _selecting

x, y = T.vector("x"), T.vector("y")
m = T.matrix("m")
u, v = wilds("u v")


def explained(before, expression, after=u, *, into="canonicalize", when=None, **place):
    """The explanation of a rule of this pattern, registered in a database of its own."""
    db = default_db()
    made = rule("mine", before, after, when=when)
    (db if place else db[into]).register("mine", made, "fast_run", **place)
    return db.explain("mine", expression)


def test_a_rule_that_fired_is_reported_with_its_rewrites_and_the_users_line():
    reported = ag.optdb.explain("local_log1p", [T.log(1 + x), T.log(1 + y)])
    assert len(reported.fired) == 2 and not reported.reasons
    assert "fired 2 times" in str(reported) and "log(add(1.0, x)) -> log1p(x)" in str(reported)
    assert "test_why_not.py" in str(reported) and "position 1.5 (stabilize/local_log1p)" in str(reported)
    assert reported.to_dict()["fired"][0]["index"] == 0


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (
            T.log(x + 2),
            ["nearest node: log(add(x, 2.0))", "the pattern has 1, but 2.0 stands there: the constant is not 1"],
        ),
        (T.log(x + y), ["the pattern has 1", "no constant, so it is not known to be 1"]),
        (T.log(x * y), ["the pattern has add(1, x), but mul(x, y) stands there: the value is computed by mul"]),
        (T.log(x), ["the pattern has add(1, x), but x stands there: the value is computed by no op"]),
        (T.exp(x), ["no state of the graph has a node of log"]),
        (T.log(1 + T.vector("k", "int64")), ["position 1.5"]),
    ],
)
def test_the_first_part_of_the_pattern_that_differs_is_named(expression, words):
    reported = ag.optdb.explain("local_log1p", expression)
    assert all(word in str(reported) for word in words), str(reported)


def test_a_condition_on_a_value_is_named():
    def is_scalar(value):
        return value.ndim == 0

    (scalar,) = wilds("scalar", is_scalar)
    assert "the condition is_scalar is false" in str(explained(T.exp(T.sin(scalar)), T.exp(T.sin(x)), scalar))
    reported = explained(T.exp(T.sin(u)), T.exp(T.sin(x)), when=lambda u: u.ndim == 0)
    assert "the condition at test_why_not.py:" in str(reported) and "is false" in str(reported)
    assert "the right side gives None" in str(explained(T.exp(T.sin(u)), T.exp(T.sin(x)), lambda u: None))


def test_values_that_must_be_one_and_values_used_once():
    shared = T.sin(x)
    assert "u stands for another value already" in str(explained(u * T.sin(u), x * T.sin(y)))
    reported = explained(T.exp(once(T.sin(u))), [T.exp(shared), shared], T.exp(T.sin(u)))
    assert "the value is used 2 times; the pattern asks for a single use" in str(reported)
    kinds = op_like(Reduce, "r")
    reported = explained(kinds(T.exp(kinds(u))), T.sum(T.exp(T.max(m, axis=1))), lambda u: None)
    assert "r stands for another op already" in str(reported)


def test_the_rewrite_that_came_first_is_named():
    reported = explained(T.exp(T.log(u)), T.exp(T.log(x)), into="specialize")
    assert "it matches the graph as you built it: exp(log(x))" in str(reported)
    assert "local_exp_of_log, changed that before the rule ran" in str(reported)
    assert reported.fix.startswith('exclude "local_exp_of_log"')
    beside = explained(-(-u), -(-x))
    assert "local_neg_neg, of the same optimizer came first: neg(neg(x)) -> x" in str(beside)


def test_a_match_that_is_made_after_the_rule_ran_is_reported():
    db = default_db()
    db.register("mine", rule("mine", T.log1p(u), T.sin(u)), "fast_run", position=0.7)
    reported = db.explain("mine", T.log(1 + x), "fast_run -fusion")
    assert "it matches the optimized graph: log1p(x)" in str(reported)
    assert "local_log1p, made that after the rule had run: log(add(1.0, x)) -> log1p(x)" in str(reported)
    assert reported.fix == "register the rule at a later position, behind stabilize"


def test_a_rule_outside_the_query_and_an_optimizer():
    reported = ag.optdb.explain("local_mul_zero", x * 0)
    assert "the query fast_run does not take canonicalize/local_mul_zero: not included" in str(reported)
    assert reported.fix == 'mode.including("local_mul_zero")'
    excluded = ag.optdb.explain("local_log1p", T.log(1 + x), "fast_run -local_log1p")
    assert "has -local_log1p" in str(excluded)
    assert "it ran and found nothing to change" in str(ag.optdb.explain("gemm_optimizer", x + y))
    with pytest.raises(UnknownNameError, match="local_log1p"):
        ag.optdb.explain("local_log1q", x)
    with pytest.raises(TypeError, match="expression 0 is 3; expected a variable or a graph"):
        ag.optdb.explain("local_log1p", 3)


def test_rules_that_are_functions():
    db = default_db()
    never = node_rule("mine", T.exp, lambda node: None, formula="exp(x) -> nothing", having=T.sin)
    db["canonicalize"].register("mine", never, "fast_run")
    assert "no node of exp has an operand computed by sin" in str(db.explain("mine", T.exp(x)))
    assert "was asked about exp(sin(x))" in str(db.explain("mine", T.exp(T.sin(x))))
    assert "no state of the graph has a node of exp" in str(db.explain("mine", x + y))
    needy = node_rule("needy", T.exp, lambda node: None, formula="a -> b", needs=[T.cosh])
    db["canonicalize"].register("needy", needy, "fast_run")
    assert "it needs a node of cosh anywhere in the graph" in str(db.explain("needy", T.exp(x)))

    def broken(node):
        raise ZeroDivisionError("oops")

    db["canonicalize"].register("broken", node_rule("broken", T.exp, broken, formula="a -> b"), "fast_run")
    with pytest.warns(OptimizerWarning):
        reported = db.explain("broken", T.exp(x))
    assert "it failed on exp(x) and was left out: ZeroDivisionError: oops" in str(reported)


def test_a_rule_that_is_registered_nowhere_is_compared_with_the_graph():
    made = rule("mine", 1 + T.abs(u), u)
    assert "it matches add(1.0, abs(x))" in str(ag.optdb.explain(made, 1 + abs(x)))
    assert "nearest node: add(2.0, abs(x))" in str(ag.optdb.explain(made, 2 + abs(x)))


def test_a_function_tells_of_its_own_mode_and_graph():
    f = ag.function([x], T.log(1 + x), mode=ag.Mode("fast_run", backend="numpy"))
    assert "fired 1 time" in str(f.why_not("local_log1p"))
    assert "local_expm1" in f.why_not("local_expm1")._repr_html_()
    with pytest.raises(ValueError, match="runs no optimizer"):
        ag.function([x], x + 1, mode="NUMPY").why_not("local_log1p")


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (1 + T.abs(u), "add(1, abs(u))"), (u - v, "sub(u, v)"), (2 * u, "mul(2, u)"), (1 / u, "true_div(1, u)"),
        (u // 2, "floor_div(u, 2)"), (u % 2, "mod(u, 2)"), (u**2, "pow(u, 2)"), (2**u, "pow(2, u)"), (-u, "neg(u)"),
        (abs(u), "abs(u)"), (u < v, "lt(u, v)"), (u >= 1, "ge(u, 1)"), (u & v, "bitwise_and(u, v)"),
        (1 | u, "bitwise_or(1, u)"), (u ^ v, "bitwise_xor(u, v)"), (~u, "bitwise_not(u)"), (u << 1, "left_shift(u, 1)"),
        (u >> 1, "right_shift(u, 1)"), (np.float64(2) * u, "mul(2.0, u)"),
        (np.float32(1) - T.exp(u), "sub(1.0, exp(u))"),
    ],
)  # fmt: skip
def test_operators_between_patterns_are_their_ops(pattern, text):
    assert str(pattern) == text


def test_operators_without_an_op_say_so():
    with pytest.raises(TypeError, match="no op is known for the operator 'matmul' between patterns"):
        u @ v


def test_the_nearest_arrangement_of_commutative_operands_is_reported():
    graph = FunctionGraph([x, y], [x * T.exp(y)])
    found = mismatch(T.exp(u) * T.log(v), graph.outputs[0], lambda _: ())
    assert found.matched == 3 and str(found.part) == "log(v)" and found.value is x
    assert mismatch(u * T.exp(v), graph.outputs[0], lambda _: ()).part is None


REDUCTIONS = T.sum(m * 2, axis=0) + T.max(T.concatenate([m, m]), axis=0) + T.log(T.sum(T.exp(m))) + T.log(T.prod(m))


def test_every_entry_is_explained():
    """One run of the database for each would take minutes, so the state of the optimizers is shared."""
    graph = FunctionGraph([m], [REDUCTIONS])
    for entry in ag.optdb.entries():
        if isinstance(entry.object, Rule):
            reported = _nearest(entry.object, [("", graph)])
            assert reported and all(isinstance(line, str) and "property" not in line for line in reported)
    names = ("canonicalize/local_reduce_join", "local_log_prod_to_sum_log", "merge1", "canonicalize/merge", "merge")
    for name in names:
        assert str(ag.optdb.explain(name, REDUCTIONS))


@pytest.mark.parametrize(
    "text",
    ["fast_run", "fast_run -useless -inplace", "fast_run &stabilize", "fast_run -exact", "canonicalize <2",
     "fast_run -fusion canonicalize(fast_run -useless &exact)", "specialize stabilize(canonicalize)"],
)  # fmt: skip
def test_the_fix_of_an_entry_that_a_query_leaves_out_selects_it(text):
    query = ag.Query.parse(text)
    rows = [row for row in ag.optdb.table(query) if not row.taken]
    for row in rows[:: max(1, len(rows) // 6)]:
        fix = _selecting(ag.optdb, row, query)
        wanted = (
            query.including(*ast.literal_eval(f"[{fix[len('mode.including(') : -1]}]"))
            if fix.startswith("mode.including(")
            else ag.Query.parse(fix.removeprefix('mode="').removesuffix('"'))
        )
        assert next(r for r in ag.optdb.table(wanted) if r.path == row.path).taken, (row.path, fix)


def test_a_rule_that_a_mode_brings_is_selected_like_others():
    planted = rule("planted", T.exp(u), T.exp(u) * 2.0)
    mode = ag.Mode("fast_run").register((planted, 1.2))

    def fires(mode):
        return "planted" in {entry.rule for entry in ag.function([x], T.exp(x), mode=mode).trace}

    assert fires(mode) and fires(mode.including("local_log1p"))
    for other in (mode.excluding("planted"), mode.excluding("exact"), mode.requiring("stabilize")):
        assert not fires(other)
    left_out = ag.function([x], T.exp(x), mode=mode.excluding("planted"))
    assert 'leave -planted out of the query' in str(left_out.why_not("planted"))
    assert "fired 1 time" in str(ag.function([x], T.exp(x), mode=mode).why_not("planted"))
