"""A compiler that waits for its text makes what one that reads a file makes; it is killed if nobody wants it."""

from __future__ import annotations

import subprocess
import sys
import threading
from dataclasses import replace

import pytest
from isolation import child_processes
from small_programs import HEAD, answer, returning

from arignote.cbackend.build import linking, prestarted
from arignote.cbackend.build.build import build
from arignote.cbackend.build.compilation import compile_text, library_key
from arignote.cbackend.build.compiler_process import CompileError
from arignote.cbackend.build.prestarted import PrestartedCompiler, prestarted_compiler
from arignote.cbackend.cache.folder import WORK
from arignote.cbackend.cache.store import Cache


def program(number, before=""):
    """A program as `c_text` writes its end."""
    return f"{HEAD}{before}\ni32 ag_entry(ag_call *call)\n{{\n    (void)call;\n    return {number};\n}}\n"


IN_UNITS = f"""{HEAD}
#ifdef AG_UNIT
#define AG_SHARED __attribute__((visibility("hidden")))
#else
#define AG_SHARED static
#endif
#if AG_UNIT != 2
AG_SHARED i32 k(void)
{{
    return 21;
}}
#else
AG_SHARED i32 k(void);
#endif
#if AG_UNIT != 1
i32 ag_entry(ag_call *call)
{{
    (void)call;
    return 2 * k();
}}
#endif
"""


def at_work(cache):
    return list((cache.folder.root / WORK).iterdir())


@pytest.fixture
def known(toolchain):
    if not toolchain.linker:
        pytest.skip("needs gcc on Linux")
    return toolchain


@pytest.fixture
def given(monkeypatch):
    """The texts that compilers which waited were given."""
    texts, begin = [], PrestartedCompiler.begin
    spy = lambda self, text, macros: texts.append(text) or begin(self, text, macros)  # noqa: E731
    monkeypatch.setattr(PrestartedCompiler, "begin", spy)
    return texts


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A cache without libraries, in a process in which nothing was compiled yet."""
    monkeypatch.setattr(prestarted, "_missed", [False])
    return Cache.open(tmp_path / "empty")


@pytest.mark.usefixtures("in_halves")
@pytest.mark.parametrize("text", [program(42), IN_UNITS])
@pytest.mark.parametrize("compilers", [1, 2])
def test_the_bytes_are_those_of_a_file(known, cache, empty, given, text, compilers):
    with prestarted_compiler(known, empty):
        if compilers == 2:
            with prestarted_compiler(known, empty):
                made = compile_text(text, known, empty)
        else:
            made = compile_text(text, known, empty)
    assert given == [text] * min(compilers, 2 if text is IN_UNITS else 1)
    assert made == compile_text(text, known, cache)
    assert not at_work(empty)
    assert answer(build(text, known, empty)) == 42


@pytest.mark.usefixtures("in_halves")
def test_the_driver_links_the_same_bytes(known, cache, empty):
    separate = replace(known, linker=())
    assert compile_text(IN_UNITS, known, cache) == compile_text(IN_UNITS, separate, empty)


def test_what_is_called_is_linked(known, cache):
    calls = "double tgamma(double x);\n"
    body = "volatile double x = 4;\n    return (i32)tgamma(x) + (call != 0);"
    text = f"{HEAD}{calls}\ni32 ag_entry(ag_call *call)\n{{\n    {body}\n}}\n"
    assert b"libm.so" in compile_text(text, known, cache)
    assert b"libm.so" not in compile_text(program(1), known, cache)
    assert answer(build(text, known, cache)) == 7


def test_one_that_nobody_wants_is_killed(known, empty):
    with prestarted_compiler(known, empty):
        assert len(at_work(empty)) == 1
    assert not at_work(empty)
    assert not child_processes()


def test_none_waits_where_all_is_in_the_cache(known, empty):
    build(program(7), known, empty)
    with prestarted_compiler(known, empty):
        assert not at_work(empty)
    prestarted.note(missed=True)
    with prestarted_compiler(known, empty):
        assert len(at_work(empty)) == 1


def test_errors_are_those_of_a_file(known, empty):
    with prestarted_compiler(known, empty), pytest.raises(CompileError, match=r"code\.c:\d+.*undeclared"):
        build(program("undeclared"), known, empty)
    assert not at_work(empty)


def test_a_long_text_does_not_fill_the_pipe(known, empty, given):
    text = program(3, "/* " + "x" * 300_000 + " */")
    with prestarted_compiler(known, empty):
        assert answer(build(text, known, empty)) == 3
    assert given == [text]


def test_one_that_died_is_replaced(known, empty):
    with prestarted_compiler(known, empty):
        prestarted._waiting[0]._running.end()
        assert answer(build(program(4), known, empty)) == 4
    assert not at_work(empty)


def test_a_child_of_fork_holds_up_nobody(known, empty):
    code = """
import os, sys, time
from arignote.cbackend.build.prestarted import prestarted_compiler
from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.store import Cache
cache = Cache.open(sys.argv[1])
toolchain = Toolchain.find(cache)
with prestarted_compiler(toolchain, cache):
    child = os.fork()
    if not child:
        time.sleep(3600)
        os._exit(0)
    build(sys.argv[2], toolchain, cache)
    print(os.waitpid(child, os.WNOHANG) == (0, 0))
    os.kill(child, 9)
"""
    message = subprocess.run(
        [sys.executable, "-c", code, str(empty.folder.root), program(5)], capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert message.stdout == "True\n", message.stderr


def test_threads_take_one_each(known, empty):
    results = []
    texts = [program(number) for number in range(4)]

    def work(text):
        with prestarted_compiler(known, empty):
            results.append(answer(build(text, known, empty)))

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [0, 1, 2, 3]
    assert not at_work(empty)


def test_a_linker_that_nothing_is_known_of():
    assert linking.linking("gcc version 12\n", ["-lm"]) == ((), ())


def test_keys_cover_the_linker(known):
    assert library_key(returning(1), known) != library_key(returning(1), replace(known, linker=()))
