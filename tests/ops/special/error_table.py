"""The table of errors of `T.special`: the largest one of each function over 100,000 points, in units in the last place.

    python tests/ops/special/error_table.py                         # every function
    python tests/ops/special/error_table.py jv yv --points 1000     # some

The points are those of `test_special_campaign.py` with a fixed seed, exact values are balls of Arb (`pip install
python-flint`; exact_balls.py), and mpmath computes every 500th of them again.  The unit is that of the value, or of the
envelope where a function oscillates (the campaign's sizes).  shape_table.py searches for values out of range and for
steps in the wrong direction.
"""

import argparse

import mpmath as mp
import numpy as np
from exact_balls import EXACT, inverse_error, value_of
from flint import arb, ctx
from test_special_campaign import CASES, one, two

import arignote as ag
from arignote import ops as T

SEED, CHECKED = 23, 500


def even(*ranges):
    return lambda r, n: tuple(r.uniform(*given, n) for given in ranges)


FURTHER = {
    "xlogy": two((1e-5, 1e5), (1e-5, 1e5)), "expit": even((-30, 30)), "log_expit": even((-30, 30)),
    "erf": even((-4, 4)), "erfc": even((-4, 10)), "gamma": even((-20, 50)), "gammaln": one(1e-3, 1e5),
    "digamma": one(1e-3, 1e5), "beta_below_0": even((-20, 0), (-10, 10)), "betaln_below_0": even((-20, 0), (-10, 10)),
}  # fmt: skip
"""Points of functions that the campaign does not search."""


def spread(name, points):
    """The errors in ulp, and the points."""
    plain = name.removesuffix("_below_0")
    draw, exact, kind = FURTHER.get(name), EXACT[plain], ()
    if draw is None:
        _, _, draw, _, *kind = CASES[name]
    operands = draw(np.random.default_rng(SEED), points)
    variables = [T.vector(f"x{k}") for k in range(len(operands))]
    values = ag.function(variables, getattr(T.special, plain)(*variables))(*operands)
    found = []
    for count, (point, got) in enumerate(zip(zip(*operands), values, strict=True)):
        point, got = tuple(map(float, point)), float(got)
        if "inverse" in kind:
            difference, size = inverse_error(exact, point, got), abs(got)
        else:
            value = value_of(exact, point)
            size = abs(float(value.mid()))
            ctx.prec = 200
            if not np.isfinite(got):
                assert size > 1e300, (name, point, got)
                continue
            difference = float((arb(got) - value).mid())
            if count % CHECKED == 0 and name in CASES:
                with mp.workdps(50 + max(0, round(-np.log10(size)) if size else 0)):
                    other = float(mp.re(CASES[name][3](*map(mp.mpf, point))))
                assert abs(other - float(value.mid())) <= 4 * np.spacing(size), (name, point, other)
        if kind and callable(kind[0]):
            size = max(size, kind[0](*point))
        if 1e-300 < size < np.inf:
            found.append((abs(difference) / np.spacing(size), point))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--points", type=int, default=100_000)
    given = parser.parse_args()
    print("function            ulp   points  at")
    for name in given.names or [*CASES, *FURTHER]:
        found = spread(name, given.points)
        worst, point = max(found)
        print(f"{name:18} {worst:5.1f} {len(found):8,}  {', '.join(f'{v:.17g}' for v in point)}", flush=True)


if __name__ == "__main__":
    main()
