"""The verdicts that are known, and the mutation score by kind."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from .faults import HERE, SUITES, Fault
from .trials import BROKEN, KILLED, SURVIVED, TIMED_OUT, Trial

FILE = HERE / "verdicts.json"


def load() -> dict[str, Trial]:
    """The kept verdicts by name."""
    kept = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
    return {each["name"]: Trial(**each) for each in kept}


def save(trials: Mapping[str, Trial]) -> None:
    """Keep the verdicts, one a line."""
    lines = [json.dumps(asdict(trials[name])) for name in sorted(trials)]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def table(faults: Iterable[Fault], trials: Mapping[str, Trial]) -> str:
    """Return the scores by kind, of all suites and of the ordinary tests alone, as a table of Markdown."""
    kinds: dict[str, list[Fault]] = {}
    for fault in faults:
        kinds.setdefault(fault.kind, []).append(fault)
    rows = [
        "| kind | written | run | killed | by ordinary tests | timed out | survived | score | ordinary score |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    rows += [_row(kind, of_kind, trials) for kind, of_kind in kinds.items()]
    rows.append(_row("all", [fault for of_kind in kinds.values() for fault in of_kind], trials))
    return "\n".join(rows)


def _row(kind: str, faults: list[Fault], trials: Mapping[str, Trial]) -> str:
    found = [trials[fault.name] for fault in faults if fault.name in trials]
    run = [trial for trial in found if trial.verdict != BROKEN]
    verdicts = [trial.verdict for trial in run]
    killed, late, survived = (verdicts.count(verdict) for verdict in (KILLED, TIMED_OUT, SURVIVED))
    ordinary = sum(trial.by_suite == SUITES[0] for trial in run)
    scores = [f"{100 * count // len(run)} %" if run else "" for count in (killed, ordinary)]
    cells = (kind, len(faults), len(run), killed, ordinary, late, survived, *scores)
    return f"| {' | '.join(map(str, cells))} |"
