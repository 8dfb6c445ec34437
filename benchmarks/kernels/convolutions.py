"""Convolutions, with bias and relu, gradients, and pooling, beside torch.

    python -m benchmarks.kernels.convolutions [THREADS]

Ours and torch's, which is left out where it is not installed, take turns in one process, so that other work on the
machine meets both alike: on one thread, which is the default, in processor time of the thread, on more in wall time.
Shown are the best of the rounds, GFLOP/s, and the product of matrices of the same size by our own loops.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import arignote as ag
from arignote import ops as T

try:
    import torch
except ImportError:
    torch = None

THREADS = int((sys.argv[1:] or ["1"])[0])
# (name, shape of x, shape of w, stride, padding, groups)
CASES = (
    ("3x3, 64 channels", (8, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    ("7x7 of images, stride 2", (1, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    ("3x3 of images", (4, 3, 224, 224), (64, 3, 3, 3), 1, 1, 1),
    ("3x3, 256 channels", (8, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    ("3x3, 512 channels of 7x7", (1, 512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
    ("1x1", (8, 64, 56, 56), (256, 64, 1, 1), 1, 0, 1),
    ("depthwise 3x3", (1, 32, 112, 112), (32, 1, 3, 3), 1, 1, 32),
    ("depthwise 3x3, stride 2", (8, 32, 112, 112), (32, 1, 3, 3), 2, 1, 32),
)
ROUNDS = 12
SEPARATE = "fast_run -product_epilogue_fusion"
Call = Callable[..., Any]


def best(calls: dict[str, Call]) -> dict[str, float]:
    """Milliseconds of each, called in turns."""
    clock = time.thread_time if THREADS == 1 else time.perf_counter
    found = dict.fromkeys(calls, math.inf)
    for number in range(ROUNDS + 1):
        for name, call in calls.items():
            start = clock()
            call()
            if number:
                found[name] = min(found[name], 1e3 * (clock() - start))
    return found


def show(name: str, what: str, flops: float, calls: dict[str, Call]) -> None:
    found = best(calls)
    ours = found["ours"]
    others = "  ".join(f"{other} {t:8.3f} ms ({ours / t:5.2f})" for other, t in found.items() if other != "ours")
    print(f"{name:26} {what:8} {ours:8.3f} ms {flops / ours / 1e6:7.1f} GFLOP/s  {others}", flush=True)


def torch_calls(x: Any, w: Any, g: Any, stride: int, padding: int, groups: int) -> list[Call]:
    x, w, g = map(torch.from_numpy, (x, w, g))
    back = torch.ops.aten.convolution_backward
    fixed = (None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups)
    return [
        lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=padding, groups=groups),
        lambda: back(g, x, w, *fixed, [True, False, False]),
        lambda: back(g, x, w, *fixed, [False, True, False]),
    ]


def convolution(name: str, x_shape: Any, w_shape: Any, stride: int, padding: int, groups: int) -> None:
    rng = np.random.default_rng(0)
    values = [rng.normal(size=s).astype("float32") for s in (x_shape, w_shape)]
    x, w = T.tensor("x", "float32", x_shape), T.tensor("w", "float32", w_shape)
    y = T.nn.conv2d(x, w, stride=stride, padding=padding, groups=groups)
    g = T.tensor("g", "float32", y.type.shape)
    values.append(rng.normal(size=y.type.shape).astype("float32"))
    results = [y, *ag.grad(T.sum(y * g), [x, w])]
    ours = [ag.function([x, w, g], r, on_unused_input="ignore", threads=THREADS) for r in results]
    peers = torch_calls(*values, stride, padding, groups) if torch else []
    flops = 2.0 * values[2].size * math.prod(w_shape[1:])
    for k, what in enumerate(("forward", "by x", "by w")):
        calls: dict[str, Call] = {"ours": lambda k=k: ours[k](*values)}  # type: ignore[misc]
        if peers:
            calls["torch"] = peers[k]
        if k == 0 and groups == 1:
            calls["gemm"] = product(w_shape[0], math.prod(w_shape[1:]), math.prod(values[2].shape[2:]), x_shape[0])
        show(name, what, flops, calls)
    followed(name, values[:2], stride, padding, groups, flops)


def followed(name: str, values: list[Any], stride: int, padding: int, groups: int, flops: float) -> None:
    """Measure a bias and a relu after the convolution: fused into it, as by default, and as a separate step."""
    values = [*values, np.linspace(-1, 1, len(values[1]), dtype="float32")]
    inputs = [T.tensor(n, "float32", v.shape) for n, v in zip("xwb", values, strict=True)]
    y = T.nn.relu(T.nn.conv2d(*inputs, stride=stride, padding=padding, groups=groups))
    ours, separate = (ag.function(inputs, y, mode=ag.Mode(m), threads=THREADS) for m in ("fast_run", SEPARATE))
    calls: dict[str, Call] = {"ours": lambda: ours(*values), "apart": lambda: separate(*values)}
    if torch:
        x, w, b = map(torch.from_numpy, values)
        calls["torch"] = lambda: torch.relu_(
            torch.nn.functional.conv2d(x, w, b, stride=stride, padding=padding, groups=groups)
        )
    show(name, "and relu", flops, calls)


def product(m: int, k: int, n: int, count: int) -> Call:
    """As many products of matrices of the size of one image's convolution."""
    a, b = np.ones((m, k), "float32"), np.ones((count, k, n), "float32")
    left, right = T.fmatrix("a"), T.ftensor3("b")
    f = ag.function([left, right], T.matmul(left, right), threads=THREADS)
    return lambda: f(a, b)


def pooling(name: str, expression: Call, peer: Call) -> None:
    value = np.random.default_rng(0).normal(size=(8, 64, 112, 112)).astype("float32")
    x = T.tensor("x", "float32", value.shape)
    f = ag.function([x], expression(x), threads=THREADS)
    calls: dict[str, Call] = {"ours": lambda: f(value)}
    if torch:
        given = torch.from_numpy(value)
        calls["torch"] = lambda: peer(given)
    show(name, "forward", float(value.size), calls)


if __name__ == "__main__":
    if torch:
        torch.set_num_threads(THREADS)
    for case in CASES:
        convolution(*case)
    pooling("max pool 3x3, stride 2", lambda x: T.nn.max_pool2d(x, 3, 2, 1), lambda x: torch.max_pool2d(x, 3, 2, 1))
    pooling(
        "average pool 2x2", lambda x: T.nn.avg_pool2d(x, 2), lambda x: torch.nn.functional.avg_pool2d(x, 2)
    )  # fmt: skip
