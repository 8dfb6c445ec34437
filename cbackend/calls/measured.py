"""Schedules found by measurement, in the cache: one record per kernel, processor and compiler.

A kernel is known by its name under the default schedule, a digest of its text, so a record is never out of date.  What
is damaged, or cannot be read, is a miss.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..build.toolchain import Toolchain
from ..cache import machine
from ..cache.entry import Kind
from ..cache.store import Cache
from ..ir.schedule import Schedule, ScheduleError


class Measured:
    """The schedules in the cache for this processor and compiler."""

    def __init__(self, toolchain: Toolchain, cache: Cache) -> None:
        self._toolchain, self._cache = toolchain, cache

    def __call__(self, kernel: str) -> Schedule | None:
        """Return the schedule of a kernel; None if it was never measured here."""
        key = self._key(kernel)
        path = self._cache.path(Kind.SCHEDULE, key)
        if path is None or not path.exists():  # nearly always; a look of 3 us
            return None
        found = self._cache.load(Kind.SCHEDULE, key)
        return None if found is None else _read(found)

    def keep(self, kernel: str, schedule: Schedule, gain: float) -> bool:
        """Store the schedule that makes a kernel `gain` times as fast; return whether it was stored."""
        content = {"kernel": kernel, "gain": round(gain, 3), "schedule": plain_schedule(schedule)}
        return self._cache.store(Kind.SCHEDULE, self._key(kernel), json.dumps(content).encode()) is not None

    def _key(self, kernel: str) -> bytes:
        parts = ("schedule", kernel, self._toolchain.fingerprint, machine.identity().hex())
        return hashlib.sha256("\0".join(parts).encode()).digest()


def plain_schedule(schedule: Schedule) -> dict[str, Any]:
    """Return the choices of a schedule for JSON."""
    found = schedule.choices()
    return {**found, "tiles": list(schedule.tiles)} if schedule.tiles else found


def read_schedule(choices: dict[str, Any]) -> Schedule:
    """Return the schedule with these choices from JSON.

    Raises:
        ValueError, TypeError: it is none.
    """
    return Schedule(**{**choices, "tiles": tuple(map(tuple, choices.get("tiles", ())))})


def _read(content: bytes) -> Schedule | None:
    try:
        return read_schedule(json.loads(content)["schedule"])
    except (ValueError, TypeError, KeyError, AttributeError, ScheduleError):  # of another version
        return None
