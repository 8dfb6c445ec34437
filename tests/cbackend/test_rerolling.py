"""Runs of like steps in long drivers: loops over slots, with the same results and the same end when memory runs out."""

import re
import resource

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.driver.rerolling import in_runs
from arignote.cbackend.program.program import Allocate, Buffer, Release

B = [Buffer(k) for k in range(8)]
SLOTS = {buffer: k for k, buffer in enumerate(B)}


def allocations(*slots, dtype="float64", lengths=("n",)):
    return [Allocate(0, B[k], lengths, dtype) for k in slots]


@pytest.mark.parametrize(
    ("steps", "counts"),
    [
        ([], []),
        (allocations(0, 1), [1, 1]),
        (allocations(2, 3, 4), [3]),
        (allocations(2, 3, 5, 6), [1, 1, 1, 1]),
        (allocations(4, 3, 2), [1, 1, 1]),
        (allocations(0, 1, 2) + allocations(3, 4, 5, dtype="float32"), [3, 3]),
        (allocations(0, 1, 2) + allocations(3, 4, 5, lengths=("n", "m")), [3, 3]),
        ([Release(1), Release(2), Release(3), Release(7)], [3, 1]),
        ([*allocations(0, 1, 2), Release(3), Release(4), Release(5)], [3, 3]),
    ],
)
def test_what_follows_one_another_is_one_run(steps, counts):
    found = list(in_runs(steps, SLOTS))
    assert [count for _, count in found] == counts
    at = 0
    for step, count in found:
        assert step is steps[at]
        at += count


def long_function():
    """A chain that keeps hundreds of values for the way back."""
    x = y = T.vector("x")
    for k in range(1500):
        y = T.sqrt(T.abs(y)) if k % 7 == 3 else y + x if k % 2 else y * 0.5
    return ag.function([x], [y, ag.grad(T.sum(y), x)])


@pytest.mark.long
def test_a_long_driver_allocates_and_releases_in_loops():
    f = long_function()
    text = f.c_source()
    assert int(re.search(r"void \*b\[(\d+)\]", text)[1]) > 300
    assert text.count("= ag_alloc(") + text.count("rt->release(f->b[") < 60
    given = np.linspace(0.5, 1.5, 3)
    _, slope = f(given)
    step = 1e-6
    np.testing.assert_allclose(slope, (f(given + step)[0] - f(given - step)[0]) / (2 * step), rtol=1e-6)


@pytest.mark.long
def test_memory_that_runs_out_in_a_loop_is_memory_error():
    f = long_function()
    few = np.linspace(0.5, 1.5, 10)
    wanted = f(few)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    with open("/proc/self/statm") as pages:
        held = int(pages.read().split()[0]) * resource.getpagesize()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (held + (512 << 20), hard))
        with pytest.raises(MemoryError):
            f(np.linspace(0.5, 1.5, 1_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    for one, two in zip(wanted, f(few)):
        np.testing.assert_array_equal(one, two)
