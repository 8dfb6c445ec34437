"""Vector instructions in the assembly of loops that gcc would compute element by element if written otherwise."""

import platform
import re

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
