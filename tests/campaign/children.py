"""Experiments, and parts of them, in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from .scorecard import Row, from_json

ROOT = Path(__file__).resolve().parent.parent.parent


def environment(**settings: str) -> dict[str, str]:
    """Ours, with the checkout and its tests to import from."""
    helpers = [ROOT / "tests" / folder for folder in ("lib", "lib/rules", "lib/devices")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *helpers])), **settings}


def experiment(name: str, full: bool, timeout: float) -> list[Row]:
    """The rows of an experiment; one that says how its process ended if that did not end well."""
    command = [sys.executable, "-m", "tests.campaign", name, "--rows", *([] if full else ["--small"])]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment(), capture_output=True, text=True, timeout=timeout, check=False
        )
    except subprocess.TimeoutExpired:
        return [Row("G0", name, 1, 1, (f"did not end within {timeout:g} s",))]
    if done.returncode:
        return [Row("G0", name, 1, 1, (f"{ending(done.returncode)}: {done.stderr[-1500:]}",))]
    return from_json(done.stdout.splitlines()[-1])


def ending(code: int) -> str:
    """How a process ended, by its return code."""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
