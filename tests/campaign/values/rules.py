"""Rules of the database on random graphs on which they fire: values before and after as their contracts say.

At full size each rule fires 10,000 times, on graphs made from its own pattern or from its examples (rule_trials.py).
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor

from rule_trials import ON_NUMBERS, POSITIONS, RULES, Violation, fire
from wide_target import WIDE

from arignote.targets.current import using

from ..scorecard import Row, Trials

FIRINGS = 10_000
SMALL = 3
AT_ONCE = 500
"""Firings of a rule in one task, each with its own seed."""
ATTEMPTS = 60
"""Graphs that may be tried for a firing."""


def firings_of(name: str, count: int, seed: int) -> tuple[int, int, str]:
    """(firings, comparisons, what went wrong) of one rule."""
    try:
        with using(WIDE):
            return (*fire(RULES[name], count, ATTEMPTS * count, seed), "")
    except Violation as error:
        return 0, 0, str(error)


def run(full: bool) -> list[Row]:
    """One trial a comparison of values before and after; a rule that hardly fires fails too."""
    names = [name for name in ON_NUMBERS if name not in POSITIONS]
    trials = Trials("G30", f"rules on graphs of their own, {FIRINGS if full else SMALL:,} firings each")
    firings = 0
    seeds, count = (FIRINGS // AT_ONCE, AT_ONCE) if full else (1, SMALL)
    tasks = [(name, count, seed) for seed in range(seeds) for name in names]
    for (name, _, _), (fired, compared, wrong) in zip(tasks, results(tasks, full), strict=True):
        firings += fired
        trials.check(not wrong and fired == count, wrong or f"{name} fired {fired} times of {count}", max(compared, 1))
    return [trials.row(f"{len(names)} rules, {firings:,} firings")]


def results(tasks: list[tuple[str, int, int]], full: bool) -> list[tuple[int, int, str]]:
    if not full:
        return [firings_of(*task) for task in tasks]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(firings_of, *zip(*tasks, strict=True)))
