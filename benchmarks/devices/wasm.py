"""WebAssembly beside native C of the same functions, one thread: `python -m benchmarks.devices.wasm [NAME ...]`.

Each function is exported three times, built, and calls itself in a loop: natively, natively with WebAssembly's vectors
(x86_64-linux-v2), and under wasmtime.  The three programs run alternately, so a busy moment of the host meets all of
them; the least time of all rounds counts.  Needs make, ziglang and wasmtime.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import wasmtime

import arignote as ag
from arignote import ops as T
from arignote.demo import cnn as demo_cnn

TARGETS = (None, "x86_64-linux-v2", "wasm32-wasi")
ROUNDS = 9
CALL = "    const int code = "
LOOP = """\
    double best = 1e30, total = 0;
    for (int k = 0; (total < 0.1e9 || k < 5) && k < 20000; k++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        if (NAME_run(f, inputs, outputs)) end("failed", "run");
        clock_gettime(CLOCK_MONOTONIC, &b);
        const double time = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
        if (time < best) best = time;
        total += time;
    }
    printf("%.3f\\n", best / 1e3);
    return 0;
}
"""
rng = np.random.default_rng(0)


def single(*shape: int) -> np.ndarray:
    """Random numbers in float32."""
    return rng.standard_normal(shape, "float32")


def cases() -> dict[str, tuple[list[Any], Any, list[np.ndarray]]]:
    """Inputs, output and arguments of each function by its name."""
    x, y, d, v = T.matrix("x", "float32"), T.matrix("y", "float32"), T.matrix("d"), T.vector("v")
    net = demo_cnn.lenet()
    scan = ag.scan(lambda e, s: s * 0.5 + e, v, T.constant(0.0))[0]
    return {
        "add": ([x, y], x * 2 + y, [single(200, 500), single(200, 500)]),
        "exp": ([x], T.exp(x), [single(100, 1000)]),
        "gelu": ([x], x * 0.5 * (1 + T.erf(x / 1.41)), [single(100, 1000)]),
        "sin64": ([d], T.sin(d), [rng.standard_normal((100, 1000))]),
        "softmax": ([x], T.nn.softmax(x), [single(100, 1000)]),
        "sum": ([x], x.sum(), [single(300, 1000)]),
        "columns": ([x], x.sum(0), [single(300, 1000)]),
        "argmax": ([x], x.argmax(1), [single(300, 1000)]),
        "gemm": ([x, y], x @ y, [single(256, 256), single(256, 256)]),
        "gemm64": ([d], d @ d, [rng.standard_normal((200, 200))]),
        "gemv": ([x, y], x @ y, [single(1000, 300), single(300, 1)]),
        "lenet1": ([x], net.logits(x), [single(1, 64)]),
        "lenet64": ([x], net.logits(x), [single(64, 64)]),
        "scan": ([v], scan, [rng.standard_normal(1000)]),
        "transposed": ([x], T.tanh(x.T) + 1, [single(400, 300)]),
    }


def build(name: str, folder: Path) -> list[str]:
    """Export and build a function for each target in a folder of its own; return the arguments of the programs."""
    inputs, output, arrays = cases()[name]
    function = ag.function(inputs, output, name=name)
    arguments = [name, f"{name}.weights"]
    folder.mkdir(parents=True, exist_ok=True)
    for k, array in enumerate(arrays):
        arguments.append(f"in{k}.bin:{','.join(map(str, array.shape))}")
    for target in TARGETS:
        made = folder / str(target)
        function.export(made, target=target)
        main = (made / f"{name}_main.c").read_text()
        main = main[: main.index(CALL)] + LOOP.replace("NAME", name)
        main = main.replace("_open(argv[1], 0)", "_open(argv[1], 1)")
        main = main.replace("<stdio.h>", "<stdio.h>\n#include <time.h>")
        (made / f"{name}_main.c").write_text(main)
        subprocess.run(
            ["make", "-s"], cwd=made, env={**os.environ, "ZIG": f"{sys.executable} -m ziglang"}, check=True,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for k, array in enumerate(arrays):
            array.tofile(made / f"in{k}.bin")
    return arguments


def measure(folder: Path, arguments: list[str]) -> list[float]:
    """The least microseconds of a call in one thread, for each target."""
    in_wasm = _wasm(folder / "wasm32-wasi", arguments)
    rounds = []
    for _ in range(ROUNDS):
        native = (_natively(folder / str(target), arguments) for target in TARGETS[:2])
        rounds.append([*native, in_wasm()])
    return [min(times) for times in zip(*rounds, strict=True)]


def _natively(folder: Path, arguments: list[str]) -> float:
    command = [f"./{arguments[0]}", *arguments[1:]]
    return float(subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout)


def _wasm(folder: Path, arguments: list[str]) -> Callable[[], float]:
    """The program in WebAssembly, compiled once."""
    engine = wasmtime.Engine()
    module = wasmtime.Module.from_file(engine, str(folder / f"{arguments[0]}.wasm"))

    def run() -> float:
        config = wasmtime.WasiConfig()
        config.argv = arguments
        config.preopen_dir(str(folder), ".")
        config.stdout_file = str(folder / "time.txt")
        store = wasmtime.Store(engine)
        store.set_wasi(config)
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        linker.instantiate(store, module).exports(store)["_start"](store)  # type: ignore[operator]
        del store, linker
        return float((folder / "time.txt").read_text())

    return run


def main(names: list[str]) -> None:
    """Print a row for each function, and the geometric means."""
    ratios = []
    with tempfile.TemporaryDirectory() as top:
        programs = {name: build(name, Path(top) / name) for name in names or cases()}
        for name, arguments in programs.items():
            native, narrow, wasm = times = measure(Path(top) / name, arguments)
            ratios.append((wasm / native, wasm / narrow))
            figures = (f"{time:.1f}" for time in times)
            print("|", " | ".join([name, *figures, *(f"{ratio:.2f}" for ratio in ratios[-1])]), "|", flush=True)
    of_native, of_narrow = np.exp(np.mean(np.log(ratios), axis=0))
    print(f"| geometric mean | | | | {of_native:.2f} | {of_narrow:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
