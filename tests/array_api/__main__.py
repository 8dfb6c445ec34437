"""The command; see the package."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ..campaign.values.parity import standard_summary

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
            **os.environ, "ARRAY_API_TESTS_MODULE": "tests.array_api.eager", "ARRAY_API_TESTS_MODE": options.mode,
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        }  # fmt: skip
        command = [
            sys.executable, "-m", "pytest", "-q", "--disable-deadline", "-p", "no:cacheprovider", "--json-report",
            f"--json-report-file={report}", f"--max-examples={options.examples}", *(further or ["array_api_tests"]),
        ]  # fmt: skip
        subprocess.run(command, cwd=options.path, env=environment, check=False)
        outcomes = {t["nodeid"]: t["outcome"] for t in json.loads(report.read_text())["tests"]}
    return standard_summary(outcomes)


if __name__ == "__main__":
    sys.exit(main())
