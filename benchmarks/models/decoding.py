"""One token of a Llama-like decoder at batch 1: weights in 32, 16, 8 and 4 bits, beside ONNX Runtime and OpenVINO.

    python -m benchmarks.models.decoding
    python -m benchmarks.models.decoding --threads 2 --rounds 20 --profile bfloat16

A layer is RMSNorm, attention of grouped queries with rotary positions and a cache, RMSNorm, and SwiGLU.  Caches of
`PAST` tokens are arguments, the new keys and values are results, and weights are constants.  ONNX Runtime and OpenVINO
read the file that `ag.to_onnx` writes; ONNX Runtime's weights of 4 bits are those of its own quantizer.  All run
in one process, in turn; the least time counts.  GB/s: bytes of the weights over that time; the limit is a plain read
of 256 MB.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

from .generation import Reading

LAYERS, WIDTH, HEADS, GROUPS, HIDDEN, VOCABULARY, PAST = 4, 1024, 16, 4, 2816, 8192, 128
DEEP = WIDTH // HEADS
SHAPES = {
    "q": (WIDTH, WIDTH), "k": (WIDTH, GROUPS * DEEP), "v": (WIDTH, GROUPS * DEEP), "o": (WIDTH, WIDTH),
    "gate": (WIDTH, HIDDEN), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH),
}  # fmt: skip
BITS = {"float32": 32, "bfloat16": 16, "float16": 16, "int8": 8, "int4": 5}
"""Bits of a weight; those of int4 have a scale of 32 bits for each 32."""


def weights() -> dict[str, np.ndarray]:
    """Return the matrices by name."""
    rng = np.random.default_rng(0)
    shapes = {f"{name}{k}": shape for k in range(LAYERS) for name, shape in SHAPES.items()}
    shapes["head"] = (WIDTH, VOCABULARY)
    return {name: (rng.standard_normal(s) * s[0] ** -0.5).astype("float32") for name, s in shapes.items()}


def norm(x: Any) -> Any:
    """Divide by the root of the mean square."""
    return x / T.sqrt(T.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-5))


def rotated(x: Any, cosine: Any, sine: Any) -> Any:
    """Rotate the pairs (i, i + half) of the last axis by the angles of a position."""
    half = DEEP // 2
    a, b = x[..., :half], x[..., half:]
    return T.concatenate([a * cosine - b * sine, b * cosine + a * sine], axis=-1)


def network() -> tuple[list[Any], dict[str, Any]]:
    """Return inputs and outputs: an embedded token, its angles and the caches; logits, new keys and values."""
    w = {name: T.constant(array) for name, array in weights().items()}
    x0 = T.tensor("x", "float32", (1, WIDTH))
    cosine, sine = (T.tensor(name, "float32", (1, DEEP // 2)) for name in ("cosine", "sine"))
    caches = [T.tensor(f"past{n}", "float32", (GROUPS, PAST, DEEP)) for n in range(2 * LAYERS)]
    x, new = x0, {}
    for n in range(LAYERS):
        y = norm(x)
        q = rotated(T.reshape(y @ w[f"q{n}"], (GROUPS, HEADS // GROUPS, DEEP)), cosine, sine)
        k = rotated(T.reshape(y @ w[f"k{n}"], (GROUPS, 1, DEEP)), cosine, sine)
        v = T.reshape(y @ w[f"v{n}"], (GROUPS, 1, DEEP))
        new |= {f"key{n}": k, f"value{n}": v}
        keys = T.concatenate([caches[2 * n], k], axis=1)
        values = T.concatenate([caches[2 * n + 1], v], axis=1)
        shares = T.nn.softmax(q @ keys.mT * np.float32(DEEP**-0.5))
        x = x + T.reshape(shares @ values, (1, WIDTH)) @ w[f"o{n}"]
        y = norm(x)
        gate = y @ w[f"gate{n}"]
        x = x + (gate * T.nn.sigmoid(gate) * (y @ w[f"up{n}"])) @ w[f"down{n}"]
    return [x0, cosine, sine, *caches], {"logits": norm(x) @ w["head"], **new}


def arguments(seed: int = 1) -> list[np.ndarray]:
    """Return drawn arguments."""
    rng = np.random.default_rng(seed)
    angles = PAST * 10000.0 ** -(np.arange(DEEP // 2) / (DEEP // 2))
    caches = [rng.standard_normal((GROUPS, PAST, DEEP)) for _ in range(2 * LAYERS)]
    drawn = [rng.standard_normal((1, WIDTH)), np.cos(angles)[None], np.sin(angles)[None], *caches]
    return [a.astype("float32") for a in drawn]


def ours(inputs: list[Any], outputs: dict[str, Any], threads: int, **options: Any) -> dict[str, Any]:
    """Return our function for each format."""
    made: dict[str, Any] = {"float32": ag.function(inputs, outputs, threads=threads, **options)}
    for name in ("bfloat16", "float16"):
        made[name] = ag.freeze(outputs, inputs=inputs, storage=name, threads=threads, **options)
    for name in ("int8", "int4"):
        samples = [tuple(arguments(seed)) for seed in range(2, 10)]
        made[name] = ag.quantize(outputs, samples, inputs=inputs, weights=name, threads=threads, **options)
    return made


def runtime(path: str, threads: int, given: dict[str, np.ndarray]) -> Callable[[], Any]:
    """Return a call of ONNX Runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, given)


def openvino_call(path: str, threads: int, precision: str, given: dict[str, np.ndarray]) -> Callable[[], Any]:
    """Return a call of OpenVINO."""
    import openvino

    options = {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": precision,
    }  # fmt: skip
    request = openvino.Core().compile_model(path, "CPU", options).create_infer_request()
    return lambda: request.infer(given)


def four_bits(path: str) -> str:
    """Write the model with ONNX Runtime's weights of 4 bits, 32 of them with one scale, and return its path."""
    import onnx
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    logging.getLogger("onnxruntime.quantization.matmul_nbits_quantizer").setLevel(logging.ERROR)
    made = MatMulNBitsQuantizer(onnx.load(path), block_size=32, is_symmetric=True)
    made.process()
    target = path.replace(".onnx", "4.onnx")
    onnx.save(made.model.model, target)
    return target


def others(
    inputs: list[Any], outputs: dict[str, Any], folder: str, threads: int
) -> dict[tuple[str, str], Callable[[], Any]]:
    """Return the calls of other programs by format and name; those that are not installed are left out."""
    path = str(Path(folder, "step.onnx"))
    Path(path).write_bytes(ag.to_onnx(outputs).SerializeToString())
    given = {v.name: a for v, a in zip(inputs, arguments(), strict=True)}
    makers: dict[tuple[str, str], Callable[[], Callable[[], Any]]] = {
        ("float32", "ONNX Runtime"): lambda: runtime(path, threads, given),
        ("float32", "OpenVINO"): lambda: openvino_call(path, threads, "f32", given),
        ("bfloat16", "OpenVINO"): lambda: openvino_call(path, threads, "bf16", given),
        ("int4", "ONNX Runtime"): lambda: runtime(four_bits(path), threads, given),
    }
    made = {}
    for key, maker in makers.items():
        try:
            made[key] = maker()
        except ImportError:
            continue
    return made


def compared(threads: int, rounds: int) -> None:
    """Print a row for each format and program."""
    inputs, outputs = network()
    given = arguments()
    calls: dict[tuple[str, str], Callable[[], Any]] = {}
    for name, f in ours(inputs, outputs, threads).items():
        calls[name, "Arignote"] = lambda f=f: f(*given)
    exact = calls["float32", "Arignote"]()["logits"]
    numbers = sum(a.size for a in weights().values())
    with tempfile.TemporaryDirectory() as folder:
        calls |= others(inputs, outputs, folder, threads)
        reading = Reading(1 << 28, threads, folder)
        best, limit = dict.fromkeys(calls, float("inf")), float("inf")
        for _ in range(rounds):
            limit = min(limit, reading.seconds())
            for key, call in calls.items():
                for _ in range(5):
                    start = time.perf_counter()
                    call()
                    best[key] = min(best[key], time.perf_counter() - start)
    print(f"{threads} threads; {numbers / 1e6:.0f} million weights; a plain read {(1 << 28) / limit / 1e9:.1f} GB/s\n")
    print("| weights | program | ms a token | GB/s | error |\n| --- | --- | --- | --- | --- |")
    for (name, program), seconds in sorted(best.items()):
        rate, error = numbers * BITS[name] / 8 / seconds / 1e9, ""
        if program == "Arignote":
            found = calls[name, program]()["logits"]
            error = f"{np.abs(found - exact).max() / np.abs(exact).max():.1e}"
        print(f"| {name} | {program} | {1e3 * seconds:.2f} | {rate:.1f} | {error} |", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models.decoding", description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--profile", choices=tuple(BITS), help="print the run profile of our function instead")
    options = parser.parse_args()
    if options.profile:
        step = ours(*network(), options.threads, profile=True)[options.profile]
        for _ in range(30):
            step(*arguments())
        print(step.profile)
        return
    compared(options.threads, options.rounds)


if __name__ == "__main__":
    main()
