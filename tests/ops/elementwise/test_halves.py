"""Arithmetic of float16: by the processor's instructions it has the bits of float32, rounded."""

from __future__ import annotations

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.cbackend.lowering.lower import lower
from arignote.targets.current import using
from arignote.targets.named import by_name, host

OPERATIONS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}


def bits(rng, *shape):
    """Random numbers of all magnitudes, infinities, NaN and subnormal ones."""
    return rng.integers(0, 1 << 16, shape).astype("uint16").view("float16")


def same(found, expected):
    assert found.dtype == expected.dtype == np.float16
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(found[known].view("uint16"), expected[known].view("uint16"))


@pytest.mark.few(5)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("sign", OPERATIONS)
@pytest.mark.parametrize("n", [1, 7, 31, 33, 1 << 20])
def test_each_operation_has_numpys_bits(sign, n):
    rng = np.random.default_rng(n)
    a, b, x, y = bits(rng, n), bits(rng, n), T.tensor("float16", (None,)), T.tensor("float16", (None,))
    f = ag.function([x, y], OPERATIONS[sign](x, y))
    same(f(a, b), OPERATIONS[sign](a, b))
    near = (a.view("uint16") ^ rng.integers(0, 64, n).astype("uint16")).view("float16")
    same(f(a, near), OPERATIONS[sign](a, near))
    wide, thin = bits(rng, 3 * n)[::3], bits(rng, 1)
    same(f(wide, b), OPERATIONS[sign](wide, b))
    g = ag.function([x], OPERATIONS[sign](x * x, 3))
    same(g(a), OPERATIONS[sign](a * a, np.float16(3)))
    h = ag.function([x, y], OPERATIONS[sign](x, y[:1]) * 2)
    same(h(a, thin), OPERATIONS[sign](a, thin) * np.float16(2))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_stand_between_sums_of_float16():
    rng = np.random.default_rng(0)
    a, x = bits(rng, 5000), T.tensor("float16", (None,))
    f = ag.function([x], T.tanh(x) * x + 1)
    tanh = np.tanh(a.astype("float32")).astype("float16")
    np.testing.assert_allclose(f(a), tanh * a + np.float16(1), rtol=2e-3, atol=2e-3)


def test_other_targets_compute_in_float32():
    x = T.tensor("float16", (None,))
    node = (x * x).owner
    native, plain = host(), by_name("x86_64-linux-v3")
    with using(plain):
        assert "half_mul" not in str(lower(node))
    if "avx512_fp16" in native.features:
        with using(native):
            assert "half_mul" in str(lower(node))
