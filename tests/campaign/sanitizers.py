"""Generated C, driver and runtime under AddressSanitizer and UBSan: the zoo of functions on odd shapes, no report.

The library goes through the whole way that users' libraries go: the sanitizers are options of the compiler that
`ARIGNOTE_CC` names, with a cache of its own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from .children import ROOT, ending, environment
from .scorecard import Row, Trials

# Signed overflow is defined by -fwrapv, which every file is compiled with; division by zero of floats is IEEE's.
FLAGS = "-fsanitize=address,undefined,float-cast-overflow -fno-omit-frame-pointer -g1"
_TIMEOUT = 3000.0


def run(full: bool) -> list[Row]:
    """No row's worth of trials where gcc has no sanitizers: that is said in the scorecard."""
    trials = Trials("G2", "generated C under ASan, UBSan, float-cast-overflow: kernel results, no report")
    gcc = shutil.which("gcc")
    library = _preloaded(gcc) if gcc else None
    if gcc is None or library is None:
        trials.check(True, "")
        return [trials.row("not tried: no gcc with libasan")]
    with tempfile.TemporaryDirectory() as folder:
        reports = Path(folder, "reports")
        settings = environment(
            ARIGNOTE_CC=f"{gcc} {FLAGS}", ARIGNOTE_CACHE=f"{folder}/cache", ARIGNOTE_STRICT="1", LD_PRELOAD=library,
            PYTHONMALLOC="malloc", ASAN_OPTIONS=f"detect_leaks=0:log_path={reports}",
            UBSAN_OPTIONS=f"log_path={reports}:print_stacktrace=1",
        )  # fmt: skip
        command = [sys.executable, "-m", "tests.campaign.zoo", *(["--full"] if full else [])]
        done = subprocess.run(
            command, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        found = "\n".join(path.read_text() for path in sorted(Path(folder).glob("reports*")))
        sanitized = [p for p in Path(folder, "cache").rglob("*.so") if b"__asan_" in p.read_bytes()]
    trials.check(done.returncode == 0, f"{ending(done.returncode)}: {done.stderr[-1500:]}")
    trials.check(bool(sanitized), "no library was compiled with the sanitizers")
    for line in found.splitlines():
        if "runtime error:" in line or "ERROR: AddressSanitizer" in line:
            trials.check(False, line)
    if done.returncode == 0:
        trials.check(True, "", int(done.stdout.split()[-1]))
    return [trials.row()]


def _preloaded(gcc: str) -> str | None:
    """The run-time library of ASan, which must be in the process before anything else."""
    command = [gcc, "-print-file-name=libasan.so"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return said if Path(said).is_absolute() else None
