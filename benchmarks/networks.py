"""Networks as ONNX models with random weights: our time of a call beside ONNX Runtime's, on the same threads.

    python -m benchmarks.networks                          every network
    python -m benchmarks.networks --models resnet18 --threads 1 --rounds 9

The two take turns, round by round, and the least time of each counts.  Before a turn there is a pause: threads of ONNX
Runtime keep their processors busy for milliseconds after a run, in which ours would have one processor less.  `error`
is the largest difference of the results, over the largest result.  `peak` is the processor's: `python -m
benchmarks.products` measures it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import arignote as ag

PAUSE = 0.1
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


MODELS: dict[str, Callable[[], Any]] = {
    "resnet18": resnet18, "mobilenet_v2": mobilenet_v2, "squeezenet": squeezenet, "encoder": encoder,
}  # fmt: skip


def compared(model: Any, shape: tuple[int, ...], threads: int, rounds: int, mode: str) -> str:
    """The line of one model."""
    value = np.random.default_rng(1).standard_normal(shape).astype("float32")
    begun = time.perf_counter()
    ours = ag.from_onnx(model).function(threads=threads, mode=mode)
    got = ours(value)
    first = time.perf_counter() - begun
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": value})
    error = float(np.abs(got - expected).max() / np.abs(expected).max())
    best = [float("inf")] * 2
    for _ in range(rounds):
        for k, run in enumerate((lambda: ours(value), lambda: session.run(None, {"x": value}))):
            time.sleep(PAUSE)
            for _ in range(10):
                begun = time.perf_counter()
                run()
                best[k] = min(best[k], time.perf_counter() - begun)
    mine, theirs = (1e3 * seconds for seconds in best)
    return f"{mine:9.2f} ms {theirs:9.2f} ms {mine / theirs:7.2f} {first:9.1f} s {error:9.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.networks", description=__doc__.split("\n")[0])
    parser.add_argument("--models", nargs="*", default=list(MODELS), choices=MODELS, metavar="MODEL")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--mode", default="fast_run", help="a query of optdb, such as 'fast_run winograd'")
    arguments = parser.parse_args()
    print(f"{'network':14} {'ours':>12} {'ORT':>12} {'ratio':>7} {'first':>11} {'error':>9}")
    for name in arguments.models:
        model = MODELS[name]()
        shape = tuple(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)
        print(f"{name:14} {compared(model, shape, arguments.threads, arguments.rounds, arguments.mode)}", flush=True)


if __name__ == "__main__":
    main()
