"""Result of an experiment: trials, failures, and the bound that follows from no failure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

_KEPT = 10


@dataclass(frozen=True)
class Row:
    """One line of the scorecard.  `failures` counts them; `examples` describes the first few; `measured`: a figure."""

    guarantee: str
    what: str
    trials: int
    failures: int
    examples: tuple[str, ...] = ()
    measured: str = ""

    def bound(self) -> str:
        """The rate of failures that is excluded at 95 %: 3 / trials if there was none."""
        return f"< {3 / self.trials:.1g}" if self.trials and not self.failures else ""


class Trials:
    """Counts trials of one kind, and remembers the first that failed."""

    def __init__(self, guarantee: str, what: str) -> None:
        self.guarantee, self.what = guarantee, what
        self.count, self.failed = 0, 0
        self.examples: list[str] = []

    def check(self, passed: bool, example: str, count: int = 1) -> None:
        """Note `count` trials, of which one failed unless `passed`."""
        self.count += count
        if not passed:
            self.failed += 1
            self.examples += [example] * (len(self.examples) < _KEPT)

    def row(self, measured: str = "") -> Row:
        return Row(self.guarantee, self.what, self.count, self.failed, tuple(self.examples), measured)


def to_json(rows: Sequence[Row]) -> str:
    return json.dumps([asdict(row) for row in rows])


def from_json(text: str) -> list[Row]:
    return [Row(**{**fields, "examples": tuple(fields["examples"])}) for fields in json.loads(text)]


def table(rows: Sequence[Row]) -> str:
    """The scorecard, a line a row, with the examples of failures below theirs."""
    lines = [f"{'':4} {'what was tried':68} {'N':>9} {'failed':>6}  {'95 %':8} measured"]
    for row in sorted(rows, key=lambda r: int(r.guarantee[1:])):
        head = f"{row.guarantee:4} {row.what:68} {row.trials:>9,} {row.failures:>6}  {row.bound():8} {row.measured}"
        lines += [head.rstrip(), *(f"       {example}" for example in row.examples)]
    return "\n".join(lines)
