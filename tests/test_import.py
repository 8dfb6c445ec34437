"""What `import arignote` costs beyond NumPy, and what it must not do: start programs, change folders, load much."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BOUND = 1.4
"""How long importing Arignote may take, in imports of NumPy: 0.9 to 1.1 where this was written, and 1.6 to 1.8 when all
records were made by `dataclass`.  A ratio, so that slow machines pass; of processor time, so that busy ones do.
"""
NEVER = (
    *("scipy", "IPython", "cffi", "threadpoolctl", "ziglang"),  # optional, or needed by the first compilation only
    *("argparse", "html", "multiprocessing", "random", "shutil", "tempfile", "unittest", "urllib.request"),
    *("arignote.demo", "arignote.doctor", "arignote.cache_command", "arignote.__main__"),
    *("arignote.trace", "arignote.why", "arignote.remarks", "arignote.report", "arignote.debug", "arignote.replay"),
)
TIMED = """
import time
begun = time.process_time()
import numpy
between = time.process_time()
import arignote
print((time.process_time() - between) / (between - begun))
"""
WATCHED = """
import json, sys
import numpy
before, events, names = set(sys.modules), [], {"subprocess.Popen", "os.posix_spawn", "os.fork", "os.exec", "os.system"}
names |= {"os.mkdir", "os.scandir", "os.remove", "os.rename", "socket.connect", "ctypes.dlopen"}
sys.addaudithook(lambda event, values: event in names and events.append([event, str(values)]))
import arignote
print(json.dumps([sorted(set(sys.modules) - before), events]))
"""


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """The output of a program in a process that has the bytecode of all our modules at hand."""
    bytecode = f"pycache_prefix={tmp_path_factory.mktemp('bytecode')}"

    def run(program):
        command = [sys.executable, "-X", bytecode, "-c", f"import sys; sys.dont_write_bytecode = False\n{program}"]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout

    run("import arignote")
    return run


def test_import_takes_little_more_than_numpy(fresh):
    ratio = min(float(fresh(TIMED)) for _ in range(8))
    assert ratio < BOUND, f"import arignote takes {ratio:.2f} times as long as import numpy; see `python -X importtime`"


def test_import_has_no_effects_and_loads_what_it_needs(fresh):
    loaded, events = json.loads(fresh(WATCHED))
    assert not events
    assert not [name for name in NEVER if name in loaded]
    assert "arignote.cbackend.build.build" in loaded  # its cost is not put off to the first function
