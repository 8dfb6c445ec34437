"""Measurements of schedules in the cache: a group of trials per kernel, processor and compiler.

The cost model of `ag.tune` learns from them, and files of them can be shared.  A group from another processor of the
same target is a hint: its best schedules are measured first, and none is used unmeasured.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...record import record
from ..build.toolchain import Toolchain
from ..cache import machine
from ..cache.entry import Kind
from ..cache.store import Cache
from ..cache.upkeep import entries
from ..ir.schedule import Schedule, ScheduleError
from .measured import plain_schedule, read_schedule

VERSION = 1
"""Version of the format; groups of another one are skipped."""
MOST_TRIALS = 200
"""Trials of a group: the newest ones."""
MOST_GROUPS = 400
"""Groups that are read for one tuning: the newest ones."""


class TrialsError(ValueError):
    """Data that is no group of trials; the text says why, after "of" or as it is."""


@record
class Trial:
    """One measurement: a schedule for some lengths, its row of features, seconds of a call, and relative to default."""

    schedule: Schedule
    lengths: tuple[int, ...]
    threads: int
    row: tuple[float, ...]
    seconds: float
    ratio: float


@record
class Group:
    """The trials of one kernel on one processor with one compiler.

    `features`: the number of columns of a row, and a digest of their names.  `schedule` and `gain`: the winner that
    was confirmed there, and its speed-up; None and 1.0 if there is none.
    """

    kernel: str
    computes: str
    dtypes: tuple[str, ...]
    target: str
    machine: str
    compiler: str
    features: str
    trials: tuple[Trial, ...]
    schedule: Schedule | None = None
    gain: float = 1.0

    def merged(self, other: Group) -> Group:
        """Return the group with the trials of both, and the winner of the larger gain."""
        best = max((self, other), key=lambda group: group.gain)
        trials = tuple(dict.fromkeys((*other.trials, *self.trials)))[-MOST_TRIALS:]
        return Group(
            self.kernel, self.computes, self.dtypes, self.target, self.machine, self.compiler, self.features, trials,
            best.schedule, best.gain,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The group as plain data."""
        return {
            "version": VERSION, "kernel": self.kernel, "computes": self.computes, "dtypes": list(self.dtypes),
            "target": self.target, "machine": self.machine, "compiler": self.compiler, "features": self.features,
            "schedule": None if self.schedule is None else plain_schedule(self.schedule), "gain": self.gain,
            "trials": [
                {
                    "schedule": plain_schedule(t.schedule), "lengths": list(t.lengths), "threads": t.threads,
                    "row": [round(v, 4) for v in t.row], "seconds": t.seconds, "ratio": t.ratio,
                } for t in self.trials
            ],
        }  # fmt: skip


def group_from(data: Any) -> Group:
    """Return the group that plain data describes.  Raises TrialsError, which says what is wrong with it."""
    if not isinstance(data, Mapping):
        raise TrialsError(f"{type(data).__name__} in the place of a group")
    if data.get("version") != VERSION:
        raise TrialsError(f"version {data.get('version')!r}, not {VERSION}")
    try:
        winner = None if data["schedule"] is None else read_schedule(data["schedule"])
        texts = [data[name] for name in ("kernel", "computes", "target", "machine", "compiler", "features")]
        kernel, computes, target, of_machine, compiler, features = texts
        trials = tuple(_trial(each) for each in data["trials"])
        dtypes, gain = tuple(data["dtypes"]), float(data["gain"])
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TrialsError(f"unreadable trials: {error}") from None
    if not all(isinstance(text, str) for text in (*texts, *dtypes)) or not math.isfinite(gain):
        raise TrialsError("unreadable trials: a name is no text, or the gain no number")
    if len({len(t.row) for t in trials}) > 1:
        raise TrialsError("unreadable trials: rows of several lengths")
    return Group(kernel, computes, dtypes, target, of_machine, compiler, features, trials, winner, gain)


def _trial(data: Any) -> Trial:
    row, seconds, ratio = tuple(map(float, data["row"])), float(data["seconds"]), float(data["ratio"])
    if not all(map(math.isfinite, (*row, seconds, ratio))) or seconds <= 0 or ratio <= 0:
        raise ScheduleError("a time is not positive, or a feature not finite")
    lengths = tuple(int(n) for n in data["lengths"])
    return Trial(read_schedule(data["schedule"]), lengths, int(data["threads"]), row, seconds, ratio)


class Trials:
    """The groups in the cache.  What is damaged or cannot be read is a miss."""

    def __init__(self, toolchain: Toolchain, cache: Cache) -> None:
        self.machine: str = machine.identity().hex()
        self.compiler: str = toolchain.fingerprint
        self._cache = cache

    def here(self, kernel: str) -> Group | None:
        """Return the group of a kernel on this processor, with this compiler."""
        return self._load(self._key(kernel, self.machine, self.compiler))

    def add(self, group: Group) -> bool:
        """Merge a group with what is known of its kernel; return whether it was stored."""
        key = self._key(group.kernel, group.machine, group.compiler)
        known = self._load(key)
        made = group if known is None or known.features != group.features else group.merged(known)
        content = json.dumps(made.to_dict()).encode()
        return self._cache.store(Kind.TRIALS, key, content) is not None

    def every(self) -> Iterator[Group]:
        """Yield the newest groups, the oldest of them first."""
        listed = [e for e in entries(self._cache) if e.kind is Kind.TRIALS][-MOST_GROUPS:]
        for entry in listed:
            group = self._load(entry.key)
            if group is not None:
                yield group

    def _load(self, key: bytes) -> Group | None:
        path = self._cache.path(Kind.TRIALS, key)
        found = self._cache.load(Kind.TRIALS, key) if path is not None and path.exists() else None
        try:
            return None if found is None else group_from(json.loads(found))
        except ValueError:  # of another version
            return None

    @staticmethod
    def _key(*parts: str) -> bytes:
        return hashlib.sha256("\0".join(("trials", *parts)).encode()).digest()


def groups_in(content: str) -> Sequence[Any]:
    """Return the groups of a file as plain data.  Raises TrialsError if it is no file of trials."""
    try:
        found = json.loads(content)
    except ValueError as error:
        raise TrialsError(f"no JSON: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("arignote_trials"), list):
        raise TrialsError("no file that ag.tune.save wrote")
    return list(found["arignote_trials"])


def text_of(groups: Sequence[Group]) -> str:
    """Return the text of a file with these groups, in the order of their kernels."""
    ordered = sorted(groups, key=lambda g: (g.kernel, g.machine, g.compiler))
    return json.dumps({"arignote_trials": [group.to_dict() for group in ordered]}, indent=1)
