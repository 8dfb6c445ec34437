"""Networks of files in a new process: the time to the first result, and the memory that the process gains by it.

    python -m benchmarks.models.starting resnet18.onnx vit_b_16.onnx
    python -m benchmarks.models.starting --bfloat16 resnet18.onnx

Each way runs `--rounds` processes, in turn; imports are not counted.  The least time counts, of the wall and of the
processor, and the least memory.  `empty`: ours with an empty cache optimizes, packs and stores.  `full`: the next one.
Memory is resident: private pages, and those of files that the process read.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from .narrow import openvino_call, own_call, runtime_call

WAYS = ("empty", "full", "ONNX Runtime", "OpenVINO")


def resident(name: str = "VmRSS") -> float:
    """Return MiB of memory of this process."""
    found = re.search(name + r":\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def first_result(way: str, path: str, narrow: bool) -> None:
    """Print seconds of the wall and of the processor to the first result, and the growth of this process in MiB."""
    if way in ("empty", "full"):
        import onnx  # noqa: F401

        import arignote  # noqa: F401
    elif way == "ONNX Runtime":
        import onnxruntime  # noqa: F401
    else:
        import openvino  # noqa: F401
    before, start, used = resident(), time.perf_counter(), time.process_time()
    if way == "OpenVINO":
        call = openvino_call(path, 1, "bf16" if narrow else "f32")
    else:
        call = runtime_call(path, 1) if way == "ONNX Runtime" else own_call(path, 1, narrow)
    result = call()
    print(time.perf_counter() - start, time.process_time() - used, resident() - before)
    assert np.size(result) > 0


def measured(path: str, rounds: int, narrow: bool) -> dict[str, list[float]]:
    """Return the least seconds and MiB of each way."""
    found: dict[str, list[float]] = {way: [float("inf")] * 3 for way in WAYS}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as cache:
            for way in WAYS:
                options = ["--bfloat16"] if narrow else []
                command = [sys.executable, "-m", "benchmarks.models.starting", "--way", way, *options, path]
                environment = {**os.environ, "ARIGNOTE_CACHE": cache}
                done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
                numbers = map(float, done.stdout.splitlines()[-1].split())
                found[way] = [min(pair) for pair in zip(found[way], numbers, strict=True)]
    return found


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--bfloat16", action="store_true", help="ours and OpenVINO's in bfloat16")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        first_result(options.way, options.files[0], options.bfloat16)
        return
    print(f"| network | {' | '.join(WAYS)} | full to ONNX Runtime | MiB: {' | '.join(WAYS)} | full to ONNX Runtime |")
    print("| --- " * (2 * len(WAYS) + 3) + "|")
    for path in options.files:
        best = measured(path, options.rounds, options.bfloat16)
        ratios = [best["full"][k] / best["ONNX Runtime"][k] for k in range(3)]
        times = [f"{wall:.2f} ({cpu:.2f})" for wall, cpu, _ in best.values()]
        memory = [f"{grown:.0f}" for *_, grown in best.values()]
        row = (Path(path).stem, *times, f"{ratios[0]:.2f} ({ratios[1]:.2f})", *memory, f"{ratios[2]:.2f}")
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
