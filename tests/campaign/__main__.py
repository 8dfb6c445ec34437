"""The command; see the package."""

from __future__ import annotations

import argparse
import importlib
import sys
import time

from .children import experiment
from .scorecard import Row, table, to_json

ROOMS = {
    "processes": ("sanitizers", "threads", "forks", "control_word", "memory", "leaks", "interrupts", "depth"),
    "cache": ("kills", "races", "damage", "faults", "intruders", "toolchains", "hits", "names"),
    "values": (
        "integers", "mistakes", "rules", "programs", "promises", "bits", "quantized", "packed_floats",
        "special_points", "exact_points", "keywords", "refusals",
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
    options = parser.parse_args()
    names = options.experiments or list(EXPERIMENTS)
    unknown = set(names) - set(EXPERIMENTS)
    if unknown:
        parser.error(f"no experiment is named {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}")
    if options.rows:
        print(to_json(importlib.import_module(f"{__package__}.{EXPERIMENTS[names[0]]}").run(not options.small)))
        return 0
    rows: list[Row] = []
    for name in names:
        begun = time.monotonic()
        rows += experiment(name, not options.small, _TIMEOUT)
        print(f"{name}: {time.monotonic() - begun:.1f} s", file=sys.stderr)
    print(table(rows))
    return 1 if any(row.failures for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
