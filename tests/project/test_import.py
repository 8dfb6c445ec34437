"""Cost of `import arignote` beyond NumPy; it must not start programs, change folders or load much."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOUND = 2.1
"""Calls that importing Arignote may take, in those of importing NumPy: 1.6 where this was written.  A count, so that
busy machines pass: a ratio of processor times was 0.9 to 1.1 on an idle one and 1.8 beside other programs.
"""
COMPILED = 100
"""Texts that may be compiled meanwhile: 51 where this was written, 1200 when all records were made by `dataclass`."""
NEVER = (
    *("scipy", "IPython", "cffi", "threadpoolctl", "ziglang"),  # optional, or needed by the first compilation only
    *("argparse", "difflib", "html", "multiprocessing", "random", "shutil", "tempfile", "unittest", "urllib.request"),
    *("arignote.demo.digits", "arignote.cli.doctor", "arignote.cli.cache_command", "arignote.__main__"),
    *(f"arignote.explain.{name}" for name in ("trace", "why", "remarks", "report", "debug", "replay")),
    "arignote.function.narration",
)
COUNTED = """
import json, sys
calls, texts = [0], []
def called(frame, event, value):
    calls[-1] += event in ("call", "c_call")
sys.addaudithook(lambda event, values: event == "compile" and texts.append(values[1]))
sys.setprofile(called)
import numpy
calls.append(0)
del texts[:]
import arignote
sys.setprofile(None)
print(json.dumps([calls, len(texts)]))
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
    (numpy, ours), compiled = json.loads(fresh(COUNTED))
    assert ours < BOUND * numpy, f"import arignote makes {ours} calls, import numpy {numpy}; see `python -X importtime`"
    assert compiled < COMPILED


def test_import_has_no_effects_and_loads_what_it_needs(fresh):
    loaded, events = json.loads(fresh(WATCHED))
    assert not events
    assert not [name for name in NEVER if name in loaded]
    assert "arignote.cbackend.build.build" in loaded  # its cost is not put off to the first function
