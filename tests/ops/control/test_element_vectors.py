"""Vectors in loops over elements: slices, overlapping writes, sums and products of parts, broadcasts, errors."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.control.scan_ops import looped

R = np.random.default_rng(0)


def forward_substitution(x, a):
    for i in range(len(x)):
        x[i] = (x[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def mirrored(x, a):
    """Writes read other positions of the same array."""
    for k in range(1, len(x)):
        x[:k] += 0.25 * np.flip(x[:k])
        x[k:] = x[: len(x) - k] * 0.5 + a[k, k:]
        x[1 : k + 1] = x[:k]
    return x


def eliminated(x, a):
    for k in range(len(x)):
        for i in range(k + 1, len(x)):
            a[i, k + 1 :] -= a[k, k + 1 :] * a[i, k] / a[k, k]
            a[i, k] = 0
        a[:, k] *= x[k]
    return a


def folded(x, a):
    s = np.zeros_like(x)
    for i in range(len(x)):
        s[i] = a[i, i:].sum() + a[: i + 1, i].max() * np.exp(a[i] * x - 1).min() + np.prod(a[i, -2:] + x[-2:])
    return s


def bounded(x, a):
    """Bounds behind the ends, from the end, and parts of parts."""
    for i in range(len(x)):
        x[i - 3 : i + 2] += a[i - 1, i - 3 : i + 2]
        x[-i:] -= a[-1, -i:] * 0.125
        x[len(x) + i :] = 7
        x[: i : -1] = a[i, : i : -1]
        x[i:] = x[i:][::-1]
    return x


def broadcast(x, a):
    for i in range(len(x)):
        x[i:] += a[i, i : i + 1]
        x[: i + 1] = x[i : i + 1] + a[i, : i + 1]
        x[i] += (x[i : i + 1] * a[i]).sum()
    return x


def until_small(x, a):
    k = 1
    while x[:k].sum() > 1.0 and k < len(x):
        x[:k] = x[:k] * 0.5 + a[k, :k] * 0.01
        k += 1
    return x, k


def nested_copies(x, a):
    for i in range(1, len(x)):
        for j in range(i):
            a[j, :i] = a[i, :i] + a[j, j] * x[:i]
        x[:i] = a[:i, i]
    return x, a


PROGRAMS = [forward_substitution, mirrored, eliminated, folded, bounded, broadcast, until_small, nested_copies]


def the_same(program, x, *others):
    mine, expected = ([given.copy() for given in (x, *others)] for _ in range(2))
    f = ag.jit(program)
    found, wanted = f(*mine), program(*expected)
    rtol = 1e-4 if x.dtype == np.float32 else 1e-11
    for one, other in zip((*ag.tree.leaves(found), *mine), (*ag.tree.leaves(wanted), *expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol)
    return f


@pytest.mark.few(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program):
    for n, dtype in ((19, np.float64), (23, np.float32)):
        x, a = R.random(n).astype(dtype), (R.random((n, n)) + n * np.eye(n)).astype(dtype)
        f = the_same(program, x, a)
    the_same(program, np.ascontiguousarray(x[::-1])[::-1], np.asfortranarray(a))
    (trace, *_) = f.traces.values()
    source = trace.function.c_source()
    assert ", element by element */" in source and "ag_looped" not in source


def counts(x, a):
    for i in range(len(x)):
        x[i:] += a[i, : len(x) - i] @ a[: len(x) - i, i]
        x[i] = (x[:i].sum() ^ x[i:].max()).astype(x.dtype)
        a[i, :i] ^= x[:i]
    return x


@pytest.mark.long
def test_integers():
    the_same(counts, R.integers(0, 9, 20), R.integers(0, 9, (20, 20)))
    the_same(counts, R.integers(0, 9, 20).astype(np.uint8), R.integers(0, 9, (20, 20)).astype(np.uint8))


def uneven(x, a):
    for i in range(1, len(x)):
        x[:i] = a[i, : i + 2] * 2.0
    return x


def uneven_product(x, a):
    for i in range(1, len(x)):
        x[i] = x[:i] @ a[i, : i + 2]
    return x


def nothing(x, a):
    for i in range(len(x)):
        x[i] = a[i, :i].max()
    return x


def test_errors():
    x, a = np.ones(20), np.ones((20, 20))
    with pytest.raises(ValueError, match=r"lengths 3 and 1|lengths 3 and 2(?s:.*)x\[:i\] ="):
        ag.jit(uneven)(x.copy(), a)
    with pytest.raises(ValueError, match=r"lengths 1 and 3 of the axes that are summed over(?s:.*)@ a\[i"):
        ag.jit(uneven_product)(x.copy(), a)
    with pytest.raises(ValueError, match=r"maximum or minimum of no elements(?s:.*)max\(\)"):
        ag.jit(nothing)(x.copy(), a)


BOUNDS = ("", "i", "-i", "i + 1", "2", "-2", "n - i", "j", "i - 2")
VALUES = (
    "{p}", "0.5 * {p}", "{p}[::-1]", "{p} * y[{s}]", "np.minimum({p}, y[{s}])", "x[i]", "{p}.sum()", "{p} @ y[{s}]",
)  # fmt: skip


def drawn_program(r):
    """The text of a loop that writes parts of x and y from parts of both."""
    lines = ["def program(x, y):", "    n = len(x)", "    for i in range(1, n):", "        for j in range(i):"]
    for _ in range(r.integers(1, 5)):
        start, stop = r.choice(BOUNDS, 2)
        s = f"{start}:{stop}" + r.choice(["", "", ":-1"])
        p = r.choice(["x", "y"]) + f"[{s}]"
        moved = r.choice(["x", "y"]) + f"[{start}:{stop}]"
        value = str(r.choice(VALUES)).format(p=r.choice([p, moved]), s=r.choice([s, f"{start}:{stop}"]))
        lines.append(f"            {r.choice(['x', 'y'])}[{s}] {r.choice(['=', '+='])} np.tanh(0.25 * ({value}))")
    return "\n".join([*lines, "    return x, y"])


def compare_drawn(seed, folder):
    r = np.random.default_rng(seed)
    text = drawn_program(r)
    path = folder / f"drawn_{seed}.py"
    path.write_text("import numpy as np\n\n\n" + text + "\n")
    scope = {}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    program, n = scope["program"], 18
    given = r.random(n), r.random(n)
    try:
        wanted = program(*(g.copy() for g in given))
    except ValueError:
        with pytest.raises(ValueError):
            ag.jit(program)(*(g.copy() for g in given))
        return
    found = ag.jit(program)(*(g.copy() for g in given))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, err_msg=text)


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(4))
def test_drawn(seed, tmp_path):
    compare_drawn(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 104))
def test_many_drawn(seed, tmp_path):
    compare_drawn(seed, tmp_path)


def one_step(x, state, values):
    """A loop over the rows of a state that gives values of each step, and its results."""
    i, a = T.lscalar("i"), T.matrix("a")
    n = x.shape[0]
    return looped(T.Scan, n, [T.arange(n)], [i], [x], [a], [state(i, a)], values(i, a), traced=(False,))



def test_vectors_of_a_step_are_stored_before_they_change():
    x = T.matrix("x")
    found = one_step(
        x, lambda i, a: T.set_subtensor(a[i], T.tanh(a[i - 1]) + a[i]),
        lambda i, a: [a[i], T.exp(a[i]), a[i, ::-1], a[i - 1], a],
    )  # fmt: skip
    f = ag.function([x], list(found))
    for given in (R.random((5, 4)), R.random((3, 0)), R.random((0, 4))):
        rows, state = [], given.copy()
        for k in range(len(given)):
            old = state.copy()
            state[k] = np.tanh(state[k - 1]) + state[k]
            rows.append((old[k], np.exp(old[k]), old[k, ::-1], old[k - 1], old))
        results = f(given)
        np.testing.assert_allclose(results[0], state)
        for k, found_rows in enumerate(results[1:]):
            assert len(found_rows) == len(given)
            for one, row in zip(found_rows, rows, strict=True):
                np.testing.assert_allclose(one, row[k])
    source = f.c_source()
    assert ", element by element */" in source and "ag_looped" not in source


def test_parts_that_are_read_late_are_held():
    """The row is read behind two writes that change it, and each step copies no more than the row."""
    x = T.matrix("x")

    def state(i, a):
        g = a[i]
        cleared = T.set_subtensor(a[i], 0.0)
        return T.inc_subtensor(cleared[i - 1], g * T.sum(cleared[i - 1]))

    (found,) = one_step(x, state, lambda i, a: [])
    f = ag.function([x], found)
    given = R.random((6, 5))
    expected = given.copy()
    for k in range(6):
        row = expected[k].copy()
        expected[k] = 0
        expected[k - 1] += row * expected[k - 1].sum()
    np.testing.assert_allclose(f(given), expected)
    assert "ag_looped" not in f.c_source()


@pytest.mark.parametrize("lengths", [(4, 4), (4, 1), (1, 1), (0, 1), (0, 0)])
def test_sums_to_a_length_of_the_call(lengths):
    x, y = T.matrix("x"), T.vector("y")
    (found,) = one_step(x, lambda i, a: T.set_subtensor(a[i], T.SumTo()(a[i - 1] * 2.0, y)), lambda i, a: [])
    f = ag.function([x, y], found)
    long, short = lengths
    given = R.random((3, long))
    expected = given.copy()
    for k in range(3):
        row = expected[k - 1] * 2
        expected[k] = row if short == long else row.sum()
    np.testing.assert_allclose(f(given, np.zeros(short)), expected)
    assert "ag_looped" not in f.c_source()


def test_a_vector_of_another_length_than_before_is_refused():
    x = T.matrix("x")
    found = one_step(x, lambda i, a: T.set_subtensor(a[i], 1.0), lambda i, a: [a[i, : i + 1]])
    with pytest.raises(ValueError, match=r"value 0 of shape \(1,\) becomes one of shape \(2,\)"):
        ag.function([x], list(found))(np.zeros((3, 3)))


def scattered(x, places, a, starts):
    """Some elements have several values; the last step reads numbers that a former one wrote."""
    for i in range(len(starts) - 1):
        part = slice(starts[i], starts[i + 1])
        np.add.at(x, places[part], a[part] * x[i])
        x[places[part]] = a[part] * x[i]
        np.add.at(x, places[part], a[i : i + 1])
        np.add.at(x, places[part], a[i])
    return x


@pytest.mark.parametrize("dtype", ["float64", "int16"])
def test_values_are_written_at_positions_in_order(dtype):
    starts = np.concatenate([[0], np.cumsum(R.integers(0, 5, 19))])
    places, a = R.integers(-20, 20, starts[-1]), R.integers(0, 3, starts[-1]).astype(dtype)
    f = the_same(scattered, R.integers(0, 3, 20).astype(dtype), places, a, starts)
    (trace,) = f.traces.values()
    assert "ag_looped" not in trace.function.c_source()
    places[starts[18] - 1], x = 20, np.zeros(20, dtype)
    with pytest.raises(IndexError, match="index 20 is out of bounds for axis 0 of x with size 20"):
        f(x, places, a, starts)
    assert not x.any()


def gathered(x, places, starts):
    y = np.zeros(len(starts) - 1)
    for i in range(len(starts) - 1):
        y[i] = np.sin(x[places[starts[i] : starts[i + 1]]]).sum()
    return (y * y).sum()


def test_the_derivative_of_a_gather_is_one_loop():
    starts = np.concatenate([[0], np.cumsum(R.integers(0, 5, 19))])
    x, places, way = R.random(20), R.integers(0, 20, starts[-1]), R.normal(size=20)
    both = ag.value_and_grad(gathered)
    _, slope = both(x, places, starts)
    up, down = (gathered(x + step * way, places, starts) for step in (1e-6, -1e-6))
    np.testing.assert_allclose(slope @ way, (up - down) / 2e-6, rtol=1e-7)
    (trace,) = both.traces.values()
    assert "ag_looped" not in trace.function.c_source()
