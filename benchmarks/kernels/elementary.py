"""Elementary functions: errors in units in the last place, and nanoseconds an element.

    python -m benchmarks.kernels.elementary

The errors are the largest over numbers of every size in the domain, against mpmath with 40 digits; results that
underflow count in units of the smallest subnormal.  `special`: whether NaN, infinities, zeros and their signs are those
of NumPy.  Times are the least of many calls on one thread, for 4,096 elements in the level 1 or 2 cache: ordinary ones,
and such whose result underflows, overflows or is NaN, which libraries often compute one by one.  Peers that are not
installed have no column.  Libraries that call on each element show in these times: they need ten times as long.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", NUMEXPR_NUM_THREADS="1", ARIGNOTE_THREADS="1")

import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

import arignote as ag
from arignote import ops as T

DTYPES = ("float32", "float64")
SIZE = 4096
CHECKED = 2000
"""Numbers whose error is taken: mpmath needs some 50 us for each."""
ROUNDS = 40

Array = np.ndarray
Work = Callable[[], object]


@dataclass(frozen=True)
class Function:
    """A function of one argument: where it is timed, where its error is taken, and numbers that are slow elsewhere."""

    name: str
    usual: tuple[float, float]
    domain: tuple[float, float] = (-np.inf, np.inf)
    unusual: float = np.inf
    exact: str = ""
    """Its name in mpmath, if that is another one."""


FUNCTIONS = (
    Function("exp", (-20, 20), (-800, 800), -np.inf),
    Function("exp2", (-20, 20), (-1100, 1100), -np.inf),
    Function("expm1", (-5, 5), (-800, 800), -np.inf),
    Function("log", (1e-3, 1e3), (0, np.inf), 0.0),
    Function("log2", (1e-3, 1e3), (0, np.inf), 0.0),
    Function("log10", (1e-3, 1e3), (0, np.inf), 0.0),
    Function("log1p", (-0.9, 100), (-1, np.inf), -1.0),
    Function("sin", (-10, 10), (-1e5, 1e5), 1e10),
    Function("cos", (-10, 10), (-1e5, 1e5), 1e10),
    Function("tan", (-10, 10), (-1e5, 1e5), 1e10),
    Function("arcsin", (-1, 1), (-1, 1), 2.0, "asin"),
    Function("arccos", (-1, 1), (-1, 1), 2.0, "acos"),
    Function("arctan", (-10, 10), exact="atan"),
    Function("sinh", (-5, 5), (-700, 700), 1e3),
    Function("cosh", (-5, 5), (-700, 700), 1e3),
    Function("tanh", (-5, 5)),
    Function("arcsinh", (-10, 10), exact="asinh"),
    Function("arccosh", (1, 10), (1, np.inf), 0.0, "acosh"),
    Function("arctanh", (-1, 1), (-1, 1), 1.0, "atanh"),
    Function("sigmoid", (-10, 10), (-800, 800), -1e3),
    Function("softplus", (-10, 10), (-800, 800), -1e3),
    Function("erf", (-4, 4)),
    Function("erfc", (-4, 4), (-30, 30), 30.0),
    Function("cbrt", (-10, 10)),
    Function("sqrt", (0, 10), (0, np.inf), -1.0),
)


def numbers(function: Function, dtype: str) -> Array:
    """Numbers of every size in the domain, and evenly in its middle."""
    random, info = np.random.default_rng(0), np.finfo(dtype)
    low, high = (max(min(float(end), float(info.max)), -float(info.max)) for end in function.domain)
    sizes = np.exp(random.uniform(np.log(float(info.tiny)), np.log(max(abs(low), abs(high))), CHECKED // 2))
    signs = random.choice([-1.0, 1.0], CHECKED // 2) if low < 0 else 1.0
    x = np.concatenate([sizes * signs, random.uniform(*function.usual, CHECKED // 2)])
    return np.clip(x, low, high).astype(dtype)


def error(function: Function, x: Array, got: Array) -> float:
    """The largest error in units in the last place."""
    mp = importlib.import_module("mpmath").mp
    mp.dps = 40
    exact: dict[str, Callable[..., object]] = {
        "sigmoid": lambda v: 1 / (1 + mp.exp(-v)),
        "softplus": lambda v: mp.log1p(mp.exp(-abs(v))) + max(v, 0),
        "exp2": lambda v: mp.power(2, v),
        "log2": lambda v: mp.log(v, 2),
        "cbrt": lambda v: mp.sign(v) * mp.cbrt(abs(v)),
    }
    meaning = exact.get(function.name) or getattr(mp, function.exact or function.name)
    worst = 0.0
    for v, y in zip(x.tolist(), got, strict=True):
        if (function.name.startswith(("log", "arctanh")) and abs(v) in (0, 1)) or not np.isfinite(y):
            continue
        want = meaning(mp.mpf(v))
        if abs(want) <= float(np.finfo(got.dtype).max):
            unit = float(np.spacing(np.abs(got.dtype.type(want))))
            worst = max(worst, float(abs(mp.mpf(float(y)) - want) / unit))
    return worst


def specials_agree(function: Function, f: Callable[[Array], Array], dtype: str) -> bool:
    """Whether NaN, infinities and zeros of the result are NumPy's."""
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e300, -1e300, 1, -1], "float64")
    with np.errstate(all="ignore"):
        x = x.astype(dtype)
        (want,) = getattr(T, function.name)(T.vector("v", dtype)).owner.op.evaluate(x)
        got = f(x)
    same = (np.isnan(want) == np.isnan(got)) & (np.isinf(want) == np.isinf(got)) & ((want == 0) == (got == 0))
    return bool((same & (np.isnan(want) | (np.signbit(want) == np.signbit(got)))).all())


def nanoseconds(work: Work) -> float:
    for _ in range(80):
        work()
    best = np.inf
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(5):
            work()
        best = min(best, (time.perf_counter() - start) / 5)
    return float(best) / SIZE * 1e9


def peers(name: str) -> Iterator[tuple[str, Callable[[Array], Work]]]:
    """For each peer that has the function, a callable that applies it to an array."""
    if hasattr(np, name):
        yield "NumPy", lambda x: lambda: getattr(np, name)(x)
    try:
        numexpr = importlib.import_module("numexpr")
        numexpr.set_num_threads(1)
        numexpr.evaluate(f"{name}(x)", {"x": np.ones(1)})
        yield "numexpr", lambda x: lambda: numexpr.evaluate(f"{name}(x)", {"x": x})
    except (ImportError, TypeError, KeyError, AttributeError):
        pass
    try:
        torch = importlib.import_module("torch")
        torch.set_num_threads(1)
        function = getattr(torch, name, None) or getattr(torch.nn.functional, name, None)
        if function is not None:
            yield "torch", lambda x: partial(function, torch.from_numpy(x))
    except ImportError:
        pass
    try:
        jax = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        found = [getattr(m, name, None) for m in (jax.numpy, jax.nn, jax.scipy.special)]
        jitted = jax.jit(next(f for f in found if f is not None))
        yield "JAX", lambda x: partial(lambda y: jitted(y).block_until_ready(), jax.numpy.asarray(x))
    except (ImportError, StopIteration):
        pass


def main() -> None:
    for dtype in DTYPES:
        for function in FUNCTIONS:
            v = T.vector("v", dtype)
            f = ag.function([v], getattr(T, function.name)(v))
            x = numbers(function, dtype)
            usual = np.random.default_rng(1).uniform(*function.usual, SIZE).astype(dtype)
            unusual = np.full(SIZE, function.unusual, dtype)
            with np.errstate(all="ignore"):
                times = {peer: nanoseconds(make(usual)) for peer, make in peers(function.name)}
                slow = nanoseconds(lambda f=f, x=unusual: f(x))
            ours = nanoseconds(lambda f=f, x=usual: f(x))
            special = "right" if specials_agree(function, f, dtype) else "WRONG"
            others = "  ".join(f"{peer} {t:6.2f}" for peer, t in times.items())
            line = f"{dtype}  {function.name:>9}  {error(function, x, f(x)):5.2f} ulp  special {special}"
            print(f"{line}  ns: ours {ours:5.2f}, unusual {slow:5.2f}  {others}", flush=True)


if __name__ == "__main__":
    main()
