"""Ends of journals: whether the rewrites of each function that tests compile lead to the graph that runs.

    python -m tests.prove.ends [FILE ...]

Nothing is proved here, and no C is compiled, so that all files take minutes.  Proofs and traces stand on this: a
journal that leads elsewhere is a fault.  The command prints a text for each one, with its test.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from arignote.explain.replay import Replay
from arignote.graph import FunctionGraph
from arignote.proving.steps import End

FOLDER = "ENDS_FOLDER"


def ends_of(f: Any) -> Iterator[End]:
    """Yield the end of the journal of a function, and of those of the bodies inside."""
    todo = [(f.unoptimized_graph, tuple(f.journal), f.graph, "")]
    seen: set[int] = set()
    while todo:
        graph, journal, result, inside = todo.pop()
        replay = Replay(graph, journal)
        replay.goto(len(journal))
        yield End(replay.graph(), result, "", inside, False)
        for entry in journal:
            for run in entry.inside if id(entry.inside) not in seen else ():
                todo.append((run.before, tuple(run.journal), run.after, f"{inside} {run.title}".strip()))
            seen.add(id(entry.inside))


def wrong_ends(f: Any) -> Iterator[str]:
    """Yield a text for each journal of a function that leads elsewhere."""
    for end in ends_of(f):
        last, result = (FunctionGraph(g.inputs, g.outputs) for g in (end.last, end.result))
        if last != result:
            yield f"{end.inside}\nleads to\n{last}\nbut what runs is\n{result}"


class Checker:
    """Notes wrong ends in a folder: each process appends to files of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def note(self, f: Any) -> None:
        """Check a function whose rules are the product's own."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "")
        try:
            wrong = list(wrong_ends(f))
        except Exception as error:
            wrong = [f"the journal cannot be replayed: {type(error).__name__}: {error}"]
        self._append("functions", ".")
        for text in wrong:
            self._append("wrong", f"== {test} {text}\n")

    def _append(self, kind: str, text: str) -> None:
        with open(self.folder / f"{os.getpid()}.{kind}", "a", encoding="utf-8") as file:
            file.write(text)


def pytest_configure(config: Any) -> None:
    """Check what the tests of the session compile."""
    from .recording import noting

    if os.environ.get(FOLDER):
        checking = noting(Checker(Path(os.environ[FOLDER])).note)
        checking.__enter__()
        config.add_cleanup(lambda: checking.__exit__(None, None, None))


def checked(files: list[str], jobs: int) -> tuple[int, str]:
    """The number of functions that the tests in these files compile, and the texts of wrong ends."""
    from .functions import run_watched

    with tempfile.TemporaryDirectory() as home:
        run_watched(files, "prove.ends", {FOLDER: home}, Path(home), jobs)
        functions = sum(path.stat().st_size for path in Path(home).glob("*.functions"))
        wrong = "".join(path.read_text(encoding="utf-8") for path in sorted(Path(home).glob("*.wrong")))
    return functions, wrong


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.prove.ends", description=__doc__)
    parser.add_argument("files", nargs="*", default=["tests"], help="tests that run; by default all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    options = parser.parse_args()
    total = 0
    with contextlib.suppress(KeyboardInterrupt):
        for name in options.files:
            functions, wrong = checked([name], options.jobs)
            print(f"{name}: {functions} functions, {wrong.count('== ')} wrong ends\n{wrong}", flush=True)
            total += wrong.count("== ")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
