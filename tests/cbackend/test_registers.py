"""Vector registers after a call: their upper halves are clear, since SSE code runs at half its speed otherwise."""

from __future__ import annotations

import ctypes
import platform
import subprocess

import numpy as np
import pytest
from compiled import tools

import arignote as ag
from arignote import ops as T
from arignote.targets.processor import features

_READER = """
#include <cpuid.h>
/* Whether upper halves of AVX registers are in use: 0 or 4; -1 if the processor does not say. */
int upper_halves(void)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 4)) return -1;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1));
    return a & 4;
}
/* Use them. */
void fill(void) { __asm__ volatile("vpcmpeqb %%ymm1, %%ymm1, %%ymm1" : : : "xmm1"); }
"""


@pytest.fixture(scope="module")
def registers(tmp_path_factory) -> ctypes.CDLL:
    if platform.machine() not in ("x86_64", "AMD64") or "avx2" not in features():
        pytest.skip("needs AVX2")
    folder = tmp_path_factory.mktemp("registers")
    (folder / "r.c").write_text(_READER)
    command = [tools()[0].command[0], "-O1", "-mavx2", "-shared", "-fPIC", "-o", folder / "r.so", folder / "r.c"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "r.so"))
    if library.upper_halves() < 0:
        pytest.skip("the processor does not say which registers are in use")
    library.fill()
    assert library.upper_halves(), "the reader works"
    return library


x = T.matrix("x")
VALUE = np.random.default_rng(0).random((40, 40))


@pytest.mark.long
def test_upper_halves_are_clear_after_a_call(registers):
    y, first = T.exp(x) + x, T.vector("first")
    rows = ag.scan(lambda v, s: s + T.tanh(v), x, first).outputs
    functions = [
        ag.function([x], y),
        ag.function([x], [T.dot(x, x), y.sum(axis=0)]),
        ag.function([x], [T.linalg.solve(x, x), T.sort(x), T.fft.rfft(x)]),
        ag.function([x, first], rows),
    ]
    for function in functions:
        registers.fill()
        function(*([VALUE, VALUE[0]][: len(function.inputs)]))
        assert registers.upper_halves() == 0


def test_upper_halves_are_clear_in_steps_of_python(registers):
    found = []

    def noted(values):
        found.append(registers.upper_halves())
        return values + 1

    op = ag.array_op("noted", noted, result=lambda v: v)
    ag.function([x], T.tanh(op(T.exp(x))))(VALUE)
    ag.function([x], ag.scan(lambda v, s: op(T.exp(v)) + s, x, T.zeros(40)).outputs)(VALUE)
    assert len(found) >= 41 and not any(found)
