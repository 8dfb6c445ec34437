"""The command; see the package."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..campaign.values.parity import FAILURES

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.array_api", description=__doc__)
    parser.add_argument("path", type=Path, help="a checkout of array-api-tests, with its submodule array-api")
    parser.add_argument("--mode", default="NUMPY", help="the mode of ag.function (NUMPY; FAST_RUN compiles each call)")
    parser.add_argument("--examples", type=int, default=100, help="examples of each test")
    options, further = parser.parse_known_args()
    if not (options.path / "array_api_tests").is_dir():
        parser.error(f"{options.path} holds no array_api_tests; clone github.com/data-apis/array-api-tests")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        environment = {
            **os.environ, "ARRAY_API_TESTS_MODULE": "tests.array_api.eager", "ARIGNOTE_ARRAY_API_MODE": options.mode,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-q", "--disable-deadline", "-p", "no:cacheprovider", "--json-report",
            f"--json-report-file={report}", f"--max-examples={options.examples}", *(further or ["array_api_tests"]),
        ]  # fmt: skip
        subprocess.run(command, cwd=options.path, env=environment, check=False)
        outcomes = {t["nodeid"]: t["outcome"] for t in json.loads(report.read_text())["tests"]}
    return summary(outcomes)


def summary(outcomes: dict[str, str]) -> int:
    """Print how many tests passed and which surprise; return 1 if one does."""
    named = [(name.removeprefix("array_api_tests/"), outcome) for name, outcome in outcomes.items()]
    failed = {name for name, outcome in named if outcome in ("failed", "error")}
    passed = {name for name, outcome in named if outcome == "passed"}
    new, repaired = sorted(failed - FAILURES.keys()), sorted(passed & FAILURES.keys())
    share = len(passed) / max(len(passed) + len(failed), 1)
    print(f"{len(passed)} passed, {len(failed)} failed: {share:.2%}")
    for title, names in (("not listed as failures", new), ("listed as failures, but passed", repaired)):
        if names:
            print(f"{title}:", *names, sep="\n    ")
    return int(bool(new or repaired))


if __name__ == "__main__":
    sys.exit(main())
