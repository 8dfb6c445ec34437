"""Special functions beside SciPy: the processor time of a call on one thread.

    python -m benchmarks.kernels.special              # every function that SciPy has
    python -m benchmarks.kernels.special airy jv      # some

Both take turns on the same 4,096 points, and the least time of many calls counts.  SciPy runs in a process of its own,
so neither meets the other's caches and registers.  The points are those of the tests against mpmath: every size in the
domain.  `airy`, `fresnel` give all of their results, as SciPy's do.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", ARIGNOTE_THREADS="1")

import argparse
import multiprocessing
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

SIZE, ROUNDS, CALLS = 4096, 12, 8

Draw = Callable[[np.random.Generator], Sequence[np.ndarray]]
Range = tuple[float, float]


def even(*ranges: Range) -> Draw:
    """Operands that are uniform in their ranges."""
    return lambda r: [r.uniform(*given, SIZE) for given in ranges]


def wide(*ranges: Range) -> Draw:
    """Operands of which the logarithm is uniform."""
    return lambda r: [np.exp(r.uniform(*np.log(given), SIZE)) for given in ranges]


def signed(*ranges: Range) -> Draw:
    """The same, of either sign."""
    return lambda r: [x * r.choice([-1.0, 1.0], SIZE) for x in wide(*ranges)(r)]


def quantiles(*ranges: Range) -> Draw:
    """Parameters of every size, and probabilities."""
    return lambda r: [*wide(*ranges)(r), r.uniform(0.01, 0.99, SIZE)]


def near_gamma(r: np.random.Generator) -> Sequence[np.ndarray]:
    """Points near the mean of the gamma distribution."""
    (a,) = wide((0.05, 300))(r)
    return a, a * np.exp(r.normal(size=SIZE) / np.sqrt(1 + a))


def near_beta(r: np.random.Generator) -> Sequence[np.ndarray]:
    """Points near the mean of the beta distribution."""
    a, b = wide((0.1, 100), (0.1, 100))(r)
    mean = a / (a + b)
    return a, b, np.clip(mean + 1.2 * np.sqrt(mean * (1 - mean) / (a + b + 1)) * r.normal(size=SIZE), 0.001, 0.999)


BESSEL, HALVES = (0.01, 1e3), (0.01, 100)
DRAWS: dict[str, Draw] = {
    "xlogy": wide((1e-5, 1e5), (1e-5, 1e5)), "xlog1py": wide((1e-5, 1e5), (1e-12, 1e12)), "logit": even((0, 1)),
    "expit": even((-30, 30)), "log_expit": even((-30, 30)), "exprel": signed((1e-15, 700)), "entr": wide((1e-9, 1e9)),
    "rel_entr": wide((1e-3, 1e3), (1e-3, 1e3)), "kl_div": wide((1e-2, 10), (1e-2, 10)),
    "huber": wide((1e-2, 1e2), (1e-2, 1e2)), "pseudo_huber": wide((1e-2, 1e2), (1e-4, 1e4)),
    "erf": even((-4, 4)), "erfc": even((-4, 10)), "erfcx": even((-26, 40)), "ndtr": even((-37, 9)),
    "log_ndtr": even((-37, 5)), "erfinv": even((-1, 1)), "erfcinv": even((0.001, 2)), "ndtri": even((0.001, 1)),
    "ndtri_exp": lambda r: [-wide((1e-3, 6))(r)[0]], "dawsn": signed((1e-4, 50)),
    "voigt_profile": wide((1e-2, 30), (0.1, 10), (0.1, 10)), "gamma": even((-20, 50)), "gammaln": wide((1e-3, 1e5)),
    "digamma": wide((1e-3, 1e5)), "gammainc": near_gamma, "gammaincc": near_gamma,
    "gammaincinv": quantiles((0.05, 100)), "gammainccinv": quantiles((0.05, 100)),
    "zeta": lambda r: [1 + wide((0.01, 20))(r)[0], *wide((0.1, 20))(r)], "multigammaln": even((5, 100)),
    "betaln": wide((0.01, 1e4), (0.01, 1e4)), "beta": wide((0.01, 100), (0.01, 100)), "betainc": near_beta,
    "betaincc": near_beta, "betaincinv": quantiles((0.1, 100), (0.1, 100)),
    "betainccinv": quantiles((0.1, 100), (0.1, 100)), "i0": signed((1e-3, 700)), "i1": signed((1e-3, 700)),
    "i0e": signed((1e-3, 700)), "i1e": signed((1e-3, 700)), "k0": wide((1e-5, 600)), "k1": wide((1e-5, 600)),
    "k0e": wide((1e-5, 600)), "k1e": wide((1e-5, 600)), "kv": wide((0.01, 150), (0.05, 500)),
    "kve": wide((0.01, 150), (0.05, 500)), "iv": wide((0.01, 150), (0.01, 500)), "ive": wide((0.01, 150), (0.01, 500)),
    "j0": signed((1e-3, 1e3)), "j1": signed((1e-3, 1e3)), "y0": wide((1e-3, 1e3)), "y1": wide((1e-3, 1e3)),
    "jv": wide(HALVES, BESSEL), "yv": wide(HALVES, (1, 1e3)), "airy": even((-10, 10)), "exp1": wide((1e-5, 600)),
    "expi": signed((1e-5, 600)), "ellipk": lambda r: [1 - wide((1e-6, 100))(r)[0]], "ellipkm1": wide((1e-20, 100)),
    "ellipe": lambda r: [1 - wide((1e-6, 100))(r)[0]], "fresnel": signed((1e-3, 100)), "spence": wide((1e-3, 1e3)),
    "lambertw": lambda r: [wide((1e-8, 10))(r)[0] - 0.3678794411714],
    "struve": lambda r: [*even((-0.9, 30))(r), *wide((0.01, 50))(r)], "owens_t": wide((1e-2, 10), (1e-2, 10)),
    "hyp1f1": even((0.1, 10), (0.1, 10), (0, 30)), "hyp2f1": even((0.1, 10), (0.1, 10), (0.1, 20), (0, 0.9)),
}  # fmt: skip
"""The points of each function of SciPy."""
FIXED: dict[str, Sequence[int]] = {"multigammaln": (3,)}
"""Operands that are constants."""


def operands(name: str) -> list[np.ndarray]:
    return list(DRAWS[name](np.random.default_rng(5)))


def scipys(name: str) -> Callable[[], Any]:
    """The call of SciPy."""
    from scipy import special

    values, fixed = operands(name), FIXED.get(name, ())
    return lambda: getattr(special, name)(*values, *fixed)


def arignotes(name: str) -> Callable[[], Any]:
    """The call of a compiled function."""
    import arignote as ag
    from arignote import ops as T

    values = operands(name)
    variables = [T.vector(f"x{k}") for k in range(len(values))]
    compiled = ag.function(variables, getattr(T.special, name)(*variables, *FIXED.get(name, ())))
    return lambda: compiled(*values)


def least(work: Callable[[], Any]) -> float:
    """The least processor time of a call, in seconds."""
    best = float("inf")
    for _ in range(CALLS):
        start = time.process_time_ns()
        work()
        best = min(best, (time.process_time_ns() - start) / 1e9)
    return best


def serve(pipe: Connection) -> None:
    """Answer each name by the least time of a few calls of SciPy's function; end at None."""
    last, work = "", None
    with np.errstate(all="ignore"):
        while (name := pipe.recv()) is not None:
            if name != last:
                last, work = name, scipys(name)
            pipe.send(least(work))


def row(name: str, scipy: Connection) -> tuple[float, str]:
    """The ratio to SciPy's time, and the line that says it."""
    work = arignotes(name)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        scipy.send(name)
        theirs.append(scipy.recv())
        ours.append(least(work))
    times = [min(found) / SIZE * 1e9 for found in (ours, theirs)]
    return times[0] / times[1], f"{name:13} {times[0]:9.1f} {times[1]:9.1f} {times[0] / times[1]:6.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(DRAWS)}")
    given = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    pipe, end = context.Pipe()
    child = context.Process(target=serve, args=(end,), daemon=True)
    child.start()
    ratios = []
    print("function         ours ns  SciPy ns  ratio")
    for name in given.names or DRAWS:
        ratio, line = row(name, pipe)
        ratios.append(ratio)
        print(line, flush=True)
    pipe.send(None)
    child.join()
    print(f"median {np.median(ratios):.2f}, largest {max(ratios):.2f}")


if __name__ == "__main__":
    main()
