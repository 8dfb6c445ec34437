"""A head start: the probe and the first library run before anybody asks, are used once, and leave nothing behind."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys

import pytest
from isolation import child_processes

from arignote.cbackend.abi.declarations import declarations
from arignote.cbackend.build import build as build_module
from arignote.cbackend.build import compilation
from arignote.cbackend.build.build import build_all
from arignote.cbackend.build.headstart import HeadStart
from arignote.cbackend.build.loading import ffi
from arignote.cbackend.build.probe import first_groups, flags_of
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.folder import WORK
from arignote.cbackend.cache.store import Cache

HEAD = declarations(tables=False)


def returning(number):
    return f"{HEAD}i32 ag_entry(ag_call *call) {{ (void)call; return {number}; }}\n"


def at_work(cache):
    return list((cache.folder.root / WORK).iterdir())


@pytest.fixture
def cache(tmp_path):
    return Cache.open(tmp_path / "cache")


@pytest.fixture
def compiled(monkeypatch):
    """The texts whose compilation began after the head start."""
    texts, begin = [], compilation.begin
    for module in (build_module, compilation):
        monkeypatch.setattr(
            module, "begin", lambda folder, text, *rest: texts.append(text) or begin(folder, text, *rest)
        )
    return texts


@pytest.fixture
def compiler(tmp_path):
    """The path of a compiler that does `body` first."""
    real = shutil.which("gcc")
    if real is None:
        pytest.skip("needs gcc")

    def made(body):
        path = tmp_path / "fakecc"
        path.write_text(f'#!/bin/sh\n{body}\nexec {real} "$@"\n')
        path.chmod(0o755)
        return str(path)

    return made


def test_what_was_begun_is_used_once(cache, compiled):
    ahead = HeadStart(cache, None, lambda: returning(1))
    found = ahead.search()
    if found.toolchain is None:
        pytest.skip("needs a C compiler")
    assert found is ahead.search()
    first, second = build_all([returning(1), returning(2)], found.toolchain, cache)
    assert [first.lib.ag_entry(ffi.NULL), second.lib.ag_entry(ffi.NULL)] == [1, 2]
    expected = found.toolchain.flags == flags_of(first_groups())
    assert sorted(compiled) == ([returning(2)] if expected else [returning(1), returning(2)])
    assert not at_work(cache)
    assert found.toolchain == Toolchain.find(cache)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_of_fork_compiles_what_its_parent_began(cache):
    ahead = HeadStart(cache, None, lambda: returning(4))
    toolchain = ahead.search().toolchain
    if toolchain is None:
        pytest.skip("needs a C compiler")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            (library,) = build_all([returning(4)], toolchain, cache)
            code = library.lib.ag_entry(ffi.NULL)
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 4
    (library,) = build_all([returning(4)], toolchain, cache)
    assert library.lib.ag_entry(ffi.NULL) == 4
    assert not at_work(cache)


def test_a_known_compiler_needs_no_head_start(cache):
    if Toolchain.find(cache) is None:
        pytest.skip("needs a C compiler")
    ahead = HeadStart(cache, None, lambda: returning(3))
    assert not at_work(cache)
    assert ahead.search().toolchain == Toolchain.find(cache)


def test_other_flags_throw_the_early_library_away(cache, compiled, compiler):
    """The compiler refuses a flag that was hoped for: what it makes of the text without it is what counts."""
    path = compiler('case "$*" in *-fvect-cost-model*) echo "error: no such flag"; exit 1;; esac')
    toolchain = HeadStart(cache, path, lambda: returning(4)).search().toolchain
    assert "-fvect-cost-model=dynamic" not in toolchain.flags
    assert not at_work(cache)
    (library,) = build_all([returning(4)], toolchain, cache)
    assert library.lib.ag_entry(ffi.NULL) == 4
    assert compiled == [returning(4)]


def test_a_library_that_another_process_made_meanwhile(cache, compiled):
    toolchain = Toolchain.find(cache)
    other = Cache.open(cache.folder.root.parent / "other")
    if toolchain is None:
        pytest.skip("needs a C compiler")
    ahead = HeadStart(other, None, lambda: returning(5))
    build_all([returning(5)], toolchain, other)
    build_all([returning(5)], ahead.search().toolchain, other)
    assert not at_work(other)


def test_a_failing_compiler_is_named_as_without(cache, compiler):
    found = HeadStart(cache, compiler("echo broken >&2; exit 3"), lambda: returning(6)).search()
    assert found.toolchain is None
    assert "broken" in found.reason
    assert not at_work(cache)


def test_nobody_asks(cache, compiler, tmp_path):
    mark = tmp_path / "went-on"
    ahead = HeadStart(cache, compiler(f"sleep 1; touch {mark}"), lambda: returning(7))
    assert len(at_work(cache)) == 2
    del ahead
    gc.collect()
    assert not at_work(cache)
    assert not child_processes()
    assert not mark.exists()


def test_a_runtime_that_cannot_be_read_costs_one_notice_and_no_answer(tmp_path):
    program = """
import errno, os, warnings
from pathlib import Path
import numpy as np
import arignote as ag
from arignote import ops as T
read = Path.read_text
def failing(path, *more, **named):
    if path.name == "runtime.c":
        raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
    return read(path, *more, **named)
Path.read_text = failing
x = T.vector("x")
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    print(ag.function([x], T.exp(x) + 1)(np.zeros(3)).tolist(), len(seen))
"""
    environment = {**os.environ, "ARIGNOTE_CACHE": str(tmp_path / "cache"), "ARIGNOTE_STRICT": "0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.split() == ["[2.0,", "2.0,", "2.0]", "1"], done.stderr
