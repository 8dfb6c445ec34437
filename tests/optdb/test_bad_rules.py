"""Wrong rules of users: refused or reported by name, node and types, and the function compiles without them."""

import warnings

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, FunctionGraph, leaves
from arignote.ops.core.interpret import interpret
from arignote.ops.elementwise.records import identity, maximum, sin
from arignote.ops.linalg.blas import Dot
from arignote.optdb import (
    Divergence,
    EquilibriumOptimizer,
    OptimizerWarning,
    RuleError,
    TopoOptimizer,
    node_rule,
    rule,
    wilds,
)
from arignote.optdb.rules import default_db
from arignote.optdb.rules.conforming import TensorConform

x, other = T.vector("x"), T.vector("other")
u, v = wilds("u v")
MODE = ag.Mode("fast_run -fusion -inplace", backend="numpy")
DATA = np.linspace(-1, 1, 5)
captured = ag.function([other], T.exp(other), mode=MODE).graph.outputs[0]


def on_sin(name, function):
    return node_rule(name, T.sin, function, formula="sin(x) -> something else")


def fails(node):
    raise ZeroDivisionError("planted")


BAD = {
    "another dtype": (
        on_sin("bad", lambda node: T.cast(node.inputs[0], "complex128")), ["sin(x)", "complex128[?]", "float64[?]"],
    ),
    "fewer digits": (
        on_sin("bad", lambda node: T.sin(T.cast(node.inputs[0], "float32"))),
        ["sin(x)", "float32[?]", "float64[?]", "more digits"],
    ),
    "another rank": (
        on_sin("bad", lambda node: T.expand_dims(node.out, 0)), ["sin(x)", "float64[1, ?]", "float64[?]"],
    ),
    "too low a rank of another length": (
        on_sin("bad", lambda node: T.stack([node.out, node.out])), ["sin(x)", "float64[2, ?]", "float64[?]"],
    ),
    "a sum that would be repeated": (
        on_sin("bad", lambda node: T.sum(node.inputs[0])),
        ["sin(x)", "of float64[?] the rule makes float64[1], which would be repeated to float64[?]"],
    ),
    "a mean of known length that would be repeated": (
        on_sin("bad", lambda node: T.exp(T.max(node.inputs[0], keepdims=True))),
        ["float64[1], which would be repeated to float64[?]"],
    ),
    "integers for floats": (
        on_sin("bad", lambda node: T.cast(node.inputs[0], "int64")), ["sin(x)", "int64[?] for float64[?]; cast it to"],
    ),
    "an input of nobody": (on_sin("bad", lambda node: T.exp(other)), ["sin(x)", "other", "no input of the graph"]),
    "a variable of another function": (on_sin("bad", lambda node: captured), ["sin(x)", "no input of the graph"]),
    "an error": (on_sin("bad", fails), ["bad", "sin(x)", "planted"]),
    "text": (on_sin("bad", lambda node: "hello"), ["bad", "sin(x)", "'hello'", "float64[?]"]),
    "an object": (on_sin("bad", lambda node: object()), ["bad", "sin(x)", "object object", "float64[?]"]),
    "two values": (on_sin("bad", lambda node: [node.out] * 2), ["bad", "sin(x)", "2 values for 1 output"]),
    "what is no output": (on_sin("bad", lambda node: {node.inputs[0]: 1}), ["bad", "sin(x)", "not an output"]),
    "no end": (
        on_sin("bad", lambda node: identity(T.sin(identity(node.inputs[0])))),
        ["bad", "does not terminate", "from sin(x) on"],
    ),
}  # fmt: skip


@pytest.mark.usefixtures("lenient")
@pytest.mark.parametrize("kind", BAD)
def test_a_bad_rule_is_reported_and_left_out(kind):
    bad, words = BAD[kind]
    with pytest.warns(OptimizerWarning) as notice:
        f = ag.function([x], T.sin(x) * 2, mode=MODE.register((bad, 1.05)))
    text = "\n".join(str(warning.message) for warning in notice)
    assert [word for word in ("bad", *words) if word not in text] == [], text
    np.testing.assert_array_equal(f(DATA), np.sin(DATA) * 2)


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_rule_is_an_error_where_rules_must_not_fail(kind):
    bad, _ = BAD[kind]
    db = default_db()
    db["canonicalize"].register("bad", bad, "fast_run")
    optimizer = db.query("fast_run", strict=True)
    with pytest.raises((RuleError, Divergence), match="bad"):
        optimizer(FunctionGraph([x], [T.sin(x)]))


@pytest.mark.usefixtures("lenient")
def test_rules_that_undo_one_another_are_named_with_the_graph():
    one, two = rule("one", T.sin(u), T.cos(u)), rule("two", T.cos(u), T.sin(u))
    circle = EquilibriumOptimizer(name="circle", rules=(one, two))
    with pytest.warns(OptimizerWarning, match="one and two undo one another on") as notice:
        f = ag.function([x], T.sin(T.exp(x)), mode=MODE.register((circle, 1.05)))
    assert "sin(" in str(notice[0].message)
    np.testing.assert_array_equal(f(DATA), np.sin(np.exp(DATA)))


def test_a_function_of_values_stands_on_the_right_alone():
    good = rule("good", T.mul(u, T.sin(v)), T.zeros_like(u))
    assert str(good) == "good: mul(u, sin(v)) -> zeros_like(u)"
    for dtype in ("float32", "int8", "complex64"):
        y = T.vector("y", dtype=dtype)
        graph = FunctionGraph([y], [y * T.sin(y)])
        result, _ = EquilibriumOptimizer(rules=(good,), conform=ag.optdb.conform)(graph)
        assert result.outputs[0].type == graph.outputs[0].type
        assert [node.op.name for node in result.order if node.op.name == "sin"] == []
    assert str(rule("ones", T.sin(u), T.add(T.ones_like(u), 1))) == "ones: sin(u) -> add(ones_like(u), 1)"
    with pytest.raises(ValueError, match=r"zeros_like\(u\), a function of values; expected ops"):
        rule("bad", T.sin(T.zeros_like(u)), u)


def test_a_rule_without_a_position_fires_before_others_and_before_fusion():
    db = default_db().register("mine", rule("mine", T.mul(T.mul(u, 0.5), 0.5), T.mul(u, 0.25)), "fast_run", "own")
    assert next(e.position for e in db.entries() if e.name == "mine") == 0.5
    graph = FunctionGraph([x], [T.exp(x * 0.5 * 0.5) + 1])
    _, profile = db.query("fast_run")(graph)
    assert [row.fired for row in profile.rules() if row.name == "mine"] == [1]


@pytest.mark.parametrize(("op", "words"), [(sin, "sin"), (maximum, "maximum")])
def test_a_rule_behind_fusion_is_warned_of(op, words):
    def on(name, op):
        return node_rule(name, op, lambda node: None, formula="a -> b")

    with pytest.warns(OptimizerWarning, match=f"'late' stands at position 50, .* of {words} are left: fusion"):
        default_db().register("late", on("late", op), "fast_run", position=50)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        default_db().register("late", on("late", op), "fast_run", position=48)
        default_db().register("product", on("product", Dot), "fast_run", position=50)


def test_a_rule_inside_a_database_where_its_op_is_gone_is_warned_of():
    late = node_rule("late", T.Shape, lambda node: None, formula="a -> b")
    with pytest.warns(OptimizerWarning, match="'late' stands in it, .* no nodes of Shape are left: ShapeOpt"):
        default_db()["specialize"].register("late", late, "fast_run")


ALL = ["int8", "uint8", "int32", "int64", "bool", "float16", "float32", "float64"]
p, q, r = wilds("p q r")
NARROW = [  # exact within one dtype alone: (before, after, an expression that mixes dtypes)
    ("double", p * 2, p + p, lambda x, y, z: [x * 2.0, x * 2, x * np.float32(2)]),
    ("square", p**2, p * p, lambda x, y, z: [x**2.0, x**2, x ** np.float64(2)]),
    ("factor", p * q + p * r, p * (q + r), lambda x, y, z: [T.dvector("d") * y + T.dvector("d") * z, x * y + x * z]),
    ("expand", p * (q + r), p * q + p * r, lambda x, y, z: [1.5 * (y + z), x * (y + z)]),
    ("of_exp", T.exp(p) * T.exp(q), T.exp(p + q), lambda x, y, z: [T.exp(x) * T.exp(y)]),
    ("to_exp", T.exp(p + q), T.exp(p) * T.exp(q), lambda x, y, z: [T.exp(x + y)]),
    ("minus", -(p * q), p * -q, lambda x, y, z: [-(x * (y * 1.0)), -(x * y)]),
]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(("name", "before", "after", "make"), NARROW, ids=[row[0] for row in NARROW])
def test_a_pattern_is_computed_in_the_dtype_of_what_it_replaces(name, before, after, make, dtype):
    """No digits are lost, and none won: integers wrap where NumPy's do."""
    if dtype == "bool" and name == "minus":
        return  # NumPy has no negative of bools
    x, y, z = (T.vector(letter, dtype) for letter in "xyz")
    expressions = make(x, y, z)
    graph = FunctionGraph([v for v in leaves(expressions) if not isinstance(v, Constant)], expressions)
    most = True if dtype == "bool" else np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else 300.0
    rows = [np.array([most, 1, 0, most]), np.array([most, most, 1, 0]), np.array([most, 0, most, 1])]
    arrays = [np.resize(rows["xyz".index(i.name)] if i.name in "xyz" else 1.5, 4).astype(i.dtype) for i in graph.inputs]
    optimizer = TopoOptimizer(name="mine", rules=(rule(name, before, after),), conform=TensorConform(), strict=True)
    changed, _ = optimizer(graph)
    with np.errstate(all="ignore"):
        for mine, reference in zip(interpret(changed, arrays), interpret(graph, arrays), strict=True):
            assert mine.dtype == reference.dtype
            if mine.dtype.kind == "f":
                np.testing.assert_allclose(mine, reference, rtol=8 * np.finfo(mine.dtype).eps)
            else:
                np.testing.assert_array_equal(mine, reference)


@pytest.mark.parametrize("result", [True, np.True_, [True]])
def test_a_truth_value_is_no_number(result):
    made = node_rule("mine", T.exp, lambda node: result, formula="a -> b")
    with pytest.raises(RuleError, match="the result is True; expected None, a variable"):
        TopoOptimizer(name="mine", rules=(made,), conform=TensorConform(), strict=True)(FunctionGraph([x], [T.exp(x)]))


def test_a_function_that_computes_in_a_narrower_dtype_is_refused_by_name():
    x = T.vector("x", "int8")
    made = node_rule("mine", T.mul, lambda node: node.inputs[0] + node.inputs[0], formula="x * 2 -> x + x")
    optimizer = TopoOptimizer(name="all", rules=(made,), conform=TensorConform(), strict=True)
    with pytest.raises(RuleError, match=r"mine failed .* is computed as int8\[\?\] for float64\[\?\]; cast"):
        optimizer(FunctionGraph([x], [x * 2.0]))
