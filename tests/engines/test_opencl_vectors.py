"""Products with a vector on processors by OpenCL: sums of products."""

import numpy as np
import pytest
from opencl_devices import device_of, lacking

import arignote as ag
from arignote import ops as T
from arignote.engines.device.dialects import opencl as devices
from arignote.engines.device.vector_products import VectorProductKernel

RNG = np.random.default_rng(11)
SHAPES = [((300, 70), (70,)), ((70,), (70, 300)), ((3, 1000), (1000,)), ((900,), (900,)), ((5, 1), (1,))]


@pytest.fixture
def opencl(monkeypatch):
    """The mode of the engine, on a device that runs parts of loops."""
    if lacking():
        pytest.skip(f"no OpenCL: {lacking()}")
    monkeypatch.setattr(devices, "device", lambda: device_of("parts"))
    return ag.Mode("fast_run", backend="opencl")


@pytest.mark.few(3)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("a, b", SHAPES)
def test_a_product_with_a_vector_is_a_sum(opencl, a, b, dtype):
    x, y = T.tensor("x", dtype=dtype, shape=(None,) * len(a)), T.tensor("y", dtype=dtype, shape=(None,) * len(b))
    f = ag.function([x, y], x @ y, mode=opencl)
    (placement,) = [p for p in f._run.placements if p.kernel is not None]
    assert isinstance(placement.kernel, VectorProductKernel)
    p, q = RNG.standard_normal(a).astype(dtype), RNG.standard_normal(b).astype(dtype)
    expected, tolerance = p.astype("float64") @ q.astype("float64"), 1e-4 if dtype == "float32" else 1e-12
    for left in (p, np.asfortranarray(p), np.repeat(p, 2, 0)[::2]):
        for right in (q, np.asfortranarray(q)):
            for _ in range(3):  # the usual way, then recorded, then run again
                np.testing.assert_allclose(f(left, right), expected, rtol=tolerance, atol=tolerance)


def test_a_vector_that_does_not_fit_is_numpys_error(opencl):
    x, y = T.matrix("x"), T.vector("y")
    f = ag.function([x, y], x @ y, mode=opencl)
    with pytest.raises(ValueError, match=r"not aligned|mismatch"):
        f(np.ones((300, 1)), np.ones(300))
