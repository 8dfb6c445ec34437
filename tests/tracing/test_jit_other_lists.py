"""Names of lists that become other lists in loops and branches, and what else programs do with lists that grow."""

from __future__ import annotations

import bisect
import copy

import numpy as np
import pytest

import arignote as ag

X = np.random.default_rng(0).random(30)
EDGES = (np.random.default_rng(1).random((12, 12)) > 0.85).astype(int)


def swap(n, x):
    cur, nxt = [0], []
    total = 0
    for _ in range(n):
        for u in cur:
            total += u
            if x[u % len(x)] > 0.3:
                nxt.append(u + 1)
                nxt.append(2 * u + 1)
        cur, nxt = nxt, []
    return total, cur


def clear_swap(n, x):
    cur, nxt = [0.0], []
    for _ in range(n):
        nxt.clear()
        for u in cur:
            if x[int(u) % len(x)] > 0.3:
                nxt.append(u + 0.5)
                nxt.append(2 * u + 1.0)
        cur, nxt = nxt, cur
    return cur


def best_kept(x):
    best = []
    run = []
    for v in x:
        if v > 0.3:
            run.append(v)
        else:
            run = []
        if len(run) > len(best):
            best = run[:]
    return best


def best_alias(x):
    best = []
    run = []
    for v in x:
        if v > 0.3:
            run.append(v)
        else:
            run = []
        if len(run) > len(best):
            best = run
    return best


def old_kept(x):
    cur = [0.0]
    s = 0.0
    for v in x:
        old = cur
        if v > 0.5:
            cur = cur + [v]  # noqa: RUF005
        s += len(old) + len(cur)
    return s, cur


def start_kept(x, start):
    front = start
    s = 0.0
    while len(front) > 0 and s < 30:
        new = []
        for u in front:
            s += 1
            if x[u] > 0.2:
                new.append((u + 1) % len(x))
                if u % 2 == 0:
                    new.append(u // 2)
        front = new
    return s, front, start


def start_changed(x):
    start = [0]
    front = start
    for v in x:
        if v > 0.5:
            front.append(1)
        else:
            front = [int(v * 10)]
    return front, start


def other_list(x):
    front = [0]
    for v in x:
        if v > 0.5:
            front.append(1)
        else:
            front = [int(v * 10)]
    return front


def inserted(x):
    found = []
    for v in x:
        if v > 0.2:
            found.insert(0, v)
        else:
            found.insert(len(found) // 2, -v)
    return found


def popped_middle(x):
    found = []
    for v in x:
        found.append(v)
        if v > 0.6 and len(found) > 2:
            found.pop(1)
    return found


def pairs_inserted(x):
    found = []
    for i in range(len(x)):
        k = 0
        while k < len(found) and found[k][0] < x[i]:
            k += 1
        found.insert(k, (x[i], i))
    a, b = zip(*found)
    return a, b, np.array(b)


def grown_by_plus(x):
    found = []
    for v in x:
        if v > 0.5:
            found = found + [v]  # noqa: RUF005
        elif v < 0.1:
            found = [v, *found[1:]]
    return found


def nested(grid):
    n = grid.shape[0]
    seen = np.zeros(n, dtype=np.int64)
    counts = []
    for s in range(n):
        if seen[s]:
            continue
        seen[s] = 1
        front = [s]
        levels = 0
        while front:
            new = []
            for u in front:
                for v in range(n):
                    if grid[u, v] and not seen[v]:
                        seen[v] = 1
                        new.append(v)
            front = new
            levels += 1
        counts.append(levels)
    return counts, seen


def beam(x, k):
    beams = [(0.0, 0)]
    for i in range(len(x)):
        new = []
        for s, last in beams:
            new.append((s + x[i], i))
            new.append((s - 0.5 * x[i], last))
        new.sort()
        beams = new[-k:]
    return beams


def brackets(s):
    stack = []
    for c in s:
        if c < 0:
            if not stack or stack.pop() != -c:
                return False
        else:
            stack.append(c)
    return not stack


def levels(edges, source):
    """Search by levels: the front of a level is made while the last one is read."""
    distance = np.full(len(edges), -1)
    distance[source] = 0
    front, level = [source], 0
    while front:
        level += 1
        later = []
        for u in front:
            for v in range(len(edges)):
                if edges[u, v] and distance[v] < 0:
                    distance[v] = level
                    later.append(v)
        front = later
    return distance, level


def stack_machine(tokens):
    """A stack that is empty when the loop begins, and of which a branch pops twice."""
    stack = []
    for t in tokens:
        if t >= 0:
            stack.append(t)
        else:
            b = stack.pop()
            a = stack.pop()
            if t == -1:
                stack.append(a + b)
            else:
                stack.append(a - b)
    return stack[-1]


def pops_first(tokens):
    stack = []
    for t in tokens:
        if t < 0:
            i, j = stack.pop()
            stack.append((j, i))
        else:
            stack.append((t, t + 1))
    return stack


def increasing(x):
    tails = []
    for v in x:
        k = bisect.bisect_left(tails, v)
        if k == len(tails):
            tails.append(v)
        else:
            tails[k] = v
    return len(tails), tails


def running_median(x):
    kept, found = [], np.zeros(len(x))
    for i, v in enumerate(x):
        bisect.insort(kept, v)
        m = len(kept) // 2
        found[i] = kept[m] if len(kept) % 2 else (kept[m - 1] + kept[m]) / 2
    return found


def separate_copies(x):
    """A list and its copy, which both change afterwards."""
    a = []
    for v in x:
        if v > 0.4:
            a.append(v)
    b = a[:]
    for v in x:
        if v > 0.8:
            a.append(v)
        elif v < 0.1:
            b.append(v)
    return a, b, len(a), len(b)


CASES = [
    (swap, 5, X), (clear_swap, 5, X), (best_kept, X), (best_alias, X), (old_kept, X), (start_kept, X, [1, 2]),
    (other_list, X), (inserted, X), (popped_middle, X), (pairs_inserted, X), (grown_by_plus, X), (nested, EDGES),
    (beam, X[:6], 4), (brackets, np.array([1, 2, -2, -1, 3, -3])), (brackets, np.array([1, 2, -1])), (levels, EDGES, 3),
    (stack_machine, np.array([1, 2, -1, 3, -2])), (pops_first, np.array([1, 2, -1, 3, -2])), (increasing, X),
    (running_median, X), (separate_copies, X),
]  # fmt: skip


def equal(ours, theirs):
    """Whether results are equal; the items of a list have one type in ours."""
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            equal(a, b)
        return
    np.testing.assert_array_equal(ours, theirs)
    assert np.asarray(ours).dtype == np.asarray(theirs).dtype


@pytest.mark.few(5)
@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_values_are_those_of_python(case):
    program, *given = case
    with np.errstate(all="raise"):
        equal(ag.jit(program)(*copy.deepcopy(given)), program(*copy.deepcopy(given)))


def test_one_trace_serves_all_lengths():
    f = ag.jit(levels)
    rng = np.random.default_rng(2)
    for n in (5, 40, 90):
        edges = (rng.random((n, n)) < 3 / n).astype(int)
        equal(f(edges, 0), levels(edges, 0))
    assert len(f.traces) == 1


def test_a_list_with_two_names_is_refused():
    with pytest.raises(TypeError, match="a name of this list becomes another list"):
        ag.jit(start_changed)(X)
