"""Networks of files: our time of a call beside OpenVINO's and ONNX Runtime's, each in a process of its own.

    python -m benchmarks.models.narrow resnet18.onnx swin_t.onnx
    python -m benchmarks.models.narrow --threads 2 --rounds 20 resnet18.onnx
    python -m benchmarks.models.narrow --float32 resnet18.onnx

A file has one input of known lengths.  The processes run in turn, round by round; a round is some calls.  The least
time counts, of the processor with one thread, else of the clock.  Without `--float32` the formats are ours and
OpenVINO's bfloat16, and our float32.  With it, ours, OpenVINO's and ONNX Runtime's float32.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

NARROW = ("bfloat16", "float32", "OpenVINO")
WIDE = ("float32", "ONNX Runtime", "OpenVINO float32")
CALLS = 12
"""Calls of a round."""


def openvino_call(path: str, threads: int, precision: str) -> Callable[[], object]:
    """Return a call of OpenVINO on a drawn input."""
    import openvino

    options = {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision,
    }  # fmt: skip
    compiled = openvino.Core().compile_model(path, "CPU", options)
    request, output = compiled.create_infer_request(), compiled.output(0)
    x = np.random.default_rng(1).standard_normal(tuple(compiled.inputs[0].shape)).astype("float32")
    return lambda: request.infer({0: x})[output]


def runtime_call(path: str, threads: int) -> Callable[[], object]:
    """Return a call of ONNX Runtime on the same input."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    argument = session.get_inputs()[0]
    x = np.random.default_rng(1).standard_normal(tuple(argument.shape)).astype("float32")
    return lambda: session.run(None, {argument.name: x})


def own_call(path: str, threads: int, narrow: bool) -> Callable[[], object]:
    """Return a call of our function on the same input."""
    import arignote as ag

    net = ag.from_onnx(path)
    (argument,) = net.inputs.values()
    x = np.random.default_rng(1).standard_normal(argument.type.shape).astype("float32")
    f = ag.freeze(net, compute="bfloat16", threads=threads) if narrow else net.function(threads=threads)
    return lambda: f(x)


def serve(way: str, path: str, threads: int) -> None:
    """Answer each line of the input with the least time of some calls."""
    if way.startswith("OpenVINO"):
        call = openvino_call(path, threads, "f32" if way in WIDE else "bf16")
    else:
        call = runtime_call(path, threads) if way == "ONNX Runtime" else own_call(path, threads, way == "bfloat16")
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


def measured(path: str, ways: tuple[str, ...], threads: int, rounds: int) -> dict[str, float]:
    """Return the least time of each way in ms."""
    workers = {way: worker(way, path, threads) for way in ways}
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for way, process in workers.items():
            best[way] = min(best[way], 1e3 * least_time(process))
    for process in workers.values():
        process.communicate()
    return best


def row(path: str, best: dict[str, float]) -> str:
    """Return a row of the table: the times and our ratios."""
    times = list(best.values())
    ratios = (times[0] / min(times[1:]),) if "bfloat16" not in best else (times[0] / times[2], times[0] / times[1])
    return f"| {Path(path).stem} | {' | '.join(f'{value:.2f}' for value in (*times, *ratios))} |"


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--float32", action="store_true", help="compare float32 on all sides")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--serve", choices=NARROW + WIDE, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.files[0], options.threads)
        return
    heads = ("ours", "ONNX Runtime", "OpenVINO", "to the best")
    if not options.float32:
        heads = ("ours", "our float32", "OpenVINO", "to OpenVINO", "to our float32")
    print(f"| network | {' | '.join(heads)} |")
    print("| --- " * (len(heads) + 1) + "|")
    for path in options.files:
        best = measured(path, WIDE if options.float32 else NARROW, options.threads, options.rounds)
        print(row(path, best), flush=True)


if __name__ == "__main__":
    main()
