"""Lists and dicts by indices and keys that depend on values, and lists of lists, under `ag.jit`."""

import numpy as np
import pytest

import arignote as ag
from arignote.cbackend.program.planners.loops import is_elementary
from arignote.ops.control.scan_ops import Scan
from arignote.ops.lowered.fused import unmarked

R = np.random.default_rng(0)
A, B = R.integers(0, 4, 30), R.integers(0, 4, 25)
X = R.random(40)


def edit_distance(a, b):
    m, n = len(a), len(b)
    d = [[0] * (n + 1) for _ in range(m + 1)]
    for j in range(n + 1):
        d[0][j] = j
    for i in range(1, m + 1):
        d[i][0] = i
        for j in range(1, n + 1):
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
    return d[m][n]


def knapsack(weights, values, cap):
    best = [0] * (cap + 1)
    for w, v in zip(weights, values):
        for c in range(cap, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[cap]


def knapsack_table(weights, values, cap):
    n = len(weights)
    t = [[0] * (cap + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for c in range(cap + 1):
            t[i][c] = t[i - 1][c]
            if weights[i - 1] <= c:
                t[i][c] = max(t[i][c], t[i - 1][c - weights[i - 1]] + values[i - 1])
    picked = []
    c = cap
    for i in range(n, 0, -1):
        if t[i][c] != t[i - 1][c]:
            picked.append(i - 1)
            c -= weights[i - 1]
    return t[n][cap], picked


def turns(steps):
    dirs = [(0, 1), (1, 0), (0, -1), (-1, 0)]
    x = y = 0
    d = 0
    for s in steps:
        d = (d + s) % 4
        dx, dy = dirs[d]
        x += dx
        y += dy
    return x, y


def ant(n):
    size = 15
    grid = [[0] * size for _ in range(size)]
    r = c = 7
    d = 0
    moves = ((-1, 0), (0, 1), (1, 0), (0, -1))
    for _ in range(n):
        if grid[r][c] == 0:
            d = (d + 1) % 4
        else:
            d = (d - 1) % 4
        grid[r][c] ^= 1
        r = (r + moves[d][0]) % size
        c = (c + moves[d][1]) % size
    return grid, sum(sum(row) for row in grid)


def permutations(n):
    a = list(range(n))
    c = [0] * n
    count = 1
    i = 0
    while i < n:
        if c[i] < i:
            if i % 2 == 0:
                a[0], a[i] = a[i], a[0]
            else:
                a[c[i]], a[i] = a[i], a[c[i]]
            count += 1
            c[i] += 1
            i = 0
        else:
            c[i] = 0
            i += 1
    return count, a


def loops_over_rows(x):
    t = [[0.0] * 4 for _ in range(len(x))]
    for i, v in enumerate(x):
        for j in range(4):
            t[i][j] = v * j
    total = 0.0
    for row in t:
        for v in row:
            total += v
    return total, np.array(t).sum(), len(t[0])


def removes(x):
    q = []
    total = 0
    for v in x:
        q.append(int(v * 10))
        if v > 0.7:
            q.remove(q[0])
        total += q.count(3)
    return q, total


def indexes(x):
    order = [3, 1, 2, 0]
    t = 0
    for v in x:
        k = int(v * 4)
        t += order.index(k) * 2
        order.remove(k)
        order.append(k)
    return t, order


def value_of_a_key(x):
    value = {0: 1.5, 1: 2.5, 2: 4.0}
    t = 0.0
    for v in x:
        t += value[int(v * 3)]
    return t


def primes(n):
    found = [2]
    c = 3
    while len(found) < n:
        ok = True
        for p in found:
            if p * p > c:
                break
            if c % p == 0:
                ok = False
                break
        if ok:
            found.append(c)
        c += 2
    return found


def item_outside_of_loops(x):
    names = [3.5, 1.25, 2.0]
    k = np.argmax(x) % 3
    return names[k]


PROGRAMS = [
    (edit_distance, (A, B)), (knapsack, (A + 1, R.integers(1, 50, 30), 60)),
    (knapsack_table, (A + 1, R.integers(1, 50, 30), 60)), (turns, (A - 2,)), (ant, (300,)), (permutations, (5,)),
    (loops_over_rows, (X,)), (removes, (X,)), (indexes, (X,)), (value_of_a_key, (X,)), (primes, (20,)),
    (item_outside_of_loops, (X,)),
]  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize("f, given", PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_programs(f, given):
    assert repr(ag.jit(f)(*given)) == repr(f(*given))


def test_an_empty_string():
    assert ag.jit(edit_distance)(A[:0], B) == edit_distance(A[:0], B)


def test_loops_over_a_table_are_one_kernel_each():
    jitted = ag.jit(edit_distance)
    jitted(A, B)
    (trace,) = jitted.traces.values()
    loops = [node for node in trace.function.graph.order if isinstance(unmarked(node.op), Scan)]
    assert loops
    assert all(map(is_elementary, loops))


def of_mixed_types(x):
    """A table of ints that takes floats, of which Python keeps some ints."""
    table = [[0] * len(x) for _ in range(3)]
    for i in range(len(x)):
        table[i % 3][i] = x[i]
    return table, max(table[0])


def test_a_table_has_one_type_for_all_elements():
    found, most = ag.jit(of_mixed_types)(X)
    expected, other = of_mixed_types(X)
    assert (found, most) == (expected, other)


def without_the_key(x):
    value, total = {0: 1.5, 2: 4.0}, 0.0
    for v in x:
        total += value[int(v * 3)]
    return total


def without_the_item(x):
    found = []
    for v in x:
        found.append(int(v * 3))
        found.remove(1)
    return found


def beyond_the_end(x):
    total = 0
    for v in x:
        total += (3, 1, 2)[int(v * 9)]
    return total


@pytest.mark.parametrize(
    "f, error", [(without_the_key, KeyError), (without_the_item, ValueError), (beyond_the_end, IndexError)]
)
def test_what_python_raises(f, error):
    with pytest.raises(error):
        f(X)
    with pytest.raises(error):
        ag.jit(f)(X)


def two_places(x, n):
    table = [[0.0] * 3 for _ in range(4)]
    for i in range(n):
        table[i % 4][i % 3] += x[i]
        table[i % 4] = table[(i + 1) % 4]
    return table


def compared_rows(x, n):
    table, same = [[0.0] * 3 for _ in range(4)], 0
    for i in range(n):
        table[i % 4][i % 3] += x[i]
        same += table[i % 4] == table[(i + 1) % 4]
    return same


def a_changed_copy(x, n):
    pairs = [(1, [2]), (3, [4])]
    for i in range(n):
        pairs[int(x[i] * 2)][1].append(n)
    return pairs


@pytest.mark.parametrize("f", [two_places, compared_rows, a_changed_copy])
def test_what_an_array_cannot_be_is_refused(f):
    with pytest.raises(TypeError, match=r"row|list"):
        ag.jit(f)(np.repeat(X, 50), 2000)
