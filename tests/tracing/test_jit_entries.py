"""Native entries of jitted functions: they serve the calls that their trace serves, and no others."""

import threading

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.calls import native
from arignote.cbackend.calls.guards import guard_program
from arignote.function.compiled import NATIVE_AFTER
from arignote.tracing import entries

pytestmark = pytest.mark.skipif(not native.layouts_hold(), reason="objects of this Python lie in memory otherwise")

RATE, TABLE = 0.5, [1.0]


def entered(f, *arguments):
    """`f` after so many calls that it has its native entry."""
    for _ in range(NATIVE_AFTER + 1):
        f(*arguments)
    assert type(f._entry).__name__ == "builtin_function_or_method", f._entry
    return f


def root(x, tol=1e-12):
    while True:
        step = (x**3 - 2 * x - 5) / (3 * x**2 - 2)
        x = x - step
        if abs(step) < tol:
            return x


def sweep(x, y, n):
    for i in range(1, n):
        x[i] = x[i] * y[i] + x[i - 1]
    return x[0], y * n


def scaled(x, negative):
    return -x * RATE if negative else x * RATE


@pytest.mark.long
def test_numbers():
    f = entered(ag.jit(root), 2.5)
    for x in (2.5, 1.0, np.float64(1.5), np.array(3.0), 2, np.int64(3)):
        found = f(x)
        np.testing.assert_allclose(found, root(x), rtol=1e-12)
    assert type(f(2.5)) is type(f(2)) is float and type(f(np.float64(2.5))) is np.float64
    g = entered(ag.jit(lambda n: n // 2 + 1), 5)
    for n in (5, -5, 2**62, np.int64(9), 2.5, 2**63 - 1):
        assert g(n) == n // 2 + 1


def test_writes_reach_the_arrays_of_the_call():
    x, y = np.arange(1.0, 6), np.full(5, 0.5)
    f = entered(ag.jit(sweep), x.copy(), y, 5)
    strided, ahead = np.arange(10.0)[::2], np.arange(6.0)
    for a, b in [(x.copy(), y), (strided, y), (x.copy(), np.arange(10.0)[::-2]), (x[::-1].copy(), y)]:
        expected = a.copy()
        first, second = sweep(expected, b, 5)
        found = f(a, b, 5)
        np.testing.assert_array_equal(a, expected)
        assert found[0] == first
        np.testing.assert_array_equal(found[1], second)
    with pytest.raises(ValueError, match="shares elements"):
        f(ahead[1:], ahead[:-1], 5)
    same = x.copy()
    expected = same.copy()
    sweep(expected, expected, 5)
    f(same, same, 5)
    np.testing.assert_array_equal(same, expected)
    fixed = x.copy()
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        f(fixed, y, 5)
    kept = x.copy()
    with pytest.raises(IndexError):
        f(kept, y, 6)
    np.testing.assert_array_equal(kept, x)


def test_static_arguments_and_variables(monkeypatch):
    x = np.arange(4.0)
    f = entered(ag.jit(scaled), x, True)
    np.testing.assert_array_equal(f(x, True), -x * 0.5)
    np.testing.assert_array_equal(f(x, False), x * 0.5)
    np.testing.assert_array_equal(f(x, negative=True), -x * 0.5)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    for _ in range(NATIVE_AFTER + 2):
        np.testing.assert_array_equal(f(x, True), -x * 2.0)
    monkeypatch.setitem(globals(), "RATE", 0.25)
    np.testing.assert_array_equal(f(x, True), -x * 0.25)


def energy(x):
    return (x * x).sum() * RATE


@pytest.mark.parametrize("slope", [ag.grad(energy), ag.jit(ag.grad(energy))])
def test_gradients_have_entries(slope, monkeypatch):
    """Variables that functions of this library read are not checked at each call; those that yours read are."""
    x = np.arange(4.0)
    f = entered(slope, x)
    np.testing.assert_array_equal(f(x), x)
    monkeypatch.setitem(globals(), "RATE", 2.0)
    np.testing.assert_array_equal(f(x), 4 * x)


@ag.jit
def by_length(x):
    return x * 2 if len(x) > 3 else x * 3


def test_guards():
    long, short = np.arange(5.0), np.arange(2.0)
    f = entered(by_length, long)
    np.testing.assert_array_equal(f(long), long * 2)
    np.testing.assert_array_equal(f(short), short * 3)
    f = entered(by_length, short)
    np.testing.assert_array_equal(f(short), short * 3)
    np.testing.assert_array_equal(f(long), long * 2)
    for other in (long.astype("float32"), long.reshape(5, 1), long.astype(">f8")):
        np.testing.assert_array_equal(f(other), np.asarray(other) * (2 if len(other) > 3 else 3))


def test_what_is_read_elsewhere_has_no_entry():
    f = ag.jit(lambda x: x + TABLE[0])
    for _ in range(NATIVE_AFTER + 2):
        assert f(1.0) == 1.0 + TABLE[0]
    TABLE[0] = 3.0
    assert f(1.0) == 4.0


def test_several_threads():
    f, failed = entered(ag.jit(sweep), np.ones(50), np.ones(50), 50), []

    def work(k):
        for n in range(100):
            a, b = np.full(50, k + n / 8), np.ones(50)
            _, last = f(a, b, 50)
            if a[-1] != 50 * (k + n / 8) or last[0] != 50:
                failed.append((k, n))

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not failed


def thirds(x, n):
    """Branches on lengths and integers, decided when the call is traced."""
    m = len(x)
    if m % 3 == 1 and n * 2 - 1 > max(m, 4):
        return x * 2.0
    if m // 2 < 2 or n == 7:
        return x - 1.0
    return x + float(m)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*the call ran in Python")
def test_guards_on_lengths_and_integers_are_programs(monkeypatch):
    """No function of Python is called for them; each call takes the branch that Python takes."""
    made = []
    monkeypatch.setattr(entries, "_guard", lambda texts, *rest: made.append(texts))
    f = entered(ag.jit(thirds), np.arange(4.0), 9)
    for m in range(1, 9):
        for n in (-(2**63), -1, 0, 3, 7, 9, 2**62, 2**63 - 1, np.int64(7)):
            np.testing.assert_array_equal(f(np.arange(float(m)), n), thirds(np.arange(float(m)), int(n)))
    assert made and not any(made)


@pytest.mark.parametrize(
    "text, steps",
    [
        ("a[0].shape[0] > 0", "0 n0_0 less"),
        ("(a[0].shape[0] >= 2) is False", "2 n0_0 at_most not"),
        ("-1 <= a[1].item() <= -(2 * 3)", "-1 x1 at_most x1 0 2 3 mul sub at_most and"),
        (
            "max(a[0].shape[0], 2) // 2 == 1 or not a[1].item() != 1",
            "n0_0 2 maximum 2 floordiv 1 equal x1 1 equal not not or",
        ),
        ("(4 if a[0].shape[0] == 1 else a[0].shape[0]) % 2 == 0", "n0_0 1 equal 4 n0_0 select 2 mod 0 equal"),
        (f"a[1].item() >= {-(2**63)}", f"{-(2**63)} x1 at_most"),
        (f"a[1].item() < {2**63}", None),
        ("a[2].item() < 1.5", None),
        ("a[2].item() < 1", None),
        ("a[0].strides[0] == 8", None),
        ("a[0].shape[0] / 2 == 1.5", None),
        ("a[0].shape[1] == 1", None),
        ("a[1].item() == True", None),
    ],
)
def test_programs_of_guards(text, steps):
    found = guard_program(text, [T.vector("x"), T.lscalar("n"), T.dscalar("v")])
    words = found and [_word(*step) for step in found]
    assert words == (steps and steps.split())


def _word(operation, operand):
    places = {"number": str, "extent": lambda o: f"n{o[0]}_{o[1]}", "value": lambda o: f"x{o}"}
    return places[operation](operand) if operation in places else operation


@pytest.mark.filterwarnings("ignore:.*the call ran in Python")
def test_integers_that_leave_64_bits_in_a_guard_go_to_python():
    """Python's integers do not wrap, so neither may those of a guard."""
    f = entered(ag.jit(lambda n: 1.0 if n * 4 + 1 > 0 else -1.0), 3)
    for n in (-(2**63), -(2**61) - 1, -1, 0, 2**61, 2**62, 2**63 - 1):
        assert f(n) == (1.0 if n * 4 + 1 > 0 else -1.0), n


def search(x, v):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


def test_an_index_made_of_lengths_serves_all_lengths():
    f = ag.jit(search)
    for n in (4, 9, 1000):
        assert f(np.arange(float(n)), 3.0) == 3
    (traces,) = f._found.values()
    assert len(traces if isinstance(traces, list) else [traces]) == 1


def nested(x, y, z):
    """Of a length that nests six deep."""
    a = np.concatenate([x, y[1:]])
    b = np.concatenate([a[::2], z])
    return np.concatenate([b[1:], x])[::3] * 2.0


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_lengths_of_any_nesting_have_entries(n):
    x, y, z = np.arange(1.0 * n), np.arange(3.0 * n + 1), np.arange(7.0)
    f = entered(ag.jit(nested), x, y, z)
    for k in range(4):
        parts = x[k:], y[: n + k], z[::-1]
        np.testing.assert_array_equal(f(*parts), nested(*parts))
