"""Functions over Dask arrays on clusters of processes: memory, equal bits, workers that differ from the client."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import arignote as ag
from arignote import ops as T
from arignote.chunked import tasks as block_tasks

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")


def output(script, folder, timeout=200, **environment):
    """The last line that a script prints."""
    (folder / "script.py").write_text(script)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "script.py"],
        cwd=folder,
        env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()[-1]


LARGE = """
import re
import dask, numpy as np
import dask.array as da
from distributed import Client, LocalCluster
import arignote as ag
from arignote import ops as T

MEGA, ROWS, BLOCKS = 2**20, 2**19, 100

def rows(block_id=None):
    return np.random.default_rng(block_id[0]).random((ROWS, 4))

def most():
    with open("/proc/self/status") as status:  # of this program: ru_maxrss counts the process that was forked as well
        return int(re.search(r"VmHWM:\\s*(\\d+)", status.read())[1]) * 1024

def main():
    x, w = T.matrix("x"), T.vector("w")
    loss = T.square(x @ w).mean()
    f = ag.function([x, w], [loss, ag.grad(loss, w), x.max(axis=0)], name="step", engine="dask")
    large = da.map_blocks(rows, chunks=((ROWS,) * BLOCKS, (4,)), dtype="float64", meta=np.empty((0, 0)))
    small, weights = large.blocks[:5], np.ones(4)
    options = dict(n_workers=4, threads_per_worker=1, memory_limit=400 * MEGA, dashboard_address=None, silence_logs=50)
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        first = list(client.scheduler_info()["workers"])[:1]
        assert large.nbytes >= 4 * options["memory_limit"]
        one = client.gather(client.compute(f(large, weights), workers=first))
        every = dask.compute(*f(small, weights))
        peaks = client.run(most)
        assert np.array_equal(one[2], one[2].clip(0.999, 1))
    with dask.config.set(scheduler="synchronous"):
        here = dask.compute(*f(small, weights))
    assert all(np.array_equal(a, b) for a, b in zip(every, here, strict=True))
    print(max(peaks.values()) < options["memory_limit"], max(peaks.values()) // MEGA, "MB")

if __name__ == "__main__":
    main()
"""


@pytest.mark.long
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the peak of memory is read from /proc")
def test_four_workers_give_equal_bits_and_stay_within_their_memory(tmp_path):
    """An input of four times the memory limit goes through one of them."""
    assert output(LARGE, tmp_path).startswith("True")


def program(mode="NUMPY"):
    """A program as a worker receives it."""
    x = T.vector("x")
    f = ag.function([x], x.sum(), mode=mode, name="total", engine="dask")
    f(da.ones(4, chunks=2))
    [[(_, plan)]] = f._chunked._plans.values()
    return pickle.dumps(plan.program)


def test_a_worker_with_another_numpy_is_named(monkeypatch):
    shipped = program()
    monkeypatch.setattr(block_tasks, "_here", {})
    monkeypatch.setattr(np, "__version__", "1.26.4")
    with pytest.raises(RuntimeError, match=r"total: worker .* has NumPy 1.26.4, the client .*pip install numpy=="):
        pickle.loads(shipped).parts  # noqa: B018


BARE = """
import pickle
import arignote, numpy
try:
    pickle.load(open("program", "rb")).parts
except RuntimeError as error:
    print(error)
"""


def test_a_worker_without_a_compiler_is_named(tmp_path):
    (tmp_path / "program").write_bytes(program("FAST_COMPILE"))
    bare = {"ARIGNOTE_CC": str(tmp_path / "none"), "ARIGNOTE_CACHE": str(tmp_path), "ARIGNOTE_PREBUILT": "0"}
    report = output(BARE, tmp_path, **bare)
    assert report.startswith("total: worker ") and "no working C compiler" in report and "install gcc there" in report
