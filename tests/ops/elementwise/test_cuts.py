"""Floats that become integers: the same bits whether or not a float is made of the integer in the same loop."""

from __future__ import annotations

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T

EDGES = [
    0.0, -0.0, 0.3, -0.3, 0.9999, -0.9999, 1, -1, 127.9, 128, -128.9, -129, 255.5, 256, -1e-30, 2**24 + 1,
    2**31 - 1, 2**31 - 0.5, 2**31, -(2**31), -(2**31) - 0.5, -(2**31) - 1, -(2**31) - 2, 2**32, 2**53 + 1,
    2**63, -(2**63), np.nextafter(2**63, 0), np.nextafter(-(2**63), 0), 1e300, -1e300, np.inf, -np.inf, np.nan,
]  # fmt: skip
INTEGERS = [f"{kind}{size}" for kind in ("int", "uint") for size in (8, 16, 32, 64)]


@pytest.mark.few(4)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("wide", ["float32", "float64"])
def test_integers_of_floats(wide, integer):
    rng = np.random.default_rng(0)
    x = np.concatenate([EDGES, rng.standard_normal(3000) * 10.0 ** rng.integers(0, 22, 3000)]).astype(wide)
    v = T.tensor(wide, (None,))
    alone = ag.function([v], v.astype(integer))
    beside = ag.function([v], [v.astype(integer), T.exp(-v * v).astype(integer)])
    again = ag.function([v], [v.astype(integer), v.astype(integer).astype(wide)])
    for n in (1, 5, 37, len(x)):
        expected, back = again(x[:n])
        np.testing.assert_array_equal(alone(x[:n]), expected)
        np.testing.assert_array_equal(beside(x[:n])[0], expected)
        np.testing.assert_array_equal(back.view("uint8"), expected.astype(wide).view("uint8"))
        if integer != "uint32":  # NumPy's own loops differ for those that 64 bits do not hold
            np.testing.assert_array_equal(expected, x[:n].astype(integer))
