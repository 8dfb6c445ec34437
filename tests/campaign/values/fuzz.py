"""Fuzzing: programs over the whole vocabulary, under twelve queries, engines and targets.

    python -m tests.campaign fuzz --hours 8 --save    until the time is over; causes go to text files
    python -m tests.campaign.values.fuzz 1234         the program of a seed, and what is wrong with it

Children draw and try programs, a batch each: one that dies is a difference as well.  A difference is reduced, and its
cause is the wrong rule that `ag.bisect` finds, or else the setting with the ops that are left.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from program_trials import REFUSALS, called, differs, samples_of, shrunk
from random_programs import Program, other_lengths
from toy_engine import Toy
from vocabulary_programs import vocabulary_program

import arignote as ag
from arignote.graph import FunctionGraph
from arignote.targets.current import using
from arignote.targets.named import by_name

from ..children import ROOT, ending, environment
from ..scorecard import Row, Trials

PROGRAMS = 400
SMALL = 6
BATCH = 5
_TIMEOUT = 1800.0
ATTEMPTS = 80
"""Smaller programs that are tried for a difference."""
DATA = Path(__file__).with_name("fuzz.json")


@dataclass(frozen=True)
class Setting:
    """A query, an engine and a target."""

    query: str | None
    engine: str = "c"
    target: str = "host"
    threads: int = 1
    engines: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [self.query or "no optimizer", self.engine, self.target]
        parts += [f"{self.threads} threads"] * (self.threads > 1) + [" and ".join(self.engines)] * bool(self.engines)
        return ", ".join(parts)

    def mode(self) -> ag.Mode:
        """The mode of a function."""
        mode = ag.Mode(self.query, backend=self.engine)
        return mode.dividing(*self.engines) if self.engines else mode

    def function(self, program: Program, made: Mapping[str, Any]) -> Any:
        """The program, compiled."""
        given = [made[i.name] for i in program.inputs if not i.shared]
        with using(None if self.target == "host" else by_name(self.target)):
            return ag.function(
                given, made["outputs"], updates=made["updates"], mode=self.mode(), threads=self.threads,
                on_unused_input="ignore",
            )  # fmt: skip


SETTINGS = (
    Setting("fast_run"), Setting("fast_run", threads=2), Setting("fast_compile"),
    Setting("fast_run -fusion -inplace", target="x86_64-linux"), Setting("fast_run", "numpy"),
    Setting("fast_compile", "numpy"), Setting("canonicalize", "numpy"), Setting("fast_run -canonicalize", "numpy"),
    Setting("fast_run fusion inplace", "numpy", "x86_64-linux-v4"), Setting("fast_run", "numpy", "aarch64-linux"),
    Setting("fast_run -specialize", "toy"), Setting("fast_run", "numpy", engines=("numpy", "onnxruntime")),
)  # fmt: skip


@dataclass
class Cover:
    """Ops, and pairs of an op and one that reads it, that ran."""

    ops: set[str] = field(default_factory=set)
    pairs: set[str] = field(default_factory=set)

    def add(self, graph: FunctionGraph) -> None:
        """Note the ops of a graph and of the graphs inside."""
        graphs, met = [graph], set()
        while graphs:
            for node in graphs.pop().order:
                op = getattr(node.op, "op", node.op)
                name = getattr(op, "name", type(op).__name__)
                self.ops.add(name)
                self.pairs |= {f"{i.owner.op.name} {name}" for i in node.inputs if i.owner is not None}
                inner = getattr(op, "graph", None)
                if isinstance(inner, FunctionGraph) and inner not in met:
                    met.add(inner)
                    graphs.append(inner)


def trouble_in(program: Program, seed: int, settings: Iterable[Setting], cover: Cover | None = None) -> Any:
    """The setting and the difference of the first function that is wrong, with its lengths; None if all are right."""
    random, made = Random(seed), program.made()
    graph = FunctionGraph(
        [made[i.name] for i in program.inputs], [*made["outputs"], *(new for _, new in made["updates"])]
    )
    functions = {}
    for setting in settings:
        try:
            functions[setting] = setting.function(program, made)
        except Exception as error:
            return setting, _text(error), program.lengths
        if cover is not None:
            cover.add(functions[setting].graph)
    if cover is not None:
        cover.add(graph)
    for lengths in (program.lengths, other_lengths(program, random)):
        arrays = program.arrays(lengths)
        values = [arrays[i.name] for i in program.inputs]
        samples = samples_of(list(graph.inputs), list(graph.outputs), values)
        kept = [v.copy() for v in values]
        for setting, function in functions.items():
            wrong = _differs(function, program, made, values, samples)
            if not wrong and any(a.tobytes() != b.tobytes() for a, b in zip(kept, values, strict=True)):
                wrong = "an input was overwritten"
            if wrong:
                return setting, wrong, lengths
    return None


def _differs(function: Any, program: Program, made: Any, values: Any, samples: Any) -> str | None:
    try:
        with np.errstate(all="ignore"):
            results = called(function, program.inputs, made, values)
    except REFUSALS as error:
        return None if samples is None else _text(error)
    except Exception as error:
        return _text(error)
    for k in range(len(results) if samples is not None else 0):
        wrong = differs(results[k], [sample[k] for sample in samples])
        if wrong:
            return f"result {k}: {wrong}"
    return None


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _kind(found: Any) -> str:
    """The words of a difference that stay when the program is smaller."""
    return re.sub(r"[\d.\-+e]+|'[^']*'", "_", found[1])[:60] if found else ""


def reported(program: Program, seed: int, found: Any) -> dict[str, str]:
    """The cause of a difference, and the text of a report: the smallest program that is found, and the wrong rule."""
    setting, wrong, _ = found
    small = shrunk(program, lambda p: _is_alike(p, seed, found), ATTEMPTS)
    again = _quiet(small, seed, setting) or found
    lines = [f"# {setting}: {again[1]}, with lengths {again[2]}", small.code()]
    cause = f"{setting.engine} {_kind(again)}"
    try:
        made = small.made()
        arrays = small.arrays(again[2])
        with using(None if setting.target == "host" else by_name(setting.target)):
            function = setting.function(small, made)
            verdict = ag.bisect(function, [arrays[i.name] for i in small.inputs if not i.shared])
        lines.append(f"# {verdict}".replace("\n", "\n# "))
        cause = f"rule {verdict.rule}" if verdict.rule else cause
    except Exception as error:
        lines.append(f"# no rule is found: {_text(error)}")
    ops = Cover()
    ops.add(FunctionGraph([made[i.name] for i in small.inputs], made["outputs"]))
    return {"cause": cause if cause.startswith("rule") else f"{cause} {' '.join(sorted(ops.ops)[:6])}",
            "text": "\n".join(lines), "wrong": wrong}  # fmt: skip


def _quiet(program: Program, seed: int, setting: Setting) -> Any:
    """The difference of a program under a setting; None where the program cannot be built."""
    try:
        return trouble_in(program, seed, [setting])
    except Exception:
        return None


def _is_alike(program: Program, seed: int, found: Any) -> bool:
    return _kind(_quiet(program, seed, found[0])) == _kind(found)


# --- batches in children


def try_seeds(first: int, count: int) -> None:
    """Print a line of JSON before and after each program: its seed; then steps, ops, pairs and the report."""
    if "toy" not in ag.engines.names():
        ag.engines.register(Toy())
    for seed in range(first, first + count):
        print(json.dumps([seed]), flush=True)
        program, cover = vocabulary_program(seed), Cover()
        found = trouble_in(program, seed, SETTINGS, cover)
        report = reported(program, seed, found) if found else None
        print(json.dumps([seed, len(program.steps), sorted(cover.ops), sorted(cover.pairs), report]), flush=True)


def batch(first: int, count: int, cache: str) -> Iterator[list[Any]]:
    """The lines of each program; one that ends its process is followed by a new one."""
    while count > 0:
        command = [sys.executable, "-m", f"{__package__}.fuzz", str(first), str(count)]
        with subprocess.Popen(
            command, cwd=ROOT, env=environment(ARIGNOTE_CACHE=cache, ARIGNOTE_STRICT="1"), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as child:  # fmt: skip
            try:
                out, err = child.communicate(timeout=_TIMEOUT)
            except subprocess.TimeoutExpired:
                child.kill()
                out, err = child.communicate()
        lines = [json.loads(line) for line in out.splitlines()]
        yield from (line for line in lines if len(line) > 1)
        if child.returncode == 0:
            return
        seed = lines[-1][0] if lines else first
        how = ending(child.returncode)
        text = f"# python -m tests.campaign.values.fuzz {seed}\n# {how}\n{err[-2000:]}"
        last = (err.strip().splitlines() or [""])[-1]
        yield [seed, 0, [], [], {"cause": f"{how} {re.sub('[^a-zA-Z ]', '', last)[:60]}", "text": text, "wrong": how}]
        first, count = seed + 1, first + count - seed - 1


@dataclass
class Total:
    """Figures of a run: `causes` has a report for each cause."""

    first: int
    programs: int = 0
    steps: int = 0
    differences: int = 0
    cover: Cover = field(default_factory=Cover)
    causes: dict[str, str] = field(default_factory=dict)

    def add(self, line: list[Any]) -> bool:
        """Count a program; whether it shows a new cause."""
        _, steps, ops, pairs, report = line
        self.programs += 1
        self.steps += steps
        self.cover.ops.update(ops)
        self.cover.pairs.update(pairs)
        self.differences += report is not None
        new = report is not None and report["cause"] not in self.causes
        if new:
            self.causes[report["cause"]] = report["text"]
        return new

    def figures(self) -> dict[str, int]:
        """The figures that are kept."""
        return {
            "first": self.first, "programs": self.programs, "steps": self.steps, "settings": len(SETTINGS),
            "ops": len(self.cover.ops), "pairs": len(self.cover.pairs), "differences": self.differences,
            "causes": len(self.causes),
        }  # fmt: skip


def tried(first: int, programs: int, seconds: float, jobs: int, folder: Path | None = None) -> Total:
    """The total of so many programs, or of those that the time allows; a file in the folder for each cause."""
    total, end = Total(first), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(jobs) as pool:

        def one(start: int) -> list[list[Any]]:
            count = min(BATCH, first + programs - start)
            return list(batch(start, count, cache)) if time.monotonic() < end else []

        starts = iter(range(first, first + programs, BATCH))
        running = {pool.submit(one, start) for start in islice(starts, jobs)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            if time.monotonic() < end:
                running |= {pool.submit(one, start) for start in islice(starts, len(done))}
            for line in chain.from_iterable(task.result() for task in done):
                if total.add(line) and folder is not None:
                    folder.mkdir(parents=True, exist_ok=True)
                    name = re.sub(r"\W+", "-", line[4]["cause"]).strip("-").lower()[:80]
                    (folder / f"{name}.txt").write_text(f"# seed {line[0]}\n{line[4]['text']}\n", encoding="utf-8")
            print(json.dumps(total.figures()), file=sys.stderr, flush=True)
    return total


def rows_of(total: Total) -> list[Row]:
    """The line of the scorecard."""
    trials = Trials("G45", f"programs over the whole vocabulary, under {len(SETTINGS)} queries, engines and targets")
    trials.check(True, "", total.programs - total.differences)
    for cause in total.causes:
        trials.check(False, cause)
    cover = total.cover
    return [trials.row(f"{total.steps:,} operations, {len(cover.ops)} ops, {len(cover.pairs):,} pairs")]


def run(full: bool) -> list[Row]:
    """At full size other programs than the small ones, too."""
    return rows_of(tried(0, PROGRAMS if full else SMALL, _TIMEOUT, (os.cpu_count() or 1) if full else 1))


def run_for(hours: float, first: int | None, jobs: int, folder: Path, save: bool) -> list[Row]:
    """Programs until the time is over, from those on that were not tried; the figures are kept if `save`."""
    kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else None
    begin = first if first is not None else kept["first"] + kept["programs"] if kept else 0
    total = tried(begin, 10**9, hours * 3600, jobs, folder)
    if save:
        DATA.write_text(json.dumps(total.figures(), indent=1) + "\n", encoding="utf-8")
    return rows_of(total)


def explain(seed: int) -> None:
    """Print what is wrong with the program of a seed; or the program, if nothing is."""
    ag.engines.register(Toy())
    program = vocabulary_program(seed)
    found = trouble_in(program, seed, SETTINGS)
    print(reported(program, seed, found)["text"] if found else program.code())


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 2:
        try_seeds(*map(int, sys.argv[1:]))
    else:
        explain(int(sys.argv[1]))
