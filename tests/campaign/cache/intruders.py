"""Folders and files that others could have made: refused, never followed, never loaded."""

from __future__ import annotations

import os
import random
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

from arignote.cbackend.cache.entry import Kind, footer
from arignote.cbackend.cache.folder import BAD, ENTRIES, WORK, find_cache_folder
from arignote.cbackend.cache.machine import this_machine
from arignote.cbackend.cache.store import GROWTH, Cache

from ..scorecard import Row, Trials

_STRANGER = 12345  # a user id that is not ours
PAYLOAD = bytes(range(256)) * 16


def _opened(path: Path | None = None, key_file: Path | None = None) -> Cache:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Cache.open(path, key_file=key_file)


def folders(trials: Trials, top: Path) -> None:
    """Each part of the cache folder, wrong in each way."""
    ways: dict[str, Callable[[Path], object]] = {
        "mode 0777": lambda p: p.chmod(0o777), "mode 0770": lambda p: p.chmod(0o770),
        "sticky": lambda p: p.chmod(0o1777), "group": lambda p: p.chmod(0o720),
        "link": lambda p: (p.rename(f"{p}-real"), p.symlink_to(f"{p}-real")),
        "dangling link": lambda p: (p.rename(f"{p}-real"), p.symlink_to("/nowhere/at/all")),
        "file": lambda p: (p.rename(f"{p}-real"), p.write_text("")),
        "fifo": lambda p: (p.rename(f"{p}-real"), os.mkfifo(p)),
    }  # fmt: skip
    if os.geteuid() == 0:
        ways["foreign owner"] = lambda p: os.chown(p, _STRANGER, _STRANGER)
    for number, (part, way) in enumerate((p, w) for p in ("", ENTRIES, WORK, BAD) for w in ways):
        root = top / f"root{number}"
        _opened(root)
        ways[way](root / part)
        chosen = _opened(root).folder
        trials.check(chosen.root != root, f"{part or 'root'}: {way}: accepted")


def links(trials: Trials, top: Path) -> None:
    """Entries, texts and locks that lead elsewhere: nothing is read there, nothing written."""
    victim = top / "victim"
    for number in range(20):
        cache, key = _opened(top / f"links{number}"), bytes([number]) * 32
        path = cache.path(Kind.LIBRARY, key)
        assert path is not None and cache.folder.root is not None
        victim.write_bytes(b"precious")
        root = cache.folder.root
        planted = (path, path.with_suffix(".c"), root / WORK / f"{key.hex()}.lock", root / GROWTH)
        for target in planted if number % 2 else planted[number // 2 % 4 :][:1]:
            os.link(victim, target) if number % 4 == 3 else target.symlink_to(victim)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = cache.load(Kind.LIBRARY, key)
            with cache.claim(key, 0.01):
                cache.store(Kind.LIBRARY, key, PAYLOAD, "int x;")
            again = cache.load(Kind.LIBRARY, key)
        right = found is None and again in (None, PAYLOAD) and victim.read_bytes() == b"precious"
        trials.check(right, f"links of kind {number}: {victim.read_bytes()[:20]!r}")


def forgeries(trials: Trials, top: Path, count: int) -> None:
    """A shared folder in which somebody without the secret writes what looks like entries."""
    shared = top / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    cache, chance, machine = _opened(shared, top / "secret"), random.Random(5), this_machine()
    trials.check(cache.folder.root == shared, "the shared folder was not taken")
    key = bytes(32)
    path = cache.store(Kind.LIBRARY, key, PAYLOAD)
    assert path is not None
    genuine = path.read_bytes()
    for number in range(count):
        forged = PAYLOAD[:-1] + bytes([chance.randrange(255)])
        made = (
            footer(Kind.LIBRARY, key, [forged], machine),
            footer(Kind.LIBRARY, key, [forged], machine, chance.randbytes(64)),
            genuine[len(PAYLOAD) :],
            footer(Kind.LIBRARY, key, [forged], machine)[:-32] + genuine[-32:],
        )[number % 4]
        path.write_bytes(forged + made)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trials.check(cache.load(Kind.LIBRARY, key) is None, f"forgery {number} was accepted")
    path.write_bytes(genuine)
    trials.check(cache.load(Kind.LIBRARY, key) == PAYLOAD, "the genuine entry was refused")


def swaps(trials: Trials, top: Path, count: int) -> None:
    """Two entries that changed places."""
    cache = Cache(find_cache_folder(top / "swaps"))
    keys = [number.to_bytes(32, "little") for number in range(count)]
    paths = [cache.store(Kind.LIBRARY, key, key * 8) for key in keys]
    random.Random(3).shuffle(keys)
    contents = [path.read_bytes() for path in paths if path]
    for path, content in zip(paths, (*contents[1:], contents[0])):
        assert path is not None
        path.write_bytes(content)
    for key in keys:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trials.check(cache.load(Kind.LIBRARY, key) is None, f"the entry of another key than {key[:2].hex()}")


def run(full: bool) -> list[Row]:
    refused = Trials("G14", "cache folders and entries that are links, foreign, or writable: refused")
    forged = Trials("G14", "entries forged in a shared folder, entries that changed places: accepted never")
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = str(top / "own")
        try:
            folders(refused, top)
            links(refused, top)
            forgeries(forged, top, 1000 if full else 100)
            swaps(forged, top, 1000 if full else 50)
        finally:
            os.environ.pop("XDG_CACHE_HOME") if before is None else os.environ.update(XDG_CACHE_HOME=before)
    return [refused.row(), forged.row()]
