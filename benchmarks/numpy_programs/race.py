"""Time the programs as they are under each compiler: `python -m benchmarks.numpy_programs.race [NAME ...]`.

Each peer runs each program in a process of its own, on two threads.  A peer that does not run the program unchanged, or
gives other values, has no time.  JAX gets the program with `jax.numpy` in the place of `numpy`.  `--gradients` gives
the cost of `ag.value_and_grad` in calls of the value instead; RACE_WITHOUT=numba_parallel,jax leaves peers out.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import subprocess
import sys
import time
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .programs import PROGRAMS, flat
from .sizes import SIZES

PEERS = ("numpy", "numba", "numba_parallel", "jax", "arignote")
_WITHOUT = os.environ.get("RACE_WITHOUT", "").split(",")
SECONDS = 1.0
"""Time for the calls of a peer after the first one."""
LIMIT = 120
"""Seconds until a process ends without a time."""
_WITHOUT_DERIVATIVE = frozenset((
    "floyd_warshall", "floyd_warshall_elements", "nussinov", "crc16", "histogram", "bubble_sort", "binary_search",
    "edit_distance", "sieve", "collatz", "life", "compute", "mandelbrot1", "mandelbrot2", "kmeans", "monte_carlo_pi",
    "stockham_fft", "scattering_self_energies", "contour_integral", "azimint_hist", "azimint_naive", "newton",
    "channel_flow", "softmax", "mlp", "conv2d_bias", "lenet5", "resnet_basicblock",
))  # fmt: skip


def _numba(f: Any, parallel: bool = False) -> Any:
    import numba

    made: dict[str, Any] = {}

    def compiled(g: Any) -> Any:
        """Return a function, and the user's functions that it calls, under numba."""
        if g.__name__ not in made:
            space = dict(g.__globals__)
            for name in g.__code__.co_names:
                if isinstance(space.get(name), types.FunctionType):
                    space[name] = compiled(space[name])
            plain = types.FunctionType(g.__code__, space, g.__name__, g.__defaults__, g.__closure__)
            made[g.__name__] = numba.njit(plain, parallel=parallel)
        return made[g.__name__]

    return compiled(f)


def _jax(f: Any) -> Any:
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    space = {**f.__globals__, "np": jnp}
    for name, value in f.__globals__.items():
        if isinstance(value, types.FunctionType):
            space[name] = types.FunctionType(value.__code__, space, name, value.__defaults__, value.__closure__)
    plain = types.FunctionType(f.__code__, space, f.__name__, f.__defaults__, f.__closure__)

    def call(*arguments: Any) -> Any:
        places = tuple(k for k, a in enumerate(arguments) if not isinstance(a, np.ndarray))
        if "run" not in made:
            made["run"] = jax.jit(plain, static_argnums=places)
        return jax.block_until_ready(made["run"](*arguments))

    made: dict[str, Any] = {}
    return call


def _arignote(f: Any) -> Any:
    import arignote as ag

    return ag.jit(f)


COMPILERS: dict[str, Callable[[Any], Any]] = {
    "numpy": lambda f: f, "numba": _numba, "numba_parallel": lambda f: _numba(f, True), "jax": _jax,
    "arignote": _arignote,
}  # fmt: skip


def _fastest(call: Any, given: Sequence[Any]) -> float:
    """Return the seconds of the fastest of some calls, each on arguments of its own."""
    best, end, count = math.inf, time.perf_counter() + SECONDS, 0
    while count < 3 or time.perf_counter() < end:
        arguments = copy.deepcopy(given)
        begin = time.perf_counter()
        call(*arguments)
        best = min(best, time.perf_counter() - begin)
        count += 1
        if count >= 3 and best > SECONDS:
            break
    return best


def worker(peer: str, name: str) -> None:
    """Print the times of one peer and program: of the first call and of the fastest one."""
    f = next(p.function for p in PROGRAMS if p.name == name)
    given = SIZES[name](np.random.default_rng(0))
    np.seterr(all="ignore")
    theirs, ours = copy.deepcopy(given), copy.deepcopy(given)
    expected = [*flat(f(*theirs)), *flat(theirs)]
    begin = time.perf_counter()
    call = COMPILERS[peer](f)
    found = [*flat(call(*ours)), *flat(ours)]
    first = time.perf_counter() - begin
    for a, b in zip(found, expected, strict=True):
        x, y = np.asarray(a), np.asarray(b)
        rtol = 1e-3 if y.dtype in (np.float32, np.complex64) else 1e-8
        if x.shape != y.shape or not np.allclose(x, y, rtol=rtol, atol=rtol, equal_nan=True):
            raise ValueError("other values than NumPy's")
    print(json.dumps({"first": first, "seconds": _fastest(call, given)}))


def gradient_worker(name: str) -> None:
    """Print the times of the value and of value and gradient of the sum of squares of all results."""
    import arignote as ag

    f = next(p.function for p in PROGRAMS if p.name == name)
    given = SIZES[name](np.random.default_rng(0))
    places = tuple(k for k, a in enumerate(given) if isinstance(a, np.ndarray) and a.dtype == np.float64)

    def cost(*arguments: Any) -> Any:
        made = f(*arguments)
        found = 0.0
        for leaf in flat(made):
            found = found + np.sum(leaf * leaf) * 0.5
        for k in places:
            found = found + np.sum(arguments[k] * arguments[k]) * 0.5
        return found

    value, both = ag.jit(cost), ag.value_and_grad(cost, places)
    value(*copy.deepcopy(given)), both(*copy.deepcopy(given))
    times: list[list[float]] = [[], []]
    for _ in range(7):
        for found, call in zip(times, (value, both), strict=True):
            arguments = copy.deepcopy(given)
            begin = time.process_time()
            call(*arguments)
            found.append(time.process_time() - begin)
    print(json.dumps({"value": min(times[0]), "both": min(times[1])}))


def _run(*words: str) -> Any:
    """Return what a worker prints; a text with the last line of its error otherwise."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS"), "2")
    command = [sys.executable, "-m", "benchmarks.numpy_programs.race", *words]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, env={**os.environ, **threads}, check=False
        )
    except subprocess.TimeoutExpired:
        return "too long"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["ended"])[-1][:80]
    return json.loads(done.stdout.strip().splitlines()[-1])


def _shown(found: Any) -> str:
    return f"{found['seconds'] * 1e3:.3g}" if isinstance(found, dict) else ""


def race(names: Sequence[str]) -> None:
    """Print a row for each program in Markdown, and the geometric means."""
    ratios: list[float] = []
    starts: list[float] = []
    print(f"| program | {' | '.join(PEERS)} | ours / best | first call / numba's |")
    print("|---|" + "---|" * (len(PEERS) + 2))
    for name in names:
        found: dict[str, Any] = {}
        for peer in PEERS:
            skipped = peer in _WITHOUT or (peer == "numba_parallel" and isinstance(found["numba"], str))
            found[peer] = "left out" if skipped else _run(peer, name)
        ours, numba = found["arignote"], found["numba"]
        others = [v["seconds"] for p, v in found.items() if p != "arignote" and isinstance(v, dict)]
        ratio = start = ""
        if isinstance(ours, dict):
            ratios.append(ours["seconds"] / min(others))
            ratio = f"{ratios[-1]:.2f}"
            if isinstance(numba, dict):
                starts.append(ours["first"] / numba["first"])
                start = f"{starts[-1]:.2f}"
        print(f"| {name} | {' | '.join(_shown(found[p]) for p in PEERS)} | {ratio} | {start} |", flush=True)
        if not isinstance(ours, dict):
            print(f"    arignote: {ours}", flush=True)
    print(f"geometric means: {_mean(ratios):.2f} of the best of {len(ratios)}, first call {_mean(starts):.2f}")


def gradients(names: Sequence[str]) -> None:
    """Print the cost of each gradient in calls of the value, of CPU time."""
    ratios: list[float] = []
    print("| program | value, ms | value and gradient, ms | ratio |\n|---|---|---|---|")
    for name in names:
        found = _run("--gradient", name)
        if isinstance(found, str):
            print(f"| {name} | {found} | | |", flush=True)
            continue
        ratios.append(found["both"] / found["value"])
        print(f"| {name} | {found['value'] * 1e3:.2f} | {found['both'] * 1e3:.2f} | {ratios[-1]:.1f} |", flush=True)
    print(f"{sum(r <= 5 for r in ratios)} of {len(ratios)} cost at most 5 values; geometric mean {_mean(ratios):.1f}")


def _mean(values: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, values)) / max(len(values), 1))


def main(words: Sequence[str]) -> None:
    if len(words) == 2 and words[0] in PEERS:
        return worker(*words)
    if len(words) == 2 and words[0] == "--gradient":
        return gradient_worker(words[1])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [p.name for p in PROGRAMS]
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs; none: all")
    parser.add_argument("--gradients", action="store_true", help="the cost of gradients instead")
    given = parser.parse_args(words)
    if unknown := set(given.names).difference(known):
        parser.error(f"no program is called {', '.join(sorted(unknown))}; expected some of {', '.join(known)}")
    if given.gradients:
        return gradients(given.names or [name for name in known if name not in _WITHOUT_DERIVATIVE])
    return race(given.names or known)


if __name__ == "__main__":
    main(sys.argv[1:])
