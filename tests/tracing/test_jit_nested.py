"""Nested loops under `ag.jit`: how often bodies are traced, and programs with many of them."""

import itertools
import linecache

import numpy as np
import pytest

import arignote as ag
from arignote.cbackend.program.planners.loops import is_elementary
from arignote.ops.control.element_bodies import nodes_within
from arignote.ops.control.scan_ops import Scan
from arignote.ops.lowered.fused import unmarked
from arignote.tracing.looping.bodies import Loop

R = np.random.default_rng(0)


def made(lines, name):
    """Return the function `f` of some lines."""
    text, file = "\n".join(lines), f"<{name}>"
    linecache.cache[file] = len(text), None, text.splitlines(keepends=True), file
    space = {"np": np}
    exec(compile(text, file, "exec"), space)
    return space["f"]


def nest(depth, head):
    """Return a function of nested loops, each of which changes a state that is an int first."""
    lines = ["def f(x, n):", "    total, best = 0, -1"]
    for k in range(depth):
        indent = "    " * (k + 1)
        lines += [f"{indent}{line.format(k=k)}" for line in head[:-1]]
        lines += [f"{indent}{head[-1].format(k=k)}", f"{indent}    i{k} += 1" if head[0] != head[-1] else ""]
        lines += [f"{indent}    if x[i{k}] > total: best = i{k}"]
    return made([*filter(None, lines), "    " * (depth + 1) + "total += x[i0]", "    return total, best"], "nest")


@pytest.mark.few(1)
@pytest.mark.parametrize("head", [["for i{k} in range(n):"], ["i{k} = -1", "while i{k} < n:"]])
def test_each_level_is_traced_once_more_than_the_one_around_it(head, monkeypatch):
    counts = []
    plain = Loop._traced

    def traced(self, step):
        counts[-1] += 1
        return plain(self, step)

    monkeypatch.setattr(Loop, "_traced", traced)
    x = R.random(8)
    for depth in range(1, 6):
        f = nest(depth, head)
        counts.append(0)
        assert ag.jit(f)(x, 3) == f(x, 3)
    growth = [b - a for a, b in itertools.pairwise(counts)]
    assert all(b - a <= 1 for a, b in itertools.pairwise(growth))


def types_by_step(x, n):
    """Inner loops whose states have other types in later steps of the outer one."""
    a, found = 0, []
    for i in range(n):
        b = 1
        for j in range(n):
            b = b + a * j
        a = b * 0.5 if i % 2 else b
    for scale in (2, 0.5):
        c = 0
        for _ in range(n):
            for _ in range(n):
                c = c + scale
        found.append(c)
    return float(a), float(b), found


def local_arrays(x, n):
    """Inner loops that write to arrays of a step."""
    total = 0.0
    for i in range(n):
        row = np.zeros(5)
        for j in range(5):
            for k in range(j):
                row[j] += x[k] * i
        total += row.sum()
    return total


def winner(x, n):
    """Nested loops of few steps, with breaks."""
    board = (x * 3).astype(np.int64).reshape(2, 4)
    for player in range(3):
        for i in range(2):
            for j in range(4):
                for di, dj in [(0, 1), (1, 0), (1, 1), (1, -1)]:
                    count = 0
                    for k in range(4):
                        y, x = i + k * di, j + k * dj
                        if not (0 <= y < 2 and 0 <= x < 4):
                            break
                        if board[y, x] != player:
                            break
                        count += 1
                    if count >= 2:
                        return player, i, j, di, dj
    return -1, 0, 0, 0, 0


def lists_by_step(x, n):
    """Nested loops of few steps that fill a list, which are traced step by step."""
    found = []
    for i in range(4):
        for j in range(4):
            for k in range(4):
                if x[i] > x[j]:
                    y = x[k]
                else:
                    y = np.sort(x)[k]
                found.append(y)
    return np.array(found)


@pytest.mark.few(3)
@pytest.mark.parametrize("f", [types_by_step, local_arrays, winner, lists_by_step])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_values(f, n):
    x = R.random(8)
    ours, theirs = ag.jit(f)(x.copy(), n), f(x.copy(), n)
    assert repr(ours) == repr(theirs)


@pytest.mark.long
def test_nested_loops_of_few_steps_do_not_multiply():
    jitted = ag.jit(winner)
    jitted(R.random(8), 3)
    (trace,) = jitted.traces.values()
    assert len(nodes_within(trace.function.graph)) < 400  # 1,483 if all steps are traced one by one


def neighbours(x, n):
    """Tables of constants that a loop reads."""
    rows, columns, weights = np.array([-1, 1, 0, 0]), np.array([0, 0, -1, 1]), np.array([0.1, 0.2, 0.3, 0.4])
    grid, k, total = np.zeros((4, 4)), 0, 0.0
    while k < 40:
        i, j = k % 4, (k * 7) % 4
        for d in range(4):
            a, b = i + rows[d], j + columns[d]
            if 0 <= a < 4 and 0 <= b < 4 and grid[a, b] < n:
                grid[a, b] += x[d] * weights[d]
        total += np.dot(weights, grid[i])
        k += 1
    return grid, total


@pytest.mark.long
def test_loops_that_read_constant_tables_are_one_kernel():
    x = R.random(8)
    jitted = ag.jit(neighbours)
    grid, total = jitted(x, 2)
    np.testing.assert_array_equal(grid, neighbours(x, 2)[0])
    np.testing.assert_allclose(total, neighbours(x, 2)[1], rtol=1e-14)
    (trace,) = jitted.traces.values()
    loops = [node for node in trace.function.graph.order if isinstance(unmarked(node.op), Scan)]
    assert loops
    assert all(map(is_elementary, loops))
