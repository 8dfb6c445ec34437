"""One fault at a time: a copy of the tracked tree, the fault in it, and the tests that should notice.

The package tree of a checkout consists of links within the checkout, so a copy with its links is a checkout as well.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from .faults import ROOT, SUITES, Fault, all_faults

KILLED, SURVIVED, TIMED_OUT, BROKEN = "killed", "survived", "timed out", "broken"
"""Verdicts. Broken: the test that failed does not pass without the fault either."""
FAILED = re.compile(r"^(?:FAILED|ERROR) (tests/.*?)(?= - |$)", re.MULTILINE)
MARKS = {"ordinary": "not long", "long": "long", None: "long or not long"}
"""The expression of pytest that selects the tests of a suite; None: of both."""
NO_TESTS = 5
"""Exit code of pytest that selected no test."""
EPOCH = 1_000_000_000
"""First time stamp of a changed file: no two changes share one, so no stale bytecode is read."""


@dataclass(frozen=True)
class Trial:
    """The result of one fault: verdict, the test that noticed and its suite, seconds."""

    name: str
    kind: str
    verdict: str
    by: str
    by_suite: str
    seconds: float


@dataclass
class Sandbox:
    """A copy of the tracked files, with a cache of its own."""

    folder: Path
    limit: float
    changes: int = 0

    def __post_init__(self) -> None:
        """Copy the tracked tree."""
        self.tree = self.folder / "tree"
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            if not (ROOT / name).is_symlink() and not (ROOT / name).exists():
                continue  # deleted, but not yet in git
            target = self.tree / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)

    def tried(self, fault: Fault) -> Trial:
        """The verdict on a fault; the tree is afterwards as it was."""
        path, start = self.tree / fault.file, time.perf_counter()
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        before, status = path.read_text(encoding="utf-8"), path.stat()
        path.write_text(fault.planted(before), encoding="utf-8")
        self.changes += 1
        os.utime(path, (EPOCH + self.changes, EPOCH + self.changes))
        try:
            suite, code, output = self.first_failure(fault)
        finally:
            path.write_text(before, encoding="utf-8")
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        failed = FAILED.search(output)
        verdict = TIMED_OUT if code is None else KILLED if code else SURVIVED
        by = failed.group(1) if failed else f"exit code {code}" if code else ""
        by_suite = suite if verdict == KILLED else ""
        return Trial(fault.name, fault.kind, verdict, by, by_suite, round(time.perf_counter() - start, 1))

    def first_failure(self, fault: Fault) -> tuple[str, int | None, str]:
        """Return the suite that ends with a failure, its exit code and output: the ordinary tests run first."""
        last = SUITES.index(fault.suite)
        for suite in SUITES[: last + 1]:
            code, output = self.run_tests(fault.tests, suite)
            if code != 0 and not (code == NO_TESTS and suite != SUITES[last]):
                break
        return suite, code, output

    def checked(self, trials: Sequence[Trial]) -> list[Trial]:
        """Return the verdicts after a run of the tests that failed, without any fault: those must pass."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)
        killed = sorted({trial.by for trial in trials if trial.verdict == KILLED and "::" in trial.by})
        code, output = self.run_tests(killed, None, (), limit=None) if killed else (0, "")
        failing = set(FAILED.findall(output))
        if code not in (0, 1):  # they did not all run
            failing = {test for test in killed if self.run_tests([test])[0]}
        return [replace(t, verdict=BROKEN) if t.by in failing or self._breaks(t) else t for t in trials]

    def _breaks(self, trial: Trial) -> bool:
        """Whether the tests of a fault did not even start, with it or without it."""
        if trial.verdict != KILLED or "::" in trial.by:
            return False
        fault = next(fault for fault in all_faults() if fault.name == trial.name)
        return bool(self.run_tests([*fault.tests, "--collect-only"], trial.by_suite)[0])

    def run_tests(
        self, tests: Sequence[str], suite: str | None = None, options: Sequence[str] = ("-x",),
        limit: float | None = 0,
    ) -> tuple[int | None, str]:  # fmt: skip
        """Return the exit code of pytest on the tests of a suite, None: of both, and its output.

        The code is None after the time limit; 0 stands for that of the sandbox.
        """
        marks = ["-m", MARKS[suite]]
        command = [sys.executable, "-m", "pytest", "-q", "-rfE", "--tb=no", *options, *marks, *tests]
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.tree / "src"),
            "ARIGNOTE_CACHE": str(self.folder / "cache"),
            "COLUMNS": "1000",
        }
        child = subprocess.Popen(
            command, cwd=self.tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        try:
            output, _ = child.communicate(timeout=self.limit if limit == 0 else limit)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            with suppress(ProcessLookupError):  # processes of the tests that outlive them, or the time limit
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return child.returncode, output
