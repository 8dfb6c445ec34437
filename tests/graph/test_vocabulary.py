"""Every op is written and read back: a graph for each, through text and through pickle."""

import importlib
import inspect
import pickle
import pkgutil

import pytest
from every_op import ZOO, A, B, K, N, V, X, Y

import arignote.ops as T
from arignote.graph import FunctionGraph, Op, ParseError, parse
from arignote.ops.core.vocabulary import vocabulary
from arignote.ops.elementwise.records import ELEMENTWISE, array_definitions, user_ops
from arignote.ops.special.functions import SPECIAL


def graph_of(*outputs):
    return FunctionGraph([X, Y, V, K, A, B, N], outputs)


@pytest.mark.parametrize("output", ZOO, ids=lambda v: str(v.owner.op)[:40])
def test_text_is_read_back(output):
    graph = graph_of(output)
    again = parse(str(graph), vocabulary())
    assert again == graph
    assert str(again) == str(graph)
    assert pickle.loads(pickle.dumps(graph)) == graph
    assert hash(again) == hash(graph)


def test_all_of_it_in_one_graph():
    graph = graph_of(*ZOO)
    assert parse(str(graph), vocabulary()) == graph


def test_a_graph_inside_an_op_inside_an_op():
    text = str(graph_of(ZOO[-2]))
    assert "inplace{op=fused, pairs=((0, 0),)}(x, v) op.graph = fn(p: float64[?, ?], q: float64[?]) {" in text


def test_every_op_is_in_the_vocabulary():
    names = set(vocabulary().ops)
    found = set()
    for module in pkgutil.walk_packages(T.__path__, "arignote.ops."):
        for _, kind in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(kind, Op) and isinstance(getattr(kind, "name", None), str):
                found.add(kind.name)
    assert found <= names
    assert set(ELEMENTWISE) <= names
    assert {"dot22", "gemm", "fused", "inplace", "dimshuffle"} <= found


def test_the_zoo_has_every_op():
    shown = set()
    for output in ZOO:
        for node in graph_of(output).order:
            shown.add(node.op.name)
    of_users = {*user_ops(), *(d.name for d in array_definitions())}
    shown |= {"prod", "min", "all", "argmax", *ELEMENTWISE, *SPECIAL, *of_users}
    missing = set(vocabulary().ops) - shown
    assert not missing, f"no graph shows {missing}"


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_elementwise_ops_are_read_back(name):
    op = vocabulary().ops[name]
    assert op is ELEMENTWISE[name]
    for dtype in ("float64", "int64", "bool", "complex128", "uint64", "uint16", "float32"):
        inputs = [T.vector(f"x{k}", dtype) for k in range(op.arity or 2)]
        try:
            graph = FunctionGraph(inputs, [op(*inputs)])
        except TypeError:
            continue
        assert parse(str(graph), vocabulary()) == graph
        return
    pytest.fail(f"{name} takes none of the dtypes tried")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fn(x: float64[?]) {\n  v0: float64[?] = sinus(x)\n  return v0\n}", "'sinus' is not an op"),
        ("fn(x: float64[?]) {\n  v0: float64[2] = sin(x)\n  return v0\n}", "said to be"),
        ("fn(x: float64[?]) {\n  v0: float64[?] = inplace{op=sine, pairs=((0, 0),)}(x)\n  return v0\n}", "'sine'"),
    ],
)
def test_text_that_is_no_graph(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text, vocabulary())
