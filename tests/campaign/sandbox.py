"""Builds of small C texts in caches of their own, and children forked to do what may end a process."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arignote.cbackend.abi._abi import ffi
from arignote.cbackend.abi.declarations import declarations
from arignote.cbackend.build.build import Library, build
from arignote.cbackend.build.toolchain import Toolchain
from arignote.cbackend.cache.store import Cache

from .children import ending

HEAD = declarations()


def returning(number: int) -> str:
    """A program whose entry returns `number`."""
    return f"{HEAD}i32 ag_entry(ag_call *call) {{ return {number} + (call == 0); }}\n"


def answer(library: Library) -> int:
    """Result of the entry of a loaded `returning`."""
    return int(library.lib.ag_entry(ffi.new("ag_call *")))


def right(number: int, toolchain: Toolchain, cache: Cache) -> bool:
    """Whether the program of `number` builds or loads, and answers."""
    return answer(build(returning(number), toolchain, cache)) == number


@contextmanager
def cache_and_toolchain() -> Iterator[tuple[Cache, Toolchain]]:
    """An empty cache that knows the compiler; both vanish afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache.open(Path(folder, "cache"))
        toolchain = Toolchain.find(cache)
        assert toolchain is not None, "needs a C compiler"
        yield cache, toolchain


def forked(work: Callable[[], object]) -> int:
    """The process id of a forked child that does `work` and ends: 0 if it returned something true, else 1; 2 with what
    was raised on stderr.  Its warnings are ignored.
    """
    child = os.fork()
    if child:
        return child
    code = 2
    try:
        warnings.simplefilter("ignore")
        code = 0 if work() else 1
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def ended(child: int, patience: float) -> tuple[str, float]:
    """How a child ended ("" if well; killed if it hung for `patience` seconds), and after how many seconds."""
    begun = time.monotonic()
    while time.monotonic() - begun < patience:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            return (ending(code) if code else ""), time.monotonic() - begun
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return f"hung for {patience:g} s", patience


def descendants(root: int) -> list[int]:
    """The process ids of the children of `root`, theirs and so on."""
    found, at = [root], 0
    while at < len(found):
        with suppress(OSError):  # it has ended
            found += map(int, Path(f"/proc/{found[at]}/task/{found[at]}/children").read_text().split())
        at += 1
    return found[1:]
