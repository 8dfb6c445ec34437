"""Upkeep of the cache: trimming by last use whatever clocks say, clearing, verifying; a hit looks at nothing else."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from arignote.cbackend.cache.entry import FOOTER_BYTES, Kind
from arignote.cbackend.cache.folder import ENTRIES, find_cache_folder
from arignote.cbackend.cache.machine import Machine
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.cbackend.cache.upkeep import clear, entries, trim, trim_if_due, verify

KEY, OTHER = bytes(range(32)), bytes(32)
MACHINE = Machine(b"m" * 8, 0b1011)
PAYLOAD = bytes(range(256)) * 20


@pytest.fixture
def filled(cache) -> Iterator[Cache]:
    for index in range(20):
        path = cache.store(Kind.LIBRARY, bytes([index]) * 32, bytes(1000), source="c" * 100)
        os.utime(path, (0, 1_000_000_000 + index * 100_000))
    return cache


def test_trim_removes_the_least_recently_used(filled):
    size = 1100 + FOOTER_BYTES
    result = trim(filled, 5 * size)
    assert (result.removed, result.kept, result.kept_bytes) == (15, 5, 5 * size)
    assert [info.key[0] for info in entries(filled)] == [15, 16, 17, 18, 19]
    assert len(list((filled.folder.root / ENTRIES).iterdir())) == 10


def test_many_processes_that_store_a_little_trim_together(tmp_path):
    """The folder, not the process, counts stored entries."""
    folder, capacity = find_cache_folder(tmp_path / "cache"), 40 * 8192
    for number in range(120):
        each = Cache(folder, capacity)
        each.store(Kind.LIBRARY, bytes([number]) * 32, bytes(8000))
        trim_if_due(each)
        assert sum(info.size for info in entries(each)) <= capacity
    kept = [info.key[0] for info in entries(each)]
    assert len(kept) >= 30 and 119 in kept


def test_a_use_saves_an_entry_from_trimming(filled):
    assert filled.load(Kind.LIBRARY, bytes(32)) is not None
    trim(filled, 1100 + FOOTER_BYTES)
    assert [info.key[0] for info in entries(filled)] == [0]


def test_stamps_of_the_future_delete_nothing_alive(filled):
    for info in entries(filled):
        os.utime(info.path, (0, time.time() + 10 * 365 * 86400))
    assert trim(filled).removed == 0


def test_clear_leaves_nothing(filled):
    filled.path(Kind.LIBRARY, bytes(32)).write_bytes(b"")
    with pytest.warns(CacheWarning):
        filled.load(Kind.LIBRARY, bytes(32))
    assert clear(filled).removed == 19
    assert not [path for path in filled.folder.root.rglob("*") if path.is_file()]


def test_verify_counts_and_sets_aside(filled):
    filled.path(Kind.LIBRARY, b"\3" * 32).write_bytes(b"damaged")
    with pytest.warns(CacheWarning):
        assert verify(filled) == (19, [(b"\3" * 32).hex() + ".so"])
    assert verify(filled) == (19, [])


def test_a_hit_does_not_scan_the_folder(filled, monkeypatch):
    def scan(*_: object) -> None:
        raise AssertionError("scanned")

    monkeypatch.setattr(os, "scandir", scan)
    monkeypatch.setattr(os, "listdir", scan)
    assert filled.load(Kind.LIBRARY, b"\1" * 32) is not None
