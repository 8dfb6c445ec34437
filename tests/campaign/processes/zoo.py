"""Many functions on many shapes, for the sanitizers: every elementwise operation at special values, and what moves,
sums, indexes and multiplies.  Run as a program by `sanitizers.py`; prints how many calls it made.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.graph import DTYPES
from arignote.ops.elementwise.records import ELEMENTWISE

FULL_LENGTHS = (0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 33, 64, 65, 127, 1000, 4099)
SMALL_LENGTHS = (0, 1, 7, 33)
SMALL_DTYPES = ("int64", "float32")
FLOATS = (0.0, -0.0, 1.0, -1.5, 2.5, 1e-310, 1e10, -1e300, 2.0**31, -(2.0**63), 2.0**64, np.nan, np.inf, -np.inf)

MOVING = {
    "sum": lambda x: T.sum(x, axis=0), "sum of all": T.sum, "mean": lambda x: T.mean(x, axis=1, keepdims=True),
    "any": lambda x: T.any(x, axis=0), "prod": lambda x: T.prod(x, axis=1), "cumsum": lambda x: T.cumsum(x, axis=0),
    "transposed": lambda x: x.T + x.T, "backwards": lambda x: T.abs(x[::-1, ::2]),
    "joined": lambda x: T.concatenate([x, x[1:]]),
    "set": lambda x: T.set_subtensor(x[:, 1:], x[:, :-1]), "added": lambda x: T.inc_subtensor(x[::2], x[::2]),
    "repeated": lambda x: x[T.constant(np.array([0, -1, 0]))], "broadcast": lambda x: x[:, :1] * x,
    "as float": lambda x: x / 2,
    "product": lambda x: x @ x.T, "vector": lambda x: x @ x[0], "softmax": lambda x: T.nn.softmax(T.abs(x) * 0.5),
    "logsumexp": lambda x: T.logsumexp(x * 1.0, axis=1), "argmax": lambda x: T.argmax(x, axis=1),
    "maximum": lambda x: T.max(x, axis=0), "reshaped": lambda x: T.reshape(x, (x.shape[1], x.shape[0])) * x.T,
    "convolution": lambda x: T.nn.conv1d(x[None, None, 0], x[:, None], stride=2, padding=9),
    "biased": lambda x: T.maximum(T.nn.conv1d(x[None, None, 0], x[:, None], x[:, 0], padding=9), 0),
    "max pool": lambda x: T.nn.max_pool2d(x[None, None], 3, 2, 1),
    "avg pool": lambda x: T.nn.avg_pool2d(x[None, None], 2, 1, 1),
    "eye": lambda x: T.eye(x.shape[0], x.shape[1]) + x, "arange": lambda x: T.arange(x.shape[0]) + T.sum(x),
}  # fmt: skip


def values(dtype: str, count: int) -> np.ndarray:
    """`count` values of a dtype, extremes among them."""
    kind = np.dtype(dtype).kind
    if kind == "b":
        return np.arange(count) % 3 == 0
    if kind in "iu":
        info = np.iinfo(dtype)
        special = np.array([info.min, info.max, 0, 1, info.max // 2, info.bits, 3, 2, info.min + 1], dtype)
        return np.resize(special, count)
    with np.errstate(all="ignore"):
        special = np.array(FLOATS).astype(dtype if kind == "f" else dtype.replace("complex", "float"))
        found = np.resize(special, count)
        return found if kind == "f" else (found + 1j * found[::-1]).astype(dtype)


def layouts(dtype: str, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of vectors: contiguous, with a gap, backwards, at an odd place of a larger array, one broadcast."""
    a, b = values(dtype, count), np.ascontiguousarray(values(dtype, count + 5)[5:])
    yield a, b
    yield values(dtype, 2 * count)[::2], values(dtype, 3 * count)[::-3]
    yield values(dtype, count + 1)[1:], b
    yield a, b[:1] if count else b


def elementwise(dtype: str) -> tuple[Callable[..., object], int]:
    """One function of all operations that take the dtype."""
    x, y = T.tensor("x", dtype, (None,)), T.tensor("y", dtype, (None,))
    condition = T.tensor("c", "bool", (None,))
    outputs = []
    for name, op in ELEMENTWISE.items():
        operands = [x, y][: op.arity or 2] if name != "switch" else [condition, x, y]
        if name == "pow" and np.dtype(dtype).kind == "i":
            operands = [x, T.abs(y % 5)]
        try:
            outputs.append(op(*operands))
        except TypeError:
            continue
    if not dtype.startswith("complex"):
        outputs += [T.cast(x, d) for d in DTYPES]
    return ag.function([condition, x, y], outputs, on_unused_input="ignore"), len(outputs)


def moving(dtype: str, mode: str) -> list[Callable[..., object]]:
    """A function for each of MOVING that takes the dtype."""
    x = T.tensor("x", dtype, (None, None))
    found = []
    for expression in MOVING.values():
        try:
            found.append(ag.function([x], expression(x), mode=mode))
        except TypeError:
            continue
    return found


def matrices(dtype: str, lengths: Sequence[int]) -> Iterator[np.ndarray]:
    for n, m in zip(lengths, (*lengths[1:], lengths[0])):
        n, m = min(n, 129), min(m, 129)
        whole = values(dtype, n * m).reshape(n, m)
        yield whole
        yield values(dtype, n * m).reshape(m, n).T
        yield values(dtype, 4 * n * m).reshape(2 * n, 2 * m)[::2, ::-2]


def run(full: bool) -> int:
    calls = 0
    lengths = FULL_LENGTHS if full else SMALL_LENGTHS
    for dtype in DTYPES if full else SMALL_DTYPES:
        function, results = elementwise(dtype)
        for count in lengths:
            for x, y in layouts(dtype, count):
                function(np.arange(count) % 2 == 0, x, y)
                calls += results
        for mode in ("FAST_RUN", "FAST_COMPILE") if full else ("FAST_RUN",) * (dtype == "float32"):
            for moved in moving(dtype, mode):
                for x in matrices(dtype, lengths):
                    calls += 1
                    try:
                        moved(x)
                    except (ValueError, IndexError):  # no maximum of nothing, no first row of none
                        continue
    return calls


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        print(run("--full" in sys.argv))
