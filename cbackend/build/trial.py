"""Trial of a new library in a process of its own, before it is loaded here or published.

The process is the compiled `probe.c`: it loads the library and calls it on empty arrays.  A library that the loader or
its first instructions do not survive thus costs a compilation and not the user's process, and never gets a name in the
cache.  Starting it takes 2 to 3 ms, where a fork of this process, which may have threads and much memory, takes longer
and may hang.  What the code computes is not tried here: that is the toolchain's probe and our tests.
"""

from __future__ import annotations

import signal

from ..cache.scratch import scratch_folder
from ..cache.store import Cache
from .compiler_process import CompileError, NotStartedError
from .probe import run_program
from .toolchain import Toolchain, probe_program


def defect(library: bytes, toolchain: Toolchain, cache: Cache) -> str | None:
    """The reason not to load a new library; None if it can be loaded, or no trial is possible."""
    program = probe_program(toolchain, cache)
    if program is None:
        return None
    try:
        with scratch_folder(cache.work_parents()) as folder:
            done = run_program(program, [library], folder)
    except (OSError, NotStartedError):
        return None
    except CompileError as error:
        return str(error)
    if done.code < 0:
        return f"it ended its first process by {signal.Signals(-done.code).name}"
    return done.first_lines() if done.code else None
