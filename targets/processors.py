"""The number of processors that this process may use: by its affinity, and by the quota of its container."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path


@cache
def processors() -> int:
    """The number of threads that make sense here, at least 1; asked of the system once."""
    return processors_under("/")


def processors_under(root: str | Path) -> int:
    """The number of usable processors, with the system's files read under `root`."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quotas = [quota for folder in _groups(str(root)) if (quota := _quota(folder)) is not None]
    return max(1, min([allowed, *map(math.ceil, quotas)]))


def _groups(root: str) -> list[str]:
    """The folders that may hold a quota: that of each control group of this process and all above it, both versions."""
    found: dict[str, None] = {}
    for line in _text(os.path.join(root, "proc/self/cgroup")).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        mounts = [] if controllers and "cpu" not in controllers.split(",") else _MOUNTS[bool(controllers)]
        for base in (os.path.join(root, mount) for mount in mounts):
            # Inside a container the path may be that of the host, where only the root of the mount exists.
            names = [name for name in path.split("/") if name]
            found.update(dict.fromkeys("/".join([base, *names[:n]]) for n in range(len(names), -1, -1)))
    return list(found)


_MOUNTS = {
    False: ("sys/fs/cgroup", "sys/fs/cgroup/unified"),
    True: ("sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"),
}
"""The mounts of control groups of version 2 and of version 1."""


def _quota(group: str) -> float | None:
    """The quota of a control group in processors; None without a quota."""
    if not os.path.isdir(group):
        return None
    both = _text(f"{group}/cpu.max").split()
    if not both:
        both = [_text(f"{group}/cpu.cfs_{name}_us").strip() for name in ("quota", "period")]
    try:
        quota, period = map(float, both)
    except ValueError:  # "max", or no such file
        return None
    return quota / period if quota > 0 and period > 0 else None


def _text(path: str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read().decode()
    except (OSError, UnicodeDecodeError):
        return ""
