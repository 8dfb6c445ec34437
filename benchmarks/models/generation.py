"""Text generation at batch 1: tokens a second of a decoder with a cache of keys and values, and the memory it reads.

    python -m benchmarks.models.generation                      one thread and two, beside NumPy and ONNX Runtime
    python -m benchmarks.models.generation --threads 2 --position 200 --constants

A token reads every weight once.  GB/s: these bytes over the time of a token; share: of a read of as many bytes on as
many threads, whose bandwidth is measured in turns with the decoder.  The best round of each counts.  `error` is the
largest difference from NumPy's logits, over the largest logit.  ONNX Runtime has the same model, exported by
`ag.to_onnx`; it takes caches as inputs and returns them, so it copies them.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

LAYERS, WIDTH, HEADS, VOCABULARY, CONTEXT = 4, 768, 12, 8000, 256
DEEP = WIDTH // HEADS
SHAPES = {"qkv": (WIDTH, 3 * WIDTH), "out": (WIDTH, WIDTH), "up": (WIDTH, 4 * WIDTH), "down": (4 * WIDTH, WIDTH)}
SUM = """\
float sum(long n, const float *restrict x)
{
    float s[64] = {0};
    for (long i = 0; i + 64 <= n; i += 64)
        for (int k = 0; k < 64; k++) s[k] += x[i + k];
    for (int k = 1; k < 64; k++) s[0] += s[k];
    return s[0];
}
"""


def random_weights() -> dict[str, np.ndarray]:
    """The weights by name."""
    rng = np.random.default_rng(0)
    shapes = {"embedding": (VOCABULARY, WIDTH), "places": (CONTEXT, WIDTH), "head": (WIDTH, VOCABULARY)}
    shapes |= {f"{name}{k}": shape for k in range(LAYERS) for name, shape in SHAPES.items()}
    return {name: (rng.standard_normal(s) * s[0] ** -0.5).astype("float32") for name, s in shapes.items()}


def bytes_a_token(weights: dict[str, np.ndarray]) -> int:
    """The bytes of the matrices: of the embedding and the places one row is read."""
    return sum(w.nbytes for name, w in weights.items() if name not in ("embedding", "places"))


def logits(w: dict[str, Any], token: Any, at: Any, remember: Callable[..., Any]) -> Any:
    """The logits behind the token at position `at`."""

    def heads(x: Any) -> Any:
        return T.reshape(x, (HEADS, 1, DEEP))

    x = T.reshape(w["embedding"][token] + w["places"][at], (1, WIDTH))
    for k in range(LAYERS):
        qkv = T.nn.layer_norm(x) @ w[f"qkv{k}"]
        q, *new = (heads(qkv[:, n * WIDTH : (n + 1) * WIDTH]) for n in range(3))
        keys, values = remember(k, *new)
        scores = T.nn.softmax(q @ keys.mT * np.float32(DEEP**-0.5))
        x = x + T.reshape(scores @ values, (1, WIDTH)) @ w[f"out{k}"]
        x = x + T.nn.gelu(T.nn.layer_norm(x) @ w[f"up{k}"]) @ w[f"down{k}"]
    return (T.nn.layer_norm(x) @ w["head"])[0]


def ours(arrays: dict[str, np.ndarray], threads: int, constants: bool, profile: bool) -> Any:
    """The step of generation; caches are updated in place."""
    hold = T.constant if constants else ag.shared
    w = {name: hold(array) for name, array in arrays.items()}
    token, at = T.lscalar("token"), T.lscalar("at")
    caches = [[ag.shared(np.zeros((HEADS, CONTEXT, DEEP), "float32")) for _ in "kv"] for _ in range(LAYERS)]
    updates: dict[Any, Any] = {}

    def remember(k: int, *new: Any) -> list[Any]:
        updates.update((c, T.set_subtensor(c[:, at : at + 1], n)) for c, n in zip(caches[k], new, strict=True))
        return [updates[c][:, : at + 1] for c in caches[k]]

    found = logits(w, token, at, remember)
    return ag.function([token, at], found, updates=updates, threads=threads, profile=profile)


def by_numpy(w: dict[str, np.ndarray]) -> Callable[[int, int], np.ndarray]:
    """The same step by NumPy, whose BLAS chooses its threads; NumPy has no erf, so Python computes it, some 1 ms."""
    erf = np.vectorize(__import__("math").erf, otypes=["float32"])
    caches = np.zeros((LAYERS, 2, HEADS, CONTEXT, DEEP), "float32")

    def norm(x: np.ndarray) -> np.ndarray:
        centred = x - x.mean()
        return centred / np.sqrt((centred * centred).mean() + np.float32(1e-5))

    def step(token: int, at: int) -> np.ndarray:
        x = w["embedding"][token] + w["places"][at]
        for k in range(LAYERS):
            q, key, value = (norm(x) @ w[f"qkv{k}"]).reshape(3, HEADS, DEEP)
            caches[k, :, :, at] = key, value
            keys, values = caches[k, :, :, : at + 1]
            scores = (keys @ q[:, :, None])[:, :, 0] * np.float32(DEEP**-0.5)
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            y = (powers / powers.sum(axis=1, keepdims=True))[:, None] @ values
            x = x + y.reshape(WIDTH) @ w[f"out{k}"]
            up = norm(x) @ w[f"up{k}"]
            x = x + (0.5 * up * (1 + erf(up * np.float32(0.5**0.5)))) @ w[f"down{k}"]
        return norm(x) @ w["head"]

    return step


def by_onnx_runtime(arrays: dict[str, np.ndarray], threads: int) -> Callable[[int, int], np.ndarray] | None:
    """The same step by ONNX Runtime; None if it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return None
    w = {name: ag.shared(array, name=name) for name, array in arrays.items()}
    token, at = T.lscalar("token"), T.lscalar("at")
    past = [T.tensor(f"past{n}", "float32", (HEADS, None, DEEP)) for n in range(2 * LAYERS)]
    now: list[Any] = []

    def remember(k: int, *new: Any) -> list[Any]:
        now.extend(T.concatenate(pair, axis=1) for pair in zip(past[2 * k : 2 * k + 2], new, strict=True))
        return now[-2:]

    outputs = {"logits": logits(w, token, at, remember), **{f"now{n}": x for n, x in enumerate(now)}}
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    model = ag.to_onnx(outputs).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    kept: list[np.ndarray] = [np.zeros((HEADS, 0, DEEP), "float32") for _ in past]

    def step(token: int, at: int) -> np.ndarray:
        given = {f"past{n}": x[:, :at] for n, x in enumerate(kept)}
        found, *kept[:] = session.run(None, {"token": np.asarray(token), "at": np.asarray(at), **given})
        return found

    return step


class Reading:
    """Reads of the weights, a share of them on each thread."""

    def __init__(self, size: int, threads: int, folder: str) -> None:
        source, library = Path(folder, "sum.c"), Path(folder, "sum.so")
        source.write_text(SUM)
        flags = ["-O3", "-ffast-math", "-march=native", "-shared", "-fPIC"]
        subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
        self.function = ctypes.CDLL(str(library)).sum
        self.function.argtypes, self.function.restype = [ctypes.c_long, ctypes.c_void_p], ctypes.c_float
        self.arrays = [np.ones(size // 4 // threads, "float32") for _ in range(threads)]

    def seconds(self) -> float:
        """Of one read of all."""
        ready, ended = threading.Barrier(len(self.arrays) + 1), threading.Barrier(len(self.arrays) + 1)
        calls = 5

        def work(x: np.ndarray) -> None:
            ready.wait()
            for _ in range(calls):
                self.function(x.size, x.ctypes.data)
            ended.wait()

        for x in self.arrays:
            threading.Thread(target=work, args=(x,)).start()
        ready.wait()
        start = time.perf_counter()
        ended.wait()
        return (time.perf_counter() - start) / calls


def seconds_of(step: Callable[[int, int], Any], position: int, tokens: int) -> float:
    """Of one token, on average of several behind `position`."""
    start = time.perf_counter()
    for n in range(tokens):
        step(n, position + n)
    return (time.perf_counter() - start) / tokens


def compared(threads: int, position: int, rounds: int, constants: bool) -> None:
    """Print the lines of one number of threads."""
    weights = random_weights()
    size = bytes_a_token(weights)
    steps = {"Arignote": ours(weights, threads, constants, profile=False), "NumPy": by_numpy(weights)}
    other = by_onnx_runtime(weights, threads)
    if other is not None:
        steps["ONNX Runtime"] = other
    expected = np.zeros(VOCABULARY)
    errors: dict[str, float] = {}
    for name in sorted(steps, key=lambda name: name != "NumPy"):
        found = [steps[name](n % VOCABULARY, n) for n in range(position + 8)][-1]
        expected = found if name == "NumPy" else expected
        errors[name] = float(np.abs(found - expected).max() / np.abs(expected).max())
    best = dict.fromkeys([*steps, "reading"], float("inf"))
    with tempfile.TemporaryDirectory() as folder:
        reading = Reading(size, threads, folder)
        for _ in range(rounds):
            for name, step in steps.items():
                best[name] = min(best[name], seconds_of(step, position, 8))
            best["reading"] = min(best["reading"], reading.seconds())
    for name in steps:
        rate, share = size / best[name] / 1e9, best["reading"] / best[name]
        cells = f"{1 / best[name]:.0f} | {size / 1e6:.0f} MB | {rate:.1f} | {share:.0%} | {errors[name]:.1e}"
        print(f"| {name}, {threads} threads | {cells} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models.generation", description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--position", type=int, default=100, help="tokens before the first one that counts")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--constants", action="store_true", help="weights as constants, not shared variables")
    parser.add_argument("--profile", action="store_true", help="print the profile of the step instead")
    arguments = parser.parse_args()
    if arguments.profile:
        step = ours(random_weights(), arguments.threads[-1], arguments.constants, profile=True)
        for n in range(arguments.position):
            step(n, n)
        print(step.profile)
        return
    print("| | tokens a second | read a token | GB/s | share | error |\n|---|---|---|---|---|---|")
    for threads in arguments.threads:
        compared(threads, arguments.position, arguments.rounds, arguments.constants)


if __name__ == "__main__":
    main()
