"""Work that might not end: a process of its own does it, and is killed when patience is over."""

import os
import subprocess
import sys
from pathlib import Path

PATIENCE = 600.0
"""Seconds for work that takes at most a minute."""


def assert_ends(module, function):
    """Call `module.function()`, which prints the name of each thing that it tries, in another process.

    Fails with the last name if it does not end, or if the process dies.
    """
    command = [sys.executable, "-c", f"import {Path(module).stem} as module; module.{function}()"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    run = subprocess.Popen(command, cwd=Path(module).parent, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        printed, _ = run.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        run.kill()
        printed, _ = run.communicate()
    assert run.returncode == 0, f"{printed.split()[-1:]} does not end, or ends the process (exit code {run.returncode})"
