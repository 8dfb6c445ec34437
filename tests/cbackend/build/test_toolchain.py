"""Compilers: hostile surroundings, and those that are missing, fail, hang or lie."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import replace

import pytest
from small_programs import HEAD, all_end, answer, fake, returning

from arignote.cbackend.build import probe
from arignote.cbackend.build.build import build
from arignote.cbackend.build.compilation import compile_text
from arignote.cbackend.build.compiler_process import CompileError
from arignote.cbackend.build.elf import elf_defect
from arignote.cbackend.build.toolchain import Toolchain, search
from arignote.cbackend.cache.folder import WORK
from arignote.cbackend.cache.upkeep import entries

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
    monkeypatch.setattr("arignote.cbackend.build.toolchain.ziglang", lambda: None)  # it would compile for half a minute
    assert not any("gcc" in attempt.command[0] for attempt in search(cache).attempts)


# ---- What the flags promise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["char *p[] = {x};", "char *p = *x;"])
def test_pointers_of_other_types_are_errors_with_all_compilers(toolchain, tmp_path, line):
    """gcc 14 and clang 20 refuse them, so C that we write must never have them."""
    (tmp_path / "code.c").write_text(f"int f(long *x) {{ {line} return p == 0; }}")
    command = [*toolchain.command, *toolchain.flags, "-c", "code.c"]
    assert subprocess.run(command, cwd=tmp_path, check=False, capture_output=True).returncode != 0


# ---- Compilers that are missing, fail, hang, lie -------------------------------------------------------------------

_REAL = shutil.which("gcc") or shutil.which("cc") or "/usr/bin/cc"

FAKES = {
    "fails": ("exit 3", "printed nothing"),
    "prints nonsense": ("head -c 300000 /dev/zero | tr '\\0' 'x'; exit 1", "xxx"),
    "succeeds without output": ("exit 0", "printed nothing"),
    "makes an empty program": ("for a; do :; done; : > probe; exit 0", "gives|exit code|started"),
    "makes what gives a wrong answer": ("printf '#!/bin/sh\\necho 12 13 14\\n' > probe; chmod 755 probe", "12 13 14"),
    "dies by a signal": ("kill -SEGV $$", "nothing"),
}


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
    started = tmp_path / "started"
    found = search(cache, fake(tmp_path, f"sleep 600 & echo $$ $! >> {started}; sleep 600"))
    assert "did not finish within 0.3 s" in found.reason
    assert all_end(started)


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
    refuse = 'for a; do case "$a" in -march=native) echo "error: unrecognized $a"; exit 1;; esac; done'
    body = f'{refuse}\nexec {_REAL} "$@"'
    toolchain = Toolchain.find(cache, fake(tmp_path, body))
    dropped = dict(toolchain.dropped)
    assert "unrecognized -march=native" in dropped["-march=native"]
    assert "-march=native" not in toolchain.flags
    assert "-fno-math-errno" in toolchain.flags
    assert answer(build(returning(6), toolchain, cache)) == 6


def test_a_refused_flag_that_results_depend_on_refuses_the_compiler(tmp_path, cache):
    body = f'for a; do case "$a" in -fwrapv) echo "error: no -fwrapv"; exit 1;; esac; done\nexec {_REAL} "$@"'
    found = search(cache, fake(tmp_path, body))
    assert found.toolchain is None
    assert "no -fwrapv" in found.reason


def test_flags_are_the_ones_promised(toolchain):
    effort = {"-O2", "-ftree-vectorize"} if "clang" in toolchain.version else {"-O1", "-fgcse"}
    assert effort | {"-fno-fast-math", "-fwrapv", "-fno-strict-aliasing", "-ffp-contract=off"} <= set(toolchain.flags)
    line = " ".join((*toolchain.flags, *toolchain.link_flags, probe.WANTED_TEXT))
    for forbidden in ("-ffast-math", "Ofast", "unsafe-math", "finite-math", "associative-math", "fopenmp "):
        assert forbidden not in line


@pytest.mark.parametrize("options", ["-ffast-math", "-Ofast", "-ffinite-math-only -funsafe-math-optimizations"])
def test_options_of_the_users_compiler_do_not_change_arithmetic(options, cache):
    toolchain = search(cache, f"{_REAL} {options}").toolchain
    command = [*toolchain.command, *toolchain.all_flags, "-dM", "-E", "-x", "c", os.devnull]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "__FAST_MATH__" not in reported and "#define __FINITE_MATH_ONLY__ 0" in reported


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
