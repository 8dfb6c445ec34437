"""Prebuilt libraries: used where all of them fit, ignored where one does not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
import weakref
from dataclasses import replace
from pathlib import Path

import pytest
from ckernel import made_once

from arignote.cbackend.build import build as building
from arignote.cbackend.build.build import build
from arignote.cbackend.build.compilation import library_key
from arignote.cbackend.build.toolchain import Toolchain, search
from arignote.cbackend.cache.entry import Kind
from arignote.cbackend.cache.folder import find_cache_folder
from arignote.cbackend.cache.machine import Machine, this_machine
from arignote.cbackend.cache.store import Cache, CacheWarning
from arignote.cbackend.runtime.prebuilt import part_sources, prebuild, usable_parts
from arignote.cbackend.runtime.sources import PREBUILT, core_source
from arignote.cli import doctor
from arignote.options import Options

ROOT = Path(__file__).resolve().parents[3]
FIRST_CALL = """
import importlib
import sys
import numpy as np
import arignote as ag
from arignote import ops as T
from arignote.cbackend.cache.store import Cache
from arignote.options import process_options
from pathlib import Path

prebuilt = Path(sys.argv[1]) if process_options().prebuilt else None
cache = Cache.open(process_options().cache, prebuilt=prebuilt)
for module in ("c", "compiler"):
    importlib.import_module(f"arignote.engines.{module}").process_cache = lambda: cache
x = T.fmatrix("x")
f = ag.function([x], T.exp(x @ x) + 1)
assert np.allclose(f(np.zeros((3, 3), "float32")), 2)
print(*sorted(path.suffix for path in (process_options().cache / "entries").iterdir()))
"""
"""Prints what a first process puts into its cache."""


WITHOUT_NUMPY = """
import sys, warnings
warnings.simplefilter("ignore")
sys.modules["numpy"] = sys.modules["_cffi_backend"] = None
__file__ = "setup.py"
sys.argv = ["setup.py", "-q", "build_runtime", "--build-lib", sys.argv[1]]
exec(open("setup.py").read())
"""
"""Runs setup.py where NumPy and cffi are missing, as while a wheel is built."""


def _build(folder: Path) -> None:
    folder.mkdir()
    command = [sys.executable, "-c", WITHOUT_NUMPY, str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=400)
    assert (done.returncode, done.stderr) == (0, "")


def _built() -> Path:
    """The prebuilt libraries as setup.py makes them; all workers share one build, which takes 25 s of CPU time."""
    return made_once("installed", _build) / "arignote/cbackend/prebuilt"


@pytest.fixture(scope="module")
def installed() -> Path:
    """The prebuilt libraries that the installation of this checkout made, or a build if some are missing."""
    toolchain = search(Cache.open()).toolchain
    if toolchain is None:
        pytest.skip("needs a C compiler")
    return PREBUILT if usable_parts(toolchain, PREBUILT).missing == 0 else _built()


@pytest.fixture
def copied(installed, tmp_path) -> Path:
    return Path(shutil.copytree(installed, tmp_path / "prebuilt"))


def opened(tmp_path: Path, prebuilt: Path, **how: object) -> Cache:
    return Cache(find_cache_folder(tmp_path / "cache"), prebuilt=prebuilt, **how)


def own_entries(cache: Cache) -> list[str]:
    return sorted(path.suffix for path in cache.folder.entries.iterdir())


def first_call(tmp_path: Path, prebuilt: Path, **environment: str) -> str:
    settings = {**os.environ, "ARIGNOTE_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, "-W", "error", "-c", FIRST_CALL, str(prebuilt)]
    return subprocess.run(command, env=settings, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def test_a_first_process_compiles_its_own_program_alone(installed, tmp_path):
    assert first_call(tmp_path, installed) == ".c .rec .rec .rec .so"  # and the digests of core and products


@pytest.mark.long
def test_an_option_leaves_it_aside(installed, tmp_path):
    compiled = first_call(tmp_path, installed, ARIGNOTE_PREBUILT="0").split()
    assert compiled.count(".so") == 3 and ".rec" in compiled


def test_nothing_of_it_is_compiled_or_copied(installed, tmp_path):
    cache = opened(tmp_path, installed)
    toolchain = Toolchain.find(cache)
    libraries = [build(text, toolchain, cache) for text in part_sources()]
    assert all(library.from_cache for library in libraries)
    assert not own_entries(cache)


def test_without_a_cache_folder_it_is_used_too(installed):
    cache = Cache(replace(find_cache_folder("/nowhere/at/all"), root=None, writable=False), prebuilt=installed)
    toolchain = Toolchain.find(cache)
    assert build(core_source(), toolchain, cache).from_cache


def test_changed_sources_are_compiled(installed, tmp_path):
    cache = opened(tmp_path, installed)
    toolchain = Toolchain.find(cache)
    assert not build(core_source() + "\n/* changed */\n", toolchain, cache).from_cache


def test_another_compiler_or_other_flags_do_without_it(installed, tmp_path):
    cache = opened(tmp_path, installed)
    toolchain = replace(Toolchain.find(cache), flags=(*Toolchain.find(cache).flags, "-fno-ident"))
    assert usable_parts(toolchain, installed).missing == len(part_sources())
    assert not build(core_source(), toolchain, cache).from_cache


@pytest.mark.parametrize("bit", range(3))
def test_a_processor_that_lacks_an_extension_never_gets_it(installed, tmp_path, bit):
    there = this_machine()
    extensions = [1 << place for place in range(there.extensions.bit_length()) if there.extensions >> place & 1]
    lesser = Machine(there.architecture, there.extensions & ~extensions[bit * (len(extensions) - 1) // 2])
    toolchain = Toolchain.find(opened(tmp_path, installed))
    cache = opened(tmp_path, installed, machine=lesser)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert all(cache.load(Kind.LIBRARY, library_key(text, toolchain)) is None for text in part_sources())


def test_another_architecture_never_gets_it(installed, tmp_path):
    toolchain = Toolchain.find(opened(tmp_path, installed))
    cache = opened(tmp_path, installed, machine=Machine(b"mips-big", (1 << 64) - 1))
    assert cache.load(Kind.LIBRARY, library_key(core_source(), toolchain)) is None


@pytest.mark.few(1)
@pytest.mark.parametrize("how", ["cut", "empty", "one bit", "another's"])
def test_a_damaged_file_is_never_loaded_and_replaced_in_the_cache(copied, tmp_path, monkeypatch, how):
    monkeypatch.setattr(building, "_images", weakref.WeakValueDictionary())  # as in a process that has loaded nothing
    toolchain = Toolchain.find(opened(tmp_path, copied))
    path = copied / f"{library_key(core_source(), toolchain).hex()}.so"
    content = path.read_bytes()
    middle = len(content) // 3
    other = next(file for file in copied.glob("*.so") if file != path)
    path.write_bytes({
        "cut": content[: 2 * middle], "empty": b"", "another's": other.read_bytes(),
        "one bit": content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :],
    }[how])  # fmt: skip
    damaged = path.read_bytes()
    cache = opened(tmp_path, copied)
    with pytest.warns(CacheWarning, match="a new installation fixes it"):
        assert not build(core_source(), toolchain, cache).from_cache
    assert path.read_bytes() == damaged  # it is not ours to change
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = opened(tmp_path, copied)
        assert again.load(Kind.LIBRARY, library_key(core_source(), toolchain)) is not None
        assert again.load(Kind.LIBRARY, library_key(part_sources()[1], toolchain)) is not None


def test_a_damaged_record_of_the_compiler_is_probed_anew(copied, tmp_path):
    for path in copied.glob("*.rec"):
        path.write_bytes(path.read_bytes()[1:])
    with pytest.warns(CacheWarning):
        assert Toolchain.find(opened(tmp_path, copied)) is not None


def test_no_compiler_at_installation_costs_nothing_but_time(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("arignote.cbackend.build.toolchain.ziglang", lambda: None)
    assert prebuild(tmp_path / "prebuilt").startswith("nothing was built ahead: no gcc, clang or cc")
    assert not (tmp_path / "prebuilt").exists()


@pytest.mark.parametrize("body", ["exit 1", 'echo "void" > code.so', "kill -9 $$"])
def test_a_compiler_that_fails_at_installation_is_none(tmp_path, monkeypatch, body):
    compiler = tmp_path / "gcc"
    compiler.write_text(f"#!/bin/sh\n{body}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("arignote.cbackend.build.toolchain.ziglang", lambda: None)
    assert prebuild(tmp_path / "prebuilt").startswith("nothing was built ahead")


@pytest.mark.long  # the installation of a checkout runs the same command
def test_setup_builds_all_parts_without_numpy(tmp_path):
    toolchain = Toolchain.find(Cache.open(tmp_path / "cache"))
    if toolchain is None:
        pytest.skip("needs a C compiler")
    assert usable_parts(toolchain, _built()).missing == 0


def test_the_doctor_says_what_is_in_use(installed, copied, tmp_path, monkeypatch, capsys):
    def report(**fields: object) -> str:
        monkeypatch.setattr(doctor, "process_options", lambda: Options(cache=tmp_path / "cache", **fields))
        doctor.main()
        return capsys.readouterr().out

    monkeypatch.setattr(doctor, "PREBUILT", installed)
    assert "parts as they were built when this was installed" in report()
    assert "built on demand, because ARIGNOTE_PREBUILT says so" in report(prebuilt=False)
    monkeypatch.setattr(doctor, "PREBUILT", tmp_path / "none")
    count = len(part_sources())
    assert f"{count} of {count} parts are built on demand" in report()
    for path in copied.glob("*.so"):
        path.write_bytes(b"")
    monkeypatch.setattr(doctor, "PREBUILT", copied)
    assert "is damaged: built on demand\n" in report()
