"""`ag.tune.save`, `ag.tune.load` and `ag.tune.merge`: files of measured schedules.

A file holds the trials of kernels, each with the target, processor, compiler and version of its measurement.  What was
measured on this processor with this compiler counts at once.  Trials of another processor of the same target are hints:
the cost model learns from them, and `ag.tune` measures their best schedules first.  All else is skipped and named.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..cbackend.calls.measured import Measured
from ..cbackend.calls.trials import Group, Trials, TrialsError, group_from, groups_in, text_of
from ..engines.compiler import find_toolchain, process_cache
from ..record.spelling import counted
from ..targets.named import host
from .features import NAMES

FEATURES: str = f"{2 * len(NAMES)} {hashlib.sha256(' '.join(NAMES).encode()).hexdigest()[:8]}"
"""The columns of a row: their number, and a digest of their names."""


class Records:
    """Counts of a file: groups of trials that were taken, and reasons for which others were skipped."""

    def __init__(self, what: str, groups: Sequence[Group], hints: int, skipped: Mapping[str, int]) -> None:
        self.what: str = what
        self.kernels: int = len(groups)
        """Kernels of the groups that were taken."""
        self.trials: int = sum(len(group.trials) for group in groups)
        """Measurements of these groups."""
        self.hints: int = hints
        """Groups of another processor or compiler, whose schedules are measured before they are used."""
        self.skipped: dict[str, int] = dict(skipped)
        """Number of skipped groups by reason."""

    def __str__(self) -> str:
        head = f"{self.what}: {counted(self.kernels, 'kernel')}, {counted(self.trials, 'measurement')}"
        hints = f"; {self.hints} of another processor or compiler, as hints" if self.hints else ""
        return "\n".join([head + hints, *(f"  skipped {n}: {why}" for why, n in self.skipped.items())])

    __repr__ = __str__


def target_name() -> str:
    """Return what processors share that can run each other's schedules alike: instruction set and extensions."""
    target = host()
    return f"{target.arch} {hashlib.sha256(' '.join(target.features).encode()).hexdigest()[:12]}"


def save(path: str | os.PathLike[str]) -> Records:
    """Write all trials of the cache to a file, to be read by `ag.tune.load`; return the counts.

    Raises ValueError if there is no C compiler, OSError if the file cannot be written.
    """
    trials = _trials("save")
    groups = list(trials.every())
    Path(path).write_text(text_of(groups), encoding="utf-8")
    return Records(f"saved to {os.fspath(path)}", groups, 0, {})


def load(*paths: str | os.PathLike[str]) -> Records:
    """Take the trials of files into the cache; return the counts, with what was skipped and why.

    Winners of this processor and compiler are used by later compilations.  Trials of others of the same target are
    hints.  Groups of another target, version or set of features, and unreadable ones, are skipped.

    Raises:
        ValueError: a file is none that `ag.tune.save` wrote, or there is no C compiler.
        OSError: it cannot be read.
    """
    trials = _trials("load")
    toolchain = find_toolchain()
    assert toolchain is not None
    measured, skipped, taken, hints = Measured(toolchain, process_cache()), Counter[str](), [], 0
    for group in _groups(paths, "load", skipped):
        reason = _unfit(group)
        if reason:
            skipped[reason] += 1
            continue
        is_own = (group.machine, group.compiler) == (trials.machine, trials.compiler)
        known = trials.here(group.kernel)
        if is_own and group.schedule is not None and group.gain > (known.gain if known is not None else 1.0):
            measured.keep(group.kernel, group.schedule, group.gain)
        trials.add(group)
        taken.append(group)
        hints += not is_own
    return Records(f"loaded from {', '.join(str(path) for path in paths)}", taken, hints, skipped)


def merge(into: str | os.PathLike[str], *paths: str | os.PathLike[str]) -> Records:
    """Write the trials of several files into one; groups of any target are kept, unreadable ones skipped.

    Raises:
        ValueError: a file is none that `ag.tune.save` wrote.
        OSError: a file cannot be read or written.
    """
    skipped, found = Counter[str](), dict[tuple[str, ...], Group]()
    for group in _groups(paths, "merge", skipped):
        key = (group.kernel, group.machine, group.compiler, group.features)
        found[key] = found[key].merged(group) if key in found else group
    Path(into).write_text(text_of(list(found.values())), encoding="utf-8")
    return Records(f"merged into {os.fspath(into)}", list(found.values()), 0, skipped)


def _groups(paths: Sequence[Any], who: str, skipped: Counter[str]) -> Iterator[Group]:
    """Yield the groups of files; count those that are unreadable by their reason."""
    for path in paths:
        try:
            every = groups_in(Path(path).read_text(encoding="utf-8"))
        except (TrialsError, UnicodeDecodeError) as error:
            raise ValueError(f"tune.{who}: {os.fspath(path)} is {error}; expected a file of ag.tune.save") from None
        for data in every:
            try:
                yield group_from(data)
            except TrialsError as error:
                skipped[str(error)] += 1


def _unfit(group: Group) -> str:
    """Return why a group cannot be used here; nothing if it can."""
    if group.target != target_name():
        return f"target {group.target}; this machine is {target_name()}"
    if group.features != FEATURES:
        return f"features {group.features}; this version has {FEATURES}"
    if group.trials and len(group.trials[0].row) != 2 * len(NAMES):
        return "rows of another length than their features"
    return ""


def _trials(who: str) -> Trials:
    toolchain = find_toolchain()
    if toolchain is None:
        raise ValueError(f"tune.{who}: no C compiler was found, so no kernel has a schedule")
    return Trials(toolchain, process_cache())
