"""NumPy programs run unchanged under `ag.jit`: loops, branches and assignments give NumPy's values."""

import copy
import math
from collections import deque

import numpy as np
import pytest

import arignote as ag
from benchmarks.numpy_programs.programs import PROGRAMS, flat

SLOW = {
    "seidel_2d", "adi", "cavity_flow", "channel_flow", "floyd_warshall_elements", "mandelbrot2", "vadv", "nbody",
    "scattering_self_energies", "azimint_naive", "edit_distance", "symm", "lenet5", "nussinov",
}  # fmt: skip
"""Programs of many steps, which the long tests run."""


def close(found, expected):
    for a, b in zip(found, expected, strict=True):
        x, y = np.asarray(a), np.asarray(b)
        rtol = 1e-4 if y.dtype in (np.float32, np.complex64) else 1e-9
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol, strict=True)


def same_as_numpy(f, arguments, **options):
    theirs, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        expected = f(*theirs)
        found = ag.jit(f, **options)(*ours)
    close([*flat(found), *flat(ours)], [*flat(expected), *flat(theirs)])


def run(program, **options):
    same_as_numpy(program.function, program.arguments(np.random.default_rng(0)), **options)


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name not in SLOW], ids=lambda p: p.name)
def test_programs_give_numpys_values(program):
    run(program, mode="NUMPY")


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_compiled_programs_give_numpys_values(program):
    run(program)


# --- control flow


def first_above(x, limit):
    for i in range(len(x)):
        if x[i] > limit:
            return i
    return -1


def skipped(x):
    total, count = 0.0, 0
    for v in x:
        if v < 0.2:
            continue
        if v > 0.95:
            break
        total += v
        count += 1
    else:
        count = -count
    return total, count


def nested(x):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.99:
                return i, j
            if x[i, j] > 0.9:
                break
    return -1, -1


def halved(x):
    n = 0
    while x.sum() > 1 and n < 100:
        x *= 0.5
        n += 1
    return n


def backwards(x):
    for i in range(x.shape[0] - 2, -1, -2):
        x[i] += x[i + 1]


def pairs(x, y):
    total = 0.0
    for k, (a, b) in enumerate(zip(x, y)):
        total += (k + 1) * a * b
    return total


def rows(m):
    for row in m:
        row /= row.sum()


def swapped(u, v, n):
    u, v = u.copy(), v.copy()
    for _ in range(n):
        v[1:-1] = (u[:-2] + u[2:]) / 2
        u, v = v, u
    return u


def widened(x):
    total = 0
    for row in x:
        total = total + row
    largest = None
    for k in range(3):
        largest = x[k] if largest is None else np.maximum(largest, x[k])
    return total, largest


def helped(x):
    def f(v):
        if v > 0.5:
            return math.sqrt(v)
        return -v

    return np.array([f(v) for v in x]), [f(x[k]) for k in range(x.shape[0])][1]


def last_values(x):
    for i in range(x.shape[0]):
        y = x[i] * 2
    return i, y


def chosen(x):
    y = x * 2 if x.sum() > 0 else -x
    if x[0] > 0.5:
        x[1] = 3
        x[2] += 1
    elif x[0] > 0.1:
        x[1] = 4
    else:
        x[:] = 0
    return y.sum(), not x[1], 0 < x[0] < 0.9


def table(x):
    found = {"sum": 0.0, "names": []}
    for name, weight in (("a", 1.0), ("b", 2.0)):
        found["sum"] += weight * x.sum()
        found["names"].append(name)
    return found["sum"], len(found["names"])


def listed(x):
    out = []
    for k in range(x.shape[0]):
        out.append(x[k] * k)
    return np.stack(out)


X, M = np.random.default_rng(3).random(30), np.random.default_rng(4).random((20, 18))


@pytest.mark.parametrize(
    "f, arguments",
    [
        (first_above, (X, 0.9)), (first_above, (X, 2.0)), (skipped, (X,)), (skipped, (X * 0.9,)), (nested, (M,)),
        (nested, (M * 0.5,)), (halved, (X,)), (backwards, (X,)), (pairs, (X, X[:25] + 1)), (rows, (M,)),
        (swapped, (X, X * 0, 20)), (widened, (M,)), (helped, (X,)), (last_values, (X,)), (chosen, (X,)),
        (chosen, (X * 0 + 0.2,)), (chosen, (X * 0,)), (table, (X,)), (listed, (X,)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)  # fmt: skip
def test_control_flow_as_pythons(f, arguments):
    same_as_numpy(f, arguments, mode="NUMPY")


@pytest.mark.long
def test_control_flow_in_c():
    """One compiled function with loops, branches and writes of several kinds."""

    def f(x, m):
        a, b = first_above(x, 0.9), skipped(x)
        backwards(x)
        rows(m)
        return a, b, nested(m), swapped(x, x * 0, 20), chosen(x), last_values(x)

    same_as_numpy(f, (X, M))


def test_one_trace_serves_all_lengths():
    @ag.jit(mode="NUMPY")
    def f(x, n):
        s = 0.0
        for i in range(n):
            for j in range(len(x)):
                s += x[j] * i
        return s

    for size in (1, 20, 3):
        np.testing.assert_allclose(f(np.ones(size), size), f.__wrapped__(np.ones(size), size))
    assert len(f.traces) == 1


# --- what cannot be traced


def changes_rank(x):
    y = x
    for _ in range(len(x)):
        y = y[None]
    return y


def changes_shape(x):
    while x.sum() > 1:
        x = x[1:]
    return x


def rotates(x):
    out = deque()
    while x.sum() > 1:
        out.append(x[0])
        out.rotate(1)
        x = x * 0.5
    return out


def one_of_two(x):
    y = x if x[0] > 0 else -x
    y[0] = 3


def two_forms(x):
    if x[0] > 0:
        return 1.0
    return None


@pytest.mark.parametrize(
    "f, error, message",
    [
        (changes_rank, TypeError, r"the variable 'y' is .* arrays keep their rank in a loop"),
        (rotates, TypeError, r"a list of float64 that changes by values has no rotate\(\); it takes append"),
        (one_of_two, TypeError, "the conditional expression is one of two arrays, .* write to a copy"),
        (two_forms, TypeError, "the result is (None in one|.* and None in the)"),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_what_is_refused_says_the_line_and_the_fix(f, error, message):
    with pytest.raises(error, match=rf"(?s:{message}.*test_numpy_programs\.py:\d+)"):
        ag.jit(f)(np.ones(2000))


def test_states_that_change_their_shape_are_errors_of_the_call():
    with pytest.raises(ValueError, match=r"of shape .* becomes one of shape"):
        ag.jit(changes_shape, mode="NUMPY")(np.ones(20))


# --- gradients


def cost_of(f, arguments):
    """A scalar function of a program: the sum of its results and of the squares of what it writes."""

    def total(r):
        if isinstance(r, (tuple, list)):
            return sum([total(v) for v in r])
        return 0.0 if r is None else np.sum(r)

    def cost(*args):
        found = total(f(*args))
        for k in range(len(arguments)):
            if isinstance(arguments[k], np.ndarray) and arguments[k].ndim:
                found = found + np.sum(args[k] * args[k]) * 0.5
        return found

    return cost


def derivative_is_that_of_differences(f, arguments, symmetric=False, **options):
    """Compare along one direction; `symmetric` directions are for programs that take their matrix to be symmetric."""
    places = tuple(
        k for k, a in enumerate(arguments) if type(a) is float or (isinstance(a, np.ndarray) and a.dtype == np.float64)
    )
    cost = cost_of(f, arguments)
    rng = np.random.default_rng(1)
    ways = [rng.normal(size=np.shape(arguments[k])) for k in places]
    if symmetric:
        ways = [(way + np.transpose(way)) / 2 for way in ways]

    def at(h):
        moved = list(copy.deepcopy(arguments))
        for k, way in zip(places, ways, strict=True):
            moved[k] = moved[k] + h * way
        return cost(*moved)

    kept = copy.deepcopy(arguments)
    value, slopes = ag.value_and_grad(ag.jit(cost, **options), places)(*arguments)
    close([*flat(list(arguments))], [*flat(list(kept))])  # the caller's arrays stay
    np.testing.assert_allclose(value, at(0.0), rtol=1e-9)
    found = sum((np.asarray(s) * way).sum() for s, way in zip(slopes, ways, strict=True))
    np.testing.assert_allclose(found, (at(1e-6) - at(-1e-6)) / 2e-6, rtol=1e-4, atol=1e-5)


DIFFERENTIABLE = {
    "k2mm", "k3mm", "atax", "bicg", "mvt", "gemm", "gemver", "gesummv", "symm", "syrk", "syr2k", "trmm", "doitgen",
    "cholesky", "cholesky2", "lu", "ludcmp", "trisolv", "durbin", "gramschmidt", "covariance", "correlation", "spmv",
    "jacobi_1d", "jacobi_2d", "heat_3d", "seidel_2d", "fdtd_2d", "deriche", "hdiff", "arc_distance", "go_fast",
    "runge_kutta", "conjugate_gradient", "logistic_regression", "rnn",
}  # fmt: skip
OF_SYMMETRIC = {"conjugate_gradient"}
"""Programs for symmetric matrices: along other directions they are linear only within 1e-13, below the step."""
QUICK = {"atax", "mvt", "cholesky", "durbin", "spmv", "jacobi_1d", "rnn"}


@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name in QUICK], ids=lambda p: p.name)
def test_gradients_of_programs(program):
    derivative_is_that_of_differences(program.function, program.arguments(np.random.default_rng(0)), mode="NUMPY")


@pytest.mark.long
@pytest.mark.parametrize("program", [p for p in PROGRAMS if p.name in DIFFERENTIABLE], ids=lambda p: p.name)
def test_gradients_of_compiled_programs(program):
    arguments = program.arguments(np.random.default_rng(0))
    derivative_is_that_of_differences(program.function, arguments, program.name in OF_SYMMETRIC)


def damped(x, rate):
    n = 0
    while (x * x).sum() > 1.0:
        for i in range(x.shape[0]):
            if x[i] > 0.2:
                x[i] *= rate
            else:
                x[i] = x[i] * 0.9 + x[i - 1] * 0.05
        n += 1
    return n * 0.0 + x.sum()


def test_gradients_of_control_flow():
    derivative_is_that_of_differences(damped, (X.copy() + 0.01, 0.7), mode="NUMPY")
    slopes = ag.grad(lambda p: (p["w"] * p["b"][0]).sum())({"w": np.ones(3), "b": [2.0]})
    np.testing.assert_allclose(slopes["w"], [2, 2, 2])
    np.testing.assert_allclose(slopes["b"][0], 3)
    with pytest.raises(TypeError, match=r"grad: of a function, expected positions of its arguments.* got 'x'"):
        ag.grad(damped, "x")
    with pytest.raises(TypeError, match="grad: argument 3 is not among the 2 positional arguments"):
        ag.grad(damped, 3)(X, 0.5)
