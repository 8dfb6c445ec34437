"""Graphs: nodes as values, the graph editor, dims, equality, text, pickling; depths that no recursion survives."""

import copy
import gc
import pickle
import sys
import weakref
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from arignote.graph import (
    Apply,
    Constant,
    FunctionGraph,
    GraphEditor,
    Names,
    NoGradient,
    Op,
    ParseError,
    ReplacementRefused,
    TensorType,
    Variable,
    Vocabulary,
    dtype_name,
    inheriting,
    parse,
    same_shape,
    show,
    toposort,
    union,
)  # fmt: skip
from arignote.graph import dims as D


@dataclass(frozen=True, repr=False)
class Join2(Op):
    """A toy op of two inputs that broadcast; `twist` tells two ops of the name apart."""

    name = "join2"
    twist: int = 0

    def infer(self, inputs):
        return (inputs[0].type,)

    def dims(self, node, inputs):
        return (D.broadcast_dims(inputs),)


@dataclass(frozen=True, repr=False)
class Halves(Op):
    """A toy op of two outputs whose lengths depend on values."""

    name = "halves"

    def infer(self, inputs):
        return (inputs[0].type, inputs[0].type)


JOIN, HALVES = Join2(), Halves()
VECTOR = TensorType("float64", (None,))
VOCABULARY = Vocabulary({"join2": Join2, "halves": HALVES}, Variable, Constant, FunctionGraph)


def leaf(name=None, type=VECTOR):
    return Variable(type, name=name)


def chain(length):
    x = leaf("x")
    y = x
    for _ in range(length):
        y = JOIN(y, x)
    return x, y


# --- types


def test_types_print_and_refine():
    assert str(TensorType("float64")) == "float64"
    assert str(TensorType("int8", (None, 3))) == "int8[?, 3]"
    assert TensorType("int8", (2, 3)).refines(TensorType("int8", (None, 3)))
    assert not TensorType("int8", (None, 3)).refines(TensorType("int8", (2, 3)))
    assert not TensorType("int8", (3,)).refines(TensorType("int16", (3,)))
    assert not TensorType("int8", (3,)).refines(TensorType("int8", (3, 1)))


@pytest.mark.parametrize("bad", [object, "U3", "datetime64[s]", "no such thing", np.longdouble])
def test_a_dtype_that_no_tensor_has_is_refused(bad):
    with pytest.raises(TypeError, match="dtype"):
        dtype_name(bad)


# --- nodes


def test_constants_are_distinguished_by_bits():
    keys = {Constant(np.array(v)).key for v in (0.0, -0.0, np.nan, 0, False, np.float32(0))}
    assert len(keys) == 6
    assert Constant(np.array(np.nan)).key == Constant(np.array(np.nan)).key


def test_keys_of_large_constants_are_short_and_distinguish_bits():
    zeros = np.zeros((50, 30))
    other = zeros.copy()
    other[49, 29] = -0.0
    keys = [Constant(a).key for a in (zeros, other, zeros.T, zeros.astype("int64"), zeros.copy(), zeros[::-1])]
    assert len(set(keys[:4])) == 4
    assert keys[0] == keys[4] == keys[5]
    assert all(len(bits) == 32 for *_, bits in keys)


def test_a_constant_keeps_its_value_when_the_array_changes():
    array = np.arange(3.0)
    constant = Constant(array)
    array[0] = 7
    assert constant.data[0] == 0
    with pytest.raises(ValueError):
        constant.data[0] = 7


def test_a_node_knows_the_line_that_built_it():
    x = leaf()
    node = JOIN(x, x).owner
    assert node.origin[0].file == __file__
    assert Path(__file__).read_text().splitlines()[node.origin[0].line - 1].strip() == "node = JOIN(x, x).owner"
    with inheriting(node.origin):
        assert JOIN(x, x).owner.origin == node.origin
    assert JOIN(x, x).owner.origin != node.origin
    assert union(node.origin, node.origin) == node.origin


def test_an_op_on_something_that_takes_over_gives_what_it_makes():
    class Hole:
        def __apply_op__(self, op, inputs):
            return op, inputs

    hole, x = Hole(), leaf()
    assert JOIN(x, hole) == (JOIN, (x, hole))


def test_an_op_without_derivative_says_so():
    node = JOIN(leaf(), leaf()).owner
    with pytest.raises(NoGradient, match=r"join2.* has no derivative"):
        JOIN.vjp(node, [leaf()])


# --- graphs


def test_toposort_puts_inputs_before_users_and_each_node_once():
    x = leaf()
    a = JOIN(x, x)
    b, c = JOIN(a, x), JOIN(x, a)
    order = toposort([JOIN(b, c), a])
    assert order.index(a.owner) < min(order.index(b.owner), order.index(c.owner))
    assert len(order) == len(set(order)) == 4


def test_toposort_looks_up_its_limits_without_comparing_them():
    class Compared(Exception):
        pass

    class Untouched(list):
        def __contains__(self, value):
            raise Compared

    x = leaf()
    below = JOIN(x, x)
    above = JOIN(below, x)
    assert toposort([JOIN(above, x)], stop_at=Untouched([x, above]))[0].inputs[0] is above


def test_graphs_are_equal_by_structure():
    def build(twist=0, swap=False):
        x, y = leaf("x"), leaf("y")
        out = Join2(twist)(x, y)
        return FunctionGraph([y, x] if swap else [x, y], [out])

    assert build() == build() and hash(build()) == hash(build())
    assert build() != build(twist=1)
    assert build() != build(swap=True)


@pytest.mark.parametrize(
    "inputs, outputs, message",
    [
        (lambda x, y: [x], lambda x, y: [JOIN(x, y)], "depends on y"),
        (lambda x, y: [x, x], lambda x, y: [x], "given twice"),
        (lambda x, y: [JOIN(x, x)], lambda x, y: [x], "computed by"),
        (lambda x, y: [Constant(np.array(1.0))], lambda x, y: [x], "is a constant"),
    ],
)
def test_a_graph_that_is_not_closed_is_refused(inputs, outputs, message):
    x, y = leaf("x"), leaf("y")
    with pytest.raises(ValueError, match=message):
        FunctionGraph(inputs(x, y), outputs(x, y))


def test_replace_shares_what_did_not_change_and_writes_the_journal():
    x, y = leaf("x"), leaf("y")
    kept, changed = JOIN(x, x), JOIN(y, y)
    graph = FunctionGraph([x, y], [JOIN(kept, changed)])
    editor = GraphEditor()
    new = graph.replace({changed: y}, "drop", editor)
    assert new.outputs[0].owner.inputs == (kept, y)
    assert graph.outputs[0].owner.inputs == (kept, changed)
    assert [(e.rule, e.before, e.after) for e in editor.journal] == [("drop", changed, y)]


def test_replace_may_build_upon_what_it_replaces():
    x = leaf("x")
    a = JOIN(x, x)
    graph = FunctionGraph([x], [JOIN(a, a)])
    twice = JOIN(a, x)
    new = graph.replace({a: twice}, "wrap")
    assert new.outputs[0].owner.inputs == (twice, twice)


def test_a_replacement_of_another_type_is_refused_with_both_types():
    x = leaf("x")
    graph = FunctionGraph([x], [JOIN(x, x)])
    with pytest.raises(ReplacementRefused, match=r"'bad' would change the type float64\[\?\] to float32\[\?\]"):
        graph.replace({graph.outputs[0]: leaf("z", TensorType("float32", (None,)))}, "bad")


def test_a_watcher_that_says_no_leaves_the_graph():
    x = leaf("x")
    graph = FunctionGraph([x], [JOIN(x, x)])
    editor = GraphEditor(watch=lambda entry: entry.rule != "drop")
    assert graph.replace({graph.outputs[0]: x}, "drop", editor) is graph
    assert editor.refused == 1 and not editor.journal


# --- dims


def test_dims_prove_shapes():
    x, y = leaf("x"), leaf("y")
    assert same_shape(JOIN(x, x), x)
    assert not same_shape(JOIN(x, y), x)
    assert same_shape(JOIN(x, y), JOIN(y, x))
    one = leaf("one", TensorType("float64", (1,)))
    assert same_shape(JOIN(x, one), x)
    assert not same_shape(*HALVES(x))


def test_dim_arithmetic_is_simplified_and_interned():
    n = D.extent(leaf("x"), 0)
    assert D.add(D.add(n, 2), 3) is D.add(n, 5)
    assert D.sub(D.add(n, 5), 5) is n
    assert D.mul(n, 1) is n and D.mul(0, n) == 0
    assert D.sub(n, n) == 0 and D.floordiv(n, 1) is n
    assert D.broadcast([n, 1]) is n and D.broadcast([n, 4]) == 4
    assert D.maximum(n, 0) is n
    assert D.product([2, n, 3]) is D.mul(D.mul(n, 2), 3)


# --- text


def test_text_reads_back():
    x, y = leaf("x"), leaf("x")  # two inputs of one name
    first, second = HALVES(JOIN(x, y))
    out = Join2(3)(first, Constant(np.array([1.5, np.nan])))
    graph = FunctionGraph([x, y], [out, second, Constant(np.array(2, dtype=np.int8)), x])
    again = parse(str(graph), VOCABULARY)
    assert again == graph
    assert str(again) == str(graph)


def test_text_is_what_a_person_would_write():
    x, y = leaf("x"), leaf("y")
    graph = FunctionGraph([x, y], [Join2(1)(JOIN(x, y), Constant(np.array(2.5)))])
    assert str(graph) == (
        "fn(x: float64[?], y: float64[?]) {\n"
        "  v0: float64[?] = join2{twist=0}(x, y)\n"
        "  v1: float64[?] = join2{twist=1}(v0, float64(2.5))\n"
        "  return v1\n"
        "}"
    )


@pytest.mark.parametrize(
    "data",
    [np.array(0.1), np.array(-0.0), np.array(np.inf), np.array(True), np.array([], dtype=np.int16), np.zeros((2, 0)),
     np.arange(100, dtype=np.uint64).reshape(10, 10), np.array(1 + 2j), np.float16(0.1) * np.ones(3, np.float16),
     np.frombuffer(b"\x01\x00\x00\x00\x00\x00\xf8\xff", np.float64)],
)  # fmt: skip
def test_constants_read_back_bit_for_bit(data):
    graph = FunctionGraph([], [Constant(np.asarray(data))])
    assert parse(str(graph), VOCABULARY).outputs[0].key == graph.outputs[0].key


@pytest.mark.parametrize(
    "text, message",
    [
        ("fn(x: float65) { return x }", "'float65' is not a dtype"),
        ("fn(x: float64) { return y }", "'y' is used before"),
        ("fn(x: float64) {\n  a: float64 = nothing(x)\n  return a }", "'nothing' is not an op"),
        ("fn(x: float64) {\n  a: int8 = join2(x, x)\n  return a }", "said to be int8"),
        ("fn(x: float64) {\n  a: float64 = halves(x)\n  return a }", "has 2 outputs"),
        ("fn(x: float64) {\n  return x", "line 2: expected .* got 'the end'"),
        ("fn(x: float64) { return x } more", "expected the end"),
        ("", "expected 'fn'"),
    ],
)
def test_text_that_is_no_graph_is_an_error_that_says_where(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text, VOCABULARY)


def test_names_stay_from_one_printing_to_the_next():
    x = leaf("x")
    a, names = JOIN(x, x), Names()
    first = show([x], [JOIN(a, x)], names)
    second = show([x], [Join2(9)(a, x)], names)
    assert first.splitlines()[1] == second.splitlines()[1]


# --- pickling, depth


def test_pickling_keeps_structure_names_and_shared_leaves():
    x = leaf("x")
    a, b = HALVES(x)
    b.name = "b"
    graph = FunctionGraph([x], [JOIN(a, b)])
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph and again.outputs[0].owner.inputs[1].name == "b"
    x2, b2 = pickle.loads(pickle.dumps((x, b)))
    assert b2.index == 1 and b2.owner.inputs[0] is x2
    assert copy.deepcopy(graph) == graph


def test_a_deep_copy_copies_leaves_and_shares_what_is_immutable():
    x = leaf("x")
    y = HALVES(x)[0]
    again, x2 = copy.deepcopy((y, x))
    assert again.owner.inputs == (x2,) and x2 is not x
    assert again.owner is not y.owner and again.owner.op is y.owner.op


@pytest.mark.long
def test_a_deep_chain_needs_no_recursion():
    limit = sys.getrecursionlimit()
    x, y = chain(5_000)
    z, w = chain(5_000)
    sys.setrecursionlimit(150)
    try:
        graph = FunctionGraph([x], [y])
        assert len(graph) == 5_000
        assert graph == FunctionGraph([z], [w])
        assert same_shape(y, x)
        assert parse(str(graph), VOCABULARY) == graph
        assert pickle.loads(pickle.dumps(graph)) == graph
        assert len(copy.deepcopy(y).type.shape) == 1
        assert len(graph.replace({toposort([y])[0].out: x}, "shorten")) == 4_999
        del graph, x, y, z, w
    finally:
        sys.setrecursionlimit(limit)


def test_a_wide_graph_takes_linear_time():
    x = leaf("x")
    layer = [JOIN(x, x) for _ in range(1_000)]
    for _ in range(20):
        layer = [JOIN(a, b) for a, b in zip(layer, layer[1:] + layer[:1], strict=True)]
    assert len(FunctionGraph([x], layer)) == 21_000
    assert isinstance(layer[0].owner, Apply)


def test_a_node_over_other_inputs_is_typed_anew_only_if_they_have_other_types():
    asked = []

    class Asked(Join2):
        def infer(self, inputs):
            asked.append([i.type for i in inputs])
            return super().infer(inputs)

    x, y, z = leaf("x"), leaf("y"), leaf("z", TensorType("float64", (3,)))
    node = Asked()(x, x).owner
    node.out.name = "kept"
    assert node.over({}) is node and node.over({y: z}) is node and node.over({x: x}) is node
    other = node.over({x: y})
    assert other.inputs == (y, y) and other.out.type is node.out.type and other.out.name == "kept"
    assert len(asked) == 1
    assert node.over({x: z}).out.type == z.type
    node.over({x: Constant(np.zeros(3))})
    Asked()(Constant(np.zeros(3)), x).owner.with_inputs([z, x])
    assert len(asked) == 5
    with pytest.raises(ValueError, match="longer"):
        node.with_inputs([y])


def test_a_graph_knows_its_ops_and_whether_anything_stands_in_it_twice():
    x, y = leaf("x"), leaf("y")
    once = JOIN(JOIN(x, y), Constant(np.ones(2)))
    assert FunctionGraph([x, y], [once]).ops == {JOIN}
    assert not FunctionGraph([x, y], [once, once]).has_repeats
    assert FunctionGraph([x, y], [once, JOIN(x, y)]).has_repeats
    assert FunctionGraph([x, y], [once, Constant(np.ones(2))]).has_repeats
    assert not FunctionGraph([x, y], [JOIN(x, y), JOIN(y, x), Join2(1)(x, y)]).has_repeats


def test_ops_and_match_keys_are_listed_in_order_of_first_use():
    ops = [Join2(twist) for twist in (5, 3, 9, 1, 7)]
    x = Variable(TensorType("float64", (None,)), name="x")
    value = x
    for op in [*ops, *reversed(ops)]:
        value = op(value, x)
    graph = FunctionGraph([x], [value])
    assert list(graph.ops) == ops
    assert list(dict.fromkeys(key.op for key in graph.kinds)) == ops
    assert len(graph.kinds) == len(set(graph.match_keys))


@pytest.mark.long
def test_graphs_are_freed_with_their_lengths():
    """Lengths are interned for as long as a graph speaks of them, and no longer."""
    x, y = leaf("x"), leaf("y")
    product = D.mul(D.extent(x, 0), D.add(D.extent(y, 0), 2))
    assert product is D.mul(D.extent(x, 0), D.add(D.extent(y, 0), 2))
    joined = JOIN(x, y)
    assert same_shape(joined, JOIN(x, y)) and not same_shape(joined, HALVES(x)[0])
    watched = [weakref.ref(variable) for variable in (x, y, joined)]
    del x, y, joined, product
    gc.collect()
    assert [reference() for reference in watched] == [None, None, None]
