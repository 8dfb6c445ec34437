"""Gradients of loops that write parts of arrays: they add and restore in place, and keep no state that is not read."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.program.plan import plan
from arignote.graph import FunctionGraph
from arignote.ops.control.element_bodies import in_place_order, nodes_within
from arignote.ops.control.scan_ops import Scan
from arignote.ops.lowered.fused import unmarked
from arignote.ops.shapes.indexing import IncSubtensor
from arignote.optdb.rules.control.counting import naturals


def outer_products(alpha, C, A):
    for i in range(C.shape[0]):
        C[i, : i + 1] *= 0.5
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(C * C) + np.sum(A)


def columns_in_turn(alpha, C, A):
    kept = np.empty((C.shape[1],))
    for i in range(C.shape[0]):
        for j in range(C.shape[1]):
            C[:i, j] += alpha * A[i, :i]
            kept[j] = A[:i, j] @ A[i, :i]
        C[i, :] += alpha * kept
    return np.sum(C * C)


def trace_of(alpha, C, A):
    total = 0.0
    for i in range(C.shape[0]):
        total += np.tanh(alpha * A[i, i])
    return np.sum((C + total) ** 2)


def difference(f, arguments, ways, step=1e-6):
    up, down = ([a + s * w for a, w in zip(arguments, ways)] for s in (step, -step))
    return (f(*up) - f(*down)) / (2 * step)


@pytest.mark.parametrize(
    "f", [outer_products, pytest.param(columns_in_turn, marks=pytest.mark.long), trace_of], ids=lambda f: f.__name__
)
def test_gradients_keep_no_array_of_each_step(f):
    rng = np.random.default_rng(3)
    given = [1.5, rng.random((20, 20)), rng.random((20, 20))]
    ways = [0.0, rng.normal(size=(20, 20)), rng.normal(size=(20, 20))]
    both = ag.value_and_grad(f, (1, 2))
    value, slopes = both(*given)
    np.testing.assert_allclose(value, f(*(np.copy(a) for a in given)), rtol=1e-12)
    found = sum(np.sum(s * w) for s, w in zip(slopes, ways[1:]))
    np.testing.assert_allclose(found, difference(f, given, ways), rtol=1e-5)
    (trace,) = both.traces.values()
    graph = trace.function.graph
    loops = [(unmarked(n.op), n) for n in nodes_within(graph) if isinstance(unmarked(n.op), Scan)]
    assert loops
    assert not [o for op, n in loops for o, traced in zip(n.outputs, op.traced) if traced and o.ndim > 1]
    inner = [n for op, _ in loops for n in op.graph.order]
    assert not [n for n in inner if n.op.name == "sum_to" or (n.op.name in ("alloc", "fill") and n.out.ndim > 1)]


def factors(A):
    for i in range(A.shape[0]):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, A.shape[0]):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(A * A)


def halved_and_bent(A):
    for i in range(A.shape[0]):
        A[i, :5] *= 0.5
        A[i, :] = np.tanh(A[i, :])
        for k in range(A.shape[1]):
            A[i, k] = np.sin(A[i, k]) * A[i, 0]
        A[i, 0] = A[i, 1] * A[i, 2]
    return np.sum(A * A)


def bent_columns(A):
    for i in range(A.shape[0]):
        A[i, 0] = np.sin(A[i, 1]) * A[i, 2]
        for k in range(1, A.shape[1]):
            A[:, k] = np.sin(A[:, k]) * A[i, 0]
    return np.sum(A * A)


def smoothed(A):
    B = np.empty_like(A)
    B[0] = A[0]
    for i in range(1, A.shape[0]):
        B[i] = 0.5 * A[i] + 0.25 * B[i - 1]
    return np.sum(B * B)


def solved(A):
    x = np.zeros(A.shape[0])
    for i in range(A.shape[0]):
        x[i] = (A[i, 0] - A[i, :i] @ x[:i]) / A[i, i]
    return np.sum(x * x)


def loops_of_gradient(f):
    """The value's loops and those of the derivative, each with the nodes inside; the derivative is checked."""
    rng = np.random.default_rng(5)
    given = rng.random((9, 9)) + 9 * np.eye(9)
    way = rng.normal(size=(9, 9))
    both = ag.value_and_grad(f)
    value, slope = both(given)
    np.testing.assert_allclose(value, f(given.copy()), rtol=1e-12)
    np.testing.assert_allclose(np.sum(slope * way), difference(f, [given], [way]), rtol=1e-5)
    (trace,) = both.traces.values()
    found = [n for n in trace.function.graph.order if isinstance(unmarked(n.op), Scan)]
    return [(n, nodes_within(unmarked(n.op).graph)) for n in found]


@pytest.mark.long
def test_one_array_serves_the_loops_of_a_gradient():
    (_, forward), (_, backward) = loops_of_gradient(factors)  # value and kept parts come from one loop
    assert len([n for n in forward if isinstance(unmarked(n.op), Scan)]) == 2
    inner = [n for n in backward if isinstance(unmarked(n.op), Scan)]
    assert len(inner) == 4
    assert all(n.op is not unmarked(n.op) for n in inner)  # all of them in place
    assert not [n for n in [*forward, *backward] if n.op.name == "switch"]


@pytest.mark.long
def test_columns_that_a_loop_writes_are_restored():
    assert loops_of_gradient(bent_columns)


@pytest.mark.long
def test_what_is_written_before_an_inner_loop_is_restored():
    _, (_, backward) = loops_of_gradient(halved_and_bent)
    inner = [n for n in backward if isinstance(unmarked(n.op), Scan)]
    assert inner and all(n.op is not unmarked(n.op) for n in inner)


def test_lengths_that_are_known_to_be_equal_leave_nothing_to_sum():
    loops = loops_of_gradient(smoothed)
    assert not [n for _, inner in loops for n in inner if n.op.name == "sum_to"]


def test_values_that_a_step_wrote_are_read_again():
    (_, forward), (_, backward) = loops_of_gradient(solved)
    assert [n.op.name for n in forward].count("dot") == 1
    assert not [n for n in backward if n.op.name == "dot"]


def test_a_total_begins_with_what_is_there():
    x, i = T.vector("x"), T.lscalar("i")
    node = x[i].owner
    g, total = T.scalar("g"), T.vector("total")
    back, none = node.op.vjp_onto(node, [g], [total, None])
    assert none is None and back.owner.inputs[0] is total
    assert node.op.vjp_onto(node, [None], [total, None])[0] is total
    add = (x + x).owner
    assert add.op.vjp_onto(add, [total], [total, total]) is None


def test_bounds_are_clamped_where_numbers_count_from_the_front():
    n, i = T.lscalar("n"), T.lscalar("i")
    x, g = T.vector("x"), T.vector("g")
    body = ag.FunctionGraph([i, g, x], [T.SumTo()(g[:i] * 2.0, x[:i]).sum()])
    for numbers, clamped in ((T.arange(n), True), (T.arange(n)[::-1], True), (T.arange(-1, n), False)):
        loop = Scan(body, 1, ())(n, numbers, g, x)
        found = ag.rewrite(ag.FunctionGraph([n, g, x], [loop]), "scan_bounds_from_front")
        (inner,) = [node for node in found.order if isinstance(node.op, Scan)]
        assert ("maximum" in [m.op.name for m in inner.op.graph.order]) is clamped


@pytest.mark.parametrize("dtype, is_known", [("int64", True), ("int8", False)])
def test_sums_that_may_wrap_around_are_no_bounds_from_the_front(dtype, is_known):
    i = T.tensor("i", dtype, ())
    twice = i + i
    assert (twice in naturals(FunctionGraph([i], [twice]), [i])) == is_known


@pytest.mark.long
def test_a_row_of_the_gradient_is_copied_and_no_array():
    """A row and a column of a symmetric result are cleared in place, though the old row is read after that."""

    def products(data):
        found = np.zeros((data.shape[1], data.shape[1]))
        for i in range(data.shape[1]):
            found[i:, i] = found[i, i:] = data[:, i] @ data[:, i:]
        return np.sum(np.tanh(found))

    both, given = ag.value_and_grad(products), np.random.default_rng(0).random((5, 4)) * 0.3
    _, slope = both(given)
    way = np.random.default_rng(1).normal(size=(5, 4))
    np.testing.assert_allclose(np.sum(slope * way), difference(products, [given], [way]), rtol=1e-6)
    (trace,) = both.traces.values()
    calls = [s for body in plan(trace.function.graph, strict=True).bodies for s in body.steps if hasattr(s, "kernel")]
    assert [s for s in calls if s.function == "copy" and len(s.writes[0].lengths) > 1] == []


def adjoint_sweep(A):
    """A sweep along columns, as of Thomas's algorithm: each column is written from the one before."""
    p = np.zeros_like(A)
    for j in range(1, A.shape[1]):
        p[1:-1, j] = 1.0 / (A[1:-1, j] + 0.5 * p[1:-1, j - 1])
    for j in range(A.shape[1] - 2, 0, -1):
        p[1:-1, j] = p[1:-1, j] * p[1:-1, j + 1] + A[1:-1, j]
    return np.sum(p * p)


def orthogonalized(A):
    Q = np.zeros_like(A)
    for k in range(A.shape[1]):
        Q[:, k] = A[:, k] / np.sqrt(np.dot(A[:, k], A[:, k]))
        for j in range(k + 1, A.shape[1]):
            A[:, j] -= Q[:, k] * np.dot(Q[:, k], A[:, j])
    return np.sum(Q * np.arange(Q.size).reshape(Q.shape))


def mirrored(A):
    for k in range(1, A.shape[0]):
        A[0, :k] += 0.5 * np.flip(A[1, :k] * A[0, :k])
    return np.sum(A * A)


def levels(A):
    """A column is written twice in a step, and the one before is read."""
    c = np.zeros_like(A)
    c[:, 0] = A[:, 0]
    for k in range(1, A.shape[1]):
        c[:, k] = A[:, k] * 0.4
        d = 1.0 / (A[:, k] + c[:, k - 1])
        c[:, k] = c[:, k] * d
    return np.sum(c * c)


@pytest.mark.few(1)
@pytest.mark.parametrize("f", [adjoint_sweep, orthogonalized, mirrored, levels], ids=lambda f: f.__name__)
def test_a_step_copies_no_whole_array(f):
    """Writes to parts work in place, and the loop of the value is the one that keeps what the derivative reads."""
    loops = loops_of_gradient(f)
    nodes = [n for _, inner in loops for n in inner]
    writes = [n for n in nodes if isinstance(unmarked(n.op), IncSubtensor) and n.out.ndim > 1]
    outer = {id(n) for loop, _ in loops for n in unmarked(loop.op).graph.order}
    copies = [n for n in writes if n.op is unmarked(n.op) and id(n) in outer]
    kernels = [unmarked(loop.op).graph for loop, _ in loops if in_place_order(unmarked(loop.op)) is not None]
    within = {id(n) for graph in kernels for n in graph.order}
    assert writes and not [n for n in copies if id(n) not in within]
    assert not any(any(unmarked(loop.op).traced) for loop, _ in loops)


def durbin_like(A):
    y = np.zeros(A.shape[0])
    for k in range(1, A.shape[0]):
        y[:k] += A[k, 0] * np.flip(y[:k])
        y[k] = A[k, 1]
    return np.sum(y * y)


@pytest.mark.long
def test_kept_rows_are_read_from_the_last_one_without_a_copy():
    loops = loops_of_gradient(durbin_like)
    assert all(in_place_order(unmarked(loop.op)) is not None for loop, _ in loops)
    graph = FunctionGraph([T.matrix("rows"), T.vector("x")], [])
    rows, x = graph.inputs
    step, state = T.vector("step"), T.vector("state")
    body = FunctionGraph([step, state], [T.set_subtensor(state[1:], step[1:] * state[:-1])])
    loop = Scan(body, 1, (False,))(rows.shape[0], rows[::-1], x)
    f = ag.function([rows, x], loop)
    calls = [s for s in f.program.steps if hasattr(s, "kernel")]
    assert [s for s in calls if s.function == "copy" and len(s.writes[0].lengths) > 1] == []
    given = np.arange(12.0).reshape(3, 4)
    found = np.ones(4)
    for row in given[::-1]:
        found[1:] = row[1:] * found[:-1]
    np.testing.assert_array_equal(f(given, np.ones(4)), found)


def two_views(A):
    """An inner loop reads a column twice: its cotangent is added to that of the whole array."""
    Q = np.zeros_like(A)
    for k in range(A.shape[1]):
        Q[:, k] = A[:, k] * 0.5
        for j in range(k + 1, A.shape[1]):
            A[:, j] -= 0.01 * Q[:, k] * (Q[:, k] @ A[:, j])
    return np.sum(Q * Q)


@pytest.mark.long
def test_parts_that_are_read_twice_have_one_total():
    _, (_, backward) = loops_of_gradient(two_views)
    assert not [n for n in backward if n.op.name in ("alloc", "zeros_like") and n.out.ndim == 2]


def test_states_are_kept_as_values_of_a_step():
    """No trace is joined with the first state: the loop gives what each step begins with."""
    a, n = T.vector("a"), T.lscalar("n")
    s = T.vector("s")
    loop = Scan(FunctionGraph([s], [T.tanh(s)]), 0, (False,))(n, a)
    g = ag.grad(loop.sum(), a)
    assert not [node for node in FunctionGraph([a, n], [g]).order if node.op.name == "join"]
    for steps in (0, 1, 3):
        x = np.linspace(-1.0, 1.0, 5)
        slope = np.ones(5)
        for _ in range(steps):
            x = np.tanh(x)
            slope *= 1 - x * x
        np.testing.assert_allclose(g.eval({a: np.linspace(-1.0, 1.0, 5), n: np.array(steps)}), slope)


def looked_up(table, keys, x):
    total = 0.0
    for i in range(keys.shape[0]):
        if x[i] > 0.2:
            if x[i] < 0.8:
                total += np.sum(table[keys[i]] * x[i])
            else:
                total += table[keys[i], 0] ** 2 * x[i - 1]
    return total


def test_a_branch_adds_to_the_totals_of_what_it_reads():
    rng = np.random.default_rng(5)
    table, keys, x = given = rng.normal(size=(30, 20)), rng.integers(0, 30, 60), rng.random(60)
    ways = rng.normal(size=(30, 20)), rng.normal(size=60)
    both = ag.value_and_grad(looked_up, (0, 2))
    value, slopes = both(*given)
    np.testing.assert_allclose(value, looked_up(*given), rtol=1e-12)
    found = sum(np.sum(s * w) for s, w in zip(slopes, ways))
    np.testing.assert_allclose(found, difference(lambda t, x: looked_up(t, keys, x), [table, x], ways), rtol=1e-5)
    loops = [op for node in nodes_within(both.compiled(*given).graph) if isinstance(op := unmarked(node.op), Scan)]
    inner = [node for op in loops for node in nodes_within(op.graph)]
    assert not [node for node in inner if node.op.name in ("alloc", "fill", "assembled") and node.out.ndim]


def soft_minima(x):
    found = np.zeros(x.shape[0] + 1)
    for i in range(x.shape[0]):
        found[i + 1] = x[i] - np.log(np.exp(-found[i]) + np.exp(-x[i]))
    return found[-1]


def test_a_value_and_its_gradient_in_stable_forms_share_a_loop():
    x, ways = np.random.default_rng(6).normal(size=(2, 9))
    both = ag.value_and_grad(soft_minima)
    value, slopes = both(x)
    np.testing.assert_allclose(value, soft_minima(x), rtol=1e-12)
    np.testing.assert_allclose(np.sum(slopes * ways), difference(soft_minima, [x], [ways]), rtol=1e-5)
    assert sum(isinstance(unmarked(node.op), Scan) for node in both.compiled(x).graph.order) == 2
