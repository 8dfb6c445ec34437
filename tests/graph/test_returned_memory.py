"""Memory that the C library keeps goes back to the system."""

import os
import subprocess
import sys

import pytest

from arignote.record import memory

PROGRAM = """
import ctypes
from arignote.record.memory import return_freed_memory

def resident():
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmRSS")).split()[1]) / 1024

library = ctypes.CDLL(None)
library.malloc.restype = ctypes.c_void_p
blocks = [library.malloc(ctypes.c_size_t(100_000)) for _ in range(1000)]
for block in blocks:
    ctypes.memset(block, 1, 100_000)
for block in blocks[:-1]:
    library.free(ctypes.c_void_p(block))  # the last one stays, and what is below it with it
kept = resident()
return_freed_memory()
print(kept - resident())
"""


@pytest.mark.long
@pytest.mark.skipif("CS_GNU_LIBC_VERSION" not in getattr(os, "confstr_names", ()), reason="glibc alone keeps memory so")
def test_freed_blocks_below_a_live_one_go_back():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert float(done.stdout) > 50


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: object())
    memory.return_freed_memory()
