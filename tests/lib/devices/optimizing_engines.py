"""Optimizers and small graphs for the tests of engines."""


import pytest

from arignote import ops as T
from arignote.graph import FunctionGraph
from arignote.ops.elementwise.records import add, exp, log, mul, neg
from arignote.optdb import (
    EquilibriumOptimizer,
    MergeOptimizer,
    TopoOptimizer,
    rule,
    wilds,
)
from arignote.optdb.rules.conforming import TensorConform

x, y, z = wilds("x y z")
A, B, M = T.vector("A"), T.vector("B"), T.matrix("M")
NEG_NEG = rule("neg_neg", neg(neg(x)), x)
LOG_EXP = rule("log_exp", log(exp(x)), x)
FACTOR = rule("factor", add(mul(x, y), mul(x, z)), mul(x, add(y, z)))


def graph(*outputs, inputs=(A, B, M)):
    return FunctionGraph(inputs, outputs)


def walk(order="in_to_out", *rules):
    return TopoOptimizer(name="walk", rules=rules, order=order, conform=TensorConform(), strict=True)


def equilibrium(*rules, merging=True, **options):
    cleanup = (MergeOptimizer(),) if merging else ()
    options = {"strict": True, "conform": TensorConform(), **options}
    return EquilibriumOptimizer(name="equilibrium", rules=rules, cleanup=cleanup, **options)


ENGINES = [
    pytest.param(lambda *rules: walk("in_to_out", *rules), id="in_to_out"),
    pytest.param(lambda *rules: walk("out_to_in", *rules), id="out_to_in"),
    pytest.param(equilibrium, id="equilibrium"),
    pytest.param(lambda *rules: equilibrium(*rules, merging=False), id="equilibrium without merging"),
]
