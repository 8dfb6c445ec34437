"""Networks as ONNX models: our time of a call beside ONNX Runtime and OpenVINO, on the same threads.

    python -m benchmarks.models.networks                          every network
    python -m benchmarks.models.networks --models resnet18 --threads 1 --rounds 9
    python -m benchmarks.models.networks --layers --models resnet18     our function layer by layer, and sums by kind

Weights are random, or those of the light models in the package `onnx`.  `winograd` is ours with that tag; a peer that
is not installed is left out.  All take turns, round by round, and the least time of each counts.  Before a turn there
is a pause: threads of ONNX Runtime keep their processors busy for milliseconds after a run, in which ours would have
one processor less.  `error` is the largest difference from the result of ONNX Runtime, over its largest number.
Layers have the figures of the run profile.  Their share is of the peak of as many cores, or of memory bandwidth.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.backend.test
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import arignote as ag
from arignote.graph import Op
from arignote.ops.elementwise.records import Pointwise
from arignote.ops.lowered.assembled import Assembled
from arignote.ops.lowered.blocked import BlockedConvolution
from arignote.ops.lowered.convolution_pair import ConvolutionPair
from arignote.ops.lowered.fused import Fused, unmarked
from arignote.ops.lowered.fused_product import FusedProduct
from arignote.profiling import Roofline
from arignote.profiling.run import Cost, StepProfile

PAUSE = 0.25
"""Seconds before a turn."""


class Builder:
    """An ONNX model in the making: each method adds a node and gives the name of its result."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.nodes: list[Any] = []
        self.weights: list[Any] = []
        self.rng = np.random.default_rng(0)

    def weight(self, *shape: int, scale: float | None = None) -> str:
        name = f"w{len(self.weights)}"
        scale = scale or (2.0 / max(int(np.prod(shape[1:])), 1)) ** 0.5
        array = (self.rng.standard_normal(shape) * scale).astype("float32")
        self.weights.append(numpy_helper.from_array(array, name))
        return name

    def fixed(self, value: Any, dtype: str = "float32") -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def node(self, op: str, *inputs: str, **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], **attributes))
        return name

    def conv(self, x: str, c: int, n: int, k: int = 3, stride: int = 1, groups: int = 1, relu: str = "Relu") -> str:
        """A convolution, batch normalization and an activation."""
        pad = k // 2
        w = self.weight(n, c // groups, k, k)
        y = self.node("Conv", x, w, kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4, group=groups)
        var = self.fixed(self.rng.uniform(0.5, 1.5, n))
        y = self.node("BatchNormalization", y, self.weight(n, scale=1.0), self.weight(n), self.weight(n), var)
        if relu == "Clip":
            return self.node("Clip", y, self.fixed(0.0), self.fixed(6.0))
        return self.node(relu, y) if relu else y

    def linear(self, x: str, n: int, m: int) -> str:
        return self.node("Add", self.node("MatMul", x, self.weight(n, m, scale=n**-0.5)), self.weight(m, scale=0.1))

    def model(self, output: str, shape: tuple[int, ...] = (1, 1000)) -> Any:
        outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, list(shape))]
        inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(self.shape))]
        graph = helper.make_graph(self.nodes, "network", inputs, outputs, self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(made)
        return made


def resnet18() -> Any:
    """ResNet-18 at 224x224 (He et al. 2015)."""
    b = Builder((1, 3, 224, 224))
    x = b.conv("x", 3, 64, 7, 2)
    x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    c = 64
    for n, stride in ((64, 1), (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1)):
        y = b.conv(b.conv(x, c, n, 3, stride), n, n, 3, 1, relu="")
        x = b.node("Relu", b.node("Add", y, x if (c, stride) == (n, 1) else b.conv(x, c, n, 1, stride, relu="")))
        c = n
    return b.model(_head(b, x, c))


def resnet50() -> Any:
    """ResNet-50 at 224x224 (He et al. 2015), with the stride in the middle convolution of a block."""
    b = Builder((1, 3, 224, 224))
    x, c = b.node("MaxPool", b.conv("x", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64
    for n, count, first in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for k in range(count):
            stride = 1 if k else first
            y = b.conv(b.conv(b.conv(x, c, n, 1), n, n, 3, stride), n, 4 * n, 1, relu="")
            x = b.node("Relu", b.node("Add", y, x if k else b.conv(x, c, 4 * n, 1, stride, relu="")))
            c = 4 * n
    return b.model(_head(b, x, c))


def mobilenet_v2() -> Any:
    """MobileNetV2 at 224x224 (Sandler et al. 2018)."""
    b = Builder((1, 3, 224, 224))
    x, c = b.conv("x", 3, 32, 3, 2, relu="Clip"), 32
    for t, n, count, stride in (
        (1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1),
    ):  # fmt: skip
        for k in range(count):
            wide, s = c * t, stride if k == 0 else 1
            y = b.conv(x, c, wide, 1, relu="Clip") if t > 1 else x
            y = b.conv(y, wide, wide, 3, s, groups=wide, relu="Clip")
            y = b.conv(y, wide, n, 1, relu="")
            x, c = b.node("Add", x, y) if (c, s) == (n, 1) else y, n
    return b.model(_head(b, b.conv(x, c, 1280, 1, relu="Clip"), 1280))


def squeezenet() -> Any:
    """SqueezeNet 1.1 at 224x224 (Iandola et al. 2016), with batch normalization."""
    b = Builder((1, 3, 224, 224))
    x, c = b.conv("x", 3, 64, 3, 2), 64
    for number, small in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        x = b.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2]) if number in (0, 2, 4) else x
        y = b.conv(x, c, small, 1)
        x, c = b.node("Concat", b.conv(y, small, 4 * small, 1), b.conv(y, small, 4 * small, 3), axis=1), 8 * small
    return b.model(_head(b, b.conv(x, c, 1000, 1), 1000))


def encoder() -> Any:
    """Six layers of a transformer's encoder, 256 wide, with 4 heads, on 128 positions (Vaswani et al. 2017)."""
    length, width, heads = 128, 256, 4
    b = Builder((1, length, width))
    x = "x"
    shape = b.fixed([1, length, heads, width // heads], "int64")
    flat = b.fixed([1, length, width], "int64")
    for _ in range(6):
        q, k, v = (b.node("Reshape", b.linear(x, width, width), shape) for _ in range(3))
        q, v = (b.node("Transpose", y, perm=[0, 2, 1, 3]) for y in (q, v))
        k = b.node("Transpose", k, perm=[0, 2, 3, 1])
        scores = b.node("Mul", b.node("MatMul", q, k), b.fixed((width // heads) ** -0.5))
        y = b.node("Transpose", b.node("MatMul", b.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        x = _normalized(b, b.node("Add", x, b.linear(b.node("Reshape", y, flat), width, width)), width)
        y = b.linear(b.node("Relu", b.linear(x, width, 4 * width)), 4 * width, width)
        x = _normalized(b, b.node("Add", x, y), width)
    return b.model(x, (1, length, width))


def _normalized(b: Builder, x: str, width: int) -> str:
    return b.node("LayerNormalization", x, b.weight(width, scale=1.0), b.weight(width, scale=0.1), axis=-1)


def _head(b: Builder, x: str, c: int) -> str:
    """The mean over the image, and a linear layer."""
    x = b.node("Flatten", b.node("GlobalAveragePool", x))
    return b.node("Gemm", x, b.weight(c, 1000), b.weight(1000, scale=0.1))


def light(name: str) -> Any:
    """A light model of the package `onnx`: its weights are constant or small."""
    return onnx.load(Path(onnx.backend.test.__file__).parent / "data" / "light" / f"light_{name}.onnx")


LIGHT = ("resnet50", "densenet121", "shufflenet", "inception_v1", "inception_v2")
MODELS: dict[str, Callable[[], Any]] = {
    "resnet18": resnet18, "mobilenet_v2": mobilenet_v2, "squeezenet": squeezenet, "encoder": encoder,
    **{name: partial(light, name) for name in LIGHT},
}  # fmt: skip
Call = Callable[[np.ndarray], np.ndarray]


def input_of(model: Any) -> tuple[str, tuple[int, ...]]:
    """The name and the shape of the input that is no weight."""
    weights = {w.name for w in model.graph.initializer}
    (found,) = (v for v in model.graph.input if v.name not in weights)
    return found.name, tuple(d.dim_value for d in found.type.tensor_type.shape.dim)


def ours(model: Any, threads: int, mode: str = "fast_run") -> Call:
    f: Call = ag.from_onnx(model).function(threads=threads, mode=mode)
    return f


def onnx_runtime(model: Any, threads: int) -> Call:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    name, _ = input_of(model)
    return lambda value: session.run(None, {name: value})[0]  # type: ignore[no-any-return]


def open_vino(model: Any, threads: int) -> Call:
    import openvino

    core = openvino.Core()
    options = {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32",
    }  # fmt: skip
    compiled = core.compile_model(core.read_model(model.SerializeToString()), "CPU", options)
    request, name = compiled.create_infer_request(), input_of(model)[0]
    return lambda value: request.infer({name: value})[compiled.output(0)]  # type: ignore[no-any-return]


MADE = {"ours": ours, "winograd": partial(ours, mode="fast_run winograd"), "ORT": onnx_runtime, "OpenVINO": open_vino}
OURS = ("ours", "winograd")


def compared(model: Any, threads: int, rounds: int) -> str:
    """The line of one model."""
    value = np.random.default_rng(1).standard_normal(input_of(model)[1]).astype("float32")
    calls: dict[str, Call] = {}
    results: dict[str, np.ndarray] = {}
    first = 0.0
    for name, make in MADE.items():
        begun = time.perf_counter()
        try:
            calls[name] = make(model, threads)
        except ImportError:
            continue
        results[name] = np.array(calls[name](value))
        first = first or time.perf_counter() - begun
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            time.sleep(PAUSE)
            for _ in range(10):
                begun = time.perf_counter()
                call(value)
                best[name] = min(best[name], time.perf_counter() - begun)
    peer = min(seconds for name, seconds in best.items() if name not in OURS)
    times = " ".join(f"{1e3 * best[name]:8.2f}" if name in best else f"{'-':>8}" for name in MADE)
    largest = np.abs(results["ORT"]).max()
    errors = " ".join(f"{np.abs(results[name] - results['ORT']).max() / largest:8.1e}" for name in OURS)
    ratios = " ".join(f"{best[name] / peer:8.2f}" for name in OURS)
    return f"{times} {ratios} {first:7.1f} s {errors}"


def kind_of(op: Op) -> str:
    """The kind of a layer: its convolutions by kernels and strides, or the name of its op."""
    convolutions = list(_convolutions(op))
    if not convolutions:
        return "elementwise" if isinstance(op, (Fused, Pointwise)) else op.name
    kinds = dict.fromkeys(map(_convolution_kind, convolutions))
    return (" > " if isinstance(op, ConvolutionPair) else ", ").join(kinds)


def _convolutions(op: Op) -> Iterator[BlockedConvolution]:
    """The convolutions that a node computes."""
    if isinstance(op, BlockedConvolution):
        yield op
    elif isinstance(op, FusedProduct):
        yield from _convolutions(op.product)
    elif isinstance(op, ConvolutionPair):
        yield from (*_convolutions(op.first), *_convolutions(op.second))
    elif isinstance(op, Assembled):
        for node in op.graph.order:
            yield from _convolutions(node.op)


def _convolution_kind(op: BlockedConvolution) -> str:
    rows, columns = (3, 3) if op.tile else op.weights[2:]
    kind = f"{'depthwise ' if op.own else ''}{rows}x{columns}"
    kind += f" of {op.groups} groups" if op.groups > 1 else ""
    kind += f" by tiles of {op.tile}" if op.tile else ""
    return kind if max(op.stride) == 1 else f"{kind} stride {max(op.stride)}"


def share(cost: Cost, roofline: Roofline) -> float:
    """The part of the peak of arithmetic for convolutions, of memory bandwidth for depthwise ones; else of either."""
    if cost.name[0].isdigit():
        return cost.gflops / roofline.float32
    return cost.bandwidth / roofline.bandwidth if "depthwise" in cost.name else cost.of_roofline(roofline)


def layers(model: Any, threads: int, mode: str, calls: int = 30) -> Iterator[str]:
    """A line for each layer of our function, the slowest first, then one for each kind."""
    f = ag.from_onnx(model).function(threads=threads, mode=mode, profile=True)
    value = np.random.default_rng(1).standard_normal(input_of(model)[1]).astype("float32")
    for _ in range(5):
        f(value)
    f.profile.reset()
    for _ in range(calls):
        f(value)
    profile, roofline = f.profile, f.profile.roofline
    kinds = {text: kind_of(unmarked(node.op)) for text, node in zip(profile.texts, f.graph.order, strict=False)}

    def kind(step: StepProfile) -> str:
        return kinds.get(step.text, "copies")

    each = [replace(step.cost, name=kind(step)) for step in profile.steps]
    for title, costs in (("layer", each), ("kind", profile.costs(kind))):
        yield f"{'us':>9} {'time':>6} {'GFLOP/s':>8} {'GB/s':>6} {'share':>6}  {title}"
        for cost in costs:
            times = f"{1e6 * cost.seconds / calls:9.1f} {profile.share(cost.seconds):5.1f}%"
            nodes = f" ({cost.nodes} layers)" if cost.nodes > 1 else ""
            rates = f"{cost.gflops:8.1f} {cost.bandwidth:6.1f} {100 * share(cost, roofline):5.0f}%"
            yield f"{times} {rates}  {cost.name}{nodes}"
    yield f"peak of {roofline.threads} threads: {roofline.float32:.0f} GFLOP/s, {roofline.bandwidth:.1f} GB/s"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.models.networks", description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS, metavar="MODEL")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--layers", action="store_true", help="the layers of our function, from its run profile")
    parser.add_argument("--mode", default="fast_run", help="of these layers")
    arguments = parser.parse_args()
    if arguments.layers:
        for name in arguments.models:
            print(name, *layers(MODELS[name](), arguments.threads, arguments.mode), sep="\n", flush=True)
        return
    print("times in ms; ratios to the best peer; errors from ONNX Runtime, over the largest result")
    heads = " ".join(f"{name:>8}" for name in (*MADE, "ratio", "ratio w"))
    print(f"{'network':14} {heads} {'first':>9} {'error':>8} {'error w':>8}")
    for name in arguments.models:
        print(f"{name:14} {compared(MODELS[name](), arguments.threads, arguments.rounds)}", flush=True)


if __name__ == "__main__":
    main()
