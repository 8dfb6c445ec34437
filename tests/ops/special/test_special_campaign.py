"""T.special against mpmath at random and at hard points: the bounds that the docstrings state.

    python tests/ops/special/test_special_campaign.py NAME COUNT      # prints the worst of COUNT points

`special_hard.npz` holds, for every function, the points with the largest errors of such a search over 40,000 points,
and their exact values: the nearest float and the rest in units of 1/250 ulp.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from ending import assert_ends
from shape_table import BACK, SHAPES, examined

import arignote as ag
from arignote import ops as T
from arignote.ops.special.functions import SPECIAL

mp = pytest.importorskip("mpmath")
pytestmark = pytest.mark.long
HARD = Path(__file__).with_name("special_hard.npz")


def wide(rng, count, low, high):
    return 10 ** rng.uniform(np.log10(low), np.log10(high), count)


def signed(rng, count, low, high):
    return wide(rng, count, low, high) * rng.choice([-1, 1], count)


def two(first, second):
    """A draw of independent operands."""
    return lambda r, n: (wide(r, n, *first), wide(r, n, *second))


def one(low, high):
    return lambda r, n: (wide(r, n, low, high),)


def either(low, high):
    return lambda r, n: (signed(r, n, low, high),)


def near_gamma(low, high):
    def draw(r, n):
        a = wide(r, n, low, high)
        return a, a * np.exp(r.normal(size=n) / np.sqrt(1 + a))

    return draw


def near_beta(low, high):
    def draw(r, n):
        a, b = wide(r, n, low, high), wide(r, n, low, high)
        mean = a / (a + b)
        spread = np.sqrt(mean * (1 - mean) / (a + b + 1))
        return a, b, np.clip(mean + 1.2 * spread * r.normal(size=n), 0.001, 0.999)

    return draw


def quantiles(*ranges):
    return lambda r, n: (*(wide(r, n, *given) for given in ranges), r.uniform(0.01, 0.99, n))


def hypergeometric(count, low, high):
    def draw(r, n):
        return (*(r.uniform(0.1, 10 if k < 2 else 20, n) for k in range(count)), r.uniform(low, high, n))

    return draw


def oscillation(order, x):
    """The size of Bessel functions where they oscillate."""
    return float(np.sqrt(2 / (np.pi * abs(x)))) if abs(x) > abs(order) + 0.5 else 0.0


def bessel_size(*point):
    return oscillation(point[0] if len(point) == 2 else 1.0, point[-1])


def zero_order_size(x):
    return oscillation(0.0, x)


def airy_size(x):
    return abs(x) ** -0.25 if x < -1 else 0.0


def airy_slope_size(x):
    return abs(x) ** 0.25 if x < -1 else 0.0


def slope_size(v, x):
    """The larger term of the derivative of `iv` by the order."""
    return float(mp.besseli(v, x) * (1 + abs(mp.log(mp.mpf(x) / 2)) + abs(mp.psi(0, v + 1))))


def unit(*point):
    return 1.0


def ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def faddeeva(x, y):
    z = mp.mpc(x, y)
    return mp.exp(-z * z) * mp.erfc(mp.mpc(y, -x))


def lower_gamma(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def upper_gamma(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def lower_beta(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def upper_beta(a, b, x):
    return mp.betainc(b, a, 0, 1 - x, regularized=True)


def by(place, function):
    """The derivative by the operand of this place."""

    def slope(*point):
        step = mp.mpf(2) ** -60
        with mp.workdps(90):
            ends = []
            for sign in (1, -1):
                moved = list(point)
                moved[place] += sign * step
                ends.append(function(*moved))
            return (ends[0] - ends[1]) / (2 * step)

    return slope


def owens_t(h, a):
    return mp.quad(lambda t: mp.exp(-h * h * (1 + t * t) / 2) / (1 + t * t), [0, a / 4, a]) / (2 * mp.pi)


def vonmises_cdf(k, x):
    whole = 2 * mp.pi * mp.besseli(0, k) * mp.exp(-k)
    return mp.quad(lambda t: mp.exp(k * (mp.cos(t) - 1)), mp.linspace(-mp.pi, x, 4)) / whole


def gauss(a, b, c, x):
    return mp.hyp2f1(a, b, c, x)


FAST, SLOW, RARE = 3000, 700, 60
"""Points of functions of which mpmath computes thousands, hundreds and tens a second."""

CASES = {
    "xlog1py": (FAST, 8, two((1e-5, 1e5), (1e-12, 1e12)), lambda x, y: x * mp.log1p(y)),
    "logit": (FAST, 8, lambda r, n: (r.uniform(0, 1, n),), lambda p: mp.log(p / (1 - p))),
    "exprel": (FAST, 8, either(1e-15, 700), lambda x: mp.expm1(x) / x),
    "entr": (FAST, 8, one(1e-9, 1e9), lambda x: -x * mp.log(x)),
    "rel_entr": (FAST, 8, two((1e-3, 1e3), (1e-3, 1e3)), lambda x, y: x * mp.log(x / y)),
    "kl_div": (FAST, 8, two((1e-2, 1e1), (1e-2, 1e1)), lambda x, y: x * mp.log(x / y) - x + y),
    "huber": (FAST, 8, two((1e-2, 1e2), (1e-2, 1e2)), lambda d, x: x * x / 2 if x <= d else d * (x - d / 2)),
    "pseudo_huber": (FAST, 8, two((1e-2, 1e2), (1e-4, 1e4)), lambda d, x: d * d * (mp.sqrt(1 + (x / d) ** 2) - 1)),
    "erfcx": (FAST, 8, lambda r, n: (r.uniform(-26, 40, n),), lambda x: mp.exp(x * x) * mp.erfc(x)),
    "ndtr": (FAST, 8, lambda r, n: (r.uniform(-37, 9, n),), ndtr),
    "log_ndtr": (FAST, 8, lambda r, n: (r.uniform(-37, 5, n),), lambda x: mp.log(ndtr(x))),
    "erfinv": (SLOW, 8, lambda r, n: (r.uniform(-1, 1, n),), mp.erfinv),
    "erfcinv": (SLOW, 8, lambda r, n: (r.uniform(0.001, 2, n),), lambda p: mp.erfinv(1 - p)),
    "ndtri": (SLOW, 8, lambda r, n: (r.uniform(0.001, 1, n),), lambda p: mp.sqrt(2) * mp.erfinv(2 * p - 1)),
    "ndtri_exp": (SLOW, 8, lambda r, n: (-wide(r, n, 1e-3, 6),), lambda y: mp.sqrt(2) * mp.erfinv(2 * mp.exp(y) - 1)),
    "dawsn": (SLOW, 8, either(1e-4, 50), lambda x: mp.exp(-x * x) * mp.erfi(x) * mp.sqrt(mp.pi) / 2),
    "voigt_real": (SLOW, 8, two((1e-3, 30), (1e-3, 30)), lambda x, y: mp.re(faddeeva(x, y))),
    "voigt_imag": (SLOW, 8, two((1e-3, 30), (1e-3, 30)), lambda x, y: mp.im(faddeeva(x, y))),
    "gammainc": (SLOW, 8, near_gamma(0.05, 300), lower_gamma),
    "gammaincc": (SLOW, 8, near_gamma(0.05, 300), upper_gamma),
    "gammaincinv": (RARE, 8, quantiles((0.05, 1e2)), lower_gamma, "inverse"),
    "gammainccinv": (RARE, 8, quantiles((0.05, 1e2)), upper_gamma, "inverse"),
    "gammainc_by_a": (RARE, 8, near_gamma(0.1, 100), by(0, lower_gamma)),
    "zeta": (SLOW, 8, lambda r, n: (1 + wide(r, n, 0.01, 20), wide(r, n, 0.1, 20)), mp.zeta),
    "betaln": (FAST, 8, two((0.01, 1e4), (0.01, 1e4)), lambda a, b: mp.log(mp.beta(a, b))),
    "beta": (FAST, 8, two((0.01, 1e2), (0.01, 1e2)), mp.beta),
    "betainc": (SLOW, 8, near_beta(0.1, 100), lower_beta),
    "betaincc": (SLOW, 8, near_beta(0.1, 100), upper_beta),
    "betaincinv": (RARE, 8, quantiles((0.1, 1e2), (0.1, 1e2)), lower_beta, "inverse"),
    "betainccinv": (RARE, 8, quantiles((0.1, 1e2), (0.1, 1e2)), upper_beta, "inverse"),
    "i0": (SLOW, 8, either(1e-3, 700), lambda x: mp.besseli(0, x)),
    "i1": (SLOW, 8, either(1e-3, 700), lambda x: mp.besseli(1, x)),
    "i0e": (SLOW, 8, either(1e-3, 700), lambda x: mp.besseli(0, x) * mp.exp(-abs(x))),
    "i1e": (SLOW, 8, either(1e-3, 700), lambda x: mp.besseli(1, x) * mp.exp(-abs(x))),
    "k0": (SLOW, 8, one(1e-5, 600), lambda x: mp.besselk(0, x)),
    "k1": (SLOW, 8, one(1e-5, 600), lambda x: mp.besselk(1, x)),
    "k0e": (SLOW, 8, one(1e-5, 600), lambda x: mp.besselk(0, x) * mp.exp(x)),
    "k1e": (SLOW, 8, one(1e-5, 600), lambda x: mp.besselk(1, x) * mp.exp(x)),
    "kv": (SLOW, 8, two((0.01, 150), (0.05, 500)), mp.besselk),
    "kve": (SLOW, 8, two((0.01, 150), (0.05, 500)), lambda v, x: mp.besselk(v, x) * mp.exp(x)),
    "kv_by_order": (RARE, 8, two((0.01, 50), (0.05, 50)), by(0, mp.besselk)),
    "kve_by_order": (RARE, 8, two((0.01, 50), (0.05, 50)), lambda v, x: by(0, mp.besselk)(v, x) * mp.exp(x)),
    "iv": (SLOW, 8, two((0.01, 150), (0.01, 500)), mp.besseli),
    "ive": (SLOW, 8, two((0.01, 150), (0.01, 500)), lambda v, x: mp.besseli(v, x) * mp.exp(-x)),
    "iv_by_order": (RARE, 16, two((0.5, 50), (0.01, 30)), by(0, mp.besseli), slope_size),
    "j0": (SLOW, 8, either(1e-3, 1e3), lambda x: mp.besselj(0, x), zero_order_size),
    "j1": (SLOW, 8, either(1e-3, 1e3), lambda x: mp.besselj(1, x), bessel_size),
    "y0": (SLOW, 8, one(1, 1e3), lambda x: mp.bessely(0, x), zero_order_size),
    "y1": (SLOW, 8, one(1e-3, 1e3), lambda x: mp.bessely(1, x), bessel_size),
    "jv": (SLOW, 8, two((0.01, 100), (0.01, 1e3)), mp.besselj, bessel_size),
    "yv": (SLOW, 8, two((0.01, 100), (1, 1e3)), mp.bessely, bessel_size),
    "airyai": (SLOW, 8, either(1e-2, 80), mp.airyai, airy_size),
    "airyaip": (SLOW, 8, either(1e-2, 80), lambda x: mp.airyai(x, derivative=1), airy_slope_size),
    "airybi": (SLOW, 8, either(1e-2, 80), mp.airybi, airy_size),
    "airybip": (SLOW, 8, either(1e-2, 80), lambda x: mp.airybi(x, derivative=1), airy_slope_size),
    "exp1": (SLOW, 8, one(1e-5, 600), mp.e1),
    "expi": (SLOW, 8, either(1e-5, 600), mp.ei),
    "ellipk": (SLOW, 8, lambda r, n: (1 - wide(r, n, 1e-6, 100),), mp.ellipk),
    "ellipkm1": (SLOW, 8, one(1e-20, 1e2), lambda p: mp.ellipk(1 - p)),
    "ellipe": (SLOW, 8, lambda r, n: (1 - wide(r, n, 1e-6, 100),), mp.ellipe),
    "fresnel_s": (SLOW, 8, either(1e-3, 1e2), mp.fresnels),
    "fresnel_c": (SLOW, 8, either(1e-3, 1e2), mp.fresnelc),
    "spence": (SLOW, 8, one(1e-3, 1e3), lambda x: mp.re(mp.polylog(2, 1 - x))),
    "lambertw_0": (SLOW, 8, lambda r, n: (wide(r, n, 1e-8, 1) - 0.36787944117144233,), mp.lambertw),
    "lambertw_1": (SLOW, 8, lambda r, n: (-0.3678794411714 * (1 - wide(r, n, 1e-8, 1)),), lambda x: mp.lambertw(x, -1)),
    "struve": (SLOW, 8, lambda r, n: (r.uniform(-0.9, 30, n), wide(r, n, 0.01, 50)), mp.struveh, bessel_size),
    "owens_t": (RARE, 8, two((1e-2, 10), (1e-2, 10)), owens_t),
    "hyp1f1": (SLOW, 8, hypergeometric(2, 0, 30), mp.hyp1f1),
    "hyp2f1": (SLOW, 8, hypergeometric(3, 0, 0.9), gauss),
    "vonmises_cdf": (RARE, 8, lambda r, n: (wide(r, n, 1e-2, 1e2), r.uniform(-3.1, 3.1, n)), vonmises_cdf, unit),
    "vonmises_quantile": (RARE, 8, quantiles((1e-2, 1e2)), vonmises_cdf, unit, "inverse"),
    "betainc_by_a": (RARE, 8, near_beta(0.3, 30), by(0, lower_beta)),
    "betainc_by_b": (RARE, 8, near_beta(0.3, 30), by(1, lower_beta)),
}  # fmt: skip
"""Points, bound in ulp, draw, exact value; the size whose ulp counts if it is larger; "inverse" of that function."""


def compiled(name):
    variables = [T.vector(f"x{k}") for k in range(SPECIAL[name].arity)]
    return ag.function(variables, SPECIAL[name](*variables))


def error(case, point, got):
    """The error of one value in ulp, or None where there is no normal number."""
    _, _, _, exact, *kind = case
    given = [mp.mpf(float(p)) for p in point]
    got = mp.mpf(float(got))
    if "inverse" in kind:
        *others, target = given
        step = abs(got) * mp.mpf(2) ** -40
        slope = (exact(*others, got + step) - exact(*others, got - step)) / (2 * step)
        difference, size = (exact(*others, got) - target) / slope, abs(float(got))
    else:
        value = mp.re(exact(*given))
        difference, size = got - value, abs(float(value))
    if kind and callable(kind[0]):
        size = max(size, kind[0](*map(float, point)))
    if not 1e-300 < size < np.inf:
        return None
    return float(abs(difference)) / float(np.spacing(size))


def errors(name, count, seed):
    case = CASES[name]
    operands = case[2](np.random.default_rng(seed), count)
    got = compiled(name)(*operands)
    with mp.workdps(40):
        found = [(error(case, point, value), point) for point, value in zip(zip(*operands), got)]
    return [(e, tuple(map(float, point))) for e, point in found if e is not None]


def test_every_function_is_in_the_campaign():
    counted = {"poisson_quantile", "binomial_quantile", "hypergeometric_draw", "zipf_quantile"}  # whole numbers
    assert set(SPECIAL) - set(CASES) == counted


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", SHAPES)
def test_functions_stay_in_range_and_rise_or_fall(name, dtype):
    back, point, outside = examined(name, 20, dtype)
    assert back <= BACK and not outside, (back, point, outside)


@pytest.mark.parametrize("name", CASES)
def test_error_is_within_the_bound(name):
    found = errors(name, CASES[name][0], 17)
    assert len(found) > CASES[name][0] // 2
    worst, where = max(found)
    assert worst <= CASES[name][1], f"{worst} ulp at {where}"


def test_hard_points_are_within_the_bound():
    wrong = {}
    with np.load(HARD) as held:
        for name, (_, bound, _, _, *kind) in CASES.items():
            operands, nearest, rest = held[f"{name}_x"], held[f"{name}_y"], held[f"{name}_rest"] / 250
            size = np.abs(nearest)
            if kind and callable(kind[0]):
                size = np.maximum(size, [kind[0](*point) for point in operands.T])
            ulp = np.spacing(size)
            few = slice(None, None, 12)
            for kind_, got, part in (
                ("C", compiled(name)(*operands), slice(None)),
                ("meaning", SPECIAL[name].evaluate(*operands[:, few])[0], few),
            ):
                off = np.abs((got - nearest[part]) / ulp[part] - rest[part] * (np.spacing(np.abs(nearest)) / ulp)[part])
                if not off.max() <= bound:
                    wrong[name, kind_] = (float(off.max()), operands[:, part][:, off.argmax()].tolist())
    assert not wrong, wrong


EXTREME = [
    0, 1, 2, 3, 7, 20, 100, 128, 1000, 1e5, 1e6, 1e9, 1e12, 1e15, 1e18, 1e100, 1e300, 0.5, 1.5, 0.1, 1e-3, 1e-8, 1e-20,
    1e-300, 5e-324, 0.9, 0.999999, 1.000001, 3.7, 99.9, 12345.6, 709.0, np.inf, np.nan,
]  # fmt: skip
NEAR = [-8.0, -1.0, -1e-3, 0.0, 0.0, 1e-3, 1.0, 8.0]
"""Distances of parameters from a number, in its square root."""
COMBINATIONS = 1_500


def reach_the_end():
    """Compute each function at combinations of extreme numbers, at equal ones, and at those near each other."""
    values = np.array([*EXTREME, *(-x for x in EXTREME)])
    rng = np.random.default_rng(2)
    for name, op in sorted(SPECIAL.items()):
        print(name, flush=True)
        drawn = np.random.default_rng(1).choice(values, (op.arity, COMBINATIONS))
        large = rng.choice(np.array(EXTREME), COMBINATIONS)
        near = large + rng.choice(NEAR, (op.arity, COMBINATIONS)) * np.sqrt(large)
        drawn = np.concatenate([drawn, np.broadcast_to(values, (op.arity, len(values))), near], axis=1)
        variables = [T.vector(f"v{k}") for k in range(op.arity)]
        ag.function(variables, op(*variables))(*drawn)


def test_all_functions_end():
    assert_ends(__file__, "reach_the_end")


if __name__ == "__main__":
    for worst_error, place in sorted(errors(sys.argv[1], int(sys.argv[2]), 23))[-5:]:
        print(worst_error, place)
