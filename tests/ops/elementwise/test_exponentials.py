"""The functions that have C of their own (functions/exponential.h), over their whole ranges, in wider arithmetic."""

from __future__ import annotations

import platform
from collections.abc import Callable

import numpy as np
import pytest
from ckernel import Library

from arignote.cbackend.ir.kernel import Kernel
from arignote.cbackend.lowering.lower import lower
from arignote.graph import TensorType
from arignote.ops.core.tensor import TensorVariable
from arignote.ops.elementwise.records import ELEMENTWISE

ULP = 3
COUNT = 40_000


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


MEANINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": lambda x: np.where(x >= 0, 1, np.exp(-np.abs(x))) / (1 + np.exp(-np.abs(x))),
    "softplus": _softplus,
}
FLAGS = {"this processor": ["-O2", "-ftree-vectorize"]}
if platform.machine() == "x86_64":
    FLAGS["no fused multiply-add"] = [*FLAGS["this processor"], "-mno-fma", "-mno-avx512f"]


@pytest.fixture(scope="module", params=FLAGS)
def compiled(request) -> tuple[dict[tuple[str, str], Kernel], Library]:
    kernels = {}
    for name in (*MEANINGS, "logaddexp"):
        for dtype in ("float32", "float64"):
            operands = [TensorVariable(TensorType(dtype, (None,))) for _ in range(1 + (name == "logaddexp"))]
            kernels[name, dtype] = lower(ELEMENTWISE[name](*operands).owner)
    return kernels, Library(list(kernels.values()), FLAGS[request.param])


def numbers(dtype: str) -> np.ndarray:
    """Numbers of every size, all along the range of exp, and around the ends of it."""
    limits = np.finfo(dtype)
    rng = np.random.default_rng(7)
    most, least = np.log(float(limits.max)), np.log(float(limits.smallest_subnormal))
    sizes = np.exp(rng.uniform(least, most, COUNT)) * rng.choice([-1, 1], COUNT)
    ends = [e + d for e in (most, least, -most, -least) for d in np.linspace(-1, 1, 301)]
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, limits.max, limits.min, limits.tiny, limits.smallest_subnormal]
    return np.concatenate([sizes, rng.uniform(least, most, COUNT), rng.normal(size=COUNT), ends, special]).astype(dtype)


def assert_within(got: np.ndarray, expected: np.ndarray) -> None:
    """Within ULP units in the last place of the narrower dtype; specials and signs of zeros are the same."""
    rounded = expected.astype(got.dtype)
    assert np.array_equal(np.isnan(got), np.isnan(rounded))
    finite = np.isfinite(rounded)
    overflow = ~finite & ~np.isnan(rounded)
    assert np.array_equal(got[overflow], rounded[overflow])
    zero = finite & (rounded == 0) & (got == 0)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(rounded[zero]))
    unit = np.spacing(np.abs(rounded[finite])).astype(expected.dtype)
    error = np.abs(got[finite].astype(expected.dtype) - expected[finite]) / unit
    assert error.max() <= ULP, (error.max(), got[finite][error.argmax()], expected[finite][error.argmax()])


@pytest.mark.few(4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MEANINGS)
def test_within_three_ulp_everywhere(name, dtype, compiled):
    kernels, library = compiled
    x = numbers(dtype)
    (got,) = library.run(kernels[name, dtype], [x])
    with np.errstate(all="ignore"):
        assert_within(got, MEANINGS[name](x.astype("float64" if dtype == "float32" else "longdouble")))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logaddexp_of_numbers_of_one_sign(dtype, compiled):
    """Where the terms do not cancel it is as exact as the rest."""
    kernels, library = compiled
    a, b = np.abs(np.random.default_rng(3).normal(size=(2, COUNT)) * 30).astype(dtype)
    (got,) = library.run(kernels["logaddexp", dtype], [a, b])
    wide = "float64" if dtype == "float32" else "longdouble"
    assert_within(got, np.logaddexp(a.astype(wide), b.astype(wide)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MEANINGS)
def test_bits_do_not_depend_on_the_place_in_the_array(name, dtype, compiled):
    """Vectors and what is left over at the end of a loop compute the same."""
    kernels, library = compiled
    x = np.random.default_rng(1).normal(size=67).astype(dtype) * 9
    (all_,) = library.run(kernels[name, dtype], [x])
    alone = [library.run(kernels[name, dtype], [x[k : k + 1]])[0][0] for k in range(len(x))]
    assert np.array_equal(all_, np.array(alone, dtype))
