"""Networks in bfloat16: our time of a call beside OpenVINO's, each in a process of its own.

    python -m benchmarks.models.narrow resnet18.onnx swin_t.onnx
    python -m benchmarks.models.narrow --threads 2 --rounds 20 resnet18.onnx

A file has one input of known lengths.  The processes run in turn, round by round; a round is some calls.  The least
time counts, of the processor with one thread, else of the clock.  `float32` is ours without `compute`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

WAYS = ("bfloat16", "float32", "OpenVINO")
CALLS = 12
"""Calls of a round."""


def openvino_call(path: str, threads: int) -> Callable[[], object]:
    """Return a call of OpenVINO on a drawn input."""
    import openvino

    options = {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "bf16",
    }  # fmt: skip
    compiled = openvino.Core().compile_model(path, "CPU", options)
    request, output = compiled.create_infer_request(), compiled.output(0)
    x = np.random.default_rng(1).standard_normal(tuple(compiled.inputs[0].shape)).astype("float32")
    return lambda: request.infer({0: x})[output]


def own_call(path: str, threads: int, narrow: bool) -> Callable[[], object]:
    """Return a call of our function on the same input."""
    import onnx

    import arignote as ag

    model = onnx.load(path)
    shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(1).standard_normal(shape).astype("float32")
    net = ag.from_onnx(model)
    f = ag.freeze(net, compute="bfloat16", threads=threads) if narrow else net.function(threads=threads)
    return lambda: f(x)


def serve(way: str, path: str, threads: int) -> None:
    """Answer each line of the input with the least time of some calls."""
    call = openvino_call(path, threads) if way == "OpenVINO" else own_call(path, threads, way == "bfloat16")
    clock = time.process_time if threads == 1 else time.perf_counter
    for _ in range(3):
        call()
    print("ready", flush=True)
    for _ in sys.stdin:
        least = float("inf")
        for _ in range(CALLS):
            start = clock()
            call()
            least = min(least, clock() - start)
        print(least, flush=True)


def worker(way: str, path: str, threads: int) -> subprocess.Popen[str]:
    """Start a process that serves, and return it when it is ready."""
    command = [sys.executable, "-m", "benchmarks.models.narrow", "--serve", way, "--threads", str(threads), path]
    made = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert made.stdout is not None
    for line in made.stdout:
        if line.strip() == "ready":
            return made
    raise RuntimeError(f"{way} cannot run {path}")


def least_time(process: subprocess.Popen[str]) -> float:
    """Ask for a round."""
    assert process.stdin is not None and process.stdout is not None
    print(file=process.stdin, flush=True)
    return float(process.stdout.readline())


def measured(path: str, threads: int, rounds: int) -> dict[str, float]:
    """Return the least time of each way in ms."""
    workers = {way: worker(way, path, threads) for way in WAYS}
    best = dict.fromkeys(WAYS, float("inf"))
    for _ in range(rounds):
        for way, process in workers.items():
            best[way] = min(best[way], 1e3 * least_time(process))
    for process in workers.values():
        process.communicate()
    return best


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--serve", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.files[0], options.threads)
        return
    print("| network | ours | our float32 | OpenVINO | to OpenVINO | to our float32 |")
    print("| --- | --- | --- | --- | --- | --- |")
    for path in options.files:
        best = measured(path, options.threads, options.rounds)
        ours, wide, other = (best[way] for way in WAYS)
        times = " | ".join(f"{ms:.2f}" for ms in (ours, wide, other))
        print(f"| {Path(path).stem} | {times} | {ours / other:.2f} | {ours / wide:.2f} |", flush=True)


if __name__ == "__main__":
    main()
