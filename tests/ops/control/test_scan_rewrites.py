"""Passes over loops and choices: before and after, by name; values stay."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.graph import Constant, GraphEditor, TensorType
from arignote.ops.control.element_bodies import nodes_within
from arignote.ops.lowered.formats.panels import Panels
from arignote.ops.lowered.fused import unmarked
from arignote.optdb.rules.linalg.packed import lanes_of

X, W, S = T.vector("x"), T.vector("w"), T.scalar("s")
VALUES = {X: [1.0, 2.0, 3.0], W: [0.5, 0.25], S: 2.0}
BODY = T.scalar("a"), T.scalar("b"), T.scalar("c")


def scan(outputs, traced, inputs, sequences=0, until=False):
    """A loop of three steps over the variables of BODY that `inputs` has values for."""
    graph = ag.FunctionGraph(BODY[: len(inputs)], outputs)
    found = T.Scan(graph, sequences, traced, until)(T.constant(3), *inputs)
    return found if isinstance(found, tuple) else (found,)


def rewritten(outputs, name):
    """The loops of the graph after one pass, which leaves the values as they are."""
    graph = ag.FunctionGraph([X, W, S], outputs)
    found = ag.rewrite(graph, name)
    inputs = [np.array(VALUES[v]) for v in graph.inputs]
    for mine, expected in zip(T.interpret(found, inputs), T.interpret(graph, inputs)):
        np.testing.assert_allclose(mine, expected, rtol=1e-14)
    return [node for node in found.order if isinstance(node.op, (T.Scan, T.Cond))], found


def names(graph):
    return [node.op.name for node in graph.order]


def test_work_that_every_step_would_repeat():
    a, b, _ = BODY
    (loop,), graph = rewritten(scan([a * T.exp(b) + T.exp(b)], (True,), [S, S + 1]), "scanOp_pushout_nonseqs_ops")
    assert names(loop.op.graph) == ["mul", "add"]
    assert "exp" in names(graph)


def test_what_may_raise_stays_inside():
    a, v, i = T.scalar("a"), T.vector("v"), T.lscalar("i")
    loop = T.Scan(ag.FunctionGraph([a, v, i], [a + v[i]]), 0, (True,))(T.constant(0), S, X, i)
    graph = ag.FunctionGraph([S, X, i], [loop])
    assert ag.rewrite(graph, "scanOp_pushout_nonseqs_ops") == graph
    assert ag.function([S, X, i], loop)(1.0, [1.0], 9).shape == (0,)


def test_constants_and_what_is_not_read():
    a, b, _ = BODY
    (loop,), _ = rewritten(
        scan([a * b], (True,), [S, T.constant(2.0), S]), "scanOp_remove_constants_and_unused_inputs0"
    )  # fmt: skip
    assert len(loop.inputs) == 2
    assert len(loop.op.graph.constants) == 1


def test_constants_that_were_folded_outside_move_into_the_body():
    h0, weights = T.matrix("h0"), np.linspace(-1, 1, 12 * 12).reshape(12, 12)
    w = T.constant(weights)
    f = ag.function([h0], ag.scan(lambda h: T.tanh(T.matmul(h, w.T)), outputs_info=h0, n_steps=3)[0][-1])
    (loop,) = (node for node in f.graph.order if isinstance(node.op, T.Scan))
    assert not any(isinstance(i, Constant) and i.ndim == 2 for i in loop.inputs)
    assert any(c.ndim == 2 for c in loop.op.graph.constants)
    want = start = np.ones((4, 12))
    for _ in range(3):
        want = np.tanh(want @ weights.T)
    np.testing.assert_allclose(f(start), want, rtol=1e-12)


def test_the_same_thing_given_twice():
    a, b, c = BODY
    (loop,), _ = rewritten(scan([a + b * c], (True,), [S, S, S]), "scanOp_remove_constants_and_unused_inputs0")
    assert len(loop.inputs) == 3


def test_values_that_nobody_reads():
    a, b, _ = BODY
    trace, value = scan([b + a, T.exp(a)], (True,), [X, S], 1)
    (loop,), _ = rewritten([trace], "scanOp_save_mem")
    assert len(loop.outputs) == 1
    (loop,), _ = rewritten([value], "scanOp_save_mem")
    assert loop.op.traced == ()
    assert len(rewritten([trace, value], "scanOp_save_mem")[0][0].outputs) == 2


def test_a_state_of_which_the_last_is_read():
    a, b, _ = BODY
    first, second = scan([a + b, b * 2], (True, True), [S, S + 1])
    (loop,), graph = rewritten([first[-1]], "scanOp_save_mem")
    assert loop.op.traced == (False, False)
    assert "subtensor" not in names(graph)
    (loop,), _ = rewritten([second[-1]], "scanOp_save_mem")
    assert loop.op.traced == (False,)
    (loop,), _ = rewritten([first[-1], second[0]], "scanOp_save_mem")
    assert loop.op.traced == (False, True)


def test_loops_that_feed_loops():
    a, b, _ = BODY
    trace, _ = scan([b + a, T.exp(a)], (True,), [X, S], 1)
    doubled, squared = scan([b * 2, a**2], (True,), [trace, S], 1)
    (loop,), _ = rewritten([doubled[-1]], "scanOp_remove_constants_and_unused_inputs0 scanOp_save_mem")[0][-1:], None
    assert loop.op.traced == (False,)
    first, second = rewritten([squared], "scanOp_save_mem")[0]
    assert (first.op.traced, second.op.traced) == ((True,), ())


def test_work_of_one_branch():
    chosen = ag.cond(S > 0, T.exp(X) * S, T.log(X) + S)
    (choice,), graph = rewritten([chosen], "cond_lazy")
    assert names(choice.op.then) == ["exp", *names(choice.op.then)[1:]]
    assert "exp" not in names(graph)
    assert "log" not in names(graph)
    (choice,), graph = rewritten([chosen, T.exp(X).sum()], "merge cond_lazy")
    assert "exp" in names(graph)


def test_bodies_are_optimized_by_the_passes_of_the_query():
    loop = ag.scan(lambda x, s: T.exp(x * 1.0) * s + T.sin(s), X, S)[0]
    f = ag.function([X, S], loop)
    (op,) = [n.op for n in f.graph.order if isinstance(n.op, T.Scan)]
    assert names(op.graph) == ["fused"]
    f = ag.function([X, S], loop, mode="fast_run -fusion")
    (op,) = [n.op for n in f.graph.order if isinstance(n.op, T.Scan)]
    assert "fused" not in names(op.graph)
    assert names(op.graph).count("mul") == 1
    nested = ag.scan(lambda x: ag.scan(lambda v, s: T.exp(v) * s, X, x)[0][-1], X)[0]
    f = ag.function([X], nested)
    (outer,) = [n.op for n in f.graph.order if isinstance(n.op, T.Scan)]
    (inner,) = [n.op for n in outer.graph.order if isinstance(n.op, T.Scan)]
    assert inner.traced == (False,)
    assert len(inner.graph) == 1


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "fast_run -scan"])
def test_values_stay(mode):
    outputs, _ = ag.scan(lambda x, s, w: [s + x * T.exp(w).sum(), x * 2, w], X, [S, None, None], [W])
    f = ag.function([X, W, S], [outputs[0][-1], outputs[1][0], ag.grad(outputs[0][-1], W)], mode=mode)
    total, first, gradient = f(VALUES[X], VALUES[W], VALUES[S])
    np.testing.assert_allclose(total, 2 + 6 * np.exp(VALUES[W]).sum())
    assert first == 2
    np.testing.assert_allclose(gradient, 6 * np.exp(VALUES[W]))


@pytest.mark.few(1)
@pytest.mark.parametrize("columns, steps, packs", [(40, 5, True), (300, 5, True), (32, 5, False), (300, 3, False)])
def test_weights_are_packed_before_the_loop(columns, steps, packs):
    depth = 300 if columns > 40 else 120
    shapes = (steps, 3, depth), (columns, depth), (depth, columns)
    x, w, v = (T.TensorVariable(TensorType("float32", shape), name=n) for n, shape in zip("xwv", shapes, strict=True))
    h = T.zeros((3, columns), "float32")
    out = ag.scan(lambda row, s: T.tanh(T.exp(row) @ w.T + s) + (s @ v.T) @ v, sequences=x, outputs_info=h).outputs
    f = ag.function([x, w, v], out, mode="fast_run -scanOp_pushout_seqs_ops")
    assert ("packed_dot" in str(f.graph)) is (packs and lanes_of("float32") > 0)
    rng = np.random.default_rng(0)
    values = [rng.standard_normal(i.type.shape, dtype="float32") / 20 for i in (x, w, v)]
    expected = ag.function([x, w, v], out, mode="NUMPY")(*values)
    np.testing.assert_allclose(f(*values), expected, rtol=1e-4, atol=1e-5)


def test_panels_of_an_expression_are_those_of_a_matrix():
    for rows, columns, vectors in ((3, 8, 2), (449, 41, 2), (900, 16, 2), (5, 33, 2), (3, 50, 4), (449, 9, 4)):
        form = Panels(rows, columns, 8, vectors)
        w = np.random.default_rng(0).standard_normal((rows, columns))
        assert np.array_equal(ag.function([], form.packing(T.constant(w)))(), form.packed(w)[0])


def test_loops_over_the_same_states_become_one():
    a, b, c = BODY
    three, more = T.constant(3), S + 1

    def loop_of(*outputs):
        body = ag.FunctionGraph([a, b, c], list(outputs))
        found = T.Scan(body, 0, (False,))(three, S, more, S)
        return found if isinstance(found, tuple) else (found,)

    (once,), (twice, values), (other,) = loop_of(a * b), loop_of(a * b, a + c), loop_of(a * b + b)
    (loop, rest), _ = rewritten([once, twice, values, other], "scan_merge_same_states")
    assert names(loop.op.graph) == names(rest.op.graph) == ["mul", "add"]
    assert (len(loop.outputs), len(rest.outputs)) == (2, 1)


def test_loops_stay_two_where_one_reads_the_other():
    a, b, _ = BODY
    (first,) = scan([a * 2], (False,), [S])
    second = scan([a * 2, a + b], (False,), [S, first])
    loops, _ = rewritten([first, *second], "scan_merge_same_states")
    assert len(loops) == 2


def test_states_of_inner_loops_that_nobody_reads():
    """A state that only an unread state of an inner loop depends on is no state either."""
    a, b, c = BODY
    p, q, r = T.scalar("p"), T.scalar("q"), T.scalar("r")
    inner = T.Scan(ag.FunctionGraph([p, q, r], [p * r, q + p]), 0, (False, False))
    outputs = inner(T.constant(2), a, b, c)
    loop = T.Scan(ag.FunctionGraph([a, b, c], list(outputs)), 0, (False, False))(T.constant(3), S, S + 1, S + 2)
    (found,), _ = rewritten([loop[0]], "scanOp_save_mem")
    assert found.op.traced == (False,)
    (within,) = (node for node in found.op.graph.order if isinstance(node.op, T.Scan))
    assert within.op.traced == (False,)


@pytest.mark.parametrize("ahead, numbers, is_other", [(1, 0, True), (0, 0, False), (1, -1, False), (2, 0, True)])
def test_columns_are_read_past_writes_to_other_ones(ahead, numbers, is_other):
    """The column j is not j + 1 if j counts from the front; from -1 on, both may be the only one."""
    x, j, n = T.matrix("x"), T.lscalar("j"), T.lscalar("n")
    written = T.set_subtensor(x[1:, j + ahead], 2.0)
    body = ag.FunctionGraph([j, x], [written[1:, j + 1 - 1] * 3.0])
    graph = ag.FunctionGraph([n, x], [T.Scan(body, 1, ())(n, T.arange(numbers, n), x)])
    found = ag.rewrite(graph, "scan_elements_past_writes")
    assert ("inc_subtensor" not in [node.op.name for node in nodes_within(found)]) is is_other
    values = [np.array(3), np.arange(20.0).reshape(4, 5)]
    np.testing.assert_allclose(T.interpret(found, values)[0], T.interpret(graph, values)[0])


@pytest.mark.parametrize("row, is_other", [(0, True), (1, False)])
def test_elements_are_read_past_writes_to_other_ones(row, is_other):
    """In `for j in range(i)` the element [j, j] is not [i, j]; [i, j] is."""
    x, i, j, y = T.matrix("x"), T.lscalar("i"), T.lscalar("j"), T.scalar("y")
    written = T.set_subtensor(x[i, j], y)
    body = ag.FunctionGraph([j, y, x, i], [y + written[(j, j) if row == 0 else (i, j)]])
    outer, start, n = T.matrix("outer"), T.scalar("start"), T.lscalar("n")
    k = T.lscalar("k")
    loop = T.Scan(body, 1, (False,))(T.maximum(k, 0), T.arange(T.maximum(k, 0)), start, outer, k)
    rows = T.Scan(ag.FunctionGraph([k, start, outer], [loop]), 1, (False,))(n, T.arange(n), start, outer)
    graph = ag.FunctionGraph([n, start, outer], [rows])
    found = ag.rewrite(graph, "scan_elements_past_writes")
    inner = [node.op.name for node in nodes_within(found)]
    assert ("inc_subtensor" not in inner) is is_other
    values = [np.array(4), np.array(0.5), np.arange(16.0).reshape(4, 4)]
    np.testing.assert_allclose(T.interpret(found, values)[0], T.interpret(graph, values)[0])


@pytest.mark.parametrize(
    "read, written, numbers, is_steady",
    [
        (0, 0, slice(None), True),  # each step reads what it overwrites
        (1, 0, slice(None), True),  # what the next one overwrites
        (0, 1, slice(None), False),  # what the one before has written
        (0, 1, slice(None, None, -1), True),
        (1, 0, slice(None, None, -1), False),
    ],
)
def test_arrays_of_which_no_step_reads_what_another_one_wrote_are_operands(read, written, numbers, is_steady):
    x, j, n = T.matrix("x"), T.lscalar("j"), T.lscalar("n")
    part = x[:, j + read]
    body = ag.FunctionGraph([j, x], [T.set_subtensor(x[:, j + written], part * 2.0), part * 3.0])
    loop = T.Scan(body, 1, (False,))(n, T.arange(n)[numbers], x)
    graph = ag.FunctionGraph([n, x], [loop[1]])
    found = ag.rewrite(graph, "scan_steady_arrays")
    (inner,) = (node.op for node in found.order if isinstance(node.op, T.Scan))
    assert (inner.traced == ()) is is_steady
    values = [np.array(3), np.arange(20.0).reshape(4, 5)]
    np.testing.assert_array_equal(T.interpret(found, values)[0], T.interpret(graph, values)[0])


@pytest.mark.parametrize("start", [-1, 1])
def test_positions_from_the_end_may_be_those_of_another_step(start):
    """-1 and 4 are one column of 5."""
    x, j, n = T.matrix("x"), T.lscalar("j"), T.lscalar("n")
    body = ag.FunctionGraph([j, x], [T.set_subtensor(x[:, j], 7.0), x[:, j] * 3.0])
    graph = ag.FunctionGraph([n, x], [T.Scan(body, 1, (False,))(n, T.arange(start, start + n), x)[1]])
    found = ag.rewrite(graph, "scan_steady_arrays")
    (inner,) = (node.op for node in found.order if isinstance(node.op, T.Scan))
    assert (inner.traced == ()) is (start > 0)
    values = [np.array(4), np.arange(20.0).reshape(4, 5)]
    np.testing.assert_array_equal(T.interpret(found, values)[0], T.interpret(graph, values)[0])


@pytest.mark.long
def test_an_ellipsis_reads_all_of_a_loop():
    """Its index has no entry, not even for the first axis."""
    x = T.matrix("x")
    trace, _ = ag.scan(lambda row, before: T.tanh(row + before[...]), sequences=x, outputs_info=T.zeros_like(x[0]))
    loss = T.sum(trace[...] * T.exp(x[...]))
    given = np.linspace(-1.0, 1.0, 12).reshape(3, 4)
    outputs = [trace[...][..., None], loss, ag.grad(loss, x)[...], ag.grad(loss, x)[::-1][...]]
    f = ag.function([x], outputs, mode=ag.Mode("fast_run", backend="c", check=True))
    for found, wanted in zip(f(given), T.evaluate(outputs, {x: given}), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


@pytest.mark.long
def test_inner_loops_of_gradients_keep_and_restore_nothing_that_is_not_read():
    """Of the sweep p[j + 1] = f(p[j]) the derivative reads p alone, which the loop has when it ends."""

    def sweeps(x):
        p = np.zeros_like(x)
        for _ in range(20):
            for j in range(x.shape[1] - 1):
                p[:, j + 1] = 1.0 / (p[:, j] + x[:, j] + 2.0)
        return np.sum(p * p)

    x = np.linspace(0.1, 1.0, 24).reshape(4, 6)
    f = ag.value_and_grad(sweeps)
    value, found = f(x)
    (trace,) = f.traces.values()
    outer = [op for op in map(unmarked, trace.function.graph.ops) if isinstance(op, T.Scan)]
    inner = [op for loop in outer for op in map(unmarked, loop.graph.ops) if isinstance(op, T.Scan)]
    assert len(inner) == 3  # of the value, again, and of the derivative
    assert not any(op.graph.outputs[op.values] for op in inner)
    step = 1e-6 * np.cos(np.arange(24.0)).reshape(4, 6)
    np.testing.assert_allclose(np.sum(found * step), (sweeps(x + step) - sweeps(x - step)) / 2, rtol=1e-6)
    np.testing.assert_allclose(value, sweeps(x))


def test_bodies_are_optimized_in_the_order_of_their_loops():
    numbers = [7.0, 3.0, 9.0, 1.0, 5.0]
    loops = [ag.scan(lambda x, s, k=k: T.exp(x * k) + T.tanh(s) * k, X, S)[0] for k in numbers]
    editor = GraphEditor()
    ag.optdb.query("fast_run")(ag.FunctionGraph([X, S], loops), editor)
    (runs,) = [entry.inside for entry in editor.journal if entry.inside]
    assert [float(run.before.constants[0].data) for run in runs] == numbers
