"""How many processors this process may use: what its affinity allows, and what a container's quota pays for."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path


@cache
def processors() -> int:
    """The number of threads that make sense here, at least 1; asked of the system once."""
    return processors_under(Path("/"))


def processors_under(root: Path) -> int:
    """The same, with the files of the system looked for under `root`."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [quota for folder in _groups(root) if (quota := _quota(folder)) is not None]
    return max(1, min([allowed, *map(math.ceil, quotas)]))


def _groups(root: Path) -> list[Path]:
    """The folders that may hold a quota: that of each control group of this process and all above it, both versions."""
    found: list[Path] = []
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        mounts = [] if controllers and "cpu" not in controllers.split(",") else _MOUNTS[bool(controllers)]
        for mount in mounts:
            base = root / mount
            group = base / path.lstrip("/")
            # Inside a container the path may be that of the host, where only the root of the mount exists.
            found += [group, *(parent for parent in group.parents if parent.is_relative_to(base))]
    return list(dict.fromkeys(found))


_MOUNTS = {
    False: ("sys/fs/cgroup", "sys/fs/cgroup/unified"),
    True: ("sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"),
}
"""Where control groups of version 2 and of version 1 are mounted."""


def _quota(group: Path) -> float | None:
    """How many processors the quota of a group is worth; None if it has none."""
    both = _text(group / "cpu.max").split()
    if not both:
        both = [_text(group / f"cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    try:
        quota, period = map(float, both)
    except ValueError:  # "max", or no such file
        return None
    return quota / period if quota > 0 and period > 0 else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
