"""Generated C, driver and runtime under the sanitizers of gcc: two zoos of functions, on odd shapes and in threads.

The libraries go through the whole way that users' libraries go: the sanitizers are options of the compiler that
`ARIGNOTE_CC` names, with a cache of its own.  A planted error first shows that there would be a report.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..children import ROOT, ending, environment
from ..scorecard import Row, Trials

_TIMEOUT = 3000.0
_REPORT = re.compile(r".*(?:runtime error:|ERROR: AddressSanitizer|WARNING: ThreadSanitizer).*")


@dataclass(frozen=True)
class Sanitizer:
    """`library`: its run-time part, which must be in the process before anything else; `planted`: the body of a main
    that it reports, given `shared`, a global, and `set`, a thread that writes it.
    """

    name: str
    flags: str
    library: str
    planted: str
    quiet: str = ""  # options in its variable of the environment


# Signed overflow is defined by -fwrapv, which every file is compiled with; division by zero of floats is IEEE's.
ADDRESS = Sanitizer(
    "ASan, UBSan", "-fsanitize=address,undefined,float-cast-overflow -fno-omit-frame-pointer -g1", "libasan.so",
    "return ((volatile char *)malloc(7))[argc + 6];", "detect_leaks=0:",
)  # fmt: skip
THREAD = Sanitizer(
    "TSan", "-fsanitize=thread -g1", "libtsan.so",
    "pthread_t t; pthread_create(&t, 0, set, 0); shared = argc; return pthread_join(t, 0);",
)  # fmt: skip
_PLANTED = """#include <pthread.h>
#include <stdlib.h>
int shared;
void *set(void *unused) {{ shared = 7; return unused; }}
int main(int argc, char **argv) {{ (void)argv; {body} }}
"""


def _command(sanitizer: Sanitizer, *argv: str) -> list[str]:
    """TSan's shadow memory of gcc up to 13 has no room for addresses as random as new kernels make them."""
    setarch = shutil.which("setarch")
    return [setarch, "-R", *argv] if sanitizer is THREAD and setarch else [*argv]


def _settings(sanitizer: Sanitizer, folder: str) -> dict[str, str]:
    message = f"log_path={folder}/reports"
    options = sanitizer.quiet + message
    return {"ASAN_OPTIONS": options, "TSAN_OPTIONS": options, "UBSAN_OPTIONS": f"{message}:print_stacktrace=1"}


def _reports(folder: str) -> list[str]:
    texts = (path.read_text(errors="replace") for path in sorted(Path(folder).glob("reports*")))
    return [line for text in texts for line in _REPORT.findall(text)]


def reports_what_is_planted(sanitizer: Sanitizer, gcc: str) -> bool:
    """Whether the sanitizer is there, and works."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "planted.c").write_text(_PLANTED.format(body=sanitizer.planted))
        build = [gcc, *sanitizer.flags.split(), "-pthread", "-o", "planted", "planted.c"]
        if subprocess.run(build, cwd=folder, capture_output=True, check=False).returncode:
            return False
        command = _command(sanitizer, f"{folder}/planted")
        subprocess.run(command, env=_settings(sanitizer, folder), capture_output=True, check=False)
        return bool(_reports(folder))


def sanitized(sanitizer: Sanitizer, program: str, cache: str, *options: str) -> Row:
    """Reports on a program that prints how many calls it made; its libraries go into the folder `cache`."""
    trials = Trials("G2", f"generated C and the runtime under {sanitizer.name}, {program}: no report")
    gcc = shutil.which("gcc")
    if gcc is None or not reports_what_is_planted(sanitizer, gcc):
        trials.check(True, "")
        return trials.row(f"not tried: no gcc with {sanitizer.library} that reports what is planted")
    with tempfile.TemporaryDirectory() as folder:
        settings = environment(
            ARIGNOTE_CC=f"{gcc} {sanitizer.flags}", ARIGNOTE_CACHE=cache, ARIGNOTE_STRICT="1",
            LD_PRELOAD=_preloaded(gcc, sanitizer.library), PYTHONMALLOC="malloc", **_settings(sanitizer, folder),
        )  # fmt: skip
        command = _command(sanitizer, sys.executable, "-m", f"tests.campaign.processes.{program}", *options)
        done = subprocess.run(
            command, cwd=ROOT, env=settings, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        mark = b"__tsan_" if sanitizer is THREAD else b"__asan_"
        instrumented = [p for p in Path(cache).rglob("*.so") if mark in p.read_bytes()]
        for line in _reports(folder):
            trials.check(False, line)
    trials.check(done.returncode == 0, f"{ending(done.returncode)}: {done.stderr[-1500:]}")
    trials.check(bool(instrumented), "no library was compiled with the sanitizer")
    if done.returncode == 0:
        trials.check(True, "", int(done.stdout.split()[-1]))
    return trials.row()


def run(full: bool) -> list[Row]:
    """No row's worth of trials where gcc has no sanitizers: that is said in the scorecard."""
    size = ("--full",) * full
    with tempfile.TemporaryDirectory() as address, tempfile.TemporaryDirectory() as thread:
        return [
            sanitized(ADDRESS, "zoo", address, *size),
            sanitized(ADDRESS, "zoo_runtime", address, *size),
            sanitized(THREAD, "zoo_runtime", thread, *size),
        ]


def _preloaded(gcc: str, library: str) -> str:
    command = [gcc, f"-print-file-name={library}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
