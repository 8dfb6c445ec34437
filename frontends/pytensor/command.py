"""`python -m arignote pymc-bench model.py`: all installed backends of PyTensor on one model, side by side."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .measuring import MODES, term_costs
from .worker import model_of

NEEDED = {"NUMBA": "numba", "JAX": "jax"}
"""The package that a mode needs."""


def main(chosen: Any) -> int:
    """Print one line for each mode: cold and warm compilation, and the time of a call."""
    file = Path(chosen.model)
    if not file.is_file():
        print(f"arignote pymc-bench: there is no file {chosen.model}", file=sys.stderr)
        return 2
    if find_spec("pymc") is None:
        print("arignote pymc-bench: this Python has no package pymc; run pip install pymc", file=sys.stderr)
        return 2
    if chosen.terms:
        return _print_terms(str(file), chosen.name)
    print(f"{'mode':10} {'cold':>9} {'warm':>9} {'call':>12}  {'log-density':>16}")
    failed = False
    for mode in MODES:
        if mode in NEEDED and find_spec(NEEDED[mode]) is None:
            print(f"{mode:10} needs the package {NEEDED[mode]}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            cold, warm = (measured(str(file), mode, folder, chosen.name) for _ in range(2))
        if isinstance(cold, str) or isinstance(warm, str):
            failed = True
            print(f"{mode:10} failed: {cold if isinstance(cold, str) else warm}")
            continue
        call = min(cold["call"], warm["call"]) * 1e6
        print(f"{mode:10} {cold['compile']:7.2f} s {warm['compile']:7.2f} s {call:9.1f} us  {cold['value']:16.8g}")
    return int(failed)


def _print_terms(file: str, name: str) -> int:
    """Print one line for each term of the log-density, the most costly first."""
    rows = term_costs(model_of(file, name))
    total = sum(row.seconds for row in rows)
    print(f"{'share':>6} {'call':>12}  {'variable':20} line")
    for row in rows:
        print(f"{row.seconds / total:6.1%} {row.seconds * 1e6:9.1f} us  {row.name:20} {row.line}")
    return 0


def measured(file: str, mode: str, caches: str, name: str = "model", timeout: float | None = None) -> Any:
    """Return the times of a model under a mode, measured by a process of its own; the error as text if it fails.

    `caches`: the folder of the caches of all backends; an empty one makes a cold start.
    """
    flags = f"base_compiledir={caches}/pytensor," + os.environ.get("PYTENSOR_FLAGS", "")
    environment = {
        **os.environ, "ARIGNOTE_CACHE": f"{caches}/arignote", "PYTENSOR_FLAGS": flags.rstrip(","),
        "NUMBA_CACHE_DIR": f"{caches}/numba", "JAX_COMPILATION_CACHE_DIR": f"{caches}/jax",
    }  # fmt: skip
    command = [sys.executable, "-m", "arignote.frontends.pytensor.worker", file, mode, name]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return f"took more than {timeout:.0f} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["no message"])[-1]
    return json.loads(done.stdout.strip().splitlines()[-1])
