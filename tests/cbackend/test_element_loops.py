"""Loops of scalars and elements as one C function: values, errors, the text of their kernels."""

import os
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.ir.parse import parse_kernel
from arignote.cbackend.program.plan import plan
from arignote.cbackend.program.text.parsing import parse_program
from arignote.cbackend.program.text.printing import program_text

R = np.random.default_rng(0)


def fibonacci(x, n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def sorted_by_bubbles(x, n):
    for i in range(n):
        for j in range(len(x) - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def table(x, n):
    t = np.zeros((len(x), len(x)), np.int32)
    for i in range(1, len(x)):
        for j in range(1, len(x)):
            t[i, j] = max(t[i - 1, j], t[i, j - 1]) if x[i] > x[-j] else t[i - 1, j - 1] + 1
    return t


def counted(x, n):
    counts = np.zeros(7, np.int64)
    for v in x:
        counts[int(abs(v) * 6.9)] += 1
    return counts


def long_inner_loop(x, n):
    total = 0.0
    for i in range(len(x)):
        k, v = 0, x[i]
        while v > 0.01 and k < 200:
            v = v * v * 0.99
            k += 1
        total += v + k
    return total


def smoothed(x, n):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = 0.9 * y[i - 1] + 0.1 * x[i]
    return y


def found(x, n):
    for i in range(len(x)):
        if x[i] > 0.9:
            return i
    return -1


def of_rows(x, n):
    m = x.reshape(2, -1)
    s = np.zeros(m.shape[1])
    for i in range(40):
        row = m[i % 2]
        for j in range(m.shape[1]):
            s[j] += row[j] * m[-1, j]
    return s


def by_other_rows(x, n):
    """Distances, some of them negative: an element that a whole loop reads changes within it."""
    paths = np.outer(x, x) - 0.3 * x[0]
    for k in range(len(x)):
        for i in range(len(x)):
            for j in range(len(x)):
                if paths[i, k] + paths[k, j] < paths[i, j]:
                    paths[i, j] = paths[i, k] + paths[k, j]
    return paths


def by_own_element(x, n):
    for i in range(len(x)):
        x[i] -= 0.5 * x[n // 3]
    return x


def loop_in_a_branch(x, n):
    for i in range(len(x)):
        before = x[0]
        if x[i] > 0.5:
            for j in range(i, len(x), 3):
                x[j] = x[j] * 0.5 + x[0]
        x[i] += before + x[0]
    return x


def loops_in_both_branches(x, n):
    other = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 0.5:
            other[i] = x[i]
            for j in range(i + 1, len(x)):
                x[j] -= 0.01
                other[j] += x[j]
        else:
            for j in range(i):
                other[j] -= x[i]
                x[j] += 0.01
    return x + other


def swapped_in_a_branch(x, n):
    y = x[::-1].copy()
    for i in range(len(x)):
        if x[i] > y[i]:
            for j in range(len(x)):
                x[j], y[j] = y[j], x[j]
    return x - y


def numbered(x, n):
    """A state that begins with 0, 1, 2, ..., beside a loop that counts the same numbers."""
    parent = np.arange(len(x))
    for i in np.arange(len(x)):
        a, b = i, int(x[i] * 17)
        while parent[a] != a:
            parent[a] = parent[parent[a]]
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        parent[b] = a
    return parent


PROGRAMS = [
    loop_in_a_branch, loops_in_both_branches, swapped_in_a_branch,
    fibonacci, sorted_by_bubbles, table, counted, long_inner_loop, smoothed, found, of_rows, by_other_rows,
    by_own_element, numbered,
]  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program):
    f = ag.jit(program)
    for x, n in ((R.random(24), 24), (R.random(30)[::-1], 30), (np.float32(R.random(18)), 20)):
        expected = program(x.copy(), n)
        np.testing.assert_array_equal(f(x.copy(), n), expected)
    (trace, *_) = f.traces.values()
    source = trace.function.c_source()
    assert ", element by element */" in source and "ag_looped" not in source


def test_scans():
    """Traces, dtypes, loops without steps, several loops in one function."""
    x, z, h = T.vector("x"), T.zvector("z"), T.tensor("h", "float16", (None,))
    k, b = T.lscalar("k"), T.vector("b", "bool")
    outputs = [
        *ag.scan(lambda v, s, t: [s * 0.5 + v, t + s, s * v], x, [T.constant(1.0), T.constant(0.0), None])[0],
        ag.scan(lambda v, s: s * v + 1, z, T.constant(1j))[0][-1],
        ag.scan(lambda v, s: (s + v).astype("float16"), h, T.constant(0, "float16"))[0],
        ag.scan(lambda v, s: s ^ v, b, T.constant(False))[0][-1],
        ag.scan(lambda s: s * 3 // 2 % 1000 + 1, outputs_info=k, n_steps=k)[0],
        ag.scan(lambda s: T.exp(-s) + T.erf(s), outputs_info=x[0], n_steps=k)[0],
        ag.scan(lambda i, s: s + x[i] * x[-1 - i], T.arange(x.shape[0]), T.constant(0.0))[0][-1],
    ]
    compiled, meaning = (ag.function([x, z, h, k, b], outputs, mode=m) for m in ("FAST_RUN", "NUMPY"))
    for n in (1, 9):
        given = R.random(n), R.random(n) * 1j, np.float16(R.random(n)), n, R.random(n) > 0.5
        for mine, expected in zip(compiled(*given), meaning(*given), strict=True):
            np.testing.assert_allclose(mine, expected, rtol=1e-13)
            assert mine.dtype == expected.dtype
    assert "ag_looped" not in compiled.c_source()


def test_texts_read_back():
    x, k = T.vector("x"), T.lscalar("k")
    loop = ag.while_loop(lambda s: (s[0] < 9) & (s[1] < 5), lambda s: (s[0] + x[s[1]], s[1] + 1), (T.constant(0.0), k))
    program = plan(ag.function([x, k], list(loop)).graph, strict=True)
    (kernel,) = [kernel for kernel in program.kernels if "element by element" in kernel.comment]
    assert parse_kernel(str(kernel)) == kernel
    assert "poll" in str(kernel) and "break" in str(kernel)
    assert program_text(parse_program(program_text(program), program.graph, program.kernels)) == program_text(program)


def written_behind(x, n):
    for i in range(n):
        x[i + 1] = x[i]
    return x


def powers(x, n):
    s = 1
    for i in range(n):
        s = s + 2 ** (n // 2 - i)
    return s


def test_errors_name_the_line():
    expected = r"index 30 is out of bounds for axis 0 of x with size 30(?s:.*)x\[i \+ 1\] = x\[i\]"
    with pytest.raises(IndexError, match=expected):
        ag.jit(written_behind)(np.zeros(30), 30)
    with pytest.raises(ValueError, match=r"negative integer powers(?s:.*)s \+ 2"):
        ag.jit(powers)(np.zeros(30), 30)
    x, k = T.vector("x"), T.lscalar("k")
    inner = lambda s: ag.scan(lambda v, a: a + v, x[:], s, n_steps=k)[0][-1]  # noqa: E731
    f = ag.function([x, k], ag.scan(inner, outputs_info=T.constant(0.0), n_steps=2)[0][-1])
    with pytest.raises(ValueError, match="scan: sequence 0 has 3 elements for 4 steps"):
        f(np.ones(3), 4)
    with pytest.raises(ValueError, match="the number of steps is -1"):
        f(np.ones(3), -1)
    assert f(np.ones(3), 2) == 4


def ahead(x, y, k, n):
    for i in range(n):
        x[i + 1] += y[i + 2] * x[k]


def until(x, y, k, n):
    for i in range(n):
        if y[i] > 0.5:
            break
        x[i] = y[i + 1]


def in_a_branch(x, y, k, n):
    for i in range(n):
        if x[i] < 0:
            y[0] = x[i]
            y[k] = x[i + 1]


def in_the_other(x, y, k, n):
    for i in range(n):
        for j in range(n):
            if x[j] < y[j - k]:
                pass
            else:
                x[j] = y[i]
                y[i] = x[j - 1]


def in_both(x, y, k, n):
    for i in range(n):
        if x[i] < 0.2:
            x[i] = y[0]
        else:
            y[i] = x[k]


def across_the_front(x, y, k, n):
    for i in range(n):
        x[i - k] += y[i - 2]
        if x[i - 1] > 0.1:
            y[k - 3 + i] = 0.5 * x[i - k]


POSITIONS = [ahead, until, in_a_branch, in_the_other, in_both, across_the_front]


@pytest.mark.parametrize("program", POSITIONS, ids=lambda p: p.__name__)
def test_positions_are_those_of_python(program):
    """Values, or the error, for lengths 0, 1 and odd ones; positions before the front and behind the end."""
    f = ag.jit(program)
    cases = [(m, k, n) for m in (0, 1, 7) for k in (-8, -7, -1, 0, 3, 7) for n in (0, 1, 3, 5, 6, 7, 9)]
    for m, k, n in cases:
        x, y = np.linspace(-0.5, 0.7, m), np.linspace(0.1, 0.6, m)
        theirs, mine = (x.copy(), y.copy()), (x.copy(), y.copy())
        try:
            program(*theirs, k, n)
        except IndexError:
            with pytest.raises(IndexError, match=r"index -?\d is out of bounds for axis 0 of"):
                f(*mine, k, n)
            np.testing.assert_array_equal(mine, (x, y))
        else:
            f(*mine, k, n)
            np.testing.assert_array_equal(mine, theirs)


def innermost(program, *given):
    """Return the text of the innermost loop that ends last in the kernel of a program."""
    f = ag.jit(program)
    f(*given)
    (trace,) = f.traces.values()
    (kernel,) = [k for k in trace.function.program.kernels if "element by element" in k.comment]
    text = str(kernel)
    return text[text.rindex("for t") :].partition("break")[0]


def test_positions_change_their_sign_in_long_loops():
    x, y = R.random(9001), R.random(9001)
    mine, theirs = (x.copy(), y.copy()), (x.copy(), y.copy())
    across_the_front(*theirs, 4500, 4504)
    ag.jit(across_the_front)(*mine, 4500, 4504)
    np.testing.assert_array_equal(mine, theirs)
    with pytest.raises(IndexError, match=r"index 9\d\d\d is out of bounds for axis 0 of"):
        ag.jit(across_the_front)(x, y, 4500, 9001)


def sparse_product(rows, columns, values, x):
    y = np.zeros(len(rows) - 1)
    for i in range(len(rows) - 1):
        y[i] = values[rows[i] : rows[i + 1]] @ x[columns[rows[i] : rows[i + 1]]]
    return y


def shuffled(rows, columns, values, x):
    """Reads what it writes, at other positions; rows of a matrix; a fold of gathered elements."""
    m = np.zeros((2, len(x)))
    for i in range(len(rows) - 1):
        part = columns[rows[i] : rows[i + 1]]
        values[rows[i] : rows[i + 1]] = values[part]
        m[i % 2, i] = np.sum(x[part] * 2.0) + np.max(values[columns]) + np.sum(m[i % 2, part])
    return m, values


@pytest.mark.parametrize("program", [sparse_product, shuffled], ids=lambda p: p.__name__)
def test_elements_at_positions_that_are_read(program):
    f = ag.jit(program)
    rows, x = np.array([0, 0, 1, 4, 9]), R.random(9)
    for columns in (R.integers(0, 9, 9), R.integers(-9, 0, 9), R.permutation(9).astype(np.int16)):
        given = [rows, columns, R.random(9), x]
        expected = program(*(v.copy() for v in given))
        found = f(*(v.copy() for v in given))
        for mine, theirs in zip(flat(found), flat(expected), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-14)
    for wrong in (9, -10):
        columns = np.array([0, 1, 2, 3, wrong, 4, 5, 6, 7])
        with pytest.raises(IndexError, match=rf"index {wrong} is out of bounds for axis 0 (of|with).*size 9"):
            f(rows, columns, R.random(9), x)
    for trace in f.traces.values():
        assert "ag_looped" not in trace.function.c_source()


def flat(found):
    return found if isinstance(found, tuple) else (found,)


def test_checks_of_positions_stand_outside():
    x = R.random(9)
    assert "return" not in innermost(ahead, x.copy(), x.copy(), 1, 3)
    assert "switch" not in innermost(across_the_front, x.copy(), x.copy(), 1, 3)
    swaps = innermost(sorted_by_bubbles, x.copy(), 9)
    assert "return" not in swaps
    assert "else" not in swaps


INTERRUPT = """
import os, signal, threading
import arignote as ag
from arignote import ops as T
k = T.lscalar("k")
inner = lambda s: ag.scan(lambda a: a * 0.999 + 1, outputs_info=s, n_steps=100)[0][-1]
f = ag.function([k], ag.scan(inner, outputs_info=T.constant(0.0), n_steps=k)[0][-1])
g = ag.function([k], ag.while_loop(lambda s: s > -k, lambda s: s * 0.999 + 1, T.constant(0.0)))
f(3)
for h in (f, g):
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        h(2**40)
    except KeyboardInterrupt:
        print("stopped")
"""


@pytest.mark.long
def test_ctrl_c():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT], capture_output=True, text=True, timeout=100, check=False, env=os.environ
    )
    assert done.stdout.split() == ["stopped", "stopped"], done.stderr
