"""Products of matrices out of loops: what goes, what stays, and values as they were."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.lowered.fused import InPlace

X, Y, H, W, U, B = T.tensor3("X"), T.tensor3("Y"), T.matrix("H"), T.matrix("W"), T.matrix("U"), T.vector("b")
N = T.lscalar("n")
RANDOM = np.random.default_rng(3)
VALUES = {
    X: RANDOM.standard_normal((6, 4, 3)), Y: RANDOM.standard_normal((6, 4, 5)), H: RANDOM.standard_normal((4, 5)),
    W: RANDOM.standard_normal((3, 5)), U: RANDOM.standard_normal((5, 5)) / 3, B: RANDOM.standard_normal(5), N: 6,
}  # fmt: skip
FIRST, SUMS = "scanOp_pushout_seqs_ops", "scan_pushout_dot1"


def rewritten(outputs, name, *, steps=None):
    """The loops after one pass, and the graph; values are those from before, for several numbers of steps."""
    outputs = outputs if isinstance(outputs, list) else [outputs]
    inputs = [v for v in VALUES if v in set(ag.graph.leaves(outputs))]
    graph = ag.FunctionGraph(inputs, outputs)
    found, compiled = ag.rewrite(graph, name), ag.function(inputs, outputs)
    for n in (steps,) if N not in inputs else (0, 1, 4, 6):
        arrays = [np.asarray(n if v is N else VALUES[v]) for v in inputs]
        for mine, expected in zip(T.interpret(found, arrays), T.interpret(graph, arrays), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-12, atol=1e-12)
        for mine, expected in zip(compiled(*arrays), T.interpret(graph, arrays), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-11, atol=1e-11)
    return [node for node in found.order if isinstance(node.op, T.Scan)], found


def scanned(*arguments, **options):
    return ag.scan(*arguments, **options)[0]


def bodies(graph):
    """The bodies of the loops of an optimized graph, of those too that write into their operands."""
    ops = [node.op.op if isinstance(node.op, InPlace) else node.op for node in graph.order]
    return [op.graph for op in ops if isinstance(op, T.Scan)]


def products(graph):
    return sum(node.op.name == "dot" for node in graph.order)


def recurrent(x, h):
    return T.tanh(x @ W + h @ U + B)


# --- before the loop


def test_a_sequence_is_multiplied_before_the_loop():
    (loop,), graph = rewritten(scanned(recurrent, X, H), FIRST)
    assert products(loop.op.graph) == 1 and products(graph) == 1
    assert loop.op.sequences == 1  # the product took the place of X


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "body, left",
    [
        (lambda x, h: h + T.exp(x) @ W, 0),
        (lambda x, h: h + (x @ W) * T.sum(x), 0),
        (lambda x, h: h + T.exp(x) @ W + (2 * x) @ W, 0),
        (lambda x, h: h + x @ (W * 2), 0),
        (lambda x, h: h + x @ W[:, :1] * h, 0),
        (lambda x, h: h @ U + x @ W @ U, 1),
        (lambda x, h: h + x @ T.tanh(x.T) @ x @ W, 0),  # with what W is multiplied by
        (lambda x, h: h + x @ T.tanh(x.T) @ h, 2),  # no matrix that stays the same
        (lambda x, h: T.tanh(h @ U) + x[:, :1], 1),
    ],
)
def test_what_is_made_of_rows_alone_is_multiplied_before(body, left):
    (loop,), _ = rewritten(scanned(body, X, H), FIRST)
    assert products(loop.op.graph) == left


def test_as_many_rows_as_there_are_steps():
    (loop,), _ = rewritten(scanned(recurrent, X, H, n_steps=N), FIRST)
    assert products(loop.op.graph) == 1
    (loop,), _ = rewritten(scanned(recurrent, X, H, go_backwards=True), FIRST)
    assert products(loop.op.graph) == 1


def test_vectors_are_multiplied_as_one_matrix():
    x, h = X[:, 0], H[0]
    (loop,), graph = rewritten(scanned(lambda x, h: T.tanh(x @ W + W.T @ x + h @ U), x, h), FIRST)
    assert products(loop.op.graph) == 1
    assert all(node.inputs[0].ndim == 2 for node in graph.order if node.op.name == "dot")


def test_what_stays_in_the_loop():
    ended = scanned(lambda x, h: (x @ W + h, ag.until(T.sum(h) > 3)), X, H)
    both = scanned(lambda x, y, h: h + x.T @ y, [X, Y], T.zeros((3, 5)))
    for outputs in (ended, both):
        (loop,), _ = rewritten(outputs, FIRST)
        assert products(loop.op.graph) == 1


def test_a_sequence_that_is_too_short_is_still_reported():
    f = ag.function([X, H, W, U, B, N], scanned(recurrent, X, H, n_steps=N))
    with pytest.raises(ValueError, match="6 elements for 7 steps"):
        f(*(VALUES[v] for v in (X, H, W, U, B)), 7)


# --- after the loop


def sums(body, first, sequences=(X, Y)):
    """The last value of a state, as scanOp_save_mem leaves it."""
    graph = ag.FunctionGraph([X, Y, H, W, U, B], [scanned(body, list(sequences), first)[-1]])
    return list(ag.rewrite(graph, "scanOp_save_mem").outputs)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "body, shape, inside, after",
    [
        (lambda x, y, s: s + x.T @ T.exp(y), (3, 5), 0, 1),
        (lambda x, y, s: x.T @ T.exp(y) + s, (3, 5), 0, 1),
        (lambda x, y, s: s + x.T @ y, (3, 5), 1, 0),  # the loop alone tells whether there are enough rows
        (lambda x, y, s: s + x.T @ y + T.tanh(x).T @ y, (3, 5), 0, 2),
        (lambda x, y, s: s + T.tanh(x.T) @ y + W, (3, 5), 0, 1),
        (lambda x, y, s: s + T.exp(y) @ y.T, (4, 4), 0, 1),
        (lambda x, y, s: s + y.T @ T.exp(y), (5, 5), 0, 1),
        (lambda x, y, s: s + x[0] @ x.T, (4,), 0, 1),
        (lambda x, y, s: s + 2 * (x.T @ y), (3, 5), 1, 0),  # times a number: as it was
        (lambda x, y, s: s * 0.5 + x.T @ y, (3, 5), 1, 0),
        (lambda x, y, s: s + s + x.T @ y, (3, 5), 1, 0),
        (lambda x, y, s: s + W + U[:3], (3, 5), 0, 0),
    ],
)
def test_states_that_collect_products(body, shape, inside, after):
    loops, graph = rewritten(sums(body, T.ones(shape)), SUMS)
    assert sum(products(loop.op.graph) for loop in loops) == inside
    assert products(graph) == after


def test_a_state_that_is_read_stays():
    def body(x, y, s, t):
        return s + x.T @ y, t + T.sum(s)

    s, t = scanned(body, [X, Y], [T.ones((3, 5)), T.constant(0.0)])
    (loop,), _ = rewritten(list(ag.rewrite(ag.FunctionGraph([X, Y], [s[-1], t[-1]]), "scanOp_save_mem").outputs), SUMS)
    assert products(loop.op.graph) == 1


# --- gradients: both at once


def lstm(x, h, c):
    z = x @ W + h @ U + B
    gate = T.nn.sigmoid(z)
    c = c * gate + T.tanh(z) * (1 - gate)
    return T.tanh(c) * gate, c


def loss_of(kind, **options):
    if kind == "recurrent":
        return (scanned(recurrent, X, H, **options)[-1] ** 2).sum()
    return (scanned(lstm, X, [H, H * 2], **options)[0] ** 2).sum()


OPTIONS = ({}, {"go_backwards": True}, {"truncate_gradient": 2}, {"n_steps": N})


@pytest.mark.long
@pytest.mark.parametrize("kind", ["recurrent", "lstm"])
def test_gradients_are_what_they_are_inside(kind):
    """One function for all options, which share kernels; the loops are looked at for each."""
    wrt = [W, U, B, X, H]
    gradients = [ag.grad(loss_of(kind, **options), wrt) for options in OPTIONS]
    modes = "fast_run", "fast_run -scan_pushout"
    out, inside = (ag.function([*wrt, N], [g for each in gradients for g in each], mode=m) for m in modes)
    for n in (6, 4, 1):
        values = [*(VALUES[v] for v in wrt), n]
        for mine, expected in zip(out(*values), inside(*values), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-10, atol=1e-12)
    for each in gradients:
        graphs = [ag.rewrite(ag.FunctionGraph([*wrt, N], each), mode) for mode in modes]
        fewer, more = (sum("dot" in str(node.op) for node in bodies(graph)[-1].order) for graph in graphs)
        assert fewer < more


@pytest.mark.long
def test_the_gradient_multiplies_by_the_recurrent_weights_alone():
    gradients = ag.grad(loss_of("recurrent"), [W, U, B])
    f = ag.function([X, H, W, U, B], gradients)
    forward, backward = bodies(f.graph)
    for body in (forward, backward):
        assert sum("dot" in str(node.op) or "gemm" in str(node.op) for node in body.order) == 1
    products = sum("dot" in str(node.op) for node in f.graph.order if not isinstance(node.op, T.Scan))
    assert products == 3 + ("assume_equal" not in str(f.graph))  # without, the lengths of one more are read


def test_the_gradient_keeps_products_of_long_rows():
    """The backward loop reads the sum that holds the product; short products are computed again."""
    for size, inside in ((64, 1), (4, 2)):
        h, w = T.tensor("h", "float64", (size,)), T.tensor("w", "float64", (size, size))
        loss = ag.scan(lambda h, w: T.sin(h @ w + 1.0), None, h, [w], n_steps=5)[0][-1].sum()
        graph = ag.FunctionGraph([h, w], ag.grad(loss, [h, w]))
        *_, backward = bodies(ag.rewrite(graph, "fast_run -scan_pushout"))
        assert sum("dot" in str(node.op) for node in backward.order) == inside


# --- products by parts of a matrix


def rows_before(data, m):
    found = np.zeros((m, data.shape[1]))
    for i in range(m):
        found[i, i + 1 :] = 2 * (data[:, i] @ data[:, i + 1 :])
    return found


def rows_behind(data, m):
    found = np.zeros((m, data.shape[1]))
    for i in range(m):
        found[i, 1:i] = data[:, i] @ data[:, 1:i]
    return found


def both_triangles(data, m):
    found = np.zeros((m, m))
    for i in range(m):
        found[i:m, i] = found[i, i:m] = data[:, i] @ data[:, i:m] / 3.0
    return found


def from_the_left(data, m):
    found = np.zeros((data.shape[1], m))
    for i in range(m):
        found[i:, i] = data[:, i:].T @ data[:, i]
    return found


def backwards(data, m):
    found = np.zeros((m, data.shape[1]))
    for i in range(m - 1, -1, -1):
        found[i, : i + 2] = data[:, i] @ data[:, : i + 2]
    return found


def from_the_second(data, m):
    found = np.zeros((m, data.shape[1]))
    for i in range(1, m):
        found[i, i - 1 :] = data[:, i] @ data[:, i - 1 :]
    return found


def by_matrices(data, m):
    found = np.zeros((m, 2, data.shape[1]))
    for i in range(m):
        found[i, :, i:] = data[:2, :2] * i @ data[:2, i:]
    return found


GROWING = [rows_before, rows_behind, both_triangles, from_the_left, backwards, from_the_second, by_matrices]


@pytest.mark.few(2)
@pytest.mark.parametrize("program", GROWING)
def test_products_by_growing_parts_leave_the_loop(program):
    f = ag.jit(program)
    for rows, columns, m in ((4, 6, 6), (4, 6, 3), (3, 1, 1), (2, 2, 0), (0, 3, 3), (5, 5, 4)):
        data = RANDOM.standard_normal((max(rows, 2) if program is by_matrices else rows, max(columns, 2)))
        np.testing.assert_allclose(f(data, m), program(data, m), rtol=1e-12, atol=1e-12)
    assert not sum(map(products, bodies(f.compiled(data, m).graph)))


@pytest.mark.few(2)
@pytest.mark.parametrize("program", GROWING)
def test_so_do_those_of_derivatives(program):
    data, weights = RANDOM.standard_normal((4, 6)), RANDOM.standard_normal(400)

    def cost(data, m):
        made = program(data, m).ravel()
        return np.sum(made * weights[: made.shape[0]])

    f = ag.value_and_grad(cost)
    value, found = f(data, 5)
    np.testing.assert_allclose(value, cost(data, 5), rtol=1e-12)
    step = 1e-6
    for place in ((0, 0), (3, 2), (1, 5)):
        ahead, behind = data.copy(), data.copy()
        ahead[place] += step
        behind[place] -= step
        np.testing.assert_allclose(found[place], (cost(ahead, 5) - cost(behind, 5)) / (2 * step), rtol=1e-6, atol=1e-8)
    assert not sum(map(products, bodies(f.compiled(data, 5).graph)))


def a_band(data, m):
    found = np.zeros((m, data.shape[1]))
    for i in range(m):
        found[i, i : i + 2] = data[:, i] @ data[:, i : i + 2]
    return found


def from_the_end(data, m):
    found = np.zeros((m, data.shape[1]))
    for i in range(m):
        found[i, i - 3 :] = data[:, i] @ data[:, i - 3 :]
    return found


def summed(data, m):
    found = np.zeros(data.shape[1])
    for i in range(m):
        found[i:] += data[:, i] @ data[:, i:]
    return found


def of_a_state(data, m):
    for i in range(m):
        data[0, i:] = data[:, i] @ data[:, i:]
    return data


@pytest.mark.parametrize("program", [a_band, from_the_end, summed, of_a_state])
def test_short_and_unstored_parts_stay_in_the_loop(program):
    f, data = ag.jit(program), RANDOM.standard_normal((4, 6))
    np.testing.assert_allclose(f(data.copy(), 5), program(data.copy(), 5), rtol=1e-12, atol=1e-12)
    assert sum(map(products, bodies(f.compiled(data, 5).graph)))


def test_a_row_out_of_range_is_still_reported():
    with pytest.raises(IndexError):
        ag.jit(rows_before)(np.ones((3, 2)), 3)
