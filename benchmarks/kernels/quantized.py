"""Few bits: networks in int8, products of bytes and weights of 4 bits, beside OpenVINO, ONNX Runtime and our float32.

    python -m benchmarks.kernels.quantized                     everything, two threads
    python -m benchmarks.kernels.quantized --threads 1 --only "4 bits"

The networks have random weights and are quantized by ONNX Runtime (static, a scale for each output channel); ours and
OpenVINO read the same model.  Products are of unsigned by signed bytes.  Weights of 4 bits are those of twelve layers,
more than the caches hold; a time is that of one layer.
The last figure is the time of a plain read of as many bytes on as many threads over that time.
All take turns with a pause before each, and the least time counts.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

import arignote as ag
from arignote import ops as T

from ..models import networks
from ..models.generation import Reading

PAUSE = 0.25
WIDTH, BLOCK, MATRICES = 4096, 32, 12
SIDES = (64, 128, 256, 512, 1024)
ROOM = 512**3
"""Products of numbers that a product of matrices is repeated for."""
Timed = dict[str, Callable[[], Any]]


def least(timed: Timed, rounds: int, calls: int) -> dict[str, float]:
    """The least mean seconds of some calls in a row."""
    found = dict.fromkeys(timed, np.inf)
    for call in timed.values():
        call()
    for _ in range(rounds):
        for name, call in timed.items():
            time.sleep(PAUSE)
            start = time.perf_counter()
            for _ in range(calls):
                call()
            found[name] = min(found[name], (time.perf_counter() - start) / calls)
    return found


def session(model: Any, threads: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def in_openvino(model: Any, threads: int) -> Callable[[Any], Any]:
    """OpenVINO as it comes: bytes where the model is quantized, bfloat16 elsewhere where the processor can."""
    import openvino

    core = openvino.Core()
    options = {"INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"}
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", options)
    request, name = compiled.create_infer_request(), networks.input_of(model)[0]
    return lambda value: request.infer({name: value})[compiled.output(0)]


class Images(CalibrationDataReader):  # type: ignore[misc]
    """One random image."""

    def __init__(self, name: str, shape: tuple[int, ...]) -> None:
        self.images = iter([{name: np.random.default_rng(0).standard_normal(shape).astype("float32")}])

    def get_next(self) -> Any:
        return next(self.images, None)


def in_eight_bits(model: Any) -> Any:
    """The model by the static quantization of ONNX Runtime."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("given.onnx", "prepared.onnx", "quantized.onnx")]
        onnx.save(model, paths[0])
        quant_pre_process(paths[0], paths[1])
        quantize_static(
            paths[1], paths[2], Images(*networks.input_of(model)), quant_format=QuantFormat.QDQ, per_channel=True,
            weight_type=QuantType.QInt8, activation_type=QuantType.QUInt8,
        )  # fmt: skip
        return onnx.load(paths[2])


def network(name: str, make: Callable[[], Any], threads: int, rounds: int) -> str:
    model = make()
    narrow, (given, shape) = in_eight_bits(model), networks.input_of(model)
    x = np.random.default_rng(1).standard_normal(shape).astype("float32")
    floats, ours = (ag.from_onnx(m).function(threads=threads) for m in (model, narrow))
    theirs, wide, vino = session(narrow, threads), session(model, threads), in_openvino(narrow, threads)
    timed = {
        "ours": lambda: ours(x), "OpenVINO": lambda: vino(x), "ORT": lambda: theirs.run(None, {given: x}),
        "ours, float32": lambda: floats(x), "ORT, float32": lambda: wide.run(None, {given: x}),
    }  # fmt: skip
    expected, found = timed["ORT"]()[0], timed["ours"]()
    return row(name, least(timed, rounds, 10), error=float(np.abs(found - expected).max() / np.abs(expected).max()))


COLUMNS = ("ours", "OpenVINO", "ORT", "ours, float32", "ORT, float32")


def row(name: str, found: dict[str, float], **more: float) -> str:
    cells = [f"{found[column] * 1e3:.3f}" if column in found else "-" for column in COLUMNS]
    ratios = [f"{found['ours'] / found[other]:.2f}" if other in found else "-" for other in COLUMNS[1:4]]
    return f"| {name} | {' | '.join([*cells, *ratios])} |" + "".join(f" {k} {v:.1g}" for k, v in more.items())


def product(side: int, threads: int, rounds: int) -> str:
    """Matrices of side x side, unsigned by signed."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 256, (side, side)).astype("uint8"), rng.integers(-128, 128, (side, side)).astype("int8")
    x, y = T.matrix("x", "uint8"), T.matrix("y", "int8")
    f = ag.function([x, y], T.matmul(x, y, out_dtype="int32"), threads=threads)
    u, v = T.fmatrix("u"), T.fmatrix("v")
    g = ag.function([u, v], u @ v, threads=threads)
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("MatMulInteger", ["x", "y"], ["z"])], "product",
        [info("x", 2, a.shape), info("y", 3, b.shape)], [info("z", 6, a.shape)],
    )  # fmt: skip
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    theirs, wide = session(made, threads), [v.astype("float32") for v in (a, b)]
    timed = {
        "ours": lambda: f(a, b), "ORT": lambda: theirs.run(None, {"x": a, "y": b}), "ours, float32": lambda: g(*wide),
        "ORT, float32": lambda: wide[0] @ wide[1],
    }  # fmt: skip
    found = least(timed, rounds, max(20, ROOM // side**3))
    return f"{row(f'product of {side}^3', found)} {2 * side**3 / found['ours'] / 1e12:.2f} Tops"


def four_bits(threads: int, rounds: int) -> str:
    """A row of 4096 numbers by 4096 x 4096 weights, layer after layer."""
    rng = np.random.default_rng(0)
    packed = [rng.integers(0, 256, (WIDTH, WIDTH // 2)).astype("uint8") for _ in range(MATRICES)]
    scales = [rng.random((WIDTH, WIDTH // BLOCK)).astype("float32") / 200 for _ in packed]
    made = nbits(packed, scales)
    x = rng.standard_normal((1, WIDTH)).astype("float32")
    ours, theirs = ag.from_onnx(made).function(threads=threads), session(made, threads)
    v = y = T.fmatrix("v")
    for _ in range(MATRICES // 3):
        y = y @ T.constant(rng.standard_normal((WIDTH, WIDTH), "float32") / 64)
    floats = ag.function([v], y, threads=threads)
    timed = {"ours": lambda: ours(x), "ORT": lambda: theirs.run(None, {"x": x}), "ours, float32": lambda: floats(x)}
    size = packed[0].nbytes + scales[0].nbytes
    with tempfile.TemporaryDirectory() as folder:
        reading = Reading(size * MATRICES, threads, folder)
    times, plain = dict.fromkeys(timed, np.inf), np.inf
    for _ in range(rounds):
        time.sleep(PAUSE)
        plain = min(plain, reading.seconds() / MATRICES)
        for name, seconds in least(timed, 1, 3).items():
            times[name] = min(times[name], seconds / (MATRICES // 3 if "float" in name else MATRICES))
    reported = f"{size / times['ours'] / 1e9:.1f} GB/s of {size / plain / 1e9:.1f}: {plain / times['ours']:.0%}"
    return row("4 bits, 1 x 4096 x 4096", times) + " " + reported


def nbits(packed: Sequence[np.ndarray], scales: Sequence[np.ndarray]) -> Any:
    """Products as `MatMulNBits` of ONNX Runtime, each of the result of the one before."""
    nodes, weights = [], []
    info, array = onnx.helper.make_tensor_value_info, onnx.numpy_helper.from_array
    for k, (w, scale) in enumerate(zip(packed, scales, strict=True)):
        named = ["x" if k == 0 else f"y{k - 1}", f"w{k}", f"s{k}"], [f"y{k}"]
        how = {"K": WIDTH, "N": WIDTH, "bits": 4, "block_size": BLOCK}
        nodes.append(onnx.helper.make_node("MatMulNBits", *named, domain="com.microsoft", **how))
        weights += [array(w.reshape(WIDTH, WIDTH // BLOCK, -1), f"w{k}"), array(scale.reshape(-1), f"s{k}")]
    ends = [info("x", 1, [1, WIDTH])], [info(f"y{len(packed) - 1}", 1, [1, WIDTH])]
    opsets = [onnx.helper.make_opsetid("", 21), onnx.helper.make_opsetid("com.microsoft", 1)]
    graph = onnx.helper.make_graph(nodes, "nbits", *ends, weights)
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)


CASES: dict[str, Callable[[int, int], str]] = {
    **{name: partial(network, name, make) for name, make in {
        "ResNet-18": networks.resnet18, "ResNet-50": networks.resnet50, "MobileNetV2": networks.mobilenet_v2,
        "encoder": networks.encoder}.items()},
    **{f"product of {side}^3": partial(product, side) for side in SIDES},
    "4 bits": four_bits,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=list(CASES))
    options = parser.parse_args()
    print("| ms | ours | OpenVINO | ORT | ours, float32 | ORT (product: NumPy), float32 | "
          "of OpenVINO | of ORT | of our float32 |")  # fmt: skip
    for name, case in CASES.items():
        if options.only in (None, name):
            print(case(options.threads, options.rounds), flush=True)


if __name__ == "__main__":
    main()
