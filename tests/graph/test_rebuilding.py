"""A node that is rebuilt on other operands keeps types, lengths and match key where they are the same."""

from __future__ import annotations

from random import Random

import pytest
from draws import mostly_long
from random_graphs import random_graph

import arignote as ag
from arignote import ops as T
from arignote.graph import ARRAY, LEAF, NUMBER, Apply, FunctionGraph, dims_of, match_key_of
from arignote.ops.elementwise.records import mul, switch
from arignote.optdb.patterns import once, wilds

A, B = T.matrix("a"), T.matrix("b")
V = T.vector("v")


def rebuilt(value, *operands):
    return value.owner.with_inputs([T.as_tensor(o) for o in operands])


def test_lengths_that_are_known_are_taken_over():
    x, y = T.exp(A), T.exp(A)
    dims_of(y)
    z = T.sin(x)
    known = dims_of(z)
    new = rebuilt(z, y).out
    assert new._dims is known


def test_lengths_are_worked_out_anew_where_operands_have_others():
    z = T.sin(T.exp(A))
    dims_of(z)
    new = rebuilt(z, T.exp(B)).out
    assert new._dims is None
    assert dims_of(new) == dims_of(B)


def test_lengths_are_worked_out_anew_where_they_may_depend_on_a_value():
    n, m = T.scalar("n", dtype="int64"), T.scalar("m", dtype="int64")
    z = T.zeros((n,))
    dims_of(z)
    value, _ = z.owner.inputs
    new = rebuilt(z, value, m).out
    assert dims_of(new) != dims_of(z)
    assert dims_of(new) == dims_of(T.zeros((m,)))


def test_lengths_in_terms_of_a_node_are_not_those_of_another():
    (z,) = T.nonzero(V > 0)
    dims_of(z)
    new = rebuilt(z, T.exp(V) > 0).outputs[0]
    assert dims_of(new) != dims_of(z)


@pytest.mark.parametrize("seed", mostly_long(range(40), range(10)))
def test_lengths_that_were_taken_over_are_those_that_the_ops_say(seed):
    graph, _ = random_graph(Random(seed))
    result = ag.rewrite(graph, "fast_run -fusion -inplace")
    for node in result.order:
        message = node.op.dims(node, [dims_of(i) for i in node.inputs])
        for output, dims in zip(node.outputs, message, strict=True):
            expected = tuple(d if n is None else n for d, n in zip(dims, output.type.shape, strict=True))
            assert dims_of(output) == expected


def test_the_match_key_is_an_op_and_what_computes_its_operands():
    node = (T.exp(A) + 1.0).owner
    key = match_key_of(node)
    assert match_key_of((A + B).owner).heads == (LEAF, LEAF)
    assert (key.op, key.heads[0]) == (T.add, T.exp)
    assert match_key_of((T.exp(B) + 1).owner) is key


def test_the_match_key_tells_the_numbers_that_rules_ask_for_from_others():
    def kind(value):
        return match_key_of(T.add(A, T.constant(value)).owner).heads[1]

    assert kind(2.0) is kind(0.5) is NUMBER
    assert kind(0.0) is kind(-0.0) is kind(0) is not kind(1.0)
    assert kind([1.0]) is kind(1) is not kind(-1.0)
    assert kind([1.0, 1.0]) is ARRAY
    assert [kind(value).may_be(1) for value in (1.0, -1.0, 0.5, [2.0, 2.0])] == [True, False, False, True]
    assert all(kind(value).may_be(0.25) for value in (1.0, 2.0, [2.0, 2.0]))


def test_the_match_key_is_taken_over_from_operands_of_the_same_ops_alone():
    node = T.sin(T.exp(A)).owner
    key = match_key_of(node)
    assert rebuilt(node.out, T.exp(B))._match_key is key
    assert match_key_of(rebuilt(node.out, T.log(A))).heads == (T.log,)
    assert match_key_of(rebuilt(node.out, B)).heads == (LEAF,)


def test_a_rebuilt_node_keeps_names_lines_and_the_types_of_all_outputs():
    q, r = T.linalg.qr(A)
    q.name, r.name = "q", "r"
    new = q.owner.with_inputs([B])
    assert [o.name for o in new.outputs] == ["q", "r"]
    assert [o.type for o in new.outputs] == [q.type, r.type]
    assert [(o.owner, o.index) for o in new.outputs] == [(new, 0), (new, 1)]
    assert new.origin == q.owner.origin


def test_types_are_asked_for_again_where_constants_change():
    z = T.zeros((T.constant(3),))
    value, _ = z.owner.inputs
    assert rebuilt(z, value, T.constant(4)).out.type.shape == (4,)


def test_constants_of_a_graph_stand_in_order_of_first_use():
    x = T.vector("x")
    a, b, c, d = (T.constant(float(k)) for k in range(4))
    graph = FunctionGraph([x], [T.clip(x * c, a, c) + T.where(x > b, c, a), d, x, a])
    read = [i for node in graph.order for i in node.inputs] + list(graph.outputs)
    assert graph.constants == tuple(dict.fromkeys(i for i in read if i.owner is None and i is not x))
    assert len(graph.constants) == 4 and FunctionGraph([x], [x]).constants == ()


def test_each_operand_of_a_pattern_needs_one_of_its_own():
    c, a, b, d, x, y = wilds("c a b d x y")
    pattern = mul(once(switch(c, a, b)), once(switch(d, x, y)))
    assert not pattern.may_match(mul, (switch, LEAF))
    assert pattern.may_match(mul, (switch, switch))


def test_equal_groups_of_a_graph_have_one_op():
    outputs = [T.tanh(T.exp(v) * 2.0) for v in (V, T.vector("w"))]
    inputs = [o.owner.inputs[0].owner.inputs[0].owner.inputs[0] for o in outputs]
    result = ag.rewrite(FunctionGraph(inputs, outputs), "fast_run")
    first, second = (o.owner for o in result.outputs)
    assert isinstance(first, Apply)
    assert first.op.name == "fused"
    assert first.op is second.op
