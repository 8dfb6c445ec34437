"""pow of float32, which has C of its own: errors against float64 everywhere, special cases as C99 has them."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from ckernel import Library

from arignote.cbackend.lowering.lower import lower
from arignote.graph import TensorType
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.elementwise.records import ELEMENTWISE

FLAGS = {"this processor": ["-O2", "-ftree-vectorize"]}
if platform.machine() == "x86_64":
    FLAGS["no fused multiply-add"] = [*FLAGS["this processor"], "-mno-fma", "-mno-avx512f"]
ULP = 0.6
LIMITS = np.finfo("f4")
SPECIAL = [
    0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 1e-10, 126.0, 127.0, 128.0, 149.0, 150.0, 2.0**24 - 1, 2.0**24, 2.0**24 + 2, 1e30,
    1 - 2.0**-24, 1 + 2.0**-23, float(LIMITS.max), float(LIMITS.tiny), float(LIMITS.smallest_subnormal), 1e-40, np.inf,
]  # fmt: skip


@pytest.fixture(scope="module", params=FLAGS)
def power(request):
    operands = [TensorVariable(TensorType("float32", (None,))) for _ in range(2)]
    kernel = lower(ELEMENTWISE["pow"](*operands).owner)
    library = Library([kernel], FLAGS[request.param])
    return lambda x, y: library.run(kernel, [x.astype("f4"), y.astype("f4")])[0]


def exact(x, y):
    """NumPy's in float64: right to far more than the bits of a float32."""
    with np.errstate(all="ignore"):
        return np.power(x.astype("f4").astype("f8"), y.astype("f4").astype("f8"))


def assert_near(x, y, got):
    with np.errstate(all="ignore"):
        wide = exact(x, y)
        rounded = wide.astype("f4")
    np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
    number = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(rounded[number]))
    both = np.isfinite(rounded) & np.isfinite(got)
    unit = np.exp2(np.maximum(np.frexp(rounded[both].astype("f8"))[1] - 24, -149))
    error = np.abs(got[both].astype("f8") - wide[both]) / unit
    assert error.max() <= ULP, error.max()
    edge = number & ~both  # one of them has overflowed
    np.testing.assert_allclose(np.minimum(np.abs(wide[edge]), 2.0**128), 2.0**128, rtol=2.0**-24)


def test_special_cases(power):
    values = np.array([*SPECIAL, *(-v for v in SPECIAL), np.nan])
    x, y = (v.ravel() for v in np.meshgrid(values, values))
    got = power(x, y)
    assert_near(x, y, got)
    with np.errstate(all="ignore"):
        end = exact(x, y).astype("f4")
    infinite = np.isinf(end) & (np.abs(exact(x, y)) > 2.0**129)
    np.testing.assert_array_equal(got[infinite], end[infinite])


@pytest.mark.parametrize("seed", range(3))
def test_numbers_of_every_size(power, seed):
    """Bases of every size with exponents by which the result is in range, or just beyond its ends."""
    rng, n = np.random.default_rng(seed), 100_000
    x = np.exp2(rng.uniform(-149, 128, n)).astype("f4")
    y = rng.uniform(-152, 130, n) / np.where(x == 1, 1, np.log2(x.astype("f8")))
    assert_near(x, y, power(x, y))
    near = (1 + rng.uniform(-1e-3, 1e-3, n)).astype("f4")
    y = rng.uniform(-9e4, 9e4, n)
    assert_near(near, y, power(near, y))
    whole, y = -np.exp2(rng.uniform(-12, 12, n)), rng.integers(-12, 13, n).astype("f8")
    assert_near(whole, y, power(whole, y))


def test_bits_do_not_depend_on_the_place_in_the_array(power):
    x, y = np.random.default_rng(1).uniform(0, 9, (2, 67))
    together = power(x, y)
    alone = [power(x[k : k + 1], y[k : k + 1])[0] for k in range(len(x))]
    np.testing.assert_array_equal(together, np.array(alone, "f4"))
