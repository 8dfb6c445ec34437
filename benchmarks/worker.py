"""Worker process of one peer: reads one command a line, answers with one line of JSON.

build CASE     imports the peer, builds the case, calls it once -> {"import", "compile", "error"?, "value"}
time CALLS     calls it CALLS times -> {"seconds": of one call}
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np

from .cases import CASES, Case
from .peers import NotOffered


def _check(case: Case, result: Any) -> str | None:
    """The fault of the first result, compared with the NumPy meaning."""
    expected = case.expected(*case.inputs())
    several = isinstance(expected, tuple)
    for n, (want, got) in enumerate(zip(expected, result, strict=True) if several else [(expected, result)]):
        wrong = _difference(np.asarray(got), np.asarray(want), case.rtol)
        if wrong:
            return f"result {n}: {wrong}" if several else wrong
    return None


def _difference(got: np.ndarray, want: np.ndarray, rtol: float) -> str | None:
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if not np.allclose(got, want, rtol=rtol, atol=rtol * float(np.max(np.abs(want), initial=1))):
        return f"wrong by {np.max(np.abs(got - want)):.2e}"
    return None


class Worker:
    """The state of a process: the call that is timed."""

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.call: Any = None
        self.arguments: tuple[Any, ...] = ()

    def build(self, name: str) -> dict[str, Any]:
        case = CASES[name]
        arrays = case.inputs()  # made before the clock starts
        case = replace(case, inputs=lambda: arrays)
        start = time.perf_counter()
        try:
            module = importlib.import_module(f".peers.{self.peer}", __package__)
        except ImportError as e:
            return {"error": f"not installed ({e})"}
        imported = time.perf_counter()
        try:
            self.call, self.arguments = module.build(case)
            first = self.call(*self.arguments)
        except NotOffered as e:
            return {"error": f"not offered: {e}"}
        done = time.perf_counter()
        wrong = _check(case, first)
        answer = {"import": imported - start, "compile": done - imported, "version": module.version()}
        return {**answer, "error": wrong} if wrong else answer

    def time(self, calls: str) -> dict[str, Any]:
        call, arguments = self.call, self.arguments
        start = time.perf_counter()
        for _ in range(int(calls)):
            call(*arguments)
        return {"seconds": (time.perf_counter() - start) / int(calls)}


def main() -> None:
    worker = Worker(sys.argv[1])
    answers = sys.stdout
    sys.stdout = sys.stderr  # output of a peer must not look like an answer
    for line in sys.stdin:
        verb, _, rest = line.rstrip("\n").partition(" ")
        try:
            answer = getattr(worker, verb)(rest)
        except Exception as e:  # a peer may fail in any way; the report says so
            answer = {"error": f"{type(e).__name__}: {str(e).splitlines()[0] if str(e) else ''}"[:120]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
