"""Promised lengths that are broken, and masks of every wrong length: an error that names the guilty, or NumPy's result.

    python -m tests.campaign.values.promises 1234      the two trials of a seed
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

from promise_trials import mask_trial, promise_trial

from ..scorecard import Row, Trials

TRIALS = 3000
SMALL = 20
KINDS = {
    "promised lengths through givens, updates, set_value, inputs": promise_trial,
    "masks of right and wrong lengths, read and written: as NumPy": mask_trial,
}


def run(full: bool) -> list[Row]:
    """One trial a seed and kind."""
    return [_row(what, trial, full) for what, trial in KINDS.items()]


def _row(what: str, trial: Callable[[int], str], full: bool) -> Row:
    trials = Trials("G35", what)
    seeds = range(TRIALS if full else SMALL)
    if full:
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(trial, seeds, chunksize=50))
    else:
        found = list(map(trial, seeds))
    for seed, wrong in zip(seeds, found, strict=True):
        trials.check(not wrong, f"python -m tests.campaign.values.promises {seed}: {wrong}")
    return trials.row()


if __name__ == "__main__":
    for name, one in KINDS.items():
        print(f"{name}: {one(int(sys.argv[1])) or 'right'}")
