"""Vector instructions in the assembly of loops that gcc would compute element by element if written otherwise."""

import platform
import re

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.build.assembly import assembly_of
from arignote.engines.compiler import find_toolchain, process_cache

x, y = T.vector("x", "float64"), T.scalar("y", "float64")
single, exponent = T.vector("s", "float32"), T.scalar("e", "float32")
angle = T.vector("angle", "float64")
CASES = {
    "one exponent": ([x, y], x**y),
    "one exponent, float32": ([single, exponent], single**exponent),
    "a power in further functions": ([x, y], T.log1mexp(-(x**y)) * T.expm1(x**y) * x ** (y - 1)),
    "all of a costly comparison": ([x, y], (T.exp(x) > y).all()),
    "exponentials of complex numbers": ([angle], T.exp(1j * angle)),
    "all beside a sum": ([x, y], [(T.exp(x) > y).all(), T.exp(x).sum(), T.exp(x)]),
}


@pytest.mark.few(1)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="names of instructions")
@pytest.mark.parametrize("name", CASES)
def test_loops_are_vector_loops(name):
    """The products of a loop are packed; those of its remainders, one or two, are not."""
    text = assembly_of(ag.function(*CASES[name]).c_source(), find_toolchain(), process_cache())
    if "vfmadd" not in text:
        pytest.skip("without fused products powers are the C library's")
    products = re.findall(r"\bv(?:mul|fn?m(?:add|sub)\d*)([ps])d\b", text)
    assert 2 * products.count("p") >= products.count("s") > 0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_runtime_widens_bools_of_any_length(dtype: str) -> None:
    mask, x = T.matrix("mask", dtype="bool"), T.matrix("x", dtype)
    f = ag.function([mask, x], T.where(mask, T.exp(x), x))
    rng = np.random.default_rng(0)
    for n in (0, 1, *range(14, 36), *range(62, 98), 130, 300):
        some = rng.integers(0, 3, (3, n + 1), "uint8").view("bool")[:, 1:]  # every byte but zero is true
        for m in (some, some[:, ::-1]):
            values = rng.standard_normal((3, n)).astype(dtype)
            expected = np.where(m.view("uint8") != 0, np.exp(values), values)
            np.testing.assert_allclose(f(m, values), expected, rtol=1e-6)
