"""The cache: damage is a miss that heals, foreign folders are refused, no failure of the disk reaches the caller."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from arignote.cbackend.build.compiler_process import CompileError
from arignote.cbackend.build.work_folder import in_work_folder
from arignote.cbackend.cache import machine
from arignote.cbackend.cache import store as cache_module
from arignote.cbackend.cache.entry import DamagedError, ForeignError, Kind, footer, unpack
from arignote.cbackend.cache.files import opened_folder, read_whole
from arignote.cbackend.cache.folder import BAD, ENTRIES, WORK, find_cache_folder
from arignote.cbackend.cache.machine import Machine
from arignote.cbackend.cache.scratch import scratch_folder, sweep
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.cbackend.cache.upkeep import entries, trim

KEY, OTHER = bytes(range(32)), bytes(32)
MACHINE = Machine(b"m" * 8, 0b1011)
PAYLOAD = bytes(range(256)) * 20


def pack(kind, key, payload, machine, secret=b""):
    """The bytes of an entry."""
    return payload + footer(kind, key, (payload,), machine, secret)


# ---- The format ----------------------------------------------------------------------------------------------------


def test_entry_round_trip():
    assert unpack(pack(Kind.LIBRARY, KEY, PAYLOAD, MACHINE), Kind.LIBRARY, KEY, MACHINE) == PAYLOAD
    assert unpack(pack(Kind.RECORD, KEY, b"", MACHINE), Kind.RECORD, KEY, MACHINE) == b""


def test_a_payload_in_parts_is_one_payload():
    parts = (PAYLOAD[:7], memoryview(PAYLOAD)[7:70], b"", PAYLOAD[70:])
    assert footer(Kind.RECORD, KEY, parts, MACHINE) == footer(Kind.RECORD, KEY, (PAYLOAD,), MACHINE)


@pytest.mark.parametrize(("kind", "key"), [(Kind.RECORD, KEY), (Kind.LIBRARY, OTHER)])
def test_entry_of_another_kind_or_key_is_refused(kind, key):
    with pytest.raises(DamagedError):
        unpack(pack(Kind.LIBRARY, KEY, PAYLOAD, MACHINE), kind, key, MACHINE)


def test_an_entry_runs_where_no_extension_is_missing():
    """Each bit that the builder had and the processor at hand lacks is a miss; more extensions do no harm."""
    for bit in range(64):
        entry = pack(Kind.LIBRARY, KEY, PAYLOAD, Machine(b"m" * 8, 1 << bit))
        for more in (0, MACHINE.extensions, (1 << 64) - 1):
            assert unpack(entry, Kind.LIBRARY, KEY, Machine(b"m" * 8, 1 << bit | more)) == PAYLOAD
        for lacking in (0, (1 << 64) - 1 ^ 1 << bit):
            with pytest.raises(ForeignError):
                unpack(entry, Kind.LIBRARY, KEY, Machine(b"m" * 8, lacking))
    with pytest.raises(ForeignError):
        unpack(pack(Kind.LIBRARY, KEY, PAYLOAD, MACHINE), Kind.LIBRARY, KEY, Machine(b"n" * 8, 0b1011))


def test_tables_of_extensions_fit_their_field():
    for table in (machine.X86_EXTENSIONS, machine.ARM_EXTENSIONS):
        assert len(set(table)) == len(table) <= 64
    assert machine.this_machine().runs(machine.this_machine())


def test_an_entry_is_sound_only_under_the_secret_that_sealed_it():
    for secret, other in itertools.permutations((b"", b"one" * 20, b"two" * 20), 2):
        entry = pack(Kind.LIBRARY, KEY, PAYLOAD, MACHINE, secret)
        assert unpack(entry, Kind.LIBRARY, KEY, MACHINE, secret) == PAYLOAD
        with pytest.raises(DamagedError):
            unpack(entry, Kind.LIBRARY, KEY, MACHINE, other)


def test_every_single_bit_flip_is_detected():
    whole = pack(Kind.LIBRARY, KEY, b"payload of twenty-four..", MACHINE)
    for bit in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(DamagedError):
            unpack(bytes(flipped), Kind.LIBRARY, KEY, MACHINE)


def test_every_truncation_is_detected():
    whole = pack(Kind.LIBRARY, KEY, b"payload of twenty-four..", MACHINE)
    for length in range(len(whole)):
        with pytest.raises(DamagedError):
            unpack(whole[:length], Kind.LIBRARY, KEY, MACHINE)


def test_appended_bytes_are_detected():
    with pytest.raises(DamagedError):
        unpack(pack(Kind.LIBRARY, KEY, PAYLOAD, MACHINE) + b"\0", Kind.LIBRARY, KEY, MACHINE)


# ---- Load, store, heal ---------------------------------------------------------------------------------------------


def _damage(content: bytes, how: str, random_: random.Random) -> bytes:
    at = random_.randrange(len(content))
    if how == "cut":
        return content[:at]
    if how == "zero tail":
        return content[:at] + bytes(len(content) - at) if any(content[at:]) else content[:-200]
    if how == "bit":
        return content[:at] + bytes([content[at] ^ 1 << random_.randrange(8)]) + content[at + 1 :]
    page = at // 512 * 512
    return content[:page] + b"\xaa" * min(512, len(content) - page) + content[page + 512 :]


@pytest.mark.parametrize("how", ["cut", "zero tail", "bit", "page"])
def test_random_damage_is_a_miss_that_heals(cache, how):
    random_ = random.Random(7)
    path = cache.store(Kind.LIBRARY, KEY, PAYLOAD)
    whole = path.read_bytes()
    for _ in range(60):
        path.write_bytes(_damage(whole, how, random_))
        with pytest.warns(CacheWarning, match="moved aside"):
            assert cache.load(Kind.LIBRARY, KEY) is None
        assert not path.exists()
        assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) == path
        assert cache.load(Kind.LIBRARY, KEY) == PAYLOAD
    assert len(list((cache.folder.root / BAD).iterdir())) == 16


def test_swapped_entries_are_both_misses(cache):
    first, second = cache.store(Kind.LIBRARY, KEY, PAYLOAD), cache.store(Kind.LIBRARY, OTHER, PAYLOAD[::-1])
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)
    for key in (KEY, OTHER):
        with pytest.warns(CacheWarning, match="another key"):
            assert cache.load(Kind.LIBRARY, key) is None


def test_an_entry_of_another_machine_is_a_quiet_miss_that_keeps_the_entry(tmp_path):
    folder = find_cache_folder(tmp_path / "cache")
    first, second = Cache(folder, machine=MACHINE), Cache(folder, machine=Machine(b"m" * 8, 0b0011))
    first.store(Kind.LIBRARY, KEY, PAYLOAD)
    assert second.load(Kind.LIBRARY, KEY) is None
    assert first.load(Kind.LIBRARY, KEY) == PAYLOAD
    second.store(Kind.LIBRARY, KEY, PAYLOAD)  # for less than the first machine can do: both run it
    assert first.load(Kind.LIBRARY, KEY) == second.load(Kind.LIBRARY, KEY) == PAYLOAD


def test_entries_are_private_files(cache):
    path = cache.store(Kind.LIBRARY, KEY, PAYLOAD, source="int x;")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.with_suffix(".c").read_text() == "int x;"
    assert all(folder.stat().st_mode & 0o777 == 0o700 for folder in (path.parent, path.parent.parent))
    assert not list((cache.folder.root / WORK).iterdir())


@pytest.mark.parametrize("plant", ["link", "hard link", "group", "others", "folder", "fifo"])
def test_planted_things_are_moved_aside_and_never_followed(cache, tmp_path, plant):
    path = cache.store(Kind.LIBRARY, KEY, PAYLOAD)
    real = tmp_path / "real"
    path.rename(real)
    if plant == "link":
        path.symlink_to(real)
    elif plant == "hard link":
        os.link(real, path)
    elif plant in ("group", "others"):  # may write
        path.write_bytes(real.read_bytes())
        path.chmod(0o620 if plant == "group" else 0o602)
    elif plant == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    before = real.read_bytes()
    with pytest.warns(CacheWarning):
        assert cache.load(Kind.LIBRARY, KEY) is None
    assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) == path
    assert cache.load(Kind.LIBRARY, KEY) == PAYLOAD
    assert real.read_bytes() == before


def test_a_planted_link_as_entries_folder_is_refused(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    root = tmp_path / "cache"
    root.mkdir(mode=0o700)
    (root / ENTRIES).symlink_to(elsewhere)
    folder = find_cache_folder(root)
    assert folder.root != root
    assert str(root) in folder.problems[0]
    assert not list(elsewhere.iterdir())


def test_a_file_that_comes_in_parts_is_read_whole(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(bytes(range(256)) * 100)
    (tmp_path / "file").chmod(0o600)
    read = os.read
    with monkeypatch.context() as patched, opened_folder(tmp_path, shared=True) as folder:
        patched.setattr(os, "read", lambda descriptor, count: read(descriptor, min(count, 1000)))
        assert read_whole("file", folder)[0] == bytes(range(256)) * 100


@pytest.mark.parametrize("code", [errno.EMFILE, errno.EIO, errno.ESTALE, errno.EACCES, errno.ENOMEM])
def test_a_system_error_on_load_is_a_quiet_miss_that_keeps_the_entry(cache, monkeypatch, code):
    path = cache.store(Kind.LIBRARY, KEY, PAYLOAD)

    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patched:
        patched.setattr(cache_module, "read_whole", fail)
        assert cache.load(Kind.LIBRARY, KEY) is None
    assert path.exists()
    assert cache.load(Kind.LIBRARY, KEY) == PAYLOAD


@pytest.mark.parametrize("call", ["write", "fchmod", "replace", "mkdir", "open"])
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EBUSY])
def test_a_failing_store_warns_once_and_leaves_nothing(cache, monkeypatch, call, code):
    def fail(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patched:
        if call == "write":
            patched.setattr(cache_module, "write_whole", fail)
        else:
            patched.setattr(os, call, fail)
        with pytest.warns(CacheWarning, match="could not be kept"):
            assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) is None
        assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) is None  # a second warning would be an error here
    assert not list((cache.folder.root / ENTRIES).iterdir())
    assert cache.load(Kind.LIBRARY, KEY) is None
    assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) is not None


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="needs a file system that can be filled")
def test_a_full_disk_leaves_no_entry(tmp_path):
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(mount)]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs leave to mount")
    try:
        cache = Cache.open(mount / "cache")
        with pytest.warns(CacheWarning, match="No space left"):
            assert cache.store(Kind.LIBRARY, KEY, PAYLOAD * 100) is None
        assert not list((mount / "cache" / ENTRIES).iterdir())
        assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) is not None
    finally:
        subprocess.run(["umount", str(mount)], check=True)


# ---- Where it lies -------------------------------------------------------------------------------------------------


def test_the_environment_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ARIGNOTE_CACHE", str(tmp_path / "a"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert find_cache_folder().root == tmp_path / "a"
    monkeypatch.delenv("ARIGNOTE_CACHE")
    assert find_cache_folder().root == tmp_path / "x" / "arignote"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_cache_folder().root == tmp_path / ".cache" / "arignote"


@pytest.mark.parametrize("defect", ["others may write", "link", "file", "foreign"])
def test_a_folder_that_is_not_ours_is_refused_with_one_warning(tmp_path, monkeypatch, defect):
    asked, fallback = tmp_path / "asked", tmp_path / "fallback"
    monkeypatch.setenv("XDG_CACHE_HOME", str(fallback))
    if defect == "link":
        (tmp_path / "target").mkdir(mode=0o700)
        asked.symlink_to(tmp_path / "target")
    elif defect == "file":
        asked.write_text("")
    else:
        asked.mkdir(mode=0o700)
    if defect == "others may write":
        asked.chmod(0o777)
    if defect == "foreign":
        if os.geteuid():
            pytest.skip("needs root to give a folder away")
        os.chown(asked, 12345, 12345)
    with pytest.warns(CacheWarning, match="refused") as warned:
        cache = Cache.open(asked)
    assert len(warned) == 1
    assert cache.folder.root == fallback / "arignote"
    assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) is not None


def test_without_any_folder_it_still_works_in_private_ones(tmp_path, monkeypatch):
    blocker = tmp_path / "file"
    blocker.write_text("")
    for name in ("ARIGNOTE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(blocker / "below"))
    with pytest.warns(CacheWarning, match="not kept"):
        cache = Cache.open()
    assert cache.folder.root is None
    assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) is None
    assert cache.load(Kind.LIBRARY, KEY) is None
    assert entries(cache) == []
    assert trim(cache).removed == 0
    with cache.claim(KEY, 1.0), scratch_folder(cache.work_parents()) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700


def test_no_home_and_no_user_entry(tmp_path, monkeypatch):
    def no_home() -> Path:
        raise RuntimeError("could not determine home directory")

    monkeypatch.delenv("ARIGNOTE_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", staticmethod(no_home))
    with pytest.warns(CacheWarning, match="home"):
        assert Cache.open().folder.root is None


def test_a_read_only_cache_still_serves(tmp_path, monkeypatch):
    path = Cache.open(tmp_path / "cache").store(Kind.LIBRARY, KEY, PAYLOAD)
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere: only the question can be answered
    with pytest.warns(CacheWarning, match="read-only"):
        cache = Cache.open(tmp_path / "cache")
    assert cache.load(Kind.LIBRARY, KEY) == PAYLOAD
    assert cache.store(Kind.LIBRARY, OTHER, PAYLOAD) is None
    assert path.exists()


def test_a_read_only_cache_is_read_behind_one_of_its_own(tmp_path, monkeypatch):
    Cache.open(tmp_path / "warm").store(Kind.LIBRARY, KEY, PAYLOAD)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    real = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "warm" not in str(path) and real(path, mode))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache = Cache.open(tmp_path / "warm")
        assert cache.load(Kind.LIBRARY, KEY) == PAYLOAD and cache.load(Kind.RECORD, KEY) is None
        assert cache.store(Kind.LIBRARY, OTHER, PAYLOAD) == tmp_path / "own/arignote/entries" / f"{OTHER.hex()}.so"
        assert cache.load(Kind.LIBRARY, OTHER) == PAYLOAD and not cache.has_no_libraries()
    (damaged,) = (tmp_path / "warm" / ENTRIES).glob("*.so")
    damaged.write_bytes(damaged.read_bytes()[:-1])
    with pytest.warns(CacheWarning, match="it is compiled anew"):
        assert cache.load(Kind.LIBRARY, KEY) is None
    assert damaged.exists()


def test_files_of_root_are_trusted_and_those_of_others_are_not(tmp_path, monkeypatch):
    """An image of a container is made by root, and run by another user."""
    Cache.open(tmp_path / "warm").store(Kind.LIBRARY, KEY, PAYLOAD)
    owner = os.stat(tmp_path).st_uid
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    real, access = os.fstat, os.access
    monkeypatch.setattr(os, "access", lambda path, mode: "warm" not in str(path) and access(path, mode))
    for other, found in ((0, PAYLOAD), (owner + 1, None)):

        def status(descriptor, other=other):
            fields = list(real(descriptor))
            fields[stat.ST_UID] = other if "warm" in os.readlink(f"/proc/self/fd/{descriptor}") else fields[stat.ST_UID]
            return os.stat_result(fields)

        monkeypatch.setattr(os, "fstat", status)
        with pytest.warns(CacheWarning, match="owned by user") if found is None else contextlib.nullcontext():
            assert Cache.open(tmp_path / "warm").load(Kind.LIBRARY, KEY) == found


def test_a_folder_that_was_deleted_is_made_again(tmp_path):
    cache = Cache.open(tmp_path / "cache")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for key in (KEY, OTHER, KEY):
            assert cache.store(Kind.LIBRARY, key, PAYLOAD, "text") is not None
            assert cache.load(Kind.LIBRARY, key) == PAYLOAD
            with cache.claim(key, 0.1):
                shutil.rmtree(tmp_path / "cache")
        (tmp_path / "cache").symlink_to(tmp_path)  # planted meanwhile
    with pytest.warns(CacheWarning, match="could not be kept"):
        assert cache.store(Kind.LIBRARY, KEY, PAYLOAD) is None


def test_a_compiler_whose_folder_was_deleted_works_in_another(tmp_path):
    seen = []

    def work(folder):
        seen.append(folder.parent)
        if len(seen) == 1:
            shutil.rmtree(folder.parent)
            raise CompileError("no such file")
        return "made"

    (tmp_path / "first").mkdir()
    assert in_work_folder([tmp_path / "first", tmp_path], work) == "made"
    assert seen == [tmp_path / "first", tmp_path]
    with pytest.raises(CompileError, match="wrong"):
        in_work_folder([tmp_path], lambda folder: (_ for _ in ()).throw(CompileError("wrong")))


# ---- Locks, dead owners --------------------------------------------------------------------------------------------


_HOLD = """
import fcntl, os, sys, time
fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(3600)
"""

_DIE_AT_WORK = """
import os, signal, sys
from pathlib import Path
from arignote.cbackend.cache.machine import Machine
from arignote.cbackend.cache.scratch import scratch_folder
with scratch_folder((Path(sys.argv[1]),)) as folder:
    (folder / "code.c").write_text("x")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_claim_that_nobody_gives_up_is_waited_for_only_so_long(cache):
    lock = str(cache.folder.root / WORK / f"{KEY.hex()}.lock")
    holder = subprocess.Popen([sys.executable, "-c", _HOLD, lock], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with cache.claim(KEY, 0.2):
            assert holder.poll() is None
    finally:
        holder.kill()
        holder.communicate()


def test_a_claim_ends_as_soon_as_the_entry_is_there(cache):
    with cache.claim(KEY, 5.0):
        cache.store(Kind.LIBRARY, KEY, PAYLOAD)
        with cache.claim(KEY, 24 * 3600.0):  # it does not wait for so long
            pass


def test_work_of_the_dead_is_swept_and_of_the_living_is_not(cache):
    work = cache.folder.root / WORK
    assert subprocess.run([sys.executable, "-c", _DIE_AT_WORK, str(work)], check=False).returncode == -signal.SIGKILL
    assert len(list(work.iterdir())) == 1
    with scratch_folder((work,)) as living:
        assert sweep(work) == 1
        assert list(work.iterdir()) == [living]
    assert not list(work.iterdir())


def test_a_folder_that_cannot_be_opened_is_not_left_behind(tmp_path, monkeypatch):
    def no_descriptor(*args):
        raise OSError(errno.EMFILE, "Too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no_descriptor)
        patch.setattr(os, "scandir", no_descriptor)
        with pytest.raises(OSError, match="no folder to work in"), scratch_folder((tmp_path,)):
            pass
    assert not list(tmp_path.iterdir())


# ---- A shared folder -------------------------------------------------------------------------------------------------


@pytest.fixture
def shared(tmp_path) -> Path:
    """A folder into which everybody may write, with an entry in it."""
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def test_a_shared_folder_needs_a_secret(shared, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    with pytest.warns(CacheWarning, match="writable by others"):
        assert Cache.open(shared).folder.root == tmp_path / "own" / "arignote"
    cache = Cache.open(shared, key_file=tmp_path / "secret")
    assert cache.folder.root == shared
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    path = cache.store(Kind.LIBRARY, KEY, PAYLOAD)
    assert path.stat().st_mode & 0o777 == 0o666 and path.parent.stat().st_mode & 0o7777 == 0o1777
    assert Cache.open(shared, key_file=tmp_path / "secret").load(Kind.LIBRARY, KEY) == PAYLOAD
    assert shared / WORK not in cache.work_parents()  # no compiler runs where others may write


def test_forged_entries_of_a_shared_folder_are_misses(shared, tmp_path):
    cache = Cache.open(shared, key_file=tmp_path / "secret")
    path = cache.store(Kind.LIBRARY, KEY, PAYLOAD)
    this = machine.this_machine()
    for forged in (pack(Kind.LIBRARY, KEY, PAYLOAD, this), pack(Kind.LIBRARY, KEY, PAYLOAD, this, b"guess" * 8)):
        path.write_bytes(forged)
        with pytest.warns(CacheWarning, match="seal"):
            assert cache.load(Kind.LIBRARY, KEY) is None
    if os.geteuid() == 0:  # another's file is fine if the seal is right
        path.write_bytes(pack(Kind.LIBRARY, KEY, PAYLOAD, this, (tmp_path / "secret").read_bytes()))
        os.chown(path, 12345, 12345)
        assert cache.load(Kind.LIBRARY, KEY) == PAYLOAD


@pytest.mark.parametrize("defect", ["others may read", "short", "link"])
def test_a_secret_that_is_none_is_refused_and_the_folder_with_it(shared, tmp_path, monkeypatch, defect):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(3 if defect == "short" else 64))
    secret.chmod(0o644 if defect == "others may read" else 0o600)
    if defect == "link":
        secret.rename(tmp_path / "elsewhere")
        secret.symlink_to(tmp_path / "elsewhere")
    with pytest.warns(CacheWarning, match="secret"):
        assert Cache.open(shared, key_file=secret).folder.root == tmp_path / "own" / "arignote"


def test_cache_code_never_unpickles_or_evaluates():
    rooms = Path(cache_module.__file__).parent.parent
    files = sorted([*(rooms / "cache").glob("*.py"), *(rooms / "build").glob("*.py")])
    assert len(files) > 10
    for name in files:
        text = name.read_text()
        assert not re.search(r"import (pickle|marshal|shelve|dill)|\b(eval|exec)\(", text), name


def test_a_large_payload_comes_back_whole_or_not_at_all(tmp_path):
    """One of more bytes than are read into an array of huge pages."""
    cache = Cache.open(tmp_path / "cache")
    payload = bytes(range(256)) * (1 << 15)
    path = cache.store(Kind.RECORD, KEY, [payload, memoryview(b"end")])
    found = cache.view(Kind.RECORD, KEY)
    assert found == payload + b"end" and found.readonly and cache.load(Kind.RECORD, KEY) == found
    whole = path.read_bytes()
    for spoiled in (whole[:-1], whole[:100] + b"!" + whole[101:], whole + b"\0"):
        path.write_bytes(spoiled)
        with pytest.warns(CacheWarning):
            assert cache.load(Kind.RECORD, KEY) is None
        path.write_bytes(whole)
