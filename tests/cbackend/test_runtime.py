"""The runtime: its binary interface, its pool of memory, its clock, Ctrl-C and fork."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from draws import mostly_long

from arignote.cbackend.abi import generate as generate_abi
from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.abi.declarations import declarations
from arignote.cbackend.build.build import build
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.kernels.headers import headers
from arignote.cbackend.runtime.runtime import Runtime, build_program, load_runtime
from arignote.cbackend.runtime.sources import core_source, product_source

PROGRAM = declarations()


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Cache:
    return Cache.open(tmp_path_factory.mktemp("runtime") / "cache")


@pytest.fixture(scope="module")
def toolchain(cache) -> Toolchain:
    found = Toolchain.find(cache)
    if found is None:
        pytest.skip("needs a C compiler")
    return found


@pytest.fixture(scope="module")
def runtime(toolchain, cache) -> Runtime:
    return load_runtime(toolchain, cache)


# ---- The binary interface --------------------------------------------------------------------------------------------


def test_generated_files_are_current():
    assert Path(generate_abi.__file__).with_name("_abi.py").read_text() == generate_abi.module_text()
    stale = [path.name for path, text in headers().items() if not path.exists() or path.read_text() != text]
    assert not stale, "python -m arignote.cbackend.abi.generate writes them"


def test_the_compiler_lays_the_structs_out_as_cffi_does(toolchain, cache):
    structs = ("ag_runtime", "ag_nest", "ag_blas", "ag_call")  # cffi 1.17 aborts if it meets ag_blas first
    fields = [(struct, field) for struct in structs for field, _ in ffi.typeof(struct).fields]
    expected = [ffi.sizeof(struct) for struct in structs] + [ffi.offsetof(*pair) for pair in fields]
    numbers = [f"sizeof({struct})" for struct in structs] + [f"__builtin_offsetof({a}, {b})" for a, b in fields]
    checks = "".join(f"if ({number} != {value}) return {index};\n" for index, (number, value) in
                     enumerate(zip(numbers, expected), 1))  # fmt: skip
    library = build(f"{PROGRAM}i32 ag_entry(ag_call *call) {{ {checks} return call == 0; }}", toolchain, cache)
    assert library.lib.ag_entry(ffi.new("ag_call *")) == 0


def test_a_program_reaches_the_runtime(toolchain, cache):
    text = (
        PROGRAM
        + """
i32 ag_entry(ag_call *call)
{
    i64 start = call->rt->clock();
    double x[3] = {1, 2, 3}, *y = call->rt->alloc(sizeof x), sum;
    if (!y) return 1;
    for (int i = 0; i < 3; i++) y[i] = x[i];
    call->rt->f64.dot(call->rt, &(const ag_dot){.n = 3, .x = x, .x_step = 1, .y = y, .y_step = 1, .result = &sum});
    call->rt->release(y);
    return sum == 14 && call->rt->clock() >= start && *call->rt->stop == 0 ? 0 : 2;
}
"""
    )
    library, runtime = build_program(text, ["float64"], toolchain, cache)
    call = ffi.new("ag_call *", {"rt": runtime.table})
    assert library.lib.ag_entry(call) == 0


def test_there_is_one_runtime(runtime, toolchain, cache):
    assert load_runtime(toolchain, cache) is runtime


TEXTS = {
    "core": core_source,
    "convolutions": lambda: product_source("convolutions_float32"),  # with a fallback they are the same
    "fallback": lambda: product_source("float32", fallback=True),
    "complex": lambda: product_source("complex128"),
    "complex fallback": lambda: product_source("complex128", fallback=True),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", mostly_long(TEXTS, {"core", "fallback"}))
def test_c_texts_compile_without_a_warning(toolchain, tmp_path, name):
    (tmp_path / "code.c").write_text(TEXTS[name]())
    flags = [*toolchain.flags, "-Wall", "-Wextra", "-Werror", "-fPIC"]
    argv = [*toolchain.command, *flags, "-c", "code.c", "-o", "code.o"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]


# ---- Pool ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 80, 81, 100, 4096, 4097, 1 << 20, (1 << 20) + 1, 5 << 20])
def test_blocks_are_aligned_usable_and_counted(runtime, size):
    before = runtime.pool().live
    block = runtime.table.alloc(size)
    assert int(ffi.cast("intptr_t", block)) % 64 == 0
    ffi.memmove(block, b"\xff" * size, size)
    used = runtime.pool().live - before
    assert max(size, 64) <= used <= max(64, size * 1.25)
    runtime.table.release(block)
    assert runtime.pool().live == before


def test_a_freed_block_is_used_again(runtime):
    first = runtime.table.alloc(1000)
    runtime.table.release(first)
    second = runtime.table.alloc(990)
    assert first == second
    runtime.table.release(second)


def test_live_blocks_do_not_overlap(runtime):
    sizes = [size for base in (1, 100, 5000, 70000) for size in range(base, base * 3, max(1, base // 7))]
    blocks = [(int(ffi.cast("intptr_t", block)), size, block) for size in sizes if (block := runtime.table.alloc(size))]
    assert len(blocks) == len(sizes)
    ordered = sorted(blocks)
    assert all(start + size <= following for (start, size, _), (following, _, _) in pairwise(ordered))
    for _, _, block in blocks:
        runtime.table.release(block)


@pytest.mark.parametrize("size", [-1, -(2**63), 1 << 47, 2**63 - 1, 1 << 46])
def test_impossible_sizes_give_null(runtime, size):
    assert runtime.table.alloc(size) == ffi.NULL


def test_releasing_null_is_allowed(runtime):
    runtime.table.release(ffi.NULL)


def test_waiting_blocks_stay_below_the_limit(runtime):
    try:
        assert runtime.shrink_pool(1 << 20).waiting <= 1 << 20
        blocks = [runtime.table.alloc(300_000) for _ in range(10)]
        for block in blocks:
            runtime.table.release(block)
        assert 0 < runtime.pool().waiting <= 1 << 20
        assert runtime.shrink_pool().waiting == 0
    finally:
        runtime.shrink_pool(1 << 30)


def test_threads_never_share_a_block(runtime):
    failures: list[int] = []

    def work(mark: int) -> None:
        for round_ in range(300):
            blocks = [runtime.table.alloc(size) for size in (64, 64, 200, 3000)]
            for block in blocks:
                ffi.memmove(block, bytes([mark]) * 64, 64)
            for block in blocks:
                if bytes(ffi.buffer(block, 64)) != bytes([mark]) * 64:
                    failures.append(round_)
                runtime.table.release(block)

    before = runtime.pool().live
    threads = [threading.Thread(target=work, args=(mark,)) for mark in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert runtime.pool().live == before


# ---- In a process of its own -----------------------------------------------------------------------------------------


def in_a_child(cache: Cache, body: str) -> str:
    """Output of `body` in a fresh process that has a `runtime`."""
    head = f"""
import os, sys, threading, time
from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.cache.store import Cache
from arignote.cbackend.runtime.runtime import load_runtime
from arignote.cbackend.build.toolchain import Toolchain
cache = Cache.open({str(cache.folder.root)!r})
runtime = load_runtime(Toolchain.find(cache), cache)
"""
    done = subprocess.run([sys.executable, "-c", head + body], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_exhausted_memory_is_null_and_the_pool_gives_back_what_waits(runtime, cache):
    body = """
import resource
room = int(open("/proc/self/statm").read().split()[0]) * os.sysconf("SC_PAGE_SIZE") + (300 << 20)
resource.setrlimit(resource.RLIMIT_AS, (room, room))
small = [runtime.table.alloc(50 << 20) for _ in range(4)]
assert all(small)
assert runtime.table.alloc(150 << 20) == ffi.NULL
for block in small: runtime.table.release(block)
assert runtime.pool().waiting >= 200 << 20
assert runtime.table.alloc(150 << 20)
print("fine", runtime.pool().waiting)
"""
    assert in_a_child(cache, body) == "fine 0"


def test_ctrl_c_raises_the_flag_of_a_call_that_listens_and_then_the_exception(runtime, cache):
    body = """
table = runtime.table
table.listen()
assert not table.stopped()
try:
    os.kill(os.getpid(), 2)
    time.sleep(1)
except KeyboardInterrupt:
    print("interrupted", table.stopped(), end=" ")
table.end()
print(table.stopped(), end=" ")
try:
    os.kill(os.getpid(), 2)
    time.sleep(1)
except KeyboardInterrupt:
    print("again", table.stopped())
"""
    assert in_a_child(cache, body) == "interrupted 1 0 again 0"


def test_nobody_listens_where_python_has_no_handler(runtime, cache):
    body = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
runtime.table.listen()
os.kill(os.getpid(), 2)
print(runtime.table.stopped(), signal.getsignal(signal.SIGINT) == signal.SIG_IGN)
"""
    assert in_a_child(cache, body) == "0 True"


def test_only_the_main_thread_is_stopped(runtime, cache):
    body = """
table, seen = runtime.table, []
def work():
    table.listen()
    seen.append(table.stopped())
    table.end()
table.listen()
try:
    os.kill(os.getpid(), 2)
    time.sleep(1)
except KeyboardInterrupt:
    pass
thread = threading.Thread(target=work)
thread.start(); thread.join()
print(seen, table.stopped(), table.commit(), table.stopped())
"""
    assert in_a_child(cache, body) == "[0] 1 1 0"


def test_a_forked_child_can_allocate_while_threads_did(runtime, cache):
    body = """
stop = False
def churn():
    while not stop:
        runtime.table.release(runtime.table.alloc(5000))
threads = [threading.Thread(target=churn) for _ in range(2)]
for thread in threads: thread.start()
ended = 0
for _ in range(50):
    child = os.fork()
    if child == 0:
        runtime.table.release(runtime.table.alloc(5000))
        os._exit(7)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            ended += os.waitstatus_to_exitcode(status) == 7
            break
        time.sleep(0.001)
    else:
        os.kill(child, 9)
stop = True
for thread in threads: thread.join()
print(ended)
"""
    if sys.version_info >= (3, 12):
        body = "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n" + body
    assert re.fullmatch("50", in_a_child(cache, body))
