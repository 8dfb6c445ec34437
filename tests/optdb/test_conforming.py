"""Results of rules are made to fit what they replace, or refused."""


import numpy as np
import pytest
from optimizing_engines import ENGINES, A, B, M, graph, walk, x, y, z

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.core.interpret import interpret
from arignote.ops.elementwise.records import add, exp, mul, neg, sub
from arignote.optdb import (
    MergeOptimizer,
    RuleError,
    rule,
)

MINUS = rule("minus", sub(add(x, y), y), x)
I8, F32 = T.vector("I8", dtype="int8"), T.vector("F32", dtype="float32")


@pytest.mark.parametrize(
    ("r", "before", "after", "inputs"),
    [
        (rule("add_zero", add(x, 0), x), I8 + np.int64(0), T.cast(I8, "int64"), [I8]),
        (rule("add_zero", add(x, 0), x), F32 + np.zeros((), "float64"), T.cast(F32, "float64"), [F32]),
        (MINUS, (A + A) - A, A, [A]),
        (rule("zero", sub(x, x), 0), A - A, T.fill(A, 0.0), [A]),
    ],
    ids=str,
)
def test_results_are_made_to_fit(r, before, after, inputs):
    result, _ = walk("in_to_out", r)(FunctionGraph(inputs, [before]))
    assert result.outputs[0].type == before.type
    if r.name != "zero":
        assert result == FunctionGraph(inputs, [after])


@pytest.mark.parametrize(
    ("r", "before", "inputs", "shapes"),
    [
        (MINUS, (A + B) - B, [A, B], [[(1,), (5,)], [(5,), (1,)], [(0,), (1,)], [(3,), (3,)]]),
        (MINUS, (A + M) - M, [A, M], [[(4,), (3, 4)], [(1,), (3, 4)], [(4,), (1, 1)]]),
        (rule("zero", sub(x, x), 0), (A + M) - (A + M), [A, M], [[(4,), (3, 1)]]),
        (rule("zeros", sub(mul(x, y), mul(x, y)), 0), A * M - A * M, [A, M], [[(4,), (3, 1)]]),
        (rule("first", add(x, y, z), x), add(A, B, M), [A, B, M], [[(1,), (4,), (3, 1)], [(4,), (1,), (1, 1)]]),
        (rule("add_zero", add(x, 0), x), A + T.constant(np.zeros((3, 1))), [A], [[(4,)], [(1,)], [(0,)]]),
    ],
    ids=str,
)
def test_a_dropped_operand_still_gives_its_shape(r, before, inputs, shapes):
    g = FunctionGraph(inputs, [before])
    result, _ = MergeOptimizer()(g)[0], None
    result, profile = walk("in_to_out", r)(result)
    assert profile.replacements == 1
    for case in shapes:
        values = [np.full(shape, k + 1.0) for k, shape in enumerate(case)]
        (got,), (wanted,) = interpret(result, values), interpret(g, values)
        assert got.shape == wanted.shape, case
        assert got.dtype == wanted.dtype


def test_a_lossy_result_is_refused_unless_the_rule_says_so():
    for lossy in (False, True):
        r = rule("narrow", exp(x), lambda x: T.cast(x, "float64"), lossy=lossy)
        optimizer = walk("in_to_out", r)
        if lossy:
            assert optimizer(FunctionGraph([F32], [T.exp(F32)]))[0].outputs[0].dtype == "float32"
        else:
            with pytest.raises(RuleError, match=r"narrow.*float64.*float32"):
                optimizer(FunctionGraph([F32], [T.exp(F32)]))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_value_of_the_graph_is_widened_and_a_new_one_of_fewer_digits_is_refused(engine):
    wide = T.cast(T.exp(F32), "float64")
    problem = FunctionGraph([F32], [T.sin(-(-wide))])
    value = rule("value", neg(neg(x)), lambda x: x.owner.inputs[0])
    assert engine(value)(problem)[0] == FunctionGraph([F32], [T.sin(wide)])
    whole = T.vector("whole", dtype="int64")
    for dtype, g in (("float32", graph(T.sin(A))), ("int8", FunctionGraph([whole], [T.sgn(whole)]))):
        op = g.outputs[0].owner.op
        for lossy in (False, True):
            narrow = rule("narrow", op(x), lambda x, op=op, dtype=dtype: op(T.cast(x, dtype)), lossy=lossy)
            if lossy:
                assert engine(narrow)(g)[0].outputs[0].dtype == g.outputs[0].dtype
            else:
                with pytest.raises(RuleError, match=f"narrow failed on .*{dtype}.*more digits"):
                    engine(narrow)(g)
