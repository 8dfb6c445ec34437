"""Toolchain and build: any compiler or none, hostile surroundings, kills and races; a warm start runs no process."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from arignote.cbackend.abi import declarations as abi
from arignote.cbackend.build import build as build_module
from arignote.cbackend.build import probe
from arignote.cbackend.build import toolchain as toolchain_module
from arignote.cbackend.build.build import build, build_all
from arignote.cbackend.build.compilation import compile_text, library_key
from arignote.cbackend.build.compiler_process import CompileError, run
from arignote.cbackend.build.elf import elf_defect
from arignote.cbackend.build.loading import ffi
from arignote.cbackend.build.reproduce import reproduce
from arignote.cbackend.build.toolchain import Toolchain, probe_program, search
from arignote.cbackend.build.trial import defect
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.folder import BAD, ENTRIES, WORK, CacheFolder
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.cbackend.cache.upkeep import clear, entries
from arignote.cbackend.ctext.preamble import VECTORIZED

HEAD = abi.C_TYPES + abi.RUNTIME_DECLARATIONS + abi.CALL_DECLARATIONS


def returning(number: int) -> str:
    """A program whose entry returns `number`."""
    return f"{HEAD}i32 ag_entry(ag_call *call) {{ return {number} + (call == 0); }}\n"


def answer(library: object) -> int:
    return library.lib.ag_entry(ffi.new("ag_call *"))


@pytest.fixture(scope="module")
def probed(tmp_path_factory) -> Cache:
    """A cache that remembers the toolchain."""
    cache = Cache.open(tmp_path_factory.mktemp("probed") / "cache")
    if Toolchain.find(cache) is None:
        pytest.skip("needs a C compiler")
    return cache


@pytest.fixture(scope="module")
def toolchain(probed) -> Toolchain:
    return Toolchain.find(probed)


@pytest.fixture
def cache(tmp_path) -> Cache:
    return Cache.open(tmp_path / "cache")


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


def test_the_key_covers_text_and_toolchain(toolchain):
    changed = [
        replace(toolchain, version="another"), replace(toolchain, flags=(*toolchain.flags, "-g")),
        replace(toolchain, features=("-mother",)), replace(toolchain, link_flags=()),
        replace(toolchain, files=(("/usr/bin/cc", 1, 2),)),
    ]  # fmt: skip
    keys = {library_key(returning(1), one) for one in (toolchain, *changed)}
    assert len(keys | {library_key(returning(2), toolchain)}) == 7
    assert library_key(returning(1), replace(toolchain)) in keys


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
from test_build import Cache, CacheWarning, Toolchain, answer, build, returning
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
        [sys.executable, "-c", _DAMAGED_RUN, str(Path(__file__).parent), str(probed.folder.root), "1"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.stdout == "survived\n", done.stderr[-2000:]


# ---- Trials, reproduction -------------------------------------------------------------------------------------------


def test_the_probe_asks_for_every_function_that_generated_c_declares_vector_forms_of():
    """A libmvec without one of them, as glibc before 2.35 has it, must not be used."""
    listed = re.search(r"vectorized\[\] = \{(.*?)\};", probe.PROBE_TEXT, re.S).group(1)
    assert {name + f for name in re.findall(r'"(\w+)"', listed) for f in ("", "f")} == set(VECTORIZED)
    assert re.findall(r'"(\w+)"', listed)[-3:] == ["pow", "atan2", "hypot"]  # BINARY: they take two arguments


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


# ---- Kills and races -----------------------------------------------------------------------------------------------

_BUILD_ONE = """
import sys
sys.path.insert(0, sys.argv[1])
from test_build import Cache, Toolchain, answer, build, returning
cache = Cache.open(sys.argv[2])
toolchain = Toolchain.find(cache)
print("ready", flush=True)
sys.stdin.readline()
library = build(returning(int(sys.argv[3])), toolchain, cache)
print(answer(library), library.from_cache, flush=True)
"""


def _builder(cache: Cache, number: int) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", _BUILD_ONE, str(Path(__file__).parent), str(cache.folder.root), str(number)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process


def _go(process: subprocess.Popen[str]) -> None:
    process.stdin.write("\n")
    process.stdin.flush()


_FORKS = """
import os, random, signal, sys, time
sys.path.insert(0, sys.argv[1])
from test_build import Cache, Toolchain, build, returning
cache = Cache.open(sys.argv[2])
toolchain = Toolchain.find(cache)
random_ = random.Random(3)
for number in range(int(sys.argv[3])):
    child = os.fork()
    if child == 0:
        build(returning(1000 + number), toolchain, cache)
        os._exit(0)
    time.sleep(random_.uniform(0, 0.08))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
print("killed")
"""


def test_kill_at_random_moments_leaves_nothing_bad(probed, toolchain):
    """100 builders are killed while they compile or store; every key then builds or loads, and the litter is swept."""
    bad_before = set((probed.folder.root / BAD).iterdir())
    done = subprocess.run(
        [sys.executable, "-c", _FORKS, str(Path(__file__).parent), str(probed.folder.root), "100"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.stdout == "killed\n", done.stderr[-2000:]
    time.sleep(0.3)  # compilers that lost their parent finish
    survivors = 0
    for number in range(100):
        key = library_key(returning(1000 + number), toolchain)
        survivors += probed.load(Kind.LIBRARY, key) is not None  # a damaged entry would warn, and fail here
    assert survivors < 100
    assert set((probed.folder.root / BAD).iterdir()) == bad_before
    for number in range(0, 100, 10):
        assert answer(build(returning(1000 + number), toolchain, probed)) == 1000 + number
    for _ in range(100):  # a sweep is bounded; each start of work does one
        probed.work_parents()
    assert not list((probed.folder.root / WORK).iterdir())


def test_processes_that_race_for_one_key(probed):
    racers = [_builder(probed, 77) for _ in range(4)]
    for process in racers:
        _go(process)
    outcomes = [process.communicate(timeout=60)[0].split() for process in racers]
    assert [value for value, _ in outcomes] == ["77"] * 4
    assert [from_cache for _, from_cache in outcomes].count("False") <= 2


def test_a_stopped_builder_does_not_hold_up_others(probed, toolchain):
    stopped = _builder(probed, 88)
    _go(stopped)
    time.sleep(0.02)
    os.killpg(stopped.pid, signal.SIGSTOP)
    try:
        start = time.monotonic()
        assert answer(build(returning(88), toolchain, probed)) == 88
        assert time.monotonic() - start < 5
    finally:
        os.killpg(stopped.pid, signal.SIGKILL)
        stopped.communicate()


# ---- Warm start ----------------------------------------------------------------------------------------------------

_WARM_RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
import subprocess
def forbidden(*_, **__): raise AssertionError("a process was started")
subprocess.Popen.__init__ = forbidden
import os
os.fork = os.posix_spawn = os.system = forbidden
from test_build import Cache, Toolchain, answer, build, returning
start = time.perf_counter()
cache = Cache.open(sys.argv[2])
library = build(returning(42), Toolchain.find(cache), cache)
assert library.from_cache and answer(library) == 42
print(time.perf_counter() - start)
"""


def test_a_warm_start_runs_no_process_and_is_quick(probed, toolchain):
    build(returning(42), toolchain, probed)
    times = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", _WARM_RUN, str(Path(__file__).parent), str(probed.folder.root)],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        times.append(float(done.stdout))
    assert min(times) < 0.010


def test_a_changed_compiler_is_probed_again(probed, tmp_path, monkeypatch):
    wrapper = tmp_path / "mycc"
    wrapper.write_text(f"#!/bin/sh\nexec {shutil.which('gcc') or shutil.which('cc')} \"$@\"\n")
    wrapper.chmod(0o755)
    first = Toolchain.find(probed, str(wrapper))
    assert Toolchain.find(probed, str(wrapper)) == first
    wrapper.write_text(wrapper.read_text() + "# upgraded\n")
    second = Toolchain.find(probed, str(wrapper))
    assert second.is_current()
    assert second.fingerprint != first.fingerprint


# ---- Hostile surroundings ------------------------------------------------------------------------------------------


def test_surroundings_do_not_change_the_output(toolchain, cache, tmp_path, monkeypatch):
    text = "#include <math.h>\n" + HEAD + "i32 ag_entry(ag_call *call) { return call ? (i32)floor(2.5) : 0; }\n"
    clean = compile_text(text, toolchain, cache)
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "math.h").write_text("#error hostile header\n")
    for program in ("cc1", "as", "ld", "collect2"):
        (hostile / program).write_text("#!/bin/sh\nexit 1\n")
        (hostile / program).chmod(0o755)
    monkeypatch.chdir(hostile)
    for name in ("CPATH", "C_INCLUDE_PATH", "LIBRARY_PATH", "COMPILER_PATH", "GCC_EXEC_PREFIX", "TMPDIR"):
        monkeypatch.setenv(name, f"{hostile}/")
    monkeypatch.setenv("LD_PRELOAD", str(hostile / "no.so"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    monkeypatch.setenv("LC_ALL", "xx_XX.UTF-8")
    old = os.umask(0)
    try:
        assert compile_text(text, toolchain, cache) == clean
    finally:
        os.umask(old)


def test_relative_path_entries_find_no_compiler(tmp_path, cache, monkeypatch):
    planted = tmp_path / "gcc"
    planted.write_text("#!/bin/sh\nexit 1\n")
    planted.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f".{os.pathsep}")
    monkeypatch.delenv("CC", raising=False)
    assert not any("gcc" in attempt.command[0] for attempt in search(cache).attempts)


# ---- Compilers that are missing, fail, hang, lie -------------------------------------------------------------------

_REAL = shutil.which("gcc") or shutil.which("cc") or "/usr/bin/cc"

FAKES = {
    "fails": ("exit 3", "printed nothing"),
    "prints nonsense": ("head -c 300000 /dev/zero | tr '\\0' 'x'; exit 1", "xxx"),
    "succeeds without output": ("exit 0", "printed nothing"),
    "makes an empty program": ('for a; do :; done; : > probe; exit 0', "gives|exit code|started"),
    "makes what gives a wrong answer": ("printf '#!/bin/sh\\necho 12 13 14\\n' > probe; chmod 755 probe", "12 13 14"),
    "dies by a signal": ("kill -SEGV $$", "nothing"),
}


def fake(folder: Path, body: str) -> str:
    path = folder / "fakecc"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("what", FAKES)
def test_a_compiler_that_does_not_work_is_refused_with_a_reason(tmp_path, cache, what):
    body, expected = FAKES[what]
    found = search(cache, fake(tmp_path, body))
    assert found.toolchain is None
    assert re.search(expected, found.reason), found.reason
    assert len(found.reason) < 2000
    assert entries(cache) == []
    assert not list((cache.folder.root / WORK).iterdir())


def test_a_hanging_compiler_is_given_up_and_killed(tmp_path, cache, monkeypatch):
    monkeypatch.setattr(probe, "_TIMEOUT", 0.3)
    mark = tmp_path / "still-alive"
    found = search(cache, fake(tmp_path, f"(sleep 2; touch {mark}) & sleep 60"))
    assert "did not finish within 0.3 s" in found.reason
    time.sleep(2.2)
    assert not mark.exists()


def test_no_compiler_at_all(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert Toolchain.find(cache) is None
    assert search(cache).reason == "no gcc, clang or cc on PATH, and no ziglang package"


def test_a_named_compiler_that_does_not_exist(cache):
    found = search(cache, "no-such-compiler -O9")
    assert found.toolchain is None
    assert "no-such-compiler -O9: no such program" in found.reason


def test_refused_flags_are_dropped_and_never_the_build(tmp_path, cache):
    refuse = 'for a; do case "$a" in -march=native|-lmvec) echo "error: unrecognized $a"; exit 1;; esac; done'
    body = f'{refuse}\nexec {_REAL} "$@"'
    toolchain = Toolchain.find(cache, fake(tmp_path, body))
    dropped = dict(toolchain.dropped)
    assert "unrecognized -march=native" in dropped["-march=native"]
    assert not toolchain.vector_math
    assert "-march=native" not in toolchain.flags
    assert "-fno-math-errno" in toolchain.flags
    assert answer(build(returning(6), toolchain, cache)) == 6


def test_a_refused_flag_that_results_depend_on_refuses_the_compiler(tmp_path, cache):
    body = f'for a; do case "$a" in -fwrapv) echo "error: no -fwrapv"; exit 1;; esac; done\nexec {_REAL} "$@"'
    found = search(cache, fake(tmp_path, body))
    assert found.toolchain is None
    assert "no -fwrapv" in found.reason


def test_flags_are_the_ones_promised(toolchain):
    effort = {"-O2", "-ftree-vectorize"} if "clang" in toolchain.version else {"-O1", "-ftree-loop-vectorize"}
    assert effort | {"-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"} <= set(toolchain.flags)
    line = " ".join((*toolchain.flags, *toolchain.link_flags, probe.WANTED_TEXT))
    for forbidden in ("fast-math", "Ofast", "unsafe-math", "finite-math", "associative-math", "fopenmp "):
        assert forbidden not in line


@pytest.mark.parametrize("cut", ["half", "empty", "script"])
def test_a_compiler_that_leaves_half_a_library_is_caught_before_the_loader(toolchain, tmp_path, cache, cut):
    half = "head -c $(($(wc -c < code.so) / 2)) code.so > x; mv x"
    spoil = {"half": half, "empty": ": >", "script": "echo '#!/bin/sh' >"}
    lying = fake(tmp_path, f'{shlex.join(toolchain.command)} "$@"\n{spoil[cut]} code.so')
    with pytest.raises(CompileError, match="no usable library"):
        build(returning(1), replace(toolchain, command=(lying,)), cache)
    assert entries(cache) == []


def test_elf_tables_of_a_real_library(toolchain, cache):
    payload = compile_text(returning(1), toolchain, cache)
    assert elf_defect(payload) is None
    assert all(elf_defect(payload[:length]) for length in range(0, len(payload), 97))


# ---- Ctrl-C, time limit, disk --------------------------------------------------------------------------------------


def test_ctrl_c_kills_the_compiler_and_leaves_nothing(toolchain, tmp_path, cache):
    mark = tmp_path / "compiler-went-on"
    slow = replace(toolchain, command=(fake(tmp_path, f"sleep 1; touch {mark}"),))
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        build_all([returning(1), returning(2)], slow, cache)
    assert time.monotonic() - start < 0.6
    time.sleep(1.2)
    assert not mark.exists()
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
        with pytest.raises(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)
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


def test_a_file_in_two_units_is_one_library(toolchain, cache):
    assert answer(build(_IN_UNITS % (21, ""), toolchain, cache)) == 42
    assert compile_text(_IN_UNITS % (21, ""), toolchain, cache) == compile_text(_IN_UNITS % (21, ""), toolchain, cache)


@pytest.mark.parametrize("wrong", [("undeclared", ""), ("1", "+ undeclared"), ("1", "+ missing()")])
def test_a_mistake_in_either_unit_is_reported(wrong, toolchain, cache):
    with pytest.raises(CompileError, match=r"undeclared|missing"):
        build("int32_t missing(void);\n".replace("int32_t", "int") + _IN_UNITS % wrong, toolchain, cache)
    assert answer(build(_IN_UNITS % (4, ""), toolchain, cache)) == 8
