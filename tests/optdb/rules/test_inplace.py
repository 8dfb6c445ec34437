"""In-place work: what may be overwritten and in which order, by structure and by runs with real memory."""

import pickle
import sys
from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_graphs import EVERYTHING, PRODUCTS, random_graph

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, Destroyers, FunctionGraph, GraphEditor, InconsistencyError, execution_order, parse
from arignote.ops.core.interpret import interpret
from arignote.ops.core.vocabulary import vocabulary
from arignote.ops.elementwise.records import Pointwise
from arignote.ops.linalg.blas import Dot22, Gemm, Gemv, Ger
from arignote.ops.lowered.fused import Fused, InPlace, unmarked
from arignote.ops.reductions.unbroadcasting import SumTo
from arignote.optdb.optimizers import MergeOptimizer, SeqOptimizer, TopoOptimizer
from arignote.optdb.rules.fusion.elementwise import FusionOptimizer
from arignote.optdb.rules.linalg.blas import local_dot_to_dot22
from arignote.optdb.rules.linalg.gemm import GemmOptimizer
from arignote.optdb.rules.memory import inplace
from arignote.optdb.rules.memory.copied_parts import CopyParts
from arignote.optdb.rules.memory.destroy import AddDestroyHandler, Liveness

GRAPHS = settings(max_examples=300)
KINDS = pytest.mark.parametrize(("steps", "known"), [(EVERYTHING, 0.5), (PRODUCTS, 1.0)], ids=["mixed", "products"])
ELEMWISE, BLAS = inplace.inplace_elemwise(), inplace.inplace_blas()
SET, INC = inplace.inplace_setsubtensor(), inplace.inplace_incsubtensor1()
ALL = SeqOptimizer(
    name="inplace",
    strict=True,
    optimizers=(
        MergeOptimizer(), TopoOptimizer(name="dot22", rules=(local_dot_to_dot22,)), GemmOptimizer(name="gemm"),
        FusionOptimizer(name="fusion"), AddDestroyHandler(), SET, INC, BLAS, ELEMWISE, MergeOptimizer(),
    ),
)  # fmt: skip

A, B, C = T.matrix("A"), T.matrix("B"), T.matrix("C")
V = T.vector("V")
ONE = T.as_tensor(1.0)


def marks(graph):
    """The ops that were marked, and what over what."""
    return [(node.op.op.name, node.op.pairs) for node in graph.order if isinstance(node.op, InPlace)]


def marked(inputs, outputs, by=ELEMWISE, **kwargs):
    graph, _ = by(FunctionGraph(inputs, outputs, **kwargs))
    execution_order(graph)
    return marks(graph)


# --- elementwise


def test_a_dead_intermediate_is_overwritten():
    t = T.dot(A, B)
    assert marked([A, B], [T.exp(t)]) == [("exp", ((0, 0),))]
    assert marked([A, B], [T.exp(t), t]) == []


def test_a_value_that_was_taken_is_refused():
    t = T.dot(A, B)
    graph = FunctionGraph([A, B], [T.exp(t)])
    live = Liveness(graph)
    assert live.may_overwrite(graph.outputs[0].owner, 0, 0)
    live.take(graph.outputs[0].owner.inputs[0])
    assert not live.may_overwrite(graph.outputs[0].owner, 0, 0)


def test_a_view_of_a_view_is_of_the_family_of_the_first_value():
    t = T.dot(A, B)
    first = t[1:]
    second = first[0]
    aliases = Destroyers(FunctionGraph([A, B], [T.exp(second), T.sum(t)]))
    assert aliases.root_of(first) is aliases.root_of(second) is t


def test_inputs_and_constants_are_not():
    assert marked([A], [T.exp(A)]) == []
    assert marked([A], [T.exp(T.as_tensor(np.ones((2, 2))) + A)]) == [("exp", ((0, 0),))]


def test_the_last_reader_overwrites():
    t = T.dot(A, B)
    graph, _ = ELEMWISE(FunctionGraph([A, B], [T.exp(t), T.sin(t)]))
    assert marks(graph) == [("sin", ((0, 0),))]
    assert [node.op.name for node in execution_order(graph)] == ["dot", "exp", "inplace"]


def test_the_order_puts_readers_before_the_destroyer():
    t = T.dot(A, B)
    over = InPlace(T.exp, ((0, 0),))(t)
    graph = FunctionGraph([A, B], [over, T.sin(t)])
    assert [node.op.name for node in graph.order] == ["dot", "inplace", "sin"]
    assert [node.op.name for node in execution_order(graph)] == ["dot", "sin", "inplace"]


def test_a_live_view_protects_its_memory():
    t = T.dot(A, B)
    assert marked([A, B], [T.exp(t), t.T]) == []
    assert marked([A, B], [t.T, T.exp(t)]) == []
    graph, _ = ELEMWISE(FunctionGraph([A, B], [T.exp(t), T.sum(t.T, axis=0)]))
    order = [node.op.name for node in execution_order(graph)]
    assert marks(graph) == [] or order.index("sum") < order.index("inplace")


def test_a_view_is_not_written_into():
    t = T.dot(A, B)
    assert marked([A, B], [T.exp(t.T)]) == []
    assert marked([V], [T.exp(T.broadcast_to(T.sin(V), (3, 5)))]) == []


def test_shapes_and_dtypes_must_be_the_same():
    t = T.dot(A, B)
    assert marked([A, B, C], [t + C]) == []  # C may have more rows
    assert marked([A, B, V], [t[0] + V]) == []
    assert marked([A, B], [T.cast(t, "float32")]) == []
    known = T.tensor("K", "float64", (3, 3))
    assert marked([known], [T.dot(known, known) + known]) == [("add", ((0, 0),))]


def test_a_value_may_be_read_twice_by_its_destroyer_but_not_through_a_view():
    t = T.dot(A, B)
    assert marked([A, B], [t * t]) == [("mul", ((0, 0),))]
    square = T.tensor("S", "float64", (3, 3))
    u = T.dot(square, square)
    assert marked([square], [u * u.T]) == []


def test_inside_a_group_only_what_is_read_along_the_same_axes():
    square = T.tensor("S", "float64", (3, 3))
    t, u = T.dot(square, square), T.dot(square, square + 1.0)
    graph, _ = FusionOptimizer(name="f")(FunctionGraph([square], [T.exp(t).T + T.sin(u)]))
    (group,) = [n for n in graph.order if isinstance(n.op, Fused)]
    after, _ = ELEMWISE(graph)
    ((_, ((_, position),)),) = marks(after)
    assert group.inputs[position].owner.inputs[1].owner is not None  # the product with S + 1, which is u


def test_a_reduction_in_a_group_overwrites_nothing():
    x = T.tensor("x", "float64", (3, 3))
    t = T.dot(x, x)
    graph, _ = FusionOptimizer(name="f")(FunctionGraph([x], [T.sum(T.exp(t), axis=())]))
    assert len(graph) == 2
    assert graph.outputs[0].type == t.type
    assert marks(ELEMWISE(graph)[0]) == []


def test_several_outputs_take_several_inputs():
    k = T.tensor("K", "float64", (3, 3))
    t, u = T.dot(k, k), T.dot(k, k + 1.0)
    graph, _ = FusionOptimizer(name="f")(FunctionGraph([k], [t * u, t + u]))
    assert marks(ELEMWISE(graph)[0]) == [("fused", ((0, 0), (1, 1)))]


def test_scalars_are_left_in_registers():
    s = T.scalar("s")
    assert marked([s], [T.exp(T.sin(s))]) == []


# --- updates


def test_an_update_overwrites_what_it_replaces():
    graph, profile = ELEMWISE(FunctionGraph([A, B], [A * 2.0], [(0, 0)]))
    assert marks(graph) == [("mul", ((0, 0),))]
    assert profile.by_ndim == (("2", 1),)
    assert graph.updates == ((0, 0),)
    assert marked([A, B], [A + B], updates=[(0, 0)]) == []  # B may be longer
    assert marked([A, B], [B * 2.0], updates=[(0, 0)]) == []  # B has no update


def test_other_readers_of_the_old_value_come_first():
    graph, _ = ELEMWISE(FunctionGraph([A, B], [A * 2.0, T.dot(A, B)], [(0, 0)]))
    assert [node.op.name for node in execution_order(graph)] == ["dot", "inplace"]
    assert marked([A], [A * 2.0, A], updates=[(0, 0)]) == []
    assert marked([A], [A * 2.0, A.T], updates=[(0, 0)]) == []


def test_nothing_fails_once_an_input_is_overwritten():
    new = A * 2.0
    assert marked([A, B], [new, T.dot(A, B)], updates=[(0, 0)]) == [("mul", ((0, 0),))]
    assert marked([A, B], [new, T.dot(new, B)], updates=[(0, 0)]) == []  # lengths may not agree
    assert marked([A, B], [new, new + B], updates=[(0, 0)]) == []
    i = T.lscalar("i")
    assert marked([A, i], [new, A[i] * 3.0], updates=[(0, 0)]) == [("mul", ((0, 0),))]
    assert marked([A, i], [new, new[i]], updates=[(0, 0)]) == []


def test_lengths_that_may_not_agree_can_fail():
    k = T.tensor("k", "float64", (3,))
    # Whether V has length 3 is known only when it is read: by then A must be as it was.
    found, _ = ELEMWISE(FunctionGraph([A, k, V], [A * 2.0, k + V], [(0, 0), (1, 1)]))
    assert marks(found) == [("mul", ((0, 0),))]
    assert [node.op.name for node in execution_order(found)] == ["add", "inplace"]
    fused, _ = FusionOptimizer(name="f")(FunctionGraph([A, k, V], [A * 2.0, T.exp(k + V)], [(0, 0), (1, 1)]))
    assert marks(ELEMWISE(fused)[0]) == [("mul", ((0, 0),))]
    agreed = FunctionGraph([A, k], [A * 2.0, k + k], [(0, 0), (1, 1)])
    assert len(marks(ELEMWISE(agreed)[0])) == 2


def test_an_update_that_may_itself_fail_overwrites_where_it_is_restored():
    i, rows = T.lscalar("i"), T.lvector("rows")
    assert marked([A, i], [T.inc_subtensor(A[i], 1.0)], by=SET, updates=[(0, 0)]) == [("inc_subtensor", ((0, 0),))]
    assert marked([A, rows], [T.inc_subtensor(A[rows], 1.0)], by=INC, updates=[(0, 0)]) == []
    base, exponent = (T.tensor(name, "int64", (3,)) for name in "be")
    assert marked([base, exponent], [base**exponent], updates=[(0, 0)]) == []  # a negative exponent is refused
    assert len(marked([base, exponent], [base * exponent], updates=[(0, 0)])) == 1
    t = T.exp(A)
    assert marked([A, i], [T.inc_subtensor(t[i], 1.0)], by=SET) == [("inc_subtensor", ((0, 0),))]


def test_the_step_of_a_layer_runs_in_the_weights():
    x, w, b = T.matrix("x"), T.matrix("w"), T.vector("b")
    product = Dot22()(x, w)
    error = T.SumTo()(T.tanh(product + b), product)
    step = w - 0.1 * Dot22()(x.T, error)
    graph, _ = ALL(FunctionGraph([x, w, b], [T.sum(T.tanh(product + b)), step, b - 0.1 * b], [(1, 1), (2, 2)]))
    names = [node.op.op.name if isinstance(node.op, InPlace) else node.op.name for node in execution_order(graph)]
    assert names[-2:] == ["gemm", "fused"]
    assert {name for name, _ in marks(graph)} >= {"gemm", "fused"}


def test_two_inputs_that_exchange_their_values_are_not_overwritten():
    assert marked([A, B], [B * 1.0, A * 1.0], updates=[(0, 0), (1, 1)]) == []
    k, m = T.tensor("k", "float64", (3,)), T.tensor("m", "float64", (3,))
    found = marked([k, m], [k + m, m - k], updates=[(0, 0), (1, 1)])
    assert len(found) == 1  # the second; the first would take from it what it still reads


# --- parts of arrays and BLAS


def test_blas_adds_into_dead_values():
    z, x = T.tensor("z", "float64", (3, 3)), T.tensor("x", "float64", (3, 3))
    v = T.tensor("v", "float64", (3,))
    dead = T.exp(z)
    assert marked([z, x], [Gemm()(dead, ONE, x, x, ONE)], by=BLAS) == [("gemm", ((0, 0),))]
    assert marked([z, x], [Gemm()(dead, ONE, dead, x, ONE)], by=BLAS) == []
    assert marked([z, x], [Gemm()(dead, ONE, x, dead.T, ONE)], by=BLAS) == []
    assert marked([z, x], [Gemm()(z, ONE, x, x, ONE)], by=BLAS) == []
    assert marked([z, v], [Gemv()(T.exp(v), ONE, z, v, ONE)], by=BLAS) == [("gemv", ((0, 0),))]
    assert marked([z, v], [Ger()(dead, ONE, v, v)], by=BLAS) == [("ger", ((0, 0),))]
    unknown = Dot22()(A, B)
    assert marked([A, B], [Gemm()(unknown, ONE, A, B, ONE)], by=BLAS) == [("gemm", ((0, 0),))]


def test_parts_of_dead_values_are_set_where_they_lie():
    dead = T.exp(V)
    i = T.tensor("i", "int64", (2,))
    assert marked([V], [T.set_subtensor(dead[1:], 0.0)], by=SET) == [("inc_subtensor", ((0, 0),))]
    assert marked([V], [T.set_subtensor(V[1:], 0.0)], by=SET) == []
    assert marked([V], [T.set_subtensor(dead[:-1], dead[1:])], by=SET) == []  # it would read what it writes
    assert marked([V, i], [T.inc_subtensor(dead[i], 1.0)], by=INC) == [("advanced_inc_subtensor", ((0, 0),))]


# --- the analysis


def over(x):
    return InPlace(T.exp, ((0, 0),))(x)


@pytest.mark.parametrize(
    ("outputs", "updates", "message"),
    [
        (lambda t: [over(A)], (), "input A, which has no update"),
        (lambda t: [over(T.as_tensor(np.ones((2, 2))))], (), "overwrite a constant"),
        (lambda t: [over(t), t], (), "which is an output"),
        (lambda t: [over(t), t.T], (), "which is an output"),
        (lambda t: [over(t), InPlace(T.sin, ((0, 0),))(t)], (), "which exp"),
        (lambda t: [over(t) + t], (), "must run before"),
        (lambda t: [T.sum(over(t)) + t.T], (), "must run before"),
        (lambda t: [InPlace(T.add, ((0, 0),))(t, t.T)], (), "through another view"),
        (lambda t: [over(A), t], ((0, 1),), "whose update lies elsewhere"),
    ],
)
def test_what_is_illegal_is_refused_by_name(outputs, updates, message):
    graph = FunctionGraph([A, B], outputs(T.dot(A, B)), updates)
    with pytest.raises(InconsistencyError) as error:
        AddDestroyHandler(strict=True)(graph)
    assert message in str(error.value).replace("inplace{op=exp, pairs=((0, 0),)}", "exp")


def test_the_analysis_is_a_value():
    t = T.dot(A, B)
    view = t.T
    result = over(t)
    again = T.sin(result)
    found = Destroyers(FunctionGraph([A, B], [again, T.sum(view)]))
    assert found.root_of(view) is t
    assert found.root_of(result) is result
    assert found.storage_of(result) is t
    assert found.destroyer == {t: result.owner}
    assert [node.op.name for node in found.order] == ["dot", "dimshuffle", "sum", "inplace", "sin"]


@pytest.mark.long
def test_a_long_chain_in_linear_time():
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)
    try:
        x = T.dot(A, B)
        for _ in range(20_000):
            x = T.sin(x)
        graph, _ = ELEMWISE(FunctionGraph([A, B], [x]))
        counts = Counter(type(node.op) for node in execution_order(graph))
        del graph, x
    finally:
        sys.setrecursionlimit(limit)
    assert counts[InPlace] == 20_000


def test_the_watcher_may_refuse_a_mark():
    graph = FunctionGraph([A, B], [T.exp(T.dot(A, B))])
    assert ELEMWISE(graph, GraphEditor(lambda entry: False))[0] == graph


def test_values_that_are_overwritten_are_not_merged():
    one, other = T.dot(A, B), T.dot(A, B)
    graph, _ = ELEMWISE(FunctionGraph([A, B], [T.exp(one), T.sin(other)]))
    assert len(marks(graph)) == 2
    editor = GraphEditor()
    merged, profile = MergeOptimizer()(graph, editor)
    assert merged is graph
    assert profile.nb_fail == 1
    assert not editor.journal


# --- updates are a part of the graph


def test_updates_are_kept_by_text_pickle_and_equality():
    graph = FunctionGraph([A, B], [T.dot(A, B), B * 2.0], [(1, 1)])
    assert "B: float64[?, ?] <- 1" in str(graph)
    assert parse(str(graph), vocabulary()) == graph == pickle.loads(pickle.dumps(graph))
    assert graph != FunctionGraph([A, B], graph.outputs)
    assert graph.replace({graph.outputs[1]: B * 3.0}, by="test").updates == ((1, 1),)


@pytest.mark.parametrize(
    ("updates", "message"),
    [
        ([(2, 0)], "names none"),
        ([(0, 5)], "names none"),
        ([(0, 0), (0, 1)], "updated twice"),
        ([(0, 1)], "another dtype or rank"),
    ],
)
def test_wrong_updates_are_refused(updates, message):
    with pytest.raises(ValueError, match=message):
        FunctionGraph([A, B], [T.dot(A, B), T.sum(A)], updates)


# --- runs with real memory


def simulate(graph, arrays):
    """The outputs of a run in the order of `schedule`, where views share memory and marks are obeyed.

    Inputs without update cannot be written; the others are written where the graph says so, and restored after an
    error where the op is restorable.
    """
    known = dict(zip(graph.inputs, arrays))
    replaced = {graph.inputs[i] for i, _ in graph.updates}
    for variable, array in known.items():
        array.flags.writeable = variable in replaced
    kept = []
    for node in execution_order(graph):
        operands = [i.data if isinstance(i, Constant) else known[i] for i in node.inputs]
        try:
            results = node.op.evaluate(*operands)
        except (ValueError, IndexError):
            for array, before in reversed(kept):
                np.copyto(array, before)
            raise
        if node.op.restorable:
            kept += [(operands[n], operands[n].copy()) for n in node.op.destroys().values()]
        fresh = [r if n in node.op.views() else np.array(r) for n, r in enumerate(results)]
        for output, n in node.op.may_view().items():
            if output not in node.op.views() and operands[n].shape == fresh[output].shape:
                fresh[output] = operands[n]
        for output, n in node.op.destroys().items():
            check_operands(node, n, operands)
            assert operands[n].shape == fresh[output].shape
            np.copyto(operands[n], fresh[output])
            fresh[output] = operands[n]
            known.pop(node.inputs[n], None)
        known.update(zip(node.outputs, fresh))
    return [o.data if isinstance(o, Constant) else known[o] for o in graph.outputs]


def check_operands(node, position, operands):
    """An elementwise kernel may read what it writes at the same place; no other kernel may."""
    for n, operand in enumerate(operands):
        if n != position and np.shares_memory(operand, operands[position]):
            assert isinstance(node.op.op, (Pointwise, Fused))
            assert node.inputs[n] is node.inputs[position]


def copies(arrays):
    return [a.copy() for a in arrays]


@GRAPHS
@KINDS
@given(random=st.randoms(use_true_random=True))
def test_random_graphs_keep_their_values(random, steps, known):
    graph, arrays = random_graph(random, updates=True, steps=steps, known=known)
    after, profile = ALL(graph)
    assert not profile.all_failures()
    expected = interpret(graph, copies(arrays))
    given_arrays = copies(arrays)
    for before, result in zip(expected, simulate(after, given_arrays)):
        np.testing.assert_array_equal(before, result)
    for n, (before, array) in enumerate(zip(arrays, given_arrays)):
        if n not in dict(graph.updates):
            np.testing.assert_array_equal(before, array)


@GRAPHS
@given(random=st.randoms(use_true_random=True))
def test_after_an_error_every_input_is_as_it_was(random):
    graph, arrays = random_graph(random, updates=True, known=0.5)
    after, _ = ALL(graph)
    wrong = copies(arrays)
    for n, i in enumerate(graph.inputs):
        axes = [k for k in range(i.ndim) if i.type.shape[k] is None]
        if axes and random.random() < 0.5:
            wrong[n] = np.repeat(wrong[n], random.choice([1, 2]), axis=random.choice(axes))
    given_arrays = copies(wrong)
    try:
        simulate(after, given_arrays)
    except (ValueError, IndexError):
        for before, array in zip(wrong, given_arrays):
            np.testing.assert_array_equal(before, array)


@pytest.mark.long
def test_random_graphs_have_what_is_tested():
    found = Counter()
    for seed in range(200):
        steps, known = ((EVERYTHING, 0.5), (PRODUCTS, 1.0))[seed % 2]
        graph, _ = random_graph(Random(seed), updates=True, steps=steps, known=known)
        after, _ = ALL(graph)
        found.update(name for name, _ in marks(after))
        found["inputs"] += any(Destroyers(after).overwrites_input(node) for node in after.order)
    assert min(found[name] for name in ("sub", "fused", "inc_subtensor", "gemm", "inputs")) >= 3, found


def test_without_the_passes_nothing_is_overwritten():
    graph = FunctionGraph([A], [A * 2.0, T.exp(T.dot(A, A))], [(0, 0)])
    plain, _ = FusionOptimizer(name="f")(graph)
    assert not any(node.op.destroys() for node in plain.order)
    assert execution_order(plain) == plain.order


def test_what_has_a_shape_and_no_values_is_not_overwritten():
    x, y = T.tensor3("x"), T.tensor("y", "complex128", (None, None))
    f = ag.function([x, y], T.fill(T.fill(x, y), y), mode="fast_run -fusion")
    a, b = np.ones((2, 1, 3)), np.arange(3) + np.ones((1, 3)) * 1j
    assert np.array_equal(f(a, b), np.broadcast_to(b, (2, 1, 3)))


def test_readers_come_before_a_write_that_stands_first():
    """A row is set to zero in place although the order of the graph has a reader of the old row after it."""
    a, i, j = T.matrix("a"), T.lscalar("i"), T.lscalar("j")
    x = T.exp(a)
    zeroed = T.set_subtensor(x[i], 0.0)
    result = T.inc_subtensor(zeroed[j], x[i] * 2.0)
    found = ag.rewrite(FunctionGraph([a, i, j], [result]), "local_inplace_setsubtensor")
    writes = [n for n in found.order if n.op.name == "inc_subtensor" or isinstance(n.op, InPlace)]
    assert [isinstance(n.op, InPlace) for n in writes] == [True, True]
    given = np.arange(6.0).reshape(3, 2), np.array(1), np.array(2)
    want = np.exp(given[0])
    want[2] += want[1] * 2
    want[1] = 0
    np.testing.assert_allclose(ag.function([a, i, j], result)(*given), want)


def test_a_sum_to_lengths_may_be_a_view():
    """A sum over no axis is its operand, which is read before the operand is overwritten."""
    t = T.dot(A, B)
    summed = SumTo()(t, C)
    assert Destroyers(FunctionGraph([A, B, C], [summed])).root_of(summed) is t
    assert marked([A, B, C], [T.exp(t), summed]) == []
    graph, _ = ELEMWISE(FunctionGraph([A, B, C], [T.sum(summed), T.exp(t)]))
    order = [node.op.name for node in execution_order(graph)]
    assert order.index("sum") < order.index("inplace")
    result = T.exp(t) + 2.0 * SumTo()(T.sin(t), C)
    values = np.ones((2, 2)), np.full((2, 2), 0.25), np.ones((2, 2))
    want = ag.function([A, B, C], result, mode="NUMPY")(*values)
    np.testing.assert_allclose(ag.function([A, B, C], result)(*values), want, rtol=1e-14)


def test_a_part_that_is_read_after_a_write_is_copied():
    """    f(x[j], set(x, v, k))   -->   the part is copied before the write, which is done in place"""
    a, i, j = T.matrix("a"), T.lscalar("i"), T.lscalar("j")
    x = T.exp(a)
    written = T.set_subtensor(x[i], 0.0)
    result = written[j] * x[i]
    graph = FunctionGraph([a, i, j], [result, T.sum(written)])
    found, _ = CopyParts(name="copy_parts")(graph)
    assert [n.inputs[0].owner.op.name for n in found.order if n.op.name == "identity"] == ["subtensor"]
    assert [unmarked(n.op).name for n in SET(found)[0].order if isinstance(n.op, InPlace)] == ["inc_subtensor"]
    given = np.arange(6.0).reshape(3, 2), np.array(1), np.array(1)
    for f in (ag.function([a, i, j], result, mode=mode) for mode in ("fast_run", "NUMPY")):
        np.testing.assert_array_equal(f(*given), [0.0, 0.0])


@pytest.mark.parametrize(
    "results",
    [
        lambda x, w, j: [w, x],  # the array is a result itself
        lambda x, w, j: [w * x[1:]],  # a part of as many axes
        lambda x, w, j: [w[j] * 2.0, T.exp(x[j])],  # no reader follows the write
        lambda x, w, j: [T.sum(w) * x],
    ],
    ids=["a result", "rows", "read before", "whole"],
)
def test_other_parts_are_not_copied(results):
    a, i, j = T.matrix("a"), T.lscalar("i"), T.lscalar("j")
    x = T.exp(a)
    graph = FunctionGraph([a, i, j], results(x, T.set_subtensor(x[i], 0.0), j))
    assert CopyParts(name="copy_parts")(graph)[0] is graph


# --- parts that are read after a write

COPY = CopyParts(name="copy_parts")


def copied(inputs, outputs, by=COPY, **kwargs):
    """The shapes of the copies, and the marks of the graph with them."""
    before = FunctionGraph(inputs, outputs, **kwargs)
    graph, _ = by(before, GraphEditor())
    values = [np.arange(12.0).reshape(3, 4) + k for k, _ in enumerate(inputs)]
    for one, other in zip(interpret(graph, values), interpret(before, values), strict=True):
        np.testing.assert_array_equal(one, other)
    within = inplace.inplace_setsubtensor().within_loops() if by.private else SET
    after, _ = within(graph, GraphEditor())
    return [n.out.ndim for n in graph.order if n.op.name == "identity"], len(marks(after))


def test_parts_that_stay_after_a_write_are_copied():
    t = T.exp(A)
    row, write = t[0], T.set_subtensor(t[1], 3.0)
    assert copied([A], [write, row]) == ([1], 1)
    assert copied([A], [write, row[1:]]) == ([1], 1)
    assert copied([A], [write, T.sum(write) * row]) == ([1], 1)
    assert copied([A], [write, T.sum(row)]) == ([], 1)  # the row is read before
    assert copied([A], [write, t[1:]]) == ([], 0)  # as many axes: a copy of it costs as much
    assert copied([A], [write, row, t]) == ([], 0)
    assert copied([A], [T.set_subtensor(A[1], 3.0), A[0]]) == ([], 0)  # nothing may write to the argument


def test_a_state_that_is_a_value_of_the_step_is_copied():
    write = T.set_subtensor(A[1], A[0] * 2.0)
    own = COPY.within_loops()
    assert copied([A], [write, A], own, updates=((0, 0),)) == ([2], 1)
    assert copied([A], [write, A[1]], own, updates=((0, 0),)) == ([1], 1)
    assert copied([A, B], [write, A], own, updates=((0, 0), (1, 1))) == ([], 0)  # it is the next value of another state
