"""Results are right on every machine, and one warning says what is missing: compiler, cache folder, space on the
disk, sound entries.  Each case is a process of its own, since compiler and cache are found once a process.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEALTHY = """
import numpy as np, arignote as ag
from arignote import ops as T
x, w = T.vector("x"), ag.shared(np.ones(3), name="w")
f = ag.function([x], T.exp(x) * w, updates=[(w, w + 1)], name="grow")
g = ag.function([x], T.exp(x) + 1, name="other")
for n in (1, 2):
    np.testing.assert_allclose(f([0.0, 1.0, 2.0]), n * np.exp([0.0, 1.0, 2.0]), rtol=1e-14)
np.testing.assert_allclose(g([0.0]), 2)
print(f.backend, g.backend, f.from_cache, f.c_path is not None)
"""


def run(tmp_path, code=HEALTHY, before=(), **environment):
    """(words printed, warnings, exit code) of `code` in a new process, started by the command `before`, with this
    environment; None unsets a variable.
    """
    program = tmp_path / "program.py"
    program.write_text(code)
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "ARIGNOTE_CACHE": str(tmp_path / "cache"), **environment}
    settings = {name: str(value) for name, value in settings.items() if value is not None}
    command = [*before, sys.executable, "-W", "always", program]
    done = subprocess.run(command, env=settings, cwd=tmp_path, capture_output=True, text=True, check=False)
    message = [line for line in done.stderr.splitlines() if "Warning: " in line]
    if done.returncode:
        return done.stdout.split(), done.stderr, done.returncode
    return done.stdout.split(), message, 0


def failing_compiler(folder, body):
    """A compiler that works until the file it compiles is one of ours: then `body` runs."""
    real = shutil.which("gcc") or shutil.which("cc")
    if real is None:
        pytest.skip("needs a C compiler")
    path = folder / "fakecc"
    path.write_text(f'#!/bin/sh\ncase "$*" in *code.c*) {body};; esac\nexec {real} "$@"\n')
    path.chmod(0o755)
    return path


def without_zig(folder):
    """A package `ziglang` beside the program, which so comes first, that holds no compiler."""
    (folder / "ziglang").mkdir(exist_ok=True)
    (folder / "ziglang" / "__init__.py").touch()


def test_a_healthy_machine_says_nothing_and_remembers(tmp_path):
    assert run(tmp_path) == (["c", "c", "False", "True"], [], 0)
    assert run(tmp_path) == (["c", "c", "True", "True"], [], 0)


@pytest.mark.parametrize("environment", [{"ARIGNOTE_CC": "no-such-compiler"}, {"PATH": "/nowhere", "CC": None}])
def test_without_a_compiler_numpy_runs_it_with_one_notice(tmp_path, environment):
    without_zig(tmp_path)
    printed, message, code = run(tmp_path, **environment)
    assert (printed, code) == (["numpy", "numpy", "False", "False"], 0)
    (notice,) = message
    assert re.search(r"program.py:5: UserWarning: arignote: no working C compiler.*run by NumPy.*doctor", notice)


def test_a_warm_cache_serves_without_a_compiler_and_read_only(tmp_path):
    """As in a container: what was compiled when its image was made runs, and no word is said."""
    alone = {"PATH": "/nowhere", "CC": None, "ARIGNOTE_PREBUILT": 0}
    setpriv, root = shutil.which("setpriv"), os.geteuid() == 0
    before = [setpriv, "--bounding-set=-all", "--inh-caps=-all"] if root and setpriv else []
    assert run(tmp_path, ARIGNOTE_PREBUILT=0) == (["c", "c", "False", "True"], [], 0)
    without_zig(tmp_path)
    assert run(tmp_path, **alone)[:2] == (["c", "c", "True", "True"], [])
    for path in (tmp_path / "cache", *(tmp_path / "cache").rglob("*")):
        path.chmod(path.stat().st_mode & 0o555)
    for own in ("own", "file/own"):  # a cache of its own beside it, or none
        (tmp_path / "file").touch()
        settings = {"XDG_CACHE_HOME": tmp_path / own, "PYTHONDONTWRITEBYTECODE": 1}
        printed, message, _ = run(tmp_path, before=before, **settings, **alone)
        assert printed[:3] == ["c", "c", "True"] and all("compiled code is not kept" in notice for notice in message)
        assert len(message) == (own != "own") * (not root or bool(setpriv))
    for path in ((tmp_path / "cache"), *(tmp_path / "cache").iterdir()):
        path.chmod(0o700)


def test_a_compiler_that_cannot_start_its_parts_is_not_asked_often(tmp_path):
    for name in ("gcc", "clang"):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $1 >> {tmp_path}/asked\necho vfork: no >&2; exit 1\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "cc").symlink_to("gcc")  # the same program: it is not asked again
    without_zig(tmp_path)
    printed, message, code = run(tmp_path, PATH=f"{tmp_path}:/bin")
    assert (printed[:2], code) == (["numpy", "numpy"], 0)
    assert all("no working C compiler" in notice for notice in message)
    asked = (tmp_path / "asked").read_text()
    assert asked.count("gcc -") <= 4 and asked.count("clang -") <= 3  # for its version, and by the head start


def test_c_that_does_not_compile_is_run_by_numpy_with_a_notice_that_quotes_the_compiler(tmp_path):
    compiler = failing_compiler(tmp_path, "echo 'code.c:7: error: too clever for me'; exit 1")
    printed, message, code = run(tmp_path, ARIGNOTE_CC=compiler)
    assert (printed, code) == (["numpy", "numpy", "False", "False"], 0)
    assert len(message) == 2  # one a function
    for line, name, notice in zip((5, 6), ("grow", "other"), message, strict=True):
        where = f"program.py:{line}: UserWarning: arignote: {name} is run by NumPy"
        assert re.search(rf"{where}.*exit code 1: code.c:7: error: too clever", notice)


def test_c_that_does_not_compile_is_an_error_if_one_is_strict(tmp_path):
    compiler = failing_compiler(tmp_path, "echo 'code.c:7: error: too clever for me'; exit 1")
    _, stderr, code = run(tmp_path, ARIGNOTE_CC=compiler, ARIGNOTE_STRICT=1)
    assert code == 1 and "CompileError" in stderr and "too clever for me" in stderr


def test_a_compiler_that_leaves_half_a_library_is_refused(tmp_path):
    compiler = failing_compiler(tmp_path, "head -c 100 /dev/zero > code.so; exit 0")
    printed, message, code = run(tmp_path, ARIGNOTE_CC=compiler)
    assert (printed[:2], code) == (["numpy", "numpy"], 0)
    assert all("no usable library" in notice for notice in message)


def test_without_home_and_cache_folder_it_compiles_in_private_ones(tmp_path):
    printed, message, code = run(tmp_path, HOME="/nowhere/at/all", ARIGNOTE_CACHE=None, XDG_CACHE_HOME=None)
    if os.geteuid() == 0:  # root may make the folder
        shutil.rmtree("/nowhere", ignore_errors=True)
        assert (printed[:2], code) == (["c", "c"], 0)
        return
    assert (printed, code) == (["c", "c", "False", "False"], 0)
    assert len(message) == 1 and "compiled code is not kept" in message[0]


@pytest.mark.long
def test_a_umask_that_takes_all_costs_nothing(tmp_path):
    """Root ignores file modes: run without that right."""
    setpriv = shutil.which("setpriv")
    if os.geteuid() == 0 and setpriv is None:
        pytest.skip("root needs setpriv")
    before = [setpriv, "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
    code = f"import os; os.umask(0o777)\n{HEALTHY}"
    settings = {"ARIGNOTE_CACHE": tmp_path / "a" / "b" / "cache", "ARIGNOTE_PREBUILT": 0, "PYTHONDONTWRITEBYTECODE": 1}
    for from_cache in ("False", "True"):
        printed, message, ended = run(tmp_path, code, before, **settings)
        assert (printed, message, ended) == (["c", "c", from_cache, "True"], [], 0)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "a").rglob("*")}
    assert modes == {0o600, 0o700}
    assert not list((tmp_path / "a" / "b" / "cache" / "work").iterdir())


def test_a_cache_that_cannot_be_made_costs_one_warning(tmp_path):
    (tmp_path / "file").write_text("no folder")
    nowhere = tmp_path / "file" / "cache"
    printed, message, code = run(tmp_path, ARIGNOTE_CACHE=nowhere, XDG_CACHE_HOME=tmp_path / "file")
    assert (printed, code) == (["c", "c", "False", "False"], 0)
    assert len(message) == 1 and "compiled code is not kept" in message[0]


@pytest.mark.parametrize("missing", ["~nobody.here/cache", "relative/cache"])
def test_a_cache_in_a_place_that_is_gone_costs_one_warning(tmp_path, missing):
    code = f"""
import os, shutil
os.mkdir("gone"); os.chdir("gone"); os.rmdir(os.path.join({str(tmp_path)!r}, "gone"))
from arignote.cbackend import Cache
cache = Cache.open({missing!r})
print(cache.folder.root)
"""
    printed, message, code = run(tmp_path, code, XDG_CACHE_HOME=tmp_path / "other")
    assert (printed, code) == ([str(tmp_path / "other" / "arignote")], 0)
    assert len(message) == 1 and f"another folder is used: {missing}" in message[0]
    assert "program.py:5" in message[0]  # the user's line


def test_options_that_name_the_home_of_nobody_are_errors_with_the_name_of_the_option(tmp_path):
    _, message, code = run(tmp_path, ARIGNOTE_CACHE="~nobody.here/cache")
    assert code == 1 and "ValueError: ARIGNOTE_CACHE is '~nobody.here/cache'; there is no such user" in message


@pytest.mark.parametrize("folder", ["häß lich 'x\"$y; é\n漢", b"no utf-8 \xff\xfe".decode(errors="surrogateescape")])
def test_paths_of_any_letters_will_do(tmp_path, folder):
    odd = tmp_path / folder
    odd.mkdir()
    printed, message, code = run(tmp_path, ARIGNOTE_CACHE=odd / "cache", TMPDIR=odd, HOME=odd, LC_ALL="C")
    assert (printed, message, code) == (["c", "c", "False", "True"], [], 0)


@pytest.mark.parametrize("folder", [".", "/nowhere/at/all", "/etc/passwd"])
def test_a_temporary_folder_that_is_none_is_done_without(tmp_path, folder):
    printed, message, code = run(tmp_path, TMPDIR=folder)
    assert (printed[:2], message, code) == (["c", "c"], [], 0)


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 64 KiB."""
    mount = tmp_path / "small"
    mount.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "none", str(mount)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("needs leave to mount")
    yield mount
    subprocess.run(["umount", str(mount)], check=True)


def test_a_full_disk_costs_one_warning(tmp_path, small_disk):
    (small_disk / "filler").write_bytes(bytes(48 << 10))
    printed, message, code = run(tmp_path, ARIGNOTE_CACHE=small_disk / "cache")
    assert (printed[:2], code) == (["c", "c"], 0)
    assert len(message) == 1 and "could not be kept: No space left" in message[0]


def test_a_read_only_disk_costs_one_warning(tmp_path, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    printed, message, code = run(tmp_path, ARIGNOTE_CACHE=small_disk / "cache", XDG_CACHE_HOME=small_disk)
    assert (printed, code) == (["c", "c", "False", "False"], 0)
    assert len(message) == 1 and "Read-only file system" in message[0]


@pytest.mark.few(1)
@pytest.mark.parametrize("damage", ["cut", "emptied", "one bit"])
def test_damaged_entries_are_healed(tmp_path, damage):
    run(tmp_path)
    entries = sorted((tmp_path / "cache" / "entries").glob("*.so"))
    assert len(entries) >= 2
    for entry in entries:
        content = bytearray(entry.read_bytes())
        content[len(content) // 2] ^= 1
        entry.write_bytes({"cut": content[: len(content) // 2], "emptied": b"", "one bit": content}[damage])
    printed, message, code = run(tmp_path)
    assert (printed, code) == (["c", "c", "False", "True"], 0)
    assert len(message) == len(entries) and all("moved aside and is compiled anew" in line for line in message)
    assert run(tmp_path) == (["c", "c", "True", "True"], [], 0)
