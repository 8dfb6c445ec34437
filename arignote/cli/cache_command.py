"""`python -m arignote cache ...`: size and content of the cache of compiled code; verify, trim, clear it.

`untune` forgets the schedules that `ag.tune` found.
"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress

from ..cbackend.build.reproduce import reproduce
from ..cbackend.build.toolchain import Toolchain
from ..cbackend.cache.entry import Kind
from ..cbackend.cache.store import Cache, CacheWarning
from ..cbackend.cache.upkeep import EntryInfo, Trimmed, clear, entries, forget, trim, verify
from ..cbackend.calls.recall import made_for
from ..options import process_options
from ..record.quoting import one_line
from ..record.spelling import counted

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
        tried = forget(cache, Kind.TRIALS)
        print(f"and the trials of {counted(tried.removed, 'kernel')}")
    else:
        print(size(cache))
    return 0


def size(cache: Cache) -> str:
    """Return folder, number of entries, bytes, capacity."""
    listed = entries(cache)
    libraries, records, schedules, tried = (sum(e.kind is kind for e in listed) for kind in Kind)
    used = sum(entry.size for entry in listed)
    return (
        f"{cache.folder.root}\n{libraries} libraries, {records} records, {schedules} tuned schedules "
        f"and trials of {counted(tried, 'kernel')}, "
        f"{_bytes(used)} of at most {_bytes(cache.capacity)}"
    )


def listing(cache: Cache) -> str:
    """Return one line per entry, the most recently used first; beside each library lies its C with the suffix `.c`."""
    listed = list(reversed(entries(cache)))
    names = _names(listed[:_MOST_READ])
    lines = [_line(entry, names.get(entry.path.stem, ()), read=k < _MOST_READ) for k, entry in enumerate(listed)]
    head = f"{'used':<17}{'size':>10}  {'entry':<16}  {'functions':<{_NAMES}}  what it computes"
    return "\n".join([head, *lines, size(cache)])


_MOST_READ = 200
"""Entries that are looked into."""
_LONGEST_HEAD = 1 << 20
"""Bytes of a record that are read for its name."""
_NAMES = 20
"""Width of the column of names."""
_LONGEST = 60
_KERNEL = re.compile(r"^/\* (y0 = .*?) ?\*/", re.M)
_STEP = re.compile(r"^    /\* \d+: \w+(?:, \w+)* = (\w+)\(", re.M)


def _names(listed: Sequence[EntryInfo]) -> Mapping[str, Sequence[str]]:
    """Return the names of functions by the keys of their records and libraries, each once."""
    found: dict[str, dict[str, None]] = {}
    for entry in listed:
        if entry.kind is Kind.RECORD:
            with suppress(OSError), entry.path.open("rb") as file:
                name, library = made_for(file.readline(_LONGEST_HEAD))
                if name:
                    found.setdefault(entry.path.stem, {})[name] = None
                    found.setdefault(library, {})[name] = None
    return {key: list(names) for key, names in found.items()}


def _line(entry: EntryInfo, names: Sequence[str], read: bool) -> str:
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.used))
    what = _content(entry) if read and entry.kind is Kind.LIBRARY else entry.kind.name.lower()
    called = ", ".join(one_line(name) for name in names)
    called = called if len(called) <= _NAMES else called[: _NAMES - 3] + "..."
    key = f"{entry.path.stem[:8]}..{entry.path.suffix:<6}"
    return f"{used:<17}{_bytes(entry.size):>10}  {key}  {called:<{_NAMES}}  {what}".rstrip()


def _content(entry: EntryInfo) -> str:
    """The kernels and the steps of a library; functions of all names that compute the same share it."""
    try:
        text = entry.path.with_suffix(".c").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    kernels = list(dict.fromkeys(_KERNEL.findall(text)))
    steps = list(dict.fromkeys(name for name in _STEP.findall(text) if name not in ("fused", "inplace")))
    shown = [kernels[0] if len(kernels[0]) <= _LONGEST else f"{kernels[0][:_LONGEST]}..."] if kernels else []
    shown += [counted(len(kernels) - 1, "more kernel")] if len(kernels) > 1 else []
    return "; ".join([*shown, *steps[:6]])


def _verify(cache: Cache) -> int:
    """Check every checksum, then compile every library again and compare it byte for byte."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)  # said below, by name
        sound, unsound = verify(cache)
        print(f"{counted(sound, 'entry')} sound")
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
    removed = f"removed {counted(done.removed, 'entry')}, {_bytes(done.removed_bytes)}"
    return f"{removed}; {done.kept} remain, {_bytes(done.kept_bytes)}"


def _bytes(number: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if number < 1024:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1024
    return f"{number:.1f} GiB"
