"""Say which programs run unchanged under `ag.jit`: `python -m benchmarks.numpy_programs [NAME ...]`."""

from __future__ import annotations

import argparse
import copy
import sys
import time
import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

import arignote as ag

from .programs import PROGRAMS, Program, flat


def outcome(program: Program) -> tuple[str, float]:
    """Return "" if a program gives NumPy's values, else what differs; and the seconds of the first call."""
    given = program.arguments(np.random.default_rng(0))
    ours: Any = copy.deepcopy(given)
    with np.errstate(all="ignore"):
        expected = [*flat(program.function(*given)), *flat(given)]
    begin = time.perf_counter()
    try:
        found = [*flat(ag.jit(program.function)(*ours)), *flat(ours)]
    except Exception as error:
        if len(sys.argv) > 1:
            traceback.print_exc()
        return f"{type(error).__name__}: {str(error).splitlines()[0]}", time.perf_counter() - begin
    seconds = time.perf_counter() - begin
    if len(found) != len(expected):
        return f"{len(found)} results; NumPy gives {len(expected)}", seconds
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        x, y = np.asarray(a), np.asarray(b)
        rtol = 1e-4 if y.dtype in (np.float32, np.complex64) else 1e-9
        if x.shape != y.shape or x.dtype != y.dtype:
            return f"result {k} is {x.dtype}{x.shape}; NumPy's is {y.dtype}{y.shape}", seconds
        if not np.allclose(x, y, rtol=rtol, atol=rtol, equal_nan=True):
            return f"result {k} differs from NumPy's", seconds
    return "", seconds


def main(arguments: Sequence[str]) -> None:
    """Print a line for each program, and the count."""
    parser = argparse.ArgumentParser("python -m benchmarks.numpy_programs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(p.name for p in PROGRAMS))
    names = parser.parse_args(arguments).names
    unknown = sorted({*names} - {p.name for p in PROGRAMS})
    if unknown:
        parser.error(f"no program is named {', '.join(unknown)}")
    chosen = [p for p in PROGRAMS if not names or p.name in names]
    good = 0
    for program in chosen:
        found, seconds = outcome(program)
        good += not found
        print(f"{program.name:28} {seconds:6.2f} s  {found or 'as NumPy'}", flush=True)
    print(f"{good} of {len(chosen)} run unchanged")


if __name__ == "__main__":
    main(sys.argv[1:])
