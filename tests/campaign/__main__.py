"""The command; see the package."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from pathlib import Path

from .children import environment, experiment
from .scorecard import Row, table, to_json

ROOMS = {
    "processes": ("sanitizers", "threads", "forks", "control_word", "memory", "leaks", "interrupts", "depth"),
    "cache": ("kills", "races", "damage", "faults", "intruders", "toolchains", "hits", "names"),
    "values": (
        "integers", "mistakes", "rules", "programs", "promises", "bits", "quantized", "packed_floats",
        "special_points", "exact_points", "keywords", "refusals", "flow", "fuzz",
    ),
}  # fmt: skip
EXPERIMENTS = {name: f"{room}.{name}" for room, names in ROOMS.items() for name in names}
"""The module of each experiment."""
_TIMEOUT = 7200.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("experiments", nargs="*", metavar="experiment", help=", ".join(EXPERIMENTS))
    parser.add_argument("--small", action="store_true", help="at the size of a test")
    parser.add_argument("--rows", action="store_true", help="run one in this process and print its rows as JSON")
    fuzzing = parser.add_argument_group("fuzz")
    fuzzing.add_argument("--hours", type=float, metavar="H", help="try programs for so long")
    fuzzing.add_argument("--seed", type=int, help="print what is wrong with the program of this seed")
    fuzzing.add_argument("--first", type=int, metavar="SEED", help="the first seed; by default the first untried one")
    fuzzing.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    fuzzing.add_argument("--reports", type=Path, default=Path("fuzz-reports"), help="folder for a text of each cause")
    fuzzing.add_argument("--resume", type=Path, metavar="FILE", help="add to the total in this file, group by group")
    fuzzing.add_argument("--save", action="store_true", help="keep the figures in values/fuzz.json")
    options = parser.parse_args()
    names = options.experiments or list(EXPERIMENTS)
    unknown = set(names) - set(EXPERIMENTS)
    if unknown:
        parser.error(f"no experiment is named {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}")
    if options.rows:
        print(to_json(importlib.import_module(f"{__package__}.{EXPERIMENTS[names[0]]}").run(not options.small)))
        return 0
    if options.hours is not None or options.seed is not None:
        return _fuzz(parser, names, options)
    rows: list[Row] = []
    for name in names:
        begun = time.monotonic()
        rows += experiment(name, not options.small, _TIMEOUT)
        print(f"{name}: {time.monotonic() - begun:.1f} s", file=sys.stderr)
    print(table(rows))
    return 1 if any(row.failures for row in rows) else 0


def _fuzz(parser: argparse.ArgumentParser, names: list[str], options: argparse.Namespace) -> int:
    """Try random programs for some hours, or one of them."""
    if names != ["fuzz"]:
        parser.error("--hours and --seed are options of fuzz alone")
    sys.path[:0] = environment()["PYTHONPATH"].split(os.pathsep)
    fuzz = importlib.import_module(f"{__package__}.{EXPERIMENTS['fuzz']}")
    if options.seed is not None:
        return min(fuzz.explain(options.seed), 1)
    rows = fuzz.run_for(options.hours, options.first, options.jobs, options.reports, options.resume, options.save)
    print(table(rows))
    return int(any(row.failures for row in rows))


if __name__ == "__main__":
    sys.exit(main())
