"""Elementary functions and the softmax family in the text for GPUs: exact points, bits and NaN of the processor.

    python -m pytest -m long tests/engines/test_device_functions.py

runs on a GPU of NVIDIA where there is one, else over the stand-in, which compiles the same text for this processor.
"""

from __future__ import annotations

import shutil
from ctypes.util import find_library

import cuda_stand_in
import numpy as np
import pytest
from campaign.values.exact_points import FUNCTIONS, points_of, wrong_points
from softmax_rows import reference, rows_of

import arignote as ag
from arignote import ops as T
from arignote.engines.device.dialects import cuda as devices
from arignote.function.mode import Mode

pytestmark = pytest.mark.long
NAMES = [*FUNCTIONS, "gamma", "gammaln"]


@pytest.fixture
def cuda(monkeypatch):
    """The mode of the engine."""
    if find_library("cuda") is None:
        if shutil.which("g++") is None:
            pytest.skip("no g++")
        driver, compiler = cuda_stand_in.Driver(), cuda_stand_in.Compiler()
        monkeypatch.setattr(devices, "driver", lambda: driver)
        monkeypatch.setattr(devices, "nvrtc", lambda: compiler)
    return Mode("fast_run", backend="cuda")


@pytest.mark.parametrize("first", range(0, len(NAMES), 7))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_exact_points_and_special_values(cuda, dtype, first):
    names = NAMES[first : first + 7]
    x = T.vector("x", dtype)
    outputs = [T.ELEMENTWISE[name](x) for name in names]
    f, here = ag.function([x], outputs, mode=cuda), ag.function([x], outputs)
    found = dict(points_of(dtype, names))
    for k, name in enumerate(names):
        if name in found:
            wrong = wrong_points(lambda v, k=k: f(v)[k], *found[name])
            assert not wrong, (name, wrong)
    numbers = np.array([0.3, -2.6, 13.5, 80.25, 4e4, -2e9, 1e22, np.inf, -np.inf, np.nan, 1e-40, 1e-9], dtype)
    for name, got, want in zip(names, f(numbers), here(numbers), strict=True):
        np.testing.assert_array_equal(got, want, err_msg=name)


@pytest.mark.parametrize("n", [3, 200])
def test_softmax_of_infinity(cuda, n):
    x = T.matrix("x", dtype="float32")
    rows = rows_of(n, "float32")
    for axis in (0, 1):
        f = ag.function([x], [T.softmax(x, axis), T.log_softmax(x, axis), T.logsumexp(x, axis)], mode=cuda)
        given = rows if axis == 1 else np.ascontiguousarray(rows.T)
        for got, want in zip(f(given), reference(given, axis), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
