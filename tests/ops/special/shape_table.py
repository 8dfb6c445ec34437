"""The table of shapes of `T.special`: whether functions stay in their ranges and rise or fall as they should.

    python tests/ops/special/shape_table.py                       # every function, float64 and float32
    python tests/ops/special/shape_table.py ndtr erf --runs 100   # some

The points are runs of neighbouring floats around random and hard places of a function, and points in order over its
domain.  A function of several operands moves along one of them.  `step back` is the largest step in the wrong
direction, in units in the last place: errors of two values can make one, so `BACK` bounds it.  Values out of the range
are counted: there may be none.  The command fails if a function has one or goes back too far.
"""

import argparse
import sys
from dataclasses import dataclass

import numpy as np

import arignote as ag
from arignote import ops as T

SEED, LENGTH, BACK = 31, 512, 8


@dataclass(frozen=True)
class Shape:
    """How values move with the moving operand, 1 up, -1 down, 0 neither, and their range."""

    direction: int
    range: tuple[float, float]
    domain: tuple[float, float]
    others: tuple[tuple[float, float], ...] = ()  # ranges of the operands before the last one
    hard: tuple[float, ...] = ()  # where a method begins, or a value is round
    unit: float = 0.0  # the least number whose unit in the last place counts
    moves_first: bool = False  # the moving operand is the first one, not the last


UNIT, ANY, POSITIVE, BELOW_0 = (0.0, 1.0), (-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.0)
ORDERS, DEGREES = ((0.05, 50.0),), ((0.05, 50.0), (0.05, 50.0))
SHAPES = {
    "expit": Shape(1, UNIT, (-800, 800), hard=(0.0, 1.0, -1.0, 36.7)),
    "log_expit": Shape(1, BELOW_0, (-800, 800), hard=(0.0, -1.0, 36.7)),
    "logit": Shape(1, ANY, UNIT, hard=(0.5, 0.25, 0.75)),
    "exprel": Shape(1, POSITIVE, (-100, 100), hard=(0.0, 1e-8)),
    "expm1": Shape(1, (-1.0, np.inf), (-50, 100), hard=(0.0, 0.5)),
    "log1p": Shape(1, ANY, (-0.999, 1e3), hard=(0.0, 0.5)),
    "erf": Shape(1, (-1.0, 1.0), (-7, 7), hard=(0.0, 0.5, 1.0, 2.0, 4.0)),
    "erfc": Shape(-1, (0.0, 2.0), (-7, 26), hard=(0.0, 0.5, 1.0, 2.0, 4.0)),
    "erfcx": Shape(-1, POSITIVE, (-20, 1e3), hard=(0.0, 0.5, 1.0, 50.0)),
    "erfinv": Shape(1, ANY, (-1, 1), hard=(0.0, 0.5, 0.9, 0.99)),
    "erfcinv": Shape(-1, ANY, (0, 2), hard=(1.0, 0.5, 0.1, 1.9)),
    "ndtr": Shape(1, UNIT, (-37, 9), hard=(0.0, -1.0, 1.0, -1.4)),
    "log_ndtr": Shape(1, BELOW_0, (-1e3, 9), hard=(0.0, -1.0, 1.0, -20.0)),
    "ndtri": Shape(1, ANY, UNIT, hard=(0.5, 0.1, 0.02, 0.98)),
    "ndtri_exp": Shape(1, ANY, (-1e3, -1e-3), hard=(-2.0, -0.7, -0.1)),
    "gammaln": Shape(1, ANY, (1.5, 1e5), hard=(2.0, 3.0, 8.0)),
    "gamma": Shape(1, POSITIVE, (1.5, 170), hard=(2.0, 3.0)),
    "digamma": Shape(1, ANY, (1e-3, 1e5), hard=(1.0, 1.46, 2.0, 10.0)),
    "gammainc": Shape(1, UNIT, (1e-3, 100), ORDERS, (1.0, 2.0, 8.0)),
    "gammaincc": Shape(-1, UNIT, (1e-3, 100), ORDERS, (1.0, 2.0, 8.0)),
    "gammaincinv": Shape(1, POSITIVE, UNIT, ORDERS, (0.5, 0.1, 0.9)),
    "gammainccinv": Shape(-1, POSITIVE, UNIT, ORDERS, (0.5, 0.1, 0.9)),
    "betainc": Shape(1, UNIT, UNIT, DEGREES, (0.5, 0.1, 0.9)),
    "betaincc": Shape(-1, UNIT, UNIT, DEGREES, (0.5, 0.1, 0.9)),
    "betaincinv": Shape(1, UNIT, UNIT, DEGREES, (0.5, 0.1, 0.9)),
    "betainccinv": Shape(-1, UNIT, UNIT, DEGREES, (0.5, 0.1, 0.9)),
    "zeta": Shape(-1, POSITIVE, (0.1, 100), ((1.1, 30.0),), (1.0, 9.0, 10.0)),
    "i0": Shape(1, (1.0, np.inf), (0, 600), hard=(4.0, 8.0)),
    "i1": Shape(1, POSITIVE, (0, 600), hard=(4.0, 8.0)),
    "i0e": Shape(-1, UNIT, (0, 600), hard=(4.0, 8.0)),
    "k0": Shape(-1, POSITIVE, (1e-3, 600), hard=(1.0, 2.0, 8.0)),
    "k1": Shape(-1, POSITIVE, (1e-3, 600), hard=(1.0, 2.0, 8.0)),
    "k0e": Shape(-1, POSITIVE, (1e-3, 600), hard=(1.0, 2.0, 8.0)),
    "k1e": Shape(-1, POSITIVE, (1e-3, 600), hard=(1.0, 2.0, 8.0)),
    "iv": Shape(1, POSITIVE, (1e-2, 100), ORDERS, (2.0, 8.0, 20.0)),
    "kv": Shape(-1, POSITIVE, (1e-2, 100), ORDERS, (1.0, 2.0, 8.0)),
    "kve": Shape(-1, POSITIVE, (1e-2, 100), ORDERS, (1.0, 2.0, 8.0)),
    "j0": Shape(0, (-0.41, 1.0), (-100, 100), hard=(0.0, 2.404825557695773, 5.0, 8.0)),
    "j1": Shape(0, (-0.582, 0.582), (-100, 100), hard=(0.0, 3.8317059702075125, 5.0, 8.0)),
    "ellipk": Shape(1, (0.0, np.inf), (-100, 0.999), hard=(0.0, 0.5)),
    "ellipe": Shape(-1, (1.0, np.inf), (-100, 1), hard=(0.0, 0.5)),
    "ellipkm1": Shape(-1, POSITIVE, (1e-3, 1), hard=(0.5, 1.0)),
    "exp1": Shape(-1, POSITIVE, (1e-3, 600), hard=(1.0, 2.0)),
    "expi": Shape(1, ANY, (1e-3, 600), hard=(0.3725074107813666, 1.0, 6.0, 20.0)),
    "spence": Shape(-1, ANY, (0, 100), hard=(0.5, 1.0, 1.5, 2.0)),
    "dawsn": Shape(0, (-0.5411, 0.5411), (-100, 100), hard=(0.0, 0.9241388730045916)),
    "owens_t": Shape(1, (0.0, 0.25), (0, 100), ((0.0, 5.0),), (0.5, 1.0)),
    "voigt_profile": Shape(-1, POSITIVE, (0, 100), ((0.1, 5.0), (0.1, 5.0)), moves_first=True),
    "lambertw_0": Shape(1, (-1.0, np.inf), (1e-8, 1e5), hard=(0.36787944117144233, 1.0)),
    "huber": Shape(1, POSITIVE, (0, 100), ((0.1, 5.0),), (1.0,)),
    "pseudo_huber": Shape(1, POSITIVE, (0, 100), ((0.1, 5.0),), (1.0,)),
    "vonmises_cdf": Shape(1, UNIT, (-3.1415, 3.1415), ((0.01, 100.0),), (0.0, 1.0), unit=1.0),
    "vonmises_quantile": Shape(1, (-np.pi, np.pi), UNIT, ((0.01, 100.0),), (0.5, 0.1)),
}


def ordered(bits):
    """Numbers in the order of the floats of these bits, or the bits of such numbers."""
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


def runs(shape, rng, count, dtype):
    """Operands: rows of neighbouring floats from points of the domain, then rows in order over the domain."""
    low, high = shape.domain
    starts = np.concatenate([rng.uniform(low, high, count), np.resize(shape.hard or (high,), count)]).astype(dtype)
    places = ordered(starts.view({"float64": "int64", "float32": "int32"}[dtype]))
    steps = np.arange(LENGTH, dtype=places.dtype) - LENGTH // 2
    near = ordered(places[:, None] + steps).view(dtype)
    far = np.sort(rng.uniform(low, high, (count, LENGTH)), axis=1).astype(dtype)
    moving = np.concatenate([near, far])
    np.clip(moving, np.asarray(low, dtype), np.asarray(high, dtype), out=moving)
    others = [np.repeat(rng.uniform(*given, (len(moving), 1)), LENGTH, axis=1).astype(dtype) for given in shape.others]
    return (moving, *others) if shape.moves_first else (*others, moving)


def examined(name, count, dtype):
    """The largest step back in ulp, the operands there, and the number of values out of the range."""
    shape = SHAPES[name]
    operands = runs(shape, np.random.default_rng(SEED), count, dtype)
    variables = [T.matrix(f"x{k}", dtype=dtype) for k in range(len(operands))]
    values = ag.function(variables, getattr(T.special, name)(*variables))(*operands)
    assert values.dtype == dtype, (name, values.dtype)
    low, high = shape.range
    outside = np.isnan(values) | (values < np.asarray(low, dtype)) | (values > np.asarray(high, dtype))
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.spacing(np.maximum(np.abs(values[:, 1:]), np.asarray(shape.unit, dtype)))
        back = -shape.direction * np.diff(values, axis=1) / unit
    back[~np.isfinite(back)] = 0
    row, column = np.unravel_index(np.argmax(back), back.shape)
    return max(back[row, column], 0.0), [v[row, column + 1] for v in operands], int(outside.sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--runs", type=int, default=200, help="runs of each kind")
    given = parser.parse_args()
    failed = False
    print("function           dtype   step back  outside  at")
    for name in given.names or SHAPES:
        for dtype in ("float64", "float32"):
            back, point, outside = examined(name, given.runs, dtype)
            failed |= back > BACK or outside > 0
            print(f"{name:18} {dtype} {back:9.1f} {outside:8}  {', '.join(f'{v:.17g}' for v in point)}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
