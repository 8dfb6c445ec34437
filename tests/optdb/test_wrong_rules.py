"""Rules that raise, lie about types, undo one another or come to no end."""

from dataclasses import replace

import pytest
from optimizing_engines import ENGINES, NEG_NEG, A, B, equilibrium, graph, walk, x

from arignote import ops as T
from arignote.graph import GraphEditor
from arignote.ops.elementwise.records import Elementwise, cos, exp, log, neg, sin, sub, tanh
from arignote.optdb import (
    Divergence,
    EquilibriumOptimizer,
    FromFunctionOptimizer,
    OptimizerWarning,
    RuleError,
    TopoOptimizer,
    node_rule,
    op_like,
    rule,
)
from arignote.optdb.rules.conforming import TensorConform


def bad(node):
    raise ZeroDivisionError("planted")


def wrong_type(x):
    return T.cast(x, "complex128")


def wrong_rank(x):
    return T.expand_dims(x, 0)


RAISES = node_rule("raises", sin, bad, formula="sin(x) -> an error")
WRONG_TYPE = rule("wrong_type", cos(x), wrong_type)
WRONG_RANK = rule("wrong_rank", cos(x), wrong_rank)
WRONG_COUNT = node_rule("wrong_count", cos, lambda node: [node.inputs[0]] * 2, formula="cos(x) -> x, x")
STRANGE = node_rule("strange", cos, lambda node: {A: B}, formula="cos(x) -> elsewhere")
STRANGER = rule("stranger", cos(x), lambda x: x + T.vector("W"))
BAD_GUARD = rule("bad_guard", cos(op_like(Elementwise, "f", when=lambda op: op.missing)(x)), x)
NOT_A_VALUE = node_rule("not_a_value", cos, lambda node: "text", formula="cos(x) -> text")


WRONG_RULES = [RAISES, WRONG_TYPE, WRONG_RANK, WRONG_COUNT, STRANGE, STRANGER, NOT_A_VALUE]


@pytest.mark.parametrize("r", WRONG_RULES, ids=lambda r: r.name)
@pytest.mark.parametrize("order", ["in_to_out", "out_to_in", "equilibrium"])
def test_a_wrong_rule_is_recorded_once_and_left_out(r, order):
    g = graph(T.sin(A), T.cos(A), T.sin(B), T.cos(B), neg(-A))
    options = {"rules": (r, NEG_NEG), "conform": TensorConform()}
    optimizer = EquilibriumOptimizer(**options) if order == "equilibrium" else TopoOptimizer(order=order, **options)
    with pytest.warns(OptimizerWarning, match=r.name) as record:
        result, profile = optimizer(g)
    assert len(record) == 1
    assert result == graph(T.sin(A), T.cos(A), T.sin(B), T.cos(B), A)
    (failure,) = profile.failures
    assert failure.rule == r.name
    assert failure.count == 2
    assert "Traceback" in failure.error
    assert failure.node.startswith(("sin", "cos"))
    assert r.name in str(profile)
    with pytest.raises(RuleError, match=r.name):
        TopoOptimizer(rules=(r,), conform=TensorConform(), strict=True)(g)


def test_a_guard_on_ops_that_raises_is_recorded_too():
    with pytest.warns(OptimizerWarning, match="bad_guard.*missing"):
        result, profile = TopoOptimizer(rules=(BAD_GUARD, NEG_NEG))(graph(T.cos(T.sin(A)), neg(-A)))
    assert result == graph(T.cos(T.sin(A)), A)
    assert profile.failures[0].rule == "bad_guard"


def test_without_conforming_ops_a_number_cannot_be_a_result():
    with pytest.raises(RuleError, match="number 0"):
        TopoOptimizer(rules=(rule("zero", sub(x, x), 0),), strict=True)(graph(A - A))


TO_SIN, TO_COS = rule("to_sin", cos(x), sin(x)), rule("to_cos", sin(x), cos(x))
TO_TANH, BACK = rule("to_tanh", sin(x), tanh(x)), rule("back", tanh(x), cos(x))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rules", [(TO_SIN, TO_COS), (TO_SIN, TO_TANH, BACK)], ids=["two", "three"])
def test_rules_that_undo_one_another_are_named_and_shown(engine, rules):
    with pytest.raises(Divergence) as error:
        engine(*rules)(graph(-T.cos(A) + B))
    assert set(error.value.rules) == {r.name for r in rules}
    assert "undo one another" in str(error.value)
    assert "cos(A)" in str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_they_are_left_out_with_a_warning_where_the_optimizer_is_not_strict(engine):
    optimizer = engine(TO_SIN, TO_COS, NEG_NEG)
    optimizer = type(optimizer)(**{**vars(optimizer), "strict": False})
    with pytest.warns(OptimizerWarning, match="undo one another"):
        result, profile = optimizer(graph(-T.cos(A) + B, neg(-A)))
    assert result == graph(-T.cos(A) + B, A)
    assert profile.failures[0].rule in ("to_sin, to_cos", "to_cos, to_sin")


def test_a_rule_and_its_inverse_through_a_larger_graph():
    out, back = rule("out", cos(x), neg(neg(cos(x)))), NEG_NEG
    for engine in (equilibrium(out, back), equilibrium(out, back, merging=False), walk("in_to_out", out, back)):
        with pytest.raises(Divergence) as error:
            engine(graph(T.cos(A)))
        assert set(error.value.rules) == {"out", "neg_neg"}


def test_passes_that_come_back_to_an_earlier_graph_are_a_divergence():
    there = FromFunctionOptimizer(name="there", function=lambda g: walk("in_to_out", TO_SIN)(g)[0])
    with pytest.raises(Divergence, match=r"(there and to_cos|to_cos and there) undo"):
        equilibrium(TO_COS, final=(there,))(graph(T.sin(A), T.sin(B)))
    turn = {"sin": T.cos, "cos": T.tanh, "tanh": T.sin}
    step = FromFunctionOptimizer(name="step", function=lambda g: graph(turn[g.outputs[0].owner.op.name](A)))
    with pytest.raises(Divergence, match="step undo"):
        equilibrium(optimizers=(step,))(graph(T.sin(A)))


def test_of_a_large_graph_only_the_part_that_goes_round_is_shown():
    to_cos = node_rule("to_cos", sin, lambda node: T.cos(node.inputs[0]), formula="sin(x) -> cos(x)")
    last = FromFunctionOptimizer(name="last", function=lambda g: walk("in_to_out", TO_SIN)(g)[0])
    with pytest.raises(Divergence) as error:
        equilibrium(to_cos, final=(last,))(graph(*[T.sin(A * n) * T.tanh(B + n) for n in range(2, 30)]))
    assert 3 <= len(str(error.value).splitlines()) <= 6, str(error.value)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rule_may_keep_what_it_replaces_inside_its_result(engine):
    for r in (rule("wrap", sin(x), lambda x, node: T.tanh(node.outputs[0])), rule("wrap", sin(x), tanh(sin(x)))):
        result, profile = engine(r)(graph(-T.sin(A)))
        assert result == graph(-T.tanh(T.sin(A)))
        assert profile.replacements == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rule_that_returns_an_equal_node_changes_nothing(engine):
    g = graph(-T.sin(A + 1.0))
    same = node_rule("same", None, lambda node: node.op(*node.inputs), formula="x -> x")
    swap = node_rule("rebuild", sin, lambda node: T.sin(node.inputs[0]), formula="sin(x) -> sin(x)")
    result, profile = engine(same, swap)(g)
    assert result is g
    assert profile.replacements == 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_rule_that_comes_to_no_end_is_an_error_or_left_out(engine):
    grow, editor = rule("grow", sin(x), exp(sin(log(x)))), GraphEditor()
    optimizer, problem = engine(grow, NEG_NEG), graph(T.sin(neg(neg(A))))
    limit = pytest.warns(OptimizerWarning, match="limit of .* new nodes, .* grow")
    with limit, pytest.raises(Divergence, match=r"grow: .* does not terminate: .*, from sin\(.*\) on"):
        optimizer(problem)
    with pytest.warns(OptimizerWarning, match="grow"):
        result, profile = replace(optimizer, strict=False)(problem, editor)
    assert result == graph(T.sin(A))
    assert [failure.rule for failure in profile.failures] == ["grow"]
    assert "grow" not in [entry.rule for entry in editor.journal]


def test_limits_on_passes_nodes_and_seconds():
    grow = rule("grow", sin(x), exp(sin(log(x))))
    step = FromFunctionOptimizer(name="step", function=lambda g: graph(T.tanh(g.outputs[0])))
    with pytest.warns(OptimizerWarning, match="limit of 5 passes"):
        result, profile = equilibrium(optimizers=(step,), max_rounds=5)(graph(A))
    assert len(profile.passes) == 5 == len(result)
    with pytest.warns(OptimizerWarning, match="limit of 100 new nodes"):
        assert len(equilibrium(grow, max_nodes=100)(graph(T.sin(A)))[0]) < 110
    with pytest.warns(OptimizerWarning, match="time"):
        assert "time" in equilibrium(grow, max_nodes=10**9, max_seconds=0.05)(graph(T.sin(A)))[1].stop
