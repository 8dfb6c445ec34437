"""Fusion: which nodes share a nest, that no value is computed twice, that the nest computes what the nodes did."""

import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import EVERYTHING, POINTWISE, random_graph

from arignote import ops as T
from arignote.graph import Constant, FunctionGraph, GraphEditor, dims_of
from arignote.ops.core.interpret import interpret
from arignote.ops.elementwise.records import Pointwise
from arignote.ops.lowered.fused import Fused
from arignote.ops.lowered.row_passes import is_row_graph, opened, row_plan
from arignote.ops.reductions.reduce import Reduce
from arignote.ops.shapes.shape import DimShuffle
from arignote.optdb.rules.fusion.elementwise import FlattenOptimizer, FusionOptimizer
from arignote.targets.limits import Fusion

FUSE = FusionOptimizer(name="composite_elemwise_fusion")
FLATTEN = FlattenOptimizer(name="local_add_mul_fusion")
GRAPHS = settings(max_examples=300)

A, B, C = T.matrix("A"), T.matrix("B"), T.matrix("C")
U, V = T.vector("U"), T.vector("V")
S, R = T.scalar("S"), T.scalar("R")


def optimized(inputs, outputs, by=FUSE, **kwargs):
    return by(FunctionGraph(inputs, outputs, **kwargs))[0]


def groups(graph):
    return [node for node in graph.order if isinstance(node.op, Fused)]


def names(graph):
    """The names of the nodes in order, those of a group in brackets."""
    return [names(n.op.graph) if isinstance(n.op, Fused) else n.op.name for n in graph.order]


# --- which nodes


def test_a_chain_becomes_one_node_whose_inputs_are_leaves():
    graph = optimized([A, B], [T.exp(A + B) * 2.0])
    assert str(graph) == (
        "fn(A: float64[?, ?], B: float64[?, ?]) {\n"
        "  v0: float64[?, ?] = fused(A, B, float64(2.0)) "
        "graph = fn(i0: float64[?, ?], i1: float64[?, ?], i2: float64) {\n"
        "    v0: float64[?, ?] = add(i0, i1)\n"
        "    v1: float64[?, ?] = exp(v0)\n"
        "    v2: float64[?, ?] = mul(v1, i2)\n"
        "    return v2\n"
        "  }\n"
        "  return v0\n"
        "}"
    )


def test_a_value_that_is_read_outside_becomes_an_output_of_the_group():
    t = T.exp(A)
    graph = optimized([A, B], [T.sin(t), T.dot(t, B)])
    assert names(graph) == [["exp", "sin"], "dot"]
    assert len(groups(graph)[0].outputs) == 2


def test_nothing_is_computed_twice_where_the_reader_may_be_longer():
    t = T.exp(A)  # A may have one row and B many
    assert names(optimized([A, B], [t * B, t])) == ["exp", "mul"]
    assert names(optimized([A, B], [t * B])) == [["exp", "mul"]]


def test_a_producer_waits_for_a_reader_that_comes_late():
    assert names(optimized([A, B, C], [T.maximum(T.dot(A, B) + T.exp(C), 0.0)])) == ["dot", ["exp", "add", "maximum"]]


def test_a_reader_does_not_wait_for_the_end():
    t = T.exp(A) * 2.0
    s, d = T.sum(t), T.dot(t, B)
    assert names(optimized([A, B], [d, s])) == [["exp", "mul", "sum"], "dot"]


def test_a_producer_goes_into_reductions_over_any_axes():
    t = A * A + 1.0
    graph = optimized([A], [T.sum(t, axis=0), T.max(t, axis=1), T.sum(t)])
    assert names(graph) == [["mul", "add", "sum", "max", "sum"]]


def test_who_reads_a_reduction_is_in_another_group():
    """Unless the reduction is along rows (test_rows.py)."""
    s = T.sum(T.exp(A), axis=0, keepdims=True)
    assert names(optimized([A], [T.exp(A - s) * 2.0])) == [["exp", "sum"], "dimshuffle", ["sub", "exp", "mul"]]


def test_siblings_that_read_the_same_array_share_a_nest():
    assert names(optimized([A], [T.sum(A), T.sum(A * A), A + 1.0])) == [["sum", "mul", "sum", "add"]]
    assert names(optimized([A, B], [T.sin(A), T.cos(B)])) == ["sin", "cos"]


def test_single_nodes_and_integer_scalars_stay_as_they_are():
    n = T.lscalar("n")
    assert names(optimized([A, n], [T.exp(A), (n + 1) * 2])) == ["exp", "add", "mul"]
    assert names(optimized([S], [T.exp(S) + 1.0])) == [["exp", "add"]]


def test_an_expensive_row_is_not_computed_in_every_iteration_but_a_cheap_one_may_be():
    assert names(optimized([A, V], [T.exp(V) * T.sin(A)])) == ["exp", ["sin", "mul"]]
    assert names(optimized([A, V], [(V + 1.0) * T.sin(A)])) == [["add", "sin", "mul"]]
    cheap = V
    for _ in range(20):
        cheap = cheap + 1.0
    inside = groups(optimized([A, V], [cheap * T.sin(A)]))
    assert max(len(g.op.graph) for g in inside if g.out.ndim == 2) < 8


def test_scalar_work_stays_out_of_nests():
    assert names(optimized([A, S], [T.exp(S * 2.0) * A])) == [["mul", "exp"], "mul"]


def test_axes_permuted_or_added_inside_a_group_are_index_maps():
    assert names(optimized([A, B], [T.exp(A).T * B])) == [["exp", "dimshuffle", "mul"]]
    assert names(optimized([A, V], [(V + 1.0).dimshuffle(0, "x") * A])) == [["add", "dimshuffle", "mul"]]


def test_a_value_whose_shape_alone_is_asked_for_is_not_written():
    t = A + V
    graph = optimized([A, V, B], [T.dot(T.exp(t), B), T.SumTo()(B, t), t.shape[0]])
    (group,) = groups(graph)
    assert names(graph)[0] == ["add", "exp"]
    assert len(group.outputs) == 1
    assert all(n.inputs[-1] is group.out for n in graph.order if n.op.name == "sum_to")
    only = optimized([A, V], [T.sum(T.exp(t)), t.shape[0]])
    assert len(groups(only)[0].outputs) == 2  # there is no other value of the shape of t


def test_what_nothing_is_read_of_is_not_computed():
    t, u = T.sin(A + V), T.exp(A + V)
    graph = optimized([A, V], [u, t.shape[0]])
    assert names(graph)[0] == ["add", "exp"]


def test_a_value_read_along_two_maps_is_computed_once():
    t = T.exp(A)
    assert names(optimized([A], [t + t.T])) == ["exp", "dimshuffle", "add"]


def test_an_index_map_of_an_input_stays_a_view_outside():
    assert names(optimized([A, B], [T.exp(A.T + B)])) == ["dimshuffle", ["add", "exp"]]


def test_constants_are_inputs_once_and_do_not_distinguish_groups():
    one, two = (optimized([A], [T.exp(A * c) + c]) for c in (1.5, 2.5))
    assert groups(one)[0].op == groups(two)[0].op
    assert len(groups(one)[0].inputs) == 2


def test_casts_and_mixed_dtypes_fuse():
    x = T.fmatrix("x")
    assert names(optimized([x, A], [T.cast(T.exp(x) + A, "float32")])) == [["exp", "add", "cast"]]


def test_updates_names_and_lines_are_kept():
    new = A - 0.5 * T.exp(A)
    new.name = "new"
    graph = optimized([A], [new], updates=[(0, 0)])
    assert graph.updates == ((0, 0),)
    assert graph.outputs[0].name == "new"
    assert graph.outputs[0].origin == tuple(dict.fromkeys(line for n in (new,) for line in lines_above(n)))


def lines_above(variable):
    graph = FunctionGraph([A], [variable])
    return [line for node in graph.order for line in node.origin]


def test_the_watcher_may_refuse_a_group():
    graph = FunctionGraph([A], [T.sin(T.exp(A)), T.exp(A)])
    assert FUSE(graph, GraphEditor(lambda entry: False))[0] == graph
    editor = GraphEditor()
    _, profile = FUSE(graph, editor)
    assert [entry.rule for entry in editor.journal] == ["composite_elemwise_fusion"]
    assert profile.nb_replacement == 1


# --- limits and cost


def chain(length):
    x = A
    for _ in range(length // 4):
        x = T.sin(x * B + A) - B
    return x


@pytest.mark.long
def test_a_long_chain_falls_into_equal_groups_in_linear_time():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        graph = optimized([A, B], [chain(20_000)])
        ops = Counter(node.op for node in graph.order)
        graph = None
    finally:
        sys.setrecursionlimit(limit)
    assert sum(ops.values()) == -(-20_000 // Fusion().nodes)
    assert len(ops) == 2  # the full ones, and what is left


def test_a_group_reads_no_more_arrays_than_it_may():
    xs = [T.vector(f"x{n}") for n in range(200)]
    total = xs[0]
    for x in xs[1:]:
        total = total * 2.0 + x
    graph = optimized(xs, [total])
    assert len(groups(graph)) > 1
    assert all(len(g.inputs) <= Fusion().inputs for g in groups(graph))
    values = [np.full(3, float(n % 7)) for n in range(200)]
    expected = interpret(FunctionGraph(xs, [total]), values)[0]
    assert interpret(graph, values)[0].tobytes() == expected.tobytes()


# --- what a nest computes


def along_loops(graph):
    """The loop that each axis of each value inside a group runs along, worked out from the outputs on.

    What is computed in the nest has one such map, so that it is computed once; an array may be read along several: the
    second result is a set of them for each input.
    """
    loops, reading = {}, {i: set() for i in graph.inputs}
    whole = max((o if isinstance(o.owner.op, Pointwise) else o.owner.inputs[0]).ndim for o in graph.outputs)
    for node in reversed(graph.order):
        (out,) = node.outputs
        if isinstance(node.op, Reduce):
            (reduced,) = node.inputs
            loops.setdefault(reduced, tuple(range(whole)))
            if reduced in reading:
                reading[reduced].add(tuple(range(whole)))
            continue
        axes = loops.setdefault(out, tuple(range(whole)))
        if isinstance(node.op, DimShuffle):
            given = {o: axes[k] for k, o in enumerate(node.op.order) if o != "x"}
            reads = {node.inputs[0]: tuple(given[k] for k in range(node.inputs[0].ndim))}
        else:
            reads = {i: axes[len(axes) - i.ndim :] for i in node.inputs}
        for variable, found in reads.items():
            if variable in reading:
                reading[variable].add(found)
            else:
                assert loops.setdefault(variable, found) == found, "a value is computed along two maps"
    return loops, reading


def assert_is_a_nest(node, values):
    """Joint broadcasting of the inputs gives the lengths of the loops, and every output has all of them.

    Where nothing is reduced, an output may be shorter, and broadcast to them.
    """
    graph = node.op.graph
    loops, reading = along_loops(graph)
    lengths = {}
    for i, value in zip(graph.inputs, values):
        for loop, n in (pair for axes in reading[i] for pair in zip(axes, value.shape)):
            if n != 1:
                assert lengths.setdefault(loop, n) == n
    is_elementwise = not any(isinstance(n.op, Reduce) for n in graph.order)
    for output, value in zip(graph.outputs, interpret(graph, values)):
        whole = output
        if isinstance(output.owner.op, Reduce):
            whole = output.owner.inputs[0]
            value = interpret(FunctionGraph(graph.inputs, [whole]), values)[0]
        assert loops[whole] == tuple(range(whole.ndim))
        space = tuple(lengths.get(loop, 1) for loop in range(whole.ndim))
        assert value.shape == space or (is_elementwise and np.broadcast_shapes(value.shape, space) == space)


def assert_are_rows(node, values):
    """All reductions fold rows of one shape, and every output has these rows or one element for each."""
    graph = opened(node.op.graph)
    folded = [r.owner.inputs[0] for results in row_plan(graph).folded for r in results]
    shapes = {interpret(FunctionGraph(graph.inputs, [v]), values)[0].shape for v in folded}
    assert len(shapes) == 1
    (shape,) = shapes
    for value in interpret(graph, values):
        assert value.shape in (shape, shape[:-1], (*shape[:-1], 1))


def run_checking_nests(graph, arrays):
    known = dict(zip(graph.inputs, arrays))

    def value(v):
        return v.data if isinstance(v, Constant) else known[v]

    for node in graph.order:
        operands = [value(i) for i in node.inputs]
        if isinstance(node.op, Fused):
            (assert_are_rows if is_row_graph(node.op.graph) else assert_is_a_nest)(node, operands)
        known.update(zip(node.outputs, node.op.evaluate(*operands)))
    return [value(o) for o in graph.outputs]


def work(graph):
    """How often each op is applied, inside and outside groups; index maps are no work."""
    counts = Counter()
    for node in graph.order:
        counts += work(node.op.graph) if isinstance(node.op, Fused) else Counter({str(node.op): 1})
    return Counter({op: n for op, n in counts.items() if not op.startswith("dimshuffle")})


@GRAPHS
@pytest.mark.parametrize("steps", [POINTWISE, EVERYTHING], ids=["pointwise", "everything"])
@given(random=st.randoms(use_true_random=True))
def test_random_graphs_keep_their_values_and_their_work(random, steps):
    graph, arrays = random_graph(random, steps=steps)
    fused, _ = FUSE(graph)
    assert work(fused) == work(graph)
    for before, after in zip(interpret(graph, arrays), run_checking_nests(fused, arrays)):
        assert before.dtype == after.dtype
        assert before.shape == after.shape
        assert before.tobytes() == after.tobytes()
    for before, after in zip(graph.outputs, fused.outputs):
        assert after.type.refines(before.type)


@GRAPHS
@given(st.randoms(use_true_random=True))
def test_fusing_again_changes_nothing_but_leftovers(random):
    graph, arrays = random_graph(random)
    once, _ = FUSE(graph)
    assert FUSE(graph)[0] == once
    twice, _ = FUSE(once)
    for before, after in zip(interpret(once, arrays), interpret(twice, arrays)):
        assert before.tobytes() == after.tobytes()


def test_dims_of_a_group_are_those_of_its_nodes():
    graph = optimized([A, V], [T.exp(A + V) * 2.0, T.sum(T.exp(A + V), axis=0)])
    plain = FunctionGraph([A, V], [T.exp(A + V) * 2.0, T.sum(T.exp(A + V), axis=0)])
    assert [dims_of(o) for o in graph.outputs] == [dims_of(o) for o in plain.outputs]


# --- sums and products of several operands


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ((A + B) + V, T.add(A, B, V)),
        (V + (A + B), T.add(A, B, V)),
        ((A * B) * V * A, T.mul(A, B, V, A)),
        (A - (B + V), A - (B + V)),
        ((A + B) * V, (A + B) * V),
        (A + (B + (C + V)), T.add(C, V, B, A)),
        (T.add(A, B, C + V), T.add(A, B, C + V)),  # the order of additions would change
    ],
)
def test_flatten(before, after):
    inputs = [A, B, C, V]
    assert optimized(inputs, [before], by=FLATTEN) == FunctionGraph(inputs, [after])


def test_flatten_leaves_a_sum_that_is_read_twice_and_one_that_is_rounded():
    x = A + B
    graph = FunctionGraph([A, B, V], [x + V, x])
    assert FLATTEN(graph)[0] == graph
    half = T.tensor("h", "float16", (None,))
    rounded = (half + half) + U
    assert optimized([half, U], [rounded], by=FLATTEN) == FunctionGraph([half, U], [rounded])


@pytest.mark.long
def test_flatten_is_linear_and_bounded():
    x = A
    for _ in range(20_000):
        x = x + B
    graph = optimized([A, B], [x], by=FLATTEN)
    assert max(len(node.inputs) for node in graph.order) == 16
    assert len(graph) == -(-20_000 // 15)


@GRAPHS
@given(st.randoms(use_true_random=True))
def test_flattened_random_graphs_have_the_same_bits(random):
    graph, arrays = random_graph(random)
    flat, _ = FLATTEN(graph)
    values = [a * 1.1 for a in arrays]
    for before, after in zip(interpret(graph, values), interpret(flat, values)):
        assert before.tobytes() == after.tobytes()
