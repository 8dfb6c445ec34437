"""Sorts, Fourier transforms and topk beside NumPy, SciPy and ONNX Runtime: our time over the least of theirs.

    python -m benchmarks.kernels.ordering

One thread; the least processor time of each, called in turn.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx
import onnxruntime
import scipy.fft
from onnx import TensorProto, helper

import arignote as ag
from arignote import ops as T

ROUNDS = 15
Work = Callable[[], Any]
RNG = np.random.default_rng(0)


def sorts() -> Iterator[tuple[str, list[Work]]]:
    for dtype in ("float32", "float64", "int32", "int64", "int16", "uint8"):
        x = T.tensor(dtype, (None,))
        named = {"sort": (T.sort, np.sort), "argsort": (T.argsort, np.argsort), "median": (T.median, np.median)}
        for name, (ours, numpys) in named.items():
            f = ag.function([x], ours(x), threads=1)
            for n in (100, 1000, 100_000, 1_000_000):
                v = (RNG.standard_normal(n) * 1e4).astype(dtype)
                yield f"{name}, {dtype}, {n}", [lambda v=v, f=f: f(v), lambda v=v, g=numpys: g(v)]


def transforms() -> Iterator[tuple[str, list[Work]]]:
    for dtype, kind in (("complex128", "fft"), ("complex64", "fft"), ("float64", "rfft"), ("float32", "rfft")):
        x = T.tensor(dtype, (None, None))
        f = ag.function([x], getattr(T.fft, kind)(x), threads=1)
        for rows in (1, 64):
            for n in (64, 100, 729, 1000, 1009, 1024, 4096, 65536):
                v = (RNG.standard_normal((rows, n)) * (1 + 1j * (kind == "fft"))).astype(dtype)
                others = [lambda v=v, m=m: getattr(m, kind)(v) for m in (np.fft, scipy.fft)]  # noqa: B023
                yield f"{kind}, {dtype}, {rows} x {n}", [lambda v=v, f=f: f(v), *others]


def session(node: onnx.NodeProto, inputs: list[tuple[str, int, list[Any]]], outputs: list[tuple[str, int]]) -> Any:
    """Return ONNX Runtime's session of one node, with one thread."""
    given = [helper.make_tensor_value_info(*i) for i in inputs]
    made = [helper.make_tensor_value_info(name, kind, None) for name, kind in outputs]
    opset = [helper.make_opsetid("", 17)]
    model = helper.make_model(helper.make_graph([node], "g", given, made), opset_imports=opset, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def tops() -> Iterator[tuple[str, list[Work]]]:
    x, k = T.matrix("x", "float32"), T.lscalar("k")
    f = ag.function([x, k], [*T.topk(x, k)], threads=1)
    inputs = [("x", TensorProto.FLOAT, ["a", "b"]), ("k", TensorProto.INT64, [1])]
    theirs = session(
        helper.make_node("TopK", ["x", "k"], ["v", "i"]), inputs, [("v", TensorProto.FLOAT), ("i", TensorProto.INT64)]
    )
    for rows, n, count in ((1, 1000, 5), (64, 1000, 5), (1, 100_000, 1000), (1, 1_000_000, 100), (16, 8400, 300)):
        v, wanted = RNG.standard_normal((rows, n)).astype("float32"), np.array([count])
        given = {"x": v, "k": wanted}
        yield f"topk, {rows} x {n}, {count}", [
            lambda v=v, c=count: f(v, c), lambda g=given: theirs.run(None, g),
        ]  # fmt: skip


def times(works: list[Work]) -> list[float]:
    """Return the least processor time of each in microseconds, called in turn."""
    start = time.process_time()
    for work in works:
        work()
    repeated = max(1, int(0.01 / max(time.process_time() - start, 1e-6)))
    found = [float("inf")] * len(works)
    for _ in range(ROUNDS):
        for k, work in enumerate(works):
            start = time.process_time()
            for _ in range(repeated):
                work()
            found[k] = min(found[k], (time.process_time() - start) / repeated * 1e6)
    return found


def main() -> None:
    for cases in (sorts, transforms, tops):
        for name, works in cases():
            ours, *others = times(works)
            print(f"{name:32} {ours:10.1f} us {ours / min(others):6.2f}", flush=True)


if __name__ == "__main__":
    main()
