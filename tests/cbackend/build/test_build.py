"""Build: C text to a library, compiled or from the cache; it is tried before it is loaded; Ctrl-C, limits, disks."""

from __future__ import annotations

import itertools
import os
import shlex
import signal
import stat
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import small_programs
from isolation import child_processes
from small_programs import HEAD, all_end, answer, fake, returning

from arignote.cbackend.build import build as build_module
from arignote.cbackend.build import compilation
from arignote.cbackend.build import toolchain as toolchain_module
from arignote.cbackend.build.build import build, build_all
from arignote.cbackend.build.compilation import compile_text, library_key
from arignote.cbackend.build.compiler_process import CompileError, run
from arignote.cbackend.build.reproduce import reproduce
from arignote.cbackend.build.toolchain import probe_program
from arignote.cbackend.build.trial import defect
from arignote.cbackend.build.units import Unit, text_digest
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.folder import ENTRIES, WORK, CacheFolder
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.cbackend.cache.upkeep import clear, entries

# ---- Build ---------------------------------------------------------------------------------------------------------


def test_cold_then_warm(toolchain, cache):
    cold = build(returning(42), toolchain, cache)
    assert (answer(cold), cold.from_cache) == (42, False)
    assert cold.seconds > 0
    assert cold.source_path.read_text() == returning(42)
    key = cold.key
    del cold
    warm = build(returning(42), toolchain, cache)
    assert (answer(warm), warm.from_cache, warm.seconds, warm.key) == (42, True, 0.0, key)


def test_libraries_of_reused_descriptors_are_not_mixed_up(toolchain, cache):
    libraries = [build(returning(number), toolchain, cache) for number in range(8)]
    assert [answer(library) for library in libraries] == list(range(8))
    del libraries
    held = []
    for number in (3, 1, 2, 0):  # loaded again, each through the descriptor number of the one before
        held.append(build(returning(number), toolchain, cache))
    assert [answer(library) for library in held] == [3, 1, 2, 0]


def test_equal_text_is_mapped_once(toolchain, cache):
    first, second = build(returning(1), toolchain, cache), build(returning(1), toolchain, cache)
    assert first.image is second.image


def test_loading_and_dropping_leaks_nothing(toolchain, cache):
    build(returning(5), toolchain, cache)
    descriptors, maps = len(os.listdir("/proc/self/fd")), len(Path("/proc/self/maps").read_text().splitlines())
    for _ in range(300):
        assert answer(build(returning(5), toolchain, cache)) == 5
    assert len(os.listdir("/proc/self/fd")) == descriptors
    assert len(Path("/proc/self/maps").read_text().splitlines()) <= maps + 10


def test_side_by_side(toolchain, cache):
    texts = [returning(number) for number in (1, 2, 3, 2)]
    built = build_all(texts, toolchain, cache)
    assert [answer(library) for library in built] == [1, 2, 3, 2]
    assert not any(library.from_cache for library in built)
    del built
    assert all(library.from_cache for library in build_all(texts, toolchain, cache))
    assert not list((cache.folder.root / WORK).iterdir())


def test_side_by_side_names_the_one_that_fails(toolchain, cache):
    with pytest.raises(CompileError, match="no_such_thing"):
        build_all([returning(1), "int x = no_such_thing;"], toolchain, cache)
    assert not list((cache.folder.root / WORK).iterdir())


def test_equal_text_gives_equal_bytes(toolchain, cache, tmp_path):
    elsewhere = Cache.open(tmp_path / "quite" / "another folder")
    assert compile_text(returning(1), toolchain, cache) == compile_text(returning(1), toolchain, elsewhere)


def test_the_key_covers_text_toolchain_and_interface(toolchain, monkeypatch):
    changed = [
        replace(toolchain, version="another"), replace(toolchain, flags=(*toolchain.flags, "-g")),
        replace(toolchain, features=("-mother",)), replace(toolchain, link_flags=()),
        replace(toolchain, files=(("/usr/bin/cc", 1, 2),)),
    ]  # fmt: skip
    keys = {library_key(returning(1), one) for one in (toolchain, *changed)}
    assert len(keys | {library_key(returning(2), toolchain)}) == 7
    assert library_key(returning(1), replace(toolchain)) in keys
    monkeypatch.setattr(compilation, "_interface", lambda: "another")
    assert library_key(returning(1), toolchain) not in keys


def test_a_unit_is_kept_by_its_macros(tmp_path, cache):
    (tmp_path / "unit.c").write_text("int answer = ANSWER;\n")
    one, two = (Unit(tmp_path / "unit.c", {"ANSWER": number}) for number in "12")
    for _ in range(2):  # made, then read
        assert one.digest(cache) == text_digest(one.text()) != two.digest(cache) == text_digest(two.text())


def test_an_error_shows_the_compilers_first_lines(toolchain, cache):
    with pytest.raises(CompileError, match=r"code\.c:\d+.*error.*undeclared") as caught:
        build(HEAD + "i32 ag_entry(ag_call *call) { return undeclared_thing; }", toolchain, cache)
    assert len(str(caught.value).splitlines()) <= 8
    assert str(cache.folder.root) not in str(caught.value)
    assert not list((cache.folder.root / ENTRIES).iterdir())


def test_threads_that_build_the_same_and_different_texts(toolchain, cache):
    results: list[int] = []

    def work(number: int) -> None:
        results.append(answer(build(returning(number % 3), toolchain, cache)))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_a_library_that_the_loader_refuses_is_built_anew(toolchain, cache):
    needs_a_stranger = HEAD + "void stranger(void);\ni32 ag_entry(ag_call *call) { stranger(); return call == 0; }\n"
    payload = compile_text(needs_a_stranger, toolchain, cache)
    cache.store(Kind.LIBRARY, library_key(returning(9), toolchain), payload)
    library = build(returning(9), toolchain, cache)
    assert (answer(library), library.from_cache) == (9, False)


# ---- Damage --------------------------------------------------------------------------------------------------------

_DAMAGED_RUN = """
import sys, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import random
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from small_programs import answer, returning
cache = Cache.open(sys.argv[2])
toolchain = Toolchain.find(cache)
path = build(returning(42), toolchain, cache).path
whole, random_ = path.read_bytes(), random.Random(int(sys.argv[3]))
for _ in range(40):
    at, kind = random_.randrange(len(whole)), random_.randrange(4)
    if kind == 0: bad = whole[:at]
    elif kind == 1: bad = whole[:at] + bytes([whole[at] ^ 1 << random_.randrange(8)]) + whole[at + 1:]
    elif kind == 2: bad = whole[:at] + bytes(len(whole) - at)
    else: bad = whole[: at & -4096] + bytes(4096) + whole[(at & -4096) + 4096 :]
    path.write_bytes(bad)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        library = build(returning(42), toolchain, cache)
    assert answer(library) == 42
    assert bad == whole or (not library.from_cache and len(caught) == 1), (len(caught), library)
    del library
    assert path.read_bytes() == whole
print("survived")
"""


def test_a_damaged_library_never_reaches_the_loader(probed, tmp_path):
    """In a child: without verification most of these kill the process inside dlopen."""
    done = subprocess.run(
        [sys.executable, "-c", _DAMAGED_RUN, str(Path(small_programs.__file__).parent), str(probed.folder.root), "1"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.stdout == "survived\n", done.stderr[-2000:]


# ---- Trials, reproduction -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("body", "reason"), [
    ("__attribute__((constructor)) static void dies(void) { __builtin_trap(); }", "SIG(ILL|TRAP)"),
    ("i32 missing_function(void); i32 (*const used)(void) = missing_function;", "undefined symbol|missing_function"),
])  # fmt: skip
def test_a_library_that_kills_its_first_process_does_not_kill_ours(toolchain, cache, body, reason):
    with pytest.raises(CompileError, match=reason):
        build(returning(1) + body, toolchain, cache)
    assert not [info for info in entries(cache) if info.kind is Kind.LIBRARY]


def test_a_library_whose_entry_crashes_on_empty_arrays_is_not_published(toolchain, cache):
    text = f"{HEAD}i32 ag_entry(ag_call *call) {{ return call ? *(volatile i32 *)8 : 0; }}\n"
    with pytest.raises(CompileError, match="SIGSEGV"):
        build(text, toolchain, cache)


def test_the_probe_is_made_anew_after_a_trim(toolchain, probed, monkeypatch):
    program = probe_program(toolchain, probed)
    clear(probed)
    assert probe_program(toolchain, probed) == program  # this process remembers
    monkeypatch.setattr(toolchain_module, "_programs", {})
    assert defect(compile_text(returning(5), toolchain, probed), toolchain, probed) is None
    assert list(toolchain_module._programs.values()) == [program]


def test_libraries_are_compiled_again_and_compared(toolchain, tmp_path):
    cache = Cache.open(tmp_path / "cache")
    for number in (1, 2, 3, 4):
        build(returning(number), toolchain, cache)
    one, two, three, four = (cache.path(Kind.LIBRARY, library_key(returning(n), toolchain)) for n in (1, 2, 3, 4))
    cache.store(Kind.LIBRARY, bytes.fromhex(two.stem), compile_text(returning(9), toolchain, cache))  # not its code
    three.with_suffix(".c").unlink()
    four.with_suffix(".c").write_text(returning(5))
    with pytest.warns(CacheWarning, match="other code"):
        found = {entry.info.path: entry.equal for entry in reproduce(cache, toolchain)}
    assert found == {one: True, two: False, three: None, four: None}
    assert one.exists() and not two.exists() and three.exists() and four.exists()


# ---- Two units -----------------------------------------------------------------------------------------------------

_IN_UNITS = """
#include <stdint.h>
#ifdef AG_UNIT
#define AG_SHARED __attribute__((visibility("hidden")))
#else
#define AG_SHARED static
#endif
#if AG_UNIT != 2
AG_SHARED int32_t half(void) { return %s; }
#else
AG_SHARED int32_t half(void);
#endif
#if AG_UNIT != 1
int32_t ag_entry(void *call) { (void)call; return 2 * half() %s; }
#endif
"""


@pytest.mark.usefixtures("in_halves")
def test_a_file_in_two_units_is_one_library(toolchain, cache):
    assert answer(build(_IN_UNITS % (21, ""), toolchain, cache)) == 42
    assert compile_text(_IN_UNITS % (21, ""), toolchain, cache) == compile_text(_IN_UNITS % (21, ""), toolchain, cache)


@pytest.mark.usefixtures("in_halves")
@pytest.mark.parametrize("wrong", [("undeclared", ""), ("1", "+ undeclared"), ("1", "+ missing()")])
def test_a_mistake_in_either_unit_is_reported(wrong, toolchain, cache):
    with pytest.raises(CompileError, match=r"undeclared|missing"):
        build("int32_t missing(void);\n".replace("int32_t", "int") + _IN_UNITS % wrong, toolchain, cache)
    assert answer(build(_IN_UNITS % (4, ""), toolchain, cache)) == 8


# ---- Ctrl-C, time limit, disk --------------------------------------------------------------------------------------


def test_ctrl_c_kills_the_compiler_and_leaves_nothing(toolchain, tmp_path, cache):
    started, ended = tmp_path / "started", tmp_path / "ended"
    slow = replace(toolchain, command=(fake(tmp_path, f"sleep 3600 & echo $$ $! >> {started}; wait; touch {ended}"),))

    def press():
        while not (started.exists() and started.read_text()):
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        build_all([returning(1), returning(2)], slow, cache)
    presser.join()
    assert all_end(started) and not ended.exists()
    assert not list((cache.folder.root / WORK).iterdir())
    assert answer(build(returning(1), toolchain, cache)) == 1


def test_ctrl_c_at_any_instruction_of_a_build_leaves_nothing(toolchain, cache):
    """Ctrl-C before each of the lines that a build runs through, until one build is not interrupted any more."""
    build(returning(20), toolchain, cache)
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    room, interrupted = str(Path(build_module.__file__).parent.parent), 0
    for stop in itertools.count(1, 23):
        text, lines = returning(30_000 + stop), itertools.count(1)

        def trace(frame, event, _argument, stop=stop, lines=lines):
            if event == "line" and next(lines) == stop:
                os.kill(os.getpid(), signal.SIGINT)
            return trace if frame.f_code.co_filename.startswith(room) or event == "line" else None

        sys.settrace(trace)
        try:
            library = build(text, toolchain, cache)
        except KeyboardInterrupt:
            interrupted += 1
            library = None
        finally:
            sys.settrace(None)
        assert not list((cache.folder.root / WORK).iterdir()), stop
        assert not before or len(os.listdir("/proc/self/fd")) <= len(before), stop
        assert not child_processes()
        if library is not None and next(lines) <= stop:
            break
    assert interrupted > 10


def test_a_process_that_never_ends_is_killed(tmp_path):
    with pytest.raises(CompileError, match=r"within 0\.2 s"):
        run(["/bin/sh", "-c", "while :; do echo x; done"], tmp_path, 0.2)


def test_a_full_cache_folder_compiles_elsewhere(toolchain, cache, tmp_path):
    """The compiler says that its folder is full; the next folder serves, and the answer is right."""
    full = f'case "$PWD" in {tmp_path}*) echo "error writing to code.s: No space left on device"; exit 1;; esac'
    body = f'{full}\nexec {shlex.join(toolchain.command)} "$@"'
    library = build(returning(3), replace(toolchain, command=(fake(tmp_path, body),)), cache)
    assert answer(library) == 3


def test_without_a_cache_folder_it_builds_all_the_same(toolchain):
    cache = Cache(CacheFolder(None, False))
    library = build(returning(4), toolchain, cache)
    assert (answer(library), library.path, library.from_cache) == (4, None, False)


def test_nowhere_to_compile(toolchain, monkeypatch):
    monkeypatch.setattr(CacheFolder, "work_parents", lambda self: ())
    with pytest.raises(CompileError, match="no folder"):
        build(returning(44), toolchain, Cache(CacheFolder(None, False)))


def test_loading_where_memory_files_are_forbidden(toolchain, cache, monkeypatch):
    def forbidden(*_: object) -> int:
        raise PermissionError("memfd_noexec")

    build(returning(8), toolchain, cache)
    monkeypatch.setattr(os, "memfd_create", forbidden)
    assert answer(build(returning(8), toolchain, cache)) == 8
    assert not list((cache.folder.root / WORK).iterdir())


def test_a_damaged_entry_warns_once_and_the_build_goes_on(toolchain, cache):
    path = build(returning(12), toolchain, cache).path
    path.write_bytes(b"")
    with pytest.warns(CacheWarning, match="moved aside") as warned:
        assert answer(build(returning(12), toolchain, cache)) == 12
    assert len(warned) == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
