"""Lists that loops and branches change by values: NumPy's results, types among them, from one trace."""

from __future__ import annotations

import copy
import heapq
from collections import deque

import numpy as np
import pytest

import arignote as ag
from arignote.tracing.growing import rooms

X = np.random.default_rng(0).random(40)
GRID = (np.random.default_rng(1).random((12, 9)) < 0.3).astype(np.int64)
GRID[0, 0] = 0


def same(ours, theirs):
    """Whether two results are equal, with equal types in all parts."""
    assert type(ours) is type(theirs), (type(ours), type(theirs))
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
    elif isinstance(theirs, np.ndarray):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    else:
        assert ours == theirs or abs(ours - theirs) < 1e-12 * abs(theirs)


def places(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0.5:
            found.append(i)
    return np.array(found), found, len(found), found[-1], found[1:-1], sum(found)


def close_pairs(x, r):
    found = []
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if abs(x[i] - x[j]) < r:
                found.append((i, j))
    return found, np.array(found)


def collatz(n):
    steps = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps.append(n)
    return steps


def flood(grid):
    n, m = grid.shape
    waiting, count = [(0, 0)], 0
    while waiting:
        i, j = waiting.pop()
        if 0 <= i < n and 0 <= j < m and grid[i, j] == 0:
            grid[i, j] = 2
            count += 1
            waiting.append((i + 1, j))
            waiting.append((i - 1, j))
            waiting.append((i, j + 1))
            waiting.append((i, j - 1))
    return count


def distances(grid):
    queue, found = deque([(0, 0)]), np.full(grid.shape, -1)
    found[0, 0] = 0
    while queue:
        i, j = queue.popleft()
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            a, b = i + di, j + dj
            if 0 <= a < grid.shape[0] and 0 <= b < grid.shape[1] and grid[a, b] == 0 and found[a, b] < 0:
                found[a, b] = found[i, j] + 1
                queue.append((a, b))
    return found


def components(labels):
    n, m = labels.shape
    last = 1
    for i in range(n):
        for j in range(m):
            if labels[i, j] == 0:
                last += 1
                waiting = [(i, j)]
                while waiting:
                    a, b = waiting.pop()
                    if 0 <= a < n and 0 <= b < m and labels[a, b] == 0:
                        labels[a, b] = last
                        waiting += [(a + 1, b), (a - 1, b), (a, b + 1), (a, b - 1)]
    return last - 1


def largest_rectangle(heights):
    open_ones, best = [], 0
    for i in range(len(heights)):
        while len(open_ones) > 0 and heights[open_ones[-1]] >= heights[i]:
            height = heights[open_ones.pop()]
            width = i if len(open_ones) == 0 else i - open_ones[-1] - 1
            best = max(best, height * width)
        open_ones.append(i)
    return best, len(open_ones)


def primes(n):
    candidates, found = np.ones(n + 1, dtype=bool), []
    for i in range(2, n + 1):
        if candidates[i]:
            found.append(i)
            for j in range(i * i, n + 1, i):
                candidates[j] = False
    return found


def adaptive(y, end):
    t, h = 0.0, 0.1
    times, states = [t], [y.copy()]
    while t < end:
        if np.abs(y).max() * h * h < 1e-2:
            y = y - h * y
            t += h
            times.append(t)
            states.append(y.copy())
            h *= 1.1
        else:
            h *= 0.5
    return np.array(times), np.array(states), times[-1]


def ways(coins, amount):
    found = [0] * (amount + 1)
    found[0] = 1
    for c in coins:
        for a in range(c, amount + 1):
            found[a] += found[a - c]
    return found[amount]


def shortest(weights):
    found = np.full(len(weights), np.inf)
    found[0] = 0.0
    heap = [(0.0, 0)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > found[u]:
            continue
        for v in range(len(weights)):
            if d + weights[u, v] < found[v]:
                found[v] = d + weights[u, v]
                heapq.heappush(heap, (found[v], v))
    return found


def distinct(x):
    seen = []
    for v in x:
        if v not in seen:
            seen.append(v)
    seen.sort()
    return np.array(seen), max(seen)


def kept_items(x):
    large = [v * 2 for v in x if v > 0.5]
    places = [i for i, v in enumerate(x) if v > 0.2 and v < 0.9]
    return sum(large), places, [i + 1 for i in places]


def bisected(x):
    low, high, tried = 0.0, 2.0, []
    while high - low > 1e-6:
        middle = (low + high) / 2
        tried.append(middle)
        if middle * middle > x:
            high = middle
        else:
            low = middle
    tried.append(low)
    tried.reverse()
    return tried[0], len(tried), np.array(tried)[:3]


def widened(x):
    found = [0]
    for v in x:
        if v > 0.5:
            found.append(v)
    return np.array(found)


@pytest.mark.few(3)
@pytest.mark.parametrize("f, arguments", [
    (places, (X,)), (close_pairs, (X, 0.05)), (collatz, (27,)), (flood, (GRID,)), (distances, (GRID,)),
    (components, (GRID,)), (largest_rectangle, (np.arange(60) * 37 % 23,)), (primes, (200,)),
    (adaptive, (np.array([1.0, 2.0]), 3.0)), (ways, ([1, 5, 10, 25], 60)), (shortest, (X[:36].reshape(6, 6),)),
    (distinct, (np.round(X, 1),)), (kept_items, (X,)), (bisected, (2.0,)), (widened, (X,)),
])  # fmt: skip
def test_programs_with_lists(f, arguments):
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    same(ag.jit(f)(*ours), f(*theirs))
    same(ours, theirs)


@pytest.mark.few(1)
@pytest.mark.parametrize("f, arguments", [(places, (X,)), (flood, (GRID,)), (shortest, (X[:36].reshape(6, 6),))])
def test_a_statement_runs_again_with_more_room(f, arguments, monkeypatch):
    monkeypatch.setattr(rooms, "FIRST", 2)
    monkeypatch.setattr(rooms, "BOUND", 2)
    ours, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    same(ag.jit(f)(*ours), f(*theirs))
    same(ours, theirs)


def test_one_trace_serves_all_lengths():
    jitted = ag.jit(places)
    for n in (10, 25, 40):
        same(jitted(X[:n]), places(X[:n]))
    assert len(jitted.traces) == 1


def history(x, steps):
    found = []
    for _ in range(steps):
        x = x * 0.9 + np.sin(x)
        if x.sum() > 1:
            found.append(x.sum())
    return np.array(found).sum() + sum(found) * found[0]


@pytest.mark.long
def test_gradients_go_through_lists():
    value, slope = ag.value_and_grad(history)(X[:5], 20)
    assert abs(value - history(X[:5], 20)) < 1e-12 * value
    for k, e in enumerate(np.eye(5)):
        close = (history(X[:5] + 1e-6 * e, 20) - history(X[:5] - 1e-6 * e, 20)) / 2e-6
        assert abs(slope[k] - close) < 1e-6 * abs(close)


def popped(x):
    found = []
    while x[0] > len(found):
        found.append(x[1])
    for v in x:
        if v > 100:
            found.append(v)
    return found.pop()


def rotated(x):
    found = deque()
    for v in x:
        if v > 0.3:
            found.append(v)
        else:
            found.rotate(1)
    return found


def appended_then_written(x):
    found = []
    for i in range(len(x)):
        x[i] += 1
        if x[i] > 1.5:
            found.append(x)
    return np.array(found)


def parts_of_other_forms(x):
    found = [(0, 0.0)]
    for v in x:
        if v > 0.5:
            found.append(v)
    return len(found)


def counted(x):
    found = {}
    for v in x:
        if v > 0.5:
            found["last"] = v
    return found


def test_what_lists_do_not_do():
    with pytest.raises(IndexError, match="out of bounds"):
        ag.jit(popped)(np.array([0.0, 1.0]))
    for f, text in (
        (rotated, r"that changes by values has no rotate\(\); it takes append, .*\n  at .*lists\.py"),
        (appended_then_written, r"it is an item of a list that changes by values, .* write to a copy"),
        (parts_of_other_forms, r"a list or dict is changed in .*; fill an array, .*\n  at .*lists\.py"),
        (counted, r"a list or dict is changed in .*; fill an array, .*\n  at .*lists\.py"),
    ):
        with pytest.raises(TypeError, match=text):
            ag.jit(f)(X.copy())


# --- one of two lists


def test_a_list_that_is_one_of_two_cannot_be_changed():
    """A copy would be changed in its place, or one list would not see the change of the other."""

    def by_expression(x):
        positive, negative = [], []
        for v in x:
            (positive if v > 0 else negative).append(v)
        return sum(positive), sum(negative)

    def by_name(x):
        a, b = [1.0], [2.0]
        c = a if x[0] > 0 else b
        a.append(x[1])
        return np.array(c)

    def by_statement(x):
        a, b = [1.0], [2.0]
        if x[0] > 0:
            c = a
        else:
            c = b
        c[0] = x[1]
        return np.array(a), np.array(b)

    def by_dict(x):
        a, b = {"k": x[0]}, {"k": x[1]}
        (a if x[0] > 0 else b)["k"] = x[2]
        return a["k"], b["k"]

    for f in (by_expression, by_name, by_statement, by_dict):
        with pytest.raises(TypeError, match="one of two"):
            ag.jit(f)(np.array([1.0, -2.0, 3.0]))


def test_lists_of_both_branches_may_be_read_and_new_ones_changed():
    def f(x):
        best, least = [0, 0], np.inf
        for i in range(len(x)):
            found = [i, i + 1]
            best = found if x[i] < least else best
            least = x[i] if x[i] < least else least
        new = [x[0], 1.0] if x[1] > 0 else [x[1], 2.0]
        new.append(x[2])
        return best[0], best[1], np.array(new)

    for x in (np.array([3.0, -1.0, 2.0]), np.array([-3.0, 1.0, 2.0])):
        for found, wanted in zip(ag.jit(f)(x), f(x), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.long
def test_the_truth_value_of_a_list_beside_other_tests():
    def next_greater(x):
        waiting, found = [], np.full(len(x), -1)
        for i in range(len(x)):
            while waiting and x[waiting[-1]] < x[i]:
                found[waiting.pop()] = i
            waiting.append(i)
        left = 1 if not (waiting and x[0] > 0) or len(waiting) > 3 else 2
        return found, left

    x = np.array([2.0, 1.0, 3.0, 0.5, 0.7, 5.0, 4.0])
    for found, wanted in zip(ag.jit(next_greater)(x), next_greater(x), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_list_that_grows_is_an_item_of_a_list():
    def doubled(x):
        found = []
        for i in range(x.shape[0]):
            row = []
            for j in range(x.shape[1]):
                row.append(x[i, j] * 2)
            found.append(row)
        return found

    x = np.arange(36.0).reshape(18, 2)
    got, expected = ag.jit(doubled)(x), doubled(x)
    assert got == expected
    assert {type(row) for row in got} == {list}
