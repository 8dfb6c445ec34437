"""The command; see the package."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue

from .faults import SUITES, Fault, all_faults
from .scores import load, save, table
from .trials import KILLED, Sandbox, Trial

SECONDS = 300.0


def chosen(faults: list[Fault], options: argparse.Namespace) -> list[Fault]:
    """Return the faults that the options name, in the order of the files."""
    known = load()
    found = [
        fault
        for fault in faults
        if (not options.names or fault.name in options.names)
        and (options.kind is None or fault.kind == options.kind)
        and (options.suite is None or fault.suite == options.suite)
        and not (options.new and fault.name in known)
    ]
    if options.sample is not None and options.sample < len(found):
        drawn = set(random.Random(options.seed).sample([fault.name for fault in found], options.sample))
        found = [fault for fault in found if fault.name in drawn]
    return found


def trials(faults: list[Fault], jobs: int, limit: float) -> Iterator[Trial]:
    """The verdicts, as they come; each job has a copy of the tree. A second verdict, broken, may follow."""
    free: SimpleQueue[Sandbox] = SimpleQueue()

    def tried(fault: Fault) -> Trial:
        sandbox = free.get()
        try:
            return sandbox.tried(fault)
        finally:
            free.put(sandbox)

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        for job in range(jobs):
            free.put(Sandbox(Path(folder, str(job)), limit))
        with ThreadPoolExecutor(jobs) as pool:
            done = []
            for task in as_completed([pool.submit(tried, fault) for fault in faults]):
                done.append(task.result())
                yield done[-1]
        yield from set(free.get().checked(done)) - set(done)


def main() -> int:
    """Run the chosen mutants; the exit code is 1 if one of them is not killed."""
    faults = all_faults()
    kinds = list(dict.fromkeys(fault.kind for fault in faults))
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description="Mutation score of the tests.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="names of faults; none: all")
    parser.add_argument("--kind", choices=kinds, help="only faults of this kind")
    parser.add_argument("--suite", choices=SUITES, help="only faults that this suite should notice")
    parser.add_argument("--sample", type=int, metavar="N", help="draw N of them")
    parser.add_argument("--seed", type=int, default=0, help="of the draw")
    parser.add_argument("--new", action="store_true", help="only faults without a kept verdict")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at the same time")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit of the tests of a mutant")
    parser.add_argument("--list", action="store_true", help="print the faults and run nothing")
    parser.add_argument("--save", action="store_true", help="keep the verdicts in verdicts.json")
    parser.add_argument("--table", action="store_true", help="print the table of the kept verdicts and run nothing")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - {fault.name for fault in faults})
    if unknown:
        parser.error(f"no fault is named {', '.join(unknown)}; see --list")
    if options.table:
        print(table(faults, load()))
        return 0
    found = chosen(faults, options)
    if options.list:
        for fault in found:
            print(f"{fault.name}: {fault.kind}, {fault.file}, {fault.suite}: {' '.join(fault.tests)}")
        return 0
    done: dict[str, Trial] = {}
    for trial in trials(found, max(1, options.jobs), options.seconds):
        noticed = f"{trial.by} {trial.by_suite}".strip()
        print(f"{trial.verdict:9} {trial.kind:9} {trial.name} ({trial.seconds} s) {noticed}".rstrip(), flush=True)
        done[trial.name] = trial
        if options.save:
            save({**load(), trial.name: trial})
    print(table(found, done))
    return int(any(trial.verdict != KILLED for trial in done.values()))


if __name__ == "__main__":
    sys.exit(main())
