"""T.special against mpmath at many random points: the bounds that the docstrings state."""

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.ops.special.functions import SPECIAL

mp = pytest.importorskip("mpmath")
pytestmark = pytest.mark.long
MANY, FEW = 100_000, 5_000
"""Points of functions of which mpmath computes thousands a second, and of others."""


def wide(rng, count, low, high):
    return 10 ** rng.uniform(np.log10(low), np.log10(high), count)


CASES = {
    "erfcx": (MANY, 8, lambda r, n: (r.uniform(-26, 40, n),), lambda x: mp.exp(x * x) * mp.erfc(x)),
    "ndtr": (MANY, 8, lambda r, n: (r.uniform(-37, 9, n),), lambda x: mp.erfc(-x / mp.sqrt(2)) / 2),
    "log_ndtr": (MANY, 8, lambda r, n: (r.uniform(-37, 5, n),), lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2)),
    "logit": (MANY, 8, lambda r, n: (r.uniform(0, 1, n),), lambda p: mp.log(p / (1 - p))),
    "exprel": (MANY, 8, lambda r, n: (r.normal(size=n) * 20,), lambda x: mp.expm1(x) / x),
    "entr": (MANY, 8, lambda r, n: (wide(r, n, 1e-9, 1e9),), lambda x: -x * mp.log(x)),
    "i0": (MANY, 8, lambda r, n: (r.uniform(-700, 700, n),), lambda x: mp.besseli(0, x)),
    "i1e": (MANY, 8, lambda r, n: (r.uniform(-700, 700, n),), lambda x: mp.besseli(1, x) * mp.exp(-abs(x))),
    "k0e": (FEW, 8, lambda r, n: (wide(r, n, 1e-5, 700),), lambda x: mp.besselk(0, x) * mp.exp(x)),
    "k1": (FEW, 8, lambda r, n: (wide(r, n, 1e-5, 600),), lambda x: mp.besselk(1, x)),
    "kv": (FEW, 8, lambda r, n: (wide(r, n, 0.01, 150), wide(r, n, 0.05, 500)), mp.besselk),
    "ive": (FEW, 64, lambda r, n: (wide(r, n, 0.01, 150), wide(r, n, 0.01, 500)),
            lambda v, x: mp.besseli(v, x) * mp.exp(-x)),
    "betaln": (MANY, 16, lambda r, n: (wide(r, n, 0.01, 1e4), wide(r, n, 2, 1e4)),
               lambda a, b: mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)),
    "gammaincc": (FEW, 16, lambda r, n: (a := wide(r, n, 0.05, 1e3), a * np.exp(r.normal(size=n) / np.sqrt(1 + a))),
                  lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True)),
    "zeta": (FEW, 8, lambda r, n: (1 + wide(r, n, 0.01, 20), wide(r, n, 0.1, 20)), mp.zeta),
    "exp1": (FEW, 8, lambda r, n: (wide(r, n, 1e-5, 600),), mp.e1),
    "ellipk": (FEW, 8, lambda r, n: (1 - wide(r, n, 1e-6, 100),), mp.ellipk),
    "spence": (FEW, 8, lambda r, n: (wide(r, n, 1e-3, 1e3),), lambda x: mp.re(mp.polylog(2, 1 - x))),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_error_is_within_the_bound(name):
    count, bound, draw, exact = CASES[name]
    operands = draw(np.random.default_rng(17), count)
    variables = [T.vector(f"x{k}") for k in range(len(operands))]
    got = ag.function(variables, SPECIAL[name](*variables))(*operands)
    worst, where = 0.0, None
    with mp.workdps(40):
        for place, point in enumerate(zip(*operands)):
            value = exact(*map(mp.mpf, map(float, point)))
            nearest = float(value)
            if abs(nearest) < 1e-300 or not np.isfinite(nearest):
                continue
            off = float(abs(mp.mpf(float(got[place])) - value) / mp.mpf(float(np.spacing(abs(nearest)))))
            if off > worst:
                worst, where = off, tuple(map(float, point))
    assert worst <= bound, f"{worst} ulp at {where}"
