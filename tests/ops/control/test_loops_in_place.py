"""States of loops in place: what they may not change, and bytes that no step moves."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.program.plan import plan

X, Y, K = T.matrix("x"), T.matrix("y"), T.lscalar("k")
R = np.random.default_rng(0)
A, B = R.random((2, 5, 6))


def last(body, *firsts, until=False):
    found, _ = ag.scan(body, outputs_info=list(firsts), n_steps=K)
    return [f[-1] for f in (found if isinstance(found, list) else [found])]


def stencil(a):
    return T.set_subtensor(a[1:-1, 1:-1], 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]))


def nested(a):
    inner, _ = ag.scan(lambda k, s: T.inc_subtensor(s[k, 1:], 0.5 * s[k, :-1]), T.arange(3), a)
    return stencil(inner[-1])


def two_writes(a):
    b = T.set_subtensor(a[0], a[1] * 2)
    return T.set_subtensor(b[1], b[0] + a[2])


CASES = {
    "a stencil": lambda: last(stencil, X),
    "two states read each other": lambda: last(
        lambda a, b: [T.set_subtensor(a[1:], b[:-1] * 0.5), T.set_subtensor(b[0], a[1])], X, Y
    ),
    "the value before the write is a state": lambda: last(lambda a, b: [T.set_subtensor(a[0], b[1] + 1), a], X, Y),
    "the value before the write is read behind it": lambda: last(
        lambda a, s: [T.set_subtensor(a[0], s), (a * T.set_subtensor(a[0], s)).sum(axis=0)], X, Y[0]
    ),
    "both begin as one array": lambda: last(
        lambda a, b: [T.set_subtensor(a[0], b[1]), T.set_subtensor(b[1], a[0] + 1)], X, X
    ),
    "states swap": lambda: last(lambda a, b: [T.set_subtensor(b[0], 1.0), a], X, Y),
    "one value twice": lambda: last(lambda a, b: [T.set_subtensor(a[0], b[1]), T.set_subtensor(a[0], b[1])], X, Y),
    "the whole state": lambda: last(lambda a: T.tanh(a) + 0.1, X),
    "the first value is read in each step": lambda: last(lambda a: T.set_subtensor(a[0], a[0] + X[1]), X),
    "transposed": lambda: last(lambda a: T.set_subtensor(a.T[1:], a.T[:-1] + 1).T, X),
    "loops in loops": lambda: last(nested, X),
    "two writes": lambda: last(two_writes, X),
    "a choice": lambda: last(lambda a: ag.cond(a[0, 0] > 0.5, lambda: T.set_subtensor(a[0], a[1] * 0.3),
                                               lambda: T.inc_subtensor(a[0, 0], 0.4)), X),
    "a trace": lambda: [ag.scan(stencil, outputs_info=X, n_steps=K)[0]],
    "until a value": lambda: [
        ag.while_loop(lambda s: (s[0][0, 0] < 4) & (s[1] < K),
                      lambda s: (T.inc_subtensor(s[0][0, :2], 0.5), s[1] + 1), (X, T.constant(0, "int64")))[0]
    ],
    "a temporary value": lambda: last(stencil, T.exp(X)),
    "elements": lambda: last(
        lambda a, s: [T.set_subtensor(a[0, 0], s), a[0, 0] + a[1, 1]], X, Y[0, 0]
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def functions():
    outputs = [output for make in CASES.values() for output in make()]
    return [ag.function([X, Y, K], outputs, mode=mode, on_unused_input="ignore") for mode in ("FAST_RUN", "NUMPY")]


@pytest.mark.few(1)
@pytest.mark.parametrize("steps", [1, 2, 7])
def test_values_and_inputs(functions, steps):
    compiled, meaning = functions
    a, b = A.copy(), B.copy()
    for mine, expected in zip(compiled(a, b, steps), meaning(A, B, steps), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12)
    np.testing.assert_array_equal(a, A)
    np.testing.assert_array_equal(b, B)
    for mine, expected in zip(compiled(A.T.copy().T, B[:, ::-1], steps), meaning(A, B[:, ::-1], steps), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=1e-12)


def test_no_steps_and_errors_in_the_middle():
    f = ag.jit(filled)
    x = A.copy()
    np.testing.assert_array_equal(f(x, 0), A)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 of x with size 5"):
        f(x, 30)
    np.testing.assert_array_equal(x, A)
    shared = ag.shared(A.copy(), "state")
    g = ag.function([K], [], updates={shared: last(stencil, shared)[0]})
    g(3)
    expected = ag.function([X, K], last(stencil, X), mode="NUMPY")(A, 3)[0]
    np.testing.assert_allclose(shared.get_value(), expected)


def filled(x, n):
    for k in range(n):
        x[k] = x[k - 1] + 1
    return x


@pytest.mark.long
def test_gradients_and_examples():
    loss = (last(stencil, X)[0] ** 2).sum()
    mine, meaning = (ag.function([X, K], ag.grad(loss, X), mode=m) for m in ("FAST_RUN", "NUMPY"))
    np.testing.assert_allclose(mine(A, 3), meaning(A, 3), rtol=1e-10)
    many = T.tensor3("many")
    batched = ag.function([many, K], ag.vmap(lambda a: last(stencil, a)[0])(many))
    one = ag.function([X, K], last(stencil, X)[0])
    np.testing.assert_allclose(batched(np.stack([A, B]), 4), [one(A, 4), one(B, 4)], rtol=1e-12)


def test_no_step_moves_the_array():
    """Bytes of a step: of the part that it writes, however large the array is."""
    x = T.matrix("v")  # parts of matrices: a loop over elements has vectors only
    states, _ = ag.scan(lambda k, a: T.set_subtensor(a[k : k + 2], T.tanh(a[k : k + 2])), T.arange(K), x)
    f = ag.function([x, K], states[-1], profile=True)
    for _ in range(3):
        f(np.ones((100_000, 1)), 200)
    (loop,) = [s for s in f.profile.steps if s.bodies]
    (body,) = loop.bodies
    assert sum(node.bytes for node in body.nodes) <= 100 * body.steps
    (step,) = [s for s in plan(f.graph).steps if type(s).__name__ == "Loop"]
    assert step.held == (True,)

    def outer_step(k, a):
        return ag.scan(lambda j, b: T.set_subtensor(b[j : j + 2], b[k] + 1), T.arange(K), a)[0][-1]

    inner, _ = ag.scan(outer_step, T.arange(K), x)
    (outer,) = [b for b in plan(ag.function([x, K], inner[-1]).graph).bodies if b.bodies]
    (step,) = [s for s in outer.steps if type(s).__name__ == "Loop"]
    assert step.held == (True,) and step.states[0].base == step.results[0].base == "in1"


def turns(n, a, b):
    for _ in range(n):
        b[1:-1, 1:-1] = 0.3 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, 2:])
        a[1:-1, 1:-1] = 0.3 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, 2:])


def own_positions(n, a, b):
    for _ in range(n):
        a[1:] -= 0.5 * (b[1:] - b[:-1])
        b[:-1, :-1] -= 0.25 * (a[1:, 1:] - a[1:, :-1])


def other_positions(n, a, b):
    for _ in range(n):
        a[1:] = 0.5 * a[:-1] + b[1:]


def read_between(n, a, b):
    for _ in range(n):
        new = 0.5 * b[1:] + 1
        b[:-1] = a[1:] * a[:1]
        a[1:] = new + a[1:].sum()


def read_after_a_write(n, a, b):
    for _ in range(n):
        new = 0.5 * b[1:] + 1
        a[1:] = new
        a[:-1] = 2.0
        b[1:] += new * 0.1


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("program", "copies"),
    [(turns, 0), (own_positions, 0), (other_positions, 1), (read_between, 2), (read_after_a_write, 2)],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_values_in_their_parts(program, copies):
    """A value is computed in the part that it is written to, unless that changes what is read later."""
    f = ag.jit(program)
    for shapes in (((6, 7), (6, 7)), ((1, 7), (1, 7)), ((0, 3), (0, 3)), ((6, 7), (6, 7))):
        a, b = (R.random(shape) for shape in shapes)
        expected, mine = (a.copy(), b.copy()), (a.copy(), b.copy())
        program(5, *expected)
        f(5, *mine)
        for one, other in zip(mine, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    (trace,) = f.traces.values()
    (body,) = plan(trace.function.graph, strict=True).bodies
    moves = [s for s in body.steps if type(s).__name__ == "Call" and s.function == "copy" and s.writes[0].lengths]
    assert len(moves) <= copies


@pytest.mark.long
def test_values_of_other_lengths():
    """Lengths that are assumed to be equal and are not: broadcast as in NumPy, or NumPy's error."""

    def filled(n, a, b):
        for _ in range(n):
            a[1:, 1:] = 0.5 * (b[1:, 1:] + b[:-1, 1:])
            b[1:] = b[:-1] + a[1:].sum()

    f = ag.jit(filled)
    for shapes in (((4, 5), (4, 5)), ((4, 5), (2, 5)), ((4, 5), (4, 2))):
        a, b = (R.random(shape) for shape in shapes)
        expected, mine = (a.copy(), b.copy()), (a.copy(), b.copy())
        filled(3, *expected)
        f(3, *mine)
        for one, other in zip(mine, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
    with pytest.raises(ValueError, match="lengths"):
        f(3, np.ones((4, 5)), np.ones((3, 5)))


def copied_in_a_branch(a, x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            copy = a.copy()
            copy[i] = 5.0
            s += copy.sum()
    return s


def copied_and_cleared_in_a_branch(a, x):
    s, b = 0.0, a.copy()
    for i in range(len(x)):
        b[i] += 1.0
        if x[i] > 0:
            copy = b.copy()
            copy[i] = 5.0
            for j in range(len(x)):
                s += copy[j] if copy[j] > 2 else 0.0
                copy[j] = 0.0
    return s, b


def copied_and_read_in_a_branch(a, x):
    s, b = 0.0, a.copy()
    for i in range(len(x)):
        b[i] += 1.0
        if x[i] > 0:
            copy = b.copy()
            copy[i] = 5.0
            copy[i - 1] = 3.0
            s += copy[int(x[i])] * copy[int(x[i + 1 - len(x)])]
    return s, b


def marked_and_read_in_a_branch(a, x):
    """A write that a branch reads through, and that stands behind the choice."""
    out, found = a.copy(), 0
    for i in range(len(x)):
        k = i * 5 % len(x)
        before = out[k - 1]
        if out[k] == 0:
            out[k] = 2.0
            for j in (k - 1, k, (k + 3) % len(x)):
                if j >= 0 and out[j] == 0:
                    found += 1
        found += 3 if before == 2 else 0
    return out, found


@pytest.mark.parametrize("f", [
    copied_in_a_branch, copied_and_cleared_in_a_branch, copied_and_read_in_a_branch, marked_and_read_in_a_branch,
])  # fmt: skip
def test_a_branch_writes_no_array_that_is_read_behind_it(f):
    a, x = np.arange(8.0) % 3, np.array([1.0, -1, 1, 1, -1, 1, 1, 1])
    given = a.copy()
    ours, theirs = ag.jit(f)(given, x), f(a, x)
    for one, other in zip(ours, theirs, strict=True) if isinstance(theirs, tuple) else [(ours, theirs)]:
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(given, a)
