"""`python -m arignote cache ...`: size and content of the cache of compiled code; verify, trim, clear it.

`untune` forgets the schedules that `ag.tune` found.
"""

from __future__ import annotations

import time
import warnings

from ..cbackend.build.reproduce import reproduce
from ..cbackend.build.toolchain import Toolchain
from ..cbackend.cache.entry import Kind
from ..cbackend.cache.store import Cache, CacheWarning
from ..cbackend.cache.upkeep import EntryInfo, Trimmed, clear, entries, forget, trim, verify
from ..options import process_options

ACTIONS = {
    "size": "folder and bytes (the default)", "list": "each entry", "verify": "look for damage", "trim": "remove what "
    "was used longest ago, down to the capacity", "clear": "remove everything", "untune": "forget what ag.tune found",
}  # fmt: skip
"""Description of each action."""


def main(action: str) -> int:
    """Do one of ACTIONS and print the result; return 1 if damage was found, else 0."""
    cache = Cache.open(process_options().cache, key_file=process_options().cache_key)
    if cache.folder.root is None:
        print("There is no cache folder: `python -m arignote doctor` says why.")
        return 1
    if action == "list":
        print(listing(cache))
    elif action == "verify":
        return _verify(cache)
    elif action == "trim":
        print(_removed(trim(cache)))
    elif action == "clear":
        print(_removed(clear(cache)))
    elif action == "untune":
        print(_removed(forget(cache, Kind.SCHEDULE)))
    else:
        print(size(cache))
    return 0


def size(cache: Cache) -> str:
    """Return folder, number of entries, bytes, capacity."""
    listed = entries(cache)
    libraries, records, schedules = (sum(e.kind is kind for e in listed) for kind in Kind)
    used = sum(entry.size for entry in listed)
    return (
        f"{cache.folder.root}\n{libraries} libraries, {records} records and {schedules} tuned schedules, "
        f"{_bytes(used)} of at most {_bytes(cache.capacity)}"
    )


def listing(cache: Cache) -> str:
    """Return one line per entry, the most recently used first; beside each library lies its C with the suffix `.c`."""
    lines = [_line(entry) for entry in reversed(entries(cache))]
    return "\n".join([f"{'used':<17}{'size':>10}  entry", *lines, size(cache)])


def _line(entry: EntryInfo) -> str:
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
    return f"{used:<17}{_bytes(entry.size):>10}  {entry.path.name}"


def _verify(cache: Cache) -> int:
    """Check every checksum, then compile every library again and compare it byte for byte."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)  # said below, by name
        sound, unsound = verify(cache)
        print(f"{sound} entries are sound")
        for name in unsound:
            print(f"damaged, moved aside, will be compiled anew when needed: {name}")
        toolchain = Toolchain.find(cache, process_options().cc)
        again = list(reproduce(cache, toolchain)) if toolchain else []
    equal, other = (sum(entry.equal is answer for entry in again) for answer in (True, None))
    print(f"{equal} libraries were compiled again: the same, byte for byte")
    if other:
        print(f"{other} libraries were not: their text is gone, or another compiler or version made them")
    different = [entry.info.path.name for entry in again if entry.equal is False]
    for name in different:
        print(f"not what the compiler makes, moved aside, will be compiled anew when needed: {name}")
    return 1 if unsound or different else 0


def _removed(done: Trimmed) -> str:
    removed = f"removed {done.removed} entries, {_bytes(done.removed_bytes)}"
    return f"{removed}; {done.kept} remain, {_bytes(done.kept_bytes)}"


def _bytes(number: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"
