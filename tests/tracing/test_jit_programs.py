"""Programs of scientists and students under `ag.jit`: kinds that were refused, or traced step by step."""


import numpy as np
import pytest

import arignote as ag

R = np.random.default_rng(0)


def heap_sort(a):
    """A function inside that returns nothing, from within a loop."""
    a = a.copy()
    n = len(a)
    def sift(lo, hi):
        root = lo
        while 2 * root + 1 < hi:
            child = 2 * root + 1
            if child + 1 < hi and a[child] < a[child + 1]:
                child += 1
            if a[root] >= a[child]:
                return
            a[root], a[child] = a[child], a[root]
            root = child
    for s in range(n // 2 - 1, -1, -1):
        sift(s, n)
    for e in range(n - 1, 0, -1):
        a[0], a[e] = a[e], a[0]
        sift(0, e)
    return a


def perlin(n, grads):
    """A function that each step defines."""
    out = np.zeros((n, n))
    g = grads.shape[0] - 1
    for i in range(n):
        for j in range(n):
            x, y = i * g / n, j * g / n
            x0, y0 = int(x), int(y)
            fx, fy = x - x0, y - y0
            def fade(t):
                return t * t * t * (t * (t * 6 - 15) + 10)
            u, v = fade(fx), fade(fy)
            n00 = grads[x0, y0, 0] * fx + grads[x0, y0, 1] * fy
            n10 = grads[x0 + 1, y0, 0] * (fx - 1) + grads[x0 + 1, y0, 1] * fy
            n01 = grads[x0, y0 + 1, 0] * fx + grads[x0, y0 + 1, 1] * (fy - 1)
            n11 = grads[x0 + 1, y0 + 1, 0] * (fx - 1) + grads[x0 + 1, y0 + 1, 1] * (fy - 1)
            out[i, j] = (1 - v) * ((1 - u) * n00 + u * n10) + v * ((1 - u) * n01 + u * n11)
    return out


def bits(n, x):
    """Bits of integers, as a program of Python counts them."""
    total, last = 0, 0
    for m in range(n):
        total += bin(m).count("1") * 3 + bin(m).count("0") + m.bit_count() - m.bit_length()
    for v in x:
        last = last * 31 % 1009 + int(v).bit_length() + v.bit_count()
    return total, last


def named_in_a_loop(n, x):
    """Names that are texts, or None, in each step."""
    for i in range(n):
        kind, found = "sum", None
        if x[i] > 0:
            total = x[i]
    return kind, found, total


PROGRAMS = [
    (heap_sort, (R.random(50),)), (perlin, (20, R.random((5, 5, 2)))), (bits, (2000, R.integers(-(2**40), 2**40, 50))),
    (bits, (2000, np.array([0, -1, 1, -(2**63) + 1, 2**63 - 1]))), (named_in_a_loop, (1200, R.random(1200))),
]  # fmt: skip


@pytest.mark.parametrize("f, given", PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_programs(f, given):
    with np.errstate(all="ignore"):
        expected, found = f(*given), ag.jit(f)(*given)
    np.testing.assert_equal(found, expected)
    assert type(found) is type(expected)


def test_functions_in_loops_are_not_traced_step_by_step():
    jitted = ag.jit(perlin)
    jitted(20, R.random((5, 5, 2)))
    (trace,) = jitted.traces.values()
    assert len(trace.function.unoptimized_graph) < 50  # 40,000 step by step


def text_of_bits(n):
    total = 0
    for m in range(n):
        total += len(bin(m))
    return total


def test_other_texts_of_bits_are_refused():
    with pytest.raises(TypeError, match=r"the text depends on values|has no"):
        ag.jit(text_of_bits)(2000)
