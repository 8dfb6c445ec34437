"""Work of the runtime for functions, for the sanitizers: loops that are split into chunks for a team of threads,
products with an epilogue, rows, running sums, factorizations, builtins called well and badly, Ctrl-C.

Run as a program by `sanitizers.py`; prints how many calls it made.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np

import arignote as ag
from arignote import ops as T
from arignote.cbackend.build.build import build
from arignote.cbackend.runtime.runtime import load_runtime
from arignote.cbackend.runtime.sources import product_source, solver_source
from arignote.function.function import find_toolchain, process_cache

Made = Callable[[T.TensorVariable], object]

THREADS = 3
REAL, COMPLEX = ("float64", "float32"), ("complex128", "complex64")
REFUSALS = (TypeError, ValueError, IndexError, np.linalg.LinAlgError)

PARTS: dict[str, Made] = {
    "map": lambda x: T.exp(T.sin(x)) * 2, "backwards": lambda x: T.exp(x[::-1, ::-1]),
    "turned": lambda x: T.tanh(x.T) + 1, "sum of all": lambda x: T.sum(T.exp(x)),
    "sum of columns": lambda x: T.sum(T.cos(x), axis=0), "sum of rows": lambda x: T.sum(T.cos(x), axis=1),
    "product": lambda x: T.prod(T.cos(x), axis=0), "greatest": lambda x: T.max(T.sin(x), axis=0),
    "where": lambda x: T.argmax(T.sin(x), axis=1), "joined": lambda x: T.concatenate([T.exp(x), T.exp(x[1:])]),
    "several": lambda x: [T.sum(T.exp(x), axis=0), T.max(T.exp(x)), T.exp(x)],
    "out of range": lambda x: x[0][T.cast(x * 1e6, "int64")],
    "negative power": lambda x: T.cast(x * 1e6, "int64") ** T.cast(x * 1e3, "int64"),
}  # fmt: skip
ROWS: dict[str, Made] = {
    "softmax": T.nn.softmax, "log_softmax": lambda x: T.nn.log_softmax(x * 2),
    "softmax of columns": lambda x: T.nn.softmax(x, 0), "logsumexp": lambda x: T.logsumexp(x, axis=1),
    "normalized": lambda x: (x - T.mean(x, 1, keepdims=True)) / T.std(x, 1, keepdims=True),
    "centred columns": lambda x: x - T.mean(x, axis=0), "scaled softmax": lambda x: T.nn.softmax(T.tanh(x)) * x,
    "running sum": lambda x: T.cumsum(x, axis=0), "running sum of rows": lambda x: T.cumsum(T.exp(x), axis=1),
    "running product": lambda x: T.cumprod(x, axis=1), "running sum of all": T.cumsum,
    "gradient": lambda x: ag.grad(T.sum(T.nn.softmax(x) * x), x),
    "crossentropy": lambda x: T.nn.softmax_crossentropy(x, T.nn.softmax(x * 3)),
}  # fmt: skip
PRODUCTS: dict[str, Made] = {
    "plain": lambda x: x @ x.T, "crossed": lambda x: x.T @ x, "relu": lambda x: T.maximum(x @ x.T + x[:, 0], 0),
    "tanh": lambda x: T.tanh(x.T @ x * 0.5 + x[0]), "twice": lambda x: (x @ x.T + 1) * (x @ x.T),
    "broadcast": lambda x: T.exp(x[:1] @ x.T) + x, "vector": lambda x: x @ T.sin(x[0]) + x[:, 0],
    "row": lambda x: T.sum(x, axis=1) @ x * 2, "outer": lambda x: T.outer(x[0], x[:, 0]) + x.T,
    "batch": lambda x: T.exp(T.stack([x, x + 1]) @ x.T), "chain": lambda x: x @ x.T @ x @ x.T,
    "layer": lambda x: ag.grad(T.sum(T.tanh(x @ x.T) ** 2), x),
    "convolution": lambda x: T.tanh(T.nn.conv2d(x[None, None], T.stack([x[:3, :3], x[-3:, -3:]])[:, None], x[:2, 0])),
    "points": lambda x: T.tanh(T.nn.conv1d(x[None], x[:, :, None][:, : x.shape[0]], padding=1) + x[:, :1]),
}  # fmt: skip
MATRICES: dict[str, Made] = {
    "solve": lambda x: T.linalg.solve(x, x + 1), "inverse": T.linalg.inv, "determinant": T.linalg.det,
    "of vector": lambda x: T.linalg.inv(x) @ x[0], "batch": lambda x: T.linalg.solve(T.stack([x, x + 1]), x),
    "cholesky": lambda x: T.linalg.cholesky(x @ x.T + 9 * T.eye(x.shape[0])),
    "positive": lambda x: T.linalg.solve(T.assume(x @ x.T + 9 * T.eye(x.shape[0]), "positive_definite"), x),
    "triangular": lambda x: T.linalg.solve(T.tril(x), x), "slogdet": T.linalg.slogdet, "qr": T.linalg.qr,
    "eigh": T.linalg.eigh, "svd": T.linalg.svd, "pinv": T.linalg.pinv,
    "gradient": lambda x: ag.grad(T.sum(T.real(T.linalg.inv(x))), x),
}  # fmt: skip
BAD_CALLS: tuple[tuple[object, ...], ...] = (
    (), ([1.0],), (np.ones(3), np.ones(4)), (np.ones(3, "float32"), np.ones(3)), (np.ones((2, 2)), np.ones(3)),
    (np.ones(3), np.ones(3), np.ones(3)), (np.ones(3, ">f8"), np.ones(3)), (None, np.ones(3)), ("three", np.ones(3)),
    (np.frombuffer(bytes(33), "u1")[1:].view("f8"), np.ones(4)), (np.ones((3, 0)), np.ones(0)),
    (np.ma.masked_array(np.ones(3), [0, 1, 0]), np.ones(3)), (np.broadcast_to(1.0, (3,)), np.ones(9)[::-3]),
    (np.ones(0), np.ones(0)),
)  # fmt: skip


def matrix(dtype: str, rows: int, columns: int) -> np.ndarray:
    """Numbers of about 1, the same for the same arguments."""
    found = np.cos(np.arange(rows * columns) * 1.7).reshape(rows, columns)
    return (found + 1j * found[::-1] if np.dtype(dtype).kind == "c" else found).astype(dtype)


def layouts(dtype: str, rows: int, columns: int) -> Iterator[np.ndarray]:
    yield matrix(dtype, rows, columns)
    yield matrix(dtype, columns, rows).T
    yield matrix(dtype, 2 * rows, 2 * columns)[::-2, 1::2]


def calls(made: dict[str, Made], dtype: str, shapes: Sequence[tuple[int, int]]) -> int:
    """How many calls were made of a function for each of `made` that takes the dtype; what NumPy refuses is refused."""
    count = 0
    for make in made.values():
        x = T.matrix("x", dtype)
        try:
            f = ag.function([x], make(x), threads=THREADS)
        except TypeError:  # no order among complex numbers
            continue
        for rows, columns in shapes:
            for given in layouts(dtype, rows, columns):
                count += 1
                try:
                    f(given)
                except REFUSALS:
                    continue
    return count


def own_loops_only() -> None:
    """From now on products and factorizations go through our loops alone, as where neither BLAS nor LAPACK is found."""
    toolchain, cache = find_toolchain(), process_cache()
    assert toolchain is not None
    runtime = load_runtime(toolchain, cache)
    for dtype in (*REAL, *COMPLEX):
        for library in (f"convolutions_{dtype}", dtype) if dtype in REAL else (dtype,):
            runtime.install(library, build(product_source(library), toolchain, cache), None)
        runtime.install_lapack(dtype, build(solver_source(dtype), toolchain, cache), (0, 0, 0, 0), wide=False)


def called_badly() -> int:
    """Calls of builtins with what they do not take, and with what they take only after a look."""
    x, y = T.vector("x"), T.vector("y")
    for f in (ag.function([x, y], x * y + 1), ag.function([x, y], [x, x[::-1] * 2, T.sum(y)])):
        for given in BAD_CALLS * 2:
            try:
                f(*given)
            except REFUSALS:
                continue
    return 4 * len(BAD_CALLS)


def interrupted(times: int) -> int:
    """Ctrl-C in long calls of all kinds, at moments that differ."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs are started without
    x = T.matrix("x")
    y = x
    for _ in range(40):
        y = T.exp(T.sin(y))
    results = (y, T.sum(y, axis=0), T.cumsum(y, axis=0) @ T.sum(y, axis=1), y @ y.T)
    functions = [ag.function([x], result, threads=THREADS) for result in results]
    given, met = matrix("float64", 1000, 1000), 0
    for number in range(times):
        timer = threading.Timer(0.01 * (number % 7 + 1), os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            functions[number % len(functions)](given)
            timer.join()
            signal.sigtimedwait((), 0.001)  # a moment in which the interrupt is raised if the call was done before
        except KeyboardInterrupt:
            met += 1
    assert met, "no call was interrupted"
    return times


def from_threads(rounds: int) -> int:
    """The same functions called by several threads at a time, updates and parts for the team among them."""
    x = T.vector("x")
    total = ag.shared(np.zeros(1000), name="total")
    counting = ag.function([x], T.sum(total), updates=[(total, total + x)])
    heavy = ag.function([x], [T.exp(T.sin(x)), T.sum(T.cos(x))], threads=THREADS)
    product = ag.function([x], T.outer(x, x) @ T.outer(x, x) + 1, threads=THREADS)
    many, few, failures = np.linspace(0, 1, 100_000), np.linspace(0, 1, 1000), []

    def work() -> None:
        try:
            wanted = heavy(many)
            for _ in range(rounds):
                counting(few)
                product(few[:50])
                assert all(map(np.array_equal, heavy(many), wanted))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    return 3 * rounds * len(threads)


def run(full: bool) -> int:
    count = called_badly() + from_threads(50 if full else 3) + interrupted(40 if full else 8)
    tables = (PRODUCTS, MATRICES, PARTS, ROWS)
    products, matrices, parts, rows = tables if full else [dict([*table.items()][::3]) for table in tables]
    large = [(300, 1000), (3, 70_001), (90_000, 2), (1, 300_000)] if full else [(3, 70_001)]
    long = [(0, 3), (3, 0), (1, 1), (2, 7), (17, 33), (5, 4099)] + ([(2000, 100), (100_000, 3)] if full else [])
    shapes = [(0, 3), (3, 0), (1, 1), (2, 7), (17, 33), (65, 130)] + ([(129, 300), (300, 17)] if full else [])
    squares = [(3, 2)] + [(n, n) for n in ((0, 1, 2, 5, 33, 130) if full else (0, 1, 7))]
    for dtype in (*REAL, "int64") if full else REAL[:1]:
        count += calls(parts, dtype, large) + calls(rows, dtype, long)
    for install in (lambda: None, own_loops_only):  # with the BLAS and the LAPACK that were found, then without
        install()
        for dtype in (*REAL, *COMPLEX) if full else REAL[:1]:
            count += calls(products, dtype, shapes) + calls(matrices, dtype, squares)
    return count


if __name__ == "__main__":
    with np.errstate(all="ignore"):
        print(run("--full" in sys.argv))
